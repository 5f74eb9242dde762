"""Where kernels run on this machine: `kb.devices()`."""

from __future__ import annotations

import sys

from . import finder, hosts, providers

__all__ = ("devices",)

# What each provider of a device needs: the oldest Python, and modules.
_NEEDS = {"sim": ((3, 10), ("numpy",))}


def devices() -> list[str]:
    """The devices that kernels run on here: "sim" where NumPy is installed, then "cuda:0", "cuda:1", and so on.

    Nothing is imported for it, and no GPU gets a context: as the parameters of a test it is cheap. Without a driver or
    a GPU there are none of those; a driver that refuses raises DriverError.
    """
    found = [kind for kind in _NEEDS if _answers(kind)]
    return found + [str(gpu) for gpu in hosts.get_devices()]


def _answers(kind: str) -> bool:
    """Whether what runs kernels on a kind of device could be imported."""
    oldest, modules = _NEEDS[kind]
    module = providers.registry.get(kind, "").partition(":")[0]
    return bool(module) and sys.version_info >= oldest and all(map(_is_there, (module, *modules)))


def _is_there(module: str) -> bool:
    if module in sys.modules:
        return sys.modules[module] is not None
    try:
        return finder.find_spec(module) is not None
    except (ImportError, AttributeError, ValueError):
        return False
