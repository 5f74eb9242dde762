"""A random program differentiated by dual numbers, by differences and in reverse mode, and the three compared."""

from __future__ import annotations

import functools
import linecache
import math
import random
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kbuild.autodiff import Adjoint
from kbuild.errors import Report
from kbuild.intrinsics.table import has_effects
from kbuild.ir.contract import contract
from kbuild.ir.nodes import Kernel
from kbuild.ir.verify import verify
from kbuild.lang.program import lower_kernel
from kbuild.sim.lockstep.run import Checks, Options
from tests.helpers import duals, gradients, kernels
from tests.helpers.duals import Trace
from tests.helpers.gradient_arrays import (
    empty,
    has_floats,
    numbers_of,
    put_numbers,
    tangents_of,
    to_memory,
    values_of,
)
from tests.helpers.gradient_programs import MODEL, Program, initial
from tests.helpers.gradients import Launched

TOLERANCE = {"float64": 1e-8, "float32": 2e-3}
CHECKED, QUICK = Options(Checks(divisions=False)), Options(Checks.none())


class Wrong(AssertionError):
    """A derivative is not what it should be."""


class Skipped(Exception):
    """A program that says nothing: it overflows, has a kink, or runs for too long."""


@dataclass
class Case:
    """A program ready to run, and directions in which its inputs move and its outputs are looked at.

    `moves` are complex: two directions at once. Both are vectors over all floating-point numbers of an array.
    """

    program: Program
    kernels: dict[str, Kernel]
    arrays: dict[str, np.ndarray]
    moves: dict[str, np.ndarray] = field(default_factory=dict)
    weights: dict[str, np.ndarray] = field(default_factory=dict)
    orders: list[list[int]] = field(default_factory=list)

    def type_of(self, name: str) -> Any:
        return gradients.types_of(next(iter(self.kernels.values())))[name]

    def floating(self) -> list[str]:
        return [name for name in self.arrays if has_floats(self.type_of(name))]

    def arguments(self, step: int, arrays: dict[str, Any]) -> list[Any]:
        return [*grouped(arrays), *self.program.steps[step].scalars]


def lowered(program: Program, folder: Path) -> dict[str, Kernel]:
    """The contracted IR of a program's kernels by name. Raises CompileError.

    Without what a scan finds out for keys, which takes as long again.
    """
    path = kernels.write(folder, program.text)
    module, declared = kernels.load(path)
    report = Report()
    found = [lower_kernel(kernel, True, report) for kernel in declared]
    report.raise_errors()
    del sys.modules[module.__name__]
    path.unlink()
    linecache.cache.pop(str(path), None)
    return {k.name.partition(":")[2]: verify(contract(k), has_effects) for k in found if k is not None}


def prepare(program: Program, folder: Path) -> Case:
    """Lowers a program, makes its arrays and chooses directions. Raises CompileError."""
    by_name = lowered(program, folder)
    types = gradients.types_of(next(iter(by_name.values())))
    numbers, arrays = initial(program), {}
    for one in program.arrays:
        arrays[one.name] = empty(types[one.name], one.shape)
        for part, values in numbers[one.name].items():
            target = arrays[one.name]
            for field_name in part.split(".") if part else ():
                target = target[field_name]
            target[...] = values
    case = Case(program, by_name, arrays)
    source = np.random.default_rng(program.seed + 1)
    for name in case.floating():
        size = numbers_of(arrays[name], types[name]).size
        case.moves[name] = source.uniform(-1, 1, size) + 1j * source.uniform(-1, 1, size)
        case.weights[name] = source.uniform(-1, 1, size)
    shuffler = random.Random(program.seed)
    case.orders = [shuffler.sample(range(n), n) for n in (math.prod(step.dim) for step in program.steps)]
    return case


def grouped(arrays: Mapping[str, Any]) -> list[Any]:
    """Arguments: those that are named `model.…` are in a struct, which comes first."""
    model = {name.removeprefix(MODEL): array for name, array in arrays.items() if name.startswith(MODEL)}
    return [*([model] if model else []), *(array for name, array in arrays.items() if not name.startswith(MODEL))]


@dataclass
class Forward:
    """What dual numbers say: values and tangents of all floating-point numbers in the end, and the way there."""

    values: dict[str, np.ndarray]
    tangents: dict[str, np.ndarray]
    trace: Trace


def in_forward_mode(case: Case, arrays: dict[str, np.ndarray] | None = None) -> Forward:
    """Runs the program on dual numbers; from other arrays without tangents. Raises Skipped."""
    memories = {
        name: to_memory(array, case.type_of(name), case.moves.get(name) if arrays is None else None)
        for name, array in (arrays or case.arrays).items()
    }
    trace = Trace()
    for number, step in enumerate(case.program.steps):
        s, n = step.scalars
        scalars = [duals.Dual(float(np.dtype(case.program.precision).type(s))), n]
        kernel = case.kernels[step.kernel]
        try:
            duals.run(kernel, step.dim, [*grouped(memories), *scalars], case.orders[number], trace, 20_000)
        except duals.TooLong:
            raise Skipped("too long") from None
    floating = case.floating()
    values = {name: values_of(memories[name]) for name in floating}
    tangents = {name: tangents_of(memories[name]) for name in floating}
    if not all(np.isfinite(a).all() for a in (*values.values(), *tangents.values())):
        raise Skipped("not finite")
    if max((np.abs(a).max(initial=0.0) for a in tangents.values()), default=0.0) > 1e8:
        raise Skipped("steep")
    return Forward(values, tangents, trace)


