"""A manifest's table of structs as types, and paths into them: read only where a bundle has any."""

from __future__ import annotations

from . import abi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def parse(rows: dict[str, Any]) -> dict[str, abi.Struct]:
    """The manifest's struct table as types, laid out again and held against the offsets written there.

    Raises ValueError for a cycle, an unknown type, or a layout that is not the one that abi.py defines.
    """
    done: dict[str, abi.Struct] = {}
    busy: set[str] = set()

    def visit(name: str, depth: int) -> None:
        if name in done:
            return
        if name in busy or depth > 64:
            raise ValueError("struct %r contains itself" % name)
        if name not in rows:
            raise ValueError("unknown struct %r" % name)
        busy.add(name)
        for _, spelling, _ in rows[name]["fields"]:
            inner = name_in(spelling)
            if inner is not None:
                visit(inner, depth + 1)
        struct = abi.Struct(name, [(field, abi.parse(spelling, done)) for field, spelling, _ in rows[name]["fields"]])
        if struct.to_json() != rows[name]:
            raise ValueError("struct %r is not laid out as its fields ask for" % name)
        done[name] = struct

    for name in rows:
        visit(name, 0)
    return done


def name_in(spelling: str) -> str | None:
    """The name of the struct that a spelling contains, or None."""
    start = spelling.find("struct:")
    return None if start < 0 else spelling[start + 7 :].rstrip("]")


def has_array(types: dict[str, abi.Type], path: str) -> bool:
    """Whether a path leads to an array: the name of one of the types, then fields of structs (`model.mask`)."""
    name, *fields = path.split(".")
    type = types.get(name)
    for field in fields:
        known = {one.name: one.type for one in type.fields} if isinstance(type, abi.Struct) else {}
        type = known.get(field)
    return isinstance(type, abi.Array)
