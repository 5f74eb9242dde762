"""Adjoints on their way into the bundle: units, rows, refusals, and what comes out of the cache."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kbuild.errors import Diagnostic, Report, Span
from kbuild.loader import format
from kbuild.pipeline.gradients import brief, collapsed
from kbuild.scan.adjoints import adjoints_of, lower_adjoints
from kbuild.scan.data import REQUIRED, WANTED, Request
from kbuild.scan.units import cut, find
from tests.helpers import adjoints, kernels
from tests.helpers.building import BUNDLE, Kbuild, project
from tests.helpers.situations import happens

SECTION = "Sources"
nvrtc = pytest.mark.nvrtc
CROOKED = "thing.kernels:crooked has no gradient: it does not double"


@pytest.fixture
def kbuild(tmp_path: Path) -> Kbuild:
    """kbuild with the pass of tests/helpers/adjoints.py."""
    return Kbuild(tmp_path / "cache").with_site(tmp_path / "site", adjoints.SITE)


def build(kbuild: Kbuild, folder: Path, *, status: int = 0) -> tuple[dict[str, Any], str]:
    done = kbuild.run("build", folder, "--json", status=status)
    return json.loads(done.stdout), done.stderr


def manifest(folder: Path) -> dict[str, Any]:
    return format.parse((folder / BUNDLE).read_bytes()).manifest


def cubins(folder: Path) -> dict[str, str]:
    """Digests of the raw cubins by unit and target."""
    rows = manifest(folder)
    return {f"{r['unit']} {r['target']}": rows["blobs"][r["blob"]]["sha256"] for r in rows["cubins"]}


@happens(
    SECTION,
    "a kernel cannot be differentiated",
    "It is built without its gradient. A warning [KB220] says why, with the line that is in the way; an error where "
    "the gradient was asked for (`enable_backward=True`, `backward = true`).",
)
@nvrtc
def test_an_adjoint_is_a_kernel_of_a_unit_of_its_own(kbuild: Kbuild, tmp_path: Path) -> None:
    folder = project(tmp_path / "p", adjoints.KERNELS)
    result, said = build(kbuild, folder)
    assert result["kernels"] == ["thing.kernels:crooked", "thing.kernels:double", "thing.kernels:plain"]
    assert (result["compiled"], result["cached"], result["lowered"]) == (2, 0, 2)
    assert f"warning: {CROOKED} [KB220]" in said

    rows = manifest(folder)
    names = [row["name"] for row in rows["kernels"]]
    assert names == [*result["kernels"], "thing.kernels:double:adjoint"]
    assert rows["kernels"][0]["backward"] == {"refused": "it does not double", "line": 12}
    assert rows["kernels"][1]["backward"] == {
        "kernel": 3,
        "read": ["x"],
        "written": ["y"],
        **{name: [] for name in ("accumulated", "before", "after", "scratch", "owned")},
        "saved": {},
    }
    assert "backward" not in rows["kernels"][2]
    assert rows["kernels"][3]["optional"] == ["adj_x", "adj_y", "x", "y"]  # its code asks for neither of the last two
    assert [(row["unit"], row["kernels"]) for row in rows["cubins"]] == [
        ("thing.kernels", [0, 1, 2]),
        ("thing.kernels#adjoint", [3]),
    ]
    assert sorted(rows["definitions"]) == result["kernels"]
    assert "right, 2 cubins" in kbuild.run("verify", folder).stdout


@nvrtc
def test_a_build_with_nothing_to_do_lowers_no_adjoint_and_says_the_same(kbuild: Kbuild, tmp_path: Path) -> None:
    folder = project(tmp_path / "p", adjoints.KERNELS)
    _, said = build(kbuild, folder)
    before = (folder / BUNDLE).read_bytes()
    result, again = build(kbuild, folder)
    assert (result["compiled"], result["cached"], result["lowered"]) == (0, 2, 0)
    assert again == re.sub(r"\[\d/2\].*\n", "", said)
    assert (folder / BUNDLE).read_bytes() == before


@nvrtc
def test_the_line_in_the_way_is_todays(kbuild: Kbuild, tmp_path: Path) -> None:
    """A comment changes no key; the unit that names a line is lowered again, and comes out of the cache as code."""
    folder = project(tmp_path / "p", adjoints.KERNELS)
    build(kbuild, folder)
    path = folder / "thing" / "kernels.py"
    path.write_text("# One line more.\n" + path.read_text())
    result, said = build(kbuild, folder)
    assert (result["compiled"], result["cached"], result["lowered"]) == (0, 2, 1)
    assert manifest(folder)["kernels"][0]["backward"]["line"] == 13
    assert f"kernels.py:13:5: warning: {CROOKED}" in said


@nvrtc
def test_without_gradients_the_code_is_the_same(kbuild: Kbuild, tmp_path: Path) -> None:
    folder, without = project(tmp_path / "p", adjoints.KERNELS), project(tmp_path / "q", adjoints.KERNELS)
    build(kbuild, folder)
    (without / "pyproject.toml").write_text((without / "pyproject.toml").read_text() + "backward = false\n")
    result, said = build(kbuild, without)
    assert (result["compiled"], result["cached"], said) == (0, 1, "")
    assert cubins(without) == {name: digest for name, digest in cubins(folder).items() if "#adjoint" not in name}
    rows = manifest(without)["kernels"]
    assert len(rows) == 3
    assert not any("backward" in row for row in rows)


@nvrtc
def test_a_kernel_that_asks_for_its_gradient(kbuild: Kbuild, tmp_path: Path) -> None:
    """What was a warning, also in the cache, is an error then. The kernel's word counts more than the project's."""
    folder = project(tmp_path / "p", adjoints.KERNELS)
    build(kbuild, folder)
    text = adjoints.KERNELS.replace("@kb.kernel\ndef crooked", "@kb.kernel(enable_backward=True)\ndef crooked")
    project(folder, text, table="backward = false")
    result, said = build(kbuild, folder, status=1)
    assert f"error: {CROOKED} [KB220]" in said
    assert [row["code"] for row in result["diagnostics"]] == ["KB220"]

    project(folder, text.replace("def crooked", "def double_too"), table="backward = false")
    build(kbuild, folder)
    assert [row["name"].partition(":")[2] for row in manifest(folder)["kernels"]] == [
        "double",
        "double_too",
        "plain",
        "double_too:adjoint",
    ]


@nvrtc
def test_a_project_that_asks_for_all_gradients(kbuild: Kbuild, tmp_path: Path) -> None:
    folder = project(tmp_path / "p", adjoints.KERNELS, table="backward = true")
    _, said = build(kbuild, folder, status=1)
    assert f"error: {CROOKED} [KB220]" in said
    found = json.loads(kbuild.run("check", folder, "--json", status=1).stdout)
    assert found["kernels"] == {"found": 3, "complete": 2}
    assert found["refusals"] == [{"code": "KB220", "count": 1}]


def test_check_counts_kernels_and_warns(kbuild: Kbuild, tmp_path: Path) -> None:
    folder = project(tmp_path / "p", adjoints.KERNELS)
    found = json.loads(kbuild.run("check", folder, "--json").stdout)
    assert found["kernels"] == {"found": 3, "complete": 3}
    assert found["refusals"] == []
    (row,) = found["diagnostics"]
    assert (row["code"], row["severity"], row["line"], row["kernel"]) == (
        "KB220",
        "warning",
        12,
        "thing.kernels:crooked",
    )


def test_a_wrong_kernel_is_told_once(kbuild: Kbuild, tmp_path: Path) -> None:
    folder = project(tmp_path / "p", adjoints.KERNELS.replace("2.0 * x[i]", "missing"))
    found = json.loads(kbuild.run("check", folder, "--json", status=1).stdout)
    assert [row["code"] for row in found["diagnostics"]] == ["KB103", "KB220"]
    assert found["kernels"] == {"found": 3, "complete": 2}


@nvrtc
def test_adjoints_have_no_asserts(kbuild: Kbuild, tmp_path: Path) -> None:
    text = adjoints.KERNELS.replace("    y[i] = 2.0", "    assert x[i] > 0.0\n    y[i] = 2.0")
    folder = project(tmp_path / "p", text, table="asserts = true")
    build(kbuild, folder)
    rows = manifest(folder)
    assert [row["kernels"] for row in rows["asserts"]] == [[1]]
    assert [row["unit"] for row in rows["cubins"]] == ["thing.kernels", "thing.kernels#adjoint"]
    sources = json.loads(Kbuild(kbuild.cache).run("build", folder, "--emit=cuda", "--json").stdout)["outputs"]
    assert [("__assertfail" in row["text"]) for row in sources] == [True, False]


@nvrtc
def test_emit(kbuild: Kbuild, tmp_path: Path) -> None:
    folder = project(tmp_path / "p", adjoints.KERNELS)
    done = kbuild.run("check", folder, "--emit=adjoint")
    assert "kernel thing.kernels:double:adjoint ndim=1(x: array1[float32]" in done.stdout
    assert "variables of thing.kernels:double:adjoint" in done.stdout
    assert f"kernels.py:12:5: {CROOKED}" in done.stdout
    assert "adjoint" not in kbuild.run("check", folder, "--emit=ir").stdout
    named = kbuild.run("check", folder, "--emit=adjoint", "--kernel=double")
    assert named.stderr == "--- thing.kernels:double:adjoint\n"
    assert f"error: {CROOKED}" in kbuild.run("check", folder, "--emit=adjoint", "--kernel=crooked", status=1).stderr
    wrong = kbuild.run("check", folder, "--emit=adjoint", "--kernel=plain", status=2)
    assert "kernel 'plain' is built without its adjoint" in wrong.stderr
    kernel, adjoint = (
        kbuild.run("build", folder, "--emit=cuda", f"--kernel={name}").stdout for name in ("double", "double:adjoint")
    )
    assert "double_k(" in kernel
    assert "double_k_a(" not in kernel
    assert "double_k_a(" in adjoint
    names = json.loads(kbuild.run("build", folder, "--emit=ptx", "--json").stdout)["outputs"]
    assert [row["name"] for row in names] == ["thing.kernels.sm_90.ptx", "thing.kernels#adjoint.sm_90.ptx"]


@nvrtc
def test_inspect(kbuild: Kbuild, tmp_path: Path) -> None:
    folder = project(tmp_path / "p", adjoints.KERNELS)
    build(kbuild, folder)
    text = kbuild.run("inspect", folder).stdout
    assert text.index("thing.kernels:double: tid()") < text.index("thing.kernels:double:adjoint: tid()")
    assert text.index("thing.kernels:double:adjoint: tid()") < text.index("thing.kernels:plain: tid()")
    assert re.search(r"thing\.kernels:crooked +12 +it does not double", text)
    assert re.search(r"adjoints: bytes of their cubins, .*\n.*\n +sm_90 +1 +\d+ +\d+ +\d+ %\n", text)

    found = json.loads(kbuild.run("inspect", folder, "--json").stdout)
    by_name = {row["name"]: row for row in found["kernels"]}
    assert by_name["thing.kernels:double"]["backward"]["kernel"] == "thing.kernels:double:adjoint"
    assert by_name["thing.kernels:crooked"]["backward"] == {"refused": "it does not double", "line": 12}
    assert "backward" not in by_name["thing.kernels:plain"]
    (cost,) = found["adjoints"]["kernels"]
    assert (cost["kernel"], cost["target"]) == ("thing.kernels:double", "sm_90")
    assert cost["code"] > 0
    assert cost["adjoint"] > 0
    (total,) = found["adjoints"]["targets"]
    (adjoint,) = (row for row in found["cubins"] if row["kernels"] == ["thing.kernels:double:adjoint"])
    assert (total["cubins"], total["size"], total["stored"]) == (1, adjoint["size"], adjoint["stored"])
    assert total["of"] == sum(row["stored"] for row in found["cubins"])


@nvrtc
def test_compare_sees_a_gradient_that_came(kbuild: Kbuild, tmp_path: Path) -> None:
    folder, older = project(tmp_path / "p", adjoints.KERNELS), project(tmp_path / "q", adjoints.KERNELS)
    build(kbuild, folder)
    project(older, adjoints.KERNELS, table="backward = false")
    build(kbuild, older)
    said = kbuild.run("inspect", folder, "--compare", older).stdout
    assert "kernel thing.kernels:double:adjoint" in said
    assert "thing.kernels:double backward" in said


def test_rows_of_adjoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    adjoints.use(monkeypatch)
    _, declared = kernels.load(kernels.write(tmp_path, adjoints.KERNELS.replace("import kbuild as kb", "")))
    request = Request([], [], [], True, False, True, backward=WANTED)
    found = find(declared, Report())
    rows = [one.row for one in adjoints_of(found, request)]
    assert [row.primal.partition(":")[2] for row in rows] == ["crooked", "double"]
    assert [(row.name, row.entry) for row in rows] == [
        (f"{one.row.name}:adjoint", f"{one.row.entry}_a") for one in found[:2]
    ]
    required = adjoints_of(found, replace(request, backward=REQUIRED))
    assert [one.row.backward for one in required] == [REQUIRED, REQUIRED]
    assert adjoints_of(found, replace(request, backward="")) == []

    both = [*found, *adjoints_of(found, request)]
    units = cut(both, request)
    assert [unit.name.partition("#")[2] for unit in units] == [
        *("crooked", "double", "plain"),
        *("adjoint#crooked", "adjoint#double"),
    ]
    assert [unit.is_adjoint for unit in units] == [False, False, False, True, True]


def test_more_parameters_than_a_target_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no fault of the build's: the kernel is refused its gradient."""
    adjoints.use(monkeypatch)
    _, declared = kernels.load(kernels.write(tmp_path, adjoints.KERNELS.replace("import kbuild as kb", "")))
    request = Request([], [], [], True, False, True, backward=WANTED)
    found = adjoints_of(find(declared, Report()), request)
    unit = cut(found, request)[1]
    name = found[1].row.primal
    lowered = lower_adjoints(unit, found, request, (71, "sm_9 takes 71 (CUDA 1.0)"))
    assert lowered is not None
    assert (lowered.source, lowered.rows) == ("", {})
    assert lowered.backward[name]["refused"] == (
        "its adjoint takes 72 bytes of parameters, launch header included, but sm_9 takes 71 (CUDA 1.0)"
    )
    assert lowered.backward[name]["place"][1] == found[1].row.span.line
    lowered = lower_adjoints(unit, found, request, (72, "sm_9 takes 72 (CUDA 1.0)"))
    assert lowered is not None
    assert set(lowered.rows) == {name + ":adjoint"}


