"""Atomic operations on an element of an array. Each returns the value before; order among threads is not defined."""

from __future__ import annotations

from kbuild.intrinsics.row import Row
from kbuild.intrinsics.signature import signature
from kbuild.ir.types import SCALARS

_NUMBERS = tuple(name for name, type in SCALARS.items() if type.kind != "bool")


def _row(name: str, doc: str, parameters: str = "value") -> Row:
    text = ", ".join(f"{p}: Number" for p in ["element", *parameters.split()])
    return Row(name, signature(f"({text}) -> Number"), dict.fromkeys(_NUMBERS, f"kb_{name}"), doc, is_atomic=True)


ROWS = (
    _row("atomic_add", "Adds to the element."),
    _row("atomic_sub", "Subtracts from the element."),
    _row("atomic_min", "Keeps the smaller; a NaN loses."),
    _row("atomic_max", "Keeps the larger; a NaN loses."),
    _row("atomic_exch", "Replaces the element."),
    _row("atomic_cas", "Replaces the element where it equals `compare`, bit by bit.", "compare value"),
)
