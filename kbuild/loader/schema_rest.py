"""What a manifest claims about structs, asserts, and arrays that may be None: checked by `schema` where it has them."""

from __future__ import annotations

from . import abi, struct_table
from .errors import BundleError
from .schema import check_index, refuse_repeats, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Sequence

    Row = Dict[str, Any]


def structs_of(rows: Row) -> dict[str, abi.Struct]:
    """The table of structs as types. Raises BundleError."""
    for name, row in rows.items():
        refuse_repeats("structs[%r].fields" % name, [field[0] for field in row["fields"]])
    try:
        return struct_table.parse(rows)
    except ValueError as error:
        raise BundleError("manifest.structs: %s" % error) from None


def check_paths(place: str, paths: Sequence[str], parameters: dict[str, abi.Type]) -> None:
    """Each path leads to an array among the parameters, and stands there once."""
    refuse_repeats(place, paths)
    for path in paths:
        name, *fields = path.split(".")
        type = parameters.get(name)
        for field in fields:
            known = {one.name: one.type for one in type.fields} if isinstance(type, abi.Struct) else {}
            type = known.get(field)
        if not isinstance(type, abi.Array):
            raise BundleError("manifest.%s names %s, which is no array" % (place, shown(path)))


def check_asserts(rows: list[Row], kernels: int) -> None:
    """`kernels`: how many there are. Raises BundleError."""
    for index, row in enumerate(rows):
        place = "asserts[%d].kernels" % index
        refuse_repeats(place, row["kernels"])
        for kernel in row["kernels"]:
            check_index(place, kernel, kernels, "kernels")
