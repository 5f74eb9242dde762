"""CPU time of a launch with an array, a vector and two scalars, all checks on, beside plain C's cuLaunchKernel.

All ways take turns in one process. A burst is short enough that the driver's queue never fills, and the GPU is idle
before each; what is timed is the launching thread.
"""

from __future__ import annotations

import argparse
import ctypes
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support import machine
from support.results import progress, record, summary

COUNT = 1000  # particles, and threads
BURST = 200
GOALS = {"ratio_to_c": 1.7}

Burst = Callable[[int], int]  # launches → nanoseconds


def main() -> None:
    """Measures, prints, records."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300, help="bursts of each way (default 300)")
    rounds = parser.parse_args().rounds
    if machine.packages() is None:
        return
    import kbuild as kb

    with tempfile.TemporaryDirectory() as name:
        ways = make_ways(Path(name))
        samples: dict[str, list[float]] = {title: [] for title in ways}
        for number in range(-5, rounds):
            if number % 50 == 0:
                progress(f"round {number} of {rounds}")
            for title, burst in ways.items():
                nanoseconds = burst(BURST)
                kb.synchronize()
                if nanoseconds < 0:
                    sys.exit(f"{title}: the driver says {-nanoseconds}")
                if number >= 0:
                    samples[title].append(nanoseconds / BURST)
    results = {title: summary(values) for title, values in samples.items()}
    show(results)
    ratios = {title: value["median"] / results["C"]["median"] for title, value in results.items()}
    record("launch", {"nanoseconds": results, "ratios_to_c": ratios, "burst": BURST, "goals": GOALS})


def make_ways(folder: Path) -> dict[str, Burst]:
    """Every way to launch `step`, on one array."""
    from benchkernels.physics import step

    import kbuild as kb
    from kbuild import loader
    from kbuild.loader import context, driver

    pos = kb.zeros(COUNT, dtype=kb.vec3)
    gravity, dt = kb.vec3(0.0, -9.81, 0.0), 0.001
    kernel = loader.open("benchkernels")["benchkernels.physics:step"]
    cuda = driver.get()
    with context.get_device().current():
        handle = ctypes.c_uint64()
        cuda.call("cuStreamCreate", ctypes.byref(handle), 0)
        function = load_function(cuda, folder)
    launch, stream = kb.launch, handle.value
    return {
        "C": plain_c(folder, function, pos.ptr),
        "kb.launch": repeated(lambda: launch(step, dim=COUNT, inputs=[pos, gravity, dt, COUNT])),
        "kb.launch, stream": repeated(lambda: launch(step, dim=COUNT, inputs=[pos, gravity, dt, COUNT], stream=stream)),
        "kb.launch, tuple": repeated(lambda: launch(step, dim=COUNT, inputs=[pos, (0.0, -9.81, 0.0), dt, COUNT])),
        "bundle kernel": repeated(lambda: kernel.launch(dim=COUNT, args=(pos, gravity, dt, COUNT))),
        "bundle kernel, stream": repeated(
            lambda: kernel.launch(dim=COUNT, args=(pos, gravity, dt, COUNT), stream=stream)
        ),
        "ctypes, packed by hand": by_hand(cuda.library["cuLaunchKernelEx"], function, pos.ptr),
        "Python's call of nothing": repeated(lambda: None),
    }


def load_function(cuda: Any, folder: Path) -> int:
    """The kernel's handle, for the ways that go round kbuild."""
    cubin, entry = machine.machine_code("benchkernels", "benchkernels.physics:step", folder)
    module = cuda.query("cuModuleLoadData", cubin.read_bytes())
    return int(cuda.query("cuModuleGetFunction", module, entry.encode()))


def repeated(call: Callable[[], object]) -> Burst:
    """Bursts of a Python call."""

    def burst(launches: int) -> int:
        start = time.perf_counter_ns()
        for _ in range(launches):
            call()
        return time.perf_counter_ns() - start

    return burst


def plain_c(folder: Path, function: int, address: int) -> Burst:
    """Bursts in C (programs/launch.c)."""
    library = ctypes.CDLL(str(machine.compiled(machine.LAUNCH, folder, "-shared", "-fPIC")))
    burst = library.plain_burst
    burst.restype = ctypes.c_longlong
    types = (ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int, ctypes.c_uint, ctypes.c_int, ctypes.c_void_p)
    burst.argtypes = types
    return lambda launches: int(burst(function, address, COUNT, COUNT, launches, None))


def by_hand(invoke: Any, function: int, address: int) -> Burst:
    """The least that Python can do: one buffer, one `pack_into`, one call with ready-made arguments, no check."""
    layout = struct.Struct("<7I4xQQI4xI4xQiiffffi4x")  # CUlaunchConfig, then the parameters
    buffer = ctypes.create_string_buffer(layout.size)
    base = ctypes.addressof(buffer) + 56
    pointers = (ctypes.c_void_p * 5)(*[base + offset for offset in (0, 8, 24, 36, 40)])
    config, handle = ctypes.c_void_p(ctypes.addressof(buffer)), ctypes.c_void_p(function)
    parameters = ctypes.cast(pointers, ctypes.c_void_p)  # keeps the pointers alive
    head = ((COUNT + 255) // 256, 1, 1, 256, 1, 1, 0, 0, 0, 0, COUNT)

    def burst(launches: int) -> int:
        start = time.perf_counter_ns()
        for _ in range(launches):
            layout.pack_into(buffer, 0, *head, address, COUNT, 12, 0.0, -9.81, 0.0, 0.001, COUNT)
            status = invoke(config, handle, parameters, None)
            if status:
                return -int(status)
        return time.perf_counter_ns() - start

    return burst


def show(results: dict[str, dict[str, float]]) -> None:
    """The table."""
    plain = results["C"]["median"]
    print(f"{'':<26} {'median':>8} {'quartiles':>15} {'of C':>6}")
    for title, value in results.items():
        spread = f"{value['lower_quartile']:.0f} … {value['upper_quartile']:.0f}"
        print(f"{title:<26} {value['median']:>5.0f} ns {spread:>15} {value['median'] / plain:>6.2f}")
    for title in ("kb.launch", "bundle kernel"):
        ratio = results[title]["median"] / plain
        print(f"{title} / C: {ratio:.2f} (goal ≤ {GOALS['ratio_to_c']}) {'met' if ratio <= 1.7 else 'MISSED'}")


if __name__ == "__main__":
    main()
