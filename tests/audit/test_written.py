"""The shape of a block that a kernel counts on, read off the places that it computes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbuild.audit.findings import Options
from kbuild.audit.kernel import audit
from kbuild.audit.written import written_block
from tests.helpers import kernels


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ("a[kb.block_idx() * 64 + kb.thread_idx()] = 0.0", {0: 64}),
        (
            "a[kb.thread_idx().x + 16 * kb.block_idx().x] = float(kb.block_idx().y * 8 + kb.thread_idx().y)",
            {0: 16, 1: 8},
        ),
        ("x = kb.thread_idx().x\n    a[kb.block_idx().x * 32 + x] = 0.0", {0: 32}),
        ("a[kb.block_idx().x * 32 + kb.thread_idx().y] = 0.0", {}),
        ("a[kb.block_idx() * 64 + kb.thread_idx()] = a[kb.block_idx() * 32 + kb.thread_idx()]", {}),
        ("a[kb.block_idx() * kb.block_dim() + kb.thread_idx()] = 0.0", {}),
        ("a[kb.tid()] = 0.0", {}),
    ],
)
def test_what_is_written(tmp_path: Path, lines: str, wanted: dict[int, int]) -> None:
    text = f"@kb.kernel\ndef k(a: kb.array(dtype=float)):\n    {lines}\n"
    (kernel,) = kernels.lower_text(tmp_path, text)
    assert written_block(kernel) == wanted


def test_the_audit_takes_it(tmp_path: Path) -> None:
    text = """
    @kb.kernel
    def k(a: kb.array2d(dtype=float)):
        i = kb.block_idx().y * 4 + kb.thread_idx().y
        j = kb.block_idx().x * 8 + kb.thread_idx().x
        if i < a.shape[0] and j < a.shape[1]:
            a[i, j] = 0.0
    """
    (kernel,) = kernels.lower_text(tmp_path, text)
    found = audit(kernel, Options(("global-races",)))
    assert found.findings == ()
    assert any("(8, 4, 1)" in one for one in found.assumptions)
