"""Which elements get their address from a product that stays whole, and which are plain C."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.helpers import kernels

CASES = {
    "a[i] = x[i]": {"a.at(i)", "x.at(i)"},
    "a[i] = a[i] + 1.0": {"a(i)"},  # met twice outside of a loop: the compiler sees that
    "a[3] = x[i]": {"a(3)", "x.at(i)"},  # a constant costs nothing
    "b[i, n] = x[i]": {"b.at(i, n)", "x.at(i)"},
    "b[i, 0] = x[i]": {"b(i, 0)", "x.at(i)"},
    "for j in range(n, 0, -1):\n        a[j] = a[j] + x[i]": {"a.at(j)", "x(i)"},  # x[i] is the same in every trip
    "for j in range(n, 0, -1):\n        a[j] = 1.0\n        b[i, j] = a[j]": {"a(j)", "b.at(i, j)"},  # read again
    "for j in range(n):\n        a[0] += b[j, i]": {"a(0)", "b.across(j, i)"},
    "for j in range(n):\n        a[0] += b[i, j] * x[j]": {
        "a(0)",
        "b.near(i, j)",
        "x.near(j)",
        "b.at(i, j)",
        "x.at(j)",
    },
    "a[k] = x[int(k)]": {"a(k)", "x.at((int)(k))"},  # an index of 64 bits
}


@pytest.mark.parametrize("body", CASES)
def test_forms(tmp_path: Path, body: str) -> None:
    text = f"""
@kb.kernel
def f(a: kb.array(dtype=float), x: kb.array(dtype=float), b: kb.array2d[float], n: int, k: kb.int64):
    i = kb.tid()
    {body}
"""
    source = kernels.emit_kernels(kernels.lower_text(tmp_path, text)).source
    found = set(
        re.findall(r"\b[axb](?:\.(?:at|across|near))?\((?:\(int\)\(k\)|[^()]*)\)", source[source.index("// case") :])
    )
    assert found == CASES[body]
    for method in ("at", "across", "near", "dense"):  # a unit has what it asks for
        assert (f"&{method}(" in source or f" {method}()" in source) == (f".{method}(" in source)


def test_steps_that_are_known_to_be_above_zero(tmp_path: Path) -> None:
    """A loop over the grid, and one with a constant step, do not ask whether they count down."""
    text = """
        @kb.kernel
        def f(a: kb.array(dtype=float), n: int, step: int):
            for i in kb.grid_range(n):
                a[i] = 1.0
            for j in range(n, 0, -2):
                a[j] = 2.0
            for k in range(0, n, step):
                a[k] = 3.0
    """
    source = kernels.emit_kernels(kernels.lower_text(tmp_path, text)).source
    grid, down, any_way = re.findall(r"const unsigned int trips\w* = (.*);", source)
    assert "?" in grid
    assert "> 0 ?" not in grid
    assert "> 0 ?" not in down
    assert any_way.startswith("step_4 > 0 ? ")
