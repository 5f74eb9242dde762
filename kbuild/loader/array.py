"""`kb.array`: an annotation, and an array in device memory.

Without data, address or shape it is the annotation `array(dtype=T, ndim=n)`; so is `array2d[T]`. Otherwise it is an
array on a GPU. An array's address, shape and strides never change, so its descriptor is packed once and a launch
recognises a fitting array by one comparison.
"""

from __future__ import annotations

import operator
import struct

from . import abi, host, interface
from .layout import ArrayAnnotation, abi_type
from .pack import array_key
from .values import class_of, describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .context import Device

__all__ = (
    "array",
    "array1d",
    "array2d",
    "array3d",
    "array4d",
    "asarray",
    "copy",
    "empty",
    "full",
    "ones",
    "to_host",
    "zeros",
)


class array:
    """`array(dtype=T, ndim=n)` and `array[T]` are annotations; the other forms make an array on a GPU:

    `array(data, dtype=None, device=None)` copies nested lists, a buffer or a NumPy array; `array(ptr=…, shape=…,
    dtype=…, strides=None, owner=None)` stands over foreign device memory, strides in bytes, and keeps `owner` alive.

    Attributes: `ptr`, `shape`, `strides` (bytes), `ndim`, `size`, `nbytes`, `dtype`, `device`.
    """

    __slots__ = ("_descriptor", "_key", "_owner", "_type", "_view", "device", "dtype", "ptr", "shape", "strides")
    _kb_array_ = True
    _ndim: int | None = None

    _descriptor: bytes
    _key: str
    _owner: Any
    _type: abi.Array
    _view: interface.View
    device: Device
    dtype: Any
    ptr: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def __new__(
        cls,
        data: Any = None,
        dtype: Any = None,
        shape: Any = None,
        ptr: int | None = None,
        strides: Any = None,
        device: Any = None,
        owner: Any = None,
        ndim: int | None = None,
    ) -> Any:
        """The annotation, or the array; see the class."""
        ndim = cls._ndim if ndim is None else ndim
        if data is None and ptr is None and shape is None:
            return _annotation(cls, dtype, ndim)
        if ptr is not None:
            made = _foreign(ptr, shape, strides, dtype, device, owner)
        elif data is None:
            made = zeros(shape, dtype, device)
        else:
            made = _from_host(data, dtype, device)
        if ndim is not None and made.ndim != ndim:
            raise ValueError("the data has %d dimensions, not %d" % (made.ndim, ndim))
        return made

    def __class_getitem__(cls, dtype: Any) -> ArrayAnnotation:
        return ArrayAnnotation(dtype, cls._ndim or 1)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("an array's %s cannot change: make another array over its memory" % name)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        size = 1
        for extent in self.shape:
            size *= extent
        return size

    @property
    def nbytes(self) -> int:
        """Bytes of all elements together."""
        return self.size * self._type.element.size

    @property
    def is_alive(self) -> bool:
        """False once `free` was called."""
        return self._key is not _FREED

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        if not self.is_alive:
            return "<kb.array, freed>"
        return "<kb.array %s of shape %r on %s>" % (self._type.element, self.shape, self.device)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return interface.write(self._alive())

    def tolist(self) -> Any:
        """The elements as nested lists; vectors, matrices and structs as their host classes."""
        return host.decode(self.tobytes(), self.shape, self._type.element, self._make)

    def numpy(self) -> Any:
        """A copy as a NumPy array; vectors and matrices add axes, structs are records. Imports NumPy."""
        return host.to_numpy(self.tobytes(), self.shape, self._type.element)

    def tobytes(self) -> bytearray:
        """A copy of the memory, in row-major order without gaps."""
        from . import memory

        return memory.download(self.device, self._alive())

    def assign(self, data: Any) -> None:
        """Copies host data or another array into this one. See `kb.copy`."""
        copy(self, data)

    def free(self) -> None:
        """Gives this array's hold on its memory back now, rather than with the last reference. Launches refuse it."""
        object.__setattr__(self, "_key", _FREED)
        object.__setattr__(self, "_owner", None)

    def _alive(self) -> interface.View:
        if not self.is_alive:
            raise ValueError("the array has been freed")
        return self._view

    def _make(self, type: abi.Type, items: Any) -> Any:
        """A vector, matrix, struct or array of the host from an element's parts."""
        if isinstance(type, abi.IndexedArray):
            from .indexed import _from_descriptor as indexed_from_descriptor

            return indexed_from_descriptor(type, items, self.device)
        if isinstance(type, abi.Array):
            return _from_descriptor(type, items, self.device)
        if isinstance(type, abi.Struct):
            return _to_struct(self.dtype, type, items)
        if isinstance(type, abi.Vector):
            kind: Any = class_of(type)
            return tuple.__new__(kind, items)  # as they come from memory they are exact
        return class_of(type)(*items)  # type: ignore[operator]


