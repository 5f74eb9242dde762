"""What a function's own gradient and replay look like, for those who make them, check them and call them.

interface(function) → the types of a gradient's parameters after the function's own, and its result
"""

from __future__ import annotations

from typing import NamedTuple

from kbuild.errors import InternalError
from kbuild.ir.nodes import Function, Symbol
from kbuild.ir.types import VOID, Array, Struct, Tuple, Type, element_of, is_float


class Interface(NamedTuple):
    """A gradient's parameters beyond those of its function, and what it returns.

    `arrays`: the parameters with an adjoint array of the same type; `results`: types of the function's results;
    `values`: the parameters whose adjoints it returns, as the items of the tuple `result`.
    """

    arrays: tuple[Symbol, ...]
    results: tuple[Type, ...]
    values: tuple[Symbol, ...]

    @property
    def result(self) -> Type:
        """A tuple, also of one; VOID of none."""
        return Tuple(tuple(one.type for one in self.values)) if self.values else VOID

    def parameters(self, own: tuple[Symbol, ...]) -> tuple[Type, ...]:
        """Types of all parameters of the gradient of a function with these."""
        return (*(one.type for one in own), *(one.type for one in self.arrays), *self.results)


def interface(function: Function) -> Interface:
    """What a gradient of the function takes and gives."""
    result = function.result
    results = result.items if isinstance(result, Tuple) else () if result == VOID else (result,)
    return Interface(
        tuple(one for one in function.parameters if isinstance(one.type, Array) and has_floats(one.type.element)),
        results,
        tuple(one for one in function.parameters if has_floats(one.type)),
    )


def has_floats(type: Type) -> bool:
    """A value of the type holds floating-point numbers: itself, in its elements, or in a field; arrays do not count."""
    if isinstance(type, Struct):
        return any(has_floats(field.type) for field in type.fields)
    return is_float(element_of(type))


def verify(function: Function) -> None:
    """Holds a function's gradient and replay against it. Raises InternalError."""
    if function.gradient is not None:
        wanted = interface(function)
        _require(function.gradient, wanted.parameters(function.parameters), wanted.result)
        if function.gradient.gradient is not None or function.gradient.replay is not None:
            raise InternalError(f"illegal IR: {function.gradient.name} is a gradient and has one")
    if function.replay is not None:
        _require(function.replay, tuple(one.type for one in function.parameters), function.result)


def _require(function: Function, parameters: tuple[Type, ...], result: Type) -> None:
    found = tuple(one.type for one in function.parameters)
    if found != parameters or function.result != result:
        wanted = f"({', '.join(map(str, parameters))}) -> {result}"
        raise InternalError(
            f"illegal IR: {function.name} is ({', '.join(map(str, found))}) -> {function.result}, not {wanted}"
        )
