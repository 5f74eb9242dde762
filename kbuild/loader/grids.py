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
from .blocks import flat_header
from .errors import describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .blocks import Shape

    Triple = tuple[int, int, int]

MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_BLOCK = (1024, 1024, 64)


class Grid:
    """What `grid` and `block` ask for; stands in the place of a `dim`. Without a block the kernel's own is taken."""

    __slots__ = ("block", "grid", "is_flat")
    _kb_dim_ = ()  # what of it a `dim` of numbers would be: nothing

    def __init__(self, grid: object, block: object = None) -> None:
        """Raises ValueError or TypeError that says what is wrong."""
        self.grid, flat_grid = _triple("grid", grid, 0, MAX_GRID)
        self.block: Triple | None = None
        self.is_flat = flat_grid
        if block is not None:
            self.block, flat_block = _triple("block", block, 1, MAX_BLOCK)
            self.is_flat = flat_grid and flat_block
        if self.block is not None and _product(self.block) > geometry.MAX_BLOCK:
            raise ValueError("block is %d threads: at most %d" % (_product(self.block), geometry.MAX_BLOCK))

    def __eq__(self, other: object) -> bool:
        return other.__class__ is Grid and (self.grid, self.block) == (other.grid, other.block)

    def __hash__(self) -> int:
        return hash((self.grid, self.block))

    def __repr__(self) -> str:
        return "grid=%r, block=%r" % (self.grid, self.block)


class Sized:
    """A `dim` or `Grid`, and the bytes of shared memory that each block gets at the launch; stands in their place."""

    __slots__ = ("dim", "shared")

    def __init__(self, dim: object, shared: object) -> None:
        """Raises ValueError or TypeError that says what is wrong."""
        self.dim: Any = dim
        try:
            self.shared = operator.index(shared)  # type: ignore[arg-type]  # what is none is told
        except TypeError:
            raise TypeError("shared_memory wants a number of bytes, not %s" % describe(shared)) from None
        if not 0 <= self.shared < 1 << 31:
            raise ValueError("shared_memory is a number of bytes, 0 or more, not %d" % self.shared)

    @property
    def _kb_dim_(self) -> Any:
        """What of it is a `dim` of numbers."""
        return self.dim._kb_dim_ if isinstance(self.dim, Grid) else self.dim

    def __eq__(self, other: object) -> bool:
        return other.__class__ is Sized and (self.dim, self.shared) == (other.dim, other.shared)

    def __hash__(self) -> int:
        return hash((self.dim, self.shared))

    def __repr__(self) -> str:
        dim = repr(self.dim) if self.dim.__class__ is Grid else "dim=%r" % (self.dim,)
        return "%s, shared_memory=%d" % (dim, self.shared)


def unsized(dim: Any) -> Any:
    """A `dim` without the shared memory beside it."""
    return dim.dim if dim.__class__ is Sized else dim


def shared_of(dim: Any, shape: Shape) -> int:
    """Bytes of shared memory that a launch gives each block. Raises ValueError where that is not as the kernel is."""
    is_given = dim.__class__ is Sized
    if not is_given and shape.row:
        raise ValueError(
            "it has an array in shared memory whose size the launch gives, in rows of %d bytes\n"
            "  help: launch it with shared_memory=%d times the number of rows" % (shape.row, shape.row)
        )
    shared: int = dim.shared if is_given else shape.shared
    if is_given and not shape.is_open:
        raise ValueError(
            "it has no array whose size the launch gives, and shared_memory=%d\n"
            "  help: leave shared_memory out, or declare one: kb.shared_array(None, dtype)" % shared
        )
    if shape.most is not None and shared > shape.most:
        raise ValueError(
            "shared_memory=%d is more than the %d bytes that a block may have on this device beside the %d that the "
            "kernel declares" % (shared, shape.most, shape.static)
        )
    return shared


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


def asked(dim: object, grid: object, block: object, block_dim: object) -> Grid:
    """The grid of a launch that was given `grid` or `block`. Raises ValueError or TypeError."""
    if dim is not None:
        raise ValueError("give dim, or grid and block, not both")
    if grid is None:
        raise ValueError("block wants grid beside it: the number of blocks")
    if block is not None and block_dim is not None:
        raise ValueError("give block, or block_dim, not both")
    return Grid(grid, block)


