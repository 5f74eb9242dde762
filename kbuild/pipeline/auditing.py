"""What a project's audit is made of: what was asked for, figures of machine code, and the project's judgement."""

from __future__ import annotations

import linecache
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from kbuild import bundle
from kbuild.audit import machine
from kbuild.audit.findings import CHECKS, Finding, KernelAudit, Options
from kbuild.audit.judging import Judged, judge
from kbuild.audit.levels import KernelRule, Rules
from kbuild.audit.machine import Change, Compiled, Machine
from kbuild.config import AuditConfig, BuildConfig
from kbuild.errors import CompileError, Diagnostic, Span, UsageError, did_you_mean
from kbuild.loader import abi, format, struct_table
from kbuild.loader.occupancy import best_block
from kbuild.nvrtc import Cache
from kbuild.pipeline.analyses import analysed
from kbuild.pipeline.units import Compilation, UnitCode, from_cache, lower_units
from kbuild.scan.client import Scanner
from kbuild.scan.data import Scanned, ScannedKernel, is_own
from kbuild.targets import limits

MACHINE_CODE = machine.CHECK


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command asks for beside the configuration: patterns of kernels (none: all), checks (none: all), whether
    finished machine code is looked at, what it is compared with (a wheel, a bundle, a package, a project), and whether
    the reasoning is shown, whether the graphs of synchronisation are wanted, and whether examples are run in the
    simulator.
    """

    kernels: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    machine_code: bool = True
    against: str | None = None
    verbose: bool = False
    graph: bool = False
    replays: bool = True


@dataclass(frozen=True, slots=True)
class AuditResult:
    """An audit. `checks` are those that were asked for, `unread` kernels without IR (in CUDA C++, in a bundle),
    `changes` the differences in machine code from the earlier build called `earlier` (None: there is none)."""

    kernels: tuple[KernelAudit, ...]
    judged: tuple[Judged, ...]
    checks: tuple[str, ...]
    targets: tuple[str, ...]
    machines: tuple[Machine, ...] = ()
    changes: tuple[Change, ...] = ()
    earlier: str | None = None
    unread: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def has_errors(self) -> bool:
        """A finding of level error stands."""
        return any(one.level == "error" and not one.is_suppressed for one in self.judged)


def rules_of(config: AuditConfig) -> Rules:
    """Levels as a project's configuration has them."""
    kernels = tuple(KernelRule(rule.names, rule.level, rule.reason) for rule in config.kernels)
    return Rules(config.level, kernels, config.unknown)


def options_of(config: AuditConfig, wanted: Wanted) -> Options:
    """What the analyses are asked for. Raises UsageError for a check that there is not."""
    for name in wanted.checks:
        if name not in CHECKS:
            near = did_you_mean(name, CHECKS) or f"the checks are {', '.join(CHECKS)}"
            raise UsageError(f"there is no check {name!r}", help=near)
    named = [name for name in wanted.checks or CHECKS if name != MACHINE_CODE or wanted.machine_code]
    checks = () if wanted.graph else rules_of(config).wanted(named)
    return Options(
        checks,
        config.block_dim,
        time_limit=config.time_limit,
        verbose=wanted.verbose,
        graph=wanted.graph,
        replays=wanted.replays,
    )


def chosen(scanned: Scanned, patterns: Sequence[str]) -> list[ScannedKernel]:
    """The project's kernels that patterns mean (`module:name`, `name`, `*` for anything). Raises UsageError for a
    pattern that means none."""
    kernels = {k.name: k for k in scanned.primals if not is_own(k.definition.partition(":")[0])}
    return [kernels[name] for name in meant(list(kernels), patterns)]


