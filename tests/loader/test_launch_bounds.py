"""Launch bounds when a kernel is launched: blocks beyond them never reach a driver, and none is chosen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kbuild as kb
from kbuild.loader import occupancy, resolve
from kbuild.loader.errors import LaunchError
from tests.helpers import kernels
from tests.helpers.fake_cuda import FakeCuda, make_bundle
from tests.helpers.situations import happens

TEXT = """
    @kb.kernel(launch_bounds={bounds})
    def k(out: kb.array(dtype=int)):
        i = kb.tid()
        out[i] = kb.block_dim()
    """


@happens(
    "A launch",
    "a block has more threads than `launch_bounds` in the kernel's decorator allows",
    "`LaunchError` that names the number; nothing is launched, in the simulator neither.",
)
@pytest.mark.parametrize(
    "where", [{"dim": 512, "block_dim": 256}, {"grid": 2, "block": 129}, {"grid": 2, "block": 256}]
)
def test_too_many_threads_are_refused(cuda: FakeCuda, where: dict[str, Any]) -> None:
    kernel = make_bundle([("x", "float32")], launch_bounds=(128, 2))["p.kernels:k"]
    for _ in range(3):
        resolve.launch(kernel, 512, inputs=[1.0])
    before = len(cuda.records)
    with pytest.raises(LaunchError, match=r"a block of \d+ threads, and launch_bounds in its decorator allows 128"):
        resolve.launch(kernel, inputs=[1.0], **where)
    assert len(cuda.records) == before
    resolve.launch(kernel, 512, inputs=[1.0], block_dim=128)
    assert list(cuda.records[-1].sizes)[3] == 128


@pytest.mark.parametrize("most", [1024, 256, 200, 128, 64, 32, 7])
@pytest.mark.parametrize("registers", [16, 72, 255])
def test_the_block_that_is_chosen_keeps_to_them(most: int, registers: int) -> None:
    for number in occupancy.LIMITS:
        found = occupancy.best_block(number, registers, 0, most)
        assert 1 <= found <= most
        if most == 1024:
            assert found == occupancy.best_block(number, registers, 0)
    assert occupancy.best_block(999, registers, 0, most) == min(256, most)


@pytest.mark.parametrize(
    ("bounds", "usual"), [("96", 96), ("(64, 4)", 64), ("512", 256), ("(512, 2)", 512), ('"auto"', 256)]
)
def test_in_the_simulator(tmp_path: Path, bounds: str, usual: int) -> None:
    _, (kernel,) = kernels.load(kernels.write(tmp_path, TEXT.format(bounds=bounds)))
    out = np.zeros(2048, np.int32)
    kb.launch(kernel, 2048, inputs=[out], device="sim")
    assert set(out.tolist()) == {usual}
    kb.launch(kernel, 2048, inputs=[out], device="sim", block_dim=32)
    assert set(out.tolist()) == {32}
    if usual < 1024:
        with pytest.raises(LaunchError, match="launch_bounds in its decorator allows"):
            kb.launch(kernel, 2048, inputs=[out], device="sim", block_dim=1024)