def plan(dim: object, shape: Shape, block_dim: int, max_blocks: int = 0) -> Iterator[tuple[bytes, Triple, Triple]]:
    """`blocks.plan` of what stands in the place of a `dim`, and of a kernel that runs in whole blocks. Raises
    ValueError, TypeError.
    """
    shared_of(dim, shape)
    dim = unsized(dim)
    _check_bounds(_product(dim.block) if isinstance(dim, Grid) and dim.block is not None else block_dim, shape)
    if shape.plain:
        return _of_plain(dim, block_dim, max_blocks)
    if isinstance(dim, Grid):
        return _of_grid(dim, shape, block_dim, max_blocks)
    cap = 0 if shape.whole else max_blocks
    grids = geometry.plan(dim, shape.ndim, block_dim, shape.has_origin, cap)
    if shape.whole:
        count = _product(geometry.axes(dim, shape.ndim))
        _check_whole(dim, count, block_dim)
        _check_clusters(count // block_dim, block_dim, shape)
        _check_cap(count // block_dim, max_blocks)
    return ((header, (blocks, 1, 1), (block_dim, 1, 1)) for header, blocks in grids)


def _of_plain(dim: object, block_dim: int, max_blocks: int) -> Iterator[tuple[bytes, Triple, Triple]]:
    """A launch as CUDA makes it."""
    geometry.check_block(block_dim)
    asked = dim if isinstance(dim, Grid) else Grid(-(-_threads(dim) // block_dim))
    blocks = _product(asked.grid)
    _check_cap(blocks, max_blocks)
    return iter([(b"", asked.grid, (block_dim, 1, 1) if asked.block is None else asked.block)] if blocks else [])


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


def extents(dim: object, shape: Shape, block_dim: int) -> tuple[Triple, Triple, tuple[int, ...]]:
    """Blocks of the grid, threads of a block, and `dim` as the kernel counts it, of a launch that `plan` accepts."""
    dim = unsized(dim)
    if isinstance(dim, Grid):
        block = (block_dim, 1, 1) if dim.block is None else dim.block
        return dim.grid, block, (_product(dim.grid) * _product(block),)
    axes = geometry.axes(dim, shape.ndim)
    return (-(-_product(axes) // block_dim), 1, 1), (block_dim, 1, 1), axes


def _of_grid(grid: Grid, shape: Shape, block_dim: int, max_blocks: int) -> Iterator[tuple[bytes, Triple, Triple]]:
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
        _check_clusters(grid.grid[0], 0, shape)
        _check_cap(_product(grid.grid), max_blocks)
    else:
        grids = geometry.plan(count, 1, block[0], shape.has_origin, max_blocks)
        return ((header, (blocks, 1, 1), block) for header, blocks in grids)
    return iter([(flat_header(count, shape.has_origin), grid.grid, block)] if count else [])


def _check_bounds(threads: int, shape: Shape) -> None:
    if threads.__class__ is int and shape.max_threads < threads <= geometry.MAX_BLOCK:
        most = shape.max_threads
        name, place = ("__launch_bounds__", "file") if shape.plain else ("launch_bounds", "decorator")
        raise ValueError(
            "a block of %d threads, and %s in its %s allows %d: its machine code relies on that\n"
            "  help: launch it with block_dim=%d or less, or raise %s and build again"
            % (threads, name, place, most, most, name)
        )


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


def _check_clusters(blocks: int, block_dim: int, shape: Shape) -> None:
    """`blocks` along x make up whole clusters; `block_dim` threads each where a `dim` has asked for them, else 0."""
    if not shape.cluster or blocks % shape.cluster == 0:
        return
    above = blocks + shape.cluster - blocks % shape.cluster
    has, cure = "the grid has %d along x" % blocks, "give a grid of %d blocks along x" % above
    if block_dim:
        has, cure = "dim makes %d" % blocks, "launch %d threads" % (above * block_dim)
    raise ValueError(
        "it runs in clusters of %d blocks, and %s, no multiple of that\n"
        "  help: %s and let those past the end do nothing between its barriers" % (shape.cluster, has, cure)
    )


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
