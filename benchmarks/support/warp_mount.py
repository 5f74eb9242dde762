"""Warp's own tests over kbuild: `kbuild.warp` stands for `warp`, their folder for `warp.tests`, `sim` for the CPU.

What is changed for the tests is changed here, in the process that runs them, and listed:

- the host as Warp's tests know it (`cpu`, on which kernels run) is the simulator's device;
- `Tape` notes that it was asked for;
- the table of modules that Warp's loader keeps, from which tests take their own when they are done, is there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

DEVICE = "sim"
TESTS = "warp.tests"


class Asked:
    """How many tapes the tests have made."""

    tapes = 0


def mount(folder: Path) -> None:
    """Makes `warp` and `warp.tests` importable."""
    os.environ["KBUILD_DEVICE"] = DEVICE
    import kbuild.warp as wp
    from kbuild.loader import hosts, providers
    from kbuild.warp import devices, tapes

    providers.register("cpu", providers.registry[DEVICE])  # launches that name the device by its name
    host = hosts.HOSTS["cpu"] = hosts.HOSTS[DEVICE]
    devices.is_cpu_available = lambda: True
    devices.get_devices = lambda: [host]
    tapes.Tape.__init__ = _counted(tapes.Tape.__init__)
    wp.install()
    vars(wp._src.context)["user_modules"] = _Modules()
    sys.meta_path.insert(0, _Finder(folder))
    package = ModuleType(TESTS)
    package.__path__ = [str(folder)]
    sys.modules[TESTS] = package
    vars(wp)["tests"] = package


class _Modules(dict[str, Any]):
    """What is taken from it was there."""

    def __delitem__(self, name: str) -> None:
        self.pop(name, None)


class _Finder(MetaPathFinder):
    """Finds the modules of the tests in their folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """See importlib."""
        return PathFinder.find_spec(fullname, path) if fullname.startswith(TESTS + ".") else None


def _counted(make: Callable[..., None]) -> Callable[..., None]:
    def counted(*arguments: object, **options: object) -> None:
        Asked.tapes += 1
        make(*arguments, **options)

    return counted
