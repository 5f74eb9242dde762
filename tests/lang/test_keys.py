"""The key of a kernel: everything that it can reach, and nothing more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from kbuild.lang.reach import reach
from kbuild.loader.identity import identity
from tests.helpers import kernels
from tests.helpers.pythons import find_python

BASE = '''\
"""A module."""

import enum
import math

import kbuild as kb
from {helpers} import weight

SCALE = 2
FRACTION = 0.5
GRAVITY = kb.vec3(0.0, -9.81, 0.0)
REAL = kb.float32
WAVE = kb.sin
UNUSED = 1
TABLE = kb.constant([1, 2])


class Mode(enum.IntEnum):
    SLOW = 1
    FAST = 2


class Config:
    mode = Mode.FAST
    other = 3


@kb.struct
class Spring:
    rest: float
    length: float


@kb.func
def inner(x: float):
    """Adds."""
    return x + FRACTION


@kb.func
def outer(x: float, factor: float = 2.0):
    # A comment.
    return inner(x) * factor


@kb.kernel
def uses(a: kb.array(dtype=float), s: kb.array(dtype=Spring), n: int):
    """A docstring."""
    i = kb.tid()
    a[i] = outer(a[i]) * float(SCALE) + float(Config.mode) + GRAVITY[1] + s[i].rest
    a[0] = float(REAL(n)) + WAVE(a[1]) + weight(a[2]) + math.pi
    a[1] = float(len(TABLE))


@kb.kernel
def apart(a: kb.array(dtype=float)):
    a[0] = inner(a[1])


def host(x):
    return x + 1
'''
HELPERS = """\
import kbuild as kb

FACTOR = 3.0


@kb.func
def weight(x: float):
    return x * FACTOR


@kb.func
def unrelated(x: float):
    return x
