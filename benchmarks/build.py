"""Time of a build of sample_project: the first one, and one with nothing changed. Needs no GPU.

A build with nothing changed is measured as a fresh process of `python -m kbuild build`, less one that starts Python and
does nothing; the two take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from support.results import ROOT, progress, record, summary

GOALS = {"unchanged": 0.5}


def main() -> None:
    """Measures, prints, records."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=11, help="builds with nothing changed (default 11)")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as name:
        project, cache = Path(name) / "project", Path(name) / "cache"
        ignored = shutil.ignore_patterns("build", "*.kbundle", "*.egg-info", "__pycache__")
        shutil.copytree(ROOT / "sample_project", project, ignore=ignored)
        environment = {**os.environ, "KBUILD_CACHE": str(cache), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "kbuild", "build", str(project), "--json"]
        progress("the first build …")
        first_seconds, first = timed(command, environment)
        samples: dict[str, list[float]] = {"build": [], "python": []}
        for number in range(runs):
            progress(f"nothing changed, {number + 1} of {runs}")
            seconds, unchanged = timed(command, environment)
            samples["build"].append(seconds)
            samples["python"].append(timed([sys.executable, "-c", "print({})"], environment)[0])
            if unchanged["compiled"]:
                sys.exit(f"nothing was changed, but {unchanged['compiled']} units were compiled")
    results = {title: summary(values) for title, values in samples.items()}
    beyond = results["build"]["median"] - results["python"]["median"]
    show(first_seconds, first, results, beyond)
    values = {"first": first_seconds, "first_result": first, "unchanged": beyond, "processes": results, "goals": GOALS}
    values["first_result"] = {key: first[key] for key in ("compiled", "cached", "seconds", "nvrtc_seconds", "targets")}
    record("build", values)


def timed(command: list[str], environment: dict[str, str]) -> tuple[float, dict[str, Any]]:
    """Seconds of a process, and the JSON object that it printed."""
    start = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return seconds, json.loads(done.stdout)


def show(seconds: float, first: dict[str, Any], results: dict[str, dict[str, float]], beyond: float) -> None:
    """The table."""
    print(f"first build: {seconds:.2f} s, {first['compiled']} units × targets, {first['nvrtc_seconds']:.2f} s in NVRTC")
    for title, value in results.items():
        print(f"{title:<8} median {value['median']:.3f} s ({value['least']:.3f} … {value['most']:.3f})")
    met = "met" if beyond <= GOALS["unchanged"] else "MISSED"
    print(f"nothing changed, beyond Python's start: {beyond:.3f} s (goal < {GOALS['unchanged']} s) {met}")


if __name__ == "__main__":
    main()
