"""Kernels named, keyed and cut into translation units; units lowered to CUDA C."""

from __future__ import annotations

import contextlib
import hashlib
import json
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cache
from pathlib import Path

from kbuild.codegen.names import identifier
from kbuild.codegen.unit import emit
from kbuild.errors import CompileError, Diagnostic, Note, Report
from kbuild.intrinsics.table import has_effects
from kbuild.ir import nodes
from kbuild.ir.blocks import dynamic_row, in_whole_blocks
from kbuild.ir.contract import contract
from kbuild.ir.native import by_their_bodies
from kbuild.ir.presence import optional_parameters
from kbuild.ir.printer import print_kernel
from kbuild.ir.python import print_python
from kbuild.ir.stated import rows as stated_rows
from kbuild.ir.variables import print_variables
from kbuild.ir.verify import verify
from kbuild.lang.program import lower_kernel
from kbuild.lang.reach import Reach, key_of, reach
from kbuild.lang.source import definition_of, head
from kbuild.loader import identity, launch_bounds
from kbuild.loader import types as runtime
from kbuild.loader.cuda_files import CudaKernel
from kbuild.loader.generic import open_parameters
from kbuild.scan import cuda, tables
from kbuild.scan.data import LoweredUnit, Request, ScannedKernel, ScannedUnit, is_own
from kbuild.scan.options import Options, said
from kbuild.scan.selftest import expectations

_DEFAULT_BLOCK_DIM = 256
_UNIT_SIZE = 16


@dataclass(frozen=True)
class Found:
    """A kernel of the project, and what it reaches."""

    kernel: runtime.Kernel
    reach: Reach
    row: ScannedKernel


def find(
    kernels: Iterable[runtime.Kernel],
    report: Report,
    keep_going: bool = False,
    settings: cuda.CudaSettings | None = None,
) -> list[Found]:
    """Kernels by name, without typing anything. Faults go to the report. `settings` are for those in CUDA C++."""
    reached: dict[str, list[tuple[runtime.Kernel, Reach]]] = {}
    kernels = list(kernels)
    overloaded = {id(kernel.generic) for kernel in kernels}
    for kernel in kernels:
        if not kernel.bound and open_parameters(kernel.function):
            if id(kernel) not in overloaded:
                report.add(_without_types(kernel))
            continue
        try:
            if isinstance(kernel, CudaKernel):
                one = cuda.reach(kernel, settings or cuda.CudaSettings())
            else:
                one = reach(kernel)
            reached.setdefault(kernel.name, []).append((kernel, one))
        except CompileError as error:
            for diagnostic in error.diagnostics:
                report.add(replace(diagnostic, kernel=kernel.name))
        except Exception as error:
            if not keep_going:
                raise
            traceback.print_exc()
            text = f"a bug in kbuild: {type(error).__name__}: {error}"
            report.add(Diagnostic("KB700", text, help="report it with what was printed", kernel=kernel.name))
    found: list[Found] = []
    for name in sorted(reached):
        found += _instances(name, reached[name], report)
    return found


def _without_types(kernel: runtime.Kernel) -> Diagnostic:
    """A generic kernel alone is no machine code."""
    span = None
    with contextlib.suppress(CompileError):
        file, definition = definition_of(kernel.function)
        span = head(file, definition)
    text = f"{kernel.name} is generic, and no overload of it was named: the bundle has nothing of it"
    help = f"name the types that are launched: `kb.overload({kernel.__name__}, {{…}})`, here or in `instances`"
    return Diagnostic("KB211", text, span, "warning", help=help, kernel=kernel.name)


def _instances(name: str, made: list[tuple[runtime.Kernel, Reach]], report: Report) -> list[Found]:
    """The different instances of one definition; two of one identity must be one. They share the paths of all plans."""
    plan = list(dict.fromkeys(path for _, one in made for path in one.plan))
    distinct: dict[str, tuple[runtime.Kernel, Reach]] = {}
    for kernel, one in made:
        _widen(kernel, one, plan)
        digest = one.identity()
        if digest in distinct and distinct[digest][1].key() != one.key():
            report.add(_clash(name, distinct[digest][0], kernel))
        distinct.setdefault(digest, (kernel, one))
    is_plain = len(distinct) == 1 and not any("closure:" in path or "type:" in path for path in plan)
    rows = []
    for digest in sorted(distinct):
        kernel, one = distinct[digest]
        full = name if is_plain else f"{name}[{digest[:8]}]"
        rows.append(Found(kernel, one, _row(kernel, one, full, digest)))
    return rows


