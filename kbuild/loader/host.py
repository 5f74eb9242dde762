"""Host data in and out of arrays: lists, buffers and NumPy arrays to packed bytes, packed bytes to lists.

NumPy is never imported here, except by `to_numpy`; an ndarray that the caller hands over is a buffer like others.
"""

from __future__ import annotations

import struct
from itertools import chain

from . import abi, kinds, pack
from .errors import describe
from .interface import inner_shape, scalar_of, typestr_of
from .layout import abi_type
from .values import Mat, Vec, class_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_KINDS = dict([("?", "bool"), *[(c, "int") for c in "bhilqn"], *[(c, "uint") for c in "BHILQN"]])
_KINDS.update({"e": "float", "f": "float", "d": "float"})
_SCALARS = {(s.kind, s.size): s for s in abi.SCALARS.values()}


def encode(data: Any, dtype: object) -> tuple[Any, tuple[int, ...], object]:
    """Host data as (packed bytes, shape, dtype); `dtype` None means: as the data says. Raises TypeError, ValueError."""
    if isinstance(data, (list, tuple)) and not isinstance(data, (Vec, Mat)):
        return _encode_sequence(data, dtype)
    try:
        view = memoryview(data)
    except (TypeError, ValueError):
        raise TypeError("an array is made of nested lists or of a buffer, not of %s" % describe(data)) from None
    return _encode_buffer(data, view, dtype)


def _encode_sequence(data: Any, dtype: object) -> tuple[Any, tuple[int, ...], object]:
    if dtype is None:
        dtype = _infer(data)
    element = abi_type(dtype)
    data = _without_arrays(data)
    shape = _shape(data, element)
    items = data
    for extent in shape[1:]:
        _check_rows(data, items, extent)
        items = list(chain.from_iterable(items))
    return _pack_items(items, element), shape, dtype


def _without_arrays(data: Any) -> Any:
    """A list of NumPy's arrays as nested lists."""
    first = data[0] if data else None
    if getattr(first, "ndim", 0) and hasattr(first, "tolist") and not hasattr(first, "_kb_array_"):
        return [one.tolist() if hasattr(one, "tolist") else one for one in data]
    return data


def _infer(data: Any) -> object:
    """dtype of a nested list by its innermost items."""
    items = list(_leaves(data))
    first = items[0] if items else None
    if isinstance(first, (Vec, Mat)) or hasattr(first, "_kb_struct_"):
        return type(first)
    kinds = {type(item) for item in items}
    for wanted in (bool, int, float):
        if kinds and kinds <= ({int, float} if wanted is float else {wanted}):
            return class_of(abi_type(wanted))
    raise TypeError("cannot tell the element type of %s: say array(…, dtype=…)" % describe(data))


def _leaves(data: Any) -> Iterator[Any]:
    for item in data:
        if isinstance(item, (list, tuple)) and not isinstance(item, (Vec, Mat)):
            yield from _leaves(item)
        else:
            yield item


def _shape(data: Any, element: abi.Type) -> tuple[int, ...]:
    sequences = list if isinstance(element, abi.Struct) else (list, tuple)
    extents = []
    while isinstance(data, sequences):
        extents.append(len(data))
        if not data:
            break
        data = data[0]
    inner = inner_shape(element)
    outer = extents if 0 in extents else extents[: len(extents) - len(inner)]
    if 0 not in extents and tuple(extents[len(outer) :]) != inner:
        raise ValueError("elements of type %s cannot be made of nested lists of shape %r" % (element, tuple(extents)))
    if not 1 <= len(outer) <= abi.MAX_ARRAY_DIMENSIONS:
        raise ValueError("an array has 1 to %d dimensions, not %d" % (abi.MAX_ARRAY_DIMENSIONS, len(outer)))
    return tuple(outer)


def _pack_items(items: Any, element: abi.Type) -> bytes:
    code = pack.format_of(element)
    flat = items
    if not isinstance(element, abi.Struct):
        for _ in inner_shape(element):
            flat = chain.from_iterable(flat)
        try:
            if scalar_of(element) != abi.BOOL:
                return struct.pack("<" + code * len(items), *flat)
        except (struct.error, TypeError, OverflowError):
            pass  # the careful way below says which item it was
    packing = pack.Packing(_AnyPath())  # whether there is an array is asked where kernels read the record
    for i, item in enumerate(items):
        try:
            packing.add(element, item, "item")
        except pack.Refused as error:
            raise TypeError("item %d%s: %s" % (i, error.path[4:], error.reason)) from None
    return struct.pack("<" + code * len(items), *packing.values)


