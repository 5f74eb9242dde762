"""Float functions at the points where they erred most, held against correctly rounded results (data/ulps.json).

`benchmarks/ulps.py judge` found the points among a hundred thousand a function, and their results with mpmath.
"""

import json
import struct
from pathlib import Path

import pytest
from gpukernels import accuracy

import kbuild as kb

pytestmark = pytest.mark.gpu

POINTS = json.loads((Path(__file__).parent / "data" / "ulps.json").read_text(encoding="utf-8"))
WORDS = {"float16": "H", "float32": "I", "float64": "Q"}
ANY_ZERO = ("min", "max")  # which of two zeros is nobody's promise
INFINITY = {"float16": 0x7C00, "float32": 0x7F800000, "float64": 0x7FF0000000000000}


def ordinal(bits, sign):
    """Neighbouring numbers have neighbouring ordinals."""
    return bits if bits < sign else sign - bits


def apart(type, a, b, is_any_zero):
    """How many steps lie between two patterns; NaN is only near NaN, and a wrong sign is infinitely far."""
    sign, infinity = 1 << (8 * struct.calcsize(WORDS[type]) - 1), INFINITY[type]
    is_nan = [bits & (sign - 1) > infinity for bits in (a, b)]
    if any(is_nan):
        return 0 if all(is_nan) else float("inf")
    if is_any_zero and not (a | b) & (sign - 1):
        return 0
    if (a ^ b) & sign:
        return float("inf")
    return abs(ordinal(a, sign) - ordinal(b, sign))


def pack(type, patterns):
    return struct.pack("<%d%s" % (len(patterns), WORDS[type]), *patterns)


def compute(type, function, columns):
    """Patterns that the function of one number gives for patterns of arguments."""
    kernel, dtype, count = getattr(accuracy, "compute_" + type), getattr(kb, type), len(columns[0])
    arrays = [kb.array(pack(type, column), dtype=dtype) for column in columns]
    arrays += [arrays[0]] * (3 - len(arrays))
    out = kb.zeros(count, dtype=dtype)
    kb.launch(kernel, dim=count, inputs=[*arrays, out, function])
    return struct.unpack("<%d%s" % (count, WORDS[type]), bytes(out.tobytes()))


def expressions():
    for type in WORDS:
        for number, expression in enumerate(accuracy.EXPRESSIONS["compute_" + type]):
            yield type, number, expression[3:].partition("(")[0]


@pytest.mark.parametrize(("type", "number", "name"), list(expressions()))
def test_the_hardest_points(type, number, name):
    kept = POINTS["%s %s" % (name, type)]
    rows = [[int(pattern, 16) for pattern in row] for row in kept["points"]]
    *columns, right = zip(*rows)
    results = compute(type, number, columns)
    wrong = [
        "%s(%s): got %#x, right is %#x" % (name, ", ".join(map(hex, row[:-1])), got, wanted)
        for row, got, wanted in zip(rows, results, right)
        if apart(type, got, wanted, name in ANY_ZERO) > kept["bound"]
    ]
    assert len(rows) >= 20
    assert not wrong, "\n".join(wrong)
