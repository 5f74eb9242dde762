"""The kernels of `operator_lines`.

A line is a kernel in short: arrays, each with a row for every thread, and what is done with the thread's row.

    E a, V b, E[2] c, V out | out[i] = b[i] * a[i] + b[i] * c[i, 1]

`E` is the element type, `V` each of all vectors and matrices (a case for every one), `E[2]` two numbers a row. Arrays
whose names begin with `d` are divisors, away from zero, those with `p` are positive, `n` and `k` are integers, `c` is
true or false. What stands after `#` says of which function the arguments are such as it wants.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tests.helpers.function_calls import MATRICES, ONE_TYPE, VECTORS, type_of
from tests.helpers.function_checks import ROWS, Case, source_of
from tests.helpers.function_points import apart_from_zero, between, points, shape_of, whole
from tests.helpers.operator_lines import GROUPS, PRINTING, TOGETHER, UNDIFFERENTIABLE, WARP

_SIMPLE = {
    "Bits": "kb.int32",
    "int32": "kb.int32",
    "uint32": "kb.uint32",
    **{f"float{n}": f"kb.float{n}" for n in (16, 32, 64)},
}


def everything() -> str:
    """All kernels in one text."""
    return "\n".join([PRINTING, TOGETHER, UNDIFFERENTIABLE, *(case.text for group in GROUPS for case in cases(group))])


def cases(group: str) -> list[Case]:
    """The cases of a group."""
    return list(_cases(group))


def _cases(group: str) -> Iterator[Case]:
    head, lines = GROUPS[group]
    for line in lines.replace("\\\n", "").strip().splitlines():
        declared = line.partition("|")[0]
        for word in (*VECTORS, *MATRICES) if re.search(r"\bV\b", declared) else ("V",):
            case = _case(head, re.sub(r"\bV\b", word, declared), line.partition("|")[2])
            threads = (3,) if group == "atomics" else ()
            tolerances = {"float16": 2e-2, "float32": 5e-3} if group == "conversions" else {}
            yield replace(case, threads=threads, is_fixed=group == "conversions", tolerances=tolerances)


def _case(head: str, declared: str, rest: str) -> Case:
    body, _, function = (part.strip() for part in rest.partition("#"))
    title = f"{declared.strip()} | {body}"
    source = source_of(title)
    parameters, values, extents, tables, words = [], {}, {}, {}, {}
    for text in re.split(r", (?=[a-zA-Z])", declared.strip()):
        match = re.fullmatch(r"(indexed )?(\w+)(?:\[([\d,]+)\])? (\w+)", text)
        assert match, text
        word, name = match[2], match[4]
        extent = tuple(map(int, match[3].split(","))) if match[3] else ()
        kind = "indexedarray" if match[1] else "array"
        parameters.append(f"{name}: kb.{kind}{len(extent) + 1}d[{_type(word)}]")
        words[name], extents[name] = word, extent
        if match[1]:
            tables[name] = (None, *(source.permutation(n).astype(np.int32) for n in extent))
        value = _value(name, word, (ROWS, *extent, *shape_of(word)), source)
        if value is not None:
            values[name] = value
    if function:
        values |= points(
            function, {name: word for name, word in words.items() if name not in ("out", "n")}, ROWS, source
        )
    lines = ["i, j = kb.tid()" if re.search(r"\bj\b", body) else "i = kb.tid()", *body.split("; ")]
    text = "\n".join(
        [
            head,
            "@wp.kernel" if head == WARP else "@kb.kernel",
            f"def k({', '.join(parameters)}):",
            *(f"    {one}" for one in lines),
            "",
        ]
    )
    return Case(title, text, values, extents, tables)


def _type(word: str) -> str:
    if word in _SIMPLE:
        return _SIMPLE[word]
    return word if word in ("Body", "Inner", "Complex") else type_of(word)


def _value(name: str, word: str, shape: tuple[int, ...], source: np.random.Generator) -> np.ndarray | None:
    """By the first letter of the name; None for what may be anything."""
    if word in ("Bits", "Bool"):
        return whole(0, 1)(source, shape)
    if word in ONE_TYPE or word.startswith(("int", "uint")):
        return whole(1, 6)(source, shape)
    if name.startswith("d"):
        return apart_from_zero(0.5, 2.0)(source, shape)
    if name == "p":
        return between(0.3, 2.0)(source, shape)
    if name == "g":  # eighths: no two of a row are equal, nor one of them and an `h`
        count = int(np.prod(shape[1:]))
        rows = [source.permutation(np.arange(-16, 17))[:count] for _ in range(shape[0])]
        return np.reshape(rows, shape) / 8
    if name == "h":
        return source.integers(-16, 17, shape) / 8 + 1 / 32
    return None
