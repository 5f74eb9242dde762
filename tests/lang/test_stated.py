"""Shapes that kernels state of their parameters: what is assumed, who may state one, who is told when it is not so."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any

import pytest

import kbuild as kb
from kbuild.audit.findings import KernelAudit, Options
from kbuild.audit.kernel import audit
from kbuild.errors import CompileError
from kbuild.ir import nodes
from kbuild.ir.presence import optional_parameters
from kbuild.ir.printer import print_kernel
from kbuild.ir.stated import comparisons
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
    assert assumed(tmp_path, text) == ['a.shape[1] == a.shape[0] ("rows")', 'b.shape[0] == a.shape[0] ("rows")']


MASKED = """
    @kb.kernel
    def k(
        a: kb.array(dtype=float, shape="n"), b: kb.array(dtype=float, shape="n"), c: kb.array(dtype=float, shape="n")
    ):
        i = kb.tid()
        if b and c:
            a[i] = b[i] + c[i]
"""


def test_of_an_array_that_may_be_none_it_is_so_where_there_is_one(tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(tmp_path, MASKED)
    assert print_kernel(kernel).splitlines()[1:3] == [
        "    assume((not present(b) or (b.shape[0] == a.shape[0])))",
        "    assume((not present(c) or (c.shape[0] == a.shape[0])))",
    ]
    assert [(one.left, one.right) for one in comparisons(kernel)] == [
        ("b.shape[0]", "a.shape[0]"),
        ("c.shape[0]", "a.shape[0]"),
    ]


@pytest.mark.parametrize("use", ["a.shape[0]", "1"])
def test_an_array_without_a_use_may_be_none_too(tmp_path: Path, use: str) -> None:
    """In Warp's dialect to ask for an extent is no use: of no array it is 0."""
    text = f"""
    import kbuild.warp as wp

    @wp.kernel
    def k(a: kb.array(dtype=float, shape="n"), b: kb.array(dtype=float, shape="n")):
        b[0] = float({use})
    """
    (kernel,) = kernels.lower_text(tmp_path, text)
    assert print_kernel(kernel).splitlines()[1] == "    assume((not present(a) or (b.shape[0] == a.shape[0])))"
    assert optional_parameters(kernel.function) == ["a"]


def test_of_arrays_that_may_all_be_none(tmp_path: Path) -> None:
    text = """
    @kb.kernel
    def k(
        a: kb.array(dtype=float, shape="n"), b: kb.array(dtype=float, shape="n"), c: kb.array(dtype=float, shape="n")
    ):
        if a and b and c:
            a[0] = b[0] + c[0]
    """
    said = [one.said for one in comparisons(kernels.lower_text(tmp_path, text)[0])]
    pairs = [("b", "a"), ("c", "a"), ("c", "b")]  # with any one missing the others still have to agree
    assert said == [f'{one}.shape[0] == {other}.shape[0] ("n")' for one, other in pairs]


WHOLE = """
    @kb.struct
    class Model:
        count: int
        masses: kb.array(dtype=float)

    @kb.func
    def half(n: int):
        return n // 2

    @kb.kernel(launch_dim=("n", 4))
    def k(a: kb.array2d(dtype=float, shape=("n", 3)), m: int, dt: float, big: kb.uint64, model: Model):
        kb.assume(m % 32 == 0 and dt > 0.1)
        kb.assume(0 < model.count)
        kb.assume(model.masses.shape[0] == m)
        kb.assume(big <= 18446744073709551615)
        i, j = kb.tid()
        kb.assume(i < m)
        kb.assume(m % 32 == 1)
        kb.assume(m < 8 or m > 9)
        kb.assume(half(m) > 3)
        kb.assume(not model.masses or m > 3)
        m += 1
        kb.assume(m > 7)
        if i > 4:
            return
        kb.assume(model.count > 8)
        a[i, j] = dt
"""


