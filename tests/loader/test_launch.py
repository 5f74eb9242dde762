"""Launches on the fake driver: what arrives there, and what is refused before."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from kbuild.loader import array as arrays
from kbuild.loader import context, geometry
from kbuild.loader.bundle import Bundle
from kbuild.loader.errors import BundleError, DriverError, LaunchError
from kbuild.loader.layout import struct as kb_struct
from kbuild.loader.types import float32, float64, int32
from kbuild.loader.values import bool_
from tests.helpers.fake_cuda import FOREIGN_CONTEXT, FakeCuda, make_bundle

INTEGRATE = [("pos", "array1[vec3[float32]]"), ("gravity", "vec3[float32]"), ("dt", "float32"), ("n", "int32")]


def vec3() -> Any:
    from kbuild.loader.values import vec3 as made

    return made


def launched(cuda: FakeCuda, bundle: Bundle, which: int = -1) -> tuple[bytes, dict[str, tuple[Any, ...]]]:
    """Header and parameters of a launch, unpacked at the offsets of the manifest."""
    record = cuda.records[which]
    row = bundle.manifest["kernels"][0]
    data = bytes(record.bytes)[: record.size]
    assert record.size == row["size"]
    codes = {"float32": "f", "int32": "i", "vec3[float32]": "3f", "bool": "?", "mat2x2[float64]": "4d", "uint8": "B"}
    values = {}
    for p in row["parameters"]:
        code = codes.get(p["type"], "Q" + "i" * ((p["size"] - 8) // 4) if p["type"].startswith("array") else "")
        values[p["name"]] = struct.unpack_from("<" + code, data, p["offset"])
    return data[:4], values


def test_first_and_later_launches_arrive_alike(cuda: FakeCuda) -> None:
    bundle = make_bundle(INTEGRATE)
    kernel = bundle["p.kernels:k"]
    pos = arrays.zeros(100, vec3())
    for _ in range(3):  # two thorough launches, then the quick one
        kernel.launch(dim=100, args=(pos, (0.0, -9.5, 0.0), 0.5, 7), stream=0x77)
        header, values = launched(cuda, bundle)
        assert header == struct.pack("<I", 100)
        assert values == {"pos": (pos.ptr, 100, 12), "gravity": (0.0, -9.5, 0.0), "dt": (0.5,), "n": (7,)}
        record = cuda.records[-1]
        assert (record.grid, record.block, record.stream) == (1, 256, 0x77)
    assert kernel.launch != kernel.thorough
    assert cuda.calls.count("cuModuleLoadData") == 1


def test_the_quick_launch_makes_one_call(cuda: FakeCuda) -> None:
    bundle = make_bundle(INTEGRATE)
    kernel = bundle["p.kernels:k"]
    args = (arrays.zeros(100, vec3()), vec3()(1, 2, 3), 0.5, 7)
    kernel.launch(100, args)
    kernel.launch(100, args)
    before = len(cuda.calls)
    kernel.launch(300, args)
    kernel.launch(300, args, device="cuda:0", block_dim=64)
    assert cuda.calls[before:] == ["cuLaunchKernelEx"] * 2
    assert [(r.grid, r.block) for r in cuda.records] == [(1, 256), (1, 256), (2, 256), (5, 64)]


def test_many_numbers_arrive(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than one call packs."""
    types = ["float32", "int8", "vec3[float32]", "mat2x2[float64]", "int32", "array1[float32]"]
    parameters = [(f"p{i}", types[i % len(types)]) for i in range(29)]
    kernel = make_bundle(parameters)["p.kernels:k"]
    made = arrays.zeros(3)
    values: list[Any] = [1.5, 7, (1.0, 2.0, 3.0), ((1.0, 2.0), (3.0, 4.0)), -9, made]
    for number in range(4):
        args = [values[i % len(types)] for i in range(29)]
        args[27] = ((float(number), 0.5), (0.25, 8.0))
        if number == 2:
            monkeypatch.setattr(kernel, "packing", None)
        kernel.launch(10, args)
    sent = [bytes(record.bytes)[: record.size] for record in cuda.records]
    offset = kernel.bundle.manifest["kernels"][0]["parameters"][27]["offset"]
    for number, data in enumerate(sent):
        assert struct.unpack_from("<4d", data, offset) == (number, 0.5, 0.25, 8.0)
        assert data[:offset] + data[offset + 32 :] == sent[0][:offset] + sent[0][offset + 32 :]


