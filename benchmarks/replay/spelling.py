"""Warp's types and the values that factories of kernels take, written down: the same words on both sides.

A type has kbuild's spelling (`vec3[float32]`, `array2[struct:package.module:Spring]`); a struct's fields stand in a
table, with the offsets that Warp gives them. Needs Warp.
"""

from __future__ import annotations

import ctypes
import enum
import types as python_types
from typing import Any

import warp as wp
from warp._src import codegen
from warp._src import types as warp_types

Structs = dict[str, list[list[Any]]]


class Unspeakable(Exception):
    """A type or value that cannot be written down."""


def spell(type: Any, structs: Structs) -> str:
    """The spelling of a type of a parameter, field or element; structs are noted in the table."""
    if warp_types.is_array(type):
        if not warp_types.matches_array_class(type, wp.array):
            raise Unspeakable(f"{type} is no plain array")
        return f"array{type.ndim}[{spell(type.dtype, structs)}]"
    if isinstance(type, codegen.Struct):
        return note_struct(type, structs)
    if type in (float, int, bool):
        return {float: "float32", int: "int32", bool: "bool"}[type]
    if type in warp_types.scalar_types or type is wp.bool:
        return type.__name__.rstrip("_")
    if warp_types.type_is_transformation(type):
        return f"transform[{type._wp_scalar_type_.__name__}]"
    if warp_types.type_is_quaternion(type):
        return f"quat[{type._wp_scalar_type_.__name__}]"
    if warp_types.type_is_vector(type):
        return f"vec{type._length_}[{type._wp_scalar_type_.__name__.rstrip('_')}]"
    if warp_types.type_is_matrix(type):
        rows, columns = type._shape_
        return f"mat{rows}x{columns}[{type._wp_scalar_type_.__name__.rstrip('_')}]"
    raise Unspeakable(str(type))


def note_struct(type: Any, structs: Structs) -> str:
    """The struct's name; its fields as [name, offset, spelling] go into the table."""
    name = f"{type.cls.__module__}:{type.cls.__qualname__}"
    if name not in structs:
        structs[name] = []  # a struct cannot hold itself
        structs[name] = [
            [label, getattr(type.ctype, label).offset, spell(variable.type, structs)]
            for label, variable in type.vars.items()
        ] + [["", ctypes.sizeof(type.ctype), "size"]]
    return f"struct:{name}"


def value(given: Any, depth: int = 0) -> Any:
    """A factory's argument as JSON data that `restore` of build.py reads."""
    if depth > 8:
        raise Unspeakable("too deep")
    if given is None or (isinstance(given, (bool, str)) and not isinstance(given, enum.Enum)):
        return given
    if isinstance(given, enum.Enum):
        return {"enum": place(type(given)), "value": value(given.value, depth + 1)}
    if type(given) in (int, float):
        return given
    if isinstance(given, (list, tuple)) and not isinstance(given, ctypes.Array):
        return {type(given).__name__ if type(given) in (list, tuple) else "tuple": [value(v, depth + 1) for v in given]}
    if isinstance(given, dict):
        return {"dict": [[value(k, depth + 1), value(v, depth + 1)] for k, v in given.items()]}
    if isinstance(given, (wp.Function, wp.Kernel)):
        given = given.func
    if isinstance(given, codegen.Struct):
        return {"at": place(given.cls)}
    if isinstance(given, type):
        if given.__module__.startswith("warp"):
            return {"type": spell(given, {})}
        return {"at": place(given)}
    if isinstance(given, python_types.FunctionType):
        return {"at": place(given)}
    raise Unspeakable(f"{type(given)}")


def place(thing: Any) -> str:
    """`module:qualname` of what can be found again by it."""
    if "<locals>" in thing.__qualname__:
        raise Unspeakable(thing.__qualname__)
    return f"{thing.__module__}:{thing.__qualname__}"
