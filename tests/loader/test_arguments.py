"""Random argument lists from a grammar of right and wrong values: with a wrong one in it, the driver sees no launch."""

from __future__ import annotations

import array as python_array
import decimal
import fractions
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbuild.loader import array as arrays
from kbuild.loader.errors import DriverError, LaunchError
from kbuild.loader.types import abi_type, struct, uint8
from kbuild.loader.values import mat22, vec2, vec3, vec3d, vec4
from tests.helpers.fake_cuda import FakeCuda, make_bundle
from tests.helpers.situations import happens

SECTION = "A launch"


@struct
class Spring:
    rest: float
    points: arrays.array(dtype=vec3)  # type: ignore[valid-type]
    pair: vec2  # type: ignore[valid-type]


PARAMETERS = [
    ("pos", "array1[vec3[float32]]"),
    ("grid", "array2[int32]"),
    ("spring", abi_type(Spring).spelling),
    ("gravity", "vec3[float32]"),
    ("frame", "mat2x2[float32]"),
    ("dt", "float32"),
    ("count", "int32"),
    ("small", "uint8"),
    ("flag", "bool"),
]
NAMES = [name for name, _ in PARAMETERS]


class Tensor:
    """Another library's array."""

    def __init__(self, ptr: int, shape: Any, typestr: str, **described: Any) -> None:
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "data": (ptr, False), "version": 3}
        self.__cuda_array_interface__.update(described)


class Stream:
    def __init__(self, handle: Any) -> None:
        self.handle = handle


class Raises:
    """An object whose every conversion goes wrong."""

    def __index__(self) -> int:
        raise RuntimeError("no")

    __float__ = __len__ = __bool__ = __index__  # type: ignore[assignment]

    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("no")


