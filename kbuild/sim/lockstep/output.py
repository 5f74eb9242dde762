"""What kernels print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kbuild.ir.formats import Piece
from kbuild.ir.types import Type
from kbuild.sim.lockstep.lanes import Lanes
from kbuild.sim.printing import formatted


class Output:
    """Text in the order of statements, and of threads within one; with `threads`, each line begins with its thread."""

    def __init__(self, threads: bool = False) -> None:
        self.text = bytearray()
        self._threads = threads

    def write(self, pieces: Sequence[Piece], values: list[tuple[Any, Type]], lanes: Lanes) -> None:
        """One print of every lane."""
        for position in range(lanes.count):
            if self._threads:
                self.text += f"[{', '.join(map(str, lanes.coordinates(position)))}] ".encode()
            self.text += formatted(pieces, [(value[position].item(), type) for value, type in values])
