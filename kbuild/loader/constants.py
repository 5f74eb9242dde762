"""Tables that are compiled into kernels: `WEIGHTS = kb.constant([0.25, 0.5, 0.25])`, and `WEIGHTS[i]` in a kernel.

A table is its numbers at the moment of the call, its shape and the type of its elements; none of them changes any more.
A GPU holds it in constant memory, which is quickest where the threads of a warp read the same element.
"""

from __future__ import annotations

import operator
import struct
import sys

from . import abi
from .digest import sha256
from .errors import describe
from .layout import abi_type
from .pack import signature
from .scalars import coerce
from .values import Mat, Vec, class_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterator, Sequence

_NUMPY_KINDS = {"b": "bool", "i": "int", "u": "uint", "f": "float"}


class Constant:
    """A table of numbers, vectors, matrices or structs. The host reads it like a tuple of them: `t[i]`, `t[i, j]`,
    `len(t)`.

    `shape` is that of the table, `dtype` the type of an element, `data` the elements row by row as a GPU has them.
    """

    __slots__ = ("_host", "data", "digest", "shape", "type")
    _kb_constant_ = True

    def __init__(self, type: abi.Type, shape: tuple[int, ...], data: bytes, host: Any = None) -> None:
        """`host` is the class of a struct, which its type does not know."""
        self.type, self.shape, self.data, self._host = type, shape, data, host
        self.digest: str = sha256(data).hexdigest()

    @property
    def dtype(self) -> Any:
        """The class of an element: `kb.float32`, `kb.vec3`, `Spring`."""
        return class_of(self.type) if self._host is None else self._host

    @property
    def ndim(self) -> int:
        """How many indices an element has."""
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """What it takes of a GPU's constant memory."""
        return len(self.data)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self.shape[0]))

    def __getitem__(self, indices: Any) -> Any:
        """An element; with fewer indices than axes the table that is left. Raises IndexError, TypeError."""
        given = indices if isinstance(indices, tuple) else (indices,)
        if len(given) > len(self.shape):
            raise IndexError("%d indices for a table of shape %r" % (len(given), self.shape))
        position = 0
        for axis, (index, extent) in enumerate(zip(given, self.shape)):
            at = operator.index(index)
            if not -extent <= at < extent:
                raise IndexError("index %d on axis %d of a table of shape %r" % (at, axis, self.shape))
            position = position * extent + at % extent
        rest = self.shape[len(given) :]
        size = self.type.size * _count(rest)
        data = self.data[position * size : (position + 1) * size]
        return Constant(self.type, rest, data, self._host) if rest else _element(self.type, data, self._host)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return signature(self.type), self.shape, self.data

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (self.type.spelling if self._host is None else self._host, self.shape, self.data)

    def __setattr__(self, name: str, value: object) -> None:
        if hasattr(self, name) or name not in self.__slots__:
            raise AttributeError("a table of kb.constant does not change")
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return "<constant %s(%s), %s>" % (self.type, ", ".join(map(str, self.shape)), self.digest[:8])


def _again(element: Any, shape: tuple[int, ...], data: bytes) -> Constant:
    """A table by the spelling of its elements' type, or the class of a struct."""
    if isinstance(element, str):
        return Constant(abi.parse(element, {}), shape, data)
    return Constant(abi_type(element), shape, data, element)


