"""Warp's arrays: annotations, constructors, copies, with Warp's arguments over kbuild's arrays.

Arrays of whole numbers may ask for a gradient as in Warp: it stays zero.
"""

from __future__ import annotations

import sys

from kbuild.loader import array as arrays
from kbuild.loader import context, copying, foreign, indexed
from kbuild.loader.array_class import wrap
from kbuild.loader.layout import ArrayAnnotation, IndexedAnnotation, abi_type
from kbuild.loader.values import class_of

from .data import composite_of, prepared
from .devices import default

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Annotation(ArrayAnnotation):
    """`wp.array(dtype=T, ndim=n)` in a signature. Programs hang attributes of their own on it (`shape`)."""

    def __or__(self, _: object) -> Annotation:
        return self  # `wp.array[float] | None` annotates functions of the host

    __ror__ = __or__


_array: Any = arrays.array


class _ArrayType(type):
    """Every array of kbuild's is a `wp.array`, and so is the annotation, as in Warp."""

    _ndim: int | None

    def __instancecheck__(cls, value: object) -> bool:
        if not isinstance(value, (arrays.array, ArrayAnnotation)) or isinstance(value, IndexedAnnotation):
            return False
        return cls._ndim is None or value.ndim == cls._ndim

    def __call__(
        cls,
        data: Any = None,
        dtype: Any = None,
        shape: Any = None,
        strides: Any = None,
        ptr: int | None = None,
        capacity: int | None = None,
        device: Any = None,
        pinned: bool = False,
        copy: bool = True,
        deleter: Any = None,
        ndim: int | None = None,
        grad: Any = None,
        requires_grad: bool = False,
        **options: Any,
    ) -> Any:
        """The annotation, or an array. Raises TypeError, ValueError, NotInKbuild."""
        asked = gradients_of("array", options, requires_grad, grad)
        ndim = ndim or cls._ndim
        if data is not None:
            return with_gradient(_of_data(data, _known(dtype), shape, device, pinned, copy), *asked)
        if ptr is not None:
            return with_gradient(_over(ptr, dtype, shape, strides, capacity, device, deleter, ndim), *asked)
        if shape is not None:
            made = _array(None, dtype, shape, device=default(device), ndim=ndim, memory=_memory(pinned, device))
            return with_gradient(made, *asked)
        if device is not None:
            return arrays.empty((0,) * (ndim or 1), dtype, device)
        return Annotation(dtype, ndim or 1)

    def __getitem__(cls, dtype: Any) -> Annotation:
        return Annotation(*subscripted(dtype, cls._ndim))


def _known(dtype: Any) -> Any:
    """Warp's `Any` is the type of the data."""
    typing = sys.modules.get("typing")
    return None if typing is not None and dtype is typing.Any else dtype


def _of_data(data: Any, dtype: Any, shape: Any, device: Any, pinned: bool, copy: bool) -> Any:
    """An array of data; as Warp's, it has the data's dimensions whatever `ndim` says."""
    if isinstance(data, arrays.array) and dtype is not None and abi_type(dtype) != data._type.element:
        data = data.numpy()  # converted on the host
    place = context.get_device(_place(data, device))
    if not foreign.is_array(data):
        data, dtype = prepared(data, dtype)
    made = foreign.asarray(data, dtype) if not copy and not isinstance(data, (list, tuple)) else None
    if made is None or (made.device is not place and made.device.is_cuda | place.is_cuda):
        made = _array(data, dtype, device=place, memory=_memory(pinned, place))
    elif made.device is not place:
        made = _array(made, device=place, copy=False)
    return made if shape is None else made.reshape(shape)


def _place(data: Any, device: Any) -> Any:
    """Where the array is made: where an array is already, else on the device that is meant."""
    return data.device if device is None and isinstance(data, arrays.array) else default(device)


class array(metaclass=_ArrayType):
    """`wp.array(dtype=T, ndim=n)` and `wp.array[T]` are annotations; with data, an address or a shape an array."""

    _kb_array_ = True
    _ndim: int | None = None


class array1d(array):
    """`array` with one dimension."""

    _ndim = 1


class array2d(array):
    """`array` with two dimensions."""

    _ndim = 2


class array3d(array):
    """`array` with three dimensions."""

    _ndim = 3


