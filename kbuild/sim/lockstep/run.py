"""A launch, from its arguments to the arrays changed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache

import numpy as np

from kbuild.intrinsics.table import ALL_ROWS
from kbuild.ir import nodes
from kbuild.ir.blocks import dynamic_start, in_whole_blocks, shared_arrays, shared_bytes
from kbuild.ir.nodes import Kernel, Symbol
from kbuild.ir.stored import ANY, Origins, stored_parameters
from kbuild.ir.tables import tables_in
from kbuild.ir.traverse import callees, walk
from kbuild.ir.types import Array, IndexedArray, Shared, Struct, Type
from kbuild.loader.abi import UNASSIGNED, align_up
from kbuild.loader.interface import contiguous_strides
from kbuild.sim.blocks import Launch, in_clusters
from kbuild.sim.lockstep import memory, unassigned
from kbuild.sim.lockstep.assigned import Assigned
from kbuild.sim.lockstep.clusters import Clusters
from kbuild.sim.lockstep.lanes import CHUNK, chunks
from kbuild.sim.lockstep.memory import Allocation, Extent, Label, Space
from kbuild.sim.lockstep.output import Output
from kbuild.sim.lockstep.races import Races
from kbuild.sim.lockstep.scopes import Scopes, is_narrow
from kbuild.sim.lockstep.statements import Deadlock, Statements
from kbuild.sim.lockstep.trips import Trips
from kbuild.sim.lockstep.watching import Watcher, Watching
from kbuild.sim.values import Fault


@dataclass(frozen=True)
class Checks:
    """What is looked for while a kernel runs. Indices are always checked, and barriers."""

    races: bool = True
    assigned: bool = True
    divisions: bool = True

    @classmethod
    def none(cls) -> Checks:
        return cls(False, False, False)


@dataclass
class Options:
    """How a launch runs: `seed` shuffles the order of atomics, `watchers` are told of what happens, `chunk` is how many
    threads run together, `read_only` names the parameters whose memory may not be written to, `is_marked`: some of it
    nobody has assigned to (see `unassigned`), `blocks`: only these run, by their numbers."""

    checks: Checks = field(default_factory=Checks)
    seed: int | None = None
    watchers: Sequence[Watcher] = ()
    chunk: int = CHUNK
    read_only: frozenset[str] = frozenset()
    is_marked: bool = False
    blocks: Sequence[int] | None = None


def run(
    kernel: Kernel, launch: Launch, block: bytes, offsets: Mapping[str, int], options: Options, output: Output
) -> None:
    """Runs a launch whose arguments lie in a parameter block, each at its offset. What it prints goes to `output`.

    The arrays' descriptors hold addresses in this process. Raises Fault, ValueError for a block in part.
    """
    _keep_room()
    whole_blocks, launch = in_whole_blocks(kernel), in_clusters(launch, kernel)
    parameters = [(p.name, p.type, offsets[p.name]) for p in kernel.function.parameters]
    found = extents(parameters, block, stored_parameters(kernel.function))
    found = [replace(one, is_read_only=one.name in options.read_only) for one in found]
    space, before, printed = _space(found, kernel), None, len(output.text)
    if not whole_blocks and _may_wait(kernel):
        before = [(one.data, one.data.copy()) for one in space.allocations if not one.is_read_only]
    try:
        _run(kernel, launch, block, offsets, options, output, space)
    except Deadlock as deadlock:
        if before is None:
            raise
        # Threads wait for one that does not go on while it waits for them to meet again: a lock. On a GPU it goes on.
        for data, first in before:
            data[:] = first
        del output.text[printed:]
        alone = replace(options, chunk=1, checks=replace(options.checks, races=False))
        try:
            _run(kernel, launch, block, offsets, alone, output, _space(found, kernel))
        except Deadlock:
            raise deadlock from None


def _space(found: Sequence[Extent], kernel: Kernel) -> Space:
    """The memory of a launch, before there is any that is shared."""
    space = Space(found)
    space.add_tables(_tables(kernel))
    return space


@lru_cache(maxsize=1024)
def _tables(kernel: Kernel) -> list[nodes.Table]:
    return tables_in([kernel.function])


@lru_cache(maxsize=1024)
def _may_wait(kernel: Kernel) -> bool:
    """Some loop has an atomic in it: it may wait for another thread."""
    functions = [kernel.function, *callees(kernel.function)]
    atomic = {one for one in functions if any(map(_is_atomic, walk(one.body)))}
    for one in functions:  # callees stand before those that call them
        calls = (node.callee for node in walk(one.body) if isinstance(node, nodes.Call))
        if any(callee in atomic for callee in calls):
            atomic.add(one)
    loops = (node for one in functions for node in walk(one.body) if isinstance(node, nodes.While))
    return any(
        _is_atomic(node) or (isinstance(node, nodes.Call) and node.callee in atomic)
        for loop in loops
        for node in walk(loop)
    )


@lru_cache(maxsize=1024)
def _trips(kernel: Kernel) -> Trips:
    """How a kernel's expressions are computed, and its loops, for all of its launches."""
    return Trips()


@lru_cache(maxsize=1024)
def _has_narrow(kernel: Kernel) -> bool:
    """Some atomic is one for its block alone."""
    functions = [kernel.function, *callees(kernel.function)]
    return any(is_narrow(node) for one in functions for node in walk(one.body))


def _is_atomic(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Intrinsic) and ALL_ROWS[node.name].is_atomic


