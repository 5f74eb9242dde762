"""A package's units as a bundle on disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kbuild._version import __version__
from kbuild.bundle.manifest import Blobs, cubin_row, kernel_row
from kbuild.bundle.verification import verify
from kbuild.bundle.writing import write
from kbuild.errors import InternalError, Span
from kbuild.loader import abi, format, selftest, struct_table
from kbuild.loader.backward import ADJOINT
from kbuild.pipeline import cuda
from kbuild.pipeline.units import Compilation, UnitCode
from kbuild.scan.data import Scanned, ScannedUnit, in_words, is_own

FORMAT = 1


def pack(
    plan: Compilation,
    package: str,
    path: Path,
    scanned: Scanned,
    parts: Sequence[tuple[ScannedUnit, UnitCode]],
    editable: bool,
) -> tuple[Path, str, int]:
    """Writes a package's bundle and returns its path, digest and size. Its cubins are held against its manifest."""
    manifest, blobs = manifest_of(plan, package, scanned, parts)
    if editable:
        manifest["sources"] = _sources(scanned, parts)
    parsed = write(path, manifest, blobs.data, _held_against_its_code)
    return path, parsed.digest, path.stat().st_size


def is_editable(path: Path) -> bool:
    """A bundle of an editable build stands there."""
    try:
        return format.parse(path.read_bytes(), lazy=True).manifest["sources"] is not None
    except (OSError, format.BundleError):
        return False


def _held_against_its_code(parsed: format.Parsed) -> None:
    problems = verify(parsed)
    if problems:
        raise InternalError("the bundle contradicts its machine code: " + "; ".join(map(str, problems)))


def manifest_of(
    plan: Compilation, package: str, scanned: Scanned, parts: Sequence[tuple[ScannedUnit, UnitCode]]
) -> tuple[dict[str, Any], Blobs]:
    """The manifest of these units as a bundle of a package, and the blobs it counts on."""
    structs = {name: row for _, code in parts for name, row in code.structs.items()}
    kernels, index_of = _kernels(plan, scanned, parts, struct_table.parse(structs))
    blobs = Blobs()
    cubins = []
    for unit, code in parts:
        members = {index_of[i]: kernels[index_of[i]] for i in unit.kernels if i in index_of}
        made = zip(plan.parts, code.results, code.chosen, strict=True) if members else ()
        for (part, toolchain), result, chosen in made:
            row = cubin_row(
                part,
                unit.name,
                members,
                toolchain=toolchain.build,
                cuda=toolchain.version,
                blob=blobs.add(result.data),
                data=result.data,
                spills=result.spills,
                min_blocks=chosen,
            )
            cubins.append(row)
    tests = {name: test for _, code in parts for name, test in code.selftest.items()}
    manifest = {
        "format": FORMAT,
        "generator": f"kbuild {__version__}",
        "package": package,
        "options": {
            "fmad": plan.config.fmad,
            "line-info": plan.config.lineinfo,
            **({"fast-math": True} if plan.config.fast_math else {}),
            **({"max-registers": plan.config.max_registers} if plan.config.max_registers else {}),
        },
        "structs": structs,
        "definitions": _definitions(scanned, index_of),
        "kernels": kernels,
        "targets": [target.name for target in plan.config.targets],
        "cubins": cubins,
        "selftest": {"blob": blobs.add(_selftest(tests))} if tests else None,
        "sources": None,
    }
    asserts = _asserts(scanned, parts, index_of)
    if asserts:
        manifest["asserts"] = asserts
    return manifest, blobs


