"""What goes into wheels and sdists and what does not, and editable installs that are older than their sources."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from kbuild.loader import format
from tests.helpers import fake_cuda, projects
from tests.helpers.situations import happens
from tests.hooks.conftest import Run

SECTION = "Wheels, sdists and editable installs"
OFFLINE = ("--no-build-isolation", "--no-deps", "--no-index")
BUNDLE = "thing/_kbuild.kbundle"

Build = Callable[..., zipfile.ZipFile]


def only(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


def kernels_of(wheel: zipfile.ZipFile) -> list[str]:
    names = [row["name"] for row in format.parse(wheel.read(BUNDLE)).manifest["kernels"]]
    return sorted(name for name in names if not name.endswith(format.ADJOINT))


def project_of_two(root: Path, tail: str) -> Path:
    """A package and one below it; both have kernels."""
    files = {
        "pyproject.toml": projects.pyproject(table=projects.table("thing.*"), tail=tail),
        "src/thing/__init__.py": "",
        "src/thing/kernels.py": projects.KERNELS,
        "src/thing/secret/__init__.py": "",
        "src/thing/secret/kernels.py": projects.KERNELS,
    }
    return projects.write(root, files)


@happens(
    SECTION,
    "the project's own list of packages leaves kernel modules out",
    "Their kernels are in the bundle and their sources are not in the wheel; an sdist has them all.",
)
@pytest.mark.parametrize(
    "tail",
    [
        "[tool.setuptools]\npackages = ['thing']\npackage-dir = {'' = 'src'}\n",
        "[tool.setuptools.packages.find]\nwhere = ['src']\nexclude = ['thing.secret*']\n",
    ],
)
@pytest.mark.parametrize("way", ["checkout", "sdist"])
def test_sources_that_are_not_listed_stay_at_home(
    tmp_path: Path, python: Run, build_wheel: Build, tail: str, way: str
) -> None:
    """Twice, since the first build leaves a list of sources in *.egg-info; an sdist brings such a list along."""
    project = project_of_two(tmp_path / "project", tail)
    if way == "sdist":
        python("-m", "build", "--no-isolation", "--sdist", "--outdir", tmp_path / "dist", project, cwd=tmp_path)
        with tarfile.open(only(tmp_path / "dist", "*.tar.gz")) as sdist:
            assert "thing-1.0/src/thing/secret/kernels.py" in sdist.getnames()
            sdist.extractall(tmp_path / "unpacked")
        project = only(tmp_path / "unpacked", "*")
    for _ in range(2):
        wheel = build_wheel(project)
        found = sorted(name for name in wheel.namelist() if name.endswith(".py"))
        assert found == ["thing/__init__.py", "thing/kernels.py"]
        assert kernels_of(wheel) == ["thing.kernels:scale", "thing.secret.kernels:scale"]


def test_a_project_may_ask_for_them_as_data(tmp_path: Path, build_wheel: Build) -> None:
    tail = "[tool.setuptools]\npackages = ['thing']\npackage-dir = {'' = 'src'}\n"
    tail += "package-data = {thing = ['secret/*.py']}\n"
    assert "thing/secret/kernels.py" in build_wheel(project_of_two(tmp_path, tail)).namelist()


@happens(
    SECTION,
    "the project lists no packages at all",
    "An error [KB208]: setuptools would make a wheel without anything in it, the bundle too.",
)
def test_no_packages(tmp_path: Path, python: Run) -> None:
    project = project_of_two(tmp_path, "[tool.setuptools]\npackages = []\n")
    done = python("-m", "pip", "wheel", *OFFLINE, project, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert "its wheel would not hold thing/_kbuild.kbundle [KB208]" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_the_sources_are_those_of_a_build_without_kbuild(tmp_path: Path, build_wheel: Build) -> None:
    names = []
    for name, extra in (("with", {}), ("without", {"PYTHONPATH": ""})):
        wheel = build_wheel(
            project_of_two(tmp_path / name, "[tool.setuptools.package-data]\n'*' = ['*']\n"), extra=extra
        )
        names.append(sorted(set(wheel.namelist()) - {BUNDLE}))
    assert names[0] == names[1]


@happens(
    SECTION,
    "a wheel is built from an sdist, and the checkout is gone",
    "The wheel has the bundle of a direct build: same digest.",
)
def test_from_the_sdist_alone(tmp_path: Path, python: Run, build_wheel: Build) -> None:
    project = project_of_two(
        tmp_path / "project", "[tool.setuptools]\npackages = ['thing']\npackage-dir = {'' = 'src'}\n"
    )
    direct = build_wheel(project).read(BUNDLE)
    shutil.rmtree(project / "build")
    shutil.rmtree(project / "dist")
    python("-m", "build", "--no-isolation", "--sdist", "--outdir", tmp_path / "dist", project, cwd=tmp_path)
    shutil.rmtree(project)
    with tarfile.open(only(tmp_path / "dist", "*.tar.gz")) as sdist:
        assert not [name for name in sdist.getnames() if "kbundle" in name]
        sdist.extractall(tmp_path / "unpacked")
    assert build_wheel(only(tmp_path / "unpacked", "*")).read(BUNDLE) == direct


@happens(
    SECTION,
    "`build/lib` holds what earlier builds left: other bundles, half ones of a killed build",
    "The wheel has this build's bundle and no other.",
)
def test_stale_folders_of_earlier_builds(tmp_path: Path, build_wheel: Build) -> None:
    left = (
        "thing/_kbuild.kbundle",
        "gone/_kbuild.kbundle",
        "thing/._kbuild.kbundle.12.tmp",
        "gone/._kbuild.kbundle.3.tmp",
    )
    project = projects.src_project(tmp_path, **{f"build/lib/{name}": "stale" for name in left})
    wheel = build_wheel(project)
    assert [name for name in wheel.namelist() if "kbundle" in name] == [BUNDLE]
    assert kernels_of(wheel) == ["thing.kernels:scale"]
    again = build_wheel(project)
    assert again.read(BUNDLE) == wheel.read(BUNDLE)


@pytest.mark.parametrize(
    "table",
    [
        "[tool]\nkbuild.modules = ['thing.kernels']\nkbuild.targets = ['sm_90']\n",
        "[tool]\nkbuild = {modules = ['thing.kernels'], targets = ['sm_90']}\n",
        "['tool' . \"kbuild\"]\nmodules = ['thing.kernels']\ntargets = ['sm_90']\n",
    ],
)
@happens(
    SECTION,
    "`[tool.kbuild]` is written in another way that TOML has",
    "It is the same table: no wheel without its bundle.",
)
def test_every_spelling_of_the_table(tmp_path: Path, build_wheel: Build, table: str) -> None:
    project = projects.src_project(tmp_path)
    (project / "pyproject.toml").write_text(projects.pyproject() + table)
    assert kernels_of(build_wheel(project)) == ["thing.kernels:scale"]


@happens(
    SECTION,
    "`pip install .` is interrupted with Ctrl-C while kernels compile",
    "It ends at once; no process stays, and no bundle.",
)
def test_ctrl_c_in_pip(tmp_path: Path, environment: dict[str, str]) -> None:
    from tests.edges.test_interruptions import waiting_module

    project = projects.src_project(tmp_path / "project")
    module = project / "src" / "thing" / "kernels.py"
    module.write_text(projects.KERNELS + waiting_module(tmp_path))
    command = [sys.executable, "-m", "pip", "wheel", *OFFLINE, str(project)]
    pip = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=-1, stderr=-1, start_new_session=True)
    try:
        while not (tmp_path / "importing").exists():
            assert pip.poll() is None, pip.communicate()
        os.killpg(pip.pid, signal.SIGINT)
        pip.communicate(timeout=10)
    finally:
        pip.kill()
        pip.wait()
    assert pip.returncode != 0
    end = time.monotonic() + 10  # what pip has started ends at the same signal, and perhaps after pip
    while (left := _processes(pip.pid)) and time.monotonic() < end:
        time.sleep(0.05)
    assert left == []
    assert not list(tmp_path.rglob("*kbundle*"))


def _processes(session: int) -> list[str]:
    """Those of a session that still run."""
    done = subprocess.run(["ps", "-o", "stat=,args=", "-s", str(session)], capture_output=True, text=True, check=False)
    return [line for line in done.stdout.splitlines() if not line.startswith("Z")]


LAUNCH = """
import site, sys
site.addsitedir(sys.argv[1])
from kbuild.loader import driver
driver.LIBRARIES = (sys.argv[2],)
import kbuild as kb
import thing.kernels as kernels
from tests.helpers.environment import plain_environment
data = kb.zeros(4, dtype=float)
try:
    kb.launch(kernels.scale, dim=4, inputs=[data, 2.0])
