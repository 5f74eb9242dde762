"""Units whose tables of constants do not fit one bank together, cut so that they do.

Each cubin has 64 KiB of constant memory to itself. As long as the tables of a unit's kernels fit it together, they stay
together; else kernels that reach the same tables are a unit, and a kernel that reaches too many is one alone: whether
it reads all of them is known when it is lowered.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from kbuild.lang.tables import LIMIT, bytes_of
from kbuild.loader.constants import Constant

Tables = frozenset[Constant]


def of(values: Sequence[object]) -> Tables:
    """The tables among what a kernel has captured."""
    return frozenset(value for value in values if isinstance(value, Constant))


def fitting(title: str, members: Sequence[int], tables: Sequence[Tables]) -> list[tuple[str, list[int]]]:
    """A unit's kernels, and what each of them reaches, as units that fit; (title, kernels) each."""
    if _bytes(frozenset().union(*tables)) <= LIMIT:
        return [(title, list(members))]
    groups: dict[str, list[int]] = {}
    for index, own in zip(members, tables, strict=True):
        name = f"{title}#tables-{_digest(own)}" if own else title
        if _bytes(own) > LIMIT:
            name += f"-{index}"
        groups.setdefault(name, []).append(index)
    return sorted(groups.items())


def _bytes(tables: Tables) -> int:
    """What they take at most: the order does not matter where all but one end at a multiple of the alignment."""
    return bytes_of([table.nbytes for table in sorted(tables, key=_key)])


def _key(table: Constant) -> tuple[object, ...]:
    return -table.nbytes, table.type.spelling, table.shape, table.digest


def _digest(tables: Tables) -> str:
    listed = sorted(f"{table.type} {table.shape} {table.digest}" for table in tables)
    return hashlib.sha256("\n".join(listed).encode()).hexdigest()[:8]
