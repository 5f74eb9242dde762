"""Real builds: pip and setuptools of this Python, and kbuild's wheel as a user has it."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.helpers.environment import plain_environment
from tests.helpers.once import once
from tools import wheels

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def kbuild_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """kbuild's wheel, built from this checkout once a test run."""

    def make(folder: Path) -> None:
        wheels.build_kbuild(sys.executable, folder / "wheel", "--quiet", "--no-build-isolation")

    return next((once(tmp_path_factory, "kbuild", make) / "wheel").glob("*.whl"))


@pytest.fixture(scope="session")
def installed(kbuild_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PYTHONPATH that holds what the wheel installs, and nothing else."""

    def make(folder: Path) -> None:
        zipfile.ZipFile(kbuild_wheel).extractall(folder)

    return once(tmp_path_factory, "installed", make)


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of cubins for all the builds of a test run, away from the user's."""
    return once(tmp_path_factory, "cubins", lambda folder: None)


@pytest.fixture
def environment(installed: Path, cache: Path) -> dict[str, str]:
    """Variables of a build with kbuild: `installed` comes before whatever this Python has."""
    return {**plain_environment(), "PYTHONPATH": str(installed), "KBUILD_CACHE": str(cache)}


@pytest.fixture
def python(environment: dict[str, str]) -> Run:
    """Runs this Python in a build's environment: `python("-m", "pip", …, cwd=…, check=False)`."""

    def run(
        *arguments: str | Path, cwd: Path, check: bool = True, extra: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *map(str, arguments)]
        variables = {**environment, **(extra or {})}
        done = subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, check=False)
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    return run


@pytest.fixture
def build_wheel(python: Run) -> Callable[..., zipfile.ZipFile]:
    """Builds a project's wheel through the build backend alone, which is what pip calls, and opens it."""

    def build(project: Path, **options: object) -> zipfile.ZipFile:
        code = "import setuptools.build_meta as backend; print('built', backend.build_wheel('dist'))"
        done = python("-c", code, cwd=project, **options)
        return zipfile.ZipFile(project / "dist" / done.stdout.split()[-1])

    return build
