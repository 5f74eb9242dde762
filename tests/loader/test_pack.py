"""Packing: what is packed is found again at the offsets of `abi`, for any types and values."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbuild.loader import abi, fastpath, format, pack
from kbuild.loader.scalars import int_range, round_float


def scalar_value(type: abi.Scalar) -> st.SearchStrategy[Any]:
    if type.kind == "bool":
        return st.booleans()
    if type.kind == "float":
        return st.floats(width=8 * type.size, allow_nan=False)  # type: ignore[arg-type]
    return st.integers(*int_range(type))


SCALARS = st.sampled_from(sorted(abi.SCALARS.values(), key=str))
FLAT = st.one_of(
    SCALARS,
    st.builds(abi.Vector, st.integers(1, 4), SCALARS),
    st.builds(abi.Matrix, st.integers(1, 4), st.integers(1, 4), SCALARS),
)


def structs(fields: st.SearchStrategy[abi.Type]) -> st.SearchStrategy[abi.Type]:
    named = st.lists(fields, min_size=1, max_size=4).map(lambda types: [(f"f{i}", t) for i, t in enumerate(types)])
    return st.builds(abi.Struct, st.just("m:S"), named)


TYPES = st.recursive(FLAT, structs, max_leaves=6)


def value_of(type: abi.Type) -> st.SearchStrategy[Any]:
    if isinstance(type, abi.Scalar):
        return scalar_value(type)
    if isinstance(type, abi.Vector):
        return st.tuples(*[scalar_value(type.element)] * type.length)
    if isinstance(type, abi.Matrix):
        return st.tuples(*[value_of(abi.Vector(type.columns, type.element))] * type.rows)
    assert isinstance(type, abi.Struct)
    return st.fixed_dictionaries({f.name: value_of(f.type) for f in type.fields})


def packed(type: abi.Type, value: Any) -> bytes:
    packing = pack.Packing()
    packing.add(type, value, "p")
    return struct.pack("<" + pack.format_of(type), *packing.values)


def read_back(type: abi.Type, data: bytes, offset: int) -> Any:
    """The value in memory, by the layout that `abi` defines, without the packing code."""
    if isinstance(type, abi.Scalar):
        return struct.unpack_from("<" + type.code, data, offset)[0]
    if isinstance(type, abi.Vector):
        return tuple(read_back(type.element, data, offset + i * type.element.size) for i in range(type.length))
    if isinstance(type, abi.Matrix):
        row = abi.Vector(type.columns, type.element)
        return tuple(read_back(row, data, offset + i * row.size) for i in range(type.rows))
    assert isinstance(type, abi.Struct)
    return {f.name: read_back(f.type, data, offset + f.offset) for f in type.fields}


@given(TYPES.flatmap(lambda type: st.tuples(st.just(type), value_of(type))))
def test_packed_values_lie_where_abi_says(case: tuple[abi.Type, Any]) -> None:
    type, value = case
    data = packed(type, value)
    assert len(data) == type.size
    assert read_back(type, data, 0) == value


@given(st.lists(TYPES, min_size=1, max_size=5), st.integers(0, 20))
def test_gaps_between_fields_are_zero(types: list[abi.Type], start: int) -> None:
    offset, fields = start, []
    for type in types:
        offset = abi.align_up(offset, type.align)
        fields.append((type, offset))
        offset += type.size
    format = struct.Struct("<" + pack.fields_format(fields, start, offset + 3))
    assert format.size == offset + 3 - start


@given(TYPES)
def test_signatures_tell_layouts_apart(type: abi.Type) -> None:
    array = abi.Array(type, 2)
    assert pack.array_key(array, 0) is pack.array_key(abi.Array(type, 2), 0)
    assert pack.array_key(array, 0) is not pack.array_key(array, 1)
    assert pack.array_key(array, 0) is not pack.array_key(abi.Array(type, 1), 0)
    other = abi.Struct("m:S", [("f0", type), ("more", abi.INT8)])
    assert pack.signature(other) != pack.signature(abi.Struct("m:S", [("f0", type)]))


@given(SCALARS, st.data())
def test_a_number_is_packed_or_refused(type: abi.Scalar, data: st.DataObject) -> None:
    value = data.draw(
        st.one_of(st.integers(-(2**70), 2**70), st.floats(), st.booleans(), st.text(max_size=2), st.none())
    )
    try:
        stored = read_back(type, packed(type, value), 0)
    except pack.Refused:
        return
    if type.kind == "float":
        assert stored == round_float(type, float(value)) or stored != stored
    else:
        assert stored == value


@pytest.mark.parametrize(
    ("type", "value"), [(abi.INT32, 1.0), (abi.UINT8, -1), (abi.INT8, 128), (abi.FLOAT16, 65520.0)]
)
def test_refused(type: abi.Scalar, value: Any) -> None:
    with pytest.raises(pack.Refused) as caught:
        packed(type, value)
    assert caught.value.path == "p"
    assert str(type) in caught.value.reason


@given(st.lists(TYPES, min_size=1, max_size=30), st.binary(min_size=1, max_size=64))
def test_packed_in_parts_is_packed_whole(types: list[abi.Type], pattern: bytes) -> None:
    """The quick launch packs many numbers in several calls, none of which has more arguments than CPython likes."""
    offsets, end = format.layout_behind(72, types)
    whole = struct.Struct("<72s" + pack.fields_format(list(zip(types, offsets)), 72, end))
    numbers = whole.unpack((pattern * whole.size)[: whole.size])
    named = dict(enumerate(numbers))
    buffer = bytearray(whole.size)
    for offset, pack_into, leaves in fastpath._parts(whole.format, list(named)):  # type: ignore[arg-type]
        assert len(leaves) <= 28
        pack_into(buffer, offset, *[named[leaf] for leaf in leaves])  # type: ignore[index]
    assert buffer == whole.pack(*numbers)
