"""Loops. Bounds of a `range` are evaluated once. Its counter is never visible to the program, which may do with the
loop variable what Python allows: assign it in the body, read it afterwards."""

from __future__ import annotations

import ast
from collections.abc import Callable

from kbuild.ir import nodes
from kbuild.ir.nodes import Const, Expr, Read, Stmt, Symbol
from kbuild.ir.types import BOOL, Scalar, is_integer
from kbuild.lang import static
from kbuild.lang.context import Context
from kbuild.lang.expressions import outer
from kbuild.lang.grid_stride import Bounds, strided
from kbuild.lang.operands import Operand, Silenced, Static, Untyped
from kbuild.lang.operators import unify
from kbuild.loader.builtins import Builtin


def for_(ctx: Context, node: ast.stmt) -> None:
    """`for i in range(…):`, and over `kb.grid_range(…)`."""
    assert isinstance(node, ast.For)
    _refuse_else(ctx, node)
    head = ctx.attempt(lambda: _head(ctx, node))
    if head is None:
        ctx.poison(node.target)
        _loop_body(ctx, node.body)
        raise Silenced
    target, (start, stop, step), from_trip = head
    if from_trip is not None:
        counter = Symbol("trip", start.type)
        first = _assigned_from(ctx, target, from_trip(Read(counter, start.type)))
        body = (first, *_loop_body(ctx, node.body))
        ctx.emit(nodes.For(counter, start, stop, step, body, ctx.span(node)))
        return
    is_known = target.id in ctx.constants  # of an unrolled loop around this one
    if (
        is_known
        or static.mentions_in_static(ctx, node.body, target.id)
        or static.picks_items(ctx, node.body, target.id)
    ):
        _unroll(ctx, node, target, (start, stop, step))
        return
    counter = Symbol(target.id, start.type, ctx.span(target))
    if target.id not in ctx.symbols and _is_private(node, ctx.definition):
        ctx.symbols[target.id] = counter
        ctx.counters.add(counter)
        body = _loop_body(ctx, node.body)
        del ctx.symbols[target.id]
    elif _takes_over(ctx, node, target, counter):
        former, ctx.symbols[target.id] = ctx.symbols[target.id], counter
        ctx.counters.add(counter)
        body = _loop_body(ctx, node.body)
        ctx.symbols[target.id] = former
    else:
        first = _assigned_from(ctx, target, Read(counter, counter.type, ctx.span(target)))
        body = (first, *_loop_body(ctx, node.body))
    ctx.emit(nodes.For(counter, start, stop, step, body, ctx.span(node)))


def _unroll(ctx: Context, node: ast.For, target: ast.Name, bounds: Bounds) -> None:
    """The body once for each value of the loop variable, which is a constant in it.

    A loop over the same name that stands in the body is unrolled too, and leaves its last value, as in Python.
    """
    is_inner = target.id in ctx.constants
    if target.id in ctx.symbols or not (is_inner or _is_private(node, ctx.definition, but_loops=True)):
        text = f"static() in this loop needs {target.id!r}, which is also an ordinary variable"
        ctx.refuse("KB182", text, target, "use a name of its own for the loop variable")
    was_unrolled, ctx.is_unrolled = ctx.is_unrolled, True
    try:
        for value in static.constant_range(ctx, bounds, node.iter):
            ctx.constants[target.id] = value
            for statement in node.body:
                ctx.statement(statement)
    finally:
        if not is_inner:
            ctx.constants.pop(target.id, None)
        ctx.is_unrolled = was_unrolled


def _refuse_else(ctx: Context, node: ast.For | ast.While) -> None:
    """Reports an `else` of a loop; the loop itself goes on."""
    if node.orelse:
        text = "kernels have no `else` on a loop"
        ctx.attempt(lambda: ctx.refuse("KB110", text, node.orelse[0], "set a flag before `break`"))


def _head(ctx: Context, node: ast.For) -> tuple[ast.Name, Bounds, Callable[[Expr], Expr] | None]:
    """The loop variable, the counter's bounds, and the variable's value from the counter where it is another one."""
    if not isinstance(node.target, ast.Name):
        ctx.refuse("KB110", "the loop variable must be a single name", node.target)
    if _called(ctx, node.iter) == "grid_range":
        assert isinstance(node.iter, ast.Call)
        return node.target, *strided(ctx, _arguments(ctx, node.iter, "kb.grid_range"), node.iter)
    return node.target, _bounds(ctx, node.iter), None


def _called(ctx: Context, node: ast.expr) -> str | None:
    """The name of the function of the language that an expression calls."""
    if not isinstance(node, ast.Call) or not ctx.scope.is_outer(node.func):
        return None
    callee = outer(ctx, node.func)
    return callee.value.name if isinstance(callee, Static) and isinstance(callee.value, Builtin) else None


