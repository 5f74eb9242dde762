"""The launches of late: what an error that shows itself later may come from.

A kernel runs after its launch has returned, so what goes wrong in it shows at a later call. Each launch leaves
(kernel, dim, stream) here, and a synchronisation that succeeds takes away what it has waited for.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import deque
    from typing import Any, Tuple

    Launch = Tuple[str, Any, Any]
else:
    from _collections import deque  # `collections` would be a millisecond of every start

KEPT = 64  # launches of a GPU

logs: dict[int, deque[Launch]] = {}  # by the GPU's ordinal
listeners: list[Any] = []  # called with the GPU's ordinal and a stream's handle, or None, when either was waited for


def log(ordinal: int) -> deque[Launch]:
    """The launches on a GPU that are not known to have gone well, oldest first."""
    known = logs.get(ordinal)
    return logs.setdefault(ordinal, deque(maxlen=KEPT)) if known is None else known


def passed(ordinal: int, handle: int | None = None) -> None:
    """Everything on a GPU, or on one of its streams, has been waited for and went well."""
    known = logs.get(ordinal)
    if known:
        left = [] if handle is None else [launch for launch in list(known) if _handle(launch[2]) != handle]
        known.clear()
        known.extend(left)
    for listener in listeners:
        listener(ordinal, handle)


def _handle(stream: Any) -> int:
    from . import ordering

    return ordering.stream_handle(stream)
