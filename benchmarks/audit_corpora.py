"""What the audit says of real kernels: those of MuJoCo Warp and of Newton, which nobody wrote for it.

    audit_corpora.py FOLDER [--only PACKAGE] [--most N] [--limit SECONDS] [--keep FOLDER] [--read]

FOLDER is where the packages are, and what importing them needs (`pip install --no-deps --target FOLDER mujoco-warp
newton mujoco mujoco-core`; the two last share a folder, so they want a `--target` each, and one copied over the other).
Their tests and examples are left out; of each definition one instance is looked at. Each kernel is audited without the
solver and with it, and compiled for one target, by the clock of the processor.

Fifty findings are drawn, the same ones as long as they are found, spread over codes and packages. What people said of
them stands in `audit_judged.toml`; those of which nobody has said anything are told.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from support.results import BENCHMARKS, ROOT, progress, record

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PACKAGES = {"mujoco_warp": "mujoco-warp", "newton": "newton"}
JUDGED = BENCHMARKS / "audit_judged.toml"
JUDGEMENTS = ("real", "conditional", "false")
SAMPLE = 50
SEED = "8"

Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the packages are")
    parser.add_argument("--only", choices=PACKAGES, help="one package")
    parser.add_argument("--most", type=int, default=0, help="so many definitions of each package, drawn (default: all)")
    parser.add_argument("--limit", type=float, default=5.0, help="seconds of a kernel (default: 5)")
    parser.add_argument(
        "--keep", type=Path, default=ROOT / "build" / "audit-corpora", help="what is known of each kernel"
    )
    parser.add_argument("--read", action="store_true", help="take what an earlier run has kept, and audit nothing")
    arguments = parser.parse_args()
    arguments.keep.mkdir(parents=True, exist_ok=True)
    kept = {}
    for package in [arguments.only] if arguments.only else PACKAGES:
        out = arguments.keep / f"{package}.jsonl"
        if not arguments.read:
            audit(package, out, arguments)
        kept[package] = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    rows = [summary(package, version(arguments.folder, package), lines) for package, lines in kept.items()]
    sample = joined(drawn(kept), json_of_judgements())
    for row in rows:
        show(row)
    for one in sample:
        if one["judgement"] is None:
            print(f"not judged: {one['kernel']}, {one['place']}, {one['code']}: {one['finding']}")
    judged = Counter(one["judgement"] for one in sample)
    print(", ".join(f"{judged[name]} {name}" for name in JUDGEMENTS), f"of {len(sample)}")
    if not arguments.only:
        record("audit_corpora", {"limit": arguments.limit, "packages": rows, "sample": sample})


def audit(package: str, out: Path, arguments: argparse.Namespace) -> None:
    """Runs a package in a process of its own: it changes what `warp` means."""
    progress(f"{package} …")
    program = BENCHMARKS / "programs" / "audit_corpus.py"
    command = [sys.executable, program, package, str(arguments.limit), str(arguments.most), out]
    places = map(str, (ROOT, BENCHMARKS, arguments.folder.resolve()))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def version(folder: Path, package: str) -> str:
    """A package's version, from the folder that pip has made beside it."""
    (found,) = folder.glob(f"{PACKAGES[package].replace('-', '_')}-*.dist-info")
    return found.name.removesuffix(".dist-info").rpartition("-")[2]


