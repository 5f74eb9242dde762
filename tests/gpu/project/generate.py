"""Writes the modules of gpukernels that repeat one kernel for many types: `python tests/gpu/project/generate.py`.

A generated kernel stores one expression a row, and its module keeps the expressions, so that a test can evaluate the
same text by the definition in `tests/gpu/meaning.py`. What there is to call comes from kbuild's own tables: a new
intrinsic fails `tests/gpu/test_generated.py` until it is generated, and then its test until it has a meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from kbuild.intrinsics import library_rotations, library_spatial
from kbuild.intrinsics.library import FUNCTIONS, OVERLOADS
from kbuild.intrinsics.table import ROWS
from kbuild.loader.abi import SCALARS

FOLDER = Path(__file__).parent / "src" / "gpukernels"
INTEGERS = tuple(name for name, type in SCALARS.items() if type.kind in ("int", "uint"))
SIGNED = tuple(name for name in INTEGERS if name.startswith("int"))
FLOATS = ("float16", "float32", "float64")
NUMBERS = (*INTEGERS, *FLOATS)
SUFFIXES = {
    "int8": "b",
    "uint8": "ub",
    "int16": "s",
    "uint16": "us",
    "int32": "i",
    "uint32": "ui",
    "int64": "l",
    "uint64": "ul",
    "float16": "h",
    "float32": "f",
    "float64": "d",
}

# How float32 and float64 have to be fused, as a text in which `fma` is spelled out.
FUSED_VECTORS = {
    "x * s + y": "fma(x, s, y)",
    "y - x * s": "fma(-x, s, y)",
    "x.x * y.y - x.y * y.x": "fma(-x.y, y.x, x.x * y.y)",
}
FUSED = {
    "x + y * z": "fma(y, z, x)",
    "x * y + z": "fma(x, y, z)",
    "x - y * z": "fma(-y, z, x)",
    "x * y - z": "fma(x, y, -z)",
    "x * y + y * z": "fma(y, z, x * y)",
    "x * x + y * y + z * z": "fma(z, z, fma(y, y, x * x))",
    "x * y * z + x": "fma(x * y, z, x)",
    "-(x * y) + z": "-(x * y) + z",
    "(x + y) * z": "(x + y) * z",
    "kb.fma(x, y, z)": "fma(x, y, z)",
    "kb.lerp(x, y, z)": "fma(y, z, x * (1.0 - z))",
}


def main() -> None:
    """Writes every module."""
    for name, text in texts().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


def texts() -> dict[str, str]:
    """File name → text."""
    return {
        "integers.py": module("Integer arithmetic, comparisons and functions.", integer_kernels()),
        "floats.py": module("Floating-point arithmetic, comparisons, functions and fusing.", float_kernels()),
        "conversions.py": module("Every scalar type converted to every other.", conversion_kernels()),
        "vectors.py": module("Vectors of every length and element type.", vector_kernels()),
        "matrices.py": module("Square matrices of every size and element type.", matrix_kernels()),
        "atomics.py": module("Atomic operations on every type.", atomic_kernels()),
        "accuracy.py": module("Float functions one at a time, for a table of their errors.", accuracy_kernels()),
    }


def module(title: str, kernels: Iterable[str]) -> str:
    """The text of a module."""
    docstring = f'"""{title} Written by generate.py: change that, and run it."""'
    return f"{docstring}\n\nimport kbuild as kb\n\nEXPRESSIONS = {{}}\n" + "".join(kernels)


def table(
    name: str,
    inputs: Sequence[tuple[str, str]],
    out: str,
    expressions: Sequence[str],
    option: str = "",
) -> str:
    """A kernel that stores each expression over the inputs (letter, type) into its row of `out`."""
    lines = ["", "", f"@kb.kernel{option}", f"def {name}("]
    lines += [f"    {letter}s: kb.array(dtype={spelled(type)})," for letter, type in inputs]
    lines += [f"    out: kb.array2d(dtype={spelled(out)}),", "):", "    i = kb.tid()"]
    used = set(re.findall(r"\w+", " ".join(expressions)))
    lines += [f"    {letter} = {letter}s[i]" for letter, _ in inputs if letter in used]
    lines += [f"    out[{row}, i] = {expression}" for row, expression in enumerate(expressions)]
    return "\n".join(lines) + "\n" + kept(name, expressions)


def kept(name: str, expressions: Sequence[str]) -> str:
    """The expressions of a kernel, in order, for the test."""
    rows = "".join(f'    "{expression}",\n' for expression in expressions)
    return f'\n\nEXPRESSIONS["{name}"] = (\n{rows})\n'


def kept_meanings(fused: Mapping[str, str]) -> str:
    """What fused expressions mean, for the test."""
    rows = "".join(f'    "{expression}": "{meaning}",\n' for expression, meaning in fused.items())
    return f"\n\nFUSED = {{\n{rows}}}\n"


def spelled(type: str) -> str:
    """How a kernel's author writes a type."""
    return {"bool": "bool", "int32": "int", "float32": "float"}.get(type, f"kb.{type}")


