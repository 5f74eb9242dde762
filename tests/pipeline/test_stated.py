"""What kernels state of their launches, in the bundle: rows for kernels and adjoints, lines of today, keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbuild import config as configuration
from kbuild.cli.main import main
from kbuild.loader import bundle as bundles
from kbuild.loader import stated
from kbuild.loader.bundle import Bundle
from kbuild.pipeline import BuildResult, build
from tests.helpers.building import project

pytestmark = pytest.mark.nvrtc

KERNELS = """\
import kbuild as kb


@kb.kernel(launch_dim="n")
def scaled(a: kb.array(dtype=float, shape=("n", 3)), b: kb.array(dtype=float, shape=("n",)), factor: float):
    kb.assume(factor > 0.0)
    i = kb.tid()
    b[i] = factor * a[i, 0] * a[i, 2]


@kb.kernel
def plain(a: kb.array(dtype=float)):
    a[kb.tid()] = 1.0
"""
ROWS = [
    ["a.shape[1]", "==", "3", "a.shape[1] == 3"],
    ["b.shape[0]", "==", "a.shape[0]", 'b.shape[0] == a.shape[0] ("n")'],
    ["factor", ">", "0.0", "factor > 0.0"],
    ["dim[0]", "==", "a.shape[0]", "dim == a.shape[0] (launch_dim)"],
]


def built(folder: Path, text: str = KERNELS) -> tuple[BuildResult, Bundle]:
    config = configuration.load(project(folder, text, table="selftest = true\n"))
    assert config is not None
    result = build(config)
    return result, bundles.open(str(result.bundles[0].path))


def test_the_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result, bundle = built(tmp_path)
    rows = {row["name"].partition(":")[2]: row.get("stated") for row in bundle.manifest["kernels"]}
    said = {"line": 5, "rows": ROWS}
    assert rows == {"plain": None, "plain:adjoint": None, "scaled": said, "scaled:adjoint": said}
    bundle.verify()
    for name in bundle.names:
        if "scaled" in name:
            assert len(stated.of(bundle.kernel(bundle.names.index(name))).comparisons) == 4
    assert main(["inspect", str(result.bundles[0].path)]) == 0
    assert '  states b.shape[0] == a.shape[0] ("n")\n' in capsys.readouterr().out


def test_lines_that_move_compile_nothing(tmp_path: Path) -> None:
    built(tmp_path)
    result, bundle = built(tmp_path, KERNELS.replace("\n\n\n@kb.kernel(", "\n\n# Moved.\n\n\n@kb.kernel("))
    assert (result.compiled, result.lowered) == (0, 0)
    assert {row["stated"]["line"] for row in bundle.manifest["kernels"] if "stated" in row} == {7}


@pytest.mark.parametrize(
    ("before", "after", "row"),
    [
        ('shape=("n", 3)', 'shape=("n", 4)', ["a.shape[1]", "==", "4", "a.shape[1] == 4"]),
        ('launch_dim="n"', "launch_dim=8", ["dim[0]", "==", "8", "dim == 8 (launch_dim)"]),
        ("factor > 0.0", "factor > 1.0", ["factor", ">", "1.0", "factor > 1.0"]),
    ],
)
def test_what_is_stated_enters_the_key(tmp_path: Path, before: str, after: str, row: list[str]) -> None:
    built(tmp_path)
    result, bundle = built(tmp_path, KERNELS.replace(before, after))
    assert result.compiled == 2
    (found,) = (one["stated"]["rows"] for one in bundle.manifest["kernels"] if one["name"].endswith(":scaled"))
    assert row in found
