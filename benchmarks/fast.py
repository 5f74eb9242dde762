"""Twelve kernels: kbuild's, the same in CUDA C by hand, and Warp's, side by side on one GPU.

All ways work on the same arrays and give the same results, which is checked first; then graphs of many repetitions
take turns, and the time until the last is done counts. Where memory is the limit, what a kernel reads and writes at
least stands beside the bandwidth of a copy on the GPU. `--trial` runs kbuild's side alone, small, in the simulator,
and compares it with NumPy.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import math
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support import fast_cases, machine, peers
from support.fast_warp import Warp
from support.fast_ways import HandWritten, Program, Way, apart
from support.results import ROOT, progress, record, summary

KBUILD, BY_HAND, WARP = "kbuild", "by hand", "Warp"
GRAPH_SECONDS, MOST_REPETITIONS = 3e-3, 200
COPIED, COPIES = 1 << 29, 10  # bytes of a copy, copies in a row
NEAR_WARP = 1e-5  # Warp fuses and sums otherwise


def main() -> None:
    """Measures, prints, records."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30, help="graphs of each way (default 30)")
    parser.add_argument("--case", action="append", choices=fast_cases.SIZES, help="this one; may be repeated")
    parser.add_argument("--trial", action="store_true", help="small, in the simulator; records nothing")
    arguments = parser.parse_args()
    titles = arguments.case or list(fast_cases.SIZES)
    if arguments.trial:
        trial(titles)
        return
    if machine.packages() is None:
        return
    peers.add_path()
    results: dict[str, Any] = {}
    without: dict[str, str] = {}
    failures: list[str] = []
    bandwidth = copy_bandwidth(arguments.rounds)
    print(f"a copy on the GPU moves {bandwidth / 1e12:.2f} TB/s")
    with tempfile.TemporaryDirectory() as name:
        warp = open_warp(Path(name), without)
        for title in titles:
            progress(title)
            results[title] = measured(title, arguments.rounds, warp, without, failures)
            show(title, results[title], bandwidth)
            gc.collect()
    for title, reason in without.items():
        print(f"not measured: {title}: {reason}")
    versions = {title: version for title, version in peers.versions().items() if title == WARP}
    record("fast", {"cases": results, "copy_bandwidth": bandwidth, "without": without, "versions": versions})
    if failures:
        sys.exit(f"failed: {', '.join(failures)}")


def trial(titles: list[str]) -> None:
    """kbuild's side in the simulator. Ends the program where a result is wrong."""
    sys.path[:0] = [str(folder) for folder in SOURCES]
    for title in titles:
        case = fast_cases.make(title, fast_cases.SMALL)
        program = Program(case, "sim")
        wanted = case.wanted({name: data for name, (data, _) in case.arrays.items()})
        difference = apart(program.outcome(program.run), wanted)
        print(f"{title:<22} {difference:.1e} from NumPy's")
        if difference > max(case.near, 1e-6):
            sys.exit(f"{title}: wrong")


SOURCES = (ROOT, ROOT / "sample_project" / "src", ROOT / "benchmarks" / "project" / "src")


def open_warp(folder: Path, without: dict[str, str]) -> Warp | None:
    """None, with the reason noted, where there is no Warp."""
    try:
        return Warp(folder)
    except peers.Missing as error:
        without[WARP] = str(error)
        return None


