"""Start of a program: from Python's first line to the first result, beside the same by ctypes and in plain C.

Every run is a fresh process; the programs take turns, so that what changes on the machine changes for all. Driver and
GPU make most of the time, and are the same for all three. Other packages take part in every fifth round, in the Python
that they are installed in, and so does kbuild once more; with what each process holds in memory, and what each package
takes on the disk.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from support import installed, machine, peers
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

# Others: the name in start_peers.py, and the packages that they cannot do without beside what these require.
PEERS = {
    "cuda.bindings": ("bindings", ("cuda-bindings",)),
    "cuda.core": ("core", ("cuda-core", "cuda-bindings")),
    "CuPy": ("cupy", ("cupy-cuda13x",)),
    "Warp": ("warp", ("warp-lang",)),
    "PyTorch": ("torch", ("torch",)),
    "Triton": ("triton", ("triton", "torch")),  # its launches go through PyTorch
}
KBUILD_THERE, ALONE_THERE = "kbuild, in their Python", "their Python alone"
EVERY = 5  # rounds
NOT_THERE = 3  # exit code of start_peers.py

Samples = dict[str, list[tuple[float, list[str]]]]


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
        rare, without = peer_programs(folder, site)
        samples = alternate(programs, rare, runs)
    values = {**evaluate({name: samples[name] for name in programs}), "without": without}
    values["peers"] = {name: evaluate_peer(samples[name]) for name in rare}
    values["held"] = {name: held(samples[name]) for name in ("kbuild", "ctypes")}
    values["installed"] = sizes(site, [name for name in rare if name in PEERS])
    show(values)
    show_peers(values)
    record("start", {**values, "versions": peers.versions(), "goals": GOALS})
    if any(reason.startswith("failed") for reason in without.values()):
        sys.exit("a peer has failed")


def peer_programs(folder: Path, site: str) -> tuple[dict[str, list[str]], dict[str, str]]:
    """The commands of the peers that run here, and the others with the reason. Their caches are warm afterwards."""
    os.environ["TRITON_CACHE_DIR"], os.environ["WARP_CACHE_PATH"] = str(folder / "triton"), str(folder / "warp")
    cubins, place = str(machine.handwritten("flat").parent), os.environ.get("KBUILD_PEERS")
    found = {
        KBUILD_THERE: [sys.executable, str(PROGRAMS / "start_kbuild.py"), site, COUNT],
        ALONE_THERE: [sys.executable, "-c", "print()"],
    }
    without = {}
    for name, (argument, _) in PEERS.items():
        progress(name)
        command = [
            sys.executable,
            str(PROGRAMS / "start_peers.py"),
            argument,
            cubins,
            COUNT,
            *([place] if place else []),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            found[name] = command
        elif done.returncode == NOT_THERE:
            without[name] = done.stderr.strip().splitlines()[-1]
        else:
            print(done.stdout, done.stderr, file=sys.stderr)
            without[name] = f"failed: {(done.stderr.strip().splitlines() or ['without a word'])[-1]}"
    return found, without


def clean_python(folder: Path) -> list[str]:
    """Python as it starts in a new virtual environment; nothing of this one's environment reaches it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return [str(folder / "bin" / "python"), "-I"]


def alternate(programs: dict[str, list[str]], rare: dict[str, list[str]], runs: int) -> Samples:
    """Wall time and printed lines of each run; two rounds before fill the caches. Other orders in other rounds.

    The rare ones take part in every fifth.
    """
    everything = {**programs, **rare}
    samples: Samples = {name: [] for name in everything}
    for number in range(-2, runs):
        progress(f"run {number + 1} of {runs}")
        names = list(programs if number % EVERY else everything)
        for name in names[number % len(names) :] + names[: number % len(names)]:
            run = timed(everything[name])
            if number >= 0:
                samples[name].append(run)
    computing = {name for name in samples if name not in ("Python alone", "import kbuild", ALONE_THERE)}
    results = {samples[name][0][1][0] for name in computing}
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


def evaluate(samples: Samples) -> dict[str, Any]:
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


def evaluate_peer(runs: list[tuple[float, list[str]]]) -> dict[str, Any]:
    """Wall time [s], and what the process says of itself."""
    wall = summary([seconds for seconds, _ in runs])
    if len(runs[0][1]) < 2:
        return {"wall": wall}
    times = summary([json.loads(lines[1])["first_result"] for _, lines in runs])
    return {"wall": wall, "first_result": times, **held(runs)}


def held(runs: list[tuple[float, list[str]]]) -> dict[str, float]:
    """Medians of what the processes held at their end [bytes]."""
    inside = [json.loads(lines[1]) for _, lines in runs]
    return {key: statistics.median(one[key] for one in inside) for key in ("resident", "peak", "gpu")}


def sizes(site: str, names: list[str]) -> dict[str, dict[str, Any]]:
    """What kbuild, which requires nothing, and the others take on the disk."""
    peers.add_path()
    mine = {"bytes": installed.folder_size(Path(site) / "kbuild"), "packages": ["kbuild"], "missing": []}
    return {"kbuild": mine, **{name: installed.installed(*PEERS[name][1]) for name in names}}


def show_peers(values: dict[str, Any]) -> None:
    """The others' table; memory of kbuild and ctypes in an environment of their own."""
    print(f"\n{'':<26} {'wall':>8} {'result':>8} {'resident':>9} {'peak':>6} {'GPU':>6} {'on disk':>8}")
    for name, row in {**values["held"], **values["peers"]}.items():
        times = [f"{1e3 * row[key]['median']:.0f}" if key in row else "" for key in ("wall", "first_result")]
        bytes = [f"{row[key] / 1e6:.0f}" if key in row else "" for key in ("resident", "peak", "gpu")]
        disk = values["installed"].get(name)
        cells = [*times, *bytes, f"{disk['bytes'] / 1e6:.1f}" if disk else ""]
        print(f"{name:<26} " + " ".join(f"{cell:>7}" for cell in cells))
    print("milliseconds and megabytes")
    for name, reason in values["without"].items():
        print(f"not measured: {name}: {reason}")


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
