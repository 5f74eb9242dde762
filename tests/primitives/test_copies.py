"""Copies by a kernel: views of every kind against NumPy, as C on this machine and in the simulator."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbuild.loader import abi, context
from kbuild.loader.interface import View
from kbuild.primitives import copies
from tests.helpers.whole_arrays import Compiled, Machine, Simulated, on_this_machine

ELEMENTS: dict[int, abi.Type] = {
    1: abi.SCALARS["uint8"],
    2: abi.SCALARS["uint16"],
    4: abi.SCALARS["float32"],
    8: abi.SCALARS["int64"],
    12: abi.parse("vec3[float32]", {}),
    64: abi.parse("mat4x4[float32]", {}),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture
def machine(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    monkeypatch.setattr(copies, "ready", lambda kernel, device: kernel.target)
    with on_this_machine(Compiled(folder)) as found:
        yield found


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    monkeypatch.setattr(copies, "ready", lambda kernel, device: kernel.target)
    with on_this_machine(Simulated()) as found:
        yield found


def block(shape: tuple[int, ...], size: int, start: int = 0) -> np.ndarray:
    """Elements of `size` bytes, each another one; `start` bytes after an address that any word can have."""
    count = math.prod(shape)
    memory = np.zeros(count * size + start + 8, np.uint8)
    first = -memory.ctypes.data % 8 + start if memory.ctypes.data % 8 else start
    made = memory[first : first + count * size]
    made[:] = np.random.default_rng(count + size).integers(0, 256, count * size)
    return made.view(f"V{size}").reshape(shape)


def view_of(data: np.ndarray) -> View:
    return View(data.ctypes.data, data.shape, data.strides, ELEMENTS[data.dtype.itemsize])


def copied(to: np.ndarray, source: np.ndarray, whole: np.ndarray) -> bool:
    """Copies by the kernel, and compares all of the memory that `to` is a part of with what NumPy makes of it."""
    before = whole.copy()
    done = copies.copy(view_of(to), view_of(source), context.get_device(), 0)
    found = whole.copy()
    whole[...] = before
    to[...] = source
    assert (found if done else before).tobytes() == (whole if done else before).tobytes()
    return done


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("size", ELEMENTS)
@pytest.mark.parametrize("shape", [(70, 37), (33, 64), (8, 8), (3, 50), (1, 5), (50, 1)])
def test_transposed(size: int, shape: tuple[int, int]) -> None:
    source, out = block(shape, size).T, block(shape[::-1], size)
    assert copied(out, source, out)
    wide = block((shape[0], 2 * shape[1]), size)
    assert copied(out.T, wide[:, ::2], out)


@pytest.mark.usefixtures("machine")
def test_squares_of_several_matrices() -> None:
    source = block((3, 2, 40, 35), 4)
    out = block((3, 2, 35, 40), 4)
    assert copied(out, source.transpose(0, 1, 3, 2), out)
    assert copied(out.transpose(1, 0, 3, 2), source.transpose(1, 0, 2, 3), out)
    turned = block((35, 2, 3, 40), 4)
    assert copied(turned.transpose(3, 1, 2, 0)[::-1], source.transpose(2, 1, 0, 3), turned)


SLICES = st.sampled_from([slice(None), slice(None, None, 2), slice(None, None, -1), slice(1, None), slice(1, None, -3)])


@st.composite
def cases(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two views of one shape, and the memory of the first: axes turned, reversed, with gaps, odd addresses."""
    size = draw(st.sampled_from(list(ELEMENTS)))
    ndim = draw(st.integers(1, 4))
    shape = draw(st.lists(st.sampled_from([1, 2, 3, 5, 9]), min_size=ndim, max_size=ndim))
    shape[draw(st.integers(0, ndim - 1))] = draw(st.sampled_from([1, 17, 40]))
    sides = []
    for _ in range(2):
        order = draw(st.permutations(range(ndim)))
        steps = draw(st.lists(st.sampled_from([1, 1, 2, 3, -1, -2]), min_size=ndim, max_size=ndim))
        align = size & -size
        whole = block(
            tuple(shape[axis] * abs(steps[axis]) + 1 for axis in order),
            size,
            align * draw(st.integers(0, 3)) if align < 8 else 0,
        )
        view = whole.transpose([order.index(axis) for axis in range(ndim)])
        for axis, step in enumerate(steps):
            index: list[Any] = [slice(None)] * ndim
            index[axis] = slice(None, None, step)
            view = view[tuple(index)]
        sides.append((view[tuple(slice(n) for n in shape)], whole))
    return sides[0][0], sides[1][0], sides[0][1]


