"""Tables of constants as generated code, thread after thread and in lockstep: the same elements everywhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kbuild.sim.values import OutOfBounds
from tests.helpers.both_ways import BothWays

NUMBERS = {
    "bool_": [True, False, True],
    "int8": [-128, 127, 3],
    "uint8": [255, 0, 3],
    "int16": [-32768, 32767, 3],
    "uint16": [65535, 0, 3],
    "int32": [-(2**31), 2**31 - 1, 3],
    "uint32": [2**32 - 1, 0, 3],
    "int64": [-(2**63), 2**63 - 1, 3],
    "uint64": [2**64 - 1, 0, 3],
    "float16": [0.1, -0.0, 65504.0],
    "float32": [0.1, -0.0, 3.4e38],
    "float64": [0.1, -0.0, 1.7e308],
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_elements_of_every_type(tmp_path: Path, kind: str) -> None:
    text = f"""
        TABLE = kb.constant({NUMBERS[kind]}, dtype=kb.{kind})

        @kb.kernel
        def k(out: kb.array(dtype=kb.{kind})):
            i = kb.tid()
            out[i] = TABLE[2 - i]
        """
    out = np.zeros(3, "bool" if kind == "bool_" else kind)
    BothWays(tmp_path, text)(3, out)
    assert out.tobytes() == np.array(NUMBERS[kind], out.dtype)[::-1].tobytes()


def test_vectors_matrices_axes_views_and_functions(tmp_path: Path) -> None:
    run = BothWays(
        tmp_path,
        """
        import numpy as np

        GRID = kb.constant(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
        STEPS = kb.constant([kb.vec3(1.0, 2.0, 3.0), kb.vec3(4.0, 5.0, 6.0)])
        TURNS = kb.constant([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]], dtype=kb.mat22)

        @kb.func
        def total(values: kb.array(dtype=float)):
            sum = float(0.0)
            for i in range(len(values)):
                sum += values[i]
            return sum

        @kb.func
        def named(i: int, j: int):
            return GRID[i, j, 1]

        @kb.kernel
        def k(out: kb.array2d(dtype=float)):
            i = kb.tid()
            plane = GRID[i % 2]
            row = plane[i % 3]
            out[i, 0] = row[3] + GRID[i % 2][i % 3, 2]
            out[i, 1] = total(row) + total(GRID[1, 2])
            out[i, 2] = STEPS[i % 2][i % 3] + STEPS[1].y + TURNS[i % 2][1, 0] + TURNS[0][i % 2, 1]
            out[i, 3] = named(i % 2, i % 3) + float(GRID.shape[0] * 100 + GRID.shape[2] * 10 + len(GRID[0]))
            same = GRID if i > 2 else GRID
            out[i, 4] = same[-1, -1, -1]
        """,
    )
    out = np.zeros((6, 5), np.float32)
    run(6, out)
    grid = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    steps = np.array([[1, 2, 3], [4, 5, 6]])
    turns = np.arange(1, 9).reshape(2, 2, 2)
    for i in range(6):
        row = grid[i % 2, i % 3]
        assert out[i].tolist() == [
            row[3] + row[2],
            row.sum() + grid[1, 2].sum(),
            steps[i % 2, i % 3] + 5 + turns[i % 2, 1, 0] + turns[0, i % 2, 1],
            row[1] + 243,
            23,
        ]


def test_one_of_two_tables(tmp_path: Path) -> None:
    run = BothWays(
        tmp_path,
        """
        EVEN = kb.constant([0, 2, 4])
        ODD = kb.constant([1, 3, 5])

        @kb.kernel
        def k(out: kb.array(dtype=int)):
            i = kb.tid()
            table = EVEN
            if i % 2 == 1:
                table = ODD
            out[i] = table[i // 2]
        """,
    )
    out = np.zeros(6, np.int32)
    run(6, out)
    assert out.tolist() == list(range(6))


@pytest.mark.parametrize("index", [3, -1])
def test_indices_are_checked(tmp_path: Path, index: int) -> None:
    text = """
        TABLE = kb.constant([1, 2, 3])

        @kb.kernel
        def k(out: kb.array(dtype=int), i: int):
            out[0] = TABLE[i]
        """
    from kbuild.ir.types import INT32
    from kbuild.sim.blocks import over
    from kbuild.sim.threads import run_launch
    from kbuild.sim.values import Memory
    from tests.helpers import kernels
    from tests.helpers.lockstep import run_in_lockstep

    (kernel,) = kernels.lower_text(tmp_path, text)
    with pytest.raises(OutOfBounds, match=rf"index {index} on axis 0 of an array of shape \(3,\)"):
        run_launch(kernel, over((1,), 32), [Memory(INT32, (1,), [0]), index])
    with pytest.raises(OutOfBounds, match=rf"index {index} on axis 0 of an array of shape \(3,\)"):
        run_in_lockstep(kernel, over((1,), 32), [np.zeros(1, np.int32), index])


def test_structs(tmp_path: Path) -> None:
    """With gaps, structs inside, vectors and matrices, through functions, rows and at known places."""
    run = BothWays(
        tmp_path,
        """
        @kb.struct
        class Joint:
            limit: kb.float64
            kind: kb.int8

        @kb.struct
        class Link:
            mass: float
            ends: kb.vec2i
            is_fixed: bool
            turn: kb.mat22
            joint: Joint

        def link(i):
            joint = Joint(limit=0.25 * i, kind=i - 2)
            turn = kb.mat22(1.0, 2.0, 3.0, float(i))
            return Link(mass=0.5 * i, ends=kb.vec2i(i, -i), is_fixed=i % 2 == 0, turn=turn, joint=joint)

        LINKS = kb.constant([[link(3 * j + i) for i in range(3)] for j in range(2)])

        @kb.func
        def weight(links: kb.array(dtype=Link), i: int):
            return links[i].mass + float(links[i].ends[1]) + float(len(links))

        @kb.kernel
        def k(out: kb.array2d(dtype=float)):
            i = kb.tid()
            one = LINKS[i // 3, i % 3]
            row = LINKS[i // 3]
            out[i, 0] = one.mass + one.turn[1, 1] * 10.0 + float(one.joint.kind) * 100.0
            out[i, 1] = weight(row, i % 3)
            out[i, 2] = float(row[i % 3].joint.limit) + float(LINKS[1, 2].joint.kind)
            out[i, 3] = float(int(row[i % 3].is_fixed)) + float(LINKS[i // 3][i % 3].ends.x)
            one.mass = -1.0  # a copy
            out[i, 3] += one.mass * 1000.0
        """,
    )
    out = np.zeros((6, 4), np.float32)
    run(6, out)
    wanted = [
        [0.5 * i + 10 * i + 100 * (i - 2), 0.5 * i - i + 3, 0.25 * i + 3, (i % 2 == 0) + i - 1000.0] for i in range(6)
    ]
    assert out.tolist() == wanted
