"""`kb.indexedarray`: an array seen through index arrays, and the annotation of one.

Element (i, j) is `data[indices[0][i], indices[1][j]]`; an axis without an index array is plain. Kernels read and write
the elements of `data`. On the host elements are gathered and scattered here, without a kernel. As an argument it is
what an array is: a descriptor packed once, and a key that a launch compares.
"""

from __future__ import annotations

import struct

from . import abi, host, interface, uses
from .array import empty
from .array_class import Shaped, array
from .errors import describe
from .foreign import asarray
from .layout import IndexedAnnotation, abi_type
from .pack import array_key
from .values import class_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ("indexedarray", "indexedarray1d", "indexedarray2d", "indexedarray3d", "indexedarray4d")


class indexedarray(Shaped):
    """`indexedarray(dtype=T, ndim=n)` and `indexedarray[T]` are annotations; the other form is an array seen through
    index arrays:

    `indexedarray(data, indices, dtype=None, ndim=None)`: `data` is a `kb.array`, `indices` a `kb.array` of int32 with
    one dimension, which is for the first axis, or a list of them, with None for an axis that is plain. Indices outside
    `data` are the program's fault, as in kernels everywhere; on the host they raise IndexError.

    Attributes: `data`, `indices` (one an axis), `shape`, `ndim`, `size`, `nbytes`, `dtype`, `device`.
    """

    __slots__ = (
        "_arrays", "_descriptor", "_gap", "_name", "_owner", "_type", "data", "device", "dtype", "indices", "shape",
    )  # fmt: skip
    _kb_array_ = True
    _ndim: int | None = None

    _arrays: tuple[array, ...]
    _descriptor: bytes
    _gap: str | None
    _name: str
    _owner: _Owners
    _type: abi.IndexedArray
    data: array
    device: Any
    dtype: Any
    indices: tuple[array | None, ...]
    shape: tuple[int, ...]

    def __new__(cls, data: Any = None, indices: Any = None, dtype: Any = None, ndim: int | None = None) -> Any:
        """The annotation, or the array; see the class."""
        ndim = cls._ndim if ndim is None else ndim
        if data is None and indices is None:
            return _annotation(cls, dtype, ndim)
        _check_data(data, dtype, ndim)
        return assembled(data, _tables(data, indices))

    def __class_getitem__(cls, dtype: Any) -> IndexedAnnotation:
        return IndexedAnnotation(dtype, cls._ndim or 1)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("an indexedarray's %s cannot change: make another one" % name)

    @property
    def is_alive(self) -> bool:
        """False once `data` or an index array was freed."""
        for one in self._arrays:  # noqa: SIM110 (asked at every launch, where `all` costs three times as much)
            if not one.is_alive:
                return False
        return True

    @property
    def _key(self) -> str:
        return self._name if self._gap is None and self.is_alive else "not to be launched"

    def __repr__(self) -> str:
        if not self.is_alive:
            return "<kb.indexedarray, freed>"
        return "<kb.indexedarray %s of shape %r on %s>" % (self._type.element, self.shape, self.device)

    @property
    def is_contiguous(self) -> bool:
        """False: the elements lie where the index arrays say."""
        return False

    def tolist(self) -> Any:
        """The elements as nested lists; vectors, matrices and structs as their host classes."""
        return host.decode(self.tobytes(), self.shape, self._type.element, self.data._make)

    def numpy(self) -> Any:
        """A copy as a NumPy array; vectors and matrices add axes, structs are records. Imports NumPy."""
        return host.to_numpy(self.tobytes(), self.shape, self._type.element)

    def tobytes(self) -> bytearray:
        """The elements' bytes, gathered in row-major order. Raises IndexError for an index outside `data`."""
        positions, length = self._runs()
        whole = self.data.tobytes()
        return bytearray().join([whole[start : start + length] for start in positions])

    def contiguous(self) -> array:
        """The elements in an array of their own."""
        made = empty(self.shape, self.dtype, self.device)
        _taped("indexedarray.contiguous", self._arrays, made, lambda: _upload(made, self.tobytes()))
        return made

    def assign(self, data: Any) -> None:
        """Copies host data or another array into the elements; where indices repeat, the last element stays."""
        encoded, shape, element = _encoded(data, self.dtype)
        if shape != self.shape or element != self._type.element:
            message = "cannot copy %s of shape %r into %s of shape %r"
            raise ValueError(message % (element, shape, self._type.element, self.shape))
        self._scatter(encoded, data)

    def fill_(self, value: Any) -> None:
        """Sets every element."""
        from . import copying

        self._scatter(copying.pattern_of(self._type.element, value) * self.size)

    def zero_(self) -> None:
        """Sets every byte of the elements to zero."""
        self._scatter(bytes(self.nbytes))

    def _scatter(self, elements: Any, source: Any = None) -> None:
        reads = (*self._arrays, source) if isinstance(source, array) else self._arrays
        _taped("a copy into an indexedarray", reads, self.data, lambda: self._put(elements))

    def _put(self, elements: Any) -> None:
        positions, length = self._runs()
        if self.size == 0:
            return
        whole, given = self.data.tobytes(), memoryview(elements).cast("B")
        for number, start in enumerate(positions):
            whole[start : start + length] = given[number * length : (number + 1) * length]
        _upload(self.data, whole)

    def _runs(self) -> tuple[Any, int]:
        """Where the elements lie among the bytes of `data`, in pieces of so many bytes."""
        if not self.is_alive:
            raise ValueError("the array has been freed")
        axis = self.ndim
        while axis and self.indices[axis - 1] is None:
            axis -= 1  # axes from here on lie side by side
        length = self._type.element.size
        for extent in self.shape[axis:]:
            length *= extent
        positions: Any = [0]
        steps = interface.contiguous_strides(self.data.shape, self._type.element.size)
        for number, step in enumerate(steps[:axis]):
            offsets = [i * step for i in self._along(number)]
            positions = [start + offset for start in positions for offset in offsets]
        return positions, length

    def _along(self, axis: int) -> Any:
        """The positions in `data` along an axis. Raises IndexError."""
        table, extent = self.indices[axis], self.data.shape[axis]
        if table is None:
            return range(extent)
        found = table.tolist()
        for number, position in enumerate(found):
            if not 0 <= position < extent:
                message = "the index array of axis %d holds %d at %d, and the data has %d elements along it"
                raise IndexError(message % (axis, position, number, extent))
        return found

    def list(self) -> Any:
        """All elements as one flat list."""
        return host.decode(self.tobytes(), (self.size,), self._type.element, self.data._make)


