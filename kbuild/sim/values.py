"""Values and memory of the interpreter.

A scalar is a Python number; a vector or tuple a list; a matrix a list of rows; a struct a dict; an array a `Memory`.
Assigning copies, as registers do.
"""

from __future__ import annotations

import linecache
import math
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from kbuild import intrinsics
from kbuild.errors import InternalError, Span
from kbuild.ir.types import Array, IndexedArray, Matrix, Scalar, Struct, Type, Vector

Path = tuple[Any, ...]
Stamp = tuple[int, int]  # a thread's number, and when; see `blocks.Thread`
UNSET = object()  # what shared memory holds before anything is assigned


class Actor(Protocol):
    """A thread, as far as memory asks."""

    number: int

    def stamp(self) -> Stamp: ...
    def sees(self, stamp: Stamp) -> bool: ...


class Fault(Exception):
    """What a kernel must not do. What runs the kernel adds the place (`span`), the coordinates of the `thread`, and
    what its `variables` held, by name.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.span: Span | None = None
        self.kernel = ""
        self.thread: tuple[int, ...] = ()
        self.variables: dict[str, Any] = {}
        self.position: int | None = None  # of the thread among those that ran together

    def __str__(self) -> str:
        place = f"{self.span}: " if self.span is not None else ""
        lines = [f"{place}{self.reason}, thread {self.thread}{' of ' if self.kernel else ''}{self.kernel}"]
        if self.span is not None and self.kernel:
            lines.append(f"    {linecache.getline(self.span.path, self.span.line).strip()}")
        lines += [f"    {name} = {value!r:.200}" for name, value in self.variables.items()]
        return "\n".join(lines)


_LIBRARY = os.path.join(os.path.dirname(intrinsics.__file__), "")


def is_in_library(span: Span | None) -> bool:
    """Whether a place lies in kbuild's own functions: a fault there is told at the line that has called them."""
    return span is not None and span.path.startswith(_LIBRARY)


def native(name: str) -> Fault:
    """A function in CUDA C++ that has no body in Python."""
    return Fault(
        f"{name} is CUDA C++, which the simulator cannot run (in place of `...`, write there what it does in Python)"
    )


class OutOfBounds(Fault):
    """An index outside an array or vector."""


class Conflict(Fault):
    """Two threads on one element, with a result that depends on who comes first."""


class Unassigned(Fault):
    """Shared memory read before anything was assigned to it."""


MAY_NOT_HAVE_BEGUN = (
    "shared memory of another block before any barrier of the cluster: that block may not have begun "
    "(let kb.cluster_sync() stand before it)"
)
MAY_HAVE_ENDED = (
    "shared memory of another block after the last barrier of the cluster: that block may have ended "
    "(let kb.cluster_sync() stand behind it)"
)


def no_rank(rank: int, count: int) -> str:
    """What is wrong with the rank of a block that a cluster does not have."""
    return f"rank {rank} in a cluster of {count} blocks"


@dataclass
class Memory:
    """An array: elements in row-major order. Notes who touched what, to tell results that depend on order.

    `is_shared`: it belongs to a block, and its elements are UNSET at first; `owner` is then the block's number and what
    the array is to the function. `is_constant`: nobody stores to it.
    """

    element: Type
    shape: tuple[int, ...]
    data: list[Any]
    written_by: dict[Path, Stamp] = field(default_factory=dict)
    read_by: dict[Path, list[Stamp]] = field(default_factory=dict)
    atomic_by: dict[Path, list[Stamp]] = field(default_factory=dict)
    # Who changed it by an atomic, one of each block, apart: those for their block alone (True).
    scoped_by: dict[tuple[Path, bool], dict[int, Stamp]] = field(default_factory=dict)
    base: int = 0
    is_present: bool = True
    is_shared: bool = False
    is_constant: bool = False
    owner: tuple[int, Any] | None = None

    def offset(self, indices: list[int], wraps: bool, thread: Actor) -> int:
        """The position of an element; `wraps`: an index below zero counts from the end. Raises OutOfBounds."""
        position = 0
        for index, extent in zip(self.inside(indices, wraps), self.shape, strict=False):
            position = position * extent + index
        return self.base + position * size_of(self.shape[len(indices) :])

    def inside(self, indices: list[int], wraps: bool) -> list[int]:
        """Indices counted from the beginning. Raises OutOfBounds."""
        for axis, (index, extent) in enumerate(zip(indices, self.shape, strict=False)):
            if not (-extent if wraps else 0) <= index < extent:
                raise OutOfBounds(f"index {index} on axis {axis} of an array of shape {self.shape}")
        return [index % extent for index, extent in zip(indices, self.shape, strict=False)]

    def view(self, indices: list[int], wraps: bool, thread: Actor) -> Memory:
        """The array left at fewer indices than dimensions; memory and notes are shared. Raises OutOfBounds."""
        rest = self.shape[len(indices) :]
        if not self.is_present:
            return Memory(self.element, rest, [], is_present=False)
        books = self.written_by, self.read_by, self.atomic_by, self.scoped_by
        base = self.offset(indices, wraps, thread)
        return Memory(self.element, rest, self.data, *books, base, True, self.is_shared, self.is_constant, self.owner)

    def note(self, kind: str, path: Path, thread: Actor) -> None:
        """Records an access to an element. Raises Conflict when another thread's makes its result depend on order.

        `kind` is read, write, or atomic for an operation whose order does not show.
        """
        if self.is_constant:
            return
        path = path[:1]
        written = self.written_by.get(path)
        if kind != "read":
            _require_order(self.read_by.get(path, ()), "read", kind, thread)
        if written is not None:
            _require_order((written,), "write", kind, thread)
        if kind != "atomic":
            _require_order(self.atomic_by.get(path, ()), "atomic", kind, thread)
        if kind == "write":
            # Who comes after this write comes after all that it has seen.
            self.written_by[path] = thread.stamp()
            self.read_by.pop(path, None)
            self.atomic_by.pop(path, None)
            return
        stamps = (self.read_by if kind == "read" else self.atomic_by).setdefault(path, [])
        if not stamps or stamps[-1] != thread.stamp():
            stamps.append(thread.stamp())

    def note_scope(self, path: Path, thread: Actor, block: int, is_narrow: bool) -> None:
        """Records an atomic operation by a thread of a block on an element. Raises Conflict when it, or another
        block's, is one for its block alone (`is_narrow`), and no order is between them."""
        path = path[:1]
        for kind in (True, False) if is_narrow else (True,):
            for other, stamp in self.scoped_by.get((path, kind), {}).items():
                if other != block and not thread.sees(stamp):
                    raise Conflict(f"threads {stamp[0]} and {thread.number} on one element: atomic for a block alone")
        self.scoped_by.setdefault((path, is_narrow), {})[block] = thread.stamp()

    def fetched(self, path: Path) -> Any:
        """The value at a path. Raises Unassigned where shared memory holds none."""
        value = fetch(self.data, path)
        if self.is_shared and _holds_unset(value):
            raise Unassigned(f"element {path[0]} in shared memory is read before anything is assigned to it")
        return value


