"""Kernels in CUDA C++ on the fake driver: addresses in place of arrays, no launch header, geometry as CUDA has it."""

from __future__ import annotations

import struct
from typing import Any

import pytest

import kbuild as kb
from kbuild.loader import abi, format, pack, resolve, schema, schema_faults, uses
from kbuild.loader.bundle import from_bytes
from kbuild.loader.errors import BundleError, LaunchError
from kbuild.loader.kernel import BundleKernel
from tests.helpers.fake_cuda import FakeCuda, bundle_bytes, make_bundle
from tests.helpers.situations import happens

SAXPY = [("n", "int32"), ("a", "float32"), ("x", "flat1[float32]"), ("y", "flat2[vec3[float32]]")]


def plain(parameters: Any = SAXPY, **options: Any) -> BundleKernel:
    return make_bundle(parameters, plain=True, **options)["p.kernels:k"]


def arrived(cuda: FakeCuda) -> tuple[list[int], list[int], int]:
    """Grid, block and shared memory of the last launch."""
    record = cuda.records[-1]
    sizes = list(record.sizes)
    return sizes[:3], sizes[3:], record.shared


def test_what_arrives(cuda: FakeCuda) -> None:
    kernel = plain()
    x, y = kb.zeros(5, dtype=float), kb.zeros((2, 3), dtype=kb.vec3)
    for _ in range(4):  # thorough launches, then the quick one
        resolve.launch(kernel, dim=1000, inputs=[5, 2.5, x, y])
        record = cuda.records[-1]
        assert record.size == 24
        assert struct.unpack_from("<ifQQ", bytes(record.bytes)) == (5, 2.5, x.ptr, y.ptr)
        assert arrived(cuda) == ([4, 1, 1], [256, 1, 1], 0)
    assert kernel.launch != kernel.thorough


def test_arrays_that_may_be_none(cuda: FakeCuda) -> None:
    kernel = plain([("x", "flat1[int32]"), ("y", "flat1[int32]")], optional=["y"])
    x = kb.zeros(3, dtype=int)
    for _ in range(4):
        for y in (None, x):
            resolve.launch(kernel, dim=1, inputs=[x, y])
            assert struct.unpack_from("<QQ", bytes(cuda.records[-1].bytes)) == (x.ptr, x.ptr if y is x else 0)
    with pytest.raises(LaunchError, match=r"parameter x: wanted array1\[int32\], got None"):
        resolve.launch(kernel, dim=1, inputs=[None, x])


@happens(
    "A launch",
    "a kernel in CUDA C++, which takes addresses, is given an array with gaps",
    "LaunchError names the parameter, and `.contiguous()`.",
)
def test_arrays_with_gaps_are_refused_and_told_the_cure(cuda: FakeCuda) -> None:
    kernel = plain([("x", "flat1[float32]"), ("y", "flat2[float32]")])
    x, y = kb.zeros(8, dtype=float), kb.zeros((4, 5), dtype=float)
    for _ in range(3):
        resolve.launch(kernel, dim=1, inputs=[x, y])
        resolve.launch(kernel, dim=1, inputs=[x[2:6], y[1:3]])  # no gaps: another address
        assert struct.unpack_from("<QQ", bytes(cuda.records[-1].bytes)) == (x.ptr + 8, y.ptr + 20)
        with pytest.raises(LaunchError, match=r"parameter x: .* this array has gaps: give it x.contiguous\(\)"):
            resolve.launch(kernel, dim=1, inputs=[x[::2], y])
        with pytest.raises(LaunchError, match=r"parameter y: .* has gaps"):
            resolve.launch(kernel, dim=1, inputs=[x, y.transpose()])
        with pytest.raises(LaunchError, match=r"parameter y: wanted array2\[float32\]"):
            resolve.launch(kernel, dim=1, inputs=[x, x])


