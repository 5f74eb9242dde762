"""Order and scope of atomics, hints for caches, assumptions: three ways, what races they end, and machine code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kbuild.loader.grids import Grid
from kbuild.sim.blocks import over
from kbuild.sim.lockstep.races import Race
from kbuild.sim.threads import AssumptionFailed, run_launch
from kbuild.sim.values import Fault, Memory
from tests.helpers import kernels
from tests.helpers.accept import Accept
from tests.helpers.both_ways import BothWays
from tests.helpers.lockstep import run_in_lockstep

TYPES = ["int8", "uint16", "int32", "int64", "float16", "float32", "float64"]
ORDERS = ["relaxed", "acquire", "release", "acq_rel"]
SCOPES = ["block", "device", "system"]


def atomics_of(type: str) -> str:
    """Every operation with every order and scope, on global and on shared memory."""
    lines, at = [], 0
    for op in ("add", "sub", "min", "max", "and", "or", "xor", "exch", "cas"):
        if op in ("and", "or", "xor") and type.startswith("float"):
            continue
        for order in ORDERS:
            for scope in SCOPES:
                given = "one, two" if op == "cas" else "two"
                options = f'order="{order}", scope="{scope}"'
                lines.append(f"kb.atomic_{op}(out, {at}, {given}, {options})")
                lines.append(f"kb.atomic_{op}(tile, 0, {given}, {options})")
                lines.append(f"out[{at + 1}] = tile[0]")
                at += 2
    body = "\n".join(f"    {line}" for line in lines)
    return (
        f"@kb.kernel\ndef ordered(out: kb.array(dtype=kb.{type}), one: kb.{type}, two: kb.{type}):\n"
        f"    tile = kb.shared_array(1, kb.{type})\n    tile[0] = one\n{body}\n"
    )


@pytest.mark.parametrize("kind", TYPES)
def test_every_atomic_with_every_order_and_scope(tmp_path: Path, kind: str) -> None:
    run = BothWays(tmp_path, atomics_of(kind))
    out = np.ones(256, kind)
    run(Grid(1, 1), out, *((1.0, 3.0) if kind.startswith("float") else (1, 3)))
    assert out[:4].tolist() == [4, 4, 4, 7]


@pytest.mark.nvrtc
@pytest.mark.parametrize("target", ["jetson-xavier-jp5", "sm_87", "sm_90", "sm_120"])
def test_atomics_with_an_order_compile(tmp_path: Path, accept: Accept, target: str) -> None:
    text = "\n".join(atomics_of(kind).replace("ordered", f"ordered_{kind}") for kind in TYPES)
    accept(kernels.emit_kernels(kernels.lower_text(tmp_path, text)).source, target)


HINTS = """
    @kb.struct
    class Pair:
        a: kb.int8
        b: kb.float64

    @kb.kernel
    def hints(
        v: kb.array2d(dtype=kb.vec3), h: kb.array(dtype=kb.vec2h), b: kb.array(dtype=bool), p: kb.array(dtype=kb.uint8),
        out: kb.array(dtype=kb.vec3), out_h: kb.array(dtype=kb.vec2h), out_b: kb.array(dtype=bool),
        out_p: kb.array(dtype=kb.float64),
    ):
        i = kb.tid()
        kb.assume(i >= 0 and i < v.shape[1])
        kb.store_streaming(out, -1 - i if i < 0 else i, kb.load_readonly(v, 1, i) + kb.load_streaming(v, 0, i))
        kb.store_streaming(out_h, i, kb.load_readonly(h, i))
        kb.store_streaming(out_b, i, not kb.load_streaming(b, i))
        pair = Pair(kb.int8(kb.load_readonly(p, i)), kb.float64(2.0))
        kb.store_streaming(out_p, i, pair.b * kb.float64(pair.a))
