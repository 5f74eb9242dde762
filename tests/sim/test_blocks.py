"""Threads of a block in step: barriers, who sees what, and barriers that not all threads reach."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from kbuild.errors import Span
from kbuild.ir.nodes import Kernel
from kbuild.ir.types import FLOAT32, INT32, Vector
from kbuild.sim.blocks import Divergence, Launch, Thread, along, numbered, over
from kbuild.sim.threads import run, run_launch
from kbuild.sim.values import Conflict, Fault, Memory, Unassigned
from tests.helpers import kernels

_numbers = itertools.count()


def kernel_of(folder: Path, body: str, parameters: str = "data: kb.array(dtype=int)") -> Kernel:
    """The one kernel with this body; its first line is line 5."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    path = folder / f"case_{next(_numbers)}.py"  # Python remembers the lines of a file
    path.write_text(f"import kbuild as kb\n\n@kb.kernel\ndef k({parameters}):\n{lines}\n")
    lowered, diagnostics = kernels.diagnose(kernels.load(path)[1])
    assert [d.render() for d in diagnostics] == []
    return lowered[0]


def ints(*values: int) -> Memory:
    return Memory(INT32, (len(values),), list(values))


REVERSED = """\
tile = kb.shared_array(4, int)
i = kb.tid()
t = kb.thread_idx()
tile[t] = data[i]
kb.syncthreads()
data[i] = tile[3 - t]"""


def test_each_block_has_shared_memory_of_its_own(tmp_path: Path) -> None:
    data = ints(*range(8))
    outcome = run(kernel_of(tmp_path, REVERSED), (8,), [data], block_dim=4)
    assert data.data == [3, 2, 1, 0, 7, 6, 5, 4]
    assert not outcome.approximate


def test_a_block_in_part_is_none(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="runs in whole blocks"):
        run(kernel_of(tmp_path, REVERSED), (6,), [ints(*range(8))], block_dim=4)


def fault(folder: Path, body: str, threads: int = 4, block_dim: int = 4, count: int = 64) -> Fault:
    with pytest.raises(Fault) as caught:
        run(kernel_of(folder, body), (threads,), [ints(*range(count))], block_dim=block_dim)
    assert isinstance(caught.value.span, Span)
    return caught.value


def test_shared_memory_without_a_barrier_is_a_conflict(tmp_path: Path) -> None:
    found = fault(tmp_path, REVERSED.replace("kb.syncthreads()\n", ""))
    assert isinstance(found, (Conflict, Unassigned))
    ahead = REVERSED.replace("kb.syncthreads()\n", "").replace("tile[3 - t]", "tile[0]")
    found = fault(tmp_path, ahead)
    assert isinstance(found, Conflict)
    assert found.span is not None
    assert (found.reason, found.span.line) == ("threads 0 and 1 on one element: write and read", 9)


def test_a_barrier_orders_global_memory_inside_a_block_alone(tmp_path: Path) -> None:
    neighbours = "i = kb.tid()\nx = data[(i + 1) % 8]\nkb.syncthreads()\ndata[i] = x"
    data = ints(*range(8))
    run(kernel_of(tmp_path, neighbours), (8,), [data], block_dim=8)
    assert data.data == [1, 2, 3, 4, 5, 6, 7, 0]
    assert isinstance(fault(tmp_path, neighbours, threads=8, block_dim=4, count=8), Conflict)


def test_a_second_barrier_is_needed_before_memory_is_used_again(tmp_path: Path) -> None:
    body = "tile = kb.shared_array(1, int)\nfor i in range(3):\n    if kb.thread_idx() == 0:\n        tile[0] = i\n"
    body += "    kb.syncthreads()\n    data[kb.tid()] = tile[0]"
    found = fault(tmp_path, body)
    assert isinstance(found, Conflict)
    assert found.reason == "threads 0 and 1 on one element: write and read"
    data = ints(0, 0, 0, 0)
    run(kernel_of(tmp_path, body + "\n    kb.syncthreads()"), (4,), [data], block_dim=4)
    assert data.data == [2, 2, 2, 2]


def test_every_reader_counts_and_not_the_last_alone(tmp_path: Path) -> None:
    body = "tile = kb.shared_array(1, int)\nt = kb.thread_idx()\nif t == 0:\n    tile[0] = 1\nkb.syncthreads()\n"
    body += "x = tile[0]\nif t == 3:\n    tile[0] = x + 1"
    assert fault(tmp_path, body).reason == "threads 0 and 3 on one element: read and write"


