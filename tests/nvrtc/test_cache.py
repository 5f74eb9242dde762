"""The cache: whole entries or none, many processes, and folders that cannot be written."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kbuild.nvrtc.cache import Cache, cache_root

KEY = hashlib.sha256(b"key").hexdigest()


def test_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KBUILD_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_root() == tmp_path / ".cache/kbuild"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/ignored")
    assert cache_root() == tmp_path / ".cache/kbuild"
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_root() == Path("/xdg/kbuild")
    monkeypatch.setenv("KBUILD_CACHE", "~/mine")
    assert cache_root() == tmp_path / "mine"


@pytest.mark.parametrize("data", [b"", b"x", bytes(range(256)) * 1000])
def test_what_is_put_is_got(tmp_path: Path, data: bytes) -> None:
    cache = Cache(tmp_path)
    assert cache.get("cubin", KEY) is None
    cache.put("cubin", KEY, data)
    assert cache.get("cubin", KEY) == data
    assert cache.get("other", KEY) is None
    assert cache.warnings == []
    assert [p.name for p in cache.path("cubin", KEY).parent.iterdir()] == [KEY], "no temporary file stays"


def test_a_damaged_entry_is_a_miss_and_is_replaced(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put("cubin", KEY, b"some data")
    path = cache.path("cubin", KEY)
    whole = path.read_bytes()
    cut_short = [whole[:length] for length in range(len(whole))]
    flipped = [whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :] for i in range(len(whole))]
    for damaged in (*cut_short, *flipped, whole + b"x", whole + whole):
        path.write_bytes(damaged)
        assert cache.get("cubin", KEY) is None
    cache.put("cubin", KEY, b"some data")
    assert path.read_bytes() == whole
    assert cache.get("cubin", KEY) == b"some data"


def test_two_hundred_lookups_are_quick(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    keys = [hashlib.sha256(str(i).encode()).hexdigest() for i in range(200)]
    for key in keys:
        cache.put("cubin", key, os.urandom(10_000))
    best = min(_seconds(cache, keys) for _ in range(5))
    assert len(cache.get_many("cubin", [*keys, KEY])) == 200
    assert best < 0.1, f"{best * 1000:.1f} ms"


def _seconds(cache: Cache, keys: list[str]) -> float:
    start = time.perf_counter()
    cache.get_many("cubin", keys)
    return time.perf_counter() - start


def test_many_processes_at_once(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from kbuild.nvrtc.cache import Cache\n"
        "cache = Cache(Path(sys.argv[1])); data = b'd' * 50_000\n"
        "for i in range(300):\n"
        "    cache.put('cubin', sys.argv[2], data)\n"
        "    assert cache.get('cubin', sys.argv[2]) == data\n"
        "assert cache.warnings == []\n"
    )
    processes = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path), KEY]) for _ in range(4)]
    assert [process.wait() for process in processes] == [0, 0, 0, 0]
    assert Cache(tmp_path).usage()[0] == 1


def _blocked(tmp_path: Path) -> Cache:
    """A cache whose folder cannot be made, for root either: a file is in the way."""
    (tmp_path / "file").write_bytes(b"")
    return Cache(tmp_path / "file" / "cache")


def test_a_folder_that_cannot_be_written_costs_one_warning(tmp_path: Path) -> None:
    cache = _blocked(tmp_path)
    for _ in range(3):
        cache.put("cubin", KEY, b"data")
        assert cache.get("cubin", KEY) is None
    assert len(cache.warnings) == 1
    assert f"the cache {cache.root}" in cache.warnings[0]
    assert "compiled again each time" in cache.warnings[0]


@pytest.mark.parametrize("where", ["write", "rename"])
def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    cache = Cache(tmp_path)
    cache.put("cubin", KEY, b"old")
    monkeypatch.setattr(*((Path, "write_bytes") if where == "write" else (os, "replace")), full)
    cache.put("cubin", KEY, b"new")
    assert cache.get("cubin", KEY) == b"old"
    assert "No space left on device" in cache.warnings[0]
    assert cache.usage()[0] == 1


def test_a_folder_in_the_place_of_an_entry_is_a_miss_with_a_warning(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.path("cubin", KEY).mkdir(parents=True)
    assert cache.get("cubin", KEY) is None
    assert "cannot be read" in cache.warnings[0]


def test_prune_drops_what_was_not_used_for_longest(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    keys = [hashlib.sha256(str(i).encode()).hexdigest() for i in range(4)]
    for age, key in enumerate(keys):
        cache.put("cubin", key, b"x" * 960)
        used = time.time() - (10 + age) * 86400
        os.utime(cache.path("cubin", key), (used, used))
    assert cache.usage() == (4, 4000)
    assert cache.get("cubin", keys[3]) is not None  # now the youngest
    assert cache.prune(2500) == 2
    assert [cache.get("cubin", key) is not None for key in keys] == [True, False, False, True]
    assert cache.clear() == 2
    assert cache.usage() == (0, 0)


def test_clear_leaves_foreign_files_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    cache = Cache(tmp_path)
    cache.put("cubin", KEY, b"x")
    cache.clear()
    assert (tmp_path / "notes.txt").read_text() == "mine"
