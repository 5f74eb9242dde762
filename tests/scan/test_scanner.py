"""The fresh process: what it finds, and what a module can do to it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from kbuild.errors import CompileError
from kbuild.scan.client import Scanner
from kbuild.scan.data import Scanned, diagnostic_from_json
from tests.helpers.projects import write
from tests.scan.conftest import kernels, request_for


def names(scanned: Scanned) -> list[str]:
    assert scanned.diagnostics == []
    return [kernel.name for kernel in scanned.kernels]


def faults(scanned: Scanned) -> list[tuple[str, str, str | None, int | None]]:
    """(code, message, help, line) of every diagnostic."""
    found = map(diagnostic_from_json, scanned.diagnostics)
    return [(d.code, d.message, d.help, d.span.line if d.span else None) for d in found]


def test_kernels_of_the_named_modules(scan: Any) -> None:
    files = {"pkg.a": kernels("one", "two"), "pkg.b": kernels("three", head="from pkg import c"), "pkg.c": kernels("x")}
    scanned = scan(files, modules=("pkg.a", "pkg.b"))
    assert names(scanned) == ["pkg.a:one", "pkg.a:two", "pkg.b:three"]
    assert [(unit.name, unit.kernels) for unit in scanned.units] == [("pkg.a", [0, 1]), ("pkg.b", [2])]
    assert scanned.skipped == ["pkg.c: has kernels, but is not in `modules`"]


def test_a_module_without_kernels_is_told(scan: Any) -> None:
    scanned = scan({"pkg.a": kernels("one"), "pkg.b": "x = 1\n"})
    assert scanned.skipped == ["pkg.b: has no kernels"]


def test_rows(scan: Any, tmp_path: Path) -> None:
    text = kernels("one") + (
        "\nSCALE = 0.5\n\n@kb.kernel(block_dim=64)\ndef two(a: kb.array(dtype=float)):\n    a[0] = SCALE\n\n"
        "def make(n):\n    @kb.kernel\n    def inner(a: kb.array(dtype=int)):\n        a[0] = n\n    return inner\n\n"
        "first, second, again = make(1), make(2), make(1)\n"
    )
    scanned = scan({"pkg.a": text})
    rows = {row.definition: row for row in scanned.kernels}
    assert (rows["pkg.a:one"].block_dim, rows["pkg.a:one"].is_block_dim_chosen) == (256, False)
    two = rows["pkg.a:two"]
    assert two.is_block_dim_chosen
    assert (two.name, two.block_dim, two.plan, two.values) == ("pkg.a:two", 64, ["global:SCALE"], ["float 0.5"])
    assert two.sources == [str(tmp_path / "pkg" / "a.py")]
    inner = [row for row in scanned.kernels if row.definition == "pkg.a:make.<locals>.inner"]
    assert sorted(row.values for row in inner) == [["int 1"], ["int 2"]]
    assert {row.name for row in inner} == {f"pkg.a:make.<locals>.inner[{row.identity[:8]}]" for row in inner}
    assert len({row.entry for row in scanned.kernels}) == len(scanned.kernels) == 4
    assert all(row.entry.isidentifier() and row.entry.isascii() for row in scanned.kernels)


@pytest.mark.parametrize(
    ("text", "message", "help", "line"),
    [
        ("import numpyy\n", "No module named 'numpyy'", 'mock-imports = ["numpyy"]', 1),
        (
            "x = 1\nfrom os import nothing\n",
            "cannot import name 'nothing'",
            "must import on a machine without a GPU",
            2,
        ),
        ("def f():\n    1 / 0\n\n\nf()\n", "ZeroDivisionError: division by zero", "without a GPU", 2),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3", 'if __name__ == "__main__":', 2),
        ("x = = 1\n", "SyntaxError: invalid syntax", "without a GPU", 1),
        ("raise KeyboardInterrupt2\n", "KeyboardInterrupt2", "without a GPU", 1),
        ("import kbuild as kb\n\n@kb.kernell\ndef k(): pass\n", "has no attribute 'kernell'", "without a GPU", 3),
        ("import kbuild as kb\n\n@kb.kernel(fmadd=True)\ndef k(): pass\n", "did you mean 'fmad'?", "without a GPU", 3),
    ],
)
def test_import_errors(scan: Any, tmp_path: Path, text: str, message: str, help: str, line: int) -> None:
    scanned = scan({"pkg.a": kernels("fine"), "pkg.wrong": text})
    ((code, found, cure, place),) = faults(scanned)
    assert (code, place) == ("KB201", line)
    assert found.startswith("module pkg.wrong cannot be imported: ")
    assert message in found
    assert help in (cure or "")
    span = diagnostic_from_json(scanned.diagnostics[0]).span
    assert span is not None
    assert span.path == str(tmp_path / "pkg" / "wrong.py")
    assert [kernel.name for kernel in scanned.kernels] == ["pkg.a:fine"]


def test_every_module_that_fails_is_told(scan: Any) -> None:
    scanned = scan({"pkg.a": "1 / 0\n", "pkg.b": "import nothing_like_this\n"})
    assert [code for code, *_ in faults(scanned)] == ["KB201", "KB201"]


def test_a_missing_package_inside_another_module(scan: Any) -> None:
    files = {"pkg.a": "from pkg.b import x\n", "pkg.b": "import missing_package.part\n"}
    ((_, message, help, line),) = faults(scan(files, modules=("pkg.a",)))
    assert "No module named 'missing_package'" in message
    assert 'mock-imports = ["missing_package"]' in (help or "")
    assert line == 1


MOCKED = """\
import heavy
import heavy.inner.deep as deep
from heavy.tools import decorate, Base

