"""What the forward sweep must save: values that the reverse sweep reads and that something overwrites before.

The analysis is "to be recorded" of Hascoët and Pascual (The Tapenade automatic differentiation tool, ACM TOMS 39(3),
2013): it walks forward with the set of variables and arrays whose current value the reverse of what was passed reads.
"""

from __future__ import annotations

from kbuild.autodiff.flat import NONE, Branch, Loop, Names, Set, Tree, every, in_memory, looks_at, looks_at_in_target
from kbuild.autodiff.needed import Slice, assigned, overwritten, stored
from kbuild.autodiff.result import Undifferentiable
from kbuild.ir import nodes
from kbuild.ir.nodes import Symbol


class Recorded:
    """`saved` holds the statements before which what they overwrite is saved."""

    def __init__(
        self, body: list[Tree], kept: Slice, reads: dict[int, Names], again: frozenset[Symbol], everything: bool = False
    ) -> None:
        self.kept, self.reads, self.again, self.everything = kept, reads, again, everything
        self.saved: set[int] = set()
        self.heads: dict[int, Names] = {}
        size = -1
        while size != len(self.saved):  # a block that puts something back asks for its condition
            size = len(self.saved)
            self.block(body, NONE)

    def goes_back(self, body: list[Tree]) -> bool:
        """The reverse sweep has something to do in a block."""
        return any(id(one) in self.reads or id(one) in self.saved for one in every(body))

    def block(self, body: list[Tree], needed: Names) -> Names:
        for one in body:
            needed = self.statement(one, needed)
        return needed

    def statement(self, one: Tree, needed: Names) -> Names:
        needed = needed | (self.reads.get(id(one), NONE) - self.again)
        if isinstance(one, Branch):
            inner = self.block(one.then, needed) | self.block(one.otherwise, needed)
            asks = self.goes_back(one.then) or self.goes_back(one.otherwise)
            return inner | looks_at(one.condition) - self.again if asks else inner
        if isinstance(one, Loop):
            head = self.heads.get(id(one), NONE) | needed
            while True:
                inner = self.block(one.body, head) | head
                if inner == head:
                    break
                head = inner
            self.heads[id(one)] = head
            bounds = looks_at(one.start, one.stop) | ({one.trips} if one.trips is not None else NONE)
            return head | bounds - self.again if self.goes_back(one.body) else head
        if not self.kept.keeps(one):
            return needed
        symbol, changed = assigned(one), stored(one)
        if symbol is not None and symbol not in self.again:
            assert isinstance(one, Set)
            if symbol in needed or self.everything:
                self.saved.add(id(one))
                needed = needed | (looks_at_in_target(one.target) - self.again)
            if isinstance(one.target, nodes.Read):
                needed = needed - {symbol}
        if changed and (changed & needed or self.everything):
            place = overwritten(one)
            if place is None or in_memory(place) is None:
                raise Undifferentiable(
                    "this call changes an array whose values before it are needed by the adjoint",
                    one.span,
                    "give the new values back as results instead",
                )
            self.saved.add(id(one))
            needed = needed | (looks_at_in_target(place) - self.again)
        return needed
