"""`wp.utils`: functions over whole arrays, of which some refuse, and what of Warp's public names is kept here too."""

from __future__ import annotations

from .absent import absent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NAMES = """
GraphColoringAlgorithm MeshAdjacency MeshEdge check_p2p compress_grid create_warp_function graph_coloring_assign
graph_coloring_balance graph_coloring_get_groups segmented_sort_pairs warn
"""
_PRIMITIVES = {
    "array_cast": "functions",
    "array_inner": "sums",
    "array_scan": "functions",
    "array_sum": "sums",
    "radix_sort_pairs": "functions",
    "runlength_encode": "functions",
}


def __getattr__(name: str) -> Any:
    from kbuild import warp

    if name in _PRIMITIVES:
        return getattr(__import__("kbuild.primitives." + _PRIMITIVES[name], None, None, ["*"]), name)
    if name in _NAMES.split():
        return absent("utils." + name, "functions over whole arrays")
    if name.startswith("_"):
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    return getattr(warp, name)