def _loop_body(ctx: Context, statements: list[ast.stmt]) -> tuple[Stmt, ...]:
    was_unrolled, ctx.is_unrolled = ctx.is_unrolled, False
    ctx.loop_depth += 1
    try:
        return ctx.body(statements)
    finally:
        ctx.loop_depth -= 1
        ctx.is_unrolled = was_unrolled


def _assigned_from(ctx: Context, target: ast.Name, value: Expr) -> Stmt:
    """`i = value` at the top of the body, for a loop variable that is an ordinary variable too."""
    symbol = ctx.symbols.get(target.id)
    if target.id in ctx.references:
        text = f"{target.id!r} stands for a place of the caller's, and cannot count trips"
        ctx.refuse("KB124", text, target, "use another name")
    if symbol is None:
        symbol = ctx.symbols[target.id] = Symbol(target.id, value.type, ctx.span(target))
    elif symbol.type != value.type:
        text = f"{target.id!r} is {symbol.type} before, and {value.type} as a loop variable"
        ctx.refuse("KB124", text, target, "use another name")
    span = ctx.span(target)
    return nodes.Assign(Read(symbol, symbol.type, span), value, span)


def _takes_over(ctx: Context, node: ast.For, target: ast.Name, counter: Symbol) -> bool:
    """The loop variable has the name of a variable of another type, which nobody reads from here on."""
    former = ctx.symbols.get(target.id)
    is_kept = former in ctx.parameters or former in ctx.copied
    if former is None or former.type == counter.type or is_kept or _is_assigned(node.body, target.id):
        return False
    return not _is_read_after(ctx.definition.body, target.id, node.end_lineno or node.lineno)


def _is_read_after(statements: list[ast.stmt], name: str, line: int) -> bool:
    """Something below a line reads the name, but for loops over it."""

    def visit(node: ast.AST) -> bool:
        if isinstance(node, (ast.stmt, ast.expr)) and (node.end_lineno or node.lineno) <= line:
            return False
        match node:
            case ast.Name(id=found, ctx=ast.Load()):
                return found == name
            case ast.AugAssign(target=ast.Name(id=found)) if found == name:
                return True
            case ast.For(target=ast.Name(id=found), iter=head) if found == name:
                return visit(head)
        return any(visit(child) for child in ast.iter_child_nodes(node))

    return any(visit(statement) for statement in statements)


def _is_assigned(statements: list[ast.stmt], name: str) -> bool:
    names = (n for s in statements for n in ast.walk(s) if isinstance(n, ast.Name) and n.id == name)
    return any(isinstance(n.ctx, ast.Store) for n in names)


def _is_private(node: ast.For, definition: ast.FunctionDef, but_loops: bool = False) -> bool:
    """The loop variable is not assigned in the body (`but_loops`: except by loops that always run), and not read but in
    bodies of loops over the same name."""
    assert isinstance(node.target, ast.Name)
    name = node.target.id
    if _is_assigned(_without_loops(node.body, name) if but_loops else node.body, name):
        return False
    parameters = {a.arg for a in ast.walk(definition.args) if isinstance(a, ast.arg)}
    return name not in parameters and not _read_outside_loops(definition.body, name)


def _without_loops(statements: list[ast.stmt], name: str) -> list[ast.stmt]:
    """Statements, with the bodies of those that are loops over the name in place of these."""
    found: list[ast.stmt] = []
    for one in statements:
        is_loop = isinstance(one, ast.For) and isinstance(one.target, ast.Name) and one.target.id == name
        found += _without_loops(one.body, name) if isinstance(one, ast.For) and is_loop else [one]
    return found


def _read_outside_loops(statements: list[ast.stmt], name: str) -> bool:
    def visit(node: ast.AST) -> bool:
        if isinstance(node, ast.Name):
            return node.id == name
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and node.target.id == name:
            return visit(node.iter)
        return any(visit(child) for child in ast.iter_child_nodes(node))

    return any(visit(statement) for statement in statements)


def _bounds(ctx: Context, node: ast.expr) -> Bounds:
    """start, stop, step of a `range`, or of `reversed(range(…))`, at one integer type."""
    help = "write `for i in range(n):` and index with i"
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords and ctx.scope.is_outer(node.func):
        callee = outer(ctx, node.func)
        if isinstance(callee, Static) and callee.value is reversed:
            return _reversed(ctx, _bounds(ctx, node.args[0]), node)
    if not isinstance(node, ast.Call) or not ctx.scope.is_outer(node.func):
        ctx.refuse("KB110", "kernels loop over `range(…)` only", node, help)
    callee = outer(ctx, node.func)
    if not isinstance(callee, Static) or callee.value is not range or node.keywords:
        ctx.refuse("KB110", "kernels loop over `range(…)` only", node, help)
    return _arguments(ctx, node, "range")


