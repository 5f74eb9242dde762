"""Where CUDA's own headers are found: in wheels, by their CUDA version and their lists of files, and in toolkits."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from kbuild.config import BuildConfig
from kbuild.nvrtc import HeaderSearch, Toolchain, headers
from kbuild.nvrtc.toolchain import PROGRAM_BESIDE_HEADERS, PROGRAM_NAME
from kbuild.pipeline import build
from kbuild.targets import parse
from tests.helpers import nvrtc_cases as cases
from tests.helpers.projects import write

RUNTIME = "nvidia/cuda_runtime/include"


def wheel(site: Path, name: str, version: str, files: dict[str, str]) -> None:
    """Puts a wheel's files where it installs them."""
    lines = []
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(text)}")
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    write(site, files)
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    write(site, {f"{info}/METADATA": metadata, f"{info}/RECORD": "\n".join([*lines, f"{info}/RECORD,,"]) + "\n"})


@pytest.fixture
def real() -> Toolchain:
    """A compiler, found before its wheel is out of sight."""
    return cases.installed()[(12, 9)]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path, for wheels; those of this Python are not seen."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.setattr("sys.path", [str(folder)])
    headers._wheels.cache_clear()
    yield folder
    headers._wheels.cache_clear()


def found(version: tuple[int, int]) -> headers.Headers | None:
    return HeaderSearch().of(cases.toolchain(version))


@pytest.mark.nvrtc
def test_wheels_of_the_same_cuda_version(site: Path) -> None:
    toolchain = cases.toolchain((12, 9))
    newer, older = replace(toolchain, version=(13, 0)), replace(toolchain, version=(11, 8))
    assert HeaderSearch().of(toolchain) is None
    wheel(site, "nvidia-cuda-runtime-cu12", "12.9.79", {f"{RUNTIME}/cuda_fp16.h": "// 12"})
    wheel(site, "nvidia-cuda-runtime", "13.0.96", {"nvidia/cu13/include/cuda_fp16.h": "// 13"})
    wheel(site, "nvidia-cuda-cccl", "13.0.85", {"nvidia/cu13/include/cccl/cuda/std/version": "// 13"})
    headers._wheels.cache_clear()
    twelve, thirteen = HeaderSearch().of(toolchain), HeaderSearch().of(newer)
    assert twelve is not None
    assert thirteen is not None
    assert twelve.folders == (site / RUNTIME,)
    assert thirteen.folders == (site / "nvidia/cu13/include", site / "nvidia/cu13/include/cccl")
    assert twelve.digest != thirteen.digest
    assert twelve.have("cuda_fp16.h")
    assert not twelve.have("cuda/std/version")
    assert thirteen.options == tuple(f"-I{folder}" for folder in thirteen.folders)
    assert HeaderSearch().of(older) is None


@pytest.mark.nvrtc
def test_of_two_in_one_folder_the_one_that_is_there(site: Path) -> None:
    wheel(site, "nvidia-cuda-runtime-cu12", "12.9.79", {f"{RUNTIME}/cuda_fp16.h": "// 12"})
    wheel(site, "nvidia-cuda-runtime-cu11", "11.8.89", {f"{RUNTIME}/cuda_fp16.h": "// 11"})
    toolchain = cases.toolchain((12, 9))
    assert HeaderSearch().of(toolchain) is None
    assert HeaderSearch().of(replace(toolchain, version=(11, 8))) is not None


@pytest.mark.nvrtc
def test_a_toolkit(site: Path, tmp_path: Path) -> None:
    kit = write(tmp_path / "cuda-12.4", {"include/cuda_runtime_api.h": "#define CUDART_VERSION  12040\n"})
    toolchain = cases.toolchain((12, 9))
    first = HeaderSearch([kit]).of(toolchain)
    assert first is not None
    assert first.folders == (kit / "include",)
    write(kit, {"include/more.h": ""})
    second = HeaderSearch([kit]).of(toolchain)
    assert second is not None
    assert second.digest != first.digest
    assert HeaderSearch([kit]).of(replace(toolchain, version=(13, 0))) is None


@pytest.mark.nvrtc
def test_headers_are_in_the_key_and_their_place_is_not(tmp_path: Path) -> None:
    plain = cases.job("sm_90", (12, 9))
    one, two, other = (
        replace(plain, cuda_headers=headers.Headers((tmp_path / place,), digest))
        for place, digest in (("a", "x"), ("b", "x"), ("a", "y"))
    )
    assert one.key == two.key
    assert len({plain.key, one.key, other.key}) == 3
    assert (plain.program_name, one.program_name) == (PROGRAM_NAME, PROGRAM_BESIDE_HEADERS)
    assert f"-I{tmp_path / 'a'}" in one.command_line
    assert "--no-source-include" not in one.command_line


@pytest.mark.nvrtc
def test_a_build_with_them(real: Toolchain, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Headers that include others beside them, as CUDA's do; when they change, their unit is compiled again."""
    monkeypatch.setattr("kbuild.pipeline.discover", lambda *_, **__: (real,))
    monkeypatch.setenv("KBUILD_CACHE", str(tmp_path / "cache"))
    texts = {f"{RUNTIME}/cuda_fp16.h": '#include "cuda_more.h"\n', f"{RUNTIME}/cuda_more.h": "#define ONE 1\n"}
    wheel(site, "nvidia-cuda-runtime-cu12", "12.9.79", texts)
    root = write(
        tmp_path / "project",
        {
            "pkg/__init__.py": "",
            "pkg/kernels.py": "import kbuild as kb\n\n\n@kb.cuda_kernel('k.cu')\ndef k(x: kb.array(dtype=int)): ...\n",
            "pkg/k.cu": "#include <cuda_fp16.h>\n__global__ void k(int *x) { *x = ONE; }\n",
        },
    )
    settings = BuildConfig(root, ("pkg.kernels",), (parse("sm_90"),), (root,))
    assert [build(settings).compiled for _ in range(2)] == [1, 0]
    texts[f"{RUNTIME}/cuda_more.h"] = "#define ONE 2\n"
    wheel(site, "nvidia-cuda-runtime-cu12", "12.9.79", texts)
    headers._wheels.cache_clear()
    assert build(settings).compiled == 1


@pytest.mark.nvrtc
@pytest.mark.parametrize(
    ("name", "version", "said"),
    [
        ("cuda_fp16.h", (12, 9), '"nvidia-cuda-runtime-cu12==12.9.*"'),
        ("cooperative_groups.h", (11, 8), '"nvidia-cuda-runtime-cu11==11.8.*"'),
        ("cuda/std/array", (13, 0), '"nvidia-cuda-cccl==13.0.*"'),
        ("cub/cub.cuh", (12, 9), '"nvidia-cuda-cccl-cu12==12.9.*"'),
        ("mma.h", (12, 9), "and nvidia-cuda-nvcc-cu12"),
        ("mma.h", (13, 0), "and nvidia-cuda-crt"),
        ("curand_kernel.h", (12, 9), "nvidia-curand-cu12"),
        ("stdint.h", (12, 9), "<cuda/std/cstdint>"),
        ("vector", (12, 9), "__CUDACC_RTC__"),
        ("mine.cuh", (12, 9), "include-dirs"),
    ],
)
def test_cures(name: str, version: tuple[int, int], said: str) -> None:
    assert said in headers.cure(name, replace(cases.toolchain((12, 9)), version=version))
