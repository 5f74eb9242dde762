"""`wp.Tape` and its kin, on the simulator."""

from __future__ import annotations

from pathlib import Path
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
    with pytest.raises(RuntimeError, match="ended tape scope, but scope not present"):
        tape.record_scope_end()
    with pytest.raises(NotInKbuild, match=r"Tape\.record_launch"):
        tape.record_launch(double, 1, 0, [x], [y], "sim")
    with pytest.raises(LaunchError, match=r"tape\.record_func: the tape is not recording"):
        tape.record_func(print, [x])


@wp.struct
class Pair:
    x: wp.array(dtype=float)  # type: ignore[valid-type]
    by: float


@wp.kernel
def scale(pair: Pair, y: wp.array(dtype=float)):  # type: ignore[valid-type]
    i = wp.tid()
    y[i] = pair.by * pair.x[i]


def test_gradients_of_structs() -> None:
    x, y, _ = arrays()
    pair = Pair()
    pair.x, pair.by = x, 3.0
    with wp.Tape() as tape:
        wp.launch(scale, dim=2, inputs=[pair], outputs=[y])
    y.grad.fill_(1.0)
    tape.backward()
    assert tape.gradients[pair].x.tolist() == [3, 3]
    tape.reset()
    assert tape.gradients[pair].x.tolist() == [0, 0]
    assert not tape.launches


def test_a_backward_pass_inside_the_block() -> None:
    x, y, loss = arrays()
    with wp.Tape() as tape:
        wp.launch(squares, dim=2, inputs=[x], outputs=[loss])
        tape.backward(loss)
        assert x.grad.tolist() == [2, 4]
        tape.zero()
        wp.launch(double, dim=2, inputs=[x], outputs=[y])
    y.grad.fill_(1.0)
    tape.backward()
    assert x.grad.tolist() == [2, 2]


def test_scopes_and_the_picture(tmp_path: Path) -> None:
    x, y, loss = arrays()
    with wp.Tape() as tape:
        tape.record_scope_begin("outer")
        tape.record_scope_begin("empty")
        tape.record_scope_end()
        for _ in range(3):
            wp.launch(double, dim=2, inputs=[x], outputs=[y])
        tape.record_scope_end()
        wp.launch(squares, dim=2, inputs=[y], outputs=[loss])
        wp.copy(x, y)
    assert tape.scopes == [(0, "outer", {}), (3, None, None)]
    text = tape.visualize(str(tmp_path / "tape.dot"), array_labels={x: "the start"})
    assert (tmp_path / "tape.dot").read_text(encoding="utf-8") == text
    assert text.count("double") == 1
    assert all(part in text for part in ("repeated 3x", 'label="outer"', "the start", "array: dtype=", "squares"))
    assert text.count("{") == text.count("}")
    whole = tape.visualize(simplify_graph=False, ignore_graph_scopes=True, hide_readonly_arrays=True)
    assert (whole.count("double"), "outer" in whole) == (3, False)


def test_a_write_to_what_was_read_is_told(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(wp.config, "verify_autograd_array_access", True)
    x, y, loss = arrays()
    with wp.Tape() as tape:
        wp.launch(squares, dim=2, inputs=[x], outputs=[loss])
        assert capfd.readouterr().err == ""
        wp.launch(double, dim=2, inputs=[y], outputs=[x])
        assert "double, is being written to but has already been read from" in capfd.readouterr().err
        x.assign(y)
        assert f"is being written to by an array copy at {__file__}:" in capfd.readouterr().err
    tape.backward(loss)
    assert x.grad.tolist() == [2, 4]
    with wp.Tape():
        wp.launch(double, dim=2, inputs=[y], outputs=[x])
    assert capfd.readouterr().err == ""


def test_the_adjoint_as_a_launch_that_is_made_again() -> None:
    x, y, _ = arrays()
    y.grad.fill_(3.0)
    made = wp.launch(double, dim=2, inputs=[x, y], adjoint=True, record_cmd=True)
    made.launch()
    assert x.grad.tolist() == [6, 6]
    other, given = wp.zeros(2, dtype=float, device="sim"), wp.ones(2, dtype=float, device="sim")
    blank = wp.Launch(double, "sim", adjoint=True)
    blank.set_param_by_name("x", x)
    blank.set_param_by_name("y", y)
    blank.set_param_by_name("x", other, adjoint=True)
    blank.set_param_at_index(1, given, adjoint=True)
    blank.set_dim(2)
    blank.launch()
    assert other.tolist() == [2, 2]
    with pytest.raises(LaunchError, match="has no parameter"):
        blank.set_param_by_name("z", given, adjoint=True)
    with pytest.raises(TypeError, match="no argument 'adjoint_'"):
        wp.Launch(double, "sim", adjoint_=True)
