"""Kernels that declare their launches are decided without knowing any: nothing is taken for granted of `dim`."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbuild.audit.findings import Options
from kbuild.audit.kernel import audit
from kbuild.ir import nodes
from tests.audit.cases import Case, cases
from tests.helpers import kernels

CASES = [pytest.param(one, id=one.name) for one in cases().values() if one.module == "declared"]


@pytest.mark.parametrize("use_solver", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_without_a_launch(case: Case, use_solver: bool) -> None:
    if use_solver:
        pytest.importorskip("z3", reason="z3 is not installed")
    found = audit(case.ir, Options((case.about,), block_dim=case.declared, use_solver=use_solver, time_limit=60.0))
    (check,) = found.checks
    expected = case.expected(case.about, "symbolic")
    assert check.verdict == (expected if use_solver or expected == "proved" else "unknown")  # an example takes a solver
    lines = {one.span.line for one in found.findings if one.span is not None}
    assert lines == set(case.lines(case.about))
    assert not [text for text in found.assumptions if "dim" in text]
    assert found.declared[-1].endswith("(launch_dim)")


def test_the_same_without_the_declaration_goes_wrong() -> None:
    kernel = cases()["as_many_as_elements_good"].ir
    bare = nodes.Kernel(kernel.name, kernel.function, kernel.ndim)
    (check,) = audit(bare, Options(("bounds",))).checks
    assert check.verdict == "found"


def test_what_is_taken_for_granted_is_said_in_the_names_of_the_declaration(tmp_path: Path) -> None:
    text = """
    @kb.kernel(launch_dim=("rows", "columns"))
    def flat(a: kb.array(dtype=float), rows: int, columns: int):
        i, j = kb.tid()
        a[i * columns + j] = 1.0
    """
    (kernel,) = kernels.lower_text(tmp_path, text)
    found = audit(kernel, Options(("bounds",)))
    assert [one.verdict for one in found.checks] == ["proved"]
    assert found.assumptions[1:] == ("a.shape[0] >= rows*columns",)
    assert found.declared == ("dim[0] == rows (launch_dim)", "dim[1] == columns (launch_dim)")


def test_an_example_is_a_launch_as_declared() -> None:
    case = cases()["declared_turned_bad"]
    found = audit(case.ir, Options(("bounds",)))
    (example,) = {one.example for one in found.findings if one.example is not None}
    assert example.dim == dict(example.shapes)["data"]
    assert dict(example.shapes)["out"] == example.dim[::-1]
