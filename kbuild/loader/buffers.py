"""Memory of the host where it lies: buffers of Python's as views."""

from __future__ import annotations

import ctypes

from . import abi
from .host import scalar_of_buffer
from .interface import View, contiguous_strides, inner_shape, scalar_of
from .layout import abi_type
from .values import class_of


def of_buffer(view: memoryview, dtype: object) -> tuple[object, View]:
    """A buffer of the host as (dtype, View), where it lies. Raises TypeError, ValueError."""
    scalar = scalar_of_buffer(view)
    if dtype is None:
        if scalar is None:
            raise TypeError("cannot tell the element type of a buffer of format %r: say dtype=…" % view.format)
        dtype = class_of(scalar)
    element, shape, strides = abi_type(dtype), tuple(view.shape or ()), tuple(view.strides or ())
    inner = inner_shape(element)
    outer = len(shape) - len(inner)
    if isinstance(element, abi.Struct):
        is_fitting = view.itemsize == element.size and outer > 0
    else:
        is_fitting = scalar == scalar_of(element) and outer > 0 and shape[outer:] == inner
        is_fitting = is_fitting and strides[outer:] == contiguous_strides(inner, view.itemsize)
    if not is_fitting:
        message = (
            "a buffer of format %r, shape %r and strides %r is no array of %s where it lies: copy it with kb.array(…)"
        )
        raise TypeError(message % (view.format, shape, strides, element))
    if not 1 <= outer <= abi.MAX_ARRAY_DIMENSIONS:
        raise ValueError("an array has 1 to %d dimensions, not %d" % (abi.MAX_ARRAY_DIMENSIONS, outer))
    made = View(address_of(view), shape[:outer], strides[:outer], element)
    made.readonly = view.readonly
    return dtype, made


class _Buffer(ctypes.Structure):
    """CPython's Py_buffer."""

    _fields_ = (
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        *((name, ctypes.c_void_p) for name in ("format", "shape", "strides", "suboffsets", "internal")),
    )


_STRIDED, _READ_ONLY = 0x18, 0


def address_of(view: memoryview) -> int:
    """Where a buffer's first element lies, also of a read-only one; it stays there as long as `view` lives."""
    if view.nbytes == 0:
        return 0
    found = _Buffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(view), ctypes.byref(found), _STRIDED | _READ_ONLY)
    address = found.buf or 0
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(found))
    return address
