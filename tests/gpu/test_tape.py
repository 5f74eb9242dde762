"""Gradients on a GPU: the tape over machine code, streams, graphs, PyTorch."""

import warnings

import pytest
from gpukernels import taped as gradients

import kbuild as kb
from kbuild.loader import context, uses
from kbuild.loader.errors import LaunchError

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("default")]


@pytest.fixture(autouse=True)
def no_tape_is_left():
    yield
    assert not uses.tapes


def floats(*values, **options):
    return kb.array(list(values), dtype=float, **options)


def test_ones_flow_into_what_nobody_reads():
    x, y = floats(1, 2, 3, requires_grad=True), kb.zeros(3)
    for _ in range(4):  # the quick launch takes over, and hands over to the tape
        kb.launch(gradients.double, dim=3, inputs=[x], outputs=[y])
    with kb.Tape() as tape:
        kb.launch(gradients.double, dim=3, inputs=[x], outputs=[y])
    tape.backward()
    assert x.grad.tolist() == [2, 2, 2]
    tape.reset()


def thrown(n, steps, device=None):
    """Gradients of a simulation's energy with respect to how it began."""
    start = [[0.01 * i, 1.0, 0.1] for i in range(n)]
    pos = kb.array(start, dtype=kb.vec3, device=device, requires_grad=True)
    vel = kb.array(start, dtype=kb.vec3, device=device, requires_grad=True)
    out = kb.zeros(1, device=device)
    step = kb.bind(gradients.move, dim=n, inputs=[pos, vel, kb.vec3(0.0, -9.81, 0.0), 0.01])
    with kb.Tape() as tape:
        for _ in range(steps):
            step()
        kb.launch(gradients.energy, dim=n, inputs=[pos], outputs=[out])
    tape.backward(out)
    found = pos.grad.tolist(), vel.grad.tolist(), len(tape.memory.copies)
    tape.reset()
    return found


def test_many_steps_in_place():
    pos, vel, copies = thrown(300, 50)
    for i in range(0, 300, 37):
        t = 50 * 0.01
        expected = 2 * (0.01 * i + t * 0.01 * i)
        assert pos[i][0] == pytest.approx(expected, rel=1e-5, abs=1e-6)
        assert vel[i][0] == pytest.approx(expected * t, rel=1e-5, abs=1e-6)
    assert copies == 0


def test_what_is_overwritten_is_copied():
    n = 1000
    x, f = kb.full(n, 2.0, requires_grad=True), kb.full(n, 3.0, requires_grad=True)
    with kb.Tape() as tape:
        for _ in range(3):
            kb.launch(gradients.times, dim=n, inputs=[x, f])
    f.fill_(100.0)
    tape.backward()
    assert set(x.grad.tolist()) == {27.0}
    assert set(f.grad.tolist()) == {54.0}
    assert tape.memory.bytes == 4 * n * 4
    tape.reset()


def test_structs_copies_and_functions():
    spring = gradients.Spring(rest=floats(1, 1), stiffness=floats(2, 4, requires_grad=True))
    x, y, out = floats(2, 3, requires_grad=True), kb.zeros(2), kb.zeros(2)
    total = kb.zeros(1)
    with kb.Tape() as tape:
        kb.copy(y, x)
        kb.launch(gradients.stretch, dim=2, inputs=[spring, y], outputs=[out])
        kb.array_sum(out, total)
    tape.backward(total)
    assert x.grad.tolist() == [2, 8]
    assert spring.stiffness.grad.tolist() == [0.5, 2]
    tape.reset()


def test_workspace_in_pieces():
    n = 5000
    x, y = kb.full(n, 1.0, requires_grad=True), kb.zeros(n)
    counts = kb.array([200 if i == 77 else 3 for i in range(n)], dtype=int)
    for limit in (1 << 28, 1 << 18):
        x.grad.zero_()
        with kb.Tape(workspace_limit=limit) as tape:
            kb.launch(gradients.power, dim=n, inputs=[x, counts], outputs=[y])
        tape.backward()
        found = x.grad.tolist()
        assert (found[77], found[76], found[-1]) == (200, 3, 3)
        assert 0 < tape.memory.workspace <= limit
        tape.reset()


