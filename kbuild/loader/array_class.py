"""The class of arrays in the memory of a GPU or of the host; array.py makes instances.

An array's address, shape and strides never change, so its descriptor is packed once and a launch recognises a fitting
array by one comparison. What slices and copies arrays is imported when it is used (views.py, copying.py).
"""

from __future__ import annotations

import struct

from . import abi, annotation, interface, kinds
from .layout import ArrayAnnotation, abi_type, field_class
from .values import class_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Shaped:
    """What every kind of array says of its shape."""

    __slots__ = ()

    _type: abi.Array
    shape: tuple[int, ...]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return kinds.count(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements together."""
        return self.size * self._type.element.size

    def __len__(self) -> int:
        return self.shape[0]


class array(Shaped):
    """`array(dtype=T, ndim=n)`, `array(dtype=T, shape=("n", 3))` and `array[T]` are annotations; the other forms make
    an array:

    `array(data, dtype=None, device=None)` copies nested lists, a buffer or an array of another library;
    `array(data, device="cpu", copy=False)` stands over the buffer's own memory; `array(ptr=…, shape=…, dtype=…,
    strides=None, device=None, owner=None)` stands over foreign memory, strides in bytes, and keeps `owner` alive;
    `array(shape=…, dtype=…)` is `zeros`. `memory`: see `empty`. `requires_grad`: it has a gradient, see `grad`.

    Attributes: `ptr`, `shape`, `strides` (bytes), `ndim`, `size`, `nbytes`, `dtype`, `device`.
    """

    __slots__ = (
        "__dict__", "__weakref__", "_descriptor", "_given", "_gradient", "_key", "_owner", "_type", "device", "dtype",
        "ptr", "shape", "strides",
    )  # fmt: skip
    __hash__ = object.__hash__
    _kb_array_ = True
    _ndim: int | None = None

    _descriptor: bytes
    _given: interface.View
    _gradient: Any  # tape.gradients.Root, where the array requires a gradient
    _key: str
    _owner: Any
    _type: abi.Array
    device: Any
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
        copy: bool = True,
        memory: str | None = None,
        requires_grad: bool = False,
    ) -> Any:
        """The annotation, or the array; see the class."""
        ndim = cls._ndim if ndim is None else ndim
        if data is None and ptr is None and (shape is None or annotation.is_stated(shape)):
            return annotation.annotation(cls, dtype, ndim, shape)
        from . import array as making  # which makes instances of this class

        if ptr is not None:
            made = making.over_address(ptr, shape, strides, dtype, device, owner)
        elif data is None:
            made = making.zeros(shape, dtype, device, memory)
        elif copy:
            made = making.from_data(data, dtype, device, memory)
        else:
            made = making.over(data, dtype, device)
        if data is not None and shape is not None:
            made = made.reshape(shape)
        if ndim is not None and made.ndim != ndim:
            raise ValueError("the data has %d dimensions, not %d" % (made.ndim, ndim))
        if requires_grad:
            made.requires_grad = True
        return made

    def __class_getitem__(cls, dtype: Any) -> ArrayAnnotation:
        return ArrayAnnotation(dtype, cls._ndim or 1)

    def __setattr__(self, name: str, value: object) -> None:
        if name in _SETTABLE:
            object.__setattr__(self, name, value)
            return
        if hasattr(array, name):
            if value is getattr(array, name):
                return
            raise AttributeError("an array's %s cannot change: make another array over its memory" % name)
        object.__setattr__(self, name, value)  # a note of the program's own, which is nothing to us

    @property
    def requires_grad(self) -> bool:
        """Whether a `kb.Tape` carries gradients to this array. Views made from now on share it; see `grad`."""
        return hasattr(self, "_gradient")

    @requires_grad.setter
    def requires_grad(self, value: Any) -> None:
        from .tape import gradients

        gradients.require(self, value)

    @property
    def retain_grad(self) -> bool:
        """Whether `grad` is, after a backward pass, with respect to what the array holds after the last step that wrote
        to it; else that is used up, and `grad` is with respect to what it held before the first.
        """
        return hasattr(self, "_gradient") and bool(self._gradient.is_retained)

    @retain_grad.setter
    def retain_grad(self, value: Any) -> None:
        from .tape import gradients

        gradients.retain(self, value)

    @property
    def grad(self) -> Any:
        """The array's gradient, of the same shape, type and place: zeros when it is first asked for.

        None where the array requires none. Can be set, to an array of the same shape, type, strides and device, or to
        None.
        """
        return self._gradient.of(self) if hasattr(self, "_gradient") else None

    @grad.setter
    def grad(self, value: Any) -> None:
        from .tape import gradients

        gradients.assign(self, value)

    @property
    def capacity(self) -> int:
        """Bytes from the array's first element to the end of its last one."""
        if self.size == 0:
            return 0
        steps = [(extent - 1) * stride for extent, stride in zip(self.shape, self.strides)]
        return max(0, sum(steps)) + self._type.element.size

    @property
    def is_alive(self) -> bool:
        """False once `free` was called."""
        return self._key is not _FREED

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie side by side in row-major order."""
        return kinds.is_contiguous(self._view)

    @property
    def readonly(self) -> bool:
        """Whether the memory's owner has lent it for reading only."""
        return self._view.readonly

    @property
    def pinned(self) -> bool:
        """Whether this is memory of the host that GPUs copy from and to while the host goes on."""
        return getattr(self._owner, "place", "") == "pinned"

    @property
    def host(self) -> array:
        """The same bytes as an array of the host, of one in mapped or managed memory. Raises ValueError for others.

        What the GPU has written is there once it has been waited for; on a Jetson nothing is copied at all.
        """
        from . import views

        return views.on_host(self)

    def __repr__(self) -> str:
        if not self.is_alive:
            return "<kb.array, freed>"
        return "<kb.array %s of shape %r on %s>" % (self._type.element, self.shape, self.device)

    def __getitem__(self, index: Any) -> Any:
        """An element's value where all axes are given, which waits for the GPU; else the array at these places.

        Integers, slices and `…`; a slice is a view of the same memory.
        """
        from . import views

        return views.get(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        """Copies an array or host data into these places, or one value into all of them."""
        from . import views

        views.put(self, index, value)

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 1:
            return iter(self.tolist())  # one copy for all
        return iter([self[i] for i in range(self.shape[0])])

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.device.kind != "cuda":
            raise AttributeError("an array on %s has no __cuda_array_interface__" % self.device)
        from . import describing

        described = describing.write(self._alive(), getattr(self._owner, "handle", 0) or 1)
        if getattr(self._owner, "users", None):
            from . import waits

            waits.gather(self._owner)
        return described

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if self.device.kind == "cuda":
            raise AttributeError("an array on %s has no __array_interface__: use numpy()" % self.device)
        from . import describing

        described = describing.write(self._alive(), None)
        del described["stream"]
        if 0 in self.shape:  # an address that is not 0, and strides: NumPy takes no empty array without
            described["data"] = (self.ptr or 1, self.readonly)
            strides, step = [], int(described["typestr"][2:])
            for extent in reversed(described["shape"]):
                strides.append(step)
                step *= extent
            described["strides"] = tuple(reversed(strides))
        return described

    def __dlpack__(self, **options: Any) -> Any:
        """A capsule of the DLPack protocol over this memory; `stream` and the others as the protocol has them."""
        from . import dlpack

        return dlpack.export(self, **options)

    def __dlpack_device__(self) -> tuple[int, int]:
        from . import dlpack

        return dlpack.device_of(self)

    def tolist(self) -> Any:
        """The elements as nested lists; vectors, matrices and structs as their host classes."""
        from . import host  # many programs have no lists

        return host.decode(self.tobytes(), self.shape, self._type.element, self._make)

    def list(self) -> Any:
        """All elements as one flat list."""
        from . import host

        return host.decode(self.tobytes(), (self.size,), self._type.element, self._make)

    def numpy(self) -> Any:
        """As a NumPy array; vectors and matrices add axes, structs are records. Imports NumPy.

        A copy of an array on a GPU; of one on the host the very same memory.
        """
        from . import host

        if self.device.kind == "cuda":
            return host.to_numpy(self.tobytes(), self.shape, self._type.element)
        return host.over_numpy(self, self._type.element)

    def tobytes(self) -> bytearray:
        """A copy of the memory, in row-major order without gaps. Waits for what the GPU is still doing to it."""
        from . import copying

        return copying.download(self)

    def assign(self, data: Any) -> None:
        """Copies host data or another array into this one. See `kb.copy`."""
        from . import copying

        copying.copy(self, data)

    def fill_(self, value: Any) -> None:
        """Writes one value into every element; of vectors and matrices, a number into every component."""
        from . import copying

        copying.fill(self, value)

    def zero_(self) -> None:
        """Makes every byte zero."""
        from . import copying

        copying.fill_bytes(self, bytes(self._type.element.size))

    def to(self, device: Any) -> array:
        """This array where it is on the device already, else a copy there."""
        from . import context, copying

        place = context.get_device(device)
        return self if self.device is place else copying.clone(self, place)

    def view(self, dtype: Any) -> array:
        """The same memory as elements of another type, as many bytes each, or of the last axis without gaps."""
        from . import views

        return views.as_type(self, dtype)

    def reshape(self, *extents: Any, shape: Any = None) -> array:
        """The same memory in another shape; one extent may be -1. Raises ValueError where the elements have gaps."""
        from . import views

        if shape is None:
            shape = extents[0] if len(extents) == 1 else extents
        return views.reshape(self, shape)

    def flatten(self) -> array:
        """The same memory with one axis. Raises ValueError where the elements have gaps."""
        return self.reshape(self.size)

    def transpose(self, axes: Any = None) -> array:
        """The same memory with the axes in another order; reversed unless given."""
        from . import views

        return views.transpose(self, axes)

    def contiguous(self) -> array:
        """This array where it has no gaps, else a copy without."""
        from . import copying

        return self if self.is_contiguous else copying.clone(self)

    def free(self) -> None:
        """Gives this array's hold on its memory back now, rather than with the last reference. Launches refuse it."""
        object.__setattr__(self, "_key", _FREED)
        object.__setattr__(self, "_owner", None)

    @property
    def _view(self) -> interface.View:
        """The array as a view: the one that was given, or made now for an array that has memory of its own."""
        try:
            return self._given
        except AttributeError:
            made = interface.View(self.ptr, self.shape, self.strides, self._type.element)
            _put_given(self, made)
            return made

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
            return kind._exactly(items)  # as they come from memory they are
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
_SETTABLE = frozenset({"requires_grad", "retain_grad", "grad"})


def _to_struct(dtype: Any, type: abi.Struct, items: list[Any]) -> Any:
    """A struct's instance; a plain tuple where the class is not at hand, until the struct around it is made."""
    if abi_type(dtype) != type or isinstance(dtype, abi.Type):
        return tuple(items)
    found = {}
    for field, item in zip(type.fields, items):
        if isinstance(field.type, abi.Struct):
            item = _to_struct(field_class(dtype, field.name), field.type, item)
        found[field.name] = item
    return dtype(**found)


def wrap(view: interface.View, dtype: Any, device: Any, owner: Any) -> array:
    """An array over memory that `owner` keeps. Raises ValueError for what a kernel cannot address."""
    kind = kinds.of_element(view.element, len(view.shape), dtype, device)
    made = assembled(kind, view.ptr, view.shape, view.strides, descriptor_of(view), device, owner)
    _put_given(made, view)
    return made


def assembled(
    kind: kinds.Kind, ptr: int, shape: Any, strides: Any, descriptor: bytes, device: Any, owner: Any
) -> array:
    """An array of parts that fit: see `wrap`, which looks whether they do."""
    made: array = object.__new__(array)
    _put_descriptor(made, descriptor)
    _put_key(made, kind.key)
    _put_owner(made, owner)
    _put_type(made, kind.type)
    _put_device(made, device)
    _put_dtype(made, kind.dtype)
    _put_ptr(made, ptr)
    _put_shape(made, shape)
    _put_strides(made, strides)
    return made


# The slots' own setters: a third of what ten `object.__setattr__` cost.
(
    _put_descriptor, _put_given, put_gradient, _put_key, _put_owner, _put_type, _put_device, _put_dtype, _put_ptr,
    _put_shape, _put_strides,
) = (
    array.__dict__[name].__set__
    for name in (
        "_descriptor", "_given", "_gradient", "_key", "_owner", "_type", "device", "dtype", "ptr", "shape", "strides",
    )
)  # fmt: skip


def descriptor_of(view: interface.View) -> bytes:
    """The descriptor of memory that arrays can lie in. Raises ValueError for other."""
    try:
        return view.descriptor()
    except interface.Mismatch as error:
        raise ValueError("wanted an array of %s, got %s" % (view.element, error)) from None


def hold(owner: Any) -> Any:
    """What keeps an owner's memory: of our own arrays the allocation, which their `free` gives up for them alone."""
    if isinstance(owner, array):
        owner._alive()
        return owner._owner
    return owner


def _from_descriptor(type: abi.Array, descriptor: bytes, device: Any) -> array | None:
    """The array in a struct that was read back; whoever made the struct owns its memory. None for one never set."""
    ptr, *numbers = struct.unpack("<Q%di" % (2 * type.ndim), descriptor)
    view = interface.View(ptr, tuple(numbers[: type.ndim]), tuple(numbers[type.ndim :]), type.element)
    return wrap(view, class_of(type.element), device, None) if ptr else None
