"""What the tests of the compile side share: the installed toolchains and a program with every kind of kernel."""

from __future__ import annotations

import functools
import os
import tempfile
from pathlib import Path

from kbuild import targets
from kbuild.nvrtc import Cache, Compiled, Job, Outcome, Rejected, Toolchain, compile_jobs, discover, text_key

VERSIONS = ((11, 8), (12, 9), (13, 0))

SAXPY = """#line 1 "/kbuild/pkg/kernels.py"
struct Launch { unsigned count; };
extern "C" __global__ void saxpy(Launch launch, float a, const float* x, float* y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < launch.count) y[i] = a * x[i] + y[i];
}
"""

# Shared memory, a stack frame, registers spilled under a launch bound, a call that is not inlined, no parameter at all.
KERNELS = (
    SAXPY
    + """
extern "C" __global__ void __launch_bounds__(128) shared_memory(Launch launch, double3 v, char c, int* out) {
    __shared__ double buffer[33];
    buffer[threadIdx.x % 33] = v.x + c;
    __syncthreads();
    out[threadIdx.x] = (int)buffer[(threadIdx.x + 1) % 33];
}
extern "C" __global__ void stack_frame(Launch launch, int k, int* out) {
    int table[40];
    for (int i = 0; i < 40; i++) table[i] = out[i] * k;
    int sum = 0;
    for (int i = 0; i < k; i++) sum += table[(i * 7 + k) % 40];
    out[k] = sum;
}
extern "C" __global__ void __launch_bounds__(1024, 1) spilling(float* out) {
    float a[72];
    #pragma unroll
    for (int i = 0; i < 72; i++) a[i] = out[i * threadIdx.x];
    #pragma unroll
    for (int j = 0; j < 1; j++) {
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < 72; i++) a[i] = a[i] * a[(i + 7) % 72] + a[(i * 5 + 1) % 72];
    }
    #pragma unroll
    for (int i = 0; i < 72; i++) out[i * 1024 + threadIdx.x] = a[i];
}
__device__ __noinline__ int helper(int* out, int k) {
    int table[30];
    for (int i = 0; i < 30; i++) table[i] = out[i] * k;
    int sum = 0;
    for (int i = 0; i < k; i++) sum += table[(i * 7 + k) % 30];
    return sum;
}
extern "C" __global__ void calling(int* out, int n) { out[n] = helper(out, n); }
extern "C" __global__ void nothing() {}
"""
)

ENTRIES = ("calling", "nothing", "saxpy", "shared_memory", "spilling", "stack_frame")
PARAMETERS = {
    "calling": ((0, 8), (8, 4)),
    "nothing": (),
    "saxpy": ((0, 4), (4, 4), (8, 8), (16, 8)),
    "shared_memory": ((0, 4), (8, 24), (32, 1), (40, 8)),
    "spilling": ((0, 8),),
    "stack_frame": ((0, 4), (4, 4), (8, 8)),
}


@functools.cache
def installed() -> dict[tuple[int, int], Toolchain]:
    """The three toolchains of the development environment, by version; other ones on the machine are left out."""
    saved = {name: os.environ.pop(name, None) for name in ("CUDA_HOME", "CUDA_PATH")}
    try:
        with tempfile.TemporaryDirectory() as folder:
            found = {toolchain.version: toolchain for toolchain in discover(cache=Cache(Path(folder)))}
    finally:
        os.environ.update({name: value for name, value in saved.items() if value is not None})
    assert set(VERSIONS) <= set(found), f"the development environment lacks a toolchain: {sorted(found)}"
    return found


def toolchain(version: tuple[int, int], **changes: object) -> Toolchain:
    """A toolchain of that version that is not on the disk, knowing what the real one knows."""
    numbers = [
        a.number
        for a in targets.ARCHITECTURES.values()
        if a.driver <= version and version[0] <= a.last_major and not (a.number == 101 and version < (12, 8))
    ]
    fields: dict[str, object] = {
        "version": version,
        "build": f"{version[0]}.{version[1]}.1",
        "library": Path(f"/nowhere/libnvrtc.so.{version[0]}"),
        "builtins": None,
        "digest": f"{version[0]:02}{version[1]:02}" * 16,
        "architectures": tuple(numbers),
        "source": "test",
    }
    return Toolchain(**{**fields, **changes})  # type: ignore[arg-type]


def job(arch: str, version: tuple[int, int], source: str = SAXPY, **more: object) -> Job:
    """A job for an installed toolchain."""
    key = text_key(source, lineinfo=bool(more.get("lineinfo")))
    fields: dict[str, object] = {"name": "unit", "key_parts": key, **more}
    return Job(source=source, arch=arch, toolchain=installed()[version], **fields)  # type: ignore[arg-type]


def compiled(outcome: Outcome) -> Compiled:
    """The outcome, which must be a result."""
    assert isinstance(outcome, Compiled), outcome
    return outcome


def rejected(outcome: Outcome) -> Rejected:
    """The outcome, which must be a refusal."""
    assert isinstance(outcome, Rejected), outcome
    return outcome


def compile_one(single: Job, folder: Path) -> Outcome:
    """The outcome of one job with a cache in `folder`."""
    (outcome,) = compile_jobs([single], cache=Cache(folder), workers=1)
    return outcome