except Exception as error:
    print(type(error).__name__, error, sep="\\n")
"""


@happens(
    SECTION,
    "the sources of an editable install have changed since it was built",
    "The first launch raises `StaleBundle`, which names the file and the command. Touching a file without changing it "
    "does nothing; building again cures it.",
)
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler, for the fake driver")
def test_an_editable_install_knows_when_it_is_stale(tmp_path: Path, python: Run) -> None:
    """From pip to the loader. The fake driver refuses real machine code, which is how far an unchanged one gets."""
    project = projects.src_project(tmp_path / "project")
    site, library = tmp_path / "site", fake_cuda.compile_library(tmp_path)
    python("-m", "pip", "install", *OFFLINE, "--target", site, "-e", project, cwd=tmp_path)
    root = str(Path(__file__).parents[2])
    extra = {"FAKE_DEVICES": "9.0", "FAKE_DRIVER": "13000", "PYTHONPATH": root}

    def launch() -> str:
        return python("-c", LAUNCH, site, library, cwd=tmp_path, extra=extra).stdout

    module = project / "src" / "thing" / "kernels.py"
    assert launch().startswith("DriverError")
    os.utime(module)
    assert launch().startswith("DriverError")
    module.write_text(projects.KERNELS.replace("* factor", "/ factor"))
    stale = launch()
    assert stale.startswith("StaleBundle")
    assert f"{module} has changed since the bundle of package 'thing' was built" in stale
    assert "python -m kbuild build" in stale
    python("-m", "pip", "install", *OFFLINE, "--upgrade", "--target", site, "-e", project, cwd=tmp_path)
    assert launch().startswith("DriverError")
