"""Gradients: on a GPU the bits that the simulator gives, and what they mean.

Where sums have an open order, the numbers are small integers and halves, whose sums are exact in every order.
"""

import random
import warnings
from importlib.util import find_spec

import pytest
from gpukernels import gradients

import kbuild as kb

pytestmark = pytest.mark.gpu

COUNT = 300


def floats(seed, count=COUNT, low=0.5, high=1.5):
    numbers = random.Random(seed)
    return [float(kb.float32(numbers.uniform(low, high))) for _ in range(count)]


def integers(seed, low, high, count=COUNT):
    numbers = random.Random(seed)
    return [numbers.randint(low, high) for _ in range(count)]


def vectors(seed, length, count=COUNT):
    values = floats(seed, length * count, -1.0, 1.0)
    return [tuple(values[length * i : length * (i + 1)]) for i in range(count)]


def array(values, dtype=float, device=None):
    """With a gradient."""
    return kb.array(values, dtype=dtype, device=device, requires_grad=True)


def bits(values):
    """Numbers, vectors and structs of them as text that tells every bit, all NaNs alike."""
    if isinstance(values, (list, tuple)):
        return [bits(one) for one in values]
    if isinstance(values, gradients.Joint):
        return bits([values.gain, tuple(values.axis)])
    if hasattr(values, "__iter__"):
        return [bits(one) for one in values]
    return float(values).hex()


def flat(values):
    if hasattr(values, "__iter__"):
        return [number for one in values for number in flat(one)]
    return [values]


def simulated(program):
    """What a program gives in the simulator; None where that is not installed."""
    try:
        is_there = find_spec("numpy") is not None and find_spec("kbuild.sim.numbers") is not None
    except ModuleNotFoundError:
        is_there = False
    return program("sim") if is_there else None


def same(program):
    """Asserts that a program's arrays are the simulator's bit for bit, and gives them."""
    found = [one.tolist() for one in program(None)]
    wanted = simulated(program)
    if wanted is not None:
        assert bits(found) == bits([one.tolist() for one in wanted])
    return found


def taped(launch, seeds, *arrays, limit=None):
    """The gradients of arrays after a launch, with numbers that are no ones at what it writes."""
    tape = kb.Tape() if limit is None else kb.Tape(limit)
    with tape:
        launch()
    tape.backward(grads=seeds)
    return [one.grad for one in arrays], tape


def through(kernel, n_high=6, seed=1):
    """A program of a kernel (x, n, y)."""

    def program(device):
        x, n = array(floats(seed), device=device), kb.array(integers(2, 0, n_high), dtype=int, device=device)
        y = kb.zeros(COUNT, dtype=float, device=device)
        seeds = {y: kb.array(floats(3), dtype=float, device=device)}
        found, _ = taped(lambda: kb.launch(kernel, dim=COUNT, inputs=[x, n], outputs=[y]), seeds, x)
        return [y, *found]

    return program


def test_a_product_in_a_loop():
    x, y = array([4.0, 2.0, 3.0]), kb.zeros(3, dtype=float)
    with kb.Tape() as tape:
        kb.launch(gradients.product, dim=3, inputs=[x, kb.array([3, 1, 0], dtype=int)], outputs=[y])
    tape.backward()
    assert x.grad.tolist() == [48.0, 1.0, 0.0]
    same(through(gradients.product))


@pytest.mark.parametrize("kernel", [gradients.bounded, gradients.wander], ids=["bounded", "wander"])
def test_loops(kernel):
    found = same(through(kernel))
    assert any(found[1])


def test_updates_in_place():
    def program(device):
        a, b, c = (array(floats(seed), device=device) for seed in (1, 2, 3))
        seeds = {a: kb.array(floats(4), dtype=float, device=device)}
        found, _ = taped(lambda: kb.launch(gradients.scale_by, dim=COUNT, inputs=[a, b, c]), seeds, a, b, c)
        return [a, *found]

    same(program)
    a, b, c = array([3.0]), array([4.0]), array([2.0])
    taped(lambda: kb.launch(gradients.scale_by, dim=1, inputs=[a, b, c]), None, a)
    assert (a.tolist(), a.grad.tolist()) == ([36.0], [24.0])
    assert (b.grad.tolist(), c.grad.tolist()) == ([18.0], [-36.0])


def test_a_factor_of_zero_is_no_division():
    a, b, c = array([3.0]), array([0.0]), array([2.0])
    with kb.Tape() as tape:
        kb.launch(gradients.scale_by, dim=1, inputs=[a, b, c])
    tape.backward()
    assert [one.grad.tolist() for one in (a, b, c)] == [[0.0], [0.0], [0.0]]


