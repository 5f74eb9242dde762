"""Values in a file of instances, and the stand-in for a driver that recording uses where there is no GPU."""

from __future__ import annotations

import dataclasses
import enum
import json
import math
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kbuild as kb
from kbuild.loader import array as arrays
from kbuild.loader import context, copying, driver, foreign, hosts, recording, standin
from kbuild.loader.errors import DriverError
from kbuild.loader.identity import encode as identity_of


class Mode(enum.Enum):
    FAST = "f"


class Parts(enum.Flag):
    NONE = 0
    LEFT = 1
    RIGHT = 2
    TOP = 4
    BOTH = 3


class Size(NamedTuple):
    n: int
    scale: float


@dataclasses.dataclass(frozen=True)
class Options:
    flag: bool
    size: Size


@kb.struct
class Spring:
    rest: float


@kb.func
def twice(x: float):
    return x * 2.0


def plain(x: Any) -> Any:
    return x


VALUES = [
    None, True, 1, -(2**70), 0.5, -0.0, math.inf, "text", "\u00fc\n", (1, (2.0, "x")), [1, None], {"a": (1,)}, {1, 2},
    frozenset({3}), Mode.FAST, Parts.LEFT, Parts.LEFT | Parts.TOP, Parts.BOTH, Parts(0),
    Size(3, 0.5), Options(True, Size(1, 2.0)), float, int, bool, kb.float64, kb.vec3,
    kb.mat22, kb.quat, Spring, kb.int64(2**40), kb.float32(0.1), kb.vec3(1.0, 2.0, 3.0),
    kb.mat22(1.0, 2.0, 3.0, 4.0), kb.transform(), twice, plain, kb.sin,
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=[str(i) for i in range(len(VALUES))])
def test_values_come_back(value: Any) -> None:
    again = recording.decode(json.loads(json.dumps(recording.encode(value))))
    assert type(again) is type(value) or value in (float, int, bool)
    if value not in (float, int, bool):
        assert again == value
        assert repr(again) == repr(value)


_scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
_nested = st.recursive(
    _scalars, lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner)
)


@given(_nested)
def test_nested_values_come_back_exactly(value: Any) -> None:
    again = recording.decode(json.loads(json.dumps(recording.encode(value))))
    assert identity_of(again) == identity_of(value)


@pytest.mark.parametrize("value", [object(), lambda: 1, b"x", arrays, [1, {2: object()}], Size(1, object())])  # type: ignore[arg-type]
def test_what_has_no_form_is_refused(value: Any) -> None:
    with pytest.raises(recording.Unrecordable):
        recording.encode(value)


@pytest.mark.parametrize("data", [{"what": 1}, {"enum": "no.such.module:E", "name": "X"}, {"type": "vec0[float32]"}])
def test_what_is_no_value_is_refused(data: Any) -> None:
    with pytest.raises((ValueError, ImportError)):
        recording.decode(data)


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_driver", driver.Driver(standin.open()))
    monkeypatch.setattr(context, "_devices", None)


@pytest.mark.usefixtures("no_gpu")
def test_arrays_hold_what_was_written() -> None:
    (device,) = hosts.get_devices()
    assert (str(device), device.name, device.target) == ("cuda:0", "no GPU (recording)", "sm_90")
    a = arrays.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert a.ptr % 256 == 0
    assert a.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    b = arrays.zeros((2, 3), float)
    assert b.tolist() == [[0.0] * 3] * 2
    copying.copy(b, a)
    assert b.tolist() == a.tolist()
    column = arrays.array(ptr=a.ptr + 4, shape=(2,), strides=(12,), dtype=float, owner=a)
    assert column.tolist() == [2.0, 5.0]
    column.assign([7.0, 8.0])
    assert a.tolist() == [[1.0, 7.0, 3.0], [4.0, 8.0, 6.0]]
    assert foreign.asarray(a) is a
    assert arrays.full(3, kb.vec2(1.0, 2.0)).tolist() == [kb.vec2(1.0, 2.0)] * 3
    context.synchronize()
    with pytest.raises(DriverError, match="address 0x8: cuPointerGetAttribute failed"):
        arrays.array(ptr=8, shape=(1,), dtype=float)
    del a, b, column