"""


def keys(folder: Path, changes: tuple[tuple[str, str], ...] = (), helpers: str = HELPERS) -> dict[str, str]:
    """Keys by kernel of the base module, changed; each call imports it from a file of its own under the same name."""
    number = len(list(folder.glob("*")))
    place = folder / str(number)
    place.mkdir()
    kernels.load(_written(place / "helper_module.py", helpers), "helper_module")
    text = BASE.replace("{helpers}", "helper_module")
    for before, after in changes:
        assert text.count(before) >= 1, before
        text = text.replace(before, after)
    try:
        _, declared = kernels.load(_written(place / "kernel_module.py", text), "kernel_module")
        return {kernel.__name__: reach(kernel).key() for kernel in declared}
    finally:
        sys.modules.pop("helper_module")
        sys.modules.pop("kernel_module", None)


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


NOTHING = {
    "comment": (("# A comment.", "# Another, longer comment."),),
    "comment in a line": (("i = kb.tid()\n", "i = kb.tid()  # the thread\n"),),
    "docstrings": (
        ('"""A docstring."""', '"""Other\n    lines."""'),
        ('"""Adds."""\n', "\n"),
        ('"""A module."""', '"""B."""'),
    ),
    "blank lines": (("\n\n\n@kb.kernel", "\n\n\n\n\n\n@kb.kernel"), ("    i = kb.tid()\n", "\n\n    i = kb.tid()\n\n")),
    "layout of an expression": (("outer(a[i]) * float(SCALE)", "(outer( a[i] )\n        * float(SCALE))"),),
    "host function": (("return x + 1", "return x + 2"),),
    "unused constant": (("UNUSED = 1", "UNUSED = 2"),),
    "unused attribute": (("other = 3", "other = 4"),),
    "how a number is written": (("x + FRACTION", "x + FRACTION "), ("factor: float = 2.0", "factor: float = 2.00")),
    "annotation's spelling": (("n: int)", "n: kb.int32)"),),
    "quotes": (("def uses(a: kb.array(dtype=float)", 'def uses(a: "kb.array(dtype=float)"'),),
    "block size": (("@kb.kernel\ndef uses", "@kb.kernel(block_dim=64)\ndef uses"),),
    "return annotation": (
        ("def outer(x: float, factor: float = 2.0):", "def outer(x: float, factor: float = 2.0) -> float:"),
    ),
}
SOMETHING = {
    "code": ((("inner(a[1])", "inner(a[2])"),), "apart"),
    "constant": ((("SCALE = 2", "SCALE = 3"),), "uses"),
    "constant's type": ((("SCALE = 2", "SCALE = 2.0"),), "uses"),
    "truth for a number": ((("SCALE = 2", "SCALE = True"),), "uses"),
    "sign of zero": ((("FRACTION = 0.5", "FRACTION = -0.0"),), "uses apart"),
    "zero": ((("FRACTION = 0.5", "FRACTION = 0.0"),), "uses apart"),
    "integer zero": ((("FRACTION = 0.5", "FRACTION = 0"),), "uses apart"),
    "enum for its number": (
        (("FRACTION = 0.5", "class E(float, enum.Enum):\n    HALF = 0.5\n\nFRACTION = E.HALF"),),
        "uses apart",
    ),
    "vector": ((("-9.81", "-9.8"),), "uses"),
    "vector's type": ((("GRAVITY = kb.vec3(", "GRAVITY = kb.vec3d("),), "uses"),
    "alias of a type": ((("REAL = kb.float32", "REAL = kb.float64"),), "uses"),
    "alias of a function": ((("WAVE = kb.sin", "WAVE = kb.cos"),), "uses"),
    "enum member": ((("mode = Mode.FAST", "mode = Mode.SLOW"),), "uses"),
    "enum value": ((("FAST = 2", "FAST = 3"),), "uses"),
    "helper": ((("return x + FRACTION", "return x - FRACTION"),), "uses apart"),
    "helper between": ((("return inner(x) * factor", "return inner(x) / factor"),), "uses"),
    "default": ((("factor: float = 2.0", "factor: float = 2.5"),), "uses"),
    "default's type": ((("factor: float = 2.0", "factor: float = 2"),), "uses"),
    "order of fields": ((("    rest: float\n    length: float", "    length: float\n    rest: float"),), "uses"),
    "type of a field": ((("length: float", "length: kb.float64"),), "uses"),
    "annotation": ((("n: int)", "n: kb.int64)"),), "uses"),
    "annotation of a helper": ((("def inner(x: float)", "def inner(x: kb.float64)"),), "uses apart"),
    "name of a parameter": (
        (
            (
                "def apart(a: kb.array(dtype=float)):\n    a[0] = inner(a[1])",
                "def apart(b: kb.array(dtype=float)):\n    b[0] = inner(b[1])",
            ),
        ),
        "apart",
    ),
    "launch dim": ((("@kb.kernel\ndef apart", "@kb.kernel(launch_dim=4)\ndef apart"),), "apart"),
    "stated shape": (
        (("def uses(a: kb.array(dtype=float)", 'def uses(a: kb.array(dtype=float, shape=("k",))'),),
        "uses",
    ),
    "launch bounds": ((("@kb.kernel\ndef apart", "@kb.kernel(launch_bounds=64)\ndef apart"),), "apart"),
    "fast math": ((("@kb.kernel\ndef apart", "@kb.kernel(fast_math=True)\ndef apart"),), "apart"),
    "table": ((("TABLE = kb.constant([1, 2])", "TABLE = kb.constant([1, 3])"),), "uses"),
    "table's type": ((("kb.constant([1, 2])", "kb.constant([1, 2], dtype=kb.uint32)"),), "uses"),
    "table's shape": ((("kb.constant([1, 2])", "kb.constant([[1], [2]])"),), "uses"),
    "option": ((("@kb.kernel\ndef apart", "@kb.kernel(fmad=False)\ndef apart"),), "apart"),
    "number in the code": ((("    return x + FRACTION", "    return x + FRACTION + 1.0"),), "uses apart"),
    "type of a number in the code": ((("inner(a[1])", "inner(a[True])"),), "apart"),
    "removed statement": ((("    i = kb.tid()\n", "    i = 0\n"),), "uses"),
}


@pytest.mark.parametrize("name", NOTHING)
def test_what_changes_nothing(tmp_path: Path, name: str) -> None:
    assert keys(tmp_path, NOTHING[name]) == keys(tmp_path)


@pytest.mark.parametrize("name", SOMETHING)
def test_what_changes_the_kernels_that_reach_it(tmp_path: Path, name: str) -> None:
    changes, wanted = SOMETHING[name]
    before, after = keys(tmp_path), keys(tmp_path, changes)
    assert {kernel for kernel in before if before[kernel] != after[kernel]} == set(wanted.split())


def test_zeros_and_truths_are_all_different(tmp_path: Path) -> None:
    values = ("0", "0.0", "-0.0", "False", "1", "1.0", "True", "Mode.SLOW", "float('nan')", "float('inf')")
    found = [
        keys(
            tmp_path,
            (
                ("UNUSED = 1\n", "UNUSED = 1\n"),
                ("FRACTION = 0.5\n", ""),
                ("class Config:", f"FRACTION = {value}\n\n\nclass Config:"),
            ),
        )
        for value in values
    ]
    assert len({one["apart"] for one in found}) == len(values)


def test_a_helper_in_another_file(tmp_path: Path) -> None:
    before = keys(tmp_path)
    for change in (("x * FACTOR", "x / FACTOR"), ("FACTOR = 3.0", "FACTOR = 4.0")):
        after = keys(tmp_path, helpers=HELPERS.replace(*change))
        assert after["uses"] != before["uses"]
        assert after["apart"] == before["apart"]
    unrelated = HELPERS.replace("    return x\n", "    return -x\n") + "# A comment.\n"
    assert keys(tmp_path, helpers=unrelated) == before


def test_keys_are_the_same_on_every_python_and_hash_seed(tmp_path: Path) -> None:
    expected = keys(tmp_path)
    place = tmp_path / "modules"
    place.mkdir()
    _written(place / "helper_module.py", HELPERS)
    _written(place / "kernel_module.py", BASE.replace("{helpers}", "helper_module"))
    program = (
        "import kernel_module as m\nfrom kbuild.lang.reach import reach\n"
        "print({n: reach(getattr(m, n)).key() for n in ('uses', 'apart')})"
    )
    root = Path(__file__).parents[2]
    pythons = [find_python(version) for version in ("3.10", "3.11", "3.12", "3.13")]
    for python in {Path(sys.executable), *(p for p in pythons if p is not None)}:
        for seed in ("0", "1234"):
            result = subprocess.run(
                [str(python), "-W", "error", "-c", program],
                env={"PYTHONHASHSEED": seed, "PYTHONPATH": f"{root}:{place}", "PYTHONDONTWRITEBYTECODE": "1"},
                capture_output=True,
                text=True,
                check=False,
            )
            assert result.returncode == 0, f"{python}: {result.stderr}"
            assert eval(result.stdout) == expected, python


PLANS = """
    import kbuild
    from kbuild import vec3, float64
    from math import pi
    import math

    SCALE = 0.5
    REAL = kb.float64

    class cfg:
        flag = True

    @kb.func
    def helper(x: float, factor: float = 2.0):
        return x * factor * SCALE

    def make(block, T=None, function=kb.sin):
        @kb.kernel
        def k(a: kb.array(dtype=float)):
            x = vec3(1.0, 2.0, 3.0)
            a[0] = helper(float(block)) + float(math.pi) + x[0] + function(pi)
            if cfg.flag:
                a[1] = float(REAL(1.0)) + kb.cos(a[2]) + float(int(kbuild.float32(a[3])))
        return k

    small, large, cosine = make(1), make(2), make(1, function=kb.cos)
