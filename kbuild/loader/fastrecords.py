"""The quick launch's statements for structs, matrices, arrays that may be None, and several axes (see fastpath.py)."""

from __future__ import annotations

from . import abi
from .fastpath import Unexpected
from .pack import SEQUENCES
from .values import class_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .fastpath import Writer


def add(writer: Writer, type: abi.Type, value: str, path: str) -> None:
    """A struct's fields or a matrix's numbers; see `Writer.add`."""
    if isinstance(type, abi.Matrix):
        _add_matrix(writer, type, value)
    elif isinstance(type, abi.Struct):
        name = writer.named(value)
        for field in type.fields:
            writer.add(field.type, "%s.%s" % (name, field.name), "%s.%s" % (path, field.name))


def _add_matrix(writer: Writer, type: abi.Matrix, value: str) -> None:
    """A matrix of ours consists of rows that fit; other sequences are looked at."""
    value = writer.named(value)
    kind = "kind%d" % len(writer.keys)
    writer.keys[kind] = class_of(type)
    writer.keys["flat"] = _flat
    names = [writer.name() for _ in range(type.rows * type.columns)]
    rows = [", ".join(names[start : start + type.columns]) for start in range(0, len(names), type.columns)]
    nested = "".join("(%s,), " % row for row in rows)
    writer.statements.append(
        "if %s.__class__ is %s: %s= %s\n        else: %s, = flat(%s, %d)"
        % (value, kind, nested, value, ", ".join(names), value, type.columns)
    )
    writer.leaves += names


def add_optional(writer: Writer, name: str, key: str, type: Any) -> None:
    """An array that may be None: all zeros then."""
    leaf = writer.name()
    writer.statements += [
        "if %s is None: %s = %r" % (name, leaf, bytes(type.size)),
        "elif %s._key is not %s: raise Unexpected" % (name, key),
        "else: %s = %s" % (leaf, writer.bytes_of(name, type)),
    ]
    writer.leaves.append(leaf)
    writer.owners.append("%s and %s._owner" % (name, name))


def address(array: Any) -> Any:
    """The address of an array without gaps, as it is packed."""
    if not array.is_contiguous:
        raise Unexpected
    return array._descriptor[:8]


def _flat(matrix: Any, columns: int) -> list[Any]:
    """A matrix in another form, row by row."""
    if matrix.__class__ not in SEQUENCES:
        raise Unexpected
    rows: Any = list(matrix)  # type: ignore[call-overload]
    if any(type(row) not in SEQUENCES or len(row) != columns for row in rows):
        raise Unexpected
    return [number for row in rows for number in row]


# A tuple as long as the kernel has axes costs 10 ns an axis, all others a call.
_CHECK_AXES = """
            try:
                {names} = dim
                if {wrong}: check_dim(dim)
            except (TypeError, ValueError):
                check_dim(dim)"""


def axes_check(ndim: int) -> str:
    """The statements that look whether a `dim` that is no int is a tuple of ints."""
    names = ["n%d" % axis for axis in range(ndim)]
    return _CHECK_AXES.format(
        names=", ".join(names), wrong=" or ".join("%s.__class__ is not int" % name for name in names)
    )
