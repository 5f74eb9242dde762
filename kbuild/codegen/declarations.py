"""Where a variable can be declared: at its first assignment, if everything else that mentions it comes later and inside
the same block; otherwise at the top of the function, where it starts as zero."""

from __future__ import annotations

from kbuild.ir import nodes
from kbuild.ir.nodes import Function, Stmt, Symbol
from kbuild.ir.traverse import inner_blocks, own_expressions, walk


def declared_in_place(function: Function) -> dict[Symbol, Stmt]:
    """The assignments that declare their variable."""
    mentions: dict[Symbol, list[tuple[tuple[int, ...], Stmt]]] = {}
    _collect(function.body, (), mentions)
    for parameter in function.parameters:
        mentions.pop(parameter, None)
    return {symbol: places[0][1] for symbol, places in mentions.items() if _can_declare(symbol, places)}


def _collect(
    body: tuple[Stmt, ...], block: tuple[int, ...], mentions: dict[Symbol, list[tuple[tuple[int, ...], Stmt]]]
) -> None:
    """Notes for every symbol the blocks (as paths) and statements that mention it, in order."""
    for position, stmt in enumerate(body):
        for expr in own_expressions(stmt):
            for node in walk(expr):
                if isinstance(node, nodes.Read):
                    mentions.setdefault(node.symbol, []).append((block, stmt))
        for branch, inner in enumerate(inner_blocks(stmt)):
            _collect(inner, (*block, position, branch), mentions)


def _can_declare(symbol: Symbol, places: list[tuple[tuple[int, ...], Stmt]]) -> bool:
    block, first = places[0]
    if not isinstance(first, nodes.Assign) or not isinstance(first.target, nodes.Read):
        return False
    assigns = first.target.symbol is symbol
    reads_itself = any(isinstance(n, nodes.Read) and n.symbol is symbol for n in walk(first.value))
    return assigns and not reads_itself and all(other[: len(block)] == block for other, _ in places)
