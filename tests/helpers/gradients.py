"""The adjoint of a kernel run in the simulator as a tape would, and compared with dual numbers.

    launches = [Launched(kernel, (4,), [x, y, 0.5])]
    forward(launches)                       the arrays change
    backward(launches, cotangents)          → the gradient by every array's contents before the first launch

A tape keeps of an array what `Adjoint` says that the adjoint kernel loads, and nothing else: here all the rest is NaN,
or an integer that is no index of anything, while the adjoint kernel runs. What it needs of memory is what its counting
run has asked for, to the word, and full of rubbish at first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kbuild.autodiff import Adjoint, adjoint
from kbuild.ir.nodes import Kernel
from kbuild.ir.types import Array, IndexedArray, Struct, Type
from kbuild.sim.blocks import over
from kbuild.sim.lockstep.run import Checks, Options
from tests.helpers import kernels
from tests.helpers.gradient_arrays import (
    arrays_in,
    dtype_of,
    has_floats,
    put_integers,
    put_numbers,
)
from tests.helpers.lockstep import run_in_lockstep

RUBBISH = 1_234_567_891
Arrays = dict[str, np.ndarray]  # by path: `x`, `model.mass`


@dataclass
class Launched:
    """A kernel launched: an array or a value for each parameter, for a struct a dictionary.

    After `forward`: `before` and `after` are copies of the arrays as they were then.
    """

    kernel: Kernel
    dim: tuple[int, ...]
    arguments: Sequence[Any]
    before: Arrays = field(default_factory=dict)
    after: Arrays = field(default_factory=dict)

    def arrays(self) -> Arrays:
        """The arrays among the arguments, by path; those that are there."""
        found: Arrays = {}
        for parameter, argument in zip(self.kernel.function.parameters, self.arguments, strict=True):
            for path, _ in arrays_in(parameter):
                value = at(argument, path)
                if value is not None:
                    found[path] = value[0] if isinstance(value, tuple) else value  # one seen through index arrays
        return found


def at(argument: Any, path: str) -> Any:
    """What stands at a path, of which the first name is the parameter's own."""
    for name in path.split(".")[1:]:
        argument = argument[name]
    return argument


def types_of(kernel: Kernel) -> dict[str, Array]:
    """The arrays of all parameters by path."""
    return {path: type for parameter in kernel.function.parameters for path, type in arrays_in(parameter)}


def forward(launches: Sequence[Launched], options: Options | None = None) -> None:
    """Runs launches in turn."""
    for one in launches:
        one.before = {path: array.copy() for path, array in one.arrays().items()}
        run_in_lockstep(one.kernel, over(one.dim, 256), one.arguments, options)
        one.after = {path: array.copy() for path, array in one.arrays().items()}


def backward(
    launches: Sequence[Launched],
    adjoint_of: Callable[[Kernel], Adjoint],
    adjoints: Mapping[int, np.ndarray],
    source: np.random.Generator,
) -> dict[str, int]:
    """Propagates adjoints through launches from the last to the first; `adjoints` are arrays by the identity (`id`) of
    the array that they belong to, and are changed. Words saved by a thread, by scalar type, at most.
    """
    words: dict[str, int] = {}
    for one in reversed(launches):
        reverse = adjoint_of(one.kernel)
        for type, number in Backward(one, reverse, adjoints, source).run().items():
            words[type] = max(number, words.get(type, 0))
    return words


