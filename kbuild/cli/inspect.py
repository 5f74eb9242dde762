"""`inspect`: what is in a bundle."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import Any

from kbuild import bundle, targets
from kbuild.cli.console import Console
from kbuild.errors import ExitCode, UsageError
from kbuild.loader import format

DESCRIPTION = """\
Shows the kernels of a bundle with the layout of their parameters, and its cubins: for which target, made by which
toolchain, loaded by which driver, how large, with how many registers and bytes of constant tables; and what the
adjoints cost, which gradients are computed with. Nothing is imported and no GPU is needed. Kernels of kbuild's own
(`primitives` in [tool.kbuild]) are counted; --json lists each.

SOURCE is a wheel, a .kbundle file, the name of an installed package, or a project folder.
"""

EXAMPLES = """\
examples:
  python -m kbuild inspect dist/robosim-1.0-py3-none-any.whl
  python -m kbuild inspect robosim                                 the installed package
  python -m kbuild inspect . --json | jq '.cubins[].target'
  python -m kbuild inspect new.whl --compare old.whl               what changed?

With --json a SOURCE that holds several bundles gives {"bundles": [...]}, one object each.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    add = parser.add_argument
    add("source", nargs="?", default=".", metavar="SOURCE", help="wheel, .kbundle, package or project (default: .)")
    add("--compare", metavar="OTHER", help="show only what differs from the bundle in OTHER, the older one")


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Shows a bundle, or two side by side."""
    found = [(one.label, format.parse(one.data)) for one in bundle.locate(arguments.source)]
    if arguments.compare:
        return _compare(found, arguments, console)
    if console.as_json:
        objects = [bundle.summary(parsed) for _, parsed in found]
        console.result(objects[0] if len(objects) == 1 else {"bundles": objects})
        return ExitCode.DONE
    for label, parsed in found:
        _show(label, parsed, console)
    return ExitCode.DONE


def _compare(found: list[tuple[str, format.Parsed]], arguments: argparse.Namespace, console: Console) -> ExitCode:
    older = bundle.locate(arguments.compare)
    if len(found) != 1 or len(older) != 1:
        raise UsageError("--compare wants one bundle on each side", help="name the .kbundle files")
    differences = bundle.compare(format.parse(older[0].data), found[0][1])
    if console.as_json:
        console.result({"differences": [difference.to_json() for difference in differences]})
    else:
        console.line("\n".join(map(str, differences)) or "no difference")
    return ExitCode.DONE


def _show(label: str, parsed: format.Parsed, console: Console) -> None:
    manifest = parsed.manifest
    console.line(f"{label}\n{parsed.digest}\nformat {manifest['format']}, made by {manifest['generator']}\n")
    for kernel in _beside_their_adjoints(manifest["kernels"]):
        if _is_own(kernel["name"]):
            continue
        threads = "blocks as suits the GPU" if kernel.get("any_block_dim") else f"{kernel['block_dim']} threads a block"
        kind = "CUDA C++" if kernel.get("plain") else f"tid() of {kernel['ndim']}"
        title = f"{kernel['name']}: {kind}, {threads}"
        title += ", whole blocks only" if kernel.get("whole_blocks") else ""
        title += f", {_bounds(*kernel['launch_bounds'])}" if "launch_bounds" in kernel else ""
        cluster = kernel.get("cluster_dim")
        title += f", clusters of {cluster} block{'s' if cluster > 1 else ''}" if cluster else ""
        row = kernel.get("dynamic_shared")
        title += f", shared memory at launch ({row} bytes a row)" if row else ""
        bytes = kernel.get("shared_memory")
        title += f", shared memory at launch ({bytes} bytes unless it says so)" if bytes else ""
        rows = [(row["name"], row["type"], row["offset"], row["size"]) for row in kernel["parameters"]]
        console.table(title, ("parameter", "type", "offset", "size"), rows)
        if "stated" in kernel:
            for said in dict.fromkeys(said for *_, said in kernel["stated"]["rows"]):
                console.line(f"  states {said}")
            console.line()
    own = Counter(_definition(kernel["name"]) for kernel in manifest["kernels"] if _is_own(kernel["name"]))
    if own:
        console.table("kbuild's own kernels", ("kernel", "instances"), sorted(own.items()))
    cubins = [_cubin(row, manifest) for row in manifest["cubins"]]
    _table_with_last(console, "cubins", _CUBIN_HEADERS, cubins)
    resources = [row for cubin in manifest["cubins"] for row in _resources(cubin, manifest) if not _is_own(str(row[0]))]
    headers = ("kernel", "target", "registers", "shared", "local", "spills", "min blocks")
    _table_with_last(console, "resources", headers, resources)
    _show_gradients(parsed, console)


def _beside_their_adjoints(kernels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every kernel once, each adjoint behind the kernel that it belongs to."""
    places = {row["backward"]["kernel"] for row in kernels if "kernel" in row.get("backward", {})}
    found = []
    for index, row in enumerate(kernels):
        if index not in places:
            found.append(row)
            adjoint = row.get("backward", {}).get("kernel")
            found += [] if adjoint is None else [kernels[adjoint]]
    return found


