"""Arrays seen through index arrays: what they gather and scatter, what a launch makes of them, what is refused."""

from __future__ import annotations

import struct
import subprocess
import sys
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbuild.loader import abi, dispatch, fieldtest, generic, indexed, pack, selftest, struct_table
from kbuild.loader import array as arrays
from kbuild.loader.array import array
from kbuild.loader.errors import LaunchError
from kbuild.loader.indexed import indexedarray, indexedarray1d, indexedarray2d, indexedarray3d, indexedarray4d
from kbuild.loader.layout import abi_type
from kbuild.loader.overloading import type_of
from kbuild.loader.types import float16, float64, int8, int64
from kbuild.loader.types import struct as kb_struct
from kbuild.loader.values import vec3
from tests.helpers.fake_cuda import FakeCuda, make_bundle

with_cuda = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)


@kb_struct
class Particle:
    mass: float64
    at: vec3  # type: ignore[valid-type]


@kb_struct
class Holder:
    seen: indexedarray2d[float]  # type: ignore[valid-type]
    none: indexedarray(dtype=int)  # type: ignore[valid-type]
    count: int


def ints(*values: int) -> Any:
    return array(list(values), dtype=int)


# The type


@pytest.mark.parametrize(
    ("annotation", "spelling", "size"),
    [
        (indexedarray(dtype=float), "indexedarray1[float32]", 32),
        (indexedarray[vec3], "indexedarray1[vec3[float32]]", 32),
        (indexedarray1d[int64], "indexedarray1[int64]", 32),
        (indexedarray(dtype=float, ndim=2), "indexedarray2[float32]", 48),
        (indexedarray2d(dtype=int), "indexedarray2[int32]", 48),
        (indexedarray3d[float], "indexedarray3[float32]", 72),
        (indexedarray4d[bool], "indexedarray4[bool]", 88),
    ],
)
def test_annotations(annotation: Any, spelling: str, size: int) -> None:
    type = abi_type(annotation)
    assert (type.spelling, type.size, type.align) == (spelling, size, 8)
    assert abi.parse(spelling, {}) == type
    assert isinstance(abi.parse(spelling, {}), abi.IndexedArray)
    plain = array(dtype=annotation.dtype, ndim=annotation.ndim)
    assert abi_type(plain) != type
    assert annotation != plain
    assert hash(annotation) != hash(plain)
    assert repr(annotation) == "indexed" + repr(plain)


@pytest.mark.parametrize(
    "spelling",
    ["indexedarray[float32]", "indexedarray0[int8]", "indexedarray5[int8]", "indexedarray11[int8]", "indexedarray1[]"],
)
def test_other_spellings_are_refused(spelling: str) -> None:
    with pytest.raises(ValueError, match="unknown type"):
        abi.parse(spelling, {})


def test_wrong_annotations() -> None:
    with pytest.raises(TypeError, match=r"indexedarray2d needs data, or dtype=… as an annotation"):
        indexedarray2d()
    with pytest.raises(TypeError, match=r"indexedarray needs an element type: write indexedarray\(dtype=float\)"):
        abi_type(indexedarray)
    with pytest.raises(TypeError, match="elements cannot be arrays"):
        abi_type(indexedarray(dtype=array(dtype=float)))
    with pytest.raises(TypeError, match="elements cannot be arrays"):
        abi_type(array(dtype=indexedarray(dtype=float)))
    with pytest.raises(TypeError, match="1 to 4 dimensions, not 5"):
        indexedarray(dtype=float, ndim=5)


def test_structs_hold_them() -> None:
    type = abi_type(Holder)
    assert isinstance(type, abi.Struct)
    assert [(f.type.spelling, f.offset) for f in type.fields] == [
        ("indexedarray2[float32]", 0),
        ("indexedarray1[int32]", 48),
        ("int32", 80),
    ]
    assert Holder().seen is None
    rows = {type.name: type.to_json()}
    assert struct_table.parse(rows)[type.name].to_json() == rows[type.name]


