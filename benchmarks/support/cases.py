"""The launches that launch.py measures: kernels of benchkernels.launching, their arguments, and what must come out.

The arrays are kbuild's, and every way to launch works on them: `Case.values` are the arguments as kbuild takes them,
`pointers` and the ctypes structures the same for hand-written kernels.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

COUNT = 1000  # elements of each array, and threads
BLOCK = 256
BLOCKS = (COUNT + BLOCK - 1) // BLOCK
GRAVITY = (1.0, -8.0, 2.0)
TURN = ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
SETTINGS = (2.0, 0.5, 7, 0.25, 0.5, 0.75)  # stiffness, damping, limit, offset
NUMBERS: tuple[Any, ...] = (COUNT, 3, 0.125, 0.5, 4.0)  # count, kinds, dt, loss, scale
ARRAYS = ("pos", "vel", "force", "mass", "radius", "kind", "heights", "frames")

Burst = Callable[[int], int]  # launches → nanoseconds, or minus the driver's error


class Vector(ctypes.Structure):
    """float3."""

    _fields_ = (("at", ctypes.c_float * 3),)


class Matrix(ctypes.Structure):
    """Nine floats, row by row."""

    _fields_ = (("at", ctypes.c_float * 9),)


class Settings(ctypes.Structure):
    """The struct of benchkernels.launching."""

    _fields_ = (
        ("stiffness", ctypes.c_float),
        ("damping", ctypes.c_float),
        ("limit", ctypes.c_int),
        ("offset", ctypes.c_float * 3),
    )


@dataclass(frozen=True)
class Case:
    """A launch: `kernel` is kbuild's, `name` that of the same kernel elsewhere."""

    name: str
    kernel: Any
    values: tuple[Any, ...]
    expected: tuple[float, float, float]  # the first element of pos after one launch from zero


class Cases:
    """All launches over one set of arrays."""

    def __init__(self) -> None:
        from benchkernels import launching

        import kbuild as kb

        self._kb = kb
        vectors: Any = {"dtype": kb.vec3}
        self.arrays: dict[str, Any] = {
            "pos": kb.zeros(COUNT, **vectors),
            "vel": kb.array([(1.0, 2.0, 3.0)] * COUNT, **vectors),
            "force": kb.array([(2.0, 4.0, 6.0)] * COUNT, **vectors),
            "mass": kb.full(COUNT, 0.5),
            "radius": kb.full(COUNT, 1.0),
            "kind": kb.full(COUNT, 5, dtype=int),
            "heights": kb.full((4, COUNT), 2.0),
            "frames": kb.array([((1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 3.0))] * COUNT, dtype=kb.mat33),
        }
        pos, gravity = self.arrays["pos"], kb.vec3(*GRAVITY)
        settings = launching.Settings()
        settings.stiffness, settings.damping, settings.limit = SETTINGS[:3]
        settings.offset = kb.vec3(*SETTINGS[3:])
        turn = kb.mat33(*[number for row in TURN for number in row])
        count, _, dt, _, _ = NUMBERS
        all16 = (*self.arrays.values(), settings, gravity, turn, *NUMBERS)
        self.all = (
            Case("args1", launching.args1, (pos,), (1.0, 2.0, 3.0)),
            Case("args4", launching.args4, (pos, gravity, dt, count), (0.125, -1.0, 0.25)),
            Case("args16", launching.args16, all16, (7.1875, 13.75, 7.6875)),
        )

    def pointers(self) -> dict[str, int]:
        """Where the arrays are."""
        return {name: array.ptr for name, array in self.arrays.items()}

    def check(self, case: Case, title: str, burst: Burst) -> None:
        """Whether one launch does what it must; raises ValueError."""
        pos = self.arrays["pos"]
        pos.zero_()
        self._kb.synchronize()
        status = burst(1)
        if status < 0:
            raise ValueError(f"{title}, {case.name}: the driver says {-status}")
        self._kb.synchronize()
        for index in (0, COUNT - 1):
            got = tuple(pos[index])
            if got != case.expected:
                raise ValueError(f"{title}, {case.name}: element {index} is {got}, not {case.expected}")


def by_hand(name: str, pointers: dict[str, int]) -> list[tuple[Any, Any]]:
    """(value, ctypes type) of each argument of the hand-written kernel; no type: the value is a ctypes structure."""
    address = ctypes.c_void_p
    count, kinds, dt, loss, scale = NUMBERS
    gravity = (Vector(GRAVITY), None)
    if name == "args1":
        return [(pointers["pos"], address), (COUNT, ctypes.c_int)]
    if name == "args4":
        return [(pointers["pos"], address), gravity, (dt, ctypes.c_float), (count, ctypes.c_int)]
    arrays: list[tuple[Any, Any]] = [(pointers[one], address) for one in ARRAYS]
    settings = Settings(*SETTINGS[:3], (ctypes.c_float * 3)(*SETTINGS[3:]))
    turn = Matrix((ctypes.c_float * 9)(*[number for row in TURN for number in row]))
    whole: list[tuple[Any, Any]] = [(count, ctypes.c_int), (kinds, ctypes.c_int)]
    return [*arrays, (settings, None), gravity, (turn, None), *whole, *[(x, ctypes.c_float) for x in (dt, loss, scale)]]


def flat(name: str, pointers: dict[str, Any]) -> list[Any]:
    """The arguments of programs/flat.cu: pointers, then plain numbers."""
    count, kinds, dt, loss, scale = NUMBERS
    if name == "args1":
        return [pointers["pos"], COUNT]
    if name == "args4":
        return [pointers["pos"], *GRAVITY, dt, count]
    turn = [number for row in TURN for number in row]
    return [*[pointers[one] for one in ARRAYS], *SETTINGS, *GRAVITY, *turn, count, kinds, dt, loss, scale]


def grouped(name: str, pointers: dict[str, Any]) -> list[Any]:
    """The arguments of programs/triton_kernels.py: vectors, matrices and structs are tuples."""
    count, kinds, dt, loss, scale = NUMBERS
    if name == "args1":
        return [pointers["pos"], COUNT]
    if name == "args4":
        return [pointers["pos"], GRAVITY, dt, count]
    turn = tuple(number for row in TURN for number in row)
    return [*[pointers[one] for one in ARRAYS], SETTINGS, GRAVITY, turn, count, kinds, dt, loss, scale]


def pointed(arguments: Sequence[tuple[Any, Any]]) -> tuple[Any, list[Any]]:
    """An array of pointers to C variables that hold the arguments, and the variables, to be kept."""
    variables = [value if kind is None else kind(value) for value, kind in arguments]
    return (ctypes.c_void_p * len(variables))(*[ctypes.addressof(one) for one in variables]), variables
