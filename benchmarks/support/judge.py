"""The half of ulps.py that judges: raw results against exact ones. Wants mpmath (and is faster with gmpy2)."""

from __future__ import annotations

import heapq
import json
import math
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from mpmath import mpf
from support import points, raw
from support.bounds import bound
from support.exact import Exact, exact
from support.floats import FORMATS, Format
from support.results import ROOT, folder, progress

HARDEST = 24  # points of each function that the test keeps
POINTS = ROOT / "tests" / "gpu" / "data" / "ulps.json"
ANY_ZERO = frozenset({"min", "max"})  # which of two zeros is nobody's promise


Entry = tuple[float, float, int, tuple[int, ...], int]  # how hard, by three measures; arguments; the right result


class Verdict(NamedTuple):
    """One result: its error in units of the last place, and how many numbers lie between it and the right one."""

    ulps: float
    apart: float
    right: int


def judge(raw_folder: Path, jobs: int) -> int:
    """Writes the table and the hardest points; 1 when a function is beyond its bound."""
    paths = sorted(raw_folder.glob("ulps-*.raw"))
    heads = [raw.read(path)[0] for path in paths]
    functions: dict[str, dict[str, Any]] = {}
    kept: dict[str, dict[str, Any]] = {}
    with ProcessPoolExecutor(jobs) as pool:
        for name, type, row, hardest in pool.map(_judge_one, _tasks(paths)):
            functions.setdefault(name, {})[type] = row
            kept.setdefault(name, {})[type] = {"bound": row["bound"], "points": hardest}
            progress(line(name, type, row))
    arguments = {f"{one['name']} {head['type']}": one["arguments"] for head in heads for one in head["functions"]}
    document = {"benchmark": "ulps", "machine": heads[0]["machine"], "toolchain": heads[0]["toolchain"]}
    path = folder() / "ulps.json"
    path.write_text(
        json.dumps({**document, "functions": functions, "arguments": arguments}, indent=2) + "\n", encoding="utf-8"
    )
    POINTS.parent.mkdir(exist_ok=True)
    POINTS.write_text(dump(kept), encoding="utf-8")
    print(f"written: {path}, {POINTS}")
    over = [line(name, type, row) for name, rows in functions.items() for type, row in rows.items() if is_over(row)]
    print("\n".join(["beyond the bound:", *over]) if over else "every function keeps its bound")
    return 1 if over else 0


def _tasks(paths: list[Path]) -> Iterator[tuple[str, str, str, bytes]]:
    for path in paths:
        head, parts = raw.read(path)
        for name, digest, results in parts:
            yield name, head["type"], digest, results


def _judge_one(task: tuple[str, str, str, bytes]) -> tuple[str, str, dict[str, Any], list[list[str]]]:
    name, type, digest, results = task
    columns = points.columns(name, type)
    if raw.digest(type, columns) != digest:
        raise ValueError(f"{name} of {type} was computed for other arguments: points.py has changed since")
    return name, type, *judge_function(name, type, columns, results)


def judge_function(
    name: str, type: str, columns: list[list[int]], data: bytes
) -> tuple[dict[str, Any], list[list[str]]]:
    """The row of the table, and the hardest points as [arguments …, right result] in hexadecimal patterns."""
    format = FORMATS[type]
    worst, farthest, wrong, right_ones, count = Verdict(0.0, 0.0, 0), 0.0, 0, 0, 0
    at: tuple[int, ...] = ()
    hardest: list[Entry] = []
    for patterns, got in zip(zip(*columns, strict=True), format.unpack(data), strict=True):
        arguments = tuple(map(format.value, patterns))
        verdict = measure(format, exact(name, arguments), got, name in ANY_ZERO)
        count += 1
        wrong += math.isinf(verdict.apart)
        right_ones += verdict.apart == 0
        farthest = max(farthest, verdict.apart)
        if verdict.ulps > worst.ulps:
            worst, at = verdict, patterns
        lot = zlib.crc32(repr(patterns).encode())  # where all are alike, any will do: not the largest, which are NaN
        entry = (verdict.apart, verdict.ulps, lot, patterns, verdict.right)
        if len(hardest) < HARDEST or entry > hardest[0]:
            keep(hardest, entry)
    row = {
        "ulps": round(worst.ulps, 4) if math.isfinite(worst.ulps) else None,
        "at": [format.value(bits).hex() for bits in at],
        "apart": int(farthest) if math.isfinite(farthest) else None,
        "bound": bound(name, type),
        "right": right_ones / count,
        "wrong": wrong,
        "points": count,
    }
    digits = format.width // 4
    kept = [[f"{bits:0{digits}x}" for bits in (*patterns, right)] for *_, patterns, right in sorted(hardest)[::-1]]
    return row, kept


