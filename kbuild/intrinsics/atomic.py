"""Atomic operations on an element of an array. Each returns the value before; order among threads is not defined."""

from __future__ import annotations

from kbuild.intrinsics.row import Row
from kbuild.intrinsics.signature import signature
from kbuild.ir.types import SCALARS

_NUMBERS = tuple(name for name, type in SCALARS.items() if type.kind != "bool")
_INTEGERS = tuple(name for name, type in SCALARS.items() if type.kind in ("int", "uint"))


def _row(name: str, doc: str, parameters: str = "value", *, ptx: str, derivative: str = "no") -> Row:
    text = ", ".join(f"{p}: Number" for p in ["element", *parameters.split()])
    names = dict.fromkeys(_NUMBERS, f"kb_{name}")
    return Row(name, signature(f"({text}) -> Number"), names, doc, is_atomic=True, ptx=ptx, derivative=derivative)


def _bit_row(name: str, doc: str) -> Row:
    text = "(element: Integer, value: Integer) -> Integer"
    names, ptx = dict.fromkeys(_INTEGERS, f"kb_{name}"), name.replace("atomic_", "atom.")
    return Row(name, signature(text), names, doc, is_atomic=True, ptx=ptx, derivative="no")


ROWS = (
    _row("atomic_add", "Adds to the element.", ptx="atom.add", derivative="yes"),
    _row("atomic_sub", "Subtracts from the element.", ptx="atom.add", derivative="yes"),
    _row("atomic_min", "Keeps the smaller; a NaN loses.", ptx="atom.min", derivative="parts"),
    _row("atomic_max", "Keeps the larger; a NaN loses.", ptx="atom.max", derivative="parts"),
    _bit_row("atomic_and", "Keeps the bits that the value has too."),
    _bit_row("atomic_or", "Sets the bits of the value."),
    _bit_row("atomic_xor", "Turns the bits of the value round."),
    _row("atomic_exch", "Replaces the element.", ptx="atom.exch"),
    _row("atomic_cas", "Replaces the element where it equals `compare`, bit by bit.", "compare value", ptx="atom.cas"),
)
