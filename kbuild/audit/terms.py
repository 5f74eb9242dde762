"""Integers of a kernel as polynomials over what is not known while building.

    i = 16 * by + y   →   Term(0, (((by,), 16), ((y,), 1)))

Arithmetic is that of whole numbers, not of 32 bits; what could wrap is an obligation of its own (`overflow`). What no
polynomial expresses is an atom: a floored division by a constant, a minimum, an element of an array. Equal atoms are
one object, so that terms can be compared.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

# Who may see another value than its neighbour: nobody in a launch, the blocks, the threads.
UNIFORM, BLOCK, THREAD = 0, 1, 2

# What a value depends on beside the launch and the thread's place in it.
DATA: Final = 1  # the contents of arrays that the launch gives
SYNC: Final = 2  # what threads have told one another: atomics, shared memory, arrays that the kernel stores to
LOOP: Final = 4  # an iteration before, in a way that is not known
STORED: Final = 256  # this bit and those above: an array that the kernel stores to, each its own

DEEPEST_TEXT: Final = 4  # of atoms within atoms: what they share would be written many times
MOST_PARTS: Final = 64  # a longer polynomial becomes an atom that nothing is known of

_numbers = itertools.count()


class _Table(threading.local):
    def __init__(self) -> None:
        self.atoms: dict[Any, Atom] = {}
        self.keys: dict[Any, Key] = {}
        self.depth = 0  # of atoms within atoms that are being written


_table = _Table()


class Atom:
    """`kind` "symbol" (named by `name`), or an operation on `arguments`; `low` and `high` bound it (None: not).

    `unique` is the counter from which an atomic has taken the value: no two threads get the same from one element.
    """

    __slots__ = ("arguments", "high", "kind", "level", "limits", "low", "name", "number", "taint", "unique")

    def __init__(
        self,
        kind: str,
        name: str,
        arguments: tuple[Any, ...],
        low: int | None,
        high: int | None,
        level: int,
        taint: int,
    ) -> None:
        self.kind, self.name, self.arguments = kind, name, arguments
        self.low, self.high, self.level, self.taint = low, high, level, taint
        self.limits: Range = (low, high)  # of its type; `low` and `high` may be narrower
        self.unique: object = None
        self.number = next(_numbers)

    def __repr__(self) -> str:
        if self.kind == "symbol":
            return self.name
        if _table.depth >= DEEPEST_TEXT:
            return "…"
        _table.depth += 1
        try:
            inner = ", ".join(map(repr, self.arguments))
        finally:
            _table.depth -= 1
        return f"{self.name}[{inner}]" if self.kind == "load" else f"{self.kind}({inner})"


class Key:
    """What a value is of which nothing else is known: a name, and what it is made of.

    Equal keys are one object: those of a long computation share most of their parts, and whoever compared or hashed
    these each time would walk through all ways that lead to them.
    """

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[Any, ...]) -> None:
        self.parts = parts

    def __repr__(self) -> str:
        if _table.depth >= DEEPEST_TEXT:
            return "…"
        _table.depth += 1
        try:
            name, *rest = map(str, self.parts)
        finally:
            _table.depth -= 1
        return f"{name}({', '.join(rest)})"


Monomial: TypeAlias = "tuple[Atom, ...]"


class Term:
    """A polynomial with integer coefficients: `constant`, and `parts` of (monomial, coefficient), in their order."""

    __slots__ = ("_hash", "_level", "constant", "parts")

    def __init__(self, constant: int, parts: tuple[tuple[Monomial, int], ...]) -> None:
        self.constant, self.parts = constant, parts
        self._hash = hash((constant, parts))
        self._level = -1

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Term) and (self.constant, self.parts) == (other.constant, other.parts)

    @property
    def is_constant(self) -> bool:
        return not self.parts

    @property
    def level(self) -> int:
        """Who may see another value: the most of its atoms."""
        if self._level < 0:
            self._level = max((atom.level for atom in self.atoms()), default=UNIFORM)
        return self._level

    @property
    def taint(self) -> int:
        found = 0
        for atom in self.atoms():
            found |= atom.taint
        return found

    def atoms(self) -> Iterator[Atom]:
        """The atoms of its monomials, perhaps several times; not those inside of atoms."""
        for monomial, _ in self.parts:
            yield from monomial

    def __add__(self, other: Term | int) -> Term:
        if isinstance(other, int):
            return Term(self.constant + other, self.parts) if other else self
        if not other.parts:
            return self + other.constant
        if not self.parts:
            return other + self.constant
        return _sum(self.constant + other.constant, itertools.chain(self.parts, other.parts))

    def __sub__(self, other: Term | int) -> Term:
        return self + -other

    def __neg__(self) -> Term:
        return self.times(-1)

    def times(self, factor: int) -> Term:
        """The product with a constant."""
        if factor == 1:
            return self
        if factor == 0:
            return ZERO
        return Term(self.constant * factor, tuple((monomial, n * factor) for monomial, n in self.parts))

    def __mul__(self, other: Term) -> Term:
        if not other.parts:
            return self.times(other.constant)
        if not self.parts:
            return other.times(self.constant)
        if len(self.parts) * len(other.parts) > MOST_PARTS:
            return of(atom("product", (self, other), None, None))
        parts = [
            (tuple(sorted(one + two, key=_by_number)), n * m)
            for one, n in (*self.parts, ((), self.constant))
            for two, m in (*other.parts, ((), other.constant))
        ]
        return _sum(0, parts)

    def __repr__(self) -> str:
        return text(self)


def _by_number(atom: Atom) -> int:
    return atom.number


def _sum(constant: int, parts: Any) -> Term:
    found: dict[Monomial, int] = {}
    for monomial, n in parts:
        if not monomial:
            constant += n
        else:
            found[monomial] = found.get(monomial, 0) + n
    kept = [(monomial, n) for monomial, n in found.items() if n]
    if any(len(monomial) == 1 and monomial[0].kind == "mod" for monomial, _ in kept):
        constant, kept = _joined(constant, kept)
    kept.sort(key=_order)
    return Term(constant, tuple(kept))


def _order(part: tuple[Monomial, int]) -> tuple[int, ...]:
    return tuple(atom.number for atom in part[0])


def _joined(constant: int, parts: list[tuple[Monomial, int]]) -> tuple[int, list[tuple[Monomial, int]]]:
    """`c * k * (t div k) + c * (t mod k)` is `c * t`."""
    found = dict(parts)
    for monomial, n in parts:
        if len(monomial) != 1 or monomial[0].kind != "mod":
            continue
        term, k = monomial[0].arguments
        quotient = (atom("div", (term, k), None, None),)
        if found.get(quotient) == n * k and monomial in found:
            del found[quotient], found[monomial]
            rest = _sum(constant, itertools.chain(found.items(), term.times(n).parts))
            return rest.constant + term.constant * n, list(rest.parts)
    return constant, list(found.items())


ZERO: Final = Term(0, ())
ONE: Final = Term(1, ())


def number(value: int) -> Term:
    """A constant."""
    return Term(value, ())


def of(one: Atom) -> Term:
    """The value of an atom."""
    return Term(0, (((one,), 1),))


def symbol(name: str, low: int | None, high: int | None, level: int, taint: int = 0) -> Atom:
    """Something new that is not known."""
    return Atom("symbol", name, (), low, high, level, taint)


def atom(kind: str, arguments: tuple[Any, ...], low: int | None, high: int | None, name: str = "") -> Atom:
    """An operation on terms (and constants, and conditions): the same object for the same operation.

    `low` and `high` are those of its type, where it has one. An atom stands for its operation on every path, so what is
    known of one path never bounds it: `Facts` does that.
    """
    key = (kind, name, arguments)
    found = _table.atoms.get(key)
    if found is None:
        level = max((one.level for one in arguments if hasattr(one, "level")), default=UNIFORM)
        taint = 0
        for one in arguments:
            taint |= getattr(one, "taint", 0)
        found = _table.atoms[key] = Atom(kind, name, arguments, low, high, level, taint)
        found.low, found.high = narrower(found.limits, range_of_operation(kind, arguments, natural_range))
    return found


def key(*parts: Any) -> Key:
    """The same object for the same parts: strings, numbers, terms, conditions, atoms, other keys."""
    found = _table.keys.get(parts)
    if found is None:
        found = _table.keys[parts] = Key(parts)
    return found


def forget() -> None:
    """Atoms and keys of the last kernel go."""
    _table.atoms.clear()
    _table.keys.clear()


# Ranges: (low, high), None where there is none.

Range: TypeAlias = "tuple[int | None, int | None]"
RangeOf: TypeAlias = "Callable[[Term], Range]"
_ANY: Final[Range] = (None, None)


def natural_range(term: Term) -> Range:
    """The range of a term on every path, from those of its atoms."""
    total: Range = (term.constant, term.constant)
    for monomial, n in term.parts:
        product: Range = (n, n)
        for one in monomial:
            product = product_range(product, (one.low, one.high))
        total = sum_range(total, product)
    return total


def sum_range(a: Range, b: Range) -> Range:
    """Of a sum."""
    return (
        None if a[0] is None or b[0] is None else a[0] + b[0],
        None if a[1] is None or b[1] is None else a[1] + b[1],
    )


def product_range(a: Range, b: Range) -> Range:
    """Of a product."""
    (a_low, a_high), (b_low, b_high) = a, b
    if a_low is not None and a_low == a_high:
        a, b, (a_low, a_high), (b_low, b_high) = b, a, b, a
    if b_low is not None and b_low == b_high:
        one = None if a_low is None else a_low * b_low
        two = None if a_high is None else a_high * b_low
        return (0, 0) if b_low == 0 else (one, two) if b_low > 0 else (two, one)
    if a_low is not None and a_high is not None and b_low is not None and b_high is not None:
        corners = (a_low * b_low, a_low * b_high, a_high * b_low, a_high * b_high)
        return min(corners), max(corners)
    if a_low is not None and a_low >= 0 and b_low is not None and b_low >= 0:
        return a_low * b_low, None
    return _ANY


def narrower(a: Range, b: Range) -> Range:
    """What is in both."""
    low = b[0] if a[0] is None else a[0] if b[0] is None else max(a[0], b[0])
    high = b[1] if a[1] is None else a[1] if b[1] is None else min(a[1], b[1])
    return low, high


def range_of_operation(kind: str, arguments: tuple[Any, ...], range_of: RangeOf) -> Range:
    """The range of an operation's result, by those of its operands."""
    match kind:
        case "div":
            low, high = range_of(arguments[0])
            return None if low is None else low // arguments[1], None if high is None else high // arguments[1]
        case "mod":
            low, high = range_of(arguments[0])
            most = arguments[1] - 1
            return 0, min(most, high) if low is not None and low >= 0 and high is not None else most
        case "ite":
            (low, high), (least, most) = range_of(arguments[1]), range_of(arguments[2])
            return (
                None if low is None or least is None else min(low, least),
                None if high is None or most is None else max(high, most),
            )
    if kind not in _OF_TWO:
        return _ANY
    a, b = range_of(arguments[0]), range_of(arguments[1])
    return _OF_TWO[kind](a, b)


