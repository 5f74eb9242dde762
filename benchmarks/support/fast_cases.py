"""What benchmarks/fast.py measures: twelve kernels with their data, their launches by kbuild and by hand.

Arrays are named, and `Name` stands for one in the arguments of a launch, whichever device it lies on. By hand a tuple
of three floats is a float3, an integer an int, a float a float.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

SIZES = {
    "elementwise": (1 << 25,),
    "particle step": (16_000_000,),
    "mass-spring": (1 << 20, 1 << 22),
    "3x3 stencil": (8192, 8192),
    "transpose": (8192, 8192),
    "reduction": (1 << 26,),
    "scan": (1 << 25,),
    "histogram": (1 << 26,),
    "matrix product": (2048, 2048, 2048),
    "N-body": (1 << 14,),
    "NV12 to RGB": (2160, 3840),
    "sparse matrix-vector": (1 << 20, 32),
}
# With remainders everywhere, but where the hand-written kernels take four elements at a time.
SMALL = {
    "elementwise": (1000,),
    "particle step": (1000,),
    "mass-spring": (50, 200),
    "3x3 stencil": (33, 70),
    "transpose": (33, 70),
    "reduction": (5000,),
    "scan": (9004,),
    "histogram": (5000,),
    "matrix product": (33, 20, 70),
    "N-body": (100,),
    "NV12 to RGB": (16, 36),
    "sparse matrix-vector": (75, 40),
}
DT, GRAVITY = 0.001, (0.0, -9.81, 0.0)
MEAN, SCALE = (0.485, 0.456, 0.406), (4.367, 4.464, 4.444)
A = 1.5
BLOCK, SCAN_BLOCKS = 256, 1024
SPRING = np.dtype([("first", "i4"), ("second", "i4"), ("length", "f4"), ("stiffness", "f4"), ("damping", "f4")])


class Name(str):
    """An array among the arguments."""


class Fours(Name):
    """An array of numbers among the arguments, as vectors of four."""


@dataclass(frozen=True)
class Launch:
    """Of a kernel `module:name`, over `dim` threads or as grid and block."""

    kernel: str
    inputs: tuple[Any, ...]
    dim: Any = None
    grid: Any = None
    block: Any = None


@dataclass(frozen=True)
class ByHand:
    """Of an entry of a cubin of hand-written kernels."""

    unit: str
    entry: str
    arguments: tuple[Any, ...]
    grid: tuple[int, int]
    block: tuple[int, int] = (BLOCK, 1)


@dataclass(frozen=True)
class Case:
    """Arrays by name with the types of their elements, launches, and which arrays are the `results`.

    `bytes` are read and written at least, where memory is the limit; `near` is how far results may be apart, relative
    to the largest number; `wanted` computes the results from the arrays as they were before.
    """

    arrays: dict[str, tuple[Any, str]]
    launches: tuple[Launch, ...]
    by_hand: tuple[ByHand, ...]
    results: tuple[str, ...]
    wanted: Callable[[dict[str, Any]], tuple[Any, ...]]
    bytes: int | None = None
    near: float = 0.0


def make(title: str, sizes: dict[str, tuple[int, ...]]) -> Case:
    """A case with its data, the same each time."""
    return _CASES[title](np.random.default_rng(1), *sizes[title])


def parts(whole: int, part: int) -> int:
    """How many parts there are, the last one perhaps smaller."""
    return -(-whole // part)


def _floats(numbers: Any, *shape: int) -> Any:
    return numbers.random(shape, np.float32) * np.float32(2.0) - np.float32(1.0)


def _plane(height: int, width: int, block: tuple[int, int]) -> tuple[int, int]:
    return parts(width, block[0]), parts(height, block[1])


def _elementwise(numbers: Any, count: int) -> Case:
    return Case(
        {"x": (_floats(numbers, count), "float32"), "y": (_floats(numbers, count), "float32")},
        (Launch("benchkernels.linear:saxpy", (A, Name("x"), Name("y")), dim=count),),
        (ByHand("benchkernels.linear", "saxpy", (A, Name("x"), Name("y"), count), (parts(count, BLOCK), 1)),),
        ("y",),
        lambda was: (A * was["x"] + was["y"],),
        bytes=12 * count,
        near=1e-6,
    )


def _particles(numbers: Any, count: int) -> Case:
    gravity = np.array(GRAVITY, np.float32)

    def wanted(was: dict[str, Any]) -> tuple[Any, ...]:
        vel = was["vel"] + gravity * np.float32(DT)
        return was["pos"] + vel * np.float32(DT), vel

    arguments = (Name("pos"), Name("vel"), count, GRAVITY, DT)
    return Case(
        {"pos": (_floats(numbers, count, 3), "vec3"), "vel": (_floats(numbers, count, 3), "vec3")},
        (Launch("robosim.kernels:integrate", (Name("pos"), Name("vel"), GRAVITY, DT), dim=count),),
        (ByHand("robosim.kernels", "integrate", arguments, (parts(count, BLOCK), 1)),),
        ("pos", "vel"),
        wanted,
        bytes=48 * count,
        near=1e-6,
    )


def _springs(numbers: Any, count: int, springs: int) -> Case:
    made = np.zeros(springs, SPRING)
    made["first"] = np.arange(springs) % count
    made["second"] = (made["first"] + numbers.integers(1, 33, springs)) % count
    made["length"], made["damping"] = 0.7, 0.5
    made["stiffness"] = numbers.uniform(50.0, 150.0, springs)
    vectors = {name: (_floats(numbers, count, 3), "vec3") for name in ("pos", "vel")}
    inputs = (Name("springs"), Name("pos"), Name("vel"), Name("force"))
    return Case(
        {"springs": (made, "Spring"), **vectors, "force": (np.zeros((count, 3), np.float32), "vec3")},
        (Launch("robosim.kernels:spring_forces", inputs, dim=springs),),
        (ByHand("robosim.kernels", "spring_forces", (inputs[0], springs, *inputs[1:]), (parts(springs, BLOCK), 1)),),
        ("force",),
        _spring_forces,
        near=1e-5,
    )


def _spring_forces(was: dict[str, Any]) -> tuple[Any, ...]:
    springs, pos, vel = was["springs"], was["pos"].astype(float), was["vel"].astype(float)
    first, second = springs["first"], springs["second"]
    along = pos[second] - pos[first]
    length = np.linalg.norm(along, axis=1)
    speed = np.einsum("ij,ij->i", vel[second] - vel[first], along) / length
    pull = springs["stiffness"] * (length - springs["length"]) + springs["damping"] * speed
    force = np.zeros_like(pos)
    np.add.at(force, first, along * (pull / length)[:, None])
    np.add.at(force, second, -along * (pull / length)[:, None])
    return (force,)


def _stencil(numbers: Any, height: int, width: int) -> Case:
    def wanted(was: dict[str, Any]) -> tuple[Any, ...]:
        padded = np.pad(was["source"].astype(int), 1, mode="edge")
        total = sum(padded[y : y + height, x : x + width] for y in range(3) for x in range(3))
        return ((total + 4) // 9,)

    image = numbers.integers(0, 256, (height, width), np.uint8)
    arguments = (Name("source"), width, Name("target"), width, width, height)
    return Case(
        {"source": (image, "uint8"), "target": (np.zeros_like(image), "uint8")},
        (Launch("benchkernels.image:blur", (Name("source"), Name("target")), dim=(height, width)),),
        (ByHand("benchkernels.image", "blur", arguments, _plane(height, width, (32, 8)), (32, 8)),),
        ("target",),
        wanted,
        bytes=2 * height * width,
    )


def _transpose(numbers: Any, rows: int, columns: int) -> Case:
    grid = (parts(columns, 32), parts(rows, 32))
    return Case(
        {"a": (_floats(numbers, rows, columns), "float32"), "turned": (_zeros(columns, rows), "float32")},
        (Launch("benchkernels.fast:transpose", (Name("a"), Name("turned")), grid=grid, block=(32, 8)),),
        (ByHand("fast", "transpose", (Name("a"), Name("turned"), rows, columns), grid, (32, 8)),),
        ("turned",),
        lambda was: (was["a"].T,),
        bytes=8 * rows * columns,
    )


def _zeros(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


def _reduction(numbers: Any, count: int) -> Case:
    blocks = SCAN_BLOCKS
    arrays = {"values": numbers.random(count, np.float32), "parts": _zeros(blocks), "total": _zeros(1)}
    kernel = "benchkernels.fast:reduction"
    return Case(
        {name: (data, "float32") for name, data in arrays.items()},
        (
            Launch(kernel, (Fours("values"), Name("parts")), grid=blocks),
            Launch(kernel, (Fours("parts"), Name("total")), grid=1),
        ),
        (
            ByHand("fast", "reduction", (Name("values"), count // 4, Name("parts")), (blocks, 1)),
            ByHand("fast", "reduction", (Name("parts"), blocks // 4, Name("total")), (1, 1)),
        ),
        ("total",),
        lambda was: (np.array([was["values"].sum(dtype=float)]),),
        bytes=4 * count,
        near=1e-5,
    )


def _scan(numbers: Any, count: int) -> Case:
    blocks = SCAN_BLOCKS
    data = numbers.integers(-100, 101, count, np.int32)
    arrays = {"values": data, "sums": np.zeros(blocks, np.int32), "scanned": np.zeros_like(data)}
    values, sums, scanned = (Name(name) for name in arrays)
    return Case(
        {name: (data, "int32") for name, data in arrays.items()},
        (
            Launch("benchkernels.fast:scan_sums", (Fours(values), sums), grid=blocks),
            Launch("benchkernels.fast:scan_blocks", (sums,), grid=1),
            Launch("benchkernels.fast:scan_elements", (Fours(values), sums, Fours(scanned)), grid=blocks),
        ),
        (
            ByHand("fast", "scan_sums", (values, count // 4, sums), (blocks, 1)),
            ByHand("fast", "scan_blocks", (sums, blocks), (1, 1), (1024, 1)),
            ByHand("fast", "scan_elements", (values, count // 4, sums, scanned), (blocks, 1)),
        ),
        ("scanned",),
        lambda was: (np.cumsum(was["values"], dtype=np.int32),),
        bytes=12 * count,
    )


def _histogram(numbers: Any, count: int) -> Case:
    values = numbers.integers(0, 256, count, np.uint8)
    return Case(
        {"values": (values, "uint8"), "counts": (np.zeros(256, np.int32), "int32")},
        (Launch("benchkernels.fast:histogram", (Fours("values"), Name("counts")), grid=SCAN_BLOCKS),),
        (ByHand("fast", "histogram", (Name("values"), count // 4, Name("counts")), (SCAN_BLOCKS, 1)),),
        ("counts",),
        lambda was: (np.bincount(was["values"], minlength=256),),
        bytes=count,
    )


def _matrix_product(numbers: Any, rows: int, inner: int, columns: int) -> Case:
    a, b = _floats(numbers, rows, inner), _floats(numbers, inner, columns)
    grid, names = (parts(columns, 16), parts(rows, 16)), (Name("a"), Name("b"), Name("product"))
    return Case(
        {"a": (a, "float32"), "b": (b, "float32"), "product": (_zeros(rows, columns), "float32")},
        (Launch("robosim.blocks:matrix_product", names, grid=grid, block=(16, 16)),),
        (ByHand("fast", "matrix_product", (*names, rows, inner, columns), grid, (16, 16)),),
        ("product",),
        lambda was: (was["a"] @ was["b"],),
        near=1e-4,
    )


def _bodies(numbers: Any, count: int) -> Case:
    def wanted(was: dict[str, Any]) -> tuple[Any, ...]:
        pos, mass = was["pos"].astype(float), was["mass"].astype(float)
        away = pos[None] - pos[:, None]
        inverse = (np.einsum("ijk,ijk->ij", away, away) + 0.0001) ** -1.5
        return (np.einsum("ijk,ij,j->ik", away, inverse, mass),)

    arrays = {"pos": (_floats(numbers, count, 3), "vec3"), "mass": (numbers.random(count, np.float32), "float32")}
    names = (Name("pos"), Name("mass"), Name("force"))
    return Case(
        {**arrays, "force": (_zeros(count, 3), "vec3")},
        (Launch("benchkernels.physics:attraction", names, dim=count),),
        (ByHand("benchkernels.physics", "attraction", (*names, count), (parts(count, BLOCK), 1)),),
        ("force",),
        wanted,
        near=1e-4,
    )


def _nv12(numbers: Any, height: int, width: int) -> Case:
    frame = numbers.integers(0, 256, height * width * 3 // 2, np.uint8)
    arguments = (Name("frame"), width, height, width, MEAN, SCALE, Name("rgb"))
    return Case(
        {"frame": (frame, "uint8"), "rgb": (_zeros(3, height, width), "float32")},
        (Launch("robosim.vision:nv12_to_rgb", (Name("frame"), width, MEAN, SCALE, Name("rgb")), dim=(height, width)),),
        (ByHand("robosim.vision", "nv12_to_rgb", arguments, _plane(height, width, (32, 8)), (32, 8)),),
        ("rgb",),
        lambda was: (_rgb(was["frame"].astype(float), height, width),),
        bytes=height * width * 3 // 2 + 12 * height * width,
        near=1e-5,
    )


def _rgb(frame: Any, height: int, width: int) -> Any:
    y = frame[: height * width].reshape(height, width)
    pairs = frame[height * width :].reshape(height // 2, width // 2, 2).repeat(2, axis=0).repeat(2, axis=1) - 128.0
    grey, u, v = (y - 16.0) / 219.0, pairs[..., 0] / 224.0, pairs[..., 1] / 224.0
    colors = (grey + 1.5748 * v, grey - 0.1873 * u - 0.4681 * v, grey + 1.8556 * u)
    return np.stack([(c.clip(0.0, 1.0) - m) * s for c, m, s in zip(colors, MEAN, SCALE, strict=True)])


def _sparse(numbers: Any, rows: int, most: int) -> Case:
    """Up to twice as many numbers a row as half of `most`, within a band around the diagonal."""
    starts = np.zeros(rows + 1, np.int32)
    np.cumsum(numbers.integers(0, 2 * most, rows), out=starts[1:])
    count = int(starts[-1])
    of_row = np.repeat(np.arange(rows), np.diff(starts))
    columns = ((of_row + numbers.integers(0, 1000, count)) % rows).astype(np.int32)
    arrays = {
        "starts": (starts, "int32"),
        "columns": (columns, "int32"),
        "values": (_floats(numbers, count), "float32"),
        "x": (_floats(numbers, rows), "float32"),
        "y": (_zeros(rows), "float32"),
    }
    names = tuple(Name(name) for name in arrays)

    def wanted(was: dict[str, Any]) -> tuple[Any, ...]:
        products = was["values"].astype(float) * was["x"][was["columns"]]
        return (np.bincount(of_row, products, minlength=rows),)

    grid = parts(rows, BLOCK // 32)
    return Case(
        arrays,
        (Launch("benchkernels.fast:sparse_product", names, grid=grid),),
        (ByHand("fast", "sparse_product", (*names, rows), (grid, 1)),),
        ("y",),
        wanted,
        bytes=8 * count + 4 * (rows + 1) + 8 * rows,
        near=1e-5,
    )


_CASES: dict[str, Callable[..., Case]] = {
    "elementwise": _elementwise,
    "particle step": _particles,
    "mass-spring": _springs,
    "3x3 stencil": _stencil,
    "transpose": _transpose,
    "reduction": _reduction,
    "scan": _scan,
    "histogram": _histogram,
    "matrix product": _matrix_product,
    "N-body": _bodies,
    "NV12 to RGB": _nv12,
    "sparse matrix-vector": _sparse,
}
