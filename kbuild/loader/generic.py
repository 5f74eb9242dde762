"""Annotations that leave types open: `Any`, a TypeVar, `array(dtype=Any)`, `vector(length=Any, dtype=Any)`.

An instance of a generic kernel has a type for each parameter that is open; `match` says whether a type is one that an
annotation admits. A TypeVar stands for one type in the whole signature. `typing` is never imported here: whoever uses
it in an annotation has done so.
"""

from __future__ import annotations

import sys

from . import abi
from .layout import ArrayAnnotation, abi_type
from .reference import Reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FunctionType
    from typing import Any, Dict

    Binding = Dict[object, abi.Type]

MISSING = object()


class OpenType:
    """A vector, quaternion, transform or matrix with a length, a shape or an element type left open (`Any`)."""

    def __init__(self, kind: str, sizes: tuple[object, ...], dtype: object) -> None:
        self.kind, self.sizes, self.dtype = kind, sizes, dtype

    def __repr__(self) -> str:
        sizes = [str(size) if isinstance(size, int) else "Any" for size in self.sizes]
        return "%s%s[%s]" % (self.kind, "x".join(sizes), spell(self.dtype))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpenType) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def _parts(self) -> tuple[object, ...]:
        return self.kind, self.sizes, self.dtype

    def admits(self, type: abi.Type, binding: Binding) -> bool:
        """The type has this kind, these sizes and such an element."""
        if isinstance(type, abi.Matrix):
            kind, sizes = "mat", (type.rows, type.columns)
        elif isinstance(type, abi.Vector):
            kind, sizes = type.kind, (type.length,) if type.kind == "vec" else ()  # type: ignore[assignment]
        else:
            return False
        fits = len(sizes) == len(self.sizes) and all(is_any(a) or a == b for a, b in zip(self.sizes, sizes))
        return kind == self.kind and fits and match(self.dtype, type.element, binding)


def is_any(annotation: object) -> bool:
    """`typing.Any`."""
    typing = sys.modules.get("typing")
    return typing is not None and annotation is typing.Any


def is_type_variable(annotation: object) -> bool:
    """A `typing.TypeVar`."""
    typing = sys.modules.get("typing")
    return typing is not None and isinstance(annotation, typing.TypeVar)


def is_open(annotation: object) -> bool:
    """The annotation leaves something of its type open."""
    if isinstance(annotation, ArrayAnnotation):
        return is_open(annotation.dtype)
    return isinstance(annotation, OpenType) or is_any(annotation) or is_type_variable(annotation)


def match(annotation: object, type: abi.Type, binding: Binding) -> bool:
    """Whether an annotation admits a type. `binding` has what type variables stand for, and gets the new ones."""
    if is_any(annotation):
        return True
    if is_type_variable(annotation):
        if annotation not in binding:
            constraints = annotation.__constraints__  # type: ignore[attr-defined]
            if constraints and type not in [abi_type(one) for one in constraints]:
                return False
            binding[annotation] = type
        return binding[annotation] == type
    if isinstance(annotation, OpenType):
        return annotation.admits(type, binding)
    if isinstance(annotation, ArrayAnnotation):
        return annotation.is_kind_of(type) and match(annotation.dtype, type.element, binding)  # type: ignore[attr-defined]
    return abi_type(annotation) == type


def spell(annotation: object) -> str:
    """An annotation in a message."""
    if is_any(annotation):
        return "Any"
    if isinstance(annotation, ArrayAnnotation):
        return "%s%d[%s]" % (annotation.name, annotation.ndim, spell(annotation.dtype))
    return getattr(annotation, "__name__", None) or repr(annotation)


def annotation_of(function: FunctionType, name: str) -> Any:
    """The object that annotates a parameter, strings evaluated; of a reference what it stands for; MISSING without one.

    May raise anything.
    """
    annotation = _annotation(function, name)
    return annotation.dtype if isinstance(annotation, Reference) else annotation


def references(function: FunctionType) -> frozenset[str]:
    """The parameters that stand for places of the caller's."""
    found = []
    for name in parameter_names(function):
        try:
            if isinstance(_annotation(function, name), Reference):
                found.append(name)
        except Exception:  # an annotation that cannot be evaluated is told of where the function is lowered
            continue
    return frozenset(found)


def _annotation(function: FunctionType, name: str) -> Any:
    annotation = function.__annotations__.get(name, MISSING)
    if isinstance(annotation, str):
        closure = {}
        for free, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            try:
                closure[free] = cell.cell_contents
            except ValueError:  # the variable has no value yet
                continue
        return eval(annotation, function.__globals__, closure)  # the annotation is the user's own code
    return annotation


def parameter_names(function: FunctionType) -> tuple[str, ...]:
    """The parameters of a function in order, the keyword-only ones last."""
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def open_parameters(function: FunctionType) -> list[str]:
    """The parameters whose annotation leaves the type open."""
    return [name for name in parameter_names(function) if _is_open_parameter(function, name)]


def _is_open_parameter(function: FunctionType, name: str) -> bool:
    try:
        return is_open(annotation_of(function, name))
    except Exception:  # an annotation that cannot be evaluated is told of where the kernel is lowered
        return False


def bind(function: FunctionType, given: object) -> dict[str, abi.Type]:
    """Types for the open parameters of a function, from a dictionary by name or a list in order. Raises TypeError."""
    name = function.__qualname__
    wanted = open_parameters(function)
    if not wanted:
        raise TypeError("%s is not generic: no parameter is annotated with Any or a type variable" % name)
    names = parameter_names(function)
    if isinstance(given, dict):
        types = dict(given)
    elif isinstance(given, (list, tuple)):
        if len(given) != len(names):
            raise TypeError("%s has %d parameters, and %d types are given" % (name, len(names), len(given)))
        types = dict(zip(names, given))
    else:
        raise TypeError("the types of %s are a dictionary by parameter, or a list, not %r" % (name, given))
    _check_names(name, types, names, wanted)
    binding: Binding = {}
    found = {}
    for parameter in names:
        if parameter in types:
            annotation, type = annotation_of(function, parameter), abi_type(types[parameter])
            if getattr(types[parameter], "stated", ()):
                raise TypeError(
                    "%s: %s: an overload gives types: the generic kernel itself states shapes" % (name, parameter)
                )
            if not match(annotation, type, binding):
                raise TypeError("%s: %s is %s, which %s does not admit" % (name, parameter, type, spell(annotation)))
            if parameter in wanted:
                found[parameter] = type
    return found


def _check_names(name: str, types: dict[str, Any], names: tuple[str, ...], wanted: list[str]) -> None:
    unknown = [one for one in types if one not in names]
    missing = [one for one in wanted if one not in types]
    if unknown:
        raise TypeError("%s has no parameter %r; it has %s" % (name, unknown[0], ", ".join(names)))
    if missing:
        raise TypeError("%s is generic in %s: give each a type" % (name, ", ".join(missing)))
