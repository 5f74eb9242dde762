"""Launches made ready: the same results, changed arguments, memory kept."""

import gc

import pytest
from gpukernels import launching

import kbuild as kb

pytestmark = pytest.mark.gpu


def test_a_bound_launch_does_what_a_launch_does():
    data, out = kb.array([1.0, 2.0, 3.0]), kb.zeros(3)
    step = kb.bind(launching.add, dim=3, inputs=[data, 1.0], outputs=[out])
    assert out.tolist() == [0.0] * 3
    step()
    assert out.tolist() == [2.0, 3.0, 4.0]
    step.set(amount=5.0)
    step.launch()
    assert out.tolist() == [6.0, 7.0, 8.0]
    step.set(0, out)
    step()
    step()
    assert out.tolist() == [16.0, 17.0, 18.0]
    step.set_dim(1)
    step()
    assert out.tolist() == [21.0, 17.0, 18.0]


def test_it_keeps_its_memory_and_its_stream():
    stream = kb.Stream()
    out = kb.zeros(1000)
    step = kb.bind(launching.fill, dim=1000, inputs=[out, 7.0], stream=stream)
    view = out[990:]
    del out, stream
    gc.collect()
    kb.full(1000, -1.0)
    step()
    step.stream.synchronize()
    assert view.tolist() == [7.0] * 10


def test_record_cmd():
    out = kb.zeros(4)
    command = kb.launch(launching.fill, dim=4, inputs=[out, 2.0], record_cmd=True)
    assert out.tolist() == [0.0] * 4
    command.launch()
    assert out.tolist() == [2.0] * 4


def test_what_does_not_fit_is_refused_and_changes_nothing():
    out = kb.zeros(4)
    step = kb.bind(launching.fill, dim=4, inputs=[out, 2.0])
    with pytest.raises(kb.LaunchError, match="value"):
        step.set(value="x")
    with pytest.raises(kb.LaunchError, match="no parameter 'valeu'; did you mean 'value'"):
        step.set(valeu=1.0)
    with pytest.raises(kb.LaunchError, match="dim"):
        step.set_dim(-1)
    step()
    assert out.tolist() == [2.0] * 4
