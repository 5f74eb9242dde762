"""What a manifest claims about adjoints, checked: references, paths, and the parameters that a tape fills in.

`schema` checks the shape of what is said at every start; this is checked where a whole bundle is (`format.parse`), and
before the first adjoint is used. A program without gradients pays for none of it.
"""

from __future__ import annotations

from . import abi, struct_table
from .errors import BundleError
from .schema import ADJOINT, SAVED
from .schema_faults import check_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Tuple

    Row = Dict[str, Any]
    Parameters = List[Tuple[str, str]]  # names and spellings

PREFIX = "adj_"
_LISTS = ("read", "written", "accumulated", "before", "after", "scratch", "owned")
_WITHIN = (("accumulated", "written"), ("scratch", "before"))


def check(manifest: Row) -> None:
    """Raises BundleError with the place of what is wrong. The manifest's other claims have been checked."""
    structs: dict[str, abi.Struct] | None = None
    for index, kernel in enumerate(manifest["kernels"]):
        found = kernel.get("backward")
        if found is None:
            continue
        if structs is None:
            structs = struct_table.parse(manifest["structs"])
        place = "kernels[%d].backward" % index
        if kernel["name"].endswith(ADJOINT):
            raise BundleError("manifest.%s: an adjoint has none of its own" % place)
        if "refused" not in found:
            _check(place, kernel, found, manifest["kernels"], structs)


def _check(place: str, kernel: Row, found: Row, kernels: list[Row], structs: dict[str, abi.Struct]) -> None:
    if found["kernel"] >= len(kernels):
        raise BundleError("manifest.%s.kernel is %d, but there are %d kernels" % (place, found["kernel"], len(kernels)))
    adjoint = kernels[found["kernel"]]
    if adjoint["name"] != kernel["name"] + ADJOINT:
        raise BundleError("manifest.%s.kernel names %r, which is not its adjoint" % (place, adjoint["name"]))
    if adjoint["ndim"] != kernel["ndim"]:
        raise BundleError("manifest.%s: the adjoint has another ndim than its kernel" % place)
    types = {row["name"]: abi.parse(row["type"], structs) for row in kernel["parameters"]}
    for name in _LISTS:
        check_paths("%s.%s" % (place, name), found[name], types)
    for name, other in _WITHIN:
        for path in found[name]:
            if path not in found[other]:
                raise BundleError("manifest.%s.%s names %r, which is not in %s" % (place, name, path, other))
    _check_parameters(place, kernel, adjoint, found["saved"], types)


def _check_parameters(place: str, kernel: Row, adjoint: Row, saved: Row, types: dict[str, abi.Type]) -> None:
    """The adjoint's are the kernel's, then their adjoints, then what is saved."""
    wanted = _listed(kernel)
    taken = {name for name, _ in wanted}
    for name, spelling in _listed(kernel):
        if has_adjoint(types[name]):
            name = PREFIX + name
            while name in taken:
                name = PREFIX + name
            taken.add(name)
            wanted.append((name, spelling))
    wanted += [("saved_" + type, "array2[%s]" % type) for type in SAVED if type in saved]
    wanted += [("saved_words", "array1[int32]"), ("counting", "bool")] if saved else []
    found = _listed(adjoint)
    if found != wanted:
        listed = [", ".join(["%s: %s" % pair for pair in pairs]) for pairs in (found, wanted)]
        raise BundleError("manifest.%s: the adjoint takes (%s), but wants (%s)" % (place, *listed))


def _listed(kernel: Row) -> Parameters:
    return [(row["name"], row["type"]) for row in kernel["parameters"]]


def has_adjoint(type: abi.Type) -> bool:
    """A parameter of this type has an adjoint: there is an array with floating-point numbers in it."""
    if isinstance(type, abi.Array):
        return _has_floats(type.element)
    return isinstance(type, abi.Struct) and any(has_adjoint(field.type) for field in type.fields)


def _has_floats(type: abi.Type) -> bool:
    if isinstance(type, abi.Scalar):
        return type.kind == "float"
    if isinstance(type, (abi.Vector, abi.Matrix)):
        return type.element.kind == "float"
    if isinstance(type, abi.Struct):
        return any(_has_floats(field.type) for field in type.fields)
    return False  # the arrays in an array's elements do not count
