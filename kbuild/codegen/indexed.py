"""Arrays seen through index arrays, in CUDA C: the descriptor of `loader.abi.IndexedArray`, elements and views."""

from __future__ import annotations

from kbuild.codegen.arrays import aligned
from kbuild.codegen.helpers import INLINE

AT = f"{INLINE} long long kb_at(const int *index, long long i) {{ return index ? index[i] : i; }}\n"


def array(ndim: int) -> str:
    """The descriptor, and the address of an element. A kernel never asks for the extents of the array behind."""
    parameters = ", ".join(f"long long i{axis}" for axis in range(ndim))
    offset = " + ".join(f"kb_at(index[{axis}], i{axis}) * stride[{axis}]" for axis in range(ndim))
    return f"""\
template <class T> struct kb_indexed{ndim} {{
    char *data; int whole[{ndim}]; int stride[{ndim}]; const int *index[{ndim}]; int shape[{ndim}];
    __device__ __forceinline__ T &operator()({parameters}) const {{ return *(T *)(data + ({offset})); }}
{aligned(ndim)}}};
"""


def view(ndim: int, count: int, keeps_none: bool) -> str:
    """`kb_view(array, i, …)`: the array at `count` leading indices; of no array there is none, where that is asked."""
    indices = ", ".join(f"long long i{axis}" for axis in range(count))
    offset = " + ".join(f"kb_at(a.index[{axis}], i{axis}) * a.stride[{axis}]" for axis in range(count))
    rest = ", ".join(
        f"{{{', '.join(f'a.{what}[{axis}]' for axis in range(count, ndim))}}}"
        for what in ("whole", "stride", "index", "shape")
    )
    result = f"kb_indexed{ndim - count}<T>"
    data = f"a.data ? a.data + ({offset}) : 0" if keeps_none else f"a.data + ({offset})"
    head = f"template <class T> {INLINE} {result} kb_view(kb_indexed{ndim}<T> a, {indices})"
    return f"{head} {{ return {result}{{{data}, {rest}}}; }}\n"
