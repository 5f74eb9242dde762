"""benchmarks/ulps.py: what judges a GPU's float functions is right itself, and the table covers every function."""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import random
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from kbuild.intrinsics.table import ROWS

ROOT = Path(__file__).parents[2]
RESULTS = json.loads((ROOT / "benchmarks" / "results" / "ulps.json").read_text(encoding="utf-8"))
POINTS = json.loads((ROOT / "tests" / "gpu" / "data" / "ulps.json").read_text(encoding="utf-8"))
FLOATS = ("float16", "float32", "float64")
NAMES = ("accuracy_page", "bounds", "exact", "floats", "judge", "points", "raw")


@pytest.fixture(scope="module")
def support() -> Iterator[SimpleNamespace]:
    """The modules in benchmarks/support, which the programs beside that folder import."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        yield SimpleNamespace(**{name: importlib.import_module(f"support.{name}") for name in NAMES})
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "tests" / "gpu" / "project" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measured(type: str) -> list[str]:
    """The functions of a type in the kernel that is measured, in its order."""
    text = generator().texts()["accuracy.py"].partition(f'EXPRESSIONS["compute_{type}"]')[2].partition("\n)\n")[0]
    return [line.strip()[4:].partition("(")[0] for line in text.splitlines() if line.strip().startswith('"kb.')]


@pytest.mark.parametrize("type", FLOATS)
def test_the_table_has_every_function_that_is_measured(type: str) -> None:
    names = measured(type)
    assert {"sin", "pow", "mod", "add", "radians"} < set(names)
    assert set(names) == {name for name, rows in RESULTS["functions"].items() if type in rows}


def test_every_float_function_is_measured() -> None:
    wanted = {
        row.name
        for row in ROWS.values()
        if row.signature.result in ("Float", "Number") and "float32" in row.cuda and not row.has_effects
    }
    assert wanted <= set(measured("float32")) & set(measured("float16")) & set(measured("float64"))


@pytest.mark.parametrize("name", sorted(RESULTS["functions"]))
def test_the_errors_are_within_the_documented_bounds(name: str, support: SimpleNamespace) -> None:
    for type, row in RESULTS["functions"][name].items():
        assert row["bound"] == support.bounds.bound(name, type)
        assert row["wrong"] == 0
        assert 0 <= row["apart"] <= row["bound"]
        assert row["ulps"] <= row["apart"] + 0.5
        assert row["points"] >= {"float16": 1 << 16, "float32": 100_000, "float64": 40_000}[type]


def test_the_points_for_the_gpu_are_those_of_the_table() -> None:
    assert set(POINTS) == {f"{name} {type}" for name, rows in RESULTS["functions"].items() for type in rows}
    for kept in POINTS.values():
        assert len({tuple(row) for row in kept["points"]}) >= 20


def test_the_page_is_what_the_results_say(support: SimpleNamespace) -> None:
    page = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    assert page == support.accuracy_page.page(RESULTS), "run python benchmarks/report.py"


# What is measured with


def test_rounding_is_that_of_python(support: SimpleNamespace) -> None:
    numbers, single = random.Random(1), support.floats.FORMATS["float32"]
    for _ in range(3000):
        exact = Fraction(numbers.getrandbits(80), 1 << numbers.randint(0, 1200)) * numbers.choice((1, -1))
        assert support.floats.FORMATS["float64"].value(support.floats.FORMATS["float64"].round(exact)) == float(exact)
    assert single.value(single.round(Fraction(1) + Fraction(1, 1 << 24))) == 1.0  # a tie goes to even
    assert single.value(single.round(Fraction(1) + Fraction(3, 1 << 24))) == 1.0 + 2.0**-22
    assert single.round(Fraction(2) ** 128 - Fraction(2) ** 103) == single.infinity
    assert single.round(Fraction(2) ** 128 - Fraction(2) ** 104) == single.infinity - 1
    assert single.round(-Fraction(1, 1 << 149)) == single.sign | 1


ELSEWHERE = {
    "sqrt": math.sqrt, "exp": math.exp, "log": math.log, "log2": math.log2, "log10": math.log10, "sin": math.sin,
    "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos, "atan": math.atan, "sinh": math.sinh,
    "cosh": math.cosh, "tanh": math.tanh, "erf": math.erf, "erfc": math.erfc, "atan2": math.atan2, "pow": math.pow,
    "exp2": lambda x: math.pow(2.0, x), "rsqrt": lambda x: 1.0 / math.sqrt(x), "cbrt": lambda x: math.pow(x, 1.0 / 3.0),
    "degrees": math.degrees, "radians": math.radians, "mod": math.fmod, "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(ELSEWHERE))
def test_exact_results_are_near_those_of_python(name: str, support: SimpleNamespace) -> None:
    """C's double precision is right to a few units, so that a wrong formula shows."""
    numbers = random.Random(name)
    count = 2 if name in support.points.BINARY else 1
    for _ in range(200):
        arguments = tuple(numbers.uniform(0.01, 0.99) for _ in range(count))
        wanted = ELSEWHERE[name](*arguments)
        assert math.isclose(support.exact.exact(name, arguments), wanted, rel_tol=4e-15), arguments


