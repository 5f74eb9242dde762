"""Which device and which stream are meant where none is named: scopes of a thread, and settings of the program.

    with kb.ScopedDevice("cuda:1"), kb.ScopedStream(stream):
        kb.launch(…)

A scope counts in the thread that opened it, `set_device` and `set_stream` count in all threads. Nothing here changes
the driver's own current context or anybody else's current stream.
"""

from __future__ import annotations

from _thread import _local

from . import context
from .streams import Stream, default_stream, stream_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ("ScopedDevice", "ScopedStream", "get_device", "get_stream", "set_device", "set_stream")


class _Scopes(_local):
    """This thread's scopes, innermost last: devices, and streams by the GPU's ordinal."""

    def __init__(self) -> None:
        self.devices: list[Any] = []
        self.streams: dict[int, list[Stream]] = {}


_own = _Scopes()
_set_device: list[Any] = []  # what `set_device` has set: one, or none
_set_streams: dict[int, Stream] = {}


def device() -> Any:
    """The device of this thread's innermost scope, or of `set_device`; None where nobody has chosen."""
    if _own.devices:
        return _own.devices[-1]
    return _set_device[-1] if _set_device else None


def stream(ordinal: int) -> Stream | None:
    """The stream chosen for a GPU; None: the default stream."""
    scoped = _own.streams.get(ordinal)
    return scoped[-1] if scoped else _set_streams.get(ordinal)


def handle(place: Any) -> int:
    """The handle of the stream chosen for a device; 0 is the default stream."""
    if not context.scopes:
        return 0
    chosen = stream(place.ordinal)
    return 0 if chosen is None else chosen.handle


def get_device(device: Any = None) -> Any:
    """The device that a name, a number or a Device stands for; without one, that which is meant where none is named."""
    return context.get_device(device)


def set_device(device: Any) -> None:
    """Makes a device the one that is meant where none is named, in all threads; None: the first GPU again."""
    _set_device[:] = [] if device is None else [context.get_device(device)]
    _count(_set_device)


def get_stream(device: Any = None) -> Stream:
    """The stream on which launches and copies run on a device where none is named."""
    place = context.get_device(device)
    return stream(place.ordinal) or default_stream(place)


def set_stream(stream: Any, device: Any = None) -> None:
    """Makes a stream the one that is meant on its device where none is named, in all threads; None: the default one."""
    if stream is None:
        _set_streams.pop(context.get_device(device).ordinal, None)
    else:
        given = stream_of(stream, device)
        _set_streams[given.device.ordinal] = given
    _count(_set_streams)


def _count(setting: Any) -> None:
    """Lets a setting stand among the scopes once, or not at all where it is empty; the others' places stay as they are,
    since other threads come and go."""
    is_there = any(scope is setting for scope in list(context.scopes))
    if setting and not is_there:
        context.scopes.append(setting)
    elif is_there and not setting:
        context.scopes.remove(setting)


class ScopedDevice:
    """`with kb.ScopedDevice("cuda:1"):` makes a device the one that is meant in this thread where none is named."""

    def __init__(self, device: Any) -> None:
        self.device = context.get_device(device)

    def __enter__(self) -> Any:
        context.scopes.append(self)
        _own.devices.append(self.device)
        return self.device

    def __exit__(self, *_: object) -> None:
        _own.devices.pop()
        context.scopes.remove(self)


class ScopedStream:
    """`with kb.ScopedStream(stream):` lets launches and copies of this thread on the stream's device run there.

    The device is the one that is meant besides. `stream` is of any library; None: the default stream. With
    `sync_enter` the stream waits first for what is on the stream that was meant until now; with `sync_exit` that one
    waits in the end for what was put on this one.
    """

    def __init__(self, stream: Any, sync_enter: bool = True, sync_exit: bool = False, device: Any = None) -> None:
        self.stream = default_stream(context.get_device(device)) if stream is None else stream_of(stream, device)
        self.device = self.stream.device
        self.sync_enter, self.sync_exit = sync_enter, sync_exit

    def __enter__(self) -> Stream:
        before = get_stream(self.device)
        if self.sync_enter and before.handle != self.stream.handle:
            self.stream.wait_stream(before)
        context.scopes.append(self)
        _own.devices.append(self.device)
        _own.streams.setdefault(self.device.ordinal, []).append(self.stream)
        return self.stream

    def __exit__(self, *_: object) -> None:
        _own.streams[self.device.ordinal].pop()
        _own.devices.pop()
        context.scopes.remove(self)
        before = get_stream(self.device)
        if self.sync_exit and before.handle != self.stream.handle:
            before.wait_stream(self.stream)
