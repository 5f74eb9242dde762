"""Arrays over a part of another array's memory, or over all of it in another shape or type. Nothing is copied."""

from __future__ import annotations

import operator

from . import abi, hosts
from .array_class import array, put_gradient, wrap
from .errors import describe
from .interface import View, contiguous_strides, inner_shape
from .kinds import count
from .layout import abi_type
from .values import Mat, Vec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def get(whole: array, index: Any) -> Any:
    """`whole[index]`: a value, or a view; with arrays of indices an indexedarray."""
    given = index if isinstance(index, tuple) else (index,)
    if any(isinstance(item, array) for item in given):
        return _seen_through(whole, given)
    part = at(whole, index)
    if part.shape:
        return _sharing(whole, wrap(part, whole.dtype, whole.device, whole._owner))
    return one_element(whole, part).tolist()[0]


def _seen_through(whole: array, given: tuple[Any, ...]) -> Any:
    """The view that the other indices give, seen through the arrays of indices. Raises TypeError, ValueError."""
    from .indexed import indexedarray

    if any(not isinstance(item, (array, slice)) for item in given):
        raise TypeError("beside arrays of indices stand slices alone, not %s" % describe(given))
    part = get(whole, tuple([slice(None) if isinstance(item, array) else item for item in given]))
    return indexedarray(part, [item if isinstance(item, array) else None for item in given])


def put(whole: array, index: Any, value: Any) -> None:
    """`whole[index] = value`."""
    from . import copying

    part = at(whole, index)
    target = wrap(part, whole.dtype, whole.device, whole._owner) if part.shape else one_element(whole, part)
    if part.shape and _is_many(value, part.element):
        copying.copy(target, value)
    else:
        copying.fill(target, value)


def _is_many(value: Any, element: abi.Type) -> bool:
    """Whether a value is one for each place, rather than one for all of them."""
    from . import foreign

    if (isinstance(value, list) and not isinstance(value, (Vec, Mat))) or foreign.is_array(value):
        return True
    try:
        shape = memoryview(value).shape
    except (TypeError, ValueError, BufferError):
        return False
    return bool(shape) and shape != inner_shape(element)  # a number of NumPy's is a buffer without axes


def one_element(whole: array, part: View) -> array:
    """An element as an array of one."""
    view = View(part.ptr, (1,), (part.element.size,), part.element)
    view.readonly = part.readonly
    return wrap(view, whole.dtype, whole.device, whole._owner)


def at(whole: array, index: Any) -> View:
    """The place of `whole[index]`; without axes for a single element. Raises IndexError, TypeError."""
    view = whole._alive()
    given = list(index) if isinstance(index, tuple) else [index]
    dots = [i for i, item in enumerate(given) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index has one … at most")
    if dots:
        missing = max(0, whole.ndim - (len(given) - 1))
        given[dots[0] : dots[0] + 1] = [slice(None)] * missing
    if len(given) > whole.ndim:
        raise IndexError("%d indices for an array of %d dimensions" % (len(given), whole.ndim))
    given += [slice(None)] * (whole.ndim - len(given))
    offset, shape, strides = 0, [], []
    for axis, (item, extent, stride) in enumerate(zip(given, view.shape, view.strides)):
        if isinstance(item, slice):
            start, stop, step = item.indices(extent)
            left = len(range(start, stop, step))
            offset += start * stride if left else 0
            shape.append(left)
            strides.append(step * stride if left > 1 else stride)
        else:
            offset += _position(item, axis, extent) * stride
    made = View(view.ptr + offset if view.ptr else 0, tuple(shape), tuple(strides), view.element)
    made.readonly = view.readonly
    return made


def _position(item: Any, axis: int, extent: int) -> int:
    try:
        if isinstance(item, bool):
            raise TypeError
        number = operator.index(item)
    except TypeError:
        raise TypeError(
            "an array is indexed by integers, slices, … and arrays of indices, not by %s" % describe(item)
        ) from None
    if not -extent <= number < extent:
        raise IndexError("index %d is outside axis %d of %d elements" % (number, axis, extent))
    return number + extent if number < 0 else number


def reshape(whole: array, shape: Any) -> array:
    """The same memory in another shape."""
    view = whole._alive()
    if not whole.is_contiguous:
        raise ValueError("an array with gaps has one shape only: reshape its contiguous() copy; got %r" % whole)
    given = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
    try:
        extents = [operator.index(n) for n in given]
    except TypeError:
        raise TypeError("a shape is an integer or a tuple of integers, not %s" % describe(shape)) from None
    known = 1
    for extent in extents:
        known *= extent if extent != -1 else 1
    if extents.count(-1) == 1 and known:
        extents[extents.index(-1)] = whole.size // known
    if not 1 <= len(extents) <= abi.MAX_ARRAY_DIMENSIONS or min(extents) < 0 or count(extents) != whole.size:
        raise ValueError("%d elements cannot have the shape %r" % (whole.size, given))
    return _like(
        whole, View(view.ptr, tuple(extents), contiguous_strides(tuple(extents), view.element.size), view.element)
    )


def transpose(whole: array, axes: Any = None) -> array:
    """The same memory with the axes in another order."""
    view = whole._alive()
    order = tuple(reversed(range(whole.ndim))) if axes is None else tuple(axes)
    if sorted(order) != list(range(whole.ndim)):
        raise ValueError("axes wants each of 0 to %d once, not %r" % (whole.ndim - 1, axes))
    shape, strides = [view.shape[i] for i in order], [view.strides[i] for i in order]
    return _like(whole, View(view.ptr, tuple(shape), tuple(strides), view.element))


def as_type(whole: array, dtype: Any) -> array:
    """The same memory as elements of another type."""
    view, element = whole._alive(), abi_type(dtype)
    old = view.element.size
    shape, strides = list(view.shape), list(view.strides)
    if element.size != old:
        if strides[-1] != old or shape[-1] * old % element.size:
            message = "%r cannot be seen as %s: its last axis has gaps, or is no whole number of %d bytes"
            raise ValueError(message % (whole, element, element.size))
        shape[-1], strides[-1] = shape[-1] * old // element.size, element.size
    return _like(whole, View(view.ptr, tuple(shape), tuple(strides), element), dtype)


def on_host(whole: array) -> array:
    """The bytes of an array in mapped or managed memory, as the host sees them."""

    view = whole._alive()
    if whole.device.kind != "cuda":
        return whole
    memory = whole._owner
    start = getattr(memory, "host_ptr", 0)
    if not start:
        raise ValueError(
            "the host does not reach this array's memory: make it with memory='mapped', or copy it; got %r" % whole
        )
    seen = View(start + view.ptr - memory.ptr, view.shape, view.strides, view.element)
    return wrap(seen, whole.dtype, hosts.HOSTS["cpu"], memory)


def _like(whole: array, view: View, dtype: Any = None) -> array:
    view.readonly = whole._view.readonly
    return _sharing(whole, wrap(view, whole.dtype if dtype is None else dtype, whole.device, whole._owner))


def _sharing(whole: array, made: array) -> array:
    """A view, whose gradient is the same view of the whole array's gradient where that requires one."""
    try:
        gradient = whole._gradient
    except AttributeError:
        return made
    if gradient.fits(made._type.element):
        put_gradient(made, gradient)
    return made
