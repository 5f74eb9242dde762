"""What the parameters of library functions admit: `q: Quat` is a quaternion of any element type.

For the front end an annotation of these names means `Any`; a call is held against `SHAPES` before the function is
looked at, so that a wrong argument is the caller's error and not one inside the library.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from kbuild.ir.types import Matrix, Type, Vector, element_of, is_float

Float: TypeAlias = Any
Mat33: TypeAlias = Any
Mat44: TypeAlias = Any
Quat: TypeAlias = Any
Rotation: TypeAlias = Any
Transform: TypeAlias = Any
Vec3: TypeAlias = Any
Vec6: TypeAlias = Any


def _vector(length: int, kind: str = "vec") -> Callable[[Type], bool]:
    return lambda type: isinstance(type, Vector) and (type.length, type.kind) == (length, kind)


def _square(*sizes: int) -> Callable[[Type], bool]:
    return lambda type: isinstance(type, Matrix) and type.rows == type.columns and type.rows in sizes


SHAPES: dict[str, tuple[str, Callable[[Type], bool]]] = {
    "Float": ("a floating-point number", is_float),
    "Mat33": ("a 3 × 3 matrix", _square(3)),
    "Mat44": ("a 4 × 4 matrix", _square(4)),
    "Quat": ("a quaternion", _vector(4, "quat")),
    "Rotation": ("a 3 × 3 or 4 × 4 matrix", _square(3, 4)),
    "Transform": ("a transform", _vector(7, "transform")),
    "Vec3": ("a vector of length 3", _vector(3)),
    "Vec6": ("a spatial vector", _vector(6)),
}


def misfit(parameters: list[tuple[str, str]], types: list[Type]) -> str | None:
    """Which argument does not fit its parameter (name, annotation), and why; None where all do."""
    first: Type | None = None
    for (name, annotation), type in zip(parameters, types, strict=True):
        if annotation not in SHAPES:
            continue
        words, fits = SHAPES[annotation]
        element = element_of(type)
        if not fits(type) or not is_float(element):
            return f"{name} must be {words}{'' if is_float(element) else ' of floating-point numbers'}, not {type}"
        if first is not None and element != first:
            return f"{name} is made of {element}, but {first} came before it; kernels never mix types silently"
        first = element
    return None
