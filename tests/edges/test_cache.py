"""Caches as disks and other processes leave them: a build is never wrong for it, and never fails."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kbuild.errors import ExitCode
from kbuild.loader import format
from tests.helpers import building, projects
from tests.helpers.building import Kbuild
from tests.helpers.situations import happens

SECTION = "Cache and disk"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return building.project(
        tmp_path / "project", projects.KERNELS, targets=["sm_90", "jetson-orin-jp5"], table="backward = false\n"
    )


@pytest.fixture
def cache(warm_cache: Path, project: Path, tmp_path: Path) -> Path:
    """A cache of this test's own that holds everything that the project needs."""
    copy = tmp_path / "cache"
    shutil.copytree(warm_cache, copy)
    build(Kbuild(copy), project)
    return copy


def build(kbuild: Kbuild, project: Path) -> Any:
    return json.loads(kbuild.run("build", project, "--json").stdout)


def entries(cache: Path) -> list[Path]:
    return sorted(path for path in cache.rglob("*") if path.is_file())


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "cut short": lambda data: data[: len(data) // 2],
    "emptied": lambda data: b"",
    "one bit flipped": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    "one byte longer": lambda data: data + b"\0",
    "something else": lambda data: b"\x7fELF" * 100,
}


@happens(
    SECTION,
    "entries of the cache are cut short, emptied, damaged or replaced",
    "They are made again; the bundle is the same to the byte.",
)
@pytest.mark.parametrize("how", DAMAGE)
def test_every_entry_damaged(project: Path, cache: Path, how: str) -> None:
    wanted = (project / building.BUNDLE).read_bytes()
    for path in entries(cache):
        path.write_bytes(DAMAGE[how](path.read_bytes()))
    again = build(Kbuild(cache), project)
    assert (again["compiled"], again["cached"]) == (2, 0)
    assert (project / building.BUNDLE).read_bytes() == wanted
    assert build(Kbuild(cache), project)["cached"] == 2


@happens(
    SECTION,
    "a folder lies where a file of the cache should be, or a file where the cache should be",
    "The build works without the cache, and one warning [KB510] says so.",
)
def test_folders_in_the_place_of_files(project: Path, cache: Path, tmp_path: Path) -> None:
    wanted = (project / building.BUNDLE).read_bytes()
    for path in entries(cache):
        path.unlink()
        path.mkdir()
        (path / "kept").touch()
    blocked = tmp_path / "blocked"
    blocked.write_bytes(b"")
    for odd in (cache, blocked, blocked / "below"):
        (project / building.BUNDLE).unlink()
        done = Kbuild(odd).run("build", project)
        assert done.stderr.count("[KB510]") == 1, done.stderr
        assert str(odd) in done.stderr
        assert (project / building.BUNDLE).read_bytes() == wanted


@happens(SECTION, "the cache cannot be written", "The build works; one warning [KB510] says so, once.")
def test_read_only_and_not_even_readable(project: Path, cache: Path, tmp_path: Path) -> None:
    output, new = tmp_path / "output", building.project(tmp_path / "new", projects.KERNELS.replace("factor", "by"))
    change_modes(cache, folders=0o555, files=0o444)
    assert as_anybody(Kbuild(cache), "build", project, "-o", output).count("[KB510]") == 0, "all is there"
    assert as_anybody(Kbuild(cache), "build", new, "-o", output).count("[KB510]") == 1
    change_modes(cache, folders=0o555, files=0o000)
    assert as_anybody(Kbuild(cache), "build", project, "-o", output).count("[KB510]") == 1
    change_modes(cache, folders=0o000, files=0o000)
    assert as_anybody(Kbuild(cache), "build", project, "-o", output).count("[KB510]") == 1
    change_modes(cache, folders=0o755, files=0o644)
    parsed = format.parse((output / building.BUNDLE).read_bytes())
    assert parsed.digest == format.parse((project / building.BUNDLE).read_bytes()).digest


def change_modes(folder: Path, *, folders: int, files: int) -> None:
    for where, _, names in os.walk(folder, topdown=False):
        for name in names:
            os.chmod(os.path.join(where, name), files)
        os.chmod(where, folders)


def as_anybody(kbuild: Kbuild, *arguments: str | Path) -> str:
    """stderr of a command for which the modes of files hold, as they do not for root."""
    command = kbuild.command(*arguments)
    done = subprocess.run(
        command, env=kbuild.environment, preexec_fn=give_up_rights, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


LIBC = ctypes.CDLL(None)
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2


def give_up_rights() -> None:
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)  # fails for who has no such right anyway


