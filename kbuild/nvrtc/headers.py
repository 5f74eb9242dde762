"""CUDA's own headers, for the files of a project that include some: in wheels beside kbuild, in configured toolkits.

    found = HeaderSearch(extra_paths).of(toolchain)  →  Headers(folders, digest), or None

`cuda_fp16.h`, `cooperative_groups.h` and their kin come with nvidia-cuda-runtime, libcu++ and CUB with
nvidia-cuda-cccl. A toolchain gets headers of its own CUDA major version: those of another compile with errors, or not
at all. The wheels for CUDA 11 and 12 put their files into the same folders, so that of both only the one that was
installed last is there: which one that is, a file and its digest in the wheel's list tell.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kbuild.nvrtc.toolchain import Toolchain

_SUFFIX = {11: "-cu11", 12: "-cu12"}
# What a wheel is named, and a header by which its folder is found.
RUNTIME, CCCL, CRT = "nvidia-cuda-runtime", "nvidia-cuda-cccl", "nvidia-cuda-crt"
NVCC = "nvidia-cuda-nvcc"
_MARKS = {
    RUNTIME: "cuda_fp16.h",
    CCCL: "cuda/std/version",
    CRT: "crt/mma.h",
    NVCC: "crt/mma.h",
    "nvidia-curand": "curand_kernel.h",
}
_VERSION = re.compile(rb"^#define\s+CUDART_VERSION\s+(\d+)", re.MULTILINE)
_STANDARD = re.compile(
    r"c?(?:stdint|stddef|math|float|limits|string|stdlib|assert|type_traits|utility|array|tuple|algorithm|functional|"
    r"memory|vector|optional|atomic|chrono|complex|span|numeric|initializer_list|iostream|stdio)(?:\.h)?"
)


@dataclass(frozen=True, slots=True)
class Headers:
    """`folders` in the order in which they are searched; `digest` stands for what is in them."""

    folders: tuple[Path, ...]
    digest: str

    @property
    def options(self) -> tuple[str, ...]:
        return tuple(f"-I{folder}" for folder in self.folders)

    def have(self, name: str) -> bool:
        """A header of this name is there."""
        return any((folder / name).is_file() for folder in self.folders)


class HeaderSearch:
    """Answers for toolchains; `extra_paths` are the `toolchains` of the project, which may be whole toolkits."""

    def __init__(self, extra_paths: Iterable[Path | str] = ()) -> None:
        self.extra = tuple(map(Path, extra_paths))
        self._known: dict[int, Headers | None] = {}

    def of(self, toolchain: Toolchain) -> Headers | None:
        """The headers for a toolchain, None where there are none."""
        major = toolchain.version[0]
        if major not in self._known:
            self._known[major] = self._toolkit(major) or _wheels(major)
        return self._known[major]

    def _toolkit(self, major: int) -> Headers | None:
        homes = [Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
        for root in (*self.extra, *homes):
            folder = root / "include"
            if _major_of(folder) == major:
                beside = folder / "cccl"
                folders = (folder, beside) if beside.is_dir() else (folder,)
                return Headers(folders, _listing(folders))
        return None


def _major_of(folder: Path) -> int | None:
    """The CUDA major version of a toolkit's include folder."""
    try:
        found = _VERSION.search((folder / "cuda_runtime_api.h").read_bytes())
    except OSError:
        return None
    return int(found[1]) // 1000 if found else None


def _listing(folders: Sequence[Path]) -> str:
    """A digest of the names, sizes and times of all files."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            status = path.stat()
            entry = f"{path.relative_to(folder)}\0{status.st_size}\0{status.st_mtime_ns}\0"
            digest.update(entry.encode(errors="surrogateescape"))
    return digest.hexdigest()


@cache
def _wheels(major: int) -> Headers | None:
    found = [one for name in _MARKS for one in _wheel(name, major)]
    folders = tuple(dict.fromkeys(folder for folder, _ in found))
    if not folders:
        return None
    return Headers(folders, hashlib.sha256("".join(digest for _, digest in found).encode()).hexdigest())


def package(name: str, major: int) -> str:
    """What a wheel of NVIDIA's is called for a CUDA major version."""
    return name + _SUFFIX.get(major, "")


def _wheel(name: str, major: int) -> Iterator[tuple[Path, str]]:
    """A wheel's include folder, and the digest of the list of its files."""
    for wheel in importlib.metadata.distributions(name=package(name, major)):
        if major > 12 and wheel.version.partition(".")[0] != str(major):
            continue
        for file in wheel.files or ():
            if file.as_posix().endswith("include/" + _MARKS[name]) or file.as_posix().endswith("cccl/" + _MARKS[name]):
                mark = Path(str(wheel.locate_file(file)))
                if mark.is_file() and _is_as_listed(mark, file):
                    listed = wheel.read_text("RECORD") or ""
                    yield _above(mark, _MARKS[name]), hashlib.sha256(listed.encode()).hexdigest()
                    break


def _above(mark: Path, name: str) -> Path:
    return mark.parents[name.count("/")]


def _is_as_listed(path: Path, file: importlib.metadata.PackagePath) -> bool:
    """Another wheel has not put its own file there since."""
    if file.hash is None or file.hash.mode != "sha256":
        return True
    found = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).rstrip(b"=").decode()
    return found == file.hash.value


def cure(name: str, toolchain: Toolchain) -> str:
    """What to do where NVRTC finds no file of this name."""
    major = toolchain.version[0]
    version = f"{toolchain.version[0]}.{toolchain.version[1]}"
    if name.startswith(("cub/", "cuda/", "thrust/", "nv/")):
        return _install(package(CCCL, major), version, major)
    if name.startswith("curand"):
        return _install(package("nvidia-curand", major), version, major)
    if name.startswith("crt/") or name == "mma.h":
        beside = CRT if major > 12 else package(NVCC, major)  # which holds the folder crt before CUDA 13
        return f"{_install(package(RUNTIME, major), version, major)}, and {beside}"
    if name.startswith(("cuda", "cooperative_groups", "vector_", "device_", "math_", "driver_types", "host_defines")):
        return _install(package(RUNTIME, major), version, major)
    if _STANDARD.fullmatch(name):
        return (
            f"there is no host compiler, and no <{name}> of its: CUDA's own is <cuda/std/{_libcuxx(name)}>, of "
            f"{package(CCCL, major)}; what a GPU cannot use stands between `#ifndef __CUDACC_RTC__` and `#endif`"
        )
    return "name its folder in `include-dirs` of [tool.kbuild.cuda], or correct the name"


def _install(wheel: str, version: str, major: int) -> str:
    more = ""
    if major in _SUFFIX:
        other = next(suffix for number, suffix in _SUFFIX.items() if number != major)
        more = f" (the {other.strip('-')} wheels use the same folder: of the two the one installed last is there)"
    return f'add "{wheel}=={version}.*" to `requires` of [build-system], or install it{more}'


def _libcuxx(name: str) -> str:
    bare = name.removesuffix(".h")
    return bare if not name.endswith(".h") else f"c{bare}"
