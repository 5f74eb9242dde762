"""Signatures of intrinsics: `(x: Float, y: Float) -> Float`.

A capitalised word is a set of types and, within one signature, one type: every parameter written `Float` has the same
floating-point type as the first. `Bool`, `Int32` and `Uint32` are themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from kbuild.ir.types import BOOL, INT32, UINT32, Scalar, Type, is_float, is_integer, is_number

_SETS: dict[str, tuple[str, Callable[[Type], bool]]] = {
    "Float": ("a floating-point number", is_float),
    "Integer": ("an integer", is_integer),
    "Number": ("a number", is_number),
    "Scalar": ("a number or bool", lambda type: isinstance(type, Scalar)),
    "Bool": ("a bool", lambda type: type == BOOL),
    "Int32": ("an int32", lambda type: type == INT32),
}


@dataclass(frozen=True, slots=True)
class Signature:
    """Parameter names and type sets, and the set of the result."""

    text: str
    parameters: tuple[tuple[str, str], ...]
    result: str

    def bind(self, arguments: tuple[Type, ...]) -> Type | str:
        """The result type for these arguments, or a sentence that says which argument does not fit and why."""
        if len(arguments) != len(self.parameters):
            return f"takes {len(self.parameters)} argument(s) {self.text}, not {len(arguments)}"
        bound: dict[str, Type] = {"Bool": BOOL, "Int32": INT32, "Uint32": UINT32}
        for (name, set_name), type in zip(self.parameters, arguments, strict=True):
            words, contains = _SETS[set_name]
            if not contains(type):
                return f"{name} must be {words}, not {type}"
            if bound.setdefault(set_name, type) != type:
                return f"{name} is {type}, but {bound[set_name]} before it; kernels never mix types silently"
        return bound[self.result]


def signature(text: str) -> Signature:
    """Parses `(x: Float, y: Float) -> Float`."""
    match = re.fullmatch(r"\((.*)\) -> (\w+)", text)
    assert match, text
    pairs = [part.split(": ") for part in match[1].split(", ") if part]
    return Signature(text, tuple((name, set_name) for name, set_name in pairs), match[2])
