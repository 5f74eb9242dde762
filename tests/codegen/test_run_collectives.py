"""Sums, extremes and scans of warps and blocks: three ways, and NumPy in the order that the documentation promises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbuild.ir.nodes import Kernel
from kbuild.sim.blocks import Launch, over
from tests.helpers import kernels
from tests.helpers.both_ways import BothWays
from tests.helpers.lockstep import run_in_lockstep

NAMES = [f"{scope}_{what}" for scope in ("warp", "block") for what in ("sum", "min", "max", "scan_inclusive")]
NAMES += ["warp_scan_exclusive", "block_scan_exclusive"]
TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]


def text(type: str) -> str:
    lines = "\n".join(f"    out[i, {at}] = kb.{name}(x)" for at, name in enumerate(NAMES))
    parameters = f"data: kb.array(dtype={type}), out: kb.array2d(dtype={type})"
    return f"@kb.kernel\ndef collected({parameters}):\n    i = kb.tid()\n    x = data[i]\n{lines}\n"


def tree(warp: np.ndarray) -> Any:
    """The sum of a warp: by halves."""
    values = list(warp)
    for distance in (16, 8, 4, 2, 1):
        pairs = min(distance, max(0, len(values) - distance))
        values = [values[i] + values[i + distance] for i in range(pairs)] + values[pairs:distance]
    return values[0]


def scanned(warp: np.ndarray) -> list[Any]:
    values = list(warp)
    for distance in (1, 2, 4, 8, 16):
        values = [values[i - distance] + v if i >= distance else v for i, v in enumerate(values)]
    return values


def in_order(warps: list[np.ndarray]) -> list[tuple[Any, Any]]:
    """For each warp the sum of all, and of those before it (None: there are none)."""
    sums, lasts = [tree(warp) for warp in warps], [scanned(warp)[-1] for warp in warps]
    if len(warps[-1]) == 32:  # a block of whole warps: as the lanes of one
        zeros = [warps[0].dtype.type(0)] * (32 - len(warps))
        total, upto = tree(np.array([*sums, *zeros])), scanned(np.array(lasts))
    else:
        total, upto = sums[0], lasts[:1]
        for own, last in zip(sums[1:], lasts[1:], strict=True):
            total = total + own
            upto.append(upto[-1] + last)
    return [(total, before) for before in [None, *upto[:-1]]]


def wanted(block: np.ndarray) -> dict[str, list[Any]]:
    """Every function's result in every thread of a block."""
    warps = [block[at : at + 32] for at in range(0, len(block), 32)]
    zero = block.dtype.type(0)
    found: dict[str, list[Any]] = {name: [] for name in NAMES}
    inclusive, exclusive = [], []
    for warp, (_, before) in zip(warps, sums := in_order(warps), strict=True):
        own, own_scan = tree(warp), scanned(warp)
        found["warp_sum"] += [own] * len(warp)
        found["warp_min"] += [warp.min()] * len(warp)
        found["warp_max"] += [warp.max()] * len(warp)
        found["warp_scan_inclusive"] += own_scan
        found["warp_scan_exclusive"] += [zero, *own_scan[:-1]]
        inclusive += own_scan if before is None else [before + one for one in own_scan]
        first = zero if before is None else before
        exclusive += [first, *(own_scan[:-1] if before is None else [before + one for one in own_scan[:-1]])]
    total = sums[0][0]
    count = len(block)
    found |= {"block_sum": [total] * count, "block_scan_inclusive": inclusive, "block_scan_exclusive": exclusive}
    found |= {"block_min": [block.min()] * count, "block_max": [block.max()] * count}
    return found


def numbers(count: int, kind: str, seed: int) -> np.ndarray:
    source = np.random.default_rng(seed)
    if kind.startswith("float"):
        return (source.standard_normal(count) * 3.0).astype(kind)
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    return source.integers(low, high, count, dtype=kind)


