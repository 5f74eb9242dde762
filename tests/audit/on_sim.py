"""What the simulator shows of a kernel at a launch, in the words of the audit: a check, and the lines.

    shown(kernel, launch, arguments) → None, or Shown("shared-races", (12, 15), "thread (3,) writes …")

`shown` runs threads in lockstep, with a watcher for integers that leave their type; `shown_in_turn` one after another,
by the simulator's own oracle.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from kbuild.audit.findings import Example
from kbuild.errors import Span
from kbuild.ir import nodes
from kbuild.ir.blocks import in_whole_blocks
from kbuild.ir.nodes import Expr, Kernel
from kbuild.ir.types import Array, Matrix, Scalar, Type, Vector
from kbuild.sim import threads
from kbuild.sim.blocks import Divergence, Launch, over
from kbuild.sim.lockstep import tree
from kbuild.sim.lockstep.frame import Frame
from kbuild.sim.lockstep.places import at_lane
from kbuild.sim.lockstep.races import Race
from kbuild.sim.lockstep.run import Checks, Options
from kbuild.sim.lockstep.watching import Watcher
from kbuild.sim.profile.profiler import Profiler
from kbuild.sim.profile.report import Profile
from kbuild.sim.values import Conflict, Fault, Memory, OutOfBounds, Unassigned
from tests.audit.cases import argument
from tests.helpers.lockstep import run_in_lockstep

MAX_STEPS: Final = 3_000_000
NOTHING: Final[Mapping[str, list[Any]]] = {}
LARGEST: Final = 1 << 22  # elements or threads of an example that is replayed


@dataclass(frozen=True)
class Shown:
    """A fault. `check` is the audit's word for it, or what the fault is called where the audit has none."""

    check: str
    lines: tuple[int, ...]
    text: str


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


class Overflow(Fault):
    """Signed arithmetic whose result its type does not hold."""


class Overflows(Watcher):
    """Raises Overflow for signed integers of 32 bits: those of unsigned ones are meant."""

    wants_values = True

    def computed(self, expr: Expr, found: Any, operands: list[Any], frame: Frame) -> None:
        """Raises Overflow."""
        if not isinstance(expr, nodes.Binary) or expr.op not in _EXACT:
            return
        if not isinstance(expr.type, Scalar) or expr.type.spelling != "int32":
            return
        left, right = (np.asarray(tree.dense(one), np.int64) for one in operands)
        differs = np.atleast_1d(_EXACT[expr.op](left, right) != np.asarray(tree.dense(found), np.int64))
        if differs.any():
            fault = Overflow(f"{expr.op} of integers leaves {expr.type}")
            fault.span = expr.span
            raise at_lane(fault, int(np.argmax(differs)))


_EXACT: Final[dict[str, Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "shl": lambda a, b: np.where(b < 32, a << np.minimum(b, 31), 0),
}


def shown(kernel: Kernel, launch: Launch, arguments: Sequence[Any]) -> Shown | None:
    """What is wrong with a launch: the first thing that the simulator meets."""
    if not is_as_declared(kernel, launch, arguments):
        return EXCLUDED
    try:
        run_in_lockstep(kernel, launch, arguments, Options(Checks(), None, [Overflows()]))
    except Fault as fault:
        return _shown(fault)
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
        return _shown(fault)
    return None


def replayed(
    kernel: Kernel, example: Example, has_zeros: bool = False, contents: Mapping[str, list[Any]] = NOTHING
) -> Shown | None:
    """What is wrong with the launch that an example gives. What it does not say of arrays of integers is the
    `contents`, where they are as many, else the numbers from 1 on, or zeros: a lock that is held is waited for."""
    if any(math.prod(shape) > LARGEST for _, shape in example.shapes) or math.prod(example.dim) > LARGEST:
        return None
    given: dict[str, Any] = {**dict(example.shapes), **dict(example.scalars)}
    held = {name: list(one) for name, one in contents.items() if np.shape(one) == tuple(given[name])}
    given |= held
    arguments = {symbol.name: argument(given[symbol.name], symbol.type) for symbol in kernel.function.parameters}
    for name, given_array in arguments.items() if has_zeros else ():
        if name not in held and isinstance(given_array, np.ndarray) and given_array.dtype.kind in "iu":
            given_array[...] = 0
    for name, indices, value in example.contents:
        if not all(0 <= index < extent for index, extent in zip(indices, arguments[name].shape, strict=False)):
            return Shown("example", (), f"{name} has no element {indices}")
        arguments[name][indices] = value
    launch = over(example.dim, example.block_dim)
    if example.grid is not None and example.block is not None:
        launch = Launch(example.grid, example.block, launch.dim)
    return shown(kernel, launch, list(arguments.values()))


def profiled(kernel: Kernel, launch: Launch, arguments: Sequence[Any]) -> Profile:
    """What each line costs."""
    profiler = Profiler()
    run_in_lockstep(kernel, launch, arguments, Options(Checks.none(), None, [profiler]))
    return profiler.result()


def _shown(fault: Fault) -> Shown:
    spans: list[Span | None] = [fault.span, getattr(fault, "other_span", None)]
    lines = tuple(dict.fromkeys(span.line for span in spans if span is not None))
    return Shown(_check(fault), lines, fault.reason)


def _check(fault: Fault) -> str:
    match fault:
        case Overflow():
            return "overflow"
        case OutOfBounds():
            return "bounds"
        case Unassigned():
            return "initialization"
        case Divergence():
            return "barriers"
        case Race():
            return "shared-races" if "(shared memory)" in fault.reason else "global-races"
        case Conflict():
            return "races"
        case _ if "waits for the lanes" in fault.reason:
            return "barriers"  # with a mask that does not name the lane itself
    return type(fault).__name__


def _memory(argument: Any, type: Type) -> Any:
    if not isinstance(type, Array):
        return argument
    shape = argument.shape[: type.ndim]
    flat = argument.reshape(-1, *argument.shape[type.ndim :])
    is_composite = isinstance(type.element, (Vector, Matrix))
    return Memory(type.element, shape, [item.tolist() if is_composite else item.item() for item in flat])
