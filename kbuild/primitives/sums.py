"""`array_sum` and `array_inner`: over all elements, or along an axis.

Arrays are seen as numbers under few axes: those that stay and those that are added up, neighbours merged where they
lie side by side. What a launch cannot take at once (more than two axes of a kind with gaps between) goes in steps.
"""

from __future__ import annotations

from kbuild.loader import abi, uses
from kbuild.loader.layout import abi_type
from kbuild.loader.values import class_of
from kbuild.primitives import reducing, views
from kbuild.primitives.kernels import MOST_CHUNKS, TILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from kbuild.loader.array import array

__all__ = ("array_inner", "array_sum")


def array_sum(
    values: Any, out: Any = None, value_count: int | None = None, axis: int | None = None, stream: Any = None
) -> Any:
    """The sum of all elements (or of the first `value_count`), or of those along an axis.

    Elements are float32 or float64, or vectors and matrices of these. Without `out` the sum over everything is
    returned as a number or vector, which waits for the GPU; along an axis it is a new array, whose extent along this
    axis is 1. With `out` the sum goes there, and `out` is returned. Raises TypeError, ValueError, IndexError,
    LaunchError.
    """
    name = "array_sum"
    if uses.tapes and (out is not None or axis is not None):
        from kbuild.primitives import backward

        made = [out]
        again = lambda: _kept(made, array_sum(values, made[-1], value_count, axis, stream))  # noqa: E731
        is_done, result = views.taped(name, [values], [out], stream, again, backward.of_sum(value_count, axis))
        if is_done:
            return result
    source = views.given(name, "values", values, stream)
    scalar = views.scalar_of(name, "values", source, reducing.TYPES)
    kept, reduced, found = _axes(name, "value_count", (source,), value_count, axis)
    parts = views.components(source._type.element)
    target = _target(name, source, source.dtype, out, axis, stream)
    if views.on_host((source, target)):
        _on_host().add_up((source,), False, axis, found, target)
    else:
        _Addition((source,), scalar, stream).into(target, [*kept, (parts, scalar.size)], reduced)
    return _answer(target, out, axis, stream)


def array_inner(
    a: Any, b: Any, out: Any = None, count: int | None = None, axis: int | None = None, stream: Any = None
) -> Any:
    """The sum of the products of the elements of two arrays of one shape and type; of vectors the dot products.

    See `array_sum`; the result is a number, or an array of numbers.
    """
    name = "array_inner"
    if uses.tapes and (out is not None or axis is not None):
        made = [out]
        again = lambda: _kept(made, array_inner(a, b, made[-1], count, axis, stream))  # noqa: E731
        is_done, result = views.taped(name, [a, b], [out], stream, again)
        if is_done:
            return result
    first, second = views.given(name, "a", a, stream), views.given(name, "b", b, stream)
    scalar = views.scalar_of(name, "a", first, reducing.TYPES)
    if first.shape != second.shape or first._type.element != second._type.element:
        message = "%s: a is of %s and shape %r, b of %s and shape %r"
        told = (name, first._type.element, first.shape, second._type.element, second.shape)
        raise ValueError(message % told)
    views.same_device(name, a=first, b=second)
    kept, reduced, found = _axes(name, "count", (first, second), count, axis)
    parts = views.components(first._type.element)
    target = _target(name, first, class_of(scalar), out, axis, stream)
    if views.on_host((first, second, target)):
        _on_host().add_up((first, second), True, axis, found, target)
    else:
        products = [*reduced, (parts, scalar.size, scalar.size)]
        _Addition((first, second), scalar, stream).into(target, kept, products)
    return _answer(target, out, axis, stream)


def _kept(made: list[Any], result: Any) -> Any:
    """A result for whose memory the next call, if there is one, shall ask again."""
    made[0] = result
    return result


def _on_host() -> Any:
    from kbuild.primitives import on_host  # few arrays are there

    return on_host


def _axes(
    name: str, what: str, arrays: Sequence[array], count: int | None, axis: int | None
) -> tuple[list[views.Axis], list[views.Axis], int]:
    """The axes that stay, those that are added up, and how many elements are. Raises IndexError, TypeError,
    ValueError.
    """
    first = arrays[0]
    axes: list[views.Axis] = list(zip(first.shape, *[one.strides for one in arrays]))
    if axis is None:
        found = views.count_of(name, what, count, first.size)
        if found == first.size:
            return [], axes, found
        lines = [views.line(name, "an array of which a part is wanted", one) for one in arrays]
        return [], [(found, *[step for _, step in lines])], found
    if not isinstance(axis, int) or not -first.ndim <= axis < first.ndim:
        raise IndexError("%s: there is no axis %r in an array of shape %r" % (name, axis, first.shape))
    axis %= first.ndim
    extent = views.count_of(name, what, count, first.shape[axis])
    return axes[:axis] + axes[axis + 1 :], [(extent, *axes[axis][1:])], extent


def _target(name: str, like: array, dtype: Any, out: Any, axis: int | None, stream: Any) -> array:
    """Where the sums go: the array given, or a new one. Raises TypeError, ValueError."""
    shape: tuple[int, ...] = (1,)
    if axis is not None:
        axis %= like.ndim
        shape = (*like.shape[:axis], 1, *like.shape[axis + 1 :])
    if out is None:
        return views.scratch(shape, dtype, like)
    target = views.given(name, "out", out, stream)
    views.same_device(name, values=like, out=target)
    wanted = abi_type(dtype)
    if target._type.element != wanted:
        raise TypeError("%s: out wants elements of %s, not %s" % (name, wanted, target._type.element))
    if target.shape != shape or not views.is_contiguous(target):
        raise ValueError("%s: out wants the shape %r without gaps, not %r" % (name, shape, target))
    return target


