"""Collects what a GPU machine needs for run.py into a folder: recordings, bundles, these programs, kbuild's loader.

    kit.py GROUP… --data build/replay --out build/replay-kit      then, there: bash build/replay-kit/run.sh

A recording without Warp's machine code or without kbuild's bundles is an error.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = ("json", "blobs", "cubins", "names.json", "fused.kbundle", "unfused.kbundle")
PROGRAMS = ("run.py", "gpu.py", "recording.py", "comparing.py")

SCRIPT = """\
#!/usr/bin/env bash
# Warp's machine code and kbuild's side by side; no network, no compiler. Results: $OUT/replay-results.tgz.
set -uo pipefail
cd "$(dirname "$0")"
OUT=${OUT:-$PWD/results}
SECONDS_FOR_ALL=${SECONDS_FOR_ALL:-330}
mkdir -p "$OUT" work
export PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 CUDA_CACHE_DISABLE=1 CUDA_DISABLE_PTX_JIT=1
export KBUILD_BENCH_COMMIT=$(cat commit)
PYTHONPATH=benchmarks python3 - <<'END' | tee work/machine.json
import json, numpy
from support.results import machine
print(json.dumps({**machine(), "commit": open("commit").read().strip(), "numpy": numpy.__version__}))
END
python3 benchmarks/replay/run.py @GROUPS@ --data data --out work --seconds "$SECONDS_FOR_ALL" 2>&1 | tee work/log.txt
status=$?
tar czf "$OUT/replay-results.tgz" -C work .
ls -l "$OUT"
exit $status
"""


def main() -> None:
    """Makes the folder anew."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="+")
    parser.add_argument("--data", type=Path, default=ROOT / "build" / "replay")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "replay-kit")
    arguments = parser.parse_args()
    out: Path = arguments.out
    shutil.rmtree(out, ignore_errors=True)
    (out / "data").mkdir(parents=True)
    for group in arguments.groups:
        for suffix in FILES:
            path = arguments.data / f"{group}.{suffix}"
            if not path.exists() or (suffix == "cubins" and not path.stat().st_size):
                sys.exit(f"{path} is missing: run record.py, build.py, and record.py again")
            shutil.copy(path, out / "data")
    programs = out / "benchmarks" / "replay"
    programs.mkdir(parents=True)
    for name in PROGRAMS:
        shutil.copy(ROOT / "benchmarks" / "replay" / name, programs)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "kbuild" / "loader", out / "kbuild" / "loader", ignore=ignored)
    for name in ("__init__.py", "_version.py"):
        shutil.copy(ROOT / "kbuild" / name, out / "kbuild")
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    (out / "commit").write_text(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    (out / "benchmarks" / "support").mkdir()
    shutil.copy(ROOT / "benchmarks" / "support" / "results.py", out / "benchmarks" / "support")
    script = out / "run.sh"
    script.write_text(SCRIPT.replace("@GROUPS@", " ".join(arguments.groups)), encoding="utf-8")
    script.chmod(0o755)
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(f"{out}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
