"""From what a user names to bundles: a wheel, a .kbundle, an installed package, or a project folder.

locate("dist/robosim-1.0-py3-none-any.whl") → [Found("robosim-1.0-py3-none-any.whl/robosim/_kbuild.kbundle", b"…")]
"""

from __future__ import annotations

import importlib.util
import os
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kbuild.errors import UsageError

BUNDLE_NAME = "_kbuild.kbundle"
MAX_BYTES = 1 << 30  # of one bundle: what is larger is not read into memory
_PASSED_OVER = frozenset({"build", "dist", "node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True)
class Found:
    """A bundle and where it was."""

    label: str
    data: bytes


def locate(argument: str) -> list[Found]:
    """All bundles that an argument names, in a fixed order, at least one; UsageError when there is none."""
    path = Path(argument)
    if path.is_dir():
        return _in_folder(path)
    if path.is_file():
        return _in_wheel(path) if zipfile.is_zipfile(path) else [Found(str(path), _read(path))]
    if os.sep not in argument and all(part.isidentifier() for part in argument.split(".")):
        return _in_package(argument)
    raise UsageError(f"{argument} does not exist", help=_WANTED)


_WANTED = "name a wheel, a .kbundle file, an installed package or a project folder"


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(f"{path} is larger than {MAX_BYTES} bytes: not a bundle")
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None


def _in_wheel(path: Path) -> list[Found]:
    try:
        with zipfile.ZipFile(path) as wheel:
            members = sorted(
                (info for info in wheel.infolist() if info.filename.endswith(".kbundle")),
                key=lambda info: info.filename,
            )
            if any(info.file_size > MAX_BYTES for info in members):
                raise UsageError(f"{path} holds a bundle larger than {MAX_BYTES} bytes")
            found = [Found(f"{path}/{info.filename}", wheel.read(info)) for info in members]
    except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, NotImplementedError, EOFError) as error:
        raise UsageError(f"{path} is damaged: {error}", help="build or download it again") from None
    if not found:
        message = f"{path} holds no bundle: it was built without kbuild, or without kernels"
        raise UsageError(message, help="[tool.kbuild] and `requires = ['kbuild[build]']` belong in its pyproject.toml")
    return found


def _in_folder(folder: Path) -> list[Found]:
    paths = sorted(_bundles_below(folder))
    if not paths:
        raise UsageError(f"{folder} holds no bundle", help=f"build it first: python -m kbuild build {folder}")
    return [Found(str(path), _read(path)) for path in paths]


def _bundles_below(top: Path) -> Iterator[Path]:
    """Every bundle in a folder, leaving out build results, virtual environments and hidden folders."""
    for where, folders, files in os.walk(top):
        folders[:] = [name for name in folders if name not in _PASSED_OVER and not name.startswith(".")]
        if "pyvenv.cfg" in files and Path(where) != top:
            folders.clear()
        elif BUNDLE_NAME in files:
            yield Path(where, BUNDLE_NAME)


def _in_package(name: str) -> list[Found]:
    """The bundle of an installed package, which is not imported: nor are the packages above it."""
    top, *rest = name.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError) as error:
        raise UsageError(f"the package {top} cannot be looked up: {error}") from None
    if spec is None:
        raise UsageError(f"{name}: no such file or folder, and no installed package of that name", help=_WANTED)
    folders = [Path(folder, *rest) for folder in spec.submodule_search_locations or ()]
    for folder in folders:
        if (folder / BUNDLE_NAME).is_file():
            return [Found(str(folder / BUNDLE_NAME), _read(folder / BUNDLE_NAME))]
    place = folders[0] if folders else spec.origin
    raise UsageError(
        f"the package {name} at {place} has no bundle: it was installed without kbuild, or has no kernels",
        help="build it again with `requires = ['kbuild[build]']` in its pyproject.toml",
    )
