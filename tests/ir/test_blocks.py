"""Which kernels run in whole blocks, and the memory that their blocks share."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbuild.ir.blocks import in_whole_blocks, shared_arrays, shared_bytes
from tests.helpers import kernels

HEAD = """
@kb.func
def waits():
    kb.syncthreads()

@kb.func
def where():
    return kb.block_idx().y + 1

@kb.func
def keeps(x: float):
    memory = kb.shared_array(3, float)
    return x

@kb.func
def size():
    return kb.block_dim() + kb.lane_id()

@kb.kernel
def k(a: kb.array(dtype=float)):
"""
WHOLE = {
    "barrier": ["kb.syncthreads()"],
    "barrier of a warp": ["if a[0] > 0.0:", "    kb.syncwarp()"],
    "barrier in a function": ["waits()"],
    "thread_idx": ["a[kb.thread_idx()] = 1.0"],
    "thread_idx along an axis": ["a[kb.thread_idx().z] = 1.0"],
    "block_idx": ["a[0] = float(kb.block_idx())"],
    "block_idx in a function": ["a[where()] = 1.0"],
    "grid_dim": ["for i in range(kb.grid_dim()):", "    a[i] = 1.0"],
    "shared array": ["memory = kb.shared_array(4, float)", "a[0] = 1.0"],
    "shared array in a function": ["a[0] = keeps(a[1])"],
}
ORDINARY = {
    "nothing": ["a[kb.tid()] = 1.0"],
    "block_dim": ["a[kb.tid()] = float(kb.block_dim())"],
    "lane_id": ["a[kb.tid()] = float(kb.lane_id())"],
    "both in a function": ["a[0] = float(size())"],
}


@pytest.mark.parametrize("name", [*WHOLE, *ORDINARY])
def test_in_whole_blocks(tmp_path: Path, name: str) -> None:
    body = (WHOLE | ORDINARY)[name]
    (kernel,) = kernels.lower_text(tmp_path, HEAD + "".join(f"    {line}\n" for line in body))
    assert in_whole_blocks(kernel) == (name in WHOLE)
    source = kernels.emit_kernels([kernel]).source
    assert ("kb_launch.end" in source) == (name not in WHOLE)


def test_memory_is_counted_with_its_alignment(tmp_path: Path) -> None:
    body = ["small = kb.shared_array(3, kb.int8)", "wide = kb.shared_array(2, kb.float64)", "a[0] = keeps(a[1])"]
    (kernel,) = kernels.lower_text(tmp_path, HEAD + "".join(f"    {line}\n" for line in body))
    found = [(symbol.name, type.bytes) for _, symbol, type in shared_arrays(kernel.function)]
    assert found == [("memory", 12), ("small", 4), ("wide", 16)]
    assert shared_bytes(kernel.function) == 12 + 4 + 16


def test_clusters_are_whole_blocks(tmp_path: Path) -> None:
    text = HEAD.replace("@kb.kernel", "@kb.kernel(cluster_dim=2)") + "    a[kb.tid()] = 1.0\n"
    (kernel,) = kernels.lower_text(tmp_path, text)
    assert in_whole_blocks(kernel)
    assert "kb_launch.end" not in kernels.emit_kernels([kernel]).source
