"""Generated CUDA C compiled for the host and run thread by thread: what a kernel computes, without a GPU.

    module = HostModule(kernels, folder)
    module.launch("case:scale", dim=4, args=[device(np.zeros(4, np.float32)), 2.0])

The parameters go through the loader's own packing and launch headers, so the launch ABI is tested too. It says nothing
about the GPU's rounding of functions like `sin`.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kbuild.bundle.manifest import kernel_row
from kbuild.codegen.arrays import FURTHER, WIDE
from kbuild.codegen.blocks import DYNAMIC_MEMORY, wait
from kbuild.codegen.unit import emit
from kbuild.ir import nodes
from kbuild.ir.blocks import dynamic_row, in_whole_blocks
from kbuild.ir.presence import optional_parameters
from kbuild.loader import abi, blocks, pack

HEADER = Path(__file__).with_name("host_gpu.h")
_ENTRY = re.compile(r'^extern "C" __global__ void (\w+)\((.*)\)$', re.MULTILINE)
_TO_HALF = re.compile(r'asm\("cvt\.rn\.f16\.\w+ %0, %1;" : "=h"\(y\.bits\) : "\w"\(x\)\);')
_NO_WAIT = "__device__ __forceinline__ void kb_wait() {}\n"
_WIDE = "__device__ __forceinline__ long long kb_wide(int a, int b) { return (long long)a * b; }\n"
_FURTHER = "__device__ __forceinline__ char *kb_further(char *p, int a, int b) { return p + (long long)a * b; }\n"
_FROM_HALF = 'asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));'
# -frounding-math: without it GCC 12 makes `0.0 - (double)u` of an unsigned zero -0.0.
_FLAGS = ("-O1", "-std=c++17", "-w", "-shared", "-fPIC", "-ffp-contract=off", "-frounding-math", "-fno-strict-aliasing")
# A GPU ends with an error where a word is loaded that is not aligned; so does the program here.
_FLAGS += ("-fsanitize=alignment", "-fsanitize-undefined-trap-on-error")


class DeviceArray:
    """A NumPy array where kernels expect device memory."""

    def __init__(self, host: np.ndarray) -> None:
        self.host = host
        described = dict(host.__array_interface__)
        self.__cuda_array_interface__ = {**described, "strides": host.strides, "version": 3, "stream": None}


class DeviceIndexed:
    """A NumPy array and index arrays of int32 (None: the axis is plain), where kernels expect an indexedarray."""

    is_alive, device, _gap, _owner = True, None, None, None

    def __init__(self, host: np.ndarray, tables: Sequence[np.ndarray | None], type: abi.IndexedArray) -> None:
        self._type, self.host, self.tables = type, host, tables
        ndim, extents = type.ndim, host.shape[: type.ndim]
        shape = [extent if table is None else len(table) for extent, table in zip(extents, tables, strict=True)]
        assert all(table is None or (table.dtype, table.strides) == (np.int32, (4,)) for table in tables)
        addresses = [0 if table is None else table.ctypes.data for table in tables]
        behind = struct.pack(f"<Q{2 * ndim}i", host.ctypes.data, *extents, *host.strides[:ndim])
        self._descriptor = (behind + struct.pack(f"<{ndim}Q{ndim}i", *addresses, *shape)).ljust(type.size, b"\0")


def device(host: Any) -> DeviceArray:
    """The array itself, not a copy: kernels change it."""
    return DeviceArray(np.asarray(host))


class HostModule:
    """The kernels as one unit, compiled with g++."""

    def __init__(self, kernels: Sequence[nodes.Kernel], folder: Path) -> None:
        self.kernels = {kernel.name: kernel for kernel in kernels}
        entries = {kernel.name: f"entry_{number}" for number, kernel in enumerate(kernels)}
        self.source = emit([(kernel, entries[kernel.name]) for kernel in kernels]).source
        self.rows = {
            kernel.name: kernel_row(
                kernel.name,
                entries[kernel.name],
                kernel.ndim,
                256,
                [(p.name, p.type) for p in kernel.function.parameters],
                optional_parameters(kernel.function),
                whole_blocks=in_whole_blocks(kernel),
                dynamic_shared=dynamic_row(kernel.function) or 0,
            )
            for kernel in kernels
        }
        self.library = _compile(self._whole(), folder)

    def _whole(self) -> str:
        source = _TO_HALF.sub("y.bits = host_to_half((double)x);", self.source)
        source = source.replace(_FROM_HALF, "y = host_from_half(x.bits);").replace(wait(), _NO_WAIT)
        source = source.replace(DYNAMIC_MEMORY, "").replace(WIDE, _WIDE).replace(FURTHER, _FURTHER)
        assert "asm" not in source
        rows = {row["entry"]: row for row in self.rows.values()}
        runners = [_runner(match[1], match[2], rows[match[1]]) for match in _ENTRY.finditer(source)]
        assert len(runners) == len(rows)
        flag = "#define HOST_BLOCKS\n" if any(row.get("whole_blocks") for row in rows.values()) else ""
        return f'{flag}#include "{HEADER}"\n{source}\n#line 1 "runners"\nnamespace kb_unit {{\n{"".join(runners)}}}\n'

    def launch(self, name: str, dim: Any, args: Sequence[Any], block_dim: int = 32, max_blocks: int = 0) -> None:
        """Runs every thread of a launch, in order; `dim` may be a `grids.Grid`."""
        kernel, row = self.kernels[name], self.rows[name]
        run = getattr(self.library, f"run_{row['entry']}")
        packing = pack.Packing(frozenset(row.get("optional", ())))
        for parameter, value in zip(kernel.function.parameters, args, strict=True):
            packing.add(parameter.type, value, parameter.name)
        places = [(p.type, r["offset"]) for p, r in zip(kernel.function.parameters, row["parameters"], strict=True)]
        for header, grid, block in blocks.plan(dim, blocks.Shape(row), block_dim, max_blocks):
            rest = struct.pack("<" + pack.fields_format(places, len(header), row["size"]), *packing.values)
            sizes = (ctypes.c_uint * 7)(*grid, *block, blocks.shared_of(dim, blocks.Shape(row)))
            assert run(header + rest, sizes) == 0, "some threads wait for ever"


def _runner(entry: str, parameters: str, row: dict[str, Any]) -> str:
    """A loop over blocks, with the parameter block laid out as the manifest says; `host_blocks` runs the threads."""
    types = [part.rpartition(" ")[0].removeprefix("const ") for part in parameters.split(", ")]
    members = "".join(f"    {type} p{i};\n" for i, type in enumerate(types))
    checks = "".join(
        f'static_assert(offsetof(block_{entry}, p{i}) == {p["offset"]} && sizeof({type}) == {p["size"]}, "abi");\n'
        for i, (type, p) in enumerate(zip(types[1:], row["parameters"], strict=True), start=1)
    )
    values = ", ".join(f"block.p{i}" for i in range(len(types)))
    call = f"try {{ {entry}({values}); }} catch (const ::host_assert &) {{}}"
    one = f"[](const void *data) {{ const auto &block = *(const block_{entry} *)data; {call} }}"
    return f"""\
