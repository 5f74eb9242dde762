"""Which cubin a GPU gets: one pure function from a device and the rows of a manifest to an order and refusals.

    candidates(Device("RTX 4090", 8, 9, (13, 0)), rows)  →  order [2, 0], refusals [(1, "sm_87 is Tegra code …")]

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


class Selection:
    """`order`: indices of the rows to try, best first. `refusals`: `(index, reason)` for every other row."""

    __slots__ = ("order", "refusals")

    def __init__(self, order: list[int], refusals: list[tuple[int, str]]) -> None:
        self.order, self.refusals = order, refusals


class _Refused(Exception):
    """A row that this device must not get; the text says why."""


def candidates(device: Device, cubins: Sequence[Row], allow_ptx: bool = False) -> Selection:
    """The rows that `device` may load, best first, and for each other row the reason in words.

    `cubins` are rows of the manifest (`arch`, `kind`, `cuda`, `driver`) that hold the kernel wanted.
    """
    ranked: list[tuple[Rank, int]] = []
    refusals: list[tuple[int, str]] = []
    for index, row in enumerate(cubins):
        try:
            ranked.append((_rank(device, row, allow_ptx), index))
        except _Refused as refused:
            refusals.append((index, str(refused)))
    ranked.sort()
    return Selection([index for _, index in ranked], refusals)


def _rank(device: Device, row: Row, allow_ptx: bool) -> Rank:
    """The row's place in the order, lowest first; raises _Refused."""
    number, suffix = _split(row["arch"])
    cuda = (row["cuda"][0], row["cuda"][1])
    if row["kind"] == "ptx":
        if not allow_ptx:
            raise _Refused("PTX would be compiled on this machine, which the caller did not allow")
        fit = _ptx_fit(device, number, suffix)
        _check_ptx_driver(device, cuda)
    else:
        fit = _tegra_fit(device, number, suffix) if device.is_tegra else _desktop_fit(device, number, suffix)
        _check_cubin_driver(device, cuda)
    _check_oldest_driver(device, row)
    newest_first = (-cuda[0], -cuda[1])
    return (int(row["kind"] == "ptx"), *fit, *newest_first)


def number_of(arch: str) -> int:
    """The compute capability that an architecture is made for, as it writes it: of `sm_90a` 90."""
    return _split(arch)[0]


def _split(arch: str) -> tuple[int, str]:
    """`sm_90a` and `compute_90a` as (90, "a")."""
    tail = arch.partition("_")[2]
    suffix = tail[-1:] if tail[-1:] in ("a", "f") else ""
    digits = tail[: len(tail) - len(suffix)]
    if not (digits.isascii() and digits.isdigit()):
        raise _Refused("%r is not an architecture that this version of kbuild knows" % arch)
    return int(digits), suffix


def _tegra_fit(device: Device, number: int, suffix: str) -> Rank:
    if number != device.number:
        kind = "Tegra" if number in TEGRA else "desktop"
        raise _Refused(
            "sm_%d%s is %s code; a Tegra GPU runs only code made for exactly its architecture, sm_%d"
            % (number, suffix, kind, device.number)
        )
    return (("a", "f", "").index(suffix), 0)


def _desktop_fit(device: Device, number: int, suffix: str) -> Rank:
    if number in TEGRA:
        raise _Refused("sm_%d%s is Tegra code; only that Jetson runs it" % (number, suffix))
    if suffix == "a" and number != device.number:
        raise _Refused("sm_%da runs on compute capability %d.%d only" % (number, number // 10, number % 10))
    if suffix == "f" and device.number not in FAMILIES.get(number, ()):
        raise _Refused("sm_%df runs on its own family only, and sm_%d is not in it" % (number, device.number))
    if number // 10 != device.major:
        raise _Refused("sm_%d is of another major version than sm_%d" % (number, device.number))
    if number > device.number:
        raise _Refused("sm_%d is newer than sm_%d" % (number, device.number))
    return (("a", "f", "").index(suffix), -number)


def _ptx_fit(device: Device, number: int, suffix: str) -> Rank:
    if suffix == "a" and number != device.number:
        raise _Refused("compute_%da is for compute capability %d.%d only" % (number, number // 10, number % 10))
    if suffix == "f" and device.number not in FAMILIES.get(number, ()):
        raise _Refused("compute_%df is for its own family only, and sm_%d is not in it" % (number, device.number))
    if number > device.number:
        raise _Refused("compute_%d is newer than sm_%d" % (number, device.number))
    return (("a", "f", "").index(suffix), -number)


def _check_cubin_driver(device: Device, cuda: Version) -> None:
    """Desktop drivers run their own major version and older; on a Tegra minor versions are not compatible either."""
    if device.is_tegra:
        is_jetpack_5 = cuda[0] == device.driver[0] == 11
        admitted = is_jetpack_5 or cuda <= device.driver
    else:
        admitted = cuda[0] <= device.driver[0]
    if not admitted:
        raise _Refused(
            "built by CUDA %d.%d, and the driver speaks CUDA %d.%d"
            % (cuda[0], cuda[1], device.driver[0], device.driver[1])
        )


def _check_ptx_driver(device: Device, cuda: Version) -> None:
    if cuda > device.driver:
        raise _Refused(
            "PTX of CUDA %d.%d is newer than the driver, which speaks CUDA %d.%d"
            % (cuda[0], cuda[1], device.driver[0], device.driver[1])
        )


def _check_oldest_driver(device: Device, row: Row) -> None:
    oldest = (row["driver"][0], row["driver"][1])
    if oldest > device.driver:
        raise _Refused(
            "needs a driver for CUDA %d.%d, and this one speaks CUDA %d.%d"
            % (oldest[0], oldest[1], device.driver[0], device.driver[1])
        )
