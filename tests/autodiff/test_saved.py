"""What adjoint kernels save: how much, where nothing need be, and what happens where there is no room for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kbuild.autodiff import adjoint
from tests.helpers import kernels
from tests.helpers.gradients import Backward, Launched, adjoints_for, forward

PRODUCT = """
    @kb.kernel
    def k(x: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64), n: kb.array(dtype=int)):
        t = kb.tid()
        s = kb.float64(1.0)
        for i in range(n[t]):
            s *= x[i]
        out[t] = s
"""
# Kernels of one thread over `n` elements of `x`, and the words that they save at most, for n = 32.
LOOPS = {
    "a product": (32, "s *= x[i]"),
    "a sum": (0, "s += x[i]"),
    "a sum of squares": (0, "s += x[i] * x[i]"),
    "a sum with continue": (0, "if x[i] < 0.0:\n    continue\ns += kb.exp(-x[i])"),
    "the largest": (32, "if x[i] <= s:\n    continue\ns = x[i] * x[i]"),
    "a differential equation": (64, "v = kb.sin(s) * x[0]\ns = s + 0.1 * v"),
    "components": (64, "w[0] = w[0] + x[i]\nw[1] = w[1] * w[0]"),
    "an element": (32, "out[0] *= x[i]"),
    "an element added to": (0, "out[0] += x[i]"),
}


def launched(folder: Path, text: str, dim: int, **arguments: Any) -> Launched:
    (kernel,) = kernels.lower_text(folder, text)
    launch = Launched(kernel, (dim,), [arguments[p.name] for p in kernel.function.parameters])
    forward([launch])
    return launch


def backward(launch: Launched) -> Backward:
    adjoints = adjoints_for([launch], 1.0)
    return Backward(launch, adjoint(launch.kernel), adjoints, np.random.default_rng(0))


@pytest.mark.parametrize("name", LOOPS)
def test_words_saved_in_a_loop(tmp_path: Path, name: str) -> None:
    most, body = LOOPS[name]
    lines = "\n".join("                " + line for line in body.splitlines())
    text = f"""
        @kb.kernel
        def k(x: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64), n: int):
            s = kb.float64(1.0)
            w = kb.vec2d(1.0, 1.0)
            for i in range(n):
{lines}
            out[0] = s * w[1] * out[0]
    """
    x = np.random.default_rng(0).uniform(0.5, 1.5, 32)
    words = backward(launched(tmp_path, text, 1, x=x, out=np.ones(1), n=32)).run()
    assert sum(words.values()) <= most + 3, words


@pytest.mark.parametrize(
    "body",
    [
        "out[t] = kb.sin(x[t]) * x[t + 1]",
        "out[t] *= x[t]",
        "x[t] = x[t] + 0.1 * out[t]",
        "r = x[t] - x[t + 1]\n            out[t] = r / kb.sqrt(r * r + 1.0)",
        "kb.atomic_add(out, 0, x[t] * x[t])",
    ],
)
def test_nothing_is_saved_without_a_loop(tmp_path: Path, body: str) -> None:
    text = f"""
        @kb.kernel
        def k(x: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64)):
            t = kb.tid()
            {body}
    """
    (kernel,) = kernels.lower_text(tmp_path, text)
    assert not any(number is None or number > 0 for number in adjoint(kernel).saved.values())


def test_counting_gives_the_largest_number_and_what_is_saved_fits(tmp_path: Path) -> None:
    launch = launched(
        tmp_path, PRODUCT, 4, x=np.array([2.0, 3, 5]), out=np.zeros(4), n=np.array([1, 3, 0, 2], np.int32)
    )
    assert sum(backward(launch).run().values()) == 3


def test_a_thread_without_room_says_so_and_propagates_nothing(tmp_path: Path) -> None:
    launch = launched(
        tmp_path, PRODUCT, 4, x=np.array([2.0, 3, 5]), out=np.zeros(4), n=np.array([1, 3, 0, 2], np.int32)
    )
    reverse = backward(launch)
    reverse.bound = reverse.bindings()
    words = np.zeros(1, np.int32)
    reverse.start([2], words, counting=False)
    assert words.tolist() == [3]
    arrays = launch.arrays()
    x, out = (reverse.adjoints[id(arrays[name])] for name in ("x", "out"))
    assert x.tolist() == [1 + 1 + 3, 1 + 2, 1]  # of threads 0 and 3
    assert out.tolist() == [0, 1, 0, 0]  # thread 1 has left its own as it was


@pytest.mark.parametrize("missing", [{"x"}, {"out"}, {"x", "out"}, {"y"}])
def test_adjoints_that_nobody_wants(tmp_path: Path, missing: set[str]) -> None:
    text = """
        @kb.kernel
        def k(x: kb.array(dtype=kb.float64), y: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64)):
            t = kb.tid()
            out[t] = x[t] * y[t]
            kb.atomic_add(out, t, y[t] * y[t])
    """
    launch = launched(tmp_path, text, 2, x=np.array([2.0, 3]), y=np.array([5.0, 7]), out=np.zeros(2))
    reverse = backward(launch)
    arrays = launch.arrays()
    reverse.adjoints = {id(array): np.ones(2) for name, array in arrays.items() if name not in missing}
    reverse.run()
    found = {name: reverse.adjoints[id(array)].tolist() for name, array in arrays.items() if name not in missing}
    expected = {"x": [1 + 5.0, 1 + 7.0], "y": [1 + 2 + 10.0, 1 + 3 + 14.0], "out": [0.0, 0.0]}
    if "out" in missing:
        expected |= {"x": [1.0, 1.0], "y": [1.0, 1.0]}
    assert found == {name: values for name, values in expected.items() if name not in missing}
