"""Installed size of packages: their files, and those of everything they cannot do without."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any


def folder_size(folder: Path) -> int:
    """Bytes of the files below a folder, without compiled Python."""
    return sum(one.stat().st_size for one in folder.rglob("*") if one.is_file() and one.suffix != ".pyc")


def installed(*roots: str) -> dict[str, Any]:
    """`bytes` of the distributions and all that they require without extras, their `packages`, what is `missing`."""
    sizes: dict[str, int] = {}
    missing: set[str] = set()
    known: set[tuple[str, str]] = set()
    waiting = [(name, "") for name in roots]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in known:
            continue
        known.add((name, extra))
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            missing.add(name)
            continue
        sizes[name] = _size(distribution)
        waiting += _required(distribution, extra)
    return {"bytes": sum(sizes.values()), "packages": sorted(sizes), "missing": sorted(missing)}


def _size(distribution: importlib.metadata.Distribution) -> int:
    """As the list of its files says, where it says so."""
    total = 0
    for file in distribution.files or ():
        if file.suffix == ".pyc":
            continue
        path = Path(str(distribution.locate_file(file)))
        total += file.size if file.size is not None else path.stat().st_size if path.is_file() else 0
    return total


def _required(distribution: importlib.metadata.Distribution, extra: str) -> list[tuple[str, str]]:
    """(name, extra) of what it requires here."""
    try:
        from packaging.requirements import Requirement
        from packaging.utils import canonicalize_name
    except ImportError:  # pip brings its own
        from pip._vendor.packaging.requirements import Requirement
        from pip._vendor.packaging.utils import canonicalize_name

    found: list[tuple[str, str]] = []
    for text in distribution.requires or ():
        one = Requirement(text)
        if one.marker is None or one.marker.evaluate({"extra": extra}):
            found += [(canonicalize_name(one.name), wanted) for wanted in ("", *one.extras)]
    return found
