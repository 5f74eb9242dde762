"""`python -m robosim.learn` on the simulator: small, but all of it."""

from __future__ import annotations

import pytest

import kbuild as kb
from robosim import learn, plot, tasks


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(tasks.Throw.__init__, "__defaults__", (200, 4))


def test_both_losses_fall(small, tmp_path, capsys):
    picture = tmp_path / "loss.svg"
    status = learn.main(["--device", "sim", "--iterations", "3", "--steps", "12", "--plot", str(picture)])
    said = capsys.readouterr().out
    assert status == 0, said
    assert "both losses fall" in said
    assert picture.read_text().count("<polyline") == 2


@pytest.mark.parametrize("name", ["angle", "speed"])
def test_the_gradient_of_a_throw_is_that_of_differences(small, name):
    task = tasks.Throw("sim", 50, 4)
    with kb.Tape() as tape:
        task.forward()
    tape.backward(task.loss)
    parameter = getattr(task, name)
    gradient, values = parameter.grad.tolist(), parameter.tolist()
    for place in range(4):
        losses = []
        for change in (1e-2, -1e-2):
            parameter.assign([value + change * (i == place) for i, value in enumerate(values)])
            task.forward()
            losses += task.loss.tolist()
        assert gradient[place] == pytest.approx((losses[0] - losses[1]) / 2e-2, rel=2e-2, abs=0.2)


def test_without_a_gpu_it_says_what_to_do(monkeypatch, capsys):
    monkeypatch.setattr(kb, "get_devices", list)
    assert learn.main([]) == 0
    assert "--device sim" in capsys.readouterr().out


def test_a_loss_that_stays_is_noticed():
    assert not learn.is_falling("throw", [1.0, 1.0])
    assert not learn.is_falling("throw", [1.0] * 20 + [0.5])
    assert learn.is_falling("throw", [1.0] * 20 + [0.005])


def test_plots_of_few_and_equal_numbers():
    assert plot.text([1.0]).count("\n") == 0
    assert plot.text([float("nan"), 0.0, float("inf")]).count("\n") == 2
    assert "polyline" in plot.svg({"a": [1.0, 1.0], "b": [0.0, 1e-3, 10.0]}, "loss")