def calls(kind: str, result: str) -> Iterator[str]:
    """Calls of the scalar intrinsics whose parameters are all of a kind, `Number` or `Float`, with x and y."""
    for row in ROWS.values():
        kinds = {set_name for _, set_name in row.signature.parameters}
        if kinds == {kind} and row.signature.result == result and not row.has_effects:
            letters = ", ".join("xyz"[: len(row.signature.parameters)])
            yield f"kb.{row.name}({letters})"


SCALAR_FUNCTIONS = frozenset({"clamp", "degrees", "frac", "lerp", "nonzero", "radians", "sign", "step"})
VECTOR_FUNCTIONS = frozenset({"cross", "dot", "length", "length_sq", "normalize", "transpose"})
BY_HAND = frozenset({*library_rotations.FUNCTIONS, *library_spatial.FUNCTIONS})  # in gpukernels/rotations.py
# The rest of the library is made of operations that are tried here one by one, and is run in tests/intrinsics.
TRIED_ELSEWHERE = {*FUNCTIONS, *OVERLOADS} - SCALAR_FUNCTIONS - VECTOR_FUNCTIONS - BY_HAND

COMPARISONS = tuple(f"x {sign} y" for sign in ("==", "!=", "<", "<=", ">", ">="))
CHOICES = ("kb.where(x < y, x, y)", "y if x == y else x", "kb.step(x)", "kb.clamp(x, y, z)")


def integer_kernels() -> Iterator[str]:
    """`arithmetic_T` and `flags_T`."""
    for name in INTEGERS:
        inputs = [(letter, name) for letter in "xyz"]
        yield table(f"arithmetic_{name}", inputs, name, list(_integer_expressions(name)))
        yield table(f"flags_{name}", inputs, "bool", [*COMPARISONS, "x < y < z", "x < 3", "x >= 5", "bool(x)"])


def _integer_expressions(name: str) -> Iterator[str]:
    yield from (f"x {sign} y" for sign in ("+", "-", "*", "/", "//", "%", "<<", ">>", "&", "|", "^"))
    yield from ("-x", "+x", "~x", "x + 7", "100 - x", "x * 3", "x / 7", "x % 7", "x // 16", "x % 16", "x / 0", "x % 0")
    bits = 8 * SCALARS[name].size
    yield from (f"x {sign} {count}" for sign in ("<<", ">>") for count in (0, 3, bits - 1, bits))
    if name in SIGNED:
        yield from ("x / -1", "x % -1", "x / -7", "x % -7", "x << -1", "x >> -1", "kb.sign(x)")
    yield from calls("Number", "Number")
    yield "kb.min(x, y, z)"
    yield f"{spelled(name)}(kb.bit_count(x))"
    yield "kb.nonzero(x)"
    yield from CHOICES


