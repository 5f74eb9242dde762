"""Kernels are the same up to names and places, and any other change is seen."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest

from kbuild.ir import nodes
from kbuild.ir.same import difference
from kbuild.ir.traverse import rewrite, walk
from tests.helpers import kernels
from tests.ir.test_python import ODD

TEXT = """
    @kb.struct
    class Pair:
        a: float
        b: int
    @kb.func
    def twice(x: float):
        return x * 2.0
    @kb.func
    def thrice(x: float):
        return x * 3.0
    @kb.kernel
    def k(out: kb.array(dtype=float), s: Pair):
        i = kb.tid()
        x = twice(s.a)
        y = thrice(x)
        for j in range(3):
            out[i] = x + y * float(j)
"""
RENAMED = [("twice", "doubled"), ("Pair", "Couple"), ("i = ", "where = "), ("[i]", "[where]"), (" j ", " n ")]
OTHER = [
    ("x * 2.0", "x * -2.0"),
    ("2.0", "0.0 * 2.0"),
    ("y = thrice(x)", "y = twice(x)"),
    ("x + y", "y + x"),
    ("a: float\n        b: int", "b: int\n        a: float"),
    ("b: int", "b: kb.int64"),
    ("b: int", "c: int"),
    ("range(3)", "range(4)"),
    ("range(3)", "range(kb.int64(3))"),
    ("[i]", "[j]"),
    ("@kb.kernel", "@kb.kernel(fmad=False)"),
    ("out: kb.array(dtype=float)", "out: kb.array2d(dtype=float)"),
    ("i = kb.tid()", "i = kb.tid()\n        i = i"),
    ("out: kb.array(dtype=float), s: Pair", "s: Pair, out: kb.array(dtype=float)"),
    ("s: Pair):", "s: Pair, n: int):"),
]


def lowered(folder: Path, text: str) -> nodes.Kernel:
    (kernel,) = kernels.lower_text(folder, text, asserts=True)
    return kernel


def test_names_and_places_do_not_matter(tmp_path: Path) -> None:
    text = TEXT
    for old, new in RENAMED:
        assert old in text
        text = text.replace(old, new)
    text = text.replace("float(j)", "float(n)").replace("\n        y =", "\n\n        y =")
    assert difference(lowered(tmp_path, TEXT), lowered(tmp_path, text)) is None


@pytest.mark.parametrize(("old", "new"), OTHER)
def test_everything_else_does(tmp_path: Path, old: str, new: str) -> None:
    assert old in TEXT
    changed = TEXT.replace(old, new)
    if "2d" in new:
        changed = changed.replace("out[i]", "out[i, i]")
    one, other = lowered(tmp_path, TEXT), lowered(tmp_path, changed)
    assert difference(one, one) is None
    assert difference(one, other)
    assert difference(other, one)


@pytest.mark.parametrize("number", [0.0, -0.0, float("nan"), -float("nan"), float("inf"), 1.0])
def test_constants_are_compared_bit_by_bit(tmp_path: Path, number: float) -> None:
    def kernel(value: float) -> nodes.Kernel:
        whole = lowered(tmp_path, ODD["unfused"])
        (stored,) = whole.function.body
        assert isinstance(stored, nodes.Assign)
        stored = dataclasses.replace(stored, value=nodes.Const(value, stored.value.type))
        return dataclasses.replace(whole, function=dataclasses.replace(whole.function, body=(stored,)))

    others = [0.0, -0.0, float("nan"), -float("nan"), float("inf"), 1.0]
    same = [difference(kernel(number), kernel(other)) is None for other in others]
    assert same == [repr(number) == repr(other) and _sign(number) == _sign(other) for other in others]
    assert same.count(True) == 1


def _sign(value: float) -> bool:
    return math.copysign(1.0, value) < 0


@pytest.mark.parametrize("name", ODD)
def test_every_changed_field_of_every_node_is_seen(tmp_path: Path, name: str) -> None:
    """An operator, a name of a field or intrinsic, an axis: each in turn is replaced by another."""
    kernel = lowered(tmp_path, ODD[name])
    count = 0
    for node in walk(kernel.function.body):
        for field in dataclasses.fields(node):
            old = getattr(node, field.name)
            if isinstance(node, nodes.Table) and field.name == "data":
                changed = _with(kernel, node, dataclasses.replace(node, data=old[::-1]))
                assert difference(kernel, changed)
                count += 1
            if isinstance(node, nodes.Table):
                continue  # its name may be another one
            if field.name in ("op", "field", "name") or (field.name in ("axis", "ndim", "index") and type(old) is int):
                new = f"{old}x" if isinstance(old, str) else old + 1
                changed = _with(kernel, node, dataclasses.replace(node, **{field.name: new}))
                assert difference(kernel, changed), (node, field.name)
                count += 1
    assert count or name == "types"


def _with(kernel: nodes.Kernel, old: nodes.Node, new: nodes.Node) -> nodes.Kernel:
    body = tuple(rewrite(stmt, lambda node: new if node is old else node) for stmt in kernel.function.body)
    return dataclasses.replace(kernel, function=dataclasses.replace(kernel.function, body=body))
