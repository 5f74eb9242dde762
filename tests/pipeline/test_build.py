"""From a project to its bundles: what is built again after which change, and what is in the bundle."""

from __future__ import annotations

import json
import locale
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kbuild.bundle.verification import verify
from kbuild.errors import CompileError, UsageError
from kbuild.loader import format
from kbuild.pipeline import bundle_paths, check, emit, sources
from tests.helpers.projects import write
from tests.pipeline.conftest import FILES, SECOND, UNITS, Project

pytestmark = pytest.mark.nvrtc
TARGETS = 2


@pytest.mark.usefixtures("cold")
def test_everything_once_then_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    first = project.build()
    assert (first.compiled, first.cached, first.lowered) == (len(UNITS) * TARGETS, 0, len(UNITS))
    assert first.kernels == ("pkg.first:louder", "pkg.second:moved", "pkg.second:plain")
    assert first.targets == ("sm_90", "jetson-orin-jp6")
    assert first.nvrtc_seconds > 0
    assert first.diagnostics == ()
    (bundle,) = first.bundles
    assert (bundle.package, bundle.path, bundle.size) == ("pkg", project.bundle, project.bundle.stat().st_size)
    before = project.bundle.stat().st_mtime_ns, project.bundle.read_bytes()

    started = _count_processes(monkeypatch)
    again = project.build()
    assert (again.compiled, again.cached, again.lowered) == (0, len(UNITS) * TARGETS, 0)
    assert again.nvrtc_seconds == 0
    assert again.bundles == first.bundles
    assert (project.bundle.stat().st_mtime_ns, project.bundle.read_bytes()) == before
    assert len(started) == 1, "the scan alone: no worker was started"
    assert "kbuild.scan.child" in " ".join(started[0])


def _count_processes(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    started: list[list[str]] = []
    original = subprocess.Popen.__init__

    def noted(self: Any, args: Any, *rest: Any, **options: Any) -> None:
        started.append(list(map(str, args)))
        original(self, args, *rest, **options)

    monkeypatch.setattr(subprocess.Popen, "__init__", noted)
    return started


CHANGES: dict[str, tuple[str, str, str, set[str]]] = {
    "helper": ("shared.py", "x * GAIN", "x * GAIN - 1.0", {"pkg.first"}),
    "other helper": ("shared.py", "x + 1.0", "x + 2.0", {"pkg.second"}),
    "captured constant": ("shared.py", "GAIN = 2.0", "GAIN = 2.5", {"pkg.first"}),
    "struct": ("first.py", "count: int\n", "count: int\n    more: int\n", {"pkg.first"}),
    "kernel": ("second.py", "a[3]", "a[4]", {"pkg.second#nofmad"}),
    "parameter": ("first.py", "by: kb.vec3", "by: kb.vec4", {"pkg.first"}),
    "comment": ("shared.py", "# A comment.", "# Another one.\n    # And one more.", set()),
    "docstring": ("first.py", "A docstring.", "Another\n    one.", set()),
    "blank lines": ("second.py", "\n\n\n@kb.kernel\n", "\n\n\n\n\n\n@kb.kernel\n", set()),
    "host function": ("first.py", "return x\n", "return -x\n", set()),
    "another module": ("__init__.py", "", "x = 1\n", set()),
}


@pytest.mark.parametrize("name", CHANGES)
def test_exactly_what_a_change_reaches(project: Project, name: str) -> None:
    file, before, after, units = CHANGES[name]
    first = project.build()
    project.edit(file, before, after)
    again = project.build()
    assert (again.compiled, again.lowered) == (len(units) * TARGETS, len(units))
    assert again.cached == (len(UNITS) - len(units)) * TARGETS
    assert (again.bundles[0].digest == first.bundles[0].digest) == (not units)


def test_going_back_is_free(project: Project) -> None:
    first = project.build()
    project.edit("shared.py", "x * GAIN", "x / GAIN")
    assert project.build().compiled == TARGETS
    project.edit("shared.py", "x / GAIN", "x * GAIN")
    back = project.build()
    assert (back.compiled, back.lowered) == (0, 0)
    assert back.bundles == first.bundles


def test_another_target_compiles_that_one(project: Project, make_project: Callable[..., Project]) -> None:
    project.build()
    wider = make_project("wider", targets=("sm_90", "jetson-orin-jp6", "sm_80")).build()
    assert (wider.compiled, wider.cached) == (len(UNITS), len(UNITS) * 2)


def test_an_option_of_the_project(project: Project, make_project: Callable[..., Project]) -> None:
    """Every unit's key has the option in it; a kernel that states its own says the same code."""
    project.build()
    assert make_project("unfused", fmad=False).build().lowered > 0


@pytest.mark.parametrize("kind", ["cubin", "lowered"])
def test_a_lost_cache_entry_is_made_again(project: Project, cache: Path, kind: str) -> None:
    first = project.build()
    entries = sorted(path for path in cache.rglob("*") if path.is_file() and kind in str(path.relative_to(cache)))
    assert entries, [str(path) for path in cache.rglob("*")]
    entries[0].unlink()
    again = project.build()
    assert again.bundles == first.bundles
    assert (again.compiled, again.lowered) == ((1, 1) if kind == "cubin" else (0, 1))


def test_a_damaged_cache_entry_is_made_again(project: Project, cache: Path) -> None:
    first = project.build()
    for path in cache.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:-1] + b"?")
    again = project.build()
    assert again.bundles == first.bundles
    assert again.cached == 0


