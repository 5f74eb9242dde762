"""How many blocks of a kernel a multiprocessor holds at once, and the block size that a launch takes by default.

    resident_blocks(LIMITS[90], registers=72, shared=0, threads=256)  →  3 (24 of 64 warps)
    best_block(90, registers=72, shared=0)                            →  128 (28 of 64 warps)

The rules are those of NVIDIA's occupancy calculator: registers are handed to whole warps in units of 256, each warp
lives in one of the multiprocessor's partitions, shared memory is rounded up. `tests/gpu/test_launch_options.py` holds
them against the driver's own answers.
"""

from __future__ import annotations

from .geometry import MAX_BLOCK as MAX_BLOCK

KIB = 1024
WARP = 32
REGISTERS = 65536  # of a multiprocessor
DEFAULT_BLOCK = 256
_REGISTER_UNIT = 256
MOST_REGISTERS = 255  # of a thread
# What is tried where 256 threads leave room for more warps, the nearest first.
_OTHERS = (128, 192, 384, 512, 768, 1024, 64, 32)


class Limits:
    """What one multiprocessor of an architecture holds, and what one block may take. Sizes are in bytes."""

    __slots__ = ("blocks", "partitions", "registers_per_block", "reserved_shared", "shared", "shared_unit", "threads")

    def __init__(self, number: int, threads: int, blocks: int, shared: int, registers_per_block: int = 65536) -> None:
        self.threads, self.blocks, self.shared = threads, blocks, shared * KIB
        self.registers_per_block = registers_per_block
        self.partitions = 2 if number == 60 else 4
        self.reserved_shared = KIB if number >= 80 else 0  # that CUDA keeps for itself in each block
        self.shared_unit = 128 if number >= 80 else 256


# Threads and blocks of a multiprocessor, its shared memory in KiB, registers of a block where that is not all. Source:
# "Technical Specifications per Compute Capability" of the CUDA C++ Programming Guide (12.9 and 13.0; 5.x and 6.x from
# 11.8); threads and blocks as ptxas 12.9 and 13.0 enforce them (`tests/targets` asks them again).
LIMITS = {
    row[0]: Limits(*row)
    for row in (
        (50, 2048, 32, 64),
        (52, 2048, 32, 96),
        (53, 2048, 32, 64, 32768),
        (60, 2048, 32, 64),
        (61, 2048, 32, 96),
        (62, 2048, 32, 64, 32768),
        (70, 2048, 32, 96),
        (72, 2048, 32, 96),
        (75, 1024, 16, 64),
        (80, 2048, 32, 164),
        (86, 1536, 16, 100),
        (87, 1536, 16, 164),
        (89, 1536, 24, 100),
        (90, 2048, 32, 228),
        (100, 2048, 32, 228),
        (101, 1536, 24, 228),
        (103, 2048, 32, 228),
        (110, 1536, 24, 228),
        (120, 1536, 24, 100),
        (121, 1536, 24, 100),
    )
}


def resident_blocks(limits: Limits, registers: int, shared: int, threads: int) -> int:
    """Blocks of `threads` threads on one multiprocessor; 0 where not even one can be launched.

    `registers` of a thread and static `shared` bytes of a block are what the manifest says of a kernel.
    """
    warps = -(-threads // WARP)
    counts = [limits.blocks, limits.threads // WARP // warps]
    if registers:
        counts.append(_by_registers(limits, registers, warps))
    taken = _round_up(shared + limits.reserved_shared, limits.shared_unit)
    if taken:
        counts.append(limits.shared // taken)
    return min(counts)


def _by_registers(limits: Limits, registers: int, warps: int) -> int:
    of_warp = _round_up(registers * WARP, _REGISTER_UNIT)
    # The launch is checked as if each partition got as many warps as the fullest.
    if registers > MOST_REGISTERS or of_warp * _round_up(warps, limits.partitions) > limits.registers_per_block:
        return 0
    return REGISTERS // limits.partitions // of_warp * limits.partitions // warps


def best_block(number: int, registers: int, shared: int, max_threads: int = MAX_BLOCK) -> int:
    """Threads of a block where nobody says: 256, unless another size keeps more warps resident.

    `number` is the compute capability (8.7 is 87); one that is newer than this table gets 256. None is larger than
    `max_threads`.
    """
    limits = LIMITS.get(number)
    best, most = min(DEFAULT_BLOCK, max_threads), 0
    if limits is None:
        return best
    for threads in (best, *[size for size in _OTHERS if size <= max_threads]):
        warps = resident_blocks(limits, registers, shared, threads) * threads // WARP
        if warps > most:
            best, most = threads, warps
    return best


def largest_block(number: int, registers: int, shared: int) -> tuple[int, int]:
    """The largest block among those that keep the most threads resident, and how many of them a multiprocessor holds.

    That is what `cuOccupancyMaxPotentialBlockSize` says. Raises LookupError for an architecture that is not known.
    """
    limits = LIMITS[number]
    found = [
        (resident_blocks(limits, registers, shared, threads), threads) for threads in range(WARP, MAX_BLOCK + 1, WARP)
    ]
    blocks, threads = max(found, key=lambda one: (one[0] * one[1], one[1]))
    return threads, blocks


def _round_up(n: int, unit: int) -> int:
    return -(-n // unit) * unit
