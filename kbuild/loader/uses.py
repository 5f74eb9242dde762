"""What a launch or a copy on a named stream leaves behind about the memory it uses.

Memory remembers the streams it was used on, so that it goes back when they are through; and a graph that is being
captured keeps what it will use whenever it runs.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

captures: list[Any] = []  # the captures of kbuild's that are going on, in any thread: graphs.capture
tapes: list[Any] = []  # what looks at launches and copies, in any thread: tape.watching


def note(handle: int, stream: Any, owners: Any) -> None:
    """The memory of `owners` is about to be used on a stream; what is no memory of ours is kept by captures alone."""
    for owner in owners:
        try:
            if handle not in owner.users and handle != owner.handle:
                owner.used_on(handle, stream)
        except AttributeError:
            continue  # somebody else's memory
    if captures:
        keep(handle, owners)


def keep(handle: int, owners: Any) -> None:
    """What is captured on a stream keeps these."""
    for capture in list(captures):
        capture.keep(handle, owners)
