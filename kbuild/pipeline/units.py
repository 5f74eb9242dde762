"""Units on their way to machine code: out of the cache, or lowered and compiled."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from kbuild.config import BuildConfig
from kbuild.errors import CompileError, Diagnostic, Span, ToolchainError
from kbuild.nvrtc import (
    Cache,
    Compiled,
    Headers,
    HeaderSearch,
    Job,
    LogMessage,
    Outcome,
    Rejected,
    Toolchain,
    compile_jobs,
    lookup,
)
from kbuild.nvrtc import (
    choose as choose_toolchain,
)
from kbuild.pipeline import cuda
from kbuild.pipeline.bounds import Chosen, Open, choose, known, with_bounds
from kbuild.pipeline.gradients import collapsed, refusals
from kbuild.pipeline.limits import beyond_targets, parameter_limit
from kbuild.scan.client import Scanner
from kbuild.scan.data import LoweredUnit, Scanned, ScannedKernel, ScannedUnit, diagnostic_from_json
from kbuild.targets import Target

if TYPE_CHECKING:
    from kbuild.pipeline import Progress

_RECORD = "lowered"

Entries = dict[str, ScannedKernel]


@dataclass
class UnitCode:
    """A unit's manifest data, and its machine code in the order of `Compilation.parts`.

    `source` is None when everything came out of the cache. A unit of adjoints, none of which can be made, has no rows
    and no code. `backward`, `headers`: see `LoweredUnit`. `chosen` runs beside `results`: the blocks that kernels with
    `launch_bounds="auto"` are made for.
    """

    name: str
    rows: dict[str, dict[str, Any]]
    structs: dict[str, dict[str, Any]]
    selftest: dict[str, dict[str, Any]] = field(default_factory=dict)
    source: str | None = None
    files: dict[str, str] = field(default_factory=dict)
    results: list[Compiled] = field(default_factory=list)
    backward: dict[str, dict[str, Any]] = field(default_factory=dict)
    chosen: list[Chosen] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)


class Text(Protocol):
    """What is compiled of a unit, lowered now."""

    @property
    def source(self) -> str | None: ...

    @property
    def headers(self) -> dict[str, str]: ...


@dataclass(frozen=True)
class CompileOutcome:
    """Counts over units × parts, seconds inside NVRTC, and what NVRTC warned of."""

    compiled: int
    cached: int
    nvrtc_seconds: float
    warnings: tuple[Diagnostic, ...]


class Compilation:
    """What all units have in common: parts of targets with their toolchains, options, the cache."""

    def __init__(self, config: BuildConfig, toolchains: Sequence[Toolchain], cache: Cache) -> None:
        self.config, self.cache = config, cache
        self._headers = HeaderSearch(config.toolchains)
        self.parts: list[tuple[Target, Toolchain]] = [
            (part, choose_toolchain(part, toolchains)) for target in config.targets for part in target.parts()
        ]

    @cached_property
    def limit(self) -> tuple[int, str]:
        """The bytes that an adjoint's parameters may take, and the target that says so."""
        return parameter_limit(self.parts)

    def record_key(self, unit: ScannedUnit) -> str:
        """The cache key of what lowering a unit gave."""
        return hashlib.sha256(f"{self.code_key(unit)} {self.config.selftest}".encode()).hexdigest()

    def code_key(self, unit: ScannedUnit) -> str:
        """The key of a unit's source: which adjoints it has depends on the targets, too."""
        if not unit.is_adjoint:
            return unit.key
        return hashlib.sha256(f"{unit.key} {self.limit}".encode()).hexdigest()

    def key(self, unit: ScannedUnit, part: Target, toolchain: Toolchain) -> str:
        """The cache key of a unit's code for a part."""
        return self.job(unit, None, part.arch, toolchain).key

    def job(self, unit: ScannedUnit, code: Text | None, arch: str, toolchain: Toolchain) -> Job:
        """The compilation of a unit for an architecture; without a text, for its key."""
        source = (code.source or "") if code is not None else ""
        options, lineinfo = tuple(unit.options), self.config.lineinfo
        if not unit.is_cuda:
            return Job(unit.name, source, arch, toolchain, self.code_key(unit), lineinfo, options)
        return Job(
            unit.name,
            source,
            arch,
            toolchain,
            self.code_key(unit),
            lineinfo,
            options,
            tuple(unit.language),
            tuple(code.headers.items()) if code is not None else (),
            tuple(unit.expressions),
            self.cuda_headers(unit, toolchain),
        )

    def cuda_headers(self, unit: ScannedUnit, toolchain: Toolchain) -> Headers | None:
        """CUDA's own headers, where the unit includes one."""
        found = self._headers.of(toolchain) if unit.foreign else None
        return found if found is not None and any(found.have(name) for name in unit.foreign) else None

    def refuse_what_is_too_large(
        self, units: Sequence[ScannedUnit], kernels: Sequence[ScannedKernel], lowered: Sequence[UnitCode | LoweredUnit]
    ) -> None:
        """Raises CompileError for kernels that a target cannot have."""
        faults: list[Diagnostic] = []
        for unit, code in zip(units, lowered, strict=True):
            faults += beyond_targets(code, {kernels[i].name: kernels[i] for i in unit.kernels}, self.parts)
        if faults:
            raise CompileError(faults)

    def emit(
        self,
        stage: str,
        units: Sequence[ScannedUnit],
        kernels: Sequence[ScannedKernel],
        lowered: Sequence[LoweredUnit],
    ) -> Iterator[tuple[str, str | bytes]]:
        """PTX or cubins of units for every target, by name."""
        self.refuse_what_is_too_large(units, kernels, lowered)
        jobs = []
        for unit, code in zip(units, lowered, strict=True):
            for target, toolchain in self.parts if code.rows else ():
                arch = target.arch.replace("sm_", "compute_") if stage == "ptx" else target.arch
                if stage == "ptx" or target.kind == "cubin":
                    job = self.job(unit, code, arch, toolchain)
                    jobs.append((job, code, _entries(unit, kernels), f"{unit.name}.{target.name}.{stage}"))
        outcomes = compile_jobs([job for job, _, _, _ in jobs], cache=self.cache, workers=self.config.jobs)
        _raise_deaths(outcomes)
        for (job, code, entries, name), outcome in zip(jobs, outcomes, strict=True):
            if isinstance(outcome, Rejected):
                raise CompileError(_diagnostics(outcome.messages, job, code.files, entries))
            yield name, outcome.data.decode() if stage == "ptx" else outcome.data