class indexedarray1d(indexedarray):
    """`indexedarray` with one dimension."""

    __slots__ = ()
    _ndim = 1


class indexedarray2d(indexedarray):
    """`indexedarray` with two dimensions."""

    __slots__ = ()
    _ndim = 2


class indexedarray3d(indexedarray):
    """`indexedarray` with three dimensions."""

    __slots__ = ()
    _ndim = 3


class indexedarray4d(indexedarray):
    """`indexedarray` with four dimensions."""

    __slots__ = ()
    _ndim = 4


def _annotation(cls: Any, dtype: Any, ndim: int | None) -> IndexedAnnotation:
    if dtype is None:
        raise TypeError("%s needs data, or dtype=… as an annotation: %s(dtype=float)" % (cls.__name__, cls.__name__))
    return IndexedAnnotation(dtype, 1 if ndim is None else ndim)


def _check_data(data: Any, dtype: Any, ndim: int | None) -> None:
    if not isinstance(data, array):
        hint = "take its data, and index arrays of your own" if isinstance(data, indexedarray) else "see kb.asarray"
        raise TypeError("indexedarray wants a kb.array as its data, not %s: %s" % (describe(data), hint))
    if not data.is_alive:
        raise ValueError("the array has been freed")
    if ndim is not None and data.ndim != ndim:
        raise ValueError("the data has %d dimensions, not %d" % (data.ndim, ndim))
    if dtype is not None and abi_type(dtype) != data._type.element:
        raise ValueError("the data has elements of type %s, not %s" % (data._type.element, abi_type(dtype)))


def _tables(data: array, indices: Any) -> tuple[array | None, ...]:
    """The index arrays, one an axis. Raises TypeError, ValueError."""
    given = list(indices) if isinstance(indices, (list, tuple)) else [indices]
    if len(given) > data.ndim:
        raise ValueError("%d index arrays for an array of %d dimensions" % (len(given), data.ndim))
    for axis, table in enumerate(given):
        if table is not None:
            _check_table(axis, table, data)
    return tuple(given + [None] * (data.ndim - len(given)))