@pytest.mark.parametrize("y", [1e-300, 1e-30, 0.001, 0.3, 0.5, 0.7, 0.999, 1.0 - 2.0**-53])
def test_the_inverse_error_functions(y: float, support: SimpleNamespace) -> None:
    from mpmath import erf, erfc, mpf

    for sign in (1.0, -1.0):
        assert abs(erf(support.exact.exact("erfinv", (sign * y,))) / mpf(sign * y) - 1) < mpf(2) ** -90
    for wanted in (y, 2.0 - y):
        found = support.exact.exact("erfcinv", (wanted,))
        assert abs(erfc(found) / mpf(wanted) - 1) < mpf(2) ** -90 or wanted == 2.0


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"),
    [
        ("sqrt", (-1.0,), math.nan), ("sqrt", (-0.0,), -0.0), ("rsqrt", (-0.0,), -math.inf), ("log", (0.0,), -math.inf),
        ("pow", (math.nan, 0.0), 1.0), ("pow", (1.0, math.nan), 1.0), ("pow", (-0.0, -3.0), -math.inf),
        ("pow", (-8.0, 1.5), math.nan), ("pow", (-1.0, math.inf), 1.0), ("pow", (0.5, math.inf), 0.0),
        ("atan2", (-0.0, 1.0), -0.0), ("min", (math.nan, 2.0), 2.0), ("mod", (1.0, 0.0), math.nan),
        ("mod", (1.0, math.inf), 1.0), ("round", (-0.5,), -1.0), ("rint", (2.5,), 2.0), ("rint", (-0.3,), -0.0),
        ("frac", (-2.0,), 0.0), ("asin", (-0.0,), -0.0), ("erfinv", (1.0,), math.inf), ("erfcinv", (0.0,), math.inf),
        ("exp", (-math.inf,), 0.0), ("sin", (math.inf,), math.nan), ("fma", (0.0, math.inf, 1.0), math.nan),
        ("fma", (2.0, 3.0, -6.0), 0.0), ("copysign", (1.0, -0.0), -1.0), ("div", (1.0, -0.0), -math.inf),
    ],
)  # fmt: skip
def test_special_cases(name: str, arguments: tuple[float, ...], wanted: float, support: SimpleNamespace) -> None:
    found = support.exact.exact(name, arguments)
    assert repr(float(found)) == repr(wanted)


@pytest.mark.parametrize("type", FLOATS)
def test_a_wrong_result_is_seen(type: str, support: SimpleNamespace) -> None:
    """Right results err by half a unit; one that is three steps off, a NaN and a wrong sign are found."""
    format = support.floats.FORMATS[type]
    arguments = [format.round(Fraction(n, 7)) for n in range(1, 60)]
    exact = [support.exact.exact("sin", (format.value(bits),)) for bits in arguments]
    right = [support.judge.measure(format, one, 0).right for one in exact]

    def judged(results: list[int]) -> dict[str, object]:
        row, _ = support.judge.judge_function("sin", type, [arguments], format.pack(results))
        return row

    row = judged(right)
    assert (row["apart"], row["wrong"], row["right"]) == (0, 0, 1.0)
    assert 0.3 < row["ulps"] <= 0.5
    row = judged([right[0] + 3, *right[1:]])
    assert row["apart"] == 3
    assert 2.5 <= row["ulps"] <= 3.5
    assert row["at"] == [format.value(arguments[0]).hex()]
    assert support.judge.is_over(row)
    for bad in (format.infinity + 1, right[5] ^ format.sign, format.infinity):
        row = judged([*right[:5], bad, *right[6:]])
        assert support.judge.is_over(row)


def test_raw_results_come_back(tmp_path: Path, support: SimpleNamespace) -> None:
    columns = support.points.columns("sin", "float16")
    functions = [{"name": "sin", "points": 3, "arguments": support.raw.digest("float16", columns)}]
    support.raw.write(tmp_path / "a.raw", {"type": "float16", "functions": functions}, [b"\n12345"])
    head, parts = support.raw.read(tmp_path / "a.raw")
    assert head["functions"] == functions
    assert list(parts) == [("sin", functions[0]["arguments"], b"\n12345")]


def test_points_are_always_the_same(support: SimpleNamespace) -> None:
    """Their results would not fit otherwise."""
    digests = {f"{name} {type}": RESULTS["arguments"][f"{name} {type}"] for name in ("pow", "tan") for type in FLOATS}
    for title, digest in digests.items():
        name, type = title.split()
        assert support.raw.digest(type, support.points.columns(name, type)) == digest