def constant(table: Any, dtype: Any = None) -> Any:
    """A table that is compiled into the kernels that read it: of a list or tuple of numbers, vectors, matrices or
    structs, of lists of those (1 to 4 axes), or of a NumPy array.

    The elements' type is that of the array, of the vectors or of the structs; of Python's numbers it is int32 or, where
    one has a point, float32. `dtype` says otherwise: `kb.constant(rows, dtype=kb.vec3)` makes vectors of the last axis,
    and `dtype=Spring` structs of dictionaries, of tuples, or of NumPy's records with fields of the same names. A single
    number, vector, matrix or struct is given back as it is: a kernel that captures it has it as a constant anyway.
    Raises TypeError, ValueError, OverflowError.
    """
    if isinstance(table, Constant):
        if dtype is None or abi_type(dtype) == table.type:
            return table
        raise TypeError("kb.constant: this is a table of %s already, not of %s" % (table.type, abi_type(dtype)))
    is_table = isinstance(table, (list, tuple)) and not isinstance(table, (Vec, Mat))
    if not is_table and not _is_numpy(table):
        return _single(table, dtype)
    wanted = None if dtype is None else _wanted(dtype)
    host = dtype if isinstance(wanted, abi.Struct) else None
    if _is_numpy(table) and table.dtype.names:
        table = _records(table, wanted)
    elif _is_numpy(table):
        own = _numpy_type(table)
        if wanted is None or wanted == own:
            return Constant(own, _checked_shape(table.shape), _numpy_bytes(table))
        table = table.tolist()
    if not isinstance(table, (list, tuple)):
        raise TypeError("kb.constant: a NumPy array without axes is a number: pass `float(x)` or `int(x)`")
    leaves: list[tuple[str, Any]] = []
    shape = _flatten(table, "", leaves, (list, tuple) if host is None else (list,))
    if wanted is None:
        wanted = _common_type(leaves)
        host = type(leaves[0][1]) if isinstance(wanted, abi.Struct) else None
    parts = _parts_of(wanted)
    if parts and leaves and not isinstance(leaves[0][1], (Vec, Mat)):  # rows of numbers, for vectors or matrices
        if shape[len(shape) - len(parts) :] != parts or len(shape) == len(parts):
            wants = "a last axis of %d" % parts[0] if len(parts) == 1 else "last axes of %d and %d" % parts
            raise ValueError(
                "kb.constant: a table of %s has %s, but this one has the shape %r" % (wanted, wants, shape)
            )
        shape = shape[: len(shape) - len(parts)]
    return Constant(wanted, _checked_shape(shape), b"".join([_packed(wanted, *leaf) for leaf in leaves]), host)


def _wanted(dtype: Any) -> abi.Type:
    """The type of the elements. Raises TypeError for one that no table has."""
    found = abi_type(dtype)
    if not isinstance(found, (abi.Scalar, abi.Vector, abi.Matrix, abi.Struct)):
        raise TypeError("kb.constant: a table has numbers, vectors, matrices or structs, not %s" % found)
    return _checked_type(found)


def _checked_type(type: abi.Type) -> abi.Type:
    """The type itself. Raises TypeError for a struct that no table has."""
    if isinstance(type, abi.Struct):
        from . import constant_structs  # few tables have structs

        constant_structs.check(type)
    return type


def _records(array: Any, wanted: abi.Type | None) -> Any:
    """NumPy's records as lists of dictionaries. Raises TypeError."""
    if not isinstance(wanted, abi.Struct):
        names = ", ".join(array.dtype.names)
        raise TypeError("kb.constant: this array has records (%s): name the struct, `dtype=Spring`" % names)
    from . import constant_structs

    return constant_structs.listed(array, wanted)


def _single(value: Any, dtype: Any) -> Any:
    is_value = isinstance(value, (bool, int, float, Vec, Mat)) or isinstance(
        getattr(value, "_kb_type_", None), abi.Type
    )
    if is_value and dtype is None:
        return value
    if is_value:
        raise TypeError(
            "kb.constant: dtype is for tables; convert a single value: `%s(…)`" % getattr(dtype, "__name__", "")
        )
    if hasattr(value, "__cuda_array_interface__") or hasattr(value, "ptr"):
        raise TypeError("kb.constant: the numbers of a table must be on the host: pass `array.numpy()`")
    raise TypeError("kb.constant wants a list, tuple or NumPy array, not %s" % describe(value))


# NumPy arrays, which are told without importing NumPy


def _is_numpy(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic))


def _numpy_type(array: Any) -> abi.Scalar:
    kind = _NUMPY_KINDS.get(array.dtype.kind)
    name = "bool" if kind == "bool" else "%s%d" % (kind, 8 * array.dtype.itemsize)
    found = abi.SCALARS.get(name)
    if found is None:
        raise TypeError("kb.constant: kernels have no type for NumPy's %s: convert with `.astype(…)`" % array.dtype)
    return found


def _numpy_bytes(array: Any) -> bytes:
    """The elements row by row, the least significant byte first."""
    found: bytes = array.astype(array.dtype.newbyteorder("<")).tobytes()
    return found


# Lists


