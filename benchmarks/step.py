"""Time of a step of a simulation: a million particles under gravity (robosim's `integrate`), many steps in a row.

From Python, from plain C, and in CUDA graphs of both; the GPU is busy all the time, and what counts is the time until
the last step is done. All ways work on the same two arrays, and take turns in one process. Then sixteen times as many
particles, which no cache holds, beside a copy of as many bytes.
"""

from __future__ import annotations

import argparse
import ctypes
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support import machine, peers
from support.cases import Vector, pointed
from support.results import progress, record, summary

COUNT, LARGE = 1_000_000, 16_000_000
STEPS = 500  # of one burst
IN_GRAPH = 100  # launches in a graph
LARGE_STEPS = 30
GRAVITY, DT = (0.0, -9.81, 0.0), 0.001
GOALS = {"python": 9.5e-6, "graph": 9.1e-6}
PYTHON, GRAPH = "kb.launch", "kbuild, graph"  # what the goals are about

Way = Callable[[int], float]  # steps → seconds until they are done


def main() -> None:
    """Measures, prints, records."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60, help="bursts of each way (default 60)")
    rounds = parser.parse_args().rounds
    if machine.packages() is None:
        return
    peers.add_path()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ways, without, failures = make_ways(Steps(folder, COUNT), folder)
        steps = take_turns(ways, rounds, STEPS)
        del ways  # and their arrays
        large = measure_large(folder, max(rounds // 3, 3))
    values = {"steps": steps, "large": large, "without": without, "goals": GOALS, **SIZES}
    show(values)
    record("step", {**values, "versions": peers.versions()})
    if failures:
        sys.exit(f"failed: {', '.join(failures)}")


SIZES = {"count": COUNT, "large_count": LARGE, "burst": STEPS, "in_graph": IN_GRAPH}


class Steps:
    """The arrays, and the ways that need nothing but kbuild and C."""

    def __init__(self, folder: Path, count: int) -> None:
        import kbuild as kb
        from kbuild.loader import context, driver

        self.kb, self.cuda, self.device, self.count = kb, driver.get(), context.get_device(), count
        self.pos, self.vel = kb.zeros(count, dtype=kb.vec3), kb.zeros(count, dtype=kb.vec3)
        self.inputs = [self.pos, self.vel, kb.vec3(*GRAVITY), DT]
        self.stream = kb.Stream()  # for captures in C
        with self.device.current():
            module = self.cuda.query("cuModuleLoadData", machine.handwritten("robosim.kernels").read_bytes())
            self.function = self.cuda.query("cuModuleGetFunction", module, b"integrate")
        sizes = [(count, ctypes.c_int), (Vector(GRAVITY), None), (DT, ctypes.c_float)]
        arrays = [(array.ptr, ctypes.c_void_p) for array in (self.pos, self.vel)]
        self.parameters, self.keep = pointed([*arrays, *sizes])
        self.library = ctypes.CDLL(str(machine.compiled(machine.STEP, folder, "-shared", "-fPIC")))

    def waited(self, work: Callable[[int], None]) -> Way:
        """Something from Python, with the wait for its end."""
        synchronize = self.kb.synchronize

        def way(steps: int) -> float:
            start = time.perf_counter()
            work(steps)
            synchronize()
            return time.perf_counter() - start

        return way

    def in_c(self, name: str, *arguments: Any) -> float:
        """A function of programs/step.c that gives seconds."""
        seconds = ctypes.c_double()
        self.call(name, *arguments, ctypes.byref(seconds))
        return seconds.value

    def call(self, name: str, *arguments: Any) -> None:
        """Any function of programs/step.c."""
        status = self.library[name](*arguments)
        if status:
            sys.exit(f"{name}: the driver says {status}")

    def c_launches(self) -> Way:
        """Launches from C."""
        function = ctypes.c_void_p(self.function)
        return lambda steps: self.in_c("step_launches", function, self.parameters, self.count, steps, None)

    def c_graph(self, size: int) -> Way:
        """A graph made and launched in C."""
        graph, function = ctypes.c_void_p(), ctypes.c_void_p(self.function)
        stream = ctypes.c_void_p(self.stream.handle)
        with self.device.current():
            self.call("step_capture", function, self.parameters, self.count, size, stream, ctypes.byref(graph))
        return lambda steps: self.in_c("step_graphs", graph, steps // size, None)

    def launches(self) -> Way:
        """kb.launch in a loop."""
        from robosim.kernels import integrate

        launch, count, inputs = self.kb.launch, self.count, self.inputs

        def work(steps: int) -> None:
            for _ in range(steps):
                launch(integrate, dim=count, inputs=inputs)

        return self.waited(work)

    def bound(self) -> Way:
        """A bound launch in a loop."""
        from robosim.kernels import integrate

        step = self.kb.bind(integrate, dim=self.count, inputs=self.inputs)

        def work(steps: int) -> None:
            for _ in range(steps):
                step()

        return self.waited(work)

    def graph(self, size: int) -> Way:
        """A graph that kbuild has captured."""
        from robosim.kernels import integrate

        self.kb.launch(integrate, dim=self.count, inputs=self.inputs)  # code is loaded outside of captures
        self.kb.synchronize()
        with self.kb.capture() as graph:
            for _ in range(size):
                self.kb.launch(integrate, dim=self.count, inputs=self.inputs)

        def work(steps: int) -> None:
            for _ in range(steps // size):
                graph.launch()

        return self.waited(work)

    def copies(self) -> Way:
        """Copies on the GPU that read and write as many bytes as a step."""
        source, target = (self.kb.zeros(2 * self.count, dtype=self.kb.vec3) for _ in range(2))
        copy, size = self.cuda.library["cuMemcpyDtoDAsync_v2"], ctypes.c_size_t(source.nbytes)
        to, from_ = ctypes.c_uint64(target.ptr), ctypes.c_uint64(source.ptr)

        self.keep += [source, target]

        def work(steps: int) -> None:
            for _ in range(steps):
                status = copy(to, from_, size, None)
                if status:
                    sys.exit(f"cuMemcpyDtoDAsync: the driver says {status}")

        return self.waited(work)

    def reset(self) -> None:
        """All particles at rest in the origin."""
        self.pos.zero_()
        self.vel.zero_()
        self.kb.synchronize()

    def check(self, title: str, way: Way, expected: tuple[float, ...] | None) -> tuple[float, ...]:
        """Where a particle is after as many steps as a graph has; Warp may round otherwise. Raises ValueError."""
        self.reset()
        way(IN_GRAPH)
        first, last = tuple(self.pos[0]), tuple(self.pos[self.count - 1])
        wanted = first if expected is None else expected
        for got in (first, last):
            if any(abs(a - b) > 1e-5 * abs(b) for a, b in zip(got, wanted, strict=True)) or not any(got):
                raise ValueError(f"{title}: a particle is at {got}, not at {wanted}")
        return first


def warp_ways(steps: Steps, folder: Path) -> dict[str, Callable[[], Way]]:
    """Warp's launch, recorded launch and graph. Raises peers.Missing."""
    wp = peers.open_warp(folder)
    from programs.warp_kernels import integrate

    pos, vel = (peers.warp_array(wp, array, wp.vec3) for array in (steps.pos, steps.vel))
    inputs = [pos, vel, wp.vec3(*GRAVITY), DT]

    def launch(**more: Any) -> Any:
        return wp.launch(integrate, dim=steps.count, inputs=inputs, device="cuda:0", **more)

    def repeated(call: Callable[[], object], size: int = 1) -> Way:
        def way(count: int) -> float:
            start = time.perf_counter()
            for _ in range(count // size):
                call()
            wp.synchronize_device("cuda:0")
            return time.perf_counter() - start

        return way

    def graph() -> Way:
        launch()  # loads the code
        with wp.ScopedCapture(device="cuda:0") as capture:
            for _ in range(IN_GRAPH):
                launch()
        return repeated(lambda: wp.capture_launch(capture.graph), IN_GRAPH)

    return {
        "Warp": lambda: repeated(launch),
        "Warp, recorded": lambda: repeated(launch(record_cmd=True).launch),
        "Warp, graph": graph,
    }


def make_ways(steps: Steps, folder: Path) -> tuple[dict[str, Way], dict[str, str], list[str]]:
    """Every way, those that are not measured with the reason, and which of these have failed."""
    makers: dict[str, Callable[[], Way]] = {
        "C": steps.c_launches,
        "C, graph": lambda: steps.c_graph(IN_GRAPH),
        "C, graphs of one step": lambda: steps.c_graph(1),
        PYTHON: steps.launches,
        "kb.bind": steps.bound,
    }
    without, failures = {}, []
    if hasattr(steps.kb, "capture"):
        makers[GRAPH] = lambda: steps.graph(IN_GRAPH)
        makers["kbuild, graphs of one step"] = lambda: steps.graph(1)
    else:
        without[GRAPH] = "this kbuild has no kb.capture"
    try:
        makers.update(warp_ways(steps, folder))
    except peers.Missing as error:
        without["Warp"] = str(error)
    ways: dict[str, Way] = {}
    expected = None
    for title, make in makers.items():
        progress(title)
        try:
            way = make()
            found = steps.check(title, way, expected)
        except Exception as error:  # the others are measured all the same, and the program fails in the end
            traceback.print_exc()
            without[title] = f"failed: {type(error).__name__}: {error}"
            failures.append(title)
        else:
            ways[title], expected = way, expected or found
    return ways, without, failures


def take_turns(ways: dict[str, Way], rounds: int, steps: int) -> dict[str, dict[str, float]]:
    """Seconds a step. Three rounds before bring the GPU to its clock; other orders in other rounds."""
    samples: dict[str, list[float]] = {title: [] for title in ways}
    order = list(ways)
    for number in range(-3, rounds):
        if number % 20 == 0:
            progress(f"round {number} of {rounds}")
        start = number % len(order)
        for title in order[start:] + order[:start]:
            seconds = ways[title](steps)
            if number >= 0:
                samples[title].append(seconds / steps)
    return {title: summary(values) for title, values in samples.items()}


def measure_large(folder: Path, rounds: int) -> dict[str, Any]:
    """Many particles: seconds a step, and what share of a copy's bandwidth that is."""
    steps = Steps(folder, LARGE)
    ways = {"copy": steps.copies(), "C": steps.c_launches(), "kb.launch": steps.launches()}
    found = take_turns(ways, rounds, LARGE_STEPS)
    moved = 4 * 12 * LARGE  # two arrays of three floats, read and written
    return {
        "seconds": found,
        "bytes": moved,
        "copy_bandwidth": moved / found["copy"]["median"],
        "of_copy": {title: found["copy"]["median"] / value["median"] for title, value in found.items()},
    }


def show(values: dict[str, Any]) -> None:
    """The tables."""
    print(f"{COUNT} particles {'':<18} {'median':>8} {'quartiles':>17}")
    for title, value in values["steps"].items():
        spread = f"{1e6 * value['lower_quartile']:.2f} … {1e6 * value['upper_quartile']:.2f}"
        print(f"{title:<35} {1e6 * value['median']:>5.2f} µs {spread:>17}")
    for title, key in ((PYTHON, "python"), (GRAPH, "graph")):
        if title in values["steps"]:
            median, goal = values["steps"][title]["median"], GOALS[key]
            verdict = "met" if median <= goal else "MISSED"
            print(f"{title}: {1e6 * median:.2f} µs (goal ≤ {1e6 * goal:g}) {verdict}")
    large = values["large"]
    print(f"{LARGE} particles; a copy moves {large['copy_bandwidth'] / 1e12:.2f} TB/s")
    for title, share in large["of_copy"].items():
        print(f"{title:<35} {1e6 * large['seconds'][title]['median']:>6.1f} µs, {share:.3f} of a copy's bandwidth")
    for title, reason in values["without"].items():
        print(f"not measured: {title}: {reason}")


if __name__ == "__main__":
    main()
