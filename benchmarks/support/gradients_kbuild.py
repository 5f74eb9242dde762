"""kbuild's ways of benchmarks/gradients.py: a tape, and forward and backward in a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from support.gradient_cases import DAMPING, DRAG, DT, FACTOR, GRAVITY, SPRING_DT, STIFFNESS, Case, Way


class Program:
    """A case on kbuild's arrays: `forward` launches it, `result` is what the gradient begins at."""

    def __init__(self, case: Case, device: str, is_shifted: bool = False) -> None:
        from benchkernels import gradients

        import kbuild as kb

        self.kb, self.kernels, self.case, self.device, self.is_shifted = kb, gradients, case, device, is_shifted
        self.states: list[Any] = []
        self.inputs: dict[str, Any] = {}
        self.forward, self.result = getattr(self, f"_{case.name}")()
        self.ones = kb.full(self.result.shape, 1.0, dtype=self.result.dtype, device=device)

    def _array(self, name: str, dtype: Any) -> Any:
        data = self.case.inputs[name]
        made = self.kb.array(data, dtype=dtype, device=self.device, requires_grad=name in self.case.wanted)
        self.inputs[name] = made
        return made

    def _state(self, dtype: Any) -> Any:
        made = self.kb.zeros(self.case.count, dtype=dtype, device=self.device, requires_grad=True)
        self.states.append(made)
        return made

    def _chosen(self, name: str) -> tuple[Any, list[int]]:
        return getattr(self.kernels, f"{name}_shifted" if self.is_shifted else name), [0] * self.is_shifted

    def _axpy(self) -> tuple[Callable[[], None], Any]:
        kb, count = self.kb, self.case.count
        kernel, shift = self._chosen("axpy")
        x, y, z = self._array("x", float), self._array("y", float), self._state(float)
        return lambda: kb.launch(kernel, dim=count, inputs=[FACTOR, x, y, z, *shift]), z

    def _particles(self) -> tuple[Callable[[], None], Any]:
        kb, case = self.kb, self.case
        kernel, shift = self._chosen("particles")
        pos = [self._array("pos", kb.vec3)] + [self._state(kb.vec3) for _ in range(case.steps)]
        vel = [self._array("vel", kb.vec3)] + [self._state(kb.vec3) for _ in range(case.steps)]
        gravity = kb.vec3(*GRAVITY)

        def forward() -> None:
            for t in range(case.steps):
                inputs = [pos[t], vel[t], gravity, DRAG, DT, pos[t + 1], vel[t + 1], *shift]
                kb.launch(kernel, dim=case.count, inputs=inputs)

        return forward, pos[-1]

    def _springs(self) -> tuple[Callable[[], None], Any]:
        from robosim import kernels

        kb, case = self.kb, self.case
        pairs = zip(case.inputs["springs"].tolist(), case.inputs["rest"].tolist(), strict=True)
        made = [
            kernels.Spring(first=first, second=second, length=rest, stiffness=STIFFNESS, damping=DAMPING)
            for (first, second), rest in pairs
        ]
        springs = kb.array(made, dtype=kernels.Spring, device=self.device)
        pos = [self._array("pos", kb.vec3)] + [self._state(kb.vec3) for _ in range(case.steps)]
        vel = [self._array("vel", kb.vec3)] + [self._state(kb.vec3) for _ in range(case.steps)]
        force = [self._state(kb.vec3) for _ in range(case.steps)]

        def forward() -> None:
            for t in range(case.steps):
                force[t].zero_()
                kb.launch(kernels.spring_forces, dim=len(made), inputs=[springs, pos[t], vel[t], force[t]])
                inputs = [pos[t], vel[t], force[t], SPRING_DT, pos[t + 1], vel[t + 1]]
                kb.launch(self.kernels.move, dim=case.count, inputs=inputs)

        return forward, pos[-1]

    def _rollout(self) -> tuple[Callable[[], None], Any]:
        kb, case = self.kb, self.case
        b, start, end = self._array("b", kb.vec4), self._array("start", kb.vec4), self._state(kb.vec4)
        inputs = [kb.mat44(*case.inputs["w"].reshape(-1).tolist()), b, start, case.steps, end]
        return lambda: kb.launch(self.kernels.rollout, dim=case.count, inputs=inputs), end

    def both(self) -> Any:
        """Forward and backward; the tape."""
        for name in self.case.wanted:
            self.inputs[name].grad.zero_()
        with self.kb.Tape() as tape:
            self.forward()
        tape.backward(grads={self.result: self.ones})
        return tape

    def taped(self) -> Any:
        """Forward alone, recorded."""
        with self.kb.Tape() as tape:
            self.forward()
        return tape

    def gradients(self) -> dict[str, Any]:
        """As NumPy's arrays."""
        return {name: self.inputs[name].grad.numpy().copy() for name in self.case.wanted}

    def memory(self, tape: Any) -> dict[str, int]:
        """Bytes beside inputs and states: gradients, copies of what is overwritten, what adjoint kernels save."""
        held = [*self.states, *(self.inputs[name] for name in self.case.wanted)]
        gradients = sum(one.grad.nbytes for one in held)
        return {"gradients": gradients, "copies": tape.memory.bytes, "saved": tape.memory.workspace}


def ways(case: Case, device: str) -> dict[str, Callable[[], Way]]:
    """What makes each way."""
    made = {"kbuild": lambda: _plain(Program(case, device))}
    if device != "sim":
        made["kbuild, graph"] = lambda: _graph(Program(case, device))
    if case.name in ("axpy", "particles"):
        shifted = lambda: Program(case, device, is_shifted=True)  # noqa: E731
        made["kbuild, atomic sums"] = (lambda: _plain(shifted())) if device == "sim" else (lambda: _graph(shifted()))
    return made


def _plain(program: Program) -> Way:
    memory = program.memory(program.both())
    return Way(program.taped, program.both, lambda: program.kb.synchronize(program.device), program.gradients, memory)


def _graph(program: Program) -> Way:
    """A run before loads the code, makes the gradients' memory, and counts what adjoint kernels save."""
    kb = program.kb
    memory = program.memory(program.both())
    kb.synchronize()
    with kb.capture() as forward:
        program.forward()
    with kb.capture() as both:
        tape = program.both()
    keep = [tape]  # with its copies

    def launch() -> None:
        assert keep
        both.launch()

    return Way(forward.launch, launch, kb.synchronize, program.gradients, memory)
