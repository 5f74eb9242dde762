"""Conditions of branches as variables, and counts of trips: the reverse sweep decides by what was saved."""

from __future__ import annotations

from kbuild.autodiff.flat import Branch, Loop, Set, Tree, fresh, int_const, map_blocks, read
from kbuild.ir.nodes import Const
from kbuild.ir.types import BOOL, INT32


def named(body: list[Tree]) -> list[Tree]:
    """The block with a variable for every condition that is no constant, and one for trips that nothing else tells."""

    def block(inner: list[Tree]) -> list[Tree]:
        made: list[Tree] = []
        for one in inner:
            if isinstance(one, Branch) and not isinstance(one.condition, Const):
                condition = fresh("condition", BOOL)
                made.append(Set(read(condition), one.condition, one.span))
                one.condition = read(condition)
            elif isinstance(one, Loop) and one.condition is not None:
                one.trips = fresh("trips", INT32)
                made.append(Set(read(one.trips), int_const(0), one.span))
            made.append(one)
        return made

    map_blocks(body, block)
    return block(body)
