"""Kernels in CUDA C++ on the device `sim`: the body of the declaration, or a refusal that says so."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kbuild as kb
from kbuild.loader.cuda_files import cuda_kernel
from kbuild.loader.errors import LaunchError
from tests.helpers.cuda_project import project


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(project(tmp_path) / "src"))
    yield __import__("thing.kernels").kernels
    for name in [name for name in sys.modules if name.partition(".")[0] == "thing"]:
        del sys.modules[name]


@pytest.mark.parametrize("asked", [{"dim": 1000}, {"grid": 4, "block": 256}])
def test_the_body(kernels: Any, asked: Any) -> None:
    x, out = np.arange(1000, dtype=np.float32), np.zeros(1, np.float32)
    kb.launch(kernels.sum_of_floats, inputs=[1000, x, out], device="sim", **asked)
    assert out[0] == 2 * x.sum()


@pytest.mark.parametrize("asked", [{"dim": 512}, {"grid": 2, "block": 256, "shared_memory": 1024}])
def test_shared_memory_of_the_body(kernels: Any, asked: Any) -> None:
    """It is the launch's, or the 1024 bytes of the declaration; one of another size is held against the accesses."""
    x, out = np.arange(512, dtype=np.int32), np.zeros(512, np.int32)
    kb.launch(kernels.reversed_blocks, inputs=[x, out], device="sim", **asked)
    assert out.tolist() == [*range(255, -1, -1), *range(511, 255, -1)]
    with pytest.raises(kb.sim.Fault, match=r"254|255"):
        kb.launch(kernels.reversed_blocks, dim=512, inputs=[x, out], device="sim", shared_memory=1016)


def test_a_body_without_shared_memory_does_without(kernels: Any) -> None:
    x, out = np.ones(10, np.float32), np.zeros(1, np.float32)
    kb.launch(kernels.sum_of_floats, dim=10, inputs=[10, x, out], device="sim", shared_memory=4096)
    assert out[0] == 20


def test_without_a_body(kernels: Any) -> None:
    x = np.zeros(3, np.float32)
    with pytest.raises(LaunchError) as raised:
        kb.launch(kernels.saxpy, dim=3, inputs=[3, 1.0, x, x], device="sim")
    said = str(raised.value)
    assert "thing.kernels:saxpy is written in CUDA C++ (cuda/basic.cu), which the simulator cannot run" in said
    assert "kernels.py:11:1 without a body" in said
    assert "help: in place of `...`, write there what it does as a kernel in Python" in said


def test_no_kernel_is_called(kernels: Any) -> None:
    with pytest.raises(LaunchError, match=r"write kb\.launch"):
        kernels.saxpy(1)


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        ((3,), {}, "file wants str, not 3"),
        (("",), {}, "file is empty"),
        (("a.cu", ""), {}, "name is empty"),
        (("a.cu", 3), {}, "name wants str, not 3"),
        (("a.cu", "f\n"), {}, "is no name of a kernel"),
        (("a\0.cu",), {}, "is no file"),
        (("a.cu",), {"block_dim": 2048}, "block_dim is 1 to 1024 threads"),
        (("a.cu",), {"block_dim": 64.0}, "block_dim wants int"),
        (("a.cu",), {"shared_memory": -1}, "shared_memory is a number of bytes, 0 or more, not -1"),
        (("a.cu",), {"arrays": "view"}, "arrays is 'pointers' or 'views', not 'view'.*did you mean"),
    ],
)
def test_wrong_declarations(arguments: Any, options: Any, said: str) -> None:
    with pytest.raises(TypeError, match=f"@cuda_kernel: .*{said}"):
        cuda_kernel(*arguments, **options)


def test_no_function() -> None:
    with pytest.raises(TypeError, match="@cuda_kernel wants a function, not 3"):
        cuda_kernel("a.cu")(3)  # type: ignore[arg-type]