def test_shared_memory_starts_without_values(tmp_path: Path) -> None:
    found = fault(tmp_path, "tile = kb.shared_array((2, 2), int)\nkb.syncthreads()\ndata[kb.tid()] = tile[1, 0]")
    assert isinstance(found, Unassigned)
    assert found.reason == "element 2 in shared memory is read before anything is assigned to it"
    found = fault(tmp_path, "tile = kb.shared_array(2, int)\nkb.atomic_add(tile, 0, 1)\ndata[0] = 1")
    assert isinstance(found, Unassigned)
    body = "tile = kb.shared_array((2, 2), int)\nrow = tile[1]\nrow[1] = 7\ndata[0] = row[{}]"
    assert isinstance(fault(tmp_path, body.format(0), 1, 1), Unassigned)
    run(kernel_of(tmp_path, body.format(1)), (1,), [ints(0)], block_dim=1)
    vectors = "tile = kb.shared_array(1, kb.vec2)\ntile[0].x = 1.0\ndata[0] = int(tile[0].{})\nkb.syncthreads()"
    assert isinstance(fault(tmp_path, vectors.format("y"), 1, 1), Unassigned)
    run(kernel_of(tmp_path, vectors.format("x")), (1,), [ints(0)], block_dim=1)


DIVERGENT = {
    "an early return": (
        "if kb.thread_idx() == 2:\n    return\nkb.syncthreads()\ndata[0] = 1",
        "of the block reach: thread (2,) has ended",
        7,
    ),
    "a branch": ("if kb.thread_idx() < 2:\n    kb.syncthreads()\ndata[kb.tid()] = 1", "thread (2,) has ended", 6),
    "two branches": (
        "if kb.thread_idx() < 2:\n    kb.syncthreads()\nelse:\n    kb.syncthreads()",
        "thread (2,) waits at another barrier, line 8",
        6,
    ),
    "trips": (
        "for i in range(1 + kb.thread_idx() // 3):\n    kb.syncthreads()\ndata[kb.tid()] = 1",
        "thread (0,) has ended",
        6,
    ),
    "other trips": (
        "for i in range(4):\n    if (kb.thread_idx() + i) % 2 == 0:\n        kb.syncthreads()\ndata[kb.tid()] = 1",
        "thread (1,) waits there in another trip of a loop, or another call",
        7,
    ),
    "other trips of `while`": (
        "i = 0\nwhile i < 4:\n    i += 1\n    if (kb.thread_idx() + i) % 2 == 1:\n        kb.syncthreads()",
        "thread (1,) waits there in another trip of a loop, or another call",
        9,
    ),
    "block and warp": (
        "if kb.thread_idx() == 1:\n    kb.syncthreads()\nelse:\n    kb.syncwarp()",
        "a barrier that not all threads of the lanes 0xffffffff reach: thread (1,) waits at another barrier, line 6",
        8,
    ),
    "a lane outside its mask": ("kb.syncwarp(3)", "lane 2 waits for the lanes 0x3 and is none of them", 5),
}


@pytest.mark.parametrize("name", DIVERGENT)
def test_divergent_barriers(tmp_path: Path, name: str) -> None:
    body, said, line = DIVERGENT[name]
    found = fault(tmp_path, body)
    assert isinstance(found, Divergence) == (name != "a lane outside its mask")
    assert said in found.reason
    assert found.span is not None
    assert found.span.line == line


def test_threads_in_other_calls_do_not_meet(tmp_path: Path) -> None:
    text = """
    @kb.func
    def waits(x: int) -> int:
        kb.syncthreads()
        return x

    @kb.kernel
    def k(data: kb.array(dtype=int)):
        i = kb.tid()
        if i < n:
            data[i] = waits(i)
        else:
            data[i] = waits(-i)
    """
    (kernel,) = kernels.lower_text(tmp_path, text.replace("i < n", "i < 2"))
    with pytest.raises(Divergence, match=r"thread \(2,\) waits there in another trip of a loop, or another call"):
        run(kernel, (4,), [ints(0, 0, 0, 0)], block_dim=4)
    (kernel,) = kernels.lower_text(tmp_path, text.replace("i < n", "i < 4"))
    data = ints(*range(8))
    run(kernel, (8,), [data], block_dim=4)  # each block makes one of the calls
    assert data.data == [0, 1, 2, 3, -4, -5, -6, -7]


