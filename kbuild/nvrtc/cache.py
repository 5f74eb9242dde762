"""A content-addressed folder of results, shared by any number of processes.

    <root>/<kind>/ab/abcdef…      8 bytes of magic, sha256 of what follows, the data
    <root>/tmp/…                  entries that are being written, for milliseconds

An entry is written to a temporary file and renamed, so a reader sees all of it or nothing; one that is cut short or
damaged is a miss and gets replaced. A folder that cannot be written (read-only, full) costs speed, never the build.
There are no locks. What a killed build left in `tmp` goes when a later one writes.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

_MAGIC = b"KBCACHE1"
_HEAD = len(_MAGIC) + 32
_DAY = 86400
_ABANDONED = 3600  # seconds after which nobody is still writing a temporary file


def cache_root() -> Path:
    """`$KBUILD_CACHE`, else `$XDG_CACHE_HOME/kbuild`, else `~/.cache/kbuild`."""
    if chosen := os.environ.get("KBUILD_CACHE"):
        return Path(chosen).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification tells programs to ignore a relative path.
    return (Path(base) if os.path.isabs(base) else Path("~/.cache").expanduser()) / "kbuild"


class Cache:
    """`get` and `put` never raise for the folder's sake; `warnings` says once what went wrong."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.warnings: list[str] = []
        self._is_swept = False

    def path(self, kind: str, key: str) -> Path:
        """Where an entry lies. `key` is a digest in hexadecimal."""
        return self.root / kind / key[:2] / key

    def get(self, kind: str, key: str) -> bytes | None:
        """The data of an entry, or None if there is none or it is damaged."""
        path = f"{self.root}/{kind}/{key[:2]}/{key}"
        try:
            with open(path, "rb", buffering=0) as file:
                status = os.fstat(file.fileno())
                entry = file.readall()
        except FileNotFoundError:
            return None
        except OSError as error:
            self._warn(f"{path} cannot be read ({error.strerror})")
            return None
        data = _unpacked(entry)
        if data is not None and time.time() - status.st_mtime > _DAY:
            with contextlib.suppress(OSError):
                os.utime(path)  # `prune` drops what was not used for longest
        return data

    def get_many(self, kind: str, keys: Iterable[str]) -> dict[str, bytes]:
        """The entries that there are, by key."""
        found = ((key, self.get(kind, key)) for key in keys)
        return {key: data for key, data in found if data is not None}

    def put(self, kind: str, key: str, data: bytes) -> None:
        """Stores an entry, replacing what was there."""
        path = self.path(kind, key)
        temporary = self.root / "tmp" / f"{key[:16]}.{secrets.token_hex(8)}"
        try:
            for folder in (path.parent, temporary.parent):
                folder.mkdir(parents=True, exist_ok=True)
            self._sweep(temporary.parent)
            temporary.write_bytes(_MAGIC + hashlib.sha256(data).digest() + data)
            os.replace(temporary, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink()
            self._warn(f"{self.root} cannot be written ({error.strerror})")

    def _warn(self, what: str) -> None:
        if not self.warnings:
            self.warnings.append(f"the cache {what}; everything is compiled again each time")

    def _sweep(self, folder: Path) -> None:
        """Removes the temporary files of builds that were killed, once a process."""
        if not self._is_swept:
            self._is_swept = True
            for path in folder.iterdir():
                with contextlib.suppress(OSError):
                    if time.time() - path.stat().st_mtime > _ABANDONED:
                        path.unlink()

    def usage(self) -> tuple[int, int]:
        """Number of entries and their bytes."""
        sizes = [status.st_size for _, status in self._entries()]
        return len(sizes), sum(sizes)

    def prune(self, max_bytes: int) -> int:
        """Removes the entries that were unused for longest until `max_bytes` are left; returns how many went."""
        newest_first = sorted(self._entries(), key=lambda entry: (-entry[1].st_mtime_ns, str(entry[0])))
        removed = total = 0
        for path, status in newest_first:
            total += status.st_size
            if total > max_bytes:
                removed += _removed(path)
        return removed

    def clear(self) -> int:
        """Removes every entry; returns how many there were."""
        return sum(_removed(path) for path, _ in self._entries())

    def _entries(self) -> Iterator[tuple[Path, os.stat_result]]:
        """Every entry and leftover of an interrupted `put`, and nothing that kbuild did not write."""
        for path in sorted((*self.root.glob("*/[0-9a-f][0-9a-f]/*"), *self.root.glob("tmp/*"))):
            with contextlib.suppress(OSError):
                yield path, path.stat()


def _removed(path: Path) -> int:
    try:
        path.unlink()
    except OSError:
        return 0
    return 1


def _unpacked(entry: bytes) -> bytes | None:
    data = entry[_HEAD:]
    is_whole = entry[:_HEAD] == _MAGIC + hashlib.sha256(data).digest()
    return data if is_whole else None
