"""What stands around the functions of a unit: `#line`, order, what is left out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from kbuild.codegen.declarations import declared_in_place
from kbuild.codegen.unit import emit
from kbuild.errors import Span
from kbuild.ir.nodes import Assign, Binary, Const, Function, Read, Symbol, While
from kbuild.ir.types import BOOL, FLOAT32, VOID
from tests.helpers import kernels

TEXT = """
    @kb.func
    def used(x: float):
        return x * 2.0

    @kb.func
    def unused(x: float):
        return x * 3.0

    @kb.kernel
    def first(a: kb.array(dtype=float)):
        a[0] = used(a[1])

    @kb.kernel
    def second(a: kb.array(dtype=float)):
        a[0] = used(
            a[1] +
            a[2]
        )
"""


def test_only_what_is_reached_and_once(tmp_path: Path) -> None:
    source = kernels.emit_kernels(kernels.lower_text(tmp_path, TEXT)).source
    assert source.count("used(float x)") == 1
    assert "unused" not in source
    assert "kb_half" not in source


def test_lines_are_virtual_and_absolute(tmp_path: Path) -> None:
    path = kernels.write(tmp_path, TEXT)
    lowered, _ = kernels.diagnose(kernels.load(path)[1])
    unit = kernels.emit_kernels(lowered)
    assert unit.files == {f"/kbuild/{path.stem}.py": str(path)}
    assert str(tmp_path) not in unit.source
    lines = path.read_text().splitlines()
    found = [line for line in unit.source.splitlines() if line.startswith("#line")]
    assert found[0] == '#line 1 "/kbuild/helpers.h"'
    for directive in found[1:]:
        _, number, name = directive.split()
        assert name == f'"/kbuild/{path.stem}.py"'
        assert 1 <= int(number) <= len(lines)


def test_every_statement_points_at_its_line(tmp_path: Path) -> None:
    """What a compiler would say of a line of C is said of the line of Python that it came from."""
    text = """
        @kb.kernel
        def k(a: kb.array(dtype=int), n: int):
            a[2] = 2
            if n > 1000:
                a[4] = 4
                for i in range(n):
                    a[6] = 6

            while n > 7:
                n = n // 2; a[9] = 9
                a[10] = (n +
                         10)
            a[12] = 12
    """
    path = kernels.write(tmp_path, text)
    lowered, _ = kernels.diagnose(kernels.load(path)[1])
    start = next(n for n, line in enumerate(path.read_text().splitlines()) if line.startswith("def k"))
    line, seen = 0, 0
    for text_line in kernels.emit_kernels(lowered).source.splitlines():
        if text_line.startswith("#line"):
            line = int(text_line.split()[1])
            continue
        if text_line.strip().startswith("a("):
            assert line - start - 1 == int(text_line.strip()[2:].partition(")")[0]) - 1, text_line
            seen += 1
        line += 1
    assert seen == 6


def test_the_same_text_in_every_process(tmp_path: Path) -> None:
    path = kernels.write(tmp_path, TEXT)
    program = (
        "import sys; from pathlib import Path; from tests.helpers import kernels\n"
        f"path = Path({str(path)!r})\n"
        "lowered, _ = kernels.diagnose(kernels.load(path)[1])\n"
        "print(kernels.emit_kernels(lowered).source)"
    )
    root = Path(__file__).parents[2]
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=root,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(texts) == 1


def test_where_variables_are_declared() -> None:
    """In place only where the first mention assigns, reads nothing of itself, and all others lie in the same block."""
    span = Span("m.py", 1)
    symbols = {name: Symbol(name, FLOAT32, span) for name in ("plain", "itself", "later", "inner")}

    def read(name: str) -> Read:
        return Read(symbols[name], FLOAT32)

    one = Const(1.0, FLOAT32)
    plain = Assign(read("plain"), one)
    itself = Assign(read("itself"), Binary("add", read("itself"), one, FLOAT32))
    later = Assign(read("later"), one)
    inner = Assign(read("inner"), one)
    loop = While(Const(True, BOOL), (later, inner, Assign(read("plain"), read("inner"))))
    body = (plain, itself, loop, Assign(read("plain"), read("later")))
    found = declared_in_place(Function("f", "m", (), VOID, body))
    assert found == {symbols["plain"]: plain, symbols["inner"]: inner}


def test_structs_and_functions_of_one_name(tmp_path: Path) -> None:
    """Two functions of one name from two places are two functions."""
    text = """
        def make(factor):
            @kb.func
            def scaled(x: float):
                return x * factor
            return scaled

        twice, thrice, again = make(2.0), make(3.0), make(2.0)

        @kb.kernel
        def k(a: kb.array(dtype=float)):
            a[0] = twice(1.0) + thrice(1.0) + again(1.0)
    """
    (kernel,) = kernels.lower_text(tmp_path, text)
    source = emit([(kernel, "k")]).source
    assert source.count("scaled(float x)") == 1
    assert source.count("scaled_2(float x)") == 1
    assert "scaled_3" not in source
