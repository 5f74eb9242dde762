"""Units on their way to machine code: out of the cache, or lowered and compiled."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kbuild.config import BuildConfig
from kbuild.errors import CompileError, Diagnostic, Span, ToolchainError
from kbuild.nvrtc import (
    Cache,
    Compiled,
    Job,
    LogMessage,
    Outcome,
    Rejected,
    Toolchain,
    choose,
    compile_jobs,
    job_key,
    lookup,
)
from kbuild.scan.client import Scanner
from kbuild.scan.data import LoweredUnit, Scanned, ScannedUnit, diagnostic_from_json
from kbuild.targets import Target

if TYPE_CHECKING:
    from kbuild.pipeline import Progress

_RECORD = "lowered"


@dataclass
class UnitCode:
    """A unit's manifest data, and its machine code in the order of `Compilation.parts`.

    `source` is None when everything came out of the cache.
    """

    name: str
    rows: dict[str, dict[str, Any]]
    structs: dict[str, dict[str, Any]]
    source: str | None = None
    files: dict[str, str] = field(default_factory=dict)
    results: list[Compiled] = field(default_factory=list)


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
        self.parts: list[tuple[Target, Toolchain]] = [
            (part, choose(part, toolchains)) for target in config.targets for part in target.parts()
        ]

    def key(self, unit: ScannedUnit, part: Target, toolchain: Toolchain) -> str:
        """The cache key of a unit's code for a part."""
        return job_key(unit.key, part.arch, toolchain, lineinfo=self.config.lineinfo)

    def job(self, unit: ScannedUnit, source: str, part: Target, toolchain: Toolchain) -> Job:
        """The compilation of a unit for a part."""
        return Job(unit.name, source, part.arch, toolchain, key_parts=unit.key, lineinfo=self.config.lineinfo)

    def emit(
        self, stage: str, units: Sequence[ScannedUnit], lowered: Sequence[LoweredUnit]
    ) -> Iterator[tuple[str, str | bytes]]:
        """PTX or cubins of units for every target, by name."""
        jobs = []
        for unit, code in zip(units, lowered, strict=True):
            for target, toolchain in self.parts:
                arch = target.arch.replace("sm_", "compute_") if stage == "ptx" else target.arch
                if stage == "ptx" or target.kind == "cubin":
                    job = Job(unit.name, code.source, arch, toolchain, unit.key, self.config.lineinfo)
                    jobs.append((job, code, f"{unit.name}.{target.name}.{stage}"))
        outcomes = compile_jobs([job for job, _, _ in jobs], cache=self.cache, workers=self.config.jobs)
        for (job, code, name), outcome in zip(jobs, outcomes, strict=True):
            if isinstance(outcome, Rejected):
                raise CompileError([_diagnostic(m, job, code.files, {}) for m in outcome.messages])
            yield name, outcome.data.decode() if stage == "ptx" else outcome.data


def from_cache(plan: Compilation, unit: ScannedUnit) -> UnitCode | None:
    """The unit with all its machine code, when nothing needs to be lowered or compiled."""
    record = plan.cache.get(_RECORD, unit.key)
    if record is None:
        return None
    results = []
    for part, toolchain in plan.parts:
        hit = lookup(plan.cache, plan.key(unit, part, toolchain))
        if hit is None:
            return None
        results.append(hit)
    data = json.loads(record)
    return UnitCode(unit.name, data["rows"], data["structs"], results=results)


def lower_units(plan: Compilation, units: Sequence[ScannedUnit], scanner: Scanner) -> dict[str, UnitCode]:
    """Units in CUDA C by name. Raises CompileError with everything that is wrong in any of them."""
    lowered = scanner.lower([unit.name for unit in units])
    diagnostics = [diagnostic_from_json(row) for row in lowered.diagnostics]
    if any(d.severity == "error" for d in diagnostics):
        raise CompileError(diagnostics)
    keys = {unit.name: unit.key for unit in units}
    for one in lowered.units:
        record = json.dumps({"rows": one.rows, "structs": one.structs}, sort_keys=True)
        plan.cache.put(_RECORD, keys[one.name], record.encode())
    return {one.name: UnitCode(one.name, one.rows, one.structs, one.source, one.files) for one in lowered.units}


def compile_units(
    plan: Compilation, scanned: Scanned, codes: Sequence[UnitCode], progress: Progress, workers: int | None
) -> CompileOutcome:
    """Fills in the results of the units that have a source. Raises CompileError for what NVRTC rejects."""
    work: list[tuple[Job, UnitCode]] = []
    for unit, code in zip(scanned.units, codes, strict=True):
        if code.source is not None:
            work += [(plan.job(unit, code.source, part, toolchain), code) for part, toolchain in plan.parts]
    progress.start(len(work))

    def done(index: int, outcome: Outcome) -> None:
        job = work[index][0]
        progress.advance(f"{job.arch} {job.name} (NVRTC {job.toolchain.build})")

    outcomes = compile_jobs([job for job, _ in work], cache=plan.cache, workers=workers, on_done=done)
    progress.finish()
    entries = {kernel.entry: kernel.name for kernel in scanned.kernels}
    errors: list[Diagnostic] = []
    warnings: list[Diagnostic] = []
    for (job, code), outcome in zip(work, outcomes, strict=True):
        found = [_diagnostic(message, job, code.files, entries) for message in outcome.messages]
        if isinstance(outcome, Rejected):
            errors += [d for d in found if d.severity == "error" and outcome.died is None]
        else:
            warnings += [d for d in found if d.severity == "warning"]
            code.results.append(outcome)
    if errors:
        raise CompileError(_merged(errors))
    _raise_deaths(outcomes)
    all_results = [result for code in codes for result in code.results]
    cached = sum(result.cached for result in all_results)
    seconds = sum(result.seconds for result in all_results)
    return CompileOutcome(len(all_results) - cached, cached, seconds, tuple(_merged(warnings)))


def _raise_deaths(outcomes: Sequence[Outcome]) -> None:
    """A compiler process that died is the machine's fault, or NVRTC's."""
    deaths = [outcome.died for outcome in outcomes if isinstance(outcome, Rejected) and outcome.died is not None]
    if deaths:
        help = "with little memory, build with fewer compilers at once (`-j 1`, or `jobs` in [tool.kbuild])"
        raise ToolchainError("; ".join(dict.fromkeys(deaths)), code="KB504", help=help)


def _diagnostic(message: LogMessage, job: Job, files: dict[str, str], entries: dict[str, str]) -> Diagnostic:
    """A message of NVRTC or ptxas at the Python line that it is about."""
    span = None
    if message.path is not None and message.line is not None:
        span = Span(files.get(message.path, message.path), message.line)
    kernel = entries.get(message.kernel or "")
    about = f" ({kernel or job.name} for {job.arch}, NVRTC {job.toolchain.build})"
    return Diagnostic("KB301", message.text + about, span, message.severity, kernel=kernel)


def _merged(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Each place and first words once: the same message comes for every architecture."""
    seen: dict[tuple[Span | None, str], Diagnostic] = {}
    for diagnostic in diagnostics:
        seen.setdefault((diagnostic.span, diagnostic.message.partition(" (")[0]), diagnostic)
    return list(seen.values())