@happens(
    SECTION,
    "the disk is full",
    "Where only the cache is: a warning [KB510], and the bundle is right. Where the bundle is: an error that names it, "
    "status 3, and the old bundle stays.",
)
def test_a_full_disk(project: Path, cache: Path, tmp_path: Path) -> None:
    old = (project / building.BUNDLE).read_bytes()
    (project / "thing" / "kernels.py").write_text(projects.KERNELS.replace("* factor", "* factor * factor"))
    limited = subprocess.run(
        Kbuild(cache).command("build", project),
        env=Kbuild(cache).environment,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert limited.returncode == ExitCode.MACHINE, limited.stderr
    assert f"the bundle {project / building.BUNDLE} cannot be written: File too large" in limited.stderr
    assert "Traceback" not in limited.stderr
    assert (project / building.BUNDLE).read_bytes() == old
    assert os.listdir(project / "thing") == unordered(["__init__.py", "kernels.py", "_kbuild.kbundle", "__pycache__"])
    assert not list((cache / "tmp").iterdir())


class unordered:
    """Equal to a list with the same items in any order, `__pycache__` left out."""

    def __init__(self, items: list[str]) -> None:
        self.items = items

    def __eq__(self, other: object) -> bool:
        return isinstance(other, list) and set(other) - {"__pycache__"} == set(self.items) - {"__pycache__"}

    __hash__ = None  # type: ignore[assignment]


FULL = """
import errno, os, pathlib
known = pathlib.Path.write_bytes
def write_bytes(path, data):
    if "/cache" in str(path):
        known(path, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return known(path, data)
pathlib.Path.write_bytes = write_bytes
"""


def test_a_full_disk_under_the_cache(project: Path, cache: Path, tmp_path: Path) -> None:
    wanted = (project / building.BUNDLE).read_bytes()
    (project / building.BUNDLE).unlink()
    shutil.rmtree(cache)
    full = Kbuild(cache).with_site(tmp_path / "site", FULL)
    for _ in range(2):
        done = full.run("build", project)
        assert done.stderr.count("No space left on device") == 1
        assert "everything is compiled again each time [KB510]" in done.stderr
        assert (project / building.BUNDLE).read_bytes() == wanted
    assert entries(cache) == []


def test_a_machine_without_any_room_for_temporary_files(project: Path, cache: Path, tmp_path: Path) -> None:
    """Nothing in a build needs /tmp."""
    kbuild = Kbuild(cache).with_site(tmp_path / "site", "import tempfile\ntempfile._get_default_tempdir = None\n")
    (project / "thing" / "kernels.py").write_text(projects.KERNELS.replace("* factor", "/ factor"))
    assert build(kbuild, project)["compiled"] == 2


@happens(
    SECTION, "many builds use one cache at once", "All are right, and all the same to the byte; there are no locks."
)
def test_many_builds_at_once(tmp_path: Path, project: Path) -> None:
    """Eight processes with nothing cached: four build one project in its folder, four their own copy."""
    kbuild = Kbuild(tmp_path / "shared")
    copies = [tmp_path / f"copy{n}" for n in range(4)]
    for copy in copies:
        shutil.copytree(project, copy)
    running = [
        subprocess.Popen(
            kbuild.command("build", folder, "-j", "1", "--json"),
            env=kbuild.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for folder in [project] * 4 + copies
    ]
    answers = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0] * 8, [error for _, error in answers]
    assert not any("[KB510]" in error for _, error in answers)
    assert len({json.loads(out)["digest"] for out, _ in answers}) == 1
    assert len({(folder / building.BUNDLE).read_bytes() for folder in (project, *copies)}) == 1
    assert not list((tmp_path / "shared" / "tmp").iterdir())
    assert not list(project.rglob("*.tmp"))


@happens(
    SECTION, "a killed build left temporary files", "The next builds remove them; no file of them gets into a wheel."
)
def test_what_killed_builds_left_goes(project: Path, cache: Path) -> None:
    hour_ago = time.time() - 4000
    left = [cache / "tmp" / "0123.4567", project / "thing" / "._kbuild.kbundle.0123.tmp"]
    empty = project / "thing" / "._kbuild.kbundle.4567.tmp"
    young = cache / "tmp" / "89ab.cdef"
    for path in (*left, empty, young):
        path.write_bytes(b"" if path == empty else b"half")
    for path in (left[0], empty):
        os.utime(path, (hour_ago, hour_ago))
    (project / "thing" / "kernels.py").write_text(projects.KERNELS.replace("* factor", "- factor"))
    build(Kbuild(cache), project)
    assert not any(path.exists() for path in (*left, empty))
    assert young.exists(), "somebody may still be writing it"


def test_a_bundle_that_another_build_is_writing_is_left_alone(project: Path, cache: Path) -> None:
    import fcntl

    other = project / "thing" / "._kbuild.kbundle.0123.tmp"
    with open(other, "wb") as file:
        file.write(b"half")
        file.flush()
        fcntl.flock(file, fcntl.LOCK_SH)
        build(Kbuild(cache), project)
        assert other.exists()
    build(Kbuild(cache), project)
    assert not other.exists()


NO_LOCKS = """
import errno, fcntl, os
def refuse(*_): raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
fcntl.flock = fcntl.lockf = refuse
"""


@happens(SECTION, "the file system has no locks", "The build works: nothing depends on one.")
def test_a_file_system_without_locks(project: Path, cache: Path, tmp_path: Path) -> None:
    (project / building.BUNDLE).unlink()
    build(Kbuild(cache).with_site(tmp_path / "site", NO_LOCKS), project)
    format.parse((project / building.BUNDLE).read_bytes())
