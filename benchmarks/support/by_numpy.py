"""The kernels of programs/sim_kernels.py as one writes them in NumPy, and as plain Python for one thread."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

BLOCK = 256
TRIPS = 256


def saxpy(x: Any, y: Any, a: float) -> None:
    y += np.float32(a) * x


def particles(position: Any, velocity: Any, gravity: tuple[float, ...], dt: float) -> None:
    velocity += np.array(gravity, np.float32) * np.float32(dt)
    position += velocity * np.float32(dt)


def springs(position: Any, force: Any, first: Any, second: Any, rest: Any, stiffness: float) -> None:
    d = [position[second, c] - position[first, c] for c in range(3)]
    length = np.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    scale = np.float32(stiffness) * (length - rest) / length
    flat, a, b = force.reshape(-1), 3 * first.astype(np.int64), 3 * second.astype(np.int64)
    for c in range(3):
        f = d[c] * scale
        np.add.at(flat, a + c, f)
        np.subtract.at(flat, b + c, f)


def reduction(data: Any, out: Any) -> None:
    tile = data.reshape(-1, BLOCK).copy()
    half = BLOCK // 2
    while half:
        tile[:, :half] += tile[:, half : 2 * half]
        half //= 2
    out[:] = tile[:, 0]


def mandelbrot(out: Any, left: float, top: float, step: float) -> None:
    """Points that have escaped are left behind when they are a quarter."""
    rows, columns = out.shape
    x = np.tile(np.float32(left) + np.float32(step) * np.arange(columns, dtype=np.float32), rows)
    y = np.repeat(np.float32(top) + np.float32(step) * np.arange(rows, dtype=np.float32), columns)
    u, v = np.zeros_like(x), np.zeros_like(x)
    found, at = out.reshape(-1), np.arange(out.size)
    found[:] = TRIPS
    with np.errstate(all="ignore"):  # of those that have escaped
        is_inside = np.ones(len(at), bool)
        for trip in range(TRIPS):
            uu, vv = u * u, v * v
            stays = is_inside & (uu + vv <= 4.0)
            found[at[is_inside & ~stays]] = trip
            is_inside, count = stays, np.count_nonzero(stays)
            if count == 0:
                return
            if count < 0.75 * len(at):
                keep = np.flatnonzero(stays)
                at, x, y, u, v, uu, vv = (one[keep] for one in (at, x, y, u, v, uu, vv))
                is_inside = np.ones(count, bool)
            u, v = uu - vv + x, np.float32(2.0) * u * v + y


# ---- plain Python: lists of numbers, one thread


def _saxpy(i: int, x: Any, y: Any, a: float) -> None:
    y[i] = a * x[i] + y[i]


def _particles(i: int, position: Any, velocity: Any, gravity: tuple[float, ...], dt: float) -> None:
    p, v = position[i], velocity[i]
    for c in range(3):
        v[c] = v[c] + gravity[c] * dt
        p[c] = p[c] + v[c] * dt


def _springs(i: int, position: Any, force: Any, first: Any, second: Any, rest: Any, stiffness: float) -> None:
    a, b = first[i], second[i]
    d = [position[b][c] - position[a][c] for c in range(3)]
    length = math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    scale = stiffness * (length - rest[i]) / length
    for c in range(3):
        force[a][c] += d[c] * scale
        force[b][c] -= d[c] * scale


def _reduction(data: Any, out: Any) -> None:
    """Threads that wait for each other are loops between barriers."""
    for block in range(len(out)):
        tile = data[block * BLOCK : (block + 1) * BLOCK]
        half = BLOCK // 2
        while half > 0:
            for t in range(BLOCK):
                if t < half:
                    tile[t] = tile[t] + tile[t + half]
            half = half // 2
        out[block] = tile[0]


def _mandelbrot(i: int, out: Any, left: float, top: float, step: float) -> None:
    row, column = divmod(i, len(out[0]))
    x, y = left + step * column, top + step * row
    u = v = 0.0
    n = 0
    while n < TRIPS and u * u + v * v <= 4.0:
        u, v = u * u - v * v + x, 2.0 * u * v + y
        n += 1
    out[row][column] = n


def in_python(name: str, threads: int, arguments: list[Any]) -> Callable[[], None]:
    """The loop over threads, over arrays as lists."""
    lists = [one.tolist() if isinstance(one, np.ndarray) else one for one in arguments]
    if name == "reduction":
        return lambda: _reduction(*lists)
    function: Any = {"saxpy": _saxpy, "particles": _particles, "springs": _springs, "mandelbrot": _mandelbrot}[name]

    def loop() -> None:
        for i in range(threads):
            function(i, *lists)

    return loop
