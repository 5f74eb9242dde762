"""The arrows between the rooms of the house, read from every import in the source text, and the rules of the loader.

`ROOMS` is the table of DESIGN: a room may import itself and what its row names. Imports inside functions and under
`TYPE_CHECKING` count there like any other; only inside one room, and only for cycles, do they not. The checkers work on
`{module name: Module}`, so that made-up sources test them.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
MAX_LINES = 1000

PASSES = {"ir", "intrinsics", "targets", "errors"}
# `sim`: what a kernel's self-test expects is computed where its IR is.
SCAN = {
    "cuda",
    "warp",
    "primitives",
    "lang",
    "autodiff",
    "audit",
    "codegen",
    "sim",
    "traffic",
    "ir",
    "intrinsics",
    "config",
    "targets",
    "loader",
    "errors",
}
PIPELINE = SCAN | {"scan", "nvrtc", "bundle", "_version"}
EVERYTHING = PIPELINE | {"pipeline", "jit", "simulate", "warp", "codes"}

ROOMS: dict[str, set[str]] = {
    "": {
        "derivatives",
        "errors",
        "loader",
        "primitives",
        "jit",
        "_version",
    },  # kbuild/__init__.py: the public names, lazily
    "_version": set(),
    "codes": set(),
    "errors": set(),
    "loader": set(),
    "targets": {"errors", "loader"},
    "config": {"errors", "targets"},
    "ir": {"errors", "loader"},
    "intrinsics": {"ir", "targets", "loader", "errors"},
    "lang": PASSES | {"loader"},
    "cuda": {"errors", "loader"},
    "autodiff": PASSES,
    "traffic": {"errors"},
    "audit": PASSES | {"loader", "traffic"},
    "sim": PASSES | {"loader", "traffic"},
    "codegen": PASSES,
    "nvrtc": {"config", "targets", "loader", "errors"},
    "primitives": {"loader"},
    "derivatives": {"loader"},
    "bundle": {"loader", "targets", "errors"},
    "scan": SCAN,
    "pipeline": PIPELINE,
    "jit": PIPELINE | {"pipeline"},
    "simulate": PIPELINE | {"pipeline"},
    "warp": {"loader", "lang", "primitives"},
    "cli": EVERYTHING,
    "__main__": EVERYTHING | {"cli"},
    "hooks": EVERYTHING,
}
# Where DESIGN opens one module of a room and not the room: {importer: {imported room: module names}}.
DOORS: dict[str, dict[str, set[str]]] = {
    "ir": {"loader": {"abi"}},
    "targets": {"loader": {"occupancy"}},
    "sim": {"loader": {"abi", "interface", "providers"}},
    "cuda": {"loader": {"abi"}},
    "audit": {"loader": {"cubin", "occupancy"}},
    "nvrtc": {"loader": {"cubin"}},
    "bundle": {"loader": {"format", "cubin"}},
}
# Runs on Python 3.8: what a deployed program imports, and what answers before the version is known.
PYTHON_3_8 = ("kbuild.loader", "hooks", "kbuild", "kbuild.__main__", "kbuild._version")


@dataclass(frozen=True)
class Module:
    """A source file: dotted name, text, whether it is a package's `__init__`."""

    name: str
    text: str
    is_package: bool = False

    @property
    def room(self) -> str:
        parts = self.name.split(".")
        return parts[0] if parts[0] == "hooks" else (parts[1] if len(parts) > 1 else "")


@dataclass(frozen=True)
class Import:
    """One imported name: the module as far as it exists, where it stands, whether written with leading dots, and
    whether it waits: for a call of the function around it, or for a type checker.
    """

    target: str
    line: int
    is_relative: bool
    is_deferred: bool


def read_modules(root: Path) -> dict[str, Module]:
    modules = {}
    for path in sorted([*(root / "kbuild").rglob("*.py"), *(root / "hooks").rglob("*.py")]):
        parts = path.relative_to(root).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        modules[name] = Module(name, path.read_text(encoding="utf-8"), is_package)
    return modules


def imports(module: Module, modules: dict[str, Module]) -> Iterator[Import]:
    """Every import of a module, at whatever depth; `from a import b` is `a.b` where that is a module, else `a`."""
    for node, is_deferred in _statements(ast.parse(module.text), False):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, False, is_deferred)
        elif isinstance(node, ast.ImportFrom):
            base = _base(module, node)
            for alias in node.names:
                full = f"{base}.{alias.name}"
                is_module = full in modules or (base == "kbuild" and alias.name in ROOMS)
                yield Import(full if is_module else base, node.lineno, node.level > 0, is_deferred)


def _statements(node: ast.AST, is_deferred: bool) -> Iterator[tuple[ast.AST, bool]]:
    for child in ast.iter_child_nodes(node):
        waits = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) or _is_for_type_checkers(child)
        yield child, is_deferred
        yield from _statements(child, is_deferred or waits)


