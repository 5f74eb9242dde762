"""Warp's own tests over kbuild: `kbuild.warp` stands for `warp`, their folder for `warp.tests`, `sim` for the CPU.

What is changed for the tests is changed here, in the process that runs them, and listed:

- the host as Warp's tests know it (`cpu`, on which kernels run) is the simulator's device;
- arrays may ask for gradients, which they do not get: a test says by `Tape` that it wants them;
- `Tape` notes that it was asked for, runs what is forward, and refuses the way back;
- the table of modules that Warp's loader keeps, from which tests take their own when they are done, is there.
"""

from __future__ import annotations

import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

DEVICE = "sim"
TESTS = "warp.tests"


class WayBack(Exception):
    """A tape was asked to go back, or a launch for its adjoint."""


class Tape:
    """Notes that it was asked for."""

    asked = 0

    def __init__(self, *_: object, **__: object) -> None:
        Tape.asked += 1

    def __enter__(self) -> Tape:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        raise WayBack(f"Tape.{name}")


def mount(folder: Path) -> None:
    """Makes `warp` and `warp.tests` importable."""
    os.environ["KBUILD_DEVICE"] = DEVICE
    import kbuild.warp as wp
    from kbuild.loader import context, providers
    from kbuild.warp import arrays, devices, launching

    providers.register("cpu", providers.registry[DEVICE])  # launches that name the device by its name
    host = context.HOSTS["cpu"] = context.HOSTS[DEVICE]
    devices.is_cpu_available = lambda: True
    devices.get_devices = lambda: [host]
    arrays.without_gradients = _without_gradients
    launching._without_adjoints = _without_adjoints
    vars(wp)["Tape"] = Tape
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


def _without_gradients(what: str, options: dict[str, Any], **_: Any) -> None:
    """Lets an array ask for gradients."""
    for name in ("requires_grad", "retain_grad", "grad"):
        options.pop(name, None)
    if options:
        raise TypeError(f"wp.{what} has no argument {min(options)!r}")


def _without_adjoints(what: str, adjoint: Any, adj_inputs: Any, adj_outputs: Any, options: dict[str, Any]) -> None:
    if adjoint:
        raise WayBack(f"{what}(adjoint={adjoint!r})")
    if options:
        raise TypeError(f"wp.{what} has no argument {min(options)!r}")
