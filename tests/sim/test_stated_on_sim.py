"""Launches in the simulator are held against what kernels state, as those on a GPU are, with the same words."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kbuild as kb
from kbuild.loader.errors import LaunchError
from kbuild.sim.lockstep.output import Output
from kbuild.simulate.compiled import Compiled, compiled
from kbuild.simulate.launches import execute
from kbuild.simulate.settings import Settings
from tests.helpers import kernels


@kb.kernel(launch_dim="n")
def scaled(
    a: kb.array(dtype=float, shape=("n", 2)),  # type: ignore[valid-type]
    b: kb.array(dtype=float, shape=("n",)),  # type: ignore[valid-type]
    factor: float,
):
    kb.assume(factor > 0.0)
    i = kb.tid()
    b[i] = factor * a[i, 0] * a[i, 1]


LINE = scaled.function.__code__.co_firstlineno + 1
PLACE = f"line {LINE} of {scaled.module}"


def arrays(n: int = 3, columns: int = 2, length: int = 3) -> tuple[Any, Any]:
    a = kb.array(np.arange(1.0, n * columns + 1).reshape(n, columns), dtype=float, device="sim", requires_grad=True)
    return a, kb.zeros(length, dtype=float, device="sim", requires_grad=True)


def test_what_agrees_runs() -> None:
    a, b = arrays()
    kb.launch(scaled, 3, [a, b, 0.5], device="sim")
    assert b.tolist() == [1.0, 6.0, 15.0]
    kb.sim.run(scaled, 3, [np.ones((3, 2), np.float32), np.zeros(3, np.float32), 1.0])
    kb.launch(scaled, 0, [*arrays(0, 2, 0), 0.5], device="sim")
    kb.launch(scaled, 0, [*arrays(0, 2, 0), -1.0], device="sim")  # nothing runs that could assume it


WRONG = [
    (3, (3, 3, 3), 1.0, "parameter a: a.shape[1] is 3, but {} says `a.shape[1] == 2`\n"),
    (
        3,
        (3, 2, 4),
        1.0,
        'parameter b: b.shape[0] is 4, but {} says `b.shape[0] == a.shape[0] ("n")`, and a.shape[0] is 3',
    ),
    (3, (3, 2, 3), 0.0, "parameter factor: factor is 0.0, but {} says `factor > 0.0`\n"),
    (4, (3, 2, 3), 1.0, "dim is 4, but {} says `dim == a.shape[0] (launch_dim)`, and a.shape[0] is 3\n"),
    (0, (3, 2, 3), 1.0, "dim is 0, but {} says"),
]


@pytest.mark.parametrize(("dim", "sizes", "factor", "said"), WRONG)
def test_what_does_not_is_refused(dim: int, sizes: tuple[int, int, int], factor: float, said: str) -> None:
    args = [*arrays(*sizes), factor]
    for launch in (
        lambda: kb.launch(scaled, dim, args, device="sim"),
        lambda: kb.launch(scaled, dim, args),
        lambda: kb.bind(scaled, dim, args)(),
        lambda: kb.sim.run(scaled, dim, args),
        lambda: kb.launch(scaled, dim, args, adjoint=True),
    ):
        with pytest.raises(LaunchError) as refused:
            launch()  # type: ignore[no-untyped-call]
        assert said.format(PLACE) in str(refused.value)
        assert "help: " in str(refused.value)
        assert str(refused.value).startswith(f"{scaled.module}:scaled")


def test_a_bound_launch_changes_size() -> None:
    step = kb.bind(scaled, 3, [*arrays(), 1.0])
    step()
    a, b = arrays(4, 2, 4)
    step.set(a=a, b=b)
    with pytest.raises(LaunchError, match="dim is 3"):
        step()
    step.set_dim(4)
    step()
    assert b.tolist() == [2.0, 12.0, 30.0, 56.0]


def test_a_tape_goes_back() -> None:
    a, b = arrays()
    with kb.Tape() as tape:
        kb.launch(scaled, 3, [a, b, 2.0])
        with pytest.raises(LaunchError, match="dim is 2"):
            kb.launch(scaled, 2, [a, b, 2.0])
    tape.backward(grads={b: kb.ones(3, dtype=float, device="sim")})
    assert a.grad.tolist() == [[4.0, 2.0], [8.0, 6.0], [12.0, 10.0]]


@kb.kernel
def masked(
    a: kb.array(dtype=float, shape=("n",)),  # type: ignore[valid-type]
    mask: kb.array(dtype=float, shape=("n",)),  # type: ignore[valid-type]
):
    i = kb.tid()
    if mask:
        a[i] = a[i] * mask[i]


def test_arrays_that_are_none() -> None:
    a = kb.ones(3, dtype=float, device="sim")
    kb.launch(masked, 3, [a, None], device="sim")
    kb.launch(masked, 3, [a, kb.zeros(3, dtype=float, device="sim")])
    assert a.tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(LaunchError, match=r'mask\.shape\[0\] is 2, but line \d+ of .* says `.*\("n"\)`'):
        kb.launch(masked, 2, [a, kb.zeros(2, dtype=float, device="sim")])


@kb.kernel
def of_threads(a: kb.array(dtype=float), n: int):  # type: ignore[valid-type]
    i = kb.tid()
    kb.assume(i < n)
    if i > 1:
        return
    kb.assume(n == 3)
    a[i] = 1.0


def test_what_threads_assume_the_simulator_alone_looks_at() -> None:
    a = kb.zeros(8, dtype=float, device="sim")
    kb.launch(of_threads, 3, [a, 3], device="sim")
    with pytest.raises(kb.sim.AssumptionFailed, match="`i < n`"):
        kb.launch(of_threads, 3, [a, 2], device="sim")
    with pytest.raises(kb.sim.AssumptionFailed, match="`n == 3`"):
        kb.launch(of_threads, 3, [a, 4], device="sim")


def _kernel(text: str, kind: str) -> str:
    return f"""
    @kb.kernel
    def k(out: kb.array(dtype=float), x: kb.{kind}, y: kb.{kind}):
        kb.assume({text})
        out[0] = 1.0
    """


SAID = [
    "x < y",
    "x - y <= x",
    "x * y == y * x",
    "x * x >= y",
    "-x != y + kb.{0}(1)",
    "x + y > kb.{0}(3) and x != y",
    "kb.{0}(5) >= x * y - y",
    "x % kb.{0}(4) == kb.{0}(0)",
    "(x + y) % kb.{0}(7) != kb.{0}(0)",
    "kb.{0}(3) * x - kb.{0}(2) * y == x + x + x - y - y",
]


@pytest.mark.parametrize("kind", ["int8", "int32", "uint16", "uint32", "int64", "uint64"])
def test_the_host_computes_as_kernels_do(tmp_path: Path, kind: str) -> None:
    """What a thread finds to be so, and what the host does, is the same for every number."""
    info = np.iinfo(kind)
    numbers = sorted({0, 1, 2, 3, 4, 7, 100, info.max, info.max - 1, info.max // 2, info.min, info.min // 2})
    outcomes = set()
    for said in SAID:
        _, (kernel,) = kernels.load(kernels.write(tmp_path, _kernel(said.format(kind), kind)))
        target = compiled(kernel, ())
        assert target.stated is not None, said
        for x, y in itertools.product(numbers, numbers):
            args = [np.zeros(1, np.float32), x, y]
            asked = [_is_made(target, args), _is_made(dataclasses.replace(target, stated=None), args)]
            assert asked[0] == asked[1], (said, x, y)
            outcomes.add(asked[0])
    assert outcomes == {True, False}


def _is_made(target: Compiled, args: list[Any]) -> bool:
    try:
        execute(target, 1, args, None, Settings(), Output(None))
    except (LaunchError, kb.sim.AssumptionFailed):
        return False
    return True
