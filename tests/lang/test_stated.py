"""Shapes that kernels state of their parameters: what is assumed, who may state one, who is told when it is not so."""

from __future__ import annotations

from pathlib import Path

import pytest

import kbuild as kb
from kbuild.audit.findings import KernelAudit, Options
from kbuild.audit.kernel import audit
from kbuild.errors import CompileError
from kbuild.ir import nodes
from kbuild.loader.layout import ArrayAnnotation
from tests.helpers import kernels

TEXT = """
    @kb.kernel
    def k(a: kb.array(dtype=float, shape=("n", 3)), b: kb.array(dtype=float, shape="n"), n: int):
        i = kb.tid()
        if i {} n:
            b[i] = a[i, {}]
"""


def assumed(folder: Path, text: str) -> list[str]:
    (kernel,) = kernels.lower_text(folder, text)
    return [one.text for one in kernel.function.body if isinstance(one, nodes.Assume)]


def audited(folder: Path, text: str) -> KernelAudit:
    (kernel,) = kernels.lower_text(folder, text)
    return audit(kernel, Options(("bounds",)))


def test_numbers_and_scalars(tmp_path: Path) -> None:
    assert assumed(tmp_path, TEXT.format("<", 2)) == ["a.shape[0] == n", "a.shape[1] == 3", "b.shape[0] == n"]


def test_extents_of_one_name_are_equal(tmp_path: Path) -> None:
    text = """
    @kb.kernel
    def k(a: kb.array2d(dtype=float, shape=("rows", "rows")), b: kb.array(dtype=kb.vec3, shape=("rows",))):
        b[0] = kb.vec3(a[0, 0])
    """
    assert assumed(tmp_path, text) == ["a.shape[1] == a.shape[0]", "b.shape[0] == a.shape[0]"]


def test_what_is_stated_decides(tmp_path: Path) -> None:
    (good,) = audited(tmp_path, TEXT.format("<", 2)).checks
    assert (good.verdict, good.proved) == ("proved", good.obligations)
    bad = audited(tmp_path, TEXT.format("<", 3))
    assert {one.subject for one in bad.findings if one.verdict == "found"} == {"a"}
    assert all("a.shape[0]" in (one.help or "") for one in bad.findings)
    late = audited(tmp_path, TEXT.format("<=", 2))
    assert {one.subject for one in late.findings if one.verdict == "found"} == {"a", "b"}
    assert "a.shape[1] == 3" in audited(tmp_path, TEXT.format("<", 2)).assumptions


def test_nothing_is_proved_from_a_contradiction(tmp_path: Path) -> None:
    text = """
    @kb.kernel
    def k(a: kb.array(dtype=float, shape=("n",)), n: int):
        kb.assume(n == 4)
        kb.assume(n < 2)
        a[7] = 1.0
    """
    found = audited(tmp_path, text)
    assert [one.verdict for one in found.checks] == ["unknown"]
    assert any("contradicts itself" in one for one in found.assumptions)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            """
    @kb.func
    def first(a: kb.array(dtype=float, shape=("n",))):
        return a[0]

    @kb.kernel
    def k(a: kb.array(dtype=float)):
        a[1] = first(a)
    """,
            "not of a function's",
        ),
        (
            """
    @kb.kernel
    def k(a: kb.array(dtype=float, shape=("x",)), x: float):
        a[0] = x
    """,
            "which is float32 and no int",
        ),
    ],
)
def test_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(CompileError, match=said) as refused:
        kernels.lower_text(tmp_path, text)
    assert {one.code for one in refused.value.diagnostics} == {"KB102"}
    assert all(one.help for one in refused.value.diagnostics)


@pytest.mark.parametrize("shape", [("n", -1), ("n", 1.0), ("a b",), ("n", None)])
def test_extents_that_cannot_be(shape: tuple[object, ...]) -> None:
    with pytest.raises(TypeError, match="an extent is a number from 0 on, or a name"):
        kb.array(dtype=float, shape=shape)


def test_dimensions_that_contradict_each_other() -> None:
    with pytest.raises(TypeError, match="array2d has 2 dimensions, and shape states 1"):
        kb.array2d(dtype=float, shape=("n",))


def test_the_annotation() -> None:
    stated = kb.array(dtype=float, shape=("n", 3))
    assert repr(stated) == "array(dtype=float, shape=('n', 3))"
    assert stated != ArrayAnnotation(float, 2)
    assert stated == kb.array2d(dtype=float, shape=("n", 3))


@kb.kernel
def scaled(a: kb.array(dtype=float, shape=("n",)), b: kb.array(dtype=float, shape=("n",))):  # type: ignore[valid-type]
    i = kb.tid()
    if i < a.shape[0]:
        b[i] = 2.0 * a[i]


def test_the_simulator_holds_launches_against_it() -> None:
    a, b = kb.array([1.0, 2.0], dtype=float, device="sim"), kb.zeros(2, dtype=float, device="sim")
    kb.launch(scaled, 2, [a, b], device="sim")
    assert b.tolist() == [2.0, 4.0]
    short = kb.zeros(1, dtype=float, device="sim")
    with pytest.raises(kb.sim.AssumptionFailed, match=r"b\.shape\[0\] == a\.shape\[0\]"):
        kb.launch(scaled, 1, [a, short], device="sim")
