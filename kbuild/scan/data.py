"""What goes between the two processes: dataclasses of plain values, as JSON lines."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kbuild.errors import Diagnostic, Note, Span

T = TypeVar("T")

# What is said of a kernel's adjoint. One that is only wanted, and cannot be, is a warning.
WANTED, REQUIRED = "wanted", "required"


@dataclass(frozen=True)
class Request:
    """What to look for.

    `dialect` "warp" makes the name `warp` stand for kbuild.warp. With `keep_going` a module that cannot be imported, an
    instance that cannot be made and a fault of ours in one kernel leave the others alone. `show` asks for a text of
    each kernel: `ir`, `python`, `adjoint` (the typed form of its adjoint), or nothing. `primitives` are functions of
    kbuild's own whose kernels are wanted too. `backward` says whether kernels get adjoints that do not say so
    themselves: WANTED where one can be had, REQUIRED, or not. `fast_math` and `max_registers` (0: as many as there are)
    are those of kernels in Python that say nothing themselves. `cuda` has the fields of `scan.cuda.CudaSettings`.
    """

    roots: list[str]
    modules: list[str]
    mock_imports: list[str]
    fmad: bool
    lineinfo: bool
    per_kernel: bool
    selftest: bool = False
    instances: list[str] = field(default_factory=list)
    asserts: bool = False
    dialect: str = ""
    keep_going: bool = False
    show: str = ""
    primitives: list[str] = field(default_factory=list)
    backward: str = ""
    fast_math: bool = False
    max_registers: int = 0
    cuda: dict[str, Any] = field(default_factory=dict)


def asked_for(project: bool | None) -> str:
    """What `backward` in [tool.kbuild] says of kernels that say nothing themselves."""
    return {None: WANTED, True: REQUIRED, False: ""}[project]


def in_words(reason: str, help: str) -> str:
    """Why there is no adjoint, and what would help, in a line."""
    return f"{reason} ({help})" if help else reason


def is_own(module: str) -> bool:
    """A module of kbuild's with kernels, which a project can ask for (`primitives`)."""
    return module.startswith("kbuild.primitives.")


@dataclass(frozen=True)
class ScannedKernel:
    """One instance of a kernel, before typing. `name` is unique; `definition` is `module:qualname`; `place` has the
    fields of the span of its `def`; `asserts` are those it reaches (owner, number, line, text); `is_block_dim_chosen`:
    its decorator, or its module, says how many threads a block has. Adjoints have rows of their own, behind those of
    all kernels: `primal` is the name of the kernel that one belongs to, `backward` is WANTED or REQUIRED there.
    `launch_bounds` are those of `loader.launch_bounds.of`, or nothing. Of a kernel in CUDA C++ `expression` is its name
    there, and `entry` is known only when it has been compiled."""

    name: str
    definition: str
    entry: str
    block_dim: int
    plan: list[str]
    identity: str
    values: list[str]
    sources: list[str]
    place: list[Any]
    asserts: list[list[Any]] = field(default_factory=list)
    is_block_dim_chosen: bool = False
    primal: str = ""
    backward: str = ""
    launch_bounds: list[Any] = field(default_factory=list)
    expression: str = ""

    @property
    def span(self) -> Span:
        return Span(*self.place)


@dataclass(frozen=True)
class ScannedUnit:
    """A translation unit, before lowering: kernels of one module by index, and the key of everything they reach.

    `asserts`: its code holds the asserts of its kernels. A unit of adjoints has `places`, a digest of where the lines
    of its sources are, which the key does not know. `options` are NVRTC's, beside those that every unit has. `is_open`:
    some of its kernels leave a part of their launch bounds to each target. A file in CUDA C++ has `expressions`, the
    names of its kernels there, NVRTC's `language` in place of what units in Python have, and `foreign`, the names in
    includes that the project does not have.
    """

    name: str
    module: str
    key: str
    kernels: list[int]
    asserts: bool = False
    places: str = ""
    options: list[str] = field(default_factory=list)
    is_open: bool = False
    expressions: list[str] = field(default_factory=list)
    language: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    @property
    def is_adjoint(self) -> bool:
        return bool(self.places)

    @property
    def is_cuda(self) -> bool:
        return bool(self.expressions)


@dataclass(frozen=True)
class Scanned:
    """The answer to a scan. `skipped` says in words what was left out and why; `failed` are modules."""

    kernels: list[ScannedKernel] = field(default_factory=list)
    units: list[ScannedUnit] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    diagnostics: list[dict[str, Any]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    @property
    def primals(self) -> list[ScannedKernel]:
        """The kernels without their adjoints: those of the project, one for one."""
        return [kernel for kernel in self.kernels if not kernel.primal]


@dataclass(frozen=True)
class LoweredUnit:
    """A unit in CUDA C.

    `rows` has ndim, whole_blocks, dynamic_shared, cluster_dim, stated and parameters (name, spelling) of each kernel by
    name, and shared_memory of one in CUDA C++, `structs` the layouts they use, `files` the real path behind each
    virtual one in the source, `shown` the text of each kernel that was asked for, `selftest` what each kernel does with
    generated inputs (empty unless asked for). Of adjoints, `backward` has by the name of the kernel what its manifest
    row says of one, or {"refused", "help", "place"}; those have no row. `headers` are the texts that the source
    includes, by name.
    """

    name: str
    source: str
    files: dict[str, str]
    rows: dict[str, dict[str, Any]]
    structs: dict[str, dict[str, Any]]
    shown: dict[str, str]
    selftest: dict[str, dict[str, Any]]
    backward: dict[str, dict[str, Any]] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Lowered:
    """The answer to a request to lower units."""

    units: list[LoweredUnit] = field(default_factory=list)
    complete: int = 0
    diagnostics: list[dict[str, Any]] = field(default_factory=list)


def to_json(value: Any) -> dict[str, Any]:
    """A dataclass as JSON data."""
    return dataclasses.asdict(value)


def diagnostic_to_json(diagnostic: Diagnostic) -> dict[str, Any]:
    """A diagnostic with everything that it shows."""
    return dataclasses.asdict(diagnostic)


def diagnostic_from_json(data: dict[str, Any]) -> Diagnostic:
    """The diagnostic again."""
    notes = tuple(Note(note["message"], _span(note["span"])) for note in data["notes"])
    return Diagnostic(**{**data, "span": _span(data["span"]), "notes": notes})


def _span(data: dict[str, Any] | None) -> Span | None:
    return None if data is None else Span(**data)


def scanned_from_json(data: dict[str, Any]) -> Scanned:
    """The answer to a scan again."""
    kernels = [ScannedKernel(**row) for row in data["kernels"]]
    units = [ScannedUnit(**row) for row in data["units"]]
    return Scanned(kernels, units, data["skipped"], data["diagnostics"], data["failed"])


def lowered_from_json(data: dict[str, Any]) -> Lowered:
    """The answer to a request to lower again."""
    return Lowered([LoweredUnit(**row) for row in data["units"]], data["complete"], data["diagnostics"])
