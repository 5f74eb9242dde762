"""A toolchain: one NVRTC library with its builtins, and what it said about itself when it was asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kbuild import targets

# Options that only some versions know; discovery asks each library which of them it accepts. `--no-source-include`
# keeps the current directory out of the include path, `--no-cache` NVRTC from answering out of a cache of its own.
OPTIONAL_OPTIONS = ("--no-source-include", "--no-cache")

# ptxas reports spills, which no table of a cubin states. ABI 8 cubins record the option, so it is given always.
REPORT_OPTION = "--ptxas-options=-v"

PROGRAM_NAME = "kbuild.cu"
# Of a program that includes CUDA's headers: these name others that lie beside them, so that the option above cannot be
# given, and the folder of the program itself, which is searched first, must be none.
PROGRAM_BESIDE_HEADERS = "/kbuild/kbuild.cu"
_NO_SOURCE_INCLUDE = "--no-source-include"

# Of the code that kbuild writes: it decides itself which products and sums are fused.
LANGUAGE = ("-std=c++17", "-fmad=false")


@dataclass(frozen=True, slots=True)
class Toolchain:
    """`version` as NVRTC says it, `build` with the patch number, `digest` over the bytes of its files.

    `architectures` are the compute capabilities it compiles for (90, without suffixes), `options` those of
    `OPTIONAL_OPTIONS` that it accepts, `source` where it was found, in words.
    """

    version: tuple[int, int]
    build: str
    library: Path
    builtins: Path | None
    digest: str
    architectures: tuple[int, ...]
    options: tuple[str, ...] = ()
    source: str = ""

    def knows(self, arch: str) -> bool:
        """Whether it compiles for `sm_90a` or `compute_90a`, suffix included."""
        known = targets.limits(arch)
        suffix = arch[-1] if arch[-1] in "af" else ""
        return known.number in self.architectures and self.version >= known.since(suffix)

    def __str__(self) -> str:
        return f"NVRTC {self.build} ({self.source or self.library})"


def command_line(
    toolchain: Toolchain,
    arch: str,
    *,
    lineinfo: bool = False,
    options: tuple[str, ...] = (),
    language: tuple[str, ...] = LANGUAGE,
    beside_headers: bool = False,
) -> tuple[str, ...]:
    """The options of one compilation, always in this order; a unit's own ones come first, so that kbuild's win.

    `beside_headers`: CUDA's own headers are included, which include one another by where they lie.
    """
    accepted = tuple(o for o in OPTIONAL_OPTIONS if o in toolchain.options)
    if beside_headers:
        accepted = tuple(o for o in accepted if o != _NO_SOURCE_INCLUDE)
    report = (REPORT_OPTION,) if arch.startswith("sm_") else ()
    lines = ("-lineinfo",) if lineinfo else ()
    return (*options, f"-arch={arch}", *language, *accepted, *report, *lines)
