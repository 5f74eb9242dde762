"""What kernels say of their launches, held against each: `a.shape[0] == b.shape[0]`, `dim[0] == a.shape[0]`, `n > 0`.

A manifest has a row for each: two terms, what is between them, and what the source says. A term is a number,
`dim[axis]`, a parameter or a field of one (`model.n`), an extent of an array (`a.shape[0]`), a sum of products of these
(`rows * columns + -1`, which wraps as it does in kernels), or the remainder of one of these (`n % 4`). All but `dim`
lies in the launch's parameter block, as kernels see it, so that is where it is read: whatever library an array is of,
and on whichever device the launch is. Where a term is of an array that may be None, and is, its row says nothing.
Kernels without such rows never import this module.
"""

from __future__ import annotations

import operator
import struct

from . import abi, grids
from .errors import BundleError, LaunchError
from .kernel import CONFIG_SIZE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, Dict, List, Tuple

    from .kernel import BundleKernel

    Row = Dict[str, Any]
    Fields = List[Tuple[str, abi.Type, int]]

OPERATORS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_EXTENTS = ".shape["
_INTEGERS = {"b": -8, "h": -16, "i": -32, "q": -64, "B": 8, "H": 16, "I": 32, "Q": 64}  # bits, negative: signed
_CURE = "or change what the kernel says, and build again"


class Factor:
    """A number (`value`), a number of the launch's threads (`axis` of `dim`), or what is read: `at` is where (offset,
    format), and `present` where the address of an array lies that may be None.
    """

    __slots__ = ("at", "axis", "present", "value")

    def __init__(self) -> None:
        self.value, self.axis = None, -1
        self.at: tuple[int, str] | None = None
        self.present: tuple[int, str] | None = None

    value: int | float | None


class Term:
    """One side of a comparison: a sum of products, of which the remainder by `divisor` is meant if that is not 0.
    `bits` are those of the type in which it is computed, negative for signed ones; 0 where nothing is.
    """

    __slots__ = ("bits", "divisor", "products", "words")

    def __init__(self, words: str, products: list[list[Factor]], divisor: int) -> None:
        self.words = words.replace(" + -1 * ", " - ").replace(" + -", " - ")
        self.products, self.divisor, self.bits = products, divisor, 0
        if len(products) > 1 or len(products[0]) > 1:
            codes = {"i" if one.at is None else one.at[1] for one in self.factors if one.value is None}
            if len(codes) > 1 or not codes <= set(_INTEGERS):
                raise ValueError("%r computes with %s" % (words, " and ".join(sorted(codes)) or "nothing"))
            self.bits = _INTEGERS[codes.pop()] if codes else 0

    @property
    def factors(self) -> list[Factor]:
        return [factor for product in self.products for factor in product]

    @property
    def first(self) -> Factor:
        """What it is, where nothing is computed."""
        return self.products[0][0]

    @property
    def is_number(self) -> bool:
        return all(one.value is not None for one in self.factors)

    @property
    def is_dim(self) -> bool:
        return any(one.axis >= 0 for one in self.factors)

    @property
    def parameter(self) -> str:
        """The parameter that it is, or is of, if it is one."""
        is_one = self.bits == 0 and self.first.at is not None
        return self.words.partition(".")[0].partition(" ")[0] if is_one else ""


class Comparison:
    """A row of the manifest, its terms found."""

    __slots__ = ("left", "operator", "right", "said")

    def __init__(self, left: Term, operator: str, right: Term, said: str) -> None:
        self.left, self.operator, self.right, self.said = left, operator, right, said

    @property
    def terms(self) -> tuple[Term, Term]:
        return self.left, self.right

    @property
    def is_of_dim(self) -> bool:
        return self.left.is_dim or self.right.is_dim

    @property
    def optional(self) -> list[tuple[int, str]]:
        """Where the addresses of arrays lie without which nothing is said."""
        found = [one.present for term in self.terms for one in term.factors if one.present is not None]
        return list(dict.fromkeys(found))