@pytest.mark.parametrize(
    ("asked", "sizes"),
    [
        ({"dim": 257}, ([2, 1, 1], [256, 1, 1], 64)),
        ({"dim": (257,), "block_dim": 32}, ([9, 1, 1], [32, 1, 1], 64)),
        ({"grid": (2, 3), "block": (16, 8)}, ([2, 3, 1], [16, 8, 1], 64)),
        ({"grid": 7}, ([7, 1, 1], [256, 1, 1], 64)),
        ({"grid": 7, "shared_memory": 0}, ([7, 1, 1], [256, 1, 1], 0)),
        ({"grid": (2, 2, 2), "block": 32, "shared_memory": 100000}, ([2, 2, 2], [32, 1, 1], 100000)),
        ({"dim": 100, "shared_memory": 128}, ([1, 1, 1], [256, 1, 1], 128)),
        ({"dim": 100, "block_dim": 64, "shared_memory": 128}, ([2, 1, 1], [64, 1, 1], 128)),
    ],
)
def test_geometry(cuda: FakeCuda, asked: Any, sizes: Any) -> None:
    kernel = plain([("x", "float32")], shared_memory=64)
    for _ in range(4):
        resolve.launch(kernel, inputs=[1.0], **asked)
        assert arrived(cuda) == sizes
    bound = kb.bind(kernel, inputs=[1.0], **asked)
    bound()
    assert arrived(cuda) == sizes


@pytest.mark.parametrize(
    "asked", [{"dim": 5, "block_dim": 129}, {"grid": 2, "block": (16, 16)}, {"grid": 2, "block_dim": 256}]
)
def test_more_threads_than_launch_bounds_in_the_file(cuda: FakeCuda, asked: Any) -> None:
    kernel = plain([("x", "float32")], launch_bounds=(128, 0))
    for _ in range(3):
        resolve.launch(kernel, dim=5, inputs=[1.0])
        assert arrived(cuda) == ([1, 1, 1], [128, 1, 1], 0)
        before = len(cuda.records)
        with pytest.raises(LaunchError, match=r"a block of \d+ threads, and __launch_bounds__ in its file allows 128"):
            resolve.launch(kernel, inputs=[1.0], **asked)
        assert len(cuda.records) == before
        resolve.launch(kernel, grid=3, block=(8, 16), inputs=[1.0])
        assert arrived(cuda) == ([3, 1, 1], [8, 16, 1], 0)


def test_launch_bounds_and_shared_memory(cuda: FakeCuda) -> None:
    kernel = plain([("x", "float32")], launch_bounds=(64, 0), shared_memory=512)
    for _ in range(4):
        resolve.launch(kernel, grid=3, inputs=[1.0])
        assert arrived(cuda) == ([3, 1, 1], [64, 1, 1], 512)
        with pytest.raises(LaunchError, match="allows 64"):
            resolve.launch(kernel, grid=3, block=65, shared_memory=60000, inputs=[1.0])


def test_more_threads_than_one_launch_in_python_has(cuda: FakeCuda) -> None:
    resolve.launch(plain([]), dim=2**36, block_dim=1024)
    assert arrived(cuda)[0] == [2**26, 1, 1]


@pytest.mark.parametrize("dim", [0, (0,)])
def test_nothing_to_do(cuda: FakeCuda, dim: Any) -> None:
    resolve.launch(plain([]), dim=dim)
    assert cuda.records == []


WRONG = [
    ({"dim": (3, 4)}, "has no coordinates of its own: give grid and block"),
    ({"dim": 2.5}, "dim wants a number of threads"),
    ({"dim": -1}, "number of threads from 0 on"),
    ({"dim": 5, "block_dim": 2000}, "1024"),
    ({"grid": 5, "max_blocks": 2}, "never cut"),
    ({"dim": 5, "grid": 1}, "not both"),
]


