"""Devices by their names and numbers: `cuda`, `cuda:1`, 0, `cpu`, `sim`."""

from __future__ import annotations

from . import context, placing
from .context import Device
from .errors import DriverError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def device(spec: Any) -> Any:
    """See `context.get_device`."""
    if placing.simulates or not isinstance(spec, (str, int)) or spec in placing.HOSTS:
        from . import hosts  # no GPU is meant

        found = hosts.of(spec)
        if found is not None:
            return found
    if spec == "cuda":
        return _meant_gpu()
    ordinal = ordinal_of(spec)
    known = context.devices()
    if not 0 <= ordinal < len(known):
        raise DriverError("there is no device %r: this machine has %s" % (spec, ", ".join(map(repr, known))), code=101)
    return known[ordinal]


def _meant_gpu() -> Device:
    """The GPU of the scopes, where one of theirs is a GPU, else the first."""
    found = context.chosen() if context.scopes else 0
    return found if isinstance(found, Device) else context.devices()[0]


def gpu(spec: object = None) -> Device:
    """`context.get_device`, where only a GPU will do."""
    found = context.get_device(spec)
    if not isinstance(found, Device):
        raise DriverError("a GPU is wanted here, and %s is none: name one, as in device='cuda:0'" % found, code=101)
    return found


def ordinal_of(spec: object) -> int:
    """The number of a GPU by its name or number. Raises DriverError."""
    if isinstance(spec, int) and not isinstance(spec, bool):
        return spec
    if isinstance(spec, str) and spec.startswith("cuda:") and spec[5:].isdigit():
        return int(spec[5:])
    raise DriverError("a device is 'cuda:0', a number, 'cpu', 'sim' or a kb.Device, not %r" % (spec,), code=101)
