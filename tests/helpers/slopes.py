"""The adjoint of a kernel beside differences of what it computes, for many rows at once.

A kernel that is looked at so has threads of its own for each row, the elements of its arrays with one first index, and
touches no other row. Every floating-point array is an input, by what it holds before the launch, and an output, by
what it holds after it. Arrays of structs, vectors and matrices are arrays of numbers here.

    made = gradients(kernel, arguments, weights)        {"x": …}: of the sum of all outputs times their weights
    wanted = differences(kernel, arguments, weights)    the same from the function's values alone
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from kbuild.autodiff import Adjoint, adjoint
from kbuild.ir.nodes import Kernel
from kbuild.ir.types import Array
from kbuild.loader import host
from kbuild.sim.blocks import over
from kbuild.sim.lockstep.run import Checks, Options
from tests.helpers.lockstep import run_in_lockstep

# By parameter: an array, a number, or (array, index tables) for an array seen through tables, none for the first axis.
Arguments = Mapping[str, Any]
Arrays = dict[str, np.ndarray]

STEP = 1e-3
RUBBISH = 1_234_567_891
_CHECKS = Options(Checks(divisions=False))
_FASTER = Options(Checks.none())


def host_of(argument: Any) -> Any:
    """The array itself where it is seen through tables."""
    return argument[0] if isinstance(argument, tuple) else argument


def floats_of(arguments: Arguments) -> Arrays:
    """The floating-point arrays among arguments."""
    found = {name: host_of(argument) for name, argument in arguments.items()}
    return {name: one for name, one in found.items() if isinstance(one, np.ndarray) and one.dtype.kind == "f"}


def with_arrays(arguments: Arguments, arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The arguments with some arrays in the place of others."""
    found = dict(arguments)
    for name, array in arrays.items():
        found[name] = (array, found[name][1]) if isinstance(found[name], tuple) else array
    return found


def copied(arguments: Arguments) -> dict[str, Any]:
    """The arguments with copies of all arrays."""
    arrays = {name: host_of(argument) for name, argument in arguments.items()}
    return with_arrays(arguments, {name: one.copy() for name, one in arrays.items() if isinstance(one, np.ndarray)})


def launched(kernel: Kernel, arguments: Arguments, rows: int, threads: tuple[int, ...], options: Options) -> str:
    """Runs a kernel with these threads for each row; what it prints."""
    ordered = [arguments[parameter.name] for parameter in kernel.function.parameters]
    dim = (rows, *threads)
    return run_in_lockstep(kernel, over(dim, min(256, math.prod(dim))), ordered, options).decode()


@lru_cache(maxsize=4)
def adjoint_of(kernel: Kernel) -> Adjoint:
    """What the pass makes of a kernel."""
    return adjoint(kernel)


def gradients(
    kernel: Kernel, arguments: Arguments, weights: Mapping[str, np.ndarray], threads: tuple[int, ...] = ()
) -> Arrays:
    """What the adjoint kernel makes of the weights, launched as a tape does: of the arrays it finds what `Adjoint` says
    that it wants, and rubbish in the others."""
    rows = max(len(host_of(one)) for one in arguments.values() if isinstance(host_of(one), np.ndarray))
    before, after = copied(arguments), copied(arguments)
    launched(kernel, after, rows, threads, _CHECKS)
    reverse = adjoint_of(kernel)
    bound = {name: host_of(one) for name, one in before.items() if isinstance(host_of(one), np.ndarray)}
    for name, array in bound.items():
        if name in reverse.after:
            array[...] = host_of(after[name])
        elif name not in reverse.before:
            array[...] = np.nan if array.dtype.kind == "f" else RUBBISH if array.dtype.itemsize > 2 else 1
    adjoints = {name: array.copy() for name, array in weights.items()}
    given = with_arrays(before, bound)
    given |= {f"adj_{name}": one for name, one in with_arrays(arguments, adjoints).items() if name in adjoints}
    launched(reverse.kernel, given | _saved(reverse, given, rows, threads), rows, threads, _CHECKS)
    return adjoints


def _saved(reverse: Adjoint, given: Arguments, rows: int, threads: tuple[int, ...]) -> dict[str, Any]:
    """Memory for what the adjoint kernel saves, as much as it says itself."""
    if not reverse.saved:
        return {}
    types = {one.name: one.type for one in reverse.kernel.function.parameters}
    columns = rows * math.prod(threads)

    def memory(words: Mapping[str, int], counting: bool) -> dict[str, Any]:
        found: dict[str, Any] = {"counting": counting, "saved_words": np.zeros(len(words), np.int32)}
        for name, number in words.items():
            type = types[f"saved_{name}"]
            assert isinstance(type, Array)
            found[f"saved_{name}"] = np.full((number, columns), 99, host.numpy_dtype(type.element))
        return found

    counts = memory(dict.fromkeys(reverse.saved, 0), True)
    launched(reverse.kernel, copied(given) | counts, rows, threads, _CHECKS)
    return memory(dict(zip(reverse.saved, map(int, counts["saved_words"]), strict=True)), False)


def differences(
    kernel: Kernel,
    arguments: Arguments,
    weights: Mapping[str, np.ndarray],
    threads: tuple[int, ...] = (),
    step: float = STEP,
) -> Arrays:
    """Central differences of fourth order. All numbers of all rows are moved in one launch, in copies of the rows."""
    inputs = floats_of(arguments)
    rows = len(next(iter(inputs.values())))
    sizes = {name: array[0].size for name, array in inputs.items()}
    count, moves = sum(sizes.values()), (1.0, -1.0, 2.0, -2.0)
    copies = count * len(moves)
    arrays = {name: host_of(one) for name, one in arguments.items() if isinstance(host_of(one), np.ndarray)}
    many = {name: np.tile(one, (copies, *[1] * (one.ndim - 1))) for name, one in arrays.items()}
    first = 0
    for name, size in sizes.items():
        moved = many[name].reshape(count, len(moves), rows, size)
        for number in range(size):
            moved[first + number, :, :, number] += step * np.array(moves)[:, None]
        first += size
    launched(kernel, with_arrays(arguments, many), copies * rows, threads, _FASTER)
    total = np.zeros((count, len(moves), rows))
    for name, size in sizes.items():
        total += (many[name].reshape(count, len(moves), rows, size) * weights[name].reshape(rows, size)).sum(-1)
    slopes = (8 * (total[:, 0] - total[:, 1]) - (total[:, 2] - total[:, 3])) / (12 * step)
    parts = np.split(slopes.T, np.cumsum(list(sizes.values()))[:-1], axis=1)
    return {name: part.reshape(inputs[name].shape) for name, part in zip(inputs, parts, strict=True)}


def distance(found: Mapping[str, np.ndarray], wanted: Mapping[str, np.ndarray]) -> float:
    """The largest difference in any row, beside one plus the largest of what is wanted in that row."""
    rows = len(next(iter(wanted.values())))
    flat = [np.concatenate([one[name].reshape(rows, -1) for name in wanted], 1) for one in (found, wanted)]
    made, right = (one.astype(np.float64) for one in flat)
    apart = np.abs(made - right).max(1) / (1.0 + np.abs(right).max(1))
    return float("inf") if np.isnan(apart).any() else float(apart.max())
