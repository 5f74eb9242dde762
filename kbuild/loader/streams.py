"""Streams and events: order and time on a GPU.

    stream = kb.Stream()
    with kb.ScopedStream(stream):
        kb.launch(step, dim=n, inputs=[…])
    stream.synchronize()

On the host's devices (`cpu`, `sim`) everything is done at once: their streams and events are there, and always ready.
"""

from __future__ import annotations

import sys
import time
from ctypes import c_float, c_int, c_uint64

from . import context, driver, ordering, recent
from .errors import DriverError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ("Event", "Stream", "elapsed_time", "stream_priorities")

_NON_BLOCKING = 1  # CUstream_flags
_WITHOUT_TIMING = 2  # CUevent_flags
LEGACY, PER_THREAD = 1, 2  # the driver's names of the default streams, besides 0


class Stream:
    """Work on a GPU that runs in order.

    `priority`: lower numbers first, from `stream_priorities()`; the driver takes what is outside for the nearest. A new
    stream does not wait for the default stream, nor that for it. `handle` and `owner` make one over somebody else's.
    """

    __slots__ = ("__weakref__", "_handle", "_is_own", "_kind", "device", "owner")
    _kb_stream_ = True

    device: Any

    def __init__(self, device: Any = None, priority: int = 0, handle: int | None = None, owner: Any = None) -> None:
        self._handle = c_uint64()  # the driver writes it here, so that no interrupt can come before it is known
        self._is_own = False
        self.device, self.owner = context.get_device(device), owner
        if handle is not None:
            self._handle.value = handle
        elif self.device.kind == "cuda":
            self._is_own, self._kind = True, (self.device.ordinal, priority)
            with self.device.current(), ordering.Relaxed():
                self._handle.value = _reused(self._kind)
                if not self._handle.value:
                    call = driver.get().call
                    call("cuStreamCreateWithPriority", self._handle, _NON_BLOCKING, priority, about=str(self.device))

    @property
    def handle(self) -> int:
        """The driver's handle; 0 for the default stream."""
        return self._handle.value

    @property
    def cuda_stream(self) -> int:
        """`handle`, as PyTorch and Warp call it."""
        return self._handle.value

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._handle.value

    def __repr__(self) -> str:
        return "<kb.Stream 0x%x on %s>" % (self.handle, self.device)

    def synchronize(self) -> None:
        """Waits until everything on the stream is done. What has gone wrong in a kernel shows here: DriverError."""
        if self.device.kind == "cuda":
            self._call("cuStreamSynchronize")
            recent.passed(self.device.ordinal, self.handle)

    @property
    def is_complete(self) -> bool:
        """Whether everything on the stream is done; does not wait."""
        return self.device.kind != "cuda" or _is_ready("cuStreamQuery", self.handle, self.device)

    @property
    def is_capturing(self) -> bool:
        """Whether the stream is being captured into a graph, by whomever."""
        if self.device.kind != "cuda":
            return False
        status = c_int()
        self._call("cuStreamIsCapturing", status)
        return status.value != 0

    @property
    def priority(self) -> int:
        """The stream's priority; lower numbers first."""
        value = c_int()
        if self.device.kind == "cuda":
            self._call("cuStreamGetPriority", value)
        return value.value

    def record_event(self, event: Event | None = None) -> Event:
        """Marks this point of the stream with an event, a new one unless given, and returns it."""
        made = Event(self.device) if event is None else event
        made.record(self)
        return made

    def wait_event(self, event: Event) -> None:
        """Lets what follows on this stream wait for an event, without waiting here."""
        if self.device.kind == "cuda" and event.device.kind == "cuda":
            self._call("cuStreamWaitEvent", event.handle, 0)

    def wait_stream(self, other: Any, event: Event | None = None) -> None:
        """Lets what follows on this stream wait for what stands on another one now, without waiting here.

        By `event`, one of the other's device, where it is given, else by one of its own.
        """
        producer = stream_of(other)
        if event is not None:
            self.wait_event(producer.record_event(event))
        elif self.device.kind == producer.device.kind == "cuda":
            with Event(producer.device) as own:
                own.record(producer)
                self.wait_event(own)

    def _call(self, name: str, *args: Any) -> None:
        with self.device.current():
            driver.get().call(name, self.handle, *args, about="stream 0x%x of %s" % (self.handle, self.device))

    def __del__(self) -> None:
        if hasattr(self, "_kind") and self.handle and not sys.is_finalizing():
            handle, self._handle.value = self.handle, 0
            _spare.setdefault(self._kind, []).append(handle)


# A stream is never destroyed: the next one that is asked for is it. Other libraries keep handles (PyTorch's allocator
# uses those of streams that its memory was used on when that goes, and never destroys its own), programs pass them on
# as numbers, and a driver that is handed a dead one does not refuse: it crashes.
_spare: dict[tuple[int, int], list[int]] = {}  # by GPU and priority


def _reused(kind: tuple[int, int]) -> int:
    """The handle of a stream that nobody has any more; 0 where there is none."""
    spare = _spare.get(kind)
    while spare:
        try:
            handle = spare.pop()
        except IndexError:  # another thread has got it
            break
        try:
            if not ordering.is_capturing(handle):  # else its capture was never ended
                return handle
        except BaseException:
            spare.append(handle)
            raise
    return 0


