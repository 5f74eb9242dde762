"""What a bundle can be built for: architectures with their limits, Jetson platforms, and the grammar of a target.

    ARCH[@CUDA][+ptx]      sm_90   sm_90a@12.4   sm_120f@13.0   sm_90+ptx   compute_90@12.4 (PTX alone)
    PLATFORM[+ptx]         jetson-orin-jp6 (stands for sm_87 and the CUDA version that JetPack 6 brings)

`parse("sm_90")` gives a `Target`; `ARCHITECTURES`, `PLATFORMS` and `GPUS` are the tables behind it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kbuild.errors import UsageError, did_you_mean
from kbuild.loader.occupancy import KIB, LIMITS, MAX_BLOCK, MOST_REGISTERS, REGISTERS, WARP, Limits

Version = tuple[int, int]

SMALL_PARAMETER_SPACE = 4096
LARGE_PARAMETER_SPACE = 32764
LARGE_PARAMETERS_SINCE: Version = (12, 1)
JETPACK_5: Version = (11, 4)
OLDEST_CUDA: Version = (11, 2)


@dataclass(frozen=True, slots=True)
class Architecture:
    """One compute capability. Sizes are in bytes.

    Sources: shared memory of a block from the table "Technical Specifications per Compute Capability" of the CUDA C++
    Programming Guide (12.9 and 13.0; 5.x and 6.x from 11.8), from which `limits` are too (`loader.occupancy`); the
    parameter space from the guide's "Kernel function parameters" and NVRTC's own verdict; `driver` is the CUDA version
    whose PTX ISA introduced the architecture.
    """

    number: int
    family: str
    driver: Version
    last_major: int
    limits: Limits
    shared_per_block: int
    is_tegra: bool = False
    suffixes: str = ""

    registers_per_sm = REGISTERS
    registers_per_thread = MOST_REGISTERS
    threads_per_block = MAX_BLOCK
    static_shared_per_block = 48 * KIB
    shared_banks = 32
    warp = WARP

    @property
    def threads_per_sm(self) -> int:
        return self.limits.threads

    @property
    def blocks_per_sm(self) -> int:
        return self.limits.blocks

    @property
    def shared_per_sm(self) -> int:
        return self.limits.shared

    @property
    def registers_per_block(self) -> int:
        return self.limits.registers_per_block

    @property
    def name(self) -> str:
        return f"sm_{self.number}"

    @property
    def reserved_shared_per_block(self) -> int:
        """Shared memory that CUDA keeps for itself in each block (compute capability 8.0 and later)."""
        return self.limits.reserved_shared

    @property
    def has_clusters(self) -> bool:
        """Blocks run in clusters (compute capability 9.0 and later)."""
        return self.number >= 90

    def parameter_space(self, cuda: Version) -> int:
        """Bytes of kernel parameters that a toolkit of this CUDA version accepts."""
        large = self.number >= 70 and cuda >= LARGE_PARAMETERS_SINCE
        return LARGE_PARAMETER_SPACE if large else SMALL_PARAMETER_SPACE

    def since(self, suffix: str) -> Version:
        """The first CUDA version that compiles for it with this suffix ("", "a" or "f")."""
        return max(self.driver, {"": (0, 0), "a": (12, 0), "f": (12, 9)}[suffix])


def _row(
    number: int,
    family: str,
    driver: Version,
    last_major: int,
    shared_per_block: int,
    *,
    tegra: bool = False,
    suffixes: str = "",
) -> Architecture:
    """A row of the table; `shared_per_block` is in KiB. What a multiprocessor holds is the loader's to know, too."""
    return Architecture(
        number, family, driver, last_major, LIMITS[number], shared_per_block * KIB, is_tegra=tegra, suffixes=suffixes
    )


