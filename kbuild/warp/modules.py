"""Warp's modules of kernels. kbuild finds kernels by Python's modules, and code comes from bundles: little is left."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def nothing(*_: Any, **__: Any) -> None:
    """What needs no doing: code is compiled when the package is built."""


_options: dict[str, dict[str, Any]] = {}  # those that were set, by module


def set_module_options(options: dict[str, Any], module: Any = None) -> None:
    """Sets options of the calling module, or of one given. A build looks at `enable_backward`, `fast_math` and
    `fuse_fp`."""
    _options.setdefault(_name(module, sys._getframe(1).f_globals), {}).update(options)


def get_module_options(module: Any = None) -> dict[str, Any]:
    """The options of the calling module, or of one given: Warp's own, and what was set."""
    return _all_options(_name(module, sys._getframe(1).f_globals))


def _name(module: Any, names: dict[str, Any]) -> str:
    return str(names.get("__name__", "") if module is None else getattr(module, "__name__", module))


def _all_options(module: str) -> dict[str, Any]:
    own = {"block_dim": 256, "enable_backward": True, "fast_math": False, "fuse_fp": True, "max_unroll": 16}
    return {**own, **_options.get(module, {})}


def wants_backward(module: str) -> bool:
    """Whether a module's kernels that say nothing themselves are to have adjoints, as far as Warp's options say."""
    from . import config

    return bool(_options.get(module, {}).get("enable_backward", config.enable_backward))


def said(module: str, name: str) -> object:
    """What was set for a module's kernels; None where nothing was."""
    return _options.get(module, {}).get(name)


class Module(str):
    """A module of kernels: the name of the Python module, with what programs ask of Warp's."""

    __slots__ = ()

    def __new__(cls, name: str | None = None, *_: Any, **__: Any) -> Module:
        """The module of that name, whether or not it has kernels."""
        return super().__new__(cls, name or "")

    @property
    def name(self) -> str:
        """The Python module's name."""
        return str(self)

    @property
    def options(self) -> dict[str, Any]:
        """Warp's options, and what was set."""
        return _all_options(self.name)

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

        found = vars(sys.modules.get(self.name, object)).items()
        return {name: value for name, value in found if isinstance(value, Kernel)}


def get_module(name: str) -> Module:
    """A module of kernels by its name."""
    return Module(name)
