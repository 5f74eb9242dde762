"""Warp's modules of kernels. kbuild finds kernels by Python's modules, and code comes from bundles: little is left."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def nothing(*_: Any, **__: Any) -> None:
    """What needs no doing: code is compiled when the package is built."""


def get_module_options(*_: Any) -> dict[str, Any]:
    """A module's options, all of which belong to Warp's own building."""
    return {}


class Module:
    """A module of kernels by its name."""

    def __init__(self, name: str | None = None, *_: Any, **__: Any) -> None:
        self.name = name
        self.options: dict[str, Any] = {}

    def load(self, *_: Any, **__: Any) -> bool:
        """Code comes from the bundle at the first launch."""
        return True

    def unload(self) -> None:
        """Code stays as long as the program runs."""

    def mark_modified(self) -> None:
        """Sources are read while building alone."""

    @property
    def kernels(self) -> dict[str, Any]:
        """The kernels that the Python module of this name has at its top, by name."""
        from kbuild.loader.types import Kernel

        found = vars(sys.modules.get(self.name or "", object)).items()
        return {name: value for name, value in found if isinstance(value, Kernel)}


def get_module(name: str) -> Module:
    """A module of kernels by its name."""
    return Module(name)