ARCHITECTURES: dict[int, Architecture] = {
    a.number: a
    for a in (
        _row(50, "Maxwell", (6, 0), 12, 48),
        _row(52, "Maxwell", (6, 5), 12, 48),
        _row(53, "Maxwell", (7, 0), 12, 48, tegra=True),
        _row(60, "Pascal", (8, 0), 12, 48),
        _row(61, "Pascal", (8, 0), 12, 48),
        _row(62, "Pascal", (8, 0), 12, 48, tegra=True),
        _row(70, "Volta", (9, 0), 12, 96),
        _row(72, "Volta", (9, 1), 12, 96, tegra=True),
        _row(75, "Turing", (10, 0), 13, 64),
        _row(80, "Ampere", (11, 0), 13, 163),
        _row(86, "Ampere", (11, 1), 13, 99),
        _row(87, "Ampere", (11, 4), 13, 163, tegra=True),
        _row(89, "Ada", (11, 8), 13, 99),
        _row(90, "Hopper", (11, 8), 13, 227, suffixes="a"),
        _row(100, "Blackwell", (12, 8), 13, 227, suffixes="af"),
        _row(101, "Blackwell", (12, 8), 12, 227, tegra=True, suffixes="af"),
        _row(103, "Blackwell", (12, 9), 13, 227, suffixes="af"),
        _row(110, "Blackwell", (13, 0), 13, 227, tegra=True, suffixes="af"),
        _row(120, "Blackwell", (12, 8), 13, 99, suffixes="af"),
        _row(121, "Blackwell", (12, 9), 13, 99, suffixes="af"),
    )
}


@dataclass(frozen=True, slots=True)
class Platform:
    """A Jetson with a JetPack: an architecture and the CUDA version that its driver speaks (NVIDIA's JetPack pages)."""

    name: str
    arch: str
    cuda: Version
    title: str


PLATFORMS: dict[str, Platform] = {
    p.name: p
    for p in (
        Platform("jetson-xavier-jp5", "sm_72", (11, 4), "Jetson Xavier, JetPack 5"),
        Platform("jetson-orin-jp5", "sm_87", (11, 4), "Jetson Orin, JetPack 5"),
        Platform("jetson-orin-jp6", "sm_87", (12, 2), "Jetson Orin, JetPack 6"),
        Platform("jetson-orin-jp7", "sm_87", (13, 2), "Jetson Orin, JetPack 7.2"),
        Platform("jetson-thor-jp7", "sm_110", (13, 0), "Jetson Thor, JetPack 7"),
    )
}

_JETPACK_4 = (
    "it runs JetPack 4, whose driver speaks CUDA 10.2: no NVRTC that old is on the package index, "
    "and no driver promises to load the cubins of a newer toolkit"
)
UNSUPPORTED: dict[str, str] = {
    "jetson-nano": f"Jetson Nano (sm_53) is not supported, because {_JETPACK_4}",
    "jetson-tx1": f"Jetson TX1 (sm_53) is not supported, because {_JETPACK_4}",
    "jetson-tx2": f"Jetson TX2 (sm_62) is not supported, because {_JETPACK_4}",
}

# A Tegra architecture without a version is built for the oldest supported system that has it: older cubins load on
# newer drivers, and NVIDIA promises nothing the other way round. sm_101 was Thor's name in CUDA 12.8 and 12.9.
_TEGRA_CUDA: dict[int, Version] = {72: (11, 4), 87: (11, 4), 101: (12, 9), 110: (13, 0)}

DRIVER_RELEASES: dict[Version, str] = {
    (11, 0): "450", (11, 1): "455", (11, 2): "460", (11, 3): "465", (11, 4): "470", (11, 5): "495", (11, 6): "510",
    (11, 7): "515", (11, 8): "520", (12, 0): "525", (12, 1): "530", (12, 2): "535", (12, 3): "545", (12, 4): "550",
    (12, 5): "555", (12, 6): "560", (12, 7): "565", (12, 8): "570", (12, 9): "575", (13, 0): "580",
}  # fmt: skip
"""First Linux driver branch of each CUDA version (CUDA release notes, "CUDA Driver")."""

GPUS: tuple[tuple[str, Version], ...] = (
    ("GTX 1080 Ti", (6, 1)), ("Tesla P100", (6, 0)), ("Tesla V100", (7, 0)), ("Tesla T4", (7, 5)),
    ("RTX 2080 Ti", (7, 5)), ("A100", (8, 0)), ("A10", (8, 6)), ("RTX 3090", (8, 6)), ("RTX A6000", (8, 6)),
    ("RTX 4090", (8, 9)), ("L4", (8, 9)), ("L40S", (8, 9)), ("H100", (9, 0)), ("H200", (9, 0)), ("GH200", (9, 0)),
    ("B200", (10, 0)), ("B300", (10, 3)), ("RTX 5090", (12, 0)), ("RTX PRO 6000 Blackwell", (12, 0)),
    ("DGX Spark", (12, 1)), ("Jetson Nano", (5, 3)), ("Jetson TX2", (6, 2)), ("Jetson AGX Xavier", (7, 2)),
    ("Jetson AGX Orin", (8, 7)), ("Jetson Orin Nano", (8, 7)), ("Jetson AGX Thor", (11, 0)),
)  # fmt: skip
"""Well-known GPUs and their compute capabilities (NVIDIA's "CUDA GPU Compute Capability" list)."""


