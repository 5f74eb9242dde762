"""Which cubin a GPU gets: one pure function from a device and the rows of a manifest to an order.

    order(Device("RTX 4090", 8, 9, (13, 0)), rows)  →  [2, 0], and refusals.py says why not 1: "sm_87 is Tegra code …"

A Tegra takes cubins of exactly its architecture. Any other GPU takes, among non-Tegra architectures, its own `a`, its
family's `f`, then its major version with the highest minor not above its own; of equals the newest toolchain that the
driver admits comes first. PTX comes last and only when the caller allows it. Python 3.8, on the way of every start.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence

    Version = tuple[int, int]
    Row = dict[str, Any]
    Rank = tuple[int, ...]

# Tegra is a property of the architecture, never of the driver's `integrated` attribute: a DGX Spark is integrated too.
TEGRA = frozenset((53, 62, 72, 87, 101, 110))

# Which architectures an `f` cubin runs on ("family-specific architecture features", CUDA C++ Programming Guide 12.9).
FAMILIES = {
    100: frozenset((100, 103)),
    101: frozenset((101,)),
    103: frozenset((103,)),
    110: frozenset((110,)),
    120: frozenset((120, 121)),
    121: frozenset((121,)),
}


class Device:
    """A GPU as the driver describes it; `driver` is the CUDA version that the driver speaks, `(12, 2)`."""

    __slots__ = ("driver", "major", "minor", "name")

    def __init__(self, name: str, major: int, minor: int, driver: Version) -> None:
        self.name, self.major, self.minor, self.driver = name, major, minor, driver

    @property
    def number(self) -> int:
        """The compute capability as architectures write it: 8.7 is 87."""
        return self.major * 10 + self.minor

    @property
    def is_tegra(self) -> bool:
        return self.number in TEGRA

    def __repr__(self) -> str:
        return "%s (sm_%d, driver for CUDA %d.%d)" % (self.name, self.number, self.driver[0], self.driver[1])


def order(device: Device, cubins: Sequence[Row], allow_ptx: bool = False) -> list[int]:
    """The indices of the rows that `device` may load, best first.

    `cubins` are rows of the manifest (`arch`, `kind`, `cuda`, `driver`) that hold the kernel wanted.
    """
    places = [(rank(device, row, allow_ptx), index) for index, row in enumerate(cubins)]
    return [index for place, index in sorted(places) if place]


def rank(device: Device, row: Row, allow_ptx: bool) -> Rank:
    """The row's place in the order, lowest first; nothing, (), where the device must not get it."""
    number, suffix = split(row["arch"])
    cuda, oldest = tuple(row["cuda"]), tuple(row["driver"])
    is_ptx = row["kind"] == "ptx"
    if is_ptx:
        is_right = allow_ptx and cuda <= device.driver
    elif device.is_tegra:  # where drivers of CUDA 11 take each other's code, and minor versions matter in all others
        is_right = number == device.number and (cuda <= device.driver or cuda[0] == device.driver[0] == 11)
    else:
        is_right = number not in TEGRA and number // 10 == device.major and cuda[0] <= device.driver[0]
    if suffix == "a":
        is_right = is_right and number == device.number
    elif suffix == "f":
        is_right = is_right and device.number in FAMILIES.get(number, ())
    if not is_right or number > device.number or oldest > device.driver:
        return ()
    return (int(is_ptx), ("a", "f", "").index(suffix), -number, -cuda[0], -cuda[1])


def number_of(arch: str) -> int:
    """The compute capability that an architecture is made for, as it writes it: of `sm_90a` 90."""
    return split(arch)[0]


def split(arch: str) -> tuple[int, str]:
    """`sm_90a` and `compute_90a` as (90, "a")."""
    tail = arch.partition("_")[2]
    suffix = tail[-1:] if tail[-1:] in ("a", "f") else ""
    return int(tail[: len(tail) - len(suffix)]), suffix
