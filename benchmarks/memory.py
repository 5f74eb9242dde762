"""Arrays made and given back, and copies, beside PyTorch, CuPy, Warp and plain C.

First the CPU time of an array of 1 KB and of 64 MB, made (with anything in it, or with zeros) and given back, in bursts
that take turns in one process; pools are warm. Then copies of 64 MB or so, each waited for: to the GPU from ordinary
and from pinned memory, and on the GPU from views with gaps. All copy into the same array, and are looked at once.
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
from support.cases import Burst
from support.results import progress, record, summary

BURST = 100
SIZES = {"1 KB": 1 << 10, "64 MB": 64 << 20}
SIDE = 4096  # of the square array that is copied
TRANSPOSED_SIDE = 2048

Ways = dict[str, dict[str, Callable[..., Any]]]  # by what is done, then by who does it


def main() -> None:
    """Measures, prints, records."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60, help="bursts, and copies, of each way (default 60)")
    rounds = parser.parse_args().rounds
    if machine.packages() is None:
        return
    peers.add_path()
    without: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = collect(ALLOCATIONS, Allocations(folder), without)
        copied = collect(COPIES, Copies(folder), without)
        values = {
            "arrays": {what: allocation_turns(ways, rounds) for what, ways in made.items()},
            "copies": {what: copy_turns(ways, rounds) for what, ways in copied.items()},
            "without": without,
            "burst": BURST,
        }
    show(values)
    record("memory", {**values, "versions": peers.versions()})
    failures = [name for name, reason in without.items() if reason.startswith("failed")]
    if failures:
        sys.exit(f"failed: {', '.join(failures)}")


def collect(makers: dict[str, Any], subject: Any, without: dict[str, str]) -> Ways:
    """The ways of all makers that can be measured; the others get a reason."""
    found: Ways = {}
    for title, make in makers.items():
        progress(title)
        try:
            ways = make(subject)
            subject.check(title, ways)
        except peers.Missing as error:
            without[title] = str(error)
        except Exception as error:  # the others are measured all the same, and the program fails in the end
            traceback.print_exc()
            without[title] = f"failed: {type(error).__name__}: {error}"
        else:
            for what, way in ways.items():
                found.setdefault(what, {})[title] = way
    return found


class Allocations:
    """What the makers of `ALLOCATIONS` get: bursts by `empty, 1 KB` and the like."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def in_c(self) -> dict[str, Burst]:
        """Plain C, with a pool of its own that keeps everything, as kbuild's does."""
        from kbuild.loader import context
        from kbuild.loader.memory.pools import Pool

        library = ctypes.CDLL(str(machine.compiled(machine.MEMORY, self.folder, "-shared", "-fPIC")))
        burst = library.memory_burst
        burst.restype = ctypes.c_longlong
        burst.argtypes = (ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int, ctypes.c_int)
        pool = Pool(context.get_device())

        def way(size: int, zero: bool) -> Burst:
            return lambda count: int(burst(pool.handle.value, size, zero, count))

        return {
            f"{kind}, {name}": way(size, kind == "zeros") for name, size in SIZES.items() for kind in ("empty", "zeros")
        }

    def kbuild(self) -> dict[str, Burst]:
        import kbuild as kb

        return _bursts(kb.empty, kb.zeros, dtype=kb.float32)

    def torch(self) -> dict[str, Burst]:
        torch = peers.need("torch")
        return _bursts(torch.empty, torch.zeros, dtype=torch.float32, device="cuda")

    def cupy(self) -> dict[str, Burst]:
        cupy = peers.need("cupy")
        return _bursts(cupy.empty, cupy.zeros, dtype=cupy.float32)

    def warp(self) -> dict[str, Burst]:
        wp = peers.open_warp(self.folder)
        return _bursts(wp.empty, wp.zeros, dtype=wp.float32, device="cuda:0")

    def check(self, title: str, ways: dict[str, Burst]) -> None:
        """They run at all."""
        for burst in ways.values():
            if burst(3) < 0:
                raise ValueError(f"{title}: the driver says {-burst(1)}")


