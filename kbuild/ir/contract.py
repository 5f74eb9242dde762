"""Contraction: the one place that decides which product and sum are rounded together.

The rule, on the typed primal, expression by expression (never across a statement):

    x + a * b  →  fma(a, b, x)          x - a * b  →  fma(-a, b, x)
    a * b + x  →  fma(a, b, x)          a * b - x  →  fma(a, b, -x)

Where both operands are products the right one is fused, so a sum of products runs left to right:
`x*x + y*y + z*z` is `fma(z, z, fma(y, y, x*x))`. float32 and float64, also element by element; float16 and integers are
left alone. Compilers get `-fmad=false`, so nothing else is ever fused.
"""

from __future__ import annotations

import dataclasses

from kbuild.ir.nodes import Binary, Expr, Fma, Function, Kernel, Node, Unary
from kbuild.ir.traverse import rewrite_functions
from kbuild.ir.types import FLOAT32, FLOAT64, element_of


def contract(kernel: Kernel) -> Kernel:
    """The kernel with its multiply-adds as explicit nodes; the same kernel where it was made with `fmad=False`."""
    if not kernel.fmad:
        return kernel
    return dataclasses.replace(kernel, function=contract_function(kernel.function))


def contract_function(function: Function) -> Function:
    """The same for one function and its callees."""
    return rewrite_functions(function, _fuse)


def _fuse(node: Node) -> Node:
    if not isinstance(node, Binary) or node.op not in ("add", "sub"):
        return node
    if element_of(node.type) not in (FLOAT32, FLOAT64):
        return node
    negate = node.op == "sub"
    if product := _product(node.right):
        a, b = product
        return Fma(_negated(a) if negate else a, b, node.left, node.type, node.span)
    if product := _product(node.left):
        a, b = product
        return Fma(a, b, _negated(node.right) if negate else node.right, node.type, node.span)
    return node


def _product(expr: Expr) -> tuple[Expr, Expr] | None:
    """The factors, the one of the result's type first."""
    if not isinstance(expr, Binary) or expr.op != "mul":
        return None
    return (expr.left, expr.right) if expr.left.type == expr.type else (expr.right, expr.left)


def _negated(expr: Expr) -> Expr:
    return Unary("neg", expr, expr.type, expr.span)
