"""Warp's ways of benchmarks/gradients.py: a tape, and forward and backward in a graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from support import peers
from support.gradient_cases import DAMPING, DRAG, DT, FACTOR, GRAVITY, SPRING_DT, STIFFNESS, Case, Way


class Program:
    """A case on Warp's arrays."""

    def __init__(self, wp: Any, case: Case, device: str) -> None:
        from programs import warp_gradients

        self.wp, self.kernels, self.case, self.device = wp, warp_gradients, case, device
        self.inputs: dict[str, Any] = {}
        self.forward, self.result = getattr(self, f"_{case.name}")()
        self.ones = wp.full(case.count, value=self.result.dtype(1.0), dtype=self.result.dtype, device=device)
        self.tape: Any = None  # of the last backward pass

    def _array(self, name: str, dtype: Any) -> Any:
        made = self.wp.array(self.case.inputs[name], dtype=dtype, device=self.device, requires_grad=True)
        self.inputs[name] = made
        return made

    def _state(self, dtype: Any) -> Any:
        return self.wp.zeros(self.case.count, dtype=dtype, device=self.device, requires_grad=True)

    def _launch(self, kernel: Any, dim: int, inputs: list[Any]) -> None:
        self.wp.launch(kernel, dim=dim, inputs=inputs, device=self.device)

    def _axpy(self) -> tuple[Callable[[], None], Any]:
        x, y, z = self._array("x", float), self._array("y", float), self._state(float)
        return lambda: self._launch(self.kernels.axpy, self.case.count, [FACTOR, x, y, z]), z

    def _particles(self) -> tuple[Callable[[], None], Any]:
        wp, case = self.wp, self.case
        pos = [self._array("pos", wp.vec3)] + [self._state(wp.vec3) for _ in range(case.steps)]
        vel = [self._array("vel", wp.vec3)] + [self._state(wp.vec3) for _ in range(case.steps)]

        def forward() -> None:
            for t in range(case.steps):
                inputs = [pos[t], vel[t], wp.vec3(*GRAVITY), DRAG, DT, pos[t + 1], vel[t + 1]]
                self._launch(self.kernels.particles, case.count, inputs)

        return forward, pos[-1]

    def _springs(self) -> tuple[Callable[[], None], Any]:
        wp, case = self.wp, self.case
        table = _numpy().zeros(len(case.inputs["rest"]), self.kernels.Spring.numpy_dtype())
        table["first"], table["second"] = case.inputs["springs"].T
        table["length"], table["stiffness"], table["damping"] = case.inputs["rest"], STIFFNESS, DAMPING
        springs = wp.array(table, dtype=self.kernels.Spring, device=self.device)
        pos = [self._array("pos", wp.vec3)] + [self._state(wp.vec3) for _ in range(case.steps)]
        vel = [self._array("vel", wp.vec3)] + [self._state(wp.vec3) for _ in range(case.steps)]
        force = [self._state(wp.vec3) for _ in range(case.steps)]

        def forward() -> None:
            for t in range(case.steps):
                force[t].zero_()
                self._launch(self.kernels.spring_forces, len(table), [springs, pos[t], vel[t], force[t]])
                inputs = [pos[t], vel[t], force[t], SPRING_DT, pos[t + 1], vel[t + 1]]
                self._launch(self.kernels.move, case.count, inputs)

        return forward, pos[-1]

    def _rollout(self) -> tuple[Callable[[], None], Any]:
        wp, case = self.wp, self.case
        b, start, end = self._array("b", wp.vec4), self._array("start", wp.vec4), self._state(wp.vec4)
        inputs = [wp.mat44(*case.inputs["w"].reshape(-1).tolist()), b, start, case.steps, end]
        return lambda: self._launch(self.kernels.rollout, case.count, inputs), end

    def taped(self) -> Any:
        """Forward alone, recorded."""
        tape = self.wp.Tape()
        with tape:
            self.forward()
        return tape

    def both(self) -> None:
        """Forward and backward."""
        if self.tape is not None:
            self.tape.zero()
        self.tape = self.taped()
        self.tape.backward(grads={self.result: self.ones})

    def gradients(self) -> dict[str, Any]:
        """As NumPy's arrays."""
        return {name: self.inputs[name].grad.numpy().copy() for name in self.case.wanted}


def _numpy() -> Any:
    import numpy

    return numpy


def ways(case: Case, device: str, folder: Path) -> dict[str, Callable[[], Way]]:
    """What makes each way. Raises peers.Missing."""
    if device == "sim":
        wp, device = peers.need("warp"), "cpu"
        wp.config.quiet = True
        wp.init()
    else:
        wp = peers.open_warp(folder)
    wait = lambda: wp.synchronize_device(device)  # noqa: E731

    def plain() -> Way:
        program = Program(wp, case, device)
        return Way(program.taped, program.both, wait, program.gradients)

    def graph() -> Way:
        program = Program(wp, case, device)
        program.both()
        wait()
        with wp.ScopedCapture(device=device) as forward:
            program.forward()
        with wp.ScopedCapture(device=device) as both:
            program.both()
        keep = [program]

        def launch() -> None:
            assert keep
            wp.capture_launch(both.graph)

        return Way(lambda: wp.capture_launch(forward.graph), launch, wait, program.gradients)

    return {"Warp": plain} if device == "cpu" else {"Warp": plain, "Warp, graph": graph}
