"""Speed of the device `sim`, beside Numba's CUDA simulator, plain Python for each thread, and hand-written NumPy.

Processor time, the least of some rounds in which all take turns. What runs thread by thread runs few threads, and its
time counts as many times as there are more in the case. `--numba` names a Python that has numba and numba-cuda; without
it, one is made for the time of the run.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from programs import sim_kernels
from support import by_numpy
from support.results import BENCHMARKS, progress, record

import kbuild as kb
from kbuild.sim.blocks import over
from kbuild.sim.threads import run_launch
from kbuild.sim.values import Memory
from kbuild.simulate.compiled import compiled

SIDE = 512
COUNT = 1_000_000
SIZES = {
    "saxpy": COUNT,
    "particles": COUNT,
    "springs": COUNT,
    "reduction": 4096 * sim_kernels.BLOCK,
    "mandelbrot": SIDE * SIDE,
}
FEW = {"saxpy": 4096, "particles": 2048, "springs": 2048, "reduction": 1024, "mandelbrot": 32 * 32}
GOALS = {"off": 1000, "on": 100}
OFF = {"races": False, "unassigned": False, "divisions": False}
SMALL = 32  # threads of the smallest launch


def main() -> None:
    """Measures, prints, records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="how often each is run (default 5)")
    parser.add_argument("--numba", type=Path, help="a Python with numba and numba-cuda")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        numba = numba_times(arguments.numba or made_environment(Path(name)))
    cases = {}
    for name in SIZES:
        progress(name)
        seconds = times(name, arguments.rounds)
        cases[name] = seconds | {"numba": numba["seconds"][name] * SIZES[name] / FEW[name]}
    small = {mode: small_launch(checks) for mode, checks in (("off", OFF), ("on", {}))}
    values = {
        "cases": cases,
        "sizes": SIZES,
        "few": FEW,
        "small": small | {"threads": SMALL},
        "goals": GOALS,
        "versions": {"NumPy": version("numpy"), "Numba": numba["versions"]},
    }
    for name, row in cases.items():
        print(name, {way: f"{1e3 * seconds:.2f} ms" for way, seconds in row.items()})
    record("simulator", values)


def made_environment(folder: Path) -> Path:
    """A Python with Numba."""
    progress("an environment with numba and numba-cuda")
    subprocess.run([sys.executable, "-m", "venv", folder / "numba"], check=True)
    python = folder / "numba" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "-q", "install", "numba", "numba-cuda"], check=True)
    return python


def numba_times(python: Path) -> dict[str, Any]:
    """Seconds of few threads, in a process of its own."""
    progress("Numba's simulator")
    cases = [f"{name}={threads}" for name, threads in FEW.items()]
    command = [str(python), str(BENCHMARKS / "programs" / "sim_numba.py"), "3", *cases]
    done = subprocess.run(
        command, env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}, check=True, stdout=subprocess.PIPE, text=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def inputs(name: str, threads: int) -> list[Any]:
    """Arguments of a launch: NumPy's arrays and numbers."""
    numbers = np.random.default_rng(1)

    def floats(*shape: int) -> Any:
        return numbers.random(shape, dtype=np.float32)

    if name == "saxpy":
        return [floats(threads), floats(threads), 2.5]
    if name == "particles":
        return [floats(threads, 3), floats(threads, 3), (0.0, -9.81, 0.0), 1e-3]
    if name == "springs":
        masses = max(threads // 4, 8)
        first = numbers.integers(0, masses, threads)
        second = (first + numbers.integers(1, masses, threads)) % masses
        ends = first.astype(np.int32), second.astype(np.int32)
        return [floats(masses, 3), np.zeros((masses, 3), np.float32), *ends, floats(threads), 10.0]
    if name == "reduction":
        return [floats(threads), np.zeros(threads // sim_kernels.BLOCK, np.float32)]
    side = math.isqrt(threads)
    return [np.zeros((side, side), np.int32), -2.0, -1.25, 2.5 / side]


def times(name: str, rounds: int) -> dict[str, float]:
    """Seconds of each way. Raises ValueError where results differ."""
    size, few = SIZES[name], FEW[name]
    ours, numpys = inputs(name, size), inputs(name, size)
    kernel, function = getattr(sim_kernels, name), getattr(by_numpy, name)
    dim = (SIDE, SIDE) if name == "mandelbrot" else size
    given = [_given(one) for one in ours]
    kb.sim.run(kernel, dim, given)
    function(*numpys)
    _compare(name, ours, numpys)
    ways: dict[str, Callable[[], object]] = {
        "off": lambda: kb.sim.run(kernel, dim, given, **OFF),
        "on": lambda: kb.sim.run(kernel, dim, given),
        "numpy": lambda: function(*numpys),
    }
    least = dict.fromkeys(ways, math.inf)
    for _ in range(rounds):
        for way, work in ways.items():
            least[way] = min(least[way], seconds_of(work))
    plain = min(seconds_of(by_numpy.in_python(name, few, inputs(name, few))) for _ in range(3))
    slow = min(seconds_of(interpreter(name, few)) for _ in range(2))
    return least | {"python": plain * size / few, "interpreter": slow * size / few}


def seconds_of(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _given(one: Any) -> Any:
    """An argument as kbuild takes it: NumPy's arrays as they are."""
    return kb.vec3(*one) if isinstance(one, tuple) else one


def _compare(name: str, ours: list[Any], numpys: list[Any]) -> None:
    """NumPy has no fused product and sum, so points near the edge of the Mandelbrot set escape at other trips."""
    for a, b in zip(ours, numpys, strict=True):
        if isinstance(a, np.ndarray):
            close = np.isclose(a, b, rtol=1e-4, atol=1e-3)
            if np.count_nonzero(~close) > (0.02 * close.size if name == "mandelbrot" else 0):
                raise ValueError(f"{name}: kbuild and NumPy differ in {np.count_nonzero(~close)} of {close.size}")


def interpreter(name: str, threads: int) -> Callable[[], object]:
    """kbuild's own interpreter, thread after thread, which checks everything."""
    arguments = inputs(name, threads)
    kernel = compiled(getattr(sim_kernels, name), [_given(one) for one in arguments]).kernel
    dim = (math.isqrt(threads),) * 2 if name == "mandelbrot" else (threads,)
    types = [parameter.type for parameter in kernel.function.parameters]
    memories = []
    for one, type in zip(arguments, types, strict=True):
        if isinstance(one, np.ndarray):
            flat = one.reshape(-1, *one.shape[type.ndim :])
            memories.append(Memory(type.element, one.shape[: type.ndim], flat.tolist()))
        else:
            memories.append(list(one) if isinstance(one, tuple) else one)
    return lambda: run_launch(kernel, over(dim, sim_kernels.BLOCK), memories, max_steps=1 << 60)


def small_launch(checks: dict[str, Any]) -> float:
    """Seconds of a launch of few threads."""
    given = [_given(one) for one in inputs("particles", SMALL)]

    def burst() -> None:
        for _ in range(100):
            kb.sim.run(sim_kernels.particles, SMALL, given, **checks)

    return min(seconds_of(burst) for _ in range(5)) / 100


if __name__ == "__main__":
    main()
