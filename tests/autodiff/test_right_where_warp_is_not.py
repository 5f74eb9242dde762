"""What NVIDIA Warp's own tests and documentation give as a gradient and is none, and what is right instead.

Ids of Warp's tests that ask for such values stand in `benchmarks/warp_apart.toml`, under `right`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kbuild.warp as wp

Floats = wp.array(dtype=float)


@wp.kernel
def product(x: Floats, n: int, out: Floats):  # type: ignore[valid-type]
    s = 1.0
    for i in range(n):
        s *= x[i]
    out[0] = s


@wp.kernel
def multiply(a: Floats, b: Floats):  # type: ignore[valid-type]
    i = wp.tid()
    a[i] *= b[i]


@wp.kernel
def divide(a: Floats, b: Floats):  # type: ignore[valid-type]
    i = wp.tid()
    a[i] /= b[i]


@wp.kernel
def remainder(a: Floats, b: Floats, out: Floats):  # type: ignore[valid-type]
    i = wp.tid()
    out[i] = a[i] % b[i]


@wp.kernel
def largest(a: Floats, out: Floats):  # type: ignore[valid-type]
    wp.atomic_max(out, 0, a[wp.tid()])


@wp.kernel
def double(x: Floats, y: Floats):  # type: ignore[valid-type]
    i = wp.tid()
    y[i] = 2.0 * x[i]


@wp.kernel
def triple(x: Floats, y: Floats):  # type: ignore[valid-type]
    i = wp.tid()
    y[i] = 3.0 * x[i]


@wp.kernel
def scale_component(points: wp.array(dtype=wp.vec3), by: Floats):  # type: ignore[valid-type]
    i = wp.tid()
    points[i][1] *= by[i]


@wp.kernel
def slices(x: wp.array(dtype=wp.vec2), y: wp.array(dtype=wp.mat22), z: wp.array(dtype=wp.mat22)):  # type: ignore[valid-type]
    i = wp.tid()
    m = wp.mat22()
    m[0, :2] = x[i]
    m[:2, 1] = y[i][0, :2]
    m[1, :] += x[i][::-1]
    z[i] = m


def numbers(*values: float) -> Any:
    return wp.array(values, dtype=float, device="sim", requires_grad=True)


def taken_back(kernel: Any, dim: int, inputs: list[Any], result: Any) -> None:
    """Gradients of the sum of what the kernel writes."""
    with wp.Tape() as tape:
        wp.launch(kernel, dim=dim, inputs=inputs)
    tape.backward(grads={result: wp.ones_like(result)})


def test_a_product_in_a_dynamic_loop() -> None:
    x, out = numbers(4, 4, 4), numbers(0)
    taken_back(product, 1, [x, 3, out], out)
    assert x.grad.tolist() == [16, 16, 16]  # Warp: [32, 8, 2]


def test_a_product_in_place() -> None:
    a, b = numbers(2, 3), numbers(5, 7)
    taken_back(multiply, 2, [a, b], a)
    assert a.grad.tolist() == [5, 7]
    assert b.grad.tolist() == [2, 3]


def test_a_quotient_in_place() -> None:
    a, b = numbers(2, 3), numbers(4, 2)
    taken_back(divide, 2, [a, b], a)
    assert a.grad.tolist() == [0.25, 0.5]
    assert b.grad.tolist() == [-0.125, -0.75]


def test_a_component_in_place() -> None:
    points = wp.array([[1.0, 2.0, 3.0]], dtype=wp.vec3, device="sim", requires_grad=True)
    by = numbers(5)
    taken_back(scale_component, 1, [points, by], points)
    assert points.grad.tolist() == [[1, 5, 1]]
    assert by.grad.tolist() == [2]


def test_a_remainder_by_its_divisor() -> None:
    """a % b is a - trunc(a / b) · b. Warp's tests want 0 for the derivative by b, wherever a is."""
    a, b, out = numbers(7.5, 1.5, -7.5), numbers(2, 2, 2), numbers(0, 0, 0)
    taken_back(remainder, 3, [a, b, out], out)
    assert a.grad.tolist() == [1, 1, 1]
    step = np.float64(1e-3)
    slope = (np.fmod([7.5, 1.5, -7.5], 2 + step) - np.fmod([7.5, 1.5, -7.5], 2 - step)) / (2 * step)
    assert b.grad.numpy() == pytest.approx(slope, abs=1e-6)


def test_slices_that_overwrite_one_another() -> None:
    """Of `m[0, :2] = x` the second element is overwritten at once."""
    x = wp.array([[1.0, 2.0]], dtype=wp.vec2, device="sim", requires_grad=True)
    y, z = (wp.zeros(1, dtype=wp.mat22, device="sim", requires_grad=True) for _ in range(2))
    taken_back(slices, 1, [x, y, z], z)
    total = z.numpy().sum()
    assert x.grad.tolist() == [[2, 1]]
    assert y.grad.tolist() == [[[1, 1], [0, 0]]]
    wp.copy(x, wp.array([[1.0, 3.0]], dtype=wp.vec2, device="sim"))
    wp.launch(slices, dim=1, inputs=[x, y, z])
    assert z.numpy().sum() - total == 1


def test_equal_largest_values_share_nothing() -> None:
    """If all of them got the whole, a step along the gradient would promise more than it gives."""
    a, out = numbers(3, 5, 5), numbers(0)
    taken_back(largest, 3, [a, out], out)
    assert sorted(a.grad.tolist()) == [0, 0, 1]


def test_what_was_overwritten_gets_nothing_where_a_gradient_is_retained() -> None:
    """Warp documents that with `retain_grad` the first writer gets the gradient of what the second one wrote, too."""
    a, b = numbers(1, 1), numbers(1, 1)
    y = wp.zeros(2, dtype=float, device="sim", requires_grad=True, retain_grad=True)
    with wp.Tape() as tape:
        wp.launch(double, dim=2, inputs=[a], outputs=[y])
        wp.launch(triple, dim=2, inputs=[b], outputs=[y])
    tape.backward(grads={y: wp.ones_like(y)})
    assert (a.grad.tolist(), b.grad.tolist(), y.grad.tolist()) == ([0, 0], [3, 3], [1, 1])


def test_a_copy_over_a_retained_gradient() -> None:
    x, s = numbers(1, 1), numbers(5, 5)
    y = wp.zeros(2, dtype=float, device="sim", requires_grad=True, retain_grad=True)
    with wp.Tape() as tape:
        wp.launch(double, dim=2, inputs=[x], outputs=[y])
        wp.copy(y, s)
    tape.backward(grads={y: wp.ones_like(y)})
    assert (x.grad.tolist(), s.grad.tolist(), y.grad.tolist()) == ([0, 0], [1, 1], [1, 1])


def test_a_write_that_another_tape_still_has_to_know_of(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Warp says nothing once any tape has gone back over the array, and gives a wrong gradient."""
    monkeypatch.setattr(wp.config, "verify_autograd_array_access", True)
    a, b, ones, first, second = numbers(3), numbers(1), numbers(7), wp.Tape(), wp.Tape()
    other = numbers(1)
    with first:
        wp.launch(multiply, dim=1, inputs=[b, a])
    with second:
        wp.launch(multiply, dim=1, inputs=[other, a])
    first.backward(grads={b: wp.ones_like(b)})
    with wp.Tape():
        wp.launch(double, dim=1, inputs=[ones, a])
    assert "has already been read from" in capfd.readouterr().err
    second.backward(grads={other: wp.ones_like(other)})
    assert other.grad.tolist() == [3]