def test_open_annotations_tell_the_kinds_apart() -> None:
    T = TypeVar("T")
    seen, plain = abi_type(indexedarray2d[float]), abi_type(array(dtype=float, ndim=2))
    binding: generic.Binding = {}
    assert generic.is_open(indexedarray2d[Any])
    assert generic.match(indexedarray2d[Any], seen, {})
    assert not generic.match(indexedarray2d[Any], plain, {})
    assert not generic.match(array(dtype=Any, ndim=2), seen, {})
    assert not generic.match(indexedarray(dtype=Any), seen, {})
    assert generic.match(Any, seen, {})
    assert generic.match(indexedarray2d[T], seen, binding)
    assert binding == {T: abi.FLOAT32}
    assert generic.spell(indexedarray2d[Any]) == "indexedarray2[Any]"


# On the host


def test_what_it_says_of_itself(cuda: FakeCuda) -> None:
    data, first = array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), ints(2, 0, 2, 1)
    seen = indexedarray(data, [first, None])
    assert (seen.shape, seen.ndim, seen.size, seen.nbytes, len(seen)) == ((4, 2), 2, 8, 32, 4)
    assert (seen.dtype, seen.device, seen.data) == (data.dtype, data.device, data)
    assert seen.indices == (first, None)
    assert seen.indices[0] is first
    assert repr(seen) == "<kb.indexedarray float32 of shape (4, 2) on cuda:0>"
    assert type_of(seen) == abi.IndexedArray(abi.FLOAT32, 2)
    with pytest.raises(AttributeError, match=r"an indexedarray's shape cannot change"):
        seen.shape = (1,)
    assert seen.tolist() == [[5.0, 6.0], [1.0, 2.0], [5.0, 6.0], [3.0, 4.0]]
    assert indexedarray(data, first).tolist() == seen.tolist()  # one index array is for the first axis
    assert indexedarray(data, [None, ints(1)]).tolist() == [[2.0], [4.0], [6.0]]
    assert indexedarray(data, None).tolist() == data.tolist()
    made = seen.contiguous()
    assert isinstance(made, array)
    assert made.tolist() == seen.tolist()


