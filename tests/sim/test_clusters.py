"""Blocks in clusters: shared memory of other blocks, barriers across blocks, on both interpreters."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kbuild as kb
from kbuild.ir.nodes import Kernel
from kbuild.ir.types import INT32
from kbuild.scan.selftest import expectations
from kbuild.sim.blocks import Divergence, Launch, over
from kbuild.sim.lockstep.run import Options
from kbuild.sim.threads import run_launch
from kbuild.sim.values import Conflict, Fault, Memory, OutOfBounds, Unassigned
from tests.helpers import kernels
from tests.helpers.lockstep import run_in_lockstep

BLOCK, CLUSTER = 8, 4


def lowered(folder: Path, body: str, cluster: int = CLUSTER) -> Kernel:
    """The kernel with this body; its first line is line 5."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    path = folder / f"case_{len(list(folder.iterdir()))}.py"
    head = f"@kb.kernel(cluster_dim={cluster})\ndef k(data: kb.array(dtype=int), out: kb.array(dtype=int)):"
    path.write_text(f"import kbuild as kb\n\n{head}\n{lines}\n")
    (kernel,), diagnostics = kernels.diagnose(kernels.load(path)[1])
    assert [d.render() for d in diagnostics] == []
    return kernel


def by_threads(kernel: Kernel, launch: Launch, data: np.ndarray, size: int) -> np.ndarray:
    given = [Memory(INT32, (len(one),), one.tolist()) for one in (data, np.zeros(size, np.int32))]
    run_launch(kernel, launch, list(given))
    return np.array(given[1].data, np.int32)


def in_lockstep(kernel: Kernel, launch: Launch, data: np.ndarray, size: int, chunk: int = 1 << 17) -> np.ndarray:
    out = np.zeros(size, np.int32)
    run_in_lockstep(kernel, launch, [data.copy(), out], Options(chunk=chunk))
    return out


RUNNERS = [by_threads, in_lockstep]
LAUNCH = over((2 * CLUSTER * BLOCK,), BLOCK)
DATA = np.arange(LAUNCH.count, dtype=np.int32)

NEIGHBOUR = f"""\
tile = kb.shared_array({BLOCK}, int)
t = kb.thread_idx()
tile[t] = data[kb.tid()]
kb.cluster_sync()
there = kb.cluster_array(tile, (kb.cluster_rank() + 1) % kb.cluster_dim())
out[kb.tid()] = there[{BLOCK - 1} - t]
kb.cluster_sync()"""


@pytest.mark.parametrize("run", RUNNERS)
@pytest.mark.parametrize("grid", [(8, 1, 1), (4, 2, 1), (4, 1, 3)])
def test_the_next_block_of_the_cluster(tmp_path: Path, run: Any, grid: tuple[int, int, int]) -> None:
    count = grid[0] * grid[1] * grid[2]
    launch = Launch(grid, (BLOCK, 1, 1), (count * BLOCK,))
    data = np.arange(launch.count, dtype=np.int32)
    found = run(lowered(tmp_path, NEIGHBOUR), launch, data, launch.count)
    tiles = data.reshape(-1, CLUSTER, BLOCK)
    assert found.reshape(tiles.shape).tolist() == np.roll(tiles, -1, axis=1)[:, :, ::-1].tolist()


@pytest.mark.parametrize("chunk", [1, BLOCK * CLUSTER, 1 << 17])
def test_clusters_stay_together_whatever_runs_at_a_time(tmp_path: Path, chunk: int) -> None:
    kernel = lowered(tmp_path, NEIGHBOUR)
    wanted = by_threads(kernel, LAUNCH, DATA, LAUNCH.count)
    assert in_lockstep(kernel, LAUNCH, DATA, LAUNCH.count, chunk).tolist() == wanted.tolist()


