"""Warp's way of benchmarks/fast.py, over kbuild's memory: kernels of programs/warp_fast.py, or functions of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support import peers
from support.fast_cases import DT, GRAVITY, MEAN, SCALE, A, parts
from support.fast_ways import Way


class Warp:
    """Raises peers.Missing where there is none."""

    def __init__(self, folder: Path) -> None:
        self.wp = peers.open_warp(folder)
        self.device = "cuda:0"

    def arrays(self, arrays: dict[str, Any], types: dict[str, str]) -> dict[str, Any]:
        """kbuild's arrays as Warp's."""
        named = self.types()
        return {name: peers.warp_array(self.wp, array, named[types[name]]) for name, array in arrays.items()}

    def types(self) -> dict[str, Any]:
        """Warp's type for each that a case names."""
        from programs.warp_fast import Spring

        wp = self.wp
        return {"float32": float, "int32": int, "uint8": wp.uint8, "vec3": wp.vec3, "Spring": Spring}

    def run(self, title: str, arrays: dict[str, Any]) -> Callable[[], object]:
        """What one repetition of a case is."""
        from programs import warp_fast

        return _RUNS[title](self, warp_fast, arrays)

    def launch(self, kernel: Any, dim: Any, inputs: list[Any]) -> Callable[[], object]:
        """A launch of a thread an element."""
        return lambda: self.wp.launch(kernel, dim=dim, inputs=inputs, device=self.device)

    def tiled(self, kernel: Any, dim: tuple[int, int], block: int, inputs: list[Any]) -> Callable[[], object]:
        """A launch of a block a tile."""
        return lambda: self.wp.launch_tiled(kernel, dim=dim, inputs=inputs, block_dim=block, device=self.device)

    def wait(self) -> None:
        """Until the GPU has done everything."""
        self.wp.synchronize_device(self.device)

    def graph(self, run: Callable[[], object], repetitions: int) -> Way:
        """A graph of repetitions; the code was loaded before."""
        with self.wp.ScopedCapture(device=self.device) as capture:
            for _ in range(repetitions):
                run()

        def way() -> float:
            start = time.perf_counter()
            self.wp.capture_launch(capture.graph)
            self.wait()
            return (time.perf_counter() - start) / repetitions

        return way


Arrays = dict[str, Any]
_RUNS: dict[str, Callable[[Warp, Any, Arrays], Callable[[], object]]] = {
    "elementwise": lambda w, k, a: w.launch(k.saxpy, a["y"].size, [A, a["x"], a["y"]]),
    "particle step": lambda w, k, a: w.launch(
        k.integrate, a["pos"].size, [a["pos"], a["vel"], w.wp.vec3(*GRAVITY), DT]
    ),
    "mass-spring": lambda w, k, a: w.launch(
        k.spring_forces, a["springs"].size, [a["springs"], a["pos"], a["vel"], a["force"]]
    ),
    "3x3 stencil": lambda w, k, a: w.launch(k.blur, a["source"].shape, [a["source"], a["target"]]),
    "transpose": lambda w, k, a: w.tiled(
        k.transpose, (parts(a["a"].shape[0], 32), parts(a["a"].shape[1], 32)), 256, [a["a"], a["turned"]]
    ),
    "reduction": lambda w, k, a: lambda: w.wp.utils.array_sum(a["values"], out=a["total"]),
    "scan": lambda w, k, a: lambda: w.wp.utils.array_scan(a["values"], a["scanned"]),
    "histogram": lambda w, k, a: w.launch(k.histogram, a["values"].size, [a["values"], a["counts"]]),
    "matrix product": lambda w, k, a: w.tiled(
        k.matrix_product,
        (parts(a["product"].shape[0], 64), parts(a["product"].shape[1], 64)),
        128,
        [a["a"], a["b"], a["product"]],
    ),
    "N-body": lambda w, k, a: w.launch(k.attraction, a["pos"].size, [a["pos"], a["mass"], a["force"]]),
    "NV12 to RGB": lambda w, k, a: w.launch(
        k.nv12_to_rgb,
        a["rgb"].shape[1:],
        [a["frame"], a["rgb"].shape[2], w.wp.vec3(*MEAN), w.wp.vec3(*SCALE), a["rgb"]],
    ),
    "sparse matrix-vector": lambda w, k, a: w.launch(
        k.sparse_product, a["y"].size, [a["starts"], a["columns"], a["values"], a["x"], a["y"]]
    ),
}
