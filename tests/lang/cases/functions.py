"""Functions of the language that are called wrongly, or that kbuild does not have yet."""

from __future__ import annotations

import kbuild as kb


@kb.kernel
def absent(a: kb.array(dtype=float), id: kb.uint64):
    a[0] = kb.tile_sum(a)  # E: KB114 kb.tile_sum (tiles) is not in kbuild yet
    #      ^^^^^^^^^^^
    q = kb.mesh_query_point(id, kb.vec3(), 1.0)  # E: KB114 kb.mesh_query_point (meshes) is not in kbuild yet
    a[1] = kb.volume_sample_f(id, kb.vec3(), 0)  # E: KB114 (volumes) is not in kbuild yet
    kb.hash_grid_query(id, kb.vec3(), 1.0)  # E: KB114 (hash grids) is not in kbuild yet
    a[2] = q.result


@kb.kernel
def states(a: kb.array(dtype=float), seeds: kb.array(dtype=kb.uint32)):
    a[0] = kb.randf(seeds[0])  # E: KB171 must be a variable, not uint32; copy it into a variable first
    #               ^^^^^^^^
    state = kb.rand_init(1)
    a[1] = kb.randf(state, 0.0)  # E: KB130 kb.randf takes (state: integer) or
    a[2] = kb.randf(state=state)  # E: KB130 kb.randf takes a state and positional arguments
    a[3] = kb.randf(state, kb.int32(1), 2.0)  # E: KB120 argument 'low' of


@kb.kernel
def library(a: kb.array(dtype=float), v: kb.vec3, m: kb.mat33, n: int):
    a[0] = kb.determinant(v)  # E: KB130 kb.determinant takes (m: mat22) or (m: mat33) or (m: mat44), not (vec3
    a[1] = kb.norm_huber()  # E: KB130 kb.norm_huber(v, delta) gets 0 argument(s)
    a[2] = kb.norm_huber(v, rate=1.0)  # E: KB130 has no parameter 'rate'
    a[3] = kb.lower_bound(a, 1, n)  # E: KB130 kb.lower_bound takes
    a[4] = kb.trace(kb.identity(n, float))  # E: KB130 must be a constant, not int32
    a[5] = kb.trace(kb.identity(n=3, dtype=kb.vec3))  # E: KB130 must be a number type
    a[6] = kb.trace(kb.identity(3, n=3))  # E: KB130 does not take 'n' here
    a[7] = kb.trace(kb.skew(kb.vec2()))  # E: KB121 kb.skew takes a vector of length 3, not vec2[float32]
    a[8] = kb.trace(kb.diag(a[0]))  # E: KB121 kb.diag takes a vector, not float32
    a[9] = kb.outer(v, kb.vec3d())[0, 0]  # E: KB120 kb.outer of vectors of float32 and float64
    a[10] = kb.add(a[0])  # E: KB130 kb.add takes 2 argument(s), not 1
    a[11] = kb.mul(v, v)[0]  # E: KB120 element by element
    a[12] = kb.bit_and(a[0], 1)  # E: KB121 `&` takes integers, not float32


@kb.kernel
def bits(a: kb.array(dtype=float), v: kb.array(dtype=kb.vec3)):
    kb.atomic_or(a, 0, 1.0)  # E: KB170 kb.atomic_or does not work on float32: it takes integers
    a[0] &= 1.0  # E: KB121 `&=` does not take float32
    v[0] ^= v[1]  # E: KB121 `^=` does not take vec3[float32]
