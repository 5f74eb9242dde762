"""Sums and inner products, in an order that depends on shapes alone.

A block adds up a chunk of a row, thread by thread and then as a tree (Harris, "Optimizing parallel reduction in CUDA",
2007); a second launch adds up the chunks. Many short rows are added up by a thread each.

Arrays come as four axes, with strides: two that stay, the one that is added up, and the components that are too.
"""

from typing import Any

from kbuild.loader import builtins as kb
from kbuild.loader.array import array2d, array4d
from kbuild.loader.types import Kernel
from kbuild.primitives.kernels import BLOCK, ITEMS, PROTOCOL, TILE, kernel, sum_of_block

# mypy: disable-error-code="no-untyped-call,no-any-return,untyped-decorator,no-untyped-def,valid-type,attr-defined"

TYPES = ("float32", "float64")


def make_blockwise(dtype: Any, is_product: bool) -> Kernel:
    """`sums[row, chunk]`, a block for each; `row` counts over the axes that stay."""

    @kernel
    def sum_chunks(a: array4d(dtype=dtype), b: array4d(dtype=dtype), sums: array2d(dtype=dtype), chunk: int):
        _ = kb.static(PROTOCOL)
        of_threads = kb.shared_array(BLOCK, dtype)
        loaded = kb.vector(length=ITEMS, dtype=dtype)
        t = kb.thread_idx()
        chunks = sums.shape[1]
        row = kb.block_idx() // chunks
        number = kb.block_idx() - row * chunks
        i0 = row // a.shape[1]
        i1 = row - i0 * a.shape[1]
        first = number * chunk
        left = kb.min(a.shape[2] - first, chunk)
        total = dtype(0)
        for c in range(a.shape[3]):
            done = 0
            while done < left:
                rest = left - done
                base = first + done
                for i in range(ITEMS):
                    loaded[i] = dtype(0)
                    if i * BLOCK + t < rest:
                        loaded[i] = a[i0, i1, base + (i * BLOCK + t), c]
                        if kb.static(is_product):
                            loaded[i] = loaded[i] * b[i0, i1, base + (i * BLOCK + t), c]
                for i in range(ITEMS):
                    total = total + loaded[i]
                done = done + TILE
        of_threads[t] = total
        found = sum_of_block(of_threads)
        if t == 0:
            sums[row, number] = found

    return sum_chunks


def make_threadwise(dtype: Any, is_product: bool) -> Kernel:
    """`sums[row, 0]`, a thread for each."""

    @kernel
    def sum_rows(a: array4d(dtype=dtype), b: array4d(dtype=dtype), sums: array2d(dtype=dtype)):
        _ = kb.static(PROTOCOL)
        row = kb.tid()
        i0 = row // a.shape[1]
        i1 = row - i0 * a.shape[1]
        total = dtype(0)
        for k in range(a.shape[2]):
            for c in range(a.shape[3]):
                if kb.static(is_product):
                    total = total + a[i0, i1, k, c] * b[i0, i1, k, c]
                else:
                    total = total + a[i0, i1, k, c]
        sums[row, 0] = total

    return sum_rows