def test_two_packages_have_a_bundle_each(tmp_path: Path) -> None:
    project = Project(tmp_path / "two", targets=("sm_90",))
    write(project.root, {name.replace("pkg", "qkg"): text.replace("pkg.", "qkg.") for name, text in FILES.items()})
    pyproject = project.root / "pyproject.toml"
    pyproject.write_text(pyproject.read_text().replace("['pkg.first', 'pkg.second']", "['pkg.*', 'qkg.second']"))
    result = project.build()
    assert [(b.package, b.path.relative_to(project.root).as_posix()) for b in result.bundles] == [
        ("pkg", "pkg/_kbuild.kbundle"),
        ("qkg", "qkg/_kbuild.kbundle"),
    ]
    assert bundle_paths(project.config) == ["pkg/_kbuild.kbundle", "qkg/_kbuild.kbundle"]
    names = [path.relative_to(project.root).as_posix() for path in sources(project.config)]
    assert names == ["pkg/first.py", "pkg/second.py", "pkg/shared.py", "qkg/second.py"]
    parsed = format.parse((project.root / "qkg/_kbuild.kbundle").read_bytes())
    assert [kernel["name"] for kernel in parsed.manifest["kernels"]] == ["qkg.second:moved", "qkg.second:plain"]


def test_output_elsewhere(project: Project, tmp_path: Path) -> None:
    result = project.build(output=tmp_path / "build")
    assert result.bundles[0].path == tmp_path / "build" / "pkg" / "_kbuild.kbundle"
    assert result.bundles[0].path.is_file()
    assert not project.bundle.exists()


def test_bundle(project: Project) -> None:
    digest = project.build().bundles[0].digest
    parsed = format.parse(project.bundle.read_bytes())
    assert parsed.digest == digest
    assert verify(parsed) == []
    manifest = parsed.manifest
    assert manifest["package"] == "pkg"
    assert manifest["targets"] == ["sm_90", "jetson-orin-jp6"]
    assert manifest["sources"] is None
    assert [k["name"] for k in manifest["kernels"]] == ["pkg.first:louder", "pkg.second:moved", "pkg.second:plain"]
    louder = manifest["kernels"][0]
    assert (louder["ndim"], louder["block_dim"], louder["size"]) == (1, 256, 52)
    assert (louder["origin"], louder["any_block_dim"]) == (True, True)
    assert [(p["name"], p["type"], p["offset"], p["size"]) for p in louder["parameters"]] == [
        ("a", "array1[float32]", 8, 16),
        ("cells", "array1[struct:pkg.first:Cell]", 24, 16),
        ("by", "vec3[float32]", 40, 12),
    ]
    assert list(manifest["structs"]) == ["pkg.first:Cell"]
    assert manifest["definitions"]["pkg.first:louder"]["plan"] == ["global:amplify", "global:amplify/global:GAIN"]
    assert {(c["target"], c["unit"]) for c in manifest["cubins"]} == {
        (t, u) for t in manifest["targets"] for u in UNITS
    }
    assert str(project.root) not in json.dumps(manifest)
    assert str(project.root).encode() not in b"".join(parsed.blob(i) for i in range(len(manifest["blobs"])))


