"""Operators of the program's own, in Warp's dialect: where `add` is a function of the program's that takes the types of
both sides, `a + b` and `a += b` call it, and otherwise mean what they always do.
"""

from __future__ import annotations

import ast

from kbuild.ir import nodes
from kbuild.lang import operators, overloads
from kbuild.lang.context import Context
from kbuild.lang.operands import Operand, Pack, Static, Untyped
from kbuild.lang.results import results_of
from kbuild.lang.scope import Captured, Scope, UnresolvedName
from kbuild.loader import generic
from kbuild.loader.types import Function, Kernel

NAMES: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.MatMult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "bit_and",
    ast.BitOr: "bit_or",
    ast.BitXor: "bit_xor",
}


def named(scope: Scope, kind: type[ast.operator]) -> Captured | None:
    """The program's function that has the name of an operator."""
    name = NAMES.get(kind)
    if scope.dialect != "warp" or name is None or name in scope.locals:
        return None
    try:
        found = scope.resolve(ast.Name(name, ast.Load()))
    except UnresolvedName:
        return None
    is_own = isinstance(found.value, Function) and not isinstance(found.value, Kernel) and found.path is not None
    return found if is_own else None


def binary(ctx: Context, kind: type[ast.operator], left: Operand, right: Operand, node: ast.AST) -> Operand:
    """`left op right`, by the program's own function where there is one for these types."""
    function = chosen(ctx, kind, left, right)
    if function is None:
        return operators.binary(ctx, kind, left, right, node)
    span = ctx.span(node)
    callee = ctx.program.instance(function, [left, right], span)
    pairs = zip((left, right), callee.parameters, strict=True)
    arguments = tuple(ctx.coerce(one, symbol.type, node, "an operand") for one, symbol in pairs)
    return results_of(ctx, nodes.Call(callee, arguments, callee.result, span))


def chosen(ctx: Context, kind: type[ast.operator], left: Operand, right: Operand) -> Function | None:
    """The function for these operands; inside it, its own operator is the ordinary one."""
    found = named(ctx.scope, kind)
    given = [left, right]
    if found is None or any(isinstance(one, (Pack, Static)) for one in given):
        return None
    if isinstance(left, Untyped) and isinstance(right, Untyped):
        return None
    function = overloads.fitting(found.value, given)
    if function is None or function is ctx.owner or generic.references(function.function):
        return None
    return function
