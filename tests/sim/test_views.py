"""Arrays at fewer indices than dimensions: views that read and write the same memory."""

from __future__ import annotations

import kbuild as kb
from kbuild.errors import Report
from kbuild.intrinsics.table import has_effects
from kbuild.ir.contract import contract
from kbuild.ir.types import INT32
from kbuild.ir.verify import verify
from kbuild.lang.program import lower_kernel
from kbuild.loader import types as runtime
from kbuild.sim.threads import run
from kbuild.sim.values import Memory


@kb.func
def total(row: kb.array(dtype=int)):
    result = 0
    for i in range(row.shape[0]):
        result += row[i]
    return result


@kb.func
def fill(plane: kb.array2d(dtype=int), value: int):
    for i in range(plane.shape[0]):
        for j in range(plane.shape[1]):
            plane[i, j] = value


@kb.kernel
def views(a: kb.array3d(dtype=int), out: kb.array(dtype=int)):
    i = kb.tid()
    out[i] = total(a[i, 1]) + a[i][0][2]
    plane = a[i]
    row = plane[0]
    row[0] = 100 + i
    row[1] += 5
    if i == 1:
        fill(plane, row[0] + len(row))


def lowered(kernel: runtime.Kernel):
    report = Report()
    made = lower_kernel(kernel, True, report)
    assert report.diagnostics == []
    assert made is not None
    return contract(verify(made, has_effects))


def test_views_share_memory() -> None:
    a = Memory(INT32, (2, 2, 3), list(range(12)))
    out = Memory(INT32, (2,), [0, 0])
    run(lowered(views), (2,), [a, out])
    assert out.data == [3 + 4 + 5 + 2, 9 + 10 + 11 + 8]
    assert a.data == [100, 6, 2, 3, 4, 5, *[104] * 6]
