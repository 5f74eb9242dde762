"""The manifest's rows, made from what a build knows: types of parameters, finished cubins.

`kbuild.loader.schema` says which fields there are; nothing else in kbuild spells them out for writing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from kbuild import targets
from kbuild.loader import cubin, format

Row = dict[str, Any]


def kernel_row(
    name: str,
    entry: str,
    ndim: int,
    block_dim: int,
    parameters: Sequence[tuple[str, format.Type]],
    optional: Sequence[str] = (),
    *,
    whole_blocks: bool = False,
    dynamic_shared: int = 0,
    cluster_dim: int = 0,
    any_block_dim: bool = False,
    waits: bool = False,
    is_plain: bool = False,
    shared_memory: int = 0,
    bounds: Sequence[int | None] = (),
    stated: Sequence[Sequence[str]] = (),
    line: int = 0,
) -> Row:
    """A kernel's row; offsets are in bytes from the start of the parameter block, behind the launch header.

    `optional` names the arrays that may be None, fields of structs as `model.mask`; `any_block_dim`: the kernel does
    not say how many threads its blocks have; `dynamic_shared`: bytes of a row of the array in shared memory whose
    extent the launch gives (0: none); `waits`: its code begins as `codegen.blocks.wait` says. `is_plain`: it is written
    in CUDA C++, so that its parameters begin at 0, and a launch that says nothing gives each block `shared_memory`
    bytes. `bounds` are its launch bounds, `cluster_dim` the blocks of a cluster (0: it does not run in clusters).
    `stated` is what launches are held against, as `loader.stated` reads it, `line` where the kernel is defined.
    """
    has_origin = format.writes_origin(ndim) and not is_plain
    header = 0 if is_plain else format.header_size(ndim, has_origin)
    offsets, size = format.layout_behind(header, [type for _, type in parameters])
    rows = [
        {"name": parameter, "type": type.spelling, "offset": offset, "size": type.size}
        for (parameter, type), offset in zip(parameters, offsets, strict=True)
    ]
    row = {"name": name, "entry": entry, "ndim": ndim, "block_dim": block_dim, "parameters": rows, "size": size}
    if optional:
        row["optional"] = list(optional)
    if whole_blocks:
        row["whole_blocks"] = True
    elif any_block_dim:
        row["any_block_dim"] = True
    if dynamic_shared:
        row["dynamic_shared"] = dynamic_shared
    if cluster_dim:
        row["cluster_dim"] = cluster_dim
    if has_origin:
        row["origin"] = True
    if is_plain:
        row["plain"] = True
    if shared_memory:
        row["shared_memory"] = shared_memory
    if waits:
        row["waits"] = True
    if bounds:
        row["launch_bounds"] = [bounds[0], bounds[1] or 0]
    if stated:
        row["stated"] = {"line": line, "rows": [list(one) for one in stated]}
    return row


def cubin_row(
    target: targets.Target,
    unit: str,
    kernels: Mapping[int, Row],
    *,
    toolchain: str,
    cuda: tuple[int, int],
    blob: int,
    data: bytes,
    spills: Mapping[str, int],
    min_blocks: Mapping[str, int] = MappingProxyType({}),
) -> Row:
    """The row of a unit's code for one target: `data` is the cubin or PTX, stored as blob number `blob`.

    `kernels` are the rows of its kernels by index; `toolchain` is a full version ("12.9.86"); `spills` has the bytes
    that ptxas's log reports for an entry, `min_blocks` what was chosen for one for this target. CubinError when `data`
    is not a cubin.
    """
    parameter_bytes = max(kernel["size"] for kernel in kernels.values())
    constants = cubin.read(data).constants if target.kind == "cubin" else 0
    return {
        "target": target.name,
        "arch": target.arch,
        "kind": target.kind,
        "toolchain": toolchain,
        "cuda": list(cuda),
        "driver": list(targets.oldest_driver(target.arch, target.kind, cuda, parameter_bytes)),
        "kernels": list(kernels),
        "unit": unit,
        "resources": _resources(data, kernels, spills, min_blocks) if target.kind == "cubin" else [],
        **({"constants": constants} if constants else {}),
        "blob": blob,
    }


def _resources(
    data: bytes, kernels: Mapping[int, Row], spills: Mapping[str, int], min_blocks: Mapping[str, int]
) -> list[Row]:
    found = cubin.read(data).kernels
    rows = []
    for index, kernel in kernels.items():
        entry = kernel["entry"]
        if entry not in found:
            raise cubin.CubinError(f"the cubin lacks the entry {entry} of {kernel['name']}")
        info = found[entry]
        counts = {"registers": info.registers, "shared": info.shared, "local": info.local}
        chosen = {"min_blocks": min_blocks[entry]} if entry in min_blocks else {}
        rows.append({"kernel": index, **counts, "spills": spills.get(entry, 0), **chosen})
    return rows


class Blobs:
    """The blobs of a bundle under construction: equal bytes are stored once (two targets of one architecture)."""

    def __init__(self) -> None:
        self.data: list[bytes] = []
        self._index: dict[str, int] = {}

    def add(self, data: bytes) -> int:
        """The index of `data`."""
        key = hashlib.sha256(data).hexdigest()
        if key not in self._index:
            self._index[key] = len(self.data)
            self.data.append(data)
        return self._index[key]
