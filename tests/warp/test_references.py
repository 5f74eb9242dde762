"""`x: wp.ref[T]`: functions that change what the caller has, as generated code and in both interpreters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kbuild.warp import ref
from tests.helpers import kernels
from tests.helpers.both_ways import BothWays

HEAD = """
import kbuild.warp as wp
from typing import Any


@wp.struct
class Body:
    mass: float
    at: wp.transform
    spin: wp.mat33


@wp.func
def put(x: wp.ref[float], value: float):
    x = value


@wp.func
def bump(x: wp.ref[int]) -> int:
    before = x
    x += 1
    return before


@wp.func
def swap(a: wp.ref[Any], b: wp.ref[Any]):
    a, b = b, a


@wp.func
def next(i: wp.array[int]) -> int:
    i[0] = i[0] + 1
    return i[0]


@wp.func
def first_only(x: wp.ref[int], is_first: bool):
    if is_first:
        x = 7
        return


@wp.func
def twice(x: wp.ref[int]) -> tuple[int, int]:
    a = bump(x)
    return a, bump(x)


"""


def run(tmp_path: Path, body: str, dim: int = 1, count: int = 8, kind: object = np.float32) -> list[float]:
    dtype = {np.float32: "float", np.int32: "int"}[kind]  # type: ignore[index]
    text = f"{HEAD}@wp.kernel\ndef k(out: wp.array[{dtype}], n: wp.array[int]):\n    i = wp.tid()\n"
    out, n = np.arange(10, 10 + count, dtype=kind), np.zeros(4, np.int32)  # type: ignore[call-overload]
    BothWays(tmp_path, text + "".join(f"    {line}\n" for line in body.splitlines()))(dim, out, n)
    return [*out.tolist()]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("x = 1.0\nput(x, 5.0)\nout[0] = x", [5]),
        ("put(out[1], 5.0)", [10, 5]),
        ("put(out[-1], 5.0)", [10, 11, 12, 13, 14, 15, 16, 5]),
        ("v = wp.vec3(1.0, 2.0, 3.0)\nput(v[i + 1], 5.0)\nout[0] = v[0]\nout[1] = v.y", [1, 5]),
        ("b = Body()\nput(b.at.p.y, 5.0)\nput(b.spin[1, -1], 6.0)\nout[0] = b.at.p[1]\nout[1] = b.spin[1, 2]", [5, 6]),
        ("x = 1.0\ny = 2.0\nswap(x, y)\nout[0] = x\nout[1] = y", [2, 1]),
        ("v = wp.vec2(1.0, 2.0)\nswap(v[0], v.y)\nout[0] = v[0]\nout[1] = v[1]", [2, 1]),
        ("swap(out[i], out[i])", [10]),
        ("swap(out[0], out[n[0] + 1])", [11, 10]),
        ("x = 3.0\nswap(out[0], x)\nout[1] = x", [3, 10]),
        ("put(value=4.0, x=out[next(n)])", [10, 4]),
        ("swap(out[next(n)], out[next(n)])", [10, 12, 11]),
    ],
)
def test_places(tmp_path: Path, body: str, wanted: list[float]) -> None:
    assert run(tmp_path, body)[: len(wanted)] == wanted


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("x = 5\nout[0] = x + 100 * bump(x)\nout[1] = x", [505, 6]),
        ("x = 5\nx = bump(x)\nout[0] = x", [5]),
        ("out[0] = bump(out[0]) * 2", [20]),
        ("x = 5\na, b = twice(x)\nout[0] = a\nout[1] = b\nout[2] = x", [5, 6, 7]),
        ("k = 0\nout[bump(k)] = bump(k)\nout[2] = k", [10, 0, 2]),
        ("if bump(out[0]) == 10 and bump(out[0]) == 10:\n    out[1] = 0", [12, 11]),
        ("k = 0\nwhile bump(k) < 4:\n    out[1] += k\nout[0] = k", [5, 21]),
    ],
)
def test_values_beside(tmp_path: Path, body: str, wanted: list[float]) -> None:
    assert run(tmp_path, body, kind=np.int32)[: len(wanted)] == wanted


def test_what_a_function_does_not_change_is_not_written(tmp_path: Path) -> None:
    """Else a thread would put back what it saw before another one came."""
    assert run(tmp_path, "first_only(out[0], i == 0)", dim=40, kind=np.int32)[0] == 7


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("put(1.0, 2.0)", "put changes this argument: it must be a place, not the number 1.0"),
        ("put(out[0] + 1.0, 2.0)", "it must be a place, not float32"),
        ("put(Body().mass, 2.0)", "it must be a place, not float32"),
        ("put(n[0], 2.0)", "argument 'x' of refused:put must be a place of float32, not of int32"),
        ("put(out, 2.0)", "argument 'x' of refused:put must be a place of float32, not of array1[float32]"),
        ("for j in range(3):\n    bump(j)", "bump changes this argument, and 'j' is the variable of a loop"),
        ("x = 1.0\nswap(x, x)", "two arguments that refused:swap changes may be the same part of 'x'"),
        ("v = wp.vec3()\nswap(v[i], v[0])", "may be the same part of 'v'"),
        ("x = (out[0],)\nput(*x)", "put changes arguments: they cannot be passed with a star"),
        ("x = 2\nbump(x)\nout[wp.static(x)] = 1.0", "static() cannot see 'x': refused:bump changes it"),
    ],
)
def test_refusals(tmp_path: Path, body: str, message: str) -> None:
    text = f"{HEAD}@wp.kernel\ndef k(out: wp.array[float], n: wp.array[int]):\n    i = wp.tid()\n"
    text += "".join(f"    {line}\n" for line in body.splitlines())
    found = refused(tmp_path, text)
    assert any(message in one for one in found), found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@wp.kernel\ndef k(x: wp.ref[float]):\n    x = 1.0", "k is a kernel: it has no caller"),
        (
            "import kbuild as kb\n@kb.func\ndef f(x: wp.ref[float]):\n    x = 1.0\n"
            "@kb.kernel\ndef k(a: wp.array[float]):\n    f(a[0])",
            "f is not declared with wp.func",
        ),
        (
            "@wp.func\ndef f(x: wp.ref[int]):\n    for x in range(3):\n        pass\n"
            "@wp.kernel\ndef k(a: wp.array[int]):\n    f(a[0])",
            "'x' stands for a place of the caller's, and cannot count trips",
        ),
    ],
)
def test_refused_declarations(tmp_path: Path, text: str, message: str) -> None:
    assert any(message in one for one in refused(tmp_path, f"import kbuild.warp as wp\n{text}\n"))


def refused(folder: Path, text: str) -> list[str]:
    path = folder / "refused.py"
    path.write_text(text, encoding="utf-8")
    _, declared = kernels.load(path, "refused")
    return [one.message for one in kernels.diagnose(declared)[1]]


def test_the_annotation() -> None:
    assert (ref[float], hash(ref[float])) == (ref[float], hash(ref[float]))
    assert ref[float] != ref[int]
    assert ref[float].value_type is float
    assert (repr(ref[float]), repr(ref)) == ("wp.ref[float]", "wp.ref")
