"""What a launch or a copy on a named stream leaves behind about the memory it uses.

Memory remembers the streams it was used on, so that it goes back when they are through; and a graph that is being
captured keeps what it will use whenever it runs.
"""

from __future__ import annotations

from _thread import get_ident

from . import driver, ordering
from .errors import DriverError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

captures: list[Any] = []  # the captures of kbuild's that are going on, in any thread: graphs.capture
tapes: list[Any] = []  # what looks at launches and copies, in any thread: tape.watching

_spoilers: dict[int, str] = {}  # by thread: the driver's last word against a capture


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


def begin() -> None:
    """A capture begins in this thread: what spoiled earlier ones does not matter any more."""
    _spoilers.pop(get_ident(), None)


def spoiled(code: int, message: str) -> str:
    """What a message about a spoiled capture adds: by what it was spoiled, where that was an error in this thread."""
    if code == driver.INVALIDATED:
        found = _spoilers.get(get_ident())
        return "" if found is None else "\n  the capture was spoiled by: %s" % found
    _spoilers[get_ident()] = message.partition("\n")[0]
    return ""


_GONE = (201, 400, 709)  # what the driver says of a stream that its owner has destroyed, or whose context is gone


def wait(memory: Any, others: Any, consumer: int, place: Any) -> None:
    """Lets what follows on stream `consumer` of GPU `place` wait for what stands on other streams of the memory's GPU.

    For a stream that is gone the whole GPU is waited for instead, here and now.
    """
    for other in others:
        try:
            ordering.wait_for_stream(memory.device, other, consumer, place)
        except DriverError as error:
            if error.code not in _GONE or other not in memory.users:
                raise
            with memory.device.current():
                driver.get().call("cuCtxSynchronize", about=str(memory.device))
            memory.users.pop(other, None)


def gather(memory: Any) -> None:
    """Lets the stream that memory belongs to wait for the others that use it, so that it stands for all of them."""
    with memory.device.current():
        if ordering.is_capturing(memory.handle):
            return
    # Launches on the default stream leave no note.
    wait(memory, sorted({0, *memory.users} - {memory.handle}), memory.handle, memory.device)


def hand_over(memory: Any, place: Any, consumer: int, stream: Any) -> None:
    """Lets somebody's stream wait for everything that was done to an array's memory here, and the memory note it.

    `memory` is what owns it; of another library's only what stands on the streams that are meant here is known.
    """
    from . import current

    users = getattr(memory, "users", None)
    if users is not None:
        memory.used_on(consumer, stream)
    with place.current():
        if ordering.is_capturing(consumer):
            return  # a capture cannot wait for what is outside of it
    # Launches on the default stream leave no note, so it is always one of them.
    others = {0, current.handle(place), *([] if users is None else (memory.handle, *users))} - {consumer}
    if users is None or memory.device is not place:
        for other in sorted(others):
            ordering.wait_for_stream(place, other, consumer)
    else:
        wait(memory, sorted(others), consumer, place)
