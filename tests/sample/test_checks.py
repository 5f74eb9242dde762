"""The sample's kernels do what its plain-Python reference says, and its checks notice when they do not."""

from __future__ import annotations

import pytest

import kbuild as kb
from robosim import __main__ as program
from robosim import checks, reference
from tests.helpers import host_arrays


@pytest.fixture
def host(monkeypatch):
    host_arrays.install(monkeypatch)


@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda check: check.__name__)
def test_kernel_and_reference_agree(host, check):
    outcome = check()
    assert outcome.is_good, outcome
    assert outcome.threads >= 2000


REFERENCES = [check.__name__ for check in checks.CHECKS]


@pytest.mark.parametrize("name", REFERENCES)
def test_a_wrong_result_is_noticed(host, monkeypatch, name):
    right = getattr(reference, name)

    def wrong(*arguments):
        numbers = list(checks.flat(right(*arguments)))
        numbers[len(numbers) // 2] += 1
        return numbers

    monkeypatch.setattr(reference, name, wrong)
    assert not getattr(checks, name)().is_good


@pytest.mark.parametrize("got", [[1.0], [1.0, float("nan")], [1.0, 2.0, 3.0]])
def test_missing_numbers_and_nan_are_errors(got):
    assert checks.largest_error(got, [1.0, 2.0]) == float("inf")


def test_the_program_fails_with_a_wrong_result(host, monkeypatch, capsys):
    monkeypatch.setattr(kb, "get_devices", lambda: [program.GPUS[0]])
    good = checks.Outcome(threads=1, seconds=0.0, error=0.0, tolerance=0.0)
    monkeypatch.setattr(program, "CHECKS", (lambda: good,))
    assert program.main() == 0
    monkeypatch.setattr(program, "CHECKS", (lambda: good, lambda: good._replace(error=1.0)))
    assert program.main() == 1
    assert "WRONG" in capsys.readouterr().out