def _widen(kernel: runtime.Kernel, one: Reach, plan: list[str]) -> None:
    """Puts a longer plan in place of an instance's own."""
    if one.plan == plan:
        return
    try:
        one.values = identity.evaluate(kernel.function, plan, kernel.bound)
        identity.digest(plan, one.values)
        one.plan = plan
    except identity.CaptureError:
        one.values = identity.evaluate(
            kernel.function, one.plan, kernel.bound
        )  # the lowering refuses what cannot be captured


def _row(kernel: runtime.Kernel, one: Reach, name: str, digest: str) -> ScannedKernel:
    entry = _entry(kernel, name)
    bounds = launch_bounds.of(kernel.options)
    is_chosen = "block_dim" in kernel.options or (bounds is not None and bounds[1] != 0)
    usual = _DEFAULT_BLOCK_DIM if bounds is None else bounds[0] if is_chosen else min(_DEFAULT_BLOCK_DIM, bounds[0])
    block_dim = kernel.options.get("block_dim", usual)
    assert isinstance(block_dim, int)
    values = identity.describe(one.values)
    file, definition = definition_of(kernel.function)
    place = list(astuple(file.span(definition)))
    return ScannedKernel(
        name,
        kernel.name,
        entry,
        block_dim,
        one.plan,
        digest,
        values,
        sorted(set(one.paths)),
        place,
        one.asserts,
        is_chosen,
        launch_bounds=list(bounds or ()),
        expression=kernel.cuda.name if isinstance(kernel, CudaKernel) else "",
    )


def _entry(kernel: runtime.Kernel, name: str) -> str:
    """The C name of a kernel, unique in its module. Short, since it stands five times in every cubin.

    The suffix keeps it apart from CUDA's own functions; nested functions, instances and names that C cannot spell get a
    digest of the whole name.
    """
    base = identifier(kernel.qualname)
    if base == kernel.qualname and name == kernel.name:
        return f"{base}_k"
    return f"{identifier(kernel.function.__name__)}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _clash(name: str, first: runtime.Kernel, second: runtime.Kernel) -> Diagnostic:
    file, definition = definition_of(second.function)
    other, earlier = definition_of(first.function)
    note = Note("the other definition", other.span(earlier))
    text = f"two kernels are called {name}, and a launch could not tell them apart"
    return Diagnostic("KB205", text, file.span(definition), help="rename one of them", notes=(note,), kernel=name)


def cut(found: Sequence[Found], request: Request) -> list[ScannedUnit]:
    """Units: the kernels of a module that share compile options, split by the digests of their names when many.

    The split depends on names alone: a new kernel goes into one unit and moves no kernel of another, unless its tables
    do not fit there beside the others'.
    """
    groups: dict[tuple[str, bool, bool, bool, Options], list[int]] = {}
    files: dict[tuple[str, str], list[int]] = {}
    for index, one in enumerate(found):
        if isinstance(one.kernel, CudaKernel):
            files.setdefault((one.kernel.module, cuda.file_of(one.kernel)), []).append(index)
            continue
        is_adjoint = bool(one.row.primal)
        asserts = request.asserts if is_adjoint else _asserts(one.kernel, request)
        own = Options.of(one.kernel, request, is_adjoint)
        groups.setdefault((one.kernel.module, is_adjoint, _fmad(one.kernel, request), asserts, own), []).append(index)
    units = []
    for (module, is_adjoint, fmad, asserts, own), indices in sorted(groups.items()):
        title = f"{module}#adjoint" if is_adjoint else module
        title += "" if fmad == request.fmad else f"#{'fmad' if fmad else 'nofmad'}"
        title += "" if asserts == request.asserts else f"#{'asserts' if asserts else 'noasserts'}"
        title += own.title(Options.usual(request, is_adjoint))
        for name, members in _cut_to_size(title, indices, found, request.per_kernel and not is_own(module)):
            key = _unit_key([found[i] for i in members], request, fmad)
            is_open = any(found[i].row.launch_bounds[1:] == [None] for i in members)
            unit = ScannedUnit(name, module, key, members, asserts, options=own.command_line(), is_open=is_open)
            if is_adjoint:
                unit = replace(unit, asserts=False, places=_places([found[i] for i in members]))
            units.append(unit)
    return units + [_file_unit(*place, indices, found, request) for place, indices in sorted(files.items())]


