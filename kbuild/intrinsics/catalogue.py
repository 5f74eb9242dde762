"""Every function of the language as the documentation and the stubs see it, put together from where each fact stands.

Rows know their signature, meaning, CUDA spelling, PTX and derivative; functions written in the kernel language have a
docstring; `described` has the rest.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass

from kbuild.intrinsics import described
from kbuild.intrinsics.described import Described
from kbuild.intrinsics.library import ELEMENTWISE, FUNCTIONS, OVERLOADS, REDUCTIONS, STATEFUL
from kbuild.intrinsics.library_rotations import OF_MATRIX
from kbuild.intrinsics.row import Row
from kbuild.intrinsics.table import ROWS
from kbuild.loader.types import Function

# Where a row stands that has no line in `described`.
_ROW_GROUP = "Scalar mathematics"


@dataclass(frozen=True, slots=True)
class Use:
    """One way to call a function, and what it means."""

    signature: Described
    doc: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A public function. `row` is None where it is a form, or written in the kernel language (`is_library`).

    `subgradient` says what is taken where it has no derivative; `has_gradient`: the library function, or each of
    several, has one of its own.
    """

    name: str
    group: str
    uses: tuple[Use, ...]
    derivative: str
    row: Row | None
    is_library: bool
    is_stateful: bool
    subgradient: str
    has_gradient: bool


def groups() -> dict[str, list[Entry]]:
    """All functions by group, in the order of `described`, by name inside a group."""
    found: dict[str, list[Entry]] = {line.group: [] for line in described.LINES.values()}
    for name in sorted({*described.LINES, *ROWS}):
        made = entry(name)
        found[made.group].append(made)
    return found


def entry(name: str) -> Entry:
    """What is known of a function. Raises KeyError."""
    line, row = described.LINES.get(name), ROWS.get(name)
    if line is None:
        row = ROWS[name]
        use = Use(described.parse(row.signature.text), row.doc)
        return Entry(name, _ROW_GROUP, (use,), row.derivative, row, False, False, row.subgradient, False)
    functions = functions_of(name)
    docs = [*([row.doc] if row else []), *map(_meaning, functions)] or [line.doc]
    docs += docs[-1:] * (len(line.signatures) - len(docs))  # one function with several signatures
    uses = tuple(Use(signature, doc) for signature, doc in zip(line.signatures, docs, strict=True))
    is_library = row is None and bool(functions)
    has_gradient = is_library and all(one.gradient is not None for one in functions)
    subgradient = line.subgradient or (row.subgradient if row is not None else "")
    return Entry(name, line.group, uses, line.derivative, row, is_library, name in STATEFUL, subgradient, has_gradient)


def functions_of(name: str) -> list[Function]:
    """The functions in the kernel language that a name stands for, in the order of its signatures."""
    found = [FUNCTIONS[name]] if name in FUNCTIONS else []
    found += [table[name] for table in (OF_MATRIX, ELEMENTWISE) if name in table]
    return found + [one.function for table in (OVERLOADS, REDUCTIONS) for one in table.get(name, ())]


def _meaning(function: Function) -> str:
    """The docstring in one line, without the sources that it names (its later paragraphs)."""
    return " ".join(inspect.cleandoc(function.__doc__ or "").split("\n\n")[0].split())
