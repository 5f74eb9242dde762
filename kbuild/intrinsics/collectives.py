"""Sums, extremes and scans over the lanes of a warp and the threads of a block, in the kernel language.

The order in which numbers are added is part of what each function means, so that every device gives the same bits:

- in a warp, lane i adds what lane i + 16 has, then i + 8, i + 4, i + 2, i + 1, and lane 0 has the result. Where the
  block is made of whole warps all lanes do so, round and round: each adds the same pairs, in one order or the other,
  and has the result itself;
- a scan of a warp adds to each lane what the lane 1 below it has, then 2, 4, 8, 16 (Hillis and Steele, "Data Parallel
  Algorithms", Communications of the ACM 29(12), 1986);
- in a block of whole warps, the results of the warps are added, and scanned, as those of the lanes of a warp, with
  zeros for warps that are not there; in any other block from the first to the last.

Lanes that the last warp of a block does not have are left out. All threads of a warp, or of the block, call together.
"""

from __future__ import annotations

from typing import Any

from kbuild.intrinsics.overload import Overload, overload
from kbuild.loader import builtins as kb
from kbuild.loader.own_gradients import adjoint, func_grad
from kbuild.loader.types import Function, func

# The bodies below are kernel code: their types are inferred while lowering, not by Python's type checker.
# mypy: disable-error-code="no-untyped-call,no-any-return,misc,untyped-decorator"

WARPS = 32  # that a block has at most


@func
def lanes():  # type: ignore[no-untyped-def]
    """Lanes of the own warp: below 32 in the last one of a block alone."""
    return kb.min(32, kb.block_dim() - 32 * kb.warp_id())


@func
def warp_sum(value: Any):  # type: ignore[no-untyped-def]
    """The sum over the lanes of the warp, in each of them."""
    total = value
    if kb.block_dim() & 31 == 0:
        for step in range(5):
            total = total + kb.shfl_xor(total, 16 >> step)
        return total
    there = lanes()
    for step in range(5):
        distance = 16 >> step
        other = kb.shfl_down(total, distance)
        if kb.lane_id() + distance < there:
            total = total + other
    return kb.shfl(total, 0)


@func_grad(warp_sum)
def adj_warp_sum(value: Any, adj_ret: Any):  # type: ignore[no-untyped-def]
    """Every lane's value is in every lane's sum."""
    adjoint[value] += kb.warp_sum(adj_ret)


@func
def warp_min(value: Any):  # type: ignore[no-untyped-def]
    """The smallest value of the lanes of the warp, in each of them, as `min` has it; element by element."""
    best = value
    for step in range(5):
        best = kb.min(best, kb.shfl_down(best, 16 >> step))  # of a lane that is not there, the own value
    return kb.shfl(best, 0)


@func
def warp_max(value: Any):  # type: ignore[no-untyped-def]
    """The largest value of the lanes of the warp, in each of them, as `max` has it; element by element."""
    best = value
    for step in range(5):
        best = kb.max(best, kb.shfl_down(best, 16 >> step))
    return kb.shfl(best, 0)


@func
def warp_scan_inclusive(value: Any):  # type: ignore[no-untyped-def]
    """The sum over the lanes up to this one."""
    total = value
    for step in range(5):
        distance = 1 << step
        other = kb.shfl_up(total, distance)
        if kb.lane_id() >= distance:
            total = other + total
    return total


@func
def warp_scan_exclusive(value: Any):  # type: ignore[no-untyped-def]
    """The sum over the lanes below this one; zero in lane 0."""
    before = kb.shfl_up(kb.warp_scan_inclusive(value), 1)
    if kb.lane_id() == 0:
        before = type(value)()
    return before


@func
def block_sum(value: Any):  # type: ignore[no-untyped-def]
    """The sum over the threads of the block, in each of them."""
    of_warps = kb.shared_array(WARPS, type(value))
    total = kb.warp_sum(value)
    if kb.lane_id() == 0:
        of_warps[kb.warp_id()] = total
    kb.syncthreads()
    warps = (kb.block_dim() + 31) >> 5
    if kb.block_dim() & 31 == 0:
        total = type(value)()
        if kb.lane_id() < warps:
            total = of_warps[kb.lane_id()]
        total = kb.warp_sum(total)
    else:
        total = of_warps[0]
        for warp in range(1, warps):
            total = total + of_warps[warp]
    kb.syncthreads()  # the next call uses the same memory
    return total


