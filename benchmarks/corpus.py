"""How much of real projects written for Warp kbuild compiles, kernel definition by kernel definition.

Runs in an environment that has the packages (mujoco-warp, newton, warp-lang, kbuild[build,cuda11]), with this
checkout on Python's path. The name `warp` stands for kbuild.warp: Warp's own code is never imported.

What is counted: every function decorated with `@wp.kernel` in the source text. One counts as complete when at least one
instance of it was made (by importing its module, or by the instance list in benchmarks/corpus) and all that were made
are lowered. Out of the count are those that reach tiles, meshes, bounding volume hierarchies, hash grids, volumes,
textures or native snippets, by kbuild's own refusal (KB114), or by their own text where no instance was made.
"""

from __future__ import annotations

import argparse
import ast
import importlib.metadata
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

from support.results import BENCHMARKS, ROOT, progress, record

LISTS = BENCHMARKS / "corpus"
GOAL = 99.0
TARGETS = ("sm_87", "sm_120")
# What the packages import and kernels do not need.
MOCKS = """
PIL cupy jax jaxlib matplotlib mpi4py nccl nvshmem numba nvtx onnx onnxruntime paddle pxr pyglet pytest scipy taichi
tkinter torch trimesh usd warp_nn yaml
"""
# package: (distribution, what is checked below site-packages)
PACKAGES = {
    "mujoco_warp": ("mujoco-warp", "mujoco_warp"),
    "newton": ("newton", "newton"),
    "warp_examples": ("warp-lang", "warp/examples"),
}
FAMILIES = {
    "tiles",
    "meshes",
    "bounding volume hierarchies",
    "hash grids",
    "volumes",
    "textures",
    "native snippets",
}
_ABSENT = re.compile(r"(\S+) \(([^)]*)\) is not in kbuild")
_BEGINNINGS = {
    "tile_": "tiles",
    "mesh_": "meshes",
    "bvh_": "bounding volume hierarchies",
    "hash_grid_": "hash grids",
    "volume_": "volumes",
    "texture_": "textures",
}


