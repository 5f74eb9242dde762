"""Graphs on the GPU: replay, changes, loops and branches, first launches inside captures, memory, streams."""

import gc
import warnings

import pytest
from gpukernels import graphs, launching

import kbuild as kb
from kbuild.loader import context, driver

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("default")]
COUNT = 1000


def conditional_nodes():
    """Skips where the driver has no graphs that decide."""
    if driver.get().version < (12, 4):
        pytest.skip("graphs that decide need a driver for CUDA 12.4")


@pytest.fixture
def torch():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("torch")


def state(device=None):
    return kb.array([1.0 + 0.001 * i for i in range(COUNT)], device=device), kb.zeros(COUNT, device=device)


def test_a_hundred_replays_are_a_hundred_launches():
    pos, vel = state()
    for _ in range(100):
        for _ in range(3):
            kb.launch(graphs.advance, dim=COUNT, inputs=[pos, vel, 0.01])
    other, other_vel = state()
    with kb.capture() as graph:
        for _ in range(3):
            kb.launch(graphs.advance, dim=COUNT, inputs=[other, other_vel, 0.01])
    assert other.tolist() == state()[0].tolist()
    assert graph.is_captured
    graph.upload()
    for _ in range(100):
        graph.launch()
    assert (other.tolist(), other_vel.tolist()) == (pos.tolist(), vel.tolist())


def test_copies_and_fills():
    source, target, pinned = kb.array([1, 2, 3]), kb.zeros(3, int), kb.empty(3, int, "cpu", "pinned")
    long = kb.zeros(5, kb.mat33)
    with kb.capture() as graph:
        kb.copy(target, source)
        source.fill_(7)
        kb.copy(pinned, target)
        long.fill_(kb.mat33(*range(9)))
        inside = kb.full(4, 2.5)
    graph.launch()
    kb.synchronize()
    assert (target.tolist(), source.tolist(), pinned.tolist()) == ([1, 2, 3], [7, 7, 7], [1, 2, 3])
    assert long.tolist() == [kb.mat33(*range(9))] * 5
    graph()
    kb.synchronize()
    assert (target.tolist(), pinned.tolist(), inside.tolist()) == ([7, 7, 7], [7, 7, 7], [2.5] * 4)


def test_ordinary_memory_of_the_host_is_refused_and_spoils_nothing():
    target = kb.zeros(3)
    with kb.capture() as graph:
        with pytest.raises(ValueError, match="pinned"):
            target.assign([1.0, 2.0, 3.0])
        target.fill_(4.0)
    graph.launch()
    assert target.tolist() == [4.0] * 3


def test_changes_of_a_number_an_array_and_the_dim():
    out, other = kb.zeros(COUNT), kb.zeros(COUNT)
    step = kb.bind(launching.fill, dim=COUNT, inputs=[out, 1.0])
    with kb.capture() as graph:
        step()
        kb.launch(launching.add, dim=1, inputs=[out, 10.0], outputs=[out])
    graph.launch()
    assert out.tolist() == [11.0] + [1.0] * (COUNT - 1)
    step.set(value=2.0)
    graph.launch()
    assert out.tolist() == [11.0] + [1.0] * (COUNT - 1), "until update"
    graph.update(step)
    graph.launch()
    assert out.tolist() == [12.0] + [2.0] * (COUNT - 1)
    step.set(out=other)
    step.set_dim(10)
    graph.update(step)
    graph.launch()
    assert other.tolist() == [2.0] * 10 + [0.0] * (COUNT - 10)
    with kb.capture() as empty:
        pass
    with pytest.raises(kb.LaunchError, match="made no launch of this graph"):
        empty.update(step)
    empty.launch()


def test_memory_is_kept():
    out, sink = kb.full(COUNT, 3.0), kb.zeros(COUNT)
    with kb.capture() as graph:
        between = kb.empty(COUNT)
        kb.copy(between, out)
        kb.launch(launching.add, dim=COUNT, inputs=[between, 1.0], outputs=[sink])
    del out, between
    gc.collect()
    others = [kb.full(COUNT, -1.0) for _ in range(8)]
    graph.launch()
    assert sink.tolist() == [4.0] * COUNT
    graph.launch()
    del graph  # while it runs, perhaps
    gc.collect()
    others += [kb.full(COUNT, -2.0) for _ in range(8)]
    assert sink.tolist() == [4.0] * COUNT


def test_launches_on_several_streams():
    cells = kb.zeros(1, kb.int64)
    with kb.capture() as graph:
        kb.launch(launching.bump, dim=1, inputs=[cells, 0, 1, (1, 0)])
    streams = [kb.Stream(), kb.Stream(), None, kb.get_stream()]
    for _ in range(50):
        for stream in streams:
            graph.launch(stream)
    kb.synchronize()
    assert cells.tolist() == [200]


