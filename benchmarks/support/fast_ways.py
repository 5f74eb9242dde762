"""kbuild's way and that by hand of benchmarks/fast.py: both on one set of arrays, in graphs of many repetitions."""

from __future__ import annotations

import ctypes
import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from support import machine
from support.cases import Vector, pointed
from support.fast_cases import ByHand, Case, Fours, Launch, Name

Way = Callable[[], float]  # seconds of one repetition


class Program:
    """A case's arrays on a device, and its launches by kbuild."""

    def __init__(self, case: Case, device: str | None = None) -> None:
        import kbuild as kb
        from robosim.kernels import Spring

        self.kb, self.case, self.device = kb, case, device
        types = {"float32": kb.float32, "int32": kb.int32, "uint8": kb.uint8, "vec3": kb.vec3, "Spring": Spring}
        self.arrays = {
            name: kb.array(data, dtype=types[type], device=device) for name, (data, type) in case.arrays.items()
        }
        self._fours = {"float32": kb.vec4, "int32": kb.vec4i, "uint8": kb.vec4ub}
        self.launches = [self._launch(one) for one in case.launches]

    def _launch(self, one: Launch) -> Callable[[], object]:
        module, _, name = one.kernel.partition(":")
        kernel = getattr(importlib.import_module(module), name)
        inputs = [self._value(value) for value in one.inputs]
        shape = {"dim": one.dim} if one.grid is None else {"grid": one.grid, "block": one.block}
        return lambda: self.kb.launch(kernel, inputs=inputs, **shape)

    def _value(self, value: Any) -> Any:
        if isinstance(value, Fours):
            return self.arrays[value].view(self._fours[self.case.arrays[value][1]])
        if isinstance(value, Name):
            return self.arrays[value]
        return self.kb.vec3(*value) if isinstance(value, tuple) else value

    def run(self) -> None:
        """All launches once."""
        for launch in self.launches:
            launch()

    def outcome(self, run: Callable[[], object]) -> tuple[Any, ...]:
        """The results of one repetition, from the data that the arrays began with; as NumPy's arrays."""
        for name in self.case.results:
            self.arrays[name].assign(self.case.arrays[name][0])
        self.kb.synchronize(self.device)  # other ways work on other streams
        run()
        self.kb.synchronize(self.device)
        return tuple(self.arrays[name].numpy().copy() for name in self.case.results)

    def graph(self, run: Callable[[], object], repetitions: int, stream: Any) -> Way:
        """A graph of repetitions, which has to be the GPU's only work. The code was loaded before."""
        with self.kb.capture(stream=stream) as graph:
            for _ in range(repetitions):
                run()
        synchronize = self.kb.synchronize

        def way() -> float:
            start = time.perf_counter()
            graph.launch()
            synchronize()
            return (time.perf_counter() - start) / repetitions

        return way


class HandWritten:
    """The same by launches of the driver, on a stream."""

    def __init__(self, program: Program, stream: Any) -> None:
        from kbuild.loader import context, driver

        self.cuda, self.device, self.stream = driver.get(), context.get_device(), stream
        self.modules: dict[str, Any] = {}
        addresses = {name: array.ptr for name, array in program.arrays.items()}
        with self.device.current():
            self.launches = [self._launch(one, addresses) for one in program.case.by_hand]

    def _launch(self, one: ByHand, addresses: dict[str, int]) -> Callable[[], None]:
        if one.unit not in self.modules:
            code = machine.handwritten(one.unit).read_bytes()
            self.modules[one.unit] = self.cuda.query("cuModuleLoadData", code)
        function = ctypes.c_void_p(self.cuda.query("cuModuleGetFunction", self.modules[one.unit], one.entry.encode()))
        pointers, keep = pointed(arguments(one, addresses))
        launch, stream = self.cuda.library["cuLaunchKernel"], ctypes.c_void_p(self.stream.handle)

        def call() -> None:
            assert keep
            status = launch(function, *one.grid, 1, *one.block, 1, 0, stream, pointers, None)
            if status:
                raise RuntimeError(f"{one.unit}:{one.entry}: the driver says {status}")

        return call

    def run(self) -> None:
        """All launches once."""
        with self.device.current():
            for launch in self.launches:
                launch()


def arguments(one: ByHand, addresses: dict[str, int]) -> list[tuple[Any, Any]]:
    """(value, ctypes type) of each argument; no type: the value is a ctypes structure."""

    def pair(value: Any) -> tuple[Any, Any]:
        if isinstance(value, Name):
            return addresses[value], ctypes.c_void_p
        if isinstance(value, tuple):
            return Vector(value), None
        return value, ctypes.c_float if isinstance(value, float) else ctypes.c_int

    return [pair(value) for value in one.arguments]


def apart(got: tuple[Any, ...], wanted: tuple[Any, ...]) -> float:
    """The largest difference between results, relative to the largest number that is wanted; infinite with NaN."""
    worst = 0.0
    for mine, theirs in zip(got, wanted, strict=True):
        if mine.shape != theirs.shape:
            raise ValueError(f"a result has the shape {mine.shape}, not {theirs.shape}")
        if np.array_equal(mine, theirs):
            continue
        difference = float(np.abs(mine.astype(np.float64) - theirs).max() / max(float(np.abs(theirs).max()), 1e-30))
        worst = max(worst, difference if difference == difference else float("inf"))
    return worst
