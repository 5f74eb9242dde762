"""Memory that gives itself back with the last reference, when no stream uses it any more.

Memory of a GPU belongs to the stream that was meant when it was made. Its first use on another stream lets that one
wait for this point of its own, and is remembered: before such memory goes back, what stands on the other streams then
has to be done. Nobody waits for that: it is looked after at later calls (`reclaim`).
"""

from __future__ import annotations

import ctypes
import sys
from ctypes import c_size_t, c_uint64

from .. import abi, context, current, driver, uses
from ..errors import DriverError
from ..ordering import DEFAULT, Relaxed, is_capturing, relaxed
from . import books, pools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

_OUT_OF_MEMORY = 2
_PORTABLE, _MAPPED = 1, 2  # flags of cuMemHostAlloc
_ATTACH_GLOBAL = 1
_MANAGED, _CONCURRENT_MANAGED, _CAN_MAP_HOST = 83, 89, 19  # CUdevice_attribute
_ALIGN = 64  # of memory on the host
_NOWHERE = c_uint64()  # the address of what has been given back


class Memory:
    """`size` bytes from address `ptr` on. `handle`: the stream it belongs to; `users`: the others, by handle."""

    __slots__ = ("__weakref__", "_address", "_owner", "device", "handle", "host_ptr", "size", "users")

    device: Any
    free_call = ""  # how the driver takes it back
    place = ""  # its name in the books; "": the device's
    is_zero = False  # whether it was made so

    def __init__(self, device: Any, size: int) -> None:
        self.device, self.size, self.handle = device, size, 0
        self._address = c_uint64()  # the driver writes it here, so that no interrupt can come before it is known
        self.host_ptr = 0  # where the host finds the same bytes, if it does
        self.users: dict[int, Any] = {}
        if size:
            self._allocate()
            books.note(id(self), self.place or device.alias, size)

    def _allocate(self) -> None:
        raise NotImplementedError

    @property
    def ptr(self) -> int:
        """The address; 0 for no bytes."""
        return self._address.value

    def used_on(self, handle: int, stream: Any) -> None:
        """The memory is about to be used on a stream, which is kept until the memory goes."""
        handle = 0 if handle == 1 else handle  # both mean the default stream
        if handle != self.handle and handle not in self.users and self.ptr:
            with self.device.current():
                if is_capturing(handle):
                    return  # the graph keeps the memory, and uses it on the streams that it is launched on
                from .. import waits

                waits.wait_for_stream(self.device, self.handle, handle)
            self.users[handle] = stream

    def __del__(self, is_over: Any = sys.is_finalizing) -> None:
        # At the interpreter's exit the driver and our own modules may be gone already, in a forked child the driver
        # never was: the memory goes with the process. An error here has nobody to go to; one that comes before the
        # memory was given back, though, is worth a second try.
        if is_over():
            return
        books.strike(id(self))
        if not hasattr(self, "users") or not driver.is_usable():
            return
        for _ in range(2):
            try:
                if not self._address.value:
                    return
                if self.device.is_current():
                    self._release()
                else:
                    with self.device.passing():
                        self._release()
            except DriverError:
                pass

    def _release(self) -> None:
        others = self._others()
        # While a capture of ours lasts memory does not go, nor on a stream that is captured by whomever.
        if others or uses.captures or is_capturing(self.handle):
            made = _Waiting(self)
            self._address.value = 0  # the other one has it now
            _waiting.setdefault(self.device.ordinal, []).append(made)
            made.watch(others)
        else:
            give_back(self.free_call, self._taken, self.handle)

    def _taken(self) -> int:
        """The address, which is nobody's from then on."""
        ptr, self._address.value = self._address.value, 0
        return ptr

    def _others(self) -> list[int]:
        """The streams whose work has to be done before the memory goes."""
        users = list(self.users)
        # A launch on the default stream leaves no note, being what most programs do all the time.
        return [0, *users] if self.handle and 0 not in self.users else users