def _flatten(items: Sequence[Any], place: str, leaves: list[tuple[str, Any]], rows: Any) -> tuple[int, ...]:
    """The shape of nested lists, whose innermost items go to `leaves` with their places; what is a row, and no item, is
    of one of the classes `rows`. Raises ValueError."""
    shapes = []
    for number, item in enumerate(items):
        at = "%s[%d]" % (place, number)
        if isinstance(item, rows) and not isinstance(item, (Vec, Mat)):
            shapes.append(_flatten(item, at, leaves, rows))
        elif _is_numpy(item) and item.ndim:
            shapes.append(_flatten(item.tolist(), at, leaves, rows))
        else:
            leaves.append((at, item.item() if _is_numpy(item) else item))
            shapes.append(())
        if shapes[-1] != shapes[0]:
            message = "kb.constant: rows of different shapes: %s[0] has the shape %r, and %s %r"
            raise ValueError(message % (place, shapes[0], at, shapes[-1]))
    return (len(items), *(shapes[0] if shapes else ()))


def _common_type(leaves: Sequence[tuple[str, Any]]) -> abi.Type:
    """The type of items that say it themselves, or of Python's numbers. Raises TypeError, OverflowError."""
    found: abi.Type | None = None
    for at, item in leaves:
        own = _own_type(at, item)
        if found is None or (found == abi.INT32 and own == abi.FLOAT32 and type(item) is float):
            found, first = own, at
        elif own != found and not (found == abi.FLOAT32 and type(item) is int):
            message = "kb.constant: %s is %s, and %s is %s: write all of one type, or say `dtype`"
            raise TypeError(message % (first, found, at, own))
    if found is None:
        raise ValueError("kb.constant: a table has at least one element")
    return found


def _own_type(at: str, item: Any) -> abi.Type:
    own = getattr(type(item), "_kb_type_", None)
    if isinstance(own, (abi.Scalar, abi.Vector, abi.Matrix)):
        return own
    if getattr(type(item), "_kb_struct_", False):
        return _checked_type(abi_type(type(item)))
    if isinstance(item, bool):
        return abi.BOOL
    if isinstance(item, int):
        if not -(1 << 31) <= item < 1 << 31:
            raise OverflowError("kb.constant: %s is %d, which is no int32: say `dtype=kb.int64`" % (at, item))
        return abi.INT32
    if isinstance(item, float):
        return abi.FLOAT32
    raise TypeError(
        "kb.constant: %s is %s, and a table has numbers, vectors, matrices or structs" % (at, describe(item))
    )


def _checked_shape(shape: Sequence[int]) -> tuple[int, ...]:
    found = tuple(shape)
    if not 1 <= len(found) <= abi.MAX_ARRAY_DIMENSIONS:
        raise ValueError("kb.constant: a table has 1 to %d axes, not %d" % (abi.MAX_ARRAY_DIMENSIONS, len(found)))
    if 0 in found:
        raise ValueError("kb.constant: a table has at least one element, and this one has the shape %r" % (found,))
    return found


# Elements as bytes


def _parts_of(type: abi.Type) -> tuple[int, ...]:
    """The axes of a vector or matrix."""
    if isinstance(type, abi.Vector):
        return (type.length,)
    return (type.rows, type.columns) if isinstance(type, abi.Matrix) else ()


def _packed(element: abi.Type, at: str, item: Any) -> bytes:
    """An element, or one of its numbers. Raises TypeError, OverflowError."""
    if isinstance(element, abi.Struct):
        from . import constant_structs

        return constant_structs.packed(element, at, item)
    scalar = _scalar(element)
    if isinstance(item, (Vec, Mat)):
        if item._kb_type_ != element:
            raise TypeError("kb.constant: %s is %s, and the table is of %s" % (at, item._kb_type_, element))
        numbers = list(_numbers(item))
    else:
        numbers = [item]
    try:
        return b"".join([struct.pack("<" + scalar.code, coerce(scalar, number)) for number in numbers])
    except (TypeError, OverflowError) as error:
        raise type(error)("kb.constant: %s: %s" % (at, error)) from None


def _numbers(item: Any) -> Iterator[Any]:
    for part in item:
        if isinstance(part, Vec):
            yield from part
        else:
            yield part


def _element(type: abi.Type, data: bytes, host: Any) -> Any:
    """An element as the host has it."""
    if isinstance(type, abi.Struct):
        from . import constant_structs

        return constant_structs.element(host, type, data)
    scalar = _scalar(type)
    numbers = struct.unpack("<%d%s" % (type.size // scalar.size, scalar.code), data)
    if isinstance(type, abi.Scalar):
        return numbers[0]
    made: Any = class_of(type)
    return made(*numbers)


def _scalar(element: abi.Type) -> abi.Scalar:
    return element if isinstance(element, abi.Scalar) else element.element  # type: ignore[attr-defined]


def _count(shape: Sequence[int]) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count
