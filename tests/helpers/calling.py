"""A function of the kernel language called for many arguments at once, in the simulator.

(value,) = call(function, xs)              # NumPy arrays: an element of each for every thread
(adj_x,) = call(function.gradient, xs, ones)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kbuild.intrinsics.table import has_effects
from kbuild.ir import nodes
from kbuild.ir.nodes import Assign, Call, Function, Index, Read, Symbol, ThreadIndex
from kbuild.ir.traverse import callees
from kbuild.ir.types import INT32, VOID, Array, Tuple, Type
from kbuild.ir.verify import verify
from kbuild.loader import host
from kbuild.sim.blocks import over
from tests.helpers import kernels
from tests.helpers.lockstep import run_in_lockstep


def function_of(folder: Path, text: str, name: str) -> Function:
    """A function that the one kernel of a text calls, by its name."""
    (kernel,) = kernels.lower_text(folder, text)
    return next(one for one in callees(kernel.function) if one.name == name)


def call(function: Function | None, *arguments: Any) -> list[np.ndarray]:
    """The results. An argument is an array of values, one for each thread; for a parameter that is an array, that
    array, or None."""
    assert function is not None
    kernel, results = _calling(function)
    count = next(
        len(one) for one, p in zip(arguments, function.parameters, strict=True) if not isinstance(p.type, Array)
    )
    outs = [_zeros(count, type) for type in results]
    given = []
    for one, p in zip(arguments, function.parameters, strict=True):
        given.append(one if isinstance(p.type, Array) else _zeros(count, p.type))
        if not isinstance(p.type, Array):
            given[-1][:] = one
    run_in_lockstep(kernel, over((count,), 256), [*given, *outs])
    return outs


def _calling(function: Function) -> tuple[nodes.Kernel, tuple[Type, ...]]:
    """A kernel that calls a function with its thread's elements, and stores the results."""
    result = function.result
    results = result.items if isinstance(result, Tuple) else () if result == VOID else (result,)
    thread = (ThreadIndex(0, 1, INT32),)
    given = [Symbol(p.name, p.type if isinstance(p.type, Array) else Array(p.type, 1)) for p in function.parameters]
    outs = [Symbol(f"out{i}", Array(type, 1)) for i, type in enumerate(results)]
    arguments = tuple(
        Read(s, s.type) if isinstance(p.type, Array) else Index(Read(s, s.type), thread, p.type)
        for s, p in zip(given, function.parameters, strict=True)
    )
    called = Call(function, arguments, result)
    kept = Symbol("kept", result)
    body: list[nodes.Stmt] = [nodes.Evaluate(called) if result == VOID else Assign(Read(kept, result), called)]
    for i, (out, type) in enumerate(zip(outs, results, strict=True)):
        whole = Read(kept, result)
        value = nodes.Item(whole, i, type) if isinstance(result, Tuple) else whole
        body.append(Assign(Index(Read(out, out.type), thread, type), value))
    made = Function("calls", "tests", (*given, *outs), VOID, tuple(body))
    return verify(nodes.Kernel("tests:calls", made, 1), has_effects), results


def _zeros(count: int, type: Type) -> np.ndarray:
    return np.zeros(count, np.dtype(host.numpy_dtype(type)))
