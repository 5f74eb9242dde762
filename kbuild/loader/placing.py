"""Which kind of device a launch is for, known before anything is opened for it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HOSTS = ("cpu", "sim")  # the host as a device: see hosts.py
simulates = False  # the device `sim` stands for every GPU; see `stand_for_gpus`


def stand_for_gpus() -> None:
    """Lets every GPU that the program names, and none, mean the device `sim`, for the rest of the program."""
    global simulates
    simulates = True


def kind_of(device: Any, args: Any = ()) -> str:
    """`cuda`, `cpu`, `sim`: the kind of a device, by its name, its number or itself; of a launch that names none, of
    its first array, else of the device that is meant where none is named.
    """
    if device is None:
        from . import context  # which opens ctypes: not where kernels are declared

        arrays = [one for one in args if hasattr(type(one), "_kb_array_")] if isinstance(args, (list, tuple)) else []
        device = arrays[0].device if arrays else context.chosen()
    kind: str = device.partition(":")[0] if isinstance(device, str) else getattr(device, "kind", "cuda")
    return "sim" if simulates and kind == "cuda" else kind
