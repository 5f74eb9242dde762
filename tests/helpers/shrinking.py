"""A failing program made small: statements deleted and hoisted, expressions replaced by parts, while it fails.

shrink(text, fails) → the text of a program for which `fails` still holds
"""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator

Edit = Callable[[ast.Module], None]


def shrink(text: str, fails: Callable[[str], bool], seconds: float = 60.0) -> str:
    """The smallest program that greedy edits lead to. `fails` must hold for the text as it comes."""
    end = time.monotonic() + seconds
    best = ast.unparse(ast.parse(text))
    if not fails(best):
        return text
    has_shrunk = True
    while has_shrunk and time.monotonic() < end:
        has_shrunk = False
        number = 0
        while time.monotonic() < end:
            tree = ast.parse(best)
            edits = list(_edits(tree))
            if number >= len(edits):
                break
            edits[number](tree)
            tried = _text(tree)
            if tried is not None and len(tried) < len(best) and fails(tried):
                best, has_shrunk = tried, True
            else:
                number += 1
    return best


def _text(tree: ast.Module) -> str | None:
    try:
        return ast.unparse(ast.parse(ast.unparse(ast.fix_missing_locations(tree))))
    except (SyntaxError, ValueError):
        return None


def _edits(tree: ast.Module) -> Iterator[Edit]:
    """Edits of this very tree, the large ones first."""
    blocks = [(node, name) for node in ast.walk(tree) for name in ("body", "orelse") if _statements(node, name)]
    for node, name in blocks:
        for place in range(len(getattr(node, name))):
            yield _deletion(node, name, place)
    for node, name in blocks:
        for place, statement in enumerate(getattr(node, name)):
            for inner in ("body", "orelse"):
                if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)) and _statements(statement, inner):
                    yield _hoisting(node, name, place, inner)
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr) and name not in ("target", "targets", "func", "annotation", "ctx"):
                for part in _parts(value):
                    yield _replacement(node, name, None, part)
            elif isinstance(value, list) and name in ("args", "values"):
                for place, item in enumerate(value):
                    for part in _parts(item):
                        yield _replacement(node, name, place, part)


def _statements(node: ast.AST, name: str) -> bool:
    found = getattr(node, name, None)
    return isinstance(found, list) and bool(found) and isinstance(found[0], ast.stmt)


def _deletion(node: ast.AST, name: str, place: int) -> Edit:
    def edit(_: ast.Module) -> None:
        block = getattr(node, name)
        del block[place]
        if not block and name == "body":
            block.append(ast.Pass())

    return edit


def _hoisting(node: ast.AST, name: str, place: int, inner: str) -> Edit:
    def edit(_: ast.Module) -> None:
        block = getattr(node, name)
        block[place : place + 1] = getattr(block[place], inner)

    return edit


def _replacement(node: ast.AST, name: str, place: int | None, part: ast.expr) -> Edit:
    def edit(_: ast.Module) -> None:
        if place is None:
            setattr(node, name, copy.deepcopy(part))
        else:
            getattr(node, name)[place] = copy.deepcopy(part)

    return edit


def _parts(expr: ast.expr) -> Iterator[ast.expr]:
    """What may stand in an expression's place; whether its type is right turns out when it is tried."""
    match expr:
        case ast.BinOp():
            yield from (expr.left, expr.right)
        case ast.UnaryOp():
            yield expr.operand
        case ast.IfExp():
            yield from (expr.body, expr.orelse)
        case ast.Call():
            yield from expr.args
        case ast.BoolOp():
            yield from expr.values
        case ast.Compare():
            yield ast.Constant(True)
        case ast.Attribute() | ast.Subscript() if isinstance(expr.value, (ast.Subscript, ast.Call)):
            yield expr.value
    if isinstance(expr, (ast.BinOp, ast.Call, ast.IfExp)):
        yield ast.Constant(0)
