"""docs/reference.md is what the compiler knows of its language; `python -m tools.reference` writes it again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kbuild as kb
from kbuild.loader.builtins import TABLE
from tests.helpers import golden, kernels
from tools import reference

# One of everything that the table of constructs promises.
CONSTRUCTS = """
import enum
from typing import Any

class Axis(enum.IntEnum):
    X = 0

SCALE = 2.0
PAIR = (1.0, 2)

@kb.struct
class Body:
    x: float
    v: kb.vec3

@kb.func
def halved(x: Any):
    return x / 2.0, x

@kb.func
def again(x: float):
    return x

@kb.func
def again(x: int):
    return float(x)

@kb.kernel
def generic(a: kb.array(dtype=Any)):
    a[0] = a[1]

kb.overload(generic, {"a": kb.array(dtype=float)})

@kb.kernel(fmad=False, block_dim=128, asserts=True)
def one(a: kb.array(dtype=float), b: kb.array2d[kb.vec3], n: int, m: kb.mat33, t: kb.transform, k: kb.array(dtype=int)):
    body = Body()
    body = Body(1.0, b[0, 0])
    body = Body(x=a[0])
    total: float = 0.0
    for i in range(1, n, 2):
        if i == 4:
            continue
        elif i > 6:
            break
        else:
            total += SCALE
    while total > 1.0 and not n == 3 or n < 2:
        total, rest = halved(again(total) + again(n))
    row = b[1]
    v = row[2]
    v.x = v[1]
    v[0:2] = v[1:3]
    m[0, 1] = v[Axis.X]
    m[1] = v
    a[len(a) - 1] += total if 0 <= n < 3 else PAIR[0]
    a[1] -= 1.0
    k[0] &= 3
    k[1] |= k[2] >> 1 ^ ~k[3] << 2
    if b:
        a[-1] = a.dtype(2)
    assert total >= 0.0, "total"
    f = kb.static(halved)
    vec = kb.types.vector(3, float)
    w = vec(*kb.vec2(1.0), 1.0)
    total, rest = f(w[0])
    a[5], a[6] = halved(max(*a[0:4:3]))
    a[7], a[8] = a[0:2]
    print(total, w)
    a[2] = abs(min(max(a[0], 1.0), 2.0)) ** 2.0 // 3.0 % pow(a[0], 2.0)
    v = kb.quat_rotate(t.q, t.p) + m @ v
    a[3] = float(k.shape[0] * kb.static(3 * 2)) + type(a[0])(n) + body.x
    if n > 3:
        return
    a[4] = float(kb.float64(total) * 0.1)
"""


def test_the_page_is_what_the_compiler_knows(pytestconfig: pytest.Config) -> None:
    golden.check(reference.PAGE, reference.page(), pytestconfig)


def test_every_function_and_type_is_on_it() -> None:
    text = reference.page()
    assert [name for name in TABLE if f"`{name}(" not in text] == []
    names = {
        name for name in dir(kb) if isinstance(getattr(kb, name), type) and hasattr(getattr(kb, name), "_kb_type_")
    }
    assert {"vec3d", "quat", "float16", "spatial_matrix"} <= names
    assert [name for name in names if f"`{name}`" not in text] == []


def test_rows_have_the_columns_of_their_table() -> None:
    rows = [re.sub(r"\\\|", "", line) for line in reference.page().splitlines() if line.startswith("| `")]
    functions = [row for row in rows if "->" in row]
    assert len(functions) >= len(TABLE)
    assert {row.count(" |") for row in functions} == {7}


def test_the_constructs_are_those_of_the_language(tmp_path: Path) -> None:
    assert len(kernels.lower_text(tmp_path, CONSTRUCTS)) == 2


def test_measured_errors_are_shown() -> None:
    (row, *_) = reference._lines([reference.catalogue.entry("sin")], {"sin": {"float32": {"ulps": 1.5}}})
    assert row.endswith("| 1.5 / - | yes |\n")
    (row, *_) = reference._lines([reference.catalogue.entry("cos")], {"sin": {"float32": {"ulps": 1.5}}})
    assert row.endswith("| - | yes |\n")
