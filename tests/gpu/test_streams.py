"""Streams, events, scopes, time."""

import threading

import pytest
from gpukernels import launching

import kbuild as kb
from kbuild.loader import streams

pytestmark = pytest.mark.gpu

ROUNDS = 20000000


@pytest.fixture
def slow():
    made = kb.zeros(1, dtype=kb.int64)
    kb.synchronize()
    return made


def test_streams_run_side_by_side_and_events_order_them(slow):
    first, second = kb.Stream(), kb.Stream()
    data = kb.zeros(10)
    kb.launch(launching.fill, dim=10, inputs=[data, 0.0], stream=second)
    second.synchronize()
    kb.launch(launching.spin, dim=1, inputs=[slow, ROUNDS], stream=first)
    kb.launch(launching.fill, dim=10, inputs=[data, 1.0], stream=first)
    kb.launch(launching.spin, dim=1, inputs=[kb.zeros(1, dtype=kb.int64), 1], stream=second)
    second.synchronize()
    assert not first.is_complete
    event = first.record_event()
    assert not event.is_complete
    second.wait_event(event)
    kb.launch(launching.add, dim=10, inputs=[data, 1.0, data], stream=second)
    second.synchronize()
    assert event.is_complete
    assert data.tolist() == [2.0] * 10


def test_time(slow):
    start, end = kb.Event(enable_timing=True), kb.Event(enable_timing=True)
    start.record()
    kb.launch(launching.spin, dim=1, inputs=[slow, ROUNDS])
    end.record()
    long = kb.elapsed_time(start, end)
    start.record()
    kb.launch(launching.spin, dim=1, inputs=[slow, ROUNDS // 10])
    end.record()
    assert 3.0 < long / kb.elapsed_time(start, end) < 30.0
    with pytest.raises(ValueError, match="enable_timing"):
        kb.elapsed_time(kb.Event(), end)


def test_scopes(slow):
    stream = kb.Stream()
    data = kb.zeros(10)
    assert kb.get_stream().handle == 0
    with kb.ScopedStream(stream) as current:
        assert current is stream
        assert kb.get_stream() is stream
        for value in range(1, 4):  # the third launch is a quick one
            kb.launch(launching.spin, dim=1, inputs=[slow, ROUNDS])
            kb.launch(launching.fill, dim=10, inputs=[data, float(value)])
            assert not stream.is_complete
            assert data.tolist() == [float(value)] * 10
        seen = []
        other = threading.Thread(target=lambda: seen.append(kb.get_stream().handle))
        other.start()
        other.join()
        assert seen == [0]
    assert kb.get_stream().handle == 0
    kb.set_stream(stream)
    kb.launch(launching.spin, dim=1, inputs=[slow, ROUNDS])
    assert not stream.is_complete
    kb.set_stream(None)
    assert kb.get_stream().handle == 0


def test_a_scope_waits_for_what_was_before_and_lets_others_wait(slow):
    data, stream = kb.zeros(10), kb.Stream()
    kb.launch(launching.spin, dim=1, inputs=[slow, ROUNDS])
    kb.launch(launching.fill, dim=10, inputs=[data, 1.0])
    with kb.ScopedStream(stream, sync_exit=True):
        kb.launch(launching.add, dim=10, inputs=[data, 1.0, data])
        kb.launch(launching.spin, dim=1, inputs=[slow, ROUNDS])
        kb.launch(launching.add, dim=10, inputs=[data, 1.0, data])
    kb.launch(launching.add, dim=10, inputs=[data, 1.0, data])
    kb.synchronize()
    assert data.tolist() == [4.0] * 10


def test_priorities():
    low, high = streams.stream_priorities()
    assert high < low
    assert kb.Stream(priority=high).priority == high
    assert kb.Stream().priority == 0


def test_a_stream_goes_when_nobody_has_it(slow):
    """The driver finishes what is on it first."""
    data = kb.zeros(10)
    for value in range(200):
        stream = kb.Stream()
        kb.launch(launching.spin, dim=1, inputs=[slow, 10000], stream=stream)
        kb.launch(launching.fill, dim=10, inputs=[data, float(value)], stream=stream)
        del stream
    kb.synchronize()
    assert data[0] == 199.0
