"""CPU time of a launch with 1, 4 and 16 arguments, all checks on, beside plain C's cuLaunchKernel and other packages.

All ways take turns in one process. A burst is short enough that the driver's queue never fills, and the GPU is idle
before each; what is timed is the launching thread. Before, each way shows that one launch does what it must.
"""

from __future__ import annotations

import argparse
import ctypes
import struct
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

from support import machine, peers
from support.cases import BLOCK, BLOCKS, COUNT, GRAVITY, Burst, Case, Cases, by_hand, pointed
from support.results import progress, record, summary

BURST = 200
GOALS = {"kb.launch": 1.7, "kb.bind": 1.4}
NOTHING = "Python's call of nothing"

Table = dict[str, dict[str, Burst]]  # by case, then by title


def main() -> None:
    """Measures, prints, records."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=150, help="bursts of each way (default 150)")
    rounds = parser.parse_args().rounds
    if machine.packages() is None:
        return
    peers.add_path()
    with tempfile.TemporaryDirectory() as name:
        cases = Cases()
        ways, without, failures = make_ways(cases, Path(name))
        samples = take_turns(ways, rounds)
    results = {case: evaluate(found) for case, found in samples.items()}
    show(results, without)
    record(
        "launch",
        {"cases": results, "without": without, "versions": peers.versions(), "burst": BURST, "goals": GOALS},
    )
    if failures:
        sys.exit(f"failed: {', '.join(failures)}")


def make_ways(cases: Cases, folder: Path) -> tuple[Table, dict[str, str], list[str]]:
    """Every way to launch every case, those that are not measured with the reason, and which of these have failed."""
    import kbuild as kb

    stream = kb.Stream()
    own = Own(folder, cases, stream)
    ways: Table = {case.name: own.ways(case) for case in cases.all}
    for case in cases.all:
        for title, burst in ways[case.name].items():
            if title != NOTHING:
                cases.check(case, title, burst)
    without, failures = {}, []
    for title, peer in peers.PEERS.items():
        progress(title)
        try:
            found = peer(cases, folder)
            for case in cases.all:
                cases.check(case, title, found[case.name])
        except peers.Missing as error:
            without[title] = str(error)
        except Exception as error:  # the others are measured all the same, and the program fails in the end
            traceback.print_exc()
            without[title] = f"failed: {type(error).__name__}: {error}"
            failures.append(title)
        else:
            for name, burst in found.items():
                ways[name][title] = burst
    return ways, without, failures


class Own:
    """kbuild's ways, and plain C's."""

    def __init__(self, folder: Path, cases: Cases, stream: Any) -> None:
        from kbuild.loader import context, driver

        self.cuda, self.stream, self.pointers = driver.get(), stream, cases.pointers()
        self.device = context.get_device()
        cubin = machine.handwritten("benchkernels.launching").read_bytes()
        with self.device.current():
            self.module = self.cuda.query("cuModuleLoadData", cubin)
        library = ctypes.CDLL(str(machine.compiled(machine.LAUNCH, folder, "-shared", "-fPIC")))
        self.plain = library.plain_burst
        self.plain.restype = ctypes.c_longlong
        self.plain.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_void_p)
        self.keep: list[Any] = []

    def ways(self, case: Case) -> dict[str, Burst]:
        """All of one case."""
        import kbuild as kb

        launch, kernel, values, stream = kb.launch, case.kernel, list(case.values), self.stream
        step = kb.bind(kernel, dim=COUNT, inputs=values)
        ways: dict[str, Burst] = {
            "C": self.plain_c(self.function(case.name), self.parameters(case.name), None),
            "C, stream": self.plain_c(self.function(case.name), self.parameters(case.name), stream.handle),
            "C, kbuild's kernel": self.bound_in_c(step),
            "kb.launch": peers.repeated(lambda: launch(kernel, dim=COUNT, inputs=values)),
            "kb.launch, stream": peers.repeated(lambda: launch(kernel, dim=COUNT, inputs=values, stream=stream)),
            "kb.bind": peers.repeated(step),
        }
        if case.name == "args4":
            ways["ctypes, packed by hand"] = self.by_hand()
            ways[NOTHING] = peers.repeated(lambda: None)
        return ways

    def function(self, name: str) -> int:
        """A hand-written kernel's handle."""
        with self.device.current():
            return int(self.cuda.query("cuModuleGetFunction", self.module, name.encode()))

    def parameters(self, name: str) -> int:
        """The address of pointers to its arguments."""
        array, variables = pointed(by_hand(name, self.pointers))
        self.keep += [array, variables]
        return ctypes.addressof(array)

    def plain_c(self, function: int, parameters: int, stream: int | None) -> Burst:
        """Bursts in C (programs/launch.c); what they use lives as long as this object, which they keep."""
        return lambda launches: int(self.plain(function, parameters, COUNT, launches, stream))

    def bound_in_c(self, step: Any) -> Burst:
        """The very kernel and parameters of a bound launch, launched by C: what kbuild's kernels cost the driver."""
        self.keep.append(step)
        _, _, pointers = step._slots[0]
        loaded = step._loaded.function
        return self.plain_c(int(loaded), ctypes.addressof(pointers), None)

    def by_hand(self) -> Burst:
        """The least that Python can do: one buffer, one `pack_into`, one call with ready-made arguments, no check."""
        layout = struct.Struct("<7I4xQ24xQffffi4x")  # CUlaunchConfig, then the parameters
        buffer = ctypes.create_string_buffer(layout.size)
        base = ctypes.addressof(buffer) + 64
        pointers = (ctypes.c_void_p * 4)(*[base + offset for offset in (0, 8, 20, 24)])
        config, handle = ctypes.c_void_p(ctypes.addressof(buffer)), ctypes.c_void_p(self.function("args4"))
        parameters = ctypes.cast(pointers, ctypes.c_void_p)  # keeps the pointers alive
        head = (BLOCKS, 1, 1, BLOCK, 1, 1, 0, 0)
        invoke, address = self.cuda.library["cuLaunchKernelEx"], self.pointers["pos"]

        def burst(launches: int) -> int:
            start = time.perf_counter_ns()
            for _ in range(launches):
                layout.pack_into(buffer, 0, *head, address, *GRAVITY, 0.125, COUNT)
                status = invoke(config, handle, parameters, None)
                if status:
                    return -int(status)
            return time.perf_counter_ns() - start

        return burst


