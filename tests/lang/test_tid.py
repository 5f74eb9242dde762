"""`tid()` and its number of results."""

from __future__ import annotations

import pytest

import kbuild as kb
from kbuild.errors import Report
from kbuild.lang.program import lower_kernel
from kbuild.loader import types as runtime


@kb.kernel
def one(out: kb.array(dtype=int)):
    i = kb.tid()
    out[i] = i


@kb.kernel
def one_unpacked(out: kb.array(dtype=int)):
    (i,) = kb.tid()
    out[i] = i


@kb.kernel
def three(out: kb.array3d(dtype=int)):
    i, j, k = kb.tid()
    out[i, j, k] = i


@kb.kernel
def none(out: kb.array(dtype=int)):
    out[0] = 1


@pytest.mark.parametrize(("kernel", "ndim"), [(one, 1), (one_unpacked, 1), (three, 3), (none, 1)])
def test_the_number_of_results_is_that_of_the_targets(kernel: runtime.Kernel, ndim: int) -> None:
    report = Report()
    lowered = lower_kernel(kernel, True, report)
    assert report.diagnostics == []
    assert lowered is not None
    assert lowered.ndim == ndim
