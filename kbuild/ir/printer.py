"""Text of the IR, for people and for goldens: one line a statement, types where a variable first appears."""

from __future__ import annotations

from collections.abc import Iterator

from kbuild.ir import formats, nodes
from kbuild.ir.nodes import Expr, Function, Kernel, Stmt, Symbol
from kbuild.ir.traverse import reached, walk

_BINARY = {"add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%"}
_BINARY |= {"shl": "<<", "shr": ">>", "and": "&", "or": "|", "xor": "^"}
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_UNARY = {"neg": "-", "invert": "~", "not": "not "}


def print_kernel(kernel: Kernel) -> str:
    """The kernel and the functions it reaches, callees first."""
    parts = [print_function(f) for f in reached(kernel.function)]
    head = f"kernel {kernel.name} ndim={kernel.ndim}"
    if kernel.max_iterations is not None:
        head += f" max_iterations={kernel.max_iterations}"
    if kernel.launch_bounds is not None:
        threads, blocks = kernel.launch_bounds
        head += f" launch_bounds={threads}" + (", auto" if blocks is None else f", {blocks}" if blocks else "")
    if kernel.cluster_dim is not None:
        head += f" cluster_dim={kernel.cluster_dim}"
    if kernel.launch_dim:
        names = SymbolNames(kernel.function)
        head += f" launch_dim=({', '.join(_expr(one, names) for one in kernel.launch_dim)})"
    return "\n".join([*parts, print_function(kernel.function, head)])


def print_function(function: Function, head: str | None = None) -> str:
    """One function; `head` replaces its title."""
    names = SymbolNames(function)
    title = head or f"func {function.module}:{function.name}"
    parameters = ", ".join(f"{names[p]}: {p.type}" for p in function.parameters)
    about = ", indices wrap" if function.wraps else ""
    about += f", gradient {function.gradient.name}" if function.gradient is not None else ""
    about += f", replay {function.replay.name}" if function.replay is not None else ""
    lines = [f"{title}({parameters}) -> {function.result}{about}"]
    lines += [f"    shared {names[symbol]}: {symbol.type}" for symbol in function.shared]
    lines += [f"    {line}" for line in _block(function.body, names, {*function.parameters, *function.shared})]
    return "\n".join(lines) + "\n"


class SymbolNames:
    """Names of symbols, numbered from the second of a name on."""

    def __init__(self, function: Function) -> None:
        self._names: dict[Symbol, str] = {}
        counts: dict[str, int] = {}
        for symbol in [*function.parameters, *function.shared, *_symbols(function.body)]:
            if symbol not in self._names:
                count = counts.get(symbol.name, 0)
                counts[symbol.name] = count + 1
                self._names[symbol] = symbol.name if count == 0 else f"{symbol.name}.{count}"

    def __getitem__(self, symbol: Symbol) -> str:
        return self._names[symbol]


def _symbols(body: tuple[Stmt, ...]) -> Iterator[Symbol]:
    for node in walk(body):
        if isinstance(node, nodes.For):
            yield node.symbol
        elif isinstance(node, nodes.Read):
            yield node.symbol


def _block(body: tuple[Stmt, ...], names: SymbolNames, known: set[Symbol]) -> Iterator[str]:
    for statement in body:
        yield from _statement(statement, names, known)
    if not body:
        yield "pass"


def _nested(body: tuple[Stmt, ...], names: SymbolNames, known: set[Symbol]) -> Iterator[str]:
    return (f"    {line}" for line in _block(body, names, known))