def test_lanes_that_have_ended_are_not_waited_for(tmp_path: Path) -> None:
    data = ints(0, 0, 0, 0)
    run(
        kernel_of(tmp_path, "if kb.lane_id() > 1:\n    return\nkb.syncwarp()\ndata[kb.tid()] = 1"),
        (4,),
        [data],
        block_dim=4,
    )
    assert data.data == [1, 1, 0, 0]


def test_warps_do_not_wait_for_each_other(tmp_path: Path) -> None:
    body = "i = kb.tid()\ndata[i] = i\nkb.syncwarp()\nx = data[i ^ {}]\nkb.syncwarp()\ndata[i] = x"
    data = ints(*[0] * 64)
    run(kernel_of(tmp_path, body.format(1)), (64,), [data], block_dim=64)
    assert data.data == [i ^ 1 for i in range(64)]
    assert isinstance(fault(tmp_path, body.format(32), 64, 64), Conflict)


def test_a_barrier_in_a_function_and_the_chain_of_clocks(tmp_path: Path) -> None:
    """Thread 0 → lanes 0 and 1 → the block: what is seen is passed on."""
    path = tmp_path / "chain.py"
    path.write_text(
        "import kbuild as kb\n"
        "@kb.func\ndef pair(tile: kb.array(dtype=int), mask: kb.uint32):\n"
        "    kb.syncwarp(mask)\n    x = tile[0]\n    kb.syncwarp(mask)\n    return x\n"
        "@kb.kernel\ndef k(data: kb.array(dtype=int)):\n"
        "    tile = kb.shared_array(2, int)\n    t = kb.thread_idx()\n"
        "    if t == 0:\n        tile[0] = 5\n"
        "    if t < 2:\n        x = pair(tile, kb.uint32(3))\n        if t == 1:\n            tile[1] = x + 1\n"
        "    kb.syncthreads()\n    data[t] = tile[0] + 10 * tile[1]\n"
    )
    (kernel,) = kernels.diagnose(kernels.load(path)[1])[0]
    data = ints(0, 0, 0, 0)
    run(kernel, (4,), [data], block_dim=4)
    assert data.data == [65] * 4


def test_positions() -> None:
    launch = Launch((2, 3, 4), (4, 2, 3), (24 * 24,))
    threads = [thread for number in range(24) for thread in launch.threads(number)]
    assert [t.number for t in threads] == list(range(576))
    for t in threads:
        x, y, z = (along("thread_idx", axis, t, launch) for axis in range(3))
        assert x + 4 * (y + 2 * z) == t.index == numbered("thread_idx", t, launch)
        x, y, z = (along("block_idx", axis, t, launch) for axis in range(3))
        assert x + 2 * (y + 3 * z) == t.block == numbered("block_idx", t, launch)
    sizes: list[Any] = [
        along(what, axis, threads[0], launch) for what in ("grid_dim", "block_dim") for axis in range(3)
    ]
    assert sizes == [2, 3, 4, 4, 2, 3]
    assert over((5, 7), 16) == Launch((3, 1, 1), (16, 1, 1), (5, 7))
    assert [len(list(over((5, 7), 16).threads(n))) for n in range(3)] == [16, 16, 3]


def test_vectors_in_shared_memory_and_a_grid(tmp_path: Path) -> None:
    body = "tile = kb.shared_array((2, 3), kb.vec2)\nx = kb.thread_idx().x\ny = kb.thread_idx().y\n"
    body += "tile[y, x] = kb.vec2(float(x), float(y))\nkb.syncthreads()\n"
    body += "out[kb.tid()] = tile[1 - y, 2 - x] * float(1 + kb.block_idx().y)"
    kernel = kernel_of(tmp_path, body, "out: kb.array(dtype=kb.vec2)")
    out = Memory(Vector(2, FLOAT32), (12,), [[0.0, 0.0]] * 12)
    run_launch(kernel, Launch((1, 2, 1), (3, 2, 1), (12,)), [out])
    first = [[2.0 - x, 1.0 - y] for y in range(2) for x in range(3)]
    assert out.data == [*first, *[[2 * a, 2 * b] for a, b in first]]


def test_stamps() -> None:
    one, two = Thread(0, (0,), 0, 0), Thread(1, (1,), 0, 1)
    assert one.sees(one.stamp())
    assert not one.sees(two.stamp())
