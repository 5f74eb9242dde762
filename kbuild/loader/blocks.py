"""How a kernel is launched: what its row says of it, and the grids that a `dim` becomes."""

from __future__ import annotations

from . import geometry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Triple = tuple[int, int, int]


class Shape:
    """What of a kernel decides how it is launched: coordinates of `tid()`, whole blocks, a header with an origin."""

    __slots__ = ("has_origin", "ndim", "whole")

    def __init__(self, ndim: int, whole: bool = False, has_origin: bool = False) -> None:
        self.ndim, self.whole, self.has_origin = ndim, whole, has_origin


def shape_of(row: dict[str, Any]) -> Shape:
    """The shape of a kernel by its row of the manifest."""
    return Shape(row["ndim"], row.get("whole_blocks", False), row.get("origin", False))


def plan(dim: object, shape: Shape, block_dim: int, max_blocks: int = 0) -> Iterator[tuple[bytes, Triple, Triple]]:
    """The driver launches that make up one launch: (header, blocks of the grid, threads of a block), in order.

    Of more than `max_blocks` blocks, if that is not 0, several are made. Raises ValueError or TypeError for what cannot
    be launched.
    """
    if shape.whole or hasattr(dim.__class__, "_kb_grid_"):
        from . import grids  # few kernels are launched so

        return grids.plan(dim, shape, block_dim, max_blocks)
    pieces = geometry.plan(dim, shape.ndim, block_dim, shape.has_origin, max_blocks)
    return ((header, (count, 1, 1), (block_dim, 1, 1)) for header, count in pieces)
