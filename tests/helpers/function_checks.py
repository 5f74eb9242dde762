"""A kernel's adjoint at every element type: of doubles beside differences, of narrower numbers beside that of doubles.

In the text of the kernel `kb.E` is the element type. All take the same numbers, which are float16.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kbuild.ir.nodes import Kernel
from kbuild.ir.types import Array
from kbuild.loader import host
from tests.helpers import kernels
from tests.helpers.function_calls import Call
from tests.helpers.function_points import points
from tests.helpers.slopes import STEP, Arrays, differences, distance, floats_of, gradients
from tests.helpers.widened import widened

ROWS = 8
# How far an adjoint may be away. Differences have lost some of the digits.
TOLERANCES = {"float64": 5e-9, "float32": 1e-6, "float16": 1e-2}
# The shape of one row of arrays that nothing else is said of.
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """A kernel, and what it gets. `values`: arrays with a row for each thread, or numbers; arrays that are not among
    them hold anything, with `extents` for each row. `tables` are indices of arrays seen through them, by parameter and
    axis. A kernel that `is_fixed` has element types of its own, and is looked at beside one of doubles throughout.
    `tolerances` replaces some of TOLERANCES; a type whose tolerance is None does not exist.
    """

    title: str
    text: str
    values: Mapping[str, Any] = field(default_factory=dict)
    extents: Mapping[str, Shape] = field(default_factory=dict)
    tables: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    threads: Shape = ()
    rows: int = ROWS
    is_fixed: bool = False
    tolerances: Mapping[str, float | None] = field(default_factory=dict)
    step: float = STEP

    @property
    def elements(self) -> list[str]:
        """The types beside float64 at which there is a kernel."""
        if self.is_fixed:
            return ["float32"]
        return [one for one in ("float32", "float16") if self.tolerances.get(one, 0.0) is not None]


@dataclass(frozen=True)
class Differentiated:
    """A kernel with what it was given, the weights of its results, and the gradients that its adjoint found."""

    kernel: Kernel
    arguments: Mapping[str, Any]
    weights: Arrays
    found: Arrays


# Where the usual step is too wide for what a function does, or the usual tolerance too narrow for how it is computed.
STEPS = {"curlnoise": 1e-4}
APART: dict[str, Mapping[str, float | None]] = {
    "fma": {"float16": None},  # only float32 and float64 have one
    "curlnoise": {"float32": 1e-5},  # sums of octaves, the higher ones steeper
}


def case_of(call: Call) -> Case:
    """A call of a function at points inside its domain."""
    values = points(call.name, call.words, ROWS, source_of(call.title))
    given = {f"{name}_": value for name, value in values.items()}
    tolerances, step = APART.get(call.name, {}), STEPS.get(call.name, STEP)
    return Case(call.title, call.text, given, is_fixed=call.is_single, tolerances=tolerances, step=step)


def source_of(title: str) -> np.random.Generator:
    """The same numbers whenever a case is looked at."""
    return np.random.default_rng(zlib.crc32(title.encode()))


def lowered(folder: Path, case: Case, element: str) -> Kernel:
    """The kernel of a case at an element type."""
    (kernel,) = kernels.lower_text(folder, case.text.replace("kb.E", f"kb.{element}"))
    return widened(kernel) if case.is_fixed and element == "float64" else kernel


def differentiated(folder: Path, case: Case, element: str = "float64") -> Differentiated:
    """A case at one element type."""
    kernel = lowered(folder, case, element)
    arguments, weights = drawn(case, kernel)
    return Differentiated(kernel, arguments, weights, gradients(kernel, arguments, weights, case.threads))


def distances(folder: Path, case: Case) -> dict[str, float]:
    """How far the adjoints are away, by element type."""
    right = differentiated(folder, case)
    wanted = differences(right.kernel, right.arguments, right.weights, case.threads, case.step)
    apart = {"float64": distance(right.found, wanted)}
    for element in case.elements:
        apart[element] = distance(differentiated(folder, case, element).found, right.found)
    return apart


def failures(folder: Path, case: Case) -> list[str]:
    """What is further away than it may be."""
    limits = TOLERANCES | {name: limit for name, limit in case.tolerances.items() if limit is not None}
    return [
        f"{case.title}, {element}: {apart:.2e}"
        for element, apart in distances(folder, case).items()
        if not apart <= limits[element]
    ]


def drawn(case: Case, kernel: Kernel) -> tuple[dict[str, Any], Arrays]:
    """Arguments of a kernel, and a weight for every number in its arrays: the same at every element type."""
    source = source_of(f"{case.title} arguments")
    arguments: dict[str, Any] = {}
    for parameter in kernel.function.parameters:
        name, type = parameter.name, parameter.type
        value = case.values.get(name)
        if not isinstance(type, Array):
            arguments[name] = value
            continue
        dtype, inner = _dtype(type)
        if value is None:
            value = source.uniform(-2.0, 2.0, (case.rows, *case.extents.get(name, ()), *inner))
        if dtype.kind == "f":
            value = np.asarray(value).astype(np.float16)
        arguments[name] = np.ascontiguousarray(value, dtype)
        if name in case.tables:
            arguments[name] = (arguments[name], case.tables[name])
    weights = {
        name: (source.integers(1, 9, one.shape) / 4 * source.choice([-1.0, 1.0], one.shape)).astype(one.dtype)
        for name, one in floats_of(arguments).items()
    }
    return arguments, weights


def _dtype(array: Array) -> tuple[np.dtype[Any], Shape]:
    """The scalar type in an array of any elements, and the shape of one element; structs are rows of numbers."""
    dtype = np.dtype(host.numpy_dtype(array.element))
    scalars = set(_scalars(dtype))
    assert len(scalars) == 1, array
    (scalar,) = scalars
    return scalar, (dtype.itemsize // scalar.itemsize,) if dtype.names else dtype.shape


def _scalars(dtype: np.dtype[Any]) -> Iterator[np.dtype[Any]]:
    if dtype.names is None:
        yield dtype.base
        return
    for name in dtype.names:
        yield from _scalars(dtype[name].base)
