"""Arrays as these kernels take them: as plain numbers, with the axes that a kernel wants."""

from __future__ import annotations

import operator

from kbuild.loader import abi, copying, interface, ordering, waits
from kbuild.loader.array import empty
from kbuild.loader.array_class import array, wrap
from kbuild.loader.errors import describe
from kbuild.loader.foreign import asarray
from kbuild.loader.values import class_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from kbuild.loader.types import Kernel

    Axis = tuple[int, ...]  # its extent, then its stride in bytes in each of the arrays

MOST = 2**31 - 1  # elements that a kernel counts


def given(function: str, name: str, value: Any, stream: Any) -> array:
    """An argument as an array of ours, on a GPU or the host, for use on a stream. Raises TypeError that names it."""
    if isinstance(value, array):
        return value
    try:
        found = asarray(value)
    except TypeError as error:
        raise TypeError("%s: %s: %s" % (function, name, error)) from None
    handle = ordering.stream_handle(stream)
    if handle > 1:  # `asarray` has let the default stream wait for whoever writes it
        waits.wait_for_stream(found.device, 0, handle)
    return found


def on_host(arrays: Sequence[array]) -> bool:
    """The arrays are in host memory, where these functions compute in Python: no kernel is simulated for them."""
    return all(getattr(one.device, "kind", "cuda") in ("cpu", "sim") for one in arrays)


def same_device(function: str, **arrays: array) -> None:
    """Raises ValueError unless the arrays are on one device."""
    (first, one), *others = arrays.items()
    for name, other in others:
        if other.device != one.device:
            message = "%s: %s is on %s, but %s is on %s"
            raise ValueError(message % (function, name, other.device, first, one.device))


def scalar_of(function: str, name: str, given: array, wanted: Sequence[str]) -> abi.Scalar:
    """The type of an array's numbers, which must be one of these. Raises TypeError."""
    scalar = interface.scalar_of(given._type.element)
    if scalar is None or scalar.spelling not in wanted:
        message = "%s: %s wants numbers of type %s, not %s"
        raise TypeError(message % (function, name, ", ".join(wanted), given._type.element))
    return scalar


def count_of(function: str, name: str, value: Any, most: int) -> int:
    """A number of elements; None is all of them. Raises TypeError, ValueError."""
    try:
        count = most if value is None else operator.index(value)
    except TypeError:
        raise TypeError("%s: %s wants a whole number, not %s" % (function, name, describe(value))) from None
    if not 0 <= count <= most:
        raise ValueError("%s: %s is %d, but there are %d elements" % (function, name, count, most))
    if count > MOST:
        raise ValueError("%s: %d elements are more than 2^31 - 1" % (function, count))
    return count


def is_contiguous(given: array) -> bool:
    """Row-major without gaps."""
    wanted = interface.contiguous_strides(given.shape, given._type.element.size)
    return all(n == 1 or has == want for n, has, want in zip(given.shape, given.strides, wanted))


def taped(
    function: str, reads: Sequence[Any], writes: Sequence[Any], stream: Any, again: Callable[[], Any], back: Any = None
) -> tuple[bool, Any]:
    """See `loader.tape.watching.function`; asked where `uses.tapes` is not empty."""
    from kbuild.loader.tape import watching

    return watching.function("kb." + function, list(reads), list(writes), stream, again, back)


def line(function: str, name: str, given: array) -> tuple[int, int]:
    """(extent, stride in bytes) of an array as one line of elements. Raises ValueError for gaps between its rows."""
    if given.ndim == 1:
        return given.shape[0], given.strides[0]
    if not is_contiguous(given):
        message = "%s: %s of shape %r has gaps: make a copy without any (kb.clone)"
        raise ValueError(message % (function, name, given.shape))
    return given.size, given._type.element.size


def plain(given: array, scalar: abi.Scalar, *axes: tuple[int, int], offset: int = 0) -> array:
    """The numbers of an array under other axes, (extent, stride in bytes) each, from `offset` bytes on."""
    shape = tuple([n for n, _ in axes])
    strides = tuple([stride if n > 1 else 0 for n, stride in axes])  # of one element no stride is too large
    view = interface.View(given._alive().ptr + offset, shape, strides, scalar)
    return wrap(view, class_of(scalar), given.device, given._owner)


def components(element: abi.Type) -> int:
    """How many numbers an element has."""
    scalar = interface.scalar_of(element)
    assert scalar is not None
    return element.size // scalar.size


def merged(axes: Sequence[Axis]) -> list[Axis]:
    """The same elements in the same order with as few axes as can be; of at most 2^31 - 1 elements each."""
    found: list[Axis] = []
    for extent, *strides in axes:
        if extent == 1:
            continue
        if found:
            outer, *steps = found[-1]
            if all(step == extent * stride for step, stride in zip(steps, strides)) and outer * extent <= MOST:
                found[-1] = (outer * extent, *strides)
                continue
        found.append((extent, *strides))
    return found


def scratch(shape: Any, dtype: Any, like: array) -> array:
    """Memory for a while, on an array's device. Its content is undefined."""
    return empty(shape, dtype, like.device)


def launch(kernel: Kernel, grid: Any, args: Sequence[Any], stream: Any) -> None:
    """Launches a kernel of whole blocks."""
    from kbuild.loader import resolve

    resolve.launch(kernel, grid=grid, inputs=tuple(args), stream=stream)


def offsets(axes: Sequence[Axis]) -> list[tuple[int, ...]]:
    """The offsets in bytes, one an array, of every position over these axes, in row-major order."""
    found: list[tuple[int, ...]] = [()]
    for extent, *strides in axes:
        found = [
            tuple([start + i * stride for start, stride in zip(at or (0,) * len(strides), strides)])
            for at in found
            for i in range(extent)
        ]
    return found


def clear(out: array, stream: Any) -> None:
    """Sets an array to zero, in the order of a stream."""
    copying.fill_bytes(out, bytes(out.nbytes // max(out.size, 1)), stream)


def read(out: array) -> Any:
    """The one element of an array; waits for what was launched, on whichever stream."""
    return out.tolist()[0]
