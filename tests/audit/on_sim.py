"""What the simulator shows of a kernel at a launch, in the words of the audit: a check, and the lines.

    shown(kernel, launch, arguments) → None, or Shown("shared-races", (12, 15), "thread (3,) writes …")

`shown` runs threads in lockstep, with a watcher for integers that leave their type; `shown_in_turn` one after another,
by the simulator's own oracle.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from kbuild.audit.findings import Example
from kbuild.ir import nodes
from kbuild.ir.blocks import in_whole_blocks
from kbuild.ir.nodes import Expr, Kernel
from kbuild.ir.types import Array, Matrix, Type, Vector
from kbuild.scan.replaying import FILLINGS, NotRun, Overflows, Shown, run_example, shown_by
from kbuild.sim import threads
from kbuild.sim.blocks import Launch
from kbuild.sim.lockstep.frame import Frame
from kbuild.sim.lockstep.run import Checks, Options
from kbuild.sim.lockstep.watching import Watcher
from kbuild.sim.profile.profiler import Profiler
from kbuild.sim.profile.report import Profile
from kbuild.sim.values import Fault, Memory
from tests.helpers.lockstep import run_in_lockstep

MAX_STEPS: Final = 3_000_000
MAX_TRIPS: Final = 50_000  # of all loops of a launch, one after the other
NOTHING: Final[Mapping[str, list[Any]]] = {}

EXCLUDED: Final = Shown("AssumptionFailed", (), "it is launched over another dim than it declares")


def declared(kernel: Kernel, given: dict[str, Any]) -> tuple[int, ...]:
    """The `launch_dim` of a kernel with these arrays, or shapes, and scalars by parameter."""

    def size(extent: Expr) -> int:
        match extent:
            case nodes.Const(value):
                return int(value)
            case nodes.Read(symbol):
                return int(given[symbol.name])
            case nodes.Extent(nodes.Read(symbol), axis):
                return int(np.shape(given[symbol.name])[axis])
        raise AssertionError(extent)

    return tuple(map(size, kernel.launch_dim))


def is_as_declared(kernel: Kernel, launch: Launch, arguments: Sequence[Any]) -> bool:
    """The launch is one that the loader lets through, as far as it has to do with what the kernel declares."""
    names = (symbol.name for symbol in kernel.function.parameters)
    if kernel.launch_dim and in_whole_blocks(kernel) and launch.count % math.prod(launch.block):
        return False
    return not kernel.launch_dim or declared(kernel, dict(zip(names, arguments, strict=True))) == launch.dim


class Endless(Fault):
    """Threads that wait for what nobody does."""


class _Ends(Watcher):
    """Raises Endless where loops do not end."""

    wants_statements = True

    def __init__(self) -> None:
        self._trips = 0

    def tests(self, stmt: nodes.For | nodes.While, frame: Frame) -> None:
        """Raises Endless."""
        self._trips += 1
        if self._trips > MAX_TRIPS:
            raise Endless("a loop does not end")


def shown(kernel: Kernel, launch: Launch, arguments: Sequence[Any]) -> Shown | None:
    """What is wrong with a launch: the first thing that the simulator meets."""
    if not is_as_declared(kernel, launch, arguments):
        return EXCLUDED
    try:
        run_in_lockstep(kernel, launch, arguments, Options(Checks(), None, [Overflows(), _Ends()]))
    except Fault as fault:
        return shown_by(fault)
    return None


def shown_in_turn(kernel: Kernel, launch: Launch, arguments: Sequence[Any]) -> Shown | None:
    """The same, one thread after another. Stricter: it takes equal writes, and reads beside atomics, for conflicts."""
    if not is_as_declared(kernel, launch, arguments):
        return EXCLUDED
    types = [parameter.type for parameter in kernel.function.parameters]
    given = [_memory(one, type) for one, type in zip(arguments, types, strict=True)]
    try:
        threads.run_launch(kernel, launch, given, MAX_STEPS)
    except Fault as fault:
        return shown_by(fault)
    return None


def replayed(
    kernel: Kernel,
    example: Example,
    check: str,
    has_zeros: bool = False,
    contents: Mapping[str, list[Any]] = NOTHING,
) -> Shown | None:
    """What is wrong with the launch that an example gives, of what a check is about. What it does not say of arrays is
    the `contents`, where they are as many, else the numbers from 1 on, or zeros: a lock that is held is waited for."""
    try:
        return run_example(kernel, example, check, replace(FILLINGS[has_zeros], held=contents))
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
