"""`assert condition, "message"`: type-checked always, and compiled where the build wants asserts.

Machine code names an assert by its function and its number there, never by its line, so that moving a function changes
neither key nor code; `rows` says where each one stands today.
"""

from __future__ import annotations

import ast
import itertools
from typing import Any

from kbuild.ir import nodes
from kbuild.lang.context import Context
from kbuild.lang.operands import Static, describe
from kbuild.lang.source import Definition, SourceFile, definition_of
from kbuild.loader.types import Function


def assert_(ctx: Context, node: ast.stmt) -> None:
    assert isinstance(node, ast.Assert)
    before = ctx.temporaries
    with ctx.nested() as block:
        condition = ctx.condition(node.test)
    text = _text(ctx, node)
    if not ctx.program.asserts:
        ctx.temporaries = before  # the code is the same as without the assert
        return
    ctx.block.extend(block)
    numbers = {_place(one): number for number, one in enumerate(_asserts(ctx.definition), start=_first(ctx.owner))}
    ctx.emit(nodes.Assert(condition, ctx.owner.name, numbers[_place(node)], text, ctx.span(node)))


def _text(ctx: Context, node: ast.Assert) -> str:
    """The condition as Python spells it, which no blank or comment of the source changes, and the message."""
    condition = ast.unparse(node.test)
    if node.msg is None:
        return condition
    message = None if isinstance(node.msg, ast.JoinedStr) else ctx.expr(node.msg)
    if not isinstance(message, Static) or not isinstance(message.value, str):
        found = "a formatted string" if message is None else describe(message)
        help = "print values with kb.printf before the assert"
        ctx.refuse("KB192", f"the message of an assert must be a constant text, not {found}", node.msg, help)
    return f"{condition}: {message.value}"


def rows(owner: Function, file: SourceFile, definition: Definition) -> list[list[Any]]:
    """`[owner, number, line, text]` of every assert in a function, in source order; the text in printable ASCII."""
    return [
        [owner.name, number, file.span(one).line, _statement(one)]
        for number, one in enumerate(_asserts(definition), start=_first(owner))
    ]


def _first(owner: Function) -> int:
    """The number of a function's first assert: overloads of one name count on."""
    before = itertools.takewhile(lambda one: one is not owner, owner.overloads)
    return 1 + sum(len(_asserts(definition_of(one.function)[1])) for one in before)


def _statement(node: ast.Assert) -> str:
    """What an old Python's terminal can show: which letters are printable changes with Python's version."""
    return ast.unparse(node).encode("ascii", "backslashreplace").decode()


def _asserts(definition: Definition) -> list[ast.Assert]:
    return sorted((node for node in ast.walk(definition) if isinstance(node, ast.Assert)), key=_place)


def _place(node: ast.Assert) -> tuple[int, int]:
    return node.lineno, node.col_offset
