"""docs/stating.md: its kernel is right and proved, and its error is what a launch gets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kbuild as kb
from kbuild.audit.findings import Options
from kbuild.audit.kernel import audit
from kbuild.loader.errors import LaunchError
from tests.helpers import kernels

PAGE = (Path(__file__).parents[2] / "docs" / "stating.md").read_text(encoding="utf-8")
(KERNEL,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
(ERROR,) = re.findall(r"```\nLaunchError: (.*?)\n```", PAGE, re.DOTALL)


def test_the_kernel_of_the_page(tmp_path: Path) -> None:
    path = tmp_path / "stating_kernels.py"
    path.write_text(KERNEL, encoding="utf-8")
    _, (kernel,) = kernels.load(path)
    (lowered,), said = kernels.diagnose([kernel])
    assert not said
    (bounds,) = audit(lowered, Options(("bounds",))).checks
    assert (bounds.verdict, bounds.proved) == ("proved", bounds.obligations)
    kernel_globals = kernel.function.__globals__
    assert kernel_globals["kb"] is kb
    pos, stress = kb.zeros(5, dtype=kb.vec3, device="sim"), kb.zeros((5, 9), dtype=float, device="sim")
    kb.launch(kernel, 5, [pos, stress, None, 0.5], device="sim")
    with pytest.raises(LaunchError) as refused:
        kb.launch(kernel, 6, [pos, stress, None, 0.5], device="sim")
    assert str(refused.value) == ERROR.replace("robosim.kernels", "stating_kernels")
