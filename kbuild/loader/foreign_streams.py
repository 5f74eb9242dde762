"""Streams of other libraries: the handle in them."""

from __future__ import annotations

import operator

from .errors import describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def handle_of(stream: Any) -> int:
    """The driver's handle of a stream object of any library, or a number. Raises TypeError for what is neither."""
    try:
        handle = operator.index(stream if isinstance(stream, int) else _handle_in(stream))
    except MemoryError:
        raise
    except Exception:  # the object's own code may fail in any way
        handle = -1
    if isinstance(stream, bool) or not 0 <= handle < 1 << 64:
        raise TypeError(
            "stream wants None, a handle, or an object with __cuda_stream__, .cuda_stream, .handle or .ptr; got %s"
            % describe(stream)
        )
    return handle


def _handle_in(stream: Any) -> Any:
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        return (protocol() if callable(protocol) else protocol)[1]
    handles = (getattr(stream, name, None) for name in ("cuda_stream", "handle", "ptr"))
    return next((handle for handle in handles if handle is not None), None)