def main() -> None:
    """Checks every package, prints the table, records it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", choices=[*PACKAGES, []], help="default: all")
    parser.add_argument("--compile", action="store_true", help=f"compile for {', '.join(TARGETS)} too")
    parser.add_argument("--keep", type=Path, help="keep what `check --json` prints in this folder")
    parser.add_argument("--read", type=Path, help="count what an earlier run kept in this folder, and check nothing")
    parser.add_argument("--no-record", action="store_true", help="do not write benchmarks/results/corpus.json")
    arguments = parser.parse_args()
    rows = [measure(name, arguments) for name in arguments.packages or PACKAGES]
    for row in rows:
        show(row)
    if not arguments.no_record:
        record("corpus", {"goal": GOAL, "packages": rows})


def measure(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """One package."""
    distribution, place = PACKAGES[name]
    progress(f"{name} …")
    found = checked(name, place, arguments)
    instances: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for kernel in found["listed"]:
        instances[kernel["path"], kernel["line"]].append(kernel)
    reaching: Counter[str] = Counter()
    complete, refused = 0, []
    for definition in found["definitions"]:
        made = instances[definition["path"], definition["line"]]
        families = reached(definition, made)
        if families:
            reaching.update(families[:1])
        elif made and not any(one["refusals"] for one in made):
            complete += 1
        else:
            refused.append(refusal(definition, made))
    total = len(found["definitions"])
    remaining = total - reaching.total()
    return {
        "package": name,
        "version": importlib.metadata.version(distribution),
        "definitions": total,
        "reaching": dict(reaching.most_common()),
        "remaining": remaining,
        "complete": complete,
        "percent": round(100.0 * complete / remaining, 2) if remaining else 100.0,
        "instances": len(found["listed"]),
        "failed_modules": len(found["failed"]),
        "targets": found["targets"],
        "warnings": found["warnings"],
        "refused": sorted(refused, key=lambda row: (row["reasons"], row["name"])),
    }


def checked(name: str, place: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """What `check --as warp --json` says."""
    if arguments.read is not None:
        kept: dict[str, Any] = json.loads((arguments.read / f"{name}.json").read_text(encoding="utf-8"))
        return kept
    folder = site_packages() / place
    command = [sys.executable, "-m", "kbuild", "check", "--as", "warp", str(folder), "--json"]
    for mock in MOCKS.split():
        if importlib.util.find_spec(mock) is None:
            command += ["--mock", mock]
    instances = LISTS / f"{name}.py"
    if instances.exists():
        command += ["--instances", str(instances)]
    if arguments.compile:
        command += ["--compile", *TARGETS]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(BENCHMARKS)])}
    done = subprocess.run(command, capture_output=True, env=environment, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    if arguments.keep is not None:
        arguments.keep.mkdir(parents=True, exist_ok=True)
        (arguments.keep / f"{name}.json").write_text(done.stdout, encoding="utf-8")
        (arguments.keep / f"{name}.err").write_text(done.stderr, encoding="utf-8")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def site_packages() -> Path:
    """Where the packages are."""
    return Path(str(importlib.metadata.distribution("warp-lang").locate_file(""))).resolve()


def reached(definition: dict[str, Any], made: list[dict[str, Any]]) -> list[str]:
    """To which of the families a definition reaches."""
    found = [family for one in made for row in one["refusals"] for _, family in _ABSENT.findall(row["message"])]
    if not made or any(row["code"] == "KB201" for one in made for row in one["refusals"]):
        found += text_families(definition["path"], definition["line"])
    return [family for family in dict.fromkeys(found) if family in FAMILIES]


def text_families(path: str, line: int) -> list[str]:
    """What a definition's own text uses."""
    node = functions(path).get(line)
    names = [n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)] if node is not None else []
    found = (family for name in names for head, family in _BEGINNINGS.items() if name.startswith(head))
    return list(dict.fromkeys(found))


@cache
def functions(path: str) -> dict[int, ast.FunctionDef]:
    """A file's functions by the line of their `def`."""
    tree = ast.parse(Path(path).read_bytes())
    return {node.lineno: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def refusal(definition: dict[str, Any], made: list[dict[str, Any]]) -> dict[str, Any]:
    """A definition that is not complete, and why."""
    place = Path(definition["path"])
    path = str(place.relative_to(site_packages())) if place.is_relative_to(site_packages()) else place.name
    reasons = sorted({f"{row['message']} [{row['code']}]" for one in made for row in one["refusals"]})
    bad = sum(bool(one["refusals"]) for one in made)
    return {
        "name": definition["qualname"],
        "place": f"{path}:{definition['line']}",
        "instances": len(made),
        "refused": bad,
        "reasons": reasons or ["no instance was made"],
    }


def show(row: dict[str, Any]) -> None:
    """A package in words."""
    print(f"\n{row['package']} {row['version']}: {row['definitions']} kernel definitions, {row['instances']} instances")
    for family, count in row["reaching"].items():
        print(f"  {count:5} reach {family}")
    print(f"  {row['complete']:5} of the other {row['remaining']} are complete: {row['percent']} % (goal {GOAL} %)")
    if row["failed_modules"]:
        print(f"  {row['failed_modules']:5} modules cannot be imported")
    if row["targets"]:
        print(f"  {row['warnings']:5} warnings of NVRTC for {', '.join(row['targets'])}")
    counts = Counter(shortened(reason) for one in row["refused"] for reason in one["reasons"][:1])
    for reason, count in counts.most_common():
        print(f"  {count:5} {reason}")


def shortened(reason: str) -> str:
    """A reason without the names in it."""
    return re.sub(r"'[^']*'", "'…'", reason)[:150]


if __name__ == "__main__":
    main()
