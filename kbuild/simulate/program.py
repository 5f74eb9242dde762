"""A whole program in the simulator: every launch on a GPU, on the host or on no device in particular runs there.

The program runs in this process, as `__main__` with its own `sys.argv`, as debuggers and profilers run one.
"""

from __future__ import annotations

import builtins
import fnmatch
import io
import os
import runpy
import sys
import traceback
import zipfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import ModuleType, TracebackType
from typing import Any

from kbuild.loader import context, placing, providers
from kbuild.sim.blocks import Launch
from kbuild.sim.lockstep.watching import Watcher
from kbuild.sim.looking.tracing import Tracer
from kbuild.sim.profile.profiler import Profiler
from kbuild.sim.values import Fault
from kbuild.simulate import limits, observers, settings, tracing
from kbuild.simulate.compiled import Compiled

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_RUNPY = (runpy.__file__, "<frozen runpy>")


@dataclass(frozen=True)
class Program:
    """What to run, and what to look at. `words` are the script or module and its arguments; `kernel` is a name or a
    pattern, and with `max_launches` says which launches are traced, or profiled.
    """

    words: Sequence[str]
    is_module: bool = False
    changes: dict[str, Any] = field(default_factory=dict)
    trace: str | None = None
    trace_threads: Iterable[Any] | None = None
    trace_lines: Iterable[int] | None = None
    trace_events: Iterable[str] | None = None
    kernel: str | None = None
    max_launches: int | None = None
    like: str | None = None
    profile: bool = False


@dataclass
class Outcome:
    """How it ended: the exit status, launches by kernel, and the fault that ended it, with the place of its launch."""

    status: int = 0
    launches: dict[str, int] = field(default_factory=dict)
    traced: int = 0
    fault: Fault | None = None
    launched_at: str = ""
    reports: list[str] = field(default_factory=list)


class _Counts(observers.Observer):
    """Counts launches, and holds them against a device."""

    def __init__(self, outcome: Outcome, like: str | None) -> None:
        self.outcome, self.like = outcome, like

    def watchers(self, kernel: Compiled, launch: Launch) -> Sequence[Watcher]:
        self.outcome.launches[kernel.name] = self.outcome.launches.get(kernel.name, 0) + 1
        if self.like is not None:
            limits.check(kernel, launch, self.like)
        return ()


class _Traces(observers.Observer):
    """Traces some of the launches."""

    def __init__(self, tracer: Tracer, program: Program, outcome: Outcome) -> None:
        self.tracer, self.program, self.outcome = tracer, program, outcome

    def watchers(self, kernel: Compiled, launch: Launch) -> Sequence[Watcher]:
        if not _is_named(kernel.name, self.program.kernel):
            return ()
        if self.program.max_launches is not None and self.outcome.traced >= self.program.max_launches:
            return ()
        self.outcome.traced += 1
        return (self.tracer,)


class _Profiles(observers.Observer):
    """Counts what each line costs, over all launches of a kernel together."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.profilers: dict[str, Profiler] = {}
        self._taken = 0

    def watchers(self, kernel: Compiled, launch: Launch) -> Sequence[Watcher]:
        if not _is_named(kernel.name, self.program.kernel):
            return ()
        if self.program.max_launches is not None and self._taken >= self.program.max_launches:
            return ()
        self._taken += 1
        if kernel.name not in self.profilers:
            self.profilers[kernel.name] = Profiler()
        return (self.profilers[kernel.name],)

    def report(self) -> str:
        return "\n".join(str(self.profilers[name].result()) for name in sorted(self.profilers))


def _is_named(name: str, pattern: str | None) -> bool:
    if pattern is None:
        return True
    return any(fnmatch.fnmatchcase(one, pattern) for one in (name, name.partition(":")[2]))


def run(program: Program) -> Outcome:
    """Runs it. What the program raises is shown as Python shows it, a Fault as its text.

    Raises OSError for a trace that cannot be written, LookupError for a device that nobody knows, ValueError for wrong
    settings.
    """
    outcome = Outcome()
    if program.like is not None:
        limits.device(program.like)
    settings.configure(**program.changes)
    with ExitStack() as stack:
        _observe(_Counts(outcome, program.like), stack)
        if program.trace is not None:
            asked = program.trace_threads, program.trace_lines, program.trace_events
            tracer, _ = stack.enter_context(tracing.opened(program.trace, *asked, is_strict=False))
            _observe(_Traces(tracer, program, outcome), stack)
        if program.profile:
            _observe(_Profiles(program), stack)
        _stand_for_gpus()
        _run(program, outcome)
        outcome.reports = [text for text in (one.report() for one in observers.present) if text]
    return outcome


def _observe(observer: observers.Observer, stack: ExitStack) -> None:
    observers.present.append(observer)
    stack.callback(observers.present.remove, observer)


def _stand_for_gpus() -> None:
    """Every device means the simulator from here on, in this process; in those that it starts the default one does."""
    placing.stand_for_gpus()
    providers.register("cpu", providers.registry["sim"])
    providers.register(providers.ADJOINTS + "cpu", providers.registry[providers.ADJOINTS + "sim"])
    os.environ[context.VARIABLE] = "sim"
    os.environ[settings.VARIABLE] = settings.spelled(settings.current())


def _run(program: Program, outcome: Outcome) -> None:
    sys.argv = list(program.words)
    name = program.words[0]
    try:
        if program.is_module:
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        elif os.path.isfile(name) and not zipfile.is_zipfile(name):
            _run_script(name)
        else:
            runpy.run_path(name, run_name="__main__")
    except SystemExit as end:
        outcome.status = _status(end.code)
    except Fault as fault:
        outcome.status, outcome.fault, outcome.launched_at = 1, fault, _launched_at(fault.__traceback__)
    except Exception as error:
        outcome.status = 1
        sys.stdout.flush()
        shown = error.with_traceback(_of_program(error.__traceback__))
        sys.excepthook(type(shown), shown, shown.__traceback__)


def _run_script(name: str) -> None:
    """Runs a file as `__main__`, as `python FILE` does; the module stays, for what runs at the end."""
    path = os.path.abspath(name)
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    module = ModuleType("__main__")
    module.__dict__.update(__file__=path, __builtins__=builtins)
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec")
    sys.modules["__main__"] = module
    exec(code, module.__dict__)


def _status(code: Any) -> int:
    """The exit status, as Python makes it of what `sys.exit` was given."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1


def _of_program(frames: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames that started the program; all of it where the program has none."""
    at = frames
    while at is not None and at.tb_frame.f_code.co_filename in (__file__, *_RUNPY):
        at = at.tb_next
    return at


def _launched_at(frames: TracebackType | None) -> str:
    """The last line of the program before kbuild's own."""
    found = ""
    for frame, line in traceback.walk_tb(frames):
        path = frame.f_code.co_filename
        if path not in _RUNPY and not path.startswith(_PACKAGE + os.sep):
            found = f"{path}:{line}"
    return found
