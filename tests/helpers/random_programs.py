"""Random kernels, each with a second text in plain Python that says what it must compute, bit for bit.

The second text calls the functions of `REFERENCE` below, written from the meaning in `kbuild/ir/nodes.py`: integers are
Python's, wrapped; floats are Python's, rounded after every operation (two roundings of + - * / through double are one).
Where the kernel's text has `x + a * b`, the reference has `fma`, by the rule of `kbuild/ir/contract.py`.
"""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

INTEGERS = {"int8": (8, True), "int32": (32, True), "uint32": (32, False), "int64": (64, True), "uint8": (8, False)}
FLOATS = {"float16": "<e", "float32": "<f", "float64": "<d"}
TYPES = [*INTEGERS, *FLOATS]
ARRAYS = {kind: f"a_{kind}" for kind in TYPES}
SLOTS = 8  # elements of each array
VARIABLES = {kind: [f"{kind}_{n}" for n in range(2)] for kind in [*TYPES, "bool"]}


# Meaning


def wrap(kind: str, value: int) -> int:
    bits, signed = INTEGERS[kind]
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def rounded(kind: str, value: float) -> float:
    if kind == "float64" or not math.isfinite(value):
        return value
    try:
        return float(struct.unpack(FLOATS[kind], struct.pack(FLOATS[kind], value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _quotient(x: int, y: int) -> int:
    return 0 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def _integer(kind: str, op: str, x: int, y: int) -> int:
    bits, _ = INTEGERS[kind]
    inside = 0 <= y < bits
    return {
        "+": lambda: x + y,
        "-": lambda: x - y,
        "*": lambda: x * y,
        "//": lambda: _quotient(x, y),
        "/": lambda: _quotient(x, y),
        "%": lambda: x - _quotient(x, y) * y,
        "&": lambda: x & y,
        "|": lambda: x | y,
        "^": lambda: x ^ y,
        "<<": lambda: x << y if inside else 0,
        ">>": lambda: x >> y if inside else (-1 if x < 0 else 0),
        "min": lambda: min(x, y),
        "max": lambda: max(x, y),
    }[op]()


def _divided(x: float, y: float) -> float:
    if y != 0 and math.isfinite(x) and math.isfinite(y):
        return x / y
    if y == 0:
        sign = math.copysign(1.0, x) * math.copysign(1.0, y)
        return math.nan if x == 0 or math.isnan(x) or math.isnan(y) else sign * math.inf
    return x / y


def _remainder(x: float, y: float) -> float:
    if y == 0 or math.isinf(x) or math.isnan(x) or math.isnan(y):
        return math.nan
    return math.fmod(x, y)


def _floor(x: float) -> float:
    return (
        x
        if not math.isfinite(x) or x == 0
        else math.copysign(float(math.floor(x)), x)
        if x > 0
        else float(math.floor(x))
    )


def binary(kind: str, op: str, x: Any, y: Any) -> Any:
    """`x op y` in a type."""
    if kind in INTEGERS:
        return wrap(kind, _integer(kind, op, x, y))
    with_floats: dict[str, Callable[[], float]] = {
        "+": lambda: x + y,
        "-": lambda: x - y,
        "*": lambda: x * y,
        "/": lambda: _divided(x, y),
        "//": lambda: _floor(rounded(kind, _divided(x, y))),
        "%": lambda: _remainder(x, y),
    }
    return rounded(kind, with_floats[op]())


def fma(kind: str, a: float, b: float, c: float) -> float:
    """`a * b + c`, rounded once."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c  # the product itself may overflow here
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c  # the sign of a zero
    return _nearest(kind, exact)


def _nearest(kind: str, exact: Fraction) -> float:
    bits, least, most = {"float32": (24, -149, 128), "float64": (53, -1074, 1024)}[kind]
    magnitude = abs(exact)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** max(exponent - bits + 1, least)
    result = round(magnitude / unit) * unit  # halves to even
    value = math.inf if result >= Fraction(2) ** most else float(result)
    return math.copysign(value, -1.0 if exact < 0 else 1.0)


def convert(kind: str, value: Any) -> Any:
    """A value in another type."""
    if kind == "bool":
        return value != 0
    if kind in FLOATS:
        return rounded(kind, float(value)) if isinstance(value, float) else _from_integer(kind, int(value))
    if isinstance(value, float):
        value = _saturated(kind, value)
    return wrap(kind, int(value))


def _from_integer(kind: str, value: int) -> float:
    if kind == "float16":
        return rounded(kind, float(value))  # beyond 2^53 it is infinite anyway
    return _nearest(kind, Fraction(value)) if value else 0.0


def _saturated(kind: str, value: float) -> int:
    bits, signed = INTEGERS[kind]
    wide = 64 if bits == 64 else 32
    low, high = (-(1 << (wide - 1)), (1 << (wide - 1)) - 1) if signed else (0, (1 << wide) - 1)
    if math.isnan(value):
        return 0
    return low if value <= low else high if value >= high else int(value)


def negate(kind: str, x: Any) -> Any:
    return -x if kind in FLOATS else wrap(kind, -x)


def absolute(kind: str, x: Any) -> Any:
    return abs(x) if kind in FLOATS else wrap(kind, abs(x))


def _fma_right(kind: str, sign: float, c: float, a: float, b: float) -> float:
    return fma(kind, sign * a, b, c)


def _fma_left(kind: str, sign: float, a: float, b: float, c: float) -> float:
    return fma(kind, a, b, sign * c)


def _bump(a: list[int], i: int, value: int) -> int:
    a[i] = wrap("int32", a[i] + 1)
    return value


def _pick(condition: bool, x: float, y: float) -> float:
    return x if condition else fma("float32", y, 2.0, x)


def _both(x: int, y: int) -> tuple[int, int]:
    return _quotient(x, y), x - _quotient(x, y) * y


HELPERS = """\
@kb.func
def bump(a: kb.array(dtype=int), i: int, value: int):
    a[i] += 1
    return value

@kb.func
def pick(condition: bool, x: float, y: float):
    if condition:
        return x
    return y * 2.0 + x

@kb.func
def both(x: kb.int64, y: kb.int64):
    return x // y, x % y

"""
REFERENCE = {
    "binary": binary,
    "convert": convert,
    "negate": negate,
    "absolute": absolute,
    "invert": lambda kind, x: wrap(kind, ~x),
    "fma": fma,
    "fma_right": _fma_right,
    "fma_left": _fma_left,
    "bump": _bump,
    "pick": _pick,
    "both": lambda x, y: tuple(wrap("int64", v) for v in _both(x, y)),
}


# Texts


@dataclass(frozen=True)
class Expression:
    """An expression as kernel code and as reference; `factors` when it is a product."""

    text: str
    reference: str
    factors: tuple[str, str] | None = None


@dataclass
class Program:
    """One kernel with its reference."""

    name: str
    random: random.Random
    kernel: list[str] = field(default_factory=list)
    reference: list[str] = field(default_factory=list)
    depth: int = 1
    counters: list[str] = field(default_factory=list)
    loops: int = 0
    names: int = 0

    def line(self, kernel: str, reference: str | None = None) -> None:
        pad = "    " * self.depth
        self.kernel.append(pad + kernel)
        self.reference.append(pad + (kernel if reference is None else reference))

    def text(self) -> str:
        arrays = ", ".join(f"{name}: kb.array(dtype=kb.{kind})" for kind, name in ARRAYS.items())
        head = f"@kb.kernel\ndef {self.name}({arrays}, s_int32: int, s_float32: float, s_float64: kb.float64):\n"
        return head + "\n".join(["    t = kb.tid()", *self.kernel]) + "\n"

    def reference_text(self) -> str:
        head = f"def {self.name}(t, {', '.join(ARRAYS.values())}, s_int32, s_float32, s_float64):\n"
        return head + "\n".join(self.reference) + "\n"

    # Expressions

    def chance(self, likelihood: float) -> bool:
        return self.random.random() < likelihood

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def expression(self, kind: str, depth: int) -> Expression:
        if kind == "bool":
            return self.truth(depth)
        if depth <= 0 or self.chance(0.2):
            return self.leaf(kind, depth)
        makers = [self.operation, self.operation, self.operation, self.literal_operation, self.unary]
        makers += [self.conversion, self.conditional, self.special]
        return self.pick(*makers)(kind, depth - 1)

    def leaf(self, kind: str, depth: int) -> Expression:
        if self.chance(0.25):
            return self.element(kind, depth - 1)
        if self.chance(0.2):
            return self.typed_literal(kind)
        names = list(VARIABLES[kind])
        if kind in ("int32", "float32", "float64"):
            names.append(f"s_{kind}")
        if kind == "int32":
            names += ["t", *self.counters]
        name = self.random.choice(names)
        return Expression(name, name)

    def element(self, kind: str, depth: int) -> Expression:
        index = self.index(depth)
        array = ARRAYS[kind]
        return Expression(f"{array}[{index.text}]", f"{array}[{index.reference}]")

    def index(self, depth: int) -> Expression:
        if depth <= 0 or self.chance(0.5):
            number = str(self.random.randrange(SLOTS))
            return Expression(number, number)
        inner = self.expression("int32", depth)
        return Expression(f"({inner.text} & 7)", f"binary('int32', '&', {inner.reference}, 7)")

    def literal(self, kind: str) -> tuple[str, str]:
        """A literal that fits the type, and its value there."""
        if kind in FLOATS:
            value = self.pick(0.0, 1.0, 0.5, -2.5, 0.1, 3.0, 1e-3, 100.25, -7.0)
            return f"({value!r})", repr(rounded(kind, value))
        bits, signed = INTEGERS[kind]
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        value = self.pick(0, 1, 2, 3, 7, 10, low, high, high // 3, self.random.randint(low, high))
        return f"({value})", f"({value})"

    def typed_literal(self, kind: str) -> Expression:
        text, value = self.literal(kind)
        return Expression(f"kb.{kind}({text})", value)

    def operators(self, kind: str) -> list[str]:
        if kind in INTEGERS:
            return ["+", "-", "*", "//", "/", "%", "&", "|", "^", "<<", ">>"]
        return ["+", "-", "*", "/", "+", "-", "*", "%"] + ([] if kind == "float16" else ["//"])

    def operation(self, kind: str, depth: int) -> Expression:
        op = self.random.choice(self.operators(kind))
        return combined(kind, op, self.expression(kind, depth), self.expression(kind, depth))

    def literal_operation(self, kind: str, depth: int) -> Expression:
        op = self.random.choice(self.operators(kind))
        other, number = self.expression(kind, depth), Expression(*self.literal(kind))
        sides = (other, number) if self.chance(0.7) else (number, other)
        return combined(kind, op, *sides)

    def unary(self, kind: str, depth: int) -> Expression:
        inner = self.expression(kind, depth)
        choices = [("-{}", "negate"), ("kb.abs{}", "absolute")] + ([("~{}", "invert")] if kind in INTEGERS else [])
        pattern, name = self.random.choice(choices)
        return Expression(f"({pattern.format(f'({inner.text})')})", f"{name}('{kind}', {inner.reference})")

    def conversion(self, kind: str, depth: int) -> Expression:
        source = self.random.choice([t for t in [*TYPES, "bool"] if t != kind])
        inner = self.expression(source, depth)
        return Expression(f"kb.{kind}({inner.text})", f"convert('{kind}', {inner.reference})")

    def conditional(self, kind: str, depth: int) -> Expression:
        condition, then, other = self.truth(depth), self.expression(kind, depth), self.expression(kind, depth)
        text, reference = (
            f"({a} if {c} else {b})"
            for a, b, c in zip(*([e.text, e.reference] for e in (then, other, condition)), strict=True)
        )
        return Expression(text, reference)

    def special(self, kind: str, depth: int) -> Expression:
        if kind == "int32" and self.chance(0.5):
            index, value = self.index(depth), self.expression(kind, depth)
            return Expression(
                f"bump(a_int32, {index.text}, {value.text})", f"bump(a_int32, {index.reference}, {value.reference})"
            )
        if kind in INTEGERS:
            a, b = self.expression(kind, depth), self.expression(kind, depth)
            op = self.pick("min", "max")
            return Expression(f"kb.{op}({a.text}, {b.text})", f"binary('{kind}', '{op}', {a.reference}, {b.reference})")
        if kind == "float32" and self.chance(0.5):
            parts = [self.truth(depth), self.expression(kind, depth), self.expression(kind, depth)]
            return Expression(*(f"pick({', '.join(texts)})" for texts in _columns(parts)))
        if kind == "float16":
            return self.leaf(kind, depth)
        parts = [self.expression(kind, depth) for _ in range(3)]
        text, reference = (", ".join(texts) for texts in _columns(parts))
        return Expression(f"kb.fma({text})", f"fma('{kind}', {reference})")

    def truth(self, depth: int) -> Expression:
        if depth <= 0:
            name = self.random.choice(VARIABLES["bool"])
            return Expression(name, name)
        shape = self.pick("compare", "compare", "chain", "and", "or", "not", "bool", "name")
        if shape == "name":
            return self.truth(0)
        if shape == "not":
            return self.joined("(not {})", [self.truth(depth - 1)])
        if shape in ("and", "or"):
            return self.joined(f"({{}} {shape} {{}})", [self.truth(depth - 1), self.truth(depth - 1)])
        kind = self.random.choice(TYPES)
        if shape == "bool":
            inner = self.expression(kind, depth - 1)
            return Expression(f"bool({inner.text})", f"({inner.reference} != 0)")
        parts = [self.expression(kind, depth - 1) for _ in range(2 if shape == "compare" else 3)]
        signs = [self.pick("<", "<=", ">", ">=", "==", "!=") for _ in parts]
        return self.joined("(" + " ".join(["{}", *(f"{sign} {{}}" for sign in signs[1:])]) + ")", parts)

    def joined(self, pattern: str, parts: list[Expression]) -> Expression:
        text, reference = (pattern.format(*texts) for texts in _columns(parts))
        return Expression(text, reference)

    # Statements

    def fill(self) -> None:
        """The whole body."""
        for kind, names in VARIABLES.items():
            for name in names:
                if kind == "bool":
                    self.line(f"{name} = t > {self.random.randrange(3)}")
                else:
                    value = self.typed_literal(kind)
                    self.line(f"{name} = {value.text}", f"{name} = {value.reference}")
        for _ in range(self.random.randint(2, 6)):
            self.statement(3)
        for kind in TYPES:
            for slot, name in enumerate(VARIABLES[kind]):
                self.line(f"{ARRAYS[kind]}[{slot}] = {name}")
        self.line(f"a_int8[7] = kb.int8({VARIABLES['bool'][0]})", f"a_int8[7] = int({VARIABLES['bool'][0]})")

    def statement(self, depth: int) -> None:
        makers: list[Callable[[int], None]] = [self.assignment] * 3 + [self.augmented] * 2 + [self.store, self.update]
        if depth > 0:
            makers += [self.branch, self.branch, self.for_loop, self.while_loop, self.unpack]
        if self.loops and self.chance(0.3):
            makers = [self.jump]
        self.random.choice(makers)(depth)

    def assignment(self, depth: int) -> None:
        kind = self.random.choice([*TYPES, "bool"])
        value, name = self.expression(kind, 3), self.random.choice(VARIABLES[kind])
        self.line(f"{name} = {value.text}", f"{name} = {value.reference}")

    def augmented(self, depth: int) -> None:
        kind = self.random.choice(TYPES)
        op, name = self.random.choice(self.operators(kind)), self.random.choice(VARIABLES[kind])
        value = self.expression(kind, 3)
        result = combined(kind, op, Expression(name, name), value)
        self.line(f"{name} {op}= {value.text}", f"{name} = {result.reference}")

    def store(self, depth: int) -> None:
        kind = self.random.choice(TYPES)
        value, index = self.expression(kind, 3), self.index(2)
        self.line(
            f"{ARRAYS[kind]}[{index.text}] = {value.text}", f"{ARRAYS[kind]}[{index.reference}] = {value.reference}"
        )

    def update(self, depth: int) -> None:
        """`a[i] op= x`: the place first, then the value; + and - are atomic, so they add to what is there by then."""
        kind, array = (kind := self.random.choice(TYPES)), ARRAYS[kind]
        op, index, value = self.random.choice(self.operators(kind)), self.index(2), self.expression(kind, 3)
        self.line(f"{array}[{index.text}] {op}= {value.text}", f"place = {index.reference}")
        pad = "    " * self.depth
        if op in ("+", "-"):
            self.reference.append(f"{pad}value = {value.reference}")
            self.reference.append(f"{pad}{array}[place] = binary('{kind}', '{op}', {array}[place], value)")
        else:
            result = combined(kind, op, Expression("", f"{array}[place]"), value)
            self.reference.append(f"{pad}{array}[place] = {result.reference}")

    def block(self, depth: int) -> None:
        self.depth += 1
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth - 1)
        self.depth -= 1

    def branch(self, depth: int) -> None:
        for word in ["if", *(["elif"] if self.chance(0.3) else [])]:
            # The condition of an `elif` may not have effects of its own line in the reference: it is one expression.
            condition = self.truth(3)
            self.line(f"{word} {condition.text}:", f"{word} {condition.reference}:")
            self.block(depth)
        if self.chance(0.5):
            self.line("else:")
            self.block(depth)

    def for_loop(self, depth: int) -> None:
        self.names += 1
        private = self.chance(0.6)
        name = f"n{self.names}" if private else self.random.choice(VARIABLES["int32"])
        text = self.pick(
            "range(3)", "range(2, 9, 3)", "range(4, -3, -2)", "range(t)", "range(t, 4)", "range(t, -2, -1)"
        )
        self.line(f"for {name} in {text}:")
        self.inside(name if private else None, depth)

    def while_loop(self, depth: int) -> None:
        self.names += 1
        name, condition = f"n{self.names}", self.truth(3)
        self.line(f"{name} = 0")
        self.line(f"while {name} < 4 and {condition.text}:", f"while {name} < 4 and {condition.reference}:")
        self.line(f"    {name} += 1")
        self.inside(name, depth)

    def inside(self, counter: str | None, depth: int) -> None:
        self.loops += 1
        self.counters += [counter] if counter else []
        self.block(depth)
        if counter:
            self.counters.remove(counter)
        self.loops -= 1

    def jump(self, depth: int) -> None:
        condition = self.truth(2)
        self.line(f"if {condition.text}:", f"if {condition.reference}:")
        self.line("    " + self.pick("break", "continue", "break", "continue", "return"))

    def unpack(self, depth: int) -> None:
        a, b = self.expression("int64", 2), self.expression("int64", 2)
        first, second = VARIABLES["int64"]
        self.line(
            f"{first}, {second} = both({a.text}, {b.text})", f"{first}, {second} = both({a.reference}, {b.reference})"
        )


def _columns(parts: list[Expression]) -> tuple[list[str], list[str]]:
    return [part.text for part in parts], [part.reference for part in parts]


def combined(kind: str, op: str, left: Expression, right: Expression) -> Expression:
    """`left op right`, fused in the reference where the rule says so."""
    text = f"({left.text} {op} {right.text})"
    if op == "*":
        reference = f"binary('{kind}', '*', {left.reference}, {right.reference})"
        return Expression(text, reference, (left.reference, right.reference))
    if op in ("+", "-") and kind in ("float32", "float64"):
        sign = 1.0 if op == "+" else -1.0
        if right.factors:
            a, b = right.factors
            return Expression(text, f"fma_right('{kind}', {sign}, {left.reference}, {a}, {b})")
        if left.factors:
            a, b = left.factors
            return Expression(text, f"fma_left('{kind}', {sign}, {a}, {b}, {right.reference})")
    return Expression(text, f"binary('{kind}', '{op}', {left.reference}, {right.reference})")


def make(seed: int, count: int) -> list[Program]:
    """Programs of one seed."""
    source = random.Random(seed)
    programs = []
    for number in range(count):
        program = Program(f"program_{number}", source)
        program.fill()
        programs.append(program)
    return programs


def values(kind: str, source: random.Random) -> list[Any]:
    """The start of an array."""
    if kind in INTEGERS:
        return [
            wrap(kind, source.choice([0, 1, -1, 5, 127, 128, 255, 2**31 - 1, 2**31, source.getrandbits(64)]))
            for _ in range(SLOTS)
        ]
    choices = [0.0, -0.0, 1.0, -1.5, 0.1, 1e-7, 6.5e4, 3e9, -1e30, math.inf, math.nan, source.uniform(-10, 10)]
    return [rounded(kind, source.choice(choices)) for _ in range(SLOTS)]
