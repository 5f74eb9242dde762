"""What atomics with an order let threads see of one another.

A thread that acquires is taken to see all that was released before, at whatever place: an access counts as seen where
its thread has released since and the other thread has acquired after that. Between blocks, a release or an acquisition
by one thread of a block is taken as one by all, since a barrier most often goes with it. So no order that is there is
missed, and some that are not there are believed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kbuild.sim.lockstep.lanes import Lanes


@dataclass(slots=True)
class _Moment:
    """Threads that have released or acquired, before the event of this number."""

    number: int
    threads: Any
    blocks: Any


class Ordered:
    """Releases and acquisitions of a launch, in the order in which they were made here."""

    def __init__(self) -> None:
        self._releases: list[_Moment] = []
        self._acquisitions: list[_Moment] = []

    def note(self, order: str, lanes: Lanes, number: int) -> None:
        """Some threads do an atomic operation; `number` is that of the next event."""
        moment = _Moment(number, lanes.dense, np.unique(lanes.dense // math.prod(lanes.launch.block)))
        if order in ("release", "acq_rel"):
            self._releases.append(moment)
        if order in ("acquire", "acq_rel"):
            self._acquisitions.append(moment)

    def sees(self, before: Any, events: Any, mine: Any, size: int) -> Any:
        """Which of the threads `mine` see what the threads `before` did at these events; `size` is a block's."""
        found = np.zeros(len(mine), bool)
        if not self._releases or not self._acquisitions:
            return found
        same_block = before // size == mine // size
        latest = np.full(len(mine), -1)  # acquisition of each one
        for moment in self._acquisitions:
            latest[_took_part(moment, mine, same_block, size)] = moment.number
        for moment in self._releases:
            found |= (events < moment.number) & (moment.number <= latest) & _took_part(moment, before, same_block, size)
        return found


def _took_part(moment: _Moment, threads: Any, same_block: Any, size: int) -> Any:
    of_block = np.isin(threads // size, moment.blocks)
    return np.where(same_block, of_block & np.isin(threads, moment.threads), of_block)
