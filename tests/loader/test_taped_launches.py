"""Quick and bound launches ask the tape while there is one, and its backward pass launches adjoints; the driver is a
stand-in.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import kbuild as kb
from kbuild.loader import array as arrays
from kbuild.loader import backward, bound, graphs, providers, streams, uses
from kbuild.loader.errors import LaunchError
from kbuild.loader.tape import workspace
from tests.helpers.fake_cuda import FakeCuda, make_bundle

PARAMETERS = [("x", "array1[float32]"), ("y", "array1[float32]")]
ADJOINT = [*PARAMETERS, ("adj_x", "array1[float32]"), ("adj_y", "array1[float32]")]
SAVED = [("saved_float32", "array2[float32]"), ("saved_words", "array1[int32]"), ("counting", "bool")]
WORDS = 40


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A kernel that reads x and writes y, whose adjoint saves what only a run can tell."""
    made = make_bundle(PARAMETERS)["p.kernels:k"]
    adjoint = make_bundle([*ADJOINT, *SAVED], optional=["saved_float32", "adj_x", "adj_y"])["p.kernels:k"]
    x, y, nothing = frozenset("x"), frozenset("y"), frozenset()
    facts = SimpleNamespace(
        name="k", parameters=made.parameters, kernel=adjoint, launch=adjoint.launch, read=x, written=y, before=x,
        after=nothing, scratch=nothing, accumulated=nothing, owned=nothing, saved={"float32": None},
    )  # fmt: skip
    made._backward = facts
    monkeypatch.setattr(providers, "backward_of", lambda *_: facts)
    monkeypatch.setattr(workspace, "_largest", {})
    yield made
    del uses.tapes[:]


def test_a_quick_launch_is_recorded(cuda: FakeCuda, kernel: Any) -> None:
    x, y = arrays.zeros(10, requires_grad=True), arrays.zeros(10)
    for _ in range(4):
        kernel.launch(10, (x, y))
    assert kernel.launch != kernel.thorough
    with kb.Tape() as tape:
        for _ in range(3):
            kernel.launch(10, (x, y))
        assert repr(tape) == "<kb.Tape of 3 steps>"
    kernel.launch(10, (x, y))  # nothing to be copied in time: y is not needed
    assert repr(tape) == "<kb.Tape of 3 steps>"
    assert cuda.launches == 8
    tape.reset()


def test_recorded_launches_and_their_adjoints_are_quick(
    cuda: FakeCuda, kernel: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has looked at a launch makes the quick one, although there is a tape, and so does the backward pass."""
    adjoint = make_bundle(ADJOINT, optional=["adj_x", "adj_y"])["p.kernels:k"]
    kernel._backward.kernel, kernel._backward.saved = adjoint, {}
    kernel._backward.launch = lambda *launch: backward.Backward.launch(kernel._backward, *launch)
    x, y = arrays.zeros(10, requires_grad=True), arrays.zeros(10)

    def step() -> None:
        with kb.Tape() as tape:
            kernel.launch(10, (x, y))
            kernel.launch(20, (x, y))
        tape.backward()
        tape.reset()

    step()
    step()
    before = cuda.launches
    for one in (kernel, adjoint):
        assert one.launch != one.thorough
        monkeypatch.setattr(one, "packing", None)  # which the thorough launch cannot do without
    step()
    assert cuda.launches == before + 4


def test_a_bound_launch_is_recorded(cuda: FakeCuda, kernel: Any) -> None:
    x, y = arrays.zeros(10, requires_grad=True), arrays.zeros(10)
    step = bound.bind(kernel, 10, [x, y])
    step()
    with kb.Tape() as tape:
        step()
        step()
    assert repr(tape) == "<kb.Tape of 2 steps>"
    assert cuda.launches == 3
    tape.reset()


def test_it_counts_first_and_goes_in_pieces(cuda: FakeCuda, kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    n = 1000
    x, y = arrays.zeros(n, requires_grad=True), arrays.zeros(n)
    with kb.Tape(workspace_limit=WORDS * 4 * 256) as tape:
        kernel.launch(n, (x, y))
    monkeypatch.setattr(workspace.Workspace, "_counted", lambda *_: [WORDS])
    tape.backward()
    assert cuda.launches == 1 + 4  # two blocks of 128 at a time
    assert tape.memory.workspace == WORDS * 4 * 256
    tape.reset()


def test_a_capture_takes_what_an_earlier_run_took(cuda: FakeCuda, kernel: Any) -> None:
    x, y = arrays.zeros(10, requires_grad=True), arrays.zeros(10)
    assert x.grad is not None
    tape, stream = kb.Tape(), streams.Stream()
    with pytest.raises(LaunchError, match="found by a run that counts, which a capture cannot do") as error:  # noqa: PT012
        with graphs.capture(stream=stream), tape:
            kernel.launch(10, (x, y))
        with graphs.capture(stream=stream):
            tape.backward()
    assert "help: run the backward pass once before the capture" in str(error.value)
    tape.reset()


def test_a_copy_by_the_host_in_a_capture(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(providers, "find", lambda _: None)
    x, y = arrays.zeros(10, requires_grad=True), arrays.zeros(10, requires_grad=True)
    assert (x.grad, y.grad) != (None, None)
    with kb.Tape() as tape:
        kb.copy(y, x)
    with pytest.raises(LaunchError, match="its gradient goes by way of the host here") as error, graphs.capture():
        tape.backward()
    assert 'help: write `primitives = ["copy"]`' in str(error.value)
    tape.reset()
