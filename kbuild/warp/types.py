"""`wp.types`: types made while the program runs, and questions about types."""

from __future__ import annotations

from kbuild.loader import abi, interface, reference, values
from kbuild.loader.array import array as _array
from kbuild.loader.factories import matrix, quaternion, transformation, vector
from kbuild.loader.indexed import indexedarray as _indexedarray
from kbuild.loader.layout import ArrayAnnotation, abi_type
from kbuild.loader.values import class_of

from .absent import absent
from .names import family_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ("matrix", "quaternion", "transformation", "vector")


def _type(value: Any) -> abi.Type | None:
    try:
        return abi_type(value)
    except TypeError:
        return None


def _is_vector(type: abi.Type | None, kind: str) -> bool:
    return isinstance(type, abi.Vector) and type.kind == kind


def type_is_int(t: Any) -> bool:
    """An integer type."""
    type = _type(t)
    return isinstance(type, abi.Scalar) and type.kind in ("int", "uint")


def type_is_float(t: Any) -> bool:
    """A floating-point type."""
    type = _type(t)
    return isinstance(type, abi.Scalar) and type.kind == "float"


def type_is_scalar(t: Any) -> bool:
    """A type of numbers."""
    return isinstance(_type(t), abi.Scalar)


def type_is_vector(t: Any) -> bool:
    """A type of vectors."""
    return _is_vector(_type(t), "vec")


def type_is_quaternion(t: Any) -> bool:
    """A type of quaternions."""
    return _is_vector(_type(t), "quat")


def type_is_transformation(t: Any) -> bool:
    """A type of rigid motions."""
    return _is_vector(_type(t), "transform")


def type_is_matrix(t: Any) -> bool:
    """A type of matrices."""
    return isinstance(_type(t), abi.Matrix)


def type_is_composite(t: Any) -> bool:
    """A type of several numbers."""
    return isinstance(_type(t), (abi.Vector, abi.Matrix))


def type_is_struct(t: Any) -> bool:
    """A struct."""
    return isinstance(_type(t), abi.Struct)


def type_is_value(t: Any) -> bool:
    """A type that goes by value: numbers, vectors, matrices, structs."""
    return _type(t) is not None and not type_is_array(t)


def type_is_array(t: Any) -> bool:
    """A type of arrays."""
    return isinstance(_type(t), abi.Array)


def is_array(a: Any) -> bool:
    """An array, or the annotation of one."""
    return isinstance(a, (_array, _indexedarray, ArrayAnnotation))


def _of(question: Any) -> Any:
    return lambda x: question(type(x))


is_int, is_float, is_scalar, is_vector = map(_of, (type_is_int, type_is_float, type_is_scalar, type_is_vector))
is_quaternion, is_transformation = map(_of, (type_is_quaternion, type_is_transformation))
is_matrix, is_composite, is_struct, is_value = map(
    _of, (type_is_matrix, type_is_composite, type_is_struct, type_is_value)
)


def type_size(dtype: Any) -> int:
    """How many numbers a type has."""
    type = abi_type(dtype)
    if isinstance(type, abi.Vector):
        return type.length
    return type.rows * type.columns if isinstance(type, abi.Matrix) else 1


def type_length(dtype: Any) -> int:
    """Numbers of a vector, rows of a matrix."""
    type = abi_type(dtype)
    return type.rows if isinstance(type, abi.Matrix) else type_size(dtype)


def type_size_in_bytes(dtype: Any) -> int:
    """The size of a type in memory."""
    return abi_type(dtype).size


def strides_from_shape(shape: Any, dtype: Any) -> tuple[int, ...]:
    """Bytes from element to element along each axis, of an array without gaps."""
    extents = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
    return interface.contiguous_strides(extents, abi_type(dtype).size)


def type_scalar_type(dtype: Any) -> Any:
    """The element type of a vector or matrix, else the type itself."""
    type = abi_type(dtype)
    return class_of(getattr(type, "element", type))


def type_repr(t: Any) -> str:
    """A type as a person reads it."""
    return str(abi_type(t))


def types_equal(a: Any, b: Any) -> bool:
    """Two annotations mean the same type."""
    return _type(a) == _type(b) if _type(a) is not None else a == b


def _of_numpy() -> dict[Any, Any]:
    """NumPy's scalar types, and their dtypes, with what they are in kernels. Imports NumPy."""
    import numpy  # type: ignore[import-not-found,unused-ignore]

    names = [("bool_" if name == "bool" else name, type) for name, type in abi.SCALARS.items()]
    found = {getattr(numpy, name): class_of(type) for name, type in names}
    return {**found, **{numpy.dtype(key): value for key, value in found.items()}}


_SCALARS = {
    "float_types": ("float",),
    "int_types": ("int", "uint"),
    "scalar_and_bool_types": ("bool", "float", "int", "uint"),
    "scalar_types": ("float", "int", "uint"),
}

_LISTS = (*_SCALARS, "non_atomic_types", "np_dtype_to_warp_type", "vector_types")


def _list_of(name: str) -> Any:
    """Warp's lists of types: `scalar_types`, `vector_types`."""
    if name == "vector_types":
        named = [getattr(values, one) for one in values.__all__]
        return list({one: None for one in named if not isinstance(one._kb_type_, abi.Scalar)})
    if name == "np_dtype_to_warp_type":
        return _of_numpy()
    if name == "non_atomic_types":  # integers that Warp adds in two steps
        return [class_of(type) for type in abi.SCALARS.values() if type.kind in ("int", "uint") and type.size < 4]
    kinds = _SCALARS[name]
    return [class_of(type) for type in abi.SCALARS.values() if type.kind in kinds]


def __getattr__(name: str) -> Any:
    """The public names of `wp`, which Warp keeps here too, and its lists of types."""
    from kbuild import warp

    if name == "Reference":
        return reference.Reference
    if name in _LISTS:
        return _list_of(name)
    if name.startswith("_"):
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    if name.startswith("type_") and family_of(name) is None:
        return absent("types." + name, "questions about types")
    return getattr(warp, name)