@pytest.mark.parametrize(("asked", "said"), WRONG)
def test_what_cannot_be_launched(cuda: FakeCuda, asked: Any, said: str) -> None:
    kernel = plain([("x", "float32")])
    for _ in range(3):
        with pytest.raises(LaunchError, match=said):
            resolve.launch(kernel, inputs=[1.0], **asked)
        resolve.launch(kernel, dim=1, inputs=[1.0])


def test_in_a_graph(cuda: FakeCuda) -> None:
    kernel, x = plain([("x", "flat1[float32]"), ("n", "int32")]), kb.zeros(4, dtype=float)
    step = kb.bind(kernel, grid=(2, 2), block=(8, 8), shared_memory=60000, inputs=[x, 3])
    with kb.capture() as graph:
        step()
        resolve.launch(kernel, dim=5, inputs=[x, 4])
    graph.launch()
    first, second = cuda.records[-2:]
    assert (list(first.sizes), first.shared) == ([2, 2, 1, 8, 8, 1], 60000)
    assert struct.unpack_from("<Qi", bytes(second.bytes)) == (x.ptr, 4)
    step.set(n=9)
    graph.update(step)
    graph.launch()
    assert struct.unpack_from("<Qi", bytes(cuda.records[-2].bytes)) == (x.ptr, 9)


def test_a_tape_says_that_it_has_no_gradient(cuda: FakeCuda) -> None:
    refused = {"refused": "it is written in CUDA C++", "line": 3}
    data = bundle_bytes([("x", "flat1[float32]"), ("y", "flat1[float32]")], plain=True)
    parsed = format.parse(data)
    manifest = {name: value for name, value in parsed.manifest.items() if name != "blobs"}
    manifest["kernels"][0]["backward"] = refused
    kernel = from_bytes(format.dump(manifest, [parsed.blob(0)]), "memory")["p.kernels:k"]
    x, y = kb.zeros(3, dtype=float), kb.zeros(3, dtype=float)
    wanted = kb.zeros(3, dtype=float, requires_grad=True)
    with kb.Tape():
        resolve.launch(kernel, dim=3, inputs=[x], outputs=[y])  # no gradient has to pass
        with pytest.raises(LaunchError, match="has no gradient: line 3: it is written in CUDA C\\+\\+"):
            resolve.launch(kernel, dim=3, inputs=[wanted], outputs=[y])
    assert len(cuda.records) == 1
    assert uses.tapes == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"origin": True}, "plain goes with none of"),
        ({"whole_blocks": True}, "plain goes with none of"),
        ({"waits": True}, "plain goes with none of"),
        ({"ndim": 2}, "plain goes with none of"),
        ({"dynamic_shared": 4}, "dynamic_shared is of kernels that run in whole_blocks"),
        ({"shared_memory": -1}, "shared_memory is -1, but wants an integer from 1 on"),
        ({"plain": False}, "plain"),
    ],
)
def test_manifests_that_cannot_be(change: Any, said: str) -> None:
    manifest = format.parse(bundle_bytes([("x", "flat1[float32]")], plain=True)).manifest
    manifest["kernels"][0].update(change)
    assert schema.structs_of(manifest) is None
    with pytest.raises(BundleError, match=said):
        schema_faults.check(manifest)


def test_addresses_are_of_plain_kernels_alone() -> None:
    for data, said in (
        (bundle_bytes([("x", "flat1[float32]")]), "that plain kernels alone have"),
        (bundle_bytes([("x", "float32")], shared_memory=3), "shared_memory is of plain kernels alone"),
    ):
        with pytest.raises(BundleError, match=said):
            format.parse(data)


def test_the_type() -> None:
    type = abi.parse("flat2[vec3[float32]]", {})
    assert isinstance(type, abi.Flat)
    assert (type.size, type.align, str(type.given)) == (8, 8, "array2[vec3[float32]]")
    assert pack.format_of(type) == "8s"
    with pytest.raises(ValueError, match="unknown type"):
        abi.parse("flat5[float32]", {})