def _is_for_type_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def _base(module: Module, node: ast.ImportFrom) -> str:
    if node.level == 0:
        return node.module or ""
    package = module.name.split(".") if module.is_package else module.name.split(".")[:-1]
    above = package[: len(package) - (node.level - 1)]
    return ".".join([*above, *([node.module] if node.module else [])])


def _is_ours(name: str) -> bool:
    return name.split(".")[0] in ("kbuild", "hooks", "kbuild_hooks")


def forbidden_imports(modules: dict[str, Module]) -> list[str]:
    """Imports that no row of `ROOMS` allows, and rooms that have no row."""
    problems = []
    for module in modules.values():
        if module.room not in ROOMS:
            problems.append(f"{module.name}: the room {module.room!r} has no row in ROOMS")
            continue
        for found in imports(module, modules):
            problem = _judge(module, found)
            if problem:
                problems.append(f"{module.name}:{found.line}: {problem}")
    return problems


def _judge(module: Module, found: Import) -> str | None:
    if not _is_ours(found.target):
        return None
    target = Module(found.target.replace("kbuild_hooks", "hooks"), "")
    if target.room == module.room:
        return None
    if target.room == "" and module.room not in ("cli", "__main__", "hooks"):
        return "imports the package kbuild itself; name the module that is meant"
    if target.room == "" or target.room in ROOMS[module.room]:
        return _judge_door(module.room, target)
    return f"{module.room or 'kbuild'} must not import {found.target}"


def _judge_door(room: str, target: Module) -> str | None:
    allowed = DOORS.get(room, {}).get(target.room)
    inner = target.name.split(".")[2:3]
    if allowed is None or (inner and inner[0] in allowed):
        return None
    return f"{room} may import of {target.room} only {', '.join(sorted(allowed))}, not {target.name}"


ASKED_FOR = ("cupy", "jax", "numpy", "torch")


def foreign_imports_of_loader(modules: dict[str, Module]) -> list[str]:
    """Imports of the loader that are neither relative nor of the standard library.

    The exceptions are NumPy and the frameworks, inside a function: for callers who ask for their arrays, and so have
    them.
    """
    return [
        f"{module.name}:{found.line}: the loader imports {found.target}"
        for module in modules.values()
        if module.room == "loader"
        for found in imports(module, modules)
        if not found.is_relative and found.target.split(".")[0] not in sys.stdlib_module_names
        if not (found.target.split(".")[0] in ASKED_FOR and found.is_deferred)
    ]


def cycles(modules: dict[str, Module]) -> list[str]:
    """Import cycles between modules, each written once as `a -> b -> a`.

    Inside a room a deferred import closes none: a first launch finds its bundle from the kernel's module, and an
    annotation may look back. Between rooms `ROOMS` has none to begin with.
    """

    def targets(module: Module) -> set[str]:
        return {
            found.target
            for found in imports(module, modules)
            if found.target in modules and not (found.is_deferred and modules[found.target].room == module.room)
        }

    edges = {name: sorted(targets(module) - {name}) for name, module in modules.items()}
    found: dict[frozenset[str], str] = {}
    done: set[str] = set()

    def visit(name: str, way: list[str]) -> None:
        if name in way:
            loop = way[way.index(name) :]
            found.setdefault(frozenset(loop), " -> ".join([*loop, name]))
        elif name not in done:
            for target in edges[name]:
                visit(target, [*way, name])
            done.add(name)

    for name in sorted(edges):
        visit(name, [])
    return sorted(found.values())


def not_python_3_8(modules: dict[str, Module]) -> list[str]:
    """Syntax errors of Python 3.8 in the modules that must run there."""
    problems = []
    for module in modules.values():
        if module.name in PYTHON_3_8 or module.room in ("loader", "hooks", "primitives", "derivatives", "warp"):
            try:
                ast.parse(module.text, feature_version=(3, 8))
            except SyntaxError as error:
                problems.append(f"{module.name}:{error.lineno}: {error.msg}")
    return problems


def long_files(modules: dict[str, Module]) -> list[str]:
    lengths = {name: len(module.text.splitlines()) for name, module in modules.items()}
    return [f"{name}: {length} lines" for name, length in lengths.items() if length > MAX_LINES]


CHECKS = (forbidden_imports, foreign_imports_of_loader, cycles, not_python_3_8, long_files)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_source_keeps_the_rule(check):
    assert check(read_modules(ROOT)) == []


def test_the_sources_were_found():
    modules = read_modules(ROOT)
    assert {"kbuild.errors", "kbuild.loader.abi", "hooks", "hooks.setuptools_plugin"} <= modules.keys()


def test_the_table_itself_has_no_cycle():
    rows = {f"kbuild.{room}": " ".join(f"import kbuild.{other};" for other in row) for room, row in ROOMS.items()}
    assert cycles({name: Module(name, text) for name, text in rows.items()}) == []


