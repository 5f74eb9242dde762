"""Why a GPU must not get a cubin, in words; `select.rank` is what decides."""

from __future__ import annotations

from . import select
from .select import FAMILIES, TEGRA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence

    from .select import Device

    Version = tuple[int, int]
    Row = dict[str, Any]


class _Refused(Exception):
    """A row that this device must not get; the text says why."""


def reasons(device: Device, cubins: Sequence[Row], allow_ptx: bool = False) -> list[tuple[int, str]]:
    """`(index, reason)` for each row that is not in `select.order`."""
    admitted = select.order(device, cubins, allow_ptx)
    return [(i, _reason(device, row, allow_ptx)) for i, row in enumerate(cubins) if i not in admitted]


def _reason(device: Device, row: Row, allow_ptx: bool) -> str:
    number, suffix = select.split(row["arch"])
    cuda = (row["cuda"][0], row["cuda"][1])
    try:
        if row["kind"] == "ptx":
            if not allow_ptx:
                raise _Refused("PTX would be compiled on this machine, which the caller did not allow")
            _check_ptx(device, number, suffix)
            _check_ptx_driver(device, cuda)
        else:
            (_check_tegra if device.is_tegra else _check_desktop)(device, number, suffix)
            _check_cubin_driver(device, cuda)
        _check_oldest_driver(device, row)
    except _Refused as refused:
        return str(refused)
    raise AssertionError("%r is refused, and for no reason" % row["arch"])


def _check_tegra(device: Device, number: int, suffix: str) -> None:
    if number != device.number:
        kind = "Tegra" if number in TEGRA else "desktop"
        raise _Refused(
            "sm_%d%s is %s code; a Tegra GPU runs only code made for exactly its architecture, sm_%d"
            % (number, suffix, kind, device.number)
        )


def _check_desktop(device: Device, number: int, suffix: str) -> None:
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


def _check_ptx(device: Device, number: int, suffix: str) -> None:
    if suffix == "a" and number != device.number:
        raise _Refused("compute_%da is for compute capability %d.%d only" % (number, number // 10, number % 10))
    if suffix == "f" and device.number not in FAMILIES.get(number, ()):
        raise _Refused("compute_%df is for its own family only, and sm_%d is not in it" % (number, device.number))
    if number > device.number:
        raise _Refused("compute_%d is newer than sm_%d" % (number, device.number))


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
