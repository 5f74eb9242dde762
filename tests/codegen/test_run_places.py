"""Atomics on parts of elements, fma of vectors and matrices, single coordinates: as generated code, and interpreted."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.helpers.both_ways import BothWays, zeros


def test_atomics_on_parts_of_elements_give_the_value_before(tmp_path: Path) -> None:
    run = BothWays(
        tmp_path,
        """
        @kb.kernel
        def k(p: kb.array(dtype=kb.vec3), m: kb.array(dtype=kb.mat22), a: kb.array(dtype=float),
              n: kb.array(dtype=int)):
            for i in range(4):
                before = kb.atomic_add(p[0][1], 2.0)
                a[i] = before
                kb.atomic_max(m[0][1, 0], float(i))
                kb.atomic_sub(p[1], kb.vec3(1.0, 2.0, 3.0))
                n[1 + i] = kb.atomic_add(n[0], 3) + 100
                was = kb.atomic_exch(p[2][kb.atomic_add(n[9], 1) % 3], kb.float32(n[9]))
                a[4 + i] = was
        """,
    )
    p, m, a, n = zeros(3, 3), zeros(1, 2, 2), zeros(8), zeros(10, kind=np.int32)
    run(1, p, m, a, n)
    assert a[:4].tolist() == [0.0, 2.0, 4.0, 6.0]
    assert p[:2].tolist() == [[0.0, 8.0, 0.0], [-4.0, -8.0, -12.0]]
    assert m[0].tolist() == [[0.0, 0.0], [3.0, 0.0]]
    assert n.tolist() == [12, 100, 103, 106, 109, 0, 0, 0, 0, 4]
    # The index is taken before the value: trip i replaces component i % 3 by i + 1.
    assert p[2].tolist() == [4.0, 2.0, 3.0]
    assert a[4:].tolist() == [0.0, 0.0, 0.0, 1.0]


def test_fma_of_composites_rounds_once(tmp_path: Path) -> None:
    run = BothWays(
        tmp_path,
        """
        @kb.kernel(fmad=False)
        def k(v: kb.array(dtype=kb.vec2), m: kb.array(dtype=kb.mat22d)):
            v[3] = kb.fma(v[0], v[1], v[2])
            v[4] = kb.fma(v[0], 3.0, v[2])
            v[5] = v[0] * 3.0 + v[2]
            m[2] = kb.fma(m[0], m[1][0, 0], m[1])
            m[3] = kb.fma(m[0], m[1], m[0])
        """,
    )
    v, m = zeros(6, 2), zeros(4, 2, 2, kind=np.float64)
    v[:3] = [[1.0 + 2**-12, 0.1], [1.0 + 2**-12, 0.3], [-1.0, 0.7]]
    m[:2] = [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]
    run(1, v, m)
    wide = v.astype(np.float64)
    assert v[3].tolist() == (wide[0] * wide[1] + wide[2]).astype(np.float32).tolist()
    assert v[4].tolist() == (wide[0] * 3.0 + wide[2]).astype(np.float32).tolist()
    assert v[3, 0] != np.float32(v[0, 0] * v[1, 0]) + v[2, 0]
    assert v[5].tolist() == (v[0] * np.float32(3.0) + v[2]).tolist()
    assert m[2].tolist() == [[10.0, 16.0], [22.0, 28.0]]
    assert m[3].tolist() == [[6.0, 14.0], [24.0, 36.0]]


def test_calls_whose_result_is_a_variable_keep_their_order(tmp_path: Path) -> None:
    run = BothWays(
        tmp_path,
        """
        @kb.func
        def bump(a: kb.array(dtype=int), by: int):
            a[0] = a[0] + by
            return a[0]
        @kb.func
        def twice(a: kb.array(dtype=int)):
            return bump(a, 1), bump(a, 1)
        @kb.kernel
        def k(a: kb.array(dtype=int)):
            x = bump(a, 1)
            x = bump(a, x)
            y = z = bump(a, 10)
            p, q = bump(a, 1), bump(a, x)
            r = twice(a)
            s = t = twice(a)
            a[1] = x
            a[2] = y + z
            a[3] = p * 1000 + q
            a[4] = r[0] * 1000 + r[1]
            a[5] = s[0] * 1000 + t[1]
            u = a[bump(a, 1) - 19]
            a[6] = u
        """,
    )
    a = zeros(8, kind=np.int32)
    run(1, a)
    assert a.tolist() == [20, 2, 24, 13015, 16017, 18019, 2, 0]


def test_single_coordinates(tmp_path: Path) -> None:
    run = BothWays(
        tmp_path,
        "@kb.kernel\ndef k(a: kb.array(dtype=int)):\n    a[kb.tid(0, 1)] = kb.tid(0, 1) * 2\n",
    )
    a = zeros(4, kind=np.int32)
    run(3, a)
    assert a.tolist() == [0, 2, 4, 0]


def test_an_index_with_effects_in_a_place(tmp_path: Path) -> None:
    """The store goes where the place is, not into a copy of what the index is an index of."""
    run = BothWays(
        tmp_path,
        """
        @kb.func
        def bump(n: kb.array(dtype=int)):
            n[0] += 1
            return n[0]
        @kb.kernel
        def k(p: kb.array(dtype=kb.vec3), q: kb.array2d(dtype=kb.vec3), m: kb.array(dtype=kb.mat22),
              n: kb.array(dtype=int)):
            p[2][bump(n)] = 5.0
            p[n[0]][bump(n)] += 6.0
            m[0][bump(n) - 3][1] = 7.0
            q[n[1]][bump(n) - 4][bump(n) - 5] *= 0.0
            q[n[1]][bump(n) - 6][bump(n) - 6] = 8.0
            v = p[0]
            v[bump(n) - 8] = 9.0
            p[0] = v
            s = kb.rand_init(3)
            i = kb.uint32(1)
            m[i] += kb.mat22(kb.randf(i) * 0.0 + 1.0)
            kb.atomic_add(m[s % kb.uint32(1)][1], kb.vec2(1.0) * (kb.randf(s) * 0.0 + 1.0))
        """,
    )
    p, q, m, n = zeros(3, 3), zeros(2, 2, 3) + 1, zeros(2, 2, 2), zeros(2, kind=np.int32)
    run(1, p, q, m, n)
    assert n.tolist() == [8, 0]
    assert p.tolist() == [[9.0, 0.0, 0.0], [0.0, 0.0, 6.0], [0.0, 5.0, 0.0]]
    assert q.tolist() == [[[0.0, 8.0, 1.0], [1.0, 1.0, 1.0]], [[1.0] * 3] * 2]
    assert m.tolist() == [[[0.0, 7.0], [1.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]]
