"""Printed IR of small kernels, one behaviour a file in `golden/`."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbuild.ir.printer import print_kernel
from tests.helpers import golden, kernels

CASES = sorted((Path(__file__).parent / "golden").glob("*.py"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_printed(path: Path, pytestconfig: pytest.Config) -> None:
    lowered, diagnostics = kernels.diagnose(kernels.load(path, f"golden.{path.stem}")[1])
    assert diagnostics == []
    text = "\n".join(map(print_kernel, lowered))
    golden.check(path.with_suffix(".ir"), text, pytestconfig)


def test_goldens_and_cases_belong_together() -> None:
    assert {p.stem for p in CASES} == {p.stem for p in (Path(__file__).parent / "golden").glob("*.ir")}
