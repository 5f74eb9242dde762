"""`#include <kbuild/array.cuh>`: arrays with their extents and strides, for kernels declared with `arrays="views"`.

The layout is that of `loader.abi.Array`.
"""

from __future__ import annotations

from kbuild.loader import abi

NAME = "kbuild/array.cuh"


def _specialised(ndim: int) -> str:
    indices = [f"i{axis}" for axis in range(ndim)]
    parameters = ", ".join(f"long long {i}" for i in indices)
    offset = " + ".join(f"{i} * stride[{axis}]" for axis, i in enumerate(indices))
    size = abi.Array(abi.FLOAT32, ndim).size
    return f"""\
template <class T> struct array<T, {ndim}> {{
    char *data;         // of the first element; null where there is no array
    int shape[{ndim}];
    int stride[{ndim}];      // in bytes
    __device__ __forceinline__ T &operator()({parameters}) const {{
        return *reinterpret_cast<T *>(data + ({offset}));
    }}
}};
static_assert(sizeof(array<float, {ndim}>) == {size}, "layout");
"""


TEXT = "\n".join(
    [
        "// kb::array<T, N>: element (i, j) of a kb::array<float, 2> `a` is a(i, j).",
        "#pragma once",
        "namespace kb {",
        "template <class T, int N = 1> struct array;",
        *(_specialised(ndim) for ndim in range(1, abi.MAX_ARRAY_DIMENSIONS + 1)),
        "}  // namespace kb",
        "",
    ]
)
