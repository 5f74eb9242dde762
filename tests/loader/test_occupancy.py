"""How many blocks fit: numbers worked out by hand from NVIDIA's tables. The driver's own are asked in tests/gpu."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbuild.loader import context, format, occupancy, readiness, resolve
from kbuild.loader.bundle import from_bytes
from kbuild.loader.errors import LaunchError
from kbuild.loader.kernel import BundleKernel
from kbuild.loader.occupancy import LIMITS, best_block, largest_block, resident_blocks
from kbuild.warp import launching
from tests.helpers.fake_cuda import FakeCuda, code, cubin_row, kernel_rows, make_bundle, make_manifest


@pytest.mark.parametrize(
    ("number", "registers", "shared", "threads", "blocks"),
    [
        (90, 16, 0, 256, 8),  # 64 warps
        (90, 32, 0, 1024, 2),
        (90, 33, 0, 1024, 1),  # 33 registers are 40, of 51 warps
        (90, 72, 0, 256, 3),  # 28 warps
        (90, 72, 0, 128, 7),
        (90, 255, 0, 256, 1),
        (90, 255, 0, 512, 0),  # 131072 registers
        (90, 256, 0, 32, 0),
        (90, 16, 0, 32, 32),  # blocks
        (90, 16, 48 * 1024, 256, 4),  # 49 KiB each of 228
        (86, 16, 0, 256, 6),
        (86, 16, 0, 32, 16),
        (86, 16, 31 * 1024, 32, 3),  # 32 KiB each of 100
        (75, 16, 0, 1024, 1),
        (75, 16, 32 * 1024, 32, 2),  # nothing is kept for CUDA there
        (60, 88, 0, 64, 11),  # two partitions of 11 warps each
        (61, 88, 0, 64, 10),  # four of 5
        (53, 40, 0, 1024, 0),  # a block has half of the registers
        (53, 32, 0, 1024, 1 + 1),
        (110, 0, 0, 512, 3),
        (87, 16, 0, 33, 16),
        (89, 16, 0, 65, 16),  # three warps a block
    ],
)
def test_resident_blocks(number: int, registers: int, shared: int, threads: int, blocks: int) -> None:
    assert resident_blocks(LIMITS[number], registers, shared, threads) == blocks


@pytest.mark.parametrize(
    ("number", "registers", "shared", "threads"),
    [
        (90, 8, 0, 256),
        (90, 40, 0, 256),  # 48 warps either way
        (90, 72, 0, 128),  # 28 warps and not 24
        (90, 80, 0, 256),  # 24 warps
        (90, 96, 0, 128),  # 20 and not 16
        (90, 255, 0, 256),
        (86, 8, 8 * 1024, 256),
        (90, 8, 40 * 1024, 512),  # 5 blocks: 40 warps, and 80 with 512, but 64 are most
        (90, 8, 48 * 1024, 512),
        (75, 8, 33 * 1024, 1024),  # one block
        (999, 255, 0, 256),  # newer than the table
    ],
)
def test_best_block(number: int, registers: int, shared: int, threads: int) -> None:
    assert best_block(number, registers, shared) == threads


@given(st.sampled_from(sorted(LIMITS)), st.integers(1, 255), st.integers(0, 48 * 1024))
def test_best_block_is_256_unless_another_keeps_more_warps(number: int, registers: int, shared: int) -> None:
    limits = LIMITS[number]

    def warps(threads: int) -> int:
        return resident_blocks(limits, registers, shared, threads) * threads

    best = best_block(number, registers, shared)
    sizes = (32, 64, 128, 192, 256, 384, 512, 768, 1024)
    assert best in sizes
    assert warps(best) == max(map(warps, sizes)) > 0
    assert best == 256 or warps(256) < warps(best)
    threads, blocks = largest_block(number, registers, shared)
    assert (blocks * threads, resident_blocks(limits, registers, shared, threads)) == (
        max(map(warps, range(32, 1025, 32))),
        blocks,
    )


def launched(cuda: FakeCuda, kernel: BundleKernel, **options: Any) -> tuple[int, int, int]:
    resolve.launch(kernel, 1000, [1.0], **options)
    record = cuda.records[-1]
    return struct.unpack_from("<I", bytes(record.bytes))[0], record.grid, record.block


def kernel_of(**options: Any) -> BundleKernel:
    return make_bundle([("x", "float32")], **options)["p.kernels:k"]


@pytest.mark.parametrize(
    ("options", "threads"),
    [
        ({"any_block_dim": True, "registers": 72}, 128),
        ({"any_block_dim": True, "registers": 8}, 256),
        ({"registers": 72}, 256),  # bundles of before, and kernels that say so
        ({"registers": 72, "block_dim": 64}, 64),
    ],
)
def test_a_launch_takes_it(cuda: FakeCuda, options: dict[str, Any], threads: int) -> None:
    kernel = kernel_of(**options)
    assert readiness.get_grid(kernel, 1000) == (-(-1000 // threads), threads)
    assert "cuModuleLoadData" not in cuda.calls
    for _ in range(4):  # thorough ones, then the quick one
        assert launched(cuda, kernel) == (1000, -(-1000 // threads), threads)
        assert launched(cuda, kernel, block_dim=512) == (1000, 2, 512)
    assert kernel.launch != kernel.thorough
    assert launched(cuda, kernel, max_blocks=1)[1:] == (1, threads)


def test_each_gpu_has_its_own(fake_library: Any) -> None:
    """21 KiB a block: sm_80 holds 7 of them and fills up with 512 threads each, sm_86 holds 4 and wants 384."""
    with FakeCuda(fake_library, devices="8.0,8.6") as cuda:
        row = dict(kernel_rows("p.kernels:k", [("x", "float32")], 1, {}, 256), any_block_dim=True)
        cubin = cubin_row("sm_80", [0], 0)
        cubin["resources"][0].update(shared=20 * 1024)
        kernel = from_bytes(format.dump(make_manifest([row], [cubin]), [code([row])]), "memory")["p.kernels:k"]
        found = [launched(cuda, kernel, device=i)[2] for i in (0, 1, 0, 1)]
    assert found == [512, 384, 512, 384]


@pytest.mark.parametrize(
    ("n", "options", "grid"),
    [(0, {}, (0, 256)), (1, {}, (1, 256)), (257, {}, (2, 256)), ((4, 100), {"block_dim": 100}, (4, 100))],
)
def test_get_grid(cuda: FakeCuda, n: Any, options: dict[str, Any], grid: tuple[int, int]) -> None:
    assert readiness.get_grid(kernel_of(), n, **options) == grid
    assert cuda.calls == []


@pytest.mark.parametrize(
    ("kernel", "n", "options", "message"),
    [
        (None, -1, {}, "p.kernels:k: dim is negative along axis 0: -1"),
        (None, 1.5, {}, "p.kernels:k: dim wants an integer"),
        (None, 1, {"block_dim": 2000}, "p.kernels:k: block_dim is 1 to 1024 threads, not int 2000"),
        ("scale", 1, {}, "a function decorated with @kernel, or a bundle's kernel, is wanted, not str 'scale'"),
    ],
)
def test_get_grid_refuses(cuda: FakeCuda, kernel: Any, n: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(LaunchError) as caught:
        readiness.get_grid(kernel or kernel_of(), n, **options)
    assert message in str(caught.value)


def test_warps_questions(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = kernel_of()  # the fake driver says 32 registers of every function
    assert launching.get_suggested_block_size(kernel) == (1024, 2 * 132)
    assert launching.get_suggested_block_size(kernel, "cpu") == (1, 1)
    assert launching.get_cuda_kernel_properties(kernel) == {"register_count": 32, "local_memory_size": 0}
    assert launching.get_cuda_kernel_properties(kernel, "cuda:0", block_dim=64)["register_count"] == 32
    monkeypatch.delitem(occupancy.LIMITS, 90)
    with pytest.raises(LaunchError, match=r"p.kernels:k: kbuild does not know yet how many blocks sm_90 holds"):
        launching.get_suggested_block_size(kernel)
    assert context.get_device().sm_count == 132
