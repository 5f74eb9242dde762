"""DLPack, both ways: the protocol by which arrays of any library are shared without a copy.

`export` makes the capsule that `array.__dlpack__` gives; `from_dlpack` takes what another library's `__dlpack__` gives.
Vectors and matrices are one or two axes more there. A stream that a consumer names waits for what is being done to
the memory here; the memory remembers it, and goes back when it is through. Read-only memory is told of by version 1 of
the protocol, and only lent to consumers that know it.
"""

from __future__ import annotations

import ctypes
import sys
from ctypes import c_int32, c_int64, c_ubyte, c_uint16, c_uint32, c_uint64, c_void_p

from . import abi, context, copying, driver, foreign, hosts, interface, loans, ordering, waits
from .array_class import array
from .errors import describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ("from_dlpack",)

CPU, CUDA, PINNED, MANAGED = 1, 2, 3, 13  # DLDeviceType
_DEVICES = {4: "OpenCL", 7: "Vulkan", 8: "Metal", 9: "VPI", 10: "ROCm", 14: "oneAPI", 15: "WebGPU", 16: "Hexagon"}
_KINDS = {"int": 0, "uint": 1, "float": 2, "bool": 6}  # DLDataTypeCode
_KIND_NAMES = {code: kind for kind, code in _KINDS.items()}
_OTHER_KINDS = {3: "handle", 4: "bfloat", 5: "complex"}
_READ_ONLY, _COPIED = 1, 2
_VERSION = (1, 0)
_LEGACY, _NO_STREAM = 1, -1


class _Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", c_uint64),
        ("device", c_int32),
        ("ordinal", c_int32),
        ("ndim", c_int32),
        ("code", c_ubyte),
        ("bits", c_ubyte),
        ("lanes", c_uint16),
        ("shape", c_uint64),
        ("strides", c_uint64),  # in elements
        ("offset", c_uint64),
    )


