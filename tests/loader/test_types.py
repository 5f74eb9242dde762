"""Decorators, annotations and structs."""

from __future__ import annotations

from typing import Any

import pytest

from kbuild.loader import abi, types
from kbuild.loader.array import array, array1d, array2d, array3d, array4d
from kbuild.loader.errors import LaunchError
from kbuild.loader.types import Function, Kernel, abi_type, float32, func, int64, kernel, struct
from kbuild.loader.values import mat33, vec3


def test_a_kernel_remembers_its_function() -> None:
    def scale(x: int) -> None:
        """Scales."""

    bare, called, with_options = kernel(scale), kernel()(scale), kernel(fmad=False, block_dim=64)(scale)
    for made in (bare, called, with_options):
        assert isinstance(made, Kernel)
        assert made.function is scale
        assert made.name == f"{__name__}:test_a_kernel_remembers_its_function.<locals>.scale"
        assert made.__doc__ == "Scales."
    assert (bare.options, with_options.options) == ({}, {"fmad": False, "block_dim": 64})
    with pytest.raises(LaunchError, match=r"is a kernel: write kb.launch\(scale, dim="):
        bare(1)


def test_a_func_stays_callable() -> None:
    @func
    def twice(x: float) -> float:
        return 2 * x

    assert isinstance(twice, Function)
    assert twice(1.5) == 3.0
    assert func()(twice.function)(2) == 4
    assert repr(twice).startswith("<kb.func ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fmadd": True}, "@kernel has no option 'fmadd'; did you mean 'fmad'?"),
        ({"fmad": 1}, "fmad wants bool, not 1"),
        ({"block_dim": 2048}, "block_dim is 1 to 1024 threads, not 2048"),
        ({"block_dim": True}, "block_dim wants int, not True"),
        ({"fast_math": 1}, "fast_math wants bool, not 1"),
        ({"max_registers": 8}, "max_registers is 16 to 255 registers of a thread, not 8"),
        ({"max_registers": 256}, "max_registers is 16 to 255 registers of a thread, not 256"),
        (
            {"launch_bounds": "most"},
            "launch_bounds wants max_threads, (max_threads, min_blocks) or \"auto\", not 'most'",
        ),
        ({"launch_dim": 0}, "launch_dim: a launch has from 1 thread on along an axis, not 0"),
        ({"launch_dim": ("n", -2)}, "launch_dim: a launch has from 1 thread on along an axis, not -2"),
        ({"launch_dim": 2.0}, "launch_dim wants the name of a size, or a number, or a tuple of these, not 2.0"),
        ({"launch_dim": True}, "launch_dim wants the name of a size"),
        ({"launch_dim": "2 n"}, "launch_dim wants the name of a size, or a number, or a tuple of these, not '2 n'"),
        ({"launch_dim": ["n"]}, "launch_dim wants the name of a size"),
        ({"launch_dim": ()}, "launch_dim has 1 to 4 axes, not 0"),
        ({"launch_dim": ("a", "b", "c", "d", "e")}, "launch_dim has 1 to 4 axes, not 5"),
        ({"launch_bounds": (1, 2, 3)}, "launch_bounds wants max_threads"),
        ({"launch_bounds": True}, "launch_bounds wants max_threads"),
        ({"launch_bounds": 1025}, "launch_bounds: blocks have 1 to 1024 threads, not 1025"),
        ({"launch_bounds": (256, 0)}, "launch_bounds: a multiprocessor holds 1 to 32 blocks, not 0"),
        (
            {"launch_bounds": 128, "block_dim": 256},
            "block_dim=256 is more than the 128 threads that launch_bounds allows",
        ),
        ({"launch_bounds": "auto", "max_registers": 64}, "launch_bounds and max_registers contradict each other"),
    ],
)
def test_options_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError) as caught:
        kernel(**options)
    assert message in str(caught.value)


@pytest.mark.parametrize("thing", [3, "name", len, vec3])
def test_only_functions_are_decorated(thing: Any) -> None:
    with pytest.raises(TypeError, match="wants a function, not"):
        kernel(thing)
    with pytest.raises(TypeError, match="wants a function, not"):
        func(thing)


def test_a_build_sees_declarations(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Kernel] = []
    monkeypatch.setattr(types, "on_declare", seen.append)
    made = kernel(lambda: None)
    assert seen == [made]


@struct
class Inner:
    weight: float


@struct
class Outer:
    inner: Inner
    later: Later
    points: array(dtype=vec3)  # type: ignore[valid-type]
    grid: array2d[float]  # type: ignore[valid-type]
    big: int64
    on: bool


