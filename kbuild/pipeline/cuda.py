"""Files of CUDA C++ in a build: what they are asked with, where NVRTC's messages point, and whether what it has made is
what was declared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kbuild.config import BuildConfig
from kbuild.cuda import signature
from kbuild.cuda.includes import SUFFIXES
from kbuild.errors import CompileError, Diagnostic
from kbuild.loader import abi, cubin, format, struct_table
from kbuild.nvrtc import Compiled, LogMessage, Toolchain, cure
from kbuild.scan.cuda import CudaSettings
from kbuild.scan.data import ScannedKernel, ScannedUnit
from kbuild.scan.modules import Module
from kbuild.targets import Target

_NO_FILE = re.compile(r"(?:could not|cannot) open source file \"([^\"]+)\"")
# Where NVRTC looks up what kernels are called, and where declarations are held against them: what is wrong there is
# wrong at the declaration already.
_BEHIND = ("__nv_name_map", signature.PATH)


def settings_of(config: BuildConfig) -> dict[str, Any]:
    """`[tool.kbuild.cuda]` for the process that reads the files."""
    said = config.cuda
    return asdict(
        CudaSettings(
            str(config.root),
            [str(folder) for folder in said.include_dirs],
            [list(pair) for pair in said.defines],
            said.std,
            said.fmad,
            list(said.options),
        )
    )


def sources(config: BuildConfig, modules: Iterable[Module]) -> list[Path]:
    """The files of CUDA C++ that an sdist must hold: those in packages with a `.cu` file, in the include folders, and
    what `files` names.
    """
    folders = {module.root / module.package.replace(".", "/") for module in modules}
    found = {path for folder in folders if any(folder.rglob("*.cu")) for path in _files_in(folder)}
    found |= {path for folder in config.cuda.include_dirs for path in _files_in(folder)}
    found |= {path for pattern in config.cuda.files for path in config.root.glob(pattern) if path.is_file()}
    return sorted(found)


def _files_in(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())


def is_noise(message: LogMessage, others: Sequence[LogMessage]) -> bool:
    """NVRTC says once more what is wrong with a declaration, of a text that nobody has written."""
    return message.path in _BEHIND and any(m.path not in _BEHIND and m.severity == "error" for m in others)


def explained(message: LogMessage, toolchain: Toolchain) -> tuple[str, str, str | None]:
    """(code, text, help) of a message about a file of CUDA C++."""
    missing = _NO_FILE.search(message.text)
    if missing is not None:
        return "KB305", message.text, cure(missing[1], toolchain)
    _, is_ours, said = message.text.partition(signature.MARK)
    if is_ours:
        help = "declare what the kernel has: one parameter for each of its own, in order"
        return "KB304", said.rstrip('"'), help
    if message.path in _BEHIND or (message.path or "").endswith(".py"):
        text = f"the name of the kernel means nothing in its file: {message.text}"
        return "KB304", text, 'name it as C++ does: `"blur"`, `"image::blur"`, `"image::blur<float, 3>"`'
    return "KB301", message.text, None


def refuse_what_does_not_fit(
    unit: ScannedUnit,
    rows: Mapping[str, Mapping[str, Any]],
    structs: Mapping[str, Any],
    results: Sequence[Compiled],
    kernels: Sequence[ScannedKernel],
    parts: Sequence[tuple[Target, Toolchain]],
) -> None:
    """Raises CompileError where a kernel in a cubin has other parameters than those that were declared."""
    faults: dict[str, Diagnostic] = {}
    types = struct_table.parse(dict(structs))
    for (part, toolchain), result in zip(parts, results, strict=True):
        found = cubin.read(result.data).kernels if part.kind == "cubin" else {}
        for kernel in (kernels[i] for i in unit.kernels):
            declared = [(name, abi.parse(spelling, types)) for name, spelling in rows[kernel.name]["parameters"]]
            entry = result.names[kernel.expression]
            if result.names[kernel.expression] != results[0].names[kernel.expression]:
                text = f"{kernel.expression} has another symbol by NVRTC {toolchain.build}: {entry}"
                help = 'declare it `extern "C"`, or give it no type of a library\'s for a parameter'
                faults.setdefault(kernel.name, _fault(kernel, text, help))
            elif entry in found:
                wrong = _difference(declared, found[entry])
                if wrong:
                    faults.setdefault(kernel.name, _fault(kernel, f"{wrong} (for {part.name})", _HELP))
                most = found[entry].max_threads
                if most is not None and kernel.block_dim > most:
                    text = f"a block has {kernel.block_dim} threads, and {kernel.expression} allows {most}"
                    faults.setdefault(
                        kernel.name, _fault(kernel, text, f"declare it with `block_dim={most}`, or fewer")
                    )
    for kernel, other in _twice(unit, kernels, results[0].names if results else {}):
        text = f"{kernel.name} and {other.name} are the same kernel, {kernel.expression}"
        faults.setdefault(kernel.name, _fault(kernel, text, "declare it once, and launch that"))
    if faults:
        raise CompileError(list(faults.values()))


def bounds(kernel: ScannedKernel, code: Sequence[tuple[Target, Compiled]]) -> list[int | None]:
    """A kernel's launch bounds, which its file says: the fewest threads of a block that the code of any part allows.

    Empty where none of it says anything; what it says of blocks is in the code alone.
    """
    infos = (
        cubin.read(result.data).kernels[result.names[kernel.expression]]
        for part, result in code
        if part.kind == "cubin"
    )
    most = [info.max_threads for info in infos if info.max_threads is not None]
    return [min(most), None] if most else []


def _twice(
    unit: ScannedUnit, kernels: Sequence[ScannedKernel], names: Mapping[str, str]
) -> Iterator[tuple[ScannedKernel, ScannedKernel]]:
    """Declarations of a kernel that has one already, and that one."""
    first: dict[str, ScannedKernel] = {}
    for kernel in (kernels[i] for i in unit.kernels if names):
        other = first.setdefault(names[kernel.expression], kernel)
        if other is not kernel:
            yield kernel, other


_HELP = "C++ lays out its own types, and float4 asks for 16 bytes: declare a @kb.struct with the same fields, or order"


def _fault(kernel: ScannedKernel, text: str, help: str) -> Diagnostic:
    return Diagnostic("KB304", text, kernel.span, help=help, kernel=kernel.name)


def _difference(declared: Sequence[tuple[str, abi.Type]], found: cubin.KernelInfo) -> str | None:
    offsets, size = format.layout_behind(0, [type for _, type in declared])
    if len(declared) != len(found.parameters):
        return f"the kernel takes {len(found.parameters)} parameters, and {len(declared)} are declared"
    for (name, type), offset, true in zip(declared, offsets, found.parameters, strict=True):
        if (offset, type.size) != true:
            said = f"{offset} with {type.size} bytes ({signature.spelled(type)})"
            return f"parameter {name!r} is declared at offset {said}, and the kernel has it at {true[0]} with {true[1]}"
    if size != found.parameter_size:
        return f"the kernel's parameters take {found.parameter_size} bytes, and those declared {size}"
    return None
