"""What a run on the simulator gives back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kbuild.sim.lockstep.floats import FloatException
from kbuild.sim.lockstep.watching import Watcher
from kbuild.sim.looking.changes import Changes
from kbuild.sim.looking.state import State
from kbuild.sim.profile.report import Profile


@dataclass
class Result:
    """What a run has seen. `printed` is what the kernel has printed; `watchers` those that the caller gave; `profile`
    and `exceptions` (by line and kind) are there if they were asked for; `trace` the events, where they were to be
    kept; `watched` what became of the variables that were watched; `stopped` where the run was ended before its end.
    """

    printed: str
    watchers: Sequence[Watcher] = field(default_factory=tuple)
    profile: Profile | None = None
    exceptions: tuple[FloatException, ...] = ()
    trace: list[dict[str, Any]] = field(default_factory=list)
    watched: Changes = field(default_factory=Changes)
    stopped: State | None = None


def ending(result: Result) -> Callable[[State], Any]:
    """Ends a run at its first stop."""

    def end(state: State) -> None:
        result.stopped = state
        state.abandon()

    return end