import kbuild as kb


class Net(Base):
    layer = heavy.Layer(1, 2)[0]


@decorate
def host(x):
    return heavy.run(x) + deep.y


@kb.kernel
def one(a: kb.array(dtype=float)):
    a[0] = 1.0
"""


def test_mocked_imports(scan: Any) -> None:
    assert names(scan({"pkg.a": MOCKED}, mock_imports=["heavy"])) == ["pkg.a:one"]
    assert "No module named 'heavy'" in faults(scan({"pkg.a": MOCKED}))[0][1]


def test_a_mock_does_not_hide_the_real_module(scan: Any) -> None:
    text = kernels("one", head="import json\nassert json.loads('1') == 1\nimport pkg.b\nassert pkg.b.x == 2\n")
    assert names(scan({"pkg.a": text, "pkg.b": "x = 2\n"}, modules=("pkg.a",), mock_imports=["json", "pkg"])) == [
        "pkg.a:one"
    ]


def test_a_kernel_cannot_use_a_mock(tmp_path: Path) -> None:
    text = (
        "import heavy\nimport kbuild as kb\n\n@kb.kernel\ndef k(a: kb.array(dtype=float)):\n"
        "    a[0] = heavy.CONSTANT\n    a[1] = heavy.f(a[0])\n"
    )
    write(tmp_path, {"pkg/__init__.py": "", "pkg/a.py": text})
    with Scanner(request_for(tmp_path, "pkg.a", mock_imports=["heavy"])) as scanner:
        scanned = scanner.scan()
        found = map(diagnostic_from_json, scanner.lower([unit.name for unit in scanned.units]).diagnostics)
        assert [(d.code, d.span.line if d.span else None) for d in found] == [("KB105", 6), ("KB112", 7)]


def test_what_modules_print_and_read_does_not_break_the_protocol(scan: Any, capfd: pytest.CaptureFixture[str]) -> None:
    head = (
        "import os, sys, subprocess\nprint('hello')\nsys.stdout.write('no newline')\nsys.stdout.flush()\n"
        "os.write(1, b'raw')\nsubprocess.run(['echo', 'child'])\nassert sys.stdin.read() == ''\nsys.stdout.close()\n"
    )
    assert names(scan({"pkg.a": kernels("one", head=head)})) == ["pkg.a:one"]
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "hello" in captured.err
    assert "raw" in captured.err
    assert "child" in captured.err


@pytest.mark.parametrize(
    ("head", "status"), [("import os\nos._exit(5)", "status 5"), ("import os\nos.kill(os.getpid(), 9)", "SIGKILL")]
)
def test_a_module_that_ends_the_process(scan: Any, head: str, status: str) -> None:
    with pytest.raises(CompileError, match=r"\[KB202\]") as caught:
        scan({"pkg.a": kernels("one", head=head)})
    (diagnostic,) = caught.value.diagnostics
    assert status in diagnostic.message
    assert "pkg.a" in diagnostic.message


def test_a_module_that_leaves_a_thread_behind(scan: Any) -> None:
    head = "import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()"
    assert names(scan({"pkg.a": kernels("one", head=head)})) == ["pkg.a:one"]


def test_a_module_that_changes_the_directory_and_the_path(scan: Any) -> None:
    head = "import os, sys\nos.chdir('/')\nsys.path.clear()\n"
    scanned = scan({"pkg.a": kernels("one", head=head)})
    assert names(scanned) == ["pkg.a:one"]


def test_a_module_named_like_one_of_pythons(scan: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The project's folder is no place for `import types` to look."""
    write(tmp_path / "work", {"types.py": "1 / 0\n", "json.py": "1 / 0\n", "kbuild.py": "1 / 0\n"})
    monkeypatch.chdir(tmp_path / "work")
    assert names(scan({"pkg.a": kernels("one")})) == ["pkg.a:one"]


