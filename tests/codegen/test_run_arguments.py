"""Functions and tuples as arguments, and what of vectors goes element by element: as the GPU would run them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kbuild.errors import CompileError
from tests.helpers import kernels
from tests.helpers.both_ways import BothWays

PROGRAM = """
from typing import Any

from kbuild.loader.types import Function


@kb.func
def double(x: float):
    return 2.0 * x


@kb.func
def triple(x: float):
    return 3.0 * x


@kb.func
def apply(g: Function, x: float):
    return g(x)


@kb.func
def apply_default(x: float, g: Function = triple):
    h = g
    return apply(h, x)


@kb.func
def weighted(pair: tuple[kb.vec2, float]):
    return (pair[0].x + pair[0].y) * pair[1] * float(kb.static(len(pair)))


@kb.func
def total(values: tuple[int, ...]):
    result = int(0)
    for i in range(len(values)):
        result += values[i] * (i + 1)
    return result


@kb.func
def any_total(values: Any):
    result = int(0)
    for i in range(kb.static(len(values))):
        result += values[i]
    return result


@kb.func
def better(a: Any, b: Any):
    return a + b


@kb.func
def better(a: float, b: float):
    return a * b


@kb.func
def better(a: Any, b: Any):
    return a - b


@kb.kernel
def program(out: kb.array2d(dtype=float), whole: kb.array2d(dtype=int)):
    i = kb.tid()
    x = float(i + 1)
    out[i, 0] = apply(double, x) + apply(triple, x)
    out[i, 1] = apply(kb.sqrt, x) + apply_default(x) + apply_default(g=double, x=x)
    out[i, 2] = weighted((kb.vec2(x, 1.0), 0.5))
    pair = (kb.vec2(1.0, 2.0), x)
    out[i, 3] = weighted(pair)
    out[i, 4] = float(total((i, 2, 3)) + total((i,)) + any_total((i, i, 1)))
    out[i, 5] = better(x, 10.0)
    v = 12.0 / kb.vec3(x, 2.0, 4.0) + kb.vec3(7.0, 8.0, 9.5) % kb.vec3(4.0)
    out[i, 6] = v.x
    out[i, 7] = v.y + v.z
    w = (kb.vec2i(i, 7) << kb.vec2i(1, 2)) | kb.vec2i(1, 1)
    whole[i, 0] = w.x
    whole[i, 1] = w.y
    u = ~kb.vec2i(i, 5) & kb.vec2i(255, 6)
    whole[i, 2] = u.x
    whole[i, 3] = u.y
    whole[i, 4] = better(i, 3)
    flags = kb.vector(i == 1, True, False)
    whole[i, 5] = int(flags[0]) + 2 * int(flags[1]) + 4 * int(flags == kb.vector(True, True, False))
    kb.tid()
"""


def test_arguments(tmp_path: Path) -> None:
    out, whole = np.zeros((3, 8), np.float32), np.zeros((3, 6), np.int32)
    BothWays(tmp_path, PROGRAM)(3, out, whole)
    for i in range(3):
        x = i + 1.0
        wanted = [5.0 * x, x**0.5 + 3.0 * x + 2.0 * x, x + 1.0, 3.0 * x * 2.0, float(i + 13 + i + 2 * i + 1), 10.0 * x]
        wanted += [12.0 / x + 3.0, 6.0 + 3.0 + 1.5]
        assert out[i].tolist() == pytest.approx(wanted)
        bits = [i * 2 | 1, 29, ~i & 255, ~5 & 6, i - 3, (7 if i == 1 else 2)]
        assert whole[i].tolist() == bits


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("apply(1.0, 2.0)", "takes a function of the kernel language, not the number 1.0"),
        ("weighted(1.0)", "takes a tuple, not the number 1.0"),
        ("weighted((1.0, 2.0, 3.0))", "has 2 items, not 3"),
        ("weighted((1, 2.0))", "must be vec2"),
    ],
)
def test_wrong_arguments(tmp_path: Path, call: str, message: str) -> None:
    text = PROGRAM.partition("@kb.kernel")[0]
    text += f"@kb.kernel\ndef wrong(out: kb.array(dtype=float)):\n    out[0] = {call}\n"
    with pytest.raises(CompileError, match=message):
        kernels.lower_text(tmp_path, text)


def test_kernels_take_neither(tmp_path: Path) -> None:
    text = """
        from kbuild.loader.types import Function

        @kb.kernel
        def wrong(g: Function, pair: tuple[int, int]):
            pass
    """
    with pytest.raises(CompileError, match=r"'g' asks for a function(.|\n)*'pair' is a tuple"):
        kernels.lower_text(tmp_path, text)