class PoolMemory(Memory):
    """Memory of a GPU from its pool, in the order of a stream. Programs make it in every step: this way is short."""

    __slots__ = ()
    free_call = "cuMemFreeAsync"

    def __init__(self, device: Any, size: int, handle: int, pool: pools.Pool) -> None:
        self.device, self.size, self.handle = device, size, handle
        self._address = address = c_uint64()
        self.host_ptr, self.users = 0, {}
        if handle:
            self._owner = current.stream(device.ordinal)
        if size:
            cuda = driver.get()
            # Objects of ctypes all of them: of a number it makes one at each call, and takes its time.
            arguments = ("cuMemAllocFromPoolAsync", address, c_size_t(size), pool.handle, handle or DEFAULT)
            status = relaxed(*arguments)  # another library may be capturing, which this would spoil
            if status:
                _take_again(device, size, arguments, status)
            if self.is_zero:
                cuda.call("cuMemsetD8Async", address, 0, size, handle, about=device.alias)
            books.note(id(self), device.alias, size)

    def _release(self) -> None:
        if self.users or self.handle or uses.captures or is_capturing(0):
            super()._release()
            return
        cuda = driver.get()
        with Relaxed():
            address, self._address = self._address, _NOWHERE
            if address and cuda.ask("cuMemFreeAsync", address, DEFAULT):
                cuda.call("cuMemFree_v2", address)


class ZeroMemory(PoolMemory):
    """The same, cleared."""

    __slots__ = ()
    is_zero = True


class PlainMemory(Memory):
    """Memory of a GPU without a pool, or made while a stream is being captured, when it must outlive the capture."""

    __slots__ = ()
    free_call = "cuMemFree_v2"

    def _allocate(self) -> None:
        with Relaxed():
            _take(self.device, self.size, ("cuMemAlloc_v2", self._address, self.size))


class ManagedMemory(Memory):
    """Memory that host and GPU both reach, and that moves between them. See `managed`."""

    __slots__ = ()
    free_call = "cuMemFree_v2"

    def _allocate(self) -> None:
        with Relaxed():
            _take(self.device, self.size, ("cuMemAllocManaged", self._address, self.size, _ATTACH_GLOBAL))
        self.host_ptr = self.ptr


class PinnedMemory(Memory):
    """Memory of the host that stays where it is, so that a GPU copies from and to it while the host goes on."""

    __slots__ = ("_host",)
    free_call = "cuMemFreeHost"
    place = "pinned"
    flags = _PORTABLE

    def _allocate(self) -> None:
        with Relaxed():
            _take(self.device, self.size, ("cuMemHostAlloc", self._address, self.size, self.flags))
        self.host_ptr = self._address.value

    def used_on(self, handle: int, stream: Any) -> None:
        handle = 0 if handle == 1 else handle
        if handle not in self.users:
            with self.device.current():
                if is_capturing(handle):
                    return
            self.users[handle] = stream


class MappedMemory(PinnedMemory):
    """Pinned memory that kernels reach too: on a Jetson the very same bytes, elsewhere over the bus. `ptr` is the GPU's
    address, `host_ptr` the host's."""

    __slots__ = ()
    flags = _PORTABLE | _MAPPED

    def _allocate(self) -> None:
        self._host = c_uint64()
        super()._allocate()
        driver.get().call("cuMemHostGetDevicePointer_v2", self._host, self.host_ptr, 0, about=str(self.device))

    @property
    def ptr(self) -> int:
        """The address for the GPU; 0 for no bytes."""
        return self._host.value if self.size and self._address.value else 0

    def used_on(self, handle: int, stream: Any) -> None:
        if handle not in (0, 1):
            super().used_on(handle, stream)

    def _others(self) -> list[int]:
        return [0, *self.users] if 0 not in self.users else list(self.users)