def from_cache(plan: Compilation, unit: ScannedUnit) -> UnitCode | None:
    """The unit with all its machine code, when nothing needs to be lowered or compiled."""
    record = plan.cache.get(_RECORD, plan.record_key(unit))
    if record is None:
        return None
    data = json.loads(record)
    if data["places"] != unit.places and any("refused" in row for row in data["backward"].values()):
        return None  # what is in the way may stand on another line
    results, chosen = [], []
    for part, toolchain in plan.parts if data["rows"] else ():
        job = plan.job(unit, None, part.arch, toolchain)
        found = known(plan.cache, job) if unit.is_open else {}
        hit = None if found is None else lookup(plan.cache, with_bounds(job, found).key)
        if hit is None:
            return None
        results.append(hit)
        chosen.append(found or {})
    backward = data["backward"]
    return UnitCode(
        unit.name, data["rows"], data["structs"], data["selftest"], results=results, backward=backward, chosen=chosen
    )


def lower_units(
    plan: Compilation, units: Sequence[ScannedUnit], scanner: Scanner, scanned: Scanned
) -> tuple[dict[str, UnitCode], tuple[Diagnostic, ...]]:
    """Units in CUDA C by name, and warnings. Raises CompileError with everything that is wrong in any of them."""
    lowered = scanner.lower([unit.name for unit in units], plan.limit)
    diagnostics = [diagnostic_from_json(row) for row in lowered.diagnostics]
    if any(d.severity == "error" for d in diagnostics):
        errors = [d for d in refusals(scanned, lowered.units) if d.severity == "error"]
        raise CompileError([*diagnostics, *collapsed(errors)])
    by_name = {unit.name: unit for unit in units}
    codes = {}
    for one in lowered.units:
        unit = by_name[one.name]
        record: dict[str, Any] = {"rows": one.rows, "structs": one.structs, "selftest": one.selftest}
        record |= {"backward": one.backward, "places": unit.places}
        plan.cache.put(_RECORD, plan.record_key(unit), json.dumps(record).encode())
        codes[one.name] = code_of(one)
    return codes, tuple(diagnostics)


