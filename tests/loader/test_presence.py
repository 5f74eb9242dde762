"""None for an array: for those that the kernel asks for, and for no others."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any

import pytest

from kbuild.loader import abi
from kbuild.loader import array as arrays
from kbuild.loader.errors import BundleError, LaunchError
from tests.helpers.fake_cuda import FakeCuda, make_bundle

PARAMETERS = [("out", "array1[float32]"), ("mask", "array2[float32]"), ("model", "struct:p.kernels:Model")]
MODEL = abi.Struct(
    "p.kernels:Model", [("mass", abi.parse("array1[float32]", {})), ("bias", abi.parse("array1[float32]", {}))]
)
STRUCTS = {"p.kernels:Model": MODEL.to_json()}


def pointers(cuda: FakeCuda, bundle: Any) -> list[int]:
    """The addresses in the last launch: out, mask, model.mass, model.bias."""
    record = cuda.records[-1]
    rows = bundle.manifest["kernels"][0]["parameters"]
    data = bytes(record.bytes)
    places = [rows[0]["offset"], rows[1]["offset"], rows[2]["offset"], rows[2]["offset"] + MODEL.fields[1].offset]
    return [struct.unpack_from("<Q", data, place)[0] for place in places]


def test_none_arrives_as_no_address(cuda: FakeCuda) -> None:
    """Thoroughly at first, then by the quick launch, and in any order."""
    bundle = make_bundle(PARAMETERS, structs=STRUCTS, optional=["mask", "model.bias"])
    kernel = bundle["p.kernels:k"]
    out, mask, mass, bias = (arrays.zeros(shape, float) for shape in (4, (2, 2), 4, 4))
    combinations: list[Any] = [(None, None), (mask, None), (None, bias), (mask, bias), (None, None)]
    for round in range(3):
        for some_mask, some_bias in combinations:
            before = len(cuda.calls)
            kernel.launch(4, (out, some_mask, SimpleNamespace(mass=mass, bias=some_bias)))
            wanted = [out.ptr, some_mask.ptr if some_mask else 0, mass.ptr, some_bias.ptr if some_bias else 0]
            assert pointers(cuda, bundle) == wanted
            if round:
                assert cuda.calls[before:] == ["cuLaunchKernelEx"]
    assert kernel.launch != kernel.thorough


@pytest.mark.parametrize("warm", [False, True])
def test_others_refuse_it(cuda: FakeCuda, warm: bool) -> None:
    bundle = make_bundle(PARAMETERS, structs=STRUCTS, optional=["mask", "model.bias"])
    kernel = bundle["p.kernels:k"]
    out = arrays.zeros(4, float)
    for _ in range(3 if warm else 0):
        kernel.launch(4, (out, None, {"mass": out, "bias": None}))
    count = len(cuda.records)
    with pytest.raises(
        LaunchError, match=r"parameter out: wanted array1\[float32\], got None, .* does not ask `if out:`"
    ):
        kernel.launch(4, (None, None, SimpleNamespace(mass=out, bias=None)))
    with pytest.raises(LaunchError, match=r"parameter model\.mass: .* does not ask `if model\.mass:`"):
        kernel.launch(4, (out, None, SimpleNamespace(mass=None, bias=None)))
    with pytest.raises(LaunchError, match=r"parameter mask: wanted array2\[float32\], got a foreign float32 array"):
        kernel.launch(4, (out, out, SimpleNamespace(mass=out, bias=None)))
    assert len(cuda.records) == count


def test_the_arrays_that_are_there_say_where(two_gpus: FakeCuda) -> None:
    bundle = make_bundle([("a", "array1[float32]"), ("b", "array1[float32]")], optional=["a", "b"])
    kernel = bundle["p.kernels:k"]
    first, second = (arrays.zeros(4, float, device="cuda:%d" % ordinal) for ordinal in (0, 1))
    for _ in range(3):
        kernel.launch(4, (None, second))
        kernel.launch(4, (first, None))
        kernel.launch(4, (None, None))
    with pytest.raises(LaunchError, match="the array is on cuda:1, but parameter a is on cuda:0"):
        kernel.launch(4, (first, second))
    assert len(two_gpus.records) == 9


@pytest.mark.parametrize(
    "path", ["missing", "model", "model.scale", "model.mass.deep", "out.x", "model.", "", "mask\nmask"]
)
def test_a_bundle_that_names_something_else(cuda: FakeCuda, path: str) -> None:
    with pytest.raises(BundleError, match="optional"):
        make_bundle(PARAMETERS, structs=STRUCTS, optional=[path])
    with pytest.raises(BundleError, match=r"optional\[1\] repeats 'mask'"):
        make_bundle(PARAMETERS, structs=STRUCTS, optional=["mask", "mask"])
