"""`static(expression)`: evaluated in Python while building.

The expression sees module globals, closure variables and the variables of unrolled loops. Its value is a constant, a
type, a function to call, or a tuple of them. Everything it captures must have an exact encoding, since the target tells
instances apart by captured values; nothing of it is ever evaluated there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import ModuleType

from kbuild.ir.nodes import Const, Expr
from kbuild.ir.types import Array, Matrix, Type, Vector
from kbuild.lang.context import Context
from kbuild.lang.expressions import captured_operand
from kbuild.lang.operands import Operand, Pack, Static, Untyped
from kbuild.lang.scope import Scope, UnresolvedName
from kbuild.loader.builtins import Builtin
from kbuild.loader.identity import CaptureError, encode
from kbuild.loader.values import class_of

MAX_UNROLL = 16


def decides(ctx: Context, test: ast.expr) -> bool:
    """A condition has `static(…)` in it: what it excludes is not even typed."""
    return any(isinstance(node, ast.Call) and _may_be_static(ctx, node) for node in ast.walk(test))


def evaluate(ctx: Context, node: ast.Call) -> Operand:
    """The value of `static(expression)` as an operand."""
    if len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
        ctx.refuse("KB130", "static() takes one expression", node)
    expression = node.args[0]
    _check_names(ctx, expression)
    code = compile(ast.fix_missing_locations(ast.Expression(expression)), ctx.file.path, "eval")
    try:
        value = eval(code, {**ctx.scope.visible(), **_known_here(ctx)})  # the user's own code, as the module itself is
    except Exception as error:
        text = f"static({ast.unparse(expression)}) fails: {type(error).__name__}: {error}"
        ctx.refuse("KB180", text, expression, "it is evaluated in Python while building")
    return captured_operand(ctx, value, node)


class _Known:
    """Stands for a variable of the kernel: its length, shape and element type are known while building."""

    def __init__(self, type: Type) -> None:
        if isinstance(type, (Vector, Matrix)):
            self.shape = (type.length,) if isinstance(type, Vector) else (type.rows, type.columns)
            self.dtype = class_of(type.element)
        elif isinstance(type, Array):
            self.dtype, self.ndim = class_of(type.element), type.ndim

    def __len__(self) -> int:
        if not hasattr(self, "shape"):
            raise TypeError("the length of an array is known on the GPU only")
        return self.shape[0]


def _known_here(ctx: Context) -> dict[str, object]:
    """What an expression may know of the kernel's own names."""
    aliases = {name: operand.value for name, operand in ctx.aliases.items() if isinstance(operand, Static)}
    variables = {name: _Known(symbol.type) for name, symbol in ctx.symbols.items() if _has_parts(symbol.type)}
    tuples = {name: _items(operand) for name, operand in ctx.aliases.items() if isinstance(operand, Pack)}
    return {**variables, **tuples, **ctx.known, **aliases, **ctx.constants}


def _items(operand: Operand) -> object:
    """A tuple as far as it is known: its length, its numbers, and what is known of its other items."""
    match operand:
        case Pack(items):
            return tuple(_items(item) for item in items)
        case Untyped(value) | Static(value) | Const(value):
            return value
    return _Known(operand.type)


def _has_parts(type: Type) -> bool:
    return isinstance(type, (Vector, Matrix, Array))


def _check_names(ctx: Context, expression: ast.expr) -> None:
    own = {n.id for n in ast.walk(expression) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for node in outer_or_local_names(expression):
        name = ctx.scope.root(node)
        if name in own or name in ctx.constants or name in ctx.aliases or name in ctx.known:
            continue
        if name in ctx.symbols and _has_parts(ctx.symbols[name].type):
            continue
        if name in ctx.scope.locals:
            help = "a loop variable is known if its range has constant bounds and at most 16 trips"
            ctx.refuse("KB181", f"static() cannot see {name!r}: it is known on the GPU only", node, help)
        _check_captured(ctx, node)


def _check_captured(ctx: Context, node: ast.expr) -> None:
    try:
        value = ctx.scope.resolve(node).value
    except UnresolvedName:
        return  # evaluating it says so
    if isinstance(value, ModuleType) or callable(value):
        return
    try:
        encode(value)
    except CaptureError as error:
        help = "capture numbers, strings, enum members, types, functions, or tuples, lists and dictionaries of them"
        ctx.refuse("KB105", f"static() captures something without an exact value: {error}", node, help)


def outer_or_local_names(expression: ast.AST) -> Iterator[ast.expr]:
    """The longest attribute chains on names that an expression reads, in source order."""
    if isinstance(expression, ast.Name) and isinstance(expression.ctx, ast.Load):
        yield expression
    elif isinstance(expression, ast.Attribute) and Scope.root(expression) is not None:
        yield expression
    else:
        for child in ast.iter_child_nodes(expression):
            yield from outer_or_local_names(child)


def mentions_in_static(ctx: Context, statements: list[ast.stmt], name: str) -> bool:
    """Some `static(…)` in the statements reads this name."""
    return any(
        isinstance(node, ast.Call)
        and _may_be_static(ctx, node)
        and any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))
        for statement in statements
        for node in ast.walk(statement)
    )


def picks_items(ctx: Context, statements: list[ast.stmt], name: str) -> bool:
    """Some subscript in the statements takes the item of a tuple that this name says."""
    return any(
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and isinstance(ctx.aliases.get(node.value.id), Pack)
        and any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node.slice))
        for statement in statements
        for node in ast.walk(statement)
    )


def _may_be_static(ctx: Context, node: ast.Call) -> bool:
    if not ctx.scope.is_outer(node.func):
        return False
    try:
        value = ctx.scope.resolve(node.func).value
    except UnresolvedName:
        return False
    return isinstance(value, Builtin) and value.name == "static"


def constant_range(ctx: Context, bounds: tuple[Expr, Expr, Expr], node: ast.AST) -> range:
    """The trips of an unrolled loop. Refuses what is not constant, or too long."""
    help = "use constant bounds, or take the loop variable out of static()"
    values = [int(bound.value) for bound in bounds if isinstance(bound, Const)]
    if len(values) < len(bounds):
        ctx.refuse("KB182", "static() in this loop needs its variable, and the range is not constant", node, help)
    trips = range(*values)
    if len(trips) > MAX_UNROLL:
        ctx.refuse("KB182", f"a loop of {len(trips)} trips is not unrolled, at most {MAX_UNROLL} are", node, help)
    return trips