@dataclass
class Backward:
    """One launch of an adjoint kernel."""

    launch: Launched
    reverse: Adjoint
    adjoints: Mapping[int, np.ndarray]
    source: np.random.Generator
    checks: Checks = field(default_factory=lambda: Checks(divisions=False))

    def run(self) -> dict[str, int]:
        """Counts, where there is something to count, and propagates. Words saved by a thread, by scalar type."""
        self.bound = self.bindings()
        words = {type: number for type, number in self.reverse.saved.items() if number is not None}
        counted = self.counted_types()
        number = self.count(counted) if counted else []
        self.propagate(number)
        return words | dict(zip(counted, number, strict=True))

    def bindings(self) -> Arrays:
        """The arrays as the adjoint kernel finds them."""
        reverse, types = self.reverse, types_of(self.launch.kernel)
        kept, late = set(reverse.before), set(reverse.after)
        assert set(reverse.scratch) <= kept, f"scratch {reverse.scratch} is not among before {reverse.before}"
        assert not kept & late, f"wanted from before and from after the launch: {kept & late}"
        unknown = (kept | late) - set(types)
        assert not unknown, f"no such arrays: {unknown}"
        bound: Arrays = {}
        for path, array in self.launch.arrays().items():
            bound[path] = (self.launch.after if path in late else self.launch.before)[path].copy()
            if path not in kept | late:
                put_numbers(bound[path], types[path], float("nan"))
                put_integers(bound[path], types[path], RUBBISH)
            assert bound[path].shape == array.shape
        return bound

    def counted_types(self) -> list[str]:
        names = [p.name for p in self.reverse.kernel.function.parameters]
        found = [name.removeprefix("saved_") for name in names if name.startswith("saved_") and name != "saved_words"]
        wanted = {type for type, number in self.reverse.saved.items() if number is None}
        assert wanted <= set(found), f"saved is {self.reverse.saved}, parameters are {names}"
        assert found == [type for type in self.reverse.saved if type in found], "saved_… in another order than `saved`"
        return found

    def count(self, counted: list[str]) -> list[int]:
        """The words that each type wants. A run that counts changes nothing else but what is in `scratch`."""
        bound = self.bound
        self.bound = {path: array.copy() for path, array in bound.items()}
        adjoints = {key: array.copy() for key, array in self.adjoints.items()}
        words = np.zeros(len(counted), np.int32)
        self.start(0, words, counting=True)
        for path, array in bound.items():
            assert path in self.reverse.scratch or are_same(self.bound[path], array), f"counting changed {path}"
        self.bound = bound
        for key, array in adjoints.items():
            assert are_same(self.adjoints[key], array), "counting changed an adjoint"
        return [int(number) for number in words]

    def propagate(self, number: list[int]) -> None:
        before = {path: array.copy() for path, array in self.bound.items()}
        words = np.zeros(len(number), np.int32)
        self.start(number, words, counting=False)
        assert not words.any(), f"{words} words are wanted where counting found {number} enough"
        for path, array in self.bound.items():
            assert path in self.reverse.scratch or are_same(array, before[path]), f"{path} has changed"

    def start(self, lengths: int | list[int], words: np.ndarray, counting: bool) -> None:
        """Launches the adjoint kernel with columns of these lengths."""
        arguments = []
        rest = iter(range(len(words)))
        by_name = {
            p.name: a for p, a in zip(self.launch.kernel.function.parameters, self.launch.arguments, strict=True)
        }
        for parameter in self.reverse.kernel.function.parameters:
            name, type = parameter.name, parameter.type
            if name in by_name:
                arguments.append(rebuilt(name, type, by_name[name], self.bound.get))
            elif name.startswith("adj_") and name.removeprefix("adj_") in by_name:
                name = name.removeprefix("adj_")
                arguments.append(rebuilt(name, type, by_name[name], self.adjoint_at))
            elif name == "saved_words":
                arguments.append(words)
            elif name == "counting":
                arguments.append(counting)
            else:
                assert name.startswith("saved_"), name
                assert isinstance(type, Array)
                length = lengths if isinstance(lengths, int) else lengths[next(rest)]
                arguments.append(self.rubbish(type, (length, int(np.prod(self.launch.dim)))))
        seed = int(self.source.integers(1 << 30))
        options = Options(self.checks, seed=seed, chunk=1) if seed % 2 else Options(self.checks, seed=seed)
        run_in_lockstep(self.reverse.kernel, over(self.launch.dim, 256), arguments, options)

    def adjoint_at(self, path: str) -> np.ndarray | None:
        """The adjoint of an array by its path; None for an array that has none."""
        argument = self.launch.arrays().get(path)
        return None if argument is None else self.adjoints.get(id(argument))

    def rubbish(self, type: Array, shape: tuple[int, ...]) -> np.ndarray:
        """Memory in which anything may be."""
        dtype = dtype_of(type.element)
        if dtype.kind == "b":
            return self.source.integers(0, 2, shape).astype(dtype)
        count = int(np.prod(shape)) * dtype.itemsize
        return self.source.integers(0, 256, count).astype(np.uint8).view(dtype).reshape(shape)


def are_same(a: np.ndarray, b: np.ndarray) -> bool:
    """Two arrays have the same bits, between the fields of structs aside."""
    if a.dtype.names:
        return all(are_same(a[name], b[name]) for name in a.dtype.names)
    return a.tobytes() == b.tobytes()


def rebuilt(path: str, type: Type, argument: Any, array_at: Callable[[str], np.ndarray | None]) -> Any:
    """An argument with other arrays in it."""
    if isinstance(type, IndexedArray):
        array = array_at(path)
        return None if array is None else (array, argument[1])
    if isinstance(type, Array):
        return array_at(path)
    if isinstance(type, Struct):
        return {f.name: rebuilt(f"{path}.{f.name}", f.type, argument[f.name], array_at) for f in type.fields}
    return argument


def adjoints_for(launches: Sequence[Launched], number: float = 0.0) -> dict[int, np.ndarray]:
    """Adjoints of all arrays of floating-point numbers, filled with a number, by the identity of the array."""
    found = {}
    for one in launches:
        types = types_of(one.kernel)
        for path, array in one.arrays().items():
            if has_floats(types[path]):
                found[id(array)] = np.zeros_like(array)
                put_numbers(found[id(array)], types[path], number)
    return found


def gradients(
    folder: Path, text: str, threads: int | tuple[int, ...], arguments: Mapping[str, Any], **outputs: Any
) -> dict[str, Any]:
    """The gradients of a loss by every floating-point array, for one launch of the only kernel of a text.

    `outputs`: by name of an array, the loss's derivative by what it then holds.
    """
    (kernel,) = kernels.lower_text(folder, text)
    dim = threads if isinstance(threads, tuple) else (threads,)
    launch = Launched(kernel, dim, [arguments[p.name] for p in kernel.function.parameters])
    forward([launch], Options(Checks(divisions=False)))
    types = types_of(kernel)
    adjoints = {path: np.zeros_like(array) for path, array in launch.arrays().items() if has_floats(types[path])}
    for name, weights in outputs.items():
        adjoints[name][...] = weights
    by_id = {id(array): adjoints[path] for path, array in launch.arrays().items() if path in adjoints}
    backward([launch], adjoint, by_id, np.random.default_rng(0))
    return adjoints
