"""What makes arrays: `kb.empty`, `kb.zeros`, `kb.full` and their like, and the forms of `kb.array(…)`.

Without data, address or shape `kb.array` is the annotation `array(dtype=T, ndim=n)`, and so is `array2d[T]`
(annotation.py).
"""

from __future__ import annotations

import operator

from . import abi, interface, kinds
from .array_class import array as array  # the class is part of this module's face
from .array_class import array1d as array1d
from .array_class import array2d as array2d
from .array_class import array3d as array3d
from .array_class import array4d as array4d
from .array_class import assembled, descriptor_of, hold, wrap
from .errors import describe
from .layout import abi_type
from .values import class_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = (
    "array",
    "array1d",
    "array2d",
    "array3d",
    "array4d",
    "empty",
    "empty_like",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
)


def _extents(shape: Any) -> tuple[int, ...]:
    given = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
    try:
        extents = tuple(map(operator.index, given))
    except TypeError:
        raise TypeError("a shape is an integer or a tuple of integers, not %s" % describe(shape)) from None
    if not 1 <= len(extents) <= abi.MAX_ARRAY_DIMENSIONS:
        raise ValueError("an array has 1 to %d dimensions, not %d" % (abi.MAX_ARRAY_DIMENSIONS, len(extents)))
    if min(extents) < 0:
        raise ValueError("a shape cannot be negative: %r" % (extents,))
    return extents


def empty(
    shape: Any, dtype: Any = float, device: Any = None, memory: str | None = None, requires_grad: bool = False
) -> array:
    """An array of undefined content. `shape`: number or tuple of elements along each axis; raises DriverError.

    `memory` is what is usual on the device, or `pinned` (on the host: GPUs copy from and to it while the host goes
    on), `mapped` (on a GPU: the host reaches it too, through `array.host`; no copy on a Jetson) or `managed` (on a GPU:
    moves to and fro; refused where the GPU crashes a host that touches it). `requires_grad`: see `array.grad`.
    """
    made = _made(shape, dtype, device, memory, False)
    if requires_grad:
        made.requires_grad = True
    return made


_context: Any = None
_allocation: Any = None


def _first_device(device: Any) -> Any:
    """The device of a program's first array. What talks to the driver is imported here: annotations need none of it."""
    global _context, _allocation
    from . import context

    place = context.get_device(device)  # while the driver starts, another thread imports what comes next (ahead.py)
    from .memory import allocation

    _context, _allocation = context, allocation
    return place


def _made(shape: Any, dtype: Any, device: Any, memory: str | None, is_zero: bool) -> array:
    extents = (shape,) if type(shape) is int and shape >= 0 else _extents(shape)
    if _allocation is None:
        abi_type(dtype)  # a wrong type is said before the driver is opened
        place = _first_device(device)
    else:
        place = _context.get_device(device)
    kind = kinds.of(dtype, len(extents), place)
    strides, size = kinds.packed(extents, kind.element.size)
    if size >= _LARGE:
        descriptor_of(interface.View(0, extents, strides, kind.element))  # refuses what a kernel cannot address
    held = _allocation.allocate(place, size, memory, is_zero)
    if not 0 < size < _LARGE:
        return wrap(interface.View(held.ptr, extents, strides, kind.element), dtype, place, held)
    ptr = held.ptr  # aligned for every type, and no extent and no stride is larger than the size
    return assembled(kind, ptr, extents, strides, kind.pack(ptr, *extents, *strides), place, held)


_LARGE = 1 << 31  # bytes


def zeros(
    shape: Any, dtype: Any = float, device: Any = None, memory: str | None = None, requires_grad: bool = False
) -> array:
    """An array of zeros (every byte zero). See `empty`."""
    made = _made(shape, dtype, device, memory, True)
    if not made._owner.is_zero:
        _filled_by(made, memory).zero_()
    if requires_grad:
        made.requires_grad = True
    return made


def full(
    shape: Any,
    value: Any,
    dtype: Any = None,
    device: Any = None,
    memory: str | None = None,
    requires_grad: bool = False,
) -> array:
    """An array with `value` in every element; dtype as the value's, unless given. See `empty`."""
    if dtype is None:
        from . import host

        dtype = host.encode([value], None)[2]
    made = empty(shape, dtype, device, memory)
    _filled_by(made, memory).fill_(value)
    if requires_grad:
        made.requires_grad = True
    return made


def _filled_by(made: array, memory: str | None) -> array:
    """Fresh memory that the host reaches is filled by the host, which then need not wait to go on with it."""
    return made.host if memory in ("mapped", "managed") else made


def ones(
    shape: Any, dtype: Any = float, device: Any = None, memory: str | None = None, requires_grad: bool = False
) -> array:
    """An array of ones; vectors and matrices have ones in every component. See `empty`."""
    return full(shape, one_of(dtype), dtype, device, memory, requires_grad)