def check_differences(case: Case, found: Forward) -> str:
    """Compares dual numbers with central differences: `agrees`, or why nothing can be said. Raises Wrong."""
    if case.program.precision != "float64":
        return "float32"
    if max((np.abs(a).max(initial=0.0) for a in found.values.values()), default=0.0) > 1e4:
        return "large"  # differences would be lost in rounding
    results = []
    for step in (1e-5, 5e-6):
        both = []
        for sign in (1.0, -1.0):
            moved = {name: array.copy() for name, array in case.arrays.items()}
            for name, move in case.moves.items():
                type = case.type_of(name)
                put_numbers(moved[name], type, numbers_of(moved[name], type) + sign * step * move.real)
            try:
                both.append(in_forward_mode(case, moved))
            except Skipped:
                return "not finite"
            if both[-1].trace.path != found.trace.path:
                return "another path"
        results.append(sum(_dot(case, (both[0].values[n] - both[1].values[n]) / (2 * step), n) for n in case.weights))
    exact = sum(_dot(case, found.tangents[name].real, name) for name in case.weights)
    scale = sum(float(np.abs(found.tangents[n] * case.weights[n]).sum()) for n in case.weights) + 1.0
    better = (4 * results[1] - results[0]) / 3  # Richardson's
    if abs(results[0] - results[1]) > 1e-3 * scale:
        return "rough"
    error = abs(better - exact)
    if error > 1e-6 * scale + 2 * abs(results[0] - results[1]):
        raise Wrong(f"dual numbers give {exact}, differences {better} (steps: {results}), scale {scale}")
    return "agrees"


def _dot(case: Case, vector: np.ndarray, name: str) -> float:
    return float((vector * case.weights[name]).sum())


@dataclass
class Reverse:
    """What reverse mode gave: gradients by array, words that a thread saved, by scalar type."""

    gradients: dict[str, np.ndarray]
    words: dict[str, int]


def in_reverse_mode(case: Case, adjoint_of: Callable[[Kernel], Adjoint], checks: bool = True) -> Reverse:
    """Runs the program and back in the simulator."""
    arrays = {name: array.copy() for name, array in case.arrays.items()}
    steps = case.program.steps
    launches = [
        Launched(case.kernels[step.kernel], step.dim, case.arguments(number, arrays))
        for number, step in enumerate(steps)
    ]
    gradients.forward(launches, CHECKED if checks else QUICK)
    adjoints = {}
    for name in case.floating():
        adjoint = np.zeros_like(arrays[name])
        put_numbers(adjoint, case.type_of(name), case.weights[name])
        adjoints[name] = adjoint
    by_id = {id(arrays[name]): adjoint for name, adjoint in adjoints.items()}
    source = np.random.default_rng(case.program.seed)

    @functools.cache
    def verified(kernel: Kernel) -> Adjoint:
        found = adjoint_of(kernel)
        verify(found.kernel, has_effects)
        return found

    words = gradients.backward(launches, verified, by_id, source)
    found = {name: numbers_of(adjoint, case.type_of(name)) for name, adjoint in adjoints.items()}
    return Reverse(found, words)


def compare(case: Case, forward: Forward, reverse: Reverse) -> None:
    """Both ways along both directions. Raises Wrong."""
    down = {name: forward.tangents[name] * case.weights[name] for name in case.weights}
    up = {name: reverse.gradients[name] * case.moves[name] for name in case.weights}
    wanted, got = (sum(complex(part.sum()) for part in parts.values()) for parts in (down, up))
    scale = sum(float(np.abs(part).sum()) for part in (*down.values(), *up.values()))
    error = abs(wanted - got)
    if not error <= TOLERANCE[case.program.precision] * scale + 1e-300:
        raise Wrong(f"dual numbers give {wanted}, reverse mode {got} (scale {scale}, gradients {reverse.gradients})")


def check(
    program: Program, folder: Path, adjoint_of: Callable[[Kernel], Adjoint], with_differences: bool = False
) -> tuple[Forward, Reverse]:
    """Everything about one program. Raises Skipped, Wrong, or what the pass or the simulator raise."""
    case = prepare(program, folder)
    forward = in_forward_mode(case)
    if forward.trace.kinks:
        raise Skipped("a kink")
    if with_differences:
        check_differences(case, forward)
    reverse = in_reverse_mode(case, adjoint_of)
    compare(case, forward, reverse)
    return forward, reverse


def text_of(program: Program, reason: str) -> str:
    """A program to be looked at: its text, its arrays and launches, and what went wrong."""
    lines = [f"# {line}" for line in reason.splitlines()]
    lines += [f"# profile {program.profile}, seed {program.seed}, {program.precision}"]
    lines += [f"# launch {s.kernel}, dim {s.dim}, s = {s.scalars[0]}, n = {s.scalars[1]}" for s in program.steps]
    lines += [f"# {one.name}: {one.kind} {one.shape}" for one in program.arrays]
    return "\n".join([*lines, "import kbuild as kb", "", program.text])
