"""What a first launch needs, made ready while the driver starts.

cuInit and the first context take 200 ms, in which Python has nothing to do: a thread imports the modules that launch,
and reads the bundles of the packages that have declared kernels. A program without kernels and arrays of kbuild's has
opened its bundle by then, and with it all that launches: it does without (`driver._open`). Whatever goes wrong here is
left alone: the launch does it again, and says what is wrong.
"""

from __future__ import annotations

import os
from _thread import allocate_lock, start_new_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _thread import LockType

_PATIENCE = 5.0  # seconds

_running: list[LockType] = []


def start() -> None:
    """Begins, and does not wait."""
    if _is_archived():
        return
    running = allocate_lock()
    running.acquire()
    _running.append(running)
    try:
        start_new_thread(_prepare_and_say, (running,))
    except RuntimeError:  # no more threads: the launch itself will do it
        _running.remove(running)


def _is_archived() -> bool:
    """Whether this package lies in a zip file, from which two threads may not import at a time.

    Until Python 3.10 the other thread gets a module whose code has not run yet, since zipimport does not say that it is
    at it; the later ones too take a second thread for a zlib inside the archive, and say that zlib is missing.
    """
    return hasattr(__spec__.loader, "archive")


def _prepare_and_say(running: LockType) -> None:
    try:
        _prepare()
    finally:
        _running.remove(running)
        running.release()


def _finish() -> None:
    """Waits until nothing is being imported: a child that is forked meanwhile could never import it."""
    for running in list(_running):
        if running.acquire(timeout=_PATIENCE):
            running.release()


os.register_at_fork(before=_finish)


def _prepare() -> None:
    # What makes and fills arrays, opens bundles and launches.
    from . import copying, occupancy, resolve, types  # noqa: F401
    from .memory import allocation, transfer  # noqa: F401

    for module in list(types.declared):
        try:
            resolve.open_for(module, module)
        except Exception:  # the launch meets the same, and says it
            continue
