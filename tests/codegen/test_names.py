"""Whatever the user calls things, C++ and CUDA have no say in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbuild.codegen.names import Names, field_name, identifier
from tests.helpers import kernels
from tests.helpers.host_gpu import HostModule

# C++ keywords, CUDA's types, functions, variables and macros, kbuild's own names, and two that differ by an underscore.
_NAMES = """
int int_ float4 dim3 size_t main std template register signed double char16_t and_eq bitor nullptr
max min norm sincos atomicAdd signbit clock printf memcpy rsqrt fmaxf sinf fmodf isnan abs
threadIdx blockIdx warpSize NULL assert_ va_arg cudaStreamDefault CUDART_VERSION NV_IS_HOST linux INFINITY
kb_add kb_int32 kb_tid kb_launch kb_launch1 kb_array1 kb_half vec3f mat3x3f kb_results_0 launch stop trips t1 __x
größe 長さ
"""
NAMES = _NAMES.split()
ALL_TOOLCHAINS = ("jetson-orin-jp5", "sm_90", "jetson-thor-jp7")


def functions(names: list[str]) -> str:
    made = "".join(f"@kb.func\ndef {name}(x: float, y: float):\n    return x + y * 3.0\n\n" for name in names)
    calls = "".join(
        f"    a[0] = {name}(a[1], {name}(kb.max(a[2], kb.sqrt(a[4])), 1.0)) + kb.sin(a[3])\n" for name in names
    )
    return f"{made}@kb.kernel\ndef k(a: kb.array(dtype=float)):\n{calls}"


def variables(names: list[str]) -> str:
    assigned = "".join(f"    {name} = a[{n}] % 2.0\n" for n, name in enumerate(names))
    used = "".join(f"    a[{n}] = {name} + kb.max({name}, kb.sin({name}))\n" for n, name in enumerate(names))
    loops = "".join(f"    for {name} in range(n, 0, -3):\n        a[{name}] += 2.0\n" for name in names[::7])
    parameters = ", ".join(f"{name}: kb.uint8" for name in names)
    return f"""
@kb.kernel
def local(a: kb.array(dtype=float), b: kb.array2d(dtype=kb.vec3)):
    kb_i, kb_j = kb.tid()
{assigned}{used}    b[kb_i, kb_j] += b[kb_j, kb_i]


@kb.kernel
def loops(a: kb.array(dtype=float), n: kb.int32):
{loops}

@kb.kernel
def parameters(c: kb.array(dtype=kb.uint8), {parameters}):
    c[0] += {" + ".join(names)}
"""


def records(names: list[str]) -> str:
    return "".join(map(record, names))


def record(name: str) -> str:
    return f"""
@kb.struct
class {name}:
    x: float
    {name}: kb.vec3
    {name}_: kb.int32
    other: kb.vec3


@kb.kernel
def k_{name}(a: kb.array(dtype={name}), h: kb.array(dtype=kb.float16)):
    a[0].x = kb.sqrt(a[1].x) + a[2].{name}.x + kb.float32(a[0].{name}_) + kb.float32(h[0])
    b = {name}(1.0, other=kb.vec3(1.0, 2.0, 3.0))
    a[0] = b
"""


@pytest.mark.nvrtc
@pytest.mark.parametrize("use", [functions, variables, records])
def test_names_of_cuda(tmp_path: Path, accept: Any, use: Any) -> None:
    names = [name for name in NAMES if use is not records or not name.startswith("__")]  # a class mangles those
    lowered = kernels.lower_text(tmp_path, use(names))
    accept(kernels.emit_kernels(lowered).source, *ALL_TOOLCHAINS)
    HostModule(lowered, tmp_path)


def test_a_function_of_the_user_is_not_cudas(tmp_path: Path) -> None:
    source = kernels.emit_kernels(kernels.lower_text(tmp_path, functions(["max", "norm", "fmaxf"]))).source
    inside = source[source.index("namespace kb_unit") :]
    assert "float max(float x, float y)" in inside
    assert "float norm(float x, float y)" in inside
    assert "float fmaxf_(float x, float y)" in inside


@given(st.lists(st.text(min_size=1).filter(str.isidentifier), min_size=2, unique=True))
def test_names_of_a_scope_are_unique_identifiers(wanted: list[str]) -> None:
    names = Names(frozenset({"sinf"}))
    found = [names.fresh(name) for name in wanted]
    assert len(set(found)) == len(found)
    for name in found:
        assert name.isascii()
        assert name.isidentifier()


@given(st.sets(st.from_regex(r"[A-Za-z_][A-Za-z_0-9]*", fullmatch=True), min_size=2))
def test_fields_stay_different(wanted: set[str]) -> None:
    assert len({field_name(name) for name in wanted}) == len(wanted)


def test_identifier() -> None:
    assert identifier("a.b[1f]") == "a_b_1f_"
    assert identifier("1x") == "_1x"
    assert identifier("é") == "_ue9"