def test_instances_whose_functions_capture_different_things(project: Project) -> None:
    """Each instance is found by its own values, though the functions inside look at different names."""
    project.edit(
        "second.py",
        SECOND,
        """\
import kbuild as kb

LOW, HIGH = 1.0, 2.0


@kb.func
def low(x: float):
    return x + LOW


@kb.func
def high(x: float):
    return x - HIGH


def make(f):
    @kb.kernel
    def apply(a: kb.array(dtype=float)):
        a[0] = f(a[1])

    return apply


kernels = [make(low), make(high)]
""",
    )
    project.build()
    manifest = format.parse(project.bundle.read_bytes()).manifest
    definition = manifest["definitions"]["pkg.second:make.<locals>.apply"]
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\nimport json\nfrom kbuild.loader import identity\n"
        "from pkg.second import kernels\nplan = json.loads(sys.argv[2])\n"
        "print([identity.identity(k.function, plan) for k in kernels])"
    )
    plan = json.dumps(definition["plan"])
    result = subprocess.run(
        [sys.executable, "-c", program, str(project.root), plan], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert sorted(eval(result.stdout)) == sorted(row["identity"] for row in definition["instances"])


def test_editable(project: Project) -> None:
    result = project.build(editable=True)
    manifest = format.parse(project.bundle.read_bytes()).manifest
    assert {cubin["unit"] for cubin in manifest["cubins"]} == {
        "pkg.first#louder",
        "pkg.second#moved",
        "pkg.second#nofmad#plain",
    }
    assert [Path(row["path"]).name for row in manifest["sources"]] == ["first.py", "second.py", "shared.py"]
    project.edit("second.py", "a[3]", "a[4]")
    assert project.build(editable=True).compiled == TARGETS
    assert result.kernels == project.build().kernels


def test_the_same_bytes_anywhere(make_project: Callable[..., Project], tmp_path: Path) -> None:
    """Directories, hash seeds, umasks, locales, time zones and caches do not show."""
    one, other = make_project("one"), make_project("an other/with ümlaut")
    locales = [name for name in ("de_DE.UTF-8", "C.UTF-8", "C") if _is_locale(name)]
    bundles = []
    for number, project in enumerate((one, other)):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": str(number * 77),
            "KBUILD_CACHE": str(tmp_path / f"cache {number}"),
            "TZ": ["UTC", "Pacific/Auckland"][number],
            "LC_ALL": locales[number % len(locales)],
        }
        program = (
            "import os, sys; os.umask(int(sys.argv[2], 8))\nfrom pathlib import Path\n"
            "from kbuild import config, pipeline\n"
            "pipeline.build(config.load(Path(sys.argv[1])), jobs=1 + os.umask(0) % 2)"
        )
        command = [sys.executable, "-c", program, str(project.root), ["022", "077"][number]]
        subprocess.run(command, env=environment, check=True, cwd=project.root)
        bundles.append(project.bundle.read_bytes())
    assert bundles[0] == bundles[1]


def _is_locale(name: str) -> bool:
    before = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, name)
    except locale.Error:
        return False
    finally:
        locale.setlocale(locale.LC_ALL, before)
    return True


MANY = ", ".join(f"p{i}: kb.mat44d" for i in range(40))


def test_what_nvrtc_refuses_is_shown_in_python(project: Project) -> None:
    """5 KB of parameters are too many for code of CUDA 11."""
    project.edit("second.py", "def plain(a: kb.array(dtype=float)):", f"def plain(a: kb.array(dtype=float), {MANY}):")
    with pytest.raises(CompileError) as caught:
        project.build()
    diagnostics = caught.value.diagnostics
    assert {d.code for d in diagnostics} <= {"KB301", "KB302"}
    text = str(caught.value)
    assert "pkg.second:plain" in text
    assert "sm_87" in text or "jetson-orin-jp6" in text
    path = project.root / "pkg" / "second.py"
    line = next(n for n, row in enumerate(path.read_text().splitlines(), start=1) if row.startswith("def plain"))
    assert [(d.span.path, d.span.line) if d.span else None for d in diagnostics] == [(str(path), line)]
    assert diagnostics[0].kernel == "pkg.second:plain"
    assert not project.bundle.exists()


def test_errors_of_all_units_come_together(project: Project) -> None:
    project.edit("first.py", "amplify(a[i])", "[a[i]]")
    project.edit("second.py", "a[3]", "missing")
    with pytest.raises(CompileError) as caught:
        project.build()
    assert [d.code for d in caught.value.diagnostics] == ["KB111", "KB103"]
    assert not project.bundle.exists()


def test_an_old_bundle_stays_when_a_build_fails(project: Project) -> None:
    project.build()
    before = project.bundle.read_bytes()
    project.edit("second.py", "a[3]", "missing")
    with pytest.raises(CompileError):
        project.build()
    assert project.bundle.read_bytes() == before


def test_errors_of_the_scan_stop_a_build(project: Project) -> None:
    project.edit("__init__.py", "", "import nothing_like_this\n")
    with pytest.raises(CompileError, match="KB201"):
        project.build()


