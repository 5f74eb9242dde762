"""Functions in CUDA C++ inside kernels, and their gradients on a tape."""

import random

import pytest
from gpukernels import native

import kbuild as kb

pytestmark = pytest.mark.gpu

COUNT = 1000


def floats(seed):
    draw = random.Random(seed)
    return [float(kb.float32(draw.uniform(-2.0, 2.0))) for _ in range(COUNT)]


def taped(kernel, inputs, out):
    with kb.Tape() as tape:
        kb.launch(kernel, COUNT, inputs, [out])
    tape.backward(grads={out: kb.ones(COUNT, dtype=float)})


def test_a_value():
    x, out = kb.array(floats(1), dtype=float, requires_grad=True), kb.zeros(COUNT, dtype=float, requires_grad=True)
    taped(native.cubes, [x], out)
    product = [float(kb.float32(a * a)) for a in floats(1)]
    assert out.tolist() == [float(kb.float32(a * b)) for a, b in zip(floats(1), product)]
    for a, found in zip(floats(1), x.grad.tolist()):
        assert found == pytest.approx(3.0 * a * a, rel=1e-6)


def test_arrays():
    a = kb.array([0.5], dtype=float, requires_grad=True)
    x, y = (kb.array([float(i % 16) for i in range(COUNT)], dtype=float, requires_grad=True) for _ in range(2))
    out = kb.zeros(COUNT, dtype=float, requires_grad=True)
    taped(native.saxpy, [a, x, y], out)
    assert out.tolist() == [1.5 * (i % 16) for i in range(COUNT)]
    assert x.grad.tolist() == [0.5] * COUNT
    assert y.grad.tolist() == [1.0] * COUNT
    assert a.grad.tolist() == [float(sum(i % 16 for i in range(COUNT)))]


def test_an_array_without_a_gradient():
    a, x = kb.array([0.5], dtype=float), kb.ones(COUNT, dtype=float, requires_grad=True)
    out = kb.zeros(COUNT, dtype=float, requires_grad=True)
    taped(native.saxpy, [a, x, kb.ones(COUNT, dtype=float)], out)
    assert x.grad.tolist() == [0.5] * COUNT


def test_a_counter_that_does_not_count_again():
    x = kb.array([float(i % 4) for i in range(COUNT)], dtype=float, requires_grad=True)
    counts, slots = kb.zeros(1, dtype=int), kb.zeros(COUNT, dtype=int)
    out = kb.zeros(COUNT, dtype=float, requires_grad=True)
    taped(native.counted, [x, counts, slots], out)
    assert counts.tolist() == [COUNT // 2]
    assert sorted(out.tolist()) == sorted([4.0, 9.0] * (COUNT // 4) + [0.0] * (COUNT // 2))
    assert x.grad.tolist() == [0.0, 0.0, 4.0, 6.0] * (COUNT // 4)


def test_threads_together():
    x, out = kb.array(list(range(512)), dtype=int), kb.zeros(512, dtype=int)
    kb.launch(native.block_sums, dim=512, block_dim=256, inputs=[x, out])
    assert out.tolist() == [sum(range(256))] * 256 + [sum(range(256, 512))] * 256


def test_an_array_in_shared_memory_and_a_warp():
    """Above 48 KiB too; the text takes the array that the launch has made so large."""
    x, out = kb.array([float(i) for i in range(512)], dtype=float), kb.zeros(512, dtype=float)
    for size in (1024, 60 * 1024):
        kb.launch(native.neighbours, dim=512, block_dim=256, inputs=[x, out], shared_memory=size)
        assert out.tolist() == [i + (i ^ 1) + size // 4 for i in range(512)]


def test_a_table():
    x = kb.array([float(i % 16) for i in range(COUNT)], dtype=float, requires_grad=True)
    out = kb.zeros(COUNT, dtype=float, requires_grad=True)
    taped(native.of_a_table, [x], out)
    wanted = [native.WEIGHTS[i % 3, 1] * (i % 16) + native.WEIGHTS[i % 3, 0] + 3.0 for i in range(COUNT)]
    assert out.tolist() == wanted
    assert x.grad.tolist() == [native.WEIGHTS[i % 3, 1] for i in range(COUNT)]


def test_on_the_host():
    assert native.cube(2.0) == 8.0
    with pytest.raises(TypeError, match="scaled is CUDA C"):
        native.scaled(1.0, None, None, None, 0)
