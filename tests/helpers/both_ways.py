"""A kernel run in three ways: as generated code compiled for the host, thread after thread by the interpreter, and in
lockstep. All must agree.

    run = BothWays(folder, text)
    run(4, numbers, out)          # NumPy arrays, changed in place; scalars by value

Results are equal bit by bit unless an approximate function (`sin`, `exp` …) was among them: then nearly.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kbuild.ir.types import INT32, Array, IndexedArray, Matrix, Type, Vector
from kbuild.loader.grids import Grid, Sized
from kbuild.sim.blocks import Launch, over
from kbuild.sim.lockstep.run import Options
from kbuild.sim.threads import run_launch
from kbuild.sim.values import Memory, indexed
from tests.helpers import kernels
from tests.helpers.host_gpu import DeviceIndexed, HostModule, device
from tests.helpers.lockstep import run_in_lockstep


@dataclass
class Seen:
    """A NumPy array seen through index arrays of int32, None for a plain axis: what an indexedarray parameter takes."""

    host: np.ndarray
    tables: tuple[np.ndarray | None, ...]

    def memory(self, type: Array) -> Memory:
        tables = (None if table is None else _to_memory(table, Array(INT32, 1)) for table in self.tables)
        return indexed(_to_memory(self.host, type), tuple(tables))


class BothWays:
    """The one kernel of a text."""

    def __init__(self, folder: Path, text: str, *, fmad: bool = True) -> None:
        (self.kernel,) = kernels.lower_text(folder, text, fmad=fmad)
        self.module = HostModule([self.kernel], folder)

    def __call__(
        self, dim: Any, *arguments: Any, tolerance: float = 1e-5, block_dim: int = 32, options: Options | None = None
    ) -> None:
        types = [parameter.type for parameter in self.kernel.function.parameters]
        simulated = [_simulated(a, t) for a, t in zip(arguments, types, strict=True)]
        together = [_copied(a) for a in arguments]
        given = [_given(a, t) for a, t in zip(arguments, types, strict=True)]
        self.module.launch(self.kernel.name, dim, given, block_dim)
        outcome = run_launch(self.kernel, _launch(dim, block_dim), simulated)
        run_in_lockstep(self.kernel, _launch(dim, block_dim), [_seen(one) for one in together], options)
        for argument, memory, lanes in zip(arguments, simulated, together, strict=True):
            if isinstance(memory, Memory):
                host, at_once = (one.host if isinstance(one, Seen) else one for one in (argument, lanes))
                in_turn = np.array(memory.data, host.dtype).reshape(host.shape)
                for found in (in_turn, at_once):
                    if outcome.approximate:
                        np.testing.assert_allclose(found, host, rtol=tolerance, atol=tolerance)
                    else:
                        np.testing.assert_array_equal(found, host)


def _copied(argument: Any) -> Any:
    if isinstance(argument, Seen):
        return Seen(argument.host.copy(), argument.tables)
    return argument.copy() if isinstance(argument, np.ndarray) else argument


def _seen(argument: Any) -> Any:
    return (argument.host, argument.tables) if isinstance(argument, Seen) else argument


def _launch(dim: Any, block_dim: int) -> Launch:
    if isinstance(dim, Sized):
        return replace(_launch(dim.dim, block_dim), shared=dim.shared)
    if isinstance(dim, Grid):
        block = dim.block or (block_dim, 1, 1)
        return Launch(dim.grid, block, (math.prod(dim.grid) * math.prod(block),))
    return over(dim if isinstance(dim, tuple) else (dim,), block_dim)


def _simulated(argument: Any, type: Type) -> Any:
    if isinstance(argument, Seen):
        assert isinstance(type, Array)
        return argument.memory(type)
    return _to_memory(argument, type) if isinstance(type, Array) else argument


def _given(argument: Any, type: Type) -> Any:
    if isinstance(argument, Seen):
        assert isinstance(type, IndexedArray)
        return DeviceIndexed(argument.host, argument.tables, type)
    return device(argument) if isinstance(argument, np.ndarray) else argument


def _to_memory(host: np.ndarray, type: Array) -> Memory:
    shape = host.shape[: type.ndim]
    flat = host.reshape(-1, *host.shape[type.ndim :])
    return Memory(type.element, shape, [_value(item, type.element) for item in flat])


def _value(item: Any, type: Type) -> Any:
    if isinstance(type, (Vector, Matrix)):
        return np.asarray(item).tolist()
    return item.item()


def zeros(*shape: int, kind: Any = np.float32) -> np.ndarray:
    return np.zeros(shape, kind)


def filled(values: Any, kind: Any = np.float32) -> np.ndarray:
    return np.array(list(itertools.chain(values)), kind)