def keep(hardest: list[Entry], entry: Entry) -> None:
    """Adds a point that is not there yet; the easiest makes room for it."""
    if entry not in hardest:
        (heapq.heappush if len(hardest) < HARDEST else heapq.heappushpop)(hardest, entry)


def is_over(row: dict[str, Any]) -> bool:
    """A row beyond its bound, or with an answer that is wrong altogether."""
    return row["wrong"] > 0 or row["apart"] > row["bound"]


def line(name: str, type: str, row: dict[str, Any]) -> str:
    """A row as text."""
    where, wrong = ", ".join(row["at"]), f", {row['wrong']} wrong" if row["wrong"] else ""
    apart = f"{row['apart']} from the right one, bound {row['bound']}"
    return f"{name:<10}{type:<9}{row['ulps']} ulps at ({where}); {apart}; {100 * row['right']:.2f} % right{wrong}"


def measure(format: Format, wanted: Exact, got: int, is_any_zero: bool = False) -> Verdict:
    """How far a result is from what is wanted; infinitely far where it is another kind of thing."""
    value = format.value(got)
    if isinstance(wanted, mpf):
        return _measure_number(format, wanted, got, value)
    right = format.round(Fraction(wanted)) if math.isfinite(wanted) else _special(format, wanted)
    if math.copysign(1.0, wanted) < 0.0:
        right |= format.sign
    if wanted != wanted or value != value:
        distance = 0.0 if wanted != wanted and value != value else math.inf
        return Verdict(distance, distance, right)
    if wanted != 0.0 and math.isfinite(wanted):
        return _measure_number(format, mpf(wanted), got, value)
    is_same = value == wanted and (is_any_zero or math.copysign(1.0, value) == math.copysign(1.0, wanted))
    distance = 0.0 if is_same else math.inf
    return Verdict(distance, distance, right)


def _special(format: Format, value: float) -> int:
    return format.infinity | (1 << (format.precision - 2) if value != value else 0)


def _measure_number(format: Format, wanted: mpf, got: int, value: float) -> Verdict:
    sign, mantissa, exponent, bits = wanted._mpf_
    right = format.round_scaled(bool(sign), int(mantissa), exponent)
    if value != value or (value != 0.0 and (value < 0.0) != bool(sign)) or (got ^ right) & format.sign:
        return Verdict(math.inf, math.inf, right)
    apart = abs(format.ordinal(got) - format.ordinal(right))
    if math.isinf(value):
        return Verdict(0.0 if apart == 0 else apart + 0.5, apart, right)
    if right & ~format.sign == format.infinity:  # not overflowed, but should have
        return Verdict(float(apart), apart, right)
    unit = max(exponent + bits - format.precision, format.least_exponent)
    error = abs(mpf(value) - wanted)
    return Verdict(float(error * mpf(2) ** -unit), apart, right)


def dump(kept: dict[str, dict[str, Any]]) -> str:
    """JSON with a function and type a line."""
    lines = [
        f'"{name} {type}": {json.dumps(one, separators=(",", ":"))}'
        for name, types in kept.items()
        for type, one in types.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"
