"""What benchmarks/gradients.py measures: sizes and inputs, the same for every library.

A way runs a case forward, or forward and backward from ones at its result, and gives the gradients of its inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

GRAVITY, DRAG, DT = (0.0, -9.81, 0.0), 0.1, 0.001
FACTOR = 2.5
STIFFNESS, DAMPING, SPRING_DT = 50.0, 0.5, 0.005


@dataclass(frozen=True)
class Case:
    """`count` elements, `steps` in a row (trips of the loop in `rollout`); `inputs` by name."""

    name: str
    count: int
    steps: int
    inputs: dict[str, Any]
    wanted: tuple[str, ...]  # inputs that the gradient is with respect to


@dataclass
class Way:
    """`forward` and `both` begin the work, `wait` waits for its end, `gradients` are of the last `both`, by input."""

    forward: Callable[[], object]
    both: Callable[[], object]
    wait: Callable[[], object]
    gradients: Callable[[], dict[str, Any]]
    memory: dict[str, int] = field(default_factory=dict)  # bytes beside inputs and states, by what they are for


SIZES = {"axpy": (1 << 24, 1), "particles": (1_000_000, 16), "springs": (256 * 256, 16), "rollout": (1 << 17, 48)}
SMALL = {"axpy": (64, 1), "particles": (64, 3), "springs": (36, 3), "rollout": (64, 5)}


def make(name: str, sizes: dict[str, tuple[int, int]]) -> Case:
    """A case with its inputs."""
    count, steps = sizes[name]
    inputs, wanted = INPUTS[name](np.random.default_rng(1), count)
    return Case(name, count, steps, inputs, wanted)


def _axpy(numbers: Any, count: int) -> tuple[dict[str, Any], tuple[str, ...]]:
    return {"x": _floats(numbers, count), "y": _floats(numbers, count)}, ("x", "y")


def _particles(numbers: Any, count: int) -> tuple[dict[str, Any], tuple[str, ...]]:
    return {"pos": _floats(numbers, (count, 3)), "vel": _floats(numbers, (count, 3))}, ("pos", "vel")


def _springs(numbers: Any, count: int) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A square cloth; springs along the rows, the columns and both diagonals."""
    side = round(count**0.5)
    rows, columns = np.divmod(np.arange(count), side)
    pairs = []
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        is_inside = (rows + down < side) & (columns + right >= 0) & (columns + right < side)
        first = np.arange(count)[is_inside]
        pairs.append(np.stack([first, first + down * side + right], axis=1))
    place = np.stack([columns, rows, np.zeros(count)], axis=1).astype(np.float32)
    springs = np.concatenate(pairs).astype(np.int32)
    rest = np.linalg.norm(place[springs[:, 1]] - place[springs[:, 0]], axis=1).astype(np.float32)
    pos = place + 0.1 * _floats(numbers, (count, 3))
    return {"springs": springs, "rest": rest, "pos": pos, "vel": _floats(numbers, (count, 3))}, ("pos", "vel")


def _rollout(numbers: Any, count: int) -> tuple[dict[str, Any], tuple[str, ...]]:
    w = 0.7 * _floats(numbers, (4, 4))
    return {"w": w, "b": 0.1 * _floats(numbers, (count, 4)), "start": _floats(numbers, (count, 4))}, ("b", "start")


def _floats(numbers: Any, shape: Any) -> Any:
    return numbers.uniform(-1.0, 1.0, shape).astype(np.float32)


INPUTS: dict[str, Callable[[Any, int], tuple[dict[str, Any], tuple[str, ...]]]] = {
    "axpy": _axpy,
    "particles": _particles,
    "springs": _springs,
    "rollout": _rollout,
}