def code_of(one: LoweredUnit) -> UnitCode:
    """A lowered unit, ready to be compiled."""
    made = UnitCode(one.name, one.rows, one.structs, one.selftest, one.source, one.files, backward=one.backward)
    made.headers = one.headers
    return made


def compile_units(
    plan: Compilation, scanned: Scanned, codes: Sequence[UnitCode], progress: Progress, workers: int | None
) -> CompileOutcome:
    """Fills in the results of the units that have a source. Raises CompileError for what NVRTC rejects."""
    new = [
        (unit, code) for unit, code in zip(scanned.units, codes, strict=True) if code.source is not None and code.rows
    ]
    plan.refuse_what_is_too_large([unit for unit, _ in new], scanned.kernels, [code for _, code in new])
    work: list[tuple[Job, UnitCode, Entries]] = []
    for unit, code in new:
        entries = _entries(unit, scanned.kernels)
        for part, toolchain in plan.parts:
            work.append((plan.job(unit, code, part.arch, toolchain), code, entries))
    progress.start(len(work))

    def done(index: int, outcome: Outcome) -> None:
        job = work[index][0]
        progress.advance(f"{job.arch} {job.name} (NVRTC {job.toolchain.build})")

    try:
        outcomes = compile_jobs([job for job, _, _ in work], cache=plan.cache, workers=workers, on_done=done)
    finally:
        progress.finish()  # on Ctrl-C too: a bar hides the terminal's cursor
    errors: list[Diagnostic] = []
    warnings: list[Diagnostic] = []
    for (job, code, entries), outcome in zip(work, outcomes, strict=True):
        found = _diagnostics(outcome.messages, job, code.files, entries)
        if isinstance(outcome, Rejected):
            errors += [d for d in found if d.severity == "error" and outcome.died is None]
        else:
            warnings += [d for d in found if d.severity == "warning"]
            code.results.append(outcome)
            code.chosen.append({})
    if errors:
        raise CompileError(_merged(errors))
    _raise_deaths(outcomes)
    choose_bounds(plan, scanned, new, workers)
    for unit, code in zip(scanned.units, codes, strict=True):
        if unit.is_cuda:
            cuda.refuse_what_does_not_fit(unit, code.rows, code.structs, code.results, scanned.kernels, plan.parts)
    all_results = [result for code in codes for result in code.results]
    cached = sum(result.cached for result in all_results)
    seconds = sum(result.seconds for result in all_results)
    return CompileOutcome(len(all_results) - cached, cached, seconds, tuple(_merged(warnings)))


def choose_bounds(
    plan: Compilation, scanned: Scanned, units: Sequence[tuple[ScannedUnit, UnitCode]], workers: int | None
) -> None:
    """Puts code in place that more blocks fit a multiprocessor of, for kernels that leave that to each target."""
    places: list[tuple[UnitCode, int]] = []
    asked: list[Open] = []
    for unit, code in units:
        kernels = {
            kernel.entry: int(kernel.launch_bounds[0])
            for kernel in (scanned.kernels[i] for i in unit.kernels)
            if kernel.launch_bounds and kernel.launch_bounds[1] is None
        }
        for number, (part, toolchain) in enumerate(plan.parts if kernels else ()):
            base = code.results[number]
            places.append((code, number))
            asked.append(Open(plan.job(unit, code, part.arch, toolchain), base, kernels))
    for (code, number), (result, chosen) in zip(places, choose(asked, plan.cache, workers), strict=True):
        code.results[number], code.chosen[number] = result, chosen


