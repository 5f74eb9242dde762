"""The host as a device (`cpu`, and `sim`, whose kernels run in the simulator), and the devices that there are."""

from __future__ import annotations

from . import context, driver, naming, placing
from .errors import DriverError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ("HostDevice", "get_devices")


class HostDevice:
    """The host as a place for arrays: `cpu`, and `sim`, whose kernels run in the simulator."""

    is_cuda, is_cpu = False, True
    ordinal = -1

    def __init__(self, kind: str) -> None:
        self.kind = self.alias = self.name = kind
        self.kinds: dict[Any, Any] = {}  # as a GPU's

    def current(self) -> HostDevice:
        """As a GPU's, for code that serves both."""
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        """What few programs ask of a device."""
        if name.startswith("_"):
            raise AttributeError(name)
        from . import facts

        return facts.of(self, name)

    def __eq__(self, other: object) -> bool:
        """`device == "cpu"`; where the simulator stands for every GPU it is each of them."""
        if isinstance(other, str):
            return other == self.alias or (
                placing.simulates and self.kind == "sim" and other.partition(":")[0] == "cuda"
            )
        return self is other

    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[object, ...]:
        return context.get_device, (self.kind,)

    def __str__(self) -> str:
        return self.kind

    def __repr__(self) -> str:
        return "<kb.HostDevice %s>" % self.kind


HOSTS = {kind: HostDevice(kind) for kind in placing.HOSTS}


def of(spec: Any) -> HostDevice | None:
    """What a name or a HostDevice stands for; None where it is not the host. Raises DriverError."""
    if isinstance(spec, HostDevice):
        return spec
    if isinstance(spec, str) and spec in HOSTS:
        return HOSTS[spec]
    if placing.simulates and (spec == "cuda" or naming.ordinal_of(spec) >= 0):
        return HOSTS["sim"]
    return None


def get_devices() -> list[Any]:
    """The GPUs that kernels can run on; empty where there is no driver or no GPU. In `python -m kbuild sim` it is the
    simulator.
    """
    if placing.simulates:
        return [HOSTS["sim"]]
    try:
        return list(context.devices())
    except DriverError as error:
        if error.name == driver.NO_DRIVER or (error.code == 100 and error.call in ("cuInit", "cuDeviceGetCount")):
            return []
        raise
