"""Start of a program: from Python's first line to the first result, beside the same by ctypes and in plain C.

Every run is a fresh process; the programs take turns, so that what changes on the machine changes for all. Driver and
GPU make most of the time, and are the same for all three.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support import machine
from support.results import BENCHMARKS, progress, record, summary

PROGRAMS = BENCHMARKS / "programs"
COUNT = "1000"
GOALS = {"own": 0.015, "import": 0.006, "ratio_to_ctypes": 1.05}

IMPORT = """
import sys, time
sys.path.insert(0, sys.argv[1])
start = time.perf_counter()
import kbuild
print(time.perf_counter() - start)
"""

Program = Callable[[], "dict[str, Any]"]


def main() -> None:
    """Measures, prints, records."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=21, help="processes of each program (default 21)")
    runs = parser.parse_args().runs
    site = machine.packages()
    if site is None:
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clean = clean_python(folder / "environment")
        cubin, entry = machine.machine_code("robosim", "robosim.kernels:integrate", folder)
        plain = machine.compiled(machine.PLAIN, folder)
        programs = {
            "kbuild": [*clean, str(PROGRAMS / "start_kbuild.py"), site, COUNT],
            "kbuild, driver timed": [*clean, str(PROGRAMS / "start_kbuild.py"), site, COUNT, "timed"],
            "ctypes": [*clean, str(PROGRAMS / "start_ctypes.py"), str(cubin), entry, COUNT],
            "C": [str(plain), str(cubin), entry, COUNT],
            "Python alone": [*clean, "-c", "print()"],
            "import kbuild": [*clean, "-c", IMPORT, site],
        }
        samples = alternate(programs, runs)
    values = evaluate(samples)
    show(values)
    record("start", {**values, "goals": GOALS})


def clean_python(folder: Path) -> list[str]:
    """Python as it starts in a new virtual environment; nothing of this one's environment reaches it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return [str(folder / "bin" / "python"), "-I"]


def alternate(programs: dict[str, list[str]], runs: int) -> dict[str, list[tuple[float, list[str]]]]:
    """Wall time and printed lines of each run; two rounds before fill the caches. Other orders in other rounds."""
    samples: dict[str, list[tuple[float, list[str]]]] = {name: [] for name in programs}
    names = list(programs)
    for number in range(-2, runs):
        progress(f"run {number + 1} of {runs}")
        for name in names[number % len(names) :] + names[: number % len(names)]:
            run = timed(programs[name])
            if number >= 0:
                samples[name].append(run)
    results = {runs[0][1][0] for name, runs in samples.items() if name in ("kbuild", "ctypes", "C")}
    if len(results) != 1:
        sys.exit(f"the programs do not agree: {results}")
    return samples


def timed(command: list[str]) -> tuple[float, list[str]]:
    """Seconds of a process from its start to its end, and what it printed."""
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"{command}:\n{done.stdout}{done.stderr}")
    return seconds, done.stdout.splitlines()


def evaluate(samples: dict[str, list[tuple[float, list[str]]]]) -> dict[str, Any]:
    """Medians and quartiles [s], and the ratios that the goals are about."""
    wall = {
        name: summary([seconds for seconds, _ in runs]) for name, runs in samples.items() if name != "import kbuild"
    }
    inside = [json.loads(lines[1]) for _, lines in samples["kbuild, driver timed"]]
    untimed = [json.loads(lines[1]) for _, lines in samples["kbuild"]]
    return {
        "wall": wall,
        "first_result": summary([times["first_result"] for times in untimed]),
        "driver": summary([times["driver"] for times in inside]),
        "own": summary([times["first_result"] - times["driver"] for times in inside]),
        "import": summary([float(lines[0]) for _, lines in samples["import kbuild"]]),
        "import_in_program": summary([times["import_kbuild"] for times in untimed]),
        "ctypes_first_result": summary([json.loads(lines[1])["first_result"] for _, lines in samples["ctypes"]]),
        "ratio_to_ctypes": wall["kbuild"]["median"] / wall["ctypes"]["median"],
        "ratio_to_c": wall["kbuild"]["median"] / wall["C"]["median"],
    }


def show(values: dict[str, Any]) -> None:
    """The table."""
    print(f"{'':<34} {'median':>9} {'quartiles':>19}")
    rows = [(f"process: {name}", value) for name, value in values["wall"].items()]
    rows.append(("first line to first result", values["first_result"]))
    rows.append(("  of that inside the driver", values["driver"]))
    rows.append(("  of that kbuild's and Python's own", values["own"]))
    rows.append(("import kbuild", values["import"]))
    rows.append(("ctypes: first line to first result", values["ctypes_first_result"]))
    for title, value in rows:
        spread = f"{1e3 * value['lower_quartile']:.2f} … {1e3 * value['upper_quartile']:.2f}"
        print(f"{title:<34} {1e3 * value['median']:>6.2f} ms {spread:>19}")
    goals = (("own", "own time", 1e3, " ms"), ("import", "import kbuild", 1e3, " ms"))
    for key, title, scale, unit in goals:
        verdict("≤", title, values[key]["median"] * scale, GOALS[key] * scale, unit)
    verdict("≤", "wall time / ctypes", values["ratio_to_ctypes"], GOALS["ratio_to_ctypes"], "")
    print(f"wall time / C: {values['ratio_to_c']:.3f}")


def verdict(sign: str, title: str, value: float, goal: float, unit: str) -> None:
    """One goal, and whether it is met."""
    print(f"{title}: {value:.3f}{unit} (goal {sign} {goal:g}{unit}) {'met' if value <= goal else 'MISSED'}")


if __name__ == "__main__":
    main()
