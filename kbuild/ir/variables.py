"""Every variable of a kernel, for people: type, memory space, scope, and where it is live.

    print_variables(kernel) → one table a function, the kernel's first

The scope is the innermost block that has every mention of the variable and that its value does not enter from outside:
neither from before the block nor from one trip of a loop to the next. A variable is live on a line where its value may
still be read, and across a loop if it is live where the loop decides on a further trip.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kbuild.ir import nodes
from kbuild.ir.liveness import Block, Live, Point, analyse, assigned, reads, reads_in_order
from kbuild.ir.nodes import Const, Function, Kernel, Stmt, Symbol
from kbuild.ir.printer import SymbolNames
from kbuild.ir.traverse import callees, root_of, walk
from kbuild.ir.types import Array, Fixed, Shared, is_composite

_HEADERS = ("name", "type", "space", "scope", "live", "across")


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a function.

    `lines`: first and last line where it is defined or live, None without places; `loops`: lines of the loops across
    which it is live; `is_read`: somewhere; `may_be_zero`: it may be read before anything is assigned.
    """

    symbol: Symbol
    space: str
    scope: Block
    lines: tuple[int, int] | None
    loops: tuple[int, ...]
    is_read: bool
    may_be_zero: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """The variables of a function, parameters in order, then the others by their first mention; how many of them are
    live at once at most, their size in bytes, and the line where."""

    variables: list[Variable]
    count: int
    size: int
    line: int


def print_variables(kernel: Kernel) -> str:
    """The tables of a kernel and of the functions that it calls."""
    tables = [_table(kernel.function, kernel.name, is_kernel=True)]
    tables += [_table(f, f"{f.module}:{f.name}", is_kernel=False) for f in callees(kernel.function)]
    return "\n".join(tables)


def summary(function: Function, *, is_kernel: bool) -> Summary:
    """What is known of the variables of a function."""
    root = analyse(function)
    places = _Places()
    for parameter in (*function.parameters, *function.shared):
        places.mentions[parameter] = []
    places.collect(root)
    at_start = root.points[0].before if root.points else frozenset[Symbol]()
    found = [_variable(symbol, function, is_kernel, places, root, at_start) for symbol in places.mentions]
    size, count, line = places.widest
    return Summary(found, count, size, line)


def _variable(
    symbol: Symbol, function: Function, is_kernel: bool, places: _Places, root: Block, at_start: Live
) -> Variable:
    is_parameter = symbol in function.parameters or symbol in function.shared
    lines = places.lines.get(symbol, set())
    if is_parameter and symbol.span is not None:
        lines = {*lines, symbol.span.line}
    return Variable(
        symbol,
        _space(symbol, function, is_kernel, places),
        root if is_parameter else _scope(symbol, places.mentions[symbol], root),
        (min(lines), max(lines)) if lines else None,
        tuple(sorted(places.loops.get(symbol, ()))),
        symbol in places.read,
        symbol in at_start and not is_parameter,
    )


@dataclass
class _Places:
    """What is known of each variable, collected on one way through a function."""

    mentions: dict[Symbol, list[Block]] = field(default_factory=dict)
    lines: dict[Symbol, set[int]] = field(default_factory=dict)
    loops: dict[Symbol, set[int]] = field(default_factory=dict)
    read: set[Symbol] = field(default_factory=set)
    indexed: set[Symbol] = field(default_factory=set)
    widest: tuple[int, int, int] = (0, 0, 0)  # bytes and number of the variables live at once, and the line

    def collect(self, root: Block) -> None:
        for point in root.walk():
            self._point(point)

    def _point(self, point: Point) -> None:
        stmt, line = point.stmt, point.stmt.span.line if point.stmt.span else 0
        symbol, _ = assigned(stmt)
        read = reads(stmt)
        self.read |= read
        self.indexed |= set(_indexed_by_values(stmt))
        if symbol is not None:
            # The counter of a loop lives in the loop's body.
            block = point.blocks[0] if isinstance(stmt, nodes.For) else point.block
            self.mentions.setdefault(symbol, []).append(block)
        for one in reads_in_order(stmt):
            self.mentions.setdefault(one, []).append(point.block)
        live = point.before if point.blocks else point.before | point.after
        for one in live | read | ({symbol} if symbol is not None else set()):
            if line:
                self.lines.setdefault(one, set()).add(line)
        for one in point.carried:
            self.loops.setdefault(one, set()).add(line)
        size = sum(s.type.size for s in point.before)
        if (size, len(point.before)) > self.widest[:2]:
            self.widest = (size, len(point.before), line)


