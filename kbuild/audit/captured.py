"""Captured data that changes after the build has compiled it in [KB412].

What a kernel captures is part of its machine code. A launch holds the values of its first launch against those of the
build; what the program assigns later, or puts into the list that a table was made of, no launch sees. Nothing is run to
find out: the text of the project's modules is searched for assignments inside functions, which run when the program
does. What modules assign while they are imported, the build has seen.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kbuild.audit.findings import Finding
from kbuild.audit.text import Text, text_of
from kbuild.errors import Note, Span

CODE = "KB412"
_IN_PLACE = frozenset(
    {"append", "clear", "extend", "fill", "insert", "itemset", "pop", "put", "remove", "resize", "reverse", "sort"}
)


@dataclass(frozen=True, slots=True)
class _Use:
    """A name from outside that a function reads: the chain as it is written, and where."""

    chain: tuple[str, ...]
    span: Span


class Captures:
    """What the functions of a project capture, held against what its modules assign. `modules` are files by name."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._names = {path: tuple(name.split(".")) for name, path in modules.items()}
        self._assigned = {path: _may_assign(path) for path in modules.values()}
        self._known: dict[Span, list[tuple[_Use, tuple[Span, str] | None]]] = {}

    def changing(self, kernel: str, functions: Sequence[Span]) -> tuple[tuple[Finding, ...], int]:
        """Findings about what a kernel's functions capture, and how many names were looked at."""
        found: list[Finding] = []
        count = 0
        for span in functions:
            if span not in self._known:
                self._known[span] = list(self._uses(span))
            count += len(self._known[span])
            found += [_finding(kernel, use, place) for use, place in self._known[span] if place is not None]
        return tuple(found), count

    def _uses(self, span: Span) -> Iterator[tuple[_Use, tuple[Span, str] | None]]:
        text = text_of(span.path)
        definition = text.definition(span) if text is not None else None
        if text is not None and definition is not None:
            around = _around(text)[definition]
            for use in _uses(text, definition):
                yield use, self._change(text, around, definition, use)

    def _change(
        self, text: Text, around: Sequence[ast.FunctionDef], definition: ast.FunctionDef, use: _Use
    ) -> tuple[Span, str] | None:
        """Where what is used changes, in words."""
        name = use.chain[0]
        owner = next((one for one in reversed(around) if name in _own_names(one)), None)
        if owner is not None:
            return _rebound_in_factory(text, owner, definition, name) if len(use.chain) == 1 else None
        meant = {
            chain for chain in (self._expanded(text, use.chain), self._whole(text, use.chain)) if chain is not None
        }
        for other in self._texts(text, use.chain[-1]):
            for chain, node in _assigned_later(other).get(use.chain[-1], ()):
                is_here = other is text and chain == use.chain
                if is_here or self._expanded(other, chain) in meant:
                    return other.span(node), "it is assigned here, when the program runs"
        return _table_changed(text, name) if len(use.chain) == 1 else None

    def _texts(self, own: Text, name: str) -> Iterator[Text]:
        """The modules that may assign this name: the kernel's own, and those in which it looks so."""
        yield own
        for path, names in self._assigned.items():
            other = text_of(path) if name in names and path != own.path else None
            if other is not None:
                yield other

    def _expanded(self, text: Text, chain: tuple[str, ...]) -> tuple[str, ...] | None:
        """An attribute of what is imported, with the whole name of that; None for other chains."""
        own = self._names.get(text.path, ())
        whole = _imported(text, own).get(chain[0]) if len(chain) > 1 else None
        return None if whole is None else (*whole, *chain[1:])

    def _whole(self, text: Text, chain: tuple[str, ...]) -> tuple[str, ...] | None:
        """A name of a module's own with the module's name before it."""
        own = self._names.get(text.path)
        return None if own is None else (*own, *chain)


