"""Publishing a bundle: the whole file at once, or the old one stays."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kbuild.errors import InternalError, ToolchainError
from kbuild.loader import format

_SECONDS_TO_LOCK = 60


def write(
    path: Path,
    manifest: dict[str, Any],
    blobs: Sequence[bytes],
    check: Callable[[format.Parsed], None] = lambda parsed: None,
) -> format.Parsed:
    """Write a bundle to `path` and return it as a reader sees it. What `check` raises keeps it from being published.

    A file that holds these very bytes already is not touched: its mtime says when it last changed. InternalError
    for a manifest that no reader would take, ToolchainError when the disk refuses.
    """
    data = format.dump(manifest, blobs)
    try:
        parsed = format.parse(data)
    except format.BundleError as error:
        raise InternalError(f"the bundle for {path} would not be readable: {error}") from error
    check(parsed)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path)
        if not _holds(path, data):
            publish(path, data)
    except OSError as error:
        message = f"the bundle {path} cannot be written: {error.strerror or error}"
        raise ToolchainError(message, help="free some space, or make the folder writable") from error
    return parsed


def publish(path: Path, data: bytes) -> None:
    """Replace a file by another in one step: a reader, or a crash, sees the old bytes or the new ones."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            _lock(file.fileno(), fcntl.LOCK_SH)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(path.parent)


def _sweep(path: Path) -> None:
    """Remove what a killed build left beside a bundle, where it might get into a wheel.

    Whoever writes holds a lock on the temporary file, which ends with its process; an empty file may be one that waits
    for its lock. A file system without locks keeps what is left.
    """
    for left in path.parent.glob(f".{path.name}.*.tmp"):
        with contextlib.suppress(OSError), open(left, "rb") as file:
            status = os.fstat(file.fileno())
            is_begun = status.st_size > 0 or time.time() - status.st_mtime > _SECONDS_TO_LOCK
            if is_begun and _lock(file.fileno(), fcntl.LOCK_EX):
                left.unlink()


def _lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.stat().st_size == len(data) and path.read_bytes() == data
    except FileNotFoundError:
        return False


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut; a file system that cannot is no reason to fail."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
