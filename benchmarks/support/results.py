"""Where a benchmark's numbers go: `benchmarks/results/NAME.json`, with the machine and the versions that gave them.

`KBUILD_BENCH_RESULTS` names another folder (for a machine that does not hold this checkout).
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).resolve().parents[1]
ROOT = BENCHMARKS.parent


def folder() -> Path:
    """The folder of the results, made when missing."""
    chosen = Path(os.environ.get("KBUILD_BENCH_RESULTS") or BENCHMARKS / "results")
    chosen.mkdir(parents=True, exist_ok=True)
    return chosen


def record(name: str, values: dict[str, Any]) -> Path:
    """Writes the values of one benchmark, replacing those of its last run."""
    path = folder() / f"{name}.json"
    document = {"benchmark": name, "machine": machine(), "values": values}
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    print(f"written: {path}")
    return path


def machine() -> dict[str, Any]:
    """What a reader must know to place the numbers; no names of hosts or people."""
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "gpu": _gpu(),
        "commit": _commit(),
    }


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def _gpu() -> str | None:
    """`NVIDIA H200, driver 580.159`; None without a driver."""
    question = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        answer = subprocess.run(question, capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        return None
    name, _, driver = answer[0].partition(",") if answer else ("", "", "")
    return f"{name.strip()}, driver {driver.strip()}" if name else None


def _commit() -> str | None:
    """What is measured was made of: a kit's wheels, else the checkout."""
    if "KBUILD_BENCH_COMMIT" in os.environ:
        return os.environ["KBUILD_BENCH_COMMIT"]
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def summary(samples: Sequence[float]) -> dict[str, float]:
    """Median, quartiles and extremes of a sample."""
    low, _, high = statistics.quantiles(samples, n=4)
    return {
        "median": statistics.median(samples),
        "lower_quartile": low,
        "upper_quartile": high,
        "least": min(samples),
        "most": max(samples),
        "runs": len(samples),
    }


def progress(text: str) -> None:
    """What is being measured: overwritten on a terminal, a line elsewhere."""
    end = "" if sys.stderr.isatty() else "\n"
    print(f"\r\033[K{text}" if sys.stderr.isatty() else text, end=end, file=sys.stderr, flush=True)