def try_units(
    plan: Compilation, units: Sequence[ScannedUnit], kernels: Sequence[ScannedKernel], codes: Sequence[UnitCode]
) -> list[list[Diagnostic]]:
    """What is wrong with each unit for any of the targets, and what NVRTC warns of."""
    found: list[list[Diagnostic]] = []
    work: list[tuple[int, Job, UnitCode, Entries]] = []
    for unit, code in zip(units, codes, strict=True):
        entries = _entries(unit, kernels)
        found.append(list(beyond_targets(code, {kernels[i].name: kernels[i] for i in unit.kernels}, plan.parts)))
        if not found[-1]:
            jobs = (plan.job(unit, code, part.arch, toolchain) for part, toolchain in plan.parts)
            work += [(len(found) - 1, job, code, entries) for job in jobs]
    outcomes = compile_jobs([job for _, job, _, _ in work], cache=plan.cache, workers=plan.config.jobs)
    _raise_deaths(outcomes)
    for (index, job, code, entries), outcome in zip(work, outcomes, strict=True):
        found[index] += _diagnostics(outcome.messages, job, code.files, entries)
    return [_merged(diagnostics) for diagnostics in found]


def _raise_deaths(outcomes: Sequence[Outcome]) -> None:
    """A compiler process that died is the machine's fault, or NVRTC's."""
    deaths = [outcome.died for outcome in outcomes if isinstance(outcome, Rejected) and outcome.died is not None]
    if deaths:
        help = "with little memory, build with fewer compilers at once (`-j 1`, or `jobs` in [tool.kbuild])"
        raise ToolchainError("; ".join(dict.fromkeys(deaths)), code="KB504", help=help)


def _entries(unit: ScannedUnit, kernels: Sequence[ScannedKernel]) -> Entries:
    """A unit's kernels by the names that compilers know them by; those are unique in a module only."""
    return {kernels[index].entry: kernels[index] for index in unit.kernels}


def _diagnostics(messages: Sequence[LogMessage], job: Job, files: dict[str, str], entries: Entries) -> list[Diagnostic]:
    if not job.expressions:
        return [_diagnostic(message, job, files, entries) for message in messages]
    return [_of_file(m, job, files) for m in messages if not cuda.is_noise(m, messages)]


def _of_file(message: LogMessage, job: Job, files: dict[str, str]) -> Diagnostic:
    """A message about a file of CUDA C++, at its line."""
    span = None
    if message.path is not None and message.line is not None:
        span = Span(files.get(message.path, message.path), message.line)
    code, text, help = cuda.explained(message, job.toolchain)
    about = f" ({job.name} for {job.arch}, NVRTC {job.toolchain.build})"
    return Diagnostic(code, text + about, span, message.severity, help)


def _diagnostic(message: LogMessage, job: Job, files: dict[str, str], entries: Entries) -> Diagnostic:
    """A message of NVRTC or ptxas at the Python line that it is about, at least at the kernel's `def`."""
    kernel = entries.get(message.kernel or "")
    span = kernel.span if kernel else None
    if message.path is not None and message.line is not None:
        span = Span(files.get(message.path, message.path), message.line)
    name = kernel.name if kernel else None
    about = f" ({name or job.name} for {job.arch}, NVRTC {job.toolchain.build})"
    help = "`enable_backward=False` builds the kernel without its adjoint" if kernel and kernel.primal else None
    return Diagnostic("KB301", message.text + about, span, message.severity, help, kernel=name)


def _merged(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Each place, first words and cure once: the same message comes for every architecture."""
    seen: dict[tuple[Span | None, str, str | None], Diagnostic] = {}
    for diagnostic in diagnostics:
        seen.setdefault((diagnostic.span, diagnostic.message.partition(" (")[0], diagnostic.help), diagnostic)
    return list(seen.values())