class Stated:
    """What a kernel says, ready to be held against launches.

    `rows` are [left, operator, right, what the source says], `line` that of the kernel's definition. `fields` are its
    parameters: name, type and offset in the buffers that are looked at, where the launch header, if there is one, lies
    at `base`. Raises ValueError for rows that cannot be.
    """

    def __init__(
        self,
        name: str,
        line: int,
        rows: Iterable[Sequence[str]],
        ndim: int,
        fields: Fields,
        optional: frozenset[str] = frozenset(),
        base: int = 0,
    ) -> None:
        self.name, self.line, self.ndim, self.optional, self.base = name, line, ndim, optional, base
        self._fields = {field: (type, offset) for field, type, offset in fields}
        self.comparisons = [self._comparison(row) for row in rows]
        self.is_of_dim = any(one.is_of_dim for one in self.comparisons)
        factors = [factor for one in self.comparisons for term in one.terms for factor in term.factors]
        self._places = sorted({place for one in factors for place in (one.at, one.present) if place is not None})
        self._read = struct.Struct(_format(self._places)).unpack_from

    def _comparison(self, row: Sequence[str]) -> Comparison:
        if len(row) != 4:
            raise ValueError("a row is [term, operator, term, text], and not %r" % (row,))
        left, operator, right, said = row
        made = Comparison(self._term(left), operator, self._term(right), said)
        if operator not in OPERATORS:
            raise ValueError("%r compares nothing" % operator)
        if made.left.is_number:
            raise ValueError("%r stands on the left" % left)
        return made

    def _term(self, text: str) -> Term:
        path, _, last = text.partition(" % ")
        divisor = _number(last) if last else 0
        if type(divisor) is not int or divisor < 0 or (last and not divisor):
            raise ValueError("%r has no divisor" % text)
        products = [[self._factor(one) for one in product.split(" * ")] for product in path.split(" + ")]
        found = Term(text, products, divisor)
        if divisor and found.first.at is not None and found.first.at[1] not in _INTEGERS:
            raise ValueError("%r is no integer" % text)
        return found

    def _factor(self, text: str) -> Factor:
        found = Factor()
        head, _, axis = text.partition("[") if text.endswith("]") else (text, "", "")
        if text[:1] in "-.0123456789":
            found.value = _number(text)
        elif head == "dim" and axis:
            found.axis = _axis(text, axis, self.ndim)
        elif axis and head.endswith(_EXTENTS[:-1]):
            array = head[: 1 - len(_EXTENTS)]
            type_, offset = self._field(array)
            if not isinstance(type_, abi.Array) or isinstance(type_, abi.Flat):
                raise ValueError("%r is of no array" % text)
            number = _axis(text, axis, type_.ndim)
            start = 8 + (16 * type_.ndim if isinstance(type_, abi.IndexedArray) else 0)
            found.at = offset + start + 4 * number, "i"
            found.present = (offset, "Q") if array in self.optional else None
        else:
            type_, offset = self._field(text)
            if not isinstance(type_, abi.Scalar) or type_.kind == "bool":
                raise ValueError("%r is no number" % text)
            found.at = offset, type_.code
        return found

    def _field(self, path: str) -> tuple[abi.Type, int]:
        """The type of a parameter, or of a field of one, and where it lies."""
        name, *names = path.split(".")
        if name not in self._fields:
            raise ValueError("%r is no parameter" % name)
        type, offset = self._fields[name]
        for name in names:
            known = {one.name: one for one in type.fields} if isinstance(type, abi.Struct) else {}
            if name not in known:
                raise ValueError("%r is no field of a parameter" % path)
            type, offset = known[name].type, offset + known[name].offset
        return type, offset

    def check(self, block: Any, axes: Sequence[int]) -> None:
        """Holds a launch against it: `block` are the bytes of its parameters, `axes` its threads along each axis. One
        without threads runs nothing, and `dim` is all that is looked at. Raises LaunchError.
        """
        read = dict(zip(self._places, self._read(block)))
        for one in self.comparisons:
            if 0 in axes and not one.is_of_dim:
                continue
            if not all(read[place] for place in one.optional):
                continue
            left, right = [_value(term, read, axes) for term in one.terms]
            if not OPERATORS[one.operator](left, right):
                raise LaunchError(self._refusal(one, left, right))

    def _refusal(self, one: Comparison, left: Any, right: Any) -> str:
        parameter = one.left.parameter or one.right.parameter
        whose = "parameter %s: " % parameter if parameter and not one.is_of_dim else ""
        is_dim = one.left.first.axis >= 0 and not one.left.bits
        words = "dim" if is_dim and self.ndim == 1 else one.left.words
        other = "" if one.right.is_number else ", and %s is %s" % (one.right.words, right)
        cure = "give arguments that agree with it"
        if is_dim and one.operator == "==":
            along = "" if self.ndim == 1 else " along axis %d" % one.left.first.axis
            cure = "launch it over %s threads%s" % (right, along)
        elif one.operator == "==" and _EXTENTS in one.left.words and not one.left.bits:
            axis = one.left.words.partition(_EXTENTS)[2][:1]
            cure = "give an array that has %s along axis %s" % (right, axis)
        found = (self.name, whose, words, left, self.line, self.name.partition(":")[0], one.said, other, cure, _CURE)
        return "%s: %s%s is %s, but line %d of %s says `%s`%s\n  help: %s, %s" % found

    def quick(self) -> tuple[str, Any]:
        """The same as statements for `fastpath`, and what reads the numbers in them from a launch buffer. For launches
        of one grid, which has threads.
        """
        places = list(self._places)
        if self.is_of_dim:  # the header begins with the number of threads, and extents of the axes behind the first
            places += [(self.base + 4 * axis, "I") for axis in range(self.ndim)]
        places.sort()
        names = {place: "s%d" % number for number, place in enumerate(places)}
        axes = [names.get((self.base + 4 * axis, "I"), "") for axis in range(self.ndim)]
        if self.ndim > 1:
            axes[0] = "(%s // (%s))" % (axes[0], " * ".join(axes[1:]))
        parts = []
        for one in self.comparisons:
            left, right = [_spelled(term, names, axes) for term in one.terms]
            missing = ["not %s or " % names[place] for place in one.optional]
            parts.append("(%s%s %s %s)" % ("".join(missing), left, one.operator, right))
        read = struct.Struct(_format(places)).unpack_from
        return "%s, = stated(buffer)\nif not (%s): raise Unexpected" % (
            ", ".join(names[place] for place in places),
            " and ".join(parts),
        ), read


