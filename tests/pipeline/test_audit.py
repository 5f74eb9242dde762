"""The audit of a project, and as a step of its builds: what is told, what stops, what is kept in the cache."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kbuild.audit import text
from kbuild.audit.findings import CHECKS, OUT_OF_TIME
from kbuild.config import AuditConfig, AuditRule
from kbuild.errors import CompileError, UsageError
from kbuild.pipeline import audit, auditing, build
from kbuild.pipeline.auditing import AuditResult, Wanted
from kbuild.scan.client import Scanner
from tests.pipeline.conftest import Project

pytestmark = pytest.mark.nvrtc

SLOW = """

@kb.kernel
def slow(a: kb.array(dtype=float), b: kb.array(dtype=float), unused: int):
    total = float(0.0)
    for j in range(a.shape[0]):
        total += a[j]
    b[kb.tid()] = total
"""
# What the analyses of threads say of the project's kernels is none of these tests' business.
OTHERS = tuple((name, "off") for name in CHECKS if name not in ("source", "machine-code"))
WARN = AuditConfig(build="warn", level=OTHERS)


@pytest.fixture
def slow(project: Project) -> Project:
    path = project.root / "pkg" / "second.py"
    path.write_text(path.read_text() + SLOW)
    return project


def run(project: Project, *checks: str, config: AuditConfig | None = None, **wanted: object) -> AuditResult:
    settings = replace(project.config, audit=config or AuditConfig())
    return audit(settings, Wanted(checks=checks, **wanted))  # type: ignore[arg-type]


def codes(result: AuditResult) -> list[tuple[str, str, bool]]:
    return [(one.finding.code, one.level, one.is_suppressed) for one in result.judged]


def test_the_whole_project(slow: Project) -> None:
    result = run(slow)
    assert [one.kernel for one in result.kernels] == ["pkg.first:louder", "pkg.second:moved", "pkg.second:plain",
                                                      "pkg.second:slow"]  # fmt: skip
    assert [c for c in codes(result) if c[0] in ("KB410", "KB416")] == [
        ("KB416", "note", False), ("KB410", "warning", False),
    ]  # fmt: skip
    assert {(one.kernel, one.target) for one in result.machines} == {
        (kernel.kernel, target) for kernel in result.kernels for target in ("sm_90", "jetson-orin-jp6")
    }
    assert all(one.registers > 0 and one.warps > 0 for one in result.machines)
    assert result.earlier is None
    assert not (slow.root / "pkg" / "_kbuild.kbundle").exists()


def test_only_what_was_asked_for(slow: Project) -> None:
    result = run(slow, "source", kernels=("slow",))
    assert [one.kernel for one in result.kernels] == ["pkg.second:slow"]
    assert (result.checks, result.machines) == (("source",), ())
    assert [code for code, _, _ in codes(result)] == ["KB416", "KB410"]
    assert len(run(slow, "source", kernels=("pkg.second:*", "louder")).kernels) == 4
    assert len(run(slow, "source", kernels=("l*",)).kernels) == 1
    assert run(slow, "source", "machine-code", kernels=("slow",), machine_code=False).checks == ("source",)


def test_names_that_there_are_not(slow: Project) -> None:
    with pytest.raises(UsageError, match=r"no kernel 'slw'(.|\n)*did you mean 'slow'"):
        run(slow, "source", kernels=("slw",))
    with pytest.raises(UsageError, match=r"there is no check 'sauce'(.|\n)*did you mean 'source'"):
        run(slow, "sauce")


def test_a_kernel_that_is_wrong_is_told_as_a_build_tells_it(slow: Project) -> None:
    slow.edit("second.py", "a[i, j] = shift(a[i, j])", "a[i, j] = [1.0]")
    for checks in (("source",), ("machine-code",), ("source", "machine-code")):
        with pytest.raises(CompileError, match=r"second.py:8:15: error"):
            run(slow, *checks)


def test_levels_and_rules(slow: Project) -> None:
    config = AuditConfig(level=(("KB410", "error"), ("KB416", "off")))
    result = run(slow, "source", config=config)
    assert codes(result) == [("KB410", "error", False)]
    assert result.has_errors
    rule = AuditRule(("pkg.second:*",), (("source", "off"),), "small arrays")
    result = run(slow, "source", config=replace(config, kernels=(rule,)))
    assert not result.has_errors
    assert [(one.finding.code, one.by, one.reason) for one in result.judged] == [
        ("KB416", "configuration", "small arrays"), ("KB410", "configuration", "small arrays"),
    ]  # fmt: skip


def test_what_is_kept(slow: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is analysed a second time, but for what has moved, changed, or is asked for otherwise."""
    asked: list[list[str]] = []
    original = Scanner.audit
    monkeypatch.setattr(
        Scanner, "audit", lambda self, names, options: asked.append(names) or original(self, names, options)
    )
    first = run(slow, "source")
    assert len(asked.pop()) == 4
    again = run(slow, "source")
    assert asked == []
    assert (again.kernels, again.judged) == (first.kernels, first.judged)
    slow.edit("second.py", "import kbuild as kb\n", "import kbuild as kb\n\n# A comment.\n")
    moved = run(slow, "source")
    assert asked.pop() == ["pkg.second:moved", "pkg.second:plain", "pkg.second:slow"]
    lines = [one.finding.span.line for result in (first, moved) for one in result.judged if one.finding.span]
    assert lines[2:] == [line + 2 for line in lines[:2]]
    run(slow, "source", config=AuditConfig(block_dim=128))
    assert len(asked.pop()) == 4


