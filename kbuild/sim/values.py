"""Values and memory of the interpreter.

A scalar is a Python number; a vector or tuple a list; a matrix a list of rows; a struct a dict; an array a `Memory`.
Assigning copies, as registers do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from kbuild.errors import InternalError, Span
from kbuild.ir.types import Array, Matrix, Scalar, Struct, Type, Vector

Path = tuple[Any, ...]


class Fault(Exception):
    """What a kernel must not do. The interpreter adds the place and the thread where it happened."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.span: Span | None = None
        self.thread: tuple[int, ...] = ()

    def __str__(self) -> str:
        place = f"{self.span}: " if self.span is not None else ""
        return f"{place}{self.reason}, thread {self.thread}"


class OutOfBounds(Fault):
    """An index outside an array or vector."""


class Conflict(Fault):
    """Two threads on one element, with a result that depends on who comes first."""


@dataclass
class Memory:
    """An array: elements in row-major order. Notes who touched what, to tell results that depend on order."""

    element: Type
    shape: tuple[int, ...]
    data: list[Any]
    written_by: dict[Path, int] = field(default_factory=dict)
    read_by: dict[Path, int] = field(default_factory=dict)
    atomic_by: dict[Path, int] = field(default_factory=dict)
    base: int = 0
    is_present: bool = True

    def offset(self, indices: list[int]) -> int:
        """The position of an element. Raises OutOfBounds."""
        position = 0
        for axis, (index, extent) in enumerate(zip(indices, self.shape, strict=False)):
            if not 0 <= index < extent:
                raise OutOfBounds(f"index {index} on axis {axis} of an array of shape {self.shape}")
            position = position * extent + index
        return self.base + position * size_of(self.shape[len(indices) :])

    def view(self, indices: list[int]) -> Memory:
        """The array left at fewer indices than dimensions; memory and notes are shared. Raises OutOfBounds."""
        rest = self.shape[len(indices) :]
        if not self.is_present:
            return Memory(self.element, rest, [], is_present=False)
        books = self.written_by, self.read_by, self.atomic_by
        return Memory(self.element, rest, self.data, *books, self.offset(indices))

    def note(self, kind: str, path: Path, thread: int) -> None:
        """Records an access to an element. Raises Conflict when another thread's makes its result depend on order.

        `kind` is read, write, or atomic for an operation whose order does not show.
        """
        path = path[:1]
        books = {"read": self.read_by, "write": self.written_by, "atomic": self.atomic_by}
        for other, book in books.items():
            harmless = kind == other != "write"
            if not harmless and book.get(path, thread) != thread:
                raise Conflict(f"threads {book[path]} and {thread} on one element: {other} and {kind}")
        books[kind][path] = thread


def zero(type: Type) -> Any:
    """The zero of a type."""
    match type:
        case Scalar():
            return {"bool": False, "float": 0.0}.get(type.kind, 0)
        case Vector():
            return [zero(type.element) for _ in range(type.length)]
        case Matrix():
            return [zero(Vector(type.columns, type.element)) for _ in range(type.rows)]
        case Struct():
            return {f.name: zero(f.type) for f in type.fields}
        case Array():
            return Memory(type.element, (0,) * type.ndim, [], is_present=False)
    raise InternalError(f"no zero of {type}")


def copied(value: Any) -> Any:
    """A value of its own; arrays stay the arrays they are."""
    if isinstance(value, list):
        return [copied(item) for item in value]
    if isinstance(value, dict):
        return {name: copied(item) for name, item in value.items()}
    return value


def size_of(shape: tuple[int, ...]) -> int:
    """Number of elements."""
    return math.prod(shape)
