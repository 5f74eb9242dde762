"""Warp's own tests as an independent judge of what kernels mean, run on `sim`.

The wheel of warp-lang is downloaded, and its folder `warp/tests` unpacked beside it: nothing of it is in this
repository, and Warp itself is not imported. `kbuild.warp` stands for `warp`, and what is changed for the tests beside
that is listed in support/warp_mount.py. Each file runs in a process of its own, with a limit for each test.

A test counts by its id, since files sweep over all scalar types. There are two scores. Of *gradients* are all ids of
the files about them, and in other files those that record a tape, or ask for a gradient without one; all others are of
the *language*. Apart from the count are those that Warp skips on a machine without a GPU, and those that
warp_apart.toml names, each with a reason: `apart`, what a program cannot rely on; `more`, which ask that Warp refuses
something that kbuild takes on purpose; and `right`, which ask for a value that Warp itself documents as wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from support.results import BENCHMARKS, ROOT, progress, record

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

VERSION = "1.19.0"
GOAL = 90.0
MOST_APART = 10.0
_FILES = """
test_arithmetic test_array test_atomic test_atomic_cas test_atomic_bitwise test_bool test_codegen test_codegen_continue
test_codegen_instancing test_compile_consts test_conditional test_constant_precision test_copy test_enum test_fixedarray
test_func test_func_parameter_targets test_generics test_indexedarray test_launch test_lvalue test_math test_operators
test_quat test_rand test_ref test_rounding test_spatial test_static test_struct test_tuple test_unpack test_vec
test_vec_scalar_ops matrix.test_mat
"""
_GRADIENTS = "test_composite_component_adjoint test_grad test_grad_customs test_overwrite test_tape"
FILES, OF_GRADIENTS = _FILES.split(), _GRADIENTS.split()
APART = BENCHMARKS / "warp_apart.toml"
CHILD = BENCHMARKS / "support" / "warp_child.py"
STATUSES = ("passed", "failed", "apart", "more", "right", "skipped")
SCORES = ("language", "gradients")


def main() -> None:
    """Runs the files, prints the table, records it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", default=[*FILES, *OF_GRADIENTS], help="default: all")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "kbuild-warp-tests")
    parser.add_argument("--only", default="", help="ids that contain this")
    parser.add_argument("--seconds", type=float, default=60.0, help="for one test")
    parser.add_argument("--minutes", type=float, default=30.0, help="for one file")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--reasons", type=int, default=40, help="how many reasons of failures to print")
    parser.add_argument("--trace", action="store_true", help="print the tracebacks of failures")
    parser.add_argument("--keep", type=Path, help="keep all rows in this file")
    parser.add_argument("--no-record", action="store_true", help="do not write benchmarks/results/warp_tests.json")
    arguments = parser.parse_args()
    folder = unpacked(arguments.cache)
    files = arguments.files
    with ThreadPoolExecutor(arguments.jobs) as pool:
        found = dict(zip(files, pool.map(lambda file: run(folder, file, arguments), files), strict=True))
    sorted_out = {file: [classified(row, file) for row in rows] for file, rows in found.items()}
    values = summary(sorted_out)
    show(values, arguments.reasons)
    if arguments.keep is not None:
        arguments.keep.write_text(json.dumps(sorted_out, indent=1), encoding="utf-8")
    if not arguments.no_record:
        record("warp_tests", values)


def unpacked(cache: Path) -> Path:
    """The folder of Warp's tests, downloaded when it is not there."""
    folder = cache / VERSION
    if not folder.exists():
        progress(f"warp-lang {VERSION} …")
        with tempfile.TemporaryDirectory() as place:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", place]
            subprocess.run([*command, f"warp-lang=={VERSION}"], check=True)
            (wheel,) = Path(place).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                names = [name for name in archive.namelist() if name.startswith("warp/tests/")]
                archive.extractall(folder, names)
    return folder / "warp" / "tests"


