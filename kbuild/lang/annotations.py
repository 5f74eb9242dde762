"""Annotations of parameters as types of the kernel language."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from kbuild.errors import Diagnostic, Span
from kbuild.ir.types import Type
from kbuild.lang.source import Definition, SourceFile
from kbuild.loader.generic import MISSING, annotation_of, is_open
from kbuild.loader.layout import AbsentType
from kbuild.loader.types import abi_type


@dataclass(frozen=True, slots=True)
class Open:
    """An annotation that leaves the type open: it follows the argument, or what an overload says."""

    annotation: Any


def parameters_of(definition: Definition) -> list[ast.arg]:
    """Parameters in order, the keyword-only ones last."""
    arguments = definition.args
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def parameter_type(function: FunctionType, argument: ast.arg, file: SourceFile) -> Type | Open | Diagnostic:
    """The type of a parameter, `Open` where it follows the argument, or what is wrong with the annotation."""
    span = file.span(argument)
    try:
        value = annotation_of(function, argument.arg)
        if value is MISSING:
            return missing_type(argument.arg, span)
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
