"""Options of kernels that the compiler is given: units, keys, resources that prove them, and the manifest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kbuild.bundle.inspection import summary
from kbuild.bundle.verification import verify
from kbuild.cli.main import main
from kbuild.loader import format
from kbuild.pipeline import emit
from tests.helpers.projects import write
from tests.pipeline.conftest import Project

pytestmark = pytest.mark.nvrtc

HEAVY = """
def {name}(x: kb.array(dtype=float), n: int):
    i = kb.tid()
    a = kb.mat44()
    b = kb.mat44()
    c = kb.mat44()
    for row in range(4):
        for column in range(4):
            a[row, column] = x[i] + float(row)
            b[row, column] = x[i] - float(column)
            c[row, column] = x[i] * float(row + column)
    for _ in range(n):
        a = a * b + c
        b = b * c + a
        c = c * a + b
    x[i] = kb.ddot(a, b) + kb.sin(kb.ddot(b, c)) / x[i + 1]
"""
MORE = "kb.ddot(b, c) / x[i + 1] + x[i] * x[i + 2]"
KERNELS = {
    "plain": "",
    "few": "max_registers=40",
    "bounded": "launch_bounds=96",
    "dense": "launch_bounds=(128, 12)",
    "auto": 'launch_bounds="auto", block_dim=128',
    "fast": "fast_math=True",
}
TARGETS = ("jetson-orin-jp6", "sm_90", "sm_120")


def text(kernels: dict[str, str]) -> str:
    made = "\n\n".join(f"@kb.kernel({options}){HEAVY.format(name=name)}" for name, options in kernels.items())
    # The slow path of sin takes registers and a stack, which leaves nothing to be found for "auto".
    return "import kbuild as kb\n\n\n" + (
        made if "fast" in kernels else made.replace("kb.sin(kb.ddot(b, c)) / x[i + 1]", MORE)
    )


def built(make_project: Callable[..., Project], kernels: dict[str, str], **table: Any) -> Project:
    project = make_project("options", modules=["pkg.heavy"], **{"targets": TARGETS, **table})
    write(project.root, {"pkg/heavy.py": text(kernels)})
    return project


def resources(project: Project) -> dict[tuple[str, str], dict[str, Any]]:
    """By kernel and target: what the cubin says of it, with the unit."""
    parsed = format.parse(project.bundle.read_bytes())
    assert verify(parsed) == []
    names = [row["name"].partition(":")[2] for row in parsed.manifest["kernels"]]
    return {
        (names[one["kernel"]], row["target"]): {**one, "unit": row["unit"]}
        for row in parsed.manifest["cubins"]
        for one in row["resources"]
    }


def test_resources_show_what_each_option_does(make_project: Callable[..., Project]) -> None:
    project = built(make_project, KERNELS)
    assert project.build().diagnostics == ()
    found = resources(project)
    for target in TARGETS:
        of = {name: found[name, target] for name in KERNELS}
        assert of["plain"]["registers"] > 48
        assert of["few"]["registers"] <= 40
        assert of["few"]["spills"] > of["plain"]["spills"] == 0
        assert of["dense"]["registers"] <= 40, "65,536 registers for 12 blocks of 128 threads"
        assert of["dense"]["spills"] > 0
        assert of["auto"]["spills"] == of["plain"]["spills"]
        assert of["auto"]["registers"] * 128 * of["auto"]["min_blocks"] <= 65536
        assert "min_blocks" not in of["plain"]
    units = {name: found[name, "sm_90"]["unit"] for name in KERNELS}
    assert units["few"] == "pkg.heavy#registers40"
    assert units["fast"] == "pkg.heavy#fast"
    assert {units[name] for name in ("plain", "bounded", "dense", "auto")} == {"pkg.heavy"}

    rows = {row["name"].partition(":")[2]: row for row in format.parse(project.bundle.read_bytes()).manifest["kernels"]}
    bounds = {name: row["launch_bounds"] for name, row in rows.items() if "launch_bounds" in row}
    assert bounds == {"bounded": [96, 0], "dense": [128, 12], "auto": [128, 0]}
    assert {name: row["block_dim"] for name, row in rows.items()} == {
        **dict.fromkeys(("plain", "few", "fast"), 256),
        "bounded": 96,
        "dense": 128,
        "auto": 128,
    }
    assert {name for name, row in rows.items() if row.get("any_block_dim")} == {"plain", "few", "fast", "bounded"}


def test_auto_finds_more_blocks_without_spilling_and_again_the_same(make_project: Callable[..., Project]) -> None:
    project = built(make_project, {"auto": KERNELS["auto"]}, targets=("sm_90",))
    first = project.build()
    before = resources(project)["auto", "sm_90"]
    assert before["min_blocks"] > 1
    assert project.build().compiled == 0, "what was chosen is in the cache"
    assert project.build().bundles == first.bundles
    again = built(make_project, {"auto": KERNELS["auto"]}, targets=("sm_90",))
    for path in (again.root.parent / "cache").rglob("*"):
        if path.is_file():
            path.unlink()
    assert again.build().bundles[0].digest == first.bundles[0].digest, "found again, not remembered"
    project.edit("heavy.py", "block_dim=128", "block_dim=64")
    project.build()
    assert resources(project)["auto", "sm_90"]["min_blocks"] > before["min_blocks"]


def test_fast_math_is_approximate_and_fuses_nothing_by_itself(make_project: Callable[..., Project]) -> None:
    project = built(
        make_project, {"fast": "fast_math=True, fmad=False", "plain": "fmad=False"}, targets=("compute_90",)
    )
    ptx = {name: str(found) for name, found in emit(project.config, "ptx")}
    (fast,) = (found for name, found in ptx.items() if "#fast" in name)
    (plain,) = (found for name, found in ptx.items() if "#fast" not in name)
    assert "div.approx.ftz.f32" in fast
    assert "sin.approx.ftz.f32" in fast
    assert "fma." not in fast
    assert "div.rn.f32" in plain
    assert "approx.ftz" not in plain


def test_adjoints_are_fast_too_and_have_their_own_registers(make_project: Callable[..., Project]) -> None:
    kernels = {name: KERNELS[name] for name in ("few", "dense", "fast")}
    project = built(make_project, kernels, targets=("sm_90",), backward=True)
    project.build()
    found = resources(project)
    assert found["few:adjoint", "sm_90"]["registers"] > 40
    assert found["dense:adjoint", "sm_90"]["registers"] > 40
    assert found["fast:adjoint", "sm_90"]["unit"] == "pkg.heavy#adjoint#fast"
    rows = {row["name"]: row for row in format.parse(project.bundle.read_bytes()).manifest["kernels"]}
    assert rows["pkg.heavy:dense:adjoint"]["launch_bounds"] == [128, 0]


def test_defaults_of_the_project(make_project: Callable[..., Project]) -> None:
    kernels = {"plain": "", "precise": "fast_math=False", "more": "max_registers=64", "bounded": "launch_bounds=256"}
    project = built(make_project, kernels, targets=("sm_90",), **{"fast-math": True, "max-registers": 40})
    project.build()
    found = {name: one for (name, _), one in resources(project).items()}
    assert {name: one["unit"] for name, one in found.items()} == {
        "plain": "pkg.heavy",
        "precise": "pkg.heavy#precise",
        "more": "pkg.heavy#registers64",
        "bounded": "pkg.heavy#registers0",
    }
    assert found["plain"]["registers"] <= 40 < found["bounded"]["registers"]
    assert 40 < found["more"]["registers"] <= 64
    options = format.parse(project.bundle.read_bytes()).manifest["options"]
    assert (options["fast-math"], options["max-registers"]) == (True, 40)


@pytest.mark.parametrize("change", [("fast_math=True", "fast_math=False"), ("max_registers=40", "max_registers=48")])
def test_a_changed_option_compiles_again(make_project: Callable[..., Project], change: tuple[str, str]) -> None:
    project = built(make_project, {name: KERNELS[name] for name in ("few", "fast")}, targets=("sm_90",))
    project.build()
    project.edit("heavy.py", *change)
    assert project.build().compiled == 1


def test_more_blocks_than_a_gpu_holds_is_a_warning_at_the_kernel(make_project: Callable[..., Project]) -> None:
    project = built(make_project, {"dense": "launch_bounds=(256, 8)"}, targets=("jetson-orin-jp6",))
    (warning,) = project.build().diagnostics
    assert (warning.severity, warning.kernel) == ("warning", "pkg.heavy:dense")
    assert "minnctapersm will be ignored" in warning.message


def test_inspect_has_bounds_and_numbers(
    make_project: Callable[..., Project], capsys: pytest.CaptureFixture[str]
) -> None:
    project = built(make_project, {"auto": KERNELS["auto"]}, targets=("sm_90",))
    project.build()
    found = summary(format.parse(project.bundle.read_bytes()))
    assert found["kernels"][0]["launch_bounds"] == [128, 0]
    number = found["cubins"][0]["resources"][0]["min_blocks"]
    assert number > 1
    assert main(["inspect", str(project.bundle)]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "pkg.heavy:auto: tid() of 1, 128 threads a block, at most 128 threads a block" in lines
    assert any(line.startswith("pkg.heavy:auto sm_90") and line.endswith(f" {number}") for line in lines)


def test_warps_module_options(make_project: Callable[..., Project]) -> None:
    project = make_project("warp", modules=["pkg.heavy"], targets=("sm_90",), dialect="warp")
    head = 'import warp as wp\n\nwp.set_module_options({"fast_math": True, "fuse_fp": False})\n\n\n'
    body = HEAVY.replace("kb.", "wp.").format(name="plain")
    write(project.root, {"pkg/heavy.py": f"{head}@wp.kernel(launch_bounds=(128, 2)){body}"})
    project.build()
    (one,) = resources(project).values()
    assert one["unit"] == "pkg.heavy#nofmad#fast"
    (row,) = format.parse(project.bundle.read_bytes()).manifest["kernels"]
    assert row["launch_bounds"] == [128, 2]
    project.edit("heavy.py", '"fuse_fp": False', '"fuse_fp": True')
    assert project.build().compiled == 1
    assert next(iter(resources(project).values()))["unit"] == "pkg.heavy#fast"