class array4d(array):
    """`array` with four dimensions."""

    _ndim = 4


def subscripted(dtype: Any, ndim: int | None) -> tuple[Any, int]:
    """Element type and number of dimensions of `wp.array[float]`, `wp.array[float, Literal[2]]`."""
    if isinstance(dtype, tuple) and len(dtype) == 2:
        return dtype[0], getattr(dtype[1], "__args__", dtype[1:])[0]
    return dtype, ndim or 1


class _Lent:
    """Memory of somebody else, who is told when the last array over it goes: `deleter(ptr, size)`."""

    def __init__(self, ptr: int, size: int, deleter: Any) -> None:
        self.ptr, self.size, self.deleter = ptr, size, deleter

    def __del__(self) -> None:
        if not sys.is_finalizing():
            self.deleter(self.ptr, self.size)


def _over(
    ptr: int, dtype: Any, shape: Any, strides: Any, capacity: Any, device: Any, deleter: Any, ndim: int | None
) -> Any:
    """An array over memory that is there."""
    made = _array(ptr=ptr, dtype=dtype, shape=shape, strides=strides, device=default(device), ndim=ndim)
    size = made.nbytes if capacity is None else capacity
    if size < made.nbytes:
        raise ValueError("an array of shape %r needs %d bytes; capacity=%d" % (made.shape, made.nbytes, size))
    if deleter is None:
        return made
    return wrap(made._view, made.dtype, made.device, _Lent(ptr, size, deleter))


def gradients_of(what: str, options: dict[str, Any], requires: Any = None, grad: Any = None) -> tuple[bool, Any, bool]:
    """What is asked about gradients: whether one is required, one that is given, whether it is retained. Other options
    are mistakes. Raises TypeError.
    """
    requires = options.pop("requires_grad", requires)
    retains = bool(options.pop("retain_grad", False))
    if options:
        raise TypeError("wp.%s has no argument %r" % (what, min(options)))
    if retains and not requires:
        raise ValueError("retain_grad=True requires requires_grad=True")
    return bool(requires), grad, retains


def with_gradient(made: Any, requires: bool, grad: Any, retains: bool) -> Any:
    """An array that has the gradient which is asked for."""
    if grad is not None:
        made.grad = grad
    elif requires:
        from kbuild.loader.tape import gradients

        gradients.give(made)  # of whole numbers, too
    if retains:
        made.retain_grad = True
    return made


def _memory(pinned: Any, device: Any) -> str | None:
    """`pinned` is a property of host arrays; it means nothing on a GPU."""
    return "pinned" if pinned and context.get_device(default(device)).kind != "cuda" else None


def empty(shape: Any = None, dtype: Any = float, device: Any = None, pinned: bool = False, **options: Any) -> Any:
    """An array of undefined content."""
    shape, asked = _shape("empty", shape, options)
    return with_gradient(arrays.empty(shape, dtype, default(device), _memory(pinned, device)), *asked)


def zeros(shape: Any = None, dtype: Any = float, device: Any = None, pinned: bool = False, **options: Any) -> Any:
    """An array of zeros."""
    shape, asked = _shape("zeros", shape, options)
    return with_gradient(arrays.zeros(shape, dtype, default(device), _memory(pinned, device)), *asked)


def ones(shape: Any = None, dtype: Any = float, device: Any = None, pinned: bool = False, **options: Any) -> Any:
    """An array of ones."""
    shape, asked = _shape("ones", shape, options)
    return with_gradient(arrays.ones(shape, dtype, default(device), _memory(pinned, device)), *asked)


def full(
    shape: Any = None, value: Any = 0, dtype: Any = None, device: Any = None, pinned: bool = False, **options: Any
) -> Any:
    """An array with `value` in every element."""
    (shape, asked), dtype = _shape("full", shape, options), _known(dtype)
    if dtype is None:
        dtype = composite_of(value)
    return with_gradient(arrays.full(shape, value, dtype, default(device), _memory(pinned, device)), *asked)


def _shape(what: str, shape: Any, options: dict[str, Any]) -> tuple[Any, tuple[bool, Any, bool]]:
    """The shape, which Warp also knows as `n`, and what is asked about gradients."""
    given = options.pop("n", None)
    asked = gradients_of(what, options)
    if shape is None:
        shape = 0 if given is None else given
    return shape, asked