def _run(
    kernel: Kernel,
    launch: Launch,
    block: bytes,
    offsets: Mapping[str, int],
    options: Options,
    output: Output,
    space: Space,
) -> None:
    function = kernel.function
    # The parameter block is read like memory that is no array's.
    given = Allocation(0, np.frombuffer(block.ljust(align_up(len(block), 8), b"\0"), np.uint8), 1, "arguments")
    arguments = [memory.load(given, offsets[p.name], p.type, space) for p in function.parameters]
    clusters = None if kernel.cluster_dim is None else Clusters()
    watchers: list[Watcher] = [*options.watchers, *([] if clusters is None else [clusters])]
    if options.checks.assigned:
        watchers.append(Assigned())
        if options.is_marked:
            watchers.append(unassigned.Marked())
    if options.checks.races:
        watchers.append(Races())
        if _has_narrow(kernel):
            watchers.append(Scopes())
    order = None if options.seed is None else np.random.default_rng(options.seed)
    shared, bytes_of_block, granule = _shared(kernel, launch)
    watching = Watching(watchers, options.checks.divisions)
    machine = Statements(space, watching, output, shared, _trips(kernel), order)
    watching.starts(kernel, launch)
    with np.errstate(all="ignore"), _told(watching):
        for lanes in chunks(launch, in_whole_blocks(kernel), options.chunk, options.blocks):
            block_memory = None
            if shared:
                count = lanes.count // math.prod(launch.block)
                block_memory = memory.shared(bytes_of_block, count, granule, _labels(shared, launch))
                if clusters is not None:
                    block_memory.first_block = lanes.origin // math.prod(launch.block)
                space.put_shared(block_memory)
            machine.run(function, arguments, lanes, block_memory)
            if clusters is not None:
                clusters.finish(lanes)


@cache
def _keep_room() -> None:
    """Lets the C library keep the memory of arrays that are gone for the next ones: once in a process.

    glibc gives what is larger than a limit back to the system and asks for it again, page by page, which takes longer
    than the arithmetic. Freeing a large block, which nobody has touched, raises the limit to its size.
    """
    np.empty(1 << 24, np.uint8)


@contextmanager
def _told(watching: Watching) -> Iterator[None]:
    """Tells how a launch has ended."""
    found: Fault | None = None
    try:
        yield
    except Fault as fault:
        found = fault
        raise
    finally:
        watching.ends(found)


def _shared(kernel: Kernel, launch: Launch) -> tuple[dict[Symbol, int], int, int]:
    """Where in a block's shared memory each array lies, all of its bytes, and the granule."""
    places, end, granule = {}, 0, 8
    for _, symbol, type in shared_arrays(kernel.function):
        granule = min(granule, memory.granule_of(type.element))
        if type.is_dynamic:
            continue
        start = align_up(end, type.alignment)
        places[symbol], end = start, start + type.bytes
    assert end == shared_bytes(kernel.function)
    for _, symbol, type in shared_arrays(kernel.function):
        if type.is_dynamic:
            places[symbol] = dynamic_start(kernel.function)
            end = places[symbol] + launch.shared
    return places, end, granule


def _labels(shared: Mapping[Symbol, int], launch: Launch) -> Iterator[Label]:
    for symbol, start in shared.items():
        type = symbol.type
        assert isinstance(type, Shared)
        rows = launch.shared // type.row if type.is_dynamic else type.shape[0]
        yield Label(start, start + rows * type.row, symbol.name, (rows, *type.shape[1:]), type.element.size)


def extents(parameters: Sequence[tuple[str, Type, int]], block: bytes, stored: Origins) -> list[Extent]:
    """Where the arrays of a parameter block lie, and whether they are among those that are stored to."""
    found: list[Extent] = []
    for name, type, offset in parameters:
        own: list[Extent] = []
        _collect(name, type, block, offset, own)
        is_stored = ANY in stored or name in stored
        found += own if is_stored else [replace(one, is_stored=False) for one in own]
    return found


def _collect(name: str, type: Type, block: bytes, offset: int, found: list[Extent]) -> None:
    if isinstance(type, Struct):
        for field_ in type.fields:
            _collect(f"{name}.{field_.name}", field_.type, block, offset + field_.offset, found)
    if not isinstance(type, Array):
        return
    n = type.ndim
    address = int.from_bytes(block[offset : offset + 8], "little")
    if address == int.from_bytes(2 * UNASSIGNED, "little"):
        return  # in an array that nobody has assigned to
    words = np.frombuffer(block, np.int32, 2 * n, offset + 8)
    _extent(name, address, [int(w) for w in words[:n]], [int(w) for w in words[n:]], type.element, found)
    if isinstance(type, IndexedArray):
        end = offset + 8 + 8 * n
        shape = np.frombuffer(block, np.int32, n, end + 8 * n)
        for axis in range(n):
            table = int.from_bytes(block[end + 8 * axis : end + 8 * axis + 8], "little")
            if table:
                found.append(Extent(table, table + 4 * int(shape[axis]), 4, f"{name}'s index array {axis}"))


def _extent(name: str, address: int, shape: list[int], strides: list[int], element: Type, found: list[Extent]) -> None:
    if not address or 0 in shape:
        return
    spans = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    low, high = sum(min(span, 0) for span in spans), sum(max(span, 0) for span in spans)
    extent = Extent(address + low, address + high + element.size, memory.granule_of(element), name)
    if tuple(strides) == contiguous_strides(tuple(shape), element.size):
        extent = replace(extent, shape=tuple(shape), size=element.size)
    found.append(extent)
    if isinstance(element, Struct) and _has_arrays(element):
        data = memory.bytes_at(extent).tobytes()
        for indices in np.ndindex(*shape):
            offset = sum(index * stride for index, stride in zip(indices, strides, strict=True)) - low
            _collect(f"{name}[{', '.join(map(str, indices))}]", element, data, offset, found)


def _has_arrays(type: Type) -> bool:
    return isinstance(type, Array) or (isinstance(type, Struct) and any(_has_arrays(f.type) for f in type.fields))
