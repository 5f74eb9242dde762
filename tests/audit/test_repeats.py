"""Loads that are made again: what is said of them, and where nothing is."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbuild.audit.findings import Finding
from tests.helpers.audits import findings

KERNEL = """
@kb.func
def stores(b: kb.array(dtype=float), i: int) -> float:
    b[i] = 1.0
    return 2.0


@kb.kernel
def kernel(a: kb.array(dtype=float), b: kb.array(dtype=float), n: int):
    i = kb.tid()
{}
"""


def said(folder: Path, body: str) -> list[Finding]:
    text = KERNEL.format("".join(f"    {line}\n" for line in body.strip().splitlines()))
    return [one for one in findings(folder, text, "coalescing") if one.code == "KB407"]


TOLD = {
    "a store": ("b[i] = a[i]\nb[i + 1] = a[i]", "the store to b"),
    "an atomic": ("x = a[i]\nkb.atomic_add(b, i, x)\nb[i] = a[i]", "the atomic on b"),
    "printing": ("x = a[i]\nprint(x)\nb[i] = a[i]", "print"),
    "a barrier": ("x = a[i]\nkb.syncthreads()\nb[i] = a[i] + x", "syncthreads()"),
    "a barrier of a warp": ("x = a[i]\nkb.syncwarp()\nb[i] = a[i] + x", "syncwarp()"),
    "a store in a function": ("x = a[i]\ny = stores(b, i)\nb[i] = a[i] + x + y", "the store to b"),
    "a store in a loop": ("x = a[i]\nfor k in range(n):\n    b[k] = x\nb[i] = a[i]", "the store to b"),
    "a store some do": ("x = a[i]\nif x > 0.0:\n    b[i] = x\nb[i + 1] = a[i]", "the store to b"),
    "a store in the trip before": ("for k in range(n):\n    b[k] = a[i]", "the store to b"),
    "two loops": ("for k in range(n):\n    for j in range(n):\n        b[k] = a[k] + float(j)", "the store to b"),
    "a loop without a counter": ("k = i\nwhile k < n:\n    b[k] = a[i]\n    k += 2", "the store to b"),
    "a barrier in a loop": (
        "for k in range(n):\n    kb.syncthreads()\n    b[i] = b[i] * a[i]",
        "the store to b",
    ),
}
NOT_TOLD = {
    "nothing between": "b[i] = a[i] * 2.0 + a[i]",
    "kept": "x = a[i]\nb[i] = x\nb[i + 1] = x",
    "stored by itself": "x = a[i]\na[i] = x + 1.0\nb[i] = a[i]",
    "perhaps stored": "x = a[i]\na[n] = 1.0\nb[i] = a[i] + x",
    "perhaps stored in a later trip": "x = a[i]\nfor k in range(n):\n    b[k] = a[i] + x\n    a[k] = 2.0",
    "another element": "b[i] = a[i]\nb[i + 1] = a[i + 1]",
    "one of each trip": "for k in range(n):\n    b[k] = a[k]",
    "under a condition in the loop": "for k in range(n):\n    b[k] = 1.0\n    if k > 5:\n        b[k] = a[i]",
    "the store comes behind": "x = a[i] + a[i]\nb[i] = x",
    "on another way": "if n > 5:\n    b[i] = a[i]\nelse:\n    b[i + 1] = a[i]",
    "left early": "if a[i] > 0.0:\n    b[i] = 1.0\n    return\nb[i] = a[i]",
    "not on every way before": "if n > 5:\n    b[i] = a[i]\nb[i + 1] = a[i]",
    "counted by atomics": "x = a[i]\nkb.atomic_add(a, n, 1.0)\nb[i] = a[i] + x",
    "another element counted by atomics": "x = a[i]\nkb.atomic_add(a, i + 1, 1.0)\nb[i] = a[i] + x",
    "a hint": "b[i] = kb.load_readonly(a, i)\nb[i + 1] = kb.load_readonly(a, i)",
    "a barrier, and others store": "x = a[i]\nkb.syncthreads()\na[i + 1] = x\nkb.syncthreads()\nb[i] = a[i]",
    "shared memory": "s = kb.shared_array(256, float)\ns[0] = a[i]\ns[1] = a[i]\nb[i] = s[0] + s[1]",
}


@pytest.mark.parametrize("what", TOLD)
def test_what_is_told(tmp_path: Path, what: str) -> None:
    body, because = TOLD[what]
    (found,) = said(tmp_path, body)
    assert f"because of {because} in line" in found.message
    assert (found.check, found.verdict, found.subject) == ("coalescing", "found", "a")
    assert found.help is not None
    assert found.help.endswith(("before the loop: `x = a[…]`", "and use that here"))
    assert [note.message for note in found.notes][-1] == f"no compiler carries what it has loaded past {because}"


@pytest.mark.parametrize("what", NOT_TOLD)
def test_what_is_not(tmp_path: Path, what: str) -> None:
    assert said(tmp_path, NOT_TOLD[what]) == []


def test_places(tmp_path: Path) -> None:
    """The second load, the first, and what lies between."""
    (found,) = said(tmp_path, "x = a[i]\nb[i] = x\nb[i + 1] = a[i]")
    lines = [found.span, *(note.span for note in found.notes)]
    assert [one.line - 10 for one in lines if one is not None] == [4, 2, 3]
    assert "again that was loaded in line 12, because of the store to b in line 13" in found.message


def test_what_is_not_looked_into_is_silent(tmp_path: Path) -> None:
    text = """
    @kb.func_native("a[0] = 1.0f;")
    def native(a: kb.array(dtype=float)): ...


    @kb.kernel
    def kernel(a: kb.array(dtype=float), b: kb.array(dtype=float)):
        i = kb.tid()
        b[i] = a[i]
        native(a)
        b[i + 1] = a[i]
    """
    assert [one for one in findings(tmp_path, text, "coalescing") if one.code == "KB407"] == []
