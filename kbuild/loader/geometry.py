"""From `dim` to grids: how many threads, and the launch header by which a thread finds its index.

The header of a kernel with `ndim` = 1 is `{u32 end; u32 origin}`: a thread's number is that in the grid plus the
origin. (Older bundles, without `origin` in the kernel's row, have `{u32 count}`.) With d >= 2 axes it is `{u32 count;
u32 extent[d-1]; u32 magic[d-1]; u32 shift[d-1]; i32 origin[d]}`: a thread divides its linear number by the extents of
axes 1…d-1, with multiplications. Division by an invariant: Granlund and Montgomery, "Division by invariant integers
using multiplication" (PLDI 1994), section 4. Counts stay below 2^31: a larger launch is cut along its leading axes, and
so is one of more blocks than `max_blocks` allows.
"""

from __future__ import annotations

import operator
import struct

from .blocks import MAX_BLOCK as MAX_BLOCK
from .blocks import MAX_THREADS as MAX_THREADS
from .errors import describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CLUSTER = 8  # blocks of a cluster, on every GPU that has clusters


def axes(dim: object, ndim: int) -> tuple[int, ...]:
    """`dim` as exactly `ndim` extents. Raises ValueError or TypeError that says what is wrong with it."""
    given = tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
    try:
        extents = tuple([operator.index(n) for n in given])
    except MemoryError:
        raise
    except Exception:  # an object's own code may fail in any way
        raise TypeError("dim wants an integer or a tuple of integers, not %s" % describe(dim)) from None
    if not extents:
        raise ValueError("dim is empty: give the number of threads along each axis")
    for axis, extent in enumerate(extents):
        if extent < 0:
            raise ValueError("dim is negative along axis %d: %r" % (axis, dim))
    if ndim == 1:
        return (_product(extents),)
    if len(extents) > ndim:
        raise ValueError("dim has %d axes, but the kernel's tid() has %d: %r" % (len(extents), ndim, dim))
    return extents + (1,) * (ndim - len(extents))


def plan(
    dim: object, ndim: int, block_dim: int, has_origin: bool = False, max_blocks: int = 0
) -> Iterator[tuple[bytes, int]]:
    """The driver launches that make up one launch: (header, blocks in the grid), in order. Nothing for an empty one.

    `has_origin`: the header of a kernel with one coordinate says where it begins. `max_blocks`: of one driver launch; 0
    for no cap. Raises ValueError or TypeError for what cannot be launched.
    """
    check_block(block_dim)
    check_cap(max_blocks)
    extents = axes(dim, ndim)
    if 0 in extents:
        return iter(())
    if max(extents) > MAX_THREADS:
        raise ValueError("dim is larger than 2^31 - 1 along axis %d: %r" % (extents.index(max(extents)), dim))
    most = min(max_blocks * block_dim, MAX_THREADS) if max_blocks else MAX_THREADS
    if ndim == 1 and not has_origin and extents[0] > most:
        raise ValueError(
            "max_blocks=%d would cut it into several launches, and its code is of before kbuild could do that\n"
            "  help: build the package again" % max_blocks
        )
    return _headers(extents, block_dim, has_origin, most)


def check_cap(max_blocks: object) -> None:
    """Raises ValueError for what is no number of blocks."""
    if not isinstance(max_blocks, int) or isinstance(max_blocks, bool) or max_blocks < 0:
        raise ValueError("max_blocks is a number of blocks, or 0 for no cap, not %s" % describe(max_blocks))


def check_block(block_dim: object) -> None:
    """Raises ValueError for what is no size of a block."""
    if not isinstance(block_dim, int) or isinstance(block_dim, bool) or not 1 <= block_dim <= MAX_BLOCK:
        raise ValueError("block_dim is 1 to %d threads, not %s" % (MAX_BLOCK, describe(block_dim)))


def _headers(extents: tuple[int, ...], block_dim: int, has_origin: bool, most: int) -> Iterator[tuple[bytes, int]]:
    for origin, piece in split(extents, most):
        count = _product(piece)
        yield _header(count, origin, piece, has_origin), (count + block_dim - 1) // block_dim


def split(extents: tuple[int, ...], most: int = MAX_THREADS) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Pieces (origin, extents) of at most `most` threads, in row-major order, cut along the leading axes."""
    if _product(extents) <= most:
        yield (0,) * len(extents), extents
        return
    inner = _product(extents[1:])
    if inner <= most:
        step = most // inner
        for start in range(0, extents[0], step):
            size = min(step, extents[0] - start)
            yield (start,) + (0,) * (len(extents) - 1), (size, *extents[1:])
        return
    for index in range(extents[0]):
        for origin, piece in split(extents[1:], most):
            yield (index, *origin), (1, *piece)


def _header(count: int, origin: tuple[int, ...], extents: tuple[int, ...], has_origin: bool) -> bytes:
    if len(extents) == 1:
        return struct.pack("<II", origin[0] + count, origin[0]) if has_origin else struct.pack("<I", count)
    dividers = [divider(n) for n in extents[1:]]
    words = [count, *extents[1:], *[magic for magic, _ in dividers], *[shift for _, shift in dividers]]
    return struct.pack("<%dI%di" % (len(words), len(origin)), *words, *origin)


def divider(n: int) -> tuple[int, int]:
    """(magic, shift) with `l // n == (mulhi(l, magic) + l) >> shift` for 0 <= l < 2^31 and 1 <= n < 2^31."""
    shift = (n - 1).bit_length()
    magic = ((1 << 32) * ((1 << shift) - n) // n + 1) & 0xFFFFFFFF
    return magic, shift


def _product(extents: tuple[int, ...]) -> int:
    product = 1
    for extent in extents:
        product *= extent
    return product