def test_nested_loops():
    def program(device):
        x, rows = array(floats(1, 40), device=device), kb.array(integers(2, 0, 5, 40), dtype=int, device=device)
        y = kb.zeros((40, 3), dtype=float, device=device)
        found, _ = taped(lambda: kb.launch(gradients.nested, dim=(40, 3), inputs=[x, rows], outputs=[y]), None, x)
        return [y], found

    (y,), (x,) = program(None)
    wanted = simulated(program)
    if wanted is not None:
        assert bits(y.tolist()) == bits(wanted[0][0].tolist())
        # Three threads add to each element.
        assert x.tolist() == pytest.approx(wanted[1][0].tolist(), rel=1e-5)


def test_structs():
    def program(device):
        count = 64
        axes = zip(*[integers(seed, -4, 4, count) for seed in (2, 3, 4)])
        joints = [
            gradients.Joint(gain=gain, axis=kb.vec3(*axis), parent=i // 4 - 1)
            for i, (gain, axis) in enumerate(zip(integers(1, -4, 4, count), axes))
        ]
        model = gradients.Model(
            mass=array([float(n) for n in integers(5, 1, 4, count)], device=device),
            joints=array(joints, gradients.Joint, device),
            scale=0.5,
        )
        angles = array([float(n) for n in integers(6, -4, 4, count)], device=device)
        out = kb.zeros(count, dtype=kb.vec3, device=device)
        launch = lambda: kb.launch(gradients.torque, dim=count, inputs=[model, angles], outputs=[out])  # noqa: E731
        found, _ = taped(launch, None, model.mass, model.joints, angles)
        return [out, *found]

    _out, mass, joints, angles = same(program)
    assert any(mass)
    assert any(angles)
    assert any(joint.gain for joint in joints)


def test_vectors_matrices_and_quaternions():
    def program(device):
        matrices = [kb.mat33(*one) for one in vectors(1, 9)]
        m, q = array(matrices, kb.mat33, device), array(vectors(2, 4), kb.quat, device)
        v = array(vectors(3, 3), kb.vec3, device)
        out = kb.zeros(COUNT, dtype=kb.vec3, device=device)
        seeds = {out: kb.array(vectors(4, 3), dtype=kb.vec3, device=device)}
        found, _ = taped(lambda: kb.launch(gradients.turn, dim=COUNT, inputs=[m, q, v], outputs=[out]), seeds, m, q, v)
        return [out, *found]

    same(program)


def test_atomic_sums():
    def program(device):
        x = array([float(n) for n in integers(1, -8, 8)], device=device)
        to = kb.array(integers(2, 0, 3), dtype=int, device=device)
        out = kb.zeros(5, dtype=float, device=device)
        seeds = {out: kb.array([1.0, 2.0, -3.0, 4.0, 0.5], dtype=float, device=device)}
        found, _ = taped(lambda: kb.launch(gradients.scatter, dim=COUNT, inputs=[x, to], outputs=[out]), seeds, x)
        return [out, *found]

    _, found = same(program)
    seeds = [1.0, 2.0, -3.0, 4.0, 0.5]
    rows = zip(integers(1, -8, 8), integers(2, 0, 3))
    assert found == [2.0 * x * seeds[to] - seeds[to + 1] for x, to in rows]


def test_the_smallest_and_the_largest():
    def program(device):
        x = array(floats(1, low=-1.0, high=2.0), device=device)
        low, high = kb.full(1, 1e9, dtype=float, device=device), kb.full(1, -1e9, dtype=float, device=device)
        found, _ = taped(lambda: kb.launch(gradients.extremes, dim=COUNT, inputs=[x], outputs=[low, high]), None, x)
        return [low, high, *found]

    _, _, found = same(program)
    values = floats(1, low=-1.0, high=2.0)
    assert found[values.index(min(values))] == 2.0
    assert found[values.index(max(values))] == 2.0 * max(values)
    assert sum(number != 0.0 for number in found) == 2


def test_early_returns():
    def program(device):
        x, y = array(floats(1, low=-1.0, high=3.0), device=device), kb.zeros(COUNT, dtype=float, device=device)
        seeds = {y: kb.array(floats(2), dtype=float, device=device)}
        found, _ = taped(lambda: kb.launch(gradients.early, dim=COUNT, inputs=[x], outputs=[y]), seeds, x)
        return [y, *found]

    _, found = same(program)
    assert all((number == 0.0) == (x < 0.0) for number, x in zip(found, floats(1, low=-1.0, high=3.0)))


def test_a_gradient_of_its_own():
    def program(device):
        x, y = array([-2.0, 0.5, 7.0], device=device), kb.zeros(3, dtype=float, device=device)
        found, _ = taped(lambda: kb.launch(gradients.custom, dim=3, inputs=[x], outputs=[y]), None, x)
        return [y, *found]

    assert same(program) == [[-2.0, 1.0, 2.0], [6.0, 6.0, 6.0]]


@pytest.mark.parametrize("dtype", [kb.float32, kb.float64])
def test_two_types_of_numbers(dtype):
    def program(device):
        x, y = array(floats(1), dtype, device), kb.zeros(COUNT, dtype=dtype, device=device)
        found, _ = taped(lambda: kb.launch(gradients.powers, dim=COUNT, inputs=[x, 5], outputs=[y]), None, x)
        return [y, *found]

    same(program)


def test_approximate_functions():
    def program(device):
        x, y = array(floats(1), device=device), kb.zeros(COUNT, dtype=float, device=device)
        found, _ = taped(lambda: kb.launch(gradients.smooth, dim=COUNT, inputs=[x], outputs=[y]), None, x)
        return found

    (found,), wanted = program(None), simulated(program)
    assert all(number == number and number != 0.0 for number in found.tolist())
    if wanted is not None:
        assert found.tolist() == pytest.approx(wanted[0].tolist(), rel=2e-5, abs=1e-6)


def motion(device, steps=5):
    """Several launches in place, and the arrays that the gradients are for."""
    pos, vel, force = (array(vectors(seed, 3), kb.vec3, device) for seed in (1, 2, 3))
    loss = array([0.0], device=device)

    def work():
        loss.zero_()
        for _ in range(steps):
            kb.launch(gradients.step, dim=COUNT, inputs=[pos, vel, force, 0.125])
        kb.launch(gradients.energy, dim=COUNT, inputs=[pos], outputs=[loss])

    return work, loss, (pos, vel, force)


def test_launches_in_place_one_after_another():
    def program(device):
        work, loss, arrays = motion(device)
        with kb.Tape() as tape:
            work()
        tape.backward(loss)
        assert tape.memory.bytes >= 5 * COUNT * 12  # the velocity before each step but the last
        return [one.grad for one in arrays]

    same(program)


def test_two_passes_add_up_and_zero_begins_anew():
    x, y = array(floats(1)), kb.zeros(COUNT, dtype=float)
    with kb.Tape() as tape:
        kb.launch(gradients.powers, dim=COUNT, inputs=[x, 3], outputs=[y])
    tape.backward()
    once = x.grad.tolist()
    tape.backward()
    assert x.grad.tolist() == pytest.approx([2.0 * number for number in once], rel=1e-6)
    tape.zero()
    tape.backward()
    assert x.grad.tolist() == once


def test_more_trips_than_declared_are_reported():
    x, y = array([1.5] * 4), kb.zeros(4, dtype=float)
    with kb.Tape() as tape:
        kb.launch(gradients.bounded, dim=4, inputs=[x, kb.array([1, 8, 9, 20], dtype=int)], outputs=[y])

    def backward():
        tape.backward()
        kb.synchronize()

    with pytest.raises(kb.LaunchError, match=r"bounded.*its adjoint had room for"):
        backward()
    kb.synchronize()


# What only a GPU does. tests/sim/test_gpu_tests.py leaves these out by `on_a_gpu` in their names.


def test_pieces_on_a_gpu():
    """A budget for one block at a time gives the same bits."""
    count = 5000
    n = kb.array(integers(2, 0, 9, count), dtype=int)
    seen = []
    for limit in (None, 128 * 4 * 9, 1):
        x, y = array(floats(1, count)), kb.zeros(count, dtype=float)
        found, tape = taped(
            lambda: kb.launch(gradients.product, dim=count, inputs=[x, n], outputs=[y]),  # noqa: B023
            None, x, limit=limit,
        )  # fmt: skip
        seen.append((found[0].tolist(), tape.memory.workspace))
    (whole, most), (small, least), (tiny, still) = seen
    assert bits(small) == bits(whole) == bits(tiny)
    assert least == still < most


def captured(work, loss, arrays):
    """Forward and backward in one graph, after a run that has loaded the code and counted."""
    with kb.Tape() as tape:
        work()
    tape.backward(loss)
    for one in arrays:
        one.grad.zero_()
    with kb.capture() as graph:
        with kb.Tape() as tape:
            work()
        tape.backward(loss)
    return graph, tape


def test_captured_on_a_gpu():
    """Replays with other values in the arrays give what a tape gives without a graph."""
    work, loss, arrays = motion(None)
    graph, _tape = captured(work, loss, arrays)
    for seed in (1, 7):
        starts = [vectors(seed + number, 3) for number in range(3)]
        for one, start in zip(arrays, starts):
            one.assign(start)
            one.grad.zero_()
        graph.launch()
        kb.synchronize()
        found = [one.grad.tolist() for one in arrays]
        again, loss_again, others = motion(None)
        for one, start in zip(others, starts):
            one.assign(start)
        with kb.Tape() as tape:
            again()
        tape.backward(loss_again)
        assert bits(found) == bits([one.grad.tolist() for one in others])


def test_captured_loops_on_a_gpu():
    """The workspace of a warm run serves a capture; more trips than it has room for are reported."""
    x, n, y = array([1.5, 2.0, 0.5]), kb.array([3, 2, 1], dtype=int), array([0.0] * 3)

    def work():
        kb.launch(gradients.product, dim=3, inputs=[x, n], outputs=[y])

    with kb.Tape() as tape:
        work()
    tape.backward(grads={y: [1.0, 1.0, 1.0]})
    assert x.grad.tolist() == [6.75, 4.0, 1.0]
    x.grad.zero_()
    y.grad.zero_()
    ones = kb.array([1.0] * 3, dtype=float)
    with kb.capture() as graph:
        with kb.Tape() as tape:
            work()
        tape.backward(grads={y: ones})
    for _ in range(2):
        n.assign([1, 3, 0])
        x.grad.zero_()
        graph.launch()
        kb.synchronize()
        assert x.grad.tolist() == [1.0, 12.0, 0.0]
    n.assign([400, 1, 1])  # no other test takes so many
    graph.launch()
    with pytest.raises(kb.LaunchError, match="its adjoint had room for"):
        kb.synchronize()
    n.assign([1, 1, 1])
    x.grad.zero_()
    graph.launch()
    kb.synchronize()
    assert x.grad.tolist() == [1.0, 1.0, 1.0]


def test_two_streams_on_a_gpu():
    """What runs on other streams comes before the backward pass."""
    one, two = kb.Stream(), kb.Stream()
    count = 100000
    x, y, z = array(floats(1, count)), kb.zeros(count, dtype=float), kb.zeros(count, dtype=float)
    n = kb.array(integers(2, 3, 5, count), dtype=int)
    kb.synchronize()
    with kb.Tape() as tape:
        kb.launch(gradients.product, dim=count, inputs=[x, n], outputs=[y], stream=one)
        kb.launch(gradients.powers, dim=count, inputs=[x, 2], outputs=[z], stream=two)
    tape.backward()
    kb.synchronize()
    both = x.grad.tolist()
    x.grad.zero_()
    with kb.Tape() as tape:
        kb.launch(gradients.product, dim=count, inputs=[x, n], outputs=[y])
        kb.launch(gradients.powers, dim=count, inputs=[x, 2], outputs=[z])
    tape.backward()
    assert bits(both) == bits(x.grad.tolist())


@pytest.fixture
def torch():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("torch")


@pytest.mark.filterwarnings("default")
def test_a_launch_in_torchs_graph_on_a_gpu(torch):
    place = "cuda" if torch.cuda.is_available() else "cpu"
    x = torch.tensor(floats(1), device=place, requires_grad=True)
    n = torch.tensor(integers(2, 0, 6), dtype=torch.int32, device=place)
    power = kb.torch_function(gradients.product, outputs={"y": "x"}, dim=COUNT)
    (2.0 * power(x, n)).square().sum().backward()
    again = x.detach().double().requires_grad_(True)
    (2.0 * again**n).square().sum().backward()
    assert torch.allclose(x.grad.double(), again.grad, rtol=1e-5)


@pytest.mark.filterwarnings("default")
def test_torchs_graph_and_a_tape_on_a_gpu(torch):
    """One of them records a tensor, and not both."""
    place = "cuda" if torch.cuda.is_available() else "cpu"
    b, c = torch.ones(3, device=place, requires_grad=True), torch.ones(3, device=place)
    a = array([1.0, 2.0, 3.0])
    with kb.Tape(), pytest.raises(kb.LaunchError, match="PyTorch"):
        kb.launch(gradients.scale_by, dim=3, inputs=[a, b, c])
