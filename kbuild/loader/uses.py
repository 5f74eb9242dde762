"""What a launch or a copy on a named stream leaves behind about the memory it uses.

Memory remembers the streams it was used on, so that it goes back when they are through; and a graph that is being
captured keeps what it will use whenever it runs.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

captures: dict[int, list[Any]] = {}  # what the graphs that are being captured keep, by the stream's handle


def note(handle: int, stream: Any, owners: Any) -> None:
    """The memory of `owners` is about to be used on a stream; what is no memory of ours is kept by captures alone."""
    for owner in owners:
        try:
            if handle not in owner.users and handle != owner.handle:
                owner.used_on(handle, stream)
        except AttributeError:
            continue  # somebody else's memory
    if captures:
        for kept in list(captures.values()):
            kept.extend(owners)
