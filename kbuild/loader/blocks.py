"""How a kernel is launched: what its row says of it, and the grids that a `dim` becomes."""

from __future__ import annotations

import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Triple = tuple[int, int, int]


MAX_THREADS = 2**31 - 1  # of one driver launch; a thread's linear number is an int32 that every driver accepts
MAX_BLOCK = 1024


class Shape:
    """What of a kernel decides how it is launched, by its row of the manifest: coordinates of `tid()`, whole blocks, a
    header with an origin, bytes of a `row` of the array whose size the launch gives (0: none), and the most threads
    that a block may have. `plain`: it is written in CUDA C++, and gets `shared` bytes of shared memory where a launch
    says nothing. A block has `most` for launches to give on a device (None: not known yet), beside `static` bytes that
    the kernel declares. `cluster` blocks along x run together (0: each for itself).
    """

    def __init__(self, row: dict[str, Any], most: int | None = None, static: int = 0) -> None:
        self.ndim: int = row["ndim"]
        self.whole: bool = row.get("whole_blocks", False)
        self.has_origin: bool = row.get("origin", False)
        self.row: int = row.get("dynamic_shared", 0)
        self.max_threads: int = row.get("launch_bounds", (MAX_BLOCK,))[0]
        self.plain: bool = row.get("plain", False)
        self.shared: int = row.get("shared_memory", 0)
        self.cluster: int = row.get("cluster_dim", 0)
        self.most, self.static, self._row = most, static, row

    @property
    def is_open(self) -> bool:
        """Whether a launch may give blocks of the kernel shared memory."""
        return self.plain or self.row > 0

    def on_device(self, most: int, static: int) -> Shape:
        """The same on a device whose blocks may have `most` bytes of shared memory."""
        return Shape(self._row, max(most - static, 0), static)


def shared_of(dim: Any, shape: Shape) -> int:
    """Bytes of shared memory that a launch gives each block. Raises ValueError where that is not as the kernel is."""
    if not (shape.row or shape.plain or hasattr(dim.__class__, "_kb_dim_")):
        return 0
    from . import grids  # few kernels leave the size of their shared memory open

    return grids.shared_of(dim, shape)


def plan(dim: Any, shape: Shape, block_dim: int, max_blocks: int = 0) -> Iterator[tuple[bytes, Triple, Triple]]:
    """The driver launches that make up one launch: (header, blocks of the grid, threads of a block), in order.

    Of more than `max_blocks` blocks, if that is not 0, several are made. What shared memory they give says `shared_of`.
    Raises ValueError or TypeError for what cannot be launched.
    """
    is_bounded = shape.max_threads < MAX_BLOCK
    if shape.whole or shape.row or shape.plain or is_bounded or hasattr(dim.__class__, "_kb_dim_"):
        from . import grids  # few kernels are launched so

        return grids.plan(dim, shape, block_dim, max_blocks)
    is_plain = shape.ndim == 1 and dim.__class__ is block_dim.__class__ is max_blocks.__class__ is int
    if is_plain and 0 < dim <= MAX_THREADS and 0 < block_dim <= MAX_BLOCK and max_blocks == 0:
        return iter([(flat_header(dim, shape.has_origin), (-(-dim // block_dim), 1, 1), (block_dim, 1, 1))])
    from . import geometry  # for several axes, several launches, and words

    pieces = geometry.plan(dim, shape.ndim, block_dim, shape.has_origin, max_blocks)
    return ((header, (count, 1, 1), (block_dim, 1, 1)) for header, count in pieces)


def flat_header(count: int, has_origin: bool) -> bytes:
    """The header of a launch of `count` threads whose kernel has one coordinate."""
    return struct.pack("<II", count, 0) if has_origin else struct.pack("<I", count)
