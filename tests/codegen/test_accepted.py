"""Any kernel is refused with a diagnostic, or gives CUDA C that NVRTC takes: random programs, and right ones changed.

`KBUILD_DEEP=50` looks fifty times as long.
"""

from __future__ import annotations

import ast
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbuild.ir import nodes
from tests.helpers import kernels, random_programs

DEEP = int(os.environ.get("KBUILD_DEEP", "1"))
GOLDEN = Path(__file__).parent / "golden"
SEEDS = [*GOLDEN.glob("*.py"), *(Path(__file__).parents[1] / "ir" / "golden").glob("*.py")]


@pytest.mark.nvrtc
@pytest.mark.parametrize("seed", range(DEEP))
def test_random_programs(tmp_path: Path, accept: Any, seed: int) -> None:
    text = random_programs.HELPERS + "\n".join(p.text() for p in random_programs.make(1000 + seed, 12))
    accept(kernels.emit_kernels(kernels.lower_text(tmp_path, text)).source, "sm_90", warns=True)


@pytest.mark.nvrtc
@pytest.mark.parametrize("seed", range(2 * DEEP))
def test_changed_programs(tmp_path: Path, accept: Any, seed: int) -> None:
    """A few hundred changed programs; those that are still right go through NVRTC together."""
    source = random.Random(seed)
    lowered: list[nodes.Kernel] = []
    refused = 0
    for number in range(250):
        text = changed(source.choice(SEEDS).read_text(encoding="utf-8"), source)
        path = tmp_path / f"changed_{number}.py"
        path.write_text(text, encoding="utf-8")
        good, wrong = _outcome(path, text)
        lowered += good
        refused += bool(wrong)
    assert refused > 50
    assert len(lowered) > 50
    accept(kernels.emit_kernels(lowered).source, "sm_90", warns=True)


def _outcome(path: Path, text: str) -> tuple[list[nodes.Kernel], list[Any]]:
    try:
        declared = kernels.load(path)[1]
    except Exception:
        return [], ["what Python itself refuses at import"]
    try:
        return kernels.diagnose(declared)
    except Exception as error:
        raise AssertionError(f"neither refused nor compiled:\n{text}") from error


def changed(text: str, source: random.Random) -> str:
    """A program with one to three expressions, operators, statements or names exchanged."""
    while True:
        tree = ast.parse(text)
        for _ in range(source.randint(1, 3)):
            source.choice([_exchange, _exchange, _operator, _constant, _name, _statement])(tree, source)
        try:
            result = ast.unparse(ast.fix_missing_locations(tree))
            compile(result, "changed", "exec")
        except (SyntaxError, ValueError):
            continue
        return result + "\n"


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _slots(tree: ast.AST) -> list[tuple[ast.AST, str, int | None, ast.expr]]:
    """Places in function bodies that hold an expression."""
    found: list[tuple[ast.AST, str, int | None, ast.expr]] = []
    for node in (n for f in _functions(tree) for s in f.body for n in ast.walk(s)):
        for name, value in ast.iter_fields(node):
            for position, item in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(item, ast.expr) and not isinstance(item, ast.Slice):
                    found.append((node, name, position, item))
    return found


def _put(slot: tuple[ast.AST, str, int | None, ast.expr], value: ast.expr) -> None:
    node, name, position, _ = slot
    if position is None:
        setattr(node, name, value)
    else:
        getattr(node, name)[position] = value


_ODD = (
    "None",
    "'text'",
    "[1]",
    "(1, 2)",
    "-1",
    "1.5",
    "1e60",
    "a.shape",
    "a[0]",
    "a[0][0]",
    "len(a)",
    "kb.tid()",
    "kb.vec3()",
    "not a",
    "lambda: 0",
    "f(1)",
    "2 ** 70",
    "1 // 0",
    "kb.float64",
    "kb",
    "True",
    "range(3)",
    "type(a)",
    "a if a else 1",
    "0 < a < 1",
    "kb.atomic_add(a, 0, 1)",
    "kb.where(a, 1, 2)",
    "min(1, 2)",
    "int(a)",
    "kb.mat22(1.0) @ kb.vec2()",
    "print(a)",
    "kb.printf('%d', a)",
)


def _exchange(tree: ast.AST, source: random.Random) -> None:
    """One expression in another's place, or one of the odd ones."""
    slots = _slots(tree)
    slot = source.choice(slots)
    text = ast.unparse(source.choice(slots)[3]) if source.random() < 0.7 else source.choice(_ODD)
    if isinstance(getattr(slot[3], "ctx", ast.Load()), ast.Load):
        _put(slot, ast.parse(text, mode="eval").body)


def _operator(tree: ast.AST, source: random.Random) -> None:
    sites = [
        n for n in ast.walk(tree) if isinstance(n, (ast.BinOp, ast.AugAssign, ast.Compare, ast.UnaryOp, ast.BoolOp))
    ]
    if not sites:
        return
    node = source.choice(sites)
    binary = [ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.BitAnd, ast.MatMult]
    match node:
        case ast.BinOp() | ast.AugAssign():
            node.op = source.choice(binary)()
        case ast.Compare():
            node.ops = [source.choice([ast.Lt, ast.GtE, ast.Eq, ast.NotEq, ast.Is, ast.In])() for _ in node.ops]
        case ast.UnaryOp():
            node.op = source.choice([ast.Not, ast.USub, ast.Invert, ast.UAdd])()
        case ast.BoolOp():
            node.op = source.choice([ast.And, ast.Or])()


def _constant(tree: ast.AST, source: random.Random) -> None:
    sites = [n for f in _functions(tree) for n in ast.walk(f) if isinstance(n, ast.Constant)]
    if sites:
        source.choice(sites).value = source.choice([0, 1, -1, 3, 2**31, 2**64, 0.0, 1.5, 1e39, True, None, "x", 1j])


def _name(tree: ast.AST, source: random.Random) -> None:
    sites = [n for f in _functions(tree) for n in ast.walk(f) if isinstance(n, ast.Name)]
    source.choice(sites).id = source.choice(sites).id


def _statement(tree: ast.AST, source: random.Random) -> None:
    """A statement repeated, moved, or taken out."""
    blocks = [b for f in _functions(tree) for n in ast.walk(f) if isinstance(b := getattr(n, "body", None), list) and b]
    block, other = source.choice(blocks), source.choice(blocks)
    statement = source.choice(block)
    copy = (
        ast.parse(ast.unparse(statement)) if not isinstance(statement, (ast.Return, ast.Break, ast.Continue)) else None
    )
    if source.random() < 0.5 and len(block) > 1:
        block.remove(statement)
    if copy is not None:
        other.insert(source.randrange(len(other) + 1), copy.body[0])