def one_of(dtype: Any) -> Any:
    """One, or a vector or matrix of ones. Raises TypeError."""
    kind: Any = class_of(abi_type(dtype))
    if isinstance(kind, abi.Type):
        raise TypeError("there is no one of type %s: use kb.full" % kind)
    return kind(*(1,) * getattr(kind, "_length_", 1))


def empty_like(src: Any, device: Any = None, memory: str | None = None, requires_grad: bool | None = None) -> array:
    """An array of the shape, the type and the device of another, of undefined content; without its gaps.

    It requires a gradient where the other one does, unless `requires_grad` says so.
    """
    return empty(src.shape, src.dtype, src.device if device is None else device, memory, _asked(src, requires_grad))


def zeros_like(src: Any, device: Any = None, memory: str | None = None, requires_grad: bool | None = None) -> array:
    """Zeros of the shape, the type and the device of another array. See `empty_like`."""
    return zeros(src.shape, src.dtype, src.device if device is None else device, memory, _asked(src, requires_grad))


def ones_like(src: Any, device: Any = None, memory: str | None = None, requires_grad: bool | None = None) -> array:
    """Ones of the shape, the type and the device of another array. See `empty_like`."""
    return ones(src.shape, src.dtype, src.device if device is None else device, memory, _asked(src, requires_grad))


def full_like(
    src: Any, value: Any, device: Any = None, memory: str | None = None, requires_grad: bool | None = None
) -> array:
    """An array of the shape, the type and the device of another with `value` in every element. See `empty_like`."""
    place = src.device if device is None else device
    return full(src.shape, value, src.dtype, place, memory, _asked(src, requires_grad))


def _asked(src: Any, requires_grad: bool | None) -> bool:
    """Whether an array like another one requires a gradient."""
    return bool(getattr(src, "requires_grad", False)) if requires_grad is None else requires_grad


def from_data(data: Any, dtype: Any, device: Any, memory: str | None) -> array:
    """A copy of host data, or of an array of ours or of another library."""
    if not isinstance(data, (list, tuple)):
        from . import foreign

        if foreign.is_array(data):
            return _copy_of(foreign.asarray(data, dtype), isinstance(data, array), device, memory)
    from . import host

    encoded, shape, dtype = host.encode(data, dtype)
    made = empty(shape, dtype, device, memory)
    from . import copying  # not before the driver has been opened: see `_first_device`

    copying.upload(made, encoded)
    return made


def _copy_of(source: array, is_ours: bool, device: Any, memory: str | None) -> array:
    """A copy of an array where it is, but for other libraries' arrays on the host."""
    from . import copying

    if device is None and (source.device.kind == "cuda" or is_ours):
        device = source.device
    made = empty(source.shape, source.dtype, device, memory)
    copying.copy(made, source)
    return made


def over(data: Any, dtype: Any, device: Any) -> array:
    """An array over memory that is there already; no copy. Raises TypeError, ValueError."""
    from . import context, foreign

    made = foreign.asarray(data, dtype)
    if device is not None:
        place = context.get_device(device)
        if made.device.kind == place.kind == "cuda" or made.device is place:
            pass
        elif "cuda" in (made.device.kind, place.kind):
            raise ValueError("the data is on %s: without a copy there is no array of it on %s" % (made.device, place))
        else:
            made = wrap(made._view, made.dtype, place, made._owner)
    return made


def over_address(ptr: int, shape: Any, strides: Any, dtype: Any, device: Any, owner: Any) -> array:
    """An array over memory of which the address is known. Raises TypeError, ValueError, DriverError."""
    from . import context, places

    if shape is None or dtype is None:
        raise TypeError("array(ptr=…) needs shape=… and dtype=… too")
    element, extents = abi_type(dtype), _extents(shape)
    steps = interface.contiguous_strides(extents, element.size) if strides is None else _steps(strides, len(extents))
    view = interface.View(_address(ptr), extents, steps, element)
    try:
        view.check_address()
    except interface.Mismatch as error:
        raise ValueError("wanted the address of memory, got %s" % error) from None
    descriptor_of(view)
    place = places.device_at(view.ptr) if device is None and view.ptr else context.get_device(device)
    return wrap(view, dtype, place, hold(owner))


def _address(ptr: Any) -> int:
    try:
        return operator.index(ptr)
    except TypeError:
        raise TypeError("ptr wants an address, not %s" % describe(ptr)) from None


def _steps(strides: Any, count: int) -> tuple[int, ...]:
    try:
        steps = tuple([operator.index(step) for step in strides])
    except TypeError:
        steps = ()
    if len(steps) != count:
        raise ValueError("strides wants %d numbers of bytes, one an axis, not %r" % (count, strides))
    return steps
