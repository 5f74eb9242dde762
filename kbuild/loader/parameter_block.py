"""Where the parameters of a kernel lie: what a build writes into a manifest, and its check computes again."""

from __future__ import annotations

from . import abi
from .schema import header_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Sequence


def writes_origin(ndim: int) -> bool:
    """Whether a build of today writes headers with an origin for kernels of so many coordinates."""
    return ndim == 1


def layout(ndim: int, types: Sequence[abi.Type], has_origin: bool) -> tuple[list[int], int]:
    """Offsets of the parameters in the parameter block, and the block's bytes: a C struct of [header, p0, p1, …].

    The block ends with its last parameter, without the padding that C puts at a struct's end: so the driver counts.
    """
    return layout_behind(header_size(ndim, has_origin), types)


def layout_behind(header: int, types: Sequence[abi.Type]) -> tuple[list[int], int]:
    """`layout` behind a header of so many bytes."""
    offsets, end = [], header
    for type in types:
        offset = abi.align_up(end, type.align)
        offsets.append(offset)
        end = offset + type.size
    return offsets, end
