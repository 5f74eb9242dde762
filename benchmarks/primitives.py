"""kbuild's functions over whole arrays beside those of other libraries, for 1M to 64M elements, in one process.

A measurement is the time of several calls, from the first to the end of the GPU's work, over their number; ways take
turns. CuPy calls CUB, PyTorch and Warp call CUB as well where it has what they need. What is not installed is left out.
Beside the times stands how fast the least traffic that a function needs (read once, write once) went by.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from support import machine
from support.results import progress, record, summary

SIZES = (1 << 20, 1 << 22, 1 << 24, 1 << 26)
GOAL = 2.0  # times the fastest peer
Call = Callable[[], object]


def main() -> None:
    """Measures, prints, records."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="measurements of each way (default 7)")
    parser.add_argument("--calls", type=int, default=10, help="calls of a measurement (default 10)")
    parser.add_argument("--largest", type=int, default=max(SIZES), help="leave out more elements than this")
    arguments = parser.parse_args()
    if machine.packages() is None:
        return
    import gpukernels.blocks  # the package whose bundle holds the kernels

    assert gpukernels.blocks
    peers = {name: found for name in ("cupy", "torch", "warp") if (found := installed(name))}
    results: dict[str, Any] = {}
    for count in SIZES:
        if count <= arguments.largest:
            for title, traffic, ways in tasks(count, peers):
                name = f"{title}, {count >> 20}M"
                progress(name)
                results[name] = {"bytes": traffic, **measured(ways, peers, arguments.rounds, arguments.calls)}
                show(name, results[name])
                del ways
                gc.collect()
    record("primitives", {"seconds": results, "peers": versions(peers), "goal": GOAL})


def installed(name: str) -> Any:
    """A library, or None."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(name)
        except ImportError:
            return None


def versions(peers: dict[str, Any]) -> dict[str, str]:
    """The peers' versions."""
    return {name: str(peer.__version__) for name, peer in peers.items()}


def tasks(count: int, peers: dict[str, Any]) -> Iterator[tuple[str, int, dict[str, Call]]]:
    """(title, bytes of the least traffic, ways) of every function."""
    yield "scan of int32", 8 * count, scans(count, peers, "int32")
    yield "scan of float32", 8 * count, scans(count, peers, "float32")
    yield "sort of int32 pairs", 16 * count, sorts(count, peers)
    yield "runs of int32", 4 * count, runs(count, peers)
    yield "sum of float32", 4 * count, sums(count, peers)
    yield "inner product of float32", 8 * count, products(count, peers)
    yield "cast of float32 to int32", 8 * count, casts(count, peers)


def ints(count: int) -> Any:
    """int32 of all sizes on the GPU: the multiples of a large odd number."""
    import kbuild as kb

    data = kb.full(count, -1640531527, dtype=int)
    kb.array_scan(data, data)
    return data


def scans(count: int, peers: dict[str, Any], kind: str) -> dict[str, Call]:
    """Inclusive prefix sums."""
    import kbuild as kb

    a = kb.ones(count, dtype=getattr(kb, kind))
    b = kb.empty(count, dtype=getattr(kb, kind))
    ways: dict[str, Call] = {"kbuild": lambda: kb.array_scan(a, b)}
    if "cupy" in peers:
        c = peers["cupy"].ones(count, kind)
        d = peers["cupy"].empty(count, kind)
        ways["cupy"] = lambda: peers["cupy"].cumsum(c, dtype=kind, out=d)
    if "torch" in peers:
        torch = peers["torch"]
        t = torch.ones(count, dtype=getattr(torch, kind), device="cuda")
        u = torch.empty_like(t)
        ways["torch"] = lambda: torch.cumsum(t, 0, dtype=t.dtype, out=u)
    if "warp" in peers:
        wp = peers["warp"]
        w = wp.full(count, 1, dtype=getattr(wp, kind), device="cuda")
        x = wp.empty(count, dtype=getattr(wp, kind), device="cuda")
        ways["warp"] = lambda: wp.utils.array_scan(w, x)
    return ways


def sorts(count: int, peers: dict[str, Any]) -> dict[str, Call]:
    """Sorting keys with values; a call sorts what the one before has left, which costs a radix sort the same."""
    import kbuild as kb

    keys, values = ints(2 * count), ints(2 * count)
    ways: dict[str, Call] = {"kbuild": lambda: kb.radix_sort_pairs(keys, values, count)}
    if "torch" in peers:
        torch = peers["torch"]
        t = torch.randint(-(1 << 31), (1 << 31) - 1, (count,), dtype=torch.int32, device="cuda")
        ways["torch"] = lambda: torch.sort(t, stable=True)  # the values are int64 places
    if "cupy" in peers:
        c = peers["cupy"].random.randint(-(1 << 31), (1 << 31) - 1, count, dtype="int32")
        ways["cupy"] = lambda: peers["cupy"].argsort(c, kind="stable")
    if "warp" in peers:
        wp = peers["warp"]
        k, v = (wp.zeros(2 * count, dtype=int, device="cuda") for _ in range(2))
        ways["warp"] = lambda: wp.utils.radix_sort_pairs(k, v, count)
    return ways


