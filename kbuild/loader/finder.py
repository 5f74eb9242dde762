"""Where a package's bundle is: `_kbuild.kbundle` beside the `__init__` of its topmost regular package.

Packages are found as the import system finds them (folders, zip files, editable installs), without importing them.
"""

from __future__ import annotations

import errno
import os
import sys

from .errors import BundleError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BUNDLE_NAME = "_kbuild.kbundle"
_NOT_THERE = (errno.ENOENT, errno.ENOTDIR, 0, None)  # zipimport gives no number


def find_spec(name: str) -> Any:
    """The spec of a module or package, from sys.modules or the finders of sys.meta_path; None when nobody has it."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    if spec is not None:
        return spec
    parent, _, _ = name.rpartition(".")
    path = None
    if parent:
        path = getattr(find_spec(parent), "submodule_search_locations", None)
        if path is None:
            return None
    for finder in sys.meta_path:
        spec = finder.find_spec(name, path)
        if spec is not None:
            return spec
    return None


def package_of(module: str) -> Any:
    """The spec of the topmost regular package (one with an `__init__`) that a module lies in; None when in none."""
    parts = module.split(".")
    for count in range(1, len(parts) + 1):
        spec = find_spec(".".join(parts[:count]))
        if spec is None:
            return None
        if _is_regular(spec):
            return spec
    return None


def _is_regular(spec: Any) -> bool:
    return spec.submodule_search_locations is not None and spec.origin not in (None, "namespace")


def bundle_path(spec: Any) -> str:
    """The path at which a package's bundle lies, inside a zip file too."""
    return os.path.join(os.path.dirname(spec.origin), BUNDLE_NAME)


def read(spec: Any) -> bytes | None:
    """The bytes of a package's bundle through the package's own loader; None when it has none. Raises BundleError."""
    try:
        return bytes(spec.loader.get_data(bundle_path(spec)))
    except AttributeError:
        return None
    except OSError as error:
        if error.errno in _NOT_THERE:
            return None
        raise BundleError("cannot read the bundle %s: %s" % (bundle_path(spec), error.strerror)) from None


def locate(name: str) -> tuple[str, bytes]:
    """(path, bytes) of the bundle that a package name, a folder or a file stands for. Raises BundleError."""
    if name.endswith(".kbundle") or os.sep in name or (os.path.isdir(name) and not name.isidentifier()):
        return _read_file(os.path.join(name, BUNDLE_NAME) if os.path.isdir(name) else name)
    spec = package_of(name)
    if spec is None:
        raise BundleError("there is no package %r here: is it installed in %s?" % (name, sys.prefix))
    data = read(spec)
    if data is None:
        from . import explaining

        raise BundleError(explaining.no_bundle(spec))
    return bundle_path(spec), data


def _read_file(path: str) -> tuple[str, bytes]:
    try:
        with open(path, "rb") as file:
            return path, file.read()
    except OSError as error:
        raise BundleError("cannot read the bundle %s: %s" % (path, error.strerror)) from None