def empty_like(src: Any, device: Any = None, requires_grad: Any = None, pinned: Any = None, **options: Any) -> Any:
    """An array of the shape and type of another; it requires a gradient where that one does, unless it is said."""
    if requires_grad is None:
        requires_grad = getattr(src, "requires_grad", False)
    asked = gradients_of("empty_like", options, requires_grad)
    place = src.device if device is None else device
    pinned = getattr(src, "pinned", False) if pinned is None else pinned
    return with_gradient(arrays.empty(src.shape, src.dtype, place, _memory(pinned, place)), *asked)


def zeros_like(src: Any, device: Any = None, requires_grad: Any = None, pinned: Any = None, **options: Any) -> Any:
    """Zeros of the shape and type of another array."""
    made = empty_like(src, device, requires_grad, pinned, **options)
    made.zero_()
    return made


def ones_like(src: Any, device: Any = None, requires_grad: Any = None, pinned: Any = None, **options: Any) -> Any:
    """Ones of the shape and type of another array."""
    return full_like(src, arrays.one_of(src.dtype), device, requires_grad, pinned, **options)


def full_like(
    src: Any, value: Any, device: Any = None, requires_grad: Any = None, pinned: Any = None, **options: Any
) -> Any:
    """An array of the shape and type of another with `value` in every element."""
    made = empty_like(src, device, requires_grad, pinned, **options)
    made.fill_(value)
    return made


def clone(src: Any, device: Any = None, requires_grad: Any = None, pinned: Any = None, **options: Any) -> Any:
    """A copy of an array."""
    made = empty_like(src, device, requires_grad, pinned, **options)
    copy(made, src)
    return made


def copy(dest: Any, src: Any, dest_offset: int = 0, src_offset: int = 0, count: int = 0, stream: Any = None) -> None:
    """Copies `src`, or `count` elements of it, into `dest`, which may be larger where it has one axis or no gaps."""
    count = count or 0
    _check_range(dest_offset, src_offset, count)
    is_part = bool(count or dest_offset or src_offset)
    if is_part and any(isinstance(one, indexed.indexedarray) for one in (dest, src)):
        raise ValueError("wp.copy copies arrays seen through index arrays as a whole")
    src = src.contiguous() if isinstance(src, indexed.indexedarray) else src
    if isinstance(dest, indexed.indexedarray):
        dest.assign(src)
        return
    if dest.dtype is not src.dtype and dest._type.element.size == src._type.element.size:
        src = src.view(dest.dtype)  # only the size has to be the same
    if not is_part and dest.shape != src.shape and (dest.is_contiguous or (dest.ndim == 1 and src.ndim == 1)):
        count = src.size
        src = src if src.ndim == 1 else src.contiguous()
    copying.copy(dest, src, dest_offset, src_offset, count or None, stream)


def _check_range(dest_offset: Any, src_offset: Any, count: Any) -> None:
    for name, value in (("dest_offset", dest_offset), ("src_offset", src_offset), ("count", count)):
        if not hasattr(value, "__index__"):
            raise TypeError("wp.copy: %s is an integer, not %r" % (name, value))
        if value < 0:
            raise ValueError("wp.copy: %s is below zero: %d" % (name, value))


def from_numpy(arr: Any, dtype: Any = None, shape: Any = None, device: Any = None, **options: Any) -> Any:
    """An array with the content of a NumPy array."""
    asked = gradients_of("from_numpy", options)
    return with_gradient(_of_data(arr, _known(dtype), shape, device, False, True), *asked)


def from_ptr(ptr: int, length: int, dtype: Any = None, shape: Any = None, device: Any = None) -> Any:
    """An array over memory that is there."""
    return _over(ptr, dtype, (length,) if shape is None else shape, None, None, device, None, None)


def dtype_to_numpy(dtype: Any) -> Any:
    """The NumPy type of a scalar type's name. Imports NumPy."""
    import numpy  # type: ignore[import-not-found,unused-ignore]

    type = abi_type(dtype)
    return numpy.dtype(getattr(type, "element", type).spelling).type


def dtype_from_numpy(dtype: Any) -> Any:
    """The scalar type of a NumPy type."""
    import numpy

    from kbuild.loader import abi

    return class_of(abi.SCALARS[numpy.dtype(dtype).name])