def runs(count: int, peers: dict[str, Any]) -> dict[str, Call]:
    """Run-length encoding of runs of a few equal elements."""
    import kbuild as kb

    quarters, data = kb.full(count, 0.25, dtype=kb.float64), kb.empty(count, dtype=int)
    kb.array_scan(quarters, quarters)
    kb.array_cast(quarters, data)  # each number four times
    values, lengths, found = kb.empty(count, dtype=int), kb.empty(count, dtype=int), kb.empty(1, dtype=int)
    ways: dict[str, Call] = {"kbuild": lambda: kb.runlength_encode(data, values, lengths, found)}
    if "torch" in peers:
        t = peers["torch"].arange(count, dtype=peers["torch"].int32, device="cuda") // 4
        ways["torch"] = lambda: peers["torch"].unique_consecutive(t, return_counts=True)
    if "warp" in peers:
        wp = peers["warp"]
        w, x, y, z = (wp.zeros(n, dtype=int, device="cuda") for n in (count, count, count, 1))
        ways["warp"] = lambda: wp.utils.runlength_encode(w, x, y, z)
    return ways


def sums(count: int, peers: dict[str, Any]) -> dict[str, Call]:
    """The sum, left on the GPU."""
    import kbuild as kb

    a, total = kb.ones(count, dtype=float), kb.empty(1, dtype=float)
    ways: dict[str, Call] = {"kbuild": lambda: kb.array_sum(a, total)}
    if "cupy" in peers:
        c = peers["cupy"].ones(count, "float32")
        ways["cupy"] = c.sum
    if "torch" in peers:
        t = peers["torch"].ones(count, device="cuda")
        ways["torch"] = t.sum
    if "warp" in peers:
        wp = peers["warp"]
        w, x = (wp.zeros(n, dtype=float, device="cuda") for n in (count, 1))
        ways["warp"] = lambda: wp.utils.array_sum(w, x)
    return ways


def products(count: int, peers: dict[str, Any]) -> dict[str, Call]:
    """The inner product, left on the GPU."""
    import kbuild as kb

    a, b, total = kb.ones(count, dtype=float), kb.ones(count, dtype=float), kb.empty(1, dtype=float)
    ways: dict[str, Call] = {"kbuild": lambda: kb.array_inner(a, b, total)}
    if "torch" in peers:
        t, u = (peers["torch"].ones(count, device="cuda") for _ in range(2))
        ways["torch"] = lambda: peers["torch"].dot(t, u)
    if "warp" in peers:
        wp = peers["warp"]
        w, x, y = (wp.zeros(n, dtype=float, device="cuda") for n in (count, count, 1))
        ways["warp"] = lambda: wp.utils.array_inner(w, x, y)
    return ways


def casts(count: int, peers: dict[str, Any]) -> dict[str, Call]:
    """Conversion of each element."""
    import kbuild as kb

    a, b = kb.ones(count, dtype=float), kb.empty(count, dtype=int)
    ways: dict[str, Call] = {"kbuild": lambda: kb.array_cast(a, b)}
    if "torch" in peers:
        torch = peers["torch"]
        t, u = torch.ones(count, device="cuda"), torch.empty(count, dtype=torch.int32, device="cuda")
        ways["torch"] = lambda: u.copy_(t)
    if "warp" in peers:
        wp = peers["warp"]
        w, x = wp.zeros(count, dtype=float, device="cuda"), wp.empty(count, dtype=int, device="cuda")
        ways["warp"] = lambda: wp.utils.array_cast(w, x)
    return ways


def measured(ways: dict[str, Call], peers: dict[str, Any], rounds: int, calls: int) -> dict[str, Any]:
    """Seconds of a call, for every way."""
    import kbuild as kb

    samples: dict[str, list[float]] = {title: [] for title in ways}
    for number in range(-2, rounds):
        for title, call in ways.items():
            kb.synchronize()
            start = time.perf_counter()
            for _ in range(calls):
                call()
            kb.synchronize()  # waits for all streams of the context that the libraries share
            if number >= 0:
                samples[title].append((time.perf_counter() - start) / calls)
    return {title: summary(values) for title, values in samples.items()}


def show(name: str, result: dict[str, Any]) -> None:
    """A line for every way."""
    others = [value["median"] for title, value in result.items() if title not in ("bytes", "kbuild")]
    for title, value in result.items():
        if title != "bytes":
            rate = result["bytes"] / value["median"] / 1e9
            print(f"{name:<32} {title:<8} {value['median'] * 1e6:>10.1f} us {rate:>8.0f} GB/s")
    if others:
        ratio = result["kbuild"]["median"] / min(others)
        print(f"{name:<32} {ratio:.2f} of the fastest peer (goal ≤ {GOAL:g}) {'met' if ratio <= GOAL else 'MISSED'}")


if __name__ == "__main__":
    main()
