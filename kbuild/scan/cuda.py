"""Kernels in CUDA C++ files: what is declared of them, and their files as translation units.

A unit is a file with those of its kernels that one module declares. Its key is that of the texts of the file and of all
that it includes, of the declared signatures, and of the options; the compiler gets those texts and nothing else.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from kbuild.cuda import includes, signature
from kbuild.errors import CompileError, Diagnostic, Span
from kbuild.ir.types import Struct, Type, structs_in
from kbuild.lang import stated
from kbuild.lang.annotations import parameter_type, parameters_of
from kbuild.lang.reach import Reach
from kbuild.lang.source import Definition, SourceFile, definition_of, head
from kbuild.loader import abi
from kbuild.loader.cuda_files import POINTERS, CudaKernel
from kbuild.loader.layout import is_indexed


@dataclass(frozen=True)
class CudaSettings:
    """What `[tool.kbuild.cuda]` says, as plain values. `project` is the folder that virtual names begin at; "": the one
    above the outermost package of the declaring module.
    """

    project: str = ""
    include_dirs: list[str] = field(default_factory=list)
    defines: list[list[str]] = field(default_factory=list)
    std: str = "c++17"
    fmad: bool = True
    options: list[str] = field(default_factory=list)

    @property
    def language(self) -> list[str]:
        """NVRTC's options for the dialect of C++, and whether products and sums are fused."""
        return [f"-std={self.std}", f"-fmad={'true' if self.fmad else 'false'}"]

    @property
    def all_options(self) -> list[str]:
        """NVRTC's other options."""
        return [*(f"-D{name}={value}" for name, value in self.defines), *self.options]


@dataclass(frozen=True)
class Declared:
    """A kernel as its module declares it: its file, its parameters, and which of them may be None."""

    path: Path
    closure: includes.Closure
    parameters: tuple[signature.Parameter, ...]
    optional: tuple[str, ...]
    place: Span
    virtual: str  # of the declaring module

    def as_declaration(self, kernel: CudaKernel) -> signature.Declaration:
        return signature.Declaration(kernel.cuda.name, self.parameters, self.virtual, self.place.line)


def declared(kernel: CudaKernel, settings: CudaSettings) -> Declared:
    """What a declaration says, with the file that it names. Raises CompileError."""
    file, definition = definition_of(kernel.function)
    place = head(file, definition)
    parameters = _parameters(kernel, file, definition)
    path = (Path(file.path).resolve().parent / kernel.cuda.file).resolve()
    if not path.is_file():
        text = f"{kernel.name} is declared to be in {kernel.cuda.file}, and there is no file {path}"
        help = f"the name is relative to {Path(file.path).parent}"
        raise CompileError([Diagnostic("KB303", text, place, help=help, kernel=kernel.name)])
    roots = includes.Roots(_project(settings, file.path), tuple(map(Path, settings.include_dirs)))
    optional = tuple(_optional(kernel, parameters, place))
    closure = _closure(path, roots)
    return Declared(path, closure, parameters, optional, place, roots.virtual(Path(file.path).resolve()))


@cache
def _closure(path: Path, roots: includes.Roots) -> includes.Closure:
    return includes.read(path, roots)


def _project(settings: CudaSettings, module_file: str) -> Path:
    if settings.project:
        return Path(settings.project).resolve()
    folder = Path(module_file).resolve().parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return folder


def _parameters(kernel: CudaKernel, file: SourceFile, definition: Definition) -> tuple[signature.Parameter, ...]:
    arguments = definition.args
    faults: list[Diagnostic] = []
    for extra, stars in ((arguments.vararg, "*"), (arguments.kwarg, "**")):
        if extra is not None:
            faults.append(Diagnostic("KB106", f"kernels have no `{stars}{extra.arg}`", file.span(extra)))
    found = []
    for argument in parameters_of(definition):
        type = parameter_type(kernel.function, argument, file)
        if isinstance(type, Diagnostic):
            faults.append(type)
        elif not isinstance(type, Type) or is_indexed(type):
            text = f"{argument.arg!r} of a kernel in CUDA C++ is a number, a vector, a matrix, a struct or an array"
            faults.append(Diagnostic("KB102", text, file.span(argument), help="write its type out, as in `x: float`"))
        elif stated.of_parameter(kernel, argument):
            text = f"a shape is stated of kernels in Python, and {kernel.name} is CUDA C++: nobody would look at it"
            faults.append(Diagnostic("KB102", text, file.span(argument), help="write `ndim=` there"))
        else:
            type = _as_passed(type, kernel.cuda.arrays)
            found.append(signature.Parameter(argument.arg, type, file.span(argument).line))
    if faults:
        raise CompileError(faults)
    return tuple(found)


