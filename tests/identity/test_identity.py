"""Which instance of a kernel a function is: paths, exact values, what cannot be encoded."""

from __future__ import annotations

import enum
import math
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kbuild as kb
from kbuild.loader import identity
from kbuild.loader.identity import CaptureError, describe, digest, encode, evaluate

SCALE = 0.5
cfg = SimpleNamespace(flag=True, inner=SimpleNamespace(count=3))


class Color(enum.Enum):
    RED = 1
    GREEN = 2


class Number(enum.IntEnum):
    ONE = 1


class Other(enum.IntEnum):
    ONE = 1


@kb.struct
class Spring:
    rest: float
    ends: kb.vec2


@kb.func
def helper(x: float, factor: float = 2.0, *, offset: float = 0.25):
    return x * factor * SCALE + offset


def make(block: Any, also: Any = None) -> Any:
    @kb.kernel
    def kernel(a: kb.array(dtype=float), default: int = 7):
        a[0] = helper(float(block)) + SCALE + float(cfg.inner.count) + float(also)

    return kernel


def test_paths_lead_to_values() -> None:
    function = make(16).function
    plan = [
        "global:SCALE",
        "closure:block",
        "default:default",
        "global:cfg.inner.count",
        "global:helper/global:SCALE",
        "global:helper/default:factor",
        "global:helper/default:offset",
    ]
    assert evaluate(function, plan) == [0.5, 16, 7, 3, 0.5, 2.0, 0.25]
    assert identity.identity(function, plan) == digest(plan, evaluate(function, plan))
    assert len(identity.identity(function, [])) == 64


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("global:MISSING", "kernel has no such name now"),
        ("closure:missing", "has no such name now"),
        ("default:missing", "has no such name now"),
        ("global:cfg.missing", "has no attribute 'missing'"),
        ("local:x", "unknown kind of path"),
    ],
)
def test_paths_that_lead_nowhere(path: str, reason: str) -> None:
    with pytest.raises(CaptureError, match=reason) as caught:
        evaluate(make(1).function, [path])
    assert str(caught.value).startswith(path)


@pytest.mark.parametrize(
    "path",
    [
        "global:SCALE/global:SCALE",
        "global:helper/global:missing",
        "global:helper/closure:x",
        "global:helper/global:pytest",
    ],
)
def test_inside_a_function_nothing_is_a_value_too(path: str) -> None:
    """Instances share a plan, and another instance's function may have the name. Nor need it be a value there."""
    assert evaluate(make(1).function, [path]) == [identity.MISSING]
    assert describe([identity.MISSING]) == ["missing"]
    assert encode(identity.MISSING) != encode(None)


def test_an_empty_cell() -> None:
    def outer() -> Any:
        def inner() -> Any:
            return later

        if inner is None:
            later = 1
        return inner

    with pytest.raises(CaptureError, match="closure:later"):
        evaluate(outer(), ["closure:later"])


DIFFERENT = [
    None, True, False, 1, 0, 2**70, -1, 1.0, 0.0, -0.0, 0.1, math.inf, math.nan, "1", "", "True",
    (), (1,), (1.0,), (1, 1), ((1,), 1), (True,),
    Color.RED, Color.GREEN, Number.ONE, Other.ONE,
    int, float, bool, kb.int32, kb.float32, kb.float64, kb.vec3, kb.vec3d, kb.mat33, Spring,
    kb.vec2(1.0, 2.0), kb.vec2(1.0, -2.0), kb.vec2d(1.0, 2.0), kb.vec2i(1, 2), kb.vec3(1.0, 2.0, 0.0),
    kb.mat22(1.0, 2.0, 3.0, 4.0), kb.mat22(1.0, 3.0, 2.0, 4.0),
    Spring(rest=1.0), Spring(rest=1.0, ends=kb.vec2(1.0, 0.0)), Spring(),
    helper, make(1), kb.sin, kb.cos, len, abs, range, object,
]  # fmt: skip


def test_different_values_are_encoded_differently() -> None:
    seen: dict[str, Any] = {}
    for value in DIFFERENT:
        text = repr(encode(value))
        assert text not in seen, (value, seen.get(text))
        seen[text] = value
        assert encode(value) == encode(value)
    assert len(seen) == len(DIFFERENT)


def test_type_names_of_python_and_of_kbuild_are_different_values_of_one_meaning() -> None:
    """`float` and `kb.float32` mean the same type; keeping them apart costs an instance, and is never wrong."""
    assert encode(float) != encode(kb.float32)


@pytest.mark.parametrize(
    "value", [object(), SimpleNamespace(), 1j, b"x", math.sin, SimpleNamespace, (1, [object()]), {"a": object()}]
)
def test_what_cannot_be_captured(value: Any) -> None:
    with pytest.raises(CaptureError, match="cannot be captured"):
        encode(value)
    with pytest.raises(CaptureError, match=r"closure:block: .* cannot be captured"):
        identity.identity(make(value).function, ["closure:block"])


_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
_VALUES = st.recursive(_LEAVES, lambda inner: st.lists(inner, max_size=3).map(tuple))


def _same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, float):
        return math.copysign(1.0, a) == math.copysign(1.0, b) and (a == b or (math.isnan(a) and math.isnan(b)))
    return bool(a == b)


@given(_VALUES, _VALUES)
def test_encoding_is_injective(a: Any, b: Any) -> None:
    plan = ["closure:block"]
    assert (digest(plan, [a]) == digest(plan, [b])) == _same(a, b)


def test_the_path_counts_too() -> None:
    assert digest(["global:A"], [1]) != digest(["global:B"], [1])
    assert digest(["global:A", "global:B"], [1, 2]) != digest(["global:A", "global:B"], [2, 1])


def test_description() -> None:
    values = [0.5, 1, True, Color.RED, helper, float, kb.vec3, "fast", (1, 2.0)]
    assert describe(values) == [
        "float 0.5",
        "int 1",
        "bool True",
        "enum Color.RED",
        f"function {helper.name}",
        "type float",
        "type vec3",
        "str 'fast'",
        "tuple (1, 2.0)",
    ]


def test_the_same_in_every_process(tmp_path: Path) -> None:
    program = (
        "import kbuild as kb\nfrom kbuild.loader.identity import digest\n"
        "print(digest(['a', 'b'], [('x', 1, -0.0, None, kb.vec3), kb.mat22(1.0, 2.0, 3.0, 4.0)]))"
    )
    root = str(Path(__file__).parents[2])
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": root},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "123")
    }
    assert len(found) == 1
