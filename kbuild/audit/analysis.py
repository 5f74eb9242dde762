"""The audit of one kernel: IR in, verdicts out.

audit(kernel, Options(block=(256, 1, 1))) → KernelAudit
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from typing import Final

from kbuild import intrinsics
from kbuild.audit import (
    barriers,
    bounds,
    contracts,
    initialization,
    narrow,
    patterns,
    races,
    repeats,
    solver,
    statements,
    terms,
)
from kbuild.audit.answers import Answer, Judge
from kbuild.audit.conditions import TRUE
from kbuild.audit.contracts import Contracts
from kbuild.audit.findings import CHECKS, SAFETY, CheckResult, Finding, Options, Verdict
from kbuild.audit.launches import ANY, Launch
from kbuild.audit.parts import Part
from kbuild.audit.places import Blocks, Place, axes_of_threads
from kbuild.audit.proving import Facts
from kbuild.audit.records import Records
from kbuild.audit.run import Run, State, TooLarge
from kbuild.audit.solver import Solver
from kbuild.audit.wording import Wording
from kbuild.audit.written import written_block
from kbuild.ir.nodes import Kernel
from kbuild.ir.stored import changed_parameters

COSTS: Final = ("banks", "coalescing", "divergence")
ASKED: Final = tuple(check for check in CHECKS if check in SAFETY or check in COSTS)
MOST_BLOCK: Final = 1024
LIBRARY: Final = os.path.join(os.path.dirname(intrinsics.__file__), "")

# Shapes of blocks that are common, for kernels that ask for two or three axes and do not say how long these are.
_COMMON: Final = {
    2: ((16, 16, 1), (32, 8, 1), (8, 8, 1), (32, 32, 1), (32, 4, 1), (64, 4, 1), (32, 16, 1)),
    3: ((8, 8, 4), (8, 8, 8), (4, 4, 4), (16, 4, 4)),
}


def analyse(kernel: Kernel, options: Options, launch: Launch = ANY) -> Part:
    """Everything that the IR of a kernel says about its accesses, its threads and its barriers, of the checks that are
    asked for."""
    wanted = [check for check in ASKED if check in options.checks]
    if not wanted:
        return Part(())
    terms.forget()
    try:
        part = _analysed(kernel, options, launch)
    finally:
        terms.forget()
    return Part(
        tuple(one for one in part.checks if one.check in wanted),
        tuple(one for one in part.findings if one.check in wanted),
        part.assumptions,
        part.reasoning,
    )


def _analysed(kernel: Kernel, options: Options, launch: Launch) -> Part:
    ask = Solver(options.time_limit) if options.use_solver and solver.is_installed() else None
    deadline = time.monotonic() + options.time_limit
    try:
        blocks = _blocks(kernel, options, launch, deadline)
        place, records = symbolic_run(kernel, blocks, launch, deadline)
    except TooLarge as error:
        return _gave_up(str(error))
    if Facts(records.facts).refutes():
        # From a contradiction everything follows: what is proved then says nothing.
        records.unclear.append(("what the source states contradicts itself", kernel.function.span))
    judge = Judge(place, records, contracts.of_records(records, place.extents), ask, deadline, options.verbose)
    findings: list[Finding] = []
    counts: dict[str, list[Answer]] = {check: [] for check in (*SAFETY, *COSTS)}
    report = Wording(kernel.name, judge)
    for beyond in (*bounds.accesses(judge), *bounds.components(judge)):
        counts["bounds"].append(beyond.answer)
        findings += report.beyond(beyond)
    met = list(races.pairs(judge))
    disputed = races.disputed(judge, met)
    for pair in races.undisputed(met, disputed):
        check = "shared-races" if pair.one.memory.space == "shared" else "global-races"
        counts[check].append(pair.answer)
        findings += report.race(pair, check)
    for reached in barriers.reached(judge, disputed):
        counts["barriers"].append(reached.answer)
        findings += report.barrier(reached)
    for unset in initialization.unset(judge):
        counts["initialization"].append(unset.answer)
        findings += report.unset(unset)
    for variable in initialization.unset_variables(judge):
        counts["initialization"].append(variable.answer)
        findings += report.unset_variable(variable)
    for overflow in bounds.overflows(judge):
        counts["overflow"].append(overflow.answer)
        findings += report.overflow(overflow)
    for check, answer, found in _costs(report, judge):
        counts.setdefault(check, []).append(answer)
        findings += found
    return Part(
        tuple(_results(counts, records)),
        tuple(_once(findings)),
        tuple(_assumptions(judge, blocks)),
        tuple(judge.reasoning),
    )


def _costs(report: Wording, judge: Judge) -> Iterator[tuple[str, Answer, list[Finding]]]:
    """What is right, and slow."""
    for banks in patterns.banks(judge):
        yield "banks", banks.answer, list(report.banks(banks))
    for sectors in patterns.sectors(judge):
        yield "coalescing", sectors.answer, list(report.sectors(sectors))
    for pieces in narrow.narrow(judge):
        yield "coalescing", patterns.BAD, [report.narrow(pieces)]
    for repeat in repeats.repeats(judge):
        yield "coalescing", patterns.BAD, [report.repeat(repeat)]
    for split in patterns.splits(judge):
        yield "divergence", split.answer, list(report.split(split))


def symbolic_run(
    kernel: Kernel, blocks: Blocks, launch: Launch, deadline: float = float("inf")
) -> tuple[Place, Records]:
    """Runs a kernel for one thread that stands for all. Raises TooLarge."""
    given = statements.parameters(kernel.function, changed_parameters(kernel.function), launch)
    place = Place(kernel, blocks, launch, statements.launch_dim(kernel, given))
    run = Run(place, LIBRARY, deadline)
    machine = statements.Statements(run)
    run.records.parameters = list(zip(kernel.function.parameters, given, strict=True))
    first = run.new_phase()
    state = State({}, TRUE, first, run.new_phase())
    machine.call(kernel.function, given, state, kernel.function.span)
    return place, run.records


def _blocks(kernel: Kernel, options: Options, launch: Launch, deadline: float) -> Blocks:
    """The shape of its blocks: what is said, else what it counts on where it asks for its place, else one that fits its
    arrays in shared memory."""
    if options.block is not None:
        return Blocks(options.block, True)
    axes, written = axes_of_threads(kernel), written_block(kernel)
    if axes == 1:
        return Blocks((_fitting(written.get(0, options.block_dim)), 1, 1), False)
    x, y, z = (written.get(axis, 0 if axis < axes else 1) for axis in range(3))
    fitting = [one for one in _COMMON[axes] if all(one[axis] == size for axis, size in written.items())]
    if 0 < x * y * z <= MOST_BLOCK:
        return Blocks((x, y, z), False)
    for shape in fitting or _COMMON[axes]:
        blocks = Blocks(shape, False)
        place, records = symbolic_run(kernel, blocks, launch, deadline)
        judge = Judge(place, records, Contracts(), None)
        shared = (one for one in bounds.accesses(judge) if one.extent.is_constant)
        if all(one.answer.verdict == "proved" for one in shared):
            return blocks
    return Blocks((fitting or _COMMON[axes])[0], False)


def _fitting(size: int) -> int:
    """Threads of a block: no more than there can be."""
    return min(max(size, 1), MOST_BLOCK)


def _results(counts: dict[str, list[Answer]], records: Records) -> Iterator[CheckResult]:
    for check in CHECKS:
        if check not in counts:
            continue
        answers = counts[check]
        proved = sum(one.verdict == "proved" for one in answers)
        verdict: Verdict = "proved"
        if any(one.verdict == "found" for one in answers):
            verdict = "found"
        elif proved < len(answers) or records.unclear:
            verdict = "unknown"
        yield CheckResult(check, verdict, len(answers), proved)


def _gave_up(reason: str) -> Part:
    """Of a kernel that is too large."""
    return Part(tuple(CheckResult(check, "unknown", 0, 0) for check in ASKED), assumptions=(reason,))


def _assumptions(judge: Judge, blocks: Blocks) -> Iterator[str]:
    if judge.place.is_whole:
        shape = blocks.shape if blocks.shape[1:] != (1, 1) else blocks.size
        said = "as declared" if blocks.is_declared else "nominal: the source does not say"
        yield f"blocks of {shape} threads ({said})"
    if judge.place.is_single:
        yield "a launch of one thread: the kernel does not ask which one it is"
    yield "arrays do not overlap, are not empty, and have below 2**31 elements"
    yield from dict.fromkeys(judge.contracts.words)
    yield from dict.fromkeys(judge.records.assumed)
    for what, span in judge.records.unclear:
        yield f"not looked into: {what}" + (f" (line {span.line})" if span else "")


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """One finding for a line, a check and a subject; found before unknown."""
    seen: set[tuple[object, ...]] = set()
    for one in sorted(findings, key=lambda one: one.verdict != "found"):
        line = one.span.line if one.span else 0
        key = (one.code, one.span.path if one.span else "", line, one.subject)
        if key not in seen:
            seen.add(key)
            yield one
