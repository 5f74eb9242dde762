"""The one traversal and the one rewriter."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from kbuild.ir import nodes
from kbuild.ir.traverse import callees, children, rewrite, rewrite_functions, walk
from tests.helpers import kernels

TEXT = """
    @kb.func
    def inner(x: float):
        return x + 1.0

    @kb.func
    def middle(x: float):
        return inner(x) * inner(x)

    @kb.kernel
    def k(a: kb.array(dtype=float), n: int):
        for i in range(n):
            if a[i] > 0.5:
                a[i] = middle(a[i]) + inner(2.0)
        while n > 0:
            n -= 1
"""


def test_every_node_class_is_listed_and_final() -> None:
    listed = {*nodes.EXPRESSIONS, *nodes.STATEMENTS}
    defined = {c for c in vars(nodes).values() if dataclasses.is_dataclass(c) and c.__module__ == nodes.__name__}
    assert defined == listed | {nodes.Symbol, nodes.Function, nodes.Kernel}
    assert [c for c in defined if c.__subclasses__()] == []
    assert all(c.__dataclass_params__.frozen and "__slots__" in vars(c) for c in defined)


def test_callees_come_before_callers_once(tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(tmp_path, TEXT)
    assert [f.name for f in callees(kernel.function)] == ["inner", "middle"]


def test_walk_meets_children_after_their_parent(tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(tmp_path, TEXT)
    order = {id(node): position for position, node in enumerate(walk(kernel.function.body))}
    for node in walk(kernel.function.body):
        assert all(order[id(child)] > order[id(node)] for child in children(node))


def test_rewriting_nothing_keeps_the_tree(tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(tmp_path, TEXT)
    for statement in kernel.function.body:
        assert rewrite(statement, lambda node: node) is statement


def test_rewriting_reaches_every_function(tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(tmp_path, TEXT)

    def doubled(node: nodes.Node) -> nodes.Node:
        is_number = isinstance(node, nodes.Const) and isinstance(node.value, float)
        return dataclasses.replace(node, value=2 * node.value) if is_number else node

    changed = rewrite_functions(kernel.function, doubled)
    found = {n.value for f in [changed, *callees(changed)] for n in walk(f.body) if isinstance(n, nodes.Const)}
    assert {2.0, 1.0, 4.0} <= found
    assert 0.5 not in found
    calls = [n.callee for n in walk(changed.body) if isinstance(n, nodes.Call)]
    assert set(calls) <= set(callees(changed))
