"""A profile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kbuild.errors import Span
from kbuild.sim.profile import listing
from kbuild.sim.profile.counts import Counts, Line, total
from kbuild.traffic.access import ARCHITECTURE


@dataclass(frozen=True)
class Profile:
    """What one launch of a kernel cost: `lines` that were executed, by file and number. `functions` are where the
    kernel and those that it calls stand, itself first, without kbuild's own. `notes` say what is counted otherwise than
    it runs.

    Its text is the source with the counts beside it.
    """

    kernel: str
    blocks: int
    warps: int
    threads: int
    lines: list[Line]
    functions: tuple[Span, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def totals(self) -> Counts:
        """The sums over all lines."""
        return total(self.lines)

    def __str__(self) -> str:
        return listing.text(self)

    def to_json(self) -> dict[str, Any]:
        """Everything, for `json.dumps`."""
        return {
            "kernel": self.kernel,
            "architecture": ARCHITECTURE,
            "launch": {"blocks": self.blocks, "warps": self.warps, "threads": self.threads},
            "totals": self.totals.to_json(),
            "lines": [line.to_json() for line in self.lines],
            "notes": list(self.notes),
        }
