"""What programs written for Warp say, and kbuild's own do not: names without a module, types as values, records."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import kbuild as kb
import kbuild.warp as wp
from kbuild.errors import CompileError
from kbuild.loader import providers
from kbuild.sim.lockstep.run import Checks, Options
from kbuild.warp.absent import NotInKbuild
from tests.helpers import kernels, round_trip
from tests.helpers.both_ways import BothWays

PROGRAM = """
import kbuild.warp as wp


@wp.struct
class Settings:
    scale: float
    offset: wp.vec2


SETTINGS = Settings()
SETTINGS.scale = 3.0
SETTINGS.offset = wp.vec2(1.0, 2.0)


@wp.kernel
def program(out: wp.array2d(dtype=float)):
    i = tid()
    v = vec3(1.0, float(i), 2.0)
    expect_eq(v.x, 1.0)
    out[i, 0] = dot(v, v) + round(1.6)
    w = wp.types.vector(length=3, dtype=float)
    w[1] = 4.0
    out[i, 1] = wp.length(w) + wp.types.vector(v.y, 1.0)[1] + wp.types.vector(v[0], length=2)[1]
    out[i, 2] = wp.types.matrix(v.x, v.y, v.z, 5.0, shape=(2, 2))[1, 1]
    out[i, 3] = wp.types.vector(length=2, dtype=float)(7.0, 8.0)[1] + wp.types.quaternion(v, 9.0)[3]
    out[i, 4] = SETTINGS.scale + SETTINGS.offset.y
    out[i, 5] = float(v.length + w.length)
"""


def test_programs(tmp_path: Path) -> None:
    out = np.zeros((2, 6), np.float32)
    BothWays(tmp_path, PROGRAM)(2, out)
    assert out.tolist() == [[5.0 + i * i + 2.0, 6.0, 5.0, 17.0, 5.0, 6.0] for i in range(2)]


def test_names_without_a_module_are_warps(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="'vec3' is not defined"):
        kernels.lower_text(tmp_path, "@kb.kernel\ndef k(out: kb.array(dtype=kb.vec3)):\n    out[0] = vec3(1.0)\n")


def test_kernels_are_made_by_their_class() -> None:
    def scale(a: wp.array(dtype=float), factor: float):
        a[wp.tid()] *= factor

    made = wp.Kernel(func=scale, key="scale_float", options={"enable_backward": False})
    assert isinstance(made, wp.Kernel)
    assert isinstance(made, kb.loader.types.Kernel)
    assert (made.key, made.func, made.options["enable_backward"]) == ("scale_float", scale, False)
    assert made.module == __name__ == made.module.name
    assert made.module.load("cpu")
    assert made.module.options["enable_backward"]
    with pytest.raises(NotInKbuild, match="changed sources"):
        wp.Kernel(scale, code_transformers=[1])
    with pytest.raises(TypeError, match="has no option 'odd'"):
        wp.Kernel(scale, odd=1)


@wp.struct
class Spring:
    stiffness: float
    ends: wp.vec2i
    points: wp.array(dtype=wp.vec3)


def test_records_of_numpy() -> None:
    dtype = np.dtype(Spring.numpy_dtype())
    assert dtype.names == ("stiffness", "ends", "points")
    data = np.zeros(2, dtype)
    data["ends"] = (3, 4)
    assert wp.array(data, dtype=Spring, device="cpu").numpy()["ends"].tolist() == [[3, 4], [3, 4]]
    spring = Spring()
    spring.stiffness = 2.0
    assert spring.numpy_value()["stiffness"] == 2.0
    filled = wp.full(2, spring, dtype=Spring, device="cpu")
    assert [one.stiffness for one in filled.tolist()] == [2.0, 2.0]


def test_lists_of_types() -> None:
    assert wp.types.int_types[0] is wp.int8
    assert wp.float16 in wp.types.float_types
    assert wp.bool not in wp.types.scalar_types
    assert wp.bool in wp.types.scalar_and_bool_types
    assert wp.vec3 in wp.types.vector_types
    assert wp.types.np_dtype_to_warp_type[np.float32] is wp.float32
    assert wp.types.np_dtype_to_warp_type[np.dtype("bool")] is wp.bool
    assert wp.int16._type_(-2).value == -2


launches: list[object] = []


def note(*arguments: object) -> None:
    launches.append(arguments)


@wp.kernel
def noted(a: wp.array(dtype=float), factor: float):
    a[wp.tid()] *= factor


def test_recorded_launches_of_a_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(providers.registry, "sim", f"{__name__}:note")
    launches.clear()
    a = wp.zeros(4, dtype=float, device="sim")
    step = wp.launch(noted, dim=4, inputs=[a, 2.0], record_cmd=True)
    assert launches == []
    step.set_param_by_name("factor", 3.0)
    step.set_dim(2)
    step.launch()
    kernel, dim, args, _, device, *_ = launches.pop()
    assert (kernel, dim, args, str(device)) == (noted, 2, (a, 3.0), "sim")
    bare = wp.Launch(noted, "sim")
    bare.set_dim(3)
    bare.set_params([a, 5.0])
    bare.launch()
    assert launches.pop()[1:3] == (3, (a, 5.0))
    with pytest.raises(kb.LaunchError, match="has no parameter 'facto'"):
        wp.Launch(noted, "sim").set_param_by_name("facto", 1.0)


PARTS = """
import kbuild.warp as wp

