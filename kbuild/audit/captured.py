"""Captured data that changes after the build has compiled it in [KB412].

What a kernel captures is part of its machine code. A launch holds the values of its first launch against those of the
build; what the program assigns later, or puts into the list that a table was made of, no launch sees. Nothing is run to
find out: the text of the project's modules is searched for assignments inside functions, which run when the program
does. What modules assign while they are imported, the build has seen.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

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


def changing(kernel: str, functions: Sequence[Span], modules: Mapping[str, str]) -> tuple[tuple[Finding, ...], int]:
    """Findings about what the functions of a kernel capture, and how many names were looked at. `modules` are the files
    of the project by name."""
    found: list[Finding] = []
    count = 0
    for span in functions:
        text = text_of(span.path)
        definition = text.definition(span) if text is not None else None
        if text is None or definition is None:
            continue
        for use in _uses(text, definition):
            count += 1
            place = _change(text, definition, use, modules)
            if place is not None:
                found.append(_finding(kernel, use, place))
    return tuple(found), count


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


def _change(text: Text, definition: ast.FunctionDef, use: _Use, modules: Mapping[str, str]) -> tuple[Span, str] | None:
    """Where what is used changes, in words."""
    name = use.chain[0]
    around = _around(text.tree, definition)
    owner = next((one for one in reversed(around) if name in _own_names(one)), None)
    if owner is not None:
        return _rebound_in_factory(text, owner, definition, name) if len(use.chain) == 1 else None
    whole = _expanded(text, use.chain)
    for where in dict.fromkeys([text.path, *modules.values()]):
        other = text if where == text.path else text_of(where)
        for node in _targets(other.tree) if other is not None else ():
            if other is not None and _is_same(other, node, text, use, whole, modules):
                return other.span(node), "it is assigned here, when the program runs"
    return _table_changed(text, name) if len(use.chain) == 1 else None


def _around(tree: ast.Module, definition: ast.FunctionDef) -> list[ast.FunctionDef]:
    """The functions that a definition stands in, outermost first."""
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and node is not definition
        and any(inner is definition for inner in ast.walk(node))
    ]
    return sorted(found, key=lambda node: node.lineno)


def _own_names(function: ast.FunctionDef) -> set[str]:
    """Parameters and variables of a function itself."""
    names = {argument.arg for argument in _arguments(function)}
    for node in _of_itself(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def _of_itself(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function without those of the functions in it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))


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
            for node in _of_itself(inner):
                if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
                    return text.span(node), "it is assigned here, when the program runs"
    return None


def _declares(function: ast.FunctionDef, kind: type[ast.Global] | type[ast.Nonlocal], name: str) -> bool:
    return any(isinstance(node, kind) and name in node.names for node in _of_itself(function))


def _targets(tree: ast.Module) -> Iterator[ast.expr]:
    """What is assigned inside functions: globals by name, and attributes."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        names = {name for node in _of_itself(function) if isinstance(node, ast.Global) for name in node.names}
        own = _own_names(function) - names
        for node in _of_itself(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in names:
                yield node
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                chain = _chain(node)
                if chain is not None and chain[0] not in own:
                    yield node


def _is_same(
    other: Text, node: ast.expr, text: Text, use: _Use, whole: tuple[str, ...] | None, modules: Mapping[str, str]
) -> bool:
    """Whether a target in another file, or in the same one, is what a kernel uses."""
    chain = _chain(node)
    if chain is None:
        return False
    if other.path == text.path and chain == use.chain:
        return True
    expanded = _expanded(other, chain)
    if expanded is None:
        return False
    own = next((tuple(name.split(".")) for name, path in modules.items() if path == text.path), None)
    return expanded in (whole, None if own is None else (*own, *use.chain))


def _expanded(text: Text, chain: tuple[str, ...]) -> tuple[str, ...] | None:
    """A chain that starts with an imported module, with that module's whole name; None for other chains."""
    for node in ast.walk(text.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = tuple(alias.name.split("."))
                if alias.asname == chain[0]:
                    return (*name, *chain[1:])
                if alias.asname is None and name == chain[: len(name)] and len(chain) > len(name):
                    return chain
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            for alias in node.names:
                if (alias.asname or alias.name) == chain[0] and len(chain) > 1:
                    return (*node.module.split("."), alias.name, *chain[1:])
    return None


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