def _show_gradients(parsed: format.Parsed, console: Console) -> None:
    kernels = parsed.manifest["kernels"]
    saving = [(row["name"], _saved(row["backward"]["saved"])) for row in kernels if "saved" in row.get("backward", {})]
    refused = [
        (row["name"], row["backward"])
        for row in kernels
        if "refused" in row.get("backward", {}) and not row.get("plain")
    ]
    if any(saved for _, saved in saving):
        console.table("saved on the way forward", ("kernel", "a thread"), [row for row in saving if row[1]])
    if refused:
        rows = [(name, row["line"], row["refused"]) for name, row in refused]
        console.table("without a gradient", ("kernel", "line", "because"), rows)
    found = bundle.costs(parsed)
    rows_of_code = [(row["kernel"], row["target"], row["code"], row["adjoint"]) for row in found["kernels"]]
    if rows_of_code:
        title = "adjoints: bytes of machine code, without the tables around it"
        console.table(title, ("kernel", "target", "kernel's own", "adjoint"), rows_of_code)
    totals = [
        (row["target"], row["cubins"], row["size"], row["stored"], f"{100 * row['stored'] // max(row['of'], 1)} %")
        for row in found["targets"]
    ]
    if totals:
        title = "adjoints: bytes of their cubins, which are loaded only where gradients are asked for"
        console.table(title, ("target", "cubins", "size", "stored", "of all stored code"), totals)


def _saved(words: dict[str, int | None]) -> str:
    """`12 float32, int32 as many as a run takes`."""
    listed = [f"{type} as many as a run takes" if n is None else f"{n} {type}" for type, n in words.items() if n != 0]
    return ", ".join(listed)


def _table_with_last(console: Console, title: str, headers: Sequence[str], rows: Sequence[tuple[object, ...]]) -> None:
    """A table whose last column is shown where it says something."""
    is_said = any(row[-1] != "" for row in rows)
    console.table(title, headers if is_said else headers[:-1], [row if is_said else row[:-1] for row in rows])


def _bounds(threads: int, blocks: int) -> str:
    return f"at most {threads} threads a block" + (f" and {blocks} blocks a multiprocessor or more" if blocks else "")


def _is_own(name: str) -> bool:
    return name.startswith("kbuild.primitives.")


def _definition(name: str) -> str:
    return name.partition("[")[0]


_CUBIN_HEADERS = ("target", "code", "unit", "kernels", "toolchain", "loads on", "size", "stored", "constants")


def _cubin(row: dict[str, Any], manifest: dict[str, Any]) -> tuple[object, ...]:
    blob = manifest["blobs"][row["blob"]]
    kernels = len(row["kernels"])
    code = row["arch"] + (" (PTX)" if row["kind"] == "ptx" else "")
    toolchain = f"NVRTC {row['toolchain']}"
    return (
        row["target"],
        code,
        row["unit"],
        kernels,
        toolchain,
        _driver(row),
        blob["size"],
        blob["stored"],
        row.get("constants", ""),
    )


def _driver(row: dict[str, Any]) -> str:
    """The oldest driver in words; a newer kbuild may have made the bundle, for an architecture unknown here."""
    version = (row["driver"][0], row["driver"][1])
    try:
        return targets.driver_label(row["arch"], version)
    except UsageError:
        return f"a driver for CUDA {version[0]}.{version[1]}"


def _resources(cubin: dict[str, Any], manifest: dict[str, Any]) -> list[tuple[object, ...]]:
    return [
        (
            manifest["kernels"][row["kernel"]]["name"],
            cubin["target"],
            row["registers"],
            row["shared"],
            row["local"],
            row["spills"],
            row.get("min_blocks", ""),
        )
        for row in cubin["resources"]
    ]
