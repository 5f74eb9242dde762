"""Each function of the language answers every consumer: host, front end, code generator, documentation."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import kbuild as kb
from kbuild.codegen import helpers, warps
from kbuild.intrinsics import collectives, library_rotations, library_spatial
from kbuild.intrinsics.absent import ABSENT
from kbuild.intrinsics.catalogue import groups
from kbuild.intrinsics.library import ELEMENTWISE, FUNCTIONS, OVERLOADS, REDUCTIONS
from kbuild.intrinsics.row import Row
from kbuild.intrinsics.signature import signature
from kbuild.intrinsics.table import ALL_ROWS, ROWS, SPECIAL_FORMS, has_effects
from kbuild.ir.nodes import COLLECTIVES, SHUFFLES
from kbuild.ir.types import BOOL, FLOAT16, FLOAT32, INT8, INT32, SCALARS, Scalar, Type, Vector
from kbuild.loader import builtins
from kbuild.loader.builtins import TABLE
from kbuild.loader.types import Function
from tests.helpers import kernels
from tests.helpers.accept import Accept

NUMBERS = [type for type in SCALARS.values() if type.kind != "bool"]


def types_of(row: Row) -> list[Scalar]:
    """Every type that the row's first parameter admits."""
    sets = [set_name for _, set_name in row.signature.parameters]
    given = [tuple(INT32 if one == "Int32" else type for one in sets) for type in SCALARS.values()]
    return [
        t for t, types in zip(SCALARS.values(), given, strict=True) if not isinstance(row.signature.bind(types), str)
    ]


def test_host_and_compiler_know_the_same_functions() -> None:
    known = [*ROWS, *FUNCTIONS, *OVERLOADS, *SPECIAL_FORMS]
    assert len(set(known)) == len(known)
    assert set(TABLE) == set(known)
    assert all(TABLE[name].name == name == getattr(kb, name).name for name in TABLE)
    with pytest.raises(AttributeError, match="sine"):
        _ = builtins.sine


def test_rows_without_a_name() -> None:
    """What kbuild's own kernels alone use is in no list of functions, and no attribute of kb."""
    own = set(ALL_ROWS) - set(ROWS)
    assert own == {"atomic_graph_condition"}
    assert not own & {entry.name for entries in groups().values() for entry in entries}
    assert not any(hasattr(kb, name) for name in own)


@pytest.mark.parametrize("name", ROWS)
def test_row(name: str) -> None:
    row = ROWS[name]
    assert row.name == name
    assert row.doc.endswith((".", "]"))
    assert row.doc[0].isupper() or row.doc[0].islower() or row.doc[0].isdigit() or row.doc[0] == "-"
    assert row.is_atomic == name.startswith("atomic_")
    assert row.is_collective == (name in COLLECTIVES)
    assert has_effects(name) == (row.is_atomic or row.is_collective)
    assert types_of(row)
    for type in types_of(row):
        spelled = row.cuda.get(type.spelling)
        assert spelled is not None or (type == FLOAT16 and "float32" in row.cuda), type
        if spelled is not None and spelled.startswith("kb_") and row.is_collective:
            assert f" {spelled}(" in warps.function(name, type)
        elif spelled is not None and spelled.startswith("kb_") and not row.is_atomic:
            assert f" {spelled}(" in helpers.integer(spelled.removeprefix("kb_"), type)
    assert {SCALARS[spelling] for spelling in row.cuda} <= set(types_of(row))


def library_functions() -> dict[str, Function]:
    overloads = [one.function for several in (*OVERLOADS.values(), *REDUCTIONS.values()) for one in several]
    return {one.name: one for one in (*FUNCTIONS.values(), *ELEMENTWISE.values(), *overloads)}


@pytest.mark.parametrize("name", library_functions())
def test_library_functions_are_documented(name: str) -> None:
    doc = library_functions()[name].__doc__
    assert doc
    assert doc.strip().endswith(".")


def test_every_overload_names_a_kind_for_each_parameter() -> None:
    for several in OVERLOADS.values():
        for one in several:
            assert len(one.kinds) == one.function.function.__code__.co_argcount


def test_what_is_absent_is_not_there() -> None:
    assert not set(ABSENT) & set(TABLE)
    assert not [name for name in ABSENT if hasattr(kb, name)]


