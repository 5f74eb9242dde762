"""Warp's streams and events, over kbuild's: those that a program makes here and all others are the same to it."""

from __future__ import annotations

from kbuild.loader import context, current, hosts, streams

from .absent import refusal
from .devices import default, get_device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Kind(type):
    """Every stream or event of kbuild's is one of Warp's."""

    _made: Any

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls._made)


class Stream(metaclass=_Kind):
    """`wp.Stream(device, priority=0)`, or over a handle: `wp.Stream(device, cuda_stream=handle)`. See `kb.Stream`."""

    _made = streams.Stream

    def __new__(cls, device: Any = None, priority: int = 0, cuda_stream: Any = None, owner: Any = None) -> Any:
        """The stream. Raises DriverError."""
        return streams.Stream(default(device), priority, cuda_stream, owner)


class Event(metaclass=_Kind):
    """`wp.Event(device, enable_timing=False)`. See `kb.Event`."""

    _made = streams.Event

    def __new__(
        cls, device: Any = None, cuda_event: Any = None, enable_timing: bool = False, interprocess: bool = False
    ) -> Any:
        """The event. Raises DriverError, NotInKbuild."""
        if interprocess or cuda_event is not None:
            raise refusal("Event(%s)" % ("interprocess=True" if interprocess else "cuda_event=…"), "other processes")
        return streams.Event(default(device), enable_timing)


class ScopedStream(current.ScopedStream):
    """`kb.ScopedStream`; None stays on the stream that is meant already."""

    def __init__(self, stream: Any, sync_enter: bool = True, sync_exit: bool = False) -> None:
        super().__init__(get_stream() if stream is None else stream, sync_enter, sync_exit)


def get_stream(device: Any = None) -> Any:
    """The stream on which launches and copies run on a device where none is named."""
    return current.get_stream(get_device(device))


def set_stream(stream: Any, device: Any = None, sync: bool = False) -> None:
    """Makes a stream the one that is meant on a device; with `sync` it waits for the one before."""
    get_device(device).set_stream(stream, sync)


def record_event(event: Any = None, external: bool = False) -> Any:
    """Marks this point of the stream that is meant with an event, a new one unless given, and returns it."""
    return get_stream(None if event is None else event.device).record_event(event)


def wait_event(event: Any, external: bool = False) -> None:
    """Lets what follows on the stream that is meant wait for an event, without waiting here."""
    get_stream().wait_event(event)


def wait_stream(other_stream: Any, event: Any = None, external: bool = False) -> None:
    """Lets what follows on the stream that is meant wait for what stands on another one now, without waiting here."""
    get_stream().wait_stream(other_stream, event)


def synchronize_stream(stream_or_device: Any = None) -> None:
    """Waits for a stream, or for the stream that is meant on a device."""
    is_place = stream_or_device is None or isinstance(stream_or_device, (str, int, context.Device, hosts.HostDevice))
    (get_stream(stream_or_device) if is_place else streams.stream_of(stream_or_device)).synchronize()


def synchronize_event(event: Any) -> None:
    """Waits for an event."""
    event.synchronize()


def get_event_elapsed_time(start_event: Any, end_event: Any, synchronize: bool = True) -> float:
    """Milliseconds between two events with timing. Waits for the second one either way."""
    return streams.elapsed_time(start_event, end_event)


def event_from_ipc_handle(handle: Any, device: Any = None) -> None:
    """An event of another process."""
    raise refusal("event_from_ipc_handle(…)", "other processes")
