"""Tables of constants as memory of the interpreter."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from kbuild.ir import nodes
from kbuild.ir.types import Constant, Scalar, Type, element_of
from kbuild.sim.values import Memory, built


@lru_cache(maxsize=256)
def table_memory(table: nodes.Table) -> Memory:
    """The elements of a table; nobody stores to it, so all threads and launches have the same."""
    type = table.type
    assert isinstance(type, Constant)
    scalar = element_of(type.element)
    assert isinstance(scalar, Scalar)
    numbers = (number for (number,) in struct.iter_unpack(f"<{scalar.code}", table.data))
    count = len(table.data) // type.element.size
    return Memory(type.element, type.shape, [_element(type.element, numbers) for _ in range(count)], is_constant=True)


def _element(type: Type, numbers: Iterator[Any]) -> Any:
    return built(type, lambda _: next(numbers))
