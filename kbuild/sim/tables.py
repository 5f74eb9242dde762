"""Tables of constants as memory of the interpreter."""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any

from kbuild.ir import nodes
from kbuild.ir.types import Constant, Scalar, Struct, Type, element_of
from kbuild.sim.values import Memory, built


@lru_cache(maxsize=256)
def table_memory(table: nodes.Table) -> Memory:
    """The elements of a table; nobody stores to it, so all threads and launches have the same."""
    type = table.type
    assert isinstance(type, Constant)
    kind = type.element
    elements = [_element(kind, table.data, offset) for offset in range(0, len(table.data), kind.size)]
    return Memory(kind, type.shape, elements, is_constant=True)


def _element(type: Type, data: bytes, offset: int) -> Any:
    if isinstance(type, Struct):
        return {field.name: _element(field.type, data, offset + field.offset) for field in type.fields}
    scalar = element_of(type)
    assert isinstance(scalar, Scalar)
    numbers = iter(struct.unpack_from(f"<{type.size // scalar.size}{scalar.code}", data, offset))
    return built(type, lambda _: next(numbers))
