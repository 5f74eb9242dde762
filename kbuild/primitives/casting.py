"""Element by element from one type of number to another, as the kernel language converts."""

from typing import Any

from kbuild.loader import builtins as kb
from kbuild.loader.array import array2d
from kbuild.loader.types import Kernel
from kbuild.primitives.kernels import PROTOCOL, kernel

# mypy: disable-error-code="no-untyped-call,no-any-return,untyped-decorator,no-untyped-def,valid-type,attr-defined"

TYPES = ("bool", "uint8", "int32", "uint32", "int64", "float16", "float32", "float64")


def make_cast(source: Any, target: Any) -> Kernel:
    """A thread for each element of two axes."""

    @kernel
    def cast(values: array2d(dtype=source), out: array2d(dtype=target)):
        _ = kb.static(PROTOCOL)
        i, j = kb.tid()
        if kb.static(source is target):
            out[i, j] = values[i, j]
        else:
            out[i, j] = target(values[i, j])

    return cast