def test_later_launches_are_quick_ones(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever fits stays on the quick way: the thorough one would hide that it is broken."""
    name = f"{__name__}:Spring"
    parameters = [
        ("a", "array2[vec3[float32]]"),
        ("on", "bool"),
        ("n", "int64"),
        ("x", "float16"),
        ("v", "vec2[float64]"),
        ("m", "mat2x2[float32]"),
        ("s", "struct:" + name),
    ]
    kernel = make_bundle(parameters, structs={name: SPRING}, ndim=2)["p.kernels:k"]
    spring = Spring(start=arrays.zeros(1), pair=arrays.zeros((1, 1), int32))  # type: ignore[call-arg]
    args = [arrays.zeros((2, 2), vec3()), True, -5, 0.5, (1.0, 2.0), [(1, 2), (3, 4)], spring]
    kernel.launch((2, 3), args)
    kernel.launch((2, 3), args)
    monkeypatch.setattr(kernel, "packing", None)
    for options in ({}, {"stream": 5}, {"stream": Protocol()}, {"device": "cuda:0"}, {"device": 0}, {"block_dim": 64}):
        kernel.launch((2, 3), args, **options)
        kernel.launch(dim=7, args=tuple(args), **options)
    assert len(cuda.records) == 14
    assert len({bytes(r.bytes)[64:] for r in cuda.records}) == 1
    without = make_bundle([])["p.kernels:k"]
    without.launch(1)
    without.launch(1)
    monkeypatch.setattr(without, "packing", None)
    without.launch(1)


def test_old_drivers_launch_through_cuLaunchKernel(tmp_path: Any) -> None:
    from tests.helpers.fake_cuda import compile_library

    with FakeCuda(compile_library(tmp_path, "-DFAKE_OLD_DRIVER"), version="11040") as cuda:
        bundle = make_bundle([("x", "float32"), ("n", "int32")])
        bundle.manifest["cubins"][0].update(cuda=[11, 8], driver=[11, 0])
        for _ in range(2):
            bundle["p.kernels:k"].launch(1000, (2.5, -3), stream=2**40 + 5)
        assert [(r.grid, r.block, r.stream) for r in cuda.records] == [(4, 256, 2**40 + 5)] * 2
        assert launched(cuda, bundle)[1] == {"x": (2.5,), "n": (-3,)}


REFUSED = [
    ((1.0,), "takes 4 arguments (pos, gravity, dt, n), got 1"),
    (["POS", "GRAVITY", "1.0", "2.0"], "parameter pos: wanted array1[vec3[float32]], got str 'POS'"),
    (("pos", None, 1.0, 2), "parameter gravity: wanted vec3[float32], got None"),
    (("pos", (1, 2), 1.0, 2), "parameter gravity: wanted vec3[float32], got 2 values: tuple (1, 2)"),
    (("pos", {1.0, 2.0, 3.0}, 1.0, 2), "parameter gravity: wanted vec3[float32], got set"),
    (("pos", "abc", 1.0, 2), "parameter gravity: wanted vec3[float32], got str 'abc'"),
    (("pos", (1, "2", 3), 1.0, 2), "parameter gravity[1]: wanted float32, got str '2'"),
    (("pos", (1, 2, 3), "1", 2), "parameter dt: wanted float32, got str '1'"),
    (("pos", (1, 2, 3), None, 2), "parameter dt: wanted float32, got None"),
    (("pos", (1, 2, 3), 1e39, 2), "parameter dt: 1e+39 does not fit float32"),
    (("pos", (1, 2, 3), 1.0, 2.0), "parameter n: wanted int32, got float 2.0"),
    (
        ("pos", (1, 2, 3), 1.0, 2**31),
        "parameter n: 2147483648 does not fit int32, which holds -2147483648 to 2147483647",
    ),
    (("float64 array", (1, 2, 3), 1.0, 2), "parameter pos: wanted array1[vec3[float32]], got a foreign float64 array"),
    (
        ("2-D array", (1, 2, 3), 1.0, 2),
        "parameter pos: wanted array1[vec3[float32]], got a foreign float32 array of shape",
    ),
    (("list", (1, 2, 3), 1.0, 2), "got list [1.0, 2.0] in host memory: copy it to the GPU with kb.array(…) first"),
    (("freed", (1, 2, 3), 1.0, 2), "parameter pos: the array has been freed"),
]


@pytest.mark.parametrize("warm", [False, True], ids=["first launch", "later launch"])
@pytest.mark.parametrize(("args", "message"), REFUSED)
def test_refused(cuda: FakeCuda, args: Any, message: str, warm: bool) -> None:
    kernel = make_bundle(INTEGRATE)["p.kernels:k"]
    good = arrays.zeros(4, vec3())
    freed = arrays.zeros(4, vec3())
    freed.free()
    special = {
        "pos": good,
        "freed": freed,
        "float64 array": arrays.zeros((4, 3), float64),
        "2-D array": arrays.zeros((2, 2), vec3()),
        "list": [1.0, 2.0],
    }
    if warm:
        kernel.launch(4, (good, (1, 2, 3), 1.0, 2))
    count = len(cuda.records)
    args = tuple(special.get(a, a) if isinstance(a, str) else a for a in args)
    with pytest.raises(LaunchError) as caught:
        kernel.launch(4, args)
    assert message in str(caught.value)
    assert "p.kernels:k" in str(caught.value)
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    assert len(cuda.records) == count
    kernel.launch(4, (good, (1, 2, 3), 1.0, 2))  # nothing is left behind
    assert len(cuda.records) == count + 1


@pytest.mark.parametrize("args", [5, "abcd", {"pos": 1}, None])
def test_args_must_be_a_sequence(cuda: FakeCuda, args: Any) -> None:
    with pytest.raises(LaunchError, match="args wants a tuple or a list of arguments"):
        make_bundle(INTEGRATE)["p.kernels:k"].launch(1, args)


@pytest.mark.parametrize(
    ("dim", "options", "message"),
    [
        (-1, {}, "p.kernels:k: dim is negative"),
        (1.5, {}, "dim wants an integer"),
        (1, {"block_dim": 2000}, "block_dim is 1 to 1024 threads, not int 2000"),
        (1, {"stream": "fast"}, "stream wants None, a handle, or an object"),
        (
            1,
            {"stream": -1},
            "stream wants None, a handle, or an object with __cuda_stream__, .cuda_stream, .handle or .ptr; got int -1",
        ),
        (1, {"device": "cpu"}, "nothing runs kernels on device 'cpu'"),
        (1, {"device": "cpu:0"}, "nothing runs kernels on device 'cpu:0'"),
    ],
)
@pytest.mark.parametrize("warm", [False, True])
def test_options_refused(cuda: FakeCuda, dim: Any, options: dict[str, Any], message: str, warm: bool) -> None:
    kernel = make_bundle([("x", "float32")])["p.kernels:k"]
    if warm:
        kernel.launch(1, (0.0,))
    with pytest.raises(LaunchError) as caught:
        kernel.launch(dim, (0.0,), **options)
    assert message in str(caught.value)


@pytest.mark.parametrize("device", ["cuda:1", 7, "gpu", "cuda:x"])
def test_unknown_devices(cuda: FakeCuda, device: Any) -> None:
    kernel = make_bundle([("x", "float32")])["p.kernels:k"]
    with pytest.raises((DriverError, LaunchError), match="device"):
        kernel.launch(1, (0.0,), device=device)


def test_numbers_that_fit(cuda: FakeCuda) -> None:
    bundle = make_bundle([("a", "bool"), ("b", "uint8"), ("c", "float32"), ("d", "int32"), ("m", "mat2x2[float64]")])
    kernel = bundle["p.kernels:k"]
    for _ in range(2):
        kernel.launch(1, (True, 255, True, False, ((1, 2), [3, 4])))
        wanted = {"a": (True,), "b": (255,), "c": (1.0,), "d": (0,), "m": (1.0, 2.0, 3.0, 4.0)}
        assert launched(cuda, bundle)[1] == wanted
        kernel.launch(1, (0, 0, float("nan"), -1, ((1, 2), [3, 4])))
        values = launched(cuda, bundle)[1]
        assert values["a"] == (False,)
        assert values["c"][0] != values["c"][0]
        for wrong in ((2, 0, 0.0, 0), ("yes", 0, 0.0, 0), (True, 256, 0.0, 0), (True, -1, 0.0, 0), ([], 0, 0.0, 0)):
            with pytest.raises(LaunchError, match=r"parameter [ab]: "):
                kernel.launch(1, (*wrong, ((1, 2), (3, 4))))
        with pytest.raises(LaunchError, match=r"parameter m\[1\]: wanted vec2\[float64\], got 1 values"):
            kernel.launch(1, (True, 1, 0.0, 0, ((1, 2), (3,))))


@kb_struct
class Spring:
    rest: float
    start: arrays.array(dtype=float32)  # type: ignore[valid-type]
    pair: arrays.array2d[int32]  # type: ignore[valid-type]
    stiff: bool


SPRING = {
    "size": 56,
    "align": 8,
    "fields": [
        ["rest", "float32", 0],
        ["start", "array1[float32]", 8],
        ["pair", "array2[int32]", 24],
        ["stiff", "bool", 48],
    ],
}


def spring_bundle() -> Bundle:
    name = f"{__name__}:Spring"
    return make_bundle([("spring", "struct:" + name), ("x", "float32")], structs={name: SPRING})


def test_structs_with_arrays(cuda: FakeCuda) -> None:
    bundle = spring_bundle()
    kernel = bundle["p.kernels:k"]
    start, pair = arrays.array([1.0, 2.0]), arrays.zeros((2, 3), int32)
    spring = Spring(rest=0.5, start=start, pair=pair, stiff=True)  # type: ignore[call-arg]
    fields = {"rest": 0.5, "start": start, "pair": pair, "stiff": True}
    seen = []
    for value in (spring, spring, fields, tuple(fields.values())):
        kernel.launch(1, (value, 2.0))
        seen.append(bytes(cuda.records[-1].bytes)[: cuda.records[-1].size])
    assert seen[1:] == seen[:-1]
    wanted = struct.pack("<fxxxxQiiQiiii?", 0.5, start.ptr, 2, 4, pair.ptr, 2, 3, 12, 4, True)
    assert seen[0][8 : 8 + len(wanted)] == wanted


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rest": "soft"}, "parameter spring.rest: wanted float32, got str 'soft'"),
        ({"start": None}, "parameter spring.start: wanted array1[float32], got None"),
        (
            {"stiffness": 1},
            "wanted test_launch:Spring with the fields rest, start, pair, stiff; got a dict with stiffness",
        ),
    ],
)
def test_structs_refused(cuda: FakeCuda, change: dict[str, Any], message: str) -> None:
    kernel = spring_bundle()["p.kernels:k"]
    fields = {"rest": 0.5, "start": arrays.zeros(1), "pair": arrays.zeros((1, 1), int32), "stiff": True, **change}
    with pytest.raises(LaunchError) as caught:
        kernel.launch(1, (fields, 2.0))
    assert message in str(caught.value).replace(__name__, "test_launch")


def test_what_is_no_struct_is_refused(cuda: FakeCuda) -> None:
    kernel = spring_bundle()["p.kernels:k"]
    with pytest.raises(LaunchError, match=r"parameter spring: wanted .*Spring, got float 1.0, which has no 'rest'"):
        kernel.launch(1, (1.0, 2.0))


def test_a_struct_laid_out_otherwise_is_refused(cuda: FakeCuda) -> None:
    name = f"{__name__}:Spring"
    other = {"size": 4, "align": 4, "fields": [["rest", "float32", 0]]}
    kernel = make_bundle([("springs", f"array1[struct:{name}]")], structs={name: other})["p.kernels:k"]
    with pytest.raises(LaunchError, match="laid out differently in the bundle: rebuild it"):
        kernel.launch(1, (arrays.zeros(3, Spring),))


def test_large_launches_go_in_pieces(cuda: FakeCuda) -> None:
    kernel = make_bundle([("x", "float32")], ndim=2)["p.kernels:k"]
    kernel.launch((3, 2**30), (1.0,))
    assert len(cuda.records) == 3
    counts = [struct.unpack_from("<I", bytes(r.bytes))[0] for r in cuda.records]
    origins = [struct.unpack_from("<ii", bytes(r.bytes), 16) for r in cuda.records]
    assert (counts, origins) == ([2**30] * 3, [(0, 0), (1, 0), (2, 0)])
    kernel.launch((3, 2**30), (1.0,))
    assert len(cuda.records) == 6


def test_an_empty_launch_launches_nothing(cuda: FakeCuda) -> None:
    kernel = make_bundle([("x", "float32")], ndim=2)["p.kernels:k"]
    kernel.launch((3, 0), (1.0,))
    kernel.launch(0, (1.0,))
    assert cuda.records == []


def test_many_different_dims_do_not_pile_up(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    from kbuild.loader.kernel import Prefixes

    monkeypatch.setattr(Prefixes, "_LIMIT", 8)
    kernel = make_bundle([("x", "float32")])["p.kernels:k"]
    for n in range(1, 40):
        kernel.launch(n, (1.0,))
    assert len(kernel.load(context.get_device()).prefixes.known) <= 8
    assert [struct.unpack_from("<I", bytes(r.bytes))[0] for r in cuda.records] == list(range(1, 40))


# Contexts


def test_a_thread_without_context_gets_the_primary_one(cuda: FakeCuda) -> None:
    kernel = make_bundle([("x", "float32")])["p.kernels:k"]
    kernel.launch(1, (1.0,))
    assert cuda.library.fake_current() == 0x1000
    cuda.set_current(0)  # as in another thread
    kernel.launch(1, (1.0,))
    assert len(cuda.records) == 2
    before = len(cuda.calls)
    kernel.launch(1, (1.0,))
    assert cuda.calls[before:] == ["cuLaunchKernelEx"]


def test_another_context_is_left_as_it_was(cuda: FakeCuda) -> None:
    kernel = make_bundle([("x", "float32")])["p.kernels:k"]
    cuda.set_current(FOREIGN_CONTEXT)
    for _ in range(3):
        kernel.launch(1, (1.0,))
        assert (cuda.library.fake_current(), cuda.library.fake_depth()) == (FOREIGN_CONTEXT, 1)
    assert len(cuda.records) == 3


def test_arrays_decide_the_device(two_gpus: FakeCuda) -> None:
    kernel = make_bundle([("a", "array1[float32]"), ("x", "float32")])["p.kernels:k"]
    here, there = arrays.zeros(3, device="cuda:0"), arrays.zeros(3, device=1)
    for a in (here, there, there, here):
        kernel.launch(1, (a, 1.0))
        assert struct.unpack_from("<Q", bytes(two_gpus.records[-1].bytes), 8) == (a.ptr,)
    assert two_gpus.calls.count("cuModuleLoadData") == 2
    for _ in range(2):
        with pytest.raises(LaunchError, match="parameter a: the array is on cuda:1, but the launch is on cuda:0"):
            kernel.launch(1, (there, 1.0), device="cuda:0")
    assert two_gpus.library.fake_depth() == 1


def test_two_arrays_on_two_devices(two_gpus: FakeCuda) -> None:
    kernel = make_bundle([("a", "array1[float32]"), ("b", "array1[float32]")])["p.kernels:k"]
    here, there = arrays.zeros(3, device="cuda:0"), arrays.zeros(3, device=1)
    kernel.launch(1, (here, here))
    for args in ((here, there), (there, here)):
        with pytest.raises(LaunchError, match="the array is on cuda"):
            kernel.launch(1, args)


def test_without_arrays_the_first_device_is_meant(two_gpus: FakeCuda) -> None:
    kernel = make_bundle([("x", "float32")])["p.kernels:k"]
    kernel.launch(1, (1.0,), device=1)
    kernel.launch(1, (1.0,), device=1)
    kernel.launch(1, (1.0,))
    functions = [r.function for r in two_gpus.records]
    assert functions[0] == functions[1] != functions[2]


# Errors of the driver


def test_a_failed_launch_says_what_and_leaves_nothing(cuda: FakeCuda) -> None:
    kernel = make_bundle([("x", "float32")])["p.kernels:k"]
    kernel.launch(1, (1.0,))
    kernel.launch(1, (1.0,))
    cuda.fail("cuLaunchKernelEx", 701, times=2)  # the quick launch, then the thorough one
    with pytest.raises(DriverError) as caught:
        kernel.launch(1, (1.0,), block_dim=1024)
    error = caught.value
    assert (error.call, error.code, error.name) == ("cuLaunchKernelEx", 701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES")
    for part in ("p.kernels:k on cuda:0 (Fake GPU 0)", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)", "smaller block_dim"):
        assert part in str(error)
    kernel.launch(1, (1.0,))
    assert len(cuda.records) == 3


# Streams


class Stream:
    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class Protocol:
    def __cuda_stream__(self) -> tuple[int, int]:
        return (0, 55)


@pytest.mark.parametrize(
    ("stream", "handle"),
    [(None, 0), (9, 9), (Stream(handle=11), 11), (Stream(cuda_stream=12), 12), (Stream(ptr=13), 13), (Protocol(), 55)],
)
def test_streams(cuda: FakeCuda, stream: Any, handle: int) -> None:
    kernel = make_bundle([("x", "float32")])["p.kernels:k"]
    for _ in range(3):
        kernel.launch(1, (1.0,), stream=stream)
        assert cuda.records[-1].stream == handle


def test_nothing_for_this_gpu(fake_library: Any) -> None:
    with FakeCuda(fake_library, devices="8.9", version="12080"), pytest.raises(BundleError) as caught:
        make_bundle([("x", "float32")])["p.kernels:k"].launch(1, (1.0,))
    for part in (
        "p.kernels:k: nothing in the bundle of package 'p' (memory) runs on Fake GPU 0 (sm_89, driver for CUDA 12.8)",
        "sm_90 (12.9.86): ",
        '[tool.kbuild] targets = ["sm_90", "sm_89"]',
    ):
        assert part in str(caught.value)


def test_bool_array_type_is_not_uint8(cuda: FakeCuda) -> None:
    kernel = make_bundle([("a", "array1[bool]")])["p.kernels:k"]
    kernel.launch(1, (arrays.zeros(1, bool_),))
    with pytest.raises(LaunchError, match=r"wanted array1\[bool\], got a foreign uint8 array"):
        kernel.launch(1, (arrays.array(b"abc"),))


def test_max_threads_is_what_the_contract_says() -> None:
    assert geometry.MAX_THREADS == 2**31 - 1
