"""What the benchmarks take from the machine: kbuild's and the kernels' packages, machine code, compiled C programs.

`KBUILD_SITE` is the folder with kbuild, robosim and benchkernels, unpacked from their wheels. `KBUILD_KIT` is what
`prepare.py` made, with C programs for a machine without a C compiler.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from support.results import ROOT

PLAIN = ROOT / "tests" / "gpu" / "plain.c"
LAUNCH = ROOT / "benchmarks" / "programs" / "launch.c"
STEP = ROOT / "benchmarks" / "programs" / "step.c"
MEMORY = ROOT / "benchmarks" / "programs" / "memory.c"


def packages() -> str | None:
    """Makes the packages importable, and returns their folder; None, and says so, where there is no GPU."""
    site = os.environ.get("KBUILD_SITE")
    sys.path.insert(0, site or str(ROOT))
    import kbuild as kb

    if not kb.get_devices():
        print(f"{Path(sys.argv[0]).name} needs a GPU with NVIDIA's driver, and there is none here: nothing is measured")
        return None
    if site is None:
        sys.exit("set KBUILD_SITE to a folder with kbuild, robosim and benchkernels, as benchmarks/on_gpu.sh does")
    return site


def machine_code(package: str, kernel: str, folder: Path) -> tuple[Path, str]:
    """A kernel's cubin for the first GPU, as a file in `folder`, and the name of its entry."""
    from kbuild import loader
    from kbuild.loader import context, select

    bundle: Any = loader.open(package)
    index = bundle.kernels.index(kernel)
    rows = [row for row in bundle.manifest["cubins"] if index in row["kernels"]]
    best = rows[select.order(context.get_device(), rows)[0]]
    path = folder / f"{package}.cubin"
    path.write_bytes(bundle.parsed.blob(best["blob"]))
    return path, bundle.manifest["kernels"][index]["entry"]


def compiled(source: Path, folder: Path, *options: str) -> Path:
    """A C program or library compiled here, else the one that was compiled where the kit was made."""
    target = folder / (source.stem + (".so" if "-shared" in options else ""))
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is not None:
        subprocess.run([compiler, "-O2", *options, "-o", target, source, "-ldl"], check=True)
        return target
    kit = os.environ.get("KBUILD_KIT")
    if kit is None:
        sys.exit(f"{source.name} needs a C compiler (cc or gcc), or KBUILD_KIT with it compiled")
    return Path(kit) / "c" / target.name


def handwritten(unit: str) -> Path:
    """The cubin of hand-written kernels, which `prepare.py` has compiled for sm_90."""
    kit = os.environ.get("KBUILD_KIT")
    if kit is None:
        sys.exit("set KBUILD_KIT to the folder that benchmarks/prepare.py has made, as benchmarks/on_gpu.sh does")
    return Path(kit) / "cubins" / f"{unit}.cubin"
