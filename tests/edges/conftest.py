"""One warm cache for all tests in which the cache is not the subject."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import building, projects
from tests.helpers.building import Kbuild
from tests.helpers.once import once


@pytest.fixture(scope="session")
def warm_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that knows the toolchains and has seen the small project."""

    def make(folder: Path) -> None:
        Kbuild(folder / "cache").run("build", building.project(folder / "project", projects.KERNELS))

    return once(tmp_path_factory, "edges", make) / "cache"


@pytest.fixture
def kbuild(warm_cache: Path) -> Kbuild:
    return Kbuild(warm_cache)


# The builds of tests/hooks, with kbuild as its wheel installs it.
from tests.hooks.conftest import build_wheel, cache, environment, installed, kbuild_wheel, python  # noqa: E402, F401
