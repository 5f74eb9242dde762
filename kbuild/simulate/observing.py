"""Every launch on the simulator inside a block, looked at: `with kb.sim.observe(watch="adj_s") as seen:`.

The backward pass of a tape launches adjoint kernels. Their variables are those of the kernel, at the lines of its
source, and beside each variable that derivatives flow through its adjoint, `adj_NAME`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from fnmatch import fnmatchcase
from typing import Any

from kbuild.sim.blocks import Launch
from kbuild.sim.lockstep.watching import Watcher
from kbuild.sim.looking.changes import Changes, Watch, names_in
from kbuild.sim.looking.state import State
from kbuild.sim.looking.stops import Abandoned, Stop, Stopper, is_met_in
from kbuild.simulate import observers, tracing
from kbuild.simulate.compiled import Compiled
from kbuild.simulate.result import Result, ending


@contextmanager
def observe(
    *,
    kernel: str = "*",
    watch: str | Mapping[str, Iterable[Any] | None] | None = None,
    watch_threads: Iterable[Any] | None = None,
    trace: Any = None,
    trace_threads: Iterable[Any] | None = None,
    trace_lines: Iterable[int] | None = None,
    trace_events: Iterable[str] | None = None,
    stop: Stop | Sequence[Stop] = (),
    on_stop: Callable[[State], Any] | None = None,
) -> Iterator[Result]:
    """Looks at the launches of kernels whose name, as `module:name` or without the module, fits a pattern.

    The other arguments are those of `kb.sim.run`. What is watched is looked for in every kernel that has it, and so are
    the lines of stops. A stop without `on_stop`, and `state.abandon()`, end the block. Raises LookupError in the end
    for a variable that no kernel had.
    """
    wanted = {watch: watch_threads} if isinstance(watch, str) else dict(watch or {})
    stops = [stop] if isinstance(stop, Stop) else list(stop)
    result = Result("")
    with ExitStack() as stack:
        told: list[Watcher] = []
        if trace is not None and trace is not False:
            asked = trace_threads, trace_lines, trace_events
            tracer, result.trace = stack.enter_context(tracing.opened(trace, *asked, is_strict=False))
            told.append(tracer)
        looking = _Looking(kernel, wanted, stops, on_stop or ending(result), told, result.watched)
        observers.present.append(looking)
        stack.callback(observers.present.remove, looking)
        with suppress(Abandoned):
            yield result
    missing = [name for name in wanted if name not in looking.found]
    if missing and result.stopped is None:
        raise LookupError(f"no kernel that was launched has a variable {missing[0]!r}")


class _Looking(observers.Observer):
    def __init__(
        self,
        pattern: str,
        wanted: Mapping[str, Iterable[Any] | None],
        stops: Sequence[Stop],
        on_stop: Callable[[State], Any],
        told: Sequence[Watcher],
        changes: Changes,
    ) -> None:
        self.pattern, self.stops, self.on_stop, self.told, self.changes = pattern, stops, on_stop, told, changes
        self.wanted = {name: None if given is None else list(given) for name, given in wanted.items()}
        self.found: set[str] = set()

    def watchers(self, kernel: Compiled, launch: Launch) -> Sequence[Watcher]:
        names = kernel.name, kernel.name.partition(":")[2]
        if not any(fnmatchcase(name, self.pattern) for name in names):
            return ()
        made = list(self.told)
        here = {name: self.wanted[name] for name in self.wanted.keys() & names_in(kernel.kernel)}
        self.found |= here.keys()
        if here:
            watch = Watch(here)
            watch.changes = self.changes
            made.append(watch)
        stops = [stop for stop in self.stops if is_met_in(stop, kernel.kernel, launch.dim)]
        if stops:
            made.append(Stopper(stops, self.on_stop))
        return made