def meant(names: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """Those of the names that patterns mean; without patterns all. Raises UsageError."""
    for pattern in patterns:
        if not any(_is_meant(name, pattern) for name in names):
            near = did_you_mean(pattern, [*names, *(name.partition(":")[2] for name in names)])
            help = near or f"the kernels are {', '.join(names)}"
            raise UsageError(f"no kernel {pattern!r}", code="KB207", help=help)
    return [name for name in names if not patterns or any(_is_meant(name, pattern) for pattern in patterns)]


def only(scanned: Scanned, kernels: Sequence[ScannedKernel]) -> Scanned:
    """A scan with the units that these kernels are in, and none of adjoints."""
    names = {kernel.name for kernel in kernels}
    units = [unit for unit in scanned.units if any(scanned.kernels[i].name in names for i in unit.kernels)]
    return replace(scanned, units=units)


def _is_meant(name: str, pattern: str) -> bool:
    plain = name.partition("[")[0]
    names = (plain, plain.partition(":")[2])
    return pattern in (name, name.partition(":")[2]) or any(fnmatchcase(one, pattern) for one in names)


def lowered(plan: Compilation, scanned: Scanned, scanner: Scanner) -> list[UnitCode]:
    """The units of a scan, with their machine code where the cache has it."""
    codes = [from_cache(plan, unit) for unit in scanned.units]
    missing = [unit for unit, code in zip(scanned.units, codes, strict=True) if code is None]
    made, _ = lower_units(plan, missing, scanner, scanned) if missing else ({}, ())
    return [code or made[unit.name] for unit, code in zip(scanned.units, codes, strict=True)]


def machines(
    plan: Compilation,
    scanned: Scanned,
    codes: Sequence[UnitCode],
    kernels: Iterable[ScannedKernel],
) -> Iterator[Machine]:
    """The figures of kernels on every target that they are compiled for. `codes` are those of the units, in order."""
    wanted = {kernel.name for kernel in kernels}
    for unit, code in zip(scanned.units, codes, strict=True):
        members = [scanned.kernels[i] for i in unit.kernels if scanned.kernels[i].name in wanted]
        made = [(part, result) for (part, _), result in zip(plan.parts, code.results, strict=True)] if members else []
        for kernel in members:
            for part, result in made if kernel.name in code.rows else ():
                if part.kind == "cubin":
                    entry = result.names.get(kernel.expression, kernel.entry)
                    spills = result.spills.get(entry, 0)
                    is_free = not (kernel.is_block_dim_chosen or code.rows[kernel.name]["whole_blocks"])
                    yield _measured(kernel.name, part.name, result.data, entry, kernel.block_dim, is_free, spills)


def machines_of_bundle(parsed: format.Parsed) -> Iterator[Machine]:
    """The same of a bundle; kbuild's own kernels and adjoints are left out."""
    manifest = parsed.manifest
    adjoints = {row["backward"]["kernel"] for row in manifest["kernels"] if "kernel" in row.get("backward", {})}
    for cubin in manifest["cubins"]:
        for resources in cubin["resources"]:
            row = manifest["kernels"][resources["kernel"]]
            if resources["kernel"] not in adjoints and not is_own(row["name"].partition(":")[0]):
                data, is_free = parsed.blob(cubin["blob"]), bool(row.get("any_block_dim"))
                spills = resources["spills"]
                yield _measured(row["name"], cubin["target"], data, row["entry"], row["block_dim"], is_free, spills)


def of_bundles(source: str, wanted: Wanted, targets: Sequence[str] = ()) -> AuditResult:
    """The audit of a wheel, a bundle or an installed package: its machine code, which is all that it holds. Raises
    UsageError."""
    started = time.perf_counter()
    if wanted.graph or not wanted.machine_code or set(wanted.checks) - {MACHINE_CODE}:
        text = f"{source} holds machine code alone, and no source that other checks could look at"
        raise UsageError(
            text, help="name the project's folder, or leave out --check, --no-machine-code and --format dot"
        )
    parsed = [format.parse(one.data) for one in bundle.locate(source)]
    known = list(dict.fromkeys(target for one in parsed for target in one.manifest["targets"]))
    for name in targets:
        if name not in known:
            raise UsageError(f"{source} holds nothing for {name}", help=f"its targets are {', '.join(known)}")
    found = [one for each in parsed for one in machines_of_bundle(each)]
    names = meant(list(dict.fromkeys(one.kernel for one in found)), wanted.kernels)
    shown = [one for one in found if one.kernel in names and (not targets or one.target in targets)]
    wide = {name: rows for each in parsed for name, rows in _wide_of_bundle(each)}
    more = [finding for one in shown for finding in machine.findings(one, None, wide[one.kernel])]
    before = earlier(wanted.against)
    return AuditResult(
        (),
        judge((), more, Rules(), (MACHINE_CODE,)),
        (MACHINE_CODE,),
        tuple(targets or known),
        tuple(shown),
        compared(shown, before.machines) if before is not None else (),
        before.label if before is not None else None,
        tuple(names),
        seconds=time.perf_counter() - started,
    )


def _wide_of_bundle(parsed: format.Parsed) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    for row in parsed.manifest["kernels"]:
        parameters = [(one["name"], one["type"]) for one in row["parameters"]]
        yield row["name"], [] if row.get("plain") else _wide(parameters, parsed.structs)


def _measured(name: str, target: str, data: bytes, entry: str, block_dim: int, is_free: bool, spills: int) -> Machine:
    """A kernel in blocks of the size that it says, else of the one that a launch takes."""
    one = machine.measure(Compiled(name, target, data, entry, block_dim, spills))
    if not is_free:
        return one
    threads = best_block(limits(one.arch).number, one.registers, one.shared)
    return machine.measure(Compiled(name, target, data, entry, threads, spills))


def findings_of(found: Sequence[Machine], scanned: Scanned, codes: Iterable[UnitCode]) -> Iterator[Finding]:
    """What there is to say of the machine code, at the line of each kernel's `def`."""
    rows = {name: (row, code) for code in codes for name, row in code.rows.items()}
    places = {kernel.name: kernel for kernel in scanned.primals}
    for one in found:
        kernel = places[one.kernel]
        row, code = rows[one.kernel]
        wide = [] if kernel.expression else _wide(row["parameters"], struct_table.parse(code.structs))
        yield from machine.findings(one, _head(kernel.span), wide)


def _wide(parameters: Iterable[tuple[str, str]], structs: dict[str, abi.Struct]) -> list[tuple[str, int]]:
    """Arrays whose elements one instruction moves, where they are aligned; parameters by name and spelling."""
    found = []
    for name, spelling in parameters:
        type = abi.parse(spelling, structs)
        if isinstance(type, abi.Array) and type.element.size in (8, 16) and type.element.align < 8:
            found.append((name, type.element.size))
    return found


def _head(span: Span) -> Span:
    """The first line of a definition."""
    line = linecache.getline(span.path, span.line).rstrip()
    return Span(span.path, span.line, span.column, span.line, len(line) + 1)


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier build: what it is called, and the figures of its kernels."""

    label: str
    machines: list[Machine]


def earlier(against: str | None, places: Iterable[Sequence[Path]] = ()) -> Earlier | None:
    """What was named (a wheel, a bundle, a package, a project), else what the last build has left: of each bundle the
    newest of the places where builds leave it."""
    if against is not None:
        return Earlier(against, list(_of_all(bundle.locate(against))))
    there = [[place for place in copies if place.is_file()] for copies in places]
    newest = [max(copies, key=lambda place: place.stat().st_mtime_ns) for copies in there if copies]
    found = [one for place in newest for one in bundle.locate(str(place))]
    return Earlier("the last build", list(_of_all(found))) if found else None


def _of_all(found: Iterable[bundle.Found]) -> Iterator[Machine]:
    for one in found:
        yield from machines_of_bundle(format.parse(one.data))


def compared(found: Sequence[Machine], earlier: Iterable[Machine]) -> tuple[Change, ...]:
    """What differs from an earlier build, as far as these kernels and targets go."""
    kernels, targets = {one.kernel for one in found}, {one.target for one in found}
    return machine.changes(found, (one for one in earlier if one.kernel in kernels and one.target in targets))


def judged(
    audits: Sequence[KernelAudit],
    more: Iterable[Finding],
    config: AuditConfig,
    checks: Sequence[str],
    kernels: Iterable[ScannedKernel],
) -> tuple[Judged, ...]:
    """All findings about these kernels, as the project judges them."""
    unread = {kernel.name: kernel.span for kernel in kernels if kernel.expression}
    return judge(audits, more, rules_of(config), checks, unread)


def step(
    config: BuildConfig, scanned: Scanned, scanner: Scanner, store: Cache, modules: Mapping[str, Path]
) -> list[KernelAudit]:
    """The analyses of a build: none unless the project asks for them."""
    if config.audit.build == "off":
        return []
    options = options_of(config.audit, Wanted())
    return analysed(chosen(scanned, ()), scanned, scanner, store, options, modules)


def told(
    plan: Compilation, scanned: Scanned, codes: Sequence[UnitCode], audits: Sequence[KernelAudit]
) -> list[Diagnostic]:
    """What a build tells of its kernels, as warnings; notes, and what is suppressed, the command `audit` shows. Raises
    CompileError for findings of level error where the project wants to be stopped."""
    config = plan.config.audit
    if config.build == "off":
        return []
    checks = options_of(config, Wanted()).checks
    kernels = chosen(scanned, ())
    found = list(machines(plan, scanned, codes, kernels)) if MACHINE_CODE in checks else []
    all_of_them = judged(audits, findings_of(found, scanned, codes), config, checks, kernels)
    shown = [one.diagnostic() for one in all_of_them if one.level != "note" and not one.is_suppressed]
    if config.build == "error" and any(one.severity == "error" for one in shown):
        raise CompileError(shown)
    return [replace(one, severity="warning") for one in shown]
