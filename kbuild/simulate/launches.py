"""Launches on the device `sim`."""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from typing import Any

from kbuild.ir.blocks import dynamic_row, dynamic_start, in_whole_blocks
from kbuild.loader import abi, blocks, foreign, geometry, grids, lent_tensors, pack
from kbuild.loader.errors import LaunchError
from kbuild.loader.values import class_of
from kbuild.sim.blocks import Launch
from kbuild.sim.lockstep import unassigned
from kbuild.sim.lockstep.floats import NotANumbers
from kbuild.sim.lockstep.output import Output
from kbuild.sim.lockstep.run import Checks, Options, run
from kbuild.sim.lockstep.watching import Watcher
from kbuild.sim.values import Fault
from kbuild.simulate import limits, observers, settings
from kbuild.simulate.compiled import Compiled, compiled
from kbuild.simulate.settings import Settings


def launch(
    kernel: Any, dim: Any, args: Any, stream: Any, device: Any, block_dim: int | None = None, max_blocks: int = 0
) -> None:
    """What `kb.launch` does on the device `sim`: see `loader.providers`. Raises LaunchError, Fault."""
    asked = settings.current()
    output = Output(asked.threads)
    try:
        execute(kernel, dim, args, block_dim, asked, output)
    finally:
        if output.text:
            sys.stdout.write(output.text.decode("utf-8", "surrogateescape"))
            sys.stdout.flush()


def execute(
    kernel: Any,
    dim: Any,
    args: Any,
    block_dim: int | None,
    asked: Settings,
    output: Output,
    watchers: Sequence[Watcher] = (),
    like: str | None = None,
) -> Compiled:
    """Runs a launch. `like` is a device that it must fit on. Raises LaunchError for what cannot be launched, Fault for
    what a kernel must not do.
    """
    target = compiled(kernel, args)
    args = _on_host(target, args)
    try:
        packing = pack.arguments(target.name, target.parameters, args, target.optional)
    except LaunchError as error:
        raise LaunchError(str(error).replace(lent_tensors.IN_HOST_MEMORY, "")) from None
    for path, place in packing.places:
        if place.kind == "cuda":
            raise LaunchError(f"{target.name}: parameter {path}: the array is on {place}, but the launch is on sim")
    shape = extents(target, dim, block_dim)
    data = struct.pack(target.format, *packing.values)
    if target.stated is not None:
        target.stated.check(data, _empty(target, dim) if shape is None else shape.dim)
    if shape is not None:
        if like is not None:
            limits.check(target, shape, like)
        read_only = {name for (name, _), value in zip(target.parameters, args, strict=True) if _is_read_only(value)}
        told = [*watchers, *observers.watchers(target, shape), *([NotANumbers()] if asked.nan else ())]
        checks = Checks(asked.races, asked.unassigned, asked.divisions)
        is_marked = asked.unassigned and any(_is_marked(owner) for owner in packing.owners)
        options = Options(checks, asked.seed, told, read_only=frozenset(read_only), is_marked=is_marked)
        try:
            run(target.kernel, shape, data, target.offsets, options, output)
        except Fault as fault:
            fault.kernel = target.name
            raise fault.with_traceback(None) from None  # it has happened in the kernel, not in the simulator
    return target


def _empty(target: Compiled, dim: Any) -> tuple[int, ...]:
    """How a launch without threads has none."""
    return grids.extents(dim, blocks.Shape({"ndim": target.kernel.ndim}), target.block_dim)[2]


def _on_host(target: Compiled, args: Any) -> Any:
    """The arguments, with arrays of other libraries in host memory as ours, over the same memory."""
    if not pack.is_sequence(args) or len(args) != len(target.parameters):
        return args
    return [_lent(value, name, type, target) for value, (name, type) in zip(args, target.parameters, strict=True)]


def _lent(value: Any, name: str, type: abi.Type, target: Compiled) -> Any:
    if not isinstance(type, abi.Array) or value is None or hasattr(value.__class__, "_kb_array_"):
        return value
    try:
        return foreign.asarray(value, class_of(type.element))
    except (TypeError, ValueError) as error:
        if pack.is_sequence(value) or hasattr(value, "shape"):
            raise LaunchError(f"{target.name}: parameter {name}: wanted {type}: {error}") from None
        return value  # its parameter will be named


def _is_read_only(value: Any) -> bool:
    return hasattr(value.__class__, "_kb_array_") and bool(getattr(value, "readonly", False))


def _is_marked(owner: Any) -> bool:
    """Whether there is memory left that nobody has assigned to; that which is assigned is not looked at again."""
    if getattr(owner, "may_be_marked", False):
        owner.may_be_marked = unassigned.is_marked(owner.host_ptr, owner.size)
        return bool(owner.may_be_marked)
    return False


def _as_the_body_takes(dim: Any, shape: blocks.Shape, shared_memory: int) -> Any:
    """The `dim` of a launch that is meant for CUDA C++: with its shared memory where the body has an array of it."""
    if not shape.is_open:
        return grids.unsized(dim)
    return dim if dim.__class__ is grids.Sized else grids.Sized(dim, shared_memory)


def extents(target: Compiled, dim: Any, block_dim: int | None) -> Launch | None:
    """The launch as the simulator takes it; None for an empty one. Raises LaunchError."""
    size = target.block_dim if block_dim is None else block_dim
    whole = in_whole_blocks(target.kernel)
    row, bounds = dynamic_row(target.kernel.function) or 0, target.kernel.launch_bounds
    said = {"ndim": target.kernel.ndim, "origin": True, "whole_blocks": whole, "dynamic_shared": row}
    ends = {"cluster_dim": target.kernel.cluster_dim or 0, "launch_bounds": bounds or [geometry.MAX_BLOCK]}
    shape = blocks.Shape({**said, **ends})
    if shape.row:
        shape = shape.on_device(limits.MOST_SHARED, dynamic_start(target.kernel.function))
    try:
        if target.shared_memory is not None:
            dim = _as_the_body_takes(dim, shape, target.shared_memory)
        if next(blocks.plan(dim, shape, size), None) is None:
            return None
        return Launch(*grids.extents(dim, shape, size), blocks.shared_of(dim, shape))
    except (ValueError, TypeError) as error:
        raise LaunchError(f"{target.name}: {error}") from None
