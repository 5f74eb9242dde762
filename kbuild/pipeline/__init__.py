"""The whole way from a project to its bundles, read from top to bottom.

build(config.load(Path("."))) → BuildResult: one bundle in each import package that has kernels
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from kbuild.audit.machine import Machine
from kbuild.config import BuildConfig
from kbuild.errors import CompileError, Diagnostic, UsageError
from kbuild.loader.backward import ADJOINT
from kbuild.nvrtc import Cache, cache_root, discover
from kbuild.pipeline import auditing, cuda
from kbuild.pipeline.analyses import analysed
from kbuild.pipeline.auditing import AuditResult, Wanted
from kbuild.pipeline.gradients import as_error, raise_errors, refusals
from kbuild.pipeline.packing import is_editable, pack
from kbuild.pipeline.units import Compilation, UnitCode, compile_units, from_cache, lower_units
from kbuild.scan.client import Scanner
from kbuild.scan.data import Request, Scanned, ScannedUnit, asked_for, diagnostic_from_json, is_own
from kbuild.scan.modules import Module, Selection, select

# Stages that show one text a kernel, and what its name ends in.
TEXTS = {"python": ".py", "ir": "", "adjoint": ""}


class Progress(Protocol):
    """What a build reports to: steps are units × targets."""

    def start(self, total: int) -> None: ...

    def advance(self, label: str) -> None: ...

    def finish(self) -> None: ...


class Quiet:
    """Progress for nobody."""

    def start(self, total: int) -> None:
        """Nothing."""

    def advance(self, label: str) -> None:
        """Nothing."""

    def finish(self) -> None:
        """Nothing."""


@dataclass(frozen=True, slots=True)
class BuiltBundle:
    """A bundle on disk; `size` in bytes."""

    package: str
    path: Path
    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a build did. `compiled` and `cached` count units × targets, `lowered` units; times are in seconds.

    `skipped` says in words what was left out, and why.
    """

    bundles: tuple[BuiltBundle, ...]
    kernels: tuple[str, ...]
    targets: tuple[str, ...]
    compiled: int
    cached: int
    lowered: int
    seconds: float
    nvrtc_seconds: float
    diagnostics: tuple[Diagnostic, ...]
    skipped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check found. `refusals` counts error diagnostics by code."""

    found: int
    complete: int
    refusals: dict[str, int]
    diagnostics: tuple[Diagnostic, ...]
    skipped: tuple[str, ...]


def build(
    config: BuildConfig,
    *,
    output: Path | None = None,
    editable: bool | None = None,
    progress: Progress | None = None,
    jobs: int | None = None,
) -> BuildResult:
    """Builds a project's bundles below `output`, or beside its sources. Raises KbuildError.

    An editable build makes a unit of each kernel and notes the sources, so that a launch can tell when they changed.
    None means: as the bundle is that would be replaced, so that an editable install stays one.
    """
    started = time.perf_counter()
    progress = progress or Quiet()
    selection = select(config.source_roots, config.modules, config.exclude)
    if editable is None:
        editable = any(is_editable(_place(m.package, selection, output)) for m in selection.modules)
    cache = Cache(cache_root())
    request = _request(config, selection, per_kernel=editable, primitives=config.primitives)
    with Scanner(request) as scanner:
        scanner.start()  # on an unknown machine both take their time
        plan = Compilation(config, discover(config.toolchains, cache=cache), cache)
        scanned = _without_errors(scanner.scan())
        _require_kernels(scanned, selection)
        codes = [from_cache(plan, unit) for unit in scanned.units]
        missing = [unit for unit, code in zip(scanned.units, codes, strict=True) if code is None]
        lowered, warnings = lower_units(plan, missing, scanner, scanned) if missing else ({}, ())
        audits = auditing.step(config, scanned, scanner, cache, _files(selection))
    whole = [code or lowered[unit.name] for unit, code in zip(scanned.units, codes, strict=True)]
    without = refusals(scanned, whole)
    raise_errors(without)
    outcome = compile_units(plan, scanned, whole, progress, jobs or config.jobs)
    found = auditing.told(plan, scanned, whole, audits)
    bundles = tuple(
        BuiltBundle(package, *pack(plan, package, _place(package, selection, output), scanned, parts, editable))
        for package, parts in _by_package(scanned, whole, selection).items()
    )
    return BuildResult(
        bundles,
        tuple(kernel.name for kernel in scanned.primals),
        tuple(target.name for target in config.targets),
        outcome.compiled,
        outcome.cached,
        len(lowered),
        time.perf_counter() - started,
        outcome.nvrtc_seconds,
        (
            *map(diagnostic_from_json, scanned.diagnostics),
            *warnings,
            *without,
            *outcome.warnings,
            *found,
            *_cache_warnings(cache),
        ),
        (*selection.skipped, *scanned.skipped),
    )


def check(config: BuildConfig) -> CheckResult:
    """Lowers every kernel and reports what is wrong with each; compiles nothing."""
    selection = select(config.source_roots, config.modules, config.exclude)
    with Scanner(_request(config, selection, per_kernel=True)) as scanner:
        scanned = scanner.scan()
        lowered = scanner.lower([unit.name for unit in scanned.units])
    diagnostics = [diagnostic_from_json(row) for row in (*scanned.diagnostics, *lowered.diagnostics)]
    without = refusals(scanned, lowered.units)
    diagnostics += without
    counts = Counter(d.code for d in diagnostics if d.severity == "error")
    without_source = {d.kernel for d in diagnostics if d.code == "KB100"}
    found = len(scanned.primals) + len(without_source)
    complete = lowered.complete - sum(d.severity == "error" for d in without)
    skipped = (*selection.skipped, *scanned.skipped)
    return CheckResult(found, complete, dict(counts), tuple(diagnostics), skipped)


def audit(config: BuildConfig, wanted: Wanted, *, progress: Progress | None = None) -> AuditResult:
    """Analyses kernels, and the machine code that a build would make of them; writes no bundle. Raises KbuildError."""
    started = time.perf_counter()
    selection = select(config.source_roots, config.modules, config.exclude)
    options = auditing.options_of(config.audit, wanted)
    places = {module.bundle: _place(module.package, selection, None) for module in selection.modules}
    copies = [[place, config.root / "build" / "lib" / name] for name, place in places.items()]  # and setuptools'
    earlier = auditing.earlier(wanted.against, copies) if auditing.MACHINE_CODE in options.checks else None
    cache = Cache(cache_root())
    with Scanner(_request(config, selection, per_kernel=any(map(is_editable, places.values())))) as scanner:
        scanner.start()
        is_compiled = auditing.MACHINE_CODE in options.checks
        plan = Compilation(config, discover(config.toolchains, cache=cache), cache) if is_compiled else None
        scanned = _without_errors(scanner.scan())
        kernels = auditing.chosen(scanned, wanted.kernels)
        scanned = auditing.only(scanned, kernels)
        audits = analysed(kernels, scanned, scanner, cache, options, _files(selection))
        if len(audits) < sum(not kernel.expression for kernel in kernels):
            _raise(scanner.lower([unit.name for unit in scanned.units]).diagnostics)
        codes = auditing.lowered(plan, scanned, scanner) if plan is not None else []
    machines: list[Machine] = []
    if plan is not None:
        compile_units(plan, scanned, codes, progress or Quiet(), config.jobs)
        machines += auditing.machines(plan, scanned, codes, kernels)
    return AuditResult(
        tuple(audits),
        auditing.judged(audits, auditing.findings_of(machines, scanned, codes), config.audit, options.checks, kernels),
        options.checks,
        tuple(target.name for target in config.targets),
        tuple(machines),
        auditing.compared(machines, earlier.machines) if earlier is not None else (),
        earlier.label if earlier is not None else None,
        tuple(kernel.name for kernel in kernels if kernel.expression),
        (*selection.skipped, *scanned.skipped),
        time.perf_counter() - started,
    )


def emit(config: BuildConfig, stage: str, *, kernel: str | None = None) -> Iterator[tuple[str, str | bytes]]:
    """(name, text or machine code) of a stage, for every unit, or those of a kernel or adjoint.

    `python`, `ir`, `adjoint` (one text a kernel), `cuda`, `ptx` or `cubin`.
    """
    selection = select(config.source_roots, config.modules, config.exclude)
    request = _request(config, selection, per_kernel=kernel is not None, show=stage if stage in TEXTS else "")
    plan = None
    if stage not in (*TEXTS, "cuda"):
        plan = Compilation(config, discover(config.toolchains), Cache(cache_root()))
    with Scanner(request) as scanner:
        scanned = _without_errors(scanner.scan())
        units = _units_of(scanned, kernel, stage)
        lowered = scanner.lower([unit.name for unit in units], plan.limit if plan else None)
    _raise(lowered.diagnostics)
    without = refusals(scanned, lowered.units)
    raise_errors(without if kernel is None else map(as_error, without))
    if stage in TEXTS:
        yield from ((name + TEXTS[stage], text) for unit in lowered.units for name, text in unit.shown.items())
        yield from ((f"{one.kernel}{ADJOINT}", f"# {one.span}: {one.message}\n") for one in without)
    elif plan is None:
        for unit in (unit for unit in lowered.units if unit.rows):
            yield unit.name.removesuffix(".cu") + ".cu", unit.source
            yield from unit.headers.items()
    else:
        yield from plan.emit(stage, units, scanned.kernels, lowered.units)


def sources(config: BuildConfig) -> list[Path]:
    """The files of the kernel modules, of CUDA C++, and of recorded instances: what an sdist must hold."""
    modules = select(config.source_roots, config.modules, config.exclude).modules
    recorded = [Path(name) for name in config.instances if name.endswith(".json")]
    return [*(module.path for module in modules), *cuda.sources(config, modules), *recorded]


def bundle_paths(config: BuildConfig) -> list[str]:
    """Where the bundles will be, below the source root or the build folder; known without importing anything."""
    return sorted({module.bundle for module in select(config.source_roots, config.modules, config.exclude).modules})


def _request(
    config: BuildConfig, selection: Selection, *, per_kernel: bool, show: str = "", primitives: Sequence[str] = ()
) -> Request:
    return Request(
        [str(root) for root in config.source_roots],
        [module.name for module in selection.modules],
        list(config.mock_imports),
        config.fmad,
        config.lineinfo,
        per_kernel,
        config.selftest,
        list(config.instances),
        config.asserts,
        config.dialect,
        show=show,
        primitives=list(primitives),
        backward=asked_for(config.backward),
        fast_math=config.fast_math,
        max_registers=config.max_registers or 0,
        cuda=cuda.settings_of(config),
    )


def _files(selection: Selection) -> dict[str, Path]:
    return {module.name: module.path for module in selection.modules}


def _without_errors(scanned: Scanned) -> Scanned:
    _raise(scanned.diagnostics)
    return scanned


def _raise(rows: list[dict[str, object]]) -> None:
    diagnostics = [diagnostic_from_json(row) for row in rows]
    if any(d.severity == "error" for d in diagnostics):
        raise CompileError(diagnostics)


def _require_kernels(scanned: Scanned, selection: Selection) -> None:
    """Every package that will hold a bundle has kernels, be they kbuild's own."""
    by_name = {module.name: module for module in selection.modules}
    if any(is_own(unit.module) for unit in scanned.units):
        return
    having = {by_name[unit.module].package for unit in scanned.units}
    for module in selection.modules:
        if module.package not in having:
            names = ", ".join(m.name for m in selection.modules if m.package == module.package)
            text = f"no kernels in package {module.package} (looked in {names})"
            raise UsageError(
                text, code="KB206", help="decorate them with @kb.kernel, or take the modules out of `modules`"
            )


