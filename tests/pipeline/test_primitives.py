"""`primitives` in [tool.kbuild]: kernels of kbuild's own in a project's bundles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kbuild import config as configuration
from kbuild.cli.main import main
from kbuild.loader import open as open_bundle
from kbuild.pipeline import BuildResult, build, check
from tests.helpers.projects import write
from tests.pipeline.conftest import Project

OWN = "kbuild.primitives."
TARGETS = ("sm_87", "sm_90", "sm_120")

MakeProject = Callable[..., Project]


def own(result: BuildResult) -> set[str]:
    """The names of kbuild's own kernels, without their instances."""
    return {name.partition("[")[0].rpartition(".")[2] for name in result.kernels if name.startswith(OWN)}


def test_all_of_them_for_three_gpus(make_project: MakeProject) -> None:
    project = make_project(targets=TARGETS, primitives=True)
    result = project.build()
    assert own(result) == {
        "conditions:set_condition",
        "runs:count_heads",
        "runs:write_runs",
        "sorting:place_digits",
        "add_numbers",
        "cast",
        "chunk_sums",
        "copy_words",
        "count_digits",
        "move_pairs",
        "scan_chunks",
        "sum_chunks",
        "sum_rows",
        "turn_words",
    }
    bundle = open_bundle(project.bundle)
    bundle.verify()
    units = {(row["unit"].partition("#")[0], row["target"]) for row in bundle.manifest["cubins"]}
    for module in ("casting", "conditions", "copying", "reducing", "runs", "scanning", "sorting"):
        assert {(OWN + module, target) for target in TARGETS} <= units
    assert {"pkg.first:louder", "pkg.second:moved"} <= set(bundle)
    assert all(row["spills"] == 0 for cubin in bundle.manifest["cubins"] for row in cubin["resources"])
    assert project.build().compiled == 0


def test_some_of_them(make_project: MakeProject) -> None:
    result = make_project(targets=["sm_90"], primitives=["runlength_encode"]).build()
    assert own(result) == {"runs:count_heads", "runs:write_runs"}
    assert not any(
        diagnostic.severity == "error" or "primitives" in diagnostic.message for diagnostic in result.diagnostics
    )
    assert result.skipped == ()


def test_what_decides_in_a_graph(make_project: MakeProject) -> None:
    """The driver has the function that the kernel calls; nothing is linked. Compilers before 12.4 do not know it."""
    targets = ["jetson-orin-jp6", "sm_80", "sm_90", "sm_120", "jetson-thor-jp7"]
    project = make_project(targets=targets, primitives=["capture_while"])
    assert own(project.build()) == {"conditions:set_condition"}
    bundle = open_bundle(project.bundle)
    bundle.verify()
    asks = {
        row["target"]: b"\0cudaGraphSetConditional\0" in bundle.parsed.blob(row["blob"])
        for row in bundle.manifest["cubins"]
        if row["unit"].startswith(OWN)
    }
    assert asks == dict.fromkeys(targets, True) | {"jetson-orin-jp6": False}


def test_none_unless_asked_for(make_project: MakeProject) -> None:
    """Not even where a module of the project's imports the functions."""
    project = make_project(targets=["sm_90"])
    project.edit(
        "first.py", "import kbuild as kb\n", "import kbuild as kb\n\nscan, total = kb.array_scan, kb.array_sum\n"
    )
    result = project.build()
    assert own(result) == set()
    assert result.skipped == ()


def test_an_editable_build_has_units_of_the_projects_kernels_alone(make_project: MakeProject) -> None:
    project = make_project(targets=["sm_90"], primitives=["runlength_encode"])
    project.build(editable=True)
    manifest = open_bundle(project.bundle).manifest
    assert [row["unit"] for row in manifest["cubins"] if row["unit"].startswith(OWN)] == [OWN + "runs"]
    assert not [row for row in manifest["sources"] if "primitives" in row["path"]]


def test_a_project_without_fused_operations_has_the_same_code(make_project: MakeProject) -> None:
    """Sums are the same bits, whatever project has brought the kernels."""
    codes = []
    for name, fmad in (("fused", True), ("apart", False)):
        project = make_project(name, targets=["sm_90"], primitives=["array_inner"], fmad=fmad)
        project.build()
        parsed = open_bundle(project.bundle)
        rows = [row for row in parsed.manifest["cubins"] if row["unit"].startswith(OWN)]
        codes.append([parsed.parsed.blob(row["blob"]) for row in rows])
    assert codes[0] == codes[1]


def test_every_package_of_a_project_has_them(tmp_path: Path) -> None:
    """A package without kernels of its own too: a program may import any of them alone."""
    kernels = "import kbuild as kb\n\n@kb.kernel\ndef k(a: kb.array(dtype=int)):\n    a[0] = 1\n"
    table = "modules = ['one.kernels', 'two']\ntargets = ['sm_90']\nprimitives = ['runlength_encode']\n"
    files = {"one/__init__.py": "", "one/kernels.py": kernels, "two/__init__.py": ""}
    project = write(tmp_path / "project", {"pyproject.toml": "[tool.kbuild]\n" + table, **files})
    found = configuration.load(project)
    assert found is not None
    result = build(found)
    assert [bundle.package for bundle in result.bundles] == ["one", "two"]
    for bundle in result.bundles:
        assert {"kbuild.primitives.runs:count_heads", "kbuild.primitives.runs:write_runs"} <= set(
            open_bundle(bundle.path)
        )
    assert "one.kernels:k" not in open_bundle(project / "two" / "_kbuild.kbundle")


def test_for_projects_that_say_warp(make_project: MakeProject) -> None:
    project = make_project(targets=["sm_90"], primitives=["runlength_encode"], dialect="warp")
    project.edit(
        "first.py",
        "import kbuild as kb\n",
        "import kbuild as kb\nimport warp as wp\n\nsort = wp.utils.radix_sort_pairs\n",
    )
    assert own(project.build()) == {"runs:count_heads", "runs:write_runs"}


def test_a_selftest_leaves_them_out(make_project: MakeProject) -> None:
    """What they compute from generated inputs says nothing, and takes long."""
    project = make_project(targets=["sm_90"], primitives=["runlength_encode"], selftest=True)
    project.build()
    parsed = open_bundle(project.bundle).parsed
    text = parsed.blob(parsed.manifest["selftest"]["blob"]).decode()
    assert '"kbuild.primitives.runs:count_heads":{"skipped":"it is kbuild\'s own' in text


def test_check_looks_at_the_projects_own_kernels(make_project: MakeProject) -> None:
    project = make_project(targets=["sm_90"])
    asked = replace(project.config, primitives=configuration.PRIMITIVES)
    assert check(asked) == check(project.config)


def test_what_the_commands_say(make_project: MakeProject, capsys: pytest.CaptureFixture[str]) -> None:
    project = make_project(targets=["sm_90"], primitives=["runlength_encode"])
    assert main(["build", str(project.root)]) == 0
    assert "3 kernels and 2 of kbuild's own for 1 target" in capsys.readouterr().out
    assert main(["inspect", str(project.root)]) == 0
    text = capsys.readouterr().out
    assert "kbuild's own kernels" in text
    assert [line.split() for line in text.splitlines() if "count_heads" in line] == [
        ["kbuild.primitives.runs:count_heads", "1"]
    ]
    assert main(["inspect", "--json", str(project.root)]) == 0
    assert '"kbuild.primitives.runs:count_heads"' in capsys.readouterr().out
