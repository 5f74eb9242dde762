"""Examples of an audit's findings, run in the simulator: whether they show what the audit says.

    replayed(kernel, findings, seconds)   →   the findings, each that has an example with a `Replay`

The launch of an example is run on arrays of its sizes, with what it says that they hold, and looked at for the fault
that the finding is about. Where it has more threads or elements than can be run, only the blocks of the threads that
the example names run, and all elements of a large array lie in one place: that shows an index or a number that is too
large, but no race.
"""

from __future__ import annotations

import math
import struct
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from kbuild.audit.findings import SAFETY, Example, Finding, Replay
from kbuild.audit.values import component_names
from kbuild.errors import Span
from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Kernel
from kbuild.ir.types import Array, IndexedArray, Matrix, Scalar, Struct, Type, Vector, element_of
from kbuild.loader import abi, pack
from kbuild.loader.interface import Mismatch, View, contiguous_strides
from kbuild.sim.blocks import Divergence, Launch, over
from kbuild.sim.lockstep import tree
from kbuild.sim.lockstep.frame import Frame
from kbuild.sim.lockstep.output import Output
from kbuild.sim.lockstep.places import at_lane
from kbuild.sim.lockstep.races import Race
from kbuild.sim.lockstep.run import Checks, Options, run
from kbuild.sim.lockstep.watching import Watcher
from kbuild.sim.values import Conflict, Fault, OutOfBounds, Unassigned

LARGEST: Final = 1 << 22  # elements of an array that are all there
MOST_THREADS: Final = 1 << 16  # that all run
SECONDS: Final = 5.0  # of all examples of a kernel
OF_MEMORY: Final = ("shared-races", "global-races", "initialization")  # that need each element in a place of its own


@dataclass(frozen=True)
class Shown:
    """A fault. `check` is the audit's word for it, or what the fault is called where the audit has none."""

    check: str
    lines: tuple[int, ...]
    text: str


def replayed(kernel: Kernel, findings: Iterable[Finding], seconds: float = SECONDS) -> tuple[Finding, ...]:
    """The findings, with what became of their examples. `seconds` are for all of them."""
    deadline = time.monotonic() + seconds
    return tuple(
        replace(one, replay=_replay(kernel, one, one.example, deadline))
        if one.verdict == "found" and one.example is not None and one.check in SAFETY
        else one
        for one in findings
    )


def _replay(kernel: Kernel, finding: Finding, example: Example, deadline: float) -> Replay:
    lines = {span.line for span in (finding.span, *(note.span for note in finding.notes)) if span is not None}
    reason = ""
    for filling in FILLINGS:
        try:
            shown = run_example(kernel, example, finding.check, filling, deadline)
        except NotRun as error:
            return Replay(False, str(error))
        if shown is not None and shown.check == finding.check and lines & set(shown.lines):
            return Replay(True, shown.text)
        reason = reason or _otherwise(shown)
    return Replay(False, reason)


def _otherwise(shown: Shown | None) -> str:
    if shown is None:
        return "the simulator runs the example to its end; it depends on what the arrays hold, or on the floats"
    where = f" (line {', '.join(map(str, shown.lines))})" if shown.lines else ""
    return f"the simulator stops at something else{where}: {shown.text}"


# What runs


class NotRun(Exception):
    """An example that cannot be run, and why."""


@dataclass(frozen=True)
class Filling:
    """What an example does not say of its arrays: integers and floats from `first` on, in steps; arrays of numbers that
    have as many elements as one of `held` have these."""

    first: int
    step: int
    floats: float
    held: Mapping[str, Any] = field(default_factory=dict)


FILLINGS: Final = (Filling(1, 1, 1.0), Filling(0, 0, 0.0), Filling(0, 0, -1.0))


def run_example(
    kernel: Kernel, example: Example, check: str, filling: Filling = FILLINGS[0], deadline: float = math.inf
) -> Shown | None:
    """The first fault at the launch of an example, looked at for a check, up to `deadline` (of `time.monotonic`).

    Raises NotRun.
    """
    launch = over(example.dim, example.block_dim)
    if example.grid is not None and example.block is not None:
        launch = Launch(example.grid, example.block, launch.dim)
    is_large = math.prod(example.dim) > MOST_THREADS
    arguments = _Arguments(example, filling, is_folded=check not in OF_MEMORY)
    watchers: list[Watcher] = [_Clock(deadline)]
    if check == "overflow":
        watchers.append(Overflows())
    options = Options(
        Checks(races=check.endswith("races"), assigned=check == "initialization", divisions=False),
        watchers=watchers,
        blocks=sorted({_block_of(one.block, one.coordinates, launch, example) for one in example.threads})
        if is_large
        else None,
    )
    parameters = [(one.name, one.type) for one in kernel.function.parameters]
    return _run(kernel, launch, arguments.block(parameters), arguments.offsets, options)


def _run(kernel: Kernel, launch: Launch, block: bytes, offsets: dict[str, int], options: Options) -> Shown | None:
    try:
        run(kernel, launch, block, offsets, options, Output())
    except Fault as fault:
        return shown_by(fault)
    except MemoryError:
        raise NotRun("too large to run") from None
    except ValueError as error:
        raise NotRun(str(error)) from None
    return None