class World:
    """Two GPUs with arrays, and the right and wrong values for each parameter."""

    def __init__(self, cuda: FakeCuda) -> None:
        self.cuda = cuda
        bundle = make_bundle(PARAMETERS, structs={abi_type(Spring).name: abi_type(Spring).to_json()})
        self.warm = bundle["p.kernels:k"]
        self.bundle = bundle
        self.right, self.wrong = self.values()
        self.launch(self.warm, [values[0] for values in self.right.values()])

    def fresh(self) -> Any:
        """The kernel as at its first launch."""
        self.warm.launch = self.warm.thorough
        return self.warm

    @staticmethod
    def launch(kernel: Any, args: Any, **options: Any) -> None:
        kernel.launch(options.pop("dim", 3), args, **options)

    def values(self) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
        pos, there, freed = arrays.zeros(4, vec3), arrays.zeros(4, vec3, device=1), arrays.zeros(4, vec3)
        grid, floats, stale = arrays.zeros((2, 3), int), arrays.zeros((4, 3)), arrays.zeros((2, 3), int)
        dangling = arrays.zeros((2, 3), int)
        gone = dangling.ptr
        for array in (freed, stale, dangling):
            array.free()
        spring = Spring(rest=1.0, points=pos, pair=vec2(1, 2))  # type: ignore[call-arg]
        self.keep = [pos, there, grid, floats]
        right: dict[str, list[Any]] = {
            "pos": [pos, floats, Tensor(pos.ptr, (4, 3), "<f4"), Tensor(pos.ptr, (2, 3), "<f4", strides=(24, 4))],
            "grid": [grid, Tensor(grid.ptr, (2, 3), "<i4"), Tensor(grid.ptr + 8, (2, 3), "<i4", strides=(12, -4))],
            "spring": [spring, (1.0, pos, (1, 2)), {"rest": 1, "points": floats, "pair": [1, 2]}],
            "gravity": [vec3(1, 2, 3), (1, 2.5, True), [1, 2, 3], vec3d(1, 2, 3), numpy.ones(3, numpy.float32)],
            "frame": [mat22(1, 2, 3, 4), ((1, 2), [3, 4]), [vec2(1, 2), (3, 4)], numpy.ones((2, 2))],
            "dt": [0.5, 1, True, float("nan"), float("inf"), numpy.float64(2.5), fractions.Fraction(1, 3)],
            "count": [7, -(2**31), 2**31 - 1, True, numpy.int64(5)],
            "small": [0, 255, numpy.uint8(3)],
            "flag": [True, False, 0, 1, numpy.bool_(True)],
        }
        nothing = [None, "text", b"bytes", object(), {}, set(), Raises(), Exception, 1j]
        numbers = [*nothing, [], [1], (1,), pos]
        wrong: dict[str, list[Any]] = {
            "pos": [
                *nothing, 1, 1.5, (1, 2, 3), [vec3(1, 2, 3)], numpy.zeros((4, 3), numpy.float32),
                python_array.array("f", [1, 2, 3]),  # on the host
                there, freed, grid, arrays.zeros((2, 2), vec3), arrays.zeros(4, vec4), arrays.zeros(4, vec3d),
                Tensor(pos.ptr, (4, 3), "<f8"), Tensor(pos.ptr, (4, 2), "<f4"), Tensor(pos.ptr, (4,), "<f4"),
                Tensor(pos.ptr, (4, 3), ">f4"), Tensor(pos.ptr, (4, 3), "<f4", strides=(12, 8)),
                Tensor(pos.ptr + 2, (2, 3), "<f4"), Tensor(pos.ptr, (2, 3), "<f4", strides=(14, 4)),
                Tensor(pos.ptr, (-4, 3), "<f4"), Tensor(pos.ptr, (2**31, 3), "<f4"),
                Tensor(pos.ptr, (2, 3), "<f4", strides=(2**31, 4)), Tensor(there.ptr, (4, 3), "<f4"),
                Tensor(0, (4, 3), "<f4"), Tensor(id(pos), (4, 3), "<f4"), Tensor(-8, (4, 3), "<f4"),
                Tensor(pos.ptr, (4, 3), "<f4", mask=pos), Tensor(pos.ptr, "ab", "<f4"), Tensor(pos.ptr, 4, "<f4"),
            ],
            "grid": [
                *nothing, 1, stale, pos, arrays.zeros((2, 3), int, device=1), arrays.zeros(6, int),
                arrays.zeros((2, 3)), arrays.zeros((2, 3), uint8), Tensor(gone, (2, 3), "<i4"),
                Tensor(grid.ptr, (6,), "<i4"), Tensor(grid.ptr, (2, 3), "<u4"), Tensor(grid.ptr + 1, (1, 1), "<i4"),
            ],
            "spring": [
                *nothing, 1.0, Spring, (1.0, pos), (1.0, pos, (1, 2), 3), {"rest": 1.0, "points": pos},
                {"rest": 1.0, "points": pos, "pair": (1, 2), "more": 1},
                *[{"rest": 1.0, "points": pos, "pair": (1, 2), **change}
                  for change in ({"rest": "x"}, {"rest": 1e39}, {"points": None}, {"points": freed},
                                 {"points": there}, {"pair": (1, 2, 3)}, {"pair": (1, "2")})],
                Spring(rest=1.0, points=there, pair=vec2(1, 2)),  # type: ignore[call-arg]
                Spring(rest=1.0, points=freed, pair=vec2(1, 2)),  # type: ignore[call-arg]
                Spring(rest=1.0),  # type: ignore[call-arg]
            ],
            "gravity": [*numbers, 1.0, (1, 2), (1, 2, 3, 4), vec2(1, 2), (1, "2", 3), (1, None, 3), (1, 2, 1e39),
                        mat22(1, 2, 3, 4), numpy.ones((3, 2)), ((1,), (2,), (3,)), {1: 1, 2: 2, 3: 3}, {1, 2, 3},
                        "abc", b"abc", floats],
            "frame": [*numbers, 1.0, (1, 2, 3, 4), ((1, 2),), ((1, 2), (3,)), ((1, 2), (3, "4")), vec2(1, 2),
                      numpy.ones(4), numpy.ones((3, 3))],
            "dt": [*numbers, "1.5", b"1.5", bytearray(b"1.5"), 1e39, -1e39, 10**400, vec2(1, 2), [1.0], (1.0,)],
            "count": [*numbers, 1.0, 7.5, float("nan"), "7", b"7", 2**31, -(2**31) - 1, 10**30,
                      numpy.float32(1), decimal.Decimal(1), fractions.Fraction(2, 1)],
            "small": [*numbers, -1, 256, 1.0, "1"],
            "flag": [*nothing, 2, -1, 0.5, "True", [], [True], vec2(1, 0)],
        }  # fmt: skip
        return right, wrong


OPTIONS: dict[str, tuple[list[Any], list[Any]]] = {
    "dim": (
        [1, 3, (2, 3), (2, 3, 4), True, numpy.int64(7), [4, 5]],
        [-1, 2.0, 3.0, "3", None, (), (1, -1), (2.0, 3), (2**31,), 2**40, (2**20, 2**20), [1, "2"], {}, 1j, Raises()],
    ),
    "stream": (
        [None, 0, 1, 2, 77, Stream(5), Stream(numpy.int64(5))],
        [-1, 1.0, True, "0", Stream("5"), Stream(5.0), Stream(-1), 2**64, [], Raises()],
    ),
    "device": ([None, "cuda", "cuda:0", 0], [1, "cuda:1", 2, -1, "gpu", "cpu", "", 0.0, False, b"cuda", [], "cuda:-1"]),
    "block_dim": ([None, 1, 64, 1024], [0, -1, 1025, 64.0, "64", True, [], 2**40, Raises()]),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, fake_library: Path) -> Iterator[World]:
    with FakeCuda(fake_library, devices="9.0,9.0") as cuda:
        yield World(cuda)
        assert cuda.breaches == []


