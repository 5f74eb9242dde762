"""Tables of structs, for `constants`: what instances, dictionaries and NumPy's records are as bytes, and back again."""

from __future__ import annotations

import struct

from . import abi, pack, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def check(type: abi.Struct) -> None:
    """Raises TypeError for a struct that no table has: one with an array in it."""
    for field in type.fields:
        if isinstance(field.type, abi.Array):
            text = "kb.constant: %s has the array %r in it, and a table is numbers alone"
            raise TypeError(text % (type.name, field.name))
        if isinstance(field.type, abi.Struct):
            check(field.type)


def listed(array: Any, type: abi.Struct) -> Any:
    """An array of NumPy's records as lists of dictionaries. Raises TypeError where the fields are others."""
    _check_names(array.dtype, type, "")
    return _listed(array)


def _check_names(dtype: Any, type: abi.Struct, path: str) -> None:
    found, wanted = set(dtype.names or ()), {field.name for field in type.fields}
    if found != wanted:
        text = "kb.constant: the array's records%s have the fields %s, and %s has %s"
        given, own = (", ".join(sorted(names)) or "none" for names in (found, wanted))
        raise TypeError(text % (path and " in " + path, given, type.name, own))
    for field in type.fields:
        if isinstance(field.type, abi.Struct):
            _check_names(dtype[field.name], field.type, path + "." + field.name if path else field.name)


def _listed(value: Any) -> Any:
    """Arrays as lists, records as dictionaries, numbers as Python has them."""
    if getattr(value, "ndim", 0):
        return [_listed(one) for one in value]
    if value.dtype.names is None:
        return value.item()
    record = value[()]
    return {name: _listed(record[name]) for name in value.dtype.names}


def packed(type: abi.Struct, at: str, item: Any) -> bytes:
    """An element, with zeros in its gaps. Raises TypeError."""
    packing = pack.Packing()
    try:
        packing.add(type, item, at)
    except pack.Refused as error:
        raise TypeError("kb.constant: %s: %s" % (error.path, error.reason)) from None
    return struct.pack("<" + pack.format_of(type), *packing.values)


def element(host: Any, type: abi.Struct, data: bytes) -> Any:
    """An element as the host has it: an instance of the class `host`."""
    from .array_class import _to_struct
    from .values import class_of

    def make(part: abi.Type, items: Any) -> Any:
        if isinstance(part, abi.Struct):
            return _to_struct(host, part, items)
        made: Any = class_of(part)
        return made(*items)

    return records.regroup(type, iter(records.unpack(type, data)), make)