@struct
class Later:
    m: mat33


@pytest.mark.parametrize(
    ("annotation", "spelling"),
    [
        (float, "float32"),
        (int, "int32"),
        (bool, "bool"),
        (int64, "int64"),
        (vec3, "vec3[float32]"),
        (mat33, "mat3x3[float32]"),
        (array(dtype=float), "array1[float32]"),
        (array(dtype=vec3, ndim=3), "array3[vec3[float32]]"),
        (array[int64], "array1[int64]"),
        (array1d(dtype=float), "array1[float32]"),
        (array2d[vec3], "array2[vec3[float32]]"),
        (array3d(dtype=float), "array3[float32]"),
        (array4d[bool], "array4[bool]"),
        (Outer, f"struct:{__name__}:Outer"),
        (array[Outer], f"array1[struct:{__name__}:Outer]"),
        (abi.FLOAT16, "float16"),
    ],
)
def test_annotations(annotation: object, spelling: str) -> None:
    assert abi_type(annotation).spelling == spelling


def test_struct_layout() -> None:
    laid_out = abi_type(Outer)
    assert isinstance(laid_out, abi.Struct)
    assert laid_out.to_json()["fields"] == [
        ["inner", f"struct:{__name__}:Inner", 0],
        ["later", f"struct:{__name__}:Later", 4],
        ["points", "array1[vec3[float32]]", 40],
        ["grid", "array2[float32]", 56],
        ["big", "int64", 80],
        ["on", "bool", 88],
    ]


def test_struct_instances() -> None:
    made: Any = Outer(big=5)  # type: ignore[call-arg]
    assert (made.big, made.on, made.points, made.inner.weight, made.later.m) == (5, False, None, 0.0, mat33())
    made.inner.weight = 2.0
    assert repr(made.inner) == "Inner(weight=2.0)"
    with pytest.raises(AttributeError, match=r"Outer has no field 'bigg'; did you mean 'big'?"):
        made.bigg = 1
    with pytest.raises(AttributeError, match="Outer has no field 'colour'"):
        Outer(colour=1)  # type: ignore[call-arg]
    assert Outer._kb_struct_ is True  # type: ignore[attr-defined]


@struct
class Selfish:
    other: array(dtype=Unknown)  # type: ignore[valid-type, name-defined]  # noqa: F821


@struct
class Loop:
    again: Loop


@struct
class Listed:
    items: list


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        (str, "str is not a type that a kernel knows: use bool, int, float"),
        (list[int], "is not a type that a kernel knows"),
        ("float", "'float' is not a type"),
        (3, "3 is not a type"),
        (Kernel, "Kernel is not a type that a kernel knows: decorate it with @struct"),
        (array, "array needs an element type: write array(dtype=float)"),
        (array2d, "array2d needs an element type"),
        (array(dtype=str), "str is not a type"),
        (array(dtype=array(dtype=float)), "an array's elements cannot be arrays"),
        (Selfish, "field 'other' of struct test_types:Selfish: cannot evaluate its annotation 'array(dtype=Unknown)'"),
        (Loop, "struct test_types:Loop contains itself"),
        (Listed, "field 'items' of struct test_types:Listed: list is not a type"),
    ],
)
def test_annotations_refused(annotation: object, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        abi_type(annotation)
    assert message in str(caught.value).replace(__name__, "test_types")


@pytest.mark.parametrize("ndim", [0, 5, 1.0])
def test_dimensions_refused(ndim: Any) -> None:
    with pytest.raises(TypeError, match="an array has 1 to 4 dimensions"):
        array(dtype=float, ndim=ndim)
    with pytest.raises(TypeError, match="needs data, or dtype"):
        array2d()


def test_structs_refused() -> None:
    class Empty:
        pass

    class Started:
        x: float = 1.0

    class Built:
        x: float

        def __init__(self) -> None:
            pass

    class Child(Inner):
        y: float

    for cls, message in (
        (Empty, "has no fields: annotate them"),
        (Started, "may not define x: fields start at zero"),
        (Built, "may not define __init__"),
        (Child, "cannot inherit from Inner: nest it as a field instead"),
    ):
        with pytest.raises(TypeError, match=message):
            struct(cls)


def test_a_struct_with_host_methods_is_fine() -> None:
    @struct
    class Sphere:
        radius: float32

        def area(self) -> float:
            return 12.5 * float(self.radius) ** 2  # type: ignore[arg-type]

    assert Sphere(radius=2.0).area() == 50.0  # type: ignore[call-arg]
