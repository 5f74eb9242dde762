"""What a stream's handle is, whether it is being captured, and how a thread may do what a capture forbids."""

from __future__ import annotations

from ctypes import c_int, c_uint64

from . import driver

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

DEFAULT = c_uint64()  # the default stream's handle; of a number ctypes would make such an object at each call
_RELAXED = 2  # CUstreamCaptureMode
IMPLICIT = 906  # the default stream would wait for one that is being captured
_EXCHANGE = "cuThreadExchangeStreamCaptureMode"


class Relaxed:
    """`with Relaxed():` allows this thread what a capture going on forbids: to allocate, to free, to load code."""

    __slots__ = ("_mode",)

    def __init__(self) -> None:
        self._mode = c_int(_RELAXED)

    def __enter__(self) -> None:
        driver.get().call(_EXCHANGE, self._mode)

    def __exit__(self, kind: object, *_: object) -> None:
        cuda = driver.get()
        status = cuda.ask(_EXCHANGE, self._mode)
        if status:
            cuda.ask(_EXCHANGE, self._mode)  # again, since the mode is the program's
            if not kind:  # else there is an error on its way, which goes first
                raise cuda.error(_EXCHANGE, status)


def is_capturing(handle: int) -> bool:
    """Whether a stream is being captured; also of the default stream, when it may not be touched for that reason."""
    cuda, status = driver.get(), c_int()
    code = cuda.ask("cuStreamIsCapturing", handle or DEFAULT, status)
    if code not in (0, IMPLICIT):
        raise cuda.error("cuStreamIsCapturing", code, "stream 0x%x" % handle)
    return code == IMPLICIT or status.value != 0


def stream_handle(stream: object) -> int:
    """The driver's handle of None (the default stream), a number, or a stream object of any library.

    Raises TypeError for what is none of them.
    """
    if stream is None:
        return 0
    if type(stream) is int and 0 <= stream < 1 << 64:
        return stream
    if getattr(stream.__class__, "_kb_stream_", False):  # one of ours, without the protocol's detour
        own: int = stream._handle.value  # type: ignore[attr-defined]
        return own
    from . import foreign_streams

    return foreign_streams.handle_of(stream)
