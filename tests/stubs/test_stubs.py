"""kbuild/__init__.pyi is what `python -m tools.stubs` makes, has every name, and makes mypy tell right from wrong."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

import kbuild as kb
from kbuild.loader import types
from kbuild.loader.builtins import TABLE
from tests.helpers import golden, kernels
from tools import stubs

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TREE = ast.parse(stubs.stub())
ERROR = re.compile(r":(\d+): error: .*\[([\w-]+)\]$")


def definitions() -> dict[str, list[ast.AST]]:
    """Public names of the stub and what defines each."""
    found: dict[str, list[ast.AST]] = {}
    for node in TREE.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.asname == alias.name:
                    found.setdefault(alias.name, []).append(node)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            found.setdefault(ast.unparse(target), []).append(node)
    return {name: nodes for name, nodes in found.items() if not name.startswith("_") or name == "__version__"}


def check(path: Path, cache: Path) -> dict[int, set[str]]:
    """mypy's errors in a file: codes by line."""
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={cache}", "--no-pretty"]
    command += ["--hide-error-context", "--follow-imports=silent", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=300, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found: dict[int, set[str]] = {}
    for line in done.stdout.splitlines():
        if match := ERROR.search(line):
            found.setdefault(int(match[1]), set()).add(match[2])
    assert ("Success" in done.stdout) == (not found), done.stdout
    return found


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mypy")


def test_the_stub_is_what_the_tables_say(pytestconfig: pytest.Config) -> None:
    golden.check(stubs.STUB, stubs.stub(), pytestconfig)
    golden.check(stubs.SIMULATOR_STUB, stubs.simulator_stub(), pytestconfig)


def test_it_has_every_public_name_and_no_other() -> None:
    assert sorted(definitions()) == sorted(dir(kb))


def test_functions_take_what_they_take_at_run_time() -> None:
    """Of each function and method with code of its own: the stub has no parameter and no name that is not there."""
    wrong = []
    for name, nodes in definitions().items():
        value = getattr(kb, name)
        if name in TABLE or not all(isinstance(node, (ast.FunctionDef, ast.ClassDef)) for node in nodes):
            continue
        for node in nodes:
            if isinstance(node, ast.FunctionDef):
                wrong += unknown_parameters(node, value)
            elif not hasattr(value, "_kb_type_"):
                for method in node.body:
                    if isinstance(method, ast.FunctionDef) and method.name != "__init__":
                        in_kernels = method.name in ("__getitem__", "__setitem__")
                        if not in_kernels and not hasattr(value, method.name):
                            wrong.append(f"{name}.{method.name}")
                        elif inspect.isfunction(found := vars(value).get(method.name)):
                            wrong += unknown_parameters(method, found)
    assert wrong == []
    public = {name for name in dir(kb.array) if not name.startswith("_")}
    written = {getattr(node, "name", "") or ast.unparse(getattr(node, "target", node)) for node in class_body("array")}
    assert public - written == set()


def test_the_kernel_decorator_has_its_options() -> None:
    options = [node for node in definitions()["kernel"] if isinstance(node, ast.FunctionDef) and node.args.kwonlyargs]
    assert [a.arg for a in options[0].args.kwonlyargs] == list(types._KERNEL_OPTIONS)


def class_body(name: str) -> list[ast.stmt]:
    (node,) = definitions()[name]
    assert isinstance(node, ast.ClassDef)
    return node.body


def unknown_parameters(node: ast.FunctionDef, value: object) -> list[str]:
    known = inspect.signature(value).parameters  # type: ignore[arg-type]
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in known.values()):
        return []
    given = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return [f"{node.name}: {name}" for name in given if name not in known]


def test_a_program_is_right_for_mypy_and_for_kbuild(cache: Path) -> None:
    assert check(HERE / "program.py", cache) == {}
    _, declared = kernels.load(HERE / "program.py", "stub_program")
    lowered, diagnostics = kernels.diagnose(declared)
    assert [d.render() for d in diagnostics] == []
    assert len(lowered) == 7


def test_mistakes_are_found(cache: Path) -> None:
    lines = (HERE / "wrong.py").read_text(encoding="utf-8").splitlines()
    wanted = {i: set(line.split("# E: ")[1].split()) for i, line in enumerate(lines, 1) if "# E: " in line}
    assert len(wanted) > 25
    assert check(HERE / "wrong.py", cache) == wanted


CALLS = """
import kbuild as kb

@kb.kernel
def one(a: kb.array(dtype=float), b: kb.array2d(dtype=kb.vec3)) -> None:
    i, j = kb.tid()
    a[i] = b[i, j].x + kb.sin(a[j])
"""


def test_calls_as_annotations(tmp_path: Path, cache: Path) -> None:
    """`kb.array(dtype=float)` is right for kbuild and no type for a checker: one line of mypy's makes it `Any`."""
    path = tmp_path / "calls.py"
    path.write_text(dedent(CALLS))
    assert check(path, cache) == {5: {"valid-type"}}
    path.write_text('# mypy: disable-error-code="valid-type"\n' + dedent(CALLS))
    assert check(path, cache) == {}


def test_it_is_in_the_wheel() -> None:
    data = (ROOT / "pyproject.toml").read_text(encoding="utf-8").split("[tool.setuptools.package-data]\n")[1]
    assert data.splitlines()[:2] == ['kbuild = ["py.typed", "__init__.pyi"]', '"kbuild.sim" = ["__init__.pyi"]']