def run(folder: Path, file: str, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """The rows of a file's tests. A test that ends the process fails, and the others go on without it."""
    progress(f"{file} …")
    with tempfile.TemporaryDirectory() as place:
        results, printed = Path(place) / "results.jsonl", Path(place) / "printed"
        ids: list[str] = []
        while True:
            ended = start(folder, file, results, printed, arguments)
            rows = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
            ids = next((row["ids"] for row in rows if "ids" in row), ids)
            known = {row["id"]: row for row in rows if "id" in row}
            begun = [row["started"] for row in rows if "started" in row and row["started"] not in known]
            if arguments.trace:
                sys.stderr.write(printed.read_text(encoding="utf-8", errors="replace"))
            if not ids:
                last = printed.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
                return [{"id": f"warp.tests.{file}", "status": "failed", "reason": " ".join(last) or ended}]
            if ended == "" or not begun:
                break
            with results.open("a", encoding="utf-8") as out:
                out.write(json.dumps({"id": begun[-1], "status": "failed", "reason": ended}) + "\n")
        lost = {"status": "failed", "reason": ended or "not run"}
        return [known.get(one) or {"id": one, **lost} for one in ids]


def start(folder: Path, file: str, results: Path, printed: Path, arguments: argparse.Namespace) -> str:
    """Runs what is left of a file; how it ended where it did not end well."""
    command = [sys.executable, str(CHILD), str(folder), file, str(results)]
    command += ["--seconds", str(arguments.seconds), "--only", arguments.only]
    command += ["--trace"] if arguments.trace else []
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    results.touch()
    with printed.open("w", encoding="utf-8") as out:
        try:
            done = subprocess.run(
                command, stdout=out, stderr=subprocess.STDOUT, env=environment, timeout=60.0 * arguments.minutes
            )
        except subprocess.TimeoutExpired:
            return "the file ran out of time"
    return "" if done.returncode == 0 else f"the process ended with {done.returncode}"


def classified(row: dict[str, Any], file: str) -> dict[str, Any]:
    """A row with what it counts as, and in which score."""
    name = row["id"].removeprefix("warp.tests.")
    of_gradients = file in OF_GRADIENTS or row.get("tape") or row.get("gradients")
    made = {**row, "id": name, "score": "gradients" if of_gradients else "language"}
    found = next((one for one in apart() if fnmatchcase(name, one["id"])), None) if row["status"] == "failed" else None
    if found is not None:
        made.update(status=found["counts"], why=found["reason"])
    return made


def apart() -> list[dict[str, str]]:
    """What is set apart: patterns of ids, with reasons."""
    if not _apart:
        document = tomllib.loads(APART.read_text(encoding="utf-8"))
        for reason, rows in document.items():
            known = {"reason": reason, "counts": rows.get("counts", "apart")}
            _apart.extend({"id": id, **known} for id in rows["ids"])
    return _apart


_apart: list[dict[str, str]] = []


def summary(found: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """What is recorded."""
    rows = [row for one in found.values() for row in one]
    return {
        "version": VERSION,
        "goal": GOAL,
        "scores": {score: scored(found, score) for score in SCORES},
        **{
            status: [{"id": row["id"], "reason": row["why"]} for row in rows if row["status"] == status]
            for status in ("apart", "more", "right")
        },
        "other_words": [
            {"id": row["id"], "got": _without_paths(pair["got"])} for row in rows for pair in row.get("other_words", [])
        ],
        "of_gradients": sorted(
            row["id"]
            for file, of_file in found.items()
            for row in of_file
            if row["score"] == "gradients" and file not in OF_GRADIENTS
        ),
    }


def scored(found: dict[str, list[dict[str, Any]]], score: str) -> dict[str, Any]:
    """One of the two scores: the numbers of each file, and why those fail that do."""
    files = {}
    grouped: dict[str, list[str]] = defaultdict(list)
    for file, rows in found.items():
        counts = Counter(row["status"] for row in rows if row["score"] == score)
        if counts:
            files[file] = {"ids": sum(counts.values()), **{status: counts[status] for status in STATUSES}}
        for row in rows:
            if row["score"] == score and row["status"] == "failed":
                grouped[recorded(row)].append(row["id"])
    total = {key: sum(row[key] for row in files.values()) for key in ("ids", *STATUSES)}
    counted = total["passed"] + total["failed"]
    return {
        "percent": round(100.0 * total["passed"] / counted, 2) if counted else 0.0,
        "percent_apart": round(100.0 * total["apart"] / max(1, counted + total["apart"]), 2),
        "total": total,
        "files": files,
        "failed": [
            {"reason": reason, "ids": sorted(ids)}
            for reason, ids in sorted(grouped.items(), key=lambda pair: (-len(pair[1]), pair[0]))
        ],
    }


def recorded(row: dict[str, Any]) -> str:
    """Why an id fails, in kbuild's words: what a test of Warp's says stays with Warp, and where things lie here."""
    reason = row.get("reason", "")
    if reason.startswith(("AssertionError", "KeyError", "ModuleNotFoundError")):
        return f"{reason.partition(':')[0]} at {row.get('place', '')}"
    return _without_paths(reason)


def _without_paths(text: str) -> str:
    return re.sub(r"(/[\w.-]+)+/", "", text)


def show(values: dict[str, Any], count: int) -> None:
    """The tables, and the commonest reasons of failures."""
    for score, one in values["scores"].items():
        rows = [*one["files"].items(), ("all", one["total"])]
        print(f"{score:32}" + "".join(f"{name:>9}" for name in ("ids", *STATUSES)))
        for name, numbers in rows:
            print(f"{name:32}" + "".join(f"{numbers[key]:>9}" for key in ("ids", *STATUSES)))
        for row in one["failed"][:count]:
            print(f"{len(row['ids']):5}  {row['reason']}   [{row['ids'][0]}]")
        print(f"{one['percent']} % of what counts (goal: {GOAL} %), {one['percent_apart']} % set apart\n")
    print(f"{len({row['id'] for row in values['other_words']})} pass with an error in other words than Warp's")


if __name__ == "__main__":
    main()