class _Plain(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = (("tensor", _Tensor), ("context", c_uint64), ("deleter", c_uint64))


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = (
        ("major", c_uint32),
        ("minor", c_uint32),
        ("context", c_uint64),
        ("deleter", c_uint64),
        ("flags", c_uint64),
        ("tensor", _Tensor),
    )


_EXTENTS = 128  # where shape and strides begin in a tensor's block


# Lending


def device_of(whole: array) -> tuple[int, int]:
    """(DLDeviceType, number) of the memory."""
    if whole.device.kind != "cuda":
        return (PINNED if whole.pinned else CPU), 0
    from .memory.allocation import ManagedMemory

    return (MANAGED if isinstance(whole._owner, ManagedMemory) else CUDA), whole.device.ordinal


def export(
    whole: array,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """A capsule over an array's memory, or over a copy where one is asked for. Raises BufferError.

    `stream` is the consumer's: None or 1 the default stream, 2 that of the thread, -1 none that waits for anything.
    """
    whole._alive()
    element = whole._type.element
    if interface.scalar_of(element) is None:
        raise BufferError(
            "DLPack has no records: an array of %s cannot be lent; use numpy() or one field a time" % element
        )
    there = _asked_for(dl_device, whole)
    source = _at(there, whole, copy)
    flags = _COPIED if source is not whole else 0
    is_versioned = max_version is not None and tuple(max_version) >= _VERSION
    if source._view.readonly:
        if not is_versioned:
            raise BufferError("the array is read-only, which only version 1 of DLPack can say: lend a copy (kb.clone)")
        flags |= _READ_ONLY
    if there[0] in (CUDA, MANAGED):
        _hand_over(source, stream)
    else:
        _finish(source, stream)
    loans.sweep()
    address = loans.block()
    if is_versioned:
        versioned = _Versioned.from_address(address)
        versioned.major, versioned.minor = _VERSION
        versioned.context, versioned.deleter, versioned.flags = 0, loans.DELETER, flags
        _write(versioned.tensor, address + _EXTENTS, source, there)
        return loans.lend(address, loans.VERSIONED, source._owner)
    plain = _Plain.from_address(address)
    plain.context, plain.deleter = 0, loans.DELETER
    _write(plain.tensor, address + _EXTENTS, source, there)
    return loans.lend(address, loans.PLAIN, source._owner)


def _asked_for(dl_device: Any, whole: array) -> tuple[int, int]:
    if dl_device is None:
        return device_of(whole)
    try:
        kind, ordinal = dl_device
        return int(kind), int(ordinal)
    except (TypeError, ValueError):
        raise BufferError("dl_device is (type, number) as DLPack counts them, not %r" % (dl_device,)) from None


def _at(there: tuple[int, int], whole: array, copy: bool | None) -> array:
    """The array itself where its memory can be said to lie there, else a copy there."""
    own = device_of(whole)
    if there == own or (own[0] == PINNED and there[0] == CPU) or (own[0] == MANAGED and there == (CUDA, own[1])):
        return copying.clone(whole) if copy else whole
    if there[0] not in (CPU, CUDA):
        raise BufferError("an array on %s cannot be lent as memory of %s" % (whole.device, _name_of(there[0])))
    if copy is False:
        raise BufferError("an array on %s is not on device %r of DLPack without a copy" % (whole.device, there))
    return copying.clone(whole, "cpu" if there[0] == CPU else "cuda:%d" % there[1])


def _name_of(kind: int) -> str:
    known = {CPU: "the host", CUDA: "a GPU", PINNED: "the host, pinned", MANAGED: "host and GPU, managed"}
    return known.get(kind) or _DEVICES.get(kind) or "an unknown device"


def _hand_over(source: array, stream: Any) -> None:
    """Lets the consumer's stream wait for what is being done to the memory here."""
    if type(stream) is int and stream == _NO_STREAM:
        return
    if type(stream) is int and stream == 0:
        raise BufferError("stream 0 is ambiguous in DLPack: 1 is the legacy default stream, 2 that of the thread")
    try:
        handle = ordering.stream_handle(stream)
    except TypeError as error:
        raise BufferError(str(error)) from None
    waits.hand_over(source._owner, source.device, 0 if handle == _LEGACY else handle, stream)


def _finish(source: array, stream: Any) -> None:
    """Waits for what GPUs are still copying from or to memory of the host: whoever uses it there waits for nothing."""
    if stream is not None and not (type(stream) is int and stream == _NO_STREAM):
        raise BufferError("memory of the host has no streams: stream is None there, not %r" % (stream,))
    if source.pinned and stream is None:
        memory = source._owner
        with memory.device.current():
            for handle in list(memory.users):
                driver.get().call("cuStreamSynchronize", handle, about="stream 0x%x" % handle)


def _write(tensor: _Tensor, extents: int, source: array, there: tuple[int, int]) -> None:
    view, scalar = source._view, interface.scalar_of(source._type.element)
    assert scalar is not None
    inner = interface.inner_shape(view.element)
    shape = view.shape + inner
    strides = view.strides + interface.contiguous_strides(inner, scalar.size)
    # An empty array's data is not looked at, and may not be zero: that is how a tensor says it was given back.
    tensor.data, tensor.offset = view.ptr or extents, 0
    tensor.device, tensor.ordinal = there
    tensor.ndim, tensor.code, tensor.bits, tensor.lanes = len(shape), _KINDS[scalar.kind], 8 * scalar.size, 1
    tensor.shape, tensor.strides = extents, extents + 8 * len(shape)
    numbers: list[Any] = [*shape, *[stride // scalar.size for stride in strides]]
    (c_int64 * len(numbers)).from_address(extents)[:] = numbers


# Borrowing


class Borrowed:
    """Another library's tensor; it is given back when the last array over it goes."""

    __slots__ = ("__weakref__", "_address", "_deleter")
    _call: Any = staticmethod(ctypes.PYFUNCTYPE(None, c_void_p))  # with Python's lock, which some deleters rely on

    def __init__(self) -> None:
        self._address = self._deleter = 0

    def arm(self, address: int, deleter: int) -> None:
        """From now on the tensor is ours to give back."""
        self._deleter, self._address = deleter, address

    def __del__(self, is_finalizing: Any = sys.is_finalizing) -> None:
        address, self._address = self._address, 0
        if address and self._deleter and not is_finalizing():
            self._call(self._deleter)(address)


def from_dlpack(data: Any, dtype: Any = None) -> array:
    """An array over the memory of an object with `__dlpack__`, or of a capsule, kept alive, not copied.

    With a vector or matrix as `dtype` the last axes are its components. The producer lets the stream that is meant
    here wait for its own work. Raises TypeError, BufferError.
    """
    loans.sweep()
    if isinstance(data, array):
        return data if dtype is None else foreign.with_type(data, dtype)
    if type(data).__name__ == "PyCapsule":
        return _take(data, dtype)
    if not is_lender(data):
        raise TypeError("from_dlpack wants an object with __dlpack__, or a capsule of it, not %s" % describe(data))
    return _take(_ask(data), dtype, foreign.is_immutable(data))


def is_lender(data: Any) -> bool:
    """Whether `data` has the protocol's methods."""
    kind = type(data)
    return hasattr(kind, "__dlpack__") and hasattr(kind, "__dlpack_device__")


def place_of(data: Any) -> Any:
    """The device of an object with `__dlpack__`. Raises BufferError where it is none of ours."""
    kind, ordinal = data.__dlpack_device__()
    return _place(int(kind), int(ordinal))


def _place(kind: int, ordinal: int) -> Any:
    if kind in (CUDA, MANAGED):
        return context.get_device("cuda:%d" % ordinal)
    if kind in (CPU, PINNED):
        return hosts.HOSTS["cpu"]
    raise BufferError("memory of device type %d (%s) is none that kernels here can use" % (kind, _name_of(kind)))


def _ask(data: Any) -> Any:
    place, options = place_of(data), {}
    if place.kind == "cuda":
        from . import current

        options["stream"] = current.handle(place) or _LEGACY
    try:
        return data.__dlpack__(max_version=_VERSION, **options)
    except TypeError:  # older than version 1
        return data.__dlpack__(**options)


def _take(capsule: Any, dtype: Any, is_immutable: bool = False) -> array:
    """Consumes a capsule; one that does not fit stays as it was, so that its producer frees it."""
    name = next((one for one in (loans.VERSIONED, loans.PLAIN) if loans.is_capsule(capsule, one)), None)
    if name is None:
        is_used = any(loans.is_capsule(capsule, b"used_" + one) for one in (loans.VERSIONED, loans.PLAIN))
        raise ValueError("the capsule was consumed before") if is_used else TypeError("not a capsule of DLPack")
    address = loans.address_in(capsule, name)
    managed: Any = (_Versioned if name == loans.VERSIONED else _Plain).from_address(address)
    is_read_only = is_immutable
    if name == loans.VERSIONED:
        if managed.major != _VERSION[0]:
            raise BufferError("the tensor is of version %d.%d of DLPack" % (managed.major, managed.minor))
        is_read_only = is_read_only or bool(managed.flags & _READ_ONLY)
    tensor, owner = managed.tensor, Borrowed()
    described = _described(tensor, is_read_only)
    made = foreign.over_described(described, dtype, _place(tensor.device, tensor.ordinal), owner)
    loans.consume(capsule, name)
    owner.arm(address, managed.deleter)
    return made


def _described(tensor: _Tensor, is_read_only: bool) -> dict[str, Any]:
    """A tensor as the dictionary of an array interface."""
    scalar = _scalar_of(tensor)
    numbers = c_int64 * max(tensor.ndim, 0)
    shape = tuple(numbers.from_address(tensor.shape)) if tensor.ndim > 0 else ()
    strides = None
    if tensor.strides and shape:
        strides = tuple([step * scalar.size for step in numbers.from_address(tensor.strides)])
    return {
        "shape": shape,
        "typestr": interface.TYPESTR[scalar],
        "data": (tensor.data + tensor.offset if 0 not in shape else 0, is_read_only),
        "strides": strides,
    }


def _scalar_of(tensor: _Tensor) -> abi.Scalar:
    kind = _KIND_NAMES.get(tensor.code)
    if tensor.lanes == 1:
        for scalar in abi.SCALARS.values():
            if scalar.kind == kind and 8 * scalar.size == tensor.bits:
                return scalar
    name = kind or _OTHER_KINDS.get(tensor.code) or "code %d " % tensor.code
    lanes = "" if tensor.lanes == 1 else " in lanes of %d" % tensor.lanes
    raise BufferError("a tensor of %s%d%s has elements that kernels here do not know" % (name, tensor.bits, lanes))