def test_what_the_host_can_hold_launches_against(tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(tmp_path, WHOLE)
    tenth = struct.unpack("<f", struct.pack("<f", 0.1))[0]
    assert [(one.left, one.operator, one.right) for one in comparisons(kernel)] == [
        ("a.shape[1]", "==", "3"),
        ("m % 32", "==", "0"),
        ("dt", ">", repr(tenth)),
        ("model.count", ">", "0"),
        ("model.masses.shape[0]", "==", "m"),
        ("big", "<=", "18446744073709551615"),
        ("dim[0]", "==", "a.shape[0]"),
        ("dim[1]", "==", "4"),
    ]
    assert comparisons(kernel)[-2].said == "dim[0] == a.shape[0] (launch_dim)"
    assert "ndim=2 launch_dim=(a.shape[0], int32(4))(a: " in print_kernel(kernel)


SUMS = """
    @kb.kernel
    def k(a: kb.array(dtype=float), starts: kb.array(dtype=int), n: int, m: int, u: kb.uint32, x: float):
        kb.assume(starts.shape[0] == n + 1)
        kb.assume(a.shape[0] >= n * m - 2 * (m - 1))
        kb.assume(-n < 3 and (n + m) % 4 == 0)
        kb.assume(u - kb.uint32(1) < kb.uint32(7))
        kb.assume(3 <= 2 * n)
        kb.assume(n - n == 0)
        kb.assume(x + 1.0 > 0.0)
        kb.assume(n // 2 > 0)
        kb.assume(n + starts[0] > 0)
        kb.assume((n % 4) * m == 0)
        a[0] = x
"""


def test_sums_of_products(tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(tmp_path, SUMS)
    assert [f"{one.left} {one.operator} {one.right}" for one in comparisons(kernel)] == [
        "starts.shape[0] == n + 1",
        "a.shape[0] >= m * n + -2 * m + 2",
        "-1 * n < 3",
        "n + m % 4 == 0",
        "u + -1 < 7",
        "2 * n >= 3",
    ]


@pytest.mark.parametrize(
    ("option", "said", "help"),
    [
        ('"m"', "names 'm', which is neither a stated size nor an int parameter of", 'shape=("m",)'),
        ('"row"', "names 'row', which is neither", "did you mean 'rows'?"),
        ('"x"', "names 'x', which is float32 and no int", "make 'x' an int"),
        ('"a"', "names 'a', which is array2[float32] and no int", '`a: kb.array(…, shape=("n", …))`'),
        ('"k"', "names 'k', and all arrays of that size may be None", "an array that is always there"),
        ('("rows", 3)', "launch_dim has 2 axes, and tid() in", "give one size"),
    ],
)
def test_a_launch_dim_that_cannot_be(tmp_path: Path, option: str, said: str, help: str) -> None:
    text = f"""
    @kb.kernel(launch_dim={option})
    def k(a: kb.array2d(dtype=float, shape=("rows", 3)), b: kb.array(dtype=float, shape="k"), x: float):
        i = kb.tid()
        if b:
            a[i, 0] = x
    """
    with pytest.raises(CompileError, match=re.escape(said)) as refused:
        kernels.lower_text(tmp_path, text)
    (one,) = refused.value.diagnostics
    assert one.code == "KB184"
    assert help in (one.help or "")
    assert option in one.render().replace("'", '"')
    assert one.span is not None
    assert (one.span.line, one.span.end_column - one.span.column) == (3, len(option))


def test_fields_and_overloads_state_no_shapes() -> None:
    @kb.struct
    class Model:
        masses: kb.array(dtype=float, shape=("n",))  # type: ignore[valid-type]

    with pytest.raises(TypeError, match=r"field 'masses'.*: a shape is stated of a kernel's parameters.*ndim=1"):
        Model()
    with pytest.raises(TypeError, match="x: an overload gives types: the generic kernel itself states shapes"):
        kb.overload(generic, {"x": kb.array(dtype=float, shape=("n",))})


@kb.cuda_kernel("scaled.cu")
def in_cuda(a: kb.array(dtype=float, shape=("n",)), n: int):  # type: ignore[valid-type, empty-body]
    ...


def test_kernels_in_cuda_state_no_shapes() -> None:
    _, (said, *_) = kernels.diagnose([in_cuda])
    assert said.code == "KB102"
    assert "a shape is stated of kernels in Python, and" in said.message


@kb.kernel(launch_dim="n")
def generic(x: kb.array(dtype=Any, shape=("n",))):  # type: ignore[valid-type]
    x[kb.tid()] = x.dtype(1)


def test_a_generic_kernel_states(tmp_path: Path) -> None:
    lowered, said = kernels.diagnose([kb.overload(generic, {"x": kb.array(dtype=float)})])
    assert not said
    assert [one.right for one in comparisons(lowered[0])] == ["x.shape[0]"]


def test_what_is_stated_decides(tmp_path: Path) -> None:
    (good,) = audited(tmp_path, TEXT.format("<", 2)).checks
    assert (good.verdict, good.proved) == ("proved", good.obligations)
    bad = audited(tmp_path, TEXT.format("<", 3))
    assert {one.subject for one in bad.findings if one.verdict == "found"} == {"a"}
    assert all("a.shape[0]" in (one.help or "") for one in bad.findings)
    late = audited(tmp_path, TEXT.format("<=", 2))
    assert {one.subject for one in late.findings if one.verdict == "found"} == {"a", "b"}
    said = audited(tmp_path, TEXT.format("<", 2))
    assert said.declared == ("a.shape[0] == n", "a.shape[1] == 3", "b.shape[0] == n")
    assert not set(said.declared) & set(said.assumptions)


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
