"""Annotations of parameters as types of the kernel language."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from types import FunctionType
from typing import Any, TypeAlias, get_args, get_origin

from kbuild.errors import Diagnostic, Span
from kbuild.ir.types import Type
from kbuild.lang.source import Definition, SourceFile
from kbuild.loader.generic import MISSING, annotation_of, is_open
from kbuild.loader.layout import AbsentType
from kbuild.loader.types import Function, abi_type

Annotated: TypeAlias = "Type | Open | Callee | Several | Diagnostic"


@dataclass(frozen=True, slots=True)
class Open:
    """An annotation that leaves the type open: it follows the argument, or what an overload says."""

    annotation: Any


@dataclass(frozen=True, slots=True)
class Callee:
    """An annotation that asks for a function: one that is known while building, and no value on the GPU."""


@dataclass(frozen=True, slots=True)
class Several:
    """The annotation of a tuple: types of its items; with `rest`, any number of items of the one type there is."""

    items: tuple[Any, ...]
    rest: bool = False

    def of(self, count: int) -> tuple[Any, ...]:
        """Annotations of so many items; fewer or more where that is not their number."""
        return self.items * count if self.rest else self.items


def parameters_of(definition: Definition) -> list[ast.arg]:
    """Parameters in order, the keyword-only ones last."""
    arguments = definition.args
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def parameter_type(function: FunctionType, argument: ast.arg, file: SourceFile) -> Annotated:
    """The type of a parameter, `Open` where it follows the argument, `Callee` for a function, `Several` for a tuple, or
    what is wrong with the annotation."""
    span = file.span(argument)
    try:
        value = annotation_of(function, argument.arg)
        if value is MISSING:
            return missing_type(argument.arg, span)
        if value is Function:
            return Callee()
        if get_origin(value) is tuple:
            items = get_args(value)
            return Several(items[:1], True) if items[1:] == (...,) else Several(items)
        return Open(value) if is_open(value) else abi_type(value)
    except Exception as error:
        return not_a_type(argument.arg, error, file.span(argument.annotation or argument))


def missing_type(name: str, span: Span) -> Diagnostic:
    """A parameter nobody gave a type."""
    help = f"write `{name}: float`, `{name}: kb.vec3`, `{name}: kb.array(dtype=float)` …"
    return Diagnostic("KB101", f"parameter {name!r} has no type", span, help=help)


def not_a_type(name: str, error: Exception, span: Span) -> Diagnostic:
    """An annotation that is no type of the language."""
    if isinstance(error, AbsentType):
        return Diagnostic("KB114", str(error), span, help="see docs/coming-from-warp.md for what there is")
    text = f"the type of {name!r} cannot be used in a kernel: {error}"
    return Diagnostic(
        "KB102", text, span, help="types are float, int, bool, kb.float64 …, kb.vec3 …, kb.array(dtype=…)"
    )