vec0 = wp.types.vector(0, float)
mat00 = wp.types.matrix((0, 0), float)


@wp.kernel
def parts(out: wp.array(dtype=float), bodies: wp.array(dtype=wp.vec4)):
    v = wp.vec4(1.0, 2.0, 3.0, 4.0)
    m = wp.mat33(1.0)
    if v[9:] == vec0() and m[3:] == mat00() and not (v[:0] != vec0()):
        out[0] = 1.0
    v[1:3] += wp.vec2(10.0, 20.0)
    v[::-1] *= 2.0
    bodies[0][2:] += wp.vec2(5.0, 6.0)
    bodies[0][:2] -= v[1:3]
    for k in range(wp.static(4)):
        out[1 + k] = v[k]
        out[5 + k] = bodies[0][k]
"""


def test_parts_of_vectors_are_changed(tmp_path: Path) -> None:
    out, bodies = np.zeros(9, np.float32), np.zeros((1, 4), np.float32)
    BothWays(tmp_path, PARTS)(1, out, bodies)
    assert out.tolist() == [1, 2, 24, 46, 8, -24, -46, 5, 6]


def test_a_part_without_elements_is_no_value(tmp_path: Path) -> None:
    text = PARTS.replace("    m = wp.mat33(1.0)\n", "    m = wp.mat33(1.0)\n    e = v[9:]\n    out[0] = e[0]\n")
    with pytest.raises(CompileError, match="is no value inside a kernel"):
        kernels.lower_text(tmp_path, text, fmad=True)


RETURNS = """
import kbuild.warp as wp
from typing import Any

Alias = float


@wp.func
def f(x: int){}:
    return {}


@wp.kernel
def k(a: wp.array(dtype=int)){}:
    y = f(a[0])
"""


@pytest.mark.parametrize(
    ("says", "value", "kernel", "message"),
    [
        (" -> wp.int16", "wp.int8(x)", "", r":f returns int8, and its annotation says int16 \[KB150\]"),
        (" -> int", "(x, x)", "", "and its annotation says int32"),
        (" -> tuple[int, int, int]", "(x, x)", "", "and its annotation says"),
        (" -> None", "x", "", "and its annotation says void"),
        ("", "x", " -> Alias", r":k is a kernel, which returns nothing, and its annotation says float32 \[KB152\]"),
    ],
)
def test_annotations_of_results_are_true(tmp_path: Path, says: str, value: str, kernel: str, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        kernels.lower_text(tmp_path, RETURNS.format(says, value, kernel), fmad=True)


@pytest.mark.parametrize(
    ("says", "value"),
    [
        (" -> int", "x + 1"),
        (" -> tuple[int, Any]", "x, x"),
        (" -> 'Unknown'", "x"),
        (" -> 'tuple[int, int]'", "(x, x)"),
    ],
)
def test_annotations_of_results_that_say_nothing_wrong(tmp_path: Path, says: str, value: str) -> None:
    kernels.lower_text(tmp_path, RETURNS.format(says, value, " -> None"), fmad=True)


def test_expectations_on_the_host(capsys: pytest.CaptureFixture[str]) -> None:
    wp.expect_eq(wp.vec2(1.0, 2.0), wp.vec2(1.0, 2.0))
    wp.expect_neq(1, 2)
    wp.expect_near(wp.mat22(1.0), wp.mat22(1.0 + 1e-7))
    assert capsys.readouterr().out == ""
    wp.expect_eq(1, 2)
    wp.expect_neq(1, 1)
    wp.expect_near(1.0, 1.5, 0.25)
    assert capsys.readouterr().out.splitlines() == [
        "kb.expect_eq failed: 1 is not 2",
        "kb.expect_neq failed: both are 1",
        "kb.expect_near failed: 1.0 is not near 1.5",
    ]


FLOORS = """
import kbuild{module}


@{name}.func
def halves(x: {name}.{kind}):
    x //= {name}.{kind}(2)
    return x


@{name}.kernel
def floors(a: {name}.array(dtype={name}.{kind}), b: {name}.array(dtype={name}.{kind}),
           out: {name}.array2d(dtype={name}.{kind})):
    i = {name}.tid()
    out[i, 0] = a[i] // b[i]
    out[i, 1] = {name}.floordiv(a[i], b[i])
    out[i, 2] = a[i] // 3
    out[i, 3] = 100 // b[i]
    out[i, 4] = halves(a[i])
    out[i, 5] = a[i] % b[i]
    out[i, 6] = a[i] // 0
    out[i, 7] = a[i]
    out[i, 7] //= b[i]
"""
SIGNED = """
    i += i // -3 - i // -3
    out[i, 8] = a[i] // -4
    out[i, 9] = -7 // 2