def _block_of(block: tuple[int, int, int], coordinates: Sequence[int], launch: Launch, example: Example) -> int:
    """The number of a thread's block."""
    if example.grid is not None:
        return block[0] + launch.grid[0] * (block[1] + launch.grid[1] * block[2])
    number = 0
    for coordinate, extent in zip(coordinates, launch.dim, strict=True):
        number = number * extent + coordinate
    return number // math.prod(launch.block)


class _Clock(Watcher):
    """Ends a run that takes too long."""

    wants_statements = True

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline

    def executes(self, stmt: nodes.Stmt, frame: Frame) -> None:
        """Raises NotRun."""
        self._look()

    def tests(self, stmt: nodes.For | nodes.While, frame: Frame) -> None:
        """Of loops, too, that only wait. Raises NotRun."""
        self._look()

    def _look(self) -> None:
        if time.monotonic() > self._deadline:
            raise NotRun("it takes too long to run")


class _Arguments:
    """The parameter block of an example. `is_folded`: large arrays have one element, which stands for all of them."""

    def __init__(self, example: Example, filling: Filling, is_folded: bool) -> None:
        self._shapes, self._scalars = dict(example.shapes), dict(example.scalars)
        self._contents: dict[str, list[tuple[tuple[int, ...], int | float]]] = {}
        for name, indices, value in example.contents:
            self._contents.setdefault(name, []).append((indices, value))
        self._filling, self._is_folded = filling, is_folded
        self._kept: list[Any] = []
        self.offsets: dict[str, int] = {}

    def block(self, parameters: Sequence[tuple[str, Type]]) -> bytes:
        """Its bytes. Raises NotRun."""
        end = 0
        for name, type in parameters:
            self.offsets[name] = start = abi.align_up(end, type.align)
            end = start + type.size
        layout = pack.fields_format([(type, self.offsets[name]) for name, type in parameters], 0, end)
        values = [leaf for name, type in parameters for leaf in self._leaves(name, type)]
        return struct.pack("<" + layout, *values)

    def _leaves(self, name: str, type: Type) -> Iterator[Any]:
        if isinstance(type, Scalar):
            given = self._scalars.get(name, 1)
            yield bool(given) if type.kind == "bool" else float(given) if type.kind == "float" else int(given)
        elif isinstance(type, (Vector, Matrix)):
            for inner in component_names(type):
                yield from self._leaves(name + inner, type.element)
        elif isinstance(type, Struct):
            for field in type.fields:
                yield from self._leaves(f"{name}.{field.name}", field.type)
        elif isinstance(type, Array) and not isinstance(type, IndexedArray):
            yield self._array(name, type)
        else:
            raise NotRun(f"{name} is of {type}, of which the simulator is given none")

    def _array(self, name: str, type: Array) -> bytes:
        shape = self._shapes.get(name, (1,) * type.ndim)
        strides = contiguous_strides(shape, type.element.size)
        contents = self._contents.get(name, [])
        if math.prod(shape) > LARGEST:
            if not self._is_folded or len({value for _, value in contents}) > 1:
                raise NotRun(f"too large to run: {name} has {math.prod(shape)} elements")
            contents = [((0,) * type.ndim, value) for _, value in contents[:1]]
            data, strides = self._filled(type.element, 1), (0,) * type.ndim
            folded: tuple[int, ...] = (1,) * type.ndim
        else:
            data, folded = self._filled(type.element, math.prod(shape)), shape
        numbers = self._numbers(type.element, data[: math.prod(folded) * type.element.size])
        held = self._filling.held.get(name)
        if held is not None and numbers is not None and np.shape(held)[: type.ndim] == folded:
            numbers[...] = np.ravel(held)
        for indices, value in contents:
            if numbers is None or not all(0 <= i < n for i, n in zip(indices, folded, strict=False)):
                raise NotRun(f"{name} has no element {indices}")
            numbers.reshape(*folded, -1)[indices] = value
        self._kept.append(data)
        try:
            return View(data.ctypes.data, shape, strides, type.element).descriptor()
        except Mismatch as error:
            raise NotRun(f"{name}: {error}") from None

    def _filled(self, element: Type, count: int) -> Any:
        """Memory for so many elements."""
        data = np.zeros(max(count, 1) * max(element.size, 1) + 16, np.uint8)
        numbers = self._numbers(element, data[: count * element.size])
        if numbers is not None:
            filling = self._filling
            of_floats = filling.floats + np.arange(len(numbers)) * filling.step
            of_integers = filling.first + np.arange(len(numbers)) * filling.step
            numbers[...] = (of_floats if numbers.dtype.kind == "f" else of_integers).astype(numbers.dtype)
        return data

    def _numbers(self, element: Type, data: Any) -> Any:
        """The memory as numbers; None of structs and of types that NumPy has not."""
        scalar = element_of(element)
        if not isinstance(scalar, Scalar):
            return None
        try:
            kind = np.dtype(scalar.spelling)
        except TypeError:
            return None
        return data[: len(data) // kind.itemsize * kind.itemsize].view(kind)


# What is seen


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


def shown_by(fault: Fault) -> Shown:
    """A fault of the simulator's in the words of the audit."""
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
