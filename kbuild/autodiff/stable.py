"""Variables that need not be saved, because the reverse sweep can compute them again where it needs them.

Such a variable is assigned once in the whole text, from what has the same value whenever it is looked at inside the
block of that assignment, and everything that reads it comes after it in that block.
"""

from __future__ import annotations

from kbuild.autodiff.cheap import may_run_again
from kbuild.autodiff.flat import Branch, Loop, Names, Set, Tree, looks_at
from kbuild.autodiff.needed import Slice, assigned, looked_at
from kbuild.intrinsics.table import has_effects
from kbuild.ir import nodes
from kbuild.ir.nodes import Symbol

_Place = tuple[tuple[int, ...], int]


class Stable:
    """`again` has the statements whose variable is computed again, by that variable."""

    def __init__(
        self,
        body: list[Tree],
        kept: Slice,
        reads_in_reverse: dict[int, Names],
        written: Names,
        constants: frozenset[Symbol],
    ) -> None:
        self.written, self.constants = written, constants
        self.counts: dict[Symbol, int] = {}
        self.first: dict[Symbol, _Place] = {}
        self.outside: set[Symbol] = set()  # read where the assignment does not reach
        self.loops: set[Symbol] = set()
        self.kept, self.reads_in_reverse = kept, reads_in_reverse
        self.number = 0
        self._assignments(body, ())
        self.number = 0
        self._reads(body, ())
        self.again: dict[Symbol, Set] = {}
        self._choose(body)

    def _assignments(self, body: list[Tree], path: tuple[int, ...]) -> None:
        for one in body:
            self.number += 1
            place = (path, self.number)
            symbol = assigned(one)
            if symbol is not None and self.kept.keeps(one):
                self.counts[symbol] = self.counts.get(symbol, 0) + 1
                self.first.setdefault(symbol, place)
            number = self.number
            if isinstance(one, Branch):
                self._assignments(one.then, (*path, number, 0))
                self._assignments(one.otherwise, (*path, number, 1))
            elif isinstance(one, Loop):
                if one.symbol is not None:
                    self.loops.add(one.symbol)
                if one.trips is not None:
                    self.counts[one.trips] = 2  # it counts
                self._assignments(one.body, (*path, number, 0))

    def _reads(self, body: list[Tree], path: tuple[int, ...]) -> None:
        for one in body:
            self.number += 1
            number = self.number
            names = self.reads_in_reverse.get(id(one), frozenset())
            if self.kept.keeps(one):
                names = names | looked_at(one)
            for name in names:
                if isinstance(name, Symbol) and name in self.first:
                    where, first = self.first[name]
                    if number <= first or path[: len(where)] != where:
                        self.outside.add(name)
            if isinstance(one, Branch):
                self._reads(one.then, (*path, number, 0))
                self._reads(one.otherwise, (*path, number, 1))
            elif isinstance(one, Loop):
                self._reads(one.body, (*path, number, 0))

    def _choose(self, body: list[Tree]) -> None:
        for one in body:
            if isinstance(one, Set) and self.kept.keeps(one) and isinstance(one.target, nodes.Read):
                symbol = one.target.symbol
                if self.counts[symbol] == 1 and symbol not in self.outside and self._is_stable(one):
                    self.again[symbol] = one
            elif isinstance(one, Branch):
                self._choose(one.then)
                self._choose(one.otherwise)
            elif isinstance(one, Loop):
                self._choose(one.body)

    def _is_stable(self, one: Set) -> bool:
        if isinstance(one.value, nodes.Intrinsic) and has_effects(one.value.name):
            return False
        if isinstance(one.value, nodes.Call):
            callee = one.value.callee
            if callee.gradient is not None and not may_run_again(callee):
                return False
        return all(
            (name not in self.written)
            if isinstance(name, str)
            else (name in self.constants or name in self.loops or name in self.again)
            for name in looks_at(one.value)
        )
