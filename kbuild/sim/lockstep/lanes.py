"""Which threads run together, and where each stands in the launch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from kbuild.ir.types import INT32, INT64
from kbuild.sim.blocks import WARP, Launch
from kbuild.sim.lockstep.affine import Affine

# Lanes that run together: arrays of this size stay in a processor's cache.
CHUNK = 1 << 17


class Lanes:
    """Threads by their numbers in the launch. `origin` is the number of the first thread of the blocks at hand."""

    __slots__ = ("_known", "count", "launch", "numbers", "origin")

    def __init__(self, launch: Launch, numbers: Any, count: int, origin: int) -> None:
        self.launch, self.numbers, self.count, self.origin = launch, numbers, count, origin
        self._known: dict[Any, Any] = {}

    def take(self, positions: Any) -> Lanes:
        """Some of them."""
        return Lanes(self.launch, self.dense[positions], len(positions), self.origin)

    @property
    def dense(self) -> Any:
        """Their numbers, int64."""
        return self.numbers.dense() if isinstance(self.numbers, Affine) else self.numbers

    @property
    def stamps(self) -> Any:
        """Their numbers + 1, int32: what marks something as touched by one of them, 0 by nobody."""
        return self.remembered("stamps", lambda: (self.dense + 1).astype(np.int32))

    def coordinate(self, axis: int) -> Any:
        """The coordinate of each along an axis of `dim`, int32."""
        dim = self.launch.dim
        if len(dim) == 1:
            if isinstance(self.numbers, Affine):
                return Affine(self.numbers.start, 1, self.count, INT32)
            return self.remembered("coordinate", lambda: self.numbers.astype(np.int32))
        return self.remembered(axis, lambda: self._divided(axis, dim))

    def _divided(self, axis: int, dim: tuple[int, ...]) -> Any:
        return self._counted(math.prod(dim[axis + 1 :]), dim[axis] if axis else 0, np.int32)

    def _counted(self, inner: int, extent: int, dtype: Any) -> Any:
        """`number // inner % extent` (0: no remainder). Of successive numbers without divisions, which take longest."""
        numbers = self.numbers
        if not (isinstance(numbers, Affine) and numbers.step == 1):
            found = self.dense // inner if inner > 1 else self.dense
            return (found % extent if extent else found).astype(dtype)
        first, last = numbers.start // inner, numbers.last // inner
        if inner == 1 and extent:
            away = first % extent
            return np.tile(np.arange(extent, dtype=dtype), (away + self.count) // extent + 1)[away : away + self.count]
        found = np.arange(first, last + 1)
        found = (found % extent if extent else found).astype(dtype)
        return found if inner == 1 else np.repeat(found, inner)[numbers.start - first * inner :][: self.count]

    @property
    def block(self) -> Any:
        """The number of each thread's block, int64."""
        return self.remembered("block", lambda: self._counted(math.prod(self.launch.block), 0, np.int64))

    @property
    def index(self) -> Any:
        """The number of each in its block, int64."""
        return self.remembered("index", lambda: self._counted(1, math.prod(self.launch.block), np.int64))

    @property
    def warp(self) -> Any:
        """A number for each one's warp, different for every warp of the launch, int64."""
        return self.remembered(
            "warp", lambda: self.block * (-(-math.prod(self.launch.block) // WARP)) + self.index // WARP
        )

    @property
    def slot(self) -> Any:
        """The number of each one's block among those at hand, int64."""
        return self.remembered("slot", lambda: self.block - self.origin // math.prod(self.launch.block))

    def position(self, what: str, axis: int | None) -> Any:
        """Where each stands in the grid, int32 (see `ir.nodes.Position`)."""
        launch = self.launch
        if what in ("block_dim", "grid_dim"):
            extents = launch.block if what == "block_dim" else launch.grid
            return np.int32(math.prod(extents) if axis is None else extents[axis])
        if what == "lane_id":
            return self.remembered(what, lambda: (self.index % WARP).astype(np.int32))
        if what == "warp_id":
            return self.remembered(what, lambda: (self.index // WARP).astype(np.int32))
        if what == "cluster_rank":
            return self.remembered(what, lambda: (self.block % launch.cluster).astype(np.int32))
        if what == "launch_idx":
            inside = math.prod(launch.block)
            return self.remembered(what, lambda: (self.block * inside + self.index).astype(np.int32))
        number, extents = (self.index, launch.block) if what == "thread_idx" else (self.block, launch.grid)
        if axis is None or (axis == 0 and extents[1:] == (1, 1)):
            return self.remembered((what, None), lambda: number.astype(np.int32))
        inner = math.prod(extents[:axis])
        return self.remembered((what, axis), lambda: (number // inner % extents[axis]).astype(np.int32))

    def coordinates(self, position: int) -> tuple[int, ...]:
        """One thread's coordinates in `dim`."""
        return tuple(int(one) for one in np.unravel_index(int(self.dense[position]), self.launch.dim))

    def remembered(self, key: Any, compute: Any) -> Any:
        """What is computed of these lanes once."""
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = compute()
        return found


def chunks(launch: Launch, whole_blocks: bool, size: int = CHUNK, only: Sequence[int] | None = None) -> Iterator[Lanes]:
    """All threads of a launch, in order, whole blocks (and clusters) at a time; those past the end of `dim` do not
    run. `only`: those of these blocks, and of their clusters."""
    block = math.prod(launch.block) * launch.cluster
    step = max(size // block, 1) * block if whole_blocks or block <= size else size
    starts: Iterable[int] = range(0, launch.count, step)
    if only is not None:
        step, starts = block, sorted({number // launch.cluster * block for number in only})
    for start in starts:
        count = min(step, launch.count - start)
        yield Lanes(launch, Affine(start, 1, count, INT64), count, start)