def test_signature() -> None:
    one = signature("(x: Float, y: Float) -> Float")
    assert one.parameters == (("x", "Float"), ("y", "Float"))
    assert one.bind((FLOAT32, FLOAT32)) == FLOAT32
    assert one.bind((FLOAT16, FLOAT16)) == FLOAT16
    assert signature("(x: Float) -> Bool").bind((FLOAT32,)) == BOOL
    assert signature("(x: Integer) -> Integer").bind((INT8,)) == INT8
    assert signature("() -> Bool").parameters == ()
    refused: dict[tuple[Type, ...], str] = {
        (FLOAT32,): "takes 2 argument(s) (x: Float, y: Float) -> Float, not 1",
        (INT32, FLOAT32): "x must be a floating-point number, not int32",
        (FLOAT32, BOOL): "y must be a floating-point number, not bool",
        (FLOAT32, FLOAT16): "y is float16, but float32 before it; kernels never mix types silently",
        (Vector(3, FLOAT32), FLOAT32): "x must be a floating-point number, not vec3[float32]",
    }
    for types, reason in refused.items():
        assert one.bind(types) == reason


def _row_kernels() -> str:
    """A kernel for every row and type."""
    parts = []
    for row in ROWS.values():
        for type in types_of(row):
            count = len(row.signature.parameters)
            if row.is_atomic:
                call = f"kb.{row.name}(a, 0, {', '.join(f'a[{n}]' for n in range(1, count))})"
            elif row.name in SHUFFLES:
                call = f"kb.{row.name}(a[0], kb.tid()) + kb.{row.name}(a[0], 3, 8)"
                call = call.replace("+", "and" if type == BOOL else "+")
            else:
                call = f"kb.{row.name}({', '.join(f'a[{n}]' for n in range(count))})"
            own = "bool" if type == BOOL else f"kb.{type}"
            result = {"Bool": "bool", "Int32": "int", "Uint32": "kb.uint32"}.get(row.signature.result, own)
            name = f"{row.name}_{type}"
            parameters = f"a: kb.array(dtype={own}), out: kb.array(dtype={result})"
            parts.append(f"@kb.kernel\ndef {name}({parameters}):\n    out[0] = {call}\n")
    return "\n".join(parts)


VECTOR_KERNELS = """
@kb.kernel
def library(
    v: kb.array(dtype=kb.vec3), m: kb.array(dtype=kb.mat33), a: kb.array(dtype=float), h: kb.array(dtype=kb.vec2h)
):
    x, y = v[0], v[1]
    v[2] = kb.cross(x, y) + kb.normalize(x) + kb.lerp(x, y, 0.5)
    a[0] = kb.dot(x, y) + kb.length(x) + kb.length_sq(y)
    a[1] = kb.clamp(a[0], -1.0, 1.0) + kb.sign(a[0]) + kb.step(a[1]) + kb.frac(a[2])
    a[2] = kb.degrees(a[0]) + kb.radians(a[1]) + kb.where(a[0] > 0.0, a[1], 2.0)
    v[3] = kb.min(x, y) + kb.max(x, y) + kb.abs(x) + kb.cw_mul(x, y) + kb.cw_div(x, y)
    m[0] = kb.transpose(m[1]) + m[2] @ m[3]
    v[4] = m[0] @ x
    a[3] = kb.fma(a[0], a[1], a[2])
    h[0] = kb.normalize(h[1]) + kb.min(h[2], h[3])
    i = kb.tid()
"""


def _collective_kernels() -> str:
    """Every sum and scan of warps and blocks, of numbers and of composites."""
    types = [*(f"kb.{one}" for one in NUMBERS), "kb.vec3", "kb.mat22d", "kb.vec2h"]
    calls = " + ".join(f"kb.{name}(x)" for name in collectives.OVERLOADS)
    return "".join(
        f"@kb.kernel\ndef collective{at}(a: kb.array(dtype={type})):\n    x = a[kb.tid()]\n    a[0] = {calls}\n\n"
        for at, type in enumerate(types)
    )


