"""Which modules a path or an installed package means, without a pyproject.toml. Imports nothing."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kbuild.errors import UsageError, did_you_mean
from kbuild.scan.modules import below


@dataclass(frozen=True, slots=True)
class Located:
    """A module by name, its file, and the folder that must be on Python's path."""

    name: str
    path: Path
    root: Path


@dataclass(frozen=True, slots=True)
class Definition:
    """A kernel as the source text has it: `@wp.kernel` above a `def`, whose line this is."""

    path: str
    qualname: str
    line: int


def locate(words: Sequence[str]) -> list[Located]:
    """The modules that files, folders and names of packages mean, each once. Raises UsageError."""
    found: dict[Path, Located] = {}
    for word in words:
        for one in _modules_of(word):
            found.setdefault(one.path, one)
    return list(found.values())


def _modules_of(word: str) -> Iterator[Located]:
    path = Path(word)
    if path.is_file() and path.suffix == ".py":
        yield _file(path.resolve())
    elif path.is_dir():
        yield from _folder(path.resolve())
    else:
        yield from _package(word)


def _file(path: Path) -> Located:
    root = _root(path.parent)
    parts = path.relative_to(root).with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts
    return Located(".".join(parts), path, root)


def _folder(folder: Path) -> Iterator[Located]:
    """Everything below a folder: of its package, or of the packages and loose files in it."""
    root = _root(folder)
    name = ".".join(folder.relative_to(root).parts)
    if name and (folder / "__init__.py").is_file():
        yield Located(name, folder / "__init__.py", root)
    yield from (Located(found.strip("."), path, root) for found, path in below(name, folder))


def _root(folder: Path) -> Path:
    """The folder above the outermost package, over folders without an `__init__.py` that lie in one. A package `warp`
    is none: its name stands for kbuild.warp.
    """
    while folder.name != "warp" and _is_package(folder):
        folder = folder.parent
    return folder


def _is_package(folder: Path) -> bool:
    has_its_own = (folder / "__init__.py").is_file()
    return has_its_own or (folder.name.isidentifier() and (folder.parent / "__init__.py").is_file())


def _package(name: str) -> Iterator[Located]:
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts):
        raise UsageError(f"there is no file or folder {name}", code="KB203")
    for root in [Path(entry or ".").resolve() for entry in sys.path]:
        place = root.joinpath(*parts)
        if place.is_dir() and any(place.glob("**/*.py")):
            if (place / "__init__.py").is_file():
                yield Located(name, place / "__init__.py", root)
            yield from (Located(found, path, root) for found, path in below(name, place))
            return
        if place.with_name(place.name + ".py").is_file():
            yield Located(name, place.with_name(place.name + ".py"), root)
            return
    help = did_you_mean(name, _installed()) or "name a folder, a file, or a package that this Python can import"
    raise UsageError(f"there is no file, folder or installed package {name!r}", code="KB203", help=help)


def _installed() -> list[str]:
    roots = [Path(entry or ".") for entry in sys.path]
    return [path.stem for root in roots if root.is_dir() for path in root.iterdir() if path.stem.isidentifier()]


def definitions(paths: Iterable[Path]) -> list[Definition]:
    """Kernels in the text of files: functions with a decorator `kernel` of Warp's or kbuild's, with or without options.

    A file that is no Python has none.
    """
    return [one for path in paths for one in _definitions_in(path)]


def _definitions_in(path: Path) -> Iterator[Definition]:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    modules, functions = _names_for_kernels(tree)
    for qualname, node in _functions(tree, ""):
        if any(_is_kernel(decorator, modules, functions) for decorator in node.decorator_list):
            yield Definition(str(path), qualname, node.lineno)


_MODULES = frozenset({"warp", "kbuild", "kbuild.warp"})


def _names_for_kernels(tree: ast.AST) -> tuple[set[str], set[str]]:
    """What a file calls Warp or kbuild, and what it calls their `kernel`."""
    modules, functions = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {a.asname or a.name for a in node.names if a.name in _MODULES}
        elif isinstance(node, ast.ImportFrom) and node.module in _MODULES:
            functions |= {a.asname or a.name for a in node.names if a.name == "kernel"}
            modules |= {a.asname or a.name for a in node.names if f"{node.module}.{a.name}" in _MODULES}
    return modules, functions


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for child in ast.iter_child_nodes(node):
        inner = prefix
        if isinstance(child, ast.FunctionDef):
            yield prefix + child.name, child
            inner = f"{prefix}{child.name}.<locals>."
        elif isinstance(child, ast.ClassDef):
            inner = f"{prefix}{child.name}."
        yield from _functions(child, inner)


def _is_kernel(decorator: ast.expr, modules: set[str], functions: set[str]) -> bool:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    if isinstance(target, ast.Attribute):
        return target.attr == "kernel" and ast.unparse(target.value) in modules
    return isinstance(target, ast.Name) and target.id in functions
