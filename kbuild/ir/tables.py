"""The tables of constants that functions read."""

from __future__ import annotations

from collections.abc import Iterable

from kbuild.ir import nodes
from kbuild.ir.nodes import Function, Table
from kbuild.ir.traverse import callees, walk
from kbuild.ir.types import Type


def tables_in(functions: Iterable[Function]) -> list[Table]:
    """The tables that functions and their callees read, each once, in the order of their first use."""
    found: dict[tuple[Type, bytes], Table] = {}
    for function in functions:
        for one in [*callees(function), function]:
            for node in walk(one.body):
                if isinstance(node, nodes.Table):
                    found.setdefault((node.type, node.data), node)
    return list(found.values())
