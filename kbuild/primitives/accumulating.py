"""Numbers added to those of another array: what the gradient of a copy does."""

from typing import Any

from kbuild.loader import builtins as kb
from kbuild.loader.array import array4d
from kbuild.loader.types import Kernel
from kbuild.primitives.kernels import PROTOCOL, kernel

# mypy: disable-error-code="no-untyped-call,no-any-return,untyped-decorator,no-untyped-def,valid-type,attr-defined"

TYPES = ("float32", "float64")


def make_addition(dtype: Any) -> Kernel:
    """A thread for each number."""

    @kernel
    def add_numbers(source: array4d(dtype=dtype), out: array4d(dtype=dtype)):
        _ = kb.static(PROTOCOL)
        i, j, k, m = kb.tid()
        out[i, j, k, m] = out[i, j, k, m] + source[i, j, k, m]

    return add_numbers
