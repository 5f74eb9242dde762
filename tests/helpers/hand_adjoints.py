"""Kernels with adjoints written by hand, as the tape asks for them: what tests of the tape alone launch on `sim`."""

from __future__ import annotations

from typing import Any

import kbuild as kb
from kbuild.loader import providers
from kbuild.loader.errors import LaunchError
from kbuild.simulate.compiled import compiled


class Hand:
    """Stands for `loader.backward.Backward`."""

    launches: list[tuple[Any, int | None, int]]

    def __init__(self, kernel: Any, adjoint: Any, args: Any, facts: dict[str, Any]) -> None:
        found = compiled(kernel, args)
        self.name, self.parameters, self.kernel = found.name, found.parameters, compiled(adjoint, ())
        self.adjoint = adjoint
        self.saved: dict[str, int | None] = facts.get("saved", {})
        for name in ("read", "written", "accumulated", "before", "after", "scratch", "owned"):
            setattr(self, name, frozenset(facts.get(name, "").split()))

    def launch(
        self,
        dim: Any,
        args: Any,
        stream: Any = None,
        device: Any = None,
        block_dim: int | None = None,
        max_blocks: int = 0,
    ) -> None:
        providers.launch_on("sim", self.adjoint, dim, args, stream, device, block_dim, max_blocks)


def backward_of(kind: str, kernel: Any, args: Any) -> Hand:
    """What `providers.backward_of` gives."""
    known = ADJOINTS.get(kernel.name.rpartition(":")[2])
    if known is None:
        raise LaunchError(f"{kernel.name} was built without its gradient\n  help: leave out enable_backward=False")
    return Hand(kernel, known[0], args, known[1])


@kb.struct
class Body:
    mass: kb.array(dtype=float)
    force: kb.array(dtype=float)
    steps: int
    up: kb.vec3


@kb.kernel
def double(x: kb.array(dtype=float), y: kb.array(dtype=float)):
    i = kb.tid()
    y[i] = 2.0 * x[i]


@kb.kernel
def double_adjoint(
    x: kb.array(dtype=float), y: kb.array(dtype=float), adj_x: kb.array(dtype=float), adj_y: kb.array(dtype=float)
):
    i = kb.tid()
    g = 0.0
    if adj_y:
        g = adj_y[i]
        adj_y[i] = 0.0
    if adj_x:
        kb.atomic_add(adj_x, i, 2.0 * g)


@kb.kernel
def times(x: kb.array(dtype=float), f: kb.array(dtype=float)):
    """x *= f, in place."""
    i = kb.tid()
    x[i] = x[i] * f[i]


@kb.kernel
def times_adjoint(
    x: kb.array(dtype=float), f: kb.array(dtype=float), adj_x: kb.array(dtype=float), adj_f: kb.array(dtype=float)
):
    i = kb.tid()
    g = 0.0
    if adj_x:
        g = adj_x[i]
        adj_x[i] = g * f[i]
    if adj_f:
        kb.atomic_add(adj_f, i, g * x[i])


@kb.kernel
def total(x: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    kb.atomic_add(out, 0, x[i] * x[i])


@kb.kernel
def total_adjoint(
    x: kb.array(dtype=float), out: kb.array(dtype=float), adj_x: kb.array(dtype=float), adj_out: kb.array(dtype=float)
):
    i = kb.tid()
    if adj_x and adj_out:
        kb.atomic_add(adj_x, i, 2.0 * x[i] * adj_out[0])


@kb.kernel
def push(body: Body, y: kb.array(dtype=float), factor: float):
    i = kb.tid()
    y[i] = body.mass[i] * body.force[i] * factor


@kb.kernel
def push_adjoint(body: Body, y: kb.array(dtype=float), factor: float, adj_body: Body, adj_y: kb.array(dtype=float)):
    i = kb.tid()
    g = 0.0
    if adj_y:
        g = adj_y[i] * factor
        adj_y[i] = 0.0
    if adj_body.mass:
        kb.atomic_add(adj_body.mass, i, g * body.force[i])
    if adj_body.force:
        kb.atomic_add(adj_body.force, i, g * body.mass[i])


@kb.kernel
def power(x: kb.array(dtype=float), n: kb.array(dtype=int), y: kb.array(dtype=float)):
    """y = x ** n, by a loop whose steps only a run can tell."""
    i = kb.tid()
    p = 1.0
    for _ in range(n[i]):
        p = p * x[i]
    y[i] = p


@kb.kernel
def power_adjoint(
    x: kb.array(dtype=float),
    n: kb.array(dtype=int),
    y: kb.array(dtype=float),
    adj_x: kb.array(dtype=float),
    adj_y: kb.array(dtype=float),
    saved_float32: kb.array2d(dtype=float),
    saved_words: kb.array(dtype=int),
    counting: bool,
):
    i = kb.tid()
    if counting:
        kb.atomic_max(saved_words, 0, n[i])
        return
    if saved_float32 and n[i] > saved_float32.shape[0]:
        kb.atomic_max(saved_words, 0, n[i])
        return
    p = 1.0
    g = 0.0
    if not saved_float32:
        return
    for k in range(n[i]):
        saved_float32[k, i] = p
        p = p * x[i]
    if adj_y:
        g = adj_y[i]
        adj_y[i] = 0.0
    for k in range(n[i]):
        if adj_x:
            kb.atomic_add(adj_x, i, g * saved_float32[n[i] - 1 - k, i])
        g = g * x[i]


@kb.kernel
def without(x: kb.array(dtype=float)):
    i = kb.tid()
    x[i] = x[i] + 1.0


ADJOINTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "double": (double_adjoint, {"read": "x", "written": "y"}),
    "times": (times_adjoint, {"read": "x f", "written": "x", "before": "x f"}),
    "total": (total_adjoint, {"read": "x out", "written": "out", "accumulated": "out", "before": "x"}),
    "push": (push_adjoint, {"read": "body.mass body.force", "written": "y", "before": "body.mass body.force"}),
    "power": (power_adjoint, {"read": "x n", "written": "y", "before": "x n", "saved": {"float32": None}}),
}


@kb.kernel
def triple(x: kb.array(dtype=float), y: kb.array(dtype=float)):
    i = kb.tid()
    y[i] = 3.0 * x[i]
