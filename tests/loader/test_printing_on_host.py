"""`kb.print` and `kb.printf` outside kernels: functions that print stay ordinary Python functions."""

from __future__ import annotations

import pytest

import kbuild as kb


@kb.func
def loud(n: int, x: float) -> int:
    kb.printf("%d %5.2f %-4llu|%ld%%ld\n", n, x, n, n)
    kb.print("n", n)
    return n


def test_on_the_host(capsys: pytest.CaptureFixture[str]) -> None:
    assert loud(3, 0.5) == 3
    assert capsys.readouterr().out == "3  0.50 3   |3%ld\nn 3\n"


def test_expectations_print_what_does_not_hold(capsys: pytest.CaptureFixture[str]) -> None:
    for expect, *values in ((kb.expect_eq, 1, 1), (kb.expect_neq, 1, 2), (kb.expect_near, 1.0, 1.25, 0.5)):
        expect(*values)
    assert capsys.readouterr().out == ""
    for expect, *values in ((kb.expect_eq, 1, 2), (kb.expect_neq, 1, 1), (kb.expect_near, 1.0, 2.0, 0.5)):
        expect(*values)
    assert capsys.readouterr().out.splitlines() == [
        "kb.expect_eq failed: 1 is not 2",
        "kb.expect_neq failed: both are 1",
        "kb.expect_near failed: 1.0 is not near 2.0",
    ]
