"""From Python values to the bytes of a parameter block.

A type's `format` is its layout in the `struct` module's language: explicit offsets, little-endian, an array descriptor
as one run of bytes. `Packing.add` turns a value into the numbers that the format wants, with every check, and raises
`Refused` that says what was wanted and what was given: the thorough way, beside which `fastpath` is the quick one.
"""

from __future__ import annotations

import struct
import sys

from . import abi
from .errors import LaunchError, describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# Exact classes that a launch unpacks without looking closer; every vector and matrix class joins them.
SEQUENCES: set[type] = {tuple, list}
_PLAIN = {"bool": bool, "int": int, "uint": int, "float": float}  # by a scalar's kind: of these `struct` is the judge

# What has a length and can be gone through, and still is no list of values in an order of its own.
NO_SEQUENCES = (str, bytes, bytearray, memoryview, dict, set, frozenset)


def is_sequence(value: Any) -> bool:
    """Whether a value can be a list of arguments; an array is one argument, whatever it holds."""
    if isinstance(value, NO_SEQUENCES) or hasattr(value.__class__, "_kb_array_"):
        return False
    return hasattr(value, "__len__") and hasattr(value, "__iter__")


class Refused(Exception):
    """An argument that does not fit its parameter; `path` is `springs[3].stiffness`, say."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(reason)
        self.path, self.reason = path, reason


def format_of(type: abi.Type) -> str:
    """The type's layout as a `struct` format without byte order."""
    if isinstance(type, abi.Scalar):
        return type.code
    if isinstance(type, abi.Vector):
        return type.element.code * type.length
    if isinstance(type, abi.Matrix):
        return type.element.code * (type.rows * type.columns)
    if isinstance(type, abi.Struct):
        return fields_format([(f.type, f.offset) for f in type.fields], 0, type.size)
    return "%ds" % type.size


def fields_format(fields: list[tuple[abi.Type, int]], start: int, size: int) -> str:
    """The format of fields at given offsets, from offset `start` to `size`, gaps filled with zero bytes."""
    parts, position = [], start
    for type, offset in fields:
        parts += ["%dx" % (offset - position) if offset > position else "", format_of(type)]
        position = offset + type.size
    parts.append("%dx" % (size - position) if size > position else "")
    return "".join(parts)


def signature(type: abi.Type) -> str:
    """The spelling with the layout of every struct in it: equal for two types that mean the same bytes."""
    if isinstance(type, abi.Array):
        return "%s[%s]" % (type.spelling.partition("[")[0], signature(type.element))
    if isinstance(type, abi.Struct):
        fields = ["%s@%d:%s" % (f.name, f.offset, signature(f.type)) for f in type.fields]
        return "%s{%s}" % (type.spelling, ",".join(fields))
    return type.spelling


def array_key(type: abi.Type, device: object) -> str:
    """What an array on a device and a fitting parameter have in common: one interned text, compared with `is`."""
    known = _keys.get((type.spelling, device))
    if known is None:
        known = sys.intern("%s@%s" % (signature(type), device))
        if "struct:" not in type.spelling:  # two structs of one name may differ in their fields
            _keys[type.spelling, device] = known
    return known


_keys: dict[tuple[str, object], str] = {}


class Packing:
    """Collects the values of one parameter block, and what they say about devices and streams."""

    def __init__(self, optional: frozenset[str] = frozenset()) -> None:
        self.optional = optional  # paths of the arrays that may be None
        self.values: list[object] = []
        self.places: list[tuple[str, Any]] = []  # (path, device) of every kbuild array
        self.addresses: list[tuple[str, int]] = []  # (path, address) of every foreign array
        self.streams: set[int] = set()  # streams that foreign arrays are still being written on
        self.tensors: list[Any] = []  # those of PyTorch's
        self.owners: list[Any] = []  # what holds the arrays' memory

    def add(self, type: abi.Type, value: Any, path: str) -> None:
        """Appends a value's numbers. Raises Refused."""
        if isinstance(type, abi.Scalar):
            self.add_scalar(type, value, path)
        elif isinstance(type, abi.Array) and not isinstance(type, abi.Flat):
            self._add_array(type, value, path)
        else:
            from . import records  # no part of most starts

            records.add(self, type, value, path)

    def add_scalar(self, type: abi.Scalar, value: Any, path: str) -> None:
        if value.__class__ is _PLAIN[type.kind] and _fits(type, value):
            self.values.append(value)
            return
        from .scalars import coerce  # for numbers of other kinds, and for words

        try:
            self.values.append(coerce(type, value))
        except (TypeError, OverflowError, ValueError) as error:
            raise Refused(path, str(error)) from None

    def _add_array(self, type: abi.Array, value: Any, path: str) -> None:
        if value is None:
            if path not in self.optional:
                raise Refused(path, "wanted %s, got None, and the kernel does not ask `if %s:`" % (type, path))
            self.values.append(bytes(type.size))
            return
        own = getattr(value, "_type", None)
        if own is not None and own == type:
            if not value.is_alive:
                raise Refused(path, "the array has been freed")
            if isinstance(type, abi.IndexedArray) and value._gap is not None:
                raise Refused(path, value._gap)
            if signature(own) != signature(type):
                raise Refused(path, "the struct is laid out differently in the bundle: rebuild it")
            self.places.append((path, value.device))
            self.owners.append(value._owner)
            self.values.append(value._descriptor)
            return
        from . import lending  # no part of a start

        lending.add(self, type, value, path)


def _fits(type: abi.Scalar, value: Any) -> bool:
    try:
        struct.pack("<" + type.code, value)  # as it is written: in its own format no float is too large
    except (struct.error, OverflowError):
        return False
    return True


def arguments(name: str, parameters: Any, args: Any, optional: frozenset[str]) -> Packing:
    """A launch's arguments as numbers, and what they say about devices; `parameters` are (name, type). Raises
    LaunchError, which begins with the kernel's name.
    """
    if not is_sequence(args):
        raise LaunchError("%s: args wants a tuple or a list of arguments, not %s" % (name, describe(args)))
    if len(args) != len(parameters):
        names = ", ".join(parameter for parameter, _ in parameters) or "none"
        raise LaunchError("%s takes %d arguments (%s), got %d" % (name, len(parameters), names, len(args)))
    packing = Packing(optional)
    for (parameter, type), value in zip(parameters, args):
        try:
            packing.add(type, value, parameter)
        except Refused as error:
            raise LaunchError("%s: parameter %s: %s" % (name, error.path, error.reason)) from None
        except MemoryError:
            raise
        except Exception as error:  # of the value's own code
            message = "%s: parameter %s: wanted %s, got %s, which fails with %r"
            raise LaunchError(message % (name, parameter, type, describe(value), error)) from error
    return packing