def refused(name: str, line: int, severity: str = "warning") -> Diagnostic:
    return Diagnostic("KB220", f"{name} has no gradient: why", Span("k.py", line), severity, kernel=name)


def test_one_line_in_the_way_of_many_kernels_is_told_once() -> None:
    other = Diagnostic("KB151", "something: else", Span("k.py", 1), "warning")
    shown = collapsed([refused("k:a", 1), other, *(refused(f"k:b{n}", 1) for n in range(7)), refused("k:c", 2)])
    assert [(d.kernel, len(d.notes)) for d in shown] == [("k:a", 1), (None, 0), ("k:c", 0)]
    assert shown[0].notes[0].message == "it is in the way of 7 more kernels: k:b0, k:b1, k:b2, k:b3, k:b4 and 2 more"


def test_a_build_stays_readable() -> None:
    names = [f"k:{n}" for n in range(300)]
    few = [refused(name, number) for number, name in enumerate(names[:3])]
    assert brief(few, names) == few
    (one,) = brief([refused(name, number) for number, name in enumerate(names)], [*names, "kbuild.primitives.x:own"])
    assert one.message == "300 of 300 kernels have no gradients: k:0, k:1, k:2, k:3, k:4 and 295 more"
    assert (one.severity, one.code) == ("warning", "KB220")
    errors = [refused(name, number, "error") for number, name in enumerate(names)]
    assert len(brief(errors, names)) == 300