class HostMemory(Memory):
    """Memory of the host for the devices `cpu` and `sim`; Python frees it. `may_be_marked`: new memory of `sim` holds
    `abi.UNASSIGNED`, until somebody has looked and found none left.
    """

    __slots__ = ("_bytes", "may_be_marked")

    def _allocate(self) -> None:
        self.may_be_marked = self.device.kind == "sim" and not self.is_zero
        if self.may_be_marked:
            self._bytes = bytearray(abi.UNASSIGNED * (-(-(self.size + _ALIGN) // len(abi.UNASSIGNED))))
        else:
            self._bytes = bytearray(self.size + _ALIGN)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._bytes))
        self._address.value = self.host_ptr = (address + _ALIGN - 1) // _ALIGN * _ALIGN

    def used_on(self, handle: int, stream: Any) -> None:
        """Whoever copies from here on a stream has read it when the call returns."""

    def __del__(self, is_over: Any = sys.is_finalizing) -> None:
        if not is_over():
            books.strike(id(self))


class ZeroHostMemory(HostMemory):
    """The same, of zeros."""

    __slots__ = ()
    is_zero = True


sweepers: list[Callable[[], None]] = []  # called before memory is allocated: they let go what nobody has any more


def sweep_all() -> None:
    """Asks for what nobody has any more."""
    for sweep in sweepers:
        sweep()


def allocate(device: Any, size: int, memory: str | None = None, is_zero: bool = False) -> Memory:
    """Memory on a device: `memory` is None for what is usual there, `pinned`, `mapped` or `managed`.

    With `is_zero` it is cleared where that costs least here, and says so by an attribute of this name.
    Raises DriverError, ValueError.
    """
    for sweep in sweepers:
        sweep()
    if memory is None:
        if device.kind != "cuda":
            return (ZeroHostMemory if is_zero else HostMemory)(device, size)
        if _waiting.get(device.ordinal):
            reclaim(device)
        if device.is_current():
            return _usual(device, size, is_zero)
        with device.current():
            return _usual(device, size, is_zero)
    if memory == "pinned" and device.kind != "cuda":
        return _pinned(device, size)
    if memory == "mapped" and device.kind == "cuda":
        return _mapped(device, size)
    if memory == "managed" and device.kind == "cuda":
        return _managed(device, size)
    if memory in ("pinned", "mapped", "managed"):
        wanted = "the host, as in device='cpu'" if memory == "pinned" else "a GPU"
        raise ValueError("%s memory belongs to %s, not to %s" % (memory, wanted, device))
    raise ValueError("memory is 'pinned', 'mapped' or 'managed', not %r" % (memory,))


def _usual(device: context.Device, size: int, is_zero: bool) -> Memory:
    """From the pool, in the order of the stream that is meant; else as ever."""
    handle = current.handle(device) if context.scopes else 0
    pool = None if is_capturing(handle) else pools.of(device)
    if pool is None:
        return PlainMemory(device, size)
    return (ZeroMemory if is_zero else PoolMemory)(device, size, handle, pool)


def _pinned(device: Any, size: int) -> Memory:
    """Pinned memory for a host device; ordinary where there is no GPU to copy to, so that programs run."""
    from .. import hosts

    places = hosts.get_devices()
    if not places or not places[0].is_cuda:
        return HostMemory(device, size)
    with places[0].current():
        return PinnedMemory(places[0], size)


def _mapped(device: context.Device, size: int) -> Memory:
    if not device.attribute(_CAN_MAP_HOST):
        raise ValueError("%s cannot reach memory of the host: copy with kb.copy" % device)
    with device.current():
        return MappedMemory(device, size)


def _managed(device: context.Device, size: int) -> Memory:
    # Where it is not concurrent, as on every Jetson, the host crashes when it touches the memory while a kernel runs.
    if not (device.attribute(_MANAGED) and device.attribute(_CONCURRENT_MANAGED)):
        raise ValueError(
            "managed memory is not safe on %s (%s): the host may not touch it while a kernel runs\n"
            "  help: memory='mapped' gives memory that both reach" % (device, device.name)
        )
    with device.current():
        return ManagedMemory(device, size)


def _take(device: context.Device, size: int, arguments: tuple[Any, ...]) -> None:
    """Allocates."""
    status = driver.get().ask(*arguments)
    if status:
        _take_again(device, size, arguments, status)


def _take_again(device: context.Device, size: int, arguments: tuple[Any, ...], status: int) -> None:
    """Where there was not enough, what waits and what the pool keeps goes back, and the driver is asked once more."""
    cuda = driver.get()
    if status == _OUT_OF_MEMORY:
        import gc

        gc.collect()  # arrays in cycles
        reclaim(device, wait=True)
        pool = None if uses.captures else pools.of(device)  # waiting would spoil a capture
        if pool is not None:
            cuda.ask("cuCtxSynchronize")
            pool.trim(0)
        status = relaxed(*arguments)
    if status:
        raise _refused(cuda.error(arguments[0], status, "%s: %d bytes" % (device, size)), device)


def _refused(error: DriverError, device: context.Device) -> DriverError:
    """With what is free, and who holds most."""
    if error.code != _OUT_OF_MEMORY:
        return error
    report = books.summary(str(device))
    try:
        free, total = device.free_memory, device.total_memory
    except DriverError:
        return error
    head, _, cure = str(error).partition("\n")
    lines = [head, "  memory: %d of %d MiB are free" % (free >> 20, total >> 20)]
    lines.append("  kbuild's arrays hold %s%s" % (books.amount(report.in_use), ":" if report.holders else ""))
    lines += ["  " + line for line in report.lines()]
    return DriverError("\n".join([*lines, cure]), error.call, error.code, error.name)


def give_back(call: str, take: Callable[[], int], handle: int) -> None:
    """Frees memory in the way that it asks for; `take` gives the address at the last moment, 0 where it is gone."""
    with Relaxed():
        ptr = take()
        if not ptr:
            return
        cuda = driver.get()
        if call != "cuMemFreeAsync":
            cuda.call(call, ptr)
        elif cuda.ask(call, ptr, handle):  # a stream that its owner has destroyed
            cuda.call("cuMemFree_v2", ptr)


class _Waiting:
    """Memory whose array is gone, and events on the streams that may still use it."""

    def __init__(self, memory: Memory) -> None:
        self.device, self.size, self.call = memory.device, memory.size, memory.free_call
        self.ptr, self.handle = memory._address.value, memory.handle
        self.streams = dict(memory.users)  # kept alive
        self.owner = getattr(memory, "_owner", None)
        self.events: list[c_uint64] = []
        self.unwatched: list[int] = []  # streams without an event yet, since they were being captured

    def watch(self, handles: Iterable[int]) -> None:
        """Sets an event on each stream."""
        for handle in handles:
            try:
                if is_capturing(handle):
                    self.unwatched.append(handle)
                    continue
                event = c_uint64()
                self.events.append(event)
                driver.get().call("cuEventCreate", event, 2)
                driver.get().call("cuEventRecord", event, handle)
            except DriverError:  # of a stream that its owner has destroyed
                driver.get().call("cuCtxSynchronize")

    def is_done(self, wait: bool) -> bool:
        """Whether nothing uses the memory any more."""
        if self.unwatched:
            handles, self.unwatched = self.unwatched, []
            self.watch(handles)
        cuda = driver.get()
        if wait and not self.unwatched:
            for event in self.events:
                cuda.call("cuEventSynchronize", event)
            return True
        return not self.unwatched and all(cuda.ask("cuEventQuery", event) == 0 for event in self.events)

    def finish(self) -> None:
        """Gives everything back."""
        for event in self.events:
            handle, event.value = event.value, 0
            if handle:
                driver.get().ask("cuEventDestroy_v2", handle)
        give_back(self.call, self._taken, self.handle)

    def _taken(self) -> int:
        ptr, self.ptr = self.ptr, 0
        return ptr


_waiting: dict[int, list[_Waiting]] = {}  # by the GPU's ordinal


def waiting(device: context.Device) -> int:
    """Bytes of arrays that are gone and whose last use may still run."""
    return sum([one.size for one in list(_waiting.get(device.ordinal, ()))])


def _is_captured(handle: int) -> bool:
    """Whether a stream is being captured; not where its owner has destroyed it."""
    try:
        return is_capturing(handle)
    except DriverError:
        return False


def reclaim(device: context.Device, wait: bool = False) -> None:
    """Gives back what was waiting for streams that are through by now; `wait`: for all of them."""
    if wait:
        sweep_all()
    queue = _waiting.get(device.ordinal)
    lock = context.lock()
    if not queue or uses.captures or not lock.acquire(blocking=wait):
        return  # nothing, or not now: a capture forbids it, or another thread is at it
    try:
        with device.current(), Relaxed():  # asking for an event is not allowed in a capture
            for one in list(queue):
                is_free = one.is_done(wait) and not _is_captured(one.handle)
                if is_free and one in queue:  # a finalizer may have been here meanwhile
                    queue.remove(one)
                    one.finish()
    finally:
        lock.release()


driver.on_fork(_waiting.clear)
