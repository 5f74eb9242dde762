"""What is moved in pieces: of which accesses it is said, and of which it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.audits import findings

HEAD = """
@kb.struct
class Body:
    turn: kb.quat
    place: kb.vec3
    mass: float


@kb.struct
class Scene:
    first: Body
    second: Body


@kb.kernel
def kernel({}):
    i = kb.tid()
    {}
"""
FLOATS = "a: kb.array(dtype=float), b: kb.array(dtype=float)"
PLANE = "a: kb.array2d(dtype=float), b: kb.array(dtype=float)"
ALIKE = "b[i] = a[4 * i] + a[4 * i + 1] + a[4 * i + 2] + a[4 * i + 3]"
BODIES = "a: kb.array(dtype={}), b: kb.array(dtype=kb.quat)"

TOLD = {
    "four numbers": (FLOATS, ALIKE, "reads 4 numbers of a side by side by 4 instructions of 4 bytes, where one of 16"),
    "in pairs": (FLOATS, "b[2 * i] = a[6 * i] + a[6 * i + 1]\n    b[2 * i + 1] = 1.0", "2 instructions of 4 bytes"),
    "two rows of words": (FLOATS, "for k in range(8):\n        b[i] += a[8 * i + k]", "where 2 of 16 would do"),
    "bytes": (
        "a: kb.array(dtype=kb.uint8), b: kb.array(dtype=int)",
        "b[i] = int(a[4 * i]) + int(a[4 * i + 1]) + int(a[4 * i + 2]) + int(a[4 * i + 3])",
        "4 instructions of 1 byte, where one of 4",
    ),
    "rows of a known length": (
        PLANE,
        "kb.assume(a.shape[1] == 4)\n    b[i] = a[i, 0] + a[i, 1] + a[i, 2] + a[i, 3]",
        "side by side",
    ),
    "a field": (BODIES.format("Body"), "b[i] = a[i].turn", "reads the field 'turn' of elements of a by 4 instructions"),
    "a field of a field": (BODIES.format("Scene"), "b[i] = a[i].second.turn", "the field 'turn' of elements of a"),
    "a field that is stored": (BODIES.format("Body"), "a[i].turn = b[i]", "stores the field 'turn' of elements of a"),
    "two of four components": (
        "a: kb.array(dtype=kb.vec4), b: kb.array(dtype=float)",
        "b[i] = a[i].x + a[i].w",
        "reads an element of a by 2 instructions of 4 bytes, where one of 16 would do",
    ),
}
NOT_TOLD = {
    "three numbers": (FLOATS, "b[i] = a[3 * i] + a[3 * i + 1] + a[3 * i + 2]"),
    "not at multiples": (FLOATS, "b[i] = a[4 * i + 1] + a[4 * i + 2] + a[4 * i + 3] + a[4 * i + 4]"),
    "one that another access needs alone": (FLOATS, f"{ALIKE}\n    b[i] += a[i]"),
    "one that is missing": (FLOATS, "b[i] = a[4 * i] + a[4 * i + 1] + a[4 * i + 2]"),
    "one under a condition": (FLOATS, "b[i] = a[2 * i]\n    if b[i] > 0.0:\n        b[i] = a[2 * i + 1]"),
    "the same for all threads": (FLOATS, "b[i] = a[0] + a[1] + a[2] + a[3]"),
    "rows of any length": (PLANE, "b[i] = a[i, 0] + a[i, 1] + a[i, 2] + a[i, 3]"),
    "any factor": (FLOATS + ", n: int", "b[i] = a[n * i] + a[n * i + 1] + a[n * i + 2] + a[n * i + 3]"),
    "counted by atomics": (FLOATS, f"{ALIKE}\n    kb.atomic_add(a, 4 * i, 1.0)"),
    "a long way of each thread": (FLOATS, "for k in range(64):\n        b[i] += a[64 * i + k]"),
    "the same in every thread's loop": (FLOATS, "for k in range(4):\n        b[i] += a[k]"),
    "backwards": (FLOATS, "for k in range(4):\n        b[i] += a[4 * i + 4 - k]"),
    "across": (FLOATS, "for k in range(4):\n        b[i] += a[4 * i + 2 * k]"),
    "a loop that begins in between": (FLOATS, "for k in range(4):\n        b[i] += a[4 * i + 1 + k]"),
    "under a condition in a loop": (
        FLOATS,
        "for k in range(4):\n        if b[i] < 5.0:\n            b[i] += a[4 * i + k]",
    ),
    "through an array of indices": ("a: kb.indexedarray(dtype=float), b: kb.array(dtype=float)", ALIKE),
    "a field without words": (BODIES.format("Body"), "b[i] = kb.quat(a[i].place.x, a[i].mass, 0.0, 1.0)"),
    "one component": ("a: kb.array(dtype=kb.vec4), b: kb.array(dtype=float)", "b[i] = a[i].x"),
    "components of two branches": (
        "a: kb.array(dtype=kb.vec4), b: kb.array(dtype=float)",
        "if b[i] > 0.0:\n        b[i] = a[i].x\n    else:\n        b[i] = a[i].y",
    ),
    "some components stored": (
        "a: kb.array(dtype=kb.vec4), b: kb.array(dtype=float)",
        "a[i].x = b[i]\n    a[i].y = 1.0",
    ),
    "shared memory": (
        "a: kb.array(dtype=kb.vec4), b: kb.array(dtype=float)",
        "s = kb.shared_array(256, kb.vec4)\n    t = kb.thread_idx()\n    s[t] = a[i]\n    b[i] = s[t].x + s[t].y",
    ),
}


def said(folder: Path, parameters: str, body: str) -> list[str]:
    found = findings(folder, HEAD.format(parameters, body), "coalescing")
    return [one.message for one in found if one.code == "KB408"]


@pytest.mark.parametrize("what", TOLD)
def test_what_is_told(tmp_path: Path, what: str) -> None:
    parameters, body, text = TOLD[what]
    assert any(text in message for message in said(tmp_path, parameters, body))


@pytest.mark.parametrize("what", NOT_TOLD)
def test_what_is_not(tmp_path: Path, what: str) -> None:
    assert said(tmp_path, *NOT_TOLD[what]) == []


def test_the_cure_names_the_type(tmp_path: Path) -> None:
    found = findings(tmp_path, HEAD.format(FLOATS, ALIKE), "coalescing")
    (help,) = [one.help for one in found if one.code == "KB408"]
    assert help == "let the elements of a be `kb.vec4`: `v = a[…]` moves them at once"