def _asserts(
    scanned: Scanned, parts: Sequence[tuple[ScannedUnit, UnitCode]], index_of: dict[int, int]
) -> list[dict[str, Any]]:
    """The asserts in the code, and the kernels that reach each. Lines are today's, whatever came out of the cache."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for index in (i for unit, _ in parts if unit.asserts for i in unit.kernels):
        for row in scanned.kernels[index].asserts:
            members = found.setdefault(tuple(row), [])
            if index_of[index] not in members:
                members.append(index_of[index])
    return [
        {"function": function, "number": number, "line": line, "text": text, "kernels": sorted(members)}
        for (function, number, line, text), members in sorted(found.items())
    ]


def _selftest(tests: dict[str, Any]) -> bytes:
    return json.dumps({"format": selftest.FORMAT, "kernels": tests}, sort_keys=True, separators=(",", ":")).encode()


def _kernels(
    plan: Compilation,
    scanned: Scanned,
    parts: Sequence[tuple[ScannedUnit, UnitCode]],
    structs: dict[str, abi.Struct],
) -> tuple[list[dict[str, Any]], dict[int, int]]:
    """Rows of the package's kernels by name, and where each scanned kernel stands among them: adjoints come last, and
    only those that there are.
    """
    data = {name: row for _, code in parts for name, row in code.rows.items()}
    compiled = {name: found for unit, code in parts for name, found in _in_cuda(plan, unit, code, scanned)}
    members = sorted(i for unit, _ in parts for i in unit.kernels if scanned.kernels[i].name in data)
    rows = []
    for index in members:
        kernel = scanned.kernels[index]
        lowered = data[kernel.name]
        entry, bounds = compiled.get(kernel.name, (kernel.entry, kernel.launch_bounds))
        parameters = [(name, abi.parse(spelling, structs)) for name, spelling in lowered["parameters"]]
        row = kernel_row(
            kernel.name,
            entry,
            lowered["ndim"],
            kernel.block_dim,
            parameters,
            lowered["optional"],
            whole_blocks=lowered["whole_blocks"],
            dynamic_shared=lowered["dynamic_shared"],
            cluster_dim=lowered["cluster_dim"],
            any_block_dim=not kernel.is_block_dim_chosen,
            waits=lowered["waits"],
            bounds=bounds,
            is_plain=bool(kernel.expression),
            shared_memory=lowered.get("shared_memory", 0),
            stated=lowered["stated"],
            line=kernel.span.line,
        )
        if kernel.expression:
            row["backward"] = {"refused": _IN_CUDA, "line": kernel.span.line}
        rows.append(row)
    _add_backward(rows, {name: row for _, code in parts for name, row in code.backward.items()})
    return rows, {index: position for position, index in enumerate(members)}


_IN_CUDA = "it is written in CUDA C++, which nothing here differentiates (write its gradient as a kernel of its own)"


def _in_cuda(
    plan: Compilation, unit: ScannedUnit, code: UnitCode, scanned: Scanned
) -> Iterator[tuple[str, tuple[str, list[int | None]]]]:
    """(entry, launch bounds) of kernels in CUDA C++ by name, which only their code says."""
    made = [(part, result) for (part, _), result in zip(plan.parts, code.results, strict=True)] if unit.is_cuda else []
    for index in unit.kernels if unit.is_cuda else ():
        kernel = scanned.kernels[index]
        yield kernel.name, (code.results[0].names[kernel.expression], cuda.bounds(kernel, made))


def _add_backward(rows: list[dict[str, Any]], known: dict[str, dict[str, Any]]) -> None:
    """Says of each kernel where its adjoint stands, or why it has none."""
    places = {row["name"]: position for position, row in enumerate(rows)}
    for row in rows:
        found = known.get(row["name"])
        if found is not None and "refused" in found:
            why = in_words(found["refused"], found["help"])
            row["backward"] = {"refused": _in_a_line(why), "line": Span(*found["place"]).line}
        elif found is not None:
            row["backward"] = {"kernel": places[row["name"] + ADJOINT], **found}


def _in_a_line(text: str) -> str:
    """A text as a manifest may hold it."""
    return "".join(c if c.isprintable() else " " for c in " ".join(text.split()))


def _definitions(scanned: Scanned, index_of: dict[int, int]) -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    for index, position in index_of.items():
        kernel = scanned.kernels[index]
        if kernel.primal:
            continue
        definition = definitions.setdefault(kernel.definition, {"plan": kernel.plan, "instances": []})
        definition["instances"].append({"identity": kernel.identity, "values": kernel.values, "kernel": position})
    return definitions


def _sources(scanned: Scanned, parts: Sequence[tuple[ScannedUnit, UnitCode]]) -> list[dict[str, Any]]:
    """The files behind an editable build's kernels, so that a launch can tell when they changed."""
    found: dict[str, dict[str, Any]] = {}
    for unit, _ in parts:
        if is_own(unit.module):
            continue  # these change with kbuild, and tell by their identity
        for index in unit.kernels:
            for path in scanned.kernels[index].sources:
                found.setdefault(path, _source(unit.module, Path(path)))
    return [found[path] for path in sorted(found)]


def _source(module: str, path: Path) -> dict[str, Any]:
    status = path.stat()
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return {
        "module": module,
        "path": str(path),
        "size": status.st_size,
        "mtime_ns": status.st_mtime_ns,
        "sha256": digest,
    }