def _decomposition_kernels() -> str:
    """Every decomposition and the rest of the matrix functions for float and double."""
    return "".join(
        f"""
@kb.kernel
def decomposed{s}(m: kb.array2d(dtype=kb.mat33{s}), v: kb.array(dtype=kb.vec3{s}), n: kb.array2d(dtype=kb.mat22{s}),
                  w: kb.array(dtype=kb.vec2{s}), p: kb.array2d(dtype=kb.mat44{s})):
    i = kb.tid()
    m[i, 0], v[i], m[i, 1] = kb.svd3(m[i, 2])
    n[i, 0], w[i], n[i, 1] = kb.svd2(n[i, 2])
    m[i, 3], m[i, 4] = kb.qr3(m[i, 5])
    m[i, 6], v[i] = kb.eig3(m[i, 7])
    m[i, 8] = kb.inverse(m[i, 9]) * kb.determinant(m[i, 9]) + kb.outer(v[0], v[1]) + kb.diag(v[2]) + kb.skew(v[3])
    n[i, 3] = kb.inverse(n[i, 4]) * kb.determinant(n[i, 4]) * kb.trace(n[i, 4]) * kb.ddot(n[0, 0], n[0, 1])
    p[i, 0] = kb.inverse(p[i, 1]) * kb.determinant(p[i, 1])
    v[4] = kb.smooth_normalize(kb.get_diag(m[i, 0])) * kb.norm_huber(v[1]) * kb.norm_l1(v[1]) * kb.norm_l2(v[1])
    v[5] = kb.sign(v[6]) * kb.min(v[7]) * kb.smoothstep(v[8].x, v[8].y, kb.max(v[8])) * kb.norm_pseudo_huber(v[9])
"""
        for s in ("f", "d")
    )


RANDOM_KERNEL = """
@kb.kernel
def draws(a: kb.array2d(dtype=float), v: kb.array(dtype=kb.vec3), w: kb.array(dtype=kb.vec2), n: kb.array(dtype=int),
          u: kb.array(dtype=kb.uint32), x: kb.array(dtype=kb.vec4), cdf: kb.array(dtype=float)):
    i = kb.tid()
    state = kb.rand_init(i) ^ kb.rand_init(7, i)
    a[i, 0] = kb.randf(state) + kb.randf(state, 1.0, 2.0) + kb.randn(state)
    n[0] = kb.randi(state) + kb.randi(state, 1, 7) + kb.sample_cdf(state, cdf) + kb.lower_bound(cdf, 0, 3, 0.5)
    u[0] = kb.randu(state) + kb.randu(state, 1, 7) + kb.poisson(state, a[i, 0]) + kb.argmin(v[0]) + kb.argmax(v[0])
    w[0] = kb.sample_triangle(state) + kb.sample_unit_ring(state) + kb.sample_unit_disk(state)
    w[1] = kb.sample_unit_square(state) + kb.curlnoise(state, w[2], 2, 2.0, 0.5)
    v[0] = kb.sample_unit_cube(state) + kb.sample_unit_sphere(state) + kb.sample_unit_sphere_surface(state)
    v[1] = kb.sample_unit_hemisphere(state) + kb.sample_unit_hemisphere_surface(state)
    v[2] = kb.curlnoise(state, v[3], 2, 2.0, 0.5) + kb.curlnoise(state, x[0], 2, 2.0, 0.5)
    a[i, 1] = kb.noise(state, a[i, 2]) + kb.noise(state, w[3]) + kb.noise(state, v[4]) + kb.noise(state, x[1])
    a[i, 3] = kb.pnoise(state, a[i, 2], 3) + kb.pnoise(state, w[3], 3, 4) + kb.pnoise(state, v[4], 3, 4, 5)
    a[i, 4] = kb.pnoise(state, x[1], 3, 4, 5, 6) + kb.nonzero(a[i, 3])
    v[5] = kb.closest_point_edge_edge(v[6], v[7], v[8], v[9], 0.001)
    kb.randf(state)
"""


def test_the_kernels_below_call_every_function() -> None:
    text = _row_kernels() + VECTOR_KERNELS + _decomposition_kernels() + RANDOM_KERNEL + _collective_kernels()
    # Rotations and spatial algebra are in tests/gpu/project (see test_generated) and in codegen/test_run_composites.
    elsewhere = {*library_rotations.FUNCTIONS, *library_spatial.FUNCTIONS}
    names = {*ROWS, *FUNCTIONS, *OVERLOADS} - elsewhere
    assert [name for name in names if f"kb.{name}(" not in text] == []


@pytest.mark.nvrtc
@pytest.mark.parametrize("target", ["jetson-xavier-jp5", "sm_90", "jetson-thor-jp7"])
def test_every_row_compiles_for_every_type(tmp_path: Path, accept: Accept, target: str) -> None:
    text = _row_kernels() + VECTOR_KERNELS + _collective_kernels()
    source = kernels.emit_kernels(kernels.lower_text(tmp_path, text)).source
    accept(source, target)


@pytest.mark.nvrtc
def test_the_library_compiles(tmp_path: Path, accept: Accept) -> None:
    """Made of what the rows above are, so one target will do."""
    text = _decomposition_kernels() + RANDOM_KERNEL
    accept(kernels.emit_kernels(kernels.lower_text(tmp_path, text)).source, "sm_90")


