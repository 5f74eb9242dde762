"""Launches in blocks: `kb.launch(kernel, grid=…, block=…)`, and kernels that run in whole blocks only.

The threads of a block may wait for one another and share memory. A thread past the end of a launch could not leave
early then, so the launch of such a kernel has none: its threads fill every block. Neither is it cut into several
launches (see geometry.py), in which blocks would be counted anew.

A kernel that is written in CUDA C++ is launched as CUDA does it: `grid` blocks of `block` threads, and what it does
past the end is its own affair. With `dim` it gets as many blocks as that takes.
"""

from __future__ import annotations

import operator

from . import geometry
from .values import describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Triple = tuple[int, int, int]
    Piece = tuple[bytes, Triple, Triple, int]

MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_BLOCK = (1024, 1024, 64)


class Grid:
    """What `grid` and `block` ask for; stands in the place of a `dim`. Without a block the kernel's own is taken.

    `shared`: bytes of shared memory that a block gets besides what its code declares; None: as the kernel says.
    """

    __slots__ = ("block", "grid", "is_flat", "shared")

    def __init__(self, grid: object, block: object = None, shared: object = None) -> None:
        """Raises ValueError or TypeError that says what is wrong."""
        self.shared = None if shared is None else _bytes(shared)
        self.grid, flat_grid = _triple("grid", grid, 0, MAX_GRID)
        self.block: Triple | None = None
        self.is_flat = flat_grid
        if block is not None:
            self.block, flat_block = _triple("block", block, 1, MAX_BLOCK)
            self.is_flat = flat_grid and flat_block
        if self.block is not None and _product(self.block) > geometry.MAX_BLOCK:
            raise ValueError("block is %d threads: at most %d" % (_product(self.block), geometry.MAX_BLOCK))

    def __eq__(self, other: object) -> bool:
        return other.__class__ is Grid and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def _parts(self) -> tuple[object, ...]:
        return self.grid, self.block, self.shared

    def __repr__(self) -> str:
        shared = "" if self.shared is None else ", shared=%d" % self.shared
        return "grid=%r, block=%r%s" % (self.grid, self.block, shared)


def _bytes(given: object) -> int:
    """A number of bytes of shared memory. Raises ValueError, TypeError."""
    try:
        count = operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError("shared wants a number of bytes, not %s" % describe(given)) from None
    if not 0 <= count < 1 << 31:
        raise ValueError("shared is a number of bytes from 0 on, not %d" % count)
    return count


def _triple(what: str, given: object, lowest: int, most: Triple) -> tuple[Triple, bool]:
    """The extents along x, y and z, and whether there is x alone."""
    sizes = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    try:
        extents = tuple([operator.index(n) for n in sizes])
    except TypeError:
        raise TypeError("%s wants an integer or up to three (x, y, z), not %s" % (what, describe(given))) from None
    if not 1 <= len(extents) <= 3:
        raise ValueError("%s has one to three extents (x, y, z), not %d: %r" % (what, len(extents), given))
    x, y, z = extents + (1,) * (3 - len(extents))
    for axis, extent, limit in zip("xyz", (x, y, z), most):
        if not lowest <= extent <= limit:
            raise ValueError("%s is %d to %d along %s, not %d" % (what, lowest, limit, axis, extent))
    return (x, y, z), (y, z) == (1, 1)