def _file_unit(module: str, file: str, members: list[int], found: Sequence[Found], request: Request) -> ScannedUnit:
    """A file in CUDA C++, with the kernels that a module declares to be in it."""
    settings = cuda.CudaSettings(**request.cuda)
    key = key_of([(found[i].row.name, found[i].reach.key()) for i in members], _file_options(members, found, request))
    expressions = list(dict.fromkeys(found[i].row.expression for i in members))
    foreign = cuda.foreign(_cuda_kernel(found[members[0]]), settings)
    return ScannedUnit(
        f"{module}#{file}",
        module,
        key,
        members,
        options=settings.all_options,
        expressions=expressions,
        language=settings.language,
        foreign=foreign,
    )


def _file_options(members: Sequence[int], found: Sequence[Found], request: Request) -> dict[str, object]:
    options = {"lineinfo": request.lineinfo, "cuda": cuda.key_of(cuda.CudaSettings(**request.cuda))}
    options["compiler"] = cuda.fingerprint()
    if request.lineinfo:
        options["lines"] = [_content(path) for path in sorted({p for i in members for p in found[i].row.sources})]
    return options


def _cuda_kernel(one: Found) -> CudaKernel:
    assert isinstance(one.kernel, CudaKernel)
    return one.kernel


def _fmad(kernel: runtime.Kernel, request: Request) -> bool:
    return said(kernel, "fmad", request.fmad)


def _asserts(kernel: runtime.Kernel, request: Request) -> bool:
    return bool(kernel.options.get("asserts", request.asserts))


def _cut_to_size(
    title: str, indices: list[int], found: Sequence[Found], per_kernel: bool
) -> Iterator[tuple[str, list[int]]]:
    for name, members in _split(title, indices, found, per_kernel):
        yield from tables.fitting(name, members, [tables.of(found[i].reach.values) for i in members])


def _split(title: str, indices: list[int], found: Sequence[Found], per_kernel: bool) -> list[tuple[str, list[int]]]:
    if per_kernel:
        return [(f"{title}#{_own_name(found[i]).partition(':')[2]}", [i]) for i in indices]
    return _halved(title, indices, found, 0)