def _finding(kernel: str, use: _Use, place: tuple[Span, str]) -> Finding:
    name = ".".join(use.chain)
    text = f"{name!r} is compiled into the kernel as it is while building, and the program changes it later"
    help = "pass what changes as a parameter"
    return Finding(CODE, "source", "found", text, use.span, kernel, name, help=help, notes=(Note(place[1], place[0]),))


def _uses(text: Text, definition: ast.FunctionDef) -> Iterator[_Use]:
    """Names from outside, each chain of attributes once, at its first use."""
    inner = _assigned(definition) | {argument.arg for argument in _arguments(definition)}
    seen = set()
    for node in (node for statement in definition.body for node in _chains(statement)):
        chain = _chain(node)
        if chain is not None and chain[0] not in inner and isinstance(node.ctx, ast.Load) and chain not in seen:  # type: ignore[attr-defined]
            seen.add(chain)
            yield _Use(chain, text.span(node))  # type: ignore[arg-type]


def _chains(root: ast.AST) -> Iterator[ast.AST]:
    """The longest chains of attributes below a node."""
    if _chain(root) is not None:
        yield root
        return
    for child in ast.iter_child_nodes(root):
        yield from _chains(child)


def _arguments(definition: ast.FunctionDef) -> list[ast.arg]:
    found = definition.args
    rest = [one for one in (found.vararg, found.kwarg) if one is not None]
    return [*found.posonlyargs, *found.args, *found.kwonlyargs, *rest]


def _assigned(root: ast.AST) -> set[str]:
    return {
        node.id for node in ast.walk(root) if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del))
    }


