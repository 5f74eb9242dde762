"""Blocks that run in clusters: `@kb.kernel(cluster_dim=4)`, `kb.cluster_rank()`, `kb.cluster_array(tile, rank)`.

What a function asks of the cluster has a meaning in kernels with a `cluster_dim` alone. `kb.cluster_sync()`, a barrier,
is a statement of `blocks`.
"""

from __future__ import annotations

import ast

from kbuild.ir import nodes
from kbuild.ir.nodes import Const, Expr
from kbuild.ir.types import INT32, Distributed
from kbuild.ir.verify import distributed
from kbuild.lang.context import Context
from kbuild.lang.operands import Operand, Untyped, describe

NAMES = frozenset({"cluster_array", "cluster_dim", "cluster_rank"})


def dim(ctx: Context, name: str, node: ast.AST) -> int:
    """Blocks of a cluster of the kernel."""
    kernel = ctx.program.kernel
    found = kernel.options.get("cluster_dim")
    if found is None:
        text = f"kb.{name} works with the blocks of a cluster, and {kernel.__name__} does not run in clusters"
        ctx.refuse("KB187", text, node, "say how many blocks make up one: `@kb.kernel(cluster_dim=4)`")
    assert isinstance(found, int)
    return found


def call(ctx: Context, name: str, node: ast.Call) -> Operand:
    """What the cluster is to the block, or an array of another block's."""
    count, span = dim(ctx, name, node), ctx.span(node)
    if name == "cluster_array":
        return _array(ctx, node, count)
    if node.args or node.keywords:
        ctx.refuse("KB130", f"kb.{name} takes no arguments, not {len(node.args) + len(node.keywords)}", node)
    if name == "cluster_dim":
        return Const(count, INT32, span)
    return nodes.Position(name, None, INT32, span)


def _array(ctx: Context, node: ast.Call, count: int) -> Expr:
    """`kb.cluster_array(tile, rank)`."""
    names = ("array", "rank")
    given: dict[str | None, ast.expr] = dict(zip(names, node.args, strict=False))
    is_wrong = len(node.args) > len(names) or any(isinstance(one, ast.Starred) for one in node.args)
    if is_wrong or any(k.arg not in names or k.arg in given for k in node.keywords):
        ctx.refuse("KB130", "kb.cluster_array(array, rank)", node)
    given.update((k.arg, k.value) for k in node.keywords)
    if len(given) != len(names):
        ctx.refuse("KB130", "kb.cluster_array(array, rank) takes both", node)
    array, rank = ctx.operands([given["array"], given["rank"]])
    found = getattr(array, "type", None)
    type = None if found is None else distributed(found)
    if type is None:
        is_there = isinstance(found, Distributed)
        text = "it is in the shared memory of another block already" if is_there else f"not {describe(array)}"
        help = "declare one, `tile = kb.shared_array(256, float)`, and ask for it: `kb.cluster_array(tile, rank)`"
        ctx.refuse("KB188", f"kb.cluster_array wants an array in shared memory: {text}", given["array"], help)
    if isinstance(rank, Untyped) and isinstance(rank.value, int) and not 0 <= rank.value < count:
        text = f"a cluster of {count} blocks has the ranks 0 to {count - 1}, not {rank.value}"
        ctx.refuse("KB188", text, given["rank"])
    typed = ctx.coerce(rank, INT32, given["rank"], "the rank of kb.cluster_array")
    return nodes.Elsewhere(ctx.typed(array, given["array"]), typed, type, ctx.span(node))
