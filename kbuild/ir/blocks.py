"""Which kernels run in whole blocks, and how much memory their blocks share."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from kbuild.ir import nodes
from kbuild.ir.nodes import Function, Kernel, Symbol
from kbuild.ir.traverse import callees, walk
from kbuild.ir.types import Shared
from kbuild.loader.abi import align_up

DYNAMIC_ALIGNMENT = 16

# Where a thread stands in the grid is a matter of blocks; the size of a block and the lane are not.
_OF_THE_GRID = frozenset({"thread_idx", "block_idx", "grid_dim", "warp_id"})


@lru_cache(maxsize=1024)
def in_whole_blocks(kernel: Kernel) -> bool:
    """Every block of a launch must be full: its threads wait for one another, share memory, exchange values, or ask for
    their place, or the blocks run in clusters."""
    if kernel.cluster_dim is not None:
        return True
    return any(_asks_for_blocks(function) for function in [*callees(kernel.function), kernel.function])


def _asks_for_blocks(function: Function) -> bool:
    if function.shared:
        return True
    return any(
        isinstance(node, nodes.Barrier)
        or (isinstance(node, nodes.Position) and node.what in _OF_THE_GRID)
        or (isinstance(node, nodes.Native) and node.is_together)
        or (isinstance(node, nodes.Intrinsic) and node.name in nodes.COLLECTIVES)
        for node in walk(function.body)
    )


def is_of_clusters(node: nodes.Node) -> bool:
    """It has a meaning only where blocks run in clusters."""
    match node:
        case nodes.Barrier(of_cluster=of_cluster):
            return of_cluster
        case nodes.Position(what):
            return what == "cluster_rank"
    return isinstance(node, nodes.Elsewhere)


def shared_arrays(function: Function) -> Iterator[tuple[Function, Symbol, Shared]]:
    """The arrays in shared memory of a function and of all that it calls."""
    for one in [*callees(function), function]:
        for symbol in one.shared:
            assert isinstance(symbol.type, Shared)
            yield one, symbol, symbol.type


def shared_bytes(function: Function) -> int:
    """Static shared memory that a block takes, each array behind the one before it."""
    end = 0
    for _, _, type in shared_arrays(function):
        if not type.is_dynamic:
            end = align_up(end, type.alignment) + type.bytes
    return end


def dynamic_row(function: Function) -> int | None:
    """Bytes of a row of the array whose extent the launch gives; None without one. There is one at most."""
    return next((type.row for _, _, type in shared_arrays(function) if type.is_dynamic), None)


def dynamic_start(function: Function) -> int:
    """Where in a block's shared memory that array begins."""
    return align_up(shared_bytes(function), DYNAMIC_ALIGNMENT)
