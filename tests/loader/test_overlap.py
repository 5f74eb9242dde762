"""Launches that the GPU may get ready while the one before them ends: which ones, and on which GPUs."""

from __future__ import annotations

from pathlib import Path

import pytest

import kbuild as kb
from tests.helpers.fake_cuda import FakeCuda, compile_library, make_bundle

PARAMETERS = [("x", "float32")]


@pytest.mark.parametrize(
    ("gpu", "target", "waits", "is_early"),
    [
        ("9.0", "sm_90", True, True),
        ("9.0", "sm_90", False, False),  # of a bundle of before, or code of somebody else's
        ("12.0", "sm_120", True, True),
        ("8.9", "sm_89", True, False),
        ("8.9", "sm_80", True, False),
    ],
)
def test_which_launches_are_early(fake_library: Path, gpu: str, target: str, waits: bool, is_early: bool) -> None:
    """Only of code that waits, which says so from compute capability 9.0 on alone."""
    with FakeCuda(fake_library, devices=gpu) as cuda:
        kernel = make_bundle(PARAMETERS, waits=waits, targets=[target])["p.kernels:k"]
        for _ in range(3):  # two thorough launches, then the quick one
            kernel.launch(100, (1.0,))
        kernel.launch(300, (1.0,), stream=0x77)
        assert kernel.launch != kernel.thorough
        bound = kb.bind(kernel, dim=50, inputs=[1.0])
        bound()
        bound.set_dim(70)
        bound()
        assert cuda.early_launches == (6 if is_early else 0)
        assert [(r.grid, r.stream) for r in cuda.records] == [(1, 0), (1, 0), (1, 0), (2, 0x77), (1, 0), (1, 0)]


def test_pieces_of_a_launch_are_early_too(fake_library: Path) -> None:
    with FakeCuda(fake_library) as cuda:
        kernel = make_bundle(PARAMETERS, waits=True)["p.kernels:k"]
        kernel.launch(1000, (1.0,), max_blocks=2)
        assert cuda.early_launches == len(cuda.records) == 2


def test_it_can_be_switched_off(fake_library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KBUILD_OVERLAP", "0")
    with FakeCuda(fake_library) as cuda:
        kernel = make_bundle(PARAMETERS, waits=True)["p.kernels:k"]
        for _ in range(3):
            kernel.launch(100, (1.0,))
        assert (cuda.early_launches, len(cuda.records)) == (0, 3)


def test_an_old_driver_knows_nothing_of_it(tmp_path: Path) -> None:
    with FakeCuda(compile_library(tmp_path, "-DFAKE_OLD_DRIVER")) as cuda:
        kernel = make_bundle(PARAMETERS, waits=True)["p.kernels:k"]
        for _ in range(3):
            kernel.launch(100, (1.0,))
        assert (cuda.early_launches, len(cuda.records)) == (0, 3)