def _arguments(ctx: Context, node: ast.Call, name: str) -> Bounds:
    """start, stop, step as they are given, at one integer type."""
    if node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
        ctx.refuse("KB130", f"{name}() takes 1 to 3 plain arguments", node)
    given = [_as_number(ctx, one) for one in ctx.operands(node.args)]
    if not 1 <= len(given) <= 3:
        ctx.refuse("KB130", f"{name}() takes 1 to 3 arguments, not {len(given)}", node)
    bounds = _filled(given, ctx, node)
    if isinstance(bounds[2], Untyped) and bounds[2].value == 0:
        ctx.refuse("KB130", f"{name}() with a step of zero", node)
    start, stop, step = unify(ctx, bounds, node, "a range")
    if not is_integer(start.type):
        ctx.refuse("KB130", f"{name}() takes integers, not {start.type}", node, "convert it: `kb.int32(…)`")
    return start, stop, step


def _reversed(ctx: Context, bounds: Bounds, node: ast.Call) -> Bounds:
    """The bounds of the loop that goes from the last trip of a range to its first."""
    type, span = bounds[0].type, ctx.span(node)
    if not (isinstance(type, Scalar) and type.kind == "int"):
        ctx.refuse("KB130", f"reversed() takes a range of signed integers, not of {type}", node)
    values = [int(bound.value) for bound in bounds if isinstance(bound, Const)]
    if len(values) == len(bounds):
        backward = range(*values)[::-1]
        first, end, by = (Const(value, type, span) for value in (backward.start, backward.stop, backward.step))
        return first, end, by
    start, stop, step = (bound if isinstance(bound, Const) else ctx.temporary(bound) for bound in bounds)

    def of(op: str, a: Expr, b: Expr) -> Expr:
        return nodes.Binary(op, a, b, type, span)

    before, one = of("sub", start, step), Const(1, type, span)

    def last(order: str, towards: str) -> Expr:
        """The last value, where steps have one sign; of no trips, where the loop ends at once."""
        distance = of(towards, of("sub", stop, start), one)
        value = of("add", start, of("mul", of("div", distance, step), step))
        return nodes.Select(nodes.Compare(order, start, stop, BOOL, span), value, before, type, span)

    rises = nodes.Compare("gt", step, Const(0, type, span), BOOL, span)
    found: Expr = nodes.Select(rises, last("lt", "sub"), last("gt", "add"), type, span)
    back: Expr = nodes.Unary("neg", step, type, span)
    if isinstance(step, Const):
        found = last("lt", "sub") if step.value > 0 else last("gt", "add")
        back = Const(-int(step.value), type, span)
    return found, before, back


def _as_number(ctx: Context, operand: Operand) -> Operand:
    """False and True that are known while building count as 0 and 1 in Warp's dialect, as in Python."""
    if isinstance(operand, Const) and operand.type == BOOL and ctx.owner.dialect == "warp":
        return Untyped(int(operand.value), operand.span or ctx.span(ctx.definition))
    return operand


def _filled(given: list[Operand], ctx: Context, node: ast.AST) -> list[Operand]:
    span = ctx.span(node)
    if len(given) == 1:
        return [Untyped(0, span), given[0], Untyped(1, span)]
    return given if len(given) == 3 else [*given, Untyped(1, span)]


def while_(ctx: Context, node: ast.stmt) -> None:
    """`while condition:`; a condition that needs statements is tested inside the loop."""
    assert isinstance(node, ast.While)
    _refuse_else(ctx, node)
    with ctx.nested() as before:
        condition = ctx.attempt(lambda: ctx.condition(node.test))
    if condition is None:
        ctx.poison(node.test)
    body = _loop_body(ctx, node.body)
    if condition is None:
        raise Silenced
    span = ctx.span(node)
    if before:
        fails: Expr = nodes.Unary("not", condition, BOOL, span)
        if isinstance(condition, Const):
            fails = Const(not condition.value, BOOL, span)
        leave = nodes.If(fails, (nodes.Break(span),), (), span)
        condition, body = Const(True, BOOL, span), (*before, leave, *body)
    ctx.emit(nodes.While(condition, body, span))


def _refuse_in_unrolled(ctx: Context, node: ast.stmt) -> None:
    if ctx.is_unrolled:
        help = "put what follows into an `if`; the loop is unrolled because static() needs its variable"
        ctx.refuse("KB183", "an unrolled loop cannot be left early", node, help)


def break_(ctx: Context, node: ast.stmt) -> None:
    _refuse_in_unrolled(ctx, node)
    ctx.emit(nodes.Break(ctx.span(node)))


def continue_(ctx: Context, node: ast.stmt) -> None:
    _refuse_in_unrolled(ctx, node)
    ctx.emit(nodes.Continue(ctx.span(node)))
