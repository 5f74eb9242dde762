"""The names of `kb.sim`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any

from kbuild.loader.errors import LaunchError
from kbuild.loader.resolve import grid_of, joined, sized
from kbuild.sim.blocks import Divergence
from kbuild.sim.lockstep.floats import FloatException, FloatExceptions, NotANumber
from kbuild.sim.lockstep.output import Output
from kbuild.sim.lockstep.races import Race
from kbuild.sim.lockstep.statements import Deadlock
from kbuild.sim.lockstep.watching import DividedByZero, Watcher
from kbuild.sim.looking.changes import Change, Changes, Watch
from kbuild.sim.looking.lines import TraceError, filter_trace
from kbuild.sim.looking.state import State
from kbuild.sim.looking.stops import Abandoned, Stop, Stopper
from kbuild.sim.profile.profiler import Profiler
from kbuild.sim.profile.report import Profile
from kbuild.sim.threads import AssertFailed, AssumptionFailed
from kbuild.sim.values import Fault, OutOfBounds, Unassigned
from kbuild.simulate import settings, tracing
from kbuild.simulate.compiled import compiled
from kbuild.simulate.debugging import Session
from kbuild.simulate.launches import execute, extents
from kbuild.simulate.limits import DeviceLimits, list_devices
from kbuild.simulate.observing import observe
from kbuild.simulate.result import Result, ending
from kbuild.simulate.settings import Settings, configure

__all__ = (
    "AssertFailed",
    "AssumptionFailed",
    "Change",
    "Changes",
    "Deadlock",
    "DeviceLimits",
    "Divergence",
    "DividedByZero",
    "Fault",
    "FloatException",
    "NotANumber",
    "OutOfBounds",
    "Profile",
    "Race",
    "Result",
    "Session",
    "Settings",
    "State",
    "Stop",
    "TraceError",
    "Unassigned",
    "Watcher",
    "configure",
    "debug",
    "filter_trace",
    "list_devices",
    "observe",
    "run",
)


def run(
    kernel: Any,
    dim: Any = None,
    inputs: Any = (),
    outputs: Any = (),
    *,
    block_dim: int | None = None,
    grid: Any = None,
    block: Any = None,
    shared_memory: int | None = None,
    profile: bool = False,
    watchers: Sequence[Watcher] = (),
    trace: Any = None,
    trace_threads: Iterable[Any] | None = None,
    trace_lines: Iterable[int] | None = None,
    trace_events: Iterable[str] | None = None,
    watch: str | Mapping[str, Iterable[Any] | None] | None = None,
    watch_threads: Iterable[Any] | None = None,
    stop: Stop | Sequence[Stop] = (),
    on_stop: Callable[[State], Any] | None = None,
    like: str | None = None,
    **changes: Any,
) -> Result:
    """Runs a launch in the simulator. Arguments as `kb.launch` takes them: arrays on `sim` or `cpu`, or NumPy's.

    `profile=True` counts what each line costs. `trace` is a path, an open text file, or True for `result.trace`: lines
    of JSON, or a trace for Perfetto in a file `*.json`; `trace_threads`, `trace_lines` and `trace_events` say what of
    it. `watch` follows variables of threads, `{"x": [0, 31]}` or `watch="x", watch_threads=[0, 31]`. At each `stop` the
    run waits until `on_stop(state)` returns, or without one ends there. `like` names a device that the launch must fit
    on. See docs/simulator-looking.md.

    Any of `kb.sim.Settings` may be changed for this run by name: `races=False`. Raises LaunchError for what cannot be
    launched, `kb.sim.Fault` for what a kernel must not do.
    """
    asked = settings.current().changed(**changes)
    dim = _shape(kernel, dim, grid, block, block_dim, shared_memory)
    args = joined(kernel, inputs, outputs) if outputs.__class__ is not tuple or outputs else inputs
    result = Result("", watchers)
    with ExitStack() as stack:
        told = list(watchers)
        if trace is not None and trace is not False:
            tracer, result.trace = stack.enter_context(tracing.opened(trace, trace_threads, trace_lines, trace_events))
            told.append(tracer)
        if watch is not None:
            follower = Watch({watch: watch_threads} if isinstance(watch, str) else watch)
            result.watched = follower.changes
            told.append(follower)
        stops = [stop] if isinstance(stop, Stop) else stop
        if stops:
            told.append(Stopper(stops, on_stop or ending(result)))
        profiler = Profiler() if profile else None
        exceptions = FloatExceptions() if asked.exceptions else None
        told += filter(None, [profiler, exceptions])
        output = Output(asked.threads)
        with suppress(Abandoned):
            execute(kernel, dim, args, block_dim, asked, output, told, like)
        result.profile = None if profiler is None else profiler.result()
        result.exceptions = () if exceptions is None else exceptions.result()
        result.printed = output.text.decode("utf-8", "surrogateescape")
    return result


def debug(
    kernel: Any,
    dim: Any = None,
    inputs: Any = (),
    outputs: Any = (),
    *,
    block_dim: int | None = None,
    grid: Any = None,
    block: Any = None,
    shared_memory: int | None = None,
    **options: Any,
) -> Session:
    """A run that can be stopped, stepped through and looked at: `with kb.sim.debug(kernel, n, [x]) as session:`.

    Takes what `run` takes. Nothing runs before `session.run()` or `session.step()`. Raises LaunchError.
    """
    for name in ("stop", "on_stop"):
        if name in options:
            raise TypeError(f"kb.sim.debug has no {name!r}: session.break_at(…) sets stops")
    given = options.pop("watchers", ())
    dim = _shape(kernel, dim, grid, block, block_dim, shared_memory)
    args = joined(kernel, inputs, outputs)
    target = compiled(kernel, args)
    shape = extents(target, dim, block_dim)
    if shape is None:
        raise LaunchError(f"{target.name}: a launch of no threads has nothing to look at")
    return Session(
        lambda stopper: run(kernel, dim, args, block_dim=block_dim, watchers=[*given, stopper], **options),
        target.kernel,
        shape.dim,
    )


def _shape(kernel: Any, dim: Any, grid: Any, block: Any, block_dim: int | None, shared_memory: int | None) -> Any:
    """What `kb.launch` makes of these before it gives them on. Raises LaunchError."""
    if shared_memory is not None:
        return sized(kernel, dim, grid, block, block_dim, shared_memory)
    return dim if grid is None and block is None else grid_of(kernel, dim, grid, block, block_dim)


def face(name: str) -> Any:
    """One of the names. Raises AttributeError."""
    if name in __all__:
        return globals()[name]
    raise AttributeError(f"kb.sim has no {name!r}; it has {', '.join(__all__)}")
