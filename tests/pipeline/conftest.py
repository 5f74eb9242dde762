"""A project that a test may change and build again, with a cache of its own for every test run."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kbuild import config as configuration
from kbuild.config import BuildConfig
from kbuild.pipeline import BuildResult, build
from tests.helpers.once import once
from tests.helpers.projects import write

ROOT = str(Path(__file__).parents[2])

SHARED = """\
import kbuild as kb

GAIN = 2.0


@kb.func
def amplify(x: float):
    # A comment.
    return x * GAIN


@kb.func
def shift(x: float):
    return x + 1.0
"""
FIRST = """\
import kbuild as kb
from pkg.shared import amplify


@kb.struct
class Cell:
    count: int
    weight: kb.float64


@kb.kernel
def louder(a: kb.array(dtype=float), cells: kb.array(dtype=Cell), by: kb.vec3):
    \"\"\"A docstring.\"\"\"
    i = kb.tid()
    a[i] = amplify(a[i]) + by[1]
    cells[i].count += 1


def host(x):
    return x
"""
SECOND = """\
import kbuild as kb
from pkg.shared import shift


@kb.kernel
def moved(a: kb.array2d(dtype=float)):
    i, j = kb.tid()
    a[i, j] = shift(a[i, j])


@kb.kernel(fmad=False)
def plain(a: kb.array(dtype=float)):
    a[0] = a[1] * a[2] + a[3]
"""
FILES = {"pkg/__init__.py": "", "pkg/shared.py": SHARED, "pkg/first.py": FIRST, "pkg/second.py": SECOND}
UNITS = {"pkg.first", "pkg.second", "pkg.second#nofmad"}


class Project:
    """A project folder with the kernels above. Their adjoints are the business of test_gradients.py."""

    def __init__(self, root: Path, targets: tuple[str, ...] = ("sm_90", "jetson-orin-jp6"), **table: Any) -> None:
        self.root = root
        modules = ["pkg.first", "pkg.second"]
        lines = {"modules": modules, "targets": list(targets), "backward": False, **table}
        text = "[tool.kbuild]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in lines.items())
        write(root, {"pyproject.toml": text, **FILES})

    @property
    def config(self) -> BuildConfig:
        found = configuration.load(self.root)
        assert found is not None
        return replace(found, jobs=2)

    @property
    def bundle(self) -> Path:
        return self.root / "pkg" / "_kbuild.kbundle"

    def edit(self, name: str, before: str, after: str) -> None:
        path = self.root / "pkg" / name
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after))

    def build(self, **options: Any) -> BuildResult:
        return build(self.config, **options)


def _toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that knows the project above."""

    def make(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("KBUILD_CACHE", str(folder / "cache"))
            patch.setenv("PYTHONPATH", ROOT)
            Project(folder / "project").build()

    return once(tmp_path_factory, "warm", make) / "cache"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, warm: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own, warm; the user's is never touched."""
    shutil.copytree(warm, tmp_path / "cache")
    monkeypatch.setenv("KBUILD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", ROOT)
    return tmp_path / "cache"


@pytest.fixture
def cold(cache: Path) -> None:
    """Empties the cache."""
    shutil.rmtree(cache)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


@pytest.fixture
def make_project(tmp_path: Path) -> Callable[..., Project]:
    return lambda name="project", **table: Project(tmp_path / name, **table)
