"""Where a thread stands: its coordinates, its block, and what makes it another one than its neighbour.

A kernel that runs in whole blocks has `thread_idx`, `block_idx` and numbers made of these; any other only coordinates,
which the launch limits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kbuild.audit import conditions, terms
from kbuild.audit.conditions import Condition
from kbuild.audit.launches import ANY, Launch
from kbuild.audit.proving import Facts
from kbuild.audit.substitution import Other
from kbuild.audit.terms import BLOCK, LOOP, THREAD, UNIFORM, Atom, Term
from kbuild.ir import nodes
from kbuild.ir.blocks import in_whole_blocks
from kbuild.ir.nodes import Kernel
from kbuild.ir.traverse import callees, walk

WARP: Final = 32
MOST_THREADS: Final = 2**31 - 1  # of a launch
_AXES: Final = "xyz"
_LIMITS: Final = (2**31 - 1, 65535, 65535)  # blocks of a grid


@dataclass(frozen=True)
class Blocks:
    """Threads of a block along x, y, z; `is_declared`: the source says so."""

    shape: tuple[int, int, int]
    is_declared: bool

    @property
    def size(self) -> int:
        return math.prod(self.shape)


class Place:
    """The symbols of one thread, for one kernel, one shape of blocks, and what is known of the launch: `declared` are
    the extents that the kernel's `launch_dim` says."""

    def __init__(self, kernel: Kernel, blocks: Blocks, launch: Launch = ANY, declared: Sequence[Term] = ()) -> None:
        self.blocks, self.ndim = blocks, kernel.ndim
        self.is_whole = in_whole_blocks(kernel)
        # Who never asks which thread it is means one, where the launch does not say otherwise.
        many = launch.dim or [one.constant if one.is_constant else 2 for one in declared] or (1,)
        self.is_single = not self.is_whole and not _knows_others(kernel) and math.prod(many) == 1
        self.facts: list[Condition] = []
        self.limits: list[Condition] = []  # of what a GPU can do
        axes = _axes_of_blocks(kernel)
        self.thread = [self._thread(axis) for axis in range(3)]
        grid = _grid_of(launch, blocks, self.is_whole)
        axes = axes if grid is None else 3
        self.grid = [self._size(axis, axes) if grid is None else terms.number(grid[axis]) for axis in range(3)]
        self.block = [self._number(axis, axes) for axis in range(3)]
        x, y, _ = blocks.shape
        self.linear = self.thread[0] + self.thread[1].times(x) + self.thread[2].times(x * y)
        self.number = self.block[0] + self.block[1] * self.grid[0] + self.block[2] * self.grid[0] * self.grid[1]
        self.extents = [self._extent(axis, launch.dim, declared) for axis in range(kernel.ndim)]
        self.facts += [conditions.equal(*both) for both in zip(self.extents, declared, strict=False)]
        self.coordinates = self._coordinates()
        self._limit(self.extents)
        self.hidden = terms.of(terms.symbol("thread", 0, MOST_THREADS, THREAD))
        self.rank = terms.of(terms.symbol("cluster_rank", 0, (kernel.cluster_dim or 1) - 1, BLOCK))
        self.lane = terms.of(terms.symbol("lane", 0, min(WARP, blocks.size) - 1, THREAD))

    def _thread(self, axis: int) -> Term:
        extent = self.blocks.shape[axis]
        name = "thread_idx" if self.blocks.shape[1:] == (1, 1) else f"thread_idx.{_AXES[axis]}"
        return terms.of(terms.symbol(name, 0, extent - 1, THREAD)) if extent > 1 else terms.ZERO

    def _size(self, axis: int, axes: int) -> Term:
        if axis >= axes:
            return terms.ONE
        most = min(_LIMITS[axis], MOST_THREADS // self.blocks.size)
        name = "grid_dim" if axes == 1 else f"grid_dim.{_AXES[axis]}"
        return terms.of(terms.symbol(name, 1, most, UNIFORM))

    def _number(self, axis: int, axes: int) -> Term:
        if axis >= axes or self.grid[axis] == terms.ONE:
            return terms.ZERO
        name = "block_idx" if axes == 1 else f"block_idx.{_AXES[axis]}"
        most = min(_LIMITS[axis], MOST_THREADS // self.blocks.size) - 1
        most = self.grid[axis].constant - 1 if self.grid[axis].is_constant else most
        one = terms.of(terms.symbol(name, 0, most, BLOCK))
        self.facts.append(conditions.less(one, self.grid[axis]))
        return one

    def _extent(self, axis: int, dim: tuple[int, ...] | None, declared: Sequence[Term]) -> Term:
        if dim is not None and len(dim) == self.ndim:
            return terms.number(dim[axis])
        if self.is_whole and self.ndim == 1:
            return self.grid[0] * self.grid[1] * self.grid[2].times(self.blocks.size)
        if declared:
            return declared[axis]
        name = "dim" if self.ndim == 1 else f"dim[{axis}]"
        return terms.of(terms.symbol(name, 1, MOST_THREADS, UNIFORM))

    def _coordinates(self) -> list[Term]:
        if self.is_whole and self.ndim == 1:
            return [self.number.times(self.blocks.size) + self.linear]
        found = []
        for axis, extent in enumerate(self.extents):
            # In whole blocks what they have to do with thread_idx is not looked at.
            taint = LOOP if self.is_whole else 0
            name = "tid" if self.ndim == 1 else f"tid[{axis}]"
            one = terms.of(terms.symbol(name, 0, MOST_THREADS - 1, THREAD, taint))
            self.facts.append(conditions.less(one, extent))
            found.append(one)
        return found

    def _limit(self, extents: list[Term]) -> None:
        """No launch has more threads than numbers for them."""
        product = terms.ONE
        for extent in extents:
            product = product * extent
        self.limits.append(conditions.at_most(product, terms.number(MOST_THREADS)))

    def position(self, what: str, axis: int | None, facts: Facts) -> Term:
        """The value of a `Position`."""
        match what:
            case "thread_idx":
                return self.linear if axis is None else self.thread[axis]
            case "block_idx":
                return self.number if axis is None else self.block[axis]
            case "grid_dim":
                return self.grid[0] * self.grid[1] * self.grid[2] if axis is None else self.grid[axis]
            case "block_dim":
                return terms.number(self.blocks.size if axis is None else self.blocks.shape[axis])
            case "lane_id":
                return terms.floor_mod(self.linear, WARP, facts.range_of) if self.is_whole else self.lane
            case "warp_id":
                return terms.floor_div(self.linear, WARP, facts.range_of)
            case "cluster_rank":
                return self.rank
        return self.number.times(self.blocks.size) + self.linear  # launch_idx

    # Two threads

    def other(self, is_in_block: bool, loose: frozenset[Atom] = frozenset()) -> Other:
        """What turns terms of one thread into those of another one, of the same block or not, perhaps in another trip
        of loops whose numbers are `loose`."""
        symbols: dict[Atom, Term] = {}
        return Other(symbols, is_in_block, loose)

    def apart(self, other: Other) -> list[Condition]:
        """That the two are two: one of these holds."""
        if self.is_single:
            return []
        if not self.is_whole:
            own = self.coordinates or [self.hidden]
        elif other.least == THREAD:
            own = [one for one in self.thread if not one.is_constant]
        else:
            own = [one for one in self.block if not one.is_constant]
        return [conditions.unequal(one, other.term(one)) for one in own]

    def in_other_warps(self, other: Other, facts: Facts) -> Condition:
        """That they are in two warps."""
        warp = terms.floor_div(self.linear, WARP, facts.range_of)
        return conditions.unequal(warp, other.term(warp))

    def in_same_warp(self, other: Other, facts: Facts) -> Condition:
        warp = terms.floor_div(self.linear, WARP, facts.range_of)
        return conditions.equal(warp, other.term(warp))


def _grid_of(launch: Launch, blocks: Blocks, is_whole: bool) -> tuple[int, int, int] | None:
    """Blocks of the grid, where the launch says how many."""
    if launch.grid is not None or launch.dim is None or not is_whole:
        return launch.grid
    return -(-math.prod(launch.dim) // blocks.size), 1, 1


def _axes_of_blocks(kernel: Kernel) -> int:
    """How many axes of the grid the kernel asks for; a launch has blocks along these alone."""
    return _axes(kernel, ("block_idx", "grid_dim"))


def axes_of_threads(kernel: Kernel) -> int:
    """How many axes of its block the kernel asks for."""
    return _axes(kernel, ("thread_idx", "block_dim"))


def _knows_others(kernel: Kernel) -> bool:
    """Something in the kernel depends on which thread runs it, or reckons with others that run beside it."""
    functions = [*callees(kernel.function), kernel.function]
    return any(_reckons(node) for one in functions for node in walk(one.body))


def _reckons(node: nodes.Node) -> bool:
    if isinstance(node, nodes.Intrinsic):
        return node.name.startswith("atomic_")
    return isinstance(node, (nodes.ThreadIndex, nodes.Position, nodes.Native))


def _axes(kernel: Kernel, whats: tuple[str, str]) -> int:
    found = 1
    for function in [*callees(kernel.function), kernel.function]:
        for node in walk(function.body):
            if isinstance(node, nodes.Position) and node.what in whats and node.axis:
                found = max(found, node.axis + 1)
    return found
