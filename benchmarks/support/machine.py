"""What the benchmarks take from the machine: kbuild's and the kernels' packages, machine code, compiled C programs.

`KBUILD_SITE` is the folder with kbuild, robosim and benchkernels, unpacked from their wheels; without it they are
looked for in this Python. `KBUILD_KIT` is what `prepare.py` made, with C programs for a machine without a C compiler.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from support.results import ROOT

PLAIN = ROOT / "tests" / "gpu" / "plain.c"
LAUNCH = ROOT / "benchmarks" / "programs" / "launch.c"


def use_site() -> str:
    """Makes the packages importable, and returns their folder."""
    site = os.environ.get("KBUILD_SITE")
    if site:
        sys.path.insert(0, site)
        return site
    spec = find_spec("robosim")
    if spec is None or spec.origin is None:
        sys.exit("robosim is not installed here: set KBUILD_SITE to a folder with kbuild, robosim and benchkernels")
    return str(Path(spec.origin).parents[1])


def has_gpu() -> bool:
    """Whether there is a GPU; says so when there is none."""
    import kbuild as kb

    if kb.get_devices():
        return True
    print("no GPU here: nothing to measure")
    return False


def machine_code(package: str, kernel: str, folder: Path) -> tuple[Path, str]:
    """A kernel's cubin for the first GPU, as a file in `folder`, and the name of its entry."""
    from kbuild import loader
    from kbuild.loader import context, select

    bundle: Any = loader.open(package)
    index = bundle.kernels.index(kernel)
    rows = [row for row in bundle.manifest["cubins"] if index in row["kernels"]]
    best = rows[select.candidates(context.get_device(), rows).order[0]]
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
