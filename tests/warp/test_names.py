"""Warp's names: the same objects as kbuild's, or names that refuse when they are used."""

from __future__ import annotations

import math

import pytest

import kbuild as kb
import kbuild.warp as wp
from kbuild.intrinsics.absent import ABSENT
from kbuild.loader import builtins, values
from kbuild.loader.layout import abi_type
from kbuild.warp import names
from kbuild.warp.absent import Absent, NotInKbuild


@pytest.mark.parametrize("name", [*values.__all__, *(one for one in builtins.TABLE if one not in names.BEYOND)])
def test_what_kernels_use_is_the_very_same(name: str) -> None:
    if name not in ("vector", "matrix", "quaternion", "transformation"):
        assert getattr(wp, name) is getattr(kb, name)


@pytest.mark.parametrize(
    ("longer", "short"),
    [
        ("vec3f", "vec3"),
        ("mat33f", "mat33"),
        ("quatf", "quat"),
        ("transformf", "transform"),
        ("spatial_vectorf", "spatial_vector"),
        ("spatial_matrixf", "spatial_matrix"),
        ("bool", "bool_"),
    ],
)
def test_names_that_differ(longer: str, short: str) -> None:
    assert abi_type(getattr(wp, longer)) == abi_type(getattr(kb, short))


@pytest.mark.parametrize("name", [*names.FAMILY_OF, *names.MODULES, *ABSENT])
def test_what_is_absent_is_there(name: str) -> None:
    assert getattr(wp, name) is not None


@pytest.mark.parametrize(
    "use",
    [
        lambda: wp.Mesh(points=[], indices=[]),
        lambda: wp.capture_save(None, "path"),
        lambda: wp.utils.segmented_sort_pairs(None, None, 0, None),
        lambda: wp.from_paddle(None),
        lambda: wp.fem.Grid2D(res=4),
        lambda: wp.render.UsdRenderer("stage"),
        lambda: wp.launch_tiled(None, dim=1),
    ],
)
def test_what_is_absent_refuses_when_used(use: object) -> None:
    with pytest.raises(NotInKbuild, match=r"^wp\..+ \(.+\) is not in kbuild$"):
        use()  # type: ignore[operator]


def test_absent_classes_are_classes() -> None:
    assert not isinstance(3, wp.Mesh)

    class Mine(wp.Volume):  # type: ignore[misc,name-defined]
        pass

    with pytest.raises(NotInKbuild):
        Mine()
    assert wp.Mesh | None is wp.Mesh
    assert isinstance(wp.TextureFilterMode.LINEAR, Absent)


def test_a_decorated_function_stays_absent() -> None:
    @wp.fem.integrand
    def form() -> None: ...

    @wp.fem.integrand(kernel_options={})
    def other() -> None: ...

    @wp.jax_callable(graph_mode=wp.JaxCallableGraphMode.WARP)
    def third() -> None: ...

    for made, family in ((form, "finite elements"), (other, "finite elements"), (third, "other frameworks")):
        with pytest.raises(NotInKbuild, match=family):
            made()


@pytest.mark.parametrize(("wrong", "right"), [("normalise", "normalize"), ("arrray", "array"), ("zeroes", "zeros")])
def test_an_unknown_name(wrong: str, right: str) -> None:
    with pytest.raises(AttributeError, match=f"no attribute '{wrong}'; did you mean '{right}'"):
        getattr(wp, wrong)


def test_every_listed_name_resolves() -> None:
    for name in dir(wp):
        assert getattr(wp, name, wp) is not wp, name


def test_annotations() -> None:
    two = wp.array(dtype=wp.vec3, ndim=2)
    assert abi_type(two) == abi_type(wp.array2d[wp.vec3]) == abi_type(kb.array2d(dtype=kb.vec3))
    assert isinstance(two, wp.array)
    assert isinstance(two, wp.array2d)
    assert not isinstance(two, wp.array1d)
    assert not isinstance(3, wp.array)
    two.shape = ("nworld", 3)  # as programs do, to keep what they know of it
    assert two.shape == ("nworld", 3)


def test_constants_and_settings() -> None:
    assert (wp.pi, wp.PI, wp.TAU, wp.HALF_PI) == (math.pi, math.pi, math.tau, math.pi / 2)
    assert math.isnan(wp.nan)
    assert wp.inf == math.inf
    assert wp.config.max_unroll == 16
    assert wp.constant(3) == 3


def test_options_of_declarations() -> None:
    @wp.kernel(module_options={"fuse_fp": False, "enable_backward": False, "block_dim": 64}, grid_stride=True)
    def kernel(a: wp.array(dtype=float), n: int): ...

    assert kernel.options == {"fmad": False, "enable_backward": False, "block_dim": 64}

    @wp.kernel(module_options={"fast_math": True}, launch_bounds=[128, 2], cuda_max_registers=64)
    def bounded(a: wp.array(dtype=float)): ...

    assert bounded.options == {"fast_math": True, "launch_bounds": (128, 2)}
    assert wp.kernel(cuda_max_registers=64)(bounded.func).options == {"max_registers": 64}
    assert [(p.label, p.type) for p in kernel.adj.args] == [("a", wp.array(dtype=float)), ("n", int)]
    for declare in (wp.kernel, wp.func, wp.struct):
        with pytest.raises(TypeError, match=r"has no option 'modul'; did you mean 'module'"):
            declare(modul="unique")


def test_questions_about_types() -> None:
    types = wp.types
    assert [types.type_is_int(t) for t in (int, wp.uint8, float, wp.vec3)] == [True, True, False, False]
    assert [types.type_is_float(t) for t in (float, wp.float64, int)] == [True, True, False]
    assert [types.type_is_vector(t) for t in (wp.vec3, wp.quat, wp.mat33)] == [True, False, False]
    assert [types.type_is_matrix(t) for t in (wp.vec3, wp.mat33)] == [False, True]
    assert types.type_is_quaternion(wp.quat)
    assert types.type_is_transformation(wp.transform)
    assert types.is_array(wp.array(dtype=float))
    assert (types.type_size(wp.mat33), types.type_length(wp.mat33), types.type_size_in_bytes(wp.vec3d)) == (9, 3, 24)
    assert types.type_scalar_type(wp.vec3d) is kb.float64
    assert types.types_equal(float, wp.float32)
    assert not types.types_equal(wp.vec2, wp.vec3)


def test_without_a_gpu_modules_may_ask_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from kbuild.loader import hosts

    monkeypatch.setattr(hosts, "get_devices", list)
    device = wp.get_device()
    assert (device.is_cuda, device.alias, str(wp.get_device("cpu"))) == (False, "cpu", "cpu")
    assert not wp.is_cuda_available()
    assert wp.get_cuda_device_count() == 0


def test_a_subclass_of_a_vector_is_that_vector() -> None:
    class vec5(wp.types.vector(length=5, dtype=float)):  # type: ignore[misc]
        pass

    assert abi_type(vec5) == abi_type(kb.types.vector(5, float))


def test_values_that_a_struct_gives_its_fields_are_not_read() -> None:
    @wp.struct
    class Spring:
        stiffness: float = 100.0

    assert Spring().stiffness == 0.0
    assert repr(wp.struct(type("Empty", (), {}))()) == "Empty()"


def test_nothing_is_called_absent_that_is_there() -> None:
    there = {*values.__all__, *builtins.TABLE, *wp._HOME_OF, *wp._OTHER_NAMES, *wp._LOADER, *wp._VALUES}
    assert [name for name in names.FAMILY_OF if name in there] == []
