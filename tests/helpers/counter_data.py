"""The counters of an H200 for 508 launches of 147 small kernels in CUDA C: `launches()`.

tests/data/h200_counters.json.xz holds what Nsight Compute counted (driver 580.159, CUDA 13.0, ncu 2025.3.1 with
`--clock-control none`, caches flushed before each pass), the kernels' source, and their memory instructions. Every
kernel has the parameters `(float* out, const float* a, const float* b, const int* idx, int n, int k)`; `source` is the
body. `struct V3 { float x, y, z; }` is declared before each.

The values of `idx` are not in the file. They either repeat every 32, or come from NumPy's generator: `_draws` makes
those again, and a digest tells whether they are the ones that were measured with.
"""

from __future__ import annotations

import functools
import hashlib
import json
import lzma
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).parents[1] / "data" / "h200_counters.json.xz"
DIGEST = "6636f312233cba8ec0dac87e759bdf6dbfd301b6faeb5f2d2a495563ce9b38a7"


@dataclass(frozen=True)
class Launch:
    """One kernel launched once. `indices` is what `idx` points at, None where the kernel does not read it."""

    name: str
    run: int
    source: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    n: int
    k: int
    indices: np.ndarray | None
    counters: dict[str, float]
    instructions: list[dict[str, Any]]


@functools.cache
def _document() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(lzma.decompress(FILE.read_bytes()))
    return document


@functools.cache
def launches() -> tuple[Launch, ...]:
    return tuple(Launch(**{**row, "indices": _indices(row["indices"])}) for row in _document()["launches"])


def cycles(instruction: str, threads: int) -> dict[tuple[int, int], float]:
    """Cycles that a multiprocessor needs for a warp's instruction ("lds", "sts", or "ldg" that hits the L1 cache) with
    this many threads resident, by (bits, stride in elements).
    """
    pattern = re.compile(rf"{instruction}(\d+)(?:_L1hit)?_stride(\d+)_{threads}thr")
    found = ((pattern.fullmatch(name), value) for name, value in _document()["cycles_per_warp_instruction"].items())
    return {(int(match[1]), int(match[2])): value for match, value in found if match}


def _indices(row: dict[str, Any] | None) -> np.ndarray | None:
    if row is None:
        return None
    if "warp" in row:
        return np.tile(np.array(row["warp"], np.int64), row["count"] // 32)
    return draws()[row["draw"]]


@functools.cache
def draws() -> tuple[np.ndarray, ...]:
    values = tuple(_draws())
    digest = hashlib.sha256(b"".join(v.astype("<i4").tobytes() for v in values)).hexdigest()
    assert digest == DIGEST, "this NumPy draws other numbers from default_rng(7) than those that were measured with"
    return values


def _draws() -> Iterator[np.ndarray]:
    """Random indices in the order in which the measuring program drew them; -1 is a lane that takes no part."""
    random = np.random.default_rng(7)

    def masked(top: int, count: int, share: float) -> np.ndarray:
        values = random.integers(0, top, count)
        values[random.random(count) >= share] = -1
        return values

    for _ in range(5):
        for top in (100_000, 1000, 100):
            yield random.integers(0, top, 16384)
            yield masked(top, 16384, 0.5)
    for top in (1, 2, 4, 8, 32, 1024, 16):
        yield random.integers(0, top, 16384)
    shared = ((33792, 1024, 512), (16896, 512, 256), (8448, 256, 128), (4224, 128, 64), (2112, 64, 32))
    for tops in shared:
        for top in (*tops, 24):
            for share in (1.0, 0.5, 0.15):
                yield masked(top, 1024, share)
    for top, stride in ((1, 1), (2, 1), (4, 1), (8, 1), (32, 1), (256, 1), (1024, 1), (32, 32), (4, 32)):
        yield random.integers(0, top, 1024) * stride
    for top in (64, 2, 64):
        yield random.integers(0, top, 1024)
    yield np.stack([np.arange(16384), random.integers(0, 16384, 16384)], axis=1).ravel()
    random = np.random.default_rng(11)
    for top, stride in ((1, 1), (2, 1), (4, 1), (8, 1), (32, 1), (1024, 1), (100_000, 1), (4, 8), (32, 8)):
        yield random.integers(0, top, 16384) * stride
    for top in (100, 16):
        yield random.integers(0, top, 16384)
    random = np.random.default_rng(12)
    for top in (64, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096):
        yield random.integers(0, top, 16384)