def summary(package: str, number: str, lines: Sequence[Row]) -> Row:
    """The figures of a package."""
    head, *kernels = lines
    audited = [one for one in kernels if "refused" not in one]
    found: dict[str, Counter[str]] = defaultdict(Counter)
    obligations: dict[str, list[int]] = {}
    for one in audited:
        for finding in one["solver"]["findings"]:
            found[finding["code"]][finding["verdict"]] += 1
        for check, (total, proved) in one["solver"]["checks"].items():
            before = obligations.setdefault(check, [0, 0])
            before[0], before[1] = before[0] + total, before[1] + proved
    replays = [finding["replay"] for one in audited for finding in one["solver"]["findings"] if finding["replay"]]
    return {
        "package": package,
        "version": number,
        "definitions": head["definitions"],
        "drawn": len(kernels),
        "audited": len(audited),
        "refused": dict(Counter(code for one in kernels for code in one.get("refused", ())).most_common()),
        "given up": dict(Counter(one["solver"]["given up"] for one in audited if one["solver"]["given up"])),
        "findings": {code: dict(counts) for code, counts in sorted(found.items())},
        "obligations": obligations,
        "examples": {"run": len(replays), "confirmed": sum(is_confirmed for is_confirmed, _ in replays)},
        "seconds": {
            "without the solver": times(one["plain"]["seconds"] for one in audited),
            "with the solver": times(one["solver"]["seconds"] for one in audited),
            "NVRTC": times(one["compiling"] for one in audited),
        },
        "over 200 ms": sum(one["plain"]["seconds"] > 0.2 for one in audited),
    }


def times(seconds: Iterable[float]) -> dict[str, float]:
    """Median, 99th percentile and most."""
    ordered = sorted(seconds)
    found = {"median": ordered[len(ordered) // 2], "p99": ordered[len(ordered) * 99 // 100], "most": ordered[-1]}
    return {name: round(value, 4) for name, value in found.items()}


def drawn(kept: dict[str, list[Row]]) -> list[Row]:
    """The sample: in turn one of each code and package, in an order that does not depend on what else is found."""
    strata: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for package, (_, *kernels) in kept.items():
        seen = set()
        for one in kernels:
            for finding in one.get("solver", {"findings": ()})["findings"]:
                key = (finding["module"], finding["line"], finding["code"])
                if finding["verdict"] == "found" and key not in seen:
                    seen.add(key)
                    strata[finding["code"], package].append({"package": package, "kernel": one["kernel"], **finding})
    for rows in strata.values():
        rows.sort(key=_lot)
    chosen: list[Row] = []
    while len(chosen) < SAMPLE and any(strata.values()):
        for _, rows in sorted(strata.items()):
            if rows and len(chosen) < SAMPLE:
                chosen.append(rows.pop(0))
    return sorted(chosen, key=lambda one: (one["code"], one["package"], one["module"], one["line"]))


def _lot(one: Row) -> str:
    """A finding's place in the draw."""
    text = f"{SEED}:{one['kernel']}:{one['module']}:{one['line']}:{one['code']}"
    return hashlib.sha256(text.encode()).hexdigest()


def json_of_judgements() -> dict[tuple[str, int, str], Row]:
    """What is said of findings, by module, line and code."""
    entries = tomllib.loads(JUDGED.read_text(encoding="utf-8"))["finding"]
    for one in entries:
        if one["judgement"] not in JUDGEMENTS:
            sys.exit(f"{JUDGED}: {one['module']}:{one['line']}: the judgement is one of {', '.join(JUDGEMENTS)}")
    return {(one["module"], one["line"], one["code"]): one for one in entries}


def joined(sample: Iterable[Row], judgements: dict[tuple[str, int, str], Row]) -> list[Row]:
    """The sample with what is said of it."""
    found = []
    for one in sample:
        said = judgements.get((one["module"], one["line"], one["code"]), {})
        found.append(
            {
                "package": one["package"],
                "kernel": one["kernel"],
                "place": f"{one['module']}:{one['line']}",
                "code": one["code"],
                "finding": one["message"],
                "confirmed": one["replay"] and one["replay"][0],
                "judgement": said.get("judgement"),
                "reason": said.get("reason"),
            }
        )
    return found


def show(row: Row) -> None:
    """A package in words."""
    print(f"\n{row['package']} {row['version']}: {row['audited']} of {row['drawn']} kernels audited")
    for code, counts in row["findings"].items():
        print(f"  {code}: {', '.join(f'{count} {verdict}' for verdict, count in counts.items())}")
    for name, value in row["seconds"].items():
        print(f"  {name}: median {value['median']} s, 99 % {value['p99']} s, most {value['most']} s")


if __name__ == "__main__":
    main()