def test_a_stream_that_joins():
    first, second, other = kb.zeros(COUNT), kb.zeros(COUNT), kb.Stream()
    with kb.capture() as graph:
        own = kb.get_stream()
        kb.launch(launching.fill, dim=COUNT, inputs=[first, 2.0])
        other.wait_stream(own)
        kb.launch(launching.add, dim=COUNT, inputs=[first, 1.0], outputs=[second], stream=other)
        own.wait_stream(other)
        kb.launch(launching.add, dim=COUNT, inputs=[second, 1.0], outputs=[first])
    graph.launch()
    assert (first.tolist(), second.tolist()) == ([4.0] * COUNT, [3.0] * COUNT)


def test_a_graph_inside_another():
    cells = kb.zeros(1, kb.int64)
    with kb.capture() as inner:
        kb.launch(launching.bump, dim=1, inputs=[cells, 0, 1, (1, 0)])
    with kb.capture() as outer:
        for _ in range(3):
            inner.launch()
    del inner
    outer.launch()
    assert cells.tolist() == [3]


def test_a_first_launch_inside_a_capture_loads_its_code():
    out = kb.zeros(COUNT)
    with kb.capture() as graph:
        kb.launch(graphs.first, dim=COUNT, inputs=[out, 5.0])
    graph.launch()
    assert out.tolist() == [5.0] * COUNT


def test_a_first_launch_inside_torchs_capture(torch):
    out = torch.zeros(COUNT, device="cuda")
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=stream):  # in the global mode
        kb.launch(graphs.second, dim=COUNT, inputs=[out, 5.0], stream=stream)
        out *= 2.0
    for _ in range(2):
        graph.replay()
    torch.cuda.synchronize()
    assert out.tolist() == [12.0] * COUNT


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_memory_comes_and_goes_in_torchs_capture(torch, mode):
    """It is no part of the graph, and spoils nothing."""
    out, third = torch.zeros(COUNT, device="cuda"), kb.Stream()
    before = kb.zeros(COUNT)
    with kb.ScopedStream(third):
        named = kb.full(COUNT, 3.0)
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=stream, capture_error_mode=mode):
        inside = kb.zeros(COUNT)
        del before, named
        kb.launch(launching.fill, dim=COUNT, inputs=[out, 5.0], stream=stream)
        out *= 2.0
        passing = kb.empty(COUNT)
        del passing
    graph.replay()
    torch.cuda.synchronize()
    assert out.tolist() == [10.0] * COUNT
    assert inside.tolist() == [0.0] * COUNT
    kb.synchronize()


def test_torch_inside_our_capture(torch):
    """Torch's own operations go where torch's current stream is."""
    out, stream = torch.zeros(COUNT, device="cuda"), torch.cuda.Stream()
    out.mul_(2.0)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream), kb.capture(stream=stream) as graph:
        kb.launch(launching.fill, dim=COUNT, inputs=[out, 4.0])
        out.mul_(2.0)
    graph.launch(stream)
    stream.synchronize()
    assert out.tolist() == [8.0] * COUNT


def test_a_spoiled_capture():
    with pytest.raises(kb.DriverError) as caught:  # noqa: PT012, SIM117
        with kb.capture():
            with pytest.raises(kb.DriverError):
                kb.get_stream().synchronize()
    assert caught.value.code == 901
    assert "the capture was spoiled by: " in str(caught.value)
    test_copies_and_fills()


def test_an_exception_inside():
    stream = kb.Stream()
    with pytest.raises(KeyError):  # noqa: PT012, SIM117
        with kb.capture(stream=stream):
            kb.launch(launching.fill, dim=3, inputs=[kb.zeros(3), 1.0])
            raise KeyError
    assert not stream.is_capturing
    out = kb.zeros(3)
    with kb.capture(stream=stream) as graph:
        kb.launch(launching.fill, dim=3, inputs=[out, 1.0])
    graph.launch()
    assert out.tolist() == [1.0] * 3


def test_debug_dot(tmp_path):
    out = kb.zeros(3)
    with kb.capture() as graph:
        kb.launch(launching.fill, dim=3, inputs=[out, 1.0])
    graph.debug_dot(tmp_path / "graph.dot", verbose=True)
    assert "fill" in (tmp_path / "graph.dot").read_text()


# Loops and branches


