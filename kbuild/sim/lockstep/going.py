"""Which lanes of a loop go on, and when the others are left behind."""

from __future__ import annotations

from typing import Any

import numpy as np

from kbuild.sim.lockstep.frame import Frame

# What it costs to move a lane's variables into a shorter frame, in trips that the lane computes for nothing.
_MOVE = 2


class Going:
    """The lanes of `frame` go on, or where some linger, those of them that are `alive`.

    Lanes that linger have left, and their trips are computed for nothing until that has cost as much as to move the
    others: then they are moved. Whoever does not know how many trips will follow pays at most twice what it had to
    (Karlin, Manasse, Rudolph and Sleator, "Competitive snoopy caching", 1988).
    """

    def __init__(self, whole: Frame, may_linger: bool) -> None:
        self.frame, self._whole, self._may_linger = whole, whole, may_linger
        self.alive: Any = None
        self._idle = 0  # trips of lanes for nothing

    def stay(self, stays: Any) -> bool:
        """Of the frame's lanes those go on for which `stays` holds, if they did before; whether there are any."""
        if self.alive is not None:
            stays = stays & self.alive
        count, number = self.frame.lanes.count, int(np.count_nonzero(stays))
        if number in (0, count):
            return number > 0
        if self.frame is self._whole:
            self.frame = self._whole.part(np.flatnonzero(stays))
            return True
        (gone,) = (~stays if self.alive is None else self.alive > stays).nonzero()
        self.frame.leave(gone)
        self.alive = stays
        self._idle += count - number
        if not self._may_linger or self._idle >= _MOVE * number:
            self.leave_behind()
        return True

    def leave_behind(self) -> None:
        """Nobody lingers any more."""
        if self.alive is not None:
            self.frame, self.alive, self._idle = self.frame.kept(np.flatnonzero(self.alive)), None, 0