def _check_table(axis: int, table: Any, data: array) -> None:
    if not isinstance(table, array):
        message = "the index array of axis %d must be a kb.array of int32, not %s: copy it with kb.array(…, dtype=int)"
        raise TypeError(message % (axis, describe(table)))
    if not table.is_alive:
        raise ValueError("the index array of axis %d has been freed" % axis)
    if table._type != abi.Array(abi.INT32, 1):
        message = "the index array of axis %d must be array1[int32], not %s"
        raise TypeError(message % (axis, table._type))
    if table.device is not data.device:
        message = "the index array of axis %d is on %s, and the data on %s"
        raise ValueError(message % (axis, table.device, data.device))


def assembled(data: array, tables: tuple[array | None, ...]) -> indexedarray:
    """An array seen through index arrays that have been checked, one an axis."""
    type_ = abi.IndexedArray(data._type.element, data.ndim)
    shape = tuple([extent if table is None else len(table) for extent, table in zip(data.shape, tables)])
    made: indexedarray = object.__new__(indexedarray)
    arrays = (data, *[table for table in tables if table is not None])
    for name, value in (
        ("_arrays", arrays),
        ("_owner", _Owners(arrays)),
        ("_descriptor", _descriptor(type_, data, tables, shape)),
        ("_gap", _gap(tables)),
        ("_name", array_key(type_, data.device)),
        ("_type", type_),
        ("data", data),
        ("device", data.device),
        ("dtype", data.dtype),
        ("indices", tables),
        ("shape", shape),
    ):
        object.__setattr__(made, name, value)
    return made


def _format(type: abi.IndexedArray) -> str:
    """What follows the descriptor of the array behind it."""
    return "<%dQ%di%dx" % (type.ndim, type.ndim, type.size - 8 - 20 * type.ndim)


def _descriptor(type: abi.IndexedArray, data: array, tables: tuple[array | None, ...], shape: tuple[int, ...]) -> bytes:
    addresses = [0 if table is None else table.ptr for table in tables]
    return data._descriptor + struct.pack(_format(type), *addresses, *shape)


def _gap(tables: tuple[array | None, ...]) -> str | None:
    """Why kernels cannot read an index array, or None."""
    for axis, table in enumerate(tables):
        if table is not None and len(table) > 1 and table.strides[0] != 4:
            message = "the index array of axis %d has a stride of %d bytes: kernels read int32 side by side, so copy it"
            return message % (axis, table.strides[0])
    return None


def _from_descriptor(type: abi.IndexedArray, descriptor: bytes, device: Any) -> indexedarray | None:
    """The one in a struct that was read back; whoever made the struct owns its memory. None for one never set."""
    count = type.ndim
    behind = struct.unpack_from("<Q%di" % (2 * count), descriptor)
    numbers = struct.unpack_from(_format(type), descriptor, 8 + 8 * count)
    if not behind[0]:
        return None
    dtype = class_of(type.element)
    data = array(ptr=behind[0], shape=behind[1 : 1 + count], strides=behind[1 + count :], dtype=dtype, device=device)
    tables = [
        array(ptr=address, shape=(extent,), dtype=int, device=device) if address else None
        for address, extent in zip(numbers[:count], numbers[count:])
    ]
    return assembled(data, tuple(tables))


def _encoded(data: Any, dtype: Any) -> tuple[Any, tuple[int, ...], abi.Type]:
    """Bytes, shape and element type of an array or of host data."""
    if isinstance(data, (indexedarray, array)):
        return data.tobytes(), data.shape, data._type.element
    if hasattr(data, "__cuda_array_interface__"):
        source = asarray(data, dtype)
        return source.tobytes(), source.shape, source._type.element
    encoded, shape, _ = host.encode(data, dtype)
    return encoded, shape, abi_type(dtype)


def _taped(name: str, reads: tuple[array, ...], to: array, again: Callable[[], None]) -> None:
    """Writes into an array by `again`, which a tape may want to know of: no gradient passes through it."""
    if uses.tapes:
        from .tape import watching

        is_done, _ = watching.function(name, list(reads), [to], None, again)
        if is_done:
            return
    again()


def _upload(to: array, data: Any) -> None:
    from . import copying

    copying.upload(to, data)


class _Owners:
    """What holds the memory of several arrays, for launches that tell memory on which stream it is used."""

    __slots__ = ("arrays", "handle", "users")

    def __init__(self, arrays: tuple[array, ...]) -> None:
        self.arrays = arrays
        self.handle, self.users = -1, ()  # of no stream, so that each launch asks

    def used_on(self, handle: int, stream: Any) -> None:
        """See `memory.allocation.Memory`."""
        from . import uses

        uses.note(handle, stream, [one._owner for one in self.arrays])
