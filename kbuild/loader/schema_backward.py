"""What a manifest claims about adjoints, checked: references, paths, and the parameters that a tape fills in.

`schema` checks the shape of what is said at every start; this is checked where a whole bundle is (`format.parse`), and
before the first adjoint is used. A program without gradients pays for none of it.
"""

from __future__ import annotations

from . import abi
from .errors import BundleError
from .schema import ADJOINT, check_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Tuple

    Row = Dict[str, Any]
    Parameters = List[Tuple[str, str]]  # names and spellings

PREFIX = "adj_"
_LISTS = ("read", "written", "accumulated", "before", "after", "scratch")
_WITHIN = (("accumulated", "written"), ("scratch", "before"))


def check(manifest: Row) -> None:
    """Raises BundleError with the place of what is wrong. The manifest's other claims have been checked."""
    structs: dict[str, abi.Struct] | None = None
    for index, kernel in enumerate(manifest["kernels"]):
        found = kernel.get("backward")
        if found is None:
            continue
        if structs is None:
            structs = abi.parse_structs(manifest["structs"])
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
    """The adjoint's are the kernel's, then their adjoints, then what is saved; whose order only they tell."""
    own = _listed(kernel)
    wanted = own + [(PREFIX + name, spelling) for name, spelling in own if has_adjoint(types[name])]
    open_ = sorted([type for type, words in saved.items() if words is None])
    listed = _listed(adjoint)
    start = len(wanted)
    arrays, rest = listed[start : start + len(open_)], listed[start + len(open_) :]
    right = listed[:start] == wanted and sorted(arrays) == [("saved_" + type, "array2[%s]" % type) for type in open_]
    if right and rest == ([("saved_words", "array1[int32]"), ("counting", "bool")] if open_ else []):
        return
    names = [name for name, _ in wanted] + ["saved_" + type for type in open_]
    raise BundleError(
        "manifest.%s: the adjoint takes (%s), but wants %s of the types of its kernel"
        % (place, ", ".join(name for name, _ in listed), ", ".join(names + (["…"] if open_ else [])))
    )


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
    return has_adjoint(type)


def saved_in_order(row: Row, adjoint: Row) -> dict[str, Any]:
    """`saved` with the types whose words only a run can tell first, in the order of the adjoint's parameters."""
    saved: Row = row["saved"]
    names = [p["name"] for p in adjoint["parameters"]]
    open_ = sorted([type for type, words in saved.items() if words is None], key=lambda t: names.index("saved_" + t))
    return dict([(type, None) for type in open_] + [(t, n) for t, n in saved.items() if n is not None])
