"""Launching a generic kernel: the instance by the types of the arguments."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from kbuild.loader import array as arrays
from kbuild.loader import factories, format, generic, identity, overloading, readiness, resolve, values
from kbuild.loader.errors import BundleError, LaunchError
from kbuild.loader.indexed import indexedarray
from kbuild.loader.types import Kernel, func, kernel, overload
from kbuild.warp import launching
from tests.helpers.fake_cuda import FakeCuda, code, cubin_row, kernel_rows, make_manifest

vec3: Any = values.vec3  # type: ignore[attr-defined]
T = TypeVar("T")
Real = TypeVar("Real", values.float32, values.float64)


@kernel
def scale(x: arrays.array(dtype=Any), s: Any, n: int):  # type: ignore[valid-type]
    pass


@kernel
def plain(x: float):
    pass


@kernel
def tied(x: arrays.array(dtype=T), s: T):  # type: ignore[valid-type]
    pass


class Fake:
    """An array of another library."""

    def __init__(self, typestr: str, *shape: int) -> None:
        self.__cuda_array_interface__ = {"typestr": typestr, "shape": shape, "data": (0, False), "version": 3}


INSTANCES: list[Any] = [
    {"x": arrays.array(dtype=float), "s": float},
    {"x": arrays.array(dtype=values.float64), "s": values.float64},
    {"x": arrays.array(dtype=vec3), "s": vec3},
    {"x": arrays.array2d(dtype=int), "s": int},
]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cuda: FakeCuda) -> Iterator[Kernel]:
    """A package with a bundle of the instances of `scale`; the kernel, as the package's."""
    folder = tmp_path / "generic_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "kernels.py").write_text(
        "from typing import Any\nfrom kbuild.loader import array as arrays\nfrom kbuild.loader.types import kernel\n"
        "@kernel\ndef scale(x: arrays.array(dtype=Any, ndim=1), s: Any, n: int):\n    pass\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    __import__("generic_package.kernels")
    live: Kernel = sys.modules["generic_package.kernels"].scale
    plan = ["type:x", "type:s"]
    rows, definition = [], []
    for types in INSTANCES[:3]:
        made = overload(live, types)
        found = identity.identity(made.function, plan, made.bound)
        described = identity.describe(identity.evaluate(made.function, plan, made.bound))
        definition.append({"identity": found, "values": described, "kernel": len(rows)})
        parameters = [(name, made.bound[name].spelling) for name in ("x", "s")] + [("n", "int32")]
        made_row = kernel_rows("%s[%s]" % (live.name, found[:8]), parameters, 1, {}, 256)
        rows.append(dict(made_row, entry="entry_%d" % len(rows)))
    manifest = make_manifest(
        rows,
        [cubin_row("sm_90", range(len(rows)), 0)],
        package="generic_package",
        definitions={live.name: {"plan": plan, "instances": definition}},
    )
    (folder / "_kbuild.kbundle").write_bytes(format.dump(manifest, [code(rows)]))
    yield live
    for module in ("generic_package", "generic_package.kernels"):
        sys.modules.pop(module, None)
    resolve._opened.clear()


def entries(cuda: FakeCuda) -> list[str]:
    return [cuda.library.fake_record_name(i).decode() for i in range(len(cuda.records))]


def test_exact_types_choose(cuda: FakeCuda, package: Kernel) -> None:
    single, double = arrays.zeros(4, float), arrays.zeros(4, values.float64)
    vectors = arrays.zeros(4, vec3)
    for _ in range(3):
        resolve.launch(package, 4, inputs=[single, 2.0, 1])
        resolve.launch(package, 4, inputs=[vectors, vec3(1.0, 2.0, 3.0), 1])
        resolve.launch(package, 4, [double, 2.0, 1])  # no exact one: the one that takes a float
    assert entries(cuda) == ["entry_0", "entry_2", "entry_1"] * 3