def _chain(node: ast.AST) -> tuple[str, ...] | None:
    """`a.b.c` → ("a", "b", "c")."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return (node.id, *reversed(names)) if isinstance(node, ast.Name) else None


@lru_cache(maxsize=1024)
def _around(text: Text) -> dict[ast.AST, tuple[ast.FunctionDef, ...]]:
    """The functions that each function of a file stands in, outermost first."""
    found: dict[ast.AST, tuple[ast.FunctionDef, ...]] = {}
    waiting: list[tuple[ast.AST, tuple[ast.FunctionDef, ...]]] = [(text.tree, ())]
    while waiting:
        node, outer = waiting.pop()
        if isinstance(node, ast.FunctionDef):
            found[node] = outer
            outer = (*outer, node)
        waiting += [(child, outer) for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)]
    return found


@lru_cache(maxsize=4096)
def _own_names(function: ast.FunctionDef) -> set[str]:
    """Parameters and variables of a function itself."""
    names = {argument.arg for argument in _arguments(function)}
    return names | {node.id for node in _stored(function) if isinstance(node, ast.Name)}


@lru_cache(maxsize=4096)
def _stored(function: ast.FunctionDef) -> tuple[ast.expr, ...]:
    """What the statements of a function itself assign, each target of several alone."""
    return tuple(one for statement in _of_itself(function) for target in _targets(statement) for one in _each(target))


_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_NOT_OF_ITSELF = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _of_itself(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The statements of a function at whatever depth, without those of the functions in it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        statement = waiting.pop()
        yield statement
        if not isinstance(statement, _NOT_OF_ITSELF):
            for name in _BLOCKS:
                waiting.extend(getattr(statement, name, ()))


def _targets(statement: ast.AST) -> list[ast.expr]:
    if isinstance(statement, (ast.Assign, ast.Delete)):
        return statement.targets
    if isinstance(statement, (ast.AugAssign, ast.AnnAssign, ast.For)):
        return [statement.target]
    if isinstance(statement, ast.With):
        return [one.optional_vars for one in statement.items if one.optional_vars is not None]
    return []


def _each(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for one in target.elts:
            yield from _each(one)
    else:
        yield target.value if isinstance(target, ast.Starred) else target


def _rebound_in_factory(
    text: Text, owner: ast.FunctionDef, definition: ast.FunctionDef, name: str
) -> tuple[Span, str] | None:
    """An assignment in a function inside the factory (`nonlocal`), which runs when the factory is done."""
    for inner in ast.walk(owner):
        if (
            isinstance(inner, ast.FunctionDef)
            and inner not in (owner, definition)
            and _declares(inner, ast.Nonlocal, name)
        ):
            for node in _stored(inner):
                if isinstance(node, ast.Name) and node.id == name:
                    return text.span(node), "it is assigned here, when the program runs"
    return None


def _declares(function: ast.FunctionDef, kind: type[ast.Global] | type[ast.Nonlocal], name: str) -> bool:
    return any(isinstance(node, kind) and name in node.names for node in _of_itself(function))


@lru_cache(maxsize=1024)
def _assigned_later(text: Text) -> dict[str, list[tuple[tuple[str, ...], ast.expr]]]:
    """What a module assigns inside functions, globals by name and attributes, by the last name of each."""
    found: dict[str, list[tuple[tuple[str, ...], ast.expr]]] = {}
    for function in text.functions.values():
        names = {name for one in _of_itself(function) if isinstance(one, ast.Global) for name in one.names}
        own = _own_names(function) - names
        for node in _stored(function):
            chain = _chain(node)
            is_global = isinstance(node, ast.Name) and node.id in names
            if chain is not None and (is_global or (len(chain) > 1 and chain[0] not in own)):
                found.setdefault(chain[-1], []).append((chain, node))
    return found


# What stands before the last `=` of an indented line, where that has attributes and no call.
_TARGETS = re.compile(
    rb"^[ \t]+([\w.,\[\]*:= \t]*\.[\w.,\[\]*: \t]*?)(?:[-+*/%&|^@]|//|\*\*|<<|>>)?=(?!=)", re.MULTILINE
)
_ATTRIBUTE = re.compile(rb"\.(\w+)")


def _may_assign(path: str) -> frozenset[str]:
    """Attributes that a file may assign, by the looks of its lines: reading it as Python would take much longer."""
    try:
        whole = Path(path).read_bytes()
    except OSError:
        return frozenset()
    return frozenset(name.decode() for targets in _TARGETS.findall(whole) for name in _ATTRIBUTE.findall(targets))


@lru_cache(maxsize=1024)
def _imported(text: Text, own: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """What the names are that a module imports: `np` → numpy, `k` → pkg.kernels; `import a.b` gives `a`. `own` is the
    module's name, nothing where it is not known."""
    package = own if text.path.endswith("__init__.py") else own[:-1]
    found: dict[str, tuple[str, ...]] = {}
    for node in ast.walk(text.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = tuple(alias.name.split("."))
                found[alias.asname or name[0]] = name if alias.asname else name[:1]
        elif isinstance(node, ast.ImportFrom) and (own or node.level == 0):
            base = package[: len(package) - (node.level - 1)] if node.level else ()
            for alias in node.names:
                names = node.module.split(".") if node.module else []
                found[alias.asname or alias.name] = (*base, *names, alias.name)
    return found


def _table_changed(text: Text, name: str) -> tuple[Span, str] | None:
    """A change of the list or array that a module's `NAME = kb.constant(DATA)` has copied."""
    for statement in text.tree.body:
        if not isinstance(statement, ast.Assign) or not any(_chain(one) == (name,) for one in statement.targets):
            continue
        call = statement.value
        if not isinstance(call, ast.Call) or not (called := _chain(call.func)) or called[-1] != "constant":
            continue
        data = _chain(call.args[0]) if call.args else None
        if data is not None and len(data) == 1:
            for node in ast.walk(text.tree):
                if node is not statement and _changes(node, data[0]) and node.lineno > statement.lineno:  # type: ignore[attr-defined]
                    return text.span(node), f"{data[0]!r}, which the table is a copy of, changes here"  # type: ignore[arg-type]
    return None


def _changes(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, (ast.Store, ast.Del)):
        return _chain(node.value) == (name,)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _IN_PLACE and _chain(node.func.value) == (name,)
    return isinstance(node, ast.AugAssign) and _chain(node.target) == (name,)
