"""Devices whose limits are known, and launches held against them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import kbuild as kb
from kbuild import targets
from kbuild.sim.blocks import Launch
from kbuild.simulate import limits
from kbuild.simulate.compiled import compiled
from tests.sim import looking_kernels as kernels


def test_every_architecture_is_listed_with_its_limits() -> None:
    rows = {row.name: row for row in kb.sim.list_devices()}
    assert list(rows) == [one.name for one in targets.ARCHITECTURES.values()]
    orin = rows["sm_87"]
    assert (orin.threads_per_block, orin.shared_per_block, orin.block) == (1024, 48 * 1024, (1024, 1024, 64))
    assert (orin.parameters, rows["sm_90"].parameters) == (4096, 32764), "JetPack 5 has small ones only"
    assert "Jetson AGX Orin" in orin.gpus
    assert dataclasses.asdict(orin)["warp"] == 32


@pytest.mark.parametrize("name", ["sm_87", "jetson-orin-jp6", "sm_90a", "sm_53"])
def test_a_launch_that_fits(name: str) -> None:
    y = np.zeros(64, np.float32)
    kb.sim.run(kernels.blocks, 64, [y + 1.0, y], like=name, races=False)
    assert y[1] == 1.0


def test_an_unknown_device() -> None:
    with pytest.raises(LookupError, match=r"unknown target 'sm_91'.*kb.sim.list_devices\(\) has their limits"):
        kb.sim.run(kernels.prints, 1, [0], like="sm_91")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"threads_per_block": 32}, "64 threads a block: sm_87 has at most 32\n  help: launch with block_dim=32"),
        (
            {"shared_per_block": 128},
            "256 bytes of shared memory a block: sm_87 has at most 128\n  help: smaller arrays",
        ),
        ({"parameters": 16}, "32 bytes of parameters: sm_87 has at most 16\n  help: put what is large"),
        ({"block": (32, 1, 1)}, "64 threads a block along x: sm_87 has at most 32\n  help: another shape of block"),
        ({"grid": (1, 1, 1)}, "2 blocks along x: sm_87 has at most 1\n  help: a loop over several launches"),
    ],
)
def test_each_limit_is_named(monkeypatch: pytest.MonkeyPatch, change, message: str) -> None:
    """On a device that is smaller than any there is, since a launch beyond what all have comes to nobody."""
    small = dataclasses.replace(limits.device("sm_87"), **change)
    monkeypatch.setattr(limits, "device", lambda name: small)
    y = np.zeros(128, np.float32)
    with pytest.raises(kb.LaunchError) as caught:
        kb.sim.run(kernels.blocks, 128, [y, y.copy()], like="sm_87")
    assert message in str(caught.value)
    assert kernels.blocks.name in str(caught.value)


def test_grids_of_blocks_along_y() -> None:
    x = np.zeros(64, np.float32)
    with pytest.raises(kb.LaunchError, match="70000 blocks along y: sm_90 has at most 65535"):
        limits.check(compiled(kernels.blocks, [x, x]), Launch((1, 70000, 1), (64, 1, 1), (70000 * 64,)), "sm_90")
