"""`kb.gradcheck`: a kernel's gradient held against central finite differences, entry by entry."""

from __future__ import annotations

from kbuild.derivatives.problem import Problem, in_float64
from kbuild.loader import abi, interface, resolve
from kbuild.loader.errors import LaunchError
from kbuild.loader.types import Kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ("GradCheck", "GradientError", "gradcheck")

# By the least precise numbers of a launch: their resolution, and what is let pass.
_EPSILON = {"float16": 9.8e-4, "float32": 1.2e-7, "float64": 2.2e-16}
_TOLERANCE = {"float16": 0.1, "float32": 1e-2, "float64": 1e-6}
_STEPS = (1.0, 0.1, 10.0, 0.01)  # of the usual step: where the first does not fit, the others are tried


class GradientError(AssertionError):
    """A gradient is not what finite differences say."""


class Entry:
    """One number of an input: `array` (its path among the parameters), `index` (of the array, then of the component),
    the `gradient`, and the finite `difference`.
    """

    __slots__ = ("array", "difference", "excess", "gradient", "index")

    def __init__(self, array: str, index: tuple[int, ...], gradient: float, difference: float, excess: float) -> None:
        self.array, self.index, self.gradient, self.difference = array, index, gradient, difference
        self.excess = excess  # how many times larger than what is let pass the distance is

    def __repr__(self) -> str:
        place = ", ".join(map(str, self.index))
        return "%s[%s]: gradient %.9g, finite difference %.9g" % (self.array, place, self.gradient, self.difference)


class GradCheck:
    """The answer of `kb.gradcheck`, true where all entries agree: the `worst`, those that are `wrong`, how many were
    `checked`, and the type of number (`dtype`) that it was checked in.
    """

    __slots__ = ("checked", "dtype", "kernel", "worst", "wrong")

    def __init__(self, kernel: str, dtype: str, entries: list[Entry]) -> None:
        self.kernel, self.dtype, self.checked = kernel, dtype, len(entries)
        self.worst = max(entries, key=lambda one: one.excess) if entries else None
        self.wrong = sorted([one for one in entries if not one.excess <= 1], key=lambda one: -one.excess)

    def __bool__(self) -> bool:
        return not self.wrong

    def __repr__(self) -> str:
        if not self.wrong:
            worst = "" if self.worst is None else "; worst: %r" % self.worst
            return "<kb.GradCheck of %s: %d entries agree in %s%s>" % (self.kernel, self.checked, self.dtype, worst)
        told = "<kb.GradCheck of %s: %d of %d entries are wrong in %s; worst: %r>"
        return told % (self.kernel, len(self.wrong), self.checked, self.dtype, self.worst)

    def check(self) -> None:
        """Raises GradientError where an entry is wrong."""
        if self.wrong:
            lines = ["%s: %d of %d entries are wrong (%s)" % (self.kernel, len(self.wrong), self.checked, self.dtype)]
            lines += ["  %r" % one for one in self.wrong[:8]]
            raise GradientError("\n".join(lines))


def gradcheck(
    kernel: Any,
    dim: Any,
    inputs: Any = (),
    outputs: Any = (),
    device: Any = None,
    step: float | None = None,
    tolerance: float | None = None,
    entries: int = 64,
    seed: int = 0,
    raises: bool = False,
    **options: Any,
) -> GradCheck:
    """Compares the gradient of a launch with central finite differences; arguments as for `kb.launch`.

    The arrays given are not changed. What is differentiated is the sum of all numbers that the launch writes, with
    random weights; of each input array `entries` numbers are moved, chosen by `seed`. A generic kernel is checked in
    float64 where there is an instance of that, or one can be made; others in the numbers they have, with wider
    tolerances (`tolerance` is relative) and steps (`step` is relative to the number, or to one). With `raises` a wrong
    gradient raises GradientError; where a kernel is not smooth the two differ, and neither is wrong.
    Raises LaunchError.
    """
    args = resolve.joined(kernel, inputs, outputs)
    problem = _problem(kernel, dim, args, device, options)
    found = _compare(problem, step, tolerance, entries, seed)
    if raises:
        found.check()
    return found