def _halved(title: str, indices: list[int], found: Sequence[Found], bit: int) -> list[tuple[str, list[int]]]:
    """Halves by the bits of the names' digests until no unit has more than `_UNIT_SIZE` kernels."""
    if len(indices) <= _UNIT_SIZE or bit >= 64:
        return [(title, indices)] if indices else []
    mark = "#" if bit == 0 else ""
    sides: tuple[list[int], list[int]] = ([], [])
    for index in indices:
        digest = hashlib.sha256(_own_name(found[index]).encode()).digest()
        sides[digest[bit // 8] >> (7 - bit % 8) & 1].append(index)
    zero, one = (_halved(f"{title}{mark}{side}", sides[side], found, bit + 1) for side in (0, 1))
    return [*zero, *one]


def _own_name(one: Found) -> str:
    """A kernel's name; an adjoint goes by that of its kernel."""
    return one.row.primal or one.row.name


def _places(members: Sequence[Found]) -> str:
    """A digest of the files that kernels come from, with all their lines."""
    paths = sorted({path for one in members for path in one.row.sources})
    return hashlib.sha256(json.dumps([[path, _content(path)] for path in paths]).encode()).hexdigest()


@cache
def _content(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _unit_key(members: Sequence[Found], request: Request, fmad: bool) -> str:
    options = {
        "own fmad": fmad,
        "fmad": request.fmad,
        "asserts": request.asserts,
        "lineinfo": request.lineinfo,
        "compiler": fingerprint(),
    }
    if request.lineinfo:
        paths = sorted({path for one in members for path in one.row.sources})
        options["lines"] = [_content(path) for path in paths]
    return key_of([(one.row.name, one.reach.key()) for one in members], options)


@cache
def fingerprint() -> str:
    """Digest of the part of kbuild that turns source into CUDA C, and into what the self-test expects."""
    root = Path(__file__).parents[1]
    names = "abi builtins constants generic identity launch_bounds launch_dim layout scalars selftest types values"
    files = [root / "loader" / f"{name}.py" for name in names.split()]
    files.append(root / "warp" / "functions.py")
    for room in ("ir", "intrinsics", "lang", "autodiff", "codegen", "scan", "sim"):
        files += sorted((root / room).rglob("*.py"))
    digest = hashlib.sha256()
    for file in files:
        digest.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def lower(one: Found, request: Request, report: Report, asserts: bool | None = None) -> nodes.Kernel | None:
    """The contracted IR of a kernel; None with diagnostics in the report. With asserts, unless told otherwise, as the
    kernel or the request says.
    """
    asserts = _asserts(one.kernel, request) if asserts is None else asserts
    kernel = lower_kernel(one.kernel, _fmad(one.kernel, request), report, asserts)
    if kernel is None:
        return None
    return verify(contract(verify(kernel, has_effects)), has_effects)


def lower_unit(
    unit: ScannedUnit,
    found: Sequence[Found],
    request: Request,
    report: Report,
    kept: dict[str, nodes.Kernel] | None = None,
) -> LoweredUnit | None:
    """A unit in CUDA C; None when one of its kernels has errors, which are in the report then.

    The IR of each kernel goes into `kept` by name, unless it has asserts: adjoints are made from it.
    """
    if unit.is_cuda:
        return _lower_file(unit, found, request, report)
    lowered = [(lower(found[i], request, report), found[i].row) for i in unit.kernels]
    kernels = [(kernel, row) for kernel, row in lowered if kernel is not None]
    if len(kernels) < len(lowered):
        return None
    if kept is not None and not unit.asserts:
        kept.update({row.name: kernel for kernel, row in kernels})
    tests = {row.name: _expected(kernel, row) for kernel, row in kernels} if request.selftest else {}
    return lowered_unit(unit, kernels, tests, request.show)


def _lower_file(unit: ScannedUnit, found: Sequence[Found], request: Request, report: Report) -> LoweredUnit | None:
    """A file in CUDA C++ as a unit; None when something is wrong with it."""
    kernels = [(_cuda_kernel(found[i]), found[i].row.name) for i in unit.kernels]
    try:
        made = cuda.lower(kernels, cuda.CudaSettings(**request.cuda))
    except CompileError as error:
        for diagnostic in error.diagnostics:
            report.add(diagnostic)
        return None
    skipped = {"skipped": "it is written in CUDA C++"}
    tests = {name: dict(skipped) for _, name in kernels} if request.selftest else {}
    return LoweredUnit(unit.name, made.source, made.files, made.rows, made.structs, {}, tests, {}, made.headers)


def lowered_unit(
    unit: ScannedUnit,
    kernels: Sequence[tuple[nodes.Kernel, ScannedKernel]],
    tests: dict[str, dict[str, object]],
    show: str,
) -> LoweredUnit:
    """What is said of these kernels as a unit."""
    emitted = emit([(kernel, row.entry) for kernel, row in kernels])
    rows = {row.name: _manifest_part(kernel) for kernel, row in kernels}
    structs = {s.name: s.to_json() for kernel, _ in kernels for s in kernel.structs}
    shown = {row.name: _SHOWN[show](kernel) for kernel, row in kernels if show}
    return LoweredUnit(unit.name, emitted.source, emitted.files, rows, structs, shown, tests)


def _expected(kernel: nodes.Kernel, row: ScannedKernel) -> dict[str, object]:
    if is_own(row.definition.partition(":")[0]):
        return {"skipped": "it is kbuild's own, and works on what other kernels of kbuild's have made"}
    if dynamic_row(kernel.function) is not None:
        return {"skipped": "its launch gives it shared memory"}
    return expectations(kernel, row.block_dim)


def _show_ir(kernel: nodes.Kernel) -> str:
    return f"{print_kernel(kernel)}\n{print_variables(kernel)}"


_SHOWN: dict[str, Callable[[nodes.Kernel], str]] = {
    "ir": _show_ir,
    "adjoint": _show_ir,
    "python": lambda kernel: print_python(by_their_bodies(kernel), has_effects),
}


def _manifest_part(kernel: nodes.Kernel) -> dict[str, object]:
    return {
        "ndim": kernel.ndim,
        "whole_blocks": in_whole_blocks(kernel),
        "waits": True,  # as `codegen` begins every kernel
        "dynamic_shared": dynamic_row(kernel.function) or 0,
        "cluster_dim": kernel.cluster_dim or 0,
        "stated": [list(row) for row in stated_rows(kernel)],
        "parameters": [[p.name, p.type.spelling] for p in kernel.function.parameters],
        "optional": optional_parameters(kernel.function),
    }
