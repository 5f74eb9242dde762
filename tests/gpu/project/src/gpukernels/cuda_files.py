"""Kernels in CUDA C++: pointers, structs, templates, views, constant memory and dynamic shared memory."""

import kbuild as kb


@kb.struct
class Cell:
    count: int
    weight: kb.float64


@kb.cuda_kernel("cuda/basic.cu")
def saxpy(n: int, a: float, x: kb.array(dtype=float), y: kb.array(dtype=float)): ...


@kb.cuda_kernel("cuda/basic.cu", "image::fill")
def fill(image: kb.array2d(dtype=kb.uint8), n: int, value: kb.uint8, mask: kb.array(dtype=int) = None): ...


@kb.cuda_kernel("cuda/basic.cu")
def cells(out: kb.array(dtype=Cell), one: Cell, direction: kb.vec3): ...


@kb.cuda_kernel("cuda/basic.cu")
def every_type(
    out: kb.array(dtype=kb.float64),
    a: bool,
    b: kb.int8,
    c: kb.int16,
    d: kb.int64,
    e: kb.uint8,
    f: kb.uint16,
    g: kb.uint32,
    h: kb.uint64,
    i: kb.float64,
    j: kb.float16,
): ...


@kb.cuda_kernel("cuda/sums.cu", "sum<float, 256>")
def sum_of_floats(n: int, x: kb.array(dtype=float), out: kb.array(dtype=float)): ...


@kb.cuda_kernel("cuda/sums.cu", "sum<double, 128>", block_dim=128)
def sum_of_doubles(n: int, x: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64)): ...


@kb.cuda_kernel("cuda/sums.cu", "reverse_blocks", shared_memory=1024)
def reverse_blocks(x: kb.array(dtype=int), out: kb.array(dtype=int)): ...


@kb.cuda_kernel("cuda/views.cu", arrays="views")
def transpose(a: kb.array2d(dtype=float), out: kb.array2d(dtype=float)): ...
