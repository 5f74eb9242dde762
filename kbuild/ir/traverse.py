"""One traversal and one rewriter for all nodes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, TypeVar

from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Function, Node, Stmt

N = TypeVar("N", bound=Node)


_FIELDS: dict[type[Any], tuple[str, ...]] = {}


def _node_fields(kind: type[Any]) -> tuple[str, ...]:
    """Names of a node class's fields that hold nodes or tuples of nodes."""
    if kind not in _FIELDS:
        apart = {"span", "type", "symbol", "callee", "op", "field", "axis", "ndim", "index", "name", "what"}
        apart |= {
            "pieces",
            "owner",
            "number",
            "text",
            "line",
            "has_body",
            "is_together",
            "of_cluster",
            "order",
            "scope",
            "cache",
            "data",
        }
        if kind is nodes.Const:
            apart = apart | {"value"}
        _FIELDS[kind] = tuple(f.name for f in dataclasses.fields(kind) if f.name not in apart)
    return _FIELDS[kind]


def children(node: Node) -> Iterator[Node]:
    """Direct sub-nodes in order of evaluation; a callee's body is not a child."""
    for name in _node_fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, tuple):
            yield from value
        elif value is not None:
            yield value


def walk(root: Node | tuple[Stmt, ...]) -> Iterator[Node]:
    """The node and everything below it, parents first."""
    # A third of lowering is spent here: one generator, and no other inside it.
    waiting: list[Node] = list(reversed(root)) if isinstance(root, tuple) else [root]
    while waiting:
        node = waiting.pop()
        yield node
        for name in reversed(_node_fields(type(node))):
            value = getattr(node, name)
            if isinstance(value, tuple):
                waiting.extend(reversed(value))
            elif value is not None:
                waiting.append(value)


def callees(function: Function) -> list[Function]:
    """Functions that a function reaches through calls, callees before callers, each once; not itself."""
    return _ordered(function, _calls)


def reached(function: Function) -> list[Function]:
    """The same through calls, gradients and replays: what a function may become part of its adjoint."""
    return _ordered(function, lambda one: (*_calls(one), *derivatives_of(one)))


def derivatives_of(function: Function) -> tuple[Function, ...]:
    """A function's own gradient and replay, if it has them."""
    return tuple(one for one in (function.gradient, function.replay) if one is not None)


def _ordered(function: Function, inner: Callable[[Function], tuple[Function, ...]]) -> list[Function]:
    order: list[Function] = []
    seen: set[Function] = set()

    def visit(one: Function) -> None:
        for callee in inner(one):
            if callee not in seen:
                seen.add(callee)
                visit(callee)
                order.append(callee)

    visit(function)
    return order


@lru_cache(maxsize=1024)
def _calls(function: Function) -> tuple[Function, ...]:
    """What a function itself calls, in the order of its first calls. (Functions never change.)"""
    return tuple(dict.fromkeys(node.callee for node in walk(function.body) if isinstance(node, nodes.Call)))


def rewrite(root: N, change: Callable[[Node], Node]) -> N:
    """The tree with `change` applied to every node, children first; unchanged nodes are kept, not copied."""
    updates: dict[str, Any] = {}
    for name in _node_fields(type(root)):
        old = getattr(root, name)
        if isinstance(old, tuple):
            new: Any = tuple(rewrite(child, change) for child in old)
            changed = any(a is not b for a, b in zip(old, new, strict=True))
        else:
            new = None if old is None else rewrite(old, change)
            changed = new is not old
        if changed:
            updates[name] = new
    return change(dataclasses.replace(root, **updates) if updates else root)  # type: ignore[return-value]


def rewrite_functions(root: Function, change: Callable[[Node], Node]) -> Function:
    """A function and everything it reaches, rewritten; calls lead to the rewritten callees."""
    done: dict[Function, Function] = {}

    def redirect(node: Node) -> Node:
        if isinstance(node, nodes.Call):
            node = dataclasses.replace(node, callee=done[node.callee])
        return change(node)

    for function in [*reached(root), root]:
        body = tuple(rewrite(statement, redirect) for statement in function.body)
        gradient, replay = (None if one is None else done[one] for one in (function.gradient, function.replay))
        done[function] = dataclasses.replace(function, body=body, gradient=gradient, replay=replay)
    return done[root]


def root_of(place: Expr) -> Expr:
    """The symbol or array element that a place lies in."""
    while isinstance(place, (nodes.Component, nodes.Member)):
        place = place.base
    return place


def own_expressions(stmt: Stmt) -> list[Expr]:
    """What a statement itself evaluates, in order; the statements in it are not part of that."""
    match stmt:
        case nodes.Assign(target, value):
            return [value, target]
        case nodes.Evaluate(value):
            return [value]
        case nodes.Print(_, arguments):
            return list(arguments)
        case nodes.If(condition, _, _) | nodes.While(condition, _) | nodes.Assert(condition) | nodes.Assume(condition):
            return [condition]
        case nodes.For(_, start, stop, step, _):
            return [start, stop, step]
        case nodes.Native(inputs=inputs, adjoints=adjoints):
            return [*inputs, *adjoints]
        case nodes.Return(value) if value is not None:
            return [value]
        case nodes.Barrier(mask) if mask is not None:
            return [mask]
    return []


def inner_blocks(stmt: Stmt) -> list[tuple[Stmt, ...]]:
    """The blocks in a statement."""
    match stmt:
        case nodes.If(_, then, otherwise):
            return [then, otherwise]
        case nodes.For(_, _, _, _, body) | nodes.While(_, body):
            return [body]
    return []
