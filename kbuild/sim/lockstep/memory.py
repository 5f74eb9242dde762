"""Memory as kernels see it: allocations at addresses, read and written by byte offset, many lanes at a time.

The arrays of a launch stay where they are, in the host's memory and at its addresses; memory that overlaps is one
allocation. Shared memory is an allocation too: the blocks that run together have theirs side by side.
"""

from __future__ import annotations

import bisect
import ctypes
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kbuild.ir import nodes
from kbuild.ir.types import BOOL, INT32, INT64, Array, IndexedArray, Matrix, Scalar, Struct, Type, Vector
from kbuild.loader.abi import align_up
from kbuild.sim.arithmetic import dtype_of
from kbuild.sim.lockstep import tree
from kbuild.sim.lockstep.affine import Affine
from kbuild.sim.lockstep.tree import Descriptor, Value
from kbuild.sim.values import Fault

# Where constant and shared memory lie; no array of a launch has such an address.
CONSTANTS = 1 << 61
SHARED = 1 << 62


@dataclass(frozen=True)
class Label:
    """What to call a place: an array from a byte offset on, of elements of `size` bytes side by side; 0 for others."""

    start: int
    end: int
    name: str
    shape: tuple[int, ...] = ()
    size: int = 0

    def at(self, offset: int) -> str:
        """`x[3]`, where the element can be told."""
        inside = offset - self.start
        if not self.size:
            return f"{self.name}, byte {inside},"
        indices = np.unravel_index(inside // self.size, self.shape)
        return f"{self.name}[{', '.join(str(int(index)) for index in indices)}]"


class Allocation:
    """Bytes from `start` on. `granule` bytes are told apart where accesses are compared; `stride` is what a block has
    of shared memory, 0 for global memory. `is_stored`: the kernel may store to it. Memory that `is_read_only` may not
    even be written to by this process.
    """

    def __init__(
        self,
        start: int,
        data: Any,
        granule: int,
        name: str,
        stride: int = 0,
        is_stored: bool = True,
        is_read_only: bool = False,
    ) -> None:
        self.start, self.data, self.granule, self.name, self.stride = start, data, granule, name, stride
        self.is_stored, self.is_read_only = is_stored, is_read_only
        self.first_block: int | None = None  # whose memory is the first of those here, where blocks reach others'
        self.is_constant = False  # a table, which nobody stores to: no access to it is told
        self.size = len(data)
        self.labels: list[Label] = []
        self.books: Any = None  # see `races`
        self.assigned: Any = None  # for each granule whether anything was assigned; None: everything was
        self._typed: dict[Any, Any] = {}

    def place(self, offset: int) -> str:
        """What to call a byte: `x[3]`, `tile[0, 1] (shared memory)`."""
        block, offset = divmod(offset, self.stride or self.size + 1)
        names = list(dict.fromkeys(one.at(offset) for one in self.labels if one.start <= offset < one.end))
        if not names:
            return f"{self.name}, byte {offset},"
        of = "" if self.first_block is None else f" of block {self.first_block + block}"
        beside = f"shared memory{of}" if self.stride else ", ".join(names[1:]) and f"also {', '.join(names[1:])}"
        return f"{names[0]} ({beside})" if beside else names[0]

    @property
    def space(self) -> str:
        """`global` or `shared`."""
        return "shared" if self.stride else "global"

    def typed(self, dtype: Any) -> Any:
        """All of it as numbers of one type."""
        found = self._typed.get(dtype)
        if found is None:
            whole = self.size // dtype.itemsize * dtype.itemsize
            found = self._typed[dtype] = self.data[:whole].view(dtype)
        return found


@dataclass(frozen=True)
class Extent:
    """Where an array of a launch lies, and the parameter it is; `shape` and `size` of its elements where those lie side
    by side in order."""

    start: int
    end: int
    granule: int
    name: str
    is_stored: bool = True
    is_read_only: bool = False
    shape: tuple[int, ...] = ()
    size: int = 0


class Space:
    """The allocations of a launch."""

    def __init__(self, extents: Iterable[Extent]) -> None:
        self._starts: list[int] = []
        self.allocations: list[Allocation] = []
        self.tables: dict[tuple[Type, bytes], Allocation] = {}  # of constants
        extents = list(extents)
        for extent in _merged(extents):
            data = bytes_at(extent)
            is_stored, is_read_only = extent.is_stored, extent.is_read_only
            made = Allocation(
                extent.start, data, extent.granule, extent.name, is_stored=is_stored, is_read_only=is_read_only
            )
            inside = (one for one in extents if extent.start <= one.start < extent.end)
            made.labels = [
                Label(one.start - extent.start, one.end - extent.start, one.name, one.shape, one.size) for one in inside
            ]
            self.add(made)

    def add(self, allocation: Allocation) -> None:
        """One that lies behind all others."""
        self._starts.append(allocation.start)
        self.allocations.append(allocation)

    def add_tables(self, tables: Iterable[nodes.Table]) -> None:
        """Tables of constants, before there is shared memory."""
        end = CONSTANTS
        for table in tables:
            element: Type = table.type.element  # type: ignore[attr-defined]
            data = np.frombuffer(table.data, np.uint8)
            made = Allocation(end, data, granule_of(element), table.name, is_stored=False, is_read_only=True)
            made.is_constant = True
            self.tables[table.type, table.data] = made
            self.add(made)
            end = align_up(end + made.size + 1, 256)

    def put_shared(self, allocation: Allocation) -> None:
        """The shared memory of the blocks at hand, in the place of what others had."""
        if self.allocations and self.allocations[-1].stride:
            self.allocations.pop()
            self._starts.pop()
        self.add(allocation)

    @property
    def shared(self) -> Allocation:
        """The shared memory of the blocks at hand, where there is any."""
        assert self.allocations[-1].stride
        return self.allocations[-1]

    def find(self, address: int) -> Allocation | None:
        """The allocation that an address lies in."""
        number = bisect.bisect_right(self._starts, address) - 1
        if number < 0 or address - self._starts[number] >= max(self.allocations[number].size, 1):
            return None
        return self.allocations[number]

    def located(self, addresses: Any) -> list[tuple[Allocation, Any, Any]]:
        """Addresses of lanes as (allocation, positions of lanes, byte offsets); each lane is in one of them.

        Raises Fault where there is no memory.
        """
        numbers = np.searchsorted(np.array(self._starts, np.uint64), addresses, "right") - 1
        parts = []
        for number in np.unique(numbers):
            (positions,) = np.nonzero(numbers == number)
            allocation = self.allocations[number] if number >= 0 else None
            offsets = (addresses[positions] - np.uint64(max(self._starts[number], 0) if number >= 0 else 0)).astype(
                np.int64
            )
            if allocation is None or offsets.max() >= allocation.size:
                fault = Fault("an access where no array of the launch is")
                fault.position = int(positions[0 if allocation is None else np.argmax(offsets)])
                raise fault
            parts.append((allocation, positions, offsets))
        return parts


def _merged(extents: Iterable[Extent]) -> list[Extent]:
    """In order of addresses, those that overlap as one."""
    found: list[Extent] = []
    for one in sorted(extents, key=lambda extent: extent.start):
        if found and one.start < found[-1].end:
            last = found[-1]
            name = last.name if one.name in last.name.split(", ") else f"{last.name}, {one.name}"
            end, granule = max(last.end, one.end), min(last.granule, one.granule)
            is_stored, is_read_only = last.is_stored or one.is_stored, last.is_read_only and one.is_read_only
            found[-1] = Extent(last.start, end, granule, name, is_stored, is_read_only)
        else:
            found.append(one)
    return found


def bytes_at(extent: Extent) -> Any:
    """The memory of this process that an extent names, to be read and written."""
    size = extent.end - extent.start
    held: Any = (ctypes.c_uint8 * size).from_address(extent.start) if size else b""
    return np.frombuffer(held, np.uint8)


def shared(bytes: int, blocks: int, granule: int, labels: Iterable[Label] = ()) -> Allocation:
    """Shared memory for some blocks, before anything is assigned to it."""
    stride = align_up(max(bytes, 1), 128)  # as far apart as the banks repeat
    made = Allocation(SHARED, np.full(stride * blocks, 0xFF, np.uint8), granule, "shared memory", stride)
    made.labels = list(labels)
    made.assigned = np.zeros(made.size // granule, bool)
    made.assigned.reshape(blocks, -1)[:, -(-bytes // granule) :] = True  # what is between blocks is no array's
    return made


def granule_of(type: Type) -> int:
    """The smallest number in an element, in bytes."""
    match type:
        case Scalar():
            return type.size
        case Vector() | Matrix():
            return type.element.size
        case Struct():
            return min((granule_of(field.type) for field in type.fields), default=1)
    return 4  # a descriptor's extents


def leaves(type: Type) -> list[tuple[int, Scalar]]:
    """(offset in bytes, type) of every number in an element, descriptors included."""
    match type:
        case Scalar():
            return [(0, type)]
        case Vector():
            return [(i * type.element.size, type.element) for i in range(type.length)]
        case Matrix():
            return [(i * type.element.size, type.element) for i in range(type.rows * type.columns)]
        case Struct():
            return [(f.offset + at, leaf) for f in type.fields for at, leaf in leaves(f.type)]
    return []


def at(memory: Allocation, offset: Any, type: Scalar, delta: int = 0) -> Any:
    """What lies at a byte offset: one number for each lane, or one for all."""
    dtype = dtype_of(type)
    size = dtype.itemsize
    numbers = memory.typed(np.dtype(np.uint8) if type == BOOL else dtype)
    if isinstance(offset, Affine):
        start = offset.start + delta
        if start % size == 0 and offset.step % size == 0 and offset.step:
            found = numbers[_slice(start // size, offset.step // size, offset.count)].copy()
            return found != 0 if type == BOOL else found
        offset = offset.dense()
    if isinstance(offset, (int, np.integer)):
        found = numbers[(int(offset) + delta) // size]
        return np.bool_(found != 0) if type == BOOL else found
    numbers, index = indexed(numbers, offset, delta)
    found = numbers.take(index)
    return found != 0 if type == BOOL else found


def put_at(memory: Allocation, offset: Any, type: Scalar, value: Any, delta: int = 0) -> None:
    """Stores one number for each lane; of lanes at one place the last one wins."""
    dtype = dtype_of(type)
    size = dtype.itemsize
    numbers, value = memory.typed(dtype), tree.dense(value)
    if isinstance(offset, Affine):
        start = offset.start + delta
        if start % size == 0 and offset.step % size == 0 and offset.step:
            numbers[_slice(start // size, offset.step // size, offset.count)] = value
            return
        offset = offset.dense()
    if isinstance(offset, (int, np.integer)):
        numbers[(int(offset) + delta) // size] = value if value.ndim == 0 else value[-1]
    else:
        numbers, index = indexed(numbers, offset, delta)
        numbers[index] = value


def _slice(start: int, step: int, count: int) -> slice:
    stop = start + step * count
    return slice(start, stop if stop >= 0 else None, step)


def indexed(numbers: Any, offset: Any, delta: int) -> tuple[Any, Any]:
    """Numbers and an index for each lane, from byte offsets: a constant part moves the numbers, at no cost."""
    size = numbers.dtype.itemsize
    if delta % size == 0:
        numbers = numbers[delta // size :]
    else:
        offset = offset + delta
    return numbers, offset >> (size.bit_length() - 1) if size > 1 else offset


def _side_by_side(memory: Allocation, offset: Any, type: Vector | Matrix, delta: int) -> tuple[list[Any], Any] | None:
    """For each component its numbers, and the index into all of them; None where lanes' offsets are not one by one."""
    dtype = dtype_of(type.element)
    if not isinstance(offset, np.ndarray) or delta % dtype.itemsize or type.element == BOOL:
        return None
    numbers, index = indexed(memory.typed(dtype), offset, delta)
    return [numbers[i:] for i in range(type.size // dtype.itemsize)], index


def load(memory: Allocation, offset: Any, type: Type, space: Space, delta: int = 0) -> Value:
    """A value of any type from memory."""
    match type:
        case Scalar():
            return at(memory, offset, type, delta)
        case Vector() | Matrix():
            beside = _side_by_side(memory, offset, type, delta)
            if beside is not None:
                return [numbers.take(beside[1]) for numbers in beside[0]]
            return [at(memory, offset, type.element, delta + place) for place, _ in leaves(type)]
        case Struct():
            return {f.name: load(memory, offset, f.type, space, delta + f.offset) for f in type.fields}
        case Array():
            return load_descriptor(memory, offset, type, space, delta)
    raise AssertionError(f"nothing of type {type} lies in memory")


def load_descriptor(memory: Allocation, offset: Any, type: Array, space: Space, delta: int = 0) -> Descriptor:
    """An array from its descriptor in memory (see `loader.abi.Array`)."""

    def words(start: int, count: int) -> list[Any]:
        return [at(memory, offset, INT32, delta + start + 4 * i) for i in range(count)]

    n = type.ndim
    address = at(memory, offset, INT64, delta)
    base = space.find(int(address)) if isinstance(address, np.generic) and address else None
    if not isinstance(type, IndexedArray):
        return Descriptor(type.element, address, words(8, n), words(8 + 4 * n, n), base)
    end = 8 + 8 * n
    tables = [at(memory, offset, INT64, delta + end + 8 * axis) for axis in range(n)]
    return Descriptor(type.element, address, words(end + 8 * n, n), words(8 + 4 * n, n), base, tables, words(8, n))


def store(memory: Allocation, offset: Any, type: Type, value: Value, delta: int = 0) -> None:
    """Puts a value of any type into memory."""
    match type:
        case Scalar():
            put_at(memory, offset, type, value, delta)
        case Vector() | Matrix():
            beside = _side_by_side(memory, offset, type, delta)
            if beside is not None:
                for numbers, part in zip(beside[0], value, strict=True):
                    numbers[beside[1]] = tree.dense(part)
                return
            for (place, leaf), part in zip(leaves(type), value, strict=True):
                put_at(memory, offset, leaf, part, delta + place)
        case Struct():
            for field in type.fields:
                store(memory, offset, field.type, value[field.name], delta + field.offset)
        case Array():
            _store_descriptor(memory, offset, type, value, delta)


def _store_descriptor(memory: Allocation, offset: Any, type: Array, value: Descriptor, delta: int) -> None:
    n = type.ndim
    put_at(memory, offset, INT64, value.address, delta)
    extents = value.shape if value.whole is None else value.whole
    for i, number in enumerate([*extents, *value.strides]):
        put_at(memory, offset, INT32, number, delta + 8 + 4 * i)
    if value.tables is not None:
        end = delta + 8 + 8 * n
        for axis in range(n):
            put_at(memory, offset, INT64, value.tables[axis], end + 8 * axis)
            put_at(memory, offset, INT32, value.shape[axis], end + 8 * n + 4 * axis)
