"""Names and patterns of modules against the files of a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbuild.errors import UsageError
from kbuild.scan.modules import Module, select
from tests.helpers.projects import write

FILES = (
    "pkg/__init__.py pkg/kernels.py pkg/vision/__init__.py pkg/vision/camera.py pkg/vision/deep/__init__.py "
    "pkg/vision/deep/net.py pkg/vision/experiments/__init__.py pkg/vision/experiments/first.py "
    "pkg/vision/experiments/second.py pkg/plain/loose.py pkg/not-a-module.py pkg/__pycache__/old.py pkg/data.txt "
    "other/__init__.py other/more.py single.py"
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path, dict.fromkeys(FILES.split(), ""))


def names(root: Path, *patterns: str, exclude: tuple[str, ...] = ()) -> list[str]:
    return [module.name for module in select([root], patterns, exclude).modules]


def test_names(root: Path) -> None:
    assert names(root, "pkg.kernels", "other.more", "pkg.kernels") == ["other.more", "pkg.kernels"]
    assert names(root, "pkg") == ["pkg"]
    assert select([root], ["pkg.vision"], []).modules == (
        Module("pkg.vision", root / "pkg/vision/__init__.py", root, "pkg"),
    )


def test_patterns_reach_everything_below(root: Path) -> None:
    experiments = ["pkg.vision.experiments", "pkg.vision.experiments.first", "pkg.vision.experiments.second"]
    below = ["pkg.vision.camera", "pkg.vision.deep", "pkg.vision.deep.net", *experiments]
    assert names(root, "pkg.vision.*") == below
    everything = names(root, "pkg.*")
    assert set(below) < set(everything)
    assert "pkg.plain.loose" in everything
    assert not [name for name in everything if "old" in name or "not-a" in name or "data" in name]


def test_exclude(root: Path) -> None:
    selection = select([root], ["pkg.vision.*"], ["pkg.vision.experiments.*", "pkg.vision.camera"])
    assert [module.name for module in selection.modules] == ["pkg.vision.deep", "pkg.vision.deep.net"]
    assert selection.skipped == (
        "pkg.vision.camera: left out by exclude = ['pkg.vision.camera']",
        "pkg.vision.experiments: left out by exclude = ['pkg.vision.experiments.*']",
        "pkg.vision.experiments.first: left out by exclude = ['pkg.vision.experiments.*']",
        "pkg.vision.experiments.second: left out by exclude = ['pkg.vision.experiments.*']",
    )


def test_several_roots(root: Path, tmp_path: Path) -> None:
    second = write(tmp_path / "second", {"third/__init__.py": "", "third/k.py": ""})
    found = select([root, second], ["third.k", "pkg.kernels"], []).modules
    assert [(module.name, module.root) for module in found] == [("pkg.kernels", root), ("third.k", second)]
    assert [module.bundle for module in found] == ["pkg/_kbuild.kbundle", "third/_kbuild.kbundle"]


def test_namespace_packages_hold_the_bundle_in_their_first_regular_one(tmp_path: Path) -> None:
    write(tmp_path, {"space/real/__init__.py": "", "space/real/k.py": ""})
    (module,) = select([tmp_path], ["space.real.k"], []).modules
    assert (module.package, module.bundle) == ("space.real", "space/real/_kbuild.kbundle")


@pytest.mark.parametrize(
    ("pattern", "message", "help"),
    [
        ("pkg.kernel", "there is no module 'pkg.kernel'", "did you mean 'pkg.kernels'?"),
        ("pgk.kernels", "there is no module 'pgk.kernels'", "did you mean 'pkg.kernels'?"),
        ("nothing.like.this", "there is no module", "the path of src/pkg/kernels.py is the module pkg.kernels"),
        ("pkg.visio.*", "no module matches 'pkg.visio.*'", "did you mean"),
    ],
)
def test_nothing_there(root: Path, pattern: str, message: str, help: str) -> None:
    with pytest.raises(UsageError, match=r"\[KB203\]") as caught:
        names(root, pattern)
    assert message in caught.value.message
    assert str(root) in caught.value.message
    assert help in (caught.value.help or "")


@pytest.mark.parametrize(
    ("files", "name", "advice"),
    [
        (["single.py"], "single", "name the module by its package"),
        (["space/k.py"], "space.k", "space/__init__.py"),
    ],
)
def test_outside_a_package(tmp_path: Path, files: list[str], name: str, advice: str) -> None:
    write(tmp_path, dict.fromkeys(files, ""))
    with pytest.raises(UsageError, match=r"is in no regular package.*\[KB204\]") as caught:
        names(tmp_path, name)
    assert advice in (caught.value.help or "")
    assert str(tmp_path / files[0]) in caught.value.message
