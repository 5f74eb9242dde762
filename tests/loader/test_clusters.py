"""Kernels that run in clusters: what the driver gets, and what never gets there."""

from __future__ import annotations

from typing import Any

import pytest

import kbuild as kb
from kbuild.loader import bound, resolve, selftest
from kbuild.loader.errors import BundleError, LaunchError
from kbuild.loader.kernel import BundleKernel
from tests.helpers.fake_cuda import FakeCuda, make_bundle
from tests.helpers.situations import happens


def clustered(**options: Any) -> BundleKernel:
    given = {"whole_blocks": True, "block_dim": 64, "cluster_dim": 4, **options}
    return make_bundle([("x", "float32")], **given)["p.kernels:k"]


def test_whole_clusters_arrive(cuda: FakeCuda) -> None:
    kernel = clustered()
    for _ in range(4):  # thorough launches, then the quick one
        resolve.launch(kernel, dim=1024, inputs=[1.0])
        assert (cuda.records[-1].grid, cuda.records[-1].block) == (16, 64)
        resolve.launch(kernel, dim=256, inputs=[1.0], block_dim=32)
        assert (cuda.records[-1].grid, cuda.records[-1].block) == (8, 32)
        resolve.launch(kernel, grid=(8, 3), block=(8, 4), inputs=[1.0])
        assert list(cuda.records[-1].sizes)[:6] == [8, 3, 1, 8, 4, 1]
    assert kernel.launch != kernel.thorough


WRONG = [
    ({"dim": 64 * 5}, r"in clusters of 4 blocks, and dim makes 5, no multiple of that\n  help: launch 512 threads and"),
    ({"dim": 64}, r"and dim makes 1, no multiple of that\n  help: launch 256 threads"),
    ({"dim": 64 * 8, "block_dim": 256}, r"and dim makes 2, no multiple of that\n  help: launch 1024 threads"),
    ({"grid": 6}, r"and the grid has 6 along x, no multiple of that\n  help: give a grid of 8 blocks along x"),
    ({"grid": (2, 4)}, r"and the grid has 2 along x, no multiple of that\n  help: give a grid of 4 blocks along x"),
]


@happens(
    "A launch",
    "a kernel runs in clusters, and the blocks of a launch make no whole ones",
    "`LaunchError` that says how many to launch instead; nothing is launched.",
)
@pytest.mark.parametrize(("where", "said"), WRONG)
def test_clusters_in_part_are_refused(cuda: FakeCuda, where: dict[str, Any], said: str) -> None:
    kernel = clustered()
    for _ in range(3):
        resolve.launch(kernel, dim=1024, inputs=[1.0])
    before = len(cuda.records)
    for _ in range(2):
        with pytest.raises(LaunchError, match=said):
            resolve.launch(kernel, inputs=[1.0], **where)
        with pytest.raises(LaunchError, match=said):
            bound.bind(kernel, inputs=[1.0], **where)
    assert len(cuda.records) == before


def test_nothing_to_launch_is_launched(cuda: FakeCuda) -> None:
    before = len(cuda.records)
    for where in ({"dim": 0}, {"grid": 0}, {"grid": (4, 0)}):
        resolve.launch(clustered(), inputs=[1.0], **where)
    assert len(cuda.records) == before


def test_on_a_device_the_shape_keeps_its_clusters(cuda: FakeCuda) -> None:
    kernel = clustered(dynamic_shared=4)
    resolve.launch(kernel, grid=4, inputs=[1.0], shared_memory=64)
    with pytest.raises(LaunchError, match="in clusters of 4 blocks"):
        resolve.launch(kernel, grid=5, inputs=[1.0], shared_memory=64)


@pytest.mark.parametrize("count", [0, 9, -1, "2", True])
def test_what_a_decorator_may_say(count: Any) -> None:
    with pytest.raises(TypeError, match="@kernel: cluster_dim "):
        kb.kernel(cluster_dim=count)


def test_what_a_manifest_may_say() -> None:
    with pytest.raises(BundleError, match="cluster_dim is of kernels that run in whole_blocks"):
        clustered(whole_blocks=False)
    with pytest.raises(BundleError, match="cluster_dim is 9, but wants 1 to 8"):
        clustered(cluster_dim=9)


def test_what_a_selftest_launches() -> None:
    assert selftest.dim_of(1, 32, True, 4) == (256,)
    assert selftest.dim_of(1, 128, True, 4) == (512,)
    assert selftest.dim_of(2, 32, True, 4) == (16, 16)
    with pytest.raises(selftest.Unsuitable, match="they make no whole clusters of 1024"):
        selftest.dim_of(1, 256, True, 4)
