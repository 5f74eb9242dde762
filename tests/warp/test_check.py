"""`check --as warp`: folders, files, packages; what is counted as found, complete, refused, unmade."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kbuild.errors import UsageError
from kbuild.pipeline.dialect import DialectCheck, check_as
from kbuild.scan.locating import definitions, locate

ROOT = Path(__file__).parents[2]
CODES = {
    "captures": "KB114",
    "elements": "KB114",
    "mesh": "KB114",
    "native": "KB189",
    "texture": "KB114",
    "tiles": "KB114",
}


def names(result: DialectCheck) -> dict[str, tuple[str, ...]]:
    return {kernel.name.partition(":")[2]: kernel.codes for kernel in result.kernels}


def run(*words: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kbuild", "check", "--as", "warp", *words]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, timeout=300)


def test_each_refusal_with_its_code(broken: Path) -> None:
    result = check_as("warp", [str(broken)])
    assert names(result) == {
        **{name: (code,) for name, code in CODES.items()},
        "misspelt": ("KB142",),
        "good": (),
        "first": (),
        "second": ("KB201",),
        "third": ("KB201",),
    }
    assert result.refusals == {"KB114": 5, "KB142": 1, "KB189": 1, "KB201": 2}
    assert (len(result.kernels), result.complete) == (11, 2)
    assert result.failed == ["fails"]


def test_refusals_say_what_a_name_belongs_to(broken: Path) -> None:
    reasons = {k.name: k.refusals[0][1] for k in check_as("warp", [str(broken / "uses.py")]).kernels if k.refusals}
    assert reasons == {
        "uses:captures": "field 'texture' of struct uses:Holder: kb.Texture2D (textures) is not in kbuild yet",
        "uses:elements": "form (finite elements) is not in kbuild yet",
        "uses:mesh": "kb.mesh_eval_position (meshes) is not in kbuild yet",
        "uses:misspelt": "kbuild.warp has no attribute 'normalise'",
        "uses:native": "the snippet of uses:snippet says `wp::sin`, which is Warp's, and not here",
        "uses:texture": "field 'texture' of struct uses:Holder: kb.Texture2D (textures) is not in kbuild yet",
        "uses:tiles": "kb.tile_load (tiles) is not in kbuild yet",
    }


def test_factories(project: Path) -> None:
    sources = str(project / "src" / "warpsim")
    result = check_as("warp", [sources])
    assert {name: codes for name, codes in names(result).items() if codes} == {}
    assert [one.qualname for one in result.unmade] == ["make_power.<locals>.power", "never.<locals>.unmade"]
    made = check_as("warp", [sources], instances=["warpsim.instances:make"])
    powers = [name for name in names(made) if "power" in name]
    assert len(powers) == 2
    assert len({*powers}) == 2
    assert [one.qualname for one in made.unmade] == ["never.<locals>.unmade"]


def test_instances_in_a_file(project: Path, tmp_path: Path) -> None:
    (tmp_path / "list.py").write_text("from warpsim import particles\n\ndef instances():\n    particles.never()\n")
    (tmp_path / "other.py").write_text("from warpsim import particles\n\ndef some():\n    particles.make_power(5)\n")
    lists = [str(tmp_path / "list.py"), f"{tmp_path / 'other.py'}:some"]
    assert check_as("warp", [str(project / "src")], instances=lists).unmade == []


def test_instances_that_fail_leave_the_rest(project: Path, tmp_path: Path) -> None:
    (tmp_path / "list.py").write_text("def instances():\n    raise KeyError('speed')\n")
    result = check_as("warp", [str(project / "src")], instances=[str(tmp_path / "list.py")])
    assert result.complete == len(result.kernels) > 0
    assert [(d.code, "KeyError: 'speed'" in d.message) for d in result.diagnostics] == [("KB210", True)]


def test_mocks(broken: Path) -> None:
    result = check_as("warp", [str(broken / "fails.py")], mocks=["nothing_of_this_name"])
    assert names(result) == {"first": (), "second": (), "third": ()}


@pytest.mark.nvrtc
def test_compiled_too(project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from kbuild import targets

    monkeypatch.setenv("KBUILD_CACHE", str(tmp_path / "cache"))
    result = check_as("warp", [str(project / "src")], targets=[targets.parse("sm_87"), targets.parse("sm_120")])
    assert (result.complete, result.warnings, result.diagnostics) == (len(result.kernels), 0, [])
    assert any((tmp_path / "cache").rglob("*"))


@pytest.mark.nvrtc
def test_what_the_compiler_refuses_is_a_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kbuild import targets

    monkeypatch.setenv("KBUILD_CACHE", str(tmp_path / "cache"))
    parameters = ", ".join(f"p{i}: wp.array4d(dtype=float)" for i in range(200))
    text = f"import warp as wp\n\n@wp.kernel\ndef wide({parameters}):\n    p0[0, 0, 0, 0] = 1.0\n"
    (tmp_path / "wide.py").write_text(text)
    result = check_as("warp", [str(tmp_path / "wide.py")], targets=[targets.parse("sm_87")])
    assert names(result) == {"wide": ("KB302",)}


def test_a_bug_of_ours_costs_one_kernel(broken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kbuild.errors import InternalError
    from kbuild.scan.client import Scanner

    lower = Scanner.lower

    def fails(self: Scanner, units: list[str]) -> Any:
        if units == ["uses#good"]:
            raise InternalError("it went wrong:\n\nValueError: here")
        return lower(self, units)

    monkeypatch.setattr(Scanner, "lower", fails)
    found = names(check_as("warp", [str(broken)]))
    assert (found["good"], found["first"], found["mesh"]) == (("KB700",), (), ("KB114",))


def test_the_command(broken: Path) -> None:
    done = run("broken", folder=broken.parent)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "2 of 11 kernels can be compiled",
        "      5 refused by KB114: a function that kbuild does not have yet",
        "      1 refused by KB142: an unknown field or attribute",
        "      1 refused by KB189: a function in CUDA C++ that says what it cannot",
        "      2 refused by KB201: a module that cannot be imported",
    ]
    assert "did you mean 'normalize'?" in done.stderr
    assert "add --mock nothing_of_this_name" in done.stderr
    assert "failed: fails cannot be imported" in done.stderr


def test_the_command_as_json(broken: Path) -> None:
    said = json.loads(run("broken/uses.py", "--json", folder=broken.parent).stdout)
    assert said["kernels"] == {"found": 8, "complete": 1}
    assert said["refusals"] == [
        {"code": "KB114", "count": 5},
        {"code": "KB142", "count": 1},
        {"code": "KB189", "count": 1},
    ]
    assert {row["kernel"] for row in said["diagnostics"]} == {row["name"] for row in said["listed"] if row["refusals"]}
    assert len(said["definitions"]) == 8
    assert (said["unmade"], said["failed"], said["targets"], said["warnings"]) == ([], [], [], 0)


@pytest.mark.parametrize("words", [["no/such/place"], ["no_such_package"], ["jso"]])
def test_what_names_nothing(words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        locate(words)
    assert caught.value.code == "KB203"
    if words == ["jso"]:
        assert caught.value.help == "did you mean 'json'?"


def test_options_of_check_that_belong_to_a_dialect() -> None:
    command = [sys.executable, "-m", "kbuild", "check", "--mock", "torch"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 2
    assert "--mock goes with --as" in done.stderr


def test_what_words_mean(project: Path, tmp_path: Path) -> None:
    package = project / "src" / "warpsim"
    whole = [one.name for one in locate([str(package)])]
    assert whole == ["warpsim", "warpsim.instances", "warpsim.particles"]
    assert [one.name for one in locate([str(project / "src")])] == whole
    assert [one.name for one in locate([str(package / "particles.py"), str(package)])] == [
        "warpsim.particles",
        "warpsim",
        "warpsim.instances",
    ]
    assert {one.name for one in locate(["json"])} >= {"json", "json.decoder"}
    loose = package / "_inside" / "deep.py"
    loose.parent.mkdir()
    loose.write_text("")
    assert [one.name for one in locate([str(loose)])] == ["warpsim._inside.deep"]
    assert [(one.name, one.root) for one in locate([str(loose.parent)])] == [("warpsim._inside.deep", package.parent)]
    # A package `warp` is none: its name stands for kbuild.warp.
    inside = tmp_path / "warp" / "examples" / "core"
    inside.mkdir(parents=True)
    for folder in (tmp_path / "warp", tmp_path / "warp" / "examples"):
        (folder / "__init__.py").write_text("")
    (inside / "wave.py").write_text("")
    assert [one.name for one in locate([str(tmp_path / "warp" / "examples")])] == ["examples", "examples.core.wave"]


def test_definitions_in_the_text(tmp_path: Path) -> None:
    path = tmp_path / "many.py"
    path.write_text(
        """\