def _statement(stmt: Stmt, names: SymbolNames, known: set[Symbol]) -> Iterator[str]:
    match stmt:
        case nodes.Assign(target, value):
            place = _expr(target, names)
            if isinstance(target, nodes.Read) and target.symbol not in known:
                known.add(target.symbol)
                place += f": {target.type}"
            yield f"{place} = {_expr(value, names)}"
        case nodes.Evaluate(value):
            yield _expr(value, names)
        case nodes.If(condition, then, otherwise):
            yield f"if {_expr(condition, names)}:"
            yield from _nested(then, names, known)
            if otherwise:
                yield "else:"
                yield from _nested(otherwise, names, known)
        case nodes.For(symbol, start, stop, step, body):
            bounds = ", ".join(_expr(e, names) for e in (start, stop, step))
            yield f"for {names[symbol]}: {symbol.type} in range({bounds}):"
            yield from _nested(body, names, known)
        case nodes.While(condition, body):
            yield f"while {_expr(condition, names)}:"
            yield from _nested(body, names, known)
        case nodes.Break():
            yield "break"
        case nodes.Continue():
            yield "continue"
        case nodes.Return(value):
            yield "return" if value is None else f"return {_expr(value, names)}"
        case nodes.Print(pieces, arguments):
            yield f"print({', '.join([repr(formats.text(pieces)), *(_expr(a, names) for a in arguments)])})"
        case nodes.Assert(condition, owner, number, text):
            yield f"assert {_expr(condition, names)}, {owner}:{number} {text!r}"
        case nodes.Assume(condition):
            yield f"assume({_expr(condition, names)})"
        case nodes.Native():
            yield from _native(stmt, names, known)
        case nodes.Barrier(of_cluster=True):
            yield "cluster_sync()"
        case nodes.Barrier(mask):
            yield "syncthreads()" if mask is None else f"syncwarp({_expr(mask, names)})"


def _native(stmt: nodes.Native, names: SymbolNames, known: set[Symbol]) -> Iterator[str]:
    """The text between braces, and what it does in Python."""
    given, added = (", ".join(_expr(one, names) for one in some) for some in (stmt.inputs, stmt.adjoints))
    yield f"cuda({given}{f'; adds to {added}' if added else ''}) -> {stmt.type} {{"
    yield from (f"    {line}" for line in stmt.text.strip("\n").splitlines())
    yield "}"
    if stmt.has_body:
        yield "in Python:"
        yield from _nested(stmt.body, names, known)


def _expr(expr: Expr, names: SymbolNames) -> str:
    def show(inner: Expr) -> str:
        return _expr(inner, names)

    def many(inner: tuple[Expr, ...]) -> str:
        return ", ".join(map(show, inner))

    match expr:
        case nodes.Const(value, type):
            return f"{type}({value!r})"
        case nodes.Read(symbol):
            return names[symbol]
        case nodes.Table(name, _, type):
            return f"{name}: {type}"
        case nodes.Index(base, indices, _, _, cache) if cache:
            return f"{cache}({show(base)}[{many(indices)}])"
        case nodes.Index(base, indices) | nodes.View(base, indices) | nodes.Component(base, indices):
            return f"{show(base)}[{many(indices)}]"
        case nodes.Member(base, field):
            return f"{show(base)}.{field}"
        case nodes.Extent(array, axis):
            return f"{show(array)}.shape[{axis}]"
        case nodes.Present(array):
            return f"present({show(array)})"
        case nodes.Elsewhere(array, rank):
            return f"cluster_array({show(array)}, {show(rank)})"
        case nodes.ThreadIndex(axis, ndim):
            return f"tid({axis} of {ndim})"
        case nodes.Position(what, along):
            return f"{what}()" if along is None else f"{what}().{'xyz'[along : along + 1] or along}"
        case nodes.Unary(op, operand):
            return f"{_UNARY.get(op, op)}{show(operand)}"
        case nodes.Binary(op, left, right):
            return f"({show(left)} {_BINARY.get(op, op)} {show(right)})"
        case nodes.Compare(op, left, right):
            return f"({show(left)} {_COMPARE.get(op, op)} {show(right)})"
        case nodes.Logical(op, left, right):
            return f"({show(left)} {op} {show(right)})"
        case nodes.Select(condition, then, otherwise):
            return f"({show(then)} if {show(condition)} else {show(otherwise)})"
        case nodes.Convert(operand, type):
            return f"{type}({show(operand)})"
        case nodes.Fma(a, b, c):
            return f"fma({many((a, b, c))})"
        case nodes.Build(parts, type):
            return f"{type}({many(parts)})"
        case nodes.Item(base, index):
            return f"{show(base)}.{index}"
        case nodes.Call(callee, arguments):
            return f"{callee.name}({many(arguments)})"
        case nodes.Intrinsic(name, arguments, _, _, order, scope):
            about = [order] if order != nodes.ORDERS[0] else []
            about += [scope] if scope != nodes.SCOPES[0] else []
            return f"{name}({', '.join([many(arguments), *about])})"
