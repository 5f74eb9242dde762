"""Records what real Warp does: launches of whole scenes on the CPU, and Warp's own machine code of their kernels.

    record.py GROUP --out build/replay      → GROUP.json, GROUP.blobs, GROUP.cubins

Runs where Warp 1.19, newton and mujoco_warp are installed; needs nothing of kbuild, and no GPU: Warp compiles for the
architecture that is asked for. Each kernel's module is compiled twice from one source, with Warp's default of fusing
products and sums and without.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from recorder import Recorder, squeeze

CACHE = Path(tempfile.gettempdir()) / "replay-cubins"  # what Warp compiled, by its source
DISTRIBUTIONS = ("warp-lang", "newton", "mujoco-warp", "mujoco", "numpy")


def main() -> None:
    """Records one group."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("group")
    parser.add_argument("--out", type=Path, default=Path("build/replay"))
    parser.add_argument("--arch", type=int, default=90)
    parser.add_argument("--no-code", action="store_true", help="do not compile Warp's kernels for a GPU")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    recorder = Recorder()
    import scenes

    started = time.time()
    scenes.GROUPS[arguments.group](recorder)
    print(
        f"{arguments.group}: {len(recorder.kernels)} kernels, {len(recorder.cases)} cases, "
        f"{time.time() - started:.0f} s"
    )
    for name, reason in recorder.left_out.items():
        print(f"  left out: {name}: {reason}")
    code: dict[str, bytes] = {}
    if not arguments.no_code:
        compile_kernels(recorder, arguments.arch, code, refused(arguments.out / f"{arguments.group}.names.json"))
        print(f"{arguments.group}: Warp's code after {time.time() - started:.0f} s")
    write(recorder, arguments.group, arguments.out, code)


def refused(path: Path) -> set[str]:
    """The kernels that kbuild refuses: nothing to compare."""
    return set(json.loads(path.read_text(encoding="utf-8"))["refused"]) if path.exists() else set()


def compile_kernels(recorder: Recorder, arch: int, code: dict[str, bytes], without: set[str]) -> None:
    """Warp's machine code for the kernels that were launched, both ways."""
    import warp as wp
    from warp._src import build, context

    wp.config.default_grid_stride = True  # so that one thread can do a whole launch
    build_cuda = build.build_cuda
    unfused: dict[str, bytes] = {}

    def building(source: str, arch: int, output: str, **options: Any) -> None:
        text = Path(source).read_bytes()
        for fuse in (False, True):
            name = hashlib.sha256(text + f"{arch} {fuse} {wp.config.version}".encode()).hexdigest()
            kept = CACHE / f"{name}.cubin"
            if kept.exists():
                Path(output).write_bytes(kept.read_bytes())
            else:
                build_cuda(source, arch, output, **{**options, "fuse_fp": fuse})
                CACHE.mkdir(parents=True, exist_ok=True)
                kept.write_bytes(Path(output).read_bytes())
            if not fuse:
                unfused[output] = Path(output).read_bytes()

    build.build_cuda = building
    used = {case["kernel"] for case in recorder.cases}
    wanted: dict[Any, list[Any]] = {}
    for row in recorder.kernels.values():
        if row["problem"] is None and row["id"] in used - without:
            wanted.setdefault(row["object"].module, []).append(row)
    folder = Path(tempfile.mkdtemp())
    for module, rows in wanted.items():
        kernels = [row["object"] for row in rows]
        module._get_live_kernels = lambda kernels=kernels: kernels
        module.mark_modified()
        started = time.time()
        try:
            unfused.clear()
            module._compile(None, folder / module.name, output_arch=arch, use_ptx=False)
            path = next((folder / module.name).glob("*.cubin"))
        except Exception as error:
            print(f"  Warp cannot compile {module.name}: {error}")
            continue
        block_dim = module.options["block_dim"]
        name = f"c{len(code) // 2}"
        code[f"{name}.fused"], code[f"{name}.unfused"] = path.read_bytes(), next(iter(unfused.values()))
        for row in rows:
            hash = module.hashers[block_dim].kernel_hashes[row["object"]]
            row["warp"] = {
                "code": name,
                "entry": row["object"].get_mangled_name(kernel_hash=hash) + "_cuda_kernel_forward",
            }
        print(f"  {module.name}: {len(rows)} kernels, {time.time() - started:.0f} s", flush=True)
    shutil.rmtree(folder)
    context.build = build


def write(recorder: Recorder, group: str, out: Path, code: dict[str, bytes]) -> None:
    """The recording's files."""
    cases = []
    for case in recorder.cases:
        before = {name: recorder.blob(data) for name, data in case["before"].items()}
        after = {name: recorder.blob(data) for name, data in case.get("after", {}).items()}
        cases.append({**case, "before": before, "after": after})
    blobs, index = squeeze(recorder.blobs)
    (out / f"{group}.blobs").write_bytes(blobs)
    cubins, places = squeeze(code)
    (out / f"{group}.cubins").write_bytes(cubins)
    rows = [{key: value for key, value in row.items() if key != "object"} for row in recorder.kernels.values()]
    document = {
        "group": group,
        "versions": {name: importlib.metadata.version(name) for name in DISTRIBUTIONS},
        "structs": recorder.structs,
        "kernels": rows,
        "scenes": list(recorder.scenes.values()),
        "cases": cases,
        "left_out": recorder.left_out,
        "blobs": index,
        "cubins": places,
    }
    (out / f"{group}.json").write_text(json.dumps(document), encoding="utf-8")
    print(f"{group}: {len(blobs) / 1e6:.1f} MB of memory, {len(cubins) / 1e6:.1f} MB of Warp's code")


if __name__ == "__main__":
    main()