def test_a_loop_in_a_graph():
    conditional_nodes()
    left, rounds = kb.array([5]), kb.zeros(1, int)
    with kb.capture() as graph:
        kb.capture_while(left, lambda: kb.launch(graphs.count_down, dim=1, inputs=[left, rounds]))
    assert rounds.tolist() == [0]
    graph.launch()
    assert (left.tolist(), rounds.tolist()) == ([0], [5])
    graph.launch()
    assert rounds.tolist() == [5], "not once more"
    left.fill_(1000)
    graph.launch()
    assert (left.tolist(), rounds.tolist()) == ([0], [1005])


@pytest.mark.parametrize("start", [0, 3])
def test_branches_in_a_graph(start):
    conditional_nodes()
    condition, out = kb.array([start]), kb.zeros(3)

    def fill(value):
        kb.launch(launching.fill, dim=3, inputs=[out, value])

    with kb.capture() as graph:
        kb.capture_if(condition, lambda: fill(1.0), lambda: fill(2.0))
    graph.launch()
    assert out.tolist() == [1.0 if start else 2.0] * 3
    condition.fill_(0 if start else 1)
    graph.launch()
    assert out.tolist() == [2.0 if start else 1.0] * 3
    with kb.capture() as only:
        kb.capture_if(condition, on_false=lambda: fill(5.0))
    only.launch()
    assert out.tolist() == [5.0 if start else 1.0] * 3


def test_a_branch_that_changes_its_condition():
    """One of the two, not both."""
    conditional_nodes()
    condition, out = kb.array([1]), kb.zeros(3)

    def on_true():
        condition.fill_(0)
        kb.launch(launching.fill, dim=3, inputs=[out, 1.0])

    with kb.capture() as graph:
        kb.capture_if(condition, on_true, lambda: kb.launch(launching.fill, dim=3, inputs=[out, 2.0]))
    graph.launch()
    assert out.tolist() == [1.0] * 3


@pytest.mark.parametrize("in_a_graph", [False, True])
def test_a_branch_inside_a_loop(in_a_graph):
    """Collatz' sequence from 27: 111 steps."""
    if in_a_graph:
        conditional_nodes()
    number, odd, more, steps, odds = kb.array([27]), kb.zeros(1, int), kb.ones(1, int), kb.zeros(1, int), kb.array([0])

    def body():
        kb.launch(graphs.is_odd, dim=1, inputs=[number, odd])
        kb.capture_if(odd, lambda: kb.launch(graphs.count_down, dim=1, inputs=[kb.zeros(1, int), odds]))
        kb.launch(graphs.step_collatz, dim=1, inputs=[number, odd, steps])
        kb.launch(graphs.is_more_than_one, dim=1, inputs=[number, more])

    if in_a_graph:
        with kb.capture() as graph:
            kb.capture_while(more, body)
        graph.launch()
    else:
        kb.capture_while(more, body)
    assert (number.tolist(), steps.tolist(), odds.tolist()) == ([1], [111], [41])


def test_a_graph_as_a_body():
    conditional_nodes()
    left, rounds = kb.array([7]), kb.zeros(1, int)
    with kb.capture() as body:
        kb.launch(graphs.count_down, dim=1, inputs=[left, rounds])
    with kb.capture() as graph:
        kb.capture_while(left, body)
    graph.launch()
    assert rounds.tolist() == [7]
    left.fill_(2)
    kb.capture_while(left, body)
    assert rounds.tolist() == [9]


def test_a_change_inside_a_body():
    """Kernel nodes of a body, by the same call."""
    conditional_nodes()
    condition, out = kb.array([1]), kb.zeros(3)
    step = kb.bind(launching.fill, dim=3, inputs=[out, 1.0])
    with kb.capture() as graph:
        kb.capture_if(condition, step)
    graph.launch()
    assert out.tolist() == [1.0] * 3
    step.set(value=2.0)
    graph.update(step)
    graph.launch()
    assert out.tolist() == [2.0] * 3


def test_a_loop_in_torchs_capture(torch):
    conditional_nodes()
    left, rounds = kb.array([5]), kb.zeros(1, int)
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    kb.synchronize()
    with torch.cuda.graph(graph, stream=stream), kb.ScopedStream(stream, sync_enter=False):
        kb.capture_while(left, lambda: kb.launch(graphs.count_down, dim=1, inputs=[left, rounds]))
    graph.replay()
    torch.cuda.synchronize()
    assert (left.tolist(), rounds.tolist()) == ([0], [5])


def test_the_kernel_that_decides_loads_everywhere():
    """Its cubin asks the driver for a function, and nothing else is linked."""
    conditional_nodes()
    from kbuild.primitives import conditions

    conditions.SETTER.prepare(context.get_device())
    assert conditions.set_condition.target.load(context.get_device()).function
