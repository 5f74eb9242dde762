"""What the simulator says against a kernel, held against the kernel's source."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import kbuild as kb


def fault_of(kind: type[Any], kernel: Any, dim: Any, inputs: Any, **options: Any) -> Any:
    """The fault of a launch, which is of this very class and has the kernel's name."""
    with pytest.raises(kb.sim.Fault) as caught:
        kb.sim.run(kernel, dim, inputs, **options)
    assert type(caught.value) is kind, caught.value
    assert caught.value.kernel == kernel.name
    return caught.value


def line_of(declared: Any, text: str) -> int:
    """The number of the one line of a kernel or function that has a text."""
    lines, first = inspect.getsourcelines(declared.function)
    (found,) = [first + number for number, line in enumerate(lines) if text in line]
    return found