def test_every_package_is_in_the_wheel():
    """pyproject.toml lists the packages by hand, since setuptools cannot find one that is renamed (hooks)."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    folders = {path.parent.relative_to(ROOT) for path in (ROOT / "kbuild").rglob("*.py")}
    assert sorted(listed) == sorted([*(".".join(folder.parts) for folder in folders), "kbuild_hooks"])


def made_up(**texts: str) -> dict[str, Module]:
    """Modules from keyword arguments: `kbuild__ir__nodes="…"` is kbuild.ir.nodes; a trailing `_` marks a package."""
    names = {key.rstrip("_").replace("__", "."): (key.endswith("_"), text) for key, text in texts.items()}
    return {name: Module(name, text, is_package) for name, (is_package, text) in names.items()}


BROKEN = [
    (forbidden_imports, {"kbuild__ir__a": "import kbuild.lang.b"}, "ir must not import kbuild.lang.b"),
    (
        forbidden_imports,
        {"kbuild__sim__a": "def f():\n    from kbuild.codegen import emit"},
        "kbuild.sim.a:2: sim must",
    ),
    (forbidden_imports, {"kbuild__sim__a": "from ..codegen import emit"}, "sim must not import kbuild.codegen"),
    (forbidden_imports, {"kbuild__loader___": "from .. import errors", "kbuild__errors": ""}, "loader must not import"),
    (
        forbidden_imports,
        {
            "kbuild__config": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from kbuild import jit",
            "kbuild__jit": "",
        },
        "kbuild.config:3: config must not import kbuild.jit",
    ),
    (forbidden_imports, {"kbuild__errors": "import kbuild"}, "imports the package kbuild itself"),
    (
        forbidden_imports,
        {"kbuild__bundle__a": "from kbuild.loader import driver"},
        "may import of loader only cubin, format",
    ),
    (forbidden_imports, {"kbuild__pipeline": "import kbuild_hooks.setuptools_plugin"}, "must not import kbuild_hooks"),
    (forbidden_imports, {"kbuild__attic__a": ""}, "'attic' has no row"),
    (foreign_imports_of_loader, {"kbuild__loader__a": "import os, numpy"}, "the loader imports numpy"),
    (
        foreign_imports_of_loader,
        {"kbuild__loader__a": "from kbuild.loader import abi"},
        "the loader imports kbuild.loader",
    ),
    (cycles, {"kbuild__a": "import kbuild.b", "kbuild__b": "from . import a"}, "kbuild.a -> kbuild.b -> kbuild.a"),
    (foreign_imports_of_loader, {"kbuild__loader__a": "import numpy"}, "the loader imports numpy"),
    (foreign_imports_of_loader, {"kbuild__loader__a": "import torch"}, "the loader imports torch"),
    (foreign_imports_of_loader, {"kbuild__loader__a": "def f(): import pandas"}, "the loader imports pandas"),
    (cycles, {"kbuild__a": "def f(): import kbuild.b", "kbuild__b": "import kbuild.a"}, "kbuild.a -> kbuild.b"),
    (
        cycles,
        {"kbuild__a": "import kbuild.b", "kbuild__b": "import kbuild.c", "kbuild__c": "def f(): from .a import x"},
        "kbuild.a -> kbuild.b -> kbuild.c -> kbuild.a",
    ),
    (not_python_3_8, {"kbuild__loader__a": "match 1:\n    case 1: pass"}, "Pattern matching is only"),
    (
        not_python_3_8,
        {"kbuild__loader__b": "with (open('a') as a, open('b') as b): pass"},
        "kbuild.loader.b:1: Parenthesized",
    ),
    (long_files, {"kbuild__a": "pass\n" * (MAX_LINES + 1)}, "kbuild.a: 1001 lines"),
]


@pytest.mark.parametrize(("check", "texts", "expected"), BROKEN)
def test_a_broken_rule_is_reported(check, texts, expected):
    assert [problem for problem in check(made_up(**texts)) if expected in problem]


@pytest.mark.parametrize(
    "texts",
    [
        {"kbuild__lang__a": "from ..loader import identity\nfrom kbuild.ir import nodes", "kbuild__ir__nodes": ""},
        {"kbuild__loader__a": "from . import abi\nimport os.path", "kbuild__loader__abi": ""},
        {"kbuild__bundle__a": "from kbuild.loader import format", "kbuild__loader__format": ""},
        {"kbuild__loader__a": "def f():\n    import numpy, jax.numpy"},
        {"kbuild__ir__a": "def f():\n    from . import b", "kbuild__ir__b": "from . import a"},
        {"kbuild__ir__a": "if TYPE_CHECKING:\n    from . import b", "kbuild__ir__b": "from . import a"},
        {"hooks__a": "def f():\n    from kbuild import pipeline", "kbuild__pipeline": ""},
    ],
)
def test_an_allowed_import_is_not_reported(texts):
    modules = made_up(**texts)
    assert [problem for check in CHECKS for problem in check(modules)] == []