"""


def test_hints_change_no_meaning(tmp_path: Path) -> None:
    run = BothWays(tmp_path, HINTS)
    v = np.arange(36, dtype=np.float32).reshape(2, 6, 3)
    h, b, p = np.arange(12, dtype=np.float16).reshape(6, 2), np.arange(6) % 2 == 0, np.arange(6, dtype=np.uint8)
    out, out_h = np.zeros((6, 3), np.float32), np.zeros((6, 2), np.float16)
    out_b, out_p = np.zeros(6, bool), np.zeros(6)
    run(6, v, h, b, p, out, out_h, out_b, out_p)
    assert (out == v[0] + v[1]).all()
    assert (out_h == h).all()
    assert (out_b == ~b).all()
    assert (out_p == 2.0 * p).all()


@pytest.mark.nvrtc
@pytest.mark.parametrize("target", ["jetson-xavier-jp5", "sm_87", "sm_90", "sm_120"])
def test_hints_compile(tmp_path: Path, accept: Accept, target: str) -> None:
    accept(kernels.emit_kernels(kernels.lower_text(tmp_path, HINTS)).source, target)


def test_an_assumption_that_does_not_hold_is_a_fault(tmp_path: Path) -> None:
    text = "@kb.kernel\ndef k(a: kb.array(dtype=int)):\n    i = kb.tid()\n    kb.assume(a[i] < 3)\n    a[i] = 0\n"
    (kernel,) = kernels.lower_text(tmp_path, text)
    for run, data in (
        (run_in_lockstep, np.arange(5, dtype=np.int32)),
        (run_launch, Memory(kernel.function.parameters[0].type.element, (5,), list(range(5)))),  # type: ignore[attr-defined]
    ):
        with pytest.raises(AssumptionFailed, match=r"the assumption `a\[i\] < 3` does not hold") as caught:
            run(kernel, over((5,), 32), [data])
        assert caught.value.thread == (3,)
        assert caught.value.span is not None


def test_what_is_stored_to_is_not_read_only(tmp_path: Path) -> None:
    text = "@kb.kernel\ndef k(a: kb.array(dtype=int), b: kb.array(dtype=int)):\n    i = kb.tid()\n"
    text += "    b[i] = kb.load_readonly(a, i)\n"
    (fine,) = kernels.lower_text(tmp_path, text)
    run_in_lockstep(fine, over((4,), 32), [np.arange(4, dtype=np.int32), np.zeros(4, np.int32)])
    (kernel,) = kernels.lower_text(tmp_path, text.replace("(a, i)", "(b, i)"))
    with pytest.raises(Fault, match=r"kb\.load_readonly reads b, to which this kernel stores"):
        run_in_lockstep(kernel, over((4,), 32), [np.arange(4, dtype=np.int32), np.zeros(4, np.int32)])


LAST_BLOCK = """
@kb.kernel
def sums(data: kb.array(dtype=int), parts: kb.array(dtype=int), tickets: kb.array(dtype=int), out: kb.array(dtype=int)):
    is_last = kb.shared_array(1, int)
    own = kb.block_sum(data[kb.tid()])
    if kb.thread_idx() == 0:
        parts[kb.block_idx()] = own
        ticket = kb.atomic_add(tickets, 0, 1{order})
        is_last[0] = int(ticket == kb.grid_dim() - 1)
    kb.syncthreads()
    if is_last[0] != 0:
        total = 0
        if kb.thread_idx() < kb.grid_dim():
            total = parts[kb.thread_idx()]
        total = kb.block_sum(total)
        if kb.thread_idx() == 0:
            out[0] = total
"""


@pytest.mark.parametrize("order", ORDERS)
def test_the_last_block_sees_what_the_others_have_released(tmp_path: Path, order: str) -> None:
    (kernel,) = kernels.lower_text(tmp_path, LAST_BLOCK.format(order=f', order="{order}"'))
    data, out = np.arange(20 * 64, dtype=np.int32), np.zeros(1, np.int32)
    given = [data, np.zeros(20, np.int32), np.zeros(1, np.int32), out]
    if order == "acq_rel":
        run_in_lockstep(kernel, over((20 * 64,), 64), given)
        assert out.tolist() == [data.sum()]
        return
    with pytest.raises(Race, match=r"writes parts"):
        run_in_lockstep(kernel, over((20 * 64,), 64), given)


@pytest.mark.parametrize("is_again", [False, True])
def test_who_has_acquired_before_the_release_sees_nothing_of_it(tmp_path: Path, is_again: bool) -> None:
    text = "@kb.kernel\ndef k(flag: kb.array(dtype=int), data: kb.array(dtype=int)):\n    i = kb.tid()\n"
    text += '    kb.atomic_add(flag, 0, 0, order="acquire")\n    if i == 0:\n        data[0] = 1\n'
    text += '    kb.atomic_add(flag, 0, 1, order="release")\n'
    text += '    kb.atomic_add(flag, 0, 0, order="acquire")\n' if is_again else ""
    text += "    if i == 40:\n        data[1] = data[0]\n"
    (kernel,) = kernels.lower_text(tmp_path, text)
    given = [np.zeros(1, np.int32), np.zeros(2, np.int32)]
    if is_again:
        run_in_lockstep(kernel, over((64,), 32), given)
        assert given[1].tolist() == [1, 1]
        return
    with pytest.raises(Race, match="writes data"):
        run_in_lockstep(kernel, over((64,), 32), given)


def test_what_is_stored_after_the_release_is_still_a_race(tmp_path: Path) -> None:
    text = LAST_BLOCK.format(order=', order="acq_rel"')
    late = text.replace("        parts[kb.block_idx()] = own\n", "").replace(
        "        is_last[0] =", "        parts[kb.block_idx()] = own\n        is_last[0] ="
    )
    assert late != text
    (kernel,) = kernels.lower_text(tmp_path, late)
    given = [np.ones(20 * 64, np.int32), np.zeros(20, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32)]
    with pytest.raises(Race, match="writes parts"):
        run_in_lockstep(kernel, over((20 * 64,), 64), given)