def _indexed_by_values(stmt: Stmt) -> Iterator[Symbol]:
    """Variables one of whose elements is chosen while the kernel runs."""
    heads: list[nodes.Node] = _heads(stmt) if isinstance(stmt, (nodes.If, nodes.For, nodes.While)) else [stmt]
    for head in heads:
        for node in walk(head):
            if isinstance(node, nodes.Component) and not all(isinstance(i, Const) for i in node.indices):
                root = root_of(node)
                if isinstance(root, nodes.Read):
                    yield root.symbol


def _heads(stmt: nodes.If | nodes.For | nodes.While) -> list[nodes.Node]:
    return [stmt.start, stmt.stop, stmt.step] if isinstance(stmt, nodes.For) else [stmt.condition]


def _scope(symbol: Symbol, mentions: list[Block], root: Block) -> Block:
    ways = [list(_way(block)) for block in mentions]
    shared = [blocks[0] for blocks in zip(*ways, strict=False) if all(block is blocks[0] for block in blocks)]
    while len(shared) > 1 and _enters(symbol, shared[-1]):
        shared.pop()
    return shared[-1] if shared else root


def _way(block: Block) -> list[Block]:
    """The blocks around a block, outermost first, and itself."""
    return [*(_way(block.owner.block) if block.owner is not None else []), block]


def _enters(symbol: Symbol, block: Block) -> bool:
    """The value of a variable comes into a block from outside. A loop gives its own counter to the body."""
    owner = block.owner.stmt if block.owner is not None else None
    is_counter = isinstance(owner, nodes.For) and owner.symbol is symbol
    return not is_counter and bool(block.points) and symbol in block.points[0].before


def _space(symbol: Symbol, function: Function, is_kernel: bool, places: _Places) -> str:
    """Where its value is. What a compiler keeps in a register, or spills, is its own business."""
    if symbol in function.shared:
        assert isinstance(symbol.type, Shared)
        return f"shared, {'as the launch says' if symbol.type.is_dynamic else f'{symbol.type.bytes} bytes'}"
    elements = ""
    if isinstance(symbol.type, Array):
        elements = f", elements {symbol.type.place if isinstance(symbol.type, Fixed) else 'global'}"
    if symbol in function.parameters:
        return ("parameter" if is_kernel else "argument") + elements
    if symbol in places.indexed and is_composite(symbol.type):
        return "register or local" + elements
    return "register" + elements


# Printing


def _table(function: Function, title: str, *, is_kernel: bool) -> str:
    names, found = SymbolNames(function), summary(function, is_kernel=is_kernel)
    if not found.variables:
        return f"variables of {title}: none\n"
    rows = [_HEADERS, *(_row(variable, names[variable.symbol], function) for variable in found.variables)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADERS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    plural = "" if found.count == 1 else "s"
    lines.append(f"live at once: at most {found.count} variable{plural}, {found.size} bytes, at line {found.line}")
    return "\n".join([f"variables of {title}", *(f"    {line}" for line in lines)]) + "\n"


def _row(variable: Variable, name: str, function: Function) -> tuple[str, ...]:
    live = "-" if variable.lines is None else _range(*variable.lines)
    if not variable.is_read:
        live += ", never read"
    elif variable.may_be_zero:
        live += ", zero at first"
    across = ", ".join(f"loop {line}" for line in variable.loops)
    return (name, str(variable.symbol.type), variable.space, _scope_text(variable.scope, function), live, across)


def _scope_text(block: Block, function: Function) -> str:
    owner = block.owner.stmt if block.owner is not None else None
    if block.kind in ("then", "else"):
        spans = [point.stmt.span for point in block.points if point.stmt.span]
        first, last = (spans[0].line, spans[-1].end_line) if spans else (0, 0)
    else:
        span = function.span if owner is None else owner.span
        first, last = (span.line, span.end_line) if span else (0, 0)
    return f"{block.kind} {_range(first, last)}" if first else block.kind


def _range(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first}-{last}"
