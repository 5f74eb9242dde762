"""From `dim` to grids: how many threads, and the launch header by which a thread finds its index.

The header of a kernel with `ndim` = 1 is `{u32 count}`. With d >= 2 axes it is `{u32 count; u32 extent[d-1]; u32
magic[d-1]; u32 shift[d-1]; i32 origin[d]}`: a thread divides its linear number by the extents of axes 1…d-1, with
multiplications. Division by an invariant: Granlund and Montgomery, "Division by invariant integers using
multiplication" (PLDI 1994), section 4. Counts stay below 2^31: a larger launch is cut along its leading axes.
"""

from __future__ import annotations

import operator
import struct

from .values import describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_THREADS = 2**31 - 1  # of one driver launch; a thread's linear number is an int32 that every driver accepts
MAX_BLOCK = 1024


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


def plan(dim: object, ndim: int, block_dim: int) -> Iterator[tuple[bytes, int]]:
    """The driver launches that make up one launch: (header, blocks in the grid), in order. Nothing for an empty one.

    Raises ValueError or TypeError for a `dim` that cannot be launched.
    """
    check_block(block_dim)
    extents = axes(dim, ndim)
    if 0 in extents:
        return iter(())
    if max(extents) > MAX_THREADS:
        raise ValueError("dim is larger than 2^31 - 1 along axis %d: %r" % (extents.index(max(extents)), dim))
    return _headers(extents, block_dim)


def check_block(block_dim: object) -> None:
    """Raises ValueError for what is no size of a block."""
    if not isinstance(block_dim, int) or isinstance(block_dim, bool) or not 1 <= block_dim <= MAX_BLOCK:
        raise ValueError("block_dim is 1 to %d threads, not %s" % (MAX_BLOCK, describe(block_dim)))


def _headers(extents: tuple[int, ...], block_dim: int) -> Iterator[tuple[bytes, int]]:
    for origin, piece in split(extents):
        count = _product(piece)
        yield _header(count, origin, piece), (count + block_dim - 1) // block_dim


def split(extents: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Pieces (origin, extents) of at most MAX_THREADS threads, in row-major order, cut along the leading axes."""
    if _product(extents) <= MAX_THREADS:
        yield (0,) * len(extents), extents
        return
    inner = _product(extents[1:])
    if inner <= MAX_THREADS:
        step = MAX_THREADS // inner
        for start in range(0, extents[0], step):
            size = min(step, extents[0] - start)
            yield (start,) + (0,) * (len(extents) - 1), (size, *extents[1:])
        return
    for index in range(extents[0]):
        for origin, piece in split(extents[1:]):
            yield (index, *origin), (1, *piece)


def _header(count: int, origin: tuple[int, ...], extents: tuple[int, ...]) -> bytes:
    if len(extents) == 1:
        return struct.pack("<I", count)
    dividers = [divider(n) for n in extents[1:]]
    words = [count, *extents[1:], *[magic for magic, _ in dividers], *[shift for _, shift in dividers]]
    return struct.pack("<%dI%di" % (len(words), len(origin)), *words, *origin)


def header(count: int) -> bytes:
    """The header of a launch of `count` threads whose kernel has one coordinate."""
    return _header(count, (0,), (count,))


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
