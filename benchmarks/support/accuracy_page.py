"""docs/accuracy.md from results/ulps.json."""

from __future__ import annotations

import textwrap
from typing import Any

from support.bounds import DOCUMENTED
from support.floats import FORMATS

HEAD = """\
# How accurate the functions are

Written by `python benchmarks/report.py` from `benchmarks/results/ulps.json`. Errors are in units of the last place of
the exact result, which mpmath gave: 0.5 is as near as a number of the type can come. In parentheses stands how far a
result is from the correctly rounded one, in steps from number to number, and how far it may be: for the functions of
CUDA's library what the CUDA C++ Programming Guide documents (which comes from tests and is no promise), for kbuild's
own what follows from their definition. A result that is exact has error 0.
"""


def page(document: dict[str, Any]) -> str:
    """The text of the page."""
    functions = document["functions"]
    head = ("function", *FORMATS)
    lines = ["| " + " | ".join(head) + " |", "| --- " + "| ---: " * len(FORMATS) + "|"]
    lines += ["| " + " | ".join((f"`{name}`", *_cells(rows))) + " |" for name, rows in functions.items()]
    return "\n".join([HEAD, *lines, "", _fill(_how(document)), "", _fill(_rest()), ""])


def _cells(rows: dict[str, dict[str, Any]]) -> list[str]:
    return [_cell(rows[type]) if type in rows else "" for type in FORMATS]


def _cell(row: dict[str, Any]) -> str:
    if row["wrong"]:
        return f"wrong for {row['wrong']} of {row['points']}"
    return f"{row['ulps']:.3g} ({row['apart']} ≤ {row['bound']})" if row["ulps"] else "0"


HOW = """\
Measured on {gpu}, {toolchain}, {date}; commit {commit}. A float16 function of one argument was tried with every number
there is; others with at least {float16:,} float16, {float32:,} float32 and {float64:,} float64 arguments: of every
size, subnormal, in and around the interesting range, near zeros, ends and branch points, and for trigonometry near
multiples of π/2 up to the largest. Zeros, infinities and NaN are as C's annex F has them, with the sign of a zero (but
which of two zeros `min` and `max` return). What differs with another architecture or NVRTC is the library's code;
`tests/gpu/test_ulps.py` holds any GPU to the bounds, at the points that were worst here."""

REST = """\
All of them but {own} are functions or operations of CUDA. float16 is computed in float32 and rounded once more
(`copysign` on its bits). `add`, `sub`, `mul`, `div` and `mod` are the operators `+ - * / %`; `x ** y` is `pow`. `lerp`,
`smoothstep`, `clamp`, `sign`, `step`, `nonzero` and everything on vectors, matrices and quaternions are made of
operations that are rounded one by one, as [design/numbers.md](design/numbers.md) says."""


def _how(document: dict[str, Any]) -> str:
    rows = document["functions"]
    least = {type: min(row[type]["points"] for row in rows.values() if type in row) for type in FORMATS}
    return HOW.format(**document["machine"], toolchain=document["toolchain"], **least)


def _rest() -> str:
    return REST.format(own=", ".join(f"`{name}`" for name in _own()))


def _own() -> list[str]:
    return [name for name in ("frac", "degrees", "radians") if name not in DOCUMENTED]


def _fill(text: str) -> str:
    return textwrap.fill(text, 120, break_on_hyphens=False)
