"""Compiling at launch: only when asked for, and then like a build. The driver is the fake one; NVRTC is real."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import kbuild as kb
from kbuild import jit
from kbuild.loader import providers
from kbuild.scan import adjoints
from tests.helpers import adjoints as crooked_adjoints
from tests.helpers.cuda_project import project
from tests.helpers.fake_cuda import FakeCuda, compile_library

SOURCE = """
import kbuild as kb

STEP = 2

@kb.kernel
def fill(data: kb.array(dtype=int), value: int):
    i = kb.tid()
    data[i] = value * STEP

@kb.kernel
def wrong(data: kb.array(dtype=int)):
    data[kb.tid()] = missing

@kb.kernel(launch_dim="n")
def stating(data: kb.array(dtype=float, shape=("n",)), twice: kb.array(dtype=float, shape=("n",))):
    i = kb.tid()
    twice[i] = 2.0 * data[i]
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_library(tmp_path_factory.mktemp("fake"))


@pytest.fixture
def cuda(library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCuda]:
    monkeypatch.setenv("KBUILD_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("KBUILD_JIT", raising=False)
    with FakeCuda(library) as fake:
        yield fake
    providers.enable_jit(False)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module that belongs to no package with a bundle."""
    path = tmp_path / "loose.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("loose", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "loose", made)
    spec.loader.exec_module(made)
    return made


def test_nothing_is_compiled_unless_asked_for(cuda: FakeCuda, module: ModuleType) -> None:
    with pytest.raises(kb.LaunchError, match="regular package"):
        kb.launch(module.fill, dim=4, inputs=[kb.zeros(4, dtype=int), 1])


@pytest.mark.parametrize("how", ["environment", "call"])
def test_a_kernel_without_a_bundle_is_compiled_when_asked_for(
    cuda: FakeCuda, module: ModuleType, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    if how == "call":
        kb.enable_jit()
    else:
        monkeypatch.setenv("KBUILD_JIT", "1")
    # The fake driver takes no real code: that it was asked to load some is what can be seen without a GPU.
    with pytest.raises(kb.DriverError, match=r"loose#fill for sm_90 on cuda:0 .* cuModuleLoadData"):
        kb.launch(module.fill, dim=1000, inputs=[kb.zeros(1000, dtype=int), 3])


def test_what_is_compiled_is_a_bundle_like_any_other(cuda: FakeCuda, module: ModuleType) -> None:
    told: list[dict[str, object]] = []
    stop = kb.on_event(told.append)
    compiled = jit.missing_kernel(module.fill)
    stop()
    opened, made = told
    assert (opened["event"], opened["bundle"], opened["kernels"]) == ("opened", "compiled at launch", 1)
    assert (made["event"], made["kernel"], made["targets"]) == ("compiled", "loose:fill", "sm_90")
    assert isinstance(made["seconds"], float)
    assert compiled.name == "loose:fill"
    assert compiled.bundle.manifest["definitions"]["loose:fill"]["plan"] == ["global:STEP"]
    (row,) = compiled.bundle.manifest["cubins"]
    assert row["arch"] == "sm_90"
    compiled.bundle.verify()


def test_an_error_in_the_kernel_is_shown_at_its_line(cuda: FakeCuda, module: ModuleType) -> None:
    kb.enable_jit()
    with pytest.raises(kb.LaunchError) as caught:
        kb.launch(module.wrong, dim=4, inputs=[kb.zeros(4, dtype=int)])
    assert "loose:wrong cannot be compiled at launch" in str(caught.value)
    assert "loose.py:13:" in str(caught.value)
    assert "'missing' is not defined" in str(caught.value)


def test_a_kernel_in_cuda_c(cuda: FakeCuda, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what the project around it says of such files."""
    root = project(tmp_path / "project")
    monkeypatch.syspath_prepend(str(root / "src"))
    try:
        kernels = __import__("thing.kernels").kernels
        compiled = jit.missing_kernel(kernels.sum_of_floats)
        assert compiled.bundle.manifest["kernels"][0]["entry"] == "_Z3sumIfLi256EEviPKT_PS0_"
        compiled.bundle.verify()
        with pytest.raises(kb.LaunchError, match=r"has no gradient: .*CUDA C\+\+"):
            _ = compiled.backward.parameters
        (root / "src/thing/cuda/views.cu").write_text("__global__ void transposed(int x) { y; }")
        with pytest.raises(kb.LaunchError, match=r"cannot be compiled at launch(.|\n)*views.cu:1:1: error"):
            jit.missing_kernel(kernels.transposed)
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "thing"]:
            del sys.modules[name]


GRADIENTS = """
import kbuild as kb

@kb.kernel
def double(x: kb.array(dtype=float), y: kb.array(dtype=float)):
    i = kb.tid()
    y[i] = 2.0 * x[i]

@kb.kernel(enable_backward=False)
def plain(x: kb.array(dtype=float)):
    x[kb.tid()] = 1.0
"""


def test_launches_are_held_against_what_a_kernel_states(cuda: FakeCuda, module: ModuleType) -> None:
    kb.enable_jit()
    data, short = (kb.zeros(n, dtype=float, device="cuda:0", requires_grad=True) for n in (4, 3))
    with pytest.raises(kb.DriverError):  # the fake driver takes no real code: nothing but that was in the way
        kb.launch(module.stating, 4, [data, data])
    for dim, other, said in ((4, short, r"twice\.shape\[0\] is 3"), (3, data, "dim is 3")):
        for adjoint in (False, True):
            with pytest.raises(kb.LaunchError, match=said):
                kb.launch(module.stating, dim, [data, other], adjoint=adjoint)


def test_an_adjoint_is_compiled_when_it_is_wanted(cuda: FakeCuda, module: ModuleType) -> None:
    Path(str(module.__file__)).write_text(GRADIENTS)
    module.__spec__.loader.exec_module(module)  # type: ignore[union-attr]
    told: list[dict[str, object]] = []
    stop = kb.on_event(told.append)
    compiled = jit.missing_kernel(module.double)
    assert "backward" not in compiled.bundle.manifest["kernels"][0]
    found = compiled.backward
    assert [one["kernel"] for one in told if one["event"] == "compiled"] == ["loose:double"]
    assert (found.name, found.read, found.written, found.saved) == ("loose:double", {"x"}, {"y"}, {})
    assert found.parameters == compiled.parameters
    adjoint = found.kernel
    stop()
    assert [one["kernel"] for one in told if one["event"] == "compiled"] == ["loose:double", "loose:double:adjoint"]
    assert [name for name, _ in adjoint.parameters] == ["x", "y", "adj_x", "adj_y"]
    adjoint.bundle.verify()
    assert jit.missing_kernel(module.plain).backward is None


def test_a_gradient_that_cannot_be_compiled(
    cuda: FakeCuda, module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adjoints, "adjoint", crooked_adjoints.adjoint)
    found = jit.missing_kernel(module.fill).backward
    with pytest.raises(kb.LaunchError, match=r"loose:fill has no gradient: line 9: it does not double"):
        found.launch(1, [])
