"""Mathematical functions against double precision (Python's `math`), in units of the last place."""

import math
from fractions import Fraction

import pytest
from gpukernels import floats

from tests.gpu import meaning, samples, tables

pytestmark = pytest.mark.gpu


def cube_root(x):
    if x == 0.0 or not math.isfinite(x):
        return x
    guess = Fraction(math.copysign(abs(x) ** (1.0 / 3.0), x))
    return float(guess - (guess**3 - Fraction(x)) / (3 * guess**2))  # one step of Newton's method, exactly


def power(x, y):
    """C's pow, where Python raises or turns to complex numbers."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0 and is_odd(y) else math.inf
    except ValueError:
        if x == 0.0:
            return math.copysign(math.inf, x) if is_odd(y) else math.inf
        return math.nan


def is_odd(y):
    return math.isfinite(y) and math.fmod(abs(y), 2.0) == 1.0


def guarded(function, at_zero=math.nan, overflow=math.inf):
    """A function of `math` with IEEE's answers where Python raises."""

    def apply(x):
        try:
            return function(x)
        except ValueError:
            return at_zero if x == 0.0 else math.nan
        except OverflowError:
            return overflow

    return apply


def clamped(x):
    return x if x != x else min(max(x, -1.0), 1.0)


def hyperbolic_sine(x):
    try:
        return math.sinh(x)
    except OverflowError:
        return math.copysign(math.inf, x)


def reciprocal_root(x):
    if x > 0.0:
        return 0.0 if math.isinf(x) else 1.0 / math.sqrt(x)
    return math.copysign(math.inf, x) if x == 0.0 else math.nan


def inverse_erf(y):
    """Newton's method, where nothing cancels."""
    if not abs(y) <= 0.5:
        return -inverse_erfc(1.0 + y) if y < 0.0 else inverse_erfc(1.0 - y)
    x = y
    for _ in range(30):
        x -= (math.erf(x) - y) * math.exp(x * x) * math.sqrt(math.pi) / 2.0
    return x


def logarithm_of_erfc(x):
    """By the asymptotic series (Abramowitz and Stegun 7.1.23) where erfc itself is subnormal or nearly."""
    if x < 24.0:
        return math.log(math.erfc(x))
    t, term, total = 0.5 / (x * x), 1.0, 0.0
    for k in range(1, 9):
        term *= -(2 * k - 1) * t
        total += term
    return math.log1p(total) - math.log(x * math.sqrt(math.pi)) - x * x


def inverse_erfc(y):
    """Newton's method on the logarithm, which is nearly a parabola."""
    if not 0.0 < y < 2.0:
        return {0.0: math.inf, 2.0: -math.inf}.get(y, math.nan)
    if 0.5 <= y <= 1.5:
        return inverse_erf(1.0 - y)  # exact, and nothing cancels there
    if y > 1.0:
        return -inverse_erfc(2.0 - y)
    x = min(math.sqrt(-math.log(y)), 26.5)
    for _ in range(60):
        tail = logarithm_of_erfc(x)
        # tail * exp(x * x) as one exponential: the second factor alone overflows from 26.7 on
        x += (tail - math.log(y)) * math.exp(tail + x * x) * math.sqrt(math.pi) / 2.0
    return x