def _range_of_minimum(a: Range, b: Range) -> Range:
    highs = [one for one in (a[1], b[1]) if one is not None]
    return None if a[0] is None or b[0] is None else min(a[0], b[0]), min(highs) if highs else None


def _range_of_quotient(a: Range, b: Range) -> Range:
    """Towards zero, by whatever is not zero: never further from zero than what is divided."""
    low, high = a
    if low is not None and low >= 0 and b[0] is not None and b[0] >= 0:
        return 0, high
    if low is None or high is None:
        return _ANY
    most = max(abs(low), abs(high))
    return (min(low, 0), max(high, 0)) if b[0] is not None and b[0] >= 0 else (-most, most)


def _range_of_remainder(a: Range, b: Range) -> Range:
    """Of that quotient: has the sign of what is divided, and is nearer to zero than what divides."""
    sizes: list[int] = []
    for (low, high), less in ((a, 0), (b, 1)):
        if low is not None and high is not None:
            sizes.append(max(abs(low), abs(high)) - less)
    most = max(0, min(sizes)) if sizes else None
    low, high = a
    least = 0 if low is not None and low >= 0 else None if most is None else -most
    return least, 0 if high is not None and high <= 0 else most


def _range_of_and(a: Range, b: Range) -> Range:
    positive = [one for one in (a, b) if one[0] is not None and one[0] >= 0]
    highs = [high for _, high in positive if high is not None]
    return (0 if positive else None), (min(highs) if highs else None)


