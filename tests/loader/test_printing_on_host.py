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


def test_expectations_are_for_kernels() -> None:
    with pytest.raises(TypeError, match=r"kb\.expect_eq works inside kernels only"):
        kb.expect_eq(1, 1)
