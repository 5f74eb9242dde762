"""Annotations of parameters as types of the kernel language."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

from kbuild.errors import Diagnostic, Span
from kbuild.ir.types import Type
from kbuild.lang.scope import is_filled
from kbuild.lang.source import Definition, SourceFile
from kbuild.loader.types import abi_type

MISSING = object()


def annotation_value(function: FunctionType, name: str) -> Any:
    """The object that annotates a parameter, strings evaluated; MISSING without one. May raise anything."""
    annotation = function.__annotations__.get(name, MISSING)
    if isinstance(annotation, str):
        closure = {
            free: cell.cell_contents
            for free, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
            if is_filled(cell)
        }
        return eval(annotation, function.__globals__, closure)  # the annotation is the user's own code
    return annotation


def parameters_of(definition: Definition) -> list[ast.arg]:
    """Parameters in order, the keyword-only ones last."""
    arguments = definition.args
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def parameter_type(function: FunctionType, argument: ast.arg, file: SourceFile) -> Type | Any | Diagnostic:
    """The type of a parameter, `typing.Any` where it follows the argument, or what is wrong with the annotation."""
    span = file.span(argument)
    try:
        value = annotation_value(function, argument.arg)
        if value is MISSING:
            return missing_type(argument.arg, span)
        return Any if value is Any else abi_type(value)
    except Exception as error:
        return not_a_type(argument.arg, error, file.span(argument.annotation or argument))


def missing_type(name: str, span: Span) -> Diagnostic:
    """A parameter nobody gave a type."""
    help = f"write `{name}: float`, `{name}: kb.vec3`, `{name}: kb.array(dtype=float)` …"
    return Diagnostic("KB101", f"parameter {name!r} has no type", span, help=help)


def not_a_type(name: str, error: Exception, span: Span) -> Diagnostic:
    """An annotation that is no type of the language."""
    text = f"the type of {name!r} cannot be used in a kernel: {error}"
    return Diagnostic(
        "KB102", text, span, help="types are float, int, bool, kb.float64 …, kb.vec3 …, kb.array(dtype=…)"
    )