def test_what_ran_out_of_time_is_asked_again(slow: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    original, count = Scanner.audit, []

    def late(self: Scanner, names: object, options: object) -> object:
        count.append(names)
        audits = original(self, names, options)  # type: ignore[arg-type]
        return [
            replace(a, findings=tuple(replace(f, verdict="unknown", reason=f"{OUT_OF_TIME}, 20 s") for f in a.findings))
            for a in audits
        ]

    monkeypatch.setattr(Scanner, "audit", late)
    for _ in range(2):
        run(slow, "source")
    assert [len(names) for names in count] == [4, 1]  # type: ignore[arg-type]


def test_a_module_that_changes_what_another_captures(slow: Project) -> None:
    """Found whatever the cache holds: the kernel itself has not changed."""
    slow.edit("second.py", "b[kb.tid()] = total", "b[kb.tid()] = total * FACTOR")
    slow.edit("second.py", "import kbuild as kb\n", "import kbuild as kb\n\nFACTOR = 2.0\n")
    assert "KB412" not in [code for code, _, _ in codes(run(slow, "source"))]
    path = slow.root / "pkg" / "first.py"
    path.write_text(
        path.read_text() + "\n\ndef louder_still():\n    import pkg.second\n\n    pkg.second.FACTOR = 3.0\n"
    )
    assert "KB412" in [code for code, _, _ in codes(run(slow, "source"))]


def test_against_the_last_build_and_another(slow: Project, tmp_path: Path) -> None:
    build(slow.config)
    result = run(slow, "machine-code")
    assert (result.earlier, result.changes) == ("the last build", ())
    kept = tmp_path / "old.kbundle"
    kept.write_bytes(slow.bundle.read_bytes())
    slow.edit("second.py", "a[0] = a[1] * a[2] + a[3]", "a[0] = a[1] * a[2] + a[3] / a[4]")
    changed = run(slow, "machine-code")
    assert {(one.kernel, one.target) for one in changed.changes} == {
        ("pkg.second:plain", "sm_90"), ("pkg.second:plain", "jetson-orin-jp6"),
    }  # fmt: skip
    assert "code" in {one.figure for one in changed.changes}
    slow.build()
    assert run(slow, "machine-code").changes == ()
    assert run(slow, "machine-code", against=str(kept)).changes == changed.changes
    only = run(slow, "machine-code", against=str(kept), kernels=("slow",))
    assert only.changes == ()
    with pytest.raises(UsageError, match="does not exist"):
        run(slow, "machine-code", against=str(tmp_path / "none.whl"))


def test_the_last_build_may_have_made_a_wheel(slow: Project) -> None:
    """setuptools leaves what went into the wheel in build/lib; the newer of the two bundles is the last build."""
    build(slow.config, output=slow.root / "build" / "lib")
    result = run(slow, "machine-code")
    assert (result.earlier, result.changes) == ("the last build", ())
    slow.edit("second.py", "a[0] = a[1] * a[2] + a[3]", "a[0] = a[1] * a[2] + a[3] / a[4]")
    assert run(slow, "machine-code").changes
    slow.build()
    assert run(slow, "machine-code").changes == ()
    os.utime(slow.bundle, (0, 0))
    assert run(slow, "machine-code").changes


def test_figures_of_a_bundle_are_those_of_its_build(slow: Project) -> None:
    from kbuild.loader import format
    from kbuild.pipeline.auditing import machines_of_bundle

    result = run(slow, "machine-code")
    slow.build()
    parsed = format.parse(slow.bundle.read_bytes())
    assert sorted(machines_of_bundle(parsed), key=str) == sorted(result.machines, key=str)


def test_blocks_are_those_that_a_launch_takes(slow: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's own size, else the best one on each GPU."""
    slow.edit("second.py", "@kb.kernel\ndef slow", "@kb.kernel(block_dim=128)\ndef slow")
    monkeypatch.setattr(auditing, "best_block", lambda number, registers, shared: 64 if number == 90 else 32)
    found = {(one.kernel, one.target): one.threads for one in run(slow, "machine-code").machines}
    assert found["pkg.second:slow", "sm_90"] == found["pkg.second:slow", "jetson-orin-jp6"] == 128
    assert (found["pkg.second:moved", "sm_90"], found["pkg.second:moved", "jetson-orin-jp6"]) == (64, 32)


# The step of a build


def test_a_build_that_was_not_asked_to_tells_nothing(slow: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scanner, "audit", lambda *_: pytest.fail("analysed"))
    assert build(slow.config).diagnostics == ()


def test_findings_are_warnings(slow: Project) -> None:
    config = replace(slow.config, audit=replace(WARN, level=(*OTHERS, ("KB410", "error"))))
    result = build(config)
    assert [(one.code, one.severity) for one in result.diagnostics] == [("KB410", "warning")]
    assert slow.bundle.exists()


def test_errors_stop_where_the_project_says_so(slow: Project) -> None:
    strict = replace(WARN, build="error")
    assert [one.code for one in build(replace(slow.config, audit=strict)).diagnostics] == ["KB410"]
    slow.bundle.unlink()
    config = replace(slow.config, audit=replace(strict, level=(*OTHERS, ("KB410", "error"))))
    with pytest.raises(CompileError, match=r"every thread runs over all of 'a'(.|\n)*\[KB410\]"):
        build(config)
    assert not slow.bundle.exists()
    slow.edit(
        "second.py",
        "    for j in range(a.shape[0]):",
        "    # kbuild: ignore[KB410] ten elements\n    for j in range(a.shape[0]):",
    )
    assert build(config).diagnostics == ()


def test_a_build_with_nothing_to_do_analyses_nothing(slow: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    config = replace(slow.config, audit=WARN)
    first = build(config)
    monkeypatch.setattr(Scanner, "audit", lambda *_: pytest.fail("analysed"))
    monkeypatch.setattr(text, "_parsed", lambda *_: pytest.fail("read a module as Python"))
    again = build(config)
    assert (again.compiled, again.lowered) == (0, 0)
    assert again.diagnostics == first.diagnostics
    assert again.bundles == first.bundles


def test_machine_code_of_a_build(make_project: Callable[..., Project]) -> None:
    project = make_project("greedy")
    text = "\n\n@kb.kernel\ndef greedy(a: kb.array(dtype=float), m: kb.array(dtype=kb.mat44), n: int):\n"
    text += "    x = m[n]\n    a[n] = x[n % 4, n % 3]\n"
    path = project.root / "pkg" / "second.py"
    path.write_text(path.read_text() + text)
    config = replace(WARN, level=(*OTHERS, ("KB422", "warning")))
    found = build(replace(project.config, audit=config)).diagnostics
    assert {one.code for one in found} <= {"KB422"}
    assert os.environ["KBUILD_CACHE"]
    result = run(project, "machine-code", kernels=("greedy",))
    for one in result.machines:
        assert any(d.code == "KB422" and one.target in d.message for d in found) == (one.local > 0)


STACK = """\
extern "C" __global__ void twice(int n, float *a) {
    float table[40];
    for (int i = 0; i < 40; i++) table[i] = a[i];
    float sum = 0.0f;
    for (int i = 0; i < n; i++) sum += table[(i * 7 + n) % 40];
    a[n] = sum;
}
"""


def test_kernels_in_cuda(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.helpers.projects import pyproject, table, write

    kernels = "import kbuild as kb\n\n\n@kb.cuda_kernel('twice.cu')\ndef twice(n: int, a: kb.array(dtype=float)): ...\n"
    code = 'extern "C" __global__ void twice(int n, float *a) {\n    if (threadIdx.x < n) a[threadIdx.x] *= 2.0f;\n}\n'
    files = {
        "pyproject.toml": pyproject(table=table("thing.kernels")),
        "src/thing/__init__.py": "",
        "src/thing/kernels.py": kernels,
        "src/thing/twice.cu": code,
    }  # fmt: skip
    from kbuild import config as configuration

    root = write(tmp_path / "cu", files)
    found = configuration.load(root)
    assert found is not None
    result = audit(found, Wanted())
    assert (result.kernels, result.unread) == ((), ("thing.kernels:twice",))
    (machine,) = result.machines
    assert (machine.kernel, machine.count("global", 4)) == ("thing.kernels:twice", 2)
    (root / "src/thing/twice.cu").write_text(STACK)
    assert codes(audit(found, Wanted())) == [("KB422", "note", False)]
    (root / "src/thing/kernels.py").write_text(kernels.replace("\n@kb", "\n# kbuild: ignore[KB422] a table\n@kb"))
    assert codes(audit(found, Wanted())) == [("KB422", "note", True)]
