"""Structs, vectors and matrices in a parameter block: taken apart for a launch, and put together again.

`add` is the part of `pack.Packing.add` that most starts do without.
"""

from __future__ import annotations

import struct

from . import abi
from .errors import describe
from .interface import contiguous_strides
from .pack import NO_SEQUENCES, Packing, Refused, format_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def add(packing: Packing, type: abi.Type, value: Any, path: str) -> None:
    """Appends the numbers of a struct, a vector or a matrix, or the address of an array. Raises Refused."""
    if isinstance(type, abi.Flat):
        _add_flat(packing, type, value, path)
    elif isinstance(type, abi.Struct):
        _add_struct(packing, type, value, path)
    elif isinstance(type, abi.Vector):
        for i, item in enumerate(_items(type, value, type.length, path)):
            packing.add_scalar(type.element, item, "%s[%d]" % (path, i))
    elif isinstance(type, abi.Matrix):
        row_type = abi.Vector(type.columns, type.element)
        for i, row in enumerate(_items(type, value, type.rows, path)):
            packing.add(row_type, row, "%s[%d]" % (path, i))


def _add_flat(packing: Packing, type: abi.Flat, value: Any, path: str) -> None:
    """The array must have no gaps: the kernel knows nothing of strides."""
    packing.add(type.given, value, path)
    descriptor = packing.values.pop()
    assert isinstance(descriptor, bytes)
    ndim = type.ndim
    _, *numbers = struct.unpack_from("<Q%di" % (2 * ndim), descriptor)
    shape, strides = tuple(numbers[:ndim]), tuple(numbers[ndim:])
    wanted = contiguous_strides(shape, type.element.size)
    if 0 not in shape and any(n != 1 and s != w for n, s, w in zip(shape, strides, wanted)):
        raise Refused(path, "the kernel takes an address, and this array has gaps: give it %s.contiguous()" % path)
    packing.values.append(descriptor[: type.size])


def _add_struct(packing: Packing, type: abi.Struct, value: Any, path: str) -> None:
    if isinstance(value, dict):
        _check_names(type, value, path)
        values = [value[f.name] for f in type.fields]
    elif isinstance(value, tuple):
        values = list(_items(type, value, len(type.fields), path))
    else:
        values = [_field(type, f.name, value, path) for f in type.fields]
    for field, item in zip(type.fields, values):
        packing.add(field.type, item, "%s.%s" % (path, field.name))


def _field(type: abi.Struct, name: str, value: Any, path: str) -> Any:
    try:
        return getattr(value, name)
    except AttributeError:
        raise Refused(path, "wanted %s, got %s, which has no %r" % (type.name, describe(value), name)) from None


def _items(type: abi.Type, value: Any, count: int, path: str) -> Any:
    is_no_list = isinstance(value, NO_SEQUENCES) or hasattr(value.__class__, "_kb_array_")
    if is_no_list or not hasattr(value, "__len__") or not hasattr(value, "__getitem__"):
        raise Refused(path, "wanted %s, got %s" % (type, describe(value)))
    if len(value) != count:
        raise Refused(path, "wanted %s, got %d values: %s" % (type, len(value), describe(value)))
    return value


def _check_names(type: abi.Struct, value: dict[str, object], path: str) -> None:
    names = [f.name for f in type.fields]
    missing, unknown = sorted(set(names) - set(value)), sorted(set(value) - set(names))
    if missing or unknown:
        said = "without %s" % ", ".join(missing) if missing else "with %s besides" % ", ".join(unknown)
        raise Refused(path, "wanted %s with the fields %s; got a dict %s" % (type.name, ", ".join(names), said))


def unpack(type: abi.Type, data: Any, offset: int = 0) -> tuple[Any, ...]:
    """The numbers of one value in `data`, flat, as `format_of` orders them."""
    return struct.unpack_from("<" + format_of(type), data, offset)


def regroup(type: abi.Type, numbers: Iterator[Any], make: Any) -> Any:
    """The value whose flat numbers come next. `make(type, items)` builds a vector, a matrix, a struct or an array."""
    if isinstance(type, abi.Scalar):
        return next(numbers)
    if isinstance(type, abi.Vector):
        return make(type, [next(numbers) for _ in range(type.length)])
    if isinstance(type, abi.Matrix):
        return make(type, [next(numbers) for _ in range(type.rows * type.columns)])
    if isinstance(type, abi.Struct):
        return make(type, [regroup(f.type, numbers, make) for f in type.fields])
    return make(type, next(numbers))