def refused(world: World, kernel: Any, args: Any, options: dict[str, Any]) -> str | None:
    """The message of a launch that is refused before the driver sees it; None for one that gets there, once."""
    before, message = world.cuda.launches, None
    try:
        world.launch(kernel, args, **options)
    except LaunchError as error:
        message = str(error)
    except DriverError as error:
        message = str(error) if error.code == 101 else None  # there is no such device
    assert world.cuda.launches == before + (message is None), message
    return message


def is_blamed(name: str, message: str) -> bool:
    if name == "device":
        return "device" in message or "the launch is on cuda" in message
    return f"parameter {name}" in message or (name in OPTIONS and name in message)


EXAMPLES = settings(max_examples=400, suppress_health_check=list(HealthCheck), derandomize=True)


@happens(
    SECTION,
    "an argument has the wrong type, dimension, shape, stride, alignment, device or range, or was freed",
    "`LaunchError` that names the kernel and the parameter, says what was wanted and what was given; nothing reaches "
    "the driver, at the first launch and at every later one.",
)
@EXAMPLES
@given(st.data())
def test_wrong_arguments_never_reach_the_driver(world: World, data: st.DataObject) -> None:
    guilty = data.draw(st.sets(st.sampled_from([*NAMES, *OPTIONS]), max_size=2), "guilty")
    args = [data.draw(st.sampled_from((world.wrong if n in guilty else world.right)[n]), n) for n in NAMES]
    options = {
        name: data.draw(st.sampled_from(wrong if name in guilty else right), name)
        for name, (right, wrong) in OPTIONS.items()
        if name in guilty or data.draw(st.booleans())
    }
    container = data.draw(st.sampled_from([list, tuple]))
    for kernel in (world.fresh(), world.warm):
        message = refused(world, kernel, container(args), options)
        if not guilty:
            assert message is None
        else:
            assert message is not None, f"{guilty} went through"
            assert any(is_blamed(name, message) for name in guilty), message


def test_each_wrong_value_alone(world: World, record_property: Callable[[str, object], None]) -> None:
    """All of the grammar's values, one at a time, before and after the launch is the quick one."""
    good = [values[0] for values in world.right.values()]
    count = 0
    for place, name in enumerate(NAMES):
        for value in world.wrong[name]:
            for kernel in (world.fresh(), world.warm):
                message = refused(world, kernel, [*good[:place], value, *good[place + 1 :]], {})
                assert message is not None, (name, value)
                assert message.startswith("p.kernels:k: ")
                assert is_blamed(name, message), message
                world.launch(world.warm, good)
                count += 1
    for name, (right, wrong) in OPTIONS.items():
        for value in wrong:
            for kernel in (world.fresh(), world.warm):
                world.launch(world.warm, good)
                message = refused(world, kernel, good, {name: value})
                assert message is not None, (name, value)
                assert is_blamed(name, message), message
                count += 1
        for value in right:
            assert refused(world, world.warm, good, {name: value}) is None
    record_property("figure: wrong arguments refused before the driver saw them", count)


@happens(
    SECTION,
    "there are too many or too few arguments, or they are no list",
    "`LaunchError` that lists the parameters.",
)
@pytest.mark.parametrize("warm", [False, True])
def test_the_number_of_arguments(world: World, warm: bool) -> None:
    good = [values[0] for values in world.right.values()]
    for wrong in ([], good[:-1], [*good, 1], good[1:]):
        message = refused(world, world.warm if warm else world.fresh(), wrong, {})
        assert message == f"p.kernels:k takes 9 arguments ({', '.join(NAMES)}), got {len(wrong)}"
    for container in (set, iter, lambda args: dict.fromkeys(range(9)), lambda args: None, lambda args: 5):
        try:
            args = container(good)
        except TypeError:  # lists in a set
            continue
        message = refused(world, world.warm if warm else world.fresh(), args, {})
        assert message is not None
        assert "args wants a tuple or a list of arguments, not" in message


@happens(
    SECTION,
    "`dim` has no threads, or is negative",
    "Without threads nothing is launched; a negative number is a `LaunchError` that names the axis.",
)
@given(st.lists(st.integers(-2, 3), min_size=1, max_size=3).map(tuple))
@settings(max_examples=60, suppress_health_check=list(HealthCheck), derandomize=True)
def test_zero_and_negative(world: World, dim: tuple[int, ...]) -> None:
    good = [values[0] for values in world.right.values()]
    before = world.cuda.launches
    if min(dim) < 0:
        message = refused(world, world.warm, good, {"dim": dim})
        assert message is not None
        assert "dim is negative along axis %d" % next(i for i, n in enumerate(dim) if n < 0) in message
    else:
        world.launch(world.warm, good, dim=dim)
        assert world.cuda.launches == before + (0 not in dim)
