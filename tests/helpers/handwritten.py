"""CUDA C that is written by hand, compiled for the host: what it computes, without a GPU. See host_gpu.py.

written = HandWritten(path, folder)
written.launch("transpose", (3, 2), (32, 8), pointers)  # to the arguments, as cuLaunchKernel takes them
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.host_gpu import HEADER

_ENTRY = re.compile(r'extern "C" __global__ void (\w+)\(([^)]*)\)')
_FLAGS = ("-O1", "-std=c++17", "-w", "-shared", "-fPIC", "-ffp-contract=off", "-fno-strict-aliasing")

# What CUDA has without a header, and kbuild's own code does without.
_BUILT_IN = f"""\
#define HOST_BLOCKS
#include "{HEADER}"
#include <algorithm>
#include <cmath>
using std::max;
using std::min;
struct float3 {{ float x, y, z; }};
struct float4 {{ float x, y, z, w; }};
struct int4 {{ int x, y, z, w; }};
static inline float3 make_float3(float x, float y, float z) {{ return {{x, y, z}}; }}
static inline int4 make_int4(int x, int y, int z, int w) {{ return {{x, y, z, w}}; }}
template <class T> static T __shfl_up_sync(unsigned all, T x, int by) {{ return __shfl_up_sync(all, x, by, 32); }}
template <class T> static T __shfl_down_sync(unsigned all, T x, int by) {{ return __shfl_down_sync(all, x, by, 32); }}
"""


class HandWritten:
    """The kernels of a file."""

    def __init__(self, source: Path, folder: Path) -> None:
        compiler = shutil.which("g++")
        if compiler is None:
            pytest.skip("no g++ on this machine")
        text = source.read_text(encoding="utf-8")
        runners = [_runner(name, parameters) for name, parameters in _ENTRY.findall(text)]
        path = folder / f"{source.stem}.cpp"
        path.write_text(_BUILT_IN + text.replace("#pragma unroll", "") + "".join(runners), encoding="utf-8")
        library = path.with_suffix(".so")
        command = [compiler, *_FLAGS, str(path), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        self.library = ctypes.CDLL(str(library))

    def launch(self, entry: str, grid: tuple[int, int], block: tuple[int, int], pointers: Any) -> None:
        """Runs every thread; `pointers` are those to the arguments."""
        assert self.library[f"run_{entry}"](pointers, *grid, *block) == 0, "some threads wait for ever"


def _runner(name: str, parameters: str) -> str:
    types = [re.sub(r"\w+$", "", " ".join(one.split())) for one in parameters.split(",")]
    values = ", ".join(f"*({type} *)given[{i}]" for i, type in enumerate(types))
    return f"""
extern "C" int run_{name}(void **given, unsigned wide, unsigned high, unsigned x, unsigned y) {{
    gridDim = {{wide, high, 1}};
    blockDim = {{x, y, 1}};
    for (blockIdx.y = 0; blockIdx.y < high; ++blockIdx.y)
    for (blockIdx.x = 0; blockIdx.x < wide; ++blockIdx.x) {{
        auto one = [](const void *data) {{ void **given = (void **)data; {name}({values}); }};
        if (!host_blocks::run(one, given)) return 1;
    }}
    return 0;
}}
"""
