"""What kernels print, as generated C and by the interpreter: the same bytes; and that of C's own printf."""

from __future__ import annotations

import ctypes
import random
import string
from pathlib import Path
from typing import Any

import pytest

from kbuild.ir import formats
from kbuild.ir.formats import Conversion
from kbuild.ir.types import FLOAT64, INT32, INT64, SCALARS, UINT32, UINT64
from kbuild.sim import printing
from kbuild.sim.threads import AssertFailed
from kbuild.sim.threads import run as interpret
from tests.helpers import kernels
from tests.helpers.host_gpu import HostModule

HEAD = "@kb.kernel\ndef k({}):\n    "


class Printed:
    """Runs the one kernel of a text in both ways."""

    def __init__(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capfd = folder, capfd

    def __call__(self, parameters: str, line: str, *arguments: Any, dim: int = 1) -> str:
        (kernel,) = kernels.lower_text(self.folder, HEAD.format(parameters) + line.replace("\n", "\n    "))
        self.capfd.readouterr()
        HostModule([kernel], self.folder).launch(kernel.name, dim, arguments)
        on_host = self.capfd.readouterr().out
        simulated = bytes(interpret(kernel, (dim,), list(arguments)).printed).decode("utf-8", "replace")
        assert simulated == on_host
        return simulated


@pytest.fixture
def printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Printed:
    return Printed(tmp_path, capfd)


def test_every_scalar_in_every_way(printed: Printed) -> None:
    """One kernel with every letter for every type that it takes; all values at the ends of their types."""
    lines, parameters, arguments = [], [], []
    for spelling, type in SCALARS.items():
        parameters.append(f"x_{spelling}: kb.{'bool_' if spelling == 'bool' else spelling}")
        bits = 8 * type.size
        ends = {"bool": True, "float": -1.5, "int": -(1 << (bits - 1)), "uint": (1 << bits) - 1}
        arguments.append(ends[type.kind])
        letters = [letter for letter in "diuxXofeEgG" if Conversion("", None, None, letter).takes(type)]
        for start in range(0, len(letters), 8):
            part = letters[start : start + 8]
            format = " ".join(f"%{letter}|%-12{letter}|%012.3{letter}|%+{letter}" for letter in part)
            lines.append(f"kb.printf({format + chr(10)!r}, {', '.join([f'x_{spelling}'] * 4 * len(part))})")
    text = printed(", ".join(parameters), "\n".join(lines), *arguments)
    found = dict(zip(SCALARS, [line.split("|")[0] for line in text.splitlines()], strict=False))
    assert found["bool"] == "1"
    assert "-9223372036854775808|" in text
    assert "18446744073709551615|" in text
    assert "ffffffffffffffff" not in text.splitlines()[1]  # of int8: its own width
    assert " 80|" in text


def test_values(printed: Printed) -> None:
    assert printed("n: int", 'kb.printf("%d %i %c %%\\n", n, -n, n)', 65) == "65 -65 A %\n"
    assert printed("n: kb.uint32", 'kb.printf("%d %u\\n", n, n)', 2**32 - 1) == "4294967295 4294967295\n"
    assert printed("n: kb.int8", 'kb.printf("%x %u %o %lld\\n", n, n, n, n)', -1) == "ff 255 377 -1\n"
    assert printed("x: float", 'kb.printf("%f %.17g %g %f\\n", x, x, 0.1, 2)', 0.10000000149011612) == (
        "0.100000 0.10000000149011612 0.1 2.000000\n"
    )
    assert printed("b: bool", 'kb.printf("%d\\n", b)', True) == "1\n"
    assert printed("n: int", 'kb.printf("%d %d\\n", 3000000000, n)', 1) == "3000000000 1\n"
    assert printed("n: int", "print(n, 2, 0.5, 'x%d')", 1) == "1 2 0.5 x%d\n"


def test_text_is_text(printed: Printed) -> None:
    """Nothing in a format ends the C string or begins something else."""
    nasty = "\"); *(int *)0 = 1; // ??/ ??= \\ ' \x07 é 長 \U0001f600 \u2028 %% \\n \\x41 \\0"
    text = printed("n: int", f"kb.printf({nasty!r})\nkb.printf('1%d2\\n', n)", 7)
    assert text == nasty.replace("%%", "%") + "172\n"
    assert printed("n: int", f"print({nasty!r}, n, sep='', end='é')", 7) == nasty + "7é"


def test_print_shows_composites(printed: Printed) -> None:
    assert printed("v: kb.vec3", "print(v)", [1.0, -2.5, 1e10]) == "1 -2.5 1e+10\n"
    assert printed("q: kb.quat", "print('q', q)", [0.0, 0.0, 0.0, 1.0]) == "q 0 0 0 1\n"
    assert printed("t: kb.transform", "print(t)", [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]) == "(1 2 3) (0 0 0 1)\n"
    assert printed("m: kb.mat22", "print(m)\nprint(m[0], m[1, 1])", [[1.0, 2.0], [3.0, 4.0]]) == "1 2\n3 4\n1 2 4\n"
    assert printed("b: bool", "print(b, not b)", True) == "True False\n"
    assert printed("n: int", "print()\nprint(n, end='')\nprint((n, n + 1), sep='')", 4) == "\n4(4, 5)\n"
    assert printed(
        "v: kb.vec3, n: int", "print(*v, n, sep=',')\nkb.printf('%g %g %g %d\\n', *v, n)", [1.0, 2.0, 3.0], 4
    ) == ("1,2,3,4\n1 2 3 4\n")
    large = "print(kb.types.matrix(shape=(6, 7), dtype=int)(n))"  # more than one call of CUDA's printf takes
    assert printed("n: int", large, 3) == "3 3 3 3 3 3 3\n" * 6


def test_print_shows_structs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = """
        @kb.struct
        class Inner:
            on: bool
            v: kb.vec2

        @kb.struct
        class Outer:
            n: int
            inner: Inner

        @kb.kernel
        def k(x: float):
            print("s:", Outer(3, Inner(True, kb.vec2(x, x))))
    """
    (kernel,) = kernels.lower_text(tmp_path, text)
    HostModule([kernel], tmp_path).launch(kernel.name, 1, [0.5])
    assert capfd.readouterr().out == "s: Outer(n=3, inner=Inner(on=True, v=0.5 0.5))\n"
    assert interpret(kernel, (1,), [0.5]).printed == b"s: Outer(n=3, inner=Inner(on=True, v=0.5 0.5))\n"


def test_order_of_effects(printed: Printed) -> None:
    """Arguments before what they print; nothing is dropped, moved, or printed twice."""
    text = "i = kb.tid()\nfor j in range(2):\n    if i > 0 or j == 1:\n        print(i, j)\nprint('end', i)"
    assert printed("n: int", text, 0, dim=2) == "0 1\nend 0\n1 0\n1 1\nend 1\n"


def test_variables_that_are_only_printed(printed: Printed) -> None:
    """Printed outside the block that assigns them, and read by an assert alone."""
    text = "if n > 0:\n    x = 1.5\nprint(x)\nwhile n > 0:\n    n -= 1\n    y = n\nkb.printf('%d\\n', y)"
    assert printed("n: int", text, 2) == "1.5\n0\n"
    assert printed("n: int", text, 0) == "0\n0\n"


def test_a_variable_for_an_assert(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = HEAD.format("n: int") + "if n > 0:\n        x = 1.5\n    assert x > 1.0\n    print(n)"
    (kernel,) = kernels.lower_text(tmp_path, text, asserts=True)
    HostModule([kernel], tmp_path).launch(kernel.name, 1, [2])
    assert capfd.readouterr().out == "2\n"


def test_functions_that_print_keep_their_order(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = """
        @kb.func
        def loud(n: int) -> int:
            print("loud", n)
            return n

        @kb.func
        def outer(n: int) -> int:
            return loud(n) + 1

        @kb.kernel
        def k(n: int):
            kb.printf("%d %d\\n", loud(1), outer(2))
            loud(3)
            if n > 0 and loud(4) == 4:
                print(loud(5) if n > 5 else loud(6))
    """
    (kernel,) = kernels.lower_text(tmp_path, text)
    HostModule([kernel], tmp_path).launch(kernel.name, 1, [1])
    wanted = "loud 1\nloud 2\n1 3\nloud 3\nloud 4\nloud 6\n6\n"
    assert capfd.readouterr().out == wanted
    assert interpret(kernel, (1,), [1]).printed.decode() == wanted


def test_expectations(printed: Printed) -> None:
    head = "a: kb.vec2, b: kb.vec2"
    text = printed(head, "kb.expect_eq(a, b)\nkb.expect_neq(a, a)\nkb.expect_near(a, b, 0.1)", [1.0, 2.0], [1.0, 2.5])
    first, second, third = text.splitlines()
    assert first.startswith("kb.expect_eq failed in case_")
    assert first.endswith(":k: 1 2 is not 1 2.5")
    assert second.endswith(":k: both are 1 2")
    assert third.endswith(":k: 1 2 is not near 1 2.5")
    quiet = "kb.expect_eq(a, a)\nkb.expect_neq(a, b)\nkb.expect_near(a, b, tolerance=0.5)\nkb.expect_near(a, a)"
    assert printed(head, quiet, [1.0, 2.0], [1.0, 2.5]) == ""
    infinite = "kb.expect_near(a, b)"
    assert printed(head, infinite, [float("inf"), 0.0], [float("inf"), 0.0]) == ""
    assert printed(head, infinite, [float("nan"), 0.0], [float("nan"), 0.0]).endswith("is not near nan 0\n")
    assert printed("n: int, b: bool", "kb.expect_eq(n, 3)\nkb.expect_eq(b, False)", 4, True).count("failed") == 2


ASSERTS = """
    @kb.func
    def inverse(x: float) -> float:
        assert x != 0.0, "no inverse"
        return 1.0 / x

    @kb.kernel
    def k(a: float, n: int):
        i = kb.tid()
        assert i < n and inverse(a) > 0.0
        print(i)
"""


def test_asserts_in_both_ways(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (kernel,) = kernels.lower_text(tmp_path, ASSERTS, asserts=True)
    module = HostModule([kernel], tmp_path)
    name = kernel.name.partition(":")[0]
    module.launch(kernel.name, 3, [2.0, 2])
    assert capfd.readouterr().out.splitlines() == [
        "0",
        "1",
        f"{name}:k:1: k: Assertion `i < n and inverse(a) > 0.0` failed.",
    ]
    module.launch(kernel.name, 1, [0.0, 2])
    assert capfd.readouterr().out == f"{name}:inverse:1: inverse: Assertion `x != 0.0: no inverse` failed.\n"
    with pytest.raises(
        AssertFailed, match=r"case_\d+\.py:11:.*:k:1: the assertion `i < n and .*` fails, thread \(2,\)"
    ):
        interpret(kernel, (3,), [2.0, 2])
    with pytest.raises(AssertFailed, match=r"inverse:1: the assertion `x != 0\.0: no inverse` fails"):
        interpret(kernel, (3,), [0.0, 2])


def test_without_asserts_nothing_of_the_condition_stays(tmp_path: Path) -> None:
    """Neither its effects nor the numbers of its temporaries."""
    lines = [
        "c = a[0]",
        "assert kb.atomic_add(a, 0, 1) == 0 and kb.atomic_sub(a, 1, 1) > 3",
        "a[2] = kb.atomic_max(a, 3, c)",
    ]
    sources = []
    for chosen in (lines, [lines[0], "pass", lines[2]]):
        text = HEAD.format("a: kb.array(dtype=int)") + "\n    ".join(chosen)
        source = kernels.emit_kernels(kernels.lower_text(tmp_path, text)).source
        sources.append([line for line in source.splitlines() if "case_" not in line])
    assert sources[0] == sources[1]


def test_without_asserts_the_code_is_that_of_a_kernel_without_them(tmp_path: Path) -> None:
    lines = ASSERTS.splitlines()
    without = "\n".join("" if "assert" in line else line for line in lines)
    texts = []
    for text in (ASSERTS, without):
        source = kernels.emit_kernels(kernels.lower_text(tmp_path, text)).source
        texts.append([line for line in source.splitlines() if "case_" not in line])
    assert texts[0] == texts[1]
    assert "__assertfail" not in "".join(texts[0])


LIBC = ctypes.CDLL(None)


def of_c(format: bytes, value: Any) -> bytes:
    buffer = ctypes.create_string_buffer(2000)
    LIBC.snprintf(buffer, ctypes.c_size_t(2000), format, value)
    return buffer.value


@pytest.mark.parametrize("seed", range(20))
def test_the_interpreter_formats_like_c(seed: int) -> None:
    chance = random.Random(seed)
    kinds = {
        "d": (INT64, ctypes.c_longlong),
        "u": (UINT64, ctypes.c_ulonglong),
        "f": (FLOAT64, ctypes.c_double),
    }
    for _ in range(500):
        letter = chance.choice("diuxXofeEgG")
        type, passed = kinds["d" if letter in "di" else "u" if letter in "uxXo" else "f"]
        allowed = "-+ 0" if letter in "diu" else "-+ #0"
        flags = "".join(f for f in allowed if chance.random() < 0.3)
        width = chance.choice([None, 0, 1, 12, 30])
        precision = chance.choice([None, 0, 1, 5, 20])
        format = (
            "%" + flags + ("" if not width else str(width)) + ("" if precision is None else f".{precision}") + letter
        )
        pieces = formats.parse(format)
        if type is FLOAT64:
            special = [0.0, -0.0, 1.0, 0.5, 2.5, 1e300, 5e-324, float("inf"), -float("inf"), float("nan")]
            value: Any = chance.choice(
                [*special, chance.uniform(-10, 10), chance.uniform(-1, 1) * 10 ** chance.randint(-20, 20)]
            )
        else:
            value = chance.choice([0, 1, 7, 255, 2**31, 2**63 - 1, chance.getrandbits(20)])
            value = -value if letter in "di" and chance.random() < 0.5 else value
        size = "" if type is FLOAT64 else "ll"
        wanted = of_c(f"{format[:-1]}{size}{letter}".encode(), passed(value))
        assert printing.formatted(pieces, [(value, type)]) == wanted, (format, value)


def test_pieces() -> None:
    assert formats.parse("") == ()
    assert formats.parse("a%%b%5.2lfc%-+d") == (
        "a%b",
        Conversion("", 5, 2, "f"),
        "c",
        Conversion("-+", None, None, "d"),
    )
    for text in ("%d", "100 %%", "%+08.3f x %x", string.printable.replace("%", "%%")):
        assert formats.text(formats.parse(text)) == text
    assert Conversion("", None, None, "d").takes(UINT32)
    assert not Conversion("", None, None, "f").takes(INT32)


@pytest.mark.nvrtc
def test_every_nvrtc_takes_them(tmp_path: Path, accept: Any) -> None:
    """Every type with every letter, and an assert, without a warning."""
    lines, parameters = [], []
    for spelling, type in SCALARS.items():
        parameters.append(f"x_{spelling}: kb.{'bool_' if spelling == 'bool' else spelling}")
        for letter in "diuxXocfeEgG":
            if Conversion("", None, None, letter).takes(type):
                lines.append(f"kb.printf('%{letter} %-9{letter}\\n', x_{spelling}, x_{spelling})")
        lines.append(f"print(x_{spelling}, 'é')")
        lines.append(f"assert x_{spelling}, 'é'" if type.kind != "bool" else f"assert not x_{spelling}")
    text = HEAD.format(", ".join(parameters)) + "\n    ".join(lines)
    source = kernels.emit_kernels(kernels.lower_text(tmp_path, text, asserts=True)).source
    assert source.count("__assertfail") == len(SCALARS)
    accept(source, "jetson-xavier-jp5", "sm_90", "jetson-thor-jp7")