@dataclass(frozen=True, slots=True)
class Target:
    """One row of `targets`. `cuda` is the version that the user or the platform fixed, None where kbuild chooses."""

    name: str
    arch: str
    kind: str
    cuda: Version | None = None
    platform: str | None = None
    also_ptx: bool = False

    @property
    def number(self) -> int:
        return int(_split(self.arch)[1])

    @property
    def suffix(self) -> str:
        return _split(self.arch)[2]

    @property
    def architecture(self) -> Architecture:
        return ARCHITECTURES[self.number]

    @property
    def is_tegra(self) -> bool:
        return self.architecture.is_tegra

    @property
    def wanted_cuda(self) -> Version:
        """The CUDA version to serve: the fixed one, else the first of the lowest major from 12 on that knows it."""
        if self.cuda is not None:
            return self.cuda
        since = self.architecture.since(self.suffix)
        return max(since, (12, 0))

    def parts(self) -> tuple[Target, ...]:
        """What is compiled for it: a cubin, PTX, or with `+ptx` both."""
        if not self.also_ptx:
            return (self,)
        virtual = self.arch.replace("sm_", "compute_")
        return (
            Target(self.name, self.arch, "cubin", self.cuda, self.platform),
            Target(self.name, virtual, "ptx", self.cuda, self.platform),
        )


def _split(arch: str) -> tuple[str, str, str]:
    """`sm_90a` as ("sm", "90", "a")."""
    match = _ARCH.fullmatch(arch)
    assert match is not None, arch
    return match[1], match[2], match[3]


_GRAMMAR = re.compile(r"([a-z0-9_-]+?)(?:@(\d{1,2})\.(\d{1,2}))?(\+ptx)?")
_ARCH = re.compile(r"(sm|compute)_(\d+)([a-z]?)")


def parse(text: str) -> Target:
    """The target that a text names. Raises UsageError with the nearest known name, or the reason."""
    match = _GRAMMAR.fullmatch(text)
    if match is None:
        raise _unknown(text)
    head, major, minor, ptx = match.groups()
    cuda = (int(major), int(minor)) if major else None
    if head in UNSUPPORTED or any(head.startswith(name + "-jp") for name in UNSUPPORTED):
        raise UsageError(f"target {text!r}: {UNSUPPORTED[re.sub('-jp[0-9]*$', '', head)]}", code="KB011")
    if head in PLATFORMS:
        return _platform_target(text, PLATFORMS[head], cuda, also_ptx=ptx is not None)
    return _arch_target(text, head, cuda, also_ptx=ptx is not None)


def _platform_target(text: str, platform: Platform, cuda: Version | None, *, also_ptx: bool) -> Target:
    if cuda is not None:
        raise UsageError(
            f"target {text!r}: {platform.name} already stands for CUDA {_dotted(platform.cuda)}",
            code="KB012",
            help=f"write {platform.name!r}, or {platform.arch}@{_dotted(cuda)} to choose the version yourself",
        )
    return Target(text, platform.arch, "cubin", platform.cuda, platform.name, also_ptx)


def _arch_target(text: str, head: str, cuda: Version | None, *, also_ptx: bool) -> Target:
    match = _ARCH.fullmatch(head)
    architecture = ARCHITECTURES.get(int(match[2])) if match else None
    if match is None or architecture is None:
        raise _unknown(text)
    kind = "cubin" if match[1] == "sm" else "ptx"
    if kind == "ptx" and also_ptx:
        raise UsageError(f"target {text!r}: {head} is PTX already", code="KB012", help=f"write {text[:-4]!r}")
    _check_suffix(text, architecture, match[3])
    if cuda is None and architecture.is_tegra:
        cuda = _tegra_cuda(text, architecture)
    elif cuda is not None:
        _check_version(text, head, architecture, match[3], cuda)
    return Target(text, head, kind, cuda, None, also_ptx)


