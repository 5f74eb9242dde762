"""Tables of constants on the host: what makes one, its type and shape, how it is read, and what is refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import kbuild as kb
from kbuild.loader import identity
from kbuild.loader.constants import Constant

HALF = kb.float16


@pytest.mark.parametrize(
    ("given", "spelled", "shape"),
    [
        ([1, 2, 3], "int32", (3,)),
        ((1, 2.5), "float32", (2,)),
        ([0.5, 2], "float32", (2,)),
        ([True, False], "bool", (2,)),
        ([[1.0], [2.0]], "float32", (2, 1)),
        ([[[[1]]]], "int32", (1, 1, 1, 1)),
        ([kb.float64(1.0), kb.float64(2.0)], "float64", (2,)),
        ([kb.vec3(1.0, 2.0, 3.0)], "vec3[float32]", (1,)),
        ([[kb.mat22(1.0, 2.0, 3.0, 4.0)] * 3] * 2, "mat2x2[float32]", (2, 3)),
        (np.zeros((2, 5), np.int16), "int16", (2, 5)),
        (np.zeros(4, ">f8"), "float64", (4,)),
        (np.zeros(3, np.float16), "float16", (3,)),
        (np.array([True]), "bool", (1,)),
        ([np.float32(1.5), np.float32(2.5)], "float32", (2,)),
        ([np.zeros(3), np.ones(3)], "float32", (2, 3)),
    ],
)
def test_type_and_shape(given: Any, spelled: str, shape: tuple[int, ...]) -> None:
    table = kb.constant(given)
    assert (table.type.spelling, table.shape, table.ndim) == (spelled, shape, len(shape))
    assert table.nbytes == table.type.size * int(np.prod(shape))


@pytest.mark.parametrize(
    ("given", "dtype", "spelled", "shape"),
    [
        ([1, 2], float, "float32", (2,)),
        ([1 << 40], kb.int64, "int64", (1,)),
        ([[1, 2, 3], [4, 5, 6]], kb.vec3, "vec3[float32]", (2,)),
        (np.zeros((5, 2, 2)), kb.mat22, "mat2x2[float32]", (5,)),
        (np.arange(3), kb.uint8, "uint8", (3,)),
        ([kb.vec2(1.0, 2.0)], kb.vec2, "vec2[float32]", (1,)),
    ],
)
def test_a_dtype_of_choice(given: Any, dtype: Any, spelled: str, shape: tuple[int, ...]) -> None:
    table = kb.constant(given, dtype=dtype)
    assert (table.type.spelling, table.shape) == (spelled, shape)


def test_it_is_read_like_a_tuple_and_never_changes() -> None:
    source = np.arange(6, dtype=">i4").reshape(2, 3)[:, ::-1]
    table = kb.constant(source)
    source[:] = 0
    assert [list(row) for row in table] == [[2, 1, 0], [5, 4, 3]]
    assert (table[1, 0], table[-1][-1], len(table), len(table[0])) == (5, 3, 2, 3)
    assert table.dtype is kb.int32
    with pytest.raises(TypeError):
        table[0, 0] = 1  # type: ignore[index]
    with pytest.raises(AttributeError, match="does not change"):
        table.data = b""
    with pytest.raises(IndexError, match="index 3 on axis 1"):
        table[0, 3]
    with pytest.raises(IndexError, match="3 indices"):
        table[0, 0, 0]


def test_vectors_come_back_as_vectors() -> None:
    table = kb.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=kb.vec3)
    assert isinstance(table[1], kb.vec3)
    assert table[1] == kb.vec3(4.0, 5.0, 6.0)
    turns = kb.constant([kb.mat22(1.0, 2.0, 3.0, 4.0)])
    assert turns[0] == kb.mat22(1.0, 2.0, 3.0, 4.0)


def test_equal_tables_are_one_and_pickle() -> None:
    one, two = kb.constant([1, 2]), kb.constant(np.array([1, 2], np.int32))
    assert one == two
    assert hash(one) == hash(two)
    assert one != kb.constant([[1, 2]])
    assert one != kb.constant([1, 2], dtype=kb.uint32)
    assert pickle.loads(pickle.dumps(one)) == one
    assert kb.constant(one) is one


@pytest.mark.parametrize("value", [1, 2.5, True, kb.vec3(), kb.mat22(), kb.float64(1.0)])
def test_a_single_value_is_given_back(value: Any) -> None:
    assert kb.constant(value) is value


@pytest.mark.parametrize(
    ("given", "options", "error", "text"),
    [
        ([], {}, ValueError, "at least one element"),
        ([[], []], {}, ValueError, "at least one element"),
        (np.zeros((0, 3)), {}, ValueError, r"at least one element, and this one has the shape \(0, 3\)"),
        ([[1, 2], [3]], {}, ValueError, r"rows of different shapes: \[0\] has the shape \(2,\), and \[1\] \(1,\)"),
        ([1, [2]], {}, ValueError, "rows of different shapes"),
        ([1, "a"], {}, TypeError, r"\[1\] is 'a'|\[1\] is .*str"),
        ([1, True], {}, TypeError, r"\[0\] is int32, and \[1\] is bool: write all of one type"),
        ([1.0, kb.float64(1.0)], {}, TypeError, r"\[0\] is float32, and \[1\] is float64"),
        ([1 << 31], {}, OverflowError, r"\[0\] is 2147483648, which is no int32: say `dtype=kb.int64`"),
        ([[1, 300]], {"dtype": kb.uint8}, OverflowError, r"\[0\]\[1\]: 300 does not fit uint8"),
        ([1.5], {"dtype": int}, TypeError, r"\[0\]: wanted int32"),
        ([[1.0, 2.0]], {"dtype": kb.vec3}, ValueError, "has a last axis of 3, but this one has the shape"),
        ([1.0, 2.0, 3.0], {"dtype": kb.vec3}, ValueError, "has a last axis of 3"),
        ([[1.0, 2.0]], {"dtype": kb.mat22}, ValueError, "has last axes of 2 and 2"),
        ([kb.vec3()], {"dtype": kb.vec2}, TypeError, r"\[0\] is vec3\[float32\], and the table is of vec2"),
        ([1.0], {"dtype": kb.array(dtype=float)}, TypeError, "a table has numbers, vectors, matrices or structs"),
        ([1.0], {"dtype": list}, TypeError, "not a type that a kernel knows"),
        (np.zeros((1,) * 5), {}, ValueError, "1 to 4 axes, not 5"),
        (np.zeros(2, complex), {}, TypeError, "no type for NumPy's complex128"),
        (np.array(["a"]), {}, TypeError, "no type for NumPy's"),
        (np.array(1.0), {}, ValueError, "1 to 4 axes, not 0"),
        ("abc", {}, TypeError, "wants a list, tuple or NumPy array"),
        ({1: 2}, {}, TypeError, "wants a list, tuple or NumPy array"),
        (None, {}, TypeError, "wants a list, tuple or NumPy array"),
        (1.0, {"dtype": kb.float64}, TypeError, "dtype is for tables"),
        (kb.constant([1]), {"dtype": float}, TypeError, "a table of int32 already"),
    ],
)
def test_what_is_refused(given: Any, options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        kb.constant(given, **options)


def test_device_memory_is_refused_with_the_way_out() -> None:
    array = kb.zeros(3, dtype=float, device="sim")
    with pytest.raises(TypeError, match=r"pass `array.numpy\(\)`"):
        kb.constant(array)
    assert kb.constant(array.numpy()).shape == (3,)


def test_identity_is_type_shape_and_elements() -> None:
    def encoded(table: Constant) -> list[Any]:
        return identity.encode(table)

    base = encoded(kb.constant([1, 2]))
    assert encoded(kb.constant(np.array([1, 2], np.int32))) == base
    others = ([1, 3], [[1, 2]], [1.0, 2.0], [True, False])
    assert all(encoded(kb.constant(other)) != base for other in others)
    (text,) = identity.describe([kb.constant([[1, 2]])])
    assert text.startswith("constant int32(1, 2) ")


@kb.struct
class Joint:
    limit: kb.float64
    kind: kb.int8


@kb.struct
class Link:
    mass: float
    ends: kb.vec2i
    is_fixed: bool
    turn: kb.mat22
    joint: Joint


@kb.struct
class Chain:
    links: kb.array(dtype=float)  # type: ignore[valid-type]


def links(count: int = 3) -> list[Any]:
    return [
        Link(
            mass=0.1 * i,
            ends=kb.vec2i(i, -i),
            is_fixed=i % 2 == 0,
            turn=kb.mat22(1.0, 2.0, 3.0, float(i)),
            joint=Joint(limit=0.1 * i, kind=i - 2),
        )
        for i in range(count)
    ]


def records(order: list[str]) -> np.ndarray:
    """The same, as NumPy has them, in wider types and with the fields in another order."""
    joint = np.dtype([("kind", "i4"), ("limit", ">f8")])
    formats = {"mass": "f4", "ends": ("i8", 2), "is_fixed": "?", "turn": ("f8", (2, 2)), "joint": joint}
    made = np.zeros(3, [(name, formats[name]) for name in order])
    for record, link in zip(made, links(), strict=True):
        for name in ("mass", "ends", "is_fixed"):
            record[name] = tuple(link.ends) if name == "ends" else getattr(link, name)
        record["turn"] = [list(row) for row in link.turn]
        record["joint"]["limit"], record["joint"]["kind"] = link.joint.limit, link.joint.kind
    return made


def test_tables_of_structs_however_they_are_written() -> None:
    table = kb.constant(links())
    assert (table.type.spelling, table.shape, table.nbytes) == (f"struct:{__name__}:Link", (3,), 3 * 48)
    assert table.dtype is Link
    order = ["mass", "ends", "is_fixed", "turn", "joint"]
    for given in (records(order), records(order[::-1])):
        assert kb.constant(given, dtype=Link) == table
    as_dicts = [{name: getattr(link, name) for name in order} for link in links()]
    assert kb.constant(as_dicts, dtype=Link) == table
    assert kb.constant(tuple(links())) == kb.constant(links(), dtype=Link) == table
    assert kb.constant([[(0.5, 1), (1.5, 2)]], dtype=Joint).shape == (1, 2)


def test_structs_come_back_as_structs_and_pickle() -> None:
    table = kb.constant([links(), links()])
    found = table[1, 2]
    assert isinstance(found, Link)
    assert isinstance(found.joint, Joint)
    assert found.mass == np.float32(0.2)
    assert (found.ends, found.turn, found.joint.limit) == (kb.vec2i(2, -2), kb.mat22(1.0, 2.0, 3.0, 2.0), 0.2)
    assert (table[0][1].is_fixed, table[0][2].joint.kind, len(table[1])) == (False, 0, 3)
    again = pickle.loads(pickle.dumps(table))
    assert again == table
    assert again.dtype is Link


def test_gaps_are_zero() -> None:
    data = kb.constant([Joint(limit=-0.5, kind=-1)]).data
    assert data == np.float64(-0.5).tobytes() + b"\xff" + bytes(7)


def test_a_single_struct_is_given_back() -> None:
    one = links()[0]
    assert kb.constant(one) is one


@pytest.mark.parametrize(
    ("given", "dtype", "text"),
    [
        (records(["mass", "ends", "is_fixed", "turn", "joint"]), None, r"has records \(mass, ends.*name the struct"),
        (records(["mass", "ends", "is_fixed", "turn", "joint"]), float, "name the struct"),
        (np.zeros(2, [("mass", "f4")]), Joint, "records have the fields mass, and .*Joint has kind, limit"),
        (np.zeros(2, [("kind", "f8"), ("limit", "f8")]), Joint, r"\[0\].kind: wanted int8"),
        ([links()[0], 1.0], None, r"\[0\] is struct:.*, and \[1\] is float32: write all of one type"),
        ([links()[0]], Joint, r"\[0\]: wanted .*Joint, got Link .*has no 'limit'"),
        ([(1.0, 300)], Joint, r"\[0\].kind: 300 does not fit int8"),
        ([(1.0,)], Joint, r"\[0\]: wanted .*Joint.* got 1 values"),
        ([{"limit": 1.0}], Joint, r"\[0\]: wanted .*Joint with the fields limit, kind; got a dict without kind"),
        ([1.0], Joint, r"\[0\]: wanted .*Joint, got float 1.0"),
        ([Chain()], None, "Chain has the array 'links' in it, and a table is numbers alone"),
        ([], Chain, "Chain has the array 'links' in it"),
    ],
)
def test_what_is_refused_of_structs(given: Any, dtype: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        kb.constant(given, dtype=dtype)


def test_the_identity_of_structs_knows_their_fields() -> None:
    """Two structs of one name and the same bytes mean different things where their fields are called otherwise."""

    def made(field: str) -> Constant:
        kind = type(
            "Pair", (), {"__annotations__": {field: int, "other": int}, "__module__": "m", "__qualname__": "Pair"}
        )
        return kb.constant([(1, 2)], dtype=kb.struct(kind))

    one, two, same = made("a"), made("b"), made("a")
    assert one.data == two.data
    assert identity.encode(one) != identity.encode(two)
    assert one != two
    assert identity.encode(one) == identity.encode(same)
    assert one == same
