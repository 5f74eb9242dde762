"""The numbers of a profile."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from kbuild.traffic.access import Traffic

KINDS = (
    ("global", "load"),
    ("global", "store"),
    ("global", "reduction"),
    ("global", "atomic"),
    ("shared", "load"),
    ("shared", "store"),
    ("shared", "atomic"),
)
"""Memory spaces and kinds of instruction. A `reduction` is an atomic whose result nobody uses, which global memory has
instructions of its own for."""


@dataclass
class Accesses:
    """Memory instructions of one kind: `threads` that executed one, the `bytes` that these asked for, `requests` (warp
    instructions). Of global memory `sectors` (32 bytes) touched, the `ideal` number of them, as many as the bytes of
    each request would fill, `tags` (lines of 128 bytes). `wavefronts` are passes through the tag stage of the L1 cache,
    or through the banks of shared memory; there `conflicts` are those that bank conflicts add.
    """

    threads: int = 0
    bytes: int = 0
    requests: int = 0
    sectors: int = 0
    ideal: int = 0
    tags: int = 0
    wavefronts: int = 0
    conflicts: int = 0

    def add(self, threads: int, size: int, ideal: int, traffic: Traffic) -> None:
        """One more instruction, of accesses of `size` bytes."""
        self.threads += threads
        self.bytes += threads * size
        self.ideal += min(ideal, traffic.sectors)
        self.requests += traffic.requests
        self.sectors += traffic.sectors
        self.tags += traffic.tags
        self.wavefronts += traffic.wavefronts
        self.conflicts += traffic.conflicts

    def __add__(self, other: Accesses) -> Accesses:
        return Accesses(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(kw_only=True)
class Counts:
    """`threads` that executed something, the `warps` they were in, and how many of those were `partial`: without some
    of their threads, because of a branch, a loop or an early return. `barriers` are warps that came to one. `memory`
    has the accesses by (space, kind) of KINDS, those that there are.
    """

    threads: int = 0
    warps: int = 0
    partial: int = 0
    barriers: int = 0
    memory: dict[tuple[str, str], Accesses] = field(default_factory=dict)

    @property
    def active(self) -> float:
        """Active threads of a warp, on average."""
        return self.threads / self.warps if self.warps else 0.0

    def accesses(self, space: str, *kinds: str) -> Accesses:
        """Those of some kinds together; of all without one."""
        found = Accesses()
        for (where, kind), one in self.memory.items():
            if where == space and (not kinds or kind in kinds):
                found += one
        return found

    def to_json(self) -> dict[str, Any]:
        """Numbers by name."""
        memory: dict[str, Any] = {}
        for space, kind in KINDS:
            one = self.memory.get((space, kind))
            if one is not None:
                memory.setdefault(space, {})[kind] = {f.name: getattr(one, f.name) for f in fields(one)}
        plain = {name: getattr(self, name) for name in ("threads", "warps", "partial", "barriers")}
        return {**plain, "memory": memory}


@dataclass(kw_only=True)
class Line(Counts):
    """The counts of a source line, and the functions that it belongs to.

    Where a line has several statements, its executions are those of the one that most threads came to. A loop's line
    counts the tests whether it goes on: one more than trips, for threads that do not leave it early.
    """

    path: str
    line: int

    def to_json(self) -> dict[str, Any]:
        return {"path": self.path, "line": self.line, **super().to_json()}


def total(lines: Iterable[Counts]) -> Counts:
    """The sums."""
    found = Counts()
    for one in lines:
        found.threads += one.threads
        found.warps += one.warps
        found.partial += one.partial
        found.barriers += one.barriers
        for key, accesses in one.memory.items():
            found.memory[key] = found.memory.get(key, Accesses()) + accesses
    return found
