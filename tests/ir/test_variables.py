"""The tables of variables: golden texts, and what they say of single variables."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from kbuild.ir import nodes
from kbuild.ir.variables import Variable, print_variables, summary
from tests.helpers import golden, kernels

CASES = sorted((Path(__file__).parent / "golden").glob("*.py"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_printed(path: Path, pytestconfig: pytest.Config) -> None:
    lowered, _ = kernels.diagnose(kernels.load(path, f"golden.{path.stem}")[1])
    text = "\n".join(map(print_variables, lowered))
    golden.check(path.with_suffix(".vars"), text, pytestconfig)


def of(folder: Path, body: str) -> dict[str, Variable]:
    """The variables of a kernel with this body, whose first line is line 4 of its file, by name."""
    text = f"@kb.kernel\ndef k(a: kb.array(dtype=int), n: int):\n{body}"
    (kernel,) = kernels.lower_text(folder, text)
    return {one.symbol.name: one for one in summary(kernel.function, is_kernel=True).variables}


def test_a_value_that_one_trip_leaves_to_the_next_belongs_outside_the_loop(tmp_path: Path) -> None:
    found = of(
        tmp_path,
        "    for i in range(n):\n        if i > 0:\n            a[i] = x\n        x = a[n]\n".replace("= x", "= n")
        + "    for j in range(n):\n        if j > 0:\n            y = y2 = j\n        z = j\n        a[j] = z\n",
    )
    assert found["x"].scope.kind == "for"
    assert not found["x"].is_read
    assert (found["y"].scope.kind, found["z"].scope.kind) == ("then", "for")
    carried = of(
        tmp_path,
        "    for i in range(n):\n        if i == 0:\n            x = a[n]\n        a[i] = x\n",
    )["x"]
    assert (carried.scope.kind, carried.may_be_zero, carried.loops) == ("function", True, (4,))
    assert carried.lines == (4, 7)


def test_a_loop_that_only_passes_a_value_on_is_crossed(tmp_path: Path) -> None:
    found = of(tmp_path, "    x = a[0]\n    for i in range(n):\n        a[i] = 0\n    a[1] = x\n")
    assert (found["x"].lines, found["x"].loops) == ((4, 7), (5,))
    assert (found["n"].lines, found["n"].loops) == ((3, 5), ())
    assert found["i"].scope.owner is not None
    assert found["i"].loops == ()


def test_a_kernel_without_variables(tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(tmp_path, "@kb.kernel\ndef k():\n    pass\n")
    assert print_variables(kernel) == f"variables of {kernel.name}: none\n"


def test_ir_without_places_is_printed_too(tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(tmp_path, "@kb.kernel\ndef k(n: int):\n    x = n\n    if x > 0:\n        y = x\n")
    first = kernel.function.body[0]
    assert isinstance(first, nodes.Assign)
    bare = dataclasses.replace(first, span=None)
    function = dataclasses.replace(kernel.function, body=(bare,), span=None)
    assert "x     int32  register   function  -, never read" in print_variables(
        dataclasses.replace(kernel, function=function)
    )