def measured(
    title: str, rounds: int, warp: Warp | None, without: dict[str, str], failures: list[str]
) -> dict[str, Any]:
    """Seconds of a repetition by each way, and how far its results are from kbuild's."""
    import kbuild as kb

    case = fast_cases.make(title, fast_cases.SIZES)
    program, stream = Program(case), kb.Stream()
    wanted = program.outcome(program.run)
    if not any(one.any() for one in wanted):
        raise ValueError(f"{title}: kbuild's kernel gives nothing but zeros")
    repetitions = repetitions_for(program.run)
    makers: dict[str, Callable[[], tuple[Callable[[], object], Callable[[], Way]]]] = {
        KBUILD: lambda: (program.run, lambda: program.graph(program.run, repetitions, stream)),
        BY_HAND: lambda: by_hand(program, stream, repetitions),
    }
    if warp is not None:
        types = {name: type for name, (_, type) in case.arrays.items()}
        makers[WARP] = lambda: by_warp(warp, title, warp.arrays(program.arrays, types), repetitions)
    ways, differences = {}, {}
    for name, make in makers.items():
        try:
            run, graph = make()
            difference = apart(program.outcome(run), wanted)
            if difference > (max(case.near, NEAR_WARP) if name == WARP else case.near):
                raise ValueError(f"the results are {difference:.1e} apart from kbuild's")
            ways[name], differences[name] = graph(), difference
        except Exception as error:  # the others are measured all the same, and the program fails in the end
            traceback.print_exc()
            without[f"{title}: {name}"] = f"failed: {type(error).__name__}: {error}"[:300]
            failures.append(f"{title}: {name}")
    return {
        "sizes": list(fast_cases.SIZES[title]),
        "bytes": case.bytes,
        "repetitions": repetitions,
        "ways": take_turns(ways, rounds),
        "apart": differences,
    }


def repetitions_for(run: Callable[[], object]) -> int:
    """How many repetitions take a few milliseconds."""
    import kbuild as kb

    kb.synchronize()
    start = time.perf_counter()
    for _ in range(5):
        run()
    kb.synchronize()
    seconds = (time.perf_counter() - start) / 5
    return min(max(math.ceil(GRAPH_SECONDS / seconds), 1), MOST_REPETITIONS)


def by_hand(program: Program, stream: Any, repetitions: int) -> tuple[Callable[[], object], Callable[[], Way]]:
    """What runs once, and what makes a graph."""
    written = HandWritten(program, stream)
    return written.run, lambda: program.graph(written.run, repetitions, stream)


def by_warp(
    warp: Warp, title: str, arrays: dict[str, Any], repetitions: int
) -> tuple[Callable[[], object], Callable[[], Way]]:
    """What runs once and is waited for, since Warp has a stream of its own; and what makes a graph."""
    once = warp.run(title, arrays)

    def run() -> None:
        once()
        warp.wait()

    return run, lambda: warp.graph(once, repetitions)


def take_turns(ways: dict[str, Way], rounds: int) -> dict[str, dict[str, float]]:
    """Three rounds before bring the GPU to its clock; other orders in other rounds."""
    samples: dict[str, list[float]] = {name: [] for name in ways}
    order = list(ways)
    for number in range(-3, rounds):
        start = number % max(len(order), 1)
        for name in order[start:] + order[:start]:
            seconds = ways[name]()
            if number >= 0:
                samples[name].append(seconds)
    return {name: summary(values) for name, values in samples.items()}


def copy_bandwidth(rounds: int) -> float:
    """Bytes read and written a second by copies on the GPU that no cache holds."""
    import kbuild as kb
    from kbuild.loader import context, driver

    cuda = driver.get()
    source, target = (kb.zeros(COPIED, dtype=kb.uint8) for _ in range(2))
    copy, size = cuda.library["cuMemcpyDtoDAsync_v2"], ctypes.c_size_t(COPIED)
    to, from_ = ctypes.c_uint64(target.ptr), ctypes.c_uint64(source.ptr)

    def way() -> float:
        with context.get_device().current():
            start = time.perf_counter()
            for _ in range(COPIES):
                status = copy(to, from_, size, None)
                if status:
                    sys.exit(f"cuMemcpyDtoDAsync: the driver says {status}")
        kb.synchronize()
        return (time.perf_counter() - start) / COPIES

    return 2 * COPIED / take_turns({"copy": way}, rounds)["copy"]["median"]


def show(title: str, row: dict[str, Any], bandwidth: float) -> None:
    """A line for every way."""
    for name, value in row["ways"].items():
        rate = (
            "" if row["bytes"] is None else f"{row['bytes'] / value['median'] / bandwidth:>6.3f} of a copy's bandwidth"
        )
        ratio = value["median"] / row["ways"].get(BY_HAND, value)["median"]
        print(f"{title:<22} {name:<8} {1e6 * value['median']:>10.1f} µs  {ratio:>6.2f} of by hand {rate}")


if __name__ == "__main__":
    main()