def _as_passed(type: Type, arrays: str) -> abi.Type:
    if isinstance(type, abi.Array) and arrays == POINTERS:
        return abi.Flat(type.element, type.ndim)
    return type


def _optional(kernel: CudaKernel, parameters: Sequence[signature.Parameter], place: Span) -> list[str]:
    """Arrays that may be None: those with that default. Other defaults would never be taken."""
    found = []
    defaults = {n: p.default for n, p in inspect.signature(kernel.function).parameters.items()}
    for parameter in parameters:
        default = defaults[parameter.name]
        if default is None and isinstance(parameter.type, abi.Array):
            found.append(parameter.name)
        elif default is not inspect.Parameter.empty:
            text = f"{parameter.name!r} of {kernel.name} has a default, which a launch would not take"
            help = "give it with every launch; `= None` of an array says that there need not be one"
            raise CompileError([Diagnostic("KB106", text, place, help=help, kernel=kernel.name)])
    return found


def reach(kernel: CudaKernel, settings: CudaSettings) -> Reach:
    """What the machine code depends on. Raises CompileError."""
    said = declared(kernel, settings)
    file, _ = definition_of(kernel.function)
    found = Reach()
    found.paths = [file.path, *said.closure.paths]
    types = [[p.name, p.type.spelling] for p in said.parameters]
    cuda = kernel.cuda
    found.parts = [kernel.name, cuda.name, types, list(said.optional), cuda.shared_memory, _text_key(said)]
    found.structs = {s.name: s for p in said.parameters for s in structs_in(p.type)}
    return found


def _text_key(said: Declared) -> str:
    texts = [said.closure.name, said.closure.text, said.closure.headers, said.closure.foreign]
    return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()


def file_of(kernel: CudaKernel) -> str:
    """The file of a kernel, as its unit is called by it."""
    return Path(kernel.cuda.file).as_posix()


def foreign(kernel: CudaKernel, settings: CudaSettings) -> list[str]:
    """Names in the includes of a kernel's file that the project does not have."""
    return declared(kernel, settings).closure.foreign


@cache
def fingerprint() -> str:
    """Digest of the part of kbuild that makes a unit of a file."""
    root = Path(__file__).parents[1]
    files = [*sorted((root / "cuda").glob("*.py")), Path(__file__), root / "loader" / "abi.py"]
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def key_of(settings: CudaSettings) -> list[Any]:
    """What of the settings every unit depends on; folders do not, since texts do not show them."""
    said = asdict(settings)
    return [said["defines"], said["std"], said["fmad"], said["options"]]


@dataclass(frozen=True)
class CudaText:
    """A unit as the compiler gets it: see `scan.data.LoweredUnit`."""

    source: str
    headers: dict[str, str]
    files: dict[str, str]
    rows: dict[str, dict[str, Any]]
    structs: dict[str, dict[str, Any]]


def lower(kernels: Sequence[tuple[CudaKernel, str]], settings: CudaSettings) -> CudaText:
    """The unit of kernels, with their names, that are in one file. Raises CompileError."""
    known = [(kernel, name, declared(kernel, settings)) for kernel, name in kernels]
    closure = known[0][2].closure
    tail = signature.text(said.as_declaration(kernel) for kernel, _, said in known)
    files = dict(closure.files)
    rows: dict[str, dict[str, Any]] = {}
    structs: dict[str, Struct] = {}
    for kernel, name, said in known:
        files[said.virtual] = definition_of(kernel.function)[0].path
        rows[name] = {
            "ndim": 1,
            "whole_blocks": False,
            "waits": False,
            "dynamic_shared": 0,
            "cluster_dim": 0,
            "stated": [],
            "parameters": [[p.name, p.type.spelling] for p in said.parameters],
            "optional": list(said.optional),
            "shared_memory": kernel.cuda.shared_memory,
        }
        structs.update((s.name, s) for p in said.parameters for s in structs_in(p.type))
    source = f'#line 1 "{closure.name}"\n{closure.text}\n{tail}'
    tables = {name: structs[name].to_json() for name in sorted(structs)}
    return CudaText(source, closure.headers, files, rows, tables)