_ONE = "acos asin atan cos cosh erf erfc exp sin sinh sqrt tan tanh log log2 log10 cbrt exp2 degrees radians"


@pytest.mark.parametrize("name", _ONE.split())
@pytest.mark.parametrize("x", [0.25, 0.9])
def test_host_functions_are_pythons(name: str, x: float) -> None:
    wanted = {"cbrt": x ** (1 / 3), "exp2": 2.0**x}.get(name) or getattr(math, name)(x)
    assert getattr(kb, name)(x) == pytest.approx(wanted, rel=1e-15)


def test_host_functions() -> None:
    assert kb.floor(-1.5) == -2.0
    assert kb.ceil(-1.5) == -1.0
    assert kb.trunc(-1.5) == -1.0
    assert [kb.round(x) for x in (0.5, 1.5, 2.5, -0.5)] == [1.0, 2.0, 3.0, -1.0]
    assert [kb.rint(x) for x in (0.5, 1.5, 2.5, -0.5)] == [0.0, 2.0, 2.0, -0.0]
    assert kb.atan2(1.0, -1.0) == math.atan2(1.0, -1.0)
    assert kb.pow(2.0, 10.0) == 1024.0
    assert kb.copysign(1.0, -0.0) == -1.0
    assert kb.rsqrt(4.0) == 0.5
    assert (kb.isnan(math.nan), kb.isinf(-math.inf), kb.isfinite(1.0)) == (True, True, True)
    assert (kb.sign(-2.0), kb.sign(0.0), kb.step(-1.0), kb.step(1.0)) == (-1.0, 1.0, 1.0, 0.0)
    assert kb.clamp(5.0, 0.0, 1.0) == 1.0
    assert kb.lerp(1.0, 3.0, 0.5) == 2.0
    assert kb.frac(2.75) == 0.75
    assert kb.where(True, 1, 2) == 1
    assert kb.min(3, 2) == 2
    assert kb.max(3, 2) == 3
    assert kb.abs(-3) == 3


def test_host_functions_at_the_edges_of_their_domain() -> None:
    assert kb.log(0.0) == -math.inf
    assert math.isnan(kb.log(-1.0))
    assert math.isnan(kb.sqrt(-1.0))
    assert kb.sqrt(math.inf) == math.inf
    assert kb.rsqrt(0.0) == math.inf
    assert kb.exp(1000.0) == math.inf
    assert (kb.acos(2.0), kb.asin(-3.0)) == (0.0, -math.pi / 2)
    assert math.isnan(kb.acos(math.nan))
    assert kb.pow(0.0, -1.0) == math.inf
    assert math.isnan(kb.sin(math.inf))
    assert kb.floor(math.inf) == math.inf
    assert math.isnan(kb.round(math.nan))
    assert kb.cbrt(-8.0) == pytest.approx(-2.0)
    assert kb.min(math.nan, 1.0) == 1.0
    assert kb.max(1.0, math.nan) == 1.0


def test_host_functions_on_vectors_and_matrices() -> None:
    v, w = kb.vec3(3.0, 0.0, 4.0), kb.vec3(1.0, 2.0, -1.0)
    assert kb.dot(v, w) == -1.0
    assert kb.length(v) == 5.0
    assert kb.length_sq(v) == 25.0
    assert kb.normalize(v) == kb.vec3(0.6, 0.0, 0.8)
    assert kb.normalize(kb.vec3()) == kb.vec3()
    assert kb.cross(kb.vec3(1.0, 0.0, 0.0), kb.vec3(0.0, 1.0, 0.0)) == kb.vec3(0.0, 0.0, 1.0)
    assert kb.cw_mul(v, w) == kb.vec3(3.0, 0.0, -4.0)
    assert kb.cw_div(v, w) == kb.vec3(3.0, 0.0, -4.0)
    assert kb.min(v, w) == kb.vec3(1.0, 0.0, -1.0)
    assert kb.abs(w) == kb.vec3(1.0, 2.0, 1.0)
    assert kb.lerp(v, w, 0.5) == kb.vec3(2.0, 1.0, 1.5)
    assert kb.transpose(kb.mat22(1.0, 2.0, 3.0, 4.0)) == kb.mat22(1.0, 3.0, 2.0, 4.0)


@pytest.mark.parametrize("name", ["tid", *(n for n in ROWS if ROWS[n].has_effects)])
def test_inside_kernels_only(name: str) -> None:
    with pytest.raises(TypeError, match=rf"kb\.{name} works inside kernels only"):
        getattr(kb, name)()
    assert repr(getattr(kb, name)) == f"<kbuild function {name}>"
