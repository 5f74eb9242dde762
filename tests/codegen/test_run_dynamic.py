"""An array in shared memory whose size the launch gives: three ways, bounds, machine code, what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kbuild as kb
from kbuild.ir.blocks import dynamic_row, dynamic_start, shared_bytes
from kbuild.loader.blocks import Shape, plan, shared_of
from kbuild.loader.grids import Grid, Sized
from kbuild.sim.values import Fault
from tests.helpers import kernels
from tests.helpers.accept import Accept
from tests.helpers.both_ways import BothWays

REVERSED = """
    @kb.func
    def last(tile: kb.array2d(dtype=float)):
        return tile[-1, 1] + tile[len(tile) - 1][0]

    @kb.kernel
    def reverse(data: kb.array(dtype=float), out: kb.array(dtype=float), sizes: kb.array(dtype=int)):
        small = kb.shared_array(5, kb.int8)
        tile = kb.shared_array((None, 2), float)
        t = kb.thread_idx()
        n = kb.block_dim()
        if t == 0:
            small[4] = kb.int8(7)
            sizes[kb.block_idx()] = tile.shape[0] * 100 + tile.shape[1] * 10 + len(tile[0])
        for i in range(t, tile.shape[0], n):
            tile[i, 0] = 0.0
            tile[i, 1] = 0.0
        kb.syncthreads()
        row = tile[t]
        row[1] = data[kb.tid()]
        tile[t, 0] += 0.5
        kb.syncthreads()
        out[kb.tid()] = tile[n - 1 - t, 1] + tile[t][0] + last(tile) + float(small[4])
"""


@pytest.mark.parametrize("block", [1, 32, 48, 128])
@pytest.mark.parametrize("extra", [0, 3, 8])
def test_as_many_rows_as_fit(tmp_path: Path, block: int, extra: int) -> None:
    run = BothWays(tmp_path, REVERSED)
    data, out, sizes = np.arange(2 * block, dtype=np.float32), np.zeros(2 * block, np.float32), np.zeros(2, np.int32)
    run(Sized(Grid(2, block), block * 8 + extra), data, out, sizes)
    rows = block + extra // 8
    assert sizes.tolist() == [100 * rows + 22] * 2
    for at, whole in enumerate(data.reshape(2, block)):
        last = whole[-1] + 0.5 if rows == block else 0.0
        assert out.reshape(2, block)[at].tolist() == (whole[::-1] + 0.5 + last + 7.0).tolist()


@pytest.mark.nvrtc
@pytest.mark.parametrize("target", ["jetson-xavier-jp5", "sm_87", "sm_90", "sm_120"])
def test_it_compiles(tmp_path: Path, accept: Accept, target: str) -> None:
    (kernel,) = kernels.lower_text(tmp_path, REVERSED)
    assert (dynamic_row(kernel.function), shared_bytes(kernel.function), dynamic_start(kernel.function)) == (8, 8, 16)
    accept(kernels.emit_kernels([kernel]).source, target)


@kb.kernel
def tiled(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(None, float)
    tile[kb.thread_idx()] = data[kb.tid()]
    kb.syncthreads()
    out[kb.tid()] = tile[kb.block_dim() - 1 - kb.thread_idx()] + float(len(tile))


def arrays(count: int) -> tuple[kb.array, kb.array]:
    return kb.array(np.arange(count, dtype=np.float32), device="sim"), kb.zeros(count, dtype=float, device="sim")


def test_launches_in_the_simulator() -> None:
    data, out = arrays(64)
    kb.launch(tiled, dim=64, block_dim=32, inputs=[data, out], shared_memory=140)
    wanted = (np.arange(64).reshape(2, 32)[:, ::-1] + 35.0).ravel().tolist()
    assert out.numpy().tolist() == wanted
    out.zero_()
    kb.launch(tiled, grid=2, block=32, inputs=[data, out], shared_memory=140)
    assert out.numpy().tolist() == wanted
    out.zero_()
    bound = kb.bind(tiled, dim=32, block_dim=32, inputs=[data, out], shared_memory=140)
    bound.set_dim(64)
    bound()
    assert out.numpy().tolist() == wanted


def test_what_looks_into_a_run_takes_it_too() -> None:
    data, out = arrays(64)
    profile = kb.sim.run(tiled, 64, [data, out], block_dim=32, shared_memory=128, profile=True, like="sm_90").profile
    assert profile is not None
    assert any(("shared", "store") in line.memory for line in profile.lines)
    assert out.numpy()[0] == 31.0 + 32.0
    with kb.sim.debug(tiled, 64, [data, out], block_dim=32, shared_memory=128) as session:
        session.run()
    with pytest.raises(kb.LaunchError, match="sm_75 has at most 65536"):
        kb.sim.run(tiled, 64, [data, out], block_dim=32, shared_memory=65540, like="sm_75")
    with pytest.raises(kb.LaunchError, match="shared_memory=232452 is more than the 232448 bytes"):
        kb.launch(tiled, 64, [data, out], block_dim=32, shared_memory=232452)


def test_what_does_not_fit_the_kernel_is_refused() -> None:
    data, out = arrays(64)
    with pytest.raises(kb.LaunchError, match=r"in rows of 4 bytes\n  help: launch it with shared_memory=4 times"):
        kb.launch(tiled, dim=64, block_dim=32, inputs=[data, out])
    with pytest.raises(kb.LaunchError, match="shared_memory is a number of bytes, 0 or more, not -4"):
        kb.launch(tiled, dim=64, block_dim=32, inputs=[data, out], shared_memory=-4)
    with pytest.raises(kb.LaunchError, match="shared_memory wants a number of bytes, not "):
        kb.launch(tiled, dim=64, block_dim=32, inputs=[data, out], shared_memory="4 KiB")
    with pytest.raises(kb.LaunchError, match="it has no array whose size the launch gives, and shared_memory=64"):
        kb.launch(plain, dim=64, block_dim=32, inputs=[data], shared_memory=64)
    with pytest.raises(Fault, match="index 16"):
        kb.launch(tiled, dim=64, block_dim=32, inputs=[data, out], shared_memory=64)


@kb.kernel
def plain(data: kb.array(dtype=float)):
    data[kb.tid()] = 1.0


def test_a_device_has_only_so_much() -> None:
    shape = Shape({"ndim": 1, "whole_blocks": True, "origin": True, "dynamic_shared": 4}).on_device(1024, 1000)
    assert shared_of(Sized(32, 24), shape) == 24
    with pytest.raises(ValueError, match="shared_memory=28 is more than the 24 bytes"):
        next(plan(Sized(32, 28), shape, 32))
    assert repr(Sized((2, 3), 8)) == "dim=(2, 3), shared_memory=8"
    assert repr(Sized(Grid(2, 3), 8)) == "grid=(2, 1, 1), block=(3, 1, 1), shared_memory=8"
    assert {Sized(2, 8): 1}[Sized(2, 8)] == 1
    assert Sized(2, 8) != Sized(2, 9)