def _range_of_digits(a: Range, b: Range) -> Range:
    """Of `or` and `xor`."""
    if a[0] is None or b[0] is None or a[0] < 0 or b[0] < 0:
        return _ANY
    return 0, None if a[1] is None or b[1] is None else 2 ** max(a[1], b[1]).bit_length() - 1


def _range_of_shr(a: Range, b: Range) -> Range:
    return None if a[0] is None else min(a[0], 0), None if a[1] is None else max(a[1], 0)


def _range_of_shl(a: Range, b: Range) -> Range:
    if b[0] is None or b[1] is None or b[0] < 0 or b[1] > MOST_SHIFT:
        return _ANY
    return product_range(a, (1 << b[0], 1 << b[1]))


MOST_SHIFT: Final = 64
_OF_TWO: Final[dict[str, Callable[[Range, Range], Range]]] = {
    "product": product_range,
    "min": _range_of_minimum,
    "quotient": _range_of_quotient,
    "truncated": _range_of_quotient,
    "remainder": _range_of_remainder,
    "and": _range_of_and,
    "or": _range_of_digits,
    "xor": _range_of_digits,
    "shr": _range_of_shr,
    "shl": _range_of_shl,
}
OPERATIONS: Final = frozenset({"div", "mod", "ite", *_OF_TWO})  # whose range follows from their operands'


