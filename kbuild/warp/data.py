"""What Warp makes arrays of: lists and NumPy's arrays, more freely than kbuild's own `array`.

Numbers that come side by side are gathered into vectors and matrices (six numbers are two `vec3`), and numbers of
another type are converted, floats to integers too. A list that says nothing else has NumPy's types: `int64`, `float64`.
"""

from __future__ import annotations

import sys

from kbuild.loader import abi, host
from kbuild.loader.factories import matrix, vector
from kbuild.loader.interface import inner_shape, typestr_of
from kbuild.loader.layout import abi_type
from kbuild.loader.values import Mat, Vec, class_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WIDER = {"int32": abi.SCALARS["int64"], "float32": abi.SCALARS["float64"]}


def prepared(data: Any, dtype: Any) -> tuple[Any, Any]:
    """Host data and its type as kbuild's `array` takes them. Raises TypeError, ValueError."""
    if hasattr(data, "astype"):
        return _of_numpy(data, dtype)
    if not isinstance(data, (list, tuple)):
        return data, dtype
    element = None if dtype is None else abi_type(dtype)
    numpy = sys.modules.get("numpy")
    if numpy is not None and not isinstance(element, abi.Struct) and not _has_structs(data):
        # Also for what a list may hold of NumPy's; whoever has some has imported it.
        return _of_numpy(numpy.array(data), dtype)
    if element is None:
        found = abi_type(host.encode(data, None)[2])
        return data, class_of(_WIDER.get(str(found), found))
    return _gathered(data, element), dtype


def composite_of(value: Any) -> Any:
    """The vector or matrix type that a list or an ndarray stands for as one value; None where it says nothing."""
    if isinstance(value, (list, tuple)) and not isinstance(value, (Vec, Mat)):
        rows = value if value and isinstance(value[0], (list, tuple)) else [value]
        shape = (len(value), len(rows[0])) if rows is value else (len(value),)
        found = abi_type(host.encode([one for row in rows for one in row], None)[2])
        element = class_of(_WIDER.get(str(found), found))
    elif getattr(value, "shape", ()) and hasattr(value, "dtype"):
        shape, element = tuple(value.shape), class_of(abi.SCALARS[value.dtype.name])
    else:
        return None
    if len(shape) > 2:
        raise TypeError("one value is a number, a vector or a matrix, not of %d axes" % len(shape))
    return vector(shape[0], element) if len(shape) == 1 else matrix(shape, element)


def _has_structs(data: Any) -> bool:
    return bool(data) and hasattr(data[0], "_kb_struct_")


def _of_numpy(data: Any, dtype: Any) -> tuple[Any, Any]:
    """An ndarray with the numbers and axes that the type has."""
    if data.shape == ():
        data = data.reshape(1)
    if dtype is None:
        return data, None
    element = abi_type(dtype)
    if isinstance(element, abi.Struct):
        return data, dtype
    wanted = typestr_of(element)
    if data.dtype.str != wanted:
        data = data.astype(wanted)
    inner = inner_shape(element)
    if inner and (data.shape[-len(inner) :] != inner or data.ndim == len(inner)):
        data = _with_axes(data, inner, element)
    return data, dtype


def _with_axes(data: Any, inner: tuple[int, ...], element: abi.Type) -> Any:
    """The same numbers, those of the last axis gathered into elements."""
    size = element.size // element.element.size  # type: ignore[attr-defined]
    *outer, last = data.shape
    if data.shape == inner:  # one element alone
        return data.reshape(1, *inner)
    if last % size:
        message = "%d numbers side by side cannot be gathered into elements of %s: the data has the shape %r"
        raise ValueError(message % (last, element, data.shape))
    if last != size or not outer:
        outer.append(last // size)
    return data.reshape(*outer, *inner)


def _gathered(data: Any, element: abi.Type) -> Any:
    """A flat list of numbers as nested ones."""
    if not isinstance(element, (abi.Vector, abi.Matrix)) or not data or not isinstance(data[0], (int, float)):
        return data
    for extent in reversed(inner_shape(element)):
        if len(data) % extent:
            return data
        data = [data[i : i + extent] for i in range(0, len(data), extent)]
    return data
