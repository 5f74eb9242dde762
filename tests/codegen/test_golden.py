"""CUDA C of small kernels, one construct a file in `golden/`; every toolchain accepts each text without a warning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kbuild.codegen.unit import emit
from tests.helpers import golden, kernels

GOLDEN = Path(__file__).parent / "golden"
CASES = sorted(GOLDEN.glob("*.py"))


def emitted(path: Path) -> str:
    lowered, diagnostics = kernels.diagnose(kernels.load(path, f"golden.{path.stem}")[1])
    assert diagnostics == []
    return emit([(kernel, kernel.name.rpartition(":")[2]) for kernel in lowered]).source


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_text(path: Path, pytestconfig: pytest.Config) -> None:
    golden.check(path.with_suffix(".cu"), emitted(path), pytestconfig)


def test_goldens_and_cases_belong_together() -> None:
    assert {p.stem for p in CASES} == {p.stem for p in GOLDEN.glob("*.cu")}


@pytest.mark.nvrtc
def test_nvrtc_accepts_them_all(accept: Any) -> None:
    lowered = []
    for path in CASES:
        if path.stem == "clusters":  # which not every target has
            continue
        lowered += kernels.diagnose(kernels.load(path, f"golden.{path.stem}")[1])[0]
    source = emit([(kernel, f"entry_{n}") for n, kernel in enumerate(lowered)]).source
    accept(source, "jetson-xavier-jp5", "sm_90", "jetson-thor-jp7")


@pytest.mark.nvrtc
def test_nvrtc_accepts_clusters_where_there_are_any(accept: Any) -> None:
    source = emitted(GOLDEN / "clusters.py")
    accept(source, "sm_90", "sm_90@11.8", "sm_90a", "sm_100", "sm_120", "sm_120@13.0", "jetson-thor-jp7", "compute_90")
