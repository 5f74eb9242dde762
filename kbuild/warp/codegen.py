"""`wp.codegen`: Warp's own compiler; every name is there and refuses."""

from __future__ import annotations

from .absent import absent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("WarpCodegen"):
        from kbuild import warp

        return getattr(warp, name)
    if name.startswith("_"):
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    return absent("codegen." + name, "Warp's own compiler")