"""


def test_plan_of_captures(tmp_path: Path) -> None:
    module = _module(tmp_path, PLANS)
    found = reach(module.small)
    assert found.plan == [
        "global:vec3",
        "global:helper",
        "global:helper/default:factor",
        "global:helper/global:SCALE",
        "closure:block",
        "global:math.pi",
        "closure:function",
        "global:pi",
        "global:cfg.flag",
        "global:REAL",
    ]
    for kernel in (module.small, module.large, module.cosine):
        assert reach(kernel).identity() == identity(kernel.function, found.plan)
    assert len({reach(k).identity() for k in (module.small, module.large, module.cosine)}) == 3


def test_the_plan_names_every_file(tmp_path: Path) -> None:
    number = len(list(tmp_path.glob("*")))
    kernels.load(_written(tmp_path / f"file_{number}.py", HELPERS), "other_file")
    try:
        path = kernels.write(
            tmp_path, "from other_file import weight\n@kb.kernel\ndef k(a: float):\n    x = weight(a)\n"
        )
        _, (kernel,) = kernels.load(path)
        assert reach(kernel).paths == [str(path), str(tmp_path / f"file_{number}.py")]
    finally:
        del sys.modules["other_file"]


def _module(folder: Path, text: str) -> ModuleType:
    return kernels.load(kernels.write(folder, text))[0]


TABLES = """\
import kbuild as kb

