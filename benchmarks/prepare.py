"""Builds what the GPU tests and benchmarks need into `build/gpu-kit`, for a machine with a GPU and no network.

    wheels/   kbuild, robosim, gpukernels, gpuclusters, benchkernels: built by pip as a user's wheels are, with build
              isolation
    c/        the C programs, for a machine without a C compiler
    cubins/   hand-written kernels for sm_90

Wants Python 3.10 with `venv` and what kbuild[build] installs, a network for pip, and a C compiler; no GPU. Then copy
the checkout with that folder to the machine, and run benchmarks/on_gpu.sh there.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from support.machine import LAUNCH, MEMORY, PLAIN, STEP
from support.results import BENCHMARKS, ROOT, progress

sys.path.insert(0, str(ROOT))

from kbuild import targets
from kbuild.nvrtc import choose, discover
from kbuild.nvrtc.adapters import compile_program, open_nvrtc
from kbuild.nvrtc.toolchain import PROGRAM_NAME, command_line
from tools import wheels

KIT = ROOT / "build" / "gpu-kit"
WORK = ROOT / "build" / "gpu-work"  # stays here
PROJECTS = (wheels.SAMPLE, *wheels.GPU_PROJECTS, BENCHMARKS / "project")
HANDWRITTEN = (
    *(
        BENCHMARKS / "handwritten" / f"{unit}.cu"
        for unit in (
            "benchkernels.image",
            "benchkernels.launching",
            "benchkernels.linear",
            "benchkernels.physics",
            "fast",
            "robosim.kernels",
            "robosim.vision",
        )
    ),
    BENCHMARKS / "programs" / "flat.cu",
)
LIMIT = 30 << 20


def main() -> None:
    """Makes the kit anew."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    shutil.rmtree(KIT, ignore_errors=True)
    (KIT / "wheels").mkdir(parents=True)
    progress("kbuild's wheel")
    builder = wheels.make_environment(WORK / "builder")
    kbuild = wheels.build_kbuild(builder, WORK / "kbuild")
    shutil.copy(kbuild, KIT / "wheels")
    for project in PROJECTS:
        progress(f"the wheel of {project.relative_to(ROOT)}")
        source = _clean_copy(project)
        wheels.pip_wheel(builder, source, KIT / "wheels", wheels.with_kbuild(kbuild, os.environ), "--quiet")
    compile_programs(KIT / "c")
    compile_kernels(KIT / "cubins")
    (KIT / "commit").write_text(_commit() + "\n", encoding="utf-8")
    size = sum(path.stat().st_size for path in KIT.rglob("*") if path.is_file())
    if size > LIMIT:
        sys.exit(f"{KIT} has {size >> 20} MiB, more than {LIMIT >> 20}")
    print(f"{KIT}: {size / 1e6:.1f} MB")


def _clean_copy(project: Path) -> Path:
    """Without what earlier builds left: setuptools takes the content of `build` for part of the next wheel."""
    copy = WORK / "projects" / project.name / project.parent.name
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(project, copy, ignore=shutil.ignore_patterns("build", "*.egg-info", "*.kbundle", "__pycache__"))
    return copy


def compile_programs(folder: Path) -> None:
    """For a GPU machine without a C compiler."""
    folder.mkdir()
    subprocess.run(["cc", "-O2", "-o", folder / "plain", PLAIN, "-ldl"], check=True)
    for source in (LAUNCH, STEP, MEMORY):
        library = folder / f"{source.stem}.so"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)


def compile_kernels(folder: Path, arch: str = "sm_90") -> None:
    """The hand-written kernels, by the compiler and with the options that kbuild's own get."""
    folder.mkdir(parents=True, exist_ok=True)
    toolchain = choose(targets.parse(arch), discover())
    nvrtc = open_nvrtc(Path(toolchain.library), toolchain.builtins)
    options = [option.encode() for option in command_line(toolchain, arch)]
    for source in HANDWRITTEN:
        answer = compile_program(nvrtc, source.read_bytes(), PROGRAM_NAME.encode(), options, "cubin")
        if not answer.data:
            sys.exit(f"{source}: {answer.status_text}\n{answer.log}")
        (folder / f"{source.stem}.cubin").write_bytes(answer.data)


def _commit() -> str:
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
