"""A project in CUDA C++ (benchmarks/cuda_project) built by kbuild and by nvcc: time, size, and the same results.

    cuda_files.py build --nvcc FOLDER/bin/nvcc [--kit build/gpu-kit/cuda]     where there is a network for pip, no GPU
    cuda_files.py run build/gpu-kit/cuda                                      where there is a GPU, no compiler

The results are `cuda_files.json` and, of the second step, `cuda_gpu.json`.

Both compile with CUDA 13.0 for the same architectures, in turns, one process at a time: kbuild four units for each,
nvcc four files, once with all architectures (`-fatbin`) and once for each (`-cubin`). What counts is the CPU time of
all processes; kbuild's is that of the whole `python -m kbuild build` with an empty cache. The kit holds kbuild's
bundle, and the same bundle with nvcc's machine code in the place of NVRTC's: one loader runs both on the same inputs.

nvcc comes from the package index: `pip install --target FOLDER nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88
nvidia-nvvm==13.0.88 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85`, and is FOLDER/nvidia/cu13/bin/nvcc.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.results import BENCHMARKS, ROOT, progress, record

sys.path.insert(0, os.environ.get("KBUILD_SITE", str(ROOT)))

PROJECT = BENCHMARKS / "cuda_project"
ARCHITECTURES = ("80", "89", "90", "110", "120")
TARGETS = tuple(f"sm_{number}@13.0" for number in ARCHITECTURES)
FLAGS = ("-std=c++17", "-DDEPTHCAM_BINS=64")
WIDTH, HEIGHT = 320, 240


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    building = steps.add_parser("build")
    building.add_argument("--nvcc", type=Path, required=True)
    building.add_argument("--runs", type=int, default=5)
    building.add_argument("--kit", type=Path)
    running = steps.add_parser("run")
    running.add_argument("kit", type=Path)
    arguments = parser.parse_args()
    if arguments.step == "build":
        build(arguments.nvcc.resolve(), arguments.runs, arguments.kit)
    else:
        run(arguments.kit)


# Building


def build(nvcc: Path, runs: int, kit: Path | None) -> None:
    """Measures both, and makes the kit."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        project = copied(work)
        files = forced(project, work)
        samples: dict[str, list[float]] = {"kbuild": [], "fatbin": [], "cubins": []}
        for number in range(runs):
            progress(f"run {number + 1} of {runs} …")
            samples["kbuild"].append(timed(lambda: by_kbuild(project, work)))
            samples["fatbin"].append(timed(lambda: by_nvcc_at_once(nvcc, files, work)))
            samples["cubins"].append(timed(lambda: by_nvcc(nvcc, files, work)))
        values = {
            "files": len(files),
            "lines": lines_of(project),
            "targets": list(TARGETS),
            "toolchains": {"kbuild": toolchains_of(bundle_of(project)), "nvcc": version_of(nvcc)},
            "seconds": {name: statistics.median(found) for name, found in samples.items()},
            "runs": runs,
            "size": sizes(project, work),
            "cubins": {arch: cubin_sizes(project, work, arch) for arch in ARCHITECTURES},
        }
        values["kernels"] = len(manifest_of(bundle_of(project))["kernels"])
        record("cuda_files", values)
        if kit is not None:
            make_kit(project, work, kit)


def copied(work: Path) -> Path:
    """The project, for these targets."""
    project = work / "project"
    ignored = shutil.ignore_patterns("*.kbundle", "__pycache__", "build", "*.egg-info")
    shutil.copytree(PROJECT, project, ignore=ignored)
    settings = project / "pyproject.toml"
    text = re.sub(r"^targets = .*$", f"targets = {json.dumps(TARGETS)}", settings.read_text(), flags=re.MULTILINE)
    settings.write_text(text)
    return project


