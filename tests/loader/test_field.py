"""A program with kernels where programs live: read-only, zipped, without sources, without HOME, under any switch."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.helpers.fake_cuda import bundle_bytes
from tests.helpers.once import once
from tests.helpers.pythons import find_python, need_python
from tests.helpers.situations import happens

SECTION = "Where the loader runs"
FIELD = Path(__file__).with_name("field.py")
KERNELS = """
import kbuild as kb

@kb.kernel
def scale(data: kb.array(dtype=float), factor: float):
    i = kb.tid()
    data[i] = data[i] * factor
"""
PARAMETERS = [("data", "array1[float32]"), ("factor", "float32")]
VERSIONS = ["3.8", "3.13"]


@pytest.fixture(scope="session")
def installed(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runtime, a package with kernels, and the program; compiled, as by an installer. For all tests.

    Not for -O and -OO, whose code is then compiled at each start.
    """

    def make(folder: Path) -> None:
        shutil.copytree(site, folder, symlinks=True, dirs_exist_ok=True)
        subprocess.run(["chmod", "-R", "u+w", str(folder)], check=True)
        for name in os.listdir(folder):
            if name.endswith(".dist-info") or name == "kbuild_hooks":
                shutil.rmtree(folder / name)
        for kept in folder.joinpath("kbuild").iterdir():  # a deployed program needs these only
            if kept.name not in ("__init__.py", "_version.py", "loader"):
                shutil.rmtree(kept) if kept.is_dir() else kept.unlink()
        (folder / "fieldpkg").mkdir()
        (folder / "fieldpkg" / "__init__.py").write_text("")
        (folder / "fieldpkg" / "kernels.py").write_text(KERNELS)
        (folder / "fieldpkg" / "_kbuild.kbundle").write_bytes(bundle_bytes(PARAMETERS, name="fieldpkg.kernels:scale"))
        for python in filter(None, map(find_python, VERSIONS)):
            subprocess.run([str(python), "-m", "compileall", "-q", str(folder)], check=True)

    return once(tmp_path_factory, "application", make)


@pytest.fixture
def application(installed: Path, tmp_path: Path) -> Path:
    """The same, of one test, which may change it."""
    folder = tmp_path / "application"
    shutil.copytree(installed, folder, symlinks=True)
    return folder


def run(version: str, *arguments: object, library: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"LD_LIBRARY_PATH": str(library.parent), "PYTHONDONTWRITEBYTECODE": "1", **variables}
    command = [str(need_python(version)), *map(str, arguments)]
    return subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, timeout=120)


def check(done: subprocess.CompletedProcess[str]) -> None:
    assert (done.returncode, done.stdout, done.stderr) == (0, "well\n", "")


def zipped(folder: Path, archive: Path) -> Path:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        for path in sorted(folder.rglob("*")):
            if path.parent.name == "__pycache__":
                continue  # zipimport knows no such folders
            target.write(path, path.relative_to(folder))
    return archive


@happens(
    SECTION,
    "the program runs under `python -O`, `-OO`, `-I`, `-E -s`, `-S` or `-W error`, or without HOME",
    "It runs as ever. Importing opens no file but the modules and loads no library; launching writes nothing anywhere.",
)
@pytest.mark.parametrize("switches", ["", "-O", "-OO", "-I -B", "-S", "-E -s -B", "-I -S -B", "-W error"])
@pytest.mark.parametrize("version", VERSIONS)
def test_switches(installed: Path, fake_library: Path, version: str, switches: str) -> None:
    check(run(version, *switches.split(), FIELD, library=fake_library, FIELD_SITE=str(installed)))


@happens(
    SECTION, "the installation is read-only", "It runs as ever: nothing is written, and nothing is cached on disk."
)
@pytest.mark.parametrize("version", VERSIONS)
def test_read_only(application: Path, fake_library: Path, version: str) -> None:
    subprocess.run(["chmod", "-R", "a-w", str(application)], check=True)
    before = {path: path.stat().st_mtime_ns for path in application.rglob("*")}
    site = {"FIELD_SITE": str(application), "PYTHONDONTWRITEBYTECODE": "1"}
    check(run(version, FIELD, library=fake_library, **site))
    assert {path: path.stat().st_mtime_ns for path in application.rglob("*")} == before


@happens(
    SECTION, "the packages lie in a zip file on `sys.path`", "It runs as ever; the bundle is read from the archive."
)
@pytest.mark.parametrize("version", VERSIONS)
def test_from_a_zip_file(application: Path, fake_library: Path, version: str) -> None:
    archive = zipped(application, application.with_suffix(".zip"))
    shutil.rmtree(application)
    variables = {"FIELD_SITE": str(archive), "FIELD_ARCHIVE": archive.name}
    check(run(version, FIELD, library=fake_library, **variables))


@happens(SECTION, "the program is a zipapp", "It runs as ever.")
@pytest.mark.parametrize("version", VERSIONS)
def test_zipapp(application: Path, fake_library: Path, version: str) -> None:
    shutil.copy(FIELD, application / "__main__.py")
    archive = application.with_suffix(".pyz")
    subprocess.run([sys.executable, "-m", "zipapp", str(application), "-o", str(archive)], check=True)
    shutil.rmtree(application)
    check(run(version, archive, library=fake_library, FIELD_ARCHIVE=archive.name))


@happens(
    SECTION, "there are no `.py` files, only `.pyc` in their places", "It runs as ever: the loader needs no source."
)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("archived", [False, True], ids=["folder", "zip file"])
def test_without_sources(application: Path, fake_library: Path, version: str, archived: bool) -> None:
    compiled = run(version, "-m", "compileall", "-b", "-q", application, library=fake_library)
    assert compiled.returncode == 0, compiled.stdout
    for source in application.rglob("*.py"):
        source.unlink()
    place = zipped(application, application.with_suffix(".zip")) if archived else application
    if archived:
        shutil.rmtree(application)
    check(run(version, FIELD, library=fake_library, FIELD_SITE=str(place)))


@pytest.mark.parametrize("version", VERSIONS)
def test_the_watcher_sees_what_it_must(application: Path, fake_library: Path, version: str) -> None:
    """The checks of field.py fail when a package writes, opens foreign files or loads libraries at its import."""
    cases = [
        ("open('/dev/null', 'w').close()", "importing opened"),
        ("open('/etc/hostname').close()", "importing opened ['/etc/hostname']"),
        ("import ctypes; ctypes.CDLL('libcuda.so.1')", "importing loaded"),
    ]
    for statement, message in cases:
        (application / "fieldpkg" / "__init__.py").write_text(statement + "\n")
        done = run(version, FIELD, library=fake_library, FIELD_SITE=str(application))
        assert (done.returncode, message in done.stderr) == (1, True), done.stderr
