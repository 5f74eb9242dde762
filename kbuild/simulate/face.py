"""The names of `kb.sim`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kbuild.loader.resolve import joined
from kbuild.sim.blocks import Divergence
from kbuild.sim.lockstep.floats import FloatException, FloatExceptions, NotANumber
from kbuild.sim.lockstep.output import Output
from kbuild.sim.lockstep.races import Race
from kbuild.sim.lockstep.statements import Deadlock
from kbuild.sim.lockstep.watching import DividedByZero, Watcher
from kbuild.sim.profile.profiler import Profiler
from kbuild.sim.profile.report import Profile
from kbuild.sim.threads import AssertFailed
from kbuild.sim.values import Fault, OutOfBounds, Unassigned
from kbuild.simulate import settings
from kbuild.simulate.launches import execute
from kbuild.simulate.settings import Settings, configure

__all__ = (
    "AssertFailed",
    "Deadlock",
    "Divergence",
    "DividedByZero",
    "Fault",
    "FloatException",
    "NotANumber",
    "OutOfBounds",
    "Profile",
    "Race",
    "Result",
    "Settings",
    "Unassigned",
    "Watcher",
    "configure",
    "run",
)


@dataclass
class Result:
    """What a run has seen. `printed` is what the kernel has printed; `watchers` those that the caller gave. `profile`
    and `exceptions` (by line and kind) are there if they were asked for.
    """

    printed: str
    watchers: Sequence[Watcher] = field(default_factory=tuple)
    profile: Profile | None = None
    exceptions: tuple[FloatException, ...] = ()


def run(
    kernel: Any,
    dim: Any = None,
    inputs: Any = (),
    outputs: Any = (),
    *,
    block_dim: int | None = None,
    profile: bool = False,
    watchers: Sequence[Watcher] = (),
    **changes: Any,
) -> Result:
    """Runs a launch in the simulator. Arguments as `kb.launch` takes them: arrays on `sim` or `cpu`, or NumPy's.

    `profile=True` counts what each line costs. Any of `kb.sim.Settings` may be changed for this run by name:
    `races=False`. Raises LaunchError for what cannot be launched, `kb.sim.Fault` for what a kernel must not do.
    """
    asked = settings.current().changed(**changes)
    args = joined(kernel, inputs, outputs) if outputs.__class__ is not tuple or outputs else inputs
    output = Output(asked.threads)
    profiler = Profiler() if profile else None
    exceptions = FloatExceptions() if asked.exceptions else None
    execute(kernel, dim, args, block_dim, asked, output, [*watchers, *filter(None, [profiler, exceptions])])
    return Result(
        output.text.decode("utf-8", "surrogateescape"),
        watchers,
        None if profiler is None else profiler.result(),
        () if exceptions is None else exceptions.result(),
    )


def face(name: str) -> Any:
    """One of the names. Raises AttributeError."""
    if name in __all__:
        return globals()[name]
    raise AttributeError(f"kb.sim has no {name!r}; it has {', '.join(__all__)}")
