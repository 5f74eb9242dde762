"""`wp.utils`: functions over whole arrays, which refuse, and what of Warp's public names is kept here too."""

from __future__ import annotations

from .absent import absent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NAMES = """
GraphColoringAlgorithm MeshAdjacency MeshEdge array_cast array_inner array_scan array_sum check_p2p compress_grid
create_warp_function graph_coloring_assign graph_coloring_balance graph_coloring_get_groups radix_sort_pairs
runlength_encode segmented_sort_pairs warn
"""


def __getattr__(name: str) -> Any:
    from kbuild import warp

    if name in _NAMES.split():
        return absent("utils." + name, "functions over whole arrays")
    if name.startswith("_"):
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    return getattr(warp, name)