import warp
import warp as w
import kbuild as kb
from warp import kernel as k, func
import other

@w.kernel
def a(): ...
@warp.kernel(enable_backward=False)
def b(): ...
@k
def c(): ...
@kb.kernel
def d(): ...
@other.kernel
def no(): ...
@func
def neither(): ...

class C:
    def method(self):
        @other.cache
        @w.kernel(
            module="unique",
        )
        def e(): ...
"""
    )
    found = [(one.qualname, one.line) for one in definitions([path])]
    assert found == [("a", 8), ("b", 10), ("c", 12), ("d", 14), ("C.method.<locals>.e", 26)]
    (tmp_path / "wrong.py").write_text("def (")
    assert definitions([tmp_path / "wrong.py", tmp_path / "none.py"]) == []


def test_struct_parameters_are_copies(tmp_path: Path) -> None:
    """As in Warp; kbuild's own @kb.func refuses it, since Python would change the caller's (KB143)."""
    text = """\
import warp as wp

@wp.struct
class Geom:
    size: float

@wp.func
def grown(geom: Geom) -> float:
    geom.size = geom.size + 1.0
    return geom.size

@wp.kernel
def sizes(geom: Geom, a: wp.array(dtype=float)):
    a[0] = grown(geom)
    a[1] = geom.size
    geom.size = 3.0
    a[2] = geom.size
"""
    (tmp_path / "copies.py").write_text(text)
    assert names(check_as("warp", [str(tmp_path / "copies.py")])) == {"sizes": ()}