def float_kernels() -> Iterator[str]:
    """`arithmetic_T`, `flags_T`, `functions_T`, and `fused_T` and `unfused_T` where there is fma."""
    for name in FLOATS:
        inputs = [(letter, name) for letter in "xyz"]
        yield table(f"arithmetic_{name}", inputs, name, list(_float_expressions(name)))
        yield table(f"flags_{name}", inputs, "bool", [*COMPARISONS, "x < y < z", "bool(x)", *calls("Float", "Bool")])
        yield table(f"functions_{name}", inputs[:2], name, [*calls("Float", "Float"), "x**y"])
        if name != "float16":
            yield table(f"fused_{name}", inputs, name, list(FUSED))
            yield table(f"unfused_{name}", inputs, name, list(FUSED), "(fmad=False)")
    yield kept_meanings(FUSED)


def _float_expressions(name: str) -> Iterator[str]:
    yield from (f"x {sign} y" for sign in ("+", "-", "*", "/", "//", "%"))
    yield from ("-x", "+x", "x + 0.1", "1.0 - x", "x * 3.0", "1.0 / x", "x % 1.5")
    yield from calls("Number", "Number")
    yield from CHOICES
    yield from ("kb.sign(x)", "kb.nonzero(x)", "kb.frac(x)", "kb.degrees(x)", "kb.radians(x)")
    if name == "float16":
        yield from ("kb.lerp(x, y, z)", "x * y + z")  # never fused


def conversion_kernels() -> Iterator[str]:
    """`from_T`: one array for each type to convert to."""
    for source in SCALARS:
        lines = ["", "", "@kb.kernel", f"def from_{source}(", f"    xs: kb.array(dtype={spelled(source)}),"]
        lines += [f"    to_{target}: kb.array(dtype={spelled(target)})," for target in SCALARS]
        lines += ["):", "    i = kb.tid()", "    x = xs[i]"]
        lines += [f"    to_{target}[i] = {spelled(target)}(x)" for target in SCALARS]
        yield "\n".join(lines) + "\n"
    yield kept("conversions", tuple(SCALARS))


def vector_kernels() -> Iterator[str]:
    """`vec3f_vectors` (results that are vectors) and `vec3f_scalars`, and so on."""
    for length in (2, 3, 4):
        for element, suffix in SUFFIXES.items():
            type = f"vec{length}{suffix}"
            inputs = [("x", type), ("y", type), ("s", element)]
            yield table(f"{type}_vectors", inputs, type, list(_vectors(length, element)))
            yield table(f"{type}_scalars", inputs, element, list(_scalars(length, element)))
    yield kept_meanings(FUSED_VECTORS)


def _vectors(length: int, element: str) -> Iterator[str]:
    yield from ("x + y", "x - y", "x * s", "s * x", "x / s", "-x", "x * s + y", "y - x * s", "x * 3")
    yield from ("kb.cw_mul(x, y)", "kb.cw_div(x, y)", "kb.abs(x)", "kb.min(x, y)", "kb.max(x, y)")
    components = ", ".join(f"x[{i}]" for i in reversed(range(length)))
    yield from (f"type(x)({components})", "type(x)(s)", "type(x)()", "type(x)(x)")
    if element in FLOATS:
        yield "kb.normalize(x)"
    if length == 3:
        yield "kb.cross(x, y)"


def _scalars(length: int, element: str) -> Iterator[str]:
    yield from ("kb.dot(x, y)", "kb.length_sq(x)", "x.x", "x.y", f"x[{length - 1}]", "x[-1]", "x.x * y.y - x.y * y.x")
    if element in FLOATS:
        yield "kb.length(x)"


