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


class Lowered(Protocol):
    """A unit's manifest data: `ndim` and parameters of each kernel by name, and the layouts of structs."""

    @property
    def rows(self) -> dict[str, dict[str, Any]]: ...

    @property
    def structs(self) -> dict[str, dict[str, Any]]: ...


def too_many_parameters(
    unit: Lowered, kernels: Mapping[str, ScannedKernel], parts: Sequence[tuple[Target, Toolchain]]
) -> Iterator[Diagnostic]:
    """A diagnostic at the `def` of each kernel whose parameters some target does not take. `kernels` by name."""
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
