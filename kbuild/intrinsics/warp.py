"""What all lanes of a warp do together: values of other lanes, votes. The meaning stands in `ir.nodes`."""

from __future__ import annotations

from collections.abc import Iterable

from kbuild.intrinsics.row import Row
from kbuild.intrinsics.signature import signature
from kbuild.ir.types import BOOL, SCALARS, Scalar, is_integer

_INTEGERS = [type for type in SCALARS.values() if is_integer(type)]


def _row(name: str, text: str, ptx: str, doc: str, types: Iterable[Scalar] = (BOOL,)) -> Row:
    names = {type.spelling: f"kb_{name}" for type in types}
    return Row(name, signature(text), names, doc, is_collective=True, ptx=ptx, derivative="no")


def _shuffle(name: str, by: str, mode: str, doc: str) -> Row:
    text = f"(value: Scalar, {by}: Int32, width: Int32) -> Scalar"
    return _row(name, text, f"shfl.sync.{mode}", doc, SCALARS.values())


ROWS = (
    _shuffle("shfl", "lane", "idx", "The value of lane `lane` mod `width` of the group of `width` lanes."),
    _shuffle("shfl_up", "delta", "up", "The value of the lane `delta` below in the group, else the own one."),
    _shuffle("shfl_down", "delta", "down", "The value of the lane `delta` above in the group, else the own one."),
    _shuffle("shfl_xor", "mask", "bfly", "The value of the lane whose number is the own one ^ `mask`."),
    _row("ballot", "(condition: Bool) -> Uint32", "vote.sync.ballot", "A bit for each lane whose condition holds."),
    _row("any", "(condition: Bool) -> Bool", "vote.sync.any", "Whether the condition holds in some lane of the warp."),
    _row("all", "(condition: Bool) -> Bool", "vote.sync.all", "Whether the condition holds in every lane of the warp."),
    _row("match_any", "(value: Integer) -> Uint32", "match.any.sync", "A bit for each lane of equal value.", _INTEGERS),
)
