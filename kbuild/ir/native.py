"""Kernels that call functions in CUDA C++, as the simulator takes them: by the Python bodies that go with the texts."""

from __future__ import annotations

from dataclasses import replace

from kbuild.ir import nodes
from kbuild.ir.nodes import Function, Kernel, Stmt
from kbuild.ir.traverse import reached, rewrite


def statement_of(function: Function) -> nodes.Native | None:
    """The text in CUDA C++ that a function is, or has behind the zeros of what it adds to."""
    return next((one for one in function.body if isinstance(one, nodes.Native)), None)


def by_their_bodies(kernel: Kernel) -> Kernel:
    """The kernel with every text in CUDA C++ that has a Python body replaced by that: its gradient too is then made of
    it. Functions without a body stay, and cannot be run.
    """
    functions = [*reached(kernel.function), kernel.function]
    if not any(statement_of(one) for one in functions):
        return kernel
    done: dict[Function, Function] = {}

    def redirect(node: nodes.Node) -> nodes.Node:
        return replace(node, callee=done[node.callee]) if isinstance(node, nodes.Call) else node

    for function in functions:
        found = statement_of(function)
        body: tuple[Stmt, ...] = function.body
        gradient, replay = function.gradient, function.replay
        if found is not None and found.has_body:
            body = found.body
            gradient, replay = (one if one is None or statement_of(one) is None else None for one in (gradient, replay))
        body = tuple(rewrite(statement, redirect) for statement in body)
        gradient, replay = (None if one is None else done[one] for one in (gradient, replay))
        done[function] = replace(function, body=body, gradient=gradient, replay=replay)
    return replace(kernel, function=done[kernel.function])