def _place(package: str, selection: Selection, output: Path | None) -> Path:
    module = next(m for m in selection.modules if m.package == package)
    return (output or module.root) / module.bundle


def _by_package(
    scanned: Scanned, codes: list[UnitCode], selection: Selection
) -> dict[str, list[tuple[ScannedUnit, UnitCode]]]:
    """The units of each package; kbuild's own are in every one, so that no package needs another's bundle."""
    packages: dict[str, Module] = {module.name: module for module in selection.modules}
    parts: dict[str, list[tuple[ScannedUnit, UnitCode]]] = {module.package: [] for module in selection.modules}
    for unit, code in zip(scanned.units, codes, strict=True):
        for package in parts if is_own(unit.module) else [packages[unit.module].package]:
            parts[package].append((unit, code))
    return parts


def _units_of(scanned: Scanned, kernel: str | None, stage: str) -> list[ScannedUnit]:
    """The units that a stage shows. Texts are those of kernels, or of adjoints; a name means one of the two."""
    if kernel is None:
        shown = [unit for unit in scanned.units if stage not in TEXTS or unit.is_adjoint == (stage == "adjoint")]
        return [unit for unit in shown if stage not in TEXTS or not unit.is_cuda]
    names = [k.name for k in scanned.kernels]
    wanted = _named(kernel, names)
    if not wanted:
        primals = ", ".join(k.name for k in scanned.primals)
        raise UsageError(f"no kernel {kernel!r}", code="KB207", help=f"the kernels are {primals}")
    if stage in TEXTS and any(scanned.kernels[i].expression for i in wanted):
        help = "`--emit=cuda`, `ptx` and `cubin` show what becomes of it"
        raise UsageError(f"kernel {kernel!r} is written in CUDA C++, and has no {stage}", code="KB207", help=help)
    if stage == "adjoint":
        wanted = {i for i, k in enumerate(scanned.kernels) if wanted & set(_named(k.primal, names) if k.primal else ())}
        if not wanted:
            help = "leave out `enable_backward=False` of its decorator, or `backward = false` in [tool.kbuild]"
            raise UsageError(f"kernel {kernel!r} is built without its adjoint", code="KB207", help=help)
    return [unit for unit in scanned.units if wanted & set(unit.kernels)]


def _named(kernel: str, names: Sequence[str]) -> set[int]:
    return {i for i, name in enumerate(names) if kernel in (name, name.partition(":")[2])}


def _cache_warnings(cache: Cache) -> tuple[Diagnostic, ...]:
    return tuple(Diagnostic("KB510", text, severity="warning") for text in cache.warnings)