def forced(project: Path, work: Path) -> list[Path]:
    """Files for nvcc that ask for the instances of templates that the project declares."""
    from kbuild import config, pipeline

    for name, text in pipeline.emit(config.require(project), "cuda"):
        (work / name.replace("/", "_")).write_text(str(text), encoding="utf-8")
    declared = (project / "src/depthcam/kernels.py").read_text(encoding="utf-8")
    names: dict[str, list[str]] = {}
    for file, name in re.findall(r'@kb\.cuda_kernel\("(.*?)", "(.*?)"', declared):
        names.setdefault(file, []).append(name)
    made = []
    for file, kernels in names.items():
        asked = ", ".join(f"(void *)&{name}" for name in kernels)
        path = work / f"forced_{Path(file).name}"
        path.write_text(f'#include "{project / "src/depthcam" / file}"\nvoid *forced[] = {{{asked}}};\n')
        made.append(path)
    return made


def timed(what: Callable[[], None]) -> float:
    """CPU seconds of all processes that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    what()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def by_kbuild(project: Path, work: Path) -> None:
    cache = work / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    environment = {**os.environ, "KBUILD_CACHE": str(cache), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "kbuild", "build", str(project), "-j", "1"]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def by_nvcc_at_once(nvcc: Path, files: list[Path], work: Path) -> None:
    asked = [f"-gencode=arch=compute_{arch},code=sm_{arch}" for arch in ARCHITECTURES]
    for file in files:
        called(nvcc, file, work / f"{file.stem}.fatbin", "-fatbin", *asked)


def by_nvcc(nvcc: Path, files: list[Path], work: Path) -> None:
    for file in files:
        for arch in ARCHITECTURES:
            called(nvcc, file, work / f"{file.stem}.{arch}.cubin", "-cubin", f"-arch=sm_{arch}")


def called(nvcc: Path, file: Path, output: Path, *options: str) -> None:
    include = file.parent / "project/include"
    subprocess.run([nvcc, *options, *FLAGS, f"-I{include}", "-o", output, file], check=True)


def version_of(nvcc: Path) -> str:
    said = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"V(\d+\.\d+\.\d+)", said)
    return found[1] if found else "?"


def bundle_of(project: Path) -> Path:
    return project / "src/depthcam/_kbuild.kbundle"


def manifest_of(bundle: Path) -> dict[str, Any]:
    from kbuild.loader import format

    return format.parse(bundle.read_bytes()).manifest


def toolchains_of(bundle: Path) -> list[str]:
    return sorted({row["toolchain"] for row in manifest_of(bundle)["cubins"]})


def lines_of(project: Path) -> int:
    files = [path for path in project.rglob("*") if path.suffix in (".cu", ".cuh")]
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def sizes(project: Path, work: Path) -> dict[str, int]:
    """Bytes of what a project ships."""
    return {
        "bundle": bundle_of(project).stat().st_size,
        "fatbins": sum(path.stat().st_size for path in work.glob("forced_*.fatbin")),
    }


def cubin_sizes(project: Path, work: Path, arch: str) -> dict[str, int]:
    manifest = manifest_of(bundle_of(project))
    own = [row for row in manifest["cubins"] if row["arch"] == f"sm_{arch}"]
    return {
        "kbuild": sum(manifest["blobs"][row["blob"]]["size"] for row in own),
        "nvcc": sum(path.stat().st_size for path in work.glob(f"forced_*.{arch}.cubin")),
    }


def make_kit(project: Path, work: Path, kit: Path) -> None:
    """kbuild's bundle, and one with nvcc's machine code under the same manifest."""
    from kbuild.loader import format

    kit.mkdir(parents=True, exist_ok=True)
    data = bundle_of(project).read_bytes()
    (kit / "kbuild.kbundle").write_bytes(data)
    parsed = format.parse(data)
    manifest = {name: value for name, value in parsed.manifest.items() if name != "blobs"}
    blobs: list[bytes] = []
    for row in manifest["cubins"]:
        file = Path(row["unit"].partition("#")[2]).stem
        blobs.append((work / f"forced_{file}.{row['arch'].partition('_')[2]}.cubin").read_bytes())
        row["blob"] = len(blobs) - 1
    (kit / "nvcc.kbundle").write_bytes(format.dump(manifest, blobs))
    print(f"written: {kit}")


# Running


def run(kit: Path) -> None:
    """Every kernel of both bundles on the same inputs. Ends with 1 where results differ."""
    from kbuild import loader

    results = {name: outputs(loader.open(str(kit / f"{name}.kbundle"))) for name in ("kbuild", "nvcc")}
    rows = {name: compared(results["kbuild"][name], results["nvcc"][name]) for name in results["kbuild"]}
    for name, row in rows.items():
        print(f"{name:<16} {row['numbers']:>8} numbers, {row['same']:>8} with the same bits, worst {row['worst']:.3g}")
    record("cuda_gpu", {"kernels": rows})
    # Both compilers fuse and order operations as they like: what remains is rounding.
    if any(row["worst"] > 1e-4 for row in rows.values()):
        sys.exit("results differ by more than rounding")


def outputs(bundle: Any) -> dict[str, list[float]]:
    """What each kernel makes, flat."""
    import kbuild as kb

    kernel = {name.partition(":")[2]: bundle[name] for name in bundle}
    source = random.Random(5)
    count, size = WIDTH * HEIGHT, (WIDTH, HEIGHT)
    depth = [
        0.0 if source.random() < 0.05 else 1.0 + 0.001 * (i % WIDTH) + 0.2 * (i // WIDTH > 100) + 0.01 * source.random()
        for i in range(count)
    ]
    camera, motion = (300.0, 300.0, WIDTH / 2, HEIGHT / 2), (((1, 0, 0), (0, 1, 0), (0, 0, 1)), (0.01, 0.0, 0.005))
    whole = {"grid": (-(-WIDTH // 16), -(-HEIGHT // 16)), "block": (16, 16)}
    half = {"grid": (-(-WIDTH // 32), -(-HEIGHT // 32)), "block": (16, 16)}
    raw = kb.array(depth, dtype=float)
    made: dict[str, Any] = {}

    def image(divisor: int = 1) -> Any:
        return kb.zeros(count // divisor, dtype=float)

    def launched(name: str, out: Any, *inputs: Any, **where: Any) -> Any:
        kb.launch(kernel[name], inputs=inputs, outputs=[out], **where)
        made[name] = out
        return out

    smooth = launched("bilateral", image(), size, 0.1, 500.0, raw, **whole)
    rows = launched("smooth_rows", image(), size, raw, **whole)
    launched("smooth_columns", image(), size, rows, **whole)
    launched("halve", image(4), (WIDTH // 2, HEIGHT // 2), size, 0.05, smooth, **half)
    points = launched("points", kb.zeros(count, dtype=kb.vec3), size, camera, smooth, **whole)
    normals = launched("normals", kb.zeros(count, dtype=kb.vec3), size, points, **whole)
    launched("move", kb.zeros(count, dtype=kb.vec3), count, motion, points, dim=count)
    launched("total", kb.zeros(32, dtype=float), count, 0.0, smooth, grid=32)
    launched("largest", kb.zeros(32, dtype=float), count, 0.0, smooth, grid=32)
    launched("histogram", kb.zeros(64, dtype=int), count, 2.0, raw, grid=32)
    blocks = -(-count // 256)
    asked = size, camera, motion, 0.1, points, points, normals
    launched("equations", kb.zeros(29 * blocks, dtype=float), *asked, grid=blocks)
    return {name: flat(array.tolist()) for name, array in made.items()}


def flat(values: Any) -> list[float]:
    return [n for one in values for n in (one if hasattr(one, "__len__") else (one,))]


def compared(own: list[float], other: list[float]) -> dict[str, Any]:
    """How many are the same, and the largest difference relative to the largest number."""
    scale = max(map(abs, own)) or 1.0
    worst = max(abs(a - b) for a, b in zip(own, other, strict=True)) / scale
    return {"numbers": len(own), "same": sum(a == b for a, b in zip(own, other, strict=True)), "worst": worst}


if __name__ == "__main__":
    started = time.monotonic()
    main()
    progress(f"{time.monotonic() - started:.0f} s")
