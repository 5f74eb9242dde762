"""The processor's fused multiply-add against the one that is computed by passes, for all kinds of operands."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbuild.ir.types import FLOAT16, FLOAT32, FLOAT64, Scalar
from kbuild.sim import fused, hardware
from kbuild.sim.arithmetic import dtype_of
from kbuild.sim.hardware import MINUS_C, MINUS_PRODUCT

has_instruction = pytest.mark.skipif(
    not hardware._has_instruction(), reason="the processor has no such instruction, or another one's machine code"
)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def lanes(type: Scalar, count: int, kind: str, random: np.random.Generator) -> np.ndarray:
    """Bits at random, or numbers of few bits, so that middles are met; beside others, or one for all lanes."""
    count = 1 if kind == "uniform" else count
    dtype = dtype_of(type)
    if random.integers(2):
        found = np.frombuffer(random.bytes(count * type.size), dtype)
    else:
        found = (random.integers(-(1 << 14), 1 << 14, count) * 2.0 ** random.integers(-40, 40, count)).astype(dtype)
    if kind == "every third":
        return np.repeat(found, 3)[::3]
    if kind == "backwards":
        return found[::-1]
    if kind == "anywhere":
        return np.frombuffer(b"\0" + found.tobytes(), np.uint8)[1:].view(dtype)
    return found[0] if kind == "uniform" else found


KINDS = st.sampled_from(["side by side", "every third", "backwards", "anywhere", "uniform"])


@has_instruction
@given(
    st.sampled_from([FLOAT32, FLOAT64]),
    st.integers(0, 70),
    st.tuples(KINDS, KINDS, KINDS),
    st.integers(0, 1 << 32),
    st.sampled_from([(0, 1, 1), (MINUS_C, 1, -1), (MINUS_PRODUCT, -1, 1), (MINUS_PRODUCT + MINUS_C, -1, -1)]),
)
def test_it_gives_what_the_passes_give(
    type: Scalar, count: int, kinds: tuple[str, ...], seed: int, signs: tuple[int, int, int]
) -> None:
    random = np.random.default_rng(seed)
    operands = [lanes(type, count, kind, random) for kind in kinds]
    if all(one.ndim == 0 for one in operands):
        operands[0] = np.full(count, operands[0])
    before = [one.tobytes() for one in operands]
    with np.errstate(all="ignore"):
        found = hardware.fma(*operands, signs[0])
        a, b, c = operands
        expected = fused.by_passes(a if signs[1] > 0 else -a, b, c if signs[2] > 0 else -c, type)
    assert found is not None
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    for a, b in zip(found, expected, strict=True):
        assert a.tobytes() == b.tobytes() or (np.isnan(a) and np.isnan(b))
    assert before == [one.tobytes() for one in operands]


def test_what_it_has_no_way_for() -> None:
    half, single, double = (np.ones(16, dtype_of(type)) for type in (FLOAT16, FLOAT32, FLOAT64))
    swapped = single.astype(single.dtype.newbyteorder())
    whole = np.ones(16, np.int32)
    for one in (half, swapped, whole, np.ones((4, 4), np.float32)):
        assert hardware.fma(one, one, one) is None
    for a, b, c in ((single, double, single), (single, single, whole), (single, single[:8], single)):
        assert hardware.fma(a, b, c) is None


@pytest.mark.parametrize("what", ["no instruction", "no memory"])
def test_without_it(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("no memory that may be executed")

    if what == "no instruction":
        monkeypatch.setattr(hardware, "_has_instruction", lambda: False)
    else:
        monkeypatch.setattr(hardware.mmap, "mmap", refuse)
    hardware._routine.cache_clear()
    try:
        a = np.linspace(0.1, 0.9, 100, dtype=np.float32)
        assert hardware.fma(a, a, a) is None
        found = fused.fma(a, a, a, FLOAT32)
    finally:
        hardware._routine.cache_clear()
    np.testing.assert_array_equal(found, fused.fma(a, a, a, FLOAT32))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no assembler")
@has_instruction
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("name", "signs"),
    [("fmadd", 0), ("fmsub", MINUS_C), ("fnmadd", MINUS_PRODUCT), ("fnmsub", MINUS_PRODUCT + MINUS_C)],
)
def test_the_table_is_what_an_assembler_makes(tmp_path: Path, dtype: type, name: str, signs: int) -> None:
    instruction = f"v{name}213p{'s' if dtype is np.float32 else 'd'} ymm0, ymm1, [rcx]"
    lines = [text if line else instruction for line, text in hardware._CODE]
    (tmp_path / "fma.s").write_text(".intel_syntax noprefix\n" + "\n".join(lines) + "\n")
    subprocess.run(["gcc", "-c", "fma.s", "-o", "fma.o"], cwd=tmp_path, check=True)
    subprocess.run(["objcopy", "-O", "binary", "-j", ".text", "fma.o", "fma.bin"], cwd=tmp_path, check=True)
    assert (tmp_path / "fma.bin").read_bytes() == hardware._code(np.dtype(dtype), signs)