def test_no_kernels(project: Project) -> None:
    for name in ("first.py", "second.py"):
        (project.root / "pkg" / name).write_text("x = 1\n")
    with pytest.raises(UsageError, match=r"\[KB206\]") as caught:
        project.build()
    assert "pkg.first, pkg.second" in caught.value.message


def test_check_counts(project: Project) -> None:
    clean = check(project.config)
    assert (clean.found, clean.complete, clean.refusals, clean.diagnostics) == (3, 3, {}, ())
    project.edit("first.py", "amplify(a[i])", "[a[i]] + missing")
    project.edit("second.py", "shift(a[i, j])", "a[i, j, 0]")
    wrong = check(project.config)
    assert (wrong.found, wrong.complete) == (3, 1)
    assert wrong.refusals == {"KB111": 1, "KB140": 1}
    assert {d.kernel for d in wrong.diagnostics} == {"pkg.first:louder", "pkg.second:moved"}
    assert not project.bundle.exists()


def test_check_counts_kernels_without_source(project: Project) -> None:
    project.edit(
        "second.py", SECOND, SECOND + "\nexec('@kb.kernel\\ndef made(a: kb.array(dtype=float)):\\n    a[0] = 1.0\\n')\n"
    )
    found = check(project.config)
    assert (found.found, found.complete, found.refusals) == (4, 3, {"KB100": 1})


def test_check_says_what_it_skipped(make_project: Callable[..., Project]) -> None:
    project = make_project(exclude=["pkg.second"])
    assert check(project.config).skipped == ("pkg.second: left out by exclude = ['pkg.second']",)


@pytest.mark.parametrize(
    ("stage", "kernel", "names"),
    [
        ("ir", None, ["pkg.first:louder", "pkg.second#nofmad", "pkg.second"]),
        ("cuda", None, ["pkg.first.cu", "pkg.second#nofmad.cu", "pkg.second.cu"]),
        ("ir", "pkg.second:moved", ["pkg.second:moved"]),
        ("cuda", "moved", ["pkg.second#moved.cu"]),
        ("ptx", "moved", ["pkg.second#moved.sm_90.ptx", "pkg.second#moved.jetson-orin-jp6.ptx"]),
        ("cubin", "moved", ["pkg.second#moved.sm_90.cubin", "pkg.second#moved.jetson-orin-jp6.cubin"]),
    ],
)
def test_emit(project: Project, stage: str, kernel: str | None, names: list[str]) -> None:
    found = dict(emit(project.config, stage, kernel=kernel))
    if (stage, kernel) == ("ir", None):
        names = ["pkg.first:louder", "pkg.second:plain", "pkg.second:moved"]
    assert sorted(found) == sorted(names)
    marks = {"ir": "kernel pkg.", "cuda": "__global__", "ptx": ".entry", "cubin": b"\x7fELF"}
    for content in found.values():
        assert marks[stage] in content  # type: ignore[operator]
    assert not project.bundle.exists()


def test_emit_of_an_unknown_kernel(project: Project) -> None:
    with pytest.raises(UsageError, match=r"no kernel 'nothing' \[KB207\]") as caught:
        list(emit(project.config, "ir", kernel="nothing"))
    assert "pkg.first:louder" in (caught.value.help or "")


@pytest.mark.usefixtures("cold")
def test_progress_counts_every_step(project: Project) -> None:
    class Noted:
        def __init__(self) -> None:
            self.seen: list[Any] = []

        def start(self, total: int) -> None:
            self.seen.append(total)

        def advance(self, label: str) -> None:
            self.seen.append(label)

        def finish(self) -> None:
            self.seen.append("done")

    progress = Noted()
    project.build(progress=progress)
    assert progress.seen[0] == len(UNITS) * TARGETS
    assert progress.seen[-1] == "done"
    assert len(progress.seen) == len(UNITS) * TARGETS + 2
    assert any("sm_90 pkg.first" in str(label) for label in progress.seen)


def test_line_information(make_project: Callable[..., Project]) -> None:
    """Lines are part of the code then: a comment moves those of the units that reach the file."""
    project = make_project(**{"line-info": True})
    first = project.build()
    project.edit("shared.py", "GAIN = 2.0\n", "# A comment.\nGAIN = 2.0\n")
    again = project.build()
    assert (again.lowered, again.compiled) == (2, 2 * TARGETS)
    assert again.bundles[0].digest != first.bundles[0].digest
    assert str(project.root).encode() not in project.bundle.read_bytes()
