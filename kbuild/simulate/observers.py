"""Who wants to see every launch of a program: traces, counts, profiles.

    observers.present.append(observer)

An observer is asked for watchers before each launch. A watcher learns of the end of its launch by `ends`; `report()` is
what the observer has to say when the program is over.
"""

from __future__ import annotations

from collections.abc import Sequence

from kbuild.sim.blocks import Launch
from kbuild.sim.lockstep.watching import Watcher
from kbuild.simulate.compiled import Compiled


class Observer:
    """Sees every launch on the simulator."""

    def watchers(self, kernel: Compiled, launch: Launch) -> Sequence[Watcher]:
        """Those of this launch. May raise LaunchError, which the launch does then."""
        return ()

    def report(self) -> str:
        """What there is to say in the end; empty for nothing."""
        return ""


present: list[Observer] = []


def watchers(kernel: Compiled, launch: Launch) -> list[Watcher]:
    """Those of all observers for a launch."""
    return [watcher for observer in present for watcher in observer.watchers(kernel, launch)]