def test_an_indexedarray_is_no_array_of_any_elements(cuda: FakeCuda, package: Kernel) -> None:
    seen = indexedarray(arrays.zeros(4, float), arrays.array([1], dtype=int))
    with pytest.raises(LaunchError, match=r"parameter x: wanted array1\[Any\], got indexedarray1\[float32\]"):
        resolve.launch(package, 4, inputs=[seen, 2.0, 1])
    with pytest.raises(TypeError, match=r"x is indexedarray1\[float32\], which array1\[Any\] does not admit"):
        overload(package, {"x": indexedarray(dtype=float), "s": float})


def test_an_overload_is_launched_as_it_is(cuda: FakeCuda, package: Kernel) -> None:
    made = overload(package, INSTANCES[1])
    resolve.launch(made, 4, inputs=[arrays.zeros(4, values.float64), 2.0, 1])
    assert entries(cuda) == ["entry_1"]
    with pytest.raises(LaunchError, match=r"parameter x: wanted array1\[float64\]"):
        resolve.launch(made, 4, inputs=[arrays.zeros(4, float), 2.0, 1])


def test_before_the_launch_of_a_generic_kernel(cuda: FakeCuda, package: Kernel) -> None:
    """All of its instances are meant, and an overload is one of them."""
    one = overload(package, INSTANCES[1])
    bundle = resolve.find(one).bundle
    assert (readiness.preload(package), readiness.preload(one)) == (3, 1)
    assert (bundle.preload(kernels=[package]), bundle.preload(kernels=package.name), len(bundle)) == (3, 3, 3)
    bundle.require([package, one, package.name, *bundle])
    with pytest.raises(BundleError, match=r"holds no instance of generic_package.kernels:scale for type:x = .*int32"):
        bundle.require([overload(package, {"x": arrays.array(dtype=int), "s": int})])
    assert readiness.get_grid(one, 1000) == (4, 256)
    for ask in (readiness.get_grid, launching.get_cuda_kernel_properties):
        with pytest.raises(LaunchError, match=r"scale is generic, and its instances differ\n  help: .*overload\(scale"):
            ask(package, 0)


def test_arrays_of_other_libraries(cuda: FakeCuda, package: Kernel) -> None:
    resolve.launch(package, 4, inputs=[Fake("<f4", 0), 2.0, 1])
    resolve.launch(package, 4, inputs=[Fake("<f8", 0), 2.0, 1])
    resolve.launch(package, 4, inputs=[Fake("<f4", 0, 3), vec3(1.0, 2.0, 3.0), 1])
    assert entries(cuda) == ["entry_0", "entry_1", "entry_2"]


def test_no_instance_fits(cuda: FakeCuda, package: Kernel) -> None:
    # By a pattern: whoever keeps the exception keeps the arrays, longer than this driver lives.
    asked = r"holds no instance of generic_package\.kernels:scale for type:x = type array1\[int32\]"
    with pytest.raises(LaunchError, match=r"(?s)%s.*type:x = type array1\[vec3\[float32\]\]" % asked):
        resolve.launch(package, 4, inputs=[arrays.zeros(4, int), 2, 1])
    with pytest.raises(LaunchError, match="the type of s is not known: None"):
        resolve.launch(package, 4, inputs=[arrays.zeros(4, int), None, 1])
    with pytest.raises(LaunchError, match=r"takes 3 arguments \(x, s, n\)"):
        resolve.launch(package, 4, inputs=[arrays.zeros(4, int)])
    with pytest.raises(LaunchError, match=r"parameter x: wanted array1\[Any\], got array2\[float32\]"):
        resolve.launch(package, 4, inputs=[arrays.zeros((4, 4), float), 1.0, 1])
    assert not entries(cuda)


def test_several_instances_fit(cuda: FakeCuda, package: Kernel) -> None:
    """A number of another library has no type of its own: both float instances of an empty array take it."""
    with pytest.raises(LaunchError, match=r"(?s)the arguments fit several instances .*kb\.overload\(scale, …\)"):
        resolve.launch(package, 4, inputs=[_Empty(), 1.0, 1])