def asked(
    dim: object, grid: object, block: object, block_dim: object, shared: object = None, own_block: int | None = None
) -> Grid:
    """The grid of a launch that was given `grid`, `block` or `shared`; `own_block` is how many threads a block of the
    kernel has where nobody says. Raises ValueError or TypeError.
    """
    if shared is not None and grid is None and block is None:
        size: Any = own_block if block_dim is None else block_dim
        if own_block is None:
            raise ValueError(_NO_SHARED)
        geometry.check_block(size)
        return Grid(-(-_threads(dim) // size), size, shared)
    if dim is not None:
        raise ValueError("give dim, or grid and block, not both")
    if grid is None:
        raise ValueError("block wants grid beside it: the number of blocks")
    if block is not None and block_dim is not None:
        raise ValueError("give block, or block_dim, not both")
    return Grid(grid, block, shared)


_NO_SHARED = "shared is for kernels of CUDA C++ files: one in Python declares what it shares, with kb.shared_array"


def _threads(dim: object) -> int:
    """A `dim` of one number. Raises ValueError, TypeError."""
    sizes = tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
    if len(sizes) != 1:
        raise ValueError("a kernel in CUDA C++ has no coordinates of its own: give grid and block, not dim=%r" % (dim,))
    try:
        count = operator.index(sizes[0])
    except TypeError:
        raise TypeError("dim wants a number of threads, not %s" % describe(sizes[0])) from None
    if count < 0:
        raise ValueError("dim is a number of threads from 0 on, not %d" % count)
    return count


class Shape:
    """What of a kernel decides how it is launched: coordinates of `tid()`, whole blocks, a header with an origin.

    `plain`: it is written in CUDA C++; `shared`: the bytes of shared memory that a launch gives it then, `most_shared`
    how many a GPU has for it (None: not known here).
    """

    __slots__ = ("has_origin", "most_shared", "ndim", "plain", "shared", "whole")

    def __init__(
        self, ndim: int, whole: bool = False, has_origin: bool = False, plain: bool = False, shared: int = 0
    ) -> None:
        self.ndim, self.whole, self.has_origin, self.plain, self.shared = ndim, whole, has_origin, plain, shared
        self.most_shared: int | None = None

    def on(self, most_shared: int) -> Shape:
        """The same on a GPU."""
        made = Shape(self.ndim, self.whole, self.has_origin, self.plain, self.shared)
        made.most_shared = most_shared
        return made


def shape_of(row: dict[str, Any]) -> Shape:
    """The shape of a kernel by its row of the manifest."""
    is_plain = row.get("plain", False)
    return Shape(
        row["ndim"], row.get("whole_blocks", False), row.get("origin", False), is_plain, row.get("dynamic_shared", 0)
    )


def plan(dim: object, shape: Shape, block_dim: int, max_blocks: int = 0) -> Iterator[Piece]:
    """The driver launches that make up one launch: (header, blocks of the grid, threads of a block, bytes of shared
    memory beside those in the code), in order.

    Of more than `max_blocks` blocks, if that is not 0, several are made. Raises ValueError or TypeError for what cannot
    be launched.
    """
    if shape.plain:
        return _of_plain(dim, shape, block_dim, max_blocks)
    if dim.__class__ is Grid:
        assert isinstance(dim, Grid)
        if dim.shared is not None:
            raise ValueError(_NO_SHARED)
        return _of_grid(dim, shape, block_dim, max_blocks)
    cap = 0 if shape.whole else max_blocks
    grids = geometry.plan(dim, shape.ndim, block_dim, shape.has_origin, cap)
    if shape.whole:
        count = _product(geometry.axes(dim, shape.ndim))
        _check_whole(dim, count, block_dim)
        _check_cap(count // block_dim, max_blocks)
    return ((header, (blocks, 1, 1), (block_dim, 1, 1), 0) for header, blocks in grids)


def _of_plain(dim: object, shape: Shape, block_dim: int, max_blocks: int) -> Iterator[Piece]:
    """A launch as CUDA makes it."""
    geometry.check_block(block_dim)
    if dim.__class__ is Grid:
        assert isinstance(dim, Grid)
        asked = dim
    else:
        asked = Grid(-(-_threads(dim) // block_dim))
    blocks = _product(asked.grid)
    _check_cap(blocks, max_blocks)
    shared = shape.shared if asked.shared is None else asked.shared
    if shape.most_shared is not None and shared > shape.most_shared:
        raise ValueError(
            "%d bytes of shared memory for a block, and the GPU has %d beside what the code declares"
            % (shared, shape.most_shared)
        )
    block = (block_dim, 1, 1) if asked.block is None else asked.block
    return iter([(b"", asked.grid, block, shared)] if blocks else [])


def extents(dim: object, shape: Shape, block_dim: int) -> tuple[Triple, Triple, tuple[int, ...]]:
    """Blocks of the grid, threads of a block, and `dim` as the kernel counts it, of a launch that `plan` accepts."""
    if dim.__class__ is Grid:
        assert isinstance(dim, Grid)
        block = (block_dim, 1, 1) if dim.block is None else dim.block
        return dim.grid, block, (_product(dim.grid) * _product(block),)
    axes = geometry.axes(dim, shape.ndim)
    return (-(-_product(axes) // block_dim), 1, 1), (block_dim, 1, 1), axes


def _of_grid(grid: Grid, shape: Shape, block_dim: int, max_blocks: int) -> Iterator[Piece]:
    ndim, whole = shape.ndim, shape.whole
    geometry.check_block(block_dim)
    if ndim > 1:
        raise ValueError("its tid() has %d coordinates, which dim gives and grid does not: launch it with dim" % ndim)
    if not (whole or grid.is_flat):
        raise ValueError(
            "grid and block have one extent for this kernel: it never asks for its place in them (kb.thread_idx(), "
            "kb.block_idx()), nor do its threads wait for one another"
        )
    block = (block_dim, 1, 1) if grid.block is None else grid.block
    count = _product(grid.grid) * _product(block)
    _check_count(count)
    if whole:
        _check_cap(_product(grid.grid), max_blocks)
    else:
        grids = geometry.plan(count, 1, block[0], shape.has_origin, max_blocks)
        return ((header, (blocks, 1, 1), block, 0) for header, blocks in grids)
    return iter([(geometry.header(count, shape.has_origin), grid.grid, block, 0)] if count else [])


def _check_cap(blocks: int, max_blocks: int) -> None:
    geometry.check_cap(max_blocks)
    if max_blocks and blocks > max_blocks:
        raise ValueError(
            "it runs in whole blocks, and %d blocks are more than max_blocks=%d: such a launch is never cut into "
            "several, in which blocks would be counted anew\n"
            "  help: launch fewer blocks, or leave max_blocks out" % (blocks, max_blocks)
        )


def _check_whole(dim: object, count: int, block_dim: int) -> None:
    if count % block_dim:
        above = count + block_dim - count % block_dim
        raise ValueError(
            "it runs in whole blocks, and dim=%r is %d threads, no multiple of block_dim=%d\n"
            "  help: launch %d threads and let those past the end do nothing between its barriers, or give grid= and "
            "block=" % (dim, count, block_dim, above)
        )
    _check_count(count)


def _check_count(count: int) -> None:
    if count > geometry.MAX_THREADS:
        raise ValueError(
            "%d threads are more than 2^31 - 1: a launch in whole blocks is never cut into several" % count
        )


def _product(extents: tuple[int, ...]) -> int:
    product = 1
    for extent in extents:
        product *= extent
    return product
