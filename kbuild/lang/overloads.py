"""Which of several functions of one name a call means.

The types of the arguments decide: values must have a parameter's type exactly, a number whose type is not fixed prefers
its own (int32, float32) and takes any that it fits. Of those that fit, the one with the most exact arguments is called,
of these the one with the fewest types left open (`Any`), and among equals the one that was declared last.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from kbuild.ir.types import VOID, Type
from kbuild.lang.annotations import Callee, Several, parameter_type, parameters_of
from kbuild.lang.context import Context
from kbuild.lang.operands import Operand, Pack, Static, Untyped, default_type, describe, fit
from kbuild.lang.source import definition_of
from kbuild.loader import generic
from kbuild.loader.types import Function


def choose(
    ctx: Context, function: Function, given: Sequence[Operand], named: Mapping[str, Operand], node: ast.AST
) -> Function:
    """The overload for these arguments; a function without overloads is itself."""
    if len(function.overloads) == 1:
        return function
    best = fitting(function, given, named)
    if best is None:
        arguments = ", ".join([*map(describe, given), *(f"{name}={describe(o)}" for name, o in named.items())])
        there_are = "; ".join(_signature(one) for one in function.overloads)
        ctx.refuse("KB130", f"no overload of {function.name} takes ({arguments})", node, f"there are {there_are}")
    return best


def fitting(
    function: Function, given: Sequence[Operand], named: Mapping[str, Operand] = MappingProxyType({})
) -> Function | None:
    """The overload that takes these arguments best; None where none does."""
    best, most = None, (-1, -1)
    for one in function.overloads:
        exact = _exact(one, given, named)
        if exact is not None and exact >= most:
            best, most = one, exact
    return best


def _exact(function: Function, given: Sequence[Operand], named: Mapping[str, Operand]) -> tuple[int, int] | None:
    """How many arguments have exactly their parameter's type, and how many of these types are written out, where others
    say `Any`; None where an argument does not fit."""
    file, definition = definition_of(function.function)
    arguments = {argument.arg: argument for argument in parameters_of(definition)}
    names = list(arguments)
    if len(given) > len(names) or not set(named) <= set(names[len(given) :]):
        return None
    found = {**dict(zip(names, given, strict=False)), **named}
    optional = len(function.function.__defaults__ or ()) + len(function.function.__kwdefaults__ or {})
    if len(found) < len(names) - optional:
        return None
    count, closed, binding = 0, 0, dict[object, Type]()
    for name, operand in found.items():
        type = parameter_type(function.function, arguments[name], file)
        if isinstance(type, Callee):
            if not isinstance(operand, Static):
                return None
            count += 1
            continue
        if isinstance(type, Several):
            if not isinstance(operand, Pack) or len(operand.items) != len(type.of(len(operand.items))):
                return None
            count += 1
            continue
        annotation = generic.annotation_of(function.function, name) if not isinstance(type, Type) else type
        own = default_type(operand.value) if isinstance(operand, Untyped) else getattr(operand, "type", VOID)
        if generic.match(annotation, own, binding):
            count += 1
            closed += isinstance(type, Type)
        elif not (isinstance(operand, Untyped) and isinstance(type, Type) and fit(operand.value, type) is not None):
            return None
    return count, closed


def _signature(function: Function) -> str:
    names = generic.parameter_names(function.function)
    annotations = function.function.__annotations__
    return f"({', '.join(f'{name}: {generic.spell(annotations.get(name))}' for name in names)})"
