"""Blocks in CUDA C: arrays in shared memory, and where a thread stands in the grid."""

from __future__ import annotations

from kbuild.codegen.helpers import INLINE
from kbuild.ir.blocks import DYNAMIC_ALIGNMENT

_OVER_ALL_AXES = {
    "thread_idx": "threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)",
    "block_idx": "blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)",
    "block_dim": "blockDim.x * blockDim.y * blockDim.z",
    "grid_dim": "gridDim.x * gridDim.y * gridDim.z",
    "launch_idx": (
        "(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)) * (blockDim.x * blockDim.y * blockDim.z) + "
        "threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)"
    ),
    # Warps are made of threads by their number in the block.
    "lane_id": "(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 31",
    "warp_id": "(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) >> 5",
}
# The block's number in its cluster; what is x fastest is the hardware's business.
_CLUSTER_RANK = f"""\
{INLINE} int kb_cluster_rank() {{
    unsigned int n; asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(n)); return (int)n;
}}
"""
_ALONG = {"thread_idx": "threadIdx", "block_idx": "blockIdx", "block_dim": "blockDim", "grid_dim": "gridDim"}


def position(what: str) -> str:
    """`kb_thread_idx()` and its kin: over all axes, x fastest."""
    if what == "cluster_rank":
        return _CLUSTER_RANK
    return f"{INLINE} int kb_{what}() {{ return (int)({_OVER_ALL_AXES[what]}); }}\n"


def along(what: str, axis: int) -> str:
    """The position along one axis."""
    return f"(int){_ALONG[what]}.{'xyz'[axis]}"


def wait() -> str:
    """`kb_wait()`, the first thing that a kernel does: it waits until what stands before it in the stream is through.

    That is so anyway, unless the launch allows the GPU to get it ready earlier (`loader.kernel`), which saves about a
    microsecond where launch follows upon launch. The barrier keeps the compiler from loading anything before it.
    """
    return f"""\
{INLINE} void kb_wait() {{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}}
"""


def cluster_attribute(blocks: int | None) -> str:
    """What stands before the name of an entry whose blocks run in clusters."""
    return "" if blocks is None else f"__cluster_dims__({blocks}, 1, 1) "


# Waits for all threads of the cluster, and shows each what the others did to memory: who arrives releases, who has
# waited has acquired.
CLUSTER_SYNC = f"""\
{INLINE} void kb_cluster_sync() {{
    asm volatile("barrier.cluster.arrive;\\n\\tbarrier.cluster.wait;" ::: "memory");
}}
"""


def elsewhere(ndim: int) -> str:
    """`kb_elsewhere(array, rank)`: an array in shared memory as another block of the cluster has it, by an address that
    is valid in all of the cluster."""
    names = ", ".join(f"N{axis}" for axis in range(ndim))
    result = f"kb_distributed{ndim}<T, {names}>"
    return f"""\
template <class T, {_extents(ndim)}> {INLINE} {result} kb_elsewhere(kb_shared{ndim}<T, {names}> a, int rank) {{
    T *there; asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(a.data), "r"(rank)); return {result}{{there}};
}}
"""


# One for a kernel, behind its static arrays, and how large the launch has made it.
DYNAMIC_MEMORY = f"""\
extern __shared__ __align__({DYNAMIC_ALIGNMENT}) unsigned char kb_dynamic[];
{INLINE} unsigned int kb_dynamic_bytes() {{
    unsigned int n; asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(n)); return n;
}}
"""


def prologue(ndim: int, is_whole: bool) -> list[str]:
    """Lines that find `kb_linear`, the thread's number in the launch.

    Threads past the end leave, but in a kernel that runs in whole blocks nobody may: there are none past the end.
    """
    if not is_whole:
        number = "blockIdx.x * blockDim.x + threadIdx.x"
        end = "count"
        if ndim == 1:  # its number counts from the launch's beginning, of which a driver launch may be one piece
            number += " + kb_launch.origin"
            end = "end"
        leave = [f"    if (kb_linear >= kb_launch.{end}) return;"]
    else:
        # Only a launch along x has several coordinates (`loader.grids`).
        along_x = "blockIdx.x * blockDim.x + threadIdx.x"
        number = "(unsigned int)(kb_block_idx() * kb_block_dim() + kb_thread_idx())" if ndim == 1 else along_x
        leave = []
    return ["    kb_wait();", f"    const unsigned int kb_linear = {number};", *leave]


def array(ndim: int, place: str) -> str:
    """An array in shared or constant memory: its extents are part of the type, so that indices need no descriptor."""
    indices = ", ".join(f"int i{axis}" for axis in range(ndim))
    return f"""\
template <class T, {_extents(ndim)}> struct kb_{place}{ndim} {{
    T *data;
    __device__ __forceinline__ T &operator()({indices}) const {{ return data[{_offset(ndim, ndim)}]; }}
}};
"""


def array_name(element: str, shape: tuple[int, ...], place: str) -> str:
    """`kb_shared2<float, 16, 17>`."""
    return f"kb_{place}{len(shape)}<{element}, {', '.join(map(str, shape))}>"


def view(ndim: int, count: int, place: str) -> str:
    """`kb_view(array, i, …)`: the array at `count` leading indices."""
    names = [f"N{axis}" for axis in range(ndim)]
    left = f"kb_{place}{ndim - count}<T, {', '.join(names[count:])}>"
    indices = ", ".join(f"int i{axis}" for axis in range(count))
    parameters = f"kb_{place}{ndim}<T, {', '.join(names)}> a, {indices}"
    head = f"template <class T, {_extents(ndim)}> {INLINE} {left} kb_view({parameters})"
    return f"{head} {{ return {left}{{a.data + {_offset(ndim, count)}}}; }}\n"


def _extents(ndim: int) -> str:
    return ", ".join(f"int N{axis}" for axis in range(ndim))


def _offset(ndim: int, count: int) -> str:
    """Elements before the one at the first `count` of `ndim` indices."""
    text = "i0"
    for axis in range(1, ndim):
        text = f"({text}) * N{axis}" + (f" + i{axis}" if axis < count else "")
    return text