def test_other_streams():
    n = 1 << 20
    one, two = kb.Stream(), kb.Stream()
    x, f = kb.full(n, 2.0, requires_grad=True), kb.full(n, 3.0, requires_grad=True)
    one.wait_stream(kb.get_stream())
    with kb.Tape() as tape:
        kb.launch(gradients.times, dim=n, inputs=[x, f], stream=one)
        two.wait_stream(one)
        kb.launch(gradients.times, dim=n, inputs=[x, f], stream=two)
    with kb.ScopedStream(one, sync_enter=False):
        tape.backward()
    two.synchronize()
    assert set(f.grad.tolist()) == {12.0}
    tape.reset()


def captured(tape, kernel, x, counts, y):
    with kb.capture() as graph:
        x.grad.zero_()
        with tape:
            kb.launch(kernel, dim=len(x), inputs=[x, counts], outputs=[y])
        tape.backward()
    return graph


@pytest.fixture
def nothing_counted_yet(monkeypatch):
    """As though no kernel had run before."""
    from kbuild.loader.tape import workspace

    monkeypatch.setattr(workspace, "_largest", {})


@pytest.mark.usefixtures("nothing_counted_yet")
def test_forward_and_backward_in_a_graph():
    n = 1000
    x, y = kb.full(n, 2.0, requires_grad=True), kb.zeros(n)
    counts = kb.full(n, 3, dtype=int)
    assert x.grad.tolist()[0] == 0
    with kb.Tape() as tape:
        kb.launch(gradients.power, dim=n, inputs=[x, counts], outputs=[y])
    tape.backward()
    assert set(x.grad.tolist()) == {12.0}
    tape.reset()
    graph = captured(tape, gradients.power, x, counts, y)
    for value in (3.0, 5.0):
        x.fill_(value)
        graph.launch()
        assert set(x.grad.tolist()) == {3 * value * value}
    counts.fill_(6)
    graph.launch()
    with pytest.raises(LaunchError, match="room for 3 words a thread and needed 6"):
        kb.synchronize()
    counts.fill_(2)
    graph.launch()
    assert set(x.grad.tolist()) == {10.0}
    tape.reset()


@pytest.mark.usefixtures("nothing_counted_yet")
def test_a_capture_that_cannot_count():
    x, y, counts = floats(2, requires_grad=True), kb.zeros(1), kb.full(1, 3, dtype=int)
    tape = kb.Tape()
    with pytest.raises(LaunchError, match="found by a run that counts, which a capture cannot do"):
        captured(tape, gradients.power, x, counts, y)
    tape.reset()


def test_a_declared_bound_and_its_end():
    x, y, counts = floats(0.5, 0.25, requires_grad=True), kb.zeros(2), kb.full(2, 4, dtype=int)
    with kb.Tape() as tape:
        kb.launch(gradients.bounded, dim=2, inputs=[x, counts], outputs=[y])
    tape.backward()
    kb.synchronize()
    first = x.grad.tolist()
    assert all(value != 0 for value in first)
    graph = captured(kb.Tape(), gradients.bounded, x, counts, y)
    graph.launch()
    assert x.grad.tolist() == first
    counts.fill_(9)
    tape.reset()
    with tape:
        kb.launch(gradients.bounded, dim=2, inputs=[x, counts], outputs=[y])
    tape.backward()
    with pytest.raises(LaunchError, match="room for"):
        kb.synchronize()
    tape.reset()


def test_a_kernel_without_its_gradient():
    x = floats(1, requires_grad=True)
    with kb.Tape() as tape:
        with pytest.raises(LaunchError, match="was built without its gradient"):
            kb.launch(gradients.without, dim=1, inputs=[x])
        kb.launch(gradients.without, dim=1, inputs=[floats(1)])
        with kb.no_grad():
            kb.launch(gradients.without, dim=1, inputs=[x])
    assert x.tolist() == [2]
    tape.reset()