def take_turns(ways: Table, rounds: int) -> dict[str, dict[str, list[float]]]:
    """Nanoseconds a launch of each burst. Five rounds before fill the caches; other orders in other rounds."""
    import kbuild as kb

    samples: dict[str, dict[str, list[float]]] = {case: {title: [] for title in found} for case, found in ways.items()}
    order = [(case, title, burst) for case, found in ways.items() for title, burst in found.items()]
    for number in range(-5, rounds):
        if number % 50 == 0:
            progress(f"round {number} of {rounds}")
        start = number % len(order)
        for case, title, burst in order[start:] + order[:start]:
            nanoseconds = burst(BURST)
            kb.synchronize()
            if nanoseconds < 0:
                sys.exit(f"{title}, {case}: the driver says {-nanoseconds}")
            if number >= 0:
                samples[case][title].append(nanoseconds / BURST)
    return samples


def evaluate(samples: dict[str, list[float]]) -> dict[str, Any]:
    """Medians and quartiles, and their ratios to plain C."""
    found = {title: summary(values) for title, values in samples.items()}
    ratios = {title: value["median"] / found["C"]["median"] for title, value in found.items()}
    return {"nanoseconds": found, "ratios_to_c": ratios}


def show(results: dict[str, Any], without: dict[str, str]) -> None:
    """The tables."""
    for case, found in results.items():
        print(f"{case:<30} {'median':>8} {'quartiles':>15} {'of C':>6}")
        for title, value in found["nanoseconds"].items():
            spread = f"{value['lower_quartile']:.0f} … {value['upper_quartile']:.0f}"
            print(f"{title:<30} {value['median']:>5.0f} ns {spread:>15} {found['ratios_to_c'][title]:>6.2f}")
        for title, goal in GOALS.items():
            ratio = found["ratios_to_c"][title]
            print(f"{title} / C: {ratio:.2f} (goal ≤ {goal}) {'met' if ratio <= goal else 'MISSED'}")
    for title, reason in without.items():
        print(f"not measured: {title}: {reason}")


if __name__ == "__main__":
    main()
