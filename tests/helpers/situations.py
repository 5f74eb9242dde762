"""`@happens(section, when, what)` on a test: a row of docs/what-happens-when.md. Python 3.8, standard library.

    @happens("Cache", "the cache cannot be written", "The build works; one warning [KB510] says so.")
    def test_a_read_only_cache(…): …

The page is made from the sources of the tests, so a row needs a test, and a test that goes takes its row along.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    Row = tuple[str, str]

F = TypeVar("F", bound="Callable[..., object]")

TESTS = Path(__file__).parents[1]


def happens(section: str, when: str, what: str) -> Callable[[F], F]:
    """Marks a test as the proof of a row; may stand several times on one test."""
    return lambda test: test


def rows() -> dict[str, list[Row]]:
    """(when, what) of every marked test by section, in the order of files and lines."""
    found: dict[str, list[Row]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if "@happens(" in text:
            tree = ast.parse(text)
            constants = _constants(tree)
            for call in _calls(tree):
                section, when, what = (_text(argument, constants) for argument in call.args)
                found.setdefault(section, []).append((when, what))
    return found


def _constants(tree: ast.Module) -> dict[str, str]:
    """Module-level names that stand for a text: `SECTION = "…"`."""
    return {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _text(node: ast.expr, constants: dict[str, str]) -> str:
    return constants[node.id] if isinstance(node, ast.Name) else str(ast.literal_eval(node))


def _calls(tree: ast.Module) -> list[ast.Call]:
    decorators = [
        decorator
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name) and decorator.func.id == "happens"
    ]
    return sorted(decorators, key=lambda call: call.lineno)
