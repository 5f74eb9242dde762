"""What the simulator shows of a kernel at a launch, in the words of the audit: a check, and the lines.

    shown(kernel, launch, arguments) → None, or Shown("shared-races", (12, 15), "thread (3,) writes …")

`shown` runs threads in lockstep, with a watcher for integers that leave their type; `shown_in_turn` one after another,
by the simulator's own oracle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from kbuild.audit.findings import Example
from kbuild.ir.nodes import Kernel
from kbuild.ir.types import Array, Matrix, Type, Vector
from kbuild.scan.replaying import FILLINGS, NotRun, Overflows, Shown, run_example, shown_by
from kbuild.sim import threads
from kbuild.sim.blocks import Launch
from kbuild.sim.lockstep.run import Checks, Options
from kbuild.sim.profile.profiler import Profiler
from kbuild.sim.profile.report import Profile
from kbuild.sim.values import Fault, Memory
from tests.helpers.lockstep import run_in_lockstep

MAX_STEPS: Final = 3_000_000


def shown(kernel: Kernel, launch: Launch, arguments: Sequence[Any]) -> Shown | None:
    """What is wrong with a launch: the first thing that the simulator meets."""
    try:
        run_in_lockstep(kernel, launch, arguments, Options(Checks(), None, [Overflows()]))
    except Fault as fault:
        return shown_by(fault)
    return None


def shown_in_turn(kernel: Kernel, launch: Launch, arguments: Sequence[Any]) -> Shown | None:
    """The same, one thread after another. Stricter: it takes equal writes, and reads beside atomics, for conflicts."""
    types = [parameter.type for parameter in kernel.function.parameters]
    given = [_memory(one, type) for one, type in zip(arguments, types, strict=True)]
    try:
        threads.run_launch(kernel, launch, given, MAX_STEPS)
    except Fault as fault:
        return shown_by(fault)
    return None


def replayed(kernel: Kernel, example: Example, check: str, has_zeros: bool = False) -> Shown | None:
    """What is wrong with the launch that an example gives, of what a check is about. What it does not say of arrays is
    the numbers from 1 on, or zeros."""
    try:
        return run_example(kernel, example, check, FILLINGS[has_zeros])
    except NotRun as error:
        return Shown("example", (), str(error))


def profiled(kernel: Kernel, launch: Launch, arguments: Sequence[Any]) -> Profile:
    """What each line costs."""
    profiler = Profiler()
    run_in_lockstep(kernel, launch, arguments, Options(Checks.none(), None, [profiler]))
    return profiler.result()


def _memory(argument: Any, type: Type) -> Any:
    if not isinstance(type, Array):
        return argument
    shape = argument.shape[: type.ndim]
    flat = argument.reshape(-1, *argument.shape[type.ndim :])
    is_composite = isinstance(type.element, (Vector, Matrix))
    return Memory(type.element, shape, [item.tolist() if is_composite else item.item() for item in flat])