FACTOR = 2.0


@kb.func
def double(x: float):
    return x * FACTOR


@kb.func
def half(x: float):
    return x * 0.5


OPS = {"double": double, "others": (half, [double])}
PAIR = (half, double)


def make(choice):
    @kb.kernel
    def kernel(a: kb.array(dtype=float)):
        a[0] = kb.static(OPS["double"])(a[0]) + kb.static(choice[1])(a[1])

    return kernel


kernel = make(PAIR)
"""


@pytest.mark.parametrize(
    ("before", "after"), [("x * FACTOR", "x + FACTOR"), ("x * 0.5", "x * 0.25"), ("FACTOR = 2.0", "FACTOR = 3.0")]
)
def test_functions_inside_captured_tables(tmp_path: Path, before: str, after: str) -> None:
    """What a tuple or a dictionary holds is reached like any other function."""
    kernel = kernels.load(kernels.write(tmp_path, TABLES), "tables")[1][0]
    again = kernels.load(kernels.write(tmp_path, TABLES), "tables")[1][0]
    changed = kernels.load(kernels.write(tmp_path, TABLES.replace(before, after)), "tables")[1][0]
    first, second = reach(kernel), reach(changed)
    assert first.key() == reach(again).key()
    assert first.key() != second.key()
    assert {"global:OPS@0/global:FACTOR", "closure:choice"} <= set(first.plan)
    assert identity(kernel.function, first.plan) == first.identity()


OPERATORS = """\
import kbuild.warp as wp


@wp.func
def add(a: wp.vec3, b: float):
    return a * b


@wp.kernel
def uses(a: wp.array(dtype=float)):
    a[0] += 1.0


@wp.kernel
def does_not(a: wp.array(dtype=float)):
    a[0] = a[0] * 2.0
"""


def test_operators_of_the_programs_own(tmp_path: Path) -> None:
    """A function with the name of an operator is reached by what uses the operator, and by nothing else."""
    before = kernels.load(kernels.write(tmp_path, OPERATORS), "operators")[0]
    after = kernels.load(kernels.write(tmp_path, OPERATORS.replace("a * b", "a / b")), "operators")[0]
    assert reach(before.uses).plan == ["global:add"]
    assert reach(before.uses).key() != reach(after.uses).key()
    assert reach(before.does_not).plan == []
    assert reach(before.does_not).key() == reach(after.does_not).key()
