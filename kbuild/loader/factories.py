"""Types of any size: `kb.types.vector(length=6, dtype=float)`, `kb.types.matrix(shape=(3, 4), dtype=kb.float64)`.

The same arguments give the same class. Inside kernels these calls are types too. The functions whose names start with
`make` are what `kb.vector(…)`, `kb.matrix(…)` and their kin compute on the host.
"""

from __future__ import annotations

from . import abi, generic
from .layout import abi_type
from .values import class_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def vector(length: Any, dtype: object) -> Any:
    """The class of vectors of `length` numbers (none: on the host alone); with Any, what a generic parameter admits.

    Raises TypeError.
    """
    if generic.is_any(length) or generic.is_open(dtype):
        return generic.OpenType("vec", (length,), dtype)
    if type(length) is int and length == 0:
        return class_of(abi.Vector(0, _scalar(dtype)))  # an empty part of a vector, on the host alone
    return class_of(vector_type(length, dtype))


def matrix(shape: Any, dtype: object) -> Any:
    """The class of matrices of `shape` (rows, columns); Any as in `vector`. Raises TypeError."""
    if isinstance(shape, tuple) and (any(map(generic.is_any, shape)) or generic.is_open(dtype)):
        return generic.OpenType("mat", shape, dtype)
    if shape in ((0, 0), [0, 0]):
        return class_of(abi.Matrix(0, 0, _scalar(dtype)))  # an empty part of a matrix, on the host alone
    return class_of(matrix_type(shape, dtype))


def quaternion(dtype: object = float) -> Any:
    """The class of quaternions of a floating-point type; Any as in `vector`. Raises TypeError."""
    if generic.is_open(dtype):
        return generic.OpenType("quat", (), dtype)
    return class_of(abi.quaternion(_float(dtype)))


def transformation(dtype: object = float) -> Any:
    """The class of rigid motions of a floating-point type; Any as in `vector`. Raises TypeError."""
    if generic.is_open(dtype):
        return generic.OpenType("transform", (), dtype)
    return class_of(abi.transformation(_float(dtype)))


def vector_type(length: object, dtype: object) -> abi.Vector:
    """The layout of `vector(length, dtype)`. Raises TypeError."""
    return abi.Vector(_count(length, "length"), _scalar(dtype))


def matrix_type(shape: object, dtype: object) -> abi.Matrix:
    """The layout of `matrix(shape, dtype)`. Raises TypeError."""
    if not isinstance(shape, (tuple, list)) or len(shape) != 2:
        raise TypeError("a matrix has a shape of two numbers (rows, columns), not %r" % (shape,))
    return abi.Matrix(_count(shape[0], "rows"), _count(shape[1], "columns"), _scalar(dtype))


def _count(value: object, what: str) -> int:
    if type(value) is not int or not 1 <= value <= 9999:
        raise TypeError("%s must be a whole number from 1 to 9999, not %r" % (what, value))
    return value


def _scalar(dtype: object) -> abi.Scalar:
    element = abi_type(dtype)
    if not isinstance(element, abi.Scalar):
        raise TypeError("vectors and matrices are made of numbers or truth values, not of %s" % element)
    return element


def _float(dtype: object) -> abi.Scalar:
    element = _scalar(dtype)
    if element.kind != "float":
        raise TypeError("quaternions and transforms are made of floating-point numbers, not of %s" % element)
    return element


def _element(values: tuple[Any, ...], dtype: object) -> object:
    """The element type that was asked for, or that the first value has."""
    if dtype is not None:
        return dtype
    for value in values:
        own = getattr(type(value), "_kb_type_", None)
        if own is not None:
            return own if isinstance(own, abi.Scalar) else own.element
        if isinstance(value, (tuple, list)):
            return _element(tuple(value), None)
        return next(kind for kind in (bool, int, float) if kind is float or isinstance(value, kind))
    return float


def make_vector(*values: Any, length: int | None = None, dtype: object = None) -> Any:
    """`kb.vector(1.0, 2.0)`, `kb.vector(0.0, length=6)`, `kb.vector(length=6, dtype=float)`."""
    if length is None:
        first = values[0] if len(values) == 1 else values
        length = len(first) if hasattr(first, "__len__") else 1
    return vector(length, _element(values, dtype))(*values)


def make_matrix(*values: Any, shape: tuple[int, int], dtype: object = None) -> Any:
    """`kb.matrix(1.0, 2.0, shape=(1, 2))`, `kb.matrix(shape=(3, 4), dtype=float)`."""
    return matrix(shape, _element(values, dtype))(*values)


def make_quaternion(*values: Any, dtype: object = None) -> Any:
    """`kb.quaternion(x, y, z, w)`, `kb.quaternion(vec3, w)`, `kb.quaternion(dtype=kb.float64)`."""
    return quaternion(_floating(values, dtype))(*values)


def make_transformation(*values: Any, dtype: object = None, **named: Any) -> Any:
    """`kb.transformation(p, q)`, seven numbers, `kb.transformation(dtype=kb.float64)`."""
    return transformation(_floating(values or tuple(named.values()), dtype))(*values, **named)


def _floating(values: tuple[Any, ...], dtype: object) -> object:
    found = _element(values, dtype)
    return float if found is int else found


def make_quat_identity(dtype: object = float) -> Any:
    """No rotation."""
    return quaternion(dtype)(0.0, 0.0, 0.0, 1.0)


def make_transform_identity(dtype: object = float) -> Any:
    """No motion."""
    return transformation(dtype)(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def make_matrix_from_rows(*rows: Any) -> Any:
    """The matrix of these rows, vectors of one type."""
    if not rows or len({type(row) for row in rows}) != 1 or not hasattr(type(rows[0]), "_kb_type_"):
        raise TypeError("matrix_from_rows and matrix_from_cols take vectors of one type, not %r" % (rows,))
    return matrix((len(rows), len(rows[0])), rows[0]._kb_type_.element)(*rows)


def make_matrix_from_cols(*columns: Any) -> Any:
    """The matrix of these columns, vectors of one type."""
    rows = make_matrix_from_rows(*columns)
    return matrix((len(columns[0]), len(columns)), rows._kb_type_.element)(*zip(*rows))


HOST: dict[str, Callable[..., Any]] = {
    "matrix": make_matrix,
    "matrix_from_cols": make_matrix_from_cols,
    "matrix_from_rows": make_matrix_from_rows,
    "quat_identity": make_quat_identity,
    "quaternion": make_quaternion,
    "transform_identity": make_transform_identity,
    "transformation": make_transformation,
    "vector": make_vector,
}