def _format(places: Iterable[tuple[int, str]]) -> str:
    """What `struct` reads at these offsets, which are in order and do not overlap."""
    parts, end = ["<"], 0
    for offset, code in places:
        parts.append("%dx%s" % (offset - end, code))
        end = offset + struct.calcsize("<" + code)
    return "".join(parts)


def _number(text: str) -> int | float:
    """Raises ValueError for what is no number as kbuild spells it."""
    for kind in (int, float):
        try:
            found = kind(text)
        except ValueError:
            continue
        if repr(found) == text and found - found == 0:
            return found
    raise ValueError("%r is no number" % text)


def _axis(text: str, axis: str, ndim: int) -> int:
    if axis[:-1] not in [str(number) for number in range(ndim)]:
        raise ValueError("%r is none of %d axes" % (text, ndim))
    return int(axis[:-1])


def _value(term: Term, read: dict[tuple[int, str], Any], axes: Sequence[int]) -> Any:
    total: Any = 0
    for product in term.products:
        number: Any = 1
        for one in product:
            number *= one.value if one.value is not None else axes[one.axis] if one.at is None else read[one.at]
        total += number
    if term.bits:
        total &= (1 << abs(term.bits)) - 1
        if term.bits < 0:
            total -= total >> (-term.bits - 1) << -term.bits
    return total % term.divisor if term.divisor else total


def _spelled(term: Term, names: dict[tuple[int, str], str], axes: list[str]) -> str:
    """What `_value` computes, in Python."""

    def factor(one: Factor) -> str:
        return repr(one.value) if one.value is not None else axes[one.axis] if one.at is None else names[one.at]

    found = " + ".join(" * ".join(map(factor, product)) for product in term.products)
    if term.bits > 0:
        found = "(%s & %d)" % (found, (1 << term.bits) - 1)
    elif term.bits:
        half = 1 << (-term.bits - 1)
        found = "((%s + %d & %d) - %d)" % (found, half, 2 * half - 1, half)
    return "%s %% %d" % (found, term.divisor) if term.divisor else found


# Kernels of a bundle


def of(kernel: BundleKernel) -> Stated:
    """What a bundle's kernel says that says something. Raises BundleError."""
    if kernel.stated.__class__ is not Stated:
        row = kernel.bundle.manifest["kernels"][kernel.index]
        fields = [(name, type, CONFIG_SIZE + offset) for (name, type), offset in zip(kernel.parameters, kernel.offsets)]
        kernel.stated = _read("kernels[%d].stated" % kernel.index, row, fields, CONFIG_SIZE)
    return kernel.stated


def _read(place: str, row: Row, fields: Fields, base: int = 0) -> Stated:
    said = row["stated"]
    if "plain" in row:
        raise BundleError("manifest.%s is not of plain kernels" % place)
    try:
        optional = frozenset(row.get("optional", ()))
        return Stated(row["name"], said["line"], said["rows"], row["ndim"], fields, optional, base)
    except ValueError as error:
        raise BundleError("manifest.%s: %s" % (place, error)) from None


def check(manifest: Row, structs: dict[str, abi.Struct]) -> None:
    """Checks what a manifest says so, beyond its shape. Raises BundleError."""
    for index, row in enumerate(manifest["kernels"]):
        if "stated" in row:
            fields = [(one["name"], abi.parse(one["type"], structs), one["offset"]) for one in row["parameters"]]
            _read("kernels[%d].stated" % index, row, fields)


def hold(kernel: BundleKernel, values: list[Any], dim: Any, block_dim: int | None, device: Any) -> None:
    """Holds a launch on a GPU against what its kernel says, `values` being its packed arguments. Raises LaunchError."""
    if block_dim is None:  # which decides how many threads a grid has
        block_dim = kernel.load(device).block_dim if hasattr(dim.__class__, "_kb_dim_") else kernel.block_dim
    axes = grids.extents(dim, kernel.shape, block_dim)[2]
    of(kernel).check(kernel.struct.pack(b"", *values), axes)


def quick(kernel: BundleKernel, names: dict[str, Any]) -> str:
    """What a quick launch of the kernel does besides; `names` gets what that needs."""
    lines, names["stated"] = of(kernel).quick()
    return lines