def _problem(kernel: Any, dim: Any, args: Any, device: Any, options: dict[str, Any]) -> Problem:
    if isinstance(kernel, Kernel):
        wide = in_float64(kernel, args)
        if any(one is not other for one, other in zip(wide, args)):
            try:
                problem = Problem("kb.gradcheck", kernel, dim, wide, device, options)
                problem.run()
                return problem
            except LaunchError:  # no instance in these numbers
                pass
    return Problem("kb.gradcheck", kernel, dim, args, device, options)


def _compare(problem: Problem, step: float | None, tolerance: float | None, entries: int, seed: int) -> GradCheck:
    import numpy as np

    for path in {*problem.inputs, *problem.outputs}:
        if isinstance(problem.arrays[path]._type.element, abi.Struct):
            raise LaunchError(
                "kb.gradcheck: parameter %s is an array of structs, which is not checked\n"
                "  help: check a kernel that takes their fields as arrays" % path
            )
    dtype = _least(problem)
    size = step or _EPSILON[dtype] ** (1 / 3)
    allowed = tolerance or _TOLERANCE[dtype]
    random = np.random.default_rng(seed)
    weights = {path: random.uniform(0.5, 1.5, problem.start[path].shape) for path in problem.outputs}
    tape = problem.recorded()
    tape.zero()
    arrays = problem.arrays
    tape.backward(grads={arrays[path]: w.astype(problem.start[path].dtype) for path, w in weights.items()})
    gradients = {path: np.asarray(arrays[path].grad.numpy(), np.float64).copy() for path in problem.inputs}

    def value(path: str, index: tuple[int, ...], number: float) -> tuple[float, float]:
        """The weighted sum with one number moved, and the size of what was added up."""
        problem.restore()
        moved = problem.start[path].copy()
        moved[index] = number
        arrays[path].assign(moved)
        problem.run()
        terms = [w * np.asarray(arrays[one].numpy(), np.float64) for one, w in weights.items()]
        return sum(float(one.sum()) for one in terms), sum(float(np.abs(one).sum()) for one in terms)

    found = []
    for path in problem.inputs:
        shape = problem.start[path].shape
        count = int(np.prod(shape))
        chosen = range(count) if count <= entries else sorted(random.choice(count, entries, replace=False).tolist())
        for place in chosen:
            index = tuple(int(i) for i in np.unravel_index(place, shape))
            found.append(_entry(problem, path, index, float(gradients[path][index]), value, size, allowed, dtype))
    problem.restore()
    return GradCheck(problem.backward.name, dtype, found)


def _entry(
    problem: Problem, path: str, index: Any, gradient: float, value: Any, size: float, allowed: float, dtype: str
) -> Entry:
    at = problem.start[path][index]
    best: Entry | None = None
    for factor in _STEPS:
        width = at.dtype.type(size * factor * max(1.0, abs(float(at))))
        high, low = at + width, at - width
        (above, scale), (below, _) = value(path, index, high), value(path, index, low)
        distance = float(high) - float(low)  # as the numbers are rounded
        difference = (above - below) / distance
        noise = 4 * _EPSILON[dtype] * scale / distance
        passes = allowed * max(abs(gradient), abs(difference), 1e-3 if dtype != "float64" else 1e-6) + noise
        error = abs(gradient - difference)
        excess = error / passes if error == error else float("inf")
        one = Entry(path, index, gradient, difference, excess)
        if best is None or one.excess < best.excess:
            best = one
        if best.excess <= 1:
            break
    assert best is not None
    return best


def _least(problem: Problem) -> str:
    """The numbers with the fewest digits that take part."""
    scalars = [interface.scalar_of(problem.arrays[path]._type.element) for path in {*problem.inputs, *problem.outputs}]
    names = [one.spelling for one in scalars if one is not None]
    return next((name for name in _EPSILON if name in names), "float64")