struct block_{entry} {{
{members}}};
{checks}extern "C" int run_{entry}(const char *data, const unsigned int *sizes) {{
    block_{entry} block;
    ::memcpy(&block, data, {row["size"]});
    ::kb_dynamic_size = sizes[6];
    ::gridDim = {{sizes[0], sizes[1], sizes[2]}};
    ::blockDim = {{sizes[3], sizes[4], sizes[5]}};
    for (::blockIdx.z = 0; ::blockIdx.z < ::gridDim.z; ++::blockIdx.z)
    for (::blockIdx.y = 0; ::blockIdx.y < ::gridDim.y; ++::blockIdx.y)
    for (::blockIdx.x = 0; ::blockIdx.x < ::gridDim.x; ++::blockIdx.x) {{
        {_threads(row, one, call)}
    }}
    ::fflush(stdout);
    return 0;
}}
"""


def _threads(row: dict[str, Any], one: str, call: str) -> str:
    """The threads of a block: fibers where they may wait for one another, else a loop."""
    if row.get("whole_blocks"):
        return f"if (!::host_blocks::run({one}, &block)) return 1;"
    return f"for (::threadIdx.x = 0; ::threadIdx.x < ::blockDim.x; ++::threadIdx.x) {call}"


def _compile(source: str, folder: Path) -> ctypes.CDLL:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++ on this machine")
    number = len(list(folder.glob("unit_*.cpp")))
    path = folder / f"unit_{number}.cpp"
    path.write_text(source, encoding="utf-8")
    library = path.with_suffix(".so")
    result = subprocess.run([compiler, *_FLAGS, str(path), "-o", str(library)], capture_output=True, text=True)
    assert result.returncode == 0, f"{result.stderr}\n{source}"
    return ctypes.CDLL(str(library))
