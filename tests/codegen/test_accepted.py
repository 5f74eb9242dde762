"""Any kernel is refused with a diagnostic, or gives CUDA C that NVRTC takes: random programs, and right ones changed.

`KBUILD_DEEP=50` looks fifty times as long.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from kbuild.ir import nodes
from tests.helpers import changed_programs, kernels, random_programs, rich_programs

DEEP = int(os.environ.get("KBUILD_DEEP", "1"))
GOLDEN = Path(__file__).parent / "golden"
SEEDS = [*GOLDEN.glob("*.py"), *(Path(__file__).parents[1] / "ir" / "golden").glob("*.py")]


@pytest.mark.nvrtc
@pytest.mark.parametrize("seed", range(DEEP))
def test_random_programs(tmp_path: Path, accept: Any, seed: int) -> None:
    text = random_programs.HELPERS + "\n".join(p.text() for p in random_programs.make(1000 + seed, 12))
    accept(kernels.emit_kernels(kernels.lower_text(tmp_path, text)).source, "sm_90", warns=True)


@pytest.mark.nvrtc
@pytest.mark.parametrize("seed", range(DEEP))
def test_rich_programs(tmp_path: Path, accept: Any, seed: int) -> None:
    text = rich_programs.make(seed, 4)
    accept(kernels.emit_kernels(kernels.lower_text(tmp_path, text)).source, "sm_90", warns=True)


@pytest.mark.nvrtc
@pytest.mark.parametrize("result", ["kb.where(x > 0, {}, {}), 1", "Outer({} if x > 0 else {}, 1)"])
@pytest.mark.parametrize("target", ["sm_90", "sm_90@13.0", "sm_75@11.8"])
def test_a_choice_among_the_parts_of_a_struct(tmp_path: Path, accept: Any, result: str, target: str) -> None:
    """Plain C++ of this kind ends NVRTC with a segmentation fault."""
    inner = ("Inner(1.0, kb.vec3(0.0))", "Inner(float(x), kb.vec3(1.0))")
    text = f"""
        @kb.struct
        class Inner:
            mass: float
            spin: kb.vec3
        @kb.struct
        class Outer:
            inner: Inner
            count: int
        @kb.func
        def chosen(x: int):
            return {result.format(*inner)}
        @kb.kernel
        def k(a: kb.array(dtype=float), x: int):
            found = chosen(x)
            a[0] = 1.0
    """
    accept(kernels.emit_kernels(kernels.lower_text(tmp_path, text)).source, target, warns=True)


@pytest.mark.nvrtc
@pytest.mark.parametrize("seed", range(2 * DEEP))
def test_changed_programs(tmp_path: Path, accept: Any, seed: int) -> None:
    """A few hundred changed programs; those that are still right go through NVRTC together."""
    source = random.Random(seed)
    lowered: list[nodes.Kernel] = []
    refused = 0
    for number in range(250):
        text = changed_programs.changed(source.choice(SEEDS).read_text(encoding="utf-8"), source)
        path = tmp_path / f"changed_{number}.py"
        path.write_text(text, encoding="utf-8")
        good, wrong = _outcome(path, text)
        lowered += good
        refused += bool(wrong)
    assert refused > 50
    assert len(lowered) > 30
    accept(kernels.emit_kernels(lowered).source, "sm_90", warns=True)


def _outcome(path: Path, text: str) -> tuple[list[nodes.Kernel], list[Any]]:
    try:
        declared = kernels.load(path)[1]
    except Exception:
        return [], ["what Python itself refuses at import"]
    try:
        return kernels.diagnose(declared)
    except Exception as error:
        raise AssertionError(f"neither refused nor compiled:\n{text}") from error