def _answer(target: array, out: Any, axis: int | None, stream: Any) -> Any:
    if out is not None:
        return out
    return target if axis is not None else views.read(target)


def _pairs(axes: Sequence[views.Axis]) -> list[views.Axis]:
    """Axes with the strides of two arrays, merged; of one array they stand twice."""
    return views.merged([(n, strides[0], strides[-1]) for n, *strides in axes])


class _Addition:
    """What one call adds up: the elements of an array, or the products of two."""

    def __init__(self, arrays: Sequence[array], scalar: abi.Scalar, stream: Any) -> None:
        self.arrays, self.scalar, self.stream = arrays, scalar, stream

    def into(self, target: array, kept: list[views.Axis], reduced: list[views.Axis]) -> None:
        """Launches what adds up, one number of the target for each position on the axes that are kept."""
        rows = target.nbytes // self.scalar.size
        if rows == 0:
            return
        numbers = views.plain(target, self.scalar, (rows, self.scalar.size), (1, 0))
        if any(n == 0 for n, *_ in reduced):
            views.clear(numbers, self.stream)
        else:
            self._add_up(_pairs(kept), _pairs(reduced), numbers, (0, 0))

    def _add_up(self, kept: list[views.Axis], reduced: list[views.Axis], out: array, offset: tuple[int, ...]) -> None:
        """In steps that a launch can take; `out` is [rows, 1]."""
        size = self.scalar.size
        if len(reduced) > 2:
            stays = kept + reduced[:-2]
            rows, inner = _product(stays), _product(reduced[:-2])
            between = views.scratch((rows, 1), class_of(self.scalar), out)
            self._add_up(stays, reduced[-2:], between, offset)
            rest = _Addition((between,), self.scalar, self.stream)
            rest._add_up(_pairs([(rows // inner, inner * size)]), _pairs([(inner, size)]), out, (0, 0))
        elif len(kept) > 2:
            rows = _product(kept[-2:])
            for number, (first, second) in enumerate(views.offsets(kept[:-2])):
                part = views.plain(out, self.scalar, (rows, size), (1, 0), offset=number * rows * size)
                self._launch(kept[-2:], reduced, part, (offset[0] + first, offset[1] + second))
        else:
            self._launch(kept, reduced, out, offset)

    def _launch(self, kept: list[views.Axis], reduced: list[views.Axis], out: array, offset: tuple[int, ...]) -> None:
        from kbuild.loader import resolve
        from kbuild.primitives import catalogue

        dtype = class_of(self.scalar)
        by_blocks, by_threads = catalogue.sum_kernels(dtype, len(self.arrays) == 2)
        axes = [(1, 0, 0)] * (2 - len(kept)) + kept + _long_first(reduced)
        a, b = self._operands(axes, offset)
        rows, count, depth = axes[0][0] * axes[1][0], axes[2][0], axes[3][0]
        if _suits_threads(rows, count * depth, axes, self.scalar.size):
            resolve.launch(by_threads, rows, (a, b, out), stream=self.stream)
            return
        chunk, chunks = _chunks(count, rows)
        if chunks == 1:
            views.launch(by_blocks, rows, (a, b, out, chunk), self.stream)
            return
        between = views.scratch((rows, chunks), dtype, out)
        views.launch(by_blocks, rows * chunks, (a, b, between, chunk), self.stream)
        size = self.scalar.size
        again = views.plain(between, self.scalar, (1, 0), (rows, chunks * size), (chunks, size), (1, 0))
        views.launch(catalogue.sum_kernels(dtype, False)[0], rows, (again, again, out, TILE), self.stream)

    def _operands(self, axes: list[views.Axis], offset: tuple[int, ...]) -> list[array]:
        """Both arrays under four axes; a single one stands twice."""
        seen = [
            views.plain(one, self.scalar, *[(axis[0], axis[1 + i]) for axis in axes], offset=offset[i])
            for i, one in enumerate(self.arrays)
        ]
        return [seen[0], seen[-1]]


def _long_first(reduced: list[views.Axis]) -> list[views.Axis]:
    """Two axes, the longer one first: the threads of a block go along it."""
    two = reduced + [(1, 0, 0)] * (2 - len(reduced))
    return sorted(two, key=lambda axis: -axis[0])


def _suits_threads(rows: int, count: int, axes: Sequence[views.Axis], size: int) -> bool:
    """Many short rows, many that lie side by side, or more of them than a launch has blocks."""
    are_side_by_side = axes[1][1] == size and count <= 4096
    return rows > 1 << 22 or (rows >= 2048 and (count <= 64 or are_side_by_side))


def _chunks(count: int, rows: int) -> tuple[int, int]:
    """Elements and number of the chunks of a row; from the shape alone."""
    tiles = -(-count // TILE)
    chunk = -(-tiles // max(1, MOST_CHUNKS // rows)) * TILE
    return chunk, -(-count // chunk)


def _product(axes: Sequence[views.Axis]) -> int:
    product = 1
    for extent, *_ in axes:
        product *= extent
    return product
