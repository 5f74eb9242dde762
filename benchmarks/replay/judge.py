"""What run.py found on a GPU, kernel by kernel and run by run → benchmarks/results/replay.json.

    judge.py FOLDER --data build/replay     FOLDER holds what replay-results.tgz held

A kernel is `equal` when every number that any of its launches left behind has the same bits as Warp's, with fusing or
without on both sides (without it Warp's matrix products are still fused, and nothing of kbuild's is); `order` when Warp
differs from itself from launch to launch (atomics) and kbuild is no further away than ten times that, or has the same
numbers in other places; `close` when no number differs by more than 1e-5 of the largest in its array and integers are
the same; else `different`. One that no launch changed anything with is `idle`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from recording import Recording
from support.results import ROOT, folder

TOLERANCE = 1e-5
ORDER = ("equal", "close", "order", "different", "failed")
EXAMPLES = "core"  # the folder of Warp's examples


def main() -> None:
    """Judges, prints, records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, default=ROOT / "build" / "replay")
    parser.add_argument("--no-record", action="store_true")
    arguments = parser.parse_args()
    kernels: dict[str, dict[str, Any]] = {}
    runs: list[dict[str, Any]] = []
    versions: dict[str, str] = {}
    for path in sorted(arguments.folder.glob("*.result.json")):
        recording = Recording(arguments.data, path.name.partition(".")[0])
        versions.update(recording.document["versions"])
        for item, row in json.loads(path.read_text(encoding="utf-8"))["items"].items():
            if item.startswith("run "):
                runs.append(judged_run(item, row))
            else:
                note(kernels, recording, recording.cases[int(item.split()[1])], row)
    for kernel in kernels.values():
        if kernel["verdict"] == "equal" and not kernel["changed"]:
            kernel["verdict"] = "idle"
        print_kernel(kernel)
    counts = Counter(kernel["verdict"] for kernel in kernels.values())
    print(f"{len(kernels)} kernels: {dict(counts)}")
    for run in runs:
        print_run(run)
    if not arguments.no_record:
        values = {
            "versions": versions,
            "tolerance": TOLERANCE,
            "counts": dict(counts),
            "kernels": sorted(kernels.values(), key=lambda kernel: kernel["name"]),
            "runs": runs,
        }
        document = {
            "benchmark": "replay",
            "machine": json.loads((arguments.folder / "machine.json").read_text(encoding="utf-8")),
            "values": values,
        }
        place = folder() / "replay.json"
        place.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        print(f"written: {place}")


def note(kernels: dict[str, dict[str, Any]], recording: Recording, case: dict[str, Any], row: dict[str, Any]) -> None:
    """A launch's part of its kernel's verdict; a kernel that several groups launch is one."""
    kernel = recording.kernels[case["kernel"]]
    name = recording.names["fused"][case["kernel"]]
    found = kernels.setdefault(
        name,
        {
            "name": name,
            "package": kernel["module"].partition(".")[0].replace(EXAMPLES, "Warp's examples"),
            "verdict": "equal",
            "launches": 0,
            "numbers": 0,
            "changed": 0,
            "equal": 0,
            "error": 0.0,
            "fused_error": 0.0,
            "scenes": [],
            "remarks": [],
        },
    )
    found["launches"] += 1
    if case["scene"] not in found["scenes"]:
        found["scenes"].append(case["scene"])
    if "failed" in row:
        verdict = "failed"
        found["remarks"].append(row["failed"].strip().splitlines()[-1][:300])
    else:
        verdict = verdict_of(row)
        found["numbers"] += row["unfused"]["count"]
        found["changed"] += row["unfused"]["changed"]
        found["equal"] += row["unfused"]["equal"]
        found["error"] = max(found["error"], row["unfused"]["error"])
        found["fused_error"] = max(found["fused_error"], row["fused"]["error"])
        if verdict == "different":
            for way in ("unfused", "fused"):
                found["remarks"] += [f"{case['scene']}, {way}: {one}" for one in row[f"{way} arrays"]][:4]
    found["verdict"] = max(found["verdict"], verdict, key=ORDER.index)


def verdict_of(row: dict[str, Any]) -> str:
    """Of one launch."""
    ways = [(row[way], row[f"{way} warp again"], row[f"{way} arrays"]) for way in ("unfused", "fused")]
    if all(is_close(found) for found, _, _ in ways):
        return "equal" if any(found["equal"] == found["count"] for found, _, _ in ways) else "close"
    for found, again, arrays in ways:
        if is_close(found):
            continue
        differs = again["equal"] < again["count"]
        near = found["special"] == 0 and found["error"] <= max(10 * again["error"], TOLERANCE) and not found["integers"]
        if not differs or not (
            near or all(one.get("multiset") or one.get("error", 1.0) <= TOLERANCE for one in arrays)
        ):
            return "different"
    return "order"


def is_close(found: dict[str, Any]) -> bool:
    """No integer differs, and no float by more than the tolerance."""
    return not found["integers"] and not found["special"] and bool(found["error"] <= TOLERANCE)


def judged_run(item: str, row: dict[str, Any]) -> dict[str, Any]:
    """A run's differences at its checkpoints: kbuild beside Warp, and each beside itself."""
    if "failed" in row:
        return {"scene": item.removeprefix("run "), "failed": row["failed"][-500:]}
    steps = {}
    for count, at in row["steps"].items():
        steps[count] = {
            "kbuild": summed(at["fused"]),
            "warp_again": summed(at["fused warp again"]),
            "kbuild_again": summed(at["fused kbuild again"]),
            "kbuild_unfused": summed(at["unfused"]),
            "warp_again_unfused": summed(at["unfused warp again"]),
            "warp_unfused": summed([at["warp: fused and not"]]),
        }
        if "cpu: warp unfused" in at:
            steps[count]["cpu_warp_unfused"] = summed([at["cpu: warp unfused"]])
            steps[count]["cpu_kbuild_unfused"] = summed([at["cpu: kbuild unfused"]])
    keys = ("scene", "launches", "kernels", "seconds")
    return {**{key: row[key] for key in keys}, "steps": steps}


def summed(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The worst of several comparisons."""
    return {
        "share": min(row["equal"] / row["count"] for row in rows),
        "error": max(row["error"] for row in rows),
        "integers": max(row["integers"] for row in rows),
        "special": max(row["special"] for row in rows),
    }


def print_kernel(kernel: dict[str, Any]) -> None:
    """A line, and what was remarkable."""
    if kernel["verdict"] != "equal":
        share = kernel["equal"] / max(kernel["numbers"], 1)
        errors = f"{kernel['error']:.1e} unfused, {kernel['fused_error']:.1e} fused"
        print(f"{kernel['verdict']:10} {kernel['name']}: {share:.4f} equal, {errors}")
    for remark in kernel["remarks"][:6]:
        print(f"           {remark}")


def print_run(run: dict[str, Any]) -> None:
    """A run at its checkpoints."""
    if "failed" in run:
        print(f"run {run['scene']}: failed: {run['failed']}")
        return
    print(f"run {run['scene']}: {run['kernels']} kernels, {run['launches']} launches, {run['seconds']}")
    for count, at in run["steps"].items():
        print(f"  after {count} steps")
        for name, found in at.items():
            print(f"    {name:20} {found['share']:.4f} equal, error {found['error']:.1e}, integers {found['integers']}")


if __name__ == "__main__":
    main()