@dataclass
class Indexed(Memory):
    """An array seen through index arrays, one for each axis that has one. `whole` is the shape of the array behind;
    memory and notes are its own. Reading an index array is noted there.
    """

    whole: tuple[int, ...] = ()
    tables: tuple[Memory | None, ...] = ()

    def offset(self, indices: list[int], wraps: bool, thread: Actor) -> int:
        """The position in the array behind. Raises OutOfBounds, for what an index array holds too."""
        position = 0
        for axis, index in enumerate(self.inside(indices, wraps)):
            extent = self.whole[axis]
            found = self._found(axis, index, wraps, thread)
            if not 0 <= found < extent:
                reason = f"the index array of axis {axis} holds {found} at {index}"
                raise OutOfBounds(f"{reason}, outside the {extent} elements of the array behind it")
            position = position * extent + found
        return self.base + position * size_of(self.whole[len(indices) :])

    def _found(self, axis: int, index: int, wraps: bool, thread: Actor) -> int:
        table = self.tables[axis]
        if table is None:
            return index
        path = (table.offset([index], wraps, thread),)
        table.note("read", path, thread)
        found: int = table.fetched(path)
        return found

    def view(self, indices: list[int], wraps: bool, thread: Actor) -> Memory:
        """The array left at fewer indices than dimensions, seen through the other index arrays."""
        count = len(indices)
        rest, whole, tables = self.shape[count:], self.whole[count:], self.tables[count:]
        if not self.is_present:
            return Indexed(self.element, rest, [], is_present=False, whole=whole, tables=tables)
        books = self.written_by, self.read_by, self.atomic_by, self.scoped_by
        base = self.offset(indices, wraps, thread)
        return Indexed(self.element, rest, self.data, *books, base, whole=whole, tables=tables)


def indexed(behind: Memory, tables: tuple[Memory | None, ...]) -> Indexed:
    """An array seen through index arrays of int32, None for an axis that is plain."""
    shape = tuple(
        extent if table is None else table.shape[0] for extent, table in zip(behind.shape, tables, strict=True)
    )
    books = behind.written_by, behind.read_by, behind.atomic_by, behind.scoped_by
    return Indexed(behind.element, shape, behind.data, *books, behind.base, whole=behind.shape, tables=tables)


def _require_order(stamps: Iterable[Stamp], other: str, kind: str, thread: Actor) -> None:
    for stamp in stamps:
        if not thread.sees(stamp):
            raise Conflict(f"threads {stamp[0]} and {thread.number} on one element: {other} and {kind}")


def shared_memory(element: Type, shape: tuple[int, ...]) -> Memory:
    """A block's array before anything is assigned to it."""
    data = [built(element, lambda _: UNSET) for _ in range(size_of(shape))]
    return Memory(element, shape, data, is_shared=True)


def _holds_unset(value: Any) -> bool:
    if isinstance(value, (list, dict)):
        return any(map(_holds_unset, value.values() if isinstance(value, dict) else value))
    return value is UNSET


def fetch(container: Any, path: Path) -> Any:
    """What lies at a path."""
    for step in path:
        container = container[step]
    return container


def zero(type: Type) -> Any:
    """The zero of a type."""
    return built(type, _zero_of)


def _zero_of(type: Type) -> Any:
    if isinstance(type, IndexedArray):
        none = (0,) * type.ndim
        return Indexed(type.element, none, [], is_present=False, whole=none, tables=(None,) * type.ndim)
    if isinstance(type, Array):
        return Memory(type.element, (0,) * type.ndim, [], is_present=False)
    if not isinstance(type, Scalar):
        raise InternalError(f"no zero of {type}")
    return {"bool": False, "float": 0.0}.get(type.kind, 0)


def built(type: Type, leaf: Callable[[Type], Any]) -> Any:
    """A value of a type, from its scalars and arrays."""
    match type:
        case Vector():
            return [leaf(type.element) for _ in range(type.length)]
        case Matrix():
            return [[leaf(type.element) for _ in range(type.columns)] for _ in range(type.rows)]
        case Struct():
            return {f.name: built(f.type, leaf) for f in type.fields}
    return leaf(type)


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
