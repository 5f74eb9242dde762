"""`wp._src`: Warp's private modules, as far as projects reach into them."""

from __future__ import annotations

__path__: list[str] = []  # a package, for `import warp._src.types`

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def __getattr__(name: str) -> Any:
    from . import installing

    if name.startswith("__"):
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    found = installing.find("warp._src." + name)
    globals()[name] = found
    return found