@with_cuda
@given(st.data())
def test_gathers_and_scatters_as_numpy_does(cuda: FakeCuda, data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    kind, dtype = data.draw(st.sampled_from([(np.int8, int8), (np.float16, float16), (np.int64, int64)]))
    host = np.arange(np.prod(shape)).reshape(shape).astype(kind)
    tables = [data.draw(st.none() | st.lists(st.integers(0, n - 1), max_size=4, unique=True)) for n in shape]
    seen = indexedarray(array(host), [None if t is None else array(t, dtype=int) for t in tables], dtype, len(shape))
    where = np.ix_(*[np.arange(n) if t is None else np.array(t, int) for n, t in zip(shape, tables, strict=True)])
    np.testing.assert_array_equal(seen.numpy(), host[where])
    assert seen.tobytes() == host[where].tobytes()
    np.testing.assert_array_equal(seen.contiguous().numpy(), host[where])
    for change in (-host[where], None, 3):
        if change is None:
            seen.zero_()
        elif isinstance(change, int):
            seen.fill_(change)
        else:
            seen.assign(change)
        host[where] = 0 if change is None else change
        np.testing.assert_array_equal(seen.data.numpy(), host)


def test_over_memory_with_gaps_and_of_structs(cuda: FakeCuda) -> None:
    data = array([float(n) for n in range(12)])
    every_other = array(ptr=data.ptr + 4, shape=(6,), strides=(8,), dtype=float, owner=data)
    seen = indexedarray(every_other, ints(5, 1))
    assert seen.tolist() == [11.0, 3.0]
    seen.assign([-1.0, -2.0])
    assert data.tolist() == [0.0, 1.0, 2.0, -2.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, -1.0]
    particles = indexedarray(array([Particle(mass=1.0), Particle(mass=2.0)], dtype=Particle), ints(1, 0))
    assert [p.mass for p in particles.tolist()] == [2.0, 1.0]
    particles.fill_(Particle(mass=3.0, at=vec3(1.0, 2.0, 3.0)))
    assert particles.data.tolist()[0].at == vec3(1.0, 2.0, 3.0)


def test_assigning_other_arrays(cuda: FakeCuda) -> None:
    seen = indexedarray(arrays.zeros(4, float), ints(3, 1))
    seen.assign(array([1.0, 2.0]))
    assert seen.data.tolist() == [0.0, 2.0, 0.0, 1.0]
    seen.assign(indexedarray(array([7.0, 8.0, 9.0]), ints(0, 2)))
    assert seen.data.tolist() == [0.0, 9.0, 0.0, 7.0]
    for wrong in ([1.0], array([1, 2]), array([[1.0, 2.0]])):
        with pytest.raises(ValueError, match=r"cannot copy .* into float32 of shape \(2,\)"):
            seen.assign(wrong)


def test_indices_outside_the_data(cuda: FakeCuda) -> None:
    for number in (4, -1):
        seen = indexedarray(arrays.zeros((2, 4), float), [None, ints(1, number)])
        message = rf"the index array of axis 1 holds {number} at 1, and the data has 4 elements along it"
        for use in (seen.tolist, seen.zero_, seen.contiguous):
            with pytest.raises(IndexError, match=message):
                use()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda data, table: indexedarray([1.0], table), r"wants a kb.array as its data, not list \[1.0\]: see"),
        (lambda data, table: indexedarray(indexedarray(data, table), table), "take its data, and index arrays of your"),
        (lambda data, table: indexedarray(None, table), "wants a kb.array as its data, not None"),
        (
            lambda data, table: indexedarray(data, [0, 1]),
            "index array of axis 0 must be a kb.array of int32, not int 0",
        ),
        (lambda data, table: indexedarray(data, data), r"axis 0 must be array1\[int32\], not array2\[float32\]"),
        (lambda data, table: indexedarray(data, [None, array([1], dtype=int64)]), r"axis 1 must be array1\[int32\]"),
        (lambda data, table: indexedarray(data, [table] * 3), "3 index arrays for an array of 2 dimensions"),
        (lambda data, table: indexedarray1d(data, table), "the data has 2 dimensions, not 1"),
        (lambda data, table: indexedarray(data, table, ndim=3), "the data has 2 dimensions, not 3"),
        (lambda data, table: indexedarray(data, table, int), "the data has elements of type float32, not int32"),
    ],
)
def test_what_is_refused(cuda: FakeCuda, make: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make(arrays.zeros((2, 2), float), ints(0))


def test_one_device(two_gpus: FakeCuda) -> None:
    table = array([0], dtype=int, device="cuda:1")
    with pytest.raises(ValueError, match="the index array of axis 0 is on cuda:1, and the data on cuda:0"):
        indexedarray(arrays.zeros(2, float), table)


def test_freed(cuda: FakeCuda) -> None:
    data, table = arrays.zeros(2, float), ints(0)
    seen = indexedarray(data, table)
    table.free()
    assert not seen.is_alive
    assert repr(seen) == "<kb.indexedarray, freed>"
    with pytest.raises(ValueError, match="the array has been freed"):
        seen.tolist()
    with pytest.raises(ValueError, match="the index array of axis 0 has been freed"):
        indexedarray(data, table)
    data.free()
    with pytest.raises(ValueError, match="the array has been freed"):
        indexedarray(data, ints(0))


# As an argument


def sent(cuda: FakeCuda, bundle: Any, number: int = 0) -> bytes:
    """The bytes of a parameter in the last launch."""
    row = bundle.manifest["kernels"][0]["parameters"][number]
    return bytes(cuda.records[-1].bytes)[row["offset"] : row["offset"] + row["size"]]


def test_launched(cuda: FakeCuda) -> None:
    """Thoroughly at first, then by the quick launch."""
    bundle = make_bundle([("a", "indexedarray3[float32]"), ("x", "float32")])
    kernel = bundle["p.kernels:k"]
    data, first, last = arrays.zeros((4, 5, 6), float), ints(1, 2), ints(0, 3, 5)
    seen = indexedarray(data, [first, None, last])
    wanted = struct.pack("<Q6i3Q3i4x", data.ptr, 4, 5, 6, 120, 24, 4, first.ptr, 0, last.ptr, 2, 5, 3)
    for round in range(4):
        before = len(cuda.calls)
        kernel.launch(4, (seen, 1.0))
        assert sent(cuda, bundle) == wanted
        if round > 1:
            assert cuda.calls[before:] == ["cuLaunchKernelEx"]
    assert kernel.launch != kernel.thorough


def test_none_and_structs(cuda: FakeCuda) -> None:
    name = "p.kernels:Holder"
    holder = abi.Struct(name, [(f.name, f.type) for f in abi_type(Holder).fields])  # type: ignore[attr-defined]
    bundle = make_bundle([("h", "struct:" + name)], structs={name: holder.to_json()}, optional=["h.none"])
    kernel = bundle["p.kernels:k"]
    seen = indexedarray(arrays.zeros((2, 2), float), [ints(1), ints(0)])
    for _ in range(4):
        kernel.launch(1, (SimpleNamespace(seen=seen, none=None, count=3),))
        assert sent(cuda, bundle) == seen._descriptor + bytes(32) + struct.pack("<i", 3) + bytes(4)
        with pytest.raises(LaunchError, match=r"parameter h\.seen: wanted indexedarray2\[float32\], got None"):
            kernel.launch(1, (SimpleNamespace(seen=None, none=None, count=3),))


@pytest.mark.parametrize("warm", [False, True])
def test_an_array_is_no_indexedarray_and_the_other_way_round(cuda: FakeCuda, warm: bool) -> None:
    kernel = make_bundle([("a", "array1[float32]"), ("b", "indexedarray1[float32]")])["p.kernels:k"]
    plain = arrays.zeros(3, float)
    seen = indexedarray(plain, ints(0))
    for _ in range(3 if warm else 0):
        kernel.launch(1, (plain, seen))
    count = len(cuda.records)
    with pytest.raises(
        LaunchError, match=r"parameter a: wanted array1\[float32\], got indexedarray .*: pass its contig"
    ):
        kernel.launch(1, (seen, seen))
    message = r"parameter b: wanted indexedarray1\[float32\], got array .*: make it one with kb.indexedarray\(data, ind"
    with pytest.raises(LaunchError, match=message):
        kernel.launch(1, (plain, plain))
    foreign = SimpleNamespace(__cuda_array_interface__=plain.__cuda_array_interface__)
    with pytest.raises(LaunchError, match=r"parameter b: wanted indexedarray1\[float32\], got SimpleNamespace"):
        kernel.launch(1, (plain, foreign))
    with pytest.raises(LaunchError, match=r"parameter b: wanted indexedarray1\[float32\], got indexedarray"):
        kernel.launch(1, (plain, indexedarray(ints(1, 2), ints(0))))
    assert len(cuda.records) == count


@pytest.mark.parametrize("warm", [False, True])
def test_freed_ones_are_not_launched(cuda: FakeCuda, warm: bool) -> None:
    kernel = make_bundle([("a", "indexedarray1[float32]")])["p.kernels:k"]
    for freed in ("data", "indices"):
        data, table = arrays.zeros(3, float), ints(0)
        seen = indexedarray(data, table)
        for _ in range(3 if warm else 0):
            kernel.launch(1, (seen,))
        count = len(cuda.records)
        (data if freed == "data" else table).free()
        with pytest.raises(LaunchError, match="parameter a: the array has been freed"):
            kernel.launch(1, (seen,))
        assert len(cuda.records) == count


@pytest.mark.parametrize("warm", [False, True])
def test_index_arrays_with_gaps_serve_the_host_alone(cuda: FakeCuda, warm: bool) -> None:
    kernel = make_bundle([("a", "indexedarray2[float32]")])["p.kernels:k"]
    data, table = array([[1.0, 2.0, 3.0]]), ints(2, 0, 1, 0)
    for _ in range(3 if warm else 0):
        kernel.launch(1, (indexedarray(data, [None, table]),))
    spaced = array(ptr=table.ptr, shape=(2,), strides=(8,), dtype=int, owner=table)
    seen = indexedarray(data, [None, spaced])
    assert seen.tolist() == [[3.0, 2.0]]
    message = (
        "parameter a: the index array of axis 1 has a stride of 8 bytes: kernels read int32 side by side, so copy it"
    )
    with pytest.raises(LaunchError, match=message):
        kernel.launch(1, (seen,))
    single = array(ptr=table.ptr, shape=(1,), strides=(8,), dtype=int, owner=table)
    kernel.launch(1, (indexedarray(data, [None, single]),))  # the one index has no gap behind it


def test_the_device_is_the_arrays(two_gpus: FakeCuda) -> None:
    kernel = make_bundle([("a", "indexedarray1[float32]"), ("b", "array1[float32]")])["p.kernels:k"]
    first, second = (arrays.zeros(3, float, device=ordinal) for ordinal in (0, 1))
    seen = indexedarray(second, array([1], dtype=int, device=1))
    for _ in range(3):
        kernel.launch(1, (seen, second))
    with pytest.raises(LaunchError, match="is on cuda:0, but parameter a is on cuda:1"):
        kernel.launch(1, (seen, first))


def test_an_unknown_layout_of_the_elements_is_refused(cuda: FakeCuda) -> None:
    name = f"{__name__}:Particle"
    other = {"size": 4, "align": 4, "fields": [["mass", "float32", 0]]}
    kernel = make_bundle([("a", f"indexedarray1[struct:{name}]")], structs={name: other})["p.kernels:k"]
    with pytest.raises(LaunchError, match="laid out differently in the bundle: rebuild it"):
        kernel.launch(1, (indexedarray(arrays.zeros(3, Particle), ints(0)),))


def test_a_struct_that_is_read_back(cuda: FakeCuda) -> None:
    data, first, second = array([[1.0, 2.0], [3.0, 4.0]]), ints(1, 0, 1), ints(1)
    five = ints(5)
    holders = array([Holder(seen=indexedarray(data, [first, second]), none=indexedarray(five, None), count=2)])
    (found,) = holders.tolist()
    assert found.count == 2
    assert found.seen.tolist() == [[4.0], [2.0], [4.0]]
    assert found.seen._descriptor == indexedarray(data, [first, second])._descriptor
    assert found.none.tolist() == [5]
    packing = pack.Packing(frozenset({"h.seen", "h.none"}))
    packing.add(abi_type(Holder), Holder(), "h")
    assert packing.values == [bytes(48), bytes(32), 0]
    assert indexed._from_descriptor(abi.IndexedArray(abi.INT32, 1), bytes(32), data.device) is None


def test_what_the_self_test_launches(cuda: FakeCuda) -> None:
    parameters = [("a", abi.IndexedArray(abi.INT32, 2)), ("b", abi.Array(abi.INT32, 2))]
    made = selftest.generate(parameters, 0)
    for name, sample in made.items():
        uploaded = fieldtest._upload(sample, arrays.zeros(1).device)
        argument = fieldtest._argument({"x": sample}, {id(sample): uploaded})["x"]
        assert argument._type == dict(parameters)[name]
        if name == "b":
            assert argument is uploaded
        else:
            assert argument.data is uploaded
            assert argument.tolist() == uploaded.tolist()[::-1]


def test_launches_of_generic_kernels_tell_them_apart(cuda: FakeCuda) -> None:
    plain = arrays.zeros(3, float)
    seen = indexedarray(plain, ints(0))
    assert dispatch.type_of(seen) == abi.IndexedArray(abi.FLOAT32, 1)
    assert dispatch.type_of(plain) == abi.Array(abi.FLOAT32, 1)
    assert dispatch._key_of(seen) != dispatch._key_of(plain)


def test_public_names() -> None:
    """Importing kbuild loads neither this module nor NumPy."""
    text = (
        "import sys, kbuild as kb\nassert 'kbuild.loader.indexed' not in sys.modules\n"
        "print(kb.indexedarray2d[float].layout.__name__, 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["IndexedArray", "False"]
