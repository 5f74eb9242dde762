"""`wp.Tape` and its kin, on the simulator."""

from __future__ import annotations

from typing import Any

import pytest

import kbuild.warp as wp
from kbuild.loader.errors import LaunchError
from kbuild.warp.absent import NotInKbuild


@wp.kernel
def double(x: wp.array(dtype=float), y: wp.array(dtype=float)):  # type: ignore[valid-type]
    i = wp.tid()
    y[i] = 2.0 * x[i]


@wp.kernel
def squares(x: wp.array(dtype=float), loss: wp.array(dtype=float)):  # type: ignore[valid-type]
    i = wp.tid()
    wp.atomic_add(loss, 0, x[i] * x[i])


@wp.kernel(enable_backward=False)
def count(x: wp.array(dtype=float)):  # type: ignore[valid-type]
    i = wp.tid()
    x[i] = x[i] + 1.0


def arrays() -> tuple[Any, Any, Any]:
    x = wp.array([1.0, 2.0], dtype=float, device="sim", requires_grad=True)
    y = wp.zeros(2, dtype=float, device="sim", requires_grad=True)
    return x, y, wp.zeros(1, dtype=float, device="sim", requires_grad=True)


def test_a_loss() -> None:
    x, y, loss = arrays()
    tape = wp.Tape()
    with tape:
        wp.launch(double, dim=2, inputs=[x], outputs=[y])
        wp.launch(squares, dim=2, inputs=[y], outputs=[loss])
        tape.record_scope_begin("rest")
        tape.record_scope_end()
    tape.backward(loss=loss)
    assert x.grad.tolist() == [8, 16]
    assert tape.gradients[x] is x.grad
    tape.zero()
    loss.grad.fill_(2.0)
    tape.backward()
    assert x.grad.tolist() == [16, 32]


def test_gradients_that_are_given_become_the_arrays_own() -> None:
    x, _, _ = arrays()
    y, given = wp.zeros(2, dtype=float, device="sim"), wp.array([1.0, 10.0], dtype=float, device="sim")
    with wp.Tape() as tape:
        wp.launch(double, dim=2, inputs=[x], outputs=[y])
        wp.launch(double, dim=2, inputs=[x], outputs=[y], record_tape=False)
    tape.backward(grads={y: given})
    assert x.grad.tolist() == [2, 20]


def test_the_adjoint_alone() -> None:
    x, y, _ = arrays()
    y.grad.fill_(3.0)
    wp.launch(double, dim=2, inputs=[x], outputs=[y], adjoint=True, adj_inputs=[x.grad], adj_outputs=[y.grad])
    assert x.grad.tolist() == [6, 6]


def test_recorded_adjoints() -> None:
    x, y, _ = arrays()
    y.grad.fill_(1.0)
    made = wp.launch(double, dim=2, inputs=[x], outputs=[y], adjoint=True, record_cmd=True)
    made.launch()
    assert x.grad.tolist() == [2, 2]
    made = wp.Launch(double, "sim", adjoint=True)
    made.set_param_by_name("x", x)
    made.set_param_at_index(1, y)
    made.set_dim(2)
    given, found = (wp.array([1.0, 10.0], dtype=float, device="sim") for _ in range(2))
    made.set_param_by_name("y", given, adjoint=True)
    made.set_param_at_index(0, found, adjoint=True)
    made.launch()
    assert found.tolist() == [3, 30]
    with pytest.raises(LaunchError, match="has no parameter 'z'"):
        made.set_param_by_name("z", given, adjoint=True)


def test_a_kernel_without_its_gradient_is_passed_over(capfd: pytest.CaptureFixture[str]) -> None:
    x, y, _ = arrays()
    with wp.Tape() as tape:
        wp.launch(double, dim=2, inputs=[x], outputs=[y])
        wp.launch(count, dim=2, inputs=[y])
    assert "count, declared with enable_backward=False, is launched on a tape" in capfd.readouterr().err
    y.grad.fill_(1.0)
    tape.backward()
    assert x.grad.tolist() == [2, 2]


def test_what_warp_raises() -> None:
    x, y, _ = arrays()
    tape = wp.Tape()
    with tape, pytest.raises(RuntimeError, match="entering a tape while one is already active"), wp.Tape():
        pass
    with pytest.raises(RuntimeError, match="Can only return gradients for scalar loss functions"):
        tape.backward(y)
    with pytest.raises(RuntimeError, match="should have requires_grad=True"):
        tape.backward(wp.zeros(1, dtype=float, device="sim"))
    with tape, pytest.raises(RuntimeError, match="is missing a gradient array"):
        tape.record_func(print, [wp.zeros(1, dtype=float, device="sim")])
    with pytest.raises(NotInKbuild, match=r"Tape\.record_launch"):
        tape.record_launch(double, 1, 0, [x], [y], "sim")
    with pytest.raises(LaunchError, match=r"tape\.record_func: the tape is not recording"):
        tape.record_func(print, [x])
