"""Which toolchain compiles for a target.

Desktop and server: the newest of the CUDA major that the target wants (a fixed version: the newest of its major that
is not above it, else the nearest above, since minor versions are compatible there). Tegra: the newest not above the
platform's own version, whatever its major; JetPack 5 (11.4) takes any 11.x, since no older one is to be had. PTX must
not be newer than a fixed version.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kbuild import targets
from kbuild.errors import ToolchainError
from kbuild.nvrtc.toolchain import Toolchain
from kbuild.targets import Target

Version = tuple[int, int]

# What `pip install 'kbuild[EXTRA]'` brings (pyproject.toml; a test holds them together).
EXTRAS: tuple[tuple[str, Version], ...] = (("cuda11", (11, 8)), ("build", (12, 9)), ("build", (13, 0)))


def choose(target: Target, toolchains: Sequence[Toolchain]) -> Toolchain:
    """The toolchain for one part of a target (see `Target.parts`). Raises ToolchainError that says what to install."""
    able = {toolchain.version: toolchain for toolchain in reversed(toolchains) if toolchain.knows(target.arch)}
    version = best_version(target, able)
    if version is None:
        raise _none_fits(target, toolchains)
    return able[version]


def best_version(target: Target, versions: Iterable[Version]) -> Version | None:
    """The one to take of the CUDA versions that know the architecture, or None."""
    wanted = target.wanted_cuda
    same_major = [version for version in versions if version[0] == wanted[0]]
    not_above = [version for version in versions if version <= wanted]
    if target.is_tegra:
        return max(not_above, default=min(same_major, default=None) if _is_jetpack_5(target) else None)
    if target.cuda is None:
        return max(same_major, default=None)
    if target.kind == "ptx":
        return max(not_above, default=None)
    not_above_of_major = [version for version in same_major if version <= wanted]
    return max(not_above_of_major, default=min(same_major, default=None))


def _is_jetpack_5(target: Target) -> bool:
    return target.is_tegra and target.kind == "cubin" and target.wanted_cuda[0] == 11


def _none_fits(target: Target, toolchains: Sequence[Toolchain]) -> ToolchainError:
    found = ", ".join(map(str, toolchains)) or "none"
    extra = _extra_for(target)
    if extra is not None:
        cure = f"pip install 'kbuild[{extra}]' (for a wheel: add it to `requires` of [build-system] in pyproject.toml)"
    else:
        cure = f"install CUDA {_wanted(target)} and name its folder in `toolchains` of [tool.kbuild], or in CUDA_HOME"
    return ToolchainError(
        f"no toolchain compiles {target.arch} for target {target.name!r}: "
        f"it takes NVRTC {_wanted(target)}; found: {found}",
        code="KB502",
        help=cure,
    )


def _extra_for(target: Target) -> str | None:
    """The extra whose NVRTC would be chosen."""
    architecture = target.architecture
    able = {
        version: extra
        for extra, version in EXTRAS
        if architecture.since(target.suffix) <= version and version[0] <= architecture.last_major
    }
    version = best_version(target, able)
    return None if version is None else able[version]


def _wanted(target: Target) -> str:
    """The versions that the target takes, in words."""
    major, minor = target.wanted_cuda
    if _is_jetpack_5(target):
        return f"{major}.x"
    if target.is_tegra or (target.kind == "ptx" and target.cuda is not None):
        return f"{major}.{minor} or older"
    return f"{major}.x, from {'.'.join(map(str, _first_of(target, major)))} on"


def _first_of(target: Target, major: int) -> Version:
    return max(targets.limits(target.arch).since(target.suffix), (major, 0))
