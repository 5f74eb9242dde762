"""Threads of a block in step: each runs until it waits at a barrier, or ends; then those go on that a barrier lets go.
So do those of the blocks of a cluster.

    run_in_step([Run(thread, machine.call(…)), …], switch)

What a thread did before a barrier is seen by those that passed it together. Each thread keeps a clock for that: how far
it has seen each of the others (Lamport's order of events, as vector clocks keep it: Fidge and Mattern, 1988).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from kbuild.ir import nodes
from kbuild.ir.blocks import in_whole_blocks
from kbuild.ir.nodes import Kernel
from kbuild.sim.values import Fault

WARP = 32
Triple: TypeAlias = tuple[int, int, int]


class Divergence(Fault):
    """A barrier, or an operation of a warp, that not all threads reach."""


@dataclass(frozen=True)
class Launch:
    """Blocks of the grid and threads of a block along x, y, z; `dim` splits a thread's number into coordinates.
    `shared` are the bytes of shared memory that each block gets beside what its kernel declares; `cluster` blocks along
    x run together."""

    grid: Triple
    block: Triple
    dim: tuple[int, ...]
    shared: int = 0
    cluster: int = 1

    @property
    def count(self) -> int:
        """Threads that run: those past the end of `dim` do not."""
        return math.prod(self.dim)

    def threads(self, number: int) -> Iterator[Thread]:
        """The threads of a block."""
        size = math.prod(self.block)
        for index in range(min(size, self.count - number * size)):
            linear = number * size + index
            yield Thread(linear, unravel(linear, self.dim), number, index)


def over(dim: tuple[int, ...], block: int) -> Launch:
    """Enough blocks of this size along x for a `dim`."""
    return Launch((-(-math.prod(dim) // block), 1, 1), (block, 1, 1), dim)


def in_clusters(launch: Launch, kernel: Kernel) -> Launch:
    """The launch as the kernel runs it. Raises ValueError for one in parts of blocks, or of clusters, where the kernel
    wants whole ones."""
    if launch.count % math.prod(launch.block) and in_whole_blocks(kernel):
        raise ValueError(f"{kernel.name} runs in whole blocks, and {launch} is none")
    cluster = kernel.cluster_dim or 1
    if launch.grid[0] % cluster:
        raise ValueError(f"{kernel.name} runs in clusters of {cluster} blocks, and {launch} is none")
    return launch if cluster == launch.cluster else replace(launch, cluster=cluster)


def unravel(number: int, extents: Sequence[int]) -> tuple[int, ...]:
    """Coordinates of a row-major number."""
    found = []
    for extent in reversed(extents):
        number, rest = divmod(number, extent)
        found.append(rest)
    return tuple(reversed(found))


@dataclass(eq=False)
class Thread:
    """One thread: its number in the launch, its coordinates, its block, its number there, what it has seen of others by
    their numbers, and how many barriers of its cluster it has passed. `way` is where it is: the calls it is in, and of
    the loops how many trips it has made."""

    number: int
    coordinates: tuple[int, ...]
    block: int
    index: int
    time: int = 1
    seen: dict[int, int] = field(default_factory=dict)
    way: list[int] = field(default_factory=list)
    clusters: int = 0

    def stamp(self) -> Stamp:
        """This moment."""
        return self.number, self.time

    def sees(self, stamp: Stamp) -> bool:
        """What happened at that moment came before, for sure."""
        number, time = stamp
        return number == self.number or self.seen.get(number, 0) >= time


Stamp: TypeAlias = tuple[int, int]


@dataclass(eq=False)
class Waiting:
    """A thread waits: at which statement, for which lanes of its warp (None: for the whole block, or the cluster), and
    on which `way` it came there: in other trips of a loop, threads do not meet.

    At an operation of the warp it waits for all lanes that the block has, none ended, and `offers` them its arguments
    (None at a barrier); then `offered` has those of all by lane.
    """

    stmt: nodes.Stmt
    mask: int | None
    way: tuple[int, ...]
    offers: tuple[Any, ...] | None = None
    offered: dict[int, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def is_of_cluster(self) -> bool:
        return isinstance(self.stmt, nodes.Barrier) and self.stmt.of_cluster


Steps: TypeAlias = Generator[Waiting, None, Any]


@dataclass(eq=False)
class Run:
    """A thread on its way."""

    thread: Thread
    steps: Steps
    waiting: Waiting | None = None
    has_ended: bool = False


def to_end(steps: Steps) -> Any:
    """The result of steps in which nothing waits."""
    try:
        next(steps)
    except StopIteration as end:
        return end.value
    raise AssertionError("a barrier inside an expression")


def run_in_step(runs: Sequence[Run], switch: Callable[[Thread], None]) -> None:
    """Runs the threads of a block, or of those of a cluster, to their ends; `switch` is told who runs. Raises Fault."""
    ready = list(runs)
    while ready:
        for run in ready:
            switch(run.thread)
            try:
                run.waiting = next(run.steps)
            except StopIteration:
                run.waiting, run.has_ended = None, True
        for group in list(_released(runs)):
            _meet(group)
            for run in group:
                run.waiting = None
        ready = [run for run in runs if run.waiting is None and not run.has_ended]
    stuck = [run for run in runs if run.waiting is not None]
    if stuck:
        raise _divergence(stuck[0], runs)


def _released(runs: Sequence[Run]) -> Iterator[list[Run]]:
    """Groups whose members all wait at one barrier, with nobody missing."""
    parties: dict[tuple[Any, ...], list[Run]] = {}
    members: dict[tuple[Any, ...], list[Run]] = {}
    for run in runs:
        block, warp = run.thread.block, run.thread.index // WARP
        for place in ((), (block,), (block, warp)):
            members.setdefault(place, []).append(run)
        if run.waiting is not None:
            mask = run.waiting.mask
            place = () if run.waiting.is_of_cluster else (block,) if mask is None else (block, warp)
            parties.setdefault((place, mask, id(run.waiting.stmt), run.waiting.way), []).append(run)
    for (place, mask, _, _), party in parties.items():
        if mask is None:
            is_complete = len(party) == len(members[place])
        else:
            named = [one for one in members[place] if mask >> (one.thread.index % WARP) & 1]
            may_end = party[0].waiting is not None and party[0].waiting.offers is None
            is_complete = all((may_end and one.has_ended) or one in party for one in named)
        if is_complete:
            yield party


def _meet(group: Sequence[Run]) -> None:
    """At a barrier all that any of them did or saw is seen by each from now on; else each gets what all offer."""
    offered = {run.thread.index % WARP: run.waiting.offers for run in group if run.waiting is not None}
    if None not in offered.values():
        for run in group:
            assert run.waiting is not None
            run.waiting.offered = offered  # type: ignore[assignment]  # there is no None among them
        return
    seen: dict[int, int] = {}
    for clock in {id(run.thread.seen): run.thread.seen for run in group}.values():
        for index, time in clock.items():
            seen[index] = max(time, seen.get(index, 0))
    for run in group:
        seen[run.thread.number] = run.thread.time
    for run in group:
        assert run.waiting is not None
        run.thread.seen = seen
        run.thread.time += 1
        run.thread.clusters += run.waiting.is_of_cluster


def _divergence(stuck: Run, runs: Sequence[Run]) -> Divergence:
    assert stuck.waiting is not None
    waits, mask, way = stuck.waiting.stmt, stuck.waiting.mask, stuck.waiting.way
    awaited = [
        run
        for run in runs
        if run.waiting is None or run.waiting.stmt is not waits or (run.waiting.mask, run.waiting.way) != (mask, way)
        if stuck.waiting.is_of_cluster or run.thread.block == stuck.thread.block
        if mask is None or (run.thread.index // WARP == stuck.thread.index // WARP)
        if mask is None or mask >> (run.thread.index % WARP) & 1
    ]
    other = awaited[0]
    where = "barrier" if other.waiting is None or other.waiting.offers is None else "operation of the warp"
    does = "has ended" if other.has_ended else f"waits at another {where}, {_place(other)}"
    if other.waiting is not None and other.waiting.stmt is waits and other.waiting.mask == mask:
        does = "waits there in another trip of a loop, or another call"
    what = "the block" if mask is None else f"the lanes 0x{mask:x}"
    what = "the cluster" if stuck.waiting.is_of_cluster else what
    if stuck.waiting.offers is not None:
        said = f"an operation of the warp that not all of its lanes reach: thread {other.thread.coordinates} {does}"
    else:
        said = f"a barrier that not all threads of {what} reach: thread {other.thread.coordinates} {does}"
    fault = Divergence(said)
    fault.span, fault.thread = waits.span, stuck.thread.coordinates
    return fault


def _place(run: Run) -> str:
    span = run.waiting.stmt.span if run.waiting is not None else None
    return f"line {span.line}" if span is not None else "elsewhere"


def numbered(what: str, thread: Thread, launch: Launch) -> int:
    """A position over all axes."""
    match what:
        case "thread_idx":
            return thread.index
        case "block_idx":
            return thread.block
        case "block_dim":
            return math.prod(launch.block)
        case "grid_dim":
            return math.prod(launch.grid)
        case "warp_id":
            return thread.index // WARP
        case "cluster_rank":
            return thread.block % launch.cluster
    assert what == "lane_id"
    return thread.index % WARP


def along(what: str, axis: int, thread: Thread, launch: Launch) -> int:
    """A position along x, y or z; x is fastest."""
    match what:
        case "thread_idx":
            return unravel(thread.index, launch.block[::-1])[2 - axis]
        case "block_idx":
            return unravel(thread.block, launch.grid[::-1])[2 - axis]
        case "block_dim":
            return launch.block[axis]
    assert what == "grid_dim"
    return launch.grid[axis]
