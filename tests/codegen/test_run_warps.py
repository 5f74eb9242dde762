"""What the lanes of a warp do together: generated code in fibers on the host, the interpreter, lockstep, and NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kbuild.loader.grids import Grid
from tests.helpers.both_ways import BothWays, zeros

SIZES = (1, 20, 32, 33, 64, 95)
SHUFFLES = {"shfl": "lane", "shfl_up": "delta", "shfl_down": "delta", "shfl_xor": "mask"}
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES += ["float16", "float32", "float64"]


def source(name: str, lane: int, by: int, width: int, there: int) -> int:
    """The lane whose value a lane gets, by CUDA's description: its own where there is no other."""
    group = range(lane // width * width, lane // width * width + width)
    by %= 32
    found = {"shfl": group[by % width], "shfl_up": lane - by, "shfl_down": lane + by, "shfl_xor": lane ^ by}[name]
    beyond = found < group[0] if name == "shfl_up" else found > group[-1]
    return lane if beyond or found >= there else found


def numbers(count: int, kind: str, seed: int = 7) -> np.ndarray:
    """Any bits; of floats those of numbers."""
    made = np.random.default_rng(seed).integers(-(1 << 15), 1 << 15, count)
    return (made & 1).astype(bool) if kind == "bool" else (made.astype(kind) / np.array(4).astype(kind)).astype(kind)


@pytest.mark.parametrize("kind", DTYPES)
def test_shuffles_of_every_type(tmp_path: Path, kind: str) -> None:
    """Lane, distance or mask differ from lane to lane, and lie below and above what a warp has."""
    calls = [(name, width) for name in SHUFFLES for width in (32, 8, 1)]
    lines = "\n".join(
        f"            out[i, {at}] = kb.{name}(x, by[i], {width})" for at, (name, width) in enumerate(calls)
    )
    type = "bool" if kind == "bool" else f"kb.{kind}"
    run = BothWays(
        tmp_path,
        f"""
        @kb.kernel
        def shuffled(data: kb.array(dtype={type}), by: kb.array(dtype=int), out: kb.array2d(dtype={type})):
            i = kb.tid()
            x = data[i]
{lines}
        """,
    )
    for size in SIZES:
        data, out = numbers(2 * size, kind), np.zeros((2 * size, len(calls)), kind)
        by = np.random.default_rng(size).integers(-40, 80, 2 * size).astype(np.int32)
        run(2 * size, data, by, out, block_dim=size)
        for i in range(2 * size):
            lane, warp = i % size % 32, i - i % size % 32
            there = min(32, size - i % size // 32 * 32)
            wanted = [data[warp + source(name, lane, int(by[i]), width, there)] for name, width in calls]
            assert out[i].tolist() == wanted, (size, i)


@pytest.mark.parametrize("size", SIZES)
def test_votes_and_matches(tmp_path: Path, size: int) -> None:
    run = BothWays(
        tmp_path,
        """
        @kb.kernel
        def votes(
            data: kb.array(dtype=int), wide: kb.array(dtype=kb.uint64), small: kb.array(dtype=kb.int8),
            out: kb.array2d(dtype=kb.uint32), truths: kb.array2d(dtype=bool),
        ):
            i = kb.tid()
            out[i, 0] = kb.ballot(data[i] > 1)
            out[i, 1] = kb.match_any(data[i])
            out[i, 2] = kb.match_any(wide[i])
            out[i, 3] = kb.match_any(small[i])
            out[i, 4] = kb.uint32(kb.warp_id())
            truths[i, 0] = kb.any(data[i] == 3)
            truths[i, 1] = kb.all(data[i] < 3)
            truths[i, 2] = kb.all(data[i])
        """,
    )
    count = 3 * size
    data = (np.arange(count) * 7919 // 5 % 4).astype(np.int32)
    wide, small = data.astype(np.uint64) << np.uint64(33), (data - 2).astype(np.int8)
    out, truths = np.zeros((count, 5), np.uint32), np.zeros((count, 3), bool)
    run(count, data, wide, small, out, truths, block_dim=size)
    for i in range(count):
        first = i - i % size % 32
        warp = data[first : first + min(32, size - i % size // 32 * 32)]

        def bits(truth: np.ndarray) -> int:
            return sum(1 << lane for lane, holds in enumerate(truth) if holds)

        matched = bits(warp == data[i])
        assert out[i].tolist() == [bits(warp > 1), matched, matched, matched, i % size // 32]
        assert truths[i].tolist() == [bool((warp == 3).any()), bool((warp < 3).all()), bool((warp != 0).all())]


def test_vectors_matrices_and_structs_go_number_by_number(tmp_path: Path) -> None:
    run = BothWays(
        tmp_path,
        """
        @kb.struct
        class Hit:
            at: kb.vec3d
            frame: kb.mat22h
            is_near: bool

        @kb.kernel
        def hits(points: kb.array(dtype=kb.vec3d), out: kb.array(dtype=kb.vec3d), flags: kb.array(dtype=int)):
            i = kb.tid()
            hit = Hit(points[i], kb.mat22h(kb.float16(float(i)), kb.float16(1.0), kb.float16(2.0), kb.float16(3.0)),
                      i % 3 == 0)
            other = kb.shfl_xor(hit, 1)
            out[i] = other.at + kb.shfl(kb.vec3d(kb.float64(i), points[i].x, points[i].y), lane=i + 1, width=4)
            flags[i] = int(other.is_near) * 1000 + int(other.frame[0, 0])
        """,
    )
    points = np.arange(64 * 3, dtype=np.float64).reshape(64, 3)
    out, flags = zeros(64, 3, kind=np.float64), zeros(64, kind=np.int32)
    run(Grid(2, (4, 8)), points, out, flags)
    for i in range(64):
        j = i // 4 * 4 + (i + 1) % 4
        assert out[i].tolist() == (points[i ^ 1] + [j, points[j, 0], points[j, 1]]).tolist()
        assert flags[i] == 1000 * ((i ^ 1) % 3 == 0) + (i ^ 1)
