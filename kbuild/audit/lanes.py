"""Terms in numbers: what they are for every thread of a block at a launch that stands for all others.

Sizes that the launch gives are taken as round ones (`NOMINAL`), and what was taken for granted of them holds. Lanes of
a warp are in the same trip of a loop. What depends on contents of arrays has no numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from kbuild.audit.conditions import Condition, conjuncts
from kbuild.audit.contracts import Contracts
from kbuild.audit.places import Place
from kbuild.audit.terms import UNIFORM, Atom, Term

NOMINAL: Final = 1024  # of an extent or a number that the launch gives
NOMINAL_GRID: Final = 64
WIDE: Final = 1 << 40  # a larger factor could leave the integers of NumPy

Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]


class NoNumber(Exception):
    """It depends on contents of arrays, or on something else that has no number here."""


class Lanes:
    """Values for the threads `numbers` (in their block, x fastest; in the launch where there are no blocks).

    `trips` gives the number of the trip that each loop is in, for all threads or for each, `block` which block along x
    it is. Sizes are `nominal` where nothing else is known. `is_strict`: nothing but the place in the block has a
    number.
    """

    def __init__(
        self,
        place: Place,
        contracts: Contracts,
        numbers: Integers,
        trips: Callable[[Atom], int | Integers],
        block: int = 1,
        nominal: int = NOMINAL,
        is_strict: bool = False,
    ) -> None:
        self.place, self.contracts, self.numbers, self._trips = place, contracts, numbers, trips
        self.is_strict, self.nominal = is_strict, nominal
        self._atoms: dict[Atom, Any] = {}
        self._conditions: dict[Condition, Bools | None] = {}  # None: it has no numbers
        x, y, _ = place.blocks.shape
        axes = (numbers % x, numbers // x % y, numbers // (x * y))
        for term, values in zip(place.thread, axes, strict=True):
            for atom in term.atoms():
                self._atoms[atom] = values
        if not is_strict:
            self._place_blocks(block)

    def _place_blocks(self, block: int) -> None:
        for axis, term in enumerate(self.place.block):
            for atom in term.atoms():
                self._atoms[atom] = min(block, atom.high or 0) if axis == 0 else min(1, atom.high or 0)
        for term in self.place.grid:
            for atom in term.atoms():
                self._atoms[atom] = NOMINAL_GRID
        if not (self.place.is_whole and self.place.ndim == 1):
            left = self.numbers + block * self.place.blocks.size
            for axis in reversed(range(self.place.ndim)):
                for atom in self.place.coordinates[axis].atoms():
                    self._atoms[atom] = left % self.nominal if axis else left
                left = left // self.nominal
        for atom in self.place.lane.atoms():
            self._atoms[atom] = self.numbers % 32

    def term(self, term: Term) -> Integers:
        """A number for each thread. Raises NoNumber."""
        if not -WIDE < term.constant < WIDE or any(not -WIDE < n < WIDE for _, n in term.parts):
            raise NoNumber("a large factor")
        total = np.full(len(self.numbers), term.constant, np.int64)
        for monomial, n in term.parts:
            product: Any = n
            for atom in monomial:
                product = product * self.atom(atom)
            total = total + product
        return total

    def atom(self, atom: Atom) -> Any:
        """The same for an atom."""
        if atom not in self._atoms:
            self._atoms[atom] = self._symbol(atom) if atom.kind == "symbol" else self._operation(atom)
        return self._atoms[atom]

    def _symbol(self, atom: Atom) -> int | Integers:
        if atom.taint or self.is_strict:
            raise NoNumber(atom.name)
        if atom.name.endswith("#"):
            return self._trips(atom)
        if atom.level != UNIFORM:
            raise NoNumber(atom.name)
        return self._size(atom)

    def _size(self, atom: Atom) -> int:
        """A size of the launch: what is taken for granted of it, else a round one."""
        self._atoms[atom] = self.nominal  # should it be said of itself
        for extent, least in self.contracts.known.items():
            if [*extent.atoms()] == [atom]:
                return max(int(self.term(one).max()) for one in least)
        return self.nominal if atom.high is None or atom.high >= self.nominal else atom.high

    def _operation(self, atom: Atom) -> Any:
        if atom.kind in ("load", "call", "convert"):
            raise NoNumber(atom.kind)
        if atom.kind == "ite":
            condition, then, otherwise = atom.arguments
            return np.where(self.condition(condition), self.term(then), self.term(otherwise))
        a, b = (self.term(one) if isinstance(one, Term) else one for one in atom.arguments)
        match atom.kind:
            case "div":
                return a // b
            case "mod":
                return a % b
            case "min":
                return np.minimum(a, b)
            case "product":
                return a * b
            case "and":
                return a & b
            case "or":
                return a | b
            case "xor":
                return a ^ b
            case "shl":
                return a << np.clip(b, 0, 62)
            case "shr":
                return a >> np.clip(b, 0, 62)
        if np.any(b == 0):
            raise NoNumber(atom.kind)
        quotient = np.abs(a) // np.abs(b) * np.sign(a) * np.sign(b)
        if atom.kind in ("quotient", "truncated", "any div"):
            return quotient
        if atom.kind in ("remainder", "any mod"):
            return a - b * quotient
        raise NoNumber(atom.kind)

    def condition(self, condition: Condition) -> Bools:
        """Whether it holds for each thread. Raises NoNumber."""
        if condition not in self._conditions:
            try:
                self._conditions[condition] = self._condition(condition)
            except NoNumber:
                self._conditions[condition] = None
        found = self._conditions[condition]
        if found is None:
            raise NoNumber(condition.kind)
        return found

    def _condition(self, condition: Condition) -> Bools:
        match condition.kind:
            case "true" | "false":
                return np.full(len(self.numbers), condition.kind == "true")
            case "le" | "eq" | "ne":
                assert condition.term is not None
                value = self.term(condition.term)
                return value <= 0 if condition.kind == "le" else value == 0 if condition.kind == "eq" else value != 0
            case "opaque":
                raise NoNumber(condition.kind)
        parts = [self.condition(one) for one in condition.parts]
        found: Bools = np.logical_and.reduce(parts) if condition.kind == "and" else np.logical_or.reduce(parts)
        return found

    def active(self, path: Condition) -> Bools:
        """Who is on a path; who may be, where that depends on contents of arrays."""
        return self.split(path)[0]

    def split(self, path: Condition) -> tuple[Bools, set[Condition]]:
        """Who may be on a path, and the conditions on it that have no numbers."""
        found = np.full(len(self.numbers), True)
        unclear: set[Condition] = set()
        for one in conjuncts(path):
            try:
                found &= self.condition(one)
            except NoNumber:
                unclear.add(one)
        return found, unclear


def of_block(place: Place) -> Lanes:
    """Every thread of a block, and nothing that a launch could have otherwise."""
    return Lanes(place, Contracts(), np.arange(place.blocks.size, dtype=np.int64), trip(0), is_strict=True)


def trip(number: int) -> Callable[[Atom], int]:
    """All loops are in this trip."""
    return lambda _: number
