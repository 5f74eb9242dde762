"""`install()`: the name `warp`, and modules below it, stand for kbuild.warp from here on."""

from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec

from kbuild.loader.errors import LoaderError

from . import absent, names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

_OWN = ("appdirs", "codegen", "config", "context", "types", "utils")
_INSIDE = "_src"  # Warp's private modules: what stands for the public ones stands for them


def install() -> None:
    """Makes `import warp` mean kbuild.warp. LoaderError when the real Warp is imported already."""
    present = sys.modules.get("warp")
    ours = sys.modules["kbuild.warp"]
    if present is ours:
        return
    if present is not None:
        raise LoaderError(
            "kbuild.warp.install() comes too late: Warp itself is imported (%s)\n"
            "  help: call it before the first module that says `import warp`" % getattr(present, "__file__", present)
        )
    sys.modules["warp"] = ours
    sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder, Loader):
    """Answers for every module below `warp`."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if not fullname.startswith("warp."):
            return None
        if find(fullname) is None:
            raise ModuleNotFoundError("kbuild.warp has no module %r" % fullname, name=fullname)
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> None:
        """Python's own empty one, which does not stay."""

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = find(module.__name__)


def find(fullname: str) -> Any:
    """The module that stands for one of Warp's, or None."""
    parts = [part for part in fullname.split(".")[1:] if part != _INSIDE]
    if not parts:
        return __import__("kbuild.warp._src", None, None, ["*"])
    if parts[-1] in _OWN and len(parts) == 1 + (parts[0] == "thirdparty"):
        return __import__("kbuild.warp." + parts[-1], None, None, ["*"])
    if parts[0] in names.MODULES or _INSIDE in fullname.split("."):
        return absent.module(".".join(parts))
    return None
