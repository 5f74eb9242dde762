"""What the kernel language means, in plain Python: scalars, vectors and matrices on which expressions of kernels are
evaluated to the last bit. Written from `kbuild/ir/nodes.py`, and from nothing that compiles.

    evaluate("x / y", {"x": number("int8", -128), "y": number("int8", -1)}) → number("int8", -128)
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction

from kbuild.loader.abi import SCALARS

# Significant bits and the exponent of the smallest subnormal number.
PRECISION = {"float16": (11, -24), "float32": (24, -149), "float64": (53, -1074)}
LARGEST = {
    "float16": 65504.0,
    "float32": float.fromhex("0x1.fffffep127"),
    "float64": float.fromhex("0x1.fffffffffffffp1023"),
}
CODES = {"float16": "<e", "float32": "<f"}


class Number:
    """A scalar of the language with its value: a Python bool, int or float that the type holds exactly."""

    __slots__ = ("type", "value")

    def __init__(self, type, value):
        self.type, self.value = type, value

    def __repr__(self):
        return "%s(%r)" % (self.type, self.value)

    def __bool__(self):
        return bool(self.value)

    @property
    def is_float(self):
        return SCALARS[self.type].kind == "float"

    def _other(self, other):
        return other if isinstance(other, Number) else literal(self.type, other)

    def __add__(self, other):
        return self._arithmetic("add", self, other)

    def __radd__(self, other):
        return self._arithmetic("add", other, self)

    def __sub__(self, other):
        return self._arithmetic("sub", self, other)

    def __rsub__(self, other):
        return self._arithmetic("sub", other, self)

    def __mul__(self, other):
        if isinstance(other, (Vector, Matrix)):
            return other * self
        return self._arithmetic("mul", self, other)

    def __rmul__(self, other):
        return self._arithmetic("mul", other, self)

    def __truediv__(self, other):
        return self._arithmetic("div", self, other)

    def __rtruediv__(self, other):
        return self._arithmetic("div", other, self)

    def __floordiv__(self, other):
        return self._arithmetic("floordiv", self, other)

    def __mod__(self, other):
        return self._arithmetic("mod", self, other)

    def __lshift__(self, other):
        return self._arithmetic("shl", self, other)

    def __rshift__(self, other):
        return self._arithmetic("shr", self, other)

    def __and__(self, other):
        return self._arithmetic("and", self, other)

    def __or__(self, other):
        return self._arithmetic("or", self, other)

    def __xor__(self, other):
        return self._arithmetic("xor", self, other)

    def _arithmetic(self, op, left, right):
        left, right = self._other(left), self._other(right)
        assert left.type == right.type, (left, right)
        operations = FLOAT_OPERATIONS if self.is_float else INTEGER_OPERATIONS
        return number(self.type, operations[op](left.value, right.value, self.type))

    def __neg__(self):
        if self.is_float:
            return Number(self.type, -self.value)
        return number(self.type, -self.value)

    def __pos__(self):
        return self

    def __invert__(self):
        return number(self.type, ~self.value)

    def __eq__(self, other):
        return self.value == self._other(other).value

    def __ne__(self, other):
        return self.value != self._other(other).value

    def __lt__(self, other):
        return self.value < self._other(other).value

    def __le__(self, other):
        return self.value <= self._other(other).value

    def __gt__(self, other):
        return self.value > self._other(other).value

    def __ge__(self, other):
        return self.value >= self._other(other).value

    __hash__ = None


def number(type, value):
    """A value in a type: integers take the low bits, floats are rounded to the nearest, ties to even."""
    kind = SCALARS[type].kind
    if kind == "bool":
        return Number(type, bool(value))
    return Number(type, round_to(type, value) if kind == "float" else wrap(type, value))


def literal(type, value):
    """A number of the source at the type that its context gives it."""
    fits = SCALARS[type].kind == "float" or (isinstance(value, int) and wrap(type, value) == value)
    assert fits, "%r does not fit %s" % (value, type)
    return number(type, value)


def wrap(type, value):
    bits = 8 * SCALARS[type].size
    value &= (1 << bits) - 1
    return value - (1 << bits) if SCALARS[type].kind == "int" and value >> (bits - 1) else value


def round_to(type, value):
    """The nearest value of a floating-point type: of a double, or of an exact integer or Fraction."""
    if not isinstance(value, float):
        return round_exact(type, Fraction(value))
    if type == "float64" or value != value or math.isinf(value):
        return value
    try:
        return struct.unpack(CODES[type], struct.pack(CODES[type], value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def round_exact(type, value):
    """A Fraction rounded once."""
    if value == 0:
        return 0.0
    bits, least = PRECISION[type]
    magnitude, sign = abs(value), -1.0 if value < 0 else 1.0
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    unit = max(exponent - bits + 1, least)
    steps = round(magnitude / Fraction(2) ** unit)  # to even
    if Fraction(steps) * Fraction(2) ** unit > Fraction(LARGEST[type]):
        return sign * math.inf
    return sign * math.ldexp(steps, unit)


# Integers


def _divide(a, b, type):
    if b == 0:
        return 0
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a, b, type):
    return a if b == 0 else a - _divide(a, b, type) * b


def _shift_left(a, b, type):
    return a << b if 0 <= b < 8 * SCALARS[type].size else 0


def _shift_right(a, b, type):
    if 0 <= b < 8 * SCALARS[type].size:
        return a >> b
    return -1 if a < 0 else 0


INTEGER_OPERATIONS = {
    "add": lambda a, b, type: a + b,
    "sub": lambda a, b, type: a - b,
    "mul": lambda a, b, type: a * b,
    "div": _divide,
    "floordiv": _divide,
    "mod": _remainder,
    "shl": _shift_left,
    "shr": _shift_right,
    "and": lambda a, b, type: a & b,
    "or": lambda a, b, type: a | b,
    "xor": lambda a, b, type: a ^ b,
}


# Floats. A float32 operation rounded from double is rounded once: 53 >= 2 * 24 + 2. float16 goes through float32.


def _through(type, value):
    return round_to("float32", value) if type == "float16" else value


def _ieee_divide(a, b, type):
    if b != 0.0:
        return _through(type, a / b)
    if a == 0.0 or a != a:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _floor_divide(a, b, type):
    quotient = round_to("float32" if type == "float16" else type, _ieee_divide(a, b, type))
    return floor(quotient)


def _float_remainder(a, b, type):
    if math.isinf(a) or b == 0.0 or a != a or b != b:
        return math.nan
    return math.fmod(a, b)


FLOAT_OPERATIONS = {
    "add": lambda a, b, type: _through(type, a + b),
    "sub": lambda a, b, type: _through(type, a - b),
    "mul": lambda a, b, type: _through(type, a * b),
    "div": _ieee_divide,
    "floordiv": _floor_divide,
    "mod": _float_remainder,
}


def fma(a, b, c):
    """a * b + c, rounded once; element by element for vectors and matrices, whose b may be their scalar."""
    if isinstance(a, (Vector, Matrix)):
        return a.zip(fma, b, c)
    values = [a.value, b.value, c.value]
    if not all(math.isfinite(value) for value in values):
        # An infinity or NaN decides, and no rounding: but a product of finite factors must not overflow before that.
        product = a.value * b.value
        if math.isfinite(a.value) and math.isfinite(b.value):
            product = 0.0
        return number(a.type, product + c.value)
    exact = Fraction(a.value) * Fraction(b.value) + Fraction(c.value)
    if exact:
        return number(a.type, exact)
    product = math.copysign(1.0, a.value) * math.copysign(1.0, b.value)
    is_negative = product < 0 and math.copysign(1.0, c.value) < 0 and c.value == 0
    return Number(a.type, -0.0 if is_negative else 0.0)


def convert(type, value):
    """`kb.int8(x)`."""
    if not isinstance(value, Number):
        value = Number("bool", value) if isinstance(value, bool) else literal(type, value)
    source, target = SCALARS[value.type], SCALARS[type]
    if target.kind == "bool":
        return Number(type, value.value != 0)
    if source.kind == "float" and target.kind != "float":
        return number(type, _saturated(target, value.value))
    exact = value.value if source.kind == "float" else Fraction(int(value.value))
    if target.kind != "float":
        exact = int(value.value)
    return number(type, exact)


def _saturated(target, value):
    """Towards zero, into 32 or 64 bits."""
    if value != value:
        return 0
    bits = 64 if target.size == 8 else 32
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if target.kind == "int" else (0, (1 << bits) - 1)
    if math.isinf(value):
        return low if value < 0 else high
    return min(max(math.trunc(value), low), high)


# Functions


def floor(x):
    return _whole(x, math.floor)


def _whole(x, direction):
    """floor, ceil and trunc with the signs of zero, infinities and NaN that IEEE 754 gives them."""
    if not math.isfinite(x) or abs(x) >= 2.0**53:
        return x
    return math.copysign(float(abs(direction(x))), x) if direction(x) == 0 else float(direction(x))


def ceil(x):
    return _whole(x, math.ceil)


def trunc(x):
    return _whole(x, math.trunc)


def round_away(x):
    if not math.isfinite(x) or abs(x) >= 2.0**52:
        return x
    whole = math.floor(abs(x))
    return math.copysign(float(whole + (abs(x) - whole >= 0.5)), x)


def round_even(x):
    return x if not math.isfinite(x) or abs(x) >= 2.0**52 else math.copysign(float(round(abs(x))), x)


def square_root(x):
    return math.sqrt(x) if x >= 0.0 else (x if x == 0.0 else math.nan)


def _smaller(x, y):
    y = x._other(y)
    if x.value != x.value:
        return y
    return y if y.value < x.value else x


def _larger(x, y):
    y = x._other(y)
    if x.value != x.value:
        return y
    return y if y.value > x.value else x


class Functions:
    """`kb.…` of an expression. Names of types convert."""

    def __getattr__(self, name):
        if name in SCALARS:
            return lambda value: convert(name, value)
        raise AttributeError(name)

    @staticmethod
    def abs(x):
        if isinstance(x, (Vector, Matrix)):
            return x.zip(Functions.abs)
        return number(x.type, abs(x.value))

    @staticmethod
    def min(x, y, *more):
        if isinstance(x, (Vector, Matrix)):
            return x.zip(_smaller, y)
        return Functions.min(_smaller(x, y), *more) if more else _smaller(x, y)

    @staticmethod
    def max(x, y):
        return x.zip(_larger, y) if isinstance(x, (Vector, Matrix)) else _larger(x, y)

    @staticmethod
    def where(condition, then, otherwise):
        return then if condition else otherwise

    @staticmethod
    def clamp(x, low, high):
        return _smaller(_larger(x, low), high)

    @staticmethod
    def step(x):
        return literal(x.type, 1 if x < 0 else 0)

    @staticmethod
    def nonzero(x):
        return literal(x.type, 0 if x == 0 else 1)

    @staticmethod
    def bit_count(x):
        return number("int32", bin(x.value & ((1 << 8 * SCALARS[x.type].size) - 1)).count("1"))

    @staticmethod
    def sign(x):
        return literal(x.type, -1 if x < 0 else 1)

    @staticmethod
    def frac(x):
        return x - number(x.type, trunc(x.value))

    @staticmethod
    def degrees(x):
        return x * 57.29577951308232

    @staticmethod
    def radians(x):
        return x * 0.017453292519943295

    @staticmethod
    def lerp(a, b, t):
        return a * (1.0 - t) + b * t

    @staticmethod
    def fma(a, b, c):
        return fma(a, b, c)

    @staticmethod
    def isnan(x):
        return math.isnan(x.value)

    @staticmethod
    def isinf(x):
        return math.isinf(x.value)

    @staticmethod
    def isfinite(x):
        return math.isfinite(x.value)

    @staticmethod
    def dot(a, b):
        return dot(a.items, b.items)

    @staticmethod
    def length_sq(v):
        return dot(v.items, v.items)

    @staticmethod
    def length(v):
        return number(v.items[0].type, square_root(dot(v.items, v.items).value))

    @staticmethod
    def normalize(v):
        length = Functions.length(v)
        return v / length if length > 0.0 else v.make()

    @staticmethod
    def cross(a, b):
        (p, q, r), (s, t, u) = a.items, b.items
        return Vector([_difference(q, u, r, t), _difference(r, s, p, u), _difference(p, t, q, s)])

    @staticmethod
    def cw_mul(a, b):
        return a.zip(lambda p, q: p * q, b)

    @staticmethod
    def cw_div(a, b):
        return a.zip(lambda p, q: p / q, b)

    @staticmethod
    def transpose(m):
        return Matrix([Vector(list(column)) for column in zip(*[row.items for row in m.rows])])


def _is_fused(x):
    return x.type in ("float32", "float64")


def _difference(a, b, c, d):
    """a * b - c * d: the right product is fused where anything is."""
    return fma(-c, d, a * b) if _is_fused(a) else a * b - c * d


def dot(a, b):
    """The products summed from the left."""
    total = a[0] * b[0]
    for p, q in zip(a[1:], b[1:]):
        total = fma(p, q, total) if _is_fused(p) else total + p * q
    return total


# Vectors and matrices


class Composite:
    """What vectors and matrices share. `zip(f, …)` applies f element by element; scalars stand for every element."""

    def __add__(self, other):
        return self.zip(lambda a, b: a + b, other)

    def __sub__(self, other):
        return self.zip(lambda a, b: a - b, other)

    def __mul__(self, factor):
        return self.zip(lambda a, b: a * b, factor)

    __rmul__ = __mul__

    def __truediv__(self, divisor):
        return self.zip(lambda a, b: a / b, divisor)

    def __neg__(self):
        return self.zip(lambda a: -a)


class Vector(Composite):
    """A vector of the language."""

    def __init__(self, items):
        self.items = list(items)

    def zip(self, f, *others):
        columns = [other.items if isinstance(other, Vector) else [other] * len(self.items) for other in others]
        return Vector([f(*parts) for parts in zip(self.items, *columns)])

    def make(self, *arguments):
        """`type(v)(…)`."""
        if not arguments:
            return Vector([literal(self.items[0].type, 0)] * len(self.items))
        if len(arguments) == 1:
            only = arguments[0]
            return only if isinstance(only, Vector) else Vector([only] * len(self.items))
        return Vector(arguments)

    def __getitem__(self, index):
        return self.items[index]

    x = property(lambda self: self.items[0])
    y = property(lambda self: self.items[1])


class Matrix(Composite):
    """A square matrix of the language, by rows."""

    def __init__(self, rows):
        self.rows = list(rows)

    def zip(self, f, *others):
        columns = [other.rows if isinstance(other, Matrix) else [other] * len(self.rows) for other in others]
        return Matrix([row.zip(f, *parts) for row, *parts in zip(self.rows, *columns)])

    def make(self, only):
        return Matrix([row.make(only) for row in self.rows])

    def __getitem__(self, index):
        if isinstance(index, tuple):
            return self.rows[index[0]].items[index[1]]
        return self.rows[index]

    def __matmul__(self, other):
        if isinstance(other, Vector):
            return Vector([dot(row.items, other.items) for row in self.rows])
        columns = [[row.items[j] for row in other.rows] for j in range(len(self.rows))]
        return Matrix([Vector([dot(row.items, column) for column in columns]) for row in self.rows])


NAMES = {
    "kb": Functions(),
    "fma": fma,
    "bool": lambda value: convert("bool", value),
    "int": lambda value: convert("int32", value),
    "float": lambda value: convert("float32", value),
    "type": lambda value: value.make,
}


def compiled(expression):
    """A function of a dictionary of names, for an expression."""
    code = compile(expression, expression, "eval")
    return lambda names: eval(code, dict(NAMES, **names))


def evaluate(expression, names):
    """The value of an expression over named Numbers, Vectors and Matrices."""
    return compiled(expression)(names)


def from_host(type, value):
    """A value that an array gave back (a number, or nested tuples) as a Number, Vector or Matrix of its element."""
    if not isinstance(value, (tuple, list)):
        return Number(type, value)
    items = [from_host(type, item) for item in value]
    return Matrix(items) if isinstance(items[0], Vector) else Vector(items)


def flat(value):
    """The plain Python numbers in a Number, bool, Vector or Matrix, in order."""
    if isinstance(value, Vector):
        return [number for item in value.items for number in flat(item)]
    if isinstance(value, Matrix):
        return [number for row in value.rows for number in flat(row)]
    return [value.value if isinstance(value, Number) else value]


def same(a, b):
    """Equal bit by bit, all NaNs alike."""
    if isinstance(a, float) and isinstance(b, float):
        if a != a or b != b:
            return a != a and b != b
        return a == b and math.copysign(1.0, a) == math.copysign(1.0, b)
    return a == b and isinstance(a, float) == isinstance(b, float)