# Operations. Bounds of the operands decide what can be simplified: `range_of` gives (low, high) of a term.


def floor_div(term: Term, k: int, range_of: RangeOf) -> Term:
    """The quotient by a constant k > 0, rounded down."""
    if k == 1:
        return term
    if not term.parts:
        return number(term.constant // k)
    whole, rest = _split(term, k, range_of)
    if rest is None:
        return whole
    low, high = range_of(rest)
    if low is not None and high is not None and low // k == high // k:
        return whole + low // k
    inner = _nested(rest, k)
    if inner is not None:
        return whole + floor_div(*inner, range_of)
    return whole + of(atom("div", (rest, k), None, None))


def floor_mod(term: Term, k: int, range_of: RangeOf) -> Term:
    """The remainder of that quotient, from 0 to k - 1."""
    if k == 1:
        return ZERO
    if not term.parts:
        return number(term.constant % k)
    _, rest = _split(term, k, range_of)
    if rest is None:
        return ZERO
    low, high = range_of(rest)
    if low is not None and high is not None and low // k == high // k:
        return rest - low // k * k
    return of(atom("mod", (rest, k), None, None))


def _split(term: Term, k: int, range_of: RangeOf) -> tuple[Term, Term | None]:
    """`term` = k * whole + rest, with what is known to be a multiple of k in `whole`."""
    whole = [(monomial, n // k) for monomial, n in term.parts if n % k == 0]
    rest = [(monomial, n) for monomial, n in term.parts if n % k]
    constant = term.constant // k
    left = Term(term.constant - constant * k, tuple(rest))
    quotient = Term(constant, tuple(whole))
    if not rest and left.constant == 0:
        return quotient, None
    return quotient, left


def _nested(term: Term, k: int) -> tuple[Term, int] | None:
    """`(t div a) div k` is `t div (a * k)`."""
    if term.constant == 0 and len(term.parts) == 1:
        (monomial, n), *_ = term.parts
        if n == 1 and len(monomial) == 1 and monomial[0].kind == "div":
            inner, a = monomial[0].arguments
            return inner, a * k
    return None


def lesser(a: Term, b: Term, range_of: RangeOf) -> Term:
    """The minimum."""
    low, high = range_of(a - b)
    if high is not None and high <= 0:
        return a
    if low is not None and low >= 0:
        return b
    pair = (a, b) if _key(a) <= _key(b) else (b, a)
    return of(atom("min", pair, None, None))


def greater(a: Term, b: Term, range_of: RangeOf) -> Term:
    """The maximum."""
    return -lesser(-a, -b, range_of)


def _key(term: Term) -> tuple[Any, ...]:
    return (term.constant, [(tuple(atom.number for atom in monomial), n) for monomial, n in term.parts])


# Taking terms apart


def deep_atoms(*terms: Term) -> Iterator[Atom]:
    """Every atom in terms, inside of atoms, too; each once."""
    seen: set[Any] = set()  # conditions, too: many atoms share theirs
    waiting = [atom for term in terms for atom in term.atoms()]
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        yield one
        for argument in one.arguments:
            if isinstance(argument, Term):
                waiting.extend(argument.atoms())
            elif hasattr(argument, "terms") and argument not in seen:
                seen.add(argument)
                waiting.extend(a for t in argument.terms() for a in t.atoms())


def text(term: Term) -> str:
    """As people write it: `16*by + y - 1`."""
    parts = []
    for monomial, n in term.parts:
        product = "*".join(map(repr, monomial))
        size = product if abs(n) == 1 else f"{abs(n)}*{product}"
        parts.append(("- " if n < 0 else "+ ") + size)
    if term.constant or not parts:
        parts.append(f"{'-' if term.constant < 0 else '+'} {abs(term.constant)}")
    whole = " ".join(parts)
    return whole[2:] if whole.startswith("+ ") else "-" + whole[2:]