@pytest.mark.parametrize("run", RUNNERS)
def test_a_histogram_of_the_cluster_by_atomics(tmp_path: Path, run: Any) -> None:
    body = f"""\
bins = kb.shared_array(({CLUSTER}, 2), int)
t = kb.thread_idx()
if t < {CLUSTER}:
    bins[t, 0] = 0
    bins[t, 1] = 0
kb.cluster_sync()
value = data[kb.tid()] % {CLUSTER}
kb.atomic_add(kb.cluster_array(bins, value), value, 0, 1)
there = kb.cluster_array(bins[value], 0)
there[1] += 1
kb.cluster_sync()
if t < {CLUSTER}:
    out[kb.block_idx() * {2 * CLUSTER} + 2 * t] = bins[t, 0]
    out[kb.block_idx() * {2 * CLUSTER} + 2 * t + 1] = bins[t, 1]"""
    data = np.array([n * n // 3 for n in range(LAUNCH.count)], np.int32)
    found = run(lowered(tmp_path, body), LAUNCH, data, 8 * CLUSTER * 2).reshape(2, CLUSTER, CLUSTER, 2)
    for one, values in zip(found, data.reshape(2, -1) % CLUSTER, strict=True):
        counts = np.bincount(values, minlength=CLUSTER)
        assert one[:, :, 0].tolist() == np.diag(counts).tolist()
        assert one[0, :, 1].tolist() == counts.tolist()
        assert not one[1:, :, 1].any()


@pytest.mark.parametrize("run", RUNNERS)
def test_stores_into_another_block_and_functions_with_its_arrays(tmp_path: Path, run: Any) -> None:
    path = tmp_path / "functions.py"
    path.write_text(f"""\
import kbuild as kb

@kb.struct
class Pair:
    a: int
    v: kb.vec2

@kb.func
def put(cells: kb.array2d(dtype=Pair), i: int, x: int):
    cells[i // 4, i % 4].v.y = float(x)
    cells[i // 4, i % 4].a = x + len(cells)

@kb.kernel(cluster_dim={CLUSTER})
def k(data: kb.array(dtype=int), out: kb.array(dtype=int)):
    cells = kb.shared_array(({BLOCK // 4}, 4), Pair)
    i = kb.thread_idx()
    kb.cluster_sync()
    put(kb.cluster_array(cells, {CLUSTER - 1} - kb.cluster_rank()), i, data[kb.tid()])
    kb.cluster_sync()
    out[kb.tid()] = cells[i // 4, i % 4].a + 1000 * int(cells[i // 4, i % 4].v.y)
""")
    (kernel,), diagnostics = kernels.diagnose(kernels.load(path)[1])
    assert diagnostics == []
    found = run(kernel, LAUNCH, DATA, LAUNCH.count)
    wanted = DATA.reshape(-1, CLUSTER, BLOCK)[:, ::-1].ravel()
    assert found.tolist() == (wanted + BLOCK // 4 + 1000 * wanted).tolist()


@pytest.mark.parametrize("run", RUNNERS)
def test_memory_that_the_launch_gives(tmp_path: Path, run: Any) -> None:
    body = NEIGHBOUR.replace(f"kb.shared_array({BLOCK}, int)", "kb.shared_array(None, int)")
    body = body.replace(f"there[{BLOCK - 1} - t]", "there[len(there) - 1 - t]")
    launch = Launch(LAUNCH.grid, LAUNCH.block, LAUNCH.dim, BLOCK * 4)
    found = run(lowered(tmp_path, body), launch, DATA, LAUNCH.count)
    wanted = np.roll(DATA.reshape(-1, CLUSTER, BLOCK), -1, axis=1)[:, :, ::-1]
    assert found.tolist() == wanted.ravel().tolist()


@pytest.mark.parametrize("run", RUNNERS)
def test_a_cluster_of_one_block(tmp_path: Path, run: Any) -> None:
    found = run(lowered(tmp_path, NEIGHBOUR, 1), LAUNCH, DATA, LAUNCH.count)
    assert found.tolist() == DATA.reshape(-1, BLOCK)[:, ::-1].ravel().tolist()


FAULTS = {
    "no barrier between the store and the load": (
        NEIGHBOUR.replace("tile[t] = data[kb.tid()]\nkb.cluster_sync()", "kb.cluster_sync()\ntile[t] = data[kb.tid()]"),
        (Conflict, Unassigned),
        "",
        10,
    ),
    "a barrier of the block is none of the cluster": (
        NEIGHBOUR.replace("\nthere", "\ntile[t] = 2 * data[kb.tid()]\nkb.syncthreads()\nthere"),
        (Conflict,),
        "",
        12,
    ),
    "before any barrier": (
        NEIGHBOUR.replace("kb.cluster_sync()\nthere", "kb.syncthreads()\nthere"),
        (Fault,),
        "that block may not have begun (let kb.cluster_sync() stand before it)",
        10,
    ),
    "after the last barrier": (
        NEIGHBOUR.removesuffix("\nkb.cluster_sync()"),
        (Fault,),
        "that block may have ended (let kb.cluster_sync() stand behind it)",
        10,
    ),
    "a rank too large": (
        NEIGHBOUR.replace("% kb.cluster_dim()", "% 5"),
        (OutOfBounds,),
        "rank 4 in a cluster of 4 blocks",
        9,
    ),
    "a rank below zero": (
        NEIGHBOUR.replace("(kb.cluster_rank() + 1) % kb.cluster_dim()", "kb.cluster_rank() - 1"),
        (OutOfBounds,),
        "rank -1 in a cluster of 4 blocks",
        9,
    ),
    "an index too large": (
        NEIGHBOUR.replace(f"there[{BLOCK - 1} - t]", f"there[t + {BLOCK}]"),
        (OutOfBounds,),
        "index 8 on axis 0 of an array of shape (8,)",
        10,
    ),
    "nothing assigned": (
        NEIGHBOUR.replace("tile[t] = data[kb.tid()]\n", ""),
        (Unassigned,),
        "is read before anything is assigned to it",
        9,
    ),
    "a block that does not wait": (
        "if kb.cluster_rank() != 2:\n    kb.cluster_sync()\nout[kb.tid()] = 1",
        (Divergence,),
        "a barrier that not all threads of the cluster reach: thread (16,) ",
        6,
    ),
    "lanes that do not wait": (
        "if kb.thread_idx() != 3:\n    kb.cluster_sync()\nout[kb.tid()] = 1",
        (Divergence,),
        "a barrier that not all threads of the cluster reach: thread (3,) ",
        6,
    ),
}


@pytest.mark.parametrize("run", RUNNERS)
@pytest.mark.parametrize("name", FAULTS)
def test_faults(tmp_path: Path, name: str, run: Any) -> None:
    body, kinds, said, line = FAULTS[name]
    with pytest.raises(kinds) as caught:
        run(lowered(tmp_path, body), LAUNCH, DATA, LAUNCH.count)
    assert said in caught.value.reason
    assert caught.value.span is not None
    assert caught.value.span.line == line


@pytest.mark.parametrize("run", RUNNERS)
def test_a_barrier_of_the_cluster_orders_global_memory_inside_it_alone(tmp_path: Path, run: Any) -> None:
    body = f"out[kb.tid()] = 1\nkb.cluster_sync()\nif kb.tid() == {{}}:\n    out[{BLOCK}] = 2"
    for block in range(CLUSTER):
        assert run(lowered(tmp_path, body.format(block * BLOCK + 3)), LAUNCH, DATA, LAUNCH.count)[BLOCK] == 2
    with pytest.raises(Conflict):
        run(lowered(tmp_path, body.format(CLUSTER * BLOCK)), LAUNCH, DATA, LAUNCH.count)


@pytest.mark.parametrize("run", RUNNERS)
def test_readers_of_two_clusters_are_both_remembered(tmp_path: Path, run: Any) -> None:
    """Readers in a third and in the own cluster, of several blocks each; then one of the own cluster writes."""
    body = "if kb.thread_idx() < 2:\n    out[kb.tid()] = data[0]\nkb.cluster_sync()\n"
    body += "if kb.tid() == {}:\n    data[0] = 1"
    launch = over((3 * CLUSTER * BLOCK,), BLOCK)
    data = np.zeros(launch.count, np.int32)
    for writer in (0, CLUSTER * BLOCK, 3 * CLUSTER * BLOCK - 1):
        with pytest.raises(Conflict):
            run(lowered(tmp_path, body.format(writer)), launch, data, launch.count)
    alone = body.replace("kb.thread_idx() < 2", f"kb.block_idx() // {CLUSTER} == 1").format(CLUSTER * BLOCK + 9)
    run(lowered(tmp_path, alone), launch, data, launch.count)


@pytest.mark.parametrize("seed", range(60))
def test_both_interpreters_find_the_same(tmp_path: Path, seed: int) -> None:
    """Steps in any order, with the barriers that they need or without."""
    source = random.Random(seed)
    lines = [
        f"tile = kb.shared_array({BLOCK}, int)",
        "t = kb.thread_idx()",
        "r = kb.cluster_rank()",
        "x = data[kb.tid()]",
    ]
    lines += ["tile[t] = x", "kb.cluster_sync()"]
    steps = [
        "kb.cluster_sync()",
        "kb.cluster_sync()",
        "kb.syncthreads()",
        "tile[t] = x * {n}",
        "x += tile[(t + {n}) % 8]",
        "kb.cluster_array(tile, (r + {n}) % 4)[(t + {m}) % 8] = x + {m}",
        "x += kb.cluster_array(tile, (r + {n}) % 4)[(t + {m}) % 8]",
        "x = x * 3 + out[(kb.tid() + {n}) % 64]",
        "out[kb.tid()] = x",
        # To read what others change by atomics is a conflict for one of the two alone.
        "kb.cluster_sync()\nkb.atomic_add(kb.cluster_array(tile, {n}), {m}, x)\nkb.cluster_sync()",
        "if r == {n}:\n    tile[t] = {m}",
    ]
    for _ in range(source.randrange(1, 7)):
        lines.append(source.choice(steps).format(n=source.randrange(4), m=source.randrange(8)))
        if source.random() < 0.6:
            lines.append("kb.cluster_sync()")
    lines += ["kb.cluster_sync()", "out[kb.tid()] = x + tile[t]"]
    kernel = lowered(tmp_path, "\n".join(lines))
    found = []
    for run in RUNNERS:
        try:
            found.append(run(kernel, LAUNCH, DATA, LAUNCH.count).tolist())
        except Fault as fault:
            found.append(Conflict if isinstance(fault, Conflict) else type(fault))
    assert found[0] == found[1], "\n".join(lines)


@kb.kernel(cluster_dim=2, block_dim=BLOCK)
def summed(data: kb.array(dtype=int), out: kb.array(dtype=int)):
    total = kb.shared_array(1, int)
    own = kb.block_sum(data[kb.tid()])
    if kb.thread_idx() == 0:
        total[0] = own
    kb.cluster_sync()
    if kb.thread_idx() == 0:
        out[kb.block_idx()] = own + kb.cluster_array(total, 1 - kb.cluster_rank())[0]
    kb.cluster_sync()


def test_launches_on_the_simulator() -> None:
    data, out = np.arange(6 * BLOCK, dtype=np.int32), np.zeros(6, np.int32)
    kb.launch(summed, dim=6 * BLOCK, inputs=[data, out], device="sim")
    assert out.tolist() == np.repeat(data.reshape(3, -1).sum(axis=1), 2).tolist()
    with pytest.raises(
        kb.LaunchError, match=r"clusters of 2 blocks, and dim makes 5, no multiple of that\n.* 48 threads"
    ):
        kb.launch(summed, dim=5 * BLOCK, inputs=[data, out], device="sim")
    with pytest.raises(kb.LaunchError, match=r"and the grid has 3 along x, no multiple of that\n.*a grid of 4 blocks"):
        kb.launch(summed, grid=(3, 2), inputs=[data, out], device="sim")


def test_devices_without_clusters() -> None:
    data, out = np.arange(2 * BLOCK, dtype=np.int32), np.zeros(2, np.int32)
    kb.sim.run(summed, dim=2 * BLOCK, inputs=[data, out], like="sm_90")
    with pytest.raises(kb.LaunchError, match="runs in clusters, which sm_87 does not have"):
        kb.sim.run(summed, dim=2 * BLOCK, inputs=[data, out], like="sm_87")


@pytest.mark.parametrize("run", RUNNERS)
def test_whole_clusters_alone(tmp_path: Path, run: Any) -> None:
    with pytest.raises(ValueError, match="runs in clusters of 4 blocks"):
        run(lowered(tmp_path, NEIGHBOUR), over((6 * BLOCK,), BLOCK), DATA, LAUNCH.count)


def test_a_fault_says_whose_memory_it_was(tmp_path: Path) -> None:
    body = NEIGHBOUR.replace("there[7 - t]", "there[7 - t]\nthere[3] = t")
    with pytest.raises(Conflict) as caught:
        in_lockstep(lowered(tmp_path, body), LAUNCH, DATA, LAUNCH.count, CLUSTER * BLOCK)
    assert "tile[3] (shared memory of block 1)" in caught.value.reason
    second = body.replace("there[3] = t", "if kb.block_idx() > 4:\n    there[3] = t")
    with pytest.raises(Conflict) as caught:
        in_lockstep(lowered(tmp_path, second), LAUNCH, DATA, LAUNCH.count, CLUSTER * BLOCK)
    assert "tile[3] (shared memory of block 6)" in caught.value.reason


def test_what_a_selftest_expects_of_clusters(tmp_path: Path) -> None:
    body = "t = kb.shared_array(8, int)\nt[kb.thread_idx()] = kb.tid()\nkb.cluster_sync()\n"
    body += "out[kb.tid()] = kb.cluster_array(t, 3 - kb.cluster_rank())[0]\nkb.cluster_sync()"
    found = expectations(lowered(tmp_path, body), 8)
    assert found["dim"] == (2 * CLUSTER * 8,)
    assert found["changes"]["out"]["indices"]


def test_profiles_and_traces(tmp_path: Path) -> None:
    """Accesses to another block's memory are seen as those to shared memory."""
    data, out = np.arange(6 * BLOCK, dtype=np.int32), np.zeros(6, np.int32)
    result = kb.sim.run(summed, 6 * BLOCK, [data, out], profile=True, trace=tmp_path / "trace.jsonl")
    source = Path(__file__).read_text().splitlines()
    (line,) = [one for one in result.profile.lines if "cluster_array(total" in source[one.line - 1]]
    assert line.memory["shared", "load"].threads == 6
    events = [json.loads(text) for text in (tmp_path / "trace.jsonl").read_text().splitlines()]
    seen = [event for event in events if event.get("line") == line.line and event.get("space") == "shared"]
    assert {event["array"] for event in seen} == {"total"}
