"""A bundle against itself: what the manifest says of each cubin, held against the cubin's own ELF tables.

`format.parse` has checked that the manifest is consistent; here its claims meet the machine code. A wrong offset or a
wrong architecture would otherwise show as garbage on a GPU that nobody has at hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kbuild import targets
from kbuild.errors import UsageError
from kbuild.loader import cubin, format

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: in which cubin (index in the manifest), about which kernel."""

    message: str
    cubin: int | None = None
    target: str | None = None
    kernel: str | None = None

    def __str__(self) -> str:
        place = f"cubin {self.cubin} ({self.target}): " if self.cubin is not None else ""
        return place + (f"{self.kernel}: " if self.kernel else "") + self.message

    def to_json(self) -> dict[str, object]:
        return {"cubin": self.cubin, "target": self.target, "kernel": self.kernel, "message": self.message}


def verify(parsed: format.Parsed) -> list[Problem]:
    """Everything that is wrong with a bundle; empty when it is right. Reads and checks every blob."""
    manifest = parsed.manifest
    problems = list(_incomplete(manifest))
    for index, row in enumerate(manifest["cubins"]):
        for kernel, message in _check_cubin(parsed, row):
            problems.append(Problem(message, index, row["target"], kernel))
    return problems


def _incomplete(manifest: Row) -> Iterator[Problem]:
    """Kernels that a target lacks: a bundle promises all kernels for all targets."""
    held = {(row["target"], kernel) for row in manifest["cubins"] for kernel in row["kernels"]}
    for target in manifest["targets"]:
        for index, kernel in enumerate(manifest["kernels"]):
            if (target, index) not in held:
                yield Problem(f"no code for the target {target}", kernel=kernel["name"])


def _check_cubin(parsed: format.Parsed, row: Row) -> Iterator[tuple[str | None, str]]:
    """(kernel or None, what is wrong) for one row of the manifest's cubins."""
    kernels = {index: parsed.manifest["kernels"][index] for index in row["kernels"]}
    for message in _check_claims(row, max(kernel["size"] for kernel in kernels.values())):
        yield None, message
    try:
        data = parsed.blob(row["blob"])
        if row["kind"] == "ptx":
            yield from _check_ptx(data, row, kernels)
            return
        found = cubin.read(data)
    except (format.BundleError, cubin.CubinError) as error:
        yield None, str(error)
        return
    if found.arch != row["arch"]:
        yield None, f"it is code for {found.arch}, but the manifest says {row['arch']}"
    if found.toolkit is not None and list(found.toolkit) != row["cuda"]:
        said, made = ".".join(map(str, row["cuda"])), ".".join(map(str, found.toolkit))
        yield None, f"it was made by CUDA {made}, but the manifest says {said}"
    if found.constants != row.get("constants", 0):
        yield None, f"it has {found.constants} bytes of constants, but the manifest says {row.get('constants', 0)}"
    yield from _check_entries(set(found.kernels), kernels)
    for resources in row["resources"]:
        kernel = kernels[resources["kernel"]]
        if kernel["entry"] in found.kernels:
            for message in _check_kernel(found.kernels[kernel["entry"]], kernel, resources):
                yield kernel["name"], message


def _check_claims(row: Row, parameter_bytes: int) -> Iterator[str]:
    """What a row says of itself, against the tables of targets; a target that this kbuild does not know passes."""
    major, minor = row["cuda"]
    if row["toolchain"].split(".")[:2] != [str(major), str(minor)]:
        yield f"the toolchain {row['toolchain']} is not of CUDA {major}.{minor}"
    try:
        parts = targets.parse(row["target"]).parts()
        oldest = targets.oldest_driver(row["arch"], row["kind"], (major, minor), parameter_bytes)
    except UsageError:
        return
    if (row["arch"], row["kind"]) not in [(part.arch, part.kind) for part in parts]:
        yield f"it stands under the target {row['target']}, which does not mean {row['kind']} for {row['arch']}"
    if tuple(row["driver"]) < oldest:
        said, needed = ".".join(map(str, row["driver"])), ".".join(map(str, oldest))
        yield f"it needs a driver for CUDA {needed}, but the manifest says {said}"


def _check_entries(found: set[str], kernels: dict[int, Row]) -> Iterator[tuple[str | None, str]]:
    entries = {kernel["entry"]: kernel["name"] for kernel in kernels.values()}
    for entry in sorted(entries.keys() - found):
        yield entries[entry], f"the entry {entry} is missing"
    # A file of CUDA C++ may hold kernels that nobody has declared: they cannot be launched.
    is_plain = all("plain" in kernel for kernel in kernels.values())
    for entry in () if is_plain else sorted(found - entries.keys()):
        yield None, f"it has an entry that the manifest does not name: {_shortened(entry)}"


def _shortened(name: str) -> str:
    """A name out of a file that may be forged, at a length that a message bears."""
    return name if len(name) <= 300 else name[:297] + "..."


def _check_kernel(info: cubin.KernelInfo, kernel: Row, resources: Row) -> Iterator[str]:
    names = [repr(parameter["name"]) for parameter in kernel["parameters"]]
    wanted = [(parameter["offset"], parameter["size"]) for parameter in kernel["parameters"]]
    included = ""
    if "plain" not in kernel:
        names, wanted = ["the launch header", *names], [(0, format.header_of(kernel)), *wanted]
        included = ", launch header included"
    if len(info.parameters) != len(wanted):
        yield f"it takes {len(info.parameters)} parameters, but the manifest says {len(wanted)}{included}"
    for name, said, true in zip(names, wanted, info.parameters, strict=False):
        if said != true:
            yield f"{name} is at offset {true[0]} with {true[1]} bytes, but the manifest says {said[0]} and {said[1]}"
    if info.parameter_size != kernel["size"]:
        yield f"its parameters take {info.parameter_size} bytes, but the manifest says {kernel['size']}"
    most = kernel["launch_bounds"][0] if "launch_bounds" in kernel else kernel["block_dim"]
    is_exact = "launch_bounds" in kernel and "plain" not in kernel  # CUDA C++ may allow more on another GPU
    is_less = info.max_threads is not None and info.max_threads < most
    if is_less or (is_exact and info.max_threads != most):
        yield f"it allows {info.max_threads} threads in a block, but the manifest says {most}"
    for name in ("registers", "shared", "local"):
        true_count = getattr(info, name)
        if true_count != resources[name]:
            yield f"its {name} are {true_count}, but the manifest says {resources[name]}"


_ENTRY = re.compile(r"^[ \t]*(?:\.visible[ \t]+|\.weak[ \t]+)?\.entry[ \t]+([\w$%]+)", re.MULTILINE)
_TARGET = re.compile(r"^[ \t]*\.target[ \t]+sm_(\w+)", re.MULTILINE)


def _check_ptx(data: bytes, row: Row, kernels: dict[int, Row]) -> Iterator[tuple[str | None, str]]:
    text = data.decode("utf-8", "replace")
    target = _TARGET.search(text)
    if target is None:
        yield None, "it is not PTX: it has no .target"
        return
    if target[1] != row["arch"].partition("_")[2]:
        yield None, f"it is PTX for compute_{_shortened(target[1])}, but the manifest says {row['arch']}"
    yield from _check_entries(set(_ENTRY.findall(text)), kernels)