def check(data: np.ndarray, out: np.ndarray, size: int) -> None:
    with np.errstate(over="ignore"):
        for first in range(0, len(data), size):
            for name, values in wanted(data[first : first + size]).items():
                expected = np.array(values, data.dtype)
                got = out[first : first + size, NAMES.index(name)]
                assert got.tobytes() == expected.tobytes(), (name, size)


@pytest.mark.parametrize("kind", TYPES)
def test_every_type(tmp_path: Path, kind: str) -> None:
    run = BothWays(tmp_path, text(f"kb.{kind}"))
    for size in (1, 20, 32, 33, 96, 256):
        data = numbers(2 * size, kind, size)
        out = np.zeros((2 * size, len(NAMES)), kind)
        run(2 * size, data, out, block_dim=size)
        check(data, out, size)


@pytest.fixture(scope="module")
def of_floats(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    return kernels.lower_text(tmp_path_factory.mktemp("floats"), text("float"))[0]


@settings(max_examples=40, deadline=None)
@given(st.tuples(st.integers(1, 40), st.integers(1, 8), st.integers(1, 4)), st.integers(1, 3), st.integers(0, 99))
def test_blocks_of_any_size_and_axes(of_floats: Kernel, block: tuple[int, int, int], grid: int, seed: int) -> None:
    x, y, z = block
    if x * y * z > 1024:
        block = (x, 1, 1)
    size = block[0] * block[1] * block[2]
    data, out = numbers(grid * size, "float32", seed), np.zeros((grid * size, len(NAMES)), np.float32)
    run_in_lockstep(of_floats, Launch((grid, 1, 1), block, (grid * size,)), [data, out])
    check(data, out, size)


def test_composites_go_element_by_element(tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(tmp_path, text("kb.vec3"))
    data, out = numbers(3 * 80, "float32", 5).reshape(80, 3), np.zeros((80, len(NAMES), 3), np.float32)
    run_in_lockstep(kernel, over((80,), 40), [data, out])
    for axis in range(3):
        check(np.ascontiguousarray(data[:, axis]), np.ascontiguousarray(out[:, :, axis]), 40)


@pytest.mark.parametrize("name", NAMES)
def test_two_calls_in_a_row(tmp_path: Path, name: str) -> None:
    """No race between what the first has read of the memory that both use, and what the second stores there."""
    body = f"    i = kb.tid()\n    out[i] = kb.{name}(i) + 1000 * kb.{name}(i + 1)\n"
    (kernel,) = kernels.lower_text(tmp_path, f"@kb.kernel\ndef twice(out: kb.array(dtype=int)):\n{body}")
    out = np.zeros(70, np.int32)
    run_in_lockstep(kernel, over((70,), 70), [out])
    first, second = (wanted(np.arange(start, 70 + start, dtype=np.int32))[name] for start in (0, 1))
    assert out.tolist() == [int(a) + 1000 * int(b) for a, b in zip(first, second, strict=True)]


def test_a_call_after_the_other_and_inside_a_loop(tmp_path: Path) -> None:
    """The memory that a function uses up is free again when it is called once more."""
    run = BothWays(
        tmp_path,
        """
        @kb.kernel
        def repeated(data: kb.array(dtype=int), out: kb.array(dtype=int)):
            i = kb.tid()
            total = data[i]
            for step in range(4):
                total = kb.block_scan_exclusive(total) - kb.block_sum(total % 7) + kb.block_max(total)
            out[i] = total
        """,
    )
    data, out = np.arange(70, dtype=np.int32) % 11, np.zeros(70, np.int32)
    run(70, data, out, block_dim=70)
    with np.errstate(over="ignore"):
        total = data
        for _ in range(4):
            rest = np.fmod(total, 7)
            total = (np.cumsum(total, dtype=np.int32) - total - rest.sum(dtype=np.int32) + total.max()).astype(np.int32)
    assert out.tolist() == total.tolist()
