"""Which modules are meant: names and `pkg.sub.*` patterns against the files of a project. Imports nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from kbuild.errors import UsageError, did_you_mean


@dataclass(frozen=True, slots=True)
class Module:
    """A module of the project. `package` is the import package that holds its bundle, `root` the folder above it."""

    name: str
    path: Path
    root: Path
    package: str

    @property
    def bundle(self) -> str:
        """The bundle's place below the root."""
        return f"{self.package.replace('.', '/')}/_kbuild.kbundle"


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen modules by name, and in words what `exclude` left out."""

    modules: tuple[Module, ...]
    skipped: tuple[str, ...]


def select(roots: Sequence[Path], patterns: Sequence[str], exclude: Sequence[str]) -> Selection:
    """The modules that the patterns name, each once, sorted. Raises UsageError for one that names nothing."""
    found: dict[str, Module] = {}
    skipped = []
    for pattern in patterns:
        matches = list(_matching(roots, pattern))
        if not matches:
            raise _nothing(roots, pattern)
        for name, path, root in matches:
            rule = next((rule for rule in exclude if _covers(rule, name)), None)
            if rule is not None:
                skipped.append(f"{name}: left out by exclude = [{rule!r}]")
            elif name not in found:
                found[name] = Module(name, path, root, _package_of(name, path, root))
    return Selection(tuple(found[name] for name in sorted(found)), tuple(dict.fromkeys(skipped)))


def _covers(pattern: str, name: str) -> bool:
    if pattern.endswith(".*"):
        return fnmatchcase(name, pattern) or name == pattern[:-2]
    return name == pattern


def _matching(roots: Sequence[Path], pattern: str) -> Iterator[tuple[str, Path, Path]]:
    """(name, file, root) of the modules that a name or pattern means; `pkg.*` is everything below pkg."""
    is_pattern = pattern.endswith(".*")
    name = pattern.removesuffix(".*")
    for root in roots:
        folder = root.joinpath(*name.split("."))
        if is_pattern:
            yield from ((below, path, root) for below, path in below(name, folder))
        else:
            for path in (folder.with_name(folder.name + ".py"), folder / "__init__.py"):
                if path.is_file():
                    yield name, path, root


def below(name: str, folder: Path) -> Iterator[tuple[str, Path]]:
    """(name, file) of the modules inside a folder of that name, also in folders without an `__init__.py`."""
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.suffix == ".py" and path.stem.isidentifier() and path.name != "__init__.py":
            yield f"{name}.{path.stem}", path
        elif path.is_dir() and path.name.isidentifier() and path.name != "__pycache__":
            if (path / "__init__.py").is_file():
                yield f"{name}.{path.name}", path / "__init__.py"
            yield from below(f"{name}.{path.name}", path)


def _package_of(name: str, path: Path, root: Path) -> str:
    """The outermost regular package around a module."""
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        if root.joinpath(*parts[:count], "__init__.py").is_file():
            return ".".join(parts[:count])
    folder = path.parent if path.parent != root else root / f"my{parts[0]}"
    raise UsageError(
        f"module {name} ({path}) is in no regular package, so there is no place for its bundle",
        code="KB204",
        help=f"add {folder / '__init__.py'}, and name the module by its package"
        if path.parent == root
        else f"add an empty {folder / '__init__.py'}",
    )


def _nothing(roots: Sequence[Path], pattern: str) -> UsageError:
    known = [name for root in roots for name, _ in _all_modules(root)]
    places = " or ".join(str(root) for root in roots)
    kind = "no module matches" if pattern.endswith(".*") else "there is no module"
    return UsageError(
        f"modules: {kind} {pattern!r} in {places}",
        code="KB203",
        help=did_you_mean(pattern, known) or "the path of src/pkg/kernels.py is the module pkg.kernels",
    )


def _all_modules(root: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(root.iterdir()) if root.is_dir() else []:
        if path.is_dir() and (path / "__init__.py").is_file():
            yield path.name, path
            yield from below(path.name, path)
