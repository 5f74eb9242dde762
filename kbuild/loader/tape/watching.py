"""What launches and copies ask while `uses.tapes` is not empty: whether a tape of this thread wants to know of them.

A tape records what its own thread does, and looks at what that thread writes until its first backward pass is over.
"""

from __future__ import annotations

from _thread import _local, get_ident

from .. import uses
from ..array_class import array
from . import arguments, steps
from .recorder import Asked, Recorder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ("no_grad",)


class _Own(_local):
    """Of this thread: the recorder that records, and whether nothing is looked at, or recorded, for the time being."""

    def __init__(self) -> None:
        self.recording: Recorder | None = None
        self.is_busy = False
        self.unrecorded = 0


own = _Own()


def begin(recorder: Recorder) -> None:
    """Lets a recorder look at what this thread does."""
    recorder.thread = get_ident()
    if not any(one is recorder for one in uses.tapes):
        uses.tapes.append(recorder)


def end(recorder: Recorder) -> None:
    """It looks no longer. Asked for in any thread: in the end a tape may be nobody's."""
    uses.tapes[:] = [one for one in uses.tapes if one is not recorder]


def is_recording() -> bool:
    """Whether a tape records what this thread does now."""
    return own.recording is not None and not own.unrecorded and not own.is_busy


class Aside:
    """`with Aside():` nothing that this thread does is looked at."""

    def __enter__(self) -> None:
        self._before, own.is_busy = own.is_busy, True

    def __exit__(self, *_: object) -> None:
        own.is_busy = self._before


class no_grad:
    """`with kb.no_grad():` launches and copies of this thread are no part of what a tape records.

    Gradients take arrays that are written here for what they are afterwards, as though nothing had been written. What
    the backward pass needs of them is copied before, as ever.
    """

    def __enter__(self) -> None:
        own.unrecorded += 1

    def __exit__(self, *_: object) -> None:
        own.unrecorded -= 1


def _recording() -> Recorder | None:
    return None if own.unrecorded else own.recording


def _is_watched() -> bool:
    """Whether a recorder looks at this thread now."""
    if own.is_busy:
        return False
    here = get_ident()
    return any(one.thread == here for one in list(uses.tapes))


def _others(recording: Recorder | None) -> list[Recorder]:
    here = get_ident()
    return [one for one in list(uses.tapes) if one is not recording and one.thread == here]


def launch(
    again: Callable[..., None],
    kind: str,
    kernel: Any,
    dim: Any,
    args: Any,
    stream: Any,
    device: Any,
    block_dim: int | None,
    max_blocks: int,
) -> bool:
    """A launch, which `again` makes. False: nobody wants to know of it, and it is not made yet."""
    if not _is_watched():
        return False
    with Aside():
        asked = Asked(again, kind, kernel, dim, args, stream, device, block_dim, max_blocks)
        recording = _recording()
        for other in _others(recording):
            for one in asked.written() if other.must_watch else ():
                other.overwrite(one, asked.name, stream)
        if recording is not None:
            recording.launch(asked)
        else:
            asked.run()
    return True


def filled(dest: array, view: Any, stream: Any, again: Callable[[], None], name: str) -> bool:
    """Values of the host's are written into a part of an array by `again`. False: it has not been called."""
    if not _is_watched():
        return False
    with Aside():
        target = steps.part(dest, view)
        recording = _recording()
        for other in _others(recording):
            other.overwrite(target, name, stream)
        if recording is not None:
            recording.fill(target, stream, again, name)
        else:
            again()
    return True


def copied(dest: array, to: Any, source: array, view: Any, stream: Any, again: Callable[[], None]) -> bool:
    """A part of an array is copied into a part of another one by `again`. False: it has not been called."""
    if not _is_watched():
        return False
    with Aside():
        target = steps.part(dest, to)
        recording = _recording()
        for other in _others(recording):
            other.overwrite(target, "kb.copy", stream)
        if recording is not None:
            recording.copy(target, steps.part(source, view), stream, again)
        else:
            again()
    return True


def function(
    name: str, reads: list[Any], writes: list[Any], stream: Any, again: Callable[[], Any], back: Any = None
) -> tuple[bool, Any]:
    """Something is done by `again` that is no single launch: whether it has been called, and what it gave.

    `back(adjoints of reads, adjoints of writes)` carries gradients back, each a list of arrays, and None for what needs
    none. Without it no gradient passes through.
    """
    if not _is_watched():
        return False, None
    with Aside():
        arrays = _arrays(writes)
        recording = _recording()
        for other in _others(recording):
            for one in arrays:
                other.overwrite(one, name, stream)
        if recording is None:
            return True, again()
        return True, recording.function(name, _arrays(reads), arrays, stream, again, back)


def _arrays(given: list[Any]) -> list[array]:
    """The arrays among these, other libraries' as ours."""
    found = [one if isinstance(one, array) else arguments.over(one) for one in given if one is not None]
    return [one for one in found if one is not None]
