"""Which values of a function depend on the thread: everything else is the same in all threads of a launch.

    dependence(function).of(expression)   →   whether threads may see different values

What a thread reads at a place that all of them read is taken as the same for all: that asks which work is repeated, not
whether it is ordered.
"""

from __future__ import annotations

from collections.abc import Iterable

from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Function, Node, Stmt, Symbol
from kbuild.ir.traverse import callees, root_of, walk

_SAME_FOR_ALL = frozenset({"block_dim", "grid_dim"})


class Dependence:
    """The symbols of one function that depend on the thread. What depends on nothing but one of the conditions `passed`
    does not count: all threads that are looked at have passed them."""

    def __init__(self, function: Function, passed: Iterable[Expr] = ()) -> None:
        self.symbols: set[Symbol] = set()
        self._passed = {id(condition) for condition in passed}
        self._placed = placed(function)
        before = -1
        while before != len(self.symbols):  # a loop carries values back to its start
            before = len(self.symbols)
            self._block(function.body, False)

    def of(self, node: Node) -> bool:
        """Whether threads may see different values of it, or of anything in it. What an atomic was before counts where
        somebody looks at it."""
        unseen: set[int] = set()
        for one in walk(node):
            if isinstance(one, nodes.Evaluate):
                unseen.add(id(one.value))
            elif self._is_source(one) and id(one) not in unseen:
                return True
        return False

    def _is_source(self, node: Node) -> bool:
        if isinstance(node, nodes.Read):
            return node.symbol in self.symbols
        if isinstance(node, nodes.Call):
            return node.callee in self._placed
        if isinstance(node, nodes.Intrinsic):
            return node.name.startswith("atomic_")
        return isinstance(node, nodes.ThreadIndex) or (
            isinstance(node, nodes.Position) and node.what not in _SAME_FOR_ALL
        )

    def _block(self, body: tuple[Stmt, ...], is_split: bool) -> None:
        for statement in body:
            self._statement(statement, is_split)

    def _statement(self, statement: Stmt, is_split: bool) -> None:
        if isinstance(statement, nodes.Assign):
            root = root_of(statement.target)
            if isinstance(root, nodes.Read) and (is_split or self.of(statement.value) or self.of(statement.target)):
                self.symbols.add(root.symbol)
        elif isinstance(statement, nodes.If):
            inner = is_split or self._splits(statement.condition)
            self._block(statement.then, inner)
            self._block(statement.otherwise, inner)
        elif isinstance(statement, nodes.For):
            inner = is_split or any(self._splits(one) for one in (statement.start, statement.stop, statement.step))
            if any(self.of(one) for one in (statement.start, statement.stop, statement.step)):
                self.symbols.add(statement.symbol)
            self._block(statement.body, inner)
        elif isinstance(statement, nodes.While):
            self._block(statement.body, is_split or self._splits(statement.condition))

    def _splits(self, condition: Expr) -> bool:
        return id(condition) not in self._passed and self.of(condition)


def placed(function: Function) -> frozenset[Function]:
    """Those of a function's callees that ask where their thread stands, themselves or through others."""
    found: set[Function] = set()
    for one in callees(function):  # callees before callers
        for node in walk(one.body):
            asks = isinstance(node, (nodes.ThreadIndex, nodes.Position))
            if asks or (isinstance(node, nodes.Call) and node.callee in found):
                found.add(one)
                break
    return frozenset(found)


def is_for_few(condition: Expr, dependence: Dependence) -> bool:
    """A condition that holds for the threads with one value of something alone, as `i == 0`."""
    if isinstance(condition, nodes.Logical) and condition.op == "and":
        return is_for_few(condition.left, dependence) or is_for_few(condition.right, dependence)
    return (
        isinstance(condition, nodes.Compare)
        and condition.op == "eq"
        and dependence.of(condition.left) != dependence.of(condition.right)
    )
