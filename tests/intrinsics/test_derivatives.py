"""Every rule of a derivative against differences of what the simulator computes, and in closed form where it has
none."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest

from kbuild.errors import InternalError
from kbuild.intrinsics.derivatives import partials
from kbuild.intrinsics.row import Row
from kbuild.intrinsics.table import ALL_ROWS, ROWS, has_effects
from kbuild.ir import nodes
from kbuild.ir.nodes import Assign, Const, Expr, Index, Intrinsic, Read, Symbol, ThreadIndex
from kbuild.ir.types import BOOL, FLOAT16, FLOAT32, FLOAT64, INT32, VOID, Array, Scalar
from kbuild.ir.verify import verify
from kbuild.sim import numbers
from kbuild.sim.threads import run
from kbuild.sim.values import Memory

INF, NAN = math.inf, math.nan
RULES = [name for name, row in ROWS.items() if row.partials]


def kernel(row: Row, type: Scalar, *, is_primal: bool = False) -> nodes.Kernel:
    """Stores at every point (arrays of arguments, and of the adjoint) the partial derivatives, or the value."""
    names = [name for name, _ in row.signature.parameters]
    outs = ["value"] if is_primal else [f"adj_{name}" for name in names]
    symbols = [Symbol(name, Array(type, 1)) for name in [*names, "g", *outs]]
    thread = ThreadIndex(0, 1, INT32)
    *given, g = [Index(Read(s, s.type), (thread,), type) for s in symbols[: len(names) + 1]]
    value = Intrinsic(row.name, tuple(given), type)
    made: Sequence[Expr | None] = [value] if is_primal else partials(row, given, g, value)
    body = [
        Assign(Index(Read(s, s.type), (thread,), type), Const(0.0, type) if one is None else one)
        for s, one in zip(symbols[len(names) + 1 :], made, strict=True)
    ]
    function = nodes.Function(row.name, "rules", tuple(symbols), VOID, tuple(body))
    return nodes.Kernel(f"rules:{row.name}", function, 1)


def evaluated(
    row: Row, type: Scalar, points: Sequence[tuple[float, ...]], g: float = 1.0, *, is_primal: bool = False
) -> list[tuple[float, ...]]:
    """What the kernel stores for each point."""
    made = kernel(row, type, is_primal=is_primal)
    verify(made, has_effects)
    columns = [*zip(*points, strict=True), [g] * len(points)]
    outs = len(made.function.parameters) - len(columns)
    arrays = [Memory(type, (len(points),), list(column)) for column in [*columns, *([[0.0] * len(points)] * outs)]]
    run(made, (len(points),), arrays)
    return list(zip(*(array.data for array in arrays[len(columns) :]), strict=True))


def test_rules_are_there_where_there_are_derivatives() -> None:
    for row in ALL_ROWS.values():
        if row.has_effects:
            assert not row.partials
            continue
        assert len(row.partials) == (0 if row.derivative == "no" else len(row.signature.parameters)), row.name
        assert bool(row.subgradient) == (row.derivative == "parts"), row.name


def test_integers_have_no_derivative() -> None:
    for name in ("abs", "min", "bit_count"):
        count = len(ROWS[name].signature.parameters)
        assert partials(ROWS[name], [Const(3, INT32)] * count, Const(1, INT32), Const(3, INT32)) == [None] * count


def test_what_is_zero_everywhere_has_no_expression() -> None:
    x = Const(1.5, FLOAT32)
    assert partials(ROWS["floor"], [x], x, x) == [None]
    assert partials(ROWS["copysign"], [x, x], x, x)[1] is None
    assert partials(ROWS["isnan"], [x], x, Const(False, BOOL)) == [None]


def test_constants_take_the_type_and_nothing_has_a_place() -> None:
    x = Read(Symbol("x", FLOAT16), FLOAT16)
    (made,) = partials(ROWS["erfinv"], [x], x, x)
    assert isinstance(made, nodes.Binary)
    assert isinstance(made.left, nodes.Binary)
    assert made.left.left == Const(numbers.round_to(0.886226925452758, FLOAT16), FLOAT16, None)


def test_another_language_is_refused() -> None:
    row = Row("odd", ROWS["sin"].signature, {}, "", partials=("g ** x",))
    with pytest.raises((InternalError, KeyError)):
        partials(row, [Const(1.0, FLOAT32)], Const(1.0, FLOAT32), Const(1.0, FLOAT32))


POSITIVE = (0.05, 8.0)
DOMAINS: dict[str, tuple[tuple[float, float], ...]] = {
    **dict.fromkeys(("sqrt", "rsqrt", "log", "log2", "log10"), (POSITIVE,)),
    **dict.fromkeys(("asin", "acos", "erfinv"), ((-0.95, 0.95),)),
    "erfcinv": ((0.05, 1.95),),
    "tan": ((-1.3, 1.3),),
    "pow": (POSITIVE, (-3.0, 3.0)),
}
# Where the first two are nearer to a kink than a difference is wide, the formula changes within it.
STEP = 1e-4


def points(name: str, type: Scalar, count: int = 200) -> list[tuple[float, ...]]:
    """Points inside the domain and away from kinks, values of the type."""
    source = random.Random(name)
    row = ROWS[name]
    domain = DOMAINS.get(name, ((-3.0, 3.0),) * len(row.signature.parameters))
    found = [tuple(numbers.round_to(source.uniform(low, high), type) for low, high in domain) for _ in range(2 * count)]
    kinks = {"abs": lambda p: p[0], "cbrt": lambda p: p[0], "copysign": lambda p: min(map(abs, p))}
    kinks |= dict.fromkeys(("min", "max"), lambda p: p[0] - p[1]) | {"atan2": lambda p: max(map(abs, p))}
    return [p for p in found if name not in kinks or abs(kinks[name](p)) > 0.05][:count]


def differences(name: str, at: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
    """Central differences of fourth order, in double precision."""

    def moved(by: float, position: int) -> list[float]:
        there = [(*p[:position], p[position] + by * STEP, *p[position + 1 :]) for p in at]
        return [value for (value,) in evaluated(ROWS[name], FLOAT64, there, is_primal=True)]

    columns = []
    for position in range(len(at[0])):
        near = zip(moved(1, position), moved(-1, position), strict=True)
        far = zip(moved(2, position), moved(-2, position), strict=True)
        columns.append([(8 * (a - b) - (c - d)) / (12 * STEP) for (a, b), (c, d) in zip(near, far, strict=True)])
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize(
    ("type", "relative"), [(FLOAT64, 2e-9), (FLOAT32, 5e-6), (FLOAT16, 3e-2)], ids=["float64", "float32", "float16"]
)
@pytest.mark.parametrize("name", RULES)
def test_rules_are_slopes(name: str, type: Scalar, relative: float) -> None:
    at = points(name, type)
    assert len(at) >= 150
    for g in (1.0, -2.5):
        for point, found, wanted in zip(at, evaluated(ROWS[name], type, at, g), differences(name, at), strict=True):
            scaled = [g * one for one in wanted]
            assert found == pytest.approx(scaled, rel=relative, abs=relative), (point, found, scaled)


def test_slopes_of_whole_powers_of_negative_numbers() -> None:
    at = [(-1.5, 3.0), (-2.0, 2.0), (-0.5, -1.0), (-3.0, 0.0)]
    wanted = [(6.75, 0.0), (-4.0, 0.0), (-4.0, 0.0), (0.0, 0.0)]
    assert evaluated(ROWS["pow"], FLOAT64, at) == wanted


KINKS = {
    "abs": [((0.0,), (0.0,)), ((-0.0,), (0.0,)), ((INF,), (1.0,)), ((-INF,), (-1.0,))],
    "min": [
        ((1.0, 1.0), (1.0, 0.0)),
        ((0.0, -0.0), (1.0, 0.0)),
        ((NAN, 1.0), (0.0, 1.0)),
        ((1.0, NAN), (1.0, 0.0)),
        ((NAN, NAN), (1.0, 0.0)),
        ((INF, 1.0), (0.0, 1.0)),
    ],
    "max": [
        ((1.0, 1.0), (1.0, 0.0)),
        ((-0.0, 0.0), (1.0, 0.0)),
        ((NAN, 1.0), (0.0, 1.0)),
        ((1.0, NAN), (1.0, 0.0)),
        ((NAN, NAN), (1.0, 0.0)),
        ((INF, 1.0), (1.0, 0.0)),
    ],
    "sqrt": [((0.0,), (INF,)), ((INF,), (0.0,)), ((-1.0,), (NAN,))],
    "rsqrt": [((0.0,), (-INF,)), ((INF,), (0.0,))],
    "cbrt": [((0.0,), (INF,)), ((-0.0,), (INF,)), ((INF,), (0.0,))],
    "pow": [
        ((0.0, 0.0), (0.0, 0.0)),
        ((0.0, 1.0), (1.0, 0.0)),
        ((0.0, 2.0), (0.0, 0.0)),
        ((0.0, 0.5), (INF, 0.0)),
        ((0.0, -1.0), (-INF, 0.0)),
        ((-2.0, 0.5), (NAN, 0.0)),
        ((1.0, 0.0), (0.0, 0.0)),
        ((INF, -1.0), (0.0, 0.0)),
        ((math.e, 0.0), (0.0, 1.0)),
    ],
    "exp": [((-INF,), (0.0,)), ((1000.0,), (INF,))],
    "log": [((0.0,), (INF,)), ((INF,), (0.0,))],
    "asin": [((x,), (0.0,)) for x in (1.0, -1.0, 2.0, -INF)] + [((NAN,), (NAN,))],
    "acos": [((x,), (0.0,)) for x in (1.0, -1.0, 2.0, -INF)] + [((NAN,), (NAN,))],
    "atan": [((1e300,), (0.0,)), ((INF,), (0.0,))],
    "atan2": [
        ((0.0, 0.0), (0.0, 0.0)),
        ((-0.0, -0.0), (0.0, 0.0)),
        ((0.0, -2.0), (-0.5, 0.0)),
        ((2.0, 0.0), (0.0, -0.5)),
        ((3e-300, 4e-300), (0.16e300, -0.12e300)),
        ((4e300, 3e300), (0.12e-300, -0.16e-300)),
        ((INF, 1.0), (0.0, 0.0)),
        ((1.0, -INF), (0.0, 0.0)),
    ],
    "tanh": [((INF,), (0.0,)), ((-INF,), (0.0,))],
    "erf": [((INF,), (0.0,)), ((-1e200,), (0.0,))],
    "erfinv": [((1.0,), (INF,)), ((-1.0,), (INF,)), ((2.0,), (NAN,))],
    "erfcinv": [((0.0,), (-INF,)), ((2.0,), (-INF,)), ((-1.0,), (NAN,))],
    "copysign": [
        ((0.0, -1.0), (0.0, 0.0)),
        ((2.0, 0.0), (1.0, 0.0)),
        ((2.0, -0.0), (-1.0, 0.0)),
        ((-2.0, -1.0), (1.0, 0.0)),
        ((-2.0, 3.0), (-1.0, 0.0)),
    ],
}


@pytest.mark.parametrize("name", KINKS)
def test_edges(name: str) -> None:
    at, wanted = zip(*KINKS[name], strict=True)
    for point, found, slopes in zip(at, evaluated(ROWS[name], FLOAT64, at), wanted, strict=True):
        assert found == pytest.approx(slopes, rel=1e-12, abs=0.0, nan_ok=True), point


def test_every_kink_is_held_to_a_closed_form() -> None:
    assert {name for name in RULES if ROWS[name].derivative == "parts"} <= set(KINKS)