def test_checks():
    pytest.importorskip("numpy")
    x, y = floats(0.5, 1.5), kb.zeros(2)
    assert kb.gradcheck(gradients.times, 2, [x, floats(2, 3)])
    found = kb.jacobian(gradients.double, 2, [x], [y])
    assert found.tolist() == [[2, 0], [0, 2]]


def test_the_adjoint_alone():
    x, y = floats(1, 2, requires_grad=True), kb.zeros(2)
    kb.launch(gradients.double, dim=2, inputs=[x], outputs=[y], adjoint=True, adj_outputs=[floats(1, 10)])
    assert x.grad.tolist() == [2, 20]


# PyTorch


@pytest.fixture
def torch():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("torch")


def test_a_launch_in_pytorchs_graph(torch):
    double = kb.torch_function(gradients.double, outputs={"y": "x"})
    stretch = kb.torch_function(gradients.double, outputs={"y": lambda x: torch.zeros_like(x)}, dim=4)
    x = torch.arange(4.0, device="cuda", requires_grad=True)
    side = torch.cuda.Stream()
    for stream in (torch.cuda.current_stream(), side):
        x.grad = None
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            y = double(x * x, dim=4)
            loss = (stretch(x=y) * torch.arange(4.0, device="cuda")).sum()
            loss.backward()
        stream.synchronize()
        assert x.grad.tolist() == [0, 8, 32, 72]
    z = double(x, dim=4)
    assert torch.autograd.gradcheck is not None
    (first,) = torch.autograd.grad(z.sum(), x, retain_graph=True)
    (again,) = torch.autograd.grad(z.sum(), x)
    assert first.tolist() == again.tolist() == [2] * 4
    assert not double(x.detach(), dim=4).requires_grad


def test_views_and_vectors_of_tensors(torch):
    x = torch.ones((6, 4), device="cuda", requires_grad=True)
    double = kb.torch_function(gradients.double, outputs={"y": "x"}, dim=6)
    double(x[:, 1]).sum().backward()
    assert x.grad[:, 1].tolist() == [2] * 6
    assert x.grad[:, 0].tolist() == [0] * 6


def test_what_pytorch_records_is_refused(torch):
    x = torch.ones(3, device="cuda", requires_grad=True)
    out = kb.zeros(3)
    mine = kb.from_torch(torch.ones(3, device="cuda"))
    mine.requires_grad = True
    with kb.Tape() as tape:
        kb.launch(gradients.double, dim=3, inputs=[mine], outputs=[out])
        with pytest.raises(LaunchError, match="parameter f: PyTorch's own graph records this tensor"):
            kb.launch(gradients.times, dim=3, inputs=[out, x])
        with pytest.raises(LaunchError, match="PyTorch records this launch"):
            kb.torch_function(gradients.double, outputs={"y": "x"})(x, dim=3)
    tape.reset()
    with pytest.raises(LaunchError, match="parameter x is written, and no output"):
        kb.torch_function(gradients.times, outputs={"f": "x"})(x, dim=3)


def test_tensors_that_pytorch_overwrites(torch):
    f = torch.full((3,), 3.0, device="cuda")
    x = kb.ones(3, requires_grad=True)
    with kb.Tape() as tape:
        kb.launch(gradients.times, dim=3, inputs=[x, f])
    f.add_(1.0)
    with pytest.raises(LaunchError, match="PyTorch has written to it since"):
        tape.backward()
    tape.reset()


def test_a_tensors_own_gradient(torch):
    x = torch.ones(3, device="cuda", requires_grad=True)
    mine = kb.from_torch(x, requires_grad=True)
    y = kb.zeros(3)
    with kb.Tape() as tape:
        kb.launch(gradients.double, dim=3, inputs=[mine], outputs=[y])
    tape.backward()
    context.synchronize()
    assert x.grad.tolist() == [2] * 3
    tape.reset()


def test_tensors_on_the_host_go_to_the_simulator(torch):
    pytest.importorskip("numpy")
    x = torch.arange(3.0, requires_grad=True)
    kb.torch_function(gradients.double, outputs={"y": "x"}, dim=3)(x).sum().backward()
    assert x.grad.tolist() == [2] * 3