ALLOCATIONS: dict[str, Callable[[Allocations], dict[str, Burst]]] = {
    "C": Allocations.in_c,
    "kbuild": Allocations.kbuild,
    "PyTorch": Allocations.torch,
    "CuPy": Allocations.cupy,
    "Warp": Allocations.warp,
}


def _bursts(empty: Any, zeros: Any, **options: Any) -> dict[str, Burst]:
    """Arrays of 32-bit floats, dropped at once."""

    def way(make: Any, size: int) -> Burst:
        return peers.repeated(lambda: make(size // 4, **options))

    makers = (("empty", empty), ("zeros", zeros))
    return {f"{kind}, {name}": way(make, size) for name, size in SIZES.items() for kind, make in makers}


PAGEABLE, PINNED = "host to GPU, ordinary memory", "host to GPU, pinned memory"
HALF, EVERY_SECOND, TRANSPOSED = "GPU, half of each row", "GPU, every second column", "GPU, transposed"


class Copies:
    """What the makers of `COPIES` get; each way copies once and waits until that is done."""

    def __init__(self, folder: Path) -> None:
        import kbuild as kb

        peers.need("benchkernels.launching")  # whose package's bundle has what copies with gaps
        self.folder, self.kb, numpy = folder, kb, peers.need("numpy")
        self.host = numpy.arange(SIDE * SIDE, dtype=numpy.float32).reshape(SIDE, SIDE)
        self.source, self.small = kb.array(self.host), kb.array(self.host[:TRANSPOSED_SIDE, :TRANSPOSED_SIDE].copy())
        self.targets = {
            PAGEABLE: kb.zeros((SIDE, SIDE)),
            HALF: kb.zeros((SIDE, SIDE // 2)),
            TRANSPOSED: kb.zeros((TRANSPOSED_SIDE, TRANSPOSED_SIDE)),
        }
        self.targets[PINNED], self.targets[EVERY_SECOND] = self.targets[PAGEABLE], self.targets[HALF]
        self.expected = {  # of the second row's third column
            PAGEABLE: self.host[1, 2],
            PINNED: self.host[1, 2],
            HALF: self.host[1, 2],
            EVERY_SECOND: self.host[1, 4],
            TRANSPOSED: self.host[2, 1],
        }

    def kbuild(self) -> dict[str, Callable[[], object]]:
        kb = self.kb
        pinned = kb.empty((SIDE, SIDE), device="cpu", memory="pinned")
        pinned.assign(self.host)
        ordinary = kb.array(self.host, device="cpu", copy=False)
        sources = {
            PAGEABLE: ordinary,
            PINNED: pinned,
            HALF: self.source[:, : SIDE // 2],
            EVERY_SECOND: self.source[:, ::2],
            TRANSPOSED: self.small.transpose(),
        }
        return {
            what: self.waited(kb.copy, self.targets[what], source, kb.synchronize) for what, source in sources.items()
        }

    def torch(self) -> dict[str, Callable[[], object]]:
        torch = peers.need("torch")
        ordinary = torch.from_numpy(self.host)
        source, small = (torch.as_tensor(one, device="cuda") for one in (self.source, self.small))
        targets = {what: torch.as_tensor(one, device="cuda") for what, one in self.targets.items()}
        sources = {
            PAGEABLE: ordinary,
            PINNED: ordinary.pin_memory(),
            HALF: source[:, : SIDE // 2],
            EVERY_SECOND: source[:, ::2],
            TRANSPOSED: small.t(),
        }

        def copy(to: Any, from_: Any) -> None:
            to.copy_(from_, non_blocking=True)

        wait = torch.cuda.synchronize
        return {what: self.waited(copy, targets[what], source, wait) for what, source in sources.items()}

    def cupy(self) -> dict[str, Callable[[], object]]:
        cupy, cupyx = peers.need("cupy"), peers.need("cupyx")
        pinned = cupyx.empty_pinned(self.host.shape, self.host.dtype)
        pinned[...] = self.host
        source, small = cupy.asarray(self.source), cupy.asarray(self.small)
        targets = {what: cupy.asarray(one) for what, one in self.targets.items()}
        sources = {HALF: source[:, : SIDE // 2], EVERY_SECOND: source[:, ::2], TRANSPOSED: small.T}

        def upload(to: Any, from_: Any) -> None:
            to.set(from_)

        def copy(to: Any, from_: Any) -> None:
            to[...] = from_

        wait = cupy.cuda.Device(0).synchronize
        ways = {what: self.waited(copy, targets[what], one, wait) for what, one in sources.items()}
        for what, host in ((PAGEABLE, self.host), (PINNED, pinned)):
            ways[what] = self.waited(upload, targets[what], host, wait)
        return ways

    def warp(self) -> dict[str, Callable[[], object]]:
        wp = peers.open_warp(self.folder)
        pinned = wp.empty(shape=self.host.shape, dtype=float, device="cpu", pinned=True)
        pinned.numpy()[...] = self.host
        ordinary = wp.array(self.host, dtype=float, device="cpu", copy=False)
        source, small = (peers.warp_array(wp, one, float) for one in (self.source, self.small))
        targets = {what: peers.warp_array(wp, one, float) for what, one in self.targets.items()}
        sources = {
            PAGEABLE: ordinary,
            PINNED: pinned,
            HALF: source[:, : SIDE // 2],
            EVERY_SECOND: source[:, ::2],
            TRANSPOSED: small.transpose(),
        }

        def wait() -> None:
            wp.synchronize_device("cuda:0")

        return {what: self.waited(wp.copy, targets[what], one, wait) for what, one in sources.items()}

    @staticmethod
    def waited(copy: Any, to: Any, from_: Any, wait: Any) -> Callable[[], object]:
        """One copy, and its end."""

        def way() -> None:
            copy(to, from_)
            wait()

        return way

    def check(self, title: str, ways: dict[str, Callable[[], object]]) -> None:
        """Whether each copies what it must. Raises ValueError."""
        for what, way in ways.items():
            target = self.targets[what]
            target.zero_()
            self.kb.synchronize()
            way()
            got = target[1, 2]
            if got != float(self.expected[what]):
                raise ValueError(f"{title}, {what}: an element is {got}, not {self.expected[what]}")


COPIES: dict[str, Callable[[Copies], dict[str, Callable[[], object]]]] = {
    "kbuild": Copies.kbuild,
    "PyTorch": Copies.torch,
    "CuPy": Copies.cupy,
    "Warp": Copies.warp,
}


def allocation_turns(ways: dict[str, Burst], rounds: int) -> dict[str, dict[str, float]]:
    """Nanoseconds an array."""
    import kbuild as kb

    samples: dict[str, list[float]] = {title: [] for title in ways}
    for number in range(-3, rounds):
        for title, burst in ways.items():
            nanoseconds = burst(BURST)
            kb.synchronize()
            if nanoseconds < 0:
                sys.exit(f"{title}: the driver says {-nanoseconds}")
            if number >= 0:
                samples[title].append(nanoseconds / BURST)
    return {title: summary(values) for title, values in samples.items()}


def copy_turns(ways: dict[str, Callable[[], object]], rounds: int) -> dict[str, dict[str, float]]:
    """Seconds a copy."""
    samples: dict[str, list[float]] = {title: [] for title in ways}
    for number in range(-3, rounds):
        for title, way in ways.items():
            start = time.perf_counter()
            way()
            if number >= 0:
                samples[title].append(time.perf_counter() - start)
    return {title: summary(values) for title, values in samples.items()}


def show(values: dict[str, Any]) -> None:
    """The tables."""
    for key, unit, scale in (("arrays", "µs", 1e-3), ("copies", "µs", 1e6)):
        for what, found in values[key].items():
            ours = found["kbuild"]["median"] if "kbuild" in found else None
            print(what)
            for title, value in found.items():
                ratio = f"kbuild takes {ours / value['median']:.2f} of it" if ours else ""
                spread = f"{scale * value['lower_quartile']:.2f} … {scale * value['upper_quartile']:.2f}"
                print(f"  {title:<10} {scale * value['median']:>9.2f} {unit} {spread:>22} {ratio}")
    for title, reason in values["without"].items():
        print(f"not measured: {title}: {reason}")


if __name__ == "__main__":
    main()
