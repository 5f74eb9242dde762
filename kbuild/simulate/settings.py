"""What the simulator looks for, and how: for all launches of a program, or for one.

`KBUILD_SIM` in the environment sets them for a program: `KBUILD_SIM=races=off,seed=3`.
"""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from typing import Any

VARIABLE = "KBUILD_SIM"


@dataclass(frozen=True)
class Settings:
    """`races`: two threads on one element, with a result that depends on who comes first. `unassigned`: shared memory,
    or an array of `kb.empty` on `sim`, that is read before anything is assigned to it. `divisions`: integers divided by
    zero. `nan`: a NaN that comes of numbers. Each is a Fault where it happens; indices, barriers and asserts are always
    looked after.

    `exceptions` counts the floating-point exceptions of IEEE 754 by line, for the result of `kb.sim.run`. `seed`
    shuffles the order of atomics (None: the order of threads). `threads` puts a thread's coordinates before what it
    prints.
    """

    races: bool = True
    unassigned: bool = True
    divisions: bool = True
    nan: bool = False
    exceptions: bool = False
    seed: int | None = None
    threads: bool = False

    def changed(self, **changes: Any) -> Settings:
        """With some of them changed. Raises TypeError for what is none, or has another type."""
        known = {field.name: field for field in dataclasses.fields(self)}
        for name, value in changes.items():
            if name not in known:
                raise TypeError(f"the simulator has no setting {name!r}; it has {', '.join(known)}")
            if name == "seed":
                if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
                    raise TypeError(f"seed wants a number from 0 on, or None, not {value!r}")
            elif not isinstance(value, bool):
                raise TypeError(f"{name} wants True or False, not {value!r}")
        return dataclasses.replace(self, **changes)


def parse(text: str) -> dict[str, Any]:
    """The settings of a text like `races=off,seed=3`. Raises ValueError."""
    found: dict[str, Any] = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, _, value = part.partition("=")
        if name == "seed" and value.isascii() and value.isdigit():
            found[name] = int(value)
        elif value in ("on", "off", ""):
            found[name] = value != "off"
        else:
            raise ValueError(f"{part!r} is no setting of the simulator: write races=off, nan=on, seed=3")
    return found


def spelled(given: Settings) -> str:
    """Settings as the variable has them, those that are as ever left out."""
    parts = []
    for field in dataclasses.fields(given):
        value = getattr(given, field.name)
        if value != field.default:
            parts.append(
                f"{field.name}={value}" if field.name == "seed" else f"{field.name}={'on' if value else 'off'}"
            )
    return ",".join(parts)


_current: Settings | None = None


def current() -> Settings:
    """Those of this program. Raises ValueError for a variable that says nothing sensible."""
    global _current
    if _current is None:
        try:
            _current = Settings().changed(**parse(os.environ.get(VARIABLE, "")))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{VARIABLE}: {error}") from None
    return _current


def configure(**changes: Any) -> Settings:
    """Changes settings for all launches that follow; what they were before. Raises TypeError."""
    global _current
    before = current()
    _current = before.changed(**changes)
    return before
