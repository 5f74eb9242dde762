"""What a target does not allow, found before a compiler is asked: NVRTC would name neither the place nor the cure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from kbuild import targets
from kbuild.errors import Diagnostic
from kbuild.loader import abi, format, struct_table
from kbuild.nvrtc import Toolchain
from kbuild.scan.data import ScannedKernel
from kbuild.targets import Target

Parts = Sequence[tuple[Target, Toolchain]]


class Lowered(Protocol):
    """A unit's manifest data: `ndim` and parameters of each kernel by name, and the layouts of structs."""

    @property
    def rows(self) -> dict[str, dict[str, Any]]: ...

    @property
    def structs(self) -> dict[str, dict[str, Any]]: ...


def beyond_targets(unit: Lowered, kernels: Mapping[str, ScannedKernel], parts: Parts) -> Iterator[Diagnostic]:
    """A diagnostic at the `def` of each kernel that some target cannot have. `kernels` by name."""
    yield from too_many_parameters(unit, kernels, parts)
    yield from without_clusters(unit, kernels, parts)


def without_clusters(unit: Lowered, kernels: Mapping[str, ScannedKernel], parts: Parts) -> Iterator[Diagnostic]:
    """Of kernels that run in clusters, where there are none."""
    without = list(dict.fromkeys(one.name for one, _ in parts if not targets.limits(one.arch).has_clusters))
    for name, row in unit.rows.items() if without else ():
        if row.get("cluster_dim"):
            kernel = kernels[name]
            text = f"{name} runs in clusters (cluster_dim={row['cluster_dim']}), which {', '.join(without)} cannot"
            help = "clusters begin with compute capability 9.0 (sm_90): leave older targets out, or put the kernel "
            help += "into a package of its own that is built for newer ones"
            yield Diagnostic("KB306", text, kernel.span, help=help, kernel=name)


def too_many_parameters(unit: Lowered, kernels: Mapping[str, ScannedKernel], parts: Parts) -> Iterator[Diagnostic]:
    """Of kernels whose parameters some target does not take."""
    structs = struct_table.parse(unit.structs)
    for name, row in unit.rows.items():
        types = [abi.parse(spelling, structs) for _, spelling in row["parameters"]]
        header = 0 if "shared_memory" in row else format.header_size(row["ndim"], format.writes_origin(row["ndim"]))
        _, size = format.layout_behind(header, types)
        small = [(part, made_by) for part, made_by in parts if size > _space(part, made_by)]
        if small:
            yield _diagnostic(kernels[name], size, small)


def parameter_limit(parts: Sequence[tuple[Target, Toolchain]]) -> tuple[int, str]:
    """The bytes of parameters that every target takes, and the one that takes least."""
    part, toolchain = min(parts, key=lambda one: _space(*one))
    return _space(part, toolchain), _says(part, toolchain)


def _says(part: Target, toolchain: Toolchain) -> str:
    return f"{part.name} takes {_space(part, toolchain)} (CUDA {toolchain.version[0]}.{toolchain.version[1]})"


def _space(part: Target, toolchain: Toolchain) -> int:
    return targets.limits(part.arch).parameter_space(toolchain.version)


def _diagnostic(kernel: ScannedKernel, size: int, small: Sequence[tuple[Target, Toolchain]]) -> Diagnostic:
    spaces = dict.fromkeys(_says(part, toolchain) for part, toolchain in small)
    text = f"{kernel.name} takes {size} bytes of parameters, launch header included, but {', '.join(spaces)}"
    help = "put what is large into an array, whose parameter takes 16 to 40 bytes"
    if size <= targets.LARGE_PARAMETER_SPACE:
        help += f"; {targets.LARGE_PARAMETER_SPACE} bytes are allowed by CUDA 12.1 and newer, on sm_70 and newer"
    return Diagnostic("KB302", text, kernel.span, help=help, kernel=kernel.name)