class array1d(array):
    """`array` with one dimension."""

    __slots__ = ()
    _ndim = 1


class array2d(array):
    """`array` with two dimensions."""

    __slots__ = ()
    _ndim = 2


class array3d(array):
    """`array` with three dimensions."""

    __slots__ = ()
    _ndim = 3


class array4d(array):
    """`array` with four dimensions."""

    __slots__ = ()
    _ndim = 4


_FREED = "freed"


def _to_struct(dtype: Any, type: abi.Struct, items: list[Any]) -> Any:
    """A struct's instance; a plain tuple where the class is not at hand (a struct inside another)."""
    if abi_type(dtype) != type or isinstance(dtype, abi.Type):
        return tuple(items)
    return dtype(**{field.name: item for field, item in zip(type.fields, items)})


def _annotation(cls: Any, dtype: Any, ndim: int | None) -> ArrayAnnotation:
    if dtype is None:
        raise TypeError("%s needs data, or dtype=… as an annotation: %s(dtype=float)" % (cls.__name__, cls.__name__))
    return ArrayAnnotation(dtype, 1 if ndim is None else ndim)


def _wrap(view: interface.View, dtype: Any, device: Device, owner: Any) -> array:
    """An array over memory that `owner` keeps. Raises ValueError for what a kernel cannot address."""
    type_ = abi.Array(view.element, len(view.shape))
    host_class = class_of(view.element)  # `float` becomes float32; a struct has none but the class that was given
    made: array = object.__new__(array)
    for name, value in (
        ("_descriptor", _descriptor_of(view)),
        ("_key", array_key(type_, device.ordinal)),
        ("_owner", owner),
        ("_type", type_),
        ("_view", view),
        ("device", device),
        ("dtype", dtype if isinstance(host_class, abi.Type) else host_class),
        ("ptr", view.ptr),
        ("shape", view.shape),
        ("strides", view.strides),
    ):
        object.__setattr__(made, name, value)
    return made


def _descriptor_of(view: interface.View) -> bytes:
    try:
        return view.descriptor()
    except interface.Mismatch as error:
        raise ValueError("wanted an array of %s, got %s" % (view.element, error)) from None


def _extents(shape: Any) -> tuple[int, ...]:
    given = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
    try:
        extents = tuple([operator.index(n) for n in given])
    except TypeError:
        raise TypeError("a shape is an integer or a tuple of integers, not %s" % describe(shape)) from None
    if not 1 <= len(extents) <= abi.MAX_ARRAY_DIMENSIONS:
        raise ValueError("an array has 1 to %d dimensions, not %d" % (abi.MAX_ARRAY_DIMENSIONS, len(extents)))
    if min(extents) < 0:
        raise ValueError("a shape cannot be negative: %r" % (extents,))
    return extents


def empty(shape: Any, dtype: Any = float, device: Any = None) -> array:
    """An array of undefined content. `shape`: number or tuple of elements along each axis; raises DriverError."""
    from . import context, memory

    element, extents, gpu = abi_type(dtype), _extents(shape), context.get_device(device)
    view = interface.View(0, extents, interface.contiguous_strides(extents, element.size), element)
    _descriptor_of(view)  # refuses what a kernel cannot address before any memory is taken
    size = element.size
    for extent in extents:
        size *= extent
    allocation = memory.Allocation(gpu, size)
    view.ptr = allocation.ptr
    return _wrap(view, dtype, gpu, allocation)


def zeros(shape: Any, dtype: Any = float, device: Any = None) -> array:
    """An array of zeros (every byte zero)."""
    from . import memory

    made = empty(shape, dtype, device)
    memory.fill(made.device, made.ptr, 0, made.nbytes)
    return made


def full(shape: Any, value: Any, dtype: Any = None, device: Any = None) -> array:
    """An array with `value` in every element; dtype as the value's, unless given."""
    from . import memory

    data, _, dtype = host.encode([value], dtype)
    made = empty(shape, dtype, device)
    memory.upload(made.device, made._view, bytes(data) * made.size)
    return made


def ones(shape: Any, dtype: Any = float, device: Any = None) -> array:
    """An array of ones; vectors and matrices have ones in every component."""
    kind = class_of(abi_type(dtype))
    if isinstance(kind, abi.Type):
        raise TypeError("there is no one of type %s: use kb.full" % kind)
    return full(shape, kind(1), dtype, device)  # type: ignore[operator]


