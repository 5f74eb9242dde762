"""The synchronisation graph."""

from __future__ import annotations

import re
from pathlib import Path

from tests.helpers.audits import audit


def edges(folder: Path, body: str, head: str = "") -> set[tuple[str, str, bool]]:
    """(from, to, whether only some threads take it); barriers by the number of their line in the body, from 1."""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    text = f"{head}\n@kb.kernel\ndef kernel(a: kb.array(dtype=float), n: int):\n{lines}\n"
    (made,) = audit(folder, text, graph=True)
    assert made.span is not None
    assert made.graph.startswith(f'digraph "{made.kernel}" {{\n')
    labels = dict(re.findall(r'^    (n\d+) \[label="\w+\\nline (\d+)"\];$', made.graph, re.MULTILINE))
    names = {node: str(int(line) - made.span.line) for node, line in labels.items()}
    found = re.findall(r"^    (\w+) -> (\w+)( \[.*\])?;$", made.graph, re.MULTILINE)
    return {(names.get(a, a), names.get(b, b), "dashed" in rest) for a, b, rest in found}


def test_none(tmp_path: Path) -> None:
    assert edges(tmp_path, "i = kb.tid()\nif i < n:\n    a[i] = 1.0") == {("entry", "exit", False)}


def test_two_in_a_row(tmp_path: Path) -> None:
    body = "kb.syncthreads()\nif kb.tid() == 0:\n    a[0] = 1.0\nkb.syncthreads()"
    assert edges(tmp_path, body) == {("entry", "1", False), ("1", "4", False), ("4", "exit", False)}


def test_a_branch_that_all_threads_take_alike(tmp_path: Path) -> None:
    body = "if n > 0:\n    kb.syncthreads()\nkb.syncthreads()"
    assert edges(tmp_path, body) == {
        ("entry", "2", False), ("entry", "3", False), ("2", "3", False), ("3", "exit", False),
    }  # fmt: skip


def test_a_branch_that_splits_a_block(tmp_path: Path) -> None:
    body = "if kb.tid() < n:\n    kb.syncthreads()\nkb.syncthreads()"
    assert edges(tmp_path, body) == {
        ("entry", "2", True), ("entry", "3", True), ("2", "3", False), ("3", "exit", False),
    }  # fmt: skip


def test_an_early_return(tmp_path: Path) -> None:
    body = "if kb.tid() >= n:\n    return\nkb.syncthreads()\na[0] = 1.0"
    assert edges(tmp_path, body) == {("entry", "3", True), ("entry", "exit", True), ("3", "exit", False)}


def test_a_loop(tmp_path: Path) -> None:
    body = "for k in range(n):\n    kb.syncthreads()\n    a[k] = 1.0\n    kb.syncthreads()"
    assert edges(tmp_path, body) == {
        ("entry", "2", False), ("2", "4", False), ("4", "2", False), ("entry", "exit", False), ("4", "exit", False),
    }  # fmt: skip


def test_a_loop_that_threads_leave_at_different_times(tmp_path: Path) -> None:
    body = "i = kb.tid()\nwhile i < n:\n    kb.syncthreads()\n    i = i + 32"
    assert ("3", "3", True) in edges(tmp_path, body)
    body = "for k in range(n):\n    if kb.tid() == k:\n        break\n    kb.syncthreads()"
    found = edges(tmp_path, body)
    assert ("4", "4", True) in found
    assert ("entry", "exit", False) in found  # n may be zero


def test_functions_and_warps(tmp_path: Path) -> None:
    head = "@kb.func\ndef wait(x: int):\n    kb.syncthreads()\n    return x\n\n"
    body = "x = wait(n)\ny = kb.shfl(x, 0)\nkb.syncwarp()\na[0] = float(wait(y))"
    found = edges(tmp_path, body, head)
    assert {(a, b) for a, b, _ in found} == {
        ("entry", "-5"), ("-5", "2"), ("2", "3"), ("3", "-5"), ("-5", "exit"),
    }  # fmt: skip
