"""Devices whose limits are known, and whether a launch keeps to them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kbuild import targets
from kbuild.errors import UsageError
from kbuild.ir.blocks import dynamic_row, dynamic_start, shared_bytes
from kbuild.loader import grids
from kbuild.loader.errors import LaunchError
from kbuild.sim.blocks import Launch
from kbuild.simulate.compiled import Compiled

MOST_SHARED = max(one.shared_per_block for one in targets.ARCHITECTURES.values())  # of a block, on any GPU


@dataclass(frozen=True)
class DeviceLimits:
    """What a launch and a multiprocessor of a device can hold. Sizes are in bytes; `gpus` are well-known ones."""

    name: str
    family: str
    gpus: tuple[str, ...]
    threads_per_block: int
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    shared_per_block: int
    shared_per_block_optin: int
    parameters: int
    warp: int
    threads_per_sm: int
    blocks_per_sm: int
    shared_per_sm: int
    registers_per_sm: int
    registers_per_thread: int
    has_clusters: bool


def list_devices() -> list[DeviceLimits]:
    """The devices that `like=` takes, oldest first."""
    return [_limits(one) for one in targets.ARCHITECTURES.values()]


def device(name: str) -> DeviceLimits:
    """The limits of `sm_87`, or of a platform such as `jetson-orin-jp6`. Raises LookupError."""
    known = {one.name: one for one in targets.ARCHITECTURES.values()}  # some, that nothing is built for, parse not
    try:
        return _limits(known[name] if name in known else targets.parse(name).architecture)
    except UsageError as error:
        raise LookupError(f"{error.message}: {error.help}; kb.sim.list_devices() has their limits") from None


def _limits(one: targets.Architecture) -> DeviceLimits:
    # What kernels declare is at most what the compiler takes; the larger amounts of newer GPUs are for memory that a
    # launch asks for.
    large = one.number >= 70
    return DeviceLimits(
        name=one.name,
        family=one.family,
        gpus=tuple(name for name, (major, minor) in targets.GPUS if 10 * major + minor == one.number),
        threads_per_block=one.threads_per_block,
        block=grids.MAX_BLOCK,
        grid=grids.MAX_GRID,
        shared_per_block=one.static_shared_per_block,
        shared_per_block_optin=one.shared_per_block,
        parameters=targets.LARGE_PARAMETER_SPACE if large and not _is_old(one) else targets.SMALL_PARAMETER_SPACE,
        warp=one.warp,
        threads_per_sm=one.threads_per_sm,
        blocks_per_sm=one.blocks_per_sm,
        shared_per_sm=one.shared_per_sm,
        registers_per_sm=one.registers_per_sm,
        registers_per_thread=one.registers_per_thread,
        has_clusters=one.has_clusters,
    )


def _is_old(one: targets.Architecture) -> bool:
    """A Tegra whose oldest supported system comes with a driver for small parameters only."""
    return one.is_tegra and one.driver < targets.LARGE_PARAMETERS_SINCE


def check(kernel: Compiled, launch: Launch, name: str) -> None:
    """Raises LaunchError for a launch that a device cannot hold; the limit, what was asked for, and what helps."""
    limits = device(name)
    if kernel.kernel.cluster_dim is not None and not limits.has_clusters:
        cure = "a device of compute capability 9.0 or later"
        raise LaunchError(f"{kernel.name}: runs in clusters, which {limits.name} does not have\n  help: {cure}")
    threads, shared = math.prod(launch.block), shared_bytes(kernel.kernel.function)
    is_open = dynamic_row(kernel.kernel.function) is not None
    whole = dynamic_start(kernel.kernel.function) + launch.shared if is_open else 0
    problems = [
        (
            whole,
            limits.shared_per_block_optin,
            "bytes of shared memory a block, with what the launch gives",
            "a smaller shared_memory=",
        ),
        (threads, limits.threads_per_block, "threads a block", f"launch with block_dim={limits.threads_per_block}"),
        (
            shared,
            limits.shared_per_block,
            "bytes of shared memory a block",
            "smaller arrays, or a smaller element type",
        ),
        (kernel.size, limits.parameters, "bytes of parameters", "put what is large into an array of structs"),
    ]
    for axis, given in enumerate(launch.block):
        problems.append((given, limits.block[axis], f"threads a block along {'xyz'[axis]}", "another shape of block"))
    for axis, given in enumerate(launch.grid):
        problems.append((given, limits.grid[axis], f"blocks along {'xyz'[axis]}", "a loop over several launches"))
    for given, limit, what, cure in problems:
        if given > limit:
            raise LaunchError(f"{kernel.name}: {given} {what}: {limits.name} has at most {limit}\n  help: {cure}")
