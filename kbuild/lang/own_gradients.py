"""Functions with a gradient or replay of their own (`kb.func_grad`, `kb.func_replay`): both are lowered at the types of
the function's instance, and held against it."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import NoReturn, Protocol

from kbuild.errors import Diagnostic, Note, Span
from kbuild.ir.gradients import interface
from kbuild.ir.nodes import Function, Read, Symbol
from kbuild.ir.types import Constant
from kbuild.lang import native
from kbuild.lang.annotations import parameters_of
from kbuild.lang.operands import Operand, Refused
from kbuild.lang.source import definition_of, head
from kbuild.loader import generic
from kbuild.loader import types as runtime
from kbuild.loader.native import NativeFunction


class Program(Protocol):
    """What is needed of the run as a whole."""

    def notes(self) -> tuple[Note, ...]: ...

    def passed(self, function: Function) -> Sequence[Operand]:
        """What each parameter of a lowered function is, as an argument of another one at the same types."""

    def inside(self, function: runtime.Function, span: Span, in_gradient: bool) -> AbstractContextManager[None]: ...

    def lower(
        self, owner: runtime.Function, arguments: Sequence[Operand], primal: Function | None = None
    ) -> Function: ...


def attached(program: Program, function: runtime.Function, lowered: Function, span: Span) -> Function:
    """The lowered function with its gradient and replay. Raises Refused.

    At types without floating-point numbers (as a function of `Any` may have) there is nothing to have a gradient.
    """
    gradient = replay = None
    about = interface(lowered)
    has_floats = bool(about.arrays or about.values)
    if has_floats and (function.gradient is not None or _has_adjoint_text(function)):
        _refuse_tables(program, function, lowered, span)
    if has_floats and function.gradient is not None:
        with program.inside(function.gradient, span, in_gradient=True):
            gradient = _gradient(program, function, function.gradient, lowered)
    if function.replay is not None:
        with program.inside(function.replay, span, in_gradient=False):
            replay = _replay(program, function, function.replay, lowered)
    if isinstance(function, NativeFunction):
        place = definition_of(function.function)
        gradient = gradient or native.gradient(program, function, lowered, place)
        replay = replay or native.replay(program, function, lowered, place)
    if gradient is None and replay is None:
        return lowered
    return dataclasses.replace(lowered, gradient=gradient, replay=replay)


def _has_adjoint_text(function: runtime.Function) -> bool:
    return isinstance(function, NativeFunction) and function.native.adjoint is not None


def _gradient(program: Program, function: runtime.Function, own: runtime.Function, lowered: Function) -> Function:
    place, definition = _place(own)
    _refuse_references(program, function, place)
    results = [Read(Symbol("adj_ret", type), type) for type in interface(lowered).results]
    given = [*program.passed(lowered), *results]
    found = len(parameters_of(definition))
    if found != len(given):
        text = f"{own.name} has {found} parameter(s), and as the gradient of {function.name} it must have {len(given)}"
        _refuse(program, text, place, "they are those of the function, and then the adjoint of each result")
    return program.lower(own, given, lowered)


def _replay(program: Program, function: runtime.Function, own: runtime.Function, lowered: Function) -> Function:
    place, definition = _place(own)
    _refuse_references(program, function, place)
    given, found = program.passed(lowered), len(parameters_of(definition))
    if found != len(given):
        text = f"{own.name} has {found} parameter(s), and as the replay of {function.name} it must have {len(given)}"
        _refuse(program, text, place)
    made = program.lower(own, given)
    if _types(made) != _types(lowered):
        _refuse(program, f"{own.name} is {_types(made)}, and must be {_types(lowered)} as {function.name} is", place)
    return made


def _place(function: runtime.Function) -> tuple[Span, ast.FunctionDef]:
    file, definition = definition_of(function.function)
    return head(file, definition), definition


def _types(function: Function) -> str:
    return f"({', '.join(str(one.type) for one in function.parameters)}) -> {function.result}"


def _refuse_references(program: Program, function: runtime.Function, place: Span) -> None:
    if generic.references(function.function):
        text = f"{function.name} changes arguments, and cannot have a gradient or replay of its own"
        _refuse(program, text, place, "let it return the new values")


def _refuse_tables(program: Program, function: runtime.Function, lowered: Function, span: Span) -> None:
    table = next((one for one in lowered.parameters if isinstance(one.type, Constant)), None)
    if table is not None:
        text = f"{function.name} has a gradient of its own, which would add to the adjoint of the table {table.name!r}"
        _refuse(program, text, span, "let the function read the table by its name outside, or pass an array")


def _refuse(program: Program, text: str, place: Span, help: str | None = None) -> NoReturn:
    raise Refused(Diagnostic("KB196", text, place, help=help, notes=program.notes()))
