"""Launches that the GPU gets ready while the one before them ends see all the same whatever stands before them."""

import warnings

import numpy as np
import pytest
from gpukernels import launching

import kbuild as kb
from kbuild.loader import context

pytestmark = pytest.mark.gpu

COUNT, STEPS = 3_000_000, 200
LONG = 3_000_000


@pytest.fixture(autouse=True)
def _capable():
    if context.get_device().number < 90:
        pytest.skip("no launch of this GPU's begins early")


def test_it_is_what_happens_here():
    first = kb.bind(launching.mirror, dim=1, inputs=[kb.zeros(1), kb.zeros(1)])
    assert first._loaded.attributes


@pytest.fixture
def torch():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("torch")


def pair():
    return kb.array(np.arange(COUNT, dtype=np.float32)), kb.zeros(COUNT)


def check(a):
    """An even number of steps leaves every number in its place."""
    assert (a.numpy() == np.arange(COUNT, dtype=np.float32) + STEPS).all()


@pytest.mark.parametrize("named", [False, True], ids=["default stream", "stream"])
def test_every_step_sees_the_one_before(named):
    stream = kb.Stream() if named else None
    a, b = pair()
    kb.synchronize()
    for _ in range(STEPS // 2):
        kb.launch(launching.mirror, dim=COUNT, inputs=[a, b], stream=stream)
        kb.launch(launching.mirror, dim=COUNT, inputs=[b, a], stream=stream)
    kb.synchronize()
    check(a)


def test_bound_launches_and_graphs():
    a, b = pair()
    there, back = [kb.bind(launching.mirror, dim=COUNT, inputs=list(two)) for two in ((a, b), (b, a))]
    for _ in range(STEPS // 4):
        there()
        back()
    with kb.capture() as graph:
        there()
        back()
    for _ in range(STEPS // 4):
        graph.launch()
    kb.synchronize()
    check(a)


def test_pieces_of_a_launch():
    a, b = pair()
    for _ in range(STEPS // 2):
        kb.launch(launching.mirror, dim=COUNT, inputs=[a, b], max_blocks=1000)
        kb.launch(launching.mirror, dim=COUNT, inputs=[b, a], max_blocks=3000)
    check(a)


@pytest.mark.parametrize("is_captured", [False, True])
def test_the_last_thread_of_the_one_before(is_captured):
    data, out = kb.zeros(10_000), kb.zeros(10_000)
    kb.synchronize()

    def steps():
        for value in (1.0, 2.0, 3.0):
            kb.launch(launching.late, dim=10_000, inputs=[data, LONG, value])
            kb.launch(launching.mirror, dim=10_000, inputs=[data, out])
            kb.launch(launching.add, dim=10_000, inputs=[out, 0.5, data])

    if is_captured:
        with kb.capture() as graph:
            steps()
        graph.launch()
    else:
        steps()
    assert out.numpy()[0] == 4.0
    assert (data.numpy() == 4.5).all()


@pytest.mark.parametrize("is_captured", [False, True])
def test_what_another_stream_does_before(is_captured):
    """An event stands between two launches of the stream: the second waits for the other stream too."""
    first, second = kb.Stream(), kb.Stream()
    data, out = kb.zeros(1000), kb.zeros(1000)
    kb.synchronize()

    def steps():
        fork = first.record_event()
        second.wait_event(fork)
        kb.launch(launching.late, dim=1000, inputs=[data, LONG, 7.0], stream=second)
        kb.launch(launching.fill, dim=1000, inputs=[out, 1.0], stream=first)
        first.wait_event(second.record_event())
        kb.launch(launching.mirror, dim=1000, inputs=[data, out], stream=first)

    if is_captured:
        with kb.capture(stream=first) as graph:
            steps()
        graph.launch()
    else:
        steps()
    kb.synchronize()
    assert out.tolist() == [8.0] * 1000


def test_copies_and_fills_between():
    source, data, out = kb.full(1000, 5.0), kb.zeros(1000), kb.zeros(1000)
    for _ in range(100):
        kb.launch(launching.late, dim=1000, inputs=[data, 1000, 1.0])
        kb.copy(data, source)
        kb.launch(launching.mirror, dim=1000, inputs=[data, out])
        kb.launch(launching.late, dim=1000, inputs=[data, 1000, 2.0])
        data.zero_()
        kb.launch(launching.add, dim=1000, inputs=[data, 3.0, data])
    assert (out.tolist(), data.tolist()) == ([6.0] * 1000, [3.0] * 1000)


def test_between_torchs_own_kernels(torch):
    data, out = torch.zeros(COUNT, device="cuda"), torch.zeros(COUNT, device="cuda")
    for _ in range(100):
        data += 1.0
        kb.launch(launching.mirror, dim=COUNT, inputs=[data, out])
        data.copy_(out)
    assert (data == 200.0).all().item()
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        data += 1.0
        kb.launch(launching.mirror, dim=COUNT, inputs=[data, out])
        data.copy_(out)
    for _ in range(10):
        graph.replay()
    torch.cuda.synchronize()
    assert (data == 220.0).all().item()