def test_two_kernels_of_one_name(scan: Any) -> None:
    text = kernels("one", "two") + "\n\n@kb.kernel\ndef one(a: kb.array(dtype=float)):\n    a[0] = 2.0\n"
    scanned = scan({"pkg.a": text})
    ((code, message, help, line),) = faults(scanned)
    first, second = (n for n, row in enumerate(text.splitlines(), start=1) if row.startswith("def one"))
    assert (code, line) == ("KB205", second)
    assert message == "two kernels are called pkg.a:one, and a launch could not tell them apart"
    assert help == "rename one of them"
    (note,) = diagnostic_from_json(scanned.diagnostics[0]).notes
    assert note.span is not None
    assert note.span.line == first


def test_the_same_kernel_twice_is_one(scan: Any) -> None:
    text = (
        kernels() + "for _ in range(2):\n    @kb.kernel\n    def one(a: kb.array(dtype=float)):\n        a[0] = 1.0\n"
    )
    assert names(scan({"pkg.a": text})) == ["pkg.a:one"]


def test_a_kernel_without_source(scan: Any) -> None:
    text = kernels("fine", head="exec('@kb.kernel\\ndef made(a: kb.array(dtype=float)):\\n    a[0] = 1.0\\n')")
    ((code, message, _, line),) = faults(scan({"pkg.a": text}))
    assert (code, line) == ("KB100", None)
    assert "pkg.a:made has no source" in message


def test_the_environment_is_inherited(scan: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip's build isolation lives in PYTHONPATH."""
    write(tmp_path / "isolated", {"only_here.py": "x = 1\n"})
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "isolated"), os.environ.get("PYTHONPATH", "")]))
    assert names(scan({"pkg.a": kernels("one", head="import only_here")})) == ["pkg.a:one"]


def test_the_parent_imports_nothing_of_the_project(scan: Any) -> None:
    scan({"pkg_of_a_test.a": kernels("one")})
    assert not [name for name in sys.modules if name.startswith("pkg_of_a_test")]


def deep_functions(count: int) -> str:
    calls = ["x", *(f"f{n}(x)" for n in range(count - 1))]
    return "".join(f"@kb.func\ndef f{n}(x: int):\n    return {call}\n\n\n" for n, call in enumerate(calls))


ELIFS = "".join(f"    elif a[0] == {n}:\n        a[0] = 2\n" for n in range(300))
DEEP = {
    "sum": ("", "    a[0] = " + " + ".join(f"a[{n}]" for n in range(700))),
    "and": ("", "    if " + " and ".join(f"a[{n}] > 0" for n in range(700)) + ":\n        a[0] = 1"),
    "elif": ("", "    if a[0] < 0:\n        pass\n" + ELIFS),
    "calls": (deep_functions(200), "    a[0] = f199(a[1])"),
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_code(tmp_path: Path, name: str) -> None:
    functions, body = DEEP[name]
    text = f"import kbuild as kb\n\n\n{functions}@kb.kernel\ndef deep(a: kb.array(dtype=int)):\n{body}\n"
    write(tmp_path, {"pkg/__init__.py": "", "pkg/a.py": text})
    with Scanner(request_for(tmp_path, "pkg.a")) as scanner:
        scanner.scan()
        lowered = scanner.lower(["pkg.a"])
    assert (lowered.complete, lowered.diagnostics) == (1, [])
    assert len(lowered.units[0].source) < 100_000, "linear in the depth"


def test_lowering_asks_for_units_by_name(tmp_path: Path) -> None:
    write(
        tmp_path, {"pkg/__init__.py": "", "pkg/a.py": kernels("one"), "pkg/b.py": kernels("two") + "\n    a[1] = [1]\n"}
    )
    with Scanner(request_for(tmp_path, "pkg.a", "pkg.b")) as scanner:
        scanner.scan()
        good = scanner.lower(["pkg.a"])
        assert (good.complete, good.diagnostics, [unit.name for unit in good.units]) == (1, [], ["pkg.a"])
        (unit,) = good.units
        row: dict[str, Any] = {"ndim": 1, "whole_blocks": False, "dynamic_shared": 0, "waits": True}
        row |= {"cluster_dim": 0, "stated": [], "parameters": [["a", "array1[float32]"]], "optional": []}
        assert unit.rows == {"pkg.a:one": row}
        assert unit.files == {"/kbuild/pkg/a.py": str(tmp_path / "pkg" / "a.py")}
        assert "__global__" in unit.source
        assert unit.shown == {}
        bad = scanner.lower(["pkg.a", "pkg.b"])
        assert (bad.complete, len(bad.units), len(bad.diagnostics)) == (1, 1, 1)