# Name: reference, and the largest error in units of the last place for float32 and float64. The bounds are those that
# the CUDA Programming Guide states for the functions behind the names, and one more for float64, whose reference is
# itself rounded. Zero: exact.
FUNCTIONS = {
    "sqrt": (meaning.square_root, 0, 0),
    "rsqrt": (reciprocal_root, 2, 2),
    "cbrt": (cube_root, 1, 2),
    "pow": (power, 4, 3),
    "exp": (guarded(math.exp), 2, 2),
    "exp2": (guarded(lambda x: math.pow(2.0, x)), 2, 2),
    "log": (guarded(math.log, at_zero=-math.inf), 1, 2),
    "log2": (guarded(math.log2, at_zero=-math.inf), 1, 2),
    "log10": (guarded(math.log10, at_zero=-math.inf), 2, 2),
    "sin": (guarded(math.sin), 2, 3),
    "cos": (guarded(math.cos), 2, 3),
    "tan": (guarded(math.tan), 4, 3),
    "asin": (lambda x: math.asin(clamped(x)), 4, 3),
    "acos": (lambda x: math.acos(clamped(x)), 3, 3),
    "atan": (math.atan, 2, 3),
    "atan2": (math.atan2, 3, 3),
    "sinh": (hyperbolic_sine, 3, 3),
    "cosh": (guarded(math.cosh), 2, 2),
    "tanh": (math.tanh, 2, 2),
    "erf": (math.erf, 2, 3),
    "erfc": (math.erfc, 4, 6),
    "erfinv": (inverse_erf, 2, 6),
    "erfcinv": (inverse_erfc, 4, 7),
    "floor": (meaning.floor, 0, 0),
    "ceil": (meaning.ceil, 0, 0),
    "trunc": (meaning.trunc, 0, 0),
    "round": (meaning.round_away, 0, 0),
    "rint": (meaning.round_even, 0, 0),
    "copysign": (math.copysign, 0, 0),
}


def arguments(type):
    """Rows (x, y): edges, numbers around one, in -1 … 1, and of every size."""
    values = samples.floats(type)
    rows = [(x, y) for x in values for y in values]
    for spread in (2, 5, 10):
        xs, ys = (samples.random_floats(type, 2000, seed, spread) for seed in (1, 2))
        rows += zip(xs, ys)
        rows += ((abs(x), y) for x, y in zip(xs, ys))
    rows += ((math.fmod(x, 1.0), x) for x in samples.random_floats(type, 2000, 3, 3))
    rows += zip(samples.random_floats(type, 2000, 4), samples.random_floats(type, 2000, 5))
    return rows


def name_of(expression):
    return "pow" if expression == "x**y" else expression[3:].partition("(")[0]


def units_apart(type, a, b):
    """Distance in units of the last place of b."""
    if meaning.same(a, b) or a == b:
        return 0.0
    if not (math.isfinite(a) and math.isfinite(b)):
        return math.inf
    bits, least = meaning.PRECISION[type]
    unit = max(math.frexp(b)[1] - bits, least)
    return abs(math.ldexp(a, -unit) - math.ldexp(b, -unit)) if unit > -1000 else abs(a - b) / math.ldexp(1.0, unit)


@pytest.mark.parametrize("type", ["float16", "float32", "float64"])
def test_functions(type):
    expressions = floats.EXPRESSIONS["functions_" + type]
    rows = arguments(type)
    results = tables.run(getattr(floats, "functions_" + type), [type, type], rows, type, expressions)
    wrong, worst = [], {}
    for expression, result in zip(expressions, results):
        reference, *bounds = FUNCTIONS[name_of(expression)]
        # float16 goes through float32, whose few units vanish but where they tip the last rounding.
        bound = bounds[type == "float64"] if type != "float16" else min(bounds[0], 1)
        for (x, y), got in zip(rows, result):
            exact = reference(x, y) if "y" in expression else reference(x)
            error = units_apart(type, got, meaning.round_to(type, exact))
            worst[expression] = max(worst.get(expression, 0.0), error)
            if error > bound:
                wrong.append("%s at x=%r, y=%r: got %r, is %r (%g units)" % (expression, x, y, got, exact, error))
    print(type, {name: round(error, 2) for name, error in worst.items()})
    assert not wrong, "%d are wrong:\n%s" % (len(wrong), "\n".join(wrong[:30]))


def test_every_function_has_a_reference():
    expressions = {
        name_of(e) for type in ("float16", "float32", "float64") for e in floats.EXPRESSIONS["functions_" + type]
    }
    assert expressions == set(FUNCTIONS)