@func_grad(block_sum)
def adj_block_sum(value: Any, adj_ret: Any):  # type: ignore[no-untyped-def]
    """Every thread's value is in every thread's sum."""
    adjoint[value] += kb.block_sum(adj_ret)


@func
def block_min(value: Any):  # type: ignore[no-untyped-def]
    """The smallest value of the threads of the block, in each of them, as `min` has it; element by element."""
    of_warps = kb.shared_array(WARPS, type(value))
    best = kb.warp_min(value)
    if kb.lane_id() == 0:
        of_warps[kb.warp_id()] = best
    kb.syncthreads()
    warps = (kb.block_dim() + 31) >> 5
    if kb.block_dim() & 31 == 0:
        best = kb.warp_min(of_warps[kb.min(kb.lane_id(), warps - 1)])  # of the last warp as often as you like
    else:
        best = of_warps[0]
        for warp in range(1, warps):
            best = kb.min(best, of_warps[warp])
    kb.syncthreads()
    return best


@func
def block_max(value: Any):  # type: ignore[no-untyped-def]
    """The largest value of the threads of the block, in each of them, as `max` has it; element by element."""
    of_warps = kb.shared_array(WARPS, type(value))
    best = kb.warp_max(value)
    if kb.lane_id() == 0:
        of_warps[kb.warp_id()] = best
    kb.syncthreads()
    warps = (kb.block_dim() + 31) >> 5
    if kb.block_dim() & 31 == 0:
        best = kb.warp_max(of_warps[kb.min(kb.lane_id(), warps - 1)])  # of the last warp as often as you like
    else:
        best = of_warps[0]
        for warp in range(1, warps):
            best = kb.max(best, of_warps[warp])
    kb.syncthreads()
    return best


@func
def warps_before(total: Any):  # type: ignore[no-untyped-def]
    """The sum over the warps before this one of what their last lanes give; zero in the first."""
    of_warps = kb.shared_array(WARPS, type(total))
    if kb.lane_id() == lanes() - 1:
        of_warps[kb.warp_id()] = total
    kb.syncthreads()
    before = type(total)()
    if kb.block_dim() & 31 == 0:
        if kb.lane_id() < kb.block_dim() >> 5:
            before = of_warps[kb.lane_id()]
        before = kb.shfl(kb.warp_scan_inclusive(before), kb.max(kb.warp_id() - 1, 0))
        if kb.warp_id() == 0:
            before = type(total)()
    else:
        if kb.warp_id() > 0:
            before = of_warps[0]
        for warp in range(1, kb.warp_id()):
            before = before + of_warps[warp]
    kb.syncthreads()
    return before


@func
def block_scan_inclusive(value: Any):  # type: ignore[no-untyped-def]
    """The sum over the threads of the block up to this one, by their numbers: the warps before, then the own one."""
    total = kb.warp_scan_inclusive(value)
    before = warps_before(total)
    return before + total if kb.warp_id() > 0 else total


@func
def block_scan_exclusive(value: Any):  # type: ignore[no-untyped-def]
    """The sum over the threads of the block below this one, by their numbers; zero in thread 0."""
    total = kb.warp_scan_inclusive(value)
    before = warps_before(total)
    own = kb.shfl_up(total, 1)
    if kb.lane_id() == 0:
        return before
    return before + own if kb.warp_id() > 0 else own


def _of_numbers(function: Function) -> tuple[Overload, ...]:
    return overload("number", function), overload("composite", function)


OVERLOADS: dict[str, tuple[Overload, ...]] = {
    one.__name__: _of_numbers(one)
    for one in (
        warp_sum,
        warp_min,
        warp_max,
        warp_scan_inclusive,
        warp_scan_exclusive,
        block_sum,
        block_min,
        block_max,
        block_scan_inclusive,
        block_scan_exclusive,
    )
}