def _from_host(data: Any, dtype: Any, device: Any) -> array:
    from . import memory

    if hasattr(data, "__cuda_array_interface__"):
        source = asarray(data, dtype)
        made = empty(source.shape, source.dtype, source.device if device is None else device)
        copy(made, source)
        return made
    encoded, shape, dtype = host.encode(data, dtype)
    made = empty(shape, dtype, device)
    memory.upload(made.device, made._view, encoded)
    return made


def _foreign(ptr: int, shape: Any, strides: Any, dtype: Any, device: Any, owner: Any) -> array:
    from . import context

    if shape is None or dtype is None:
        raise TypeError("array(ptr=…) needs shape=… and dtype=… too")
    element, extents = abi_type(dtype), _extents(shape)
    steps = interface.contiguous_strides(extents, element.size) if strides is None else _steps(strides, len(extents))
    view = interface.View(_address(ptr), extents, steps, element)
    try:
        view.check_address()
    except interface.Mismatch as error:
        raise ValueError("wanted memory of the GPU, got %s" % error) from None
    _descriptor_of(view)
    gpu = context.device_of(view.ptr) if device is None and view.ptr else context.get_device(device)
    return _wrap(view, dtype, gpu, _hold(owner))


def _address(ptr: Any) -> int:
    try:
        return operator.index(ptr)
    except TypeError:
        raise TypeError("ptr wants an address in GPU memory, not %s" % describe(ptr)) from None


def _steps(strides: Any, count: int) -> tuple[int, ...]:
    try:
        steps = tuple([operator.index(step) for step in strides])
    except TypeError:
        steps = ()
    if len(steps) != count:
        raise ValueError("strides wants %d numbers of bytes, one an axis, not %r" % (count, strides))
    return steps


def _hold(owner: Any) -> Any:
    """What keeps an owner's memory: of our own arrays the allocation, which their `free` gives up for them alone."""
    if isinstance(owner, array):
        owner._alive()
        return owner._owner
    return owner


def _from_descriptor(type: abi.Array, descriptor: bytes, device: Device) -> array | None:
    """The array in a struct that was read back; whoever made the struct owns its memory. None for one never set."""
    ptr, *numbers = struct.unpack("<Q%di" % (2 * type.ndim), descriptor)
    view = interface.View(ptr, tuple(numbers[: type.ndim]), tuple(numbers[type.ndim :]), type.element)
    return _wrap(view, class_of(type.element), device, None) if ptr else None


def asarray(data: Any, dtype: Any = None) -> array:
    """An array over the device memory of another library's array (`__cuda_array_interface__`), kept alive, not copied.

    With a vector or matrix as `dtype` the last axes are its components.
    """
    from . import context

    if isinstance(data, array):
        return data
    try:
        described = data.__cuda_array_interface__
    except AttributeError:
        raise TypeError("wanted an array in GPU memory, got %s: copy it with kb.array(…)" % describe(data)) from None
    try:
        dtype = class_of(interface.element_of(described)) if dtype is None else dtype
        view = interface.read(described, abi_type(dtype))
    except interface.Mismatch as error:
        wanted = "" if dtype is None else " of %s" % abi_type(dtype)
        raise TypeError("wanted an array%s, got %s" % (wanted, error)) from None
    gpu = context.device_of(view.ptr) if view.ptr else context.get_device()
    if view.stream is not None and view.stream > 1:  # 1 is the default stream, on which copies run
        context.wait_for_stream(gpu, view.stream, 0)
    return _wrap(view, dtype, gpu, data)


def copy(dest: Any, src: Any) -> None:
    """Copies `src` (an array on the same or another GPU, or host data) into the array `dest` of the same shape."""
    from . import memory

    dest = asarray(dest)
    to = dest._alive()
    if hasattr(src, "__cuda_array_interface__"):
        source = src if isinstance(src, array) else asarray(src, dest.dtype)
        _check_same(dest, source.shape, source._type.element)
        memory.copy(dest.device, to, source._alive())
        return
    encoded, shape, _ = host.encode(src, dest.dtype)
    _check_same(dest, shape, dest._type.element)
    memory.upload(dest.device, to, encoded)


def _check_same(dest: array, shape: tuple[int, ...], element: abi.Type) -> None:
    if dest.shape != shape or dest._type.element != element:
        message = "cannot copy %s of shape %r into %s of shape %r"
        raise ValueError(message % (element, shape, dest._type.element, dest.shape))


def to_host(data: Any) -> Any:
    """Nested lists of an array of this or another library."""
    return asarray(data).tolist()