class _Empty:
    """An array that says what it is in another way each time it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        self.asked += 1
        typestr = ("<i4", "<i4", "<f4", "<f8", "<f4")[min(self.asked - 1, 4)]
        return {"typestr": typestr, "shape": (0,), "data": (0, False), "version": 3}


@pytest.mark.parametrize(
    ("target", "types", "reason"),
    [
        (plain, {}, "plain is not generic: no parameter is annotated with Any"),
        (scale, {"x": arrays.array(dtype=float)}, "scale is generic in s: give each a type"),
        (scale, {"y": float}, r"scale has no parameter 'y'; it has x, s, n"),
        (scale, [float], "scale has 3 parameters, and 1 types are given"),
        (scale, 7, "the types of scale are a dictionary by parameter, or a list, not 7"),
        (scale, None, r"overload\(scale, …\) wants types"),
        (scale, {"x": float, "s": float}, r"x is float32, which array1\[Any\] does not admit"),
        (scale, {"x": arrays.array(dtype=float), "s": float, "n": float}, "n is float32, which int does not admit"),
        (tied, {"x": arrays.array(dtype=float), "s": int}, "s is int32, which T does not admit"),
    ],
)
def test_overloads_that_are_refused(target: Any, types: Any, reason: str) -> None:
    with pytest.raises(TypeError, match=reason):
        overload(target, types)


def test_overloads_are_one_a_combination() -> None:
    assert overload(scale, INSTANCES[0]) is overload(scale, [arrays.array(dtype=values.float32), values.float32, int])
    assert overload(scale, INSTANCES[0]) is not overload(scale, INSTANCES[1])
    assert overload(scale, INSTANCES[0]).name == scale.name


def test_declared_overloads() -> None:
    def scale(x: arrays.array(dtype=float), s: float, n: int) -> None: ...  # type: ignore[valid-type]

    known = globals()["scale"]
    assert overloading.declared(scale, globals()) is known
    scale.__name__ = "skale"
    with pytest.raises(TypeError, match=r"there is no kernel 'skale' here.*did you mean 'scale'"):
        overloading.declared(scale, globals())
    with pytest.raises(TypeError, match="overload wants a generic kernel"):
        overload(3)


def test_functions_of_one_name_on_the_host() -> None:
    @func
    def pick(x: float) -> str:
        return "float"

    @func
    def pick(x: int) -> str:  # noqa: F811
        return "int"

    @func
    def pick(x: int) -> str:  # noqa: F811
        return "the other int"

    @func
    def pick(x: T, y: T) -> str:  # noqa: F811
        return "two"

    assert (pick(1.0), pick(1), pick(2, y=3)) == ("float", "the other int", "two")
    assert len(pick.overloads) == 3


@pytest.mark.parametrize(
    ("annotation", "admitted", "refused"),
    [
        (factories.vector(length=Any, dtype=float), [vec3], [values.vec3d, float, values.quat]),  # type: ignore[attr-defined]
        (factories.vector(length=3, dtype=Any), [vec3, values.vec3i], [values.vec2]),  # type: ignore[attr-defined]
        (factories.matrix(shape=(Any, 3), dtype=Any), [values.mat33], [values.mat22, vec3]),  # type: ignore[attr-defined]
        (factories.quaternion(dtype=Any), [values.quat, values.quatd], [values.vec4]),  # type: ignore[attr-defined]
        (factories.transformation(dtype=Real), [values.transform], [values.quat, values.transformh]),  # type: ignore[attr-defined]
        (Real, [float, values.float64], [int, vec3]),
    ],
)
def test_patterns(annotation: Any, admitted: list[Any], refused: list[Any]) -> None:
    from kbuild.loader.layout import abi_type

    assert generic.is_open(annotation)
    assert all(generic.match(annotation, abi_type(one), {}) for one in admitted)
    assert not any(generic.match(annotation, abi_type(one), {}) for one in refused)
    assert annotation == annotation
    assert hash(annotation) == hash(annotation)
