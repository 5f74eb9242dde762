"""The kernels of benchmarks/simulator.py on Numba's CUDA simulator, in few threads: a Python with numba-cuda runs it.

    NUMBA_ENABLE_CUDASIM=1 python sim_numba.py ROUNDS CASE=THREADS…

Prints JSON: the least processor time of each case, and versions. Nothing of kbuild is here.
"""

from __future__ import annotations

import json
import math
import sys
import time
from importlib.metadata import version
from typing import Any

import numpy as np
from numba import cuda, float32

BLOCK = 256
TRIPS = 256
STEP = 1e-3


@cuda.jit
def saxpy(x, y, a):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def particles(position, velocity, gravity, dt):
    i = cuda.grid(1)
    if i < position.shape[0]:
        for c in range(3):
            velocity[i, c] = velocity[i, c] + gravity[c] * dt
            position[i, c] = position[i, c] + velocity[i, c] * dt


@cuda.jit
def springs(position, force, first, second, rest, stiffness):
    i = cuda.grid(1)
    if i < first.size:
        a = first[i]
        b = second[i]
        x = position[b, 0] - position[a, 0]
        y = position[b, 1] - position[a, 1]
        z = position[b, 2] - position[a, 2]
        length = math.sqrt(x * x + y * y + z * z)
        f = stiffness * (length - rest[i]) / length
        cuda.atomic.add(force, (a, 0), x * f)
        cuda.atomic.add(force, (a, 1), y * f)
        cuda.atomic.add(force, (a, 2), z * f)
        cuda.atomic.sub(force, (b, 0), x * f)
        cuda.atomic.sub(force, (b, 1), y * f)
        cuda.atomic.sub(force, (b, 2), z * f)


@cuda.jit
def reduction(data, out):
    tile = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    tile[t] = data[cuda.grid(1)]
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if t < half:
            tile[t] = tile[t] + tile[t + half]
        cuda.syncthreads()
        half = half // 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


@cuda.jit
def mandelbrot(out, left, top, step):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        x = left + step * np.float32(j)
        y = top + step * np.float32(i)
        u = np.float32(0.0)
        v = np.float32(0.0)
        n = 0
        while n < TRIPS and u * u + v * v <= 4.0:
            w = u * u - v * v + x
            v = np.float32(2.0) * u * v + y
            u = w
            n += 1
        out[i, j] = n


def launch(name: str, threads: int) -> float:
    """Seconds of a launch; arrays lie in host memory, so nothing is copied."""
    numbers = np.random.default_rng(1)

    def floats(*shape: int) -> Any:
        return numbers.random(shape, dtype=np.float32)

    blocks = max(threads // BLOCK, 1)
    shape: tuple[Any, Any] = (blocks, min(threads, BLOCK))
    if name == "saxpy":
        kernel, arguments = saxpy, (floats(threads), floats(threads), np.float32(2.5))
    elif name == "particles":
        gravity = np.array([0.0, -9.81, 0.0], np.float32)
        kernel, arguments = particles, (floats(threads, 3), floats(threads, 3), gravity, np.float32(STEP))
    elif name == "springs":
        first = np.arange(threads, dtype=np.int32)
        second = np.roll(first, 7)
        arguments = (floats(threads, 3), floats(threads, 3), first, second, floats(threads), np.float32(10.0))
        kernel = springs
    elif name == "reduction":
        kernel, arguments = reduction, (floats(threads), floats(blocks))
    else:
        side = math.isqrt(threads)
        step = np.float32(2.5 / side)
        kernel, arguments = mandelbrot, (np.zeros((side, side), np.int32), np.float32(-2.0), np.float32(-1.25), step)
        shape = ((side // 16, side // 16), (16, 16))
    given = [cuda.to_device(one) if isinstance(one, np.ndarray) else one for one in arguments]
    start = time.process_time()
    kernel[shape](*given)
    return time.process_time() - start


def main() -> None:
    """Each case in turn, again and again."""
    cases = [(name, int(threads)) for name, _, threads in (one.partition("=") for one in sys.argv[2:])]
    least = {name: math.inf for name, _ in cases}
    for _ in range(int(sys.argv[1])):
        for name, threads in cases:
            least[name] = min(least[name], launch(name, threads))
    versions = {name: version(name) for name in ("numba", "numba-cuda", "numpy")}
    print(json.dumps({"seconds": least, "versions": versions}))


if __name__ == "__main__":
    main()
