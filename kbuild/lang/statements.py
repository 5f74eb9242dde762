"""Statements, but for loops."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Read, Symbol
from kbuild.ir.traverse import root_of, walk
from kbuild.ir.types import BOOL, INT32, VOID, Array, Tuple, Type, element_of, is_integer, is_number
from kbuild.lang import adjoints, asserts, atomics, blocks, loops, operators, own_operators, places, references, static
from kbuild.lang.constructors import components
from kbuild.lang.context import Context, StatementHandler, assigned_symbols
from kbuild.lang.expressions import outer
from kbuild.lang.operands import Operand, Pack, Silenced, Static, Untyped, describe, flattened, structure_of
from kbuild.lang.parts import fixed
from kbuild.loader.builtins import Builtin
from kbuild.loader.types import Function, Kernel, abi_type


def assign(ctx: Context, node: ast.stmt) -> None:
    """`x = …`, `a, b = …`, `a[i] = …`, `x = y = …`."""
    assert isinstance(node, ast.Assign)
    if blocks.declare(ctx, node):
        return
    is_unpacked = all(isinstance(target, (ast.Tuple, ast.List)) for target in node.targets)
    lower = places.several if is_unpacked else Context.expr
    value = _thread_index(ctx, node.value, node.targets[0]) or lower(ctx, node.value)
    if len(node.targets) > 1 and not isinstance(value, (Pack, Untyped)):
        value = ctx.temporary(ctx.typed(value, node.value))
    if len(node.targets) > 1:
        ctx.set_aside.clear()  # every target reads it
    for target in node.targets:
        store(ctx, target, value, node)


def _thread_index(ctx: Context, value: ast.expr, target: ast.expr) -> Operand | None:
    """`tid()` gives as many coordinates as are asked for."""
    is_tuple = isinstance(target, (ast.Tuple, ast.List))
    count = len(target.elts) if isinstance(target, (ast.Tuple, ast.List)) else 1
    if not isinstance(value, ast.Call) or value.args or value.keywords or not ctx.scope.is_outer(value.func):
        return None
    callee = outer(ctx, value.func)
    if not (isinstance(callee, Static) and isinstance(callee.value, Builtin) and callee.value.name == "tid"):
        return None
    if count > 4:
        ctx.refuse("KB161", f"tid() has one to four results, not {count}", value)
    span = ctx.span(value)
    axes = tuple(nodes.ThreadIndex(axis, count, INT32, span) for axis in range(count))
    return Pack(axes, span) if is_tuple else axes[0]


def store(ctx: Context, target: ast.expr, value: Operand, node: ast.AST) -> None:
    """Assigns an operand to a target."""
    if isinstance(target, (ast.Tuple, ast.List)):
        _unpack(ctx, target, value, node)
    elif isinstance(target, ast.Name):
        _assign_name(ctx, target, value, node)
    elif isinstance(target, (ast.Subscript, ast.Attribute)):
        _assign_place(ctx, target, value, node)
    else:
        ctx.refuse("KB143", "this cannot be assigned to", target)


def _unpack(ctx: Context, target: ast.Tuple | ast.List, value: Operand, node: ast.AST) -> None:
    if not isinstance(value, Pack):
        ctx.refuse(
            "KB132",
            f"{describe(value)} cannot be unpacked",
            node,
            "only tuples, shapes, calls with several results, slices of arrays",
        )
    if len(value.items) != len(target.elts):
        ctx.refuse("KB132", f"{len(value.items)} value(s) for {len(target.elts)} target(s)", node)
    # All values are read before the first target is written: `a, b = b, a`.
    items = [_read_now(ctx, item, node) for item in value.items]
    for inner, item in zip(target.elts, items, strict=True):
        store(ctx, inner, item, node)


def _read_now(ctx: Context, item: Operand, node: ast.AST) -> Operand:
    if isinstance(item, Pack):
        return Pack(tuple(_read_now(ctx, one, node) for one in item.items), item.span)
    if isinstance(item, (Untyped, Static)):
        return item
    value = ctx.typed(item, node)
    stable = isinstance(value, (nodes.Const, nodes.ThreadIndex, nodes.Position, nodes.Extent, nodes.Item))
    return value if stable else ctx.temporary(value)


def _assign_name(ctx: Context, target: ast.Name, value: Operand, node: ast.AST) -> None:
    if target.id == "_" and not _is_read(ctx, "_"):
        return  # what the value does is done, and nobody asks for it
    if target.id in ctx.references:
        place = ctx.references[target.id]
        ctx.emit(nodes.Assign(place, ctx.coerce(value, place.type, node, f"{target.id!r}"), ctx.span(node)))
        return
    symbol = ctx.symbols.get(target.id)
    if symbol is None and _is_known(ctx, target.id, value):
        ctx.known[target.id] = value.value  # type: ignore[union-attr]
    if symbol is None and _is_alias(ctx, target.id, value):
        items = [_read_now(ctx, item, node) for item in value.items] if isinstance(value, Pack) else []
        ctx.aliases[target.id] = Pack(tuple(items), value.span) if isinstance(value, Pack) else value
        return
    if symbol is None:
        typed = ctx.typed(value, node)
        symbol = Symbol(target.id, typed.type, ctx.span(target))
    else:
        blocks.refuse_reassigning(ctx, symbol, target)
        typed = _same_type(ctx, target, symbol, value, node)
    typed = ctx.taken(typed)
    ctx.emit(nodes.Assign(Read(symbol, symbol.type, ctx.span(target)), typed, ctx.span(node)))
    ctx.symbols[target.id] = symbol


def _is_known(ctx: Context, name: str, value: Operand) -> bool:
    """`static` may read the variable: it has one value in the whole function, which is known while building."""
    is_truth = isinstance(value, nodes.Const) and value.type == BOOL
    if not (isinstance(value, Untyped) or is_truth):
        return False
    return _is_assigned_once(ctx, name)


def _is_alias(ctx: Context, name: str, value: Operand) -> bool:
    """The name may stand for something that is no value on the GPU: it is assigned here, and nowhere else."""
    if not isinstance(value, Pack):
        known = isinstance(value, Static) and (value.value is None or isinstance(value.value, (type, Type, Function)))
        if not known:
            return False
    elif any(not isinstance(item, (Untyped, Static, Expr)) for item in value.items):
        return False
    return _is_assigned_once(ctx, name)


def _is_read(ctx: Context, name: str) -> bool:
    names = (n for n in ast.walk(ctx.definition) if isinstance(n, ast.Name) and n.id == name)
    return any(isinstance(n.ctx, ast.Load) for n in names)


def _is_assigned_once(ctx: Context, name: str) -> bool:
    stores = (n for n in ast.walk(ctx.definition) if isinstance(n, ast.Name) and n.id == name)
    return sum(isinstance(n.ctx, ast.Store) for n in stores) == 1


def _same_type(ctx: Context, target: ast.Name, symbol: Symbol, value: Operand, node: ast.AST) -> Expr:
    if isinstance(value, Untyped):
        return ctx.coerce(value, symbol.type, node, f"{target.id!r}")
    typed = ctx.typed(value, node)
    if typed.type != symbol.type:
        first = f" (since line {symbol.span.line})" if symbol.span else ""
        text = f"{target.id!r} is {symbol.type}{first} and cannot become {typed.type}"
        ctx.refuse("KB124", text, target, "use another name, or convert the value")
    return typed


def _assign_place(ctx: Context, target: ast.expr, value: Operand, node: ast.AST) -> None:
    mark = len(ctx.block)
    several = places.targets(ctx, target)
    if several is not None:
        _assign_parts(ctx, several, ctx.saved_before(mark, [value])[0], node)
        return
    place = places.target(ctx, target)
    if len(ctx.block) > mark:
        value = ctx.saved_before(mark, [value])[0]
    typed = ctx.coerce(value, place.type, node, "the value")
    with adjoints.guarded(ctx, place, node):
        ctx.emit(nodes.Assign(place, typed, ctx.span(node)))


def _assign_parts(ctx: Context, several: nodes.Build, value: Operand, node: ast.AST) -> None:
    """`v[0:3] = w`: all is read before anything is written."""
    typed = ctx.coerce(value, several.type, node, "the value")
    whole = ctx.temporary(typed)
    with adjoints.guarded(ctx, several.parts[0], node):
        for place, part in zip(several.parts, components(ctx, whole, node), strict=True):
            ctx.emit(nodes.Assign(place, part, ctx.span(node)))


def annotated(ctx: Context, node: ast.stmt) -> None:
    """`x: float = 0.0`: the type is given, the value must fit it."""
    assert isinstance(node, ast.AnnAssign)
    if not isinstance(node.target, ast.Name):
        ctx.refuse("KB143", "only a variable can be annotated", node.target)
    type = _annotation(ctx, node.annotation)
    if node.value is None:
        ctx.refuse("KB110", f"{node.target.id!r} gets a type but no value", node, "assign one: `x: float = 0.0`")
    value = ctx.coerce(ctx.expr(node.value), type, node.value, f"{node.target.id!r}")
    _assign_name(ctx, node.target, value, node)


def _annotation(ctx: Context, node: ast.expr) -> Type:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        node = ast.copy_location(ast.parse(node.value, mode="eval").body, node)
        ast.fix_missing_locations(node)
    operand = outer(ctx, node) if ctx.scope.is_outer(node) else None
    try:
        return abi_type(getattr(operand, "value", operand))
    except TypeError as error:
        reason = f" ({error})" if isinstance(operand, Static) else ""
        text = f"this is no type of the kernel language{reason}"
        ctx.refuse("KB102", text, node, "float, int, kb.float64, kb.vec3 …")


def augmented(ctx: Context, node: ast.stmt) -> None:
    """`x += …`. On an element of an array `+= -= &= |= ^=` are atomic; the place is evaluated once."""
    assert isinstance(node, ast.AugAssign)
    if isinstance(node.target, ast.Name):
        current = ctx.expr(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))
        mark = len(ctx.block)
        value = ctx.expr(node.value)
        if len(ctx.block) > mark:
            current = ctx.saved_before(mark, [current])[0]
        _assign_name(ctx, node.target, own_operators.binary(ctx, type(node.op), current, value, node), node)
        return
    several = places.targets(ctx, node.target)
    if several is not None:
        _augmented_parts(ctx, several, node)
        return
    load = ast.copy_location(_as_load(node.target), node.target)
    place = places.target(ctx, load)
    with ctx.nested() as later:
        value = ctx.expr(node.value)
    place = fixed(ctx, place, assigned_symbols(later))
    mark = len(ctx.block)
    ctx.block.extend(later)
    in_memory = isinstance(root_of(place), nodes.Index)
    is_own = own_operators.chosen(ctx, type(node.op), place, value) is not None
    if in_memory and not is_own and type(node.op) in _ATOMIC:
        with adjoints.guarded(ctx, place, node):
            _atomic(ctx, place, value, node)
        return
    current = ctx.saved_before(mark, [adjoints.read(ctx, place, node)])[0] if len(ctx.block) > mark else place
    with adjoints.guarded(ctx, place, node):
        result = own_operators.binary(ctx, type(node.op), current, value, node)
        ctx.emit(nodes.Assign(place, ctx.coerce(result, place.type, node, "the result"), ctx.span(node)))


def _augmented_parts(ctx: Context, several: nodes.Build, node: ast.AugAssign) -> None:
    """`v[0:3] += w`."""
    in_memory = isinstance(root_of(several.parts[0]), nodes.Index)
    if in_memory and type(node.op) in _ATOMIC and own_operators.named(ctx.scope, type(node.op)) is None:
        whole = ctx.temporary(ctx.coerce(ctx.expr(node.value), several.type, node, "the value"))
        with adjoints.guarded(ctx, several.parts[0], node):
            for place, part in zip(several.parts, components(ctx, whole, node), strict=True):
                _atomic(ctx, place, part, node)
        return
    current = ctx.temporary(several)
    _assign_parts(ctx, several, own_operators.binary(ctx, type(node.op), current, ctx.expr(node.value), node), node)


def _as_load(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Subscript):
        return ast.Subscript(target.value, target.slice, ast.Load())
    assert isinstance(target, ast.Attribute)
    return ast.Attribute(target.value, target.attr, ast.Load())


# Operators that are atomic on an element of an array, as in Warp.
_ATOMIC: dict[type[ast.operator], str] = {
    ast.Add: "atomic_add",
    ast.Sub: "atomic_sub",
    ast.BitAnd: "atomic_and",
    ast.BitOr: "atomic_or",
    ast.BitXor: "atomic_xor",
}


def _atomic(ctx: Context, place: Expr, value: Operand, node: ast.AugAssign) -> None:
    name, sign = _ATOMIC[type(node.op)], operators.BINARY[type(node.op)][1]
    takes = is_number if name in ("atomic_add", "atomic_sub") else is_integer
    if not takes(element_of(place.type)):
        ctx.refuse("KB121", f"`{sign}=` does not take {place.type}", node)
    mark = len(ctx.block)
    atomics.apply(ctx, name, place, [ctx.coerce(value, place.type, node, "the value")], node)
    _drop_results(ctx, mark)


def if_(ctx: Context, node: ast.stmt) -> None:
    assert isinstance(node, ast.If)
    condition = ctx.attempt(lambda: ctx.condition(node.test))
    if condition is None:
        ctx.poison(node.test)
    elif isinstance(condition, nodes.Const) and static.decides(ctx, node.test):
        for statement in node.body if condition.value else node.orelse:
            ctx.statement(statement)
        return
    then = ctx.body(node.body)
    otherwise = ctx.body(node.orelse)
    if condition is None:
        raise Silenced
    ctx.emit(nodes.If(condition, then, otherwise, ctx.span(node)))


def return_(ctx: Context, node: ast.stmt) -> None:
    assert isinstance(node, ast.Return)
    span = ctx.span(node)
    if isinstance(ctx.owner, Kernel):
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            ctx.refuse("KB152", "a kernel returns nothing", node, "write the result into an array")
        ctx.emit(nodes.Return(None, span))
        return
    if ctx.adjoints is not None:
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            ctx.refuse("KB196", "a gradient returns nothing", node, "write `kb.adjoint[x] += …` for each parameter x")
        ctx.emit(adjoints.returned(ctx, node))
        return
    operand = None if node.value is None else ctx.expr(node.value)
    value = None if operand is None else _result(ctx, flattened(operand), node)
    found = VOID if value is None else value.type
    if ctx.result is None:
        ctx.result, ctx.structure = found, structure_of(operand)
    elif ctx.result != found:
        ctx.refuse("KB150", f"returns {found} here and {ctx.result} before", node, "return one type everywhere")
    elif structure_of(operand) != ctx.structure:
        ctx.refuse("KB150", "returns tuples of another form here than before", node, "return one form everywhere")
    ctx.emit(nodes.Return(references.result(ctx, value, span), span))


def _result(ctx: Context, operand: Operand, node: ast.Return) -> Expr:
    """A returned operand at the type of earlier returns where it is a number."""
    wanted = ctx.result
    if isinstance(operand, Pack):
        items = wanted.items if isinstance(wanted, Tuple) and len(wanted.items) == len(operand.items) else None
        parts = tuple(_adapted(ctx, o, items[i] if items else None, node) for i, o in enumerate(operand.items))
        return nodes.Build(parts, Tuple(tuple(p.type for p in parts)), ctx.span(node))
    return _adapted(ctx, operand, wanted, node)


def _adapted(ctx: Context, operand: Operand, wanted: Type | None, node: ast.AST) -> Expr:
    is_none = isinstance(operand, Static) and operand.value is None and isinstance(wanted, Array)
    if is_none or (isinstance(operand, Untyped) and wanted is not None and is_number(wanted)):
        assert wanted is not None
        return ctx.coerce(operand, wanted, node, "the result")
    return ctx.typed(operand, node)


def expression(ctx: Context, node: ast.stmt) -> None:
    """A call for its effect; a docstring; anything else does nothing and is refused."""
    assert isinstance(node, ast.Expr)
    if isinstance(node.value, ast.Constant) and isinstance(node.value.value, (str, type(...))):
        return
    if isinstance(node.value, ast.IfExp):
        if_(ctx, _as_if(node, node.value))
        return
    if not isinstance(node.value, ast.Call):
        ctx.refuse("KB110", "this expression does nothing", node, "assign its value, or remove it")
    if blocks.statement(ctx, node.value):
        return
    mark = len(ctx.block)
    value = ctx.expr(node.value)
    if isinstance(value, nodes.ThreadIndex):
        ctx.emit(nodes.Evaluate(value, ctx.span(node)))  # says how many coordinates a thread has
        return
    if len(ctx.block) == mark:
        ctx.refuse("KB110", "this call does nothing: it changes no memory and its value is not used", node)
    _drop_results(ctx, mark)


def _as_if(node: ast.Expr, value: ast.IfExp) -> ast.If:
    """`f() if condition else g()` as a statement; `None` stands for nothing to do."""

    def branch(one: ast.expr) -> list[ast.stmt]:
        is_none = isinstance(one, ast.Constant) and one.value is None
        return [] if is_none else [ast.copy_location(ast.Expr(one), one)]

    return ast.copy_location(ast.If(value.test, branch(value.body), branch(value.orelse)), node)


def _drop_results(ctx: Context, mark: int) -> None:
    """Calls since `mark` keep their effect and lose the temporaries for values that nobody reads."""
    statements = ctx.block[mark:]
    read = {node.symbol for s in statements for e in _values(s) for node in walk(e) if isinstance(node, Read)}
    for position, stmt in enumerate(statements, mark):
        match stmt:
            case nodes.Assign(Read(symbol), nodes.Call() | nodes.Intrinsic() as value, span) if symbol not in read:
                ctx.block[position] = nodes.Evaluate(value, span)


def _values(stmt: nodes.Stmt) -> Iterator[nodes.Expr]:
    """Expressions of a statement and of those inside it, but for the variables it assigns."""
    for node in walk(stmt):
        match node:
            case nodes.Assign(Read(), value):
                yield value
            case nodes.Assign(target, value):
                yield from (target, value)
            case nodes.Evaluate(value):
                yield value
            case nodes.Print(_, arguments):
                yield from arguments
            case nodes.Barrier(mask) if mask is not None:
                yield mask
            case nodes.If(condition) | nodes.While(condition) | nodes.Assert(condition) | nodes.Assume(condition):
                yield condition
            case nodes.For(_, start, stop, step):
                yield from (start, stop, step)


def pass_(ctx: Context, node: ast.stmt) -> None:
    """Nothing."""


HANDLERS: dict[type[ast.stmt], StatementHandler] = {
    ast.Assign: assign,
    ast.AnnAssign: annotated,
    ast.AugAssign: augmented,
    ast.Assert: asserts.assert_,
    ast.If: if_,
    ast.For: loops.for_,
    ast.While: loops.while_,
    ast.Break: loops.break_,
    ast.Continue: loops.continue_,
    ast.Return: return_,
    ast.Expr: expression,
    ast.Pass: pass_,
}
