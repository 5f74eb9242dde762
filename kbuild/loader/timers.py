"""`kb.ScopedTimer`: how long a block of a program takes."""

from __future__ import annotations

import time

from . import context, hosts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ("ScopedTimer",)

_depth = 0  # how many timers are running that print: those inside others stand further right


class ScopedTimer:
    """`with kb.ScopedTimer("step", synchronize=True) as timer:` prints how long the block took.

    Time passes on the host, which does not wait for launches; with `synchronize` the timer waits for all GPUs that are
    in use, before and after. `dict` gets the time into a list under the timer's name. Afterwards `elapsed` has the
    milliseconds; what `extra_msg` holds then is printed too. A timer that is not `active` does nothing.
    """

    def __init__(
        self,
        name: str,
        active: bool = True,
        print: bool = True,
        synchronize: bool = False,
        dict: dict[str, list[float]] | None = None,
    ) -> None:
        self.name, self.active, self.print, self.synchronize, self.dict = name, active, print, synchronize, dict
        self.elapsed = 0.0
        self.extra_msg = ""
        self._start = 0.0

    def __enter__(self) -> ScopedTimer:
        global _depth
        if self.active:
            _depth += self.print
            self._wait()
            self._start = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        global _depth
        if not self.active:
            return
        try:
            self._wait()
        finally:
            self.elapsed = (time.perf_counter() - self._start) * 1000.0
            _depth -= self.print
        if self.dict is not None:
            self.dict.setdefault(self.name, []).append(self.elapsed)
        if self.print:
            _print("%s%s took %.2f ms%s" % ("\t" * _depth, self.name, self.elapsed, _after(self.extra_msg)))

    def _wait(self) -> None:
        if self.synchronize:
            synchronize_all()


def _after(text: Any) -> str:
    return " %s" % text if text else ""


_print = print


def synchronize_all() -> None:
    """Waits for every GPU that this program uses."""
    for place in hosts.get_devices():
        if place.is_cuda and place._context.value:
            context.synchronize(place)
