"""The kernels of `cuda/`, declared: their parameters, in order."""

from __future__ import annotations

import kbuild as kb

BINS = 64


@kb.struct
class Size:
    width: int
    height: int


@kb.struct
class Camera:
    fx: float
    fy: float
    cx: float
    cy: float


@kb.struct
class Motion:
    rotation: kb.mat33
    offset: kb.vec3


Depth = kb.array(dtype=float)
Points = kb.array(dtype=kb.vec3)


@kb.cuda_kernel("cuda/filters.cu", "depthcam::bilateral<3>")
def bilateral(size: Size, space: float, range: float, depth: Depth, out: Depth): ...


@kb.cuda_kernel("cuda/filters.cu", "depthcam::smooth<float, true>")
def smooth_rows(size: Size, depth: Depth, out: Depth): ...


@kb.cuda_kernel("cuda/filters.cu", "depthcam::smooth<float, false>")
def smooth_columns(size: Size, depth: Depth, out: Depth): ...


@kb.cuda_kernel("cuda/filters.cu", "depthcam::halve")
def halve(small: Size, large: Size, range: float, depth: Depth, out: Depth): ...


@kb.cuda_kernel("cuda/geometry.cu", "depthcam::points")
def points(size: Size, camera: Camera, depth: Depth, out: Points): ...


@kb.cuda_kernel("cuda/geometry.cu", "depthcam::normals")
def normals(size: Size, points: Points, out: Points): ...


@kb.cuda_kernel("cuda/geometry.cu", "depthcam::move")
def move(count: int, motion: Motion, points: Points, out: Points): ...


@kb.cuda_kernel("cuda/statistics.cu", "depthcam::reduce<depthcam::Sum, float, 256>")
def total(count: int, identity: float, values: Depth, out: Depth): ...


@kb.cuda_kernel("cuda/statistics.cu", "depthcam::reduce<depthcam::Largest, float, 128>", block_dim=128)
def largest(count: int, identity: float, values: Depth, out: Depth): ...


@kb.cuda_kernel("cuda/statistics.cu", "depthcam::histogram", shared_memory=4 * BINS)
def histogram(count: int, farthest: float, depth: Depth, bins: kb.array(dtype=int)): ...


@kb.cuda_kernel("cuda/registration.cu", "depthcam::equations<256>")
def equations(
    size: Size,
    camera: Camera,
    motion: Motion,
    nearest: float,
    points: Points,
    model: Points,
    model_normals: Points,
    out: Depth,
): ...
