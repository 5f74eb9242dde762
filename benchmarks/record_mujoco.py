"""`python -m kbuild record` on a real program, MuJoCo Warp's `step` on its own models, and what compiles of the file.

Runs in an environment that has mujoco, mujoco-warp, NumPy and kbuild[build], with this checkout on Python's path. The
real Warp need not be there: `--as warp` lets kbuild.warp stand for it. A GPU neither: launches do nothing then, so what
is recorded is what the host's side of the program asks for.

    record --as warp -- python programs/mujoco_step.py …      which instances of kernels does it launch?
    check --as warp mujoco_warp --instances FILE --compile    does each of them compile?
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from support.results import BENCHMARKS, ROOT, progress, record

MODELS = ("humanoid/humanoid.xml", "pendula.xml", "collision.xml", "constraints.xml", "flex/multiflex.xml")
MODELS += ("aloha_pot/scene.xml", "hfield/hfield.xml", "tendon/pulley_wrap.xml", "collision_sdf/mesh.xml")
STEPS = 3
TARGET = "sm_90"
MOCKS = ("PIL", "jax", "pytest")  # what tools and tests of the package import, and kernels do not need


def main() -> None:
    """Records, checks, prints, and writes benchmarks/results/record.json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=MODELS, help="below mujoco_warp/test_data (default: nine)")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--keep", type=Path, help="keep the recorded file here")
    parser.add_argument("--no-check", action="store_true", help="do not compile what was recorded")
    parser.add_argument("--no-record", action="store_true", help="do not write benchmarks/results/record.json")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = (arguments.keep or Path(folder) / "instances.json").resolve()
        values = recorded(path, arguments)
        if not arguments.no_check:
            values["check"] = checked(path)
    show(values)
    if not arguments.no_record:
        record("record", values)


def recorded(path: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Runs the program under `record`."""
    progress("record …")
    program = [sys.executable, str(BENCHMARKS / "programs" / "mujoco_step.py"), str(arguments.steps), *arguments.models]
    start = time.perf_counter()
    done = kbuild("record", "--json", "--fresh", "--as", "warp", "-o", str(path), "--", *program)
    seconds = time.perf_counter() - start
    answer = json.loads(done.stdout)
    rows = json.loads(next(line for line in done.stderr.splitlines()[::-1] if line.startswith("[{")))
    entries = json.loads(path.read_text(encoding="utf-8"))["instances"]
    return {
        "package": "mujoco-warp",
        "version": importlib.metadata.version("mujoco-warp"),
        "steps": arguments.steps,
        "models": rows,
        "launches": sum(row.get("launches", 0) for row in rows),
        "instances": answer["instances"],
        "definitions": len({entry.get("factory", entry["kernel"]) for entry in entries}),
        "not_recorded": answer["lost"],
        "seconds": round(seconds, 1),
    }


def checked(path: Path) -> dict[str, Any]:
    """What `check` says about the recorded instances when it compiles them."""
    progress(f"check, for {TARGET} …")
    command = ["check", "--json", "--as", "warp", "mujoco_warp", "--instances", str(path), "--compile", TARGET]
    for mock in MOCKS:
        if importlib.util.find_spec(mock) is None:
            command += ["--mock", mock]
    start = time.perf_counter()
    answer = json.loads(kbuild(*command).stdout)
    seconds = time.perf_counter() - start
    entries = json.loads(path.read_text(encoding="utf-8"))["instances"]
    wanted = Counter(name_of(entry) for entry in entries)
    made: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    for kernel in answer["listed"]:
        name = kernel["name"].partition("[")[0]
        made[name] += not kernel["refusals"]
        if name in wanted and kernel["refusals"]:
            refused[kernel["refusals"][0]["message"]] += 1
    return {
        "target": TARGET,
        "compiled": sum(min(count, made[name]) for name, count in wanted.items()),
        "of": wanted.total(),
        "refused": dict(refused),
        "warnings": answer["warnings"],
        "kernels_of_the_package": answer["kernels"],
        "seconds": round(seconds, 1),
    }


def name_of(entry: dict[str, Any]) -> str:
    """The kernel of an entry, as `check` lists it without the suffix of its instance."""
    if "factory" in entry:
        return f"{entry['factory'].partition(':')[0]}:{entry['kernel']}"
    name: str = entry["kernel"]
    return name


def kbuild(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs a command of kbuild's; its own faults, and none of the program's, end this."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "kbuild", *words]
    done = subprocess.run(command, capture_output=True, env=environment, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    return done


def show(values: dict[str, Any]) -> None:
    """The results in words."""
    for row in values["models"]:
        if "failed" in row:
            print(f"{row['model']:28} failed: {row['failed']}")
        else:
            counts = f"{row['launches']:5} launches, {row['tiled_launches']:3} of tiles"
            print(f"{row['model']:28} {counts}: {row['seconds']} s")
    print(f"{values['instances']} instances of {values['definitions']} definitions in {values['seconds']} s")
    for reason in values["not_recorded"]:
        print(f"  not recorded: {reason}")
    if "check" in values:
        check = values["check"]
        print(f"{check['compiled']} of {check['of']} compile for {check['target']}: {check['seconds']} s")
        for reason, count in check["refused"].items():
            print(f"  {count:5} {reason}")


if __name__ == "__main__":
    main()
