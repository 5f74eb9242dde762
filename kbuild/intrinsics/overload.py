"""Library functions under one name: which of them a call means, by the number and kinds of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kbuild.ir.types import Array, Matrix, Type, Vector, is_composite, is_integer, is_number
from kbuild.loader.types import Function


def _square(size: int) -> Callable[[Type], bool]:
    return lambda type: isinstance(type, Matrix) and type.rows == type.columns == size


def _vector(length: int) -> Callable[[Type], bool]:
    return lambda type: isinstance(type, Vector) and type.length == length


_KINDS: dict[str, Callable[[Type], bool]] = {
    "number": is_number,
    "integer": is_integer,
    "vector": lambda type: isinstance(type, Vector),
    "composite": is_composite,
    "array": lambda type: isinstance(type, Array) and type.ndim == 1,
    **{f"vec{n}": _vector(n) for n in (2, 3, 4)},
    **{f"mat{n}{n}": _square(n) for n in (2, 3, 4)},
}


@dataclass(frozen=True, slots=True)
class Overload:
    """One function of several. `kinds` has a word of `_KINDS` for each parameter."""

    kinds: tuple[str, ...]
    function: Function

    @property
    def text(self) -> str:
        """The parameters for a message: `(state: integer, xy: vec2)`."""
        names = self.function.function.__code__.co_varnames
        return f"({', '.join(f'{name}: {kind}' for name, kind in zip(names, self.kinds, strict=False))})"

    def admits(self, types: Sequence[Type | None]) -> bool:
        """The arguments fit; None stands for a number that has no type yet."""
        optional = len(self.function.function.__defaults__ or ())
        if not len(self.kinds) - optional <= len(types) <= len(self.kinds):
            return False
        pairs = zip(self.kinds, types, strict=False)
        return all(kind in ("number", "integer") if type is None else _KINDS[kind](type) for kind, type in pairs)


def overload(kinds: str, function: Function) -> Overload:
    """`overload("array number", lower_bound)`."""
    return Overload(tuple(kinds.split()), function)


def choose(overloads: Sequence[Overload], types: Sequence[Type | None]) -> Function | str:
    """The function that a call means, or a sentence that says what there is."""
    for one in overloads:
        if one.admits(types):
            return one.function
    given = ", ".join("a number" if type is None else str(type) for type in types)
    return f"takes {' or '.join(one.text for one in overloads)}, not ({given})"
