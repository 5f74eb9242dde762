"""kbuild's own functions over whole arrays on a machine without a GPU: arrays in memory of the host, and launches that
run there, as generated C or in the simulator.

    with on_this_machine(Compiled(folder)) as machine:
        kb.array_scan(a, b)
    machine.launched     names of the kernels, in order
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kbuild.ir import nodes
from kbuild.loader import context, driver, grids, interface, standin
from kbuild.loader.array import array
from kbuild.loader.types import Kernel
from kbuild.primitives import finding
from kbuild.sim.blocks import Launch, over
from kbuild.sim.threads import run_launch
from kbuild.sim.values import Memory
from tests.helpers.host_gpu import HostModule
from tests.helpers.kernels import diagnose

BLOCK = 256


class _Library(standin.Library):
    """Memory of the host behind the driver's functions; new memory holds rubbish, as on a GPU."""

    def __init__(self) -> None:
        super().__init__()
        clear = standin._Call(lambda at, value, size, _: ctypes.memset(at, value, size) and None)
        self._calls["cuMemsetD8Async"] = clear

    def _allocate(self, address: Any, size: int) -> None:
        super()._allocate(address, size)
        ctypes.memset(address.value, 0xCB, size)


class Machine:
    """What runs launches; `launched` has the kernels' names."""

    def __init__(self) -> None:
        self.launched: list[str] = []

    def launch(self, kernel: Kernel, dim: Any, args: Sequence[Any], stream: Any) -> None:
        self.launched.append(kernel.__name__)
        lowered = _lowered(kernel)
        assert isinstance(dim, grids.Grid) or lowered.ndim == (len(dim) if isinstance(dim, tuple) else 1)
        self.run(kernel, lowered, dim, args)

    def run(self, kernel: Kernel, lowered: nodes.Kernel, dim: Any, args: Sequence[Any]) -> None:
        raise NotImplementedError


@cache
def _lowered(kernel: Kernel) -> nodes.Kernel:
    (lowered,), diagnostics = diagnose([kernel])
    assert [d.render() for d in diagnostics] == []
    return lowered


_modules: dict[int, HostModule] = {}  # compiled once in a process: kernels are made once too


class Compiled(Machine):
    """Runs kernels as C that the host's compiler has compiled."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def run(self, kernel: Kernel, lowered: nodes.Kernel, dim: Any, args: Sequence[Any]) -> None:
        if id(kernel) not in _modules:
            _modules[id(kernel)] = HostModule([lowered], self.folder)
        _modules[id(kernel)].launch(lowered.name, dim, args, block_dim=BLOCK)


class Simulated(Machine):
    """Runs kernels in the simulator, which refuses races, barriers that not all reach, and indices outside."""

    def run(self, kernel: Kernel, lowered: nodes.Kernel, dim: Any, args: Sequence[Any]) -> None:
        if isinstance(dim, grids.Grid):
            launch = Launch(dim.grid, (BLOCK, 1, 1), (math.prod(dim.grid) * BLOCK,))
        else:
            launch = over(dim if isinstance(dim, tuple) else (dim,), BLOCK)
        places = [seen(arg) if isinstance(arg, array) else None for arg in args]
        given = [arg if place is None else _memory(arg, place) for arg, place in zip(args, places, strict=True)]
        before = [list(one.data) if isinstance(one, Memory) else [] for one in given]
        run_launch(lowered, launch, given, 1_000_000_000)
        for place, memory, old in zip(places, given, before, strict=True):
            for at, (was, now) in enumerate(zip(old, memory.data if old else [], strict=True)):
                if now is not was:  # an array may stand twice among the arguments
                    place[np.unravel_index(at, place.shape)] = now


def _memory(given: array, place: np.ndarray) -> Memory:
    return Memory(given._type.element, given.shape, place.ravel().tolist())


class _Described:
    def __init__(self, interface: dict[str, Any]) -> None:
        self.__array_interface__ = interface


def seen(given: array) -> np.ndarray:
    """The memory of an array of numbers, as a NumPy array over it."""
    typestr = interface.typestr_of(given._type.element)
    about = {"data": (given.ptr, False), "shape": given.shape, "strides": given.strides, "typestr": typestr}
    return np.asarray(_Described({**about, "version": 3}))


@contextmanager
def on_this_machine(machine: Machine) -> Iterator[Machine]:
    """The loader on memory of the host, and the functions' kernels on this machine."""
    known = driver._driver, context._devices, finding.Carried.launch

    def launch(self: Any, dim: Any, args: Any, stream: Any, device: Any, block_dim: Any, max_blocks: int = 0) -> None:
        machine.launch(self.kernel, dim, args, stream)

    driver._driver, context._devices = driver.Driver(_Library()), None
    finding.Carried.launch = launch  # type: ignore[method-assign]
    try:
        yield machine
    finally:
        driver._driver, context._devices, finding.Carried.launch = known  # type: ignore[method-assign]