"""
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("dialect", ["warp", ""])
def test_integers_divided(tmp_path: Path, kind: str, dialect: str) -> None:
    """`//` rounds down in Warp's dialect, towards zero in kbuild's own."""
    is_signed = kind.startswith("int")
    low = np.iinfo(kind).min
    pairs = [(a, b) for a in (-9, -7, -1, 0, 1, 6, 7, low) for b in (-4, -3, -2, -1, 0, 1, 2, 3, 7)]
    pairs = [(a, b) for a, b in pairs if is_signed or (a >= 0 and b >= 0)]
    a, b = (np.array(column, kind) for column in zip(*pairs, strict=True))
    module, name = (".warp as wp", "wp") if dialect else (" as kb", "kb")
    text = FLOORS.format(module=module, name=name, kind=kind) + (SIGNED[1:] if is_signed else "")
    run = BothWays(tmp_path, text)
    out = np.zeros((len(pairs), 10), kind)
    run(len(pairs), a, b, out, options=Options(Checks(divisions=False)))

    def divided(x: int, y: int) -> int:
        if y == 0:
            return 0
        towards_zero = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return int(np.array(x // y if dialect else towards_zero).astype(kind))

    for (x, y), row in zip(pairs, out.tolist(), strict=True):
        assert row[:2] == [divided(x, y)] * 2
        assert row[2:5] == [divided(x, 3), divided(100, y), divided(x, 2)]
        assert row[5:8] == [x if y == 0 else int(math.fmod(x, y)), 0, divided(x, y)]
        assert row[8:] == ([divided(x, -4), divided(-7, 2)] if is_signed else [0, 0])
    (tmp_path / "again").mkdir()
    round_trip.check(run.kernel, tmp_path / "again")


def test_operands_of_a_division_are_evaluated_once(tmp_path: Path) -> None:
    text = """
import kbuild.warp as wp


@wp.func
def next(counts: wp.array(dtype=int), k: int):
    return wp.atomic_add(counts, k, 1)


@wp.kernel
def once(counts: wp.array(dtype=int), out: wp.array(dtype=int)):
    out[0] = (next(counts, 0) - 8) // (next(counts, 1) + 3)
    if counts[0] > 5 and next(counts, 0) // next(counts, 1) == 0:
        out[1] = 1
"""
    counts, out = np.zeros(2, np.int32), np.zeros(2, np.int32)
    BothWays(tmp_path, text)(1, counts, out)
    assert (counts.tolist(), out.tolist()) == ([1, 1], [-3, 0])


TRANSFORMS = """
import kbuild.warp as wp


@wp.kernel
def moved(ts: wp.array(dtype=wp.transform), out: wp.array(dtype=wp.transform)):
    t = wp.transform_identity()
    wp.transform_set_translation(t, wp.vec3(1.0, 2.0, 3.0))
    wp.transform_set_rotation(t, wp.quat(0.5, 0.5, 0.5, 0.5))
    out[0] = t
    wp.transform_set_translation(ts[0], wp.vec3(4.0, 5.0, 6.0))
    out[1] = ts[0]
"""


def test_parts_of_transforms_are_set(tmp_path: Path) -> None:
    ts, out = np.zeros((1, 7), np.float32), np.zeros((2, 7), np.float32)
    BothWays(tmp_path, TRANSFORMS)(1, ts, out)
    assert out.tolist() == [[1, 2, 3, 0.5, 0.5, 0.5, 0.5], [4, 5, 6, 0, 0, 0, 0]]
    t = wp.transformd()
    wp.transform_set_translation(t, wp.vec3d(1.0, 2.0, 3.0))
    wp.transform_set_rotation(t, wp.quatd(0.5, 0.5, 0.5, 0.5))
    assert list(t) == out[0].tolist()


UNSIGNED = """
import kbuild{}


@{}.kernel
def k(out: {}.array(dtype={}.uint64)):
    out[0] = {}.uint64({}.uint8({}))
    out[1] = {}.uint64(-1)
"""


def test_negative_numbers_made_unsigned(tmp_path: Path) -> None:
    """They wrap in Warp's dialect, and are refused in kbuild's own."""
    out = np.zeros(2, np.uint64)
    names = ["wp"] * 5
    BothWays(tmp_path, UNSIGNED.format(".warp as wp", *names, "-128", "wp"))(1, out)
    assert out.tolist() == [128, 2**64 - 1]
    with pytest.raises(CompileError, match="-129 does not fit uint8"):
        kernels.lower_text(tmp_path, UNSIGNED.format(".warp as wp", *names, "-129", "wp"), fmad=True)
    with pytest.raises(CompileError, match=r"-1 does not fit uint64 .*\[KB122\]"):
        kernels.lower_text(tmp_path, UNSIGNED.format(" as kb", *["kb"] * 5, "1", "kb"), fmad=True)


def test_what_only_kbuild_has_is_no_name_of_warps() -> None:
    for name in ("shfl", "any", "warp_sum", "grid_range", "load_readonly"):
        assert name not in dir(wp)
        with pytest.raises(AttributeError, match=rf"Warp has no '{name}', and kbuild has: `import kbuild as kb`"):
            getattr(wp, name)
