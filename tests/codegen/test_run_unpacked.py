"""Elements of a slice of an array as values of an assignment and as arguments; known truths as bounds of a range."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.helpers.both_ways import BothWays

TEXT = """
    @kb.func
    def mixed(x: float, y: float, z: float):
        return x + 10.0 * y + 100.0 * z

    @kb.func
    def bump(a: kb.array(dtype=float)):
        a[0] = 7.0
        return 1.0

    @kb.kernel
    def kernel(a: kb.array(dtype=float), m: kb.array2d(dtype=float), out: kb.array(dtype=float)):
        x, y, z = a[1:4]
        out[0] = mixed(x, y, z)
        out[1] = mixed(*a[:5:2])
        out[2] = mixed(*m[1][0:2], 3.0)
        first, second = m[:2]
        out[3] = first[1] + second[1]
        out[4] = kb.max(*a[1:3])
        a[0], a[1] = a[0:2]
        out[5] = mixed(*a[0:2], bump(a))
        x, y = a[kb.static(1) : 3]
        out[6] = x - y
"""


def test_elements_are_read_one_by_one_and_before_what_changes_them(tmp_path: Path) -> None:
    a, m, out = np.arange(1, 6, dtype=np.float32), np.arange(6, dtype=np.float32).reshape(3, 2), np.zeros(7, np.float32)
    BothWays(tmp_path, TEXT)(1, a, m, out)
    assert out.tolist() == [432.0, 531.0, 332.0, 4.0, 3.0, 121.0, -1.0]
    assert a[0] == 7.0


def test_known_truths_are_bounds_of_a_range_in_warps_dialect(tmp_path: Path) -> None:
    text = """
        import kbuild.warp as wp

        @wp.kernel
        def kernel(out: kb.array(dtype=int)):
            for i in range(kb.static(True)):
                out[0] += 1
            for i in range(False, 3):
                out[1] += 1
    """
    out = np.zeros(2, np.int32)
    BothWays(tmp_path, text)(1, out)
    assert out.tolist() == [1, 3]


def test_an_unrolled_loop_over_the_same_name_leaves_its_last_value(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def kernel(out: kb.array(dtype=int)):
            for i in range(2):
                out[i] += 10
                for i in range(1, 4):
                    out[i] += 1
                out[4] += kb.static(i + 1)
                for i in range(0):
                    out[0] += 1000
                out[5] += i
    """
    out = np.zeros(6, np.int32)
    BothWays(tmp_path, text)(1, out)
    assert out.tolist() == [10, 12, 2, 2, 8, 6]
