"""What programs written for Warp say, and kbuild's own do not: names without a module, types as values, records."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kbuild as kb
import kbuild.warp as wp
from kbuild.errors import CompileError
from kbuild.loader import providers
from kbuild.warp.absent import NotInKbuild
from tests.helpers import kernels
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
