"""What a kernel says to the graph that it runs in: for kbuild's own kernels alone (`kb.capture_while`)."""

from __future__ import annotations

from kbuild.intrinsics.row import Row
from kbuild.intrinsics.signature import signature

ROWS = (
    Row(
        "atomic_graph_condition",
        signature("(element: Integer, low: Integer, high: Integer, inverted: Integer) -> Integer"),
        {"int32": "kb_atomic_graph_condition"},
        "Lets a part of the graph run if the element is not zero, or if it is; its handle comes in two halves.",
        is_atomic=True,
        derivative="no",
    ),
)