@pytest.mark.usefixtures("machine")
@given(cases())
@settings(max_examples=150, deadline=None)
def test_any(case: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    copied(*case)


@pytest.mark.usefixtures("machine")
def test_few_axes_too_many() -> None:
    """Three words of four axes: a launch for each place along the shortest axis; none where those are many."""
    assert copied(
        block((4, 3, 5, 6), 12)[::-1, ::2, ::2, ::2], block((4, 4, 6, 6), 12)[:, ::2, ::2, ::2], block((1,), 1)
    )
    out, source = block((34, 34, 34, 34), 12), block((34, 34, 34, 34), 12)
    assert not copied(out[::2, ::2, ::2, ::2], source[::2, ::2, ::2, ::2], out)


def test_repeated_elements(machine: Machine) -> None:
    source = np.broadcast_to(block((1, 40), 4), (30, 40))
    out = block((40, 30), 4)
    assert copied(out.T, source, out)
    assert copied(out, np.broadcast_to(block((1, 1), 4), (40, 30)), out)
    assert set(machine.launched) == {"copy_words"}


def plan(shape: tuple[int, ...], to: tuple[int, ...], source: tuple[int, ...], size: int = 4) -> Any:
    made = copies.Plan(View(0x1000, shape, to, ELEMENTS[size]), View(0x2000, shape, source, ELEMENTS[size]))
    return made.word, made.turned, [axis for axis in made.axes if axis[0] > 1]


def test_how_memory_is_walked() -> None:
    assert plan((2048, 2048), (8192, 4), (4, 8192)) == (4, True, [(2048, 8192, 4), (2048, 4, 8192)])
    assert plan((2048, 2048), (4, 8192), (8192, 4)) == (4, True, [(2048, 8192, 4), (2048, 4, 8192)])
    assert plan((4096, 2048), (8192, 4), (16384, 8)) == (4, False, [(4096 * 2048, 4, 8)])
    assert plan((10, 64), (100, 1), (200, 1), 1) == (4, False, [(10, 100, 200), (16, 4, 4)])
    assert plan((10, 64), (104, 1), (200, 1), 1) == (8, False, [(10, 104, 200), (8, 8, 8)])
    assert plan((5, 5), (-20, -4), (4, 20)) == (4, False, [(5, 20, -4), (5, 4, -20)])  # small
    assert plan((64, 64), (64 * 64, 64), (4, 256)) == (4, False, [(64, 64, 256), (64, 4096, 4)])  # written far apart
    assert plan((9, 9), (108, 12), (12, 108), 12)[:2] == (4, False)  # three words are side by side


def test_what_kernels_cannot_address() -> None:
    far = copies.Plan(View(0, (2, 2), (2**31, 4), ELEMENTS[4]), View(0, (2, 2), (8, 2**20), ELEMENTS[4]))
    assert not far.fits
    assert not copies.Plan(View(0, (2**31 - 1,), (4,), ELEMENTS[4]), View(0, (2**31 - 1,), (8,), ELEMENTS[4])).fits


def test_in_the_simulator(simulated: Machine) -> None:
    out = block((40, 35), 4)
    assert copied(out, block((35, 40), 4).T, out)
    assert copied(out[::2], block((20, 70), 4)[:, ::2], out)
    assert simulated.launched == ["turn_words", "copy_words"]
