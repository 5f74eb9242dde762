"""The audit's cases on a GPU: NVIDIA's compute-sanitizer and ncu beside what the audit says.

    audit_gpu.py build [--kit build/gpu-kit/audit]      where there is NVRTC, no GPU
    audit_gpu.py run build/gpu-kit/audit                where there is a GPU, ncu and compute-sanitizer

compute-sanitizer looks at each case in a process of its own: memcheck at accesses beyond arrays, racecheck at races on
shared memory, synccheck at barriers. ncu counts what the cases about bank conflicts and coalescing cost: passes over
the banks for each request to shared memory, and sectors for each request to arrays; the audit's numbers are those of
its figures for the same launch. The result is `audit_gpu.json`.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
if "KBUILD_SITE" in os.environ:
    sys.path.insert(0, os.environ["KBUILD_SITE"])

import numpy as np
from support.results import ROOT, progress, record

TOOLS = {"bounds": "memcheck", "shared-races": "racecheck", "barriers": "synccheck"}
COSTS = ("banks", "coalescing")
SECONDS = 60  # of a case; threads that wait for one another in vain never end
AT_ONCE = 8
_SHARED = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
_SHARED_REQUESTS = "smsp__inst_executed_op_shared_{}.sum"
_GLOBAL = "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum"
_GLOBAL_REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum"
METRICS = [one.format(op) for one in (_SHARED, _SHARED_REQUESTS, _GLOBAL, _GLOBAL_REQUESTS) for op in ("ld", "st")]
NEAR = 0.02  # of each other: what a launch's last block has less


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    building = steps.add_parser("build")
    building.add_argument("--kit", type=Path, default=ROOT / "build" / "gpu-kit" / "audit")
    running = steps.add_parser("run")
    running.add_argument("kit", type=Path)
    launching = steps.add_parser("launch")
    launching.add_argument("kit", type=Path)
    launching.add_argument("names", nargs="+")
    arguments = parser.parse_args()
    if arguments.step == "build":
        build(arguments.kit)
    elif arguments.step == "run":
        run(arguments.kit)
    else:
        launch(arguments.kit, arguments.names)


def build(kit: Path) -> None:
    """A bundle with all cases."""
    kit.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tests").mkdir()
        subprocess.run(["cp", "-r", *map(str, (ROOT / "tests").glob("*.py")), folder / "tests"], check=True)
        for one in ("audit", "helpers"):
            subprocess.run(["cp", "-r", ROOT / "tests" / one, folder / "tests" / one], check=True)
        text = '[project]\nname = "auditcases"\nversion = "0"\n[tool.kbuild]\nmodules = ["tests.audit.cases.*"]\n'
        (folder / "pyproject.toml").write_text(text + 'targets = ["sm_90"]\nsource = ["."]\nbackward = false\n')
        subprocess.run([sys.executable, "-m", "kbuild", "build", folder], check=True, cwd=folder)
        (bundle,) = folder.rglob("*.kbundle")
        (kit / "cases.kbundle").write_bytes(bundle.read_bytes())


def launch(kit: Path, names: list[str]) -> None:
    """Launches cases, one after the other."""
    import kbuild as kb
    from kbuild import loader
    from kbuild.ir.types import Array, Scalar
    from kbuild.loader.values import class_of
    from tests.audit.cases import cases

    bundle = loader.open(str(kit / "cases.kbundle"))
    for name in names:
        case = cases()[name]
        inputs = []
        for given, type in zip(case.arguments(), case.types.values(), strict=True):
            if isinstance(type, Array):
                element = type.element
                dtype = getattr(kb, element.spelling) if isinstance(element, Scalar) else class_of(element)
                given = kb.array(np.ascontiguousarray(given), dtype=dtype)
            inputs.append(given)
        found = case.launch
        where: dict[str, Any] = {"dim": case.at.dim, "block_dim": found.block[0]}
        if case.at.grid is not None:
            where = {"grid": found.grid, "block": found.block}
        kb.launch(bundle[f"{case.kernel.function.__module__}:{name}"], inputs=inputs, **where)
        kb.synchronize()


def run(kit: Path) -> None:
    """Everything; prints, records."""
    from tests.audit.cases import cases

    chosen = cases()
    sanitized = [one for one in chosen.values() if one.about in TOOLS and one.kind in ("good", "bad")]
    progress(f"{len(sanitized)} cases under compute-sanitizer")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        said = list(pool.map(lambda one: errors(kit, one.name, TOOLS[one.about]), sanitized))
    judged: dict[str, dict[str, Any]] = {tool: {"cases": 0, "agrees": 0, "differs": []} for tool in TOOLS.values()}
    for case, (count, text) in zip(sanitized, said, strict=True):
        row = judged[TOOLS[case.about]]
        row["cases"] += 1
        if (count > 0) == (case.kind == "bad"):
            row["agrees"] += 1
        else:
            row["differs"].append(f"{case.name}: {text}")
    for tool, row in judged.items():
        print(f"{tool:10} {row['agrees']} of {row['cases']} cases as the labels have them")
        for line in row["differs"]:
            print(f"    {line}")
    counted = counters(kit, [one.name for one in chosen.values() if one.about in COSTS])
    rows = [row for name, found in counted.items() for row in compared(chosen[name], found)]
    equal = sum(row["equal"] for row in rows)
    print(f"ncu        {equal} of {len(rows)} figures of {len(counted)} kernels equal the audit's")
    for row in rows:
        if not row["equal"]:
            print(f"    {row['case']}: {row['what']}: audit {row['audit']:.3f}, ncu {row['ncu']:.3f}")
    record("audit_gpu", {"sanitizer": judged, "kernels": len(counted), "counters": rows})


def errors(kit: Path, name: str, tool: str) -> tuple[int, str]:
    """How many errors a tool counts, and its last words."""
    words = [
        "compute-sanitizer",
        "--tool",
        tool,
        "--error-exitcode",
        "9",
        sys.executable,
        __file__,
        "launch",
        kit,
        name,
    ]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return 1, "does not end"
    found = re.findall(r"(?:ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard)", done.stdout)
    count = sum(int(a or b) for a, b in found)
    lines = [line for line in done.stdout.splitlines() if "SUMMARY" not in line and line.startswith("=========")]
    return count, (lines[1] if len(lines) > 1 else done.stderr[-200:]).strip()


def counters(kit: Path, names: list[str]) -> dict[str, dict[str, float]]:
    """What ncu counts for one launch of each case."""
    words = ["ncu", "--csv", "--metrics", ",".join(METRICS), sys.executable, __file__, "launch", str(kit), *names]
    done = subprocess.run(words, capture_output=True, text=True, timeout=400, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    if not lines:
        print(done.stdout[-2000:], done.stderr[-2000:])
        return {}
    found: dict[str, dict[str, float]] = defaultdict(dict)
    order: dict[str, str] = {}
    left = list(names)
    for row in csv.DictReader(lines):
        if row["ID"] not in order:
            order[row["ID"]] = left.pop(0)
        found[order[row["ID"]]][row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
    return found


def compared(case: Any, found: dict[str, float]) -> list[dict[str, Any]]:
    """The audit's figures beside ncu's, for loads and stores, where the kernel has such."""
    rows = []
    predicted = figures(case)
    for space, counts, requests in (("shared", _SHARED, _SHARED_REQUESTS), ("global", _GLOBAL, _GLOBAL_REQUESTS)):
        for op in ("ld", "st"):
            total = found.get(requests.format(op), 0.0)
            if total and (space, op) in predicted:
                audit, ncu = predicted[space, op], found[counts.format(op)] / total
                equal = abs(audit - ncu) <= NEAR * ncu
                rows.append({"case": case.name, "what": f"{space} {op}", "audit": audit, "ncu": ncu, "equal": equal})
    return rows


def figures(case: Any) -> dict[tuple[str, str], float]:
    """Passes (shared) and sectors (global) for each request, by the audit: the mean over its accesses and warps."""
    from kbuild.audit import contracts
    from kbuild.audit.analysis import symbolic_run
    from kbuild.audit.answers import Judge
    from kbuild.audit.lanes import NoNumber
    from kbuild.audit.launches import Launch
    from kbuild.audit.patterns import traffic_of
    from kbuild.audit.places import Blocks

    launch = Launch(case.launch.dim, case.launch.grid if case.at.grid else None, case.shapes, case.scalars)
    place, records = symbolic_run(case.ir, Blocks(case.launch.block, True), launch)
    judge = Judge(place, records, contracts.of_records(records), None)
    sums: dict[tuple[str, str], list[int]] = defaultdict(list)
    unknown: set[tuple[str, str]] = set()
    for access in records.accesses:
        key = access.memory.space, {"read": "ld", "write": "st"}.get(access.kind, access.kind)
        try:
            for found in traffic_of(judge, access, block=0):
                sums[key] += (found.wavefronts if key[0] == "shared" else found.sectors).tolist()
        except NoNumber:
            unknown.add(key)
    return {key: sum(costs) / len(costs) for key, costs in sums.items() if costs and key not in unknown}


if __name__ == "__main__":
    main()
