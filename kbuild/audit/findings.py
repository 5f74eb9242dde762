"""What an audit says: verdicts, findings, examples. Plain data, in the process that has the IR and out of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from kbuild.errors import Note, Span

Verdict = Literal["proved", "found", "unknown"]

OUT_OF_TIME: Final = "time limit"  # what the reason of an unknown begins with that more time might decide

# The checks, in the order of reports: name → what it is about.
CHECKS: Final[dict[str, str]] = {
    "bounds": "accesses beyond arrays, vectors and matrices",
    "overflow": "integer arithmetic of indices that leaves its type",
    "shared-races": "races of a block's threads on shared memory",
    "global-races": "races of a launch's threads on arrays",
    "barriers": "barriers that not all threads of a block reach",
    "initialization": "variables and shared memory that are read before anything is stored there",
    "banks": "bank conflicts in shared memory",
    "coalescing": "accesses to arrays that take more memory transactions than they need",
    "divergence": "branches and loops that split a warp",
    "source": "what is written in a way that costs, or that means something else than it seems",
    "machine-code": "registers, spills, shared memory and instructions of the finished machine code",
}
# "proved" and "unknown" are words for these; of the others nothing is proved.
SAFETY: Final = frozenset({"bounds", "overflow", "shared-races", "global-races", "barriers", "initialization"})


@dataclass(frozen=True, slots=True)
class Options:
    """What an audit is asked for: the checks, the threads of a block where the kernel does not say (a verdict that
    counts on them names them), those along x, y, z where it does (`block`), the seconds that a kernel may take, whether
    a solver is asked, whether `Reasoning` is wanted, and the graph of synchronisation, and whether examples are run in
    the simulator (`replays`)."""

    checks: tuple[str, ...] = tuple(CHECKS)
    block_dim: int = 256
    block: tuple[int, int, int] | None = None
    time_limit: float = 20.0
    use_solver: bool = True
    verbose: bool = False
    graph: bool = False
    replays: bool = True


@dataclass(frozen=True, slots=True)
class Thread:
    """One thread of an example: block and thread indices (x, y, z), its launch coordinates (as `tid()` gives them), and
    what its variables and loop counters are, in words and numbers."""

    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    coordinates: tuple[int, ...]
    values: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """A launch at which a finding shows: extents of the launch, threads of a block, shapes of arrays and values of
    scalars by parameter, what must stand in arrays (parameter, indices, value), and the threads concerned. `grid` and
    `block` are of kernels that run in whole blocks."""

    dim: tuple[int, ...]
    block_dim: int
    shapes: tuple[tuple[str, tuple[int, ...]], ...] = ()
    scalars: tuple[tuple[str, int | float | bool], ...] = ()
    contents: tuple[tuple[str, tuple[int, ...], int | float], ...] = ()
    threads: tuple[Thread, ...] = ()
    grid: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Replay:
    """What the simulator shows at the launch of an example: the fault that was found (`is_confirmed`), in its words; or
    why it does not."""

    is_confirmed: bool
    text: str

    def in_words(self) -> str:
        """A line for people."""
        return f"confirmed by the simulator: {self.text}" if self.is_confirmed else f"not confirmed: {self.text}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, or that is not known to be right.

    `check` is one of `CHECKS`, `verdict` "found" or "unknown" (then `reason` says why it is not known). `subject` is
    what it is about, in a word (the array, the variable, the parameter). Findings about machine code name their
    `target`. `figures` are numbers that belong to it (degree of a bank conflict, sectors, registers). `replay` is what
    became of the example in the simulator, where it was run.
    """

    code: str
    check: str
    verdict: Verdict
    message: str
    span: Span | None
    kernel: str
    subject: str = ""
    reason: str = ""
    help: str | None = None
    notes: tuple[Note, ...] = ()
    example: Example | None = None
    figures: tuple[tuple[str, float], ...] = ()
    target: str | None = None
    replay: Replay | None = None


@dataclass(frozen=True, slots=True)
class Reasoning:
    """One step that `--verbose` shows: what was asked at a place, what it came out as, by which rule, and what was
    known."""

    check: str
    span: Span | None
    question: str
    verdict: Verdict
    rule: str
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What became of one check on one kernel: how many obligations there were and how many of them are proved.

    Of a check that proves nothing (see `SAFETY`), obligations are the places that were looked at, and `verdict` is
    "found" where something was found, else "proved".
    """

    check: str
    verdict: Verdict
    obligations: int
    proved: int


@dataclass(frozen=True, slots=True)
class KernelAudit:
    """Everything about one kernel. `assumptions` are what the verdicts count on, in words (the block size that was
    taken, arrays that do not overlap, what threads assume), and `declared` what the kernel says of its launches, which
    are held against it. `functions` are the definitions that were looked at,
    the kernel's own first; `graph` is that of its synchronisation, as Graphviz reads it."""

    kernel: str
    span: Span | None
    block_dim: int
    checks: tuple[CheckResult, ...]
    findings: tuple[Finding, ...]
    assumptions: tuple[str, ...] = ()
    reasoning: tuple[Reasoning, ...] = ()
    functions: tuple[Span, ...] = ()
    graph: str = ""
    seconds: float = field(default=0.0, compare=False)
    declared: tuple[str, ...] = ()
