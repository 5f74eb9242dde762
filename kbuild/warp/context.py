"""`wp.context`: where Warp keeps most of its public names too."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

user_modules: dict[str, Any] = {}
builtin_functions: dict[str, Any] = {}


def type_str(t: Any) -> str:
    """A type as a person reads it."""
    from . import types

    return types.type_repr(t)


def __getattr__(name: str) -> Any:
    from kbuild import warp

    from .absent import absent

    if name.startswith("_"):
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    if name in ("runtime", "Runtime"):
        return absent("context." + name, "Warp's own runtime")
    return getattr(warp, name)
