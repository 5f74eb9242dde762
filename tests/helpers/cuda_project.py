"""A project whose kernels are in CUDA C++: templates, headers in two folders, a struct, a module of declarations."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.projects import pyproject, write

TABLE = """\
modules = ["thing.kernels"]
targets = ["sm_90", "jetson-orin-jp6"]

[tool.kbuild.cuda]
include-dirs = ["include"]
defines = { OFFSET = 3 }
"""
DECLARATIONS = """\
import kbuild as kb


@kb.struct
class Cell:
    count: int
    weight: kb.float64


@kb.cuda_kernel("cuda/basic.cu")
def saxpy(n: int, a: float, x: kb.array(dtype=float), y: kb.array(dtype=float)): ...


@kb.cuda_kernel("cuda/basic.cu", "image::fill")
def fill(
    image: kb.array2d(dtype=kb.uint8),
    value: kb.uint8,
    mask: kb.array(dtype=int) = None,
): ...


@kb.cuda_kernel("cuda/basic.cu")
def cells(out: kb.array(dtype=Cell), one: Cell, direction: kb.vec3): ...


@kb.cuda_kernel("cuda/sums.cu", "sum<float, 256>")
def sum_of_floats(n: int, x: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < n:
        kb.atomic_add(out, 0, 2.0 * x[i])


@kb.cuda_kernel("cuda/sums.cu", "sum<double, 128>", block_dim=128)
def sum_of_doubles(n: int, x: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64)): ...


@kb.cuda_kernel("cuda/sums.cu", shared_memory=1024)
def reversed_blocks(x: kb.array(dtype=int), out: kb.array(dtype=int)):
    room = kb.shared_array(None, int)
    room[kb.thread_idx()] = x[kb.tid()]
    kb.syncthreads()
    out[kb.tid()] = room[kb.block_dim() - 1 - kb.thread_idx()]


@kb.cuda_kernel("cuda/views.cu", arrays="views")
def transposed(a: kb.array2d(dtype=float), out: kb.array2d(dtype=float)): ...
"""
BASIC = """\
#include "cell.cuh"

__constant__ float weights[2] = {1.0f, OFFSET};

extern "C" __global__ void saxpy(int n, float a, const float *__restrict__ x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = weights[0] * (a * x[i] + y[i]) + weights[1];
}

namespace image {
__global__ void fill(unsigned char *image, unsigned char value, const int *mask) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!mask || mask[i]) image[i] = value;
}
}

__global__ void cells(Cell *out, Cell one, float3 direction) {
    out[threadIdx.x] = Cell{one.count + (int)threadIdx.x, one.weight * direction.y};
}

__global__ void nobody_declares_this(int *x) { *x = 1; }
"""
CELL = """\
#pragma once
struct Cell { int count; double weight; };
"""
SUMS = """\
#include "block.cuh"

template <class T, int N>
__global__ void sum(int n, const T *x, T *out) {
    int i = blockIdx.x * N + threadIdx.x;
    T s = block_sum<T, N>(i < n ? twice(x[i]) : T(0));
    if (threadIdx.x == 0) atomicAdd(out, s);
}

extern __shared__ int room[];

__global__ void reversed_blocks(const int *x, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    room[threadIdx.x] = x[i];
    __syncthreads();
    out[i] = room[blockDim.x - 1 - threadIdx.x];
}
"""
BLOCK = """\
#pragma once
#include <twice.cuh>
#ifndef __CUDACC_RTC__
#include <vector>
#endif

/* not read: #include "nothing.cuh"
   #include "nothing.cuh" */
template <class T, int N>
__device__ T block_sum(T x) {
    __shared__ T parts[N];
    parts[threadIdx.x] = x;
    __syncthreads();
    for (int half = N / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    return parts[0];
}
"""
TWICE = """\
#pragma once
template <class T> __device__ T twice(T x) { return x + x; }
"""
VIEWS = """\
#include <kbuild/array.cuh>

__global__ void transposed(kb::array<float, 2> a, kb::array<float, 2> out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < a.shape[0] && j < a.shape[1]) out(j, i) = a(i, j);
}
"""
FILES = {
    "src/thing/__init__.py": "",
    "src/thing/kernels.py": DECLARATIONS,
    "src/thing/cuda/basic.cu": BASIC,
    "src/thing/cuda/cell.cuh": CELL,
    "src/thing/cuda/sums.cu": SUMS,
    "src/thing/cuda/block.cuh": BLOCK,
    "src/thing/cuda/views.cu": VIEWS,
    "include/twice.cuh": TWICE,
}
UNITS = {"thing.kernels#cuda/basic.cu", "thing.kernels#cuda/sums.cu", "thing.kernels#cuda/views.cu"}
KERNELS = ("cells", "fill", "reversed_blocks", "saxpy", "sum_of_doubles", "sum_of_floats", "transposed")


def project(root: Path, *, requires: str = '"setuptools>=77"', **changes: str) -> Path:
    """The project in a folder; `changes` are other texts of its files, by name without folder and suffix."""
    text = pyproject(table=TABLE).replace('"setuptools>=77"', requires)
    named = {Path(name).stem: name for name in FILES}
    return write(root, {"pyproject.toml": text, **FILES, **{named[name]: text for name, text in changes.items()}})