driver.on_fork(_spare.clear)


def stream_priorities(device: Any = None) -> tuple[int, int]:
    """(lowest, highest) priority of streams on a GPU; the highest is the smaller number."""
    place = context.get_device(device)
    low, high = c_int(), c_int()
    if place.kind == "cuda":
        with place.current():
            driver.get().call("cuCtxGetStreamPriorityRange", low, high, about=str(place))
    return low.value, high.value


class Event:
    """A point of a stream. `enable_timing`: it also remembers when, at a cost."""

    __slots__ = ("__weakref__", "_handle", "_is_own", "_time", "device", "enable_timing")

    device: Any

    def __init__(self, device: Any = None, enable_timing: bool = False) -> None:
        self._handle = c_uint64()
        self._is_own = True
        self._time = 0.0  # seconds, of an event on the host
        self.device, self.enable_timing = context.get_device(device), enable_timing
        if self.device.kind == "cuda":
            flags = 0 if enable_timing else _WITHOUT_TIMING
            with self.device.current():
                driver.get().call("cuEventCreate", self._handle, flags, about=str(self.device))

    @property
    def handle(self) -> int:
        """The driver's handle."""
        return self._handle.value

    def __enter__(self) -> Event:
        return self

    def __exit__(self, *_: object) -> None:
        _destroy(self, "cuEventDestroy_v2")

    def __repr__(self) -> str:
        return "<kb.Event 0x%x on %s>" % (self.handle, self.device)

    def record(self, stream: Any = None) -> None:
        """Marks where a stream of this device stands now; without one, the stream that is meant there."""
        self._time = time.perf_counter()
        if self.device.kind != "cuda":
            return
        from . import current

        on = current.get_stream(self.device).handle if stream is None else ordering.stream_handle(stream)
        with self.device.current():
            driver.get().call("cuEventRecord", self.handle, on, about="stream 0x%x" % on)

    @property
    def is_complete(self) -> bool:
        """Whether what was on the stream when the event was recorded is done; does not wait."""
        return self.device.kind != "cuda" or _is_ready("cuEventQuery", self.handle, self.device)

    def synchronize(self) -> None:
        """Waits for the event. What has gone wrong in a kernel before it shows here: DriverError."""
        if self.device.kind == "cuda":
            with self.device.current():
                driver.get().call("cuEventSynchronize", self.handle, about=str(self.device))

    def __del__(self) -> None:
        _destroy(self, "cuEventDestroy_v2")


def elapsed_time(start: Event, end: Event) -> float:
    """Milliseconds between two events with timing; waits for the second."""
    for event in (start, end):
        if not event.enable_timing:
            raise ValueError("elapsed_time needs events with timing: kb.Event(enable_timing=True)")
    end.synchronize()
    if end.device.kind != "cuda":
        return (end._time - start._time) * 1000.0
    value = c_float()
    with end.device.current():
        driver.get().call("cuEventElapsedTime", value, start.handle, end.handle, about=str(end.device))
    return value.value


def _is_ready(name: str, handle: int, place: context.Device) -> bool:
    cuda = driver.get()
    with place.current():
        status = cuda.ask(name, handle)
    if status not in (0, driver.NOT_READY):
        raise cuda.error(name, status, str(place))
    return status == 0


def _destroy(made: Any, call: str) -> None:
    """Gives a handle back, once. At the interpreter's exit and in a forked child it goes, or stays, with the driver."""
    if not hasattr(made, "_is_own") or not made._is_own or sys.is_finalizing() or not driver.is_usable():
        return
    for _ in range(2):  # what comes before the handle is given back is worth a second try
        try:
            if made._handle.value:
                with made.device.passing(), ordering.Relaxed():  # a finalizer may come while a graph is captured
                    handle, made._handle.value = made._handle.value, 0
                    driver.get().call(call, handle)
        except DriverError:
            pass


def default_stream(place: Any) -> Stream:
    """The default stream of a device, which waits for all streams that others have made, and they for it."""
    return Stream(place, handle=0)


def stream_of(stream: Any, device: Any = None) -> Stream:
    """A stream of any library as ours, kept alive; a bare handle's device is asked of the driver. Raises TypeError."""
    if isinstance(stream, Stream):
        return stream
    handle = ordering.stream_handle(stream)
    if handle <= PER_THREAD or device is not None:
        return Stream(device, handle=handle, owner=stream)
    return Stream(_device_of(handle), handle=handle, owner=stream)


def _device_of(handle: int) -> context.Device:
    """The GPU in one of whose contexts a stream was made."""
    found, ordinal = c_uint64(), c_int()
    cuda, places = driver.get(), context.devices()
    about = "stream 0x%x" % handle
    with places[0].current():
        cuda.call("cuStreamGetCtx", handle, found, about=about)
    with context.Current(found.value):
        cuda.call("cuCtxGetDevice", ordinal, about=about)
    return places[ordinal.value]