class _AnyPath(frozenset):  # type: ignore[type-arg]
    """Every array may be None."""

    def __contains__(self, _: object) -> bool:
        return True


def _encode_buffer(data: Any, view: memoryview, dtype: object) -> tuple[Any, tuple[int, ...], object]:
    scalar = scalar_of_buffer(view)
    if dtype is None:
        if scalar is None:
            raise TypeError("cannot tell the element type of a buffer of format %r: say dtype=…" % view.format)
        dtype = class_of(scalar)
    element = abi_type(dtype)
    if isinstance(data, (bytes, bytearray)) and element.size > 1:
        return _reinterpret(data, element), (len(data) // element.size,), dtype
    if isinstance(element, abi.Struct):
        if view.itemsize != element.size:
            raise TypeError(
                "a buffer with items of %d bytes is no array of %s (%d)" % (view.itemsize, element, element.size)
            )
        return view.tobytes(), tuple(view.shape or ()), dtype
    if scalar != scalar_of(element):
        return encode(_cast(data, view, element), dtype)
    shape, inner = tuple(view.shape or ()), inner_shape(element)
    outer = len(shape) - len(inner)
    if outer < 1 or shape[outer:] != inner:
        raise ValueError("a buffer of shape %r is no array of %s" % (shape, element))
    return view if view.c_contiguous else view.tobytes(), shape[:outer], dtype


def _reinterpret(data: Any, element: abi.Type) -> Any:
    if len(data) % element.size:
        raise ValueError("%d bytes are no whole number of %s (%d bytes each)" % (len(data), element, element.size))
    return data


def _cast(data: Any, view: memoryview, element: abi.Type) -> Any:
    """Numbers of another type: NumPy converts its own, as long as floats do not become integers; others go by lists."""
    if not hasattr(data, "astype"):
        return view.tolist()
    try:
        return data.astype(typestr_of(element), casting="same_kind")
    except TypeError as error:
        raise TypeError("%s; convert it yourself if that is meant" % error) from None


def decode(data: Any, shape: tuple[int, ...], element: abi.Type, make: Any) -> Any:
    """Packed bytes as nested lists of numbers, vectors, matrices and structs (made by `make`: `records.regroup`)."""
    count = len(data) // element.size
    numbers = struct.unpack("<" + pack.format_of(element) * count, data)
    items = list(numbers)
    if isinstance(element, abi.Vector):
        items = [make(element, part) for part in zip(*[iter(numbers)] * element.length)]
    elif not isinstance(element, abi.Scalar):
        from . import records

        flat = iter(numbers)
        items = [records.regroup(element, flat, make) for _ in range(count)]
    for axis in range(len(shape) - 1, 0, -1):
        extent = shape[axis]
        items = [items[i * extent : (i + 1) * extent] for i in range(kinds.count(shape[:axis]))]
    return items


def to_numpy(data: bytearray, shape: tuple[int, ...], element: abi.Type) -> Any:
    """Packed bytes as a NumPy array; vectors and matrices add axes, structs become records."""
    import numpy  # the caller asked for it by name

    dtype = numpy.dtype(numpy_dtype(element))
    return numpy.frombuffer(data, dtype=dtype.base).reshape(shape + dtype.shape)


def over_numpy(data: Any, element: abi.Type) -> Any:
    """An array of the host as a NumPy array over the same memory, which keeps it alive."""
    import numpy

    made = numpy.asarray(data)
    return made.view(numpy.dtype(numpy_dtype(element))) if isinstance(element, abi.Struct) else made


def scalar_of_buffer(view: memoryview) -> abi.Scalar | None:
    """The type of a buffer's numbers; None for what is no number of ours."""
    return _SCALARS.get((_KINDS.get(view.format.lstrip("@=<")), view.itemsize))  # type: ignore[arg-type]


def numpy_dtype(element: abi.Type) -> Any:
    """What `numpy.dtype` takes for a type: of records names, formats, offsets and size."""
    if isinstance(element, abi.Struct):
        return {
            "names": [f.name for f in element.fields],
            "formats": [numpy_dtype(f.type) for f in element.fields],
            "offsets": [f.offset for f in element.fields],
            "itemsize": element.size,
        }
    if isinstance(element, abi.Array):
        return "|V%d" % element.size
    inner = inner_shape(element)
    return (typestr_of(element), inner) if inner else typestr_of(element)


def _check_rows(data: Any, rows: Any, extent: int) -> None:
    if any(not isinstance(row, (list, tuple)) or len(row) != extent for row in rows):
        raise ValueError("nested lists of different lengths: %s" % describe(data))
