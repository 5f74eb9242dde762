"""The check "source": bad kernels and their good twins."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.audits import audit, findings

ARRAYS = "a: kb.array(dtype=float), b: kb.array(dtype=float), n: int"


def kernel(*lines: str, parameters: str = ARRAYS, head: str = "") -> str:
    body = "\n".join(f"    {line}" for line in lines)
    return f"{head}\n@kb.kernel\ndef kernel({parameters}):\n{body}\n"


def found(folder: Path, text: str) -> list[tuple[str, int]]:
    """(code, line of the kernel's body, the first is 1) of what is found."""
    path_lines = ("import kbuild as kb\n" + text).split("\n")
    first = next(number for number, line in enumerate(path_lines, 1) if line.startswith("def kernel"))
    made = []
    for one in findings(folder, text, "source"):
        assert (one.check, one.verdict, one.kernel.partition(":")[2]) == ("source", "found", "kernel")
        assert one.span is not None
        assert one.help
        made.append((one.code, one.span.line - first))
    return made


EVERYTHING = "a[n] = b[n]"

SERIAL = [
    # Every thread does the same.
    (["s = float(0.0)", "for i in range(a.shape[0]):", "    s += a[i]", "b[n] = s"], 2),
    (["m = a.shape[0]", "s = float(0.0)", "for i in range(m):", "    s += a[i]", "b[n] = s"], 3),
    (["for i in range(a.shape[0]):", "    a[i] = b[n]"], 1),
    (["i = kb.tid()", "for j in range(a.shape[0]):", "    a[j] = b[n]", "b[i] = a[0]"], 2),
    # One thread does it alone.
    (["i = kb.tid()", "if i == 0:", "    for j in range(a.shape[0]):", "        a[j] = b[n]"], 3),
    (["i = kb.tid()", "if n > 0 and i == 0:", "    s = float(0.0)", "    for j in range(a.shape[0]):",
      "        s += a[j]", "    b[n] = s"], 4),
    (["for i in range(kb.min(a.shape[0], n)):", "    a[i] = b[n]"], 1),
    (["for i in range(kb.min(n, kb.min(b.shape[0], a.shape[0]))):", "    a[i] = 1.0"], 1),
    # Some threads, all of which do the same.
    (["i = kb.tid()", "if i < n:", "    s = float(0.0)", "    for j in range(a.shape[0]):", "        s += a[j]",
      "    b[i] = s"], 4),
    (["i = kb.tid()", "while i < n:", "    for j in range(a.shape[0]):", "        kb.atomic_add(b, 0, a[j])",
      "    i = i + 1024"], 3),
]  # fmt: skip

SHARED = [
    # What is done depends on the thread.
    ["i = kb.tid()", "s = float(0.0)", "for j in range(a.shape[0]):", "    s += a[j] * b[i]", "b[n] = s"],
    ["i = kb.tid()", "x = b[i] + float(n)", "for j in range(a.shape[0]):", "    x = x * a[j]", "b[i] = x"],
    # A part of the array, dealt out, or of a length that is not the array's.
    ["for i in kb.grid_range(a.shape[0]):", "    a[i] = b[n]"],
    ["for i in range(n):", "    a[i] = b[i]"],
    ["for i in range(1, a.shape[0]):", "    a[i] = b[n]"],
    # What some threads assign is another number in them.
    [
        "i = kb.tid()",
        "m = 0",
        "if i < n:",
        "    m = 1",
        "s = float(0.0)",
        "for j in range(a.shape[0]):",
        "    s += a[j] * float(m)",
        "b[i] = s",
    ],
    # What an atomic was before is another number in each thread.
    ["t = kb.atomic_add(b, 0, 1.0)", "s = float(0.0)", "for j in range(a.shape[0]):", "    s += a[j] * t", "b[n] = s"],
    # Some threads, each of which does its own.
    [
        "i = kb.tid()",
        "if i < n:",
        "    x = b[i]",
        "    for j in range(a.shape[0]):",
        "        x = x * a[j]",
        "    b[i] = x",
    ],
    [
        "i = kb.tid()",
        "if i == n:",
        "    x = b[i]",
        "    for j in range(a.shape[0]):",
        "        x = x * a[j]",
        "    b[i] = x",
    ],
    ["i = kb.tid()", "if i < n:", "    for j in range(a.shape[0]):", "        kb.atomic_add(b, i, a[j])"],
    # A loop of that length that does not go over the elements.
    ["for i in range(a.shape[0]):", "    a[n] = a[n] + b[n]"],
]


@pytest.mark.parametrize(("lines", "line"), SERIAL)
def test_serial_loops(tmp_path: Path, lines: list[str], line: int) -> None:
    assert found(tmp_path, kernel(*lines)) == [("KB410", line)]


@pytest.mark.parametrize("lines", SHARED)
def test_loops_that_threads_share(tmp_path: Path, lines: list[str]) -> None:
    uses = [] if any("n" in line.replace("in", "") for line in lines) else [EVERYTHING]
    assert found(tmp_path, kernel(*lines, *uses)) == []


def test_a_matrix_by_rows_is_no_serial_loop(tmp_path: Path) -> None:
    lines = ["i = kb.tid()", "s = float(0.0)", "for k in range(m.shape[1]):", "    s += m[i, k]", "b[i] = s"]
    parameters = "m: kb.array2d(dtype=float), b: kb.array(dtype=float)"
    assert found(tmp_path, kernel(*lines, parameters=parameters)) == []


def test_a_loop_over_all_of_a_matrix(tmp_path: Path) -> None:
    lines = ["s = float(0.0)", "for i in range(m.shape[0]):", "    for k in range(m.shape[1]):", "        s += m[i, k]",
             "b[0] = s"]  # fmt: skip
    parameters = "m: kb.array2d(dtype=float), b: kb.array(dtype=float)"
    assert ("KB410", 2) in found(tmp_path, kernel(*lines, parameters=parameters))


def test_one_thread_and_all_threads_are_told_apart(tmp_path: Path) -> None:
    texts = [findings(tmp_path, kernel(*SERIAL[i][0]), "source")[0].message for i in (0, 4)]
    assert texts[0].startswith("every thread runs over all of 'a'")
    assert texts[1].startswith("one thread, or few, run over all of 'a'")
    text = findings(tmp_path, kernel(*SERIAL[8][0]), "source")[0].message
    assert text.startswith("every thread that comes here runs over all of 'a'")


def test_unused_parameters(tmp_path: Path) -> None:
    text = kernel("a[0] = 1.0")
    assert found(tmp_path, text) == [("KB416", 0), ("KB416", 0)]
    (first, second) = findings(tmp_path, text, "source")
    assert (first.subject, second.subject) == ("b", "n")
    assert first.message == "the parameter 'b' is read nowhere, and every launch gives it 16 bytes"
    assert first.span is not None
    assert (first.span.column, first.span.end_column) == (38, 62)


def test_used_parameters(tmp_path: Path) -> None:
    assert found(tmp_path, kernel(EVERYTHING)) == []
    assert found(tmp_path, kernel("a[0] = 1.0", parameters="a: kb.array(dtype=float), _n: int")) == []
    # Another instance reads it.
    lines = ["if kb.static(WIDE):", "    a[n] = b[n]", "else:", "    a[0] = 1.0"]
    assert found(tmp_path, kernel(*lines, head="WIDE = False\n\n")) == []
    # In a function that is called with it.
    head = "@kb.func\ndef f(x: kb.array(dtype=float), i: int):\n    return x[i]\n\n"
    assert found(tmp_path, kernel("a[0] = f(b, n)", head=head)) == []


def test_tables(tmp_path: Path) -> None:
    parameters = "a: kb.array(dtype=float), n: int"
    for rows, expected in ((13, [("KB411", 1)]), (11, [])):
        head = f"TABLE = kb.constant([[0.0] * 1024] * {rows})\n"
        assert found(tmp_path, kernel("a[n] = TABLE[n, n]", head=head, parameters=parameters)) == expected
    head = "ONE = kb.constant([[0.0] * 1024] * 7)\nTWO = kb.constant([[1.0] * 1024] * 6)\n"
    (one,) = findings(tmp_path, kernel("a[n] = ONE[n, n] + TWO[n, n]", head=head, parameters=parameters), "source")
    assert "53248 of the 65536 bytes of constant memory (ONE 28672, TWO 24576)" in one.message
    assert one.figures == (("bytes", 53248.0), ("limit", 65536.0))


DOUBLES = "d: kb.array(dtype=kb.float64), n: int"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["x = 0.1", "d[n] = kb.float64(x)"], [("KB413", 2)]),
        (["x = 0.1", "if n > 3:", "    x = 0.3", "d[n] = kb.float64(x) * 2.0"], [("KB413", 4)]),
        (["x = 0.5", "d[n] = kb.float64(x)"], []),
        (["x = kb.float64(0.1)", "d[n] = x"], []),
        (["d[n] = kb.float64(0.1)"], []),
        (["x = float(n)", "d[n] = kb.float64(x)"], []),
        (["x = 0.1", "x = x * float(n)", "d[n] = kb.float64(x)"], []),
        (["x = 3.0", "d[n] = kb.float64(x)"], []),
    ],
)
def test_lost_digits(tmp_path: Path, lines: list[str], expected: list[tuple[str, int]]) -> None:
    assert found(tmp_path, kernel(*lines, parameters=DOUBLES)) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["a[n] = float(kb.float64(a[n]) * kb.float64(0.1)) + b[n]"], [("KB413", 1)]),
        (["a[n] = float(kb.float64(a[n] + b[n]) * 0.1 + 2.0)"], [("KB413", 1)]),
        (["a[n] = float(kb.float64(a[n]) * kb.float64(b[n]) + 0.1)"], []),  # two values: sums may cancel
        (["s = kb.float64(0.0)", "s = s + kb.float64(a[n])", "b[n] = float(s * 0.1)"], []),
        (["a[n] = float(kb.float64(n) * 0.1) + b[n]"], []),  # an integer has more digits than a float32
        (["a[n] = float(kb.float64(b[n]))"], []),
        (["a[n] = b[n] * 0.1"], []),
    ],
)
def test_float64_for_nothing(tmp_path: Path, lines: list[str], expected: list[tuple[str, int]]) -> None:
    assert found(tmp_path, kernel(*lines)) == expected


def test_lost_digits_in_words(tmp_path: Path) -> None:
    (one,) = findings(tmp_path, kernel("x = 0.1", "d[n] = kb.float64(x)", parameters=DOUBLES), "source")
    assert one.message == "'x' is float32, so that 0.1 is 0.10000000149011612 here, where it is widened to float64"
    assert one.help == "make it float64 from the start: `x = kb.float64(0.1)`"


def test_nothing_is_never_silent(tmp_path: Path) -> None:
    (one,) = audit(tmp_path, kernel(EVERYTHING), "source")
    (check,) = one.checks
    assert (check.check, check.verdict, check.obligations, check.proved) == ("source", "proved", 3, 3)
