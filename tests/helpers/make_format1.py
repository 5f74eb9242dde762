"""Makes tests/bundle/data/format1.kbundle, once: real cubins of three toolkits behind the manifest of `bundles`.

Kept so that the file can be understood. It is not made again: every later kbuild has to read the one that is there.

    python -m tests.helpers.make_format1 NVRTC_11 NVRTC_12 NVRTC_13      (paths of libnvrtc.so.*)
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

from kbuild import targets
from kbuild.bundle import manifest as rows
from kbuild.bundle import verify, write
from tests.helpers import bundles

SOURCE = r"""
struct Array1 { unsigned long long data; int shape; int stride; };
struct vec3 { float x, y, z; };
struct Spring { int a; int b; float k; };
struct Header1 { unsigned count; };
struct Header2 { unsigned count; unsigned extent[1]; unsigned magic[1]; unsigned shift[1]; int origin[2]; };

extern "C" __global__ void integrate_1a2b3c4d(Header1 launch, Array1 pos, vec3 gravity, float dt)
{
    unsigned l = blockIdx.x * blockDim.x + threadIdx.x;
    if (l >= launch.count) return;
    vec3 *p = (vec3 *)(pos.data + (long long)l * pos.stride);
    p->x += gravity.x * dt; p->y += gravity.y * dt; p->z += gravity.z * dt;
}

extern "C" __global__ void pull_5e6f7a8b(Header2 launch, Array1 springs, double mass, Spring one, bool loud)
{
    __shared__ float tile[32];
    unsigned l = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x & 31] = one.k;
    __syncthreads();
    if (l >= launch.count) return;
    Spring *s = (Spring *)(springs.data + (long long)l * springs.stride);
    s->k += loud ? (float)mass * tile[(threadIdx.x + one.a) & 31] : 0.5f;
}
"""

TARGETS = (
    ("jetson-orin-jp6", "11.8.89"),
    ("sm_90", "12.9.86"),
    ("jetson-thor-jp7", "13.0.88"),
    ("compute_90", "12.9.86"),
)


def compile_unit(library: str, target: targets.Target) -> bytes:
    """Machine code (or PTX) of SOURCE."""
    nvrtc = ctypes.CDLL(library)
    program = ctypes.c_void_p()
    check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), SOURCE.encode(), b"kbuild.cu", 0, None, None))
    options = [f"--gpu-architecture={target.arch}", "-std=c++17", "-fmad=false"]
    array = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    check(nvrtc.nvrtcCompileProgram(program, len(options), array))
    size = ctypes.c_size_t()
    kind = "PTX" if target.kind == "ptx" else "CUBIN"
    check(getattr(nvrtc, f"nvrtcGet{kind}Size")(program, ctypes.byref(size)))
    data = ctypes.create_string_buffer(size.value)
    check(getattr(nvrtc, f"nvrtcGet{kind}")(program, data))
    return data.raw.rstrip(b"\0") if kind == "PTX" else data.raw


def check(status: int) -> None:
    if status:
        raise SystemExit(f"NVRTC failed: {status}")


def main(*libraries: str) -> None:
    manifest = bundles.manifest()
    manifest["targets"] = [name for name, _ in TARGETS]
    kernels = dict(enumerate(manifest["kernels"]))
    blobs = rows.Blobs()
    manifest["cubins"] = []
    for name, build in TARGETS:
        target = targets.parse(name)
        major, minor = (int(part) for part in build.split(".")[:2])
        data = compile_unit(libraries[major - 11], target)
        manifest["cubins"].append(
            rows.cubin_row(
                target,
                "robosim.kernels",
                kernels,
                toolchain=build,
                cuda=(major, minor),
                blob=blobs.add(data),
                data=data,
                spills={},
            )
        )
    path = Path(__file__).parents[1] / "bundle" / "data" / "format1.kbundle"
    parsed = write(path, manifest, blobs.data)
    print(path, parsed.digest, *verify(parsed), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
