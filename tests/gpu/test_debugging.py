"""What kernels print reaches stdout, byte for byte; a failed assert is found by what the driver prints."""

import re
import subprocess
import sys

import pytest
from gpukernels import debugging

import kbuild as kb

pytestmark = pytest.mark.gpu

HEAD = """
import kbuild as kb
from gpukernels import debugging
"""


def run(program, status=0):
    """stdout and stderr of a program in a process of its own."""
    done = subprocess.run([sys.executable, "-c", HEAD + program], capture_output=True, check=False, timeout=120)
    text, errors = done.stdout.decode("utf-8"), done.stderr.decode("utf-8", "replace")
    assert done.returncode == status, text + errors
    return text, errors


def test_every_scalar():
    text, _ = run(
        "values = [True, -128, 255, -2, 65535, -2147483648, 4294967295, -2**63, 2**64 - 1, -1.5, 0.1, -1234.5]\n"
        "kb.launch(debugging.scalars, dim=1, inputs=values)\n"
        "kb.synchronize()\n"
    )
    assert text.splitlines() == [
        "1|-128|255|-2|65535|-2147483648|4294967295|-9223372036854775808|18446744073709551615",
        "128|80|FFFE|200|0xff|8000000000000000|A",
        " -128|255  |-0128|+255| 255|255|+4294967295",
        "-1.500000|0.1|-1.234500e+03|0.10| -1234.500|-1.5      |+0.1|-1234.5",
        '100% "quoted" \\ ??/ é 長',
    ]


def test_composites():
    text, _ = run(
        "t = kb.transform(kb.vec3(1.0, 2.0, 3.0), kb.quat(0.0, 0.0, 0.0, 1.0))\n"
        "values = [kb.vec3(1.0, -2.5, 1e10), kb.quat(0.0, 0.0, 0.0, 1.0), t, kb.mat22(1.0, 2.0, 3.0, 4.0), False, 7]\n"
        "kb.launch(debugging.composites, dim=1, inputs=values)\n"
        "kb.synchronize()\n"
    )
    assert text.splitlines() == [
        "v: 1 -2.5 1e+10 False 7",
        "0 0 0 1",
        "(1 2 3) (0 0 0 1)",
        "1 2",
        "3 4",
        "Cell(count=7, weight=0.5)",
        "(7, 8); 2; 0.5.",
        *["7 7 7 7 7 7 7"] * 6,
    ]


def test_order_within_a_thread():
    text, _ = run(
        "out = kb.zeros(3, dtype=int)\n"
        "kb.launch(debugging.ordered, dim=1, inputs=[out])\n"
        "print(out.tolist(), flush=True)\n"
    )
    assert sorted(text.splitlines()[:7]) == sorted(
        ["loud 1", "loud 2", "loud 3", "2 4", "loud 10", "loud 12", "[11, 0, 13]"]
    )
    said = [line for line in text.splitlines() if not line.startswith("[")]
    assert said == ["loud 1", "loud 2", "loud 3", "2 4", "loud 10", "loud 12"]


def test_every_thread_prints_once_and_whole():
    text, _ = run(
        "counts = kb.array([i * i for i in range(2000)], dtype=int)\n"
        "kb.launch(debugging.many, dim=2000, inputs=[counts])\nkb.synchronize()\n"
    )
    assert sorted(text.splitlines()) == sorted("<%d:%d>" % (i, i * i) for i in range(2000))


def test_expectations():
    text, _ = run(
        "kb.launch(debugging.expecting, dim=1, inputs=[kb.vec2(1.0, 2.0), kb.vec2(1.0, 2.5)])\nkb.synchronize()\n"
    )
    name = "gpukernels.debugging:expecting"
    assert text.splitlines() == [
        "kb.expect_eq failed in %s: 1 2 is not 1 2.5" % name,
        "kb.expect_neq failed in %s: both are 1 2" % name,
        "kb.expect_near failed in %s: 1 2 is not near 1 2.5" % name,
    ]


FAILING = """
import sys
a = kb.array([4.0, 2.0, %s], dtype=float)
kb.launch(debugging.asserting, dim=3, inputs=[a, %s])
try:
    kb.synchronize()
    sys.exit("nothing went wrong")
except kb.DriverError as error:
    print(error.code, error)
try:
    kb.launch(debugging.asserting, dim=1, inputs=[a, 1.0])
    sys.exit("nothing went wrong")
except kb.DriverError as error:
    print(error.code, error)
"""


@pytest.mark.parametrize(
    ("value", "limit", "printed"),
    [
        ("0.0", "1.0", "gpukernels.debugging:inverse:1: inverse: block: [0,0,0], thread: [2,0,0] "
                       "Assertion `x != 0.0: no inverse` failed."),
        ("0.5", "1.0", "gpukernels.debugging:asserting:1: asserting: block: [0,0,0], thread: [2,0,0] "
                       "Assertion `a[i] < limit` failed."),
    ],
)  # fmt: skip
def test_a_failed_assert(value, limit, printed):
    """The driver says which on stderr; the error lists it with its line; the context is lost."""
    text, errors = run(FAILING % (value, limit))
    assert printed in errors
    assert text.count("710 ") == 2
    assert text.count("CUDA_ERROR_ASSERT") == 3  # the second error tells of the first
    key = re.escape(printed.partition(": ")[0])
    assert len(re.findall(key + r"  line \d+ of gpukernels\.debugging: assert ", text)) == 2


def test_asserts_that_hold():
    a = kb.array([4.0, 2.0], dtype=float)
    kb.launch(debugging.asserting, dim=2, inputs=[a, 1.0])
    assert a.tolist() == [0.25, 0.5]


def test_without_asserts_nothing_stops():
    a = kb.array([4.0, 0.0], dtype=float)
    kb.launch(debugging.careless, dim=2, inputs=[a, 0.0])
    assert a.tolist() == [0.25, float("inf")]
