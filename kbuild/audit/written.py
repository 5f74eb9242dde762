"""The shape of a block as a kernel writes it down: `kb.block_idx().x * 16 + kb.thread_idx().x` is one of 16 along x."""

from __future__ import annotations

from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Kernel, Position, Symbol
from kbuild.ir.traverse import callees, walk


def written_block(kernel: Kernel) -> dict[int, int]:
    """Threads along axes (0, 1, 2; 0 also where no axis is named), as far as blocks are placed one after another by a
    constant. Axes for which there are several such constants are left out."""
    found: dict[int, set[int]] = {}
    for function in [*callees(kernel.function), kernel.function]:
        places = _places(function.body)
        for node in walk(function.body):
            if isinstance(node, nodes.Binary) and node.op == "add":
                for block, thread in ((node.left, node.right), (node.right, node.left)):
                    size, at = _times(block, places), _position(thread, places)
                    if size is not None and at is not None and at.what == "thread_idx" and at.axis == size[0]:
                        found.setdefault(at.axis or 0, set()).add(size[1])
    return {axis: sizes.pop() for axis, sizes in found.items() if len(sizes) == 1}


def _places(body: tuple[nodes.Stmt, ...]) -> dict[Symbol, Expr]:
    """Variables that are assigned once, and what."""
    found: dict[Symbol, Expr] = {}
    several: set[Symbol] = set()
    for node in walk(body):
        if isinstance(node, nodes.Assign) and isinstance(node.target, nodes.Read):
            symbol = node.target.symbol
            if symbol in found:
                several.add(symbol)
            found[symbol] = node.value
    return {symbol: value for symbol, value in found.items() if symbol not in several}


def _position(expr: Expr, places: dict[Symbol, Expr]) -> Position | None:
    if isinstance(expr, nodes.Read) and expr.symbol in places:
        expr = places[expr.symbol]
    return expr if isinstance(expr, Position) else None


def _times(expr: Expr, places: dict[Symbol, Expr]) -> tuple[int | None, int] | None:
    """(axis, factor) of `block_idx * factor`."""
    if isinstance(expr, nodes.Read) and expr.symbol in places:
        expr = places[expr.symbol]
    if not isinstance(expr, nodes.Binary) or expr.op != "mul":
        return None
    for factor, place in ((expr.left, expr.right), (expr.right, expr.left)):
        at = _position(place, places)
        if isinstance(factor, nodes.Const) and at is not None and at.what == "block_idx":
            return at.axis, int(factor.value)
    return None
