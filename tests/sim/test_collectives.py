"""Operations of a warp that not all lanes reach, and what they do not order; sums in adjoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kbuild as kb
from kbuild.autodiff.result import Undifferentiable
from kbuild.autodiff.transform import adjoint
from kbuild.sim.blocks import Divergence, Launch, over
from kbuild.sim.lockstep.run import Options
from kbuild.sim.profile.uniform import Uniform
from kbuild.sim.threads import run_launch
from kbuild.sim.values import Conflict, Fault, Memory
from tests.helpers import kernels
from tests.helpers.lockstep import run_in_lockstep

HEAD = "import kbuild as kb\n\n@kb.kernel\ndef k(data: kb.array(dtype=int)):\n"
CASES = {
    "an early return": (
        "if kb.tid() == 5:\n    return\ndata[kb.tid()] = kb.warp_sum(1)",
        "thread (5,) has ended",
        None,
    ),
    "a branch": ("if kb.lane_id() < 9:\n    data[kb.tid()] = kb.shfl(kb.tid(), 0)", "thread (9,)", 6),
    "a condition": ("data[kb.tid()] = int(kb.tid() > 3 and kb.any(kb.tid() > 5))", "thread (0,)", 5),
    "a loop that lanes leave": (
        "for i in range(1 + kb.tid() // 30):\n    data[kb.tid()] = int(kb.ballot(True))",
        "thread (0,)",
        6,
    ),
    "another operation": (
        "x = 0\nif kb.lane_id() < 4:\n    x = kb.shfl(1, 0)\nelse:\n    x = kb.shfl(2, 0)\ndata[kb.tid()] = x",
        "thread (4,)",
        7,
    ),
    "the second warp": ("if kb.tid() < 33:\n    data[kb.tid()] = kb.shfl_xor(1, 1)", "thread (33,)", 6),
}


def kernel_of(folder: Path, body: str) -> Any:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    path = folder / "case.py"
    path.write_text(HEAD + lines)
    lowered, diagnostics = kernels.diagnose(kernels.load(path)[1])
    assert [d.render() for d in diagnostics] == []
    return lowered[0]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("way", ["oracle", "lockstep"])
def test_lanes_that_are_missing(tmp_path: Path, name: str, way: str) -> None:
    body, said, line = CASES[name]
    kernel = kernel_of(tmp_path, body)
    memory = Memory(kernel.function.parameters[0].type.element, (64,), [0] * 64)
    run, given = (run_launch, memory) if way == "oracle" else (run_in_lockstep, np.zeros(64, np.int32))
    with pytest.raises(Divergence, match="an operation of the warp that not all of its lanes reach") as caught:
        run(kernel, over((64,), 64), [given])
    assert said in caught.value.reason
    assert caught.value.span is not None
    assert line is None or caught.value.span.line == line


def test_lanes_in_part_of_a_block_are_no_fault(tmp_path: Path) -> None:
    """Whole warps may go ways of their own."""
    kernel = kernel_of(tmp_path, "if kb.warp_id() == 1:\n    data[kb.tid()] = kb.warp_sum(kb.lane_id())")
    data = np.zeros(80, np.int32)
    run_in_lockstep(kernel, over((80,), 80), [data])
    assert data.tolist() == [0] * 32 + [31 * 16] * 32 + [0] * 16
    found = Memory(kernel.function.parameters[0].type.element, (80,), [0] * 80)
    run_launch(kernel, over((80,), 80), [found])
    assert found.data == data.tolist()


@pytest.mark.parametrize("between", ["kb.shfl(1, 0)", "kb.ballot(True)"])
def test_exchanging_values_orders_no_memory(tmp_path: Path, between: str) -> None:
    body = f"i = kb.tid()\ndata[i] = i\nx = {between}\ny = data[i ^ 1]\nkb.syncwarp()\ndata[i] = y + int(x)"
    kernel = kernel_of(tmp_path, body)
    with pytest.raises(Conflict):
        run_in_lockstep(kernel, over((32,), 32), [np.zeros(32, np.int32)])
    with pytest.raises(Conflict):
        run_launch(kernel, over((32,), 32), [Memory(kernel.function.parameters[0].type.element, (32,), [0] * 32)])


def test_a_launch_in_part_of_a_block_is_refused(tmp_path: Path) -> None:
    kernel = kernel_of(tmp_path, "data[0] = kb.warp_sum(1)")
    with pytest.raises(ValueError, match="runs in whole blocks"):
        run_in_lockstep(kernel, over((40,), 32), [np.zeros(1, np.int32)])


def test_lanes_run_in_any_chunk(tmp_path: Path) -> None:
    kernel = kernel_of(tmp_path, "data[kb.tid()] = kb.block_scan_inclusive(1) + 100 * kb.shfl_down(kb.tid(), 3)")
    whole, pieces = np.zeros(480, np.int32), np.zeros(480, np.int32)
    run_in_lockstep(kernel, Launch((10, 1, 1), (6, 4, 2), (480,)), [whole])
    run_in_lockstep(kernel, Launch((10, 1, 1), (6, 4, 2), (480,)), [pieces], Options(chunk=100))
    assert whole.tolist() == pieces.tolist()


def test_what_is_the_same_in_a_warp(tmp_path: Path) -> None:
    body = "i = kb.tid()\na = kb.ballot(i > 3)\nb = kb.shfl(i, 3)\nc = kb.shfl(i, 3, 8)\nd = kb.shfl_up(i, 1)\n"
    body += "e = kb.match_any(i)\nf = kb.any(i > 3)\ndata[i] = int(a) + b + c + d + int(e) + int(f)"
    kernel = kernel_of(tmp_path, body)
    uniform = Uniform(kernel.function)
    seen = {
        stmt.target.symbol.name: uniform(stmt.target)
        for stmt in kernel.function.body
        if hasattr(stmt, "target") and hasattr(stmt.target, "symbol")
    }
    assert {name: seen[name] for name in "abcdef"} == {**dict.fromkeys("abf", True), **dict.fromkeys("cde", False)}


@kb.kernel
def weighted(x: kb.array(dtype=float), w: kb.array(dtype=float), y: kb.array(dtype=float)):
    i = kb.tid()
    y[i] = (kb.warp_sum(x[i] * x[i]) + 2.0 * kb.block_sum(x[i])) * w[i]


@kb.kernel
def strided(x: kb.array(dtype=float), w: kb.array(dtype=float), y: kb.array(dtype=float)):
    for i in kb.grid_range(1, len(x), 2):
        y[i] = x[i] * x[i] * w[i]


def test_loops_over_the_grid_have_adjoints() -> None:
    x, w = np.linspace(-1.0, 1.0, 1000, dtype=np.float32), np.cos(np.arange(1000, dtype=np.float32))
    given = kb.array(x, device="sim", requires_grad=True)
    out = kb.zeros(1000, dtype=float, device="sim", requires_grad=True)
    with kb.Tape() as tape:
        kb.launch(strided, grid=3, block=64, inputs=[given, kb.array(w, device="sim"), out])
    tape.backward(grads={out: kb.array(np.ones(1000, np.float32), device="sim")})
    wanted = np.where(np.arange(1000) % 2 == 1, 2.0 * x * w, 0.0)
    np.testing.assert_allclose(given.grad.numpy(), wanted, rtol=1e-5, atol=1e-6)


def test_sums_have_adjoints() -> None:
    count, block = 96, 48
    x, w = np.linspace(-1.0, 1.0, count, dtype=np.float32), np.cos(np.arange(count, dtype=np.float32))
    given = kb.array(x, device="sim", requires_grad=True)
    out = kb.zeros(count, dtype=float, device="sim", requires_grad=True)
    with kb.Tape() as tape:
        kb.launch(weighted, dim=count, block_dim=block, inputs=[given, kb.array(w, device="sim"), out])
    tape.backward(grads={out: kb.array(np.ones(count, np.float32), device="sim")})
    wanted = np.zeros(count)
    for first in range(0, count, block):
        whole = slice(first, first + block)
        wanted[whole] += 2.0 * w[whole].sum(dtype=np.float64)
        for warp in (slice(first, first + 32), slice(first + 32, first + block)):
            wanted[warp] += 2.0 * x[warp] * w[warp].sum(dtype=np.float64)
    np.testing.assert_allclose(given.grad.numpy(), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("call", ["kb.shfl(x, 0)", "kb.warp_max(x)", "kb.block_scan_inclusive(x)"])
def test_what_has_no_adjoint_is_refused_with_its_line(tmp_path: Path, call: str) -> None:
    (kernel,) = kernels.lower_text(
        tmp_path, f"@kb.kernel\ndef k(a: kb.array(dtype=float)):\n    x = a[kb.tid()]\n    a[kb.tid()] = {call}\n"
    )
    with pytest.raises(Undifferentiable, match="a kernel whose threads work together has no adjoint") as caught:
        adjoint(kernel)
    assert caught.value.span is not None
    assert isinstance(caught.value, Exception)
    assert not isinstance(caught.value, Fault)
