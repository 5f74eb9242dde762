"""Memory instructions and barriers in real machine code of every architecture and toolchain."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbuild import targets
from kbuild.audit.sass import OLDEST, Access, memory_instructions
from kbuild.loader import cubin
from kbuild.nvrtc import Cache, Compiled, compile_jobs
from tests.helpers import nvrtc_cases as cases
from tests.helpers.once import once

pytestmark = pytest.mark.nvrtc

SOURCE = r"""
extern "C" __global__ void barriers(float* a) {
    asm volatile("bar.sync 0;");
    asm volatile("bar.sync 2, 64;");
    a[threadIdx.x] = 1.0f;
}
extern "C" __global__ void widths(float4* a, float2* b, unsigned char* c, short* d, double* e) {
    int i = threadIdx.x;
    a[i + 1] = a[i];
    b[i + 1] = b[i];
    c[i + 1] = c[i];
    d[i + 1] = d[i];
    e[i + 1] = e[i];
}
extern "C" __global__ void modifiers(float* a, volatile float* b, const float* __restrict__ c) {
    int i = threadIdx.x;
    float x, y;
    asm volatile("ld.global.cs.f32 %0, [%1];" : "=f"(x) : "l"(a + i));
    asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(y) : "l"(a + i + 32));
    asm volatile("st.global.cs.f32 [%0], %1;" :: "l"(a + i + 64), "f"(x + __ldg(c + i)));
    b[i + 96] = y + b[i + 128];
}
extern "C" __global__ void shared_memory(float* a) {
    __shared__ float4 s[64];
    s[threadIdx.x] = make_float4(a[threadIdx.x], 1.0f, 2.0f, 3.0f);
    __syncthreads();
    float4 v = s[63 - threadIdx.x];
    a[threadIdx.x] = v.x + v.y + v.z + v.w;
}
extern "C" __global__ void local_memory(float* a, int n) {
    float t[40];
    for (int i = 0; i < 40; i++) t[i] = a[i];
    float sum = 0.0f;
    for (int i = 0; i < n; i++) sum += t[(i * 7 + n) % 40];
    a[n] = sum;
}
"""


def _access(text: str) -> Access:
    memory, what, size, *modifier = text.split()
    return Access(memory, what, int(size), *modifier or [""])


def _every() -> list[tuple[tuple[int, int], str]]:
    known = [name for name in targets.ALL if name.startswith("sm_")]
    return [(version, name) for version in cases.VERSIONS for name in known if cases.installed()[version].knows(name)]


EVERY = _every()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[tuple[int, int], str], bytes]:
    jobs = [cases.job(arch, version, SOURCE) for version, arch in EVERY]
    folder = once(tmp_path_factory, "sass", lambda part: compile_jobs(jobs, cache=Cache(part), workers=2))
    outcomes = compile_jobs(jobs, cache=Cache(folder))
    assert all(isinstance(one, Compiled) for one in outcomes)
    return {key: cases.compiled(one).data for key, one in zip(EVERY, outcomes, strict=True)}


@pytest.mark.parametrize(("version", "arch"), EVERY)
def test_every_architecture(version: tuple[int, int], arch: str, built: dict) -> None:
    data = built[version, arch]
    number = targets.limits(arch).number
    found = {name: memory_instructions(code, number) for name, code in cubin.machine_code(data).items()}
    barriers = {name: info.barriers for name, info in cubin.read(data).kernels.items()}
    assert barriers == {"barriers": 3, "widths": 0, "modifiers": 0, "shared_memory": 1, "local_memory": 0}
    if number < OLDEST:
        assert not any(found.values())
        return
    for size in (1, 2, 8, 16):
        times = 2 if size == 8 else 1
        assert found["widths"][Access("global", "load", size, "")] == times
        assert found["widths"][Access("global", "store", size, "")] == times
    wanted = [
        "load 4 streaming",
        "load 4 gpu",
        "load 4 readonly",
        "load 4 system",
        "store 4 streaming",
        "store 4 system",
    ]
    assert dict(found["modifiers"]) == {_access(f"global {text}"): 1 for text in wanted}
    assert found["shared_memory"][Access("shared", "store", 16, "")] == 1
    assert found["shared_memory"][Access("shared", "load", 16, "")] == 1
    assert sum(n for access, n in found["local_memory"].items() if access.memory == "local") > 1
    assert found["local_memory"][Access("local", "load", 4, "")] >= 1


def test_there_are_many() -> None:
    assert len(EVERY) > 40


def test_what_is_cut_short(tmp_path: Path) -> None:
    assert not memory_instructions(b"\x81\x09" + bytes(13), 90)
    assert sum(memory_instructions(b"\x81\x09" + bytes(14) + b"\x81", 90).values()) == 1