def matrix_kernels() -> Iterator[str]:
    """`mat22f_matrices`, `mat22f_vectors`, and so on."""
    for size in (2, 3, 4):
        for element in FLOATS:
            suffix = SUFFIXES[element]
            matrix, vector = f"mat{size}{size}{suffix}", f"vec{size}{suffix}"
            inputs = [("x", matrix), ("y", matrix), ("v", vector), ("s", element)]
            yield table(f"{matrix}_matrices", inputs, matrix, list(_matrices()))
            yield table(
                f"{matrix}_vectors", inputs, vector, ["x @ v", "x[0]", f"x[{size - 1}] + v", "kb.transpose(x)[0]"]
            )
    yield kept_meanings({"x * s + y": "fma(x, s, y)"})


def _matrices() -> Iterator[str]:
    yield from ("x + y", "x - y", "x * s", "s * x", "x / s", "-x", "x @ y", "x * s + y", "kb.transpose(x)")
    yield from ("kb.cw_mul(x, y)", "kb.cw_div(x, y)", "type(x)(x[1, 0])")
    yield from ("kb.abs(x)", "kb.min(x, y)", "kb.max(x, y)")


def atomic_kernels() -> Iterator[str]:
    """`atomic_T` does one operation by number, `count_T` increments by compare-and-swap."""
    operations = [name for name, row in ROWS.items() if row.is_atomic and name != "atomic_cas"]
    for name in NUMBERS:
        yield _atomic(name, operations)
        yield _count(name)
    yield kept("operations", operations)


def _atomic(name: str, operations: Sequence[str]) -> str:
    lines = ["", "", "@kb.kernel", f"def atomic_{name}("]
    lines += [f"    {array}: kb.array(dtype={spelled(name)})," for array in ("values", "cells", "before")]
    lines += ["    operation: int,", "):", "    i = kb.tid()", "    cell = i % cells.shape[0]"]
    for number, operation in enumerate(operations):
        if name not in ROWS[operation].cuda:
            continue  # integers alone have bits
        lines.append(f"    {'el' if number else ''}if operation == {number}:")
        lines.append(f"        before[i] = kb.{operation}(cells, cell, values[i])")
    return "\n".join(lines) + "\n"


def _count(name: str) -> str:
    return f"""

@kb.kernel
def count_{name}(cells: kb.array(dtype={spelled(name)})):
    cell = kb.tid() % cells.shape[0]
    seen = cells[cell]
    while True:
        before = kb.atomic_cas(cells, cell, seen, seen + {1.0 if name in FLOATS else 1})
        if before == seen:
            break
        seen = before
"""


MEASURED_FORMS = ("kb.add(x, y)", "kb.sub(x, y)", "kb.mul(x, y)", "kb.div(x, y)", "kb.mod(x, y)")
MEASURED_LIBRARY = ("kb.frac(x)", "kb.degrees(x)", "kb.radians(x)")


def accuracy_kernels() -> Iterator[str]:
    """`compute_T` stores the function of a number: its place in the list of expressions."""
    for name in FLOATS:
        expressions = [*calls("Float", "Float"), *calls("Number", "Number"), *MEASURED_FORMS, *MEASURED_LIBRARY]
        if name != "float16":
            expressions.append("kb.fma(x, y, z)")
        yield _chosen(name, expressions)


def _chosen(name: str, expressions: Sequence[str]) -> str:
    lines = ["", "", "@kb.kernel", f"def compute_{name}("]
    lines += [f"    {array}: kb.array(dtype={spelled(name)})," for array in ("xs", "ys", "zs", "out")]
    lines += ["    function: int,", "):", "    i = kb.tid()"]
    lines += [f"    {letter} = {letter}s[i]" for letter in "xyz" if letter != "z" or name != "float16"]
    for number, expression in enumerate(expressions):
        lines += [f"    {'el' if number else ''}if function == {number}:", f"        out[i] = {expression}"]
    return "\n".join(lines) + "\n" + kept(f"compute_{name}", expressions)


if __name__ == "__main__":
    main()