def _check_suffix(text: str, architecture: Architecture, suffix: str) -> None:
    if suffix in ("", *architecture.suffixes):
        return
    known = " and ".join(architecture.name + s for s in architecture.suffixes)
    raise UsageError(
        f"target {text!r}: {architecture.name} has no variant {suffix!r}" + (f", only {known}" if known else ""),
        code="KB012",
        help=f"write {architecture.name!r}",
    )


def _tegra_cuda(text: str, architecture: Architecture) -> Version:
    if architecture.number not in _TEGRA_CUDA:
        raise UsageError(
            f"target {text!r}: {architecture.name} is not supported, because {_JETPACK_4}",
            code="KB011",
            help=f"if you know a driver that loads it, name its CUDA version: {architecture.name}@11.8",
        )
    return _TEGRA_CUDA[architecture.number]


def _check_version(text: str, head: str, architecture: Architecture, suffix: str, cuda: Version) -> None:
    first = max(architecture.since(suffix), OLDEST_CUDA)
    if cuda < first:
        raise UsageError(
            f"target {text!r}: CUDA {_dotted(cuda)} does not know {head}",
            code="KB013",
            help=f"the first version that does is {_dotted(first)}: write '{head}@{_dotted(first)}'",
        )
    if cuda[0] > architecture.last_major:
        raise UsageError(
            f"target {text!r}: CUDA {cuda[0]} does not compile for {architecture.name} any more",
            code="KB013",
            help=f"write '{head}@{architecture.last_major}.{9 if architecture.last_major == 12 else 0}'",
        )


def _unknown(text: str) -> UsageError:
    base = re.split(r"[@+]", text.lower(), maxsplit=1)[0]
    near = None if base in ALL and base != text.lower() else did_you_mean(base, ALL)
    shape = "a target is ARCH[@CUDA][+ptx] or a platform: sm_90, sm_90a@12.4, sm_87+ptx, compute_90, jetson-orin-jp6"
    listing = "`python -m kbuild targets` lists them"
    return UsageError(f"unknown target {text!r}", code="KB010", help=f"{near or shape} ({listing})")


def known_names() -> tuple[str, ...]:
    """Every architecture (with its suffixes), virtual architecture and platform, in the order of the tables."""
    plain = [a.name + s for a in ARCHITECTURES.values() for s in ("", *a.suffixes)]
    return (*plain, *(n.replace("sm_", "compute_") for n in plain), *PLATFORMS, *UNSUPPORTED)


ALL: tuple[str, ...] = known_names()


def limits(arch: str) -> Architecture:
    """The architecture behind `sm_90a`, `compute_87`, …; raises UsageError for one that kbuild does not know."""
    match = _ARCH.fullmatch(arch)
    architecture = ARCHITECTURES.get(int(match[2])) if match else None
    if architecture is None:
        raise _unknown(arch)
    return architecture


def oldest_driver(arch: str, kind: str, cuda: Version, parameter_bytes: int = 0) -> Version:
    """The oldest CUDA driver version that loads what a toolkit of version `cuda` makes for `arch`.

    A desktop driver loads cubins of its own major version and older. A Tegra driver is asked for the toolkit's own
    version, except that JetPack 5 (11.4) takes what 11.8 makes. PTX must not be newer than the driver. More than 4 KB
    of parameters need 12.1.
    """
    architecture = limits(arch)
    if kind == "cubin" and architecture.is_tegra:
        oldest = min(cuda, JETPACK_5) if cuda[0] == JETPACK_5[0] else cuda
    else:
        oldest = cuda if kind == "ptx" else (cuda[0], 0)
    if parameter_bytes > SMALL_PARAMETER_SPACE:
        oldest = max(oldest, LARGE_PARAMETERS_SINCE)
    return max(oldest, architecture.driver)


def driver_label(arch: str, driver: Version) -> str:
    """`driver 525 (CUDA 12.0)`, or for a Tegra, whose driver comes with its system, `JetPack with CUDA 11.4`."""
    if limits(arch).is_tegra:
        return f"JetPack with CUDA {_dotted(driver)}"
    release = DRIVER_RELEASES.get(driver)
    return f"driver {release} (CUDA {_dotted(driver)})" if release else f"a driver for CUDA {_dotted(driver)}"


def _dotted(version: Version) -> str:
    return f"{version[0]}.{version[1]}"
