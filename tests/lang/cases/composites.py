"""Vectors, quaternions, transforms and matrices of every size, put together wrongly."""

import kbuild as kb

mat23 = kb.types.matrix(shape=(2, 3), dtype=float)
LENGTH = 4


@kb.kernel
def products(m: mat23, v: kb.vec3, d: kb.vec3d, q: kb.quat, t: kb.transform, p: kb.quatd):
    a = m @ m  # E: KB120 `@` between mat2x3[float32] and mat2x3[float32]
    b = v @ m  # E: KB120 it takes matrices and vectors of one element type, as many columns as there are rows
    c = m @ d  # E: KB120 between mat2x3[float32] and vec3[float64]
    e = q * v  # E: KB120 turn it: `kb.quat_rotate(q, v)`
    f = t * v  # E: KB120 move it: `kb.transform_point(t, v)`
    g = q @ q  # E: KB120 between quat[float32] and quat[float32]
    h = q * p  # E: KB120 between quat[float32] and quat[float64]
    i = q + t  # E: KB120 between quat[float32] and transform[float32]
    j = q < q  # E: KB121 cannot be compared
    k = a + b + c + e + f + g + h + i + j


@kb.kernel
def constructors(v: kb.vec3, d: kb.vec3d, w: kb.vec4, q: kb.quat, n: int, out: kb.array(dtype=float)):
    a = kb.quat(1.0)  # E: KB130 quat[float32] takes 0 or 4 numbers, not 1
    b = kb.quat(v, v)  # E: KB120 a part of quat[float32] must be float32, not vec3[float32]
    c = kb.transform(v, w)  # E: KB120 a part of transform[float32] must be quat[float32], not vec4[float32]
    e = kb.transform(r=v)  # E: KB130 or p= and q=
    f = kb.mat33(v, v, v)  # E: KB130 `kb.matrix_from_rows(…)` or `kb.matrix_from_cols(…)`
    g = kb.matrix_from_rows(v, d)  # E: KB120 a vector in kb.matrix_from_rows must be vec3[float32], not vec3[float64]
    h = kb.matrix_from_cols()  # E: KB130 takes vectors, not nothing
    i = kb.matrix(1.0, 2.0)  # E: KB130 write `kb.matrix(…, shape=(2, 3))`
    ii = kb.matrix(1.0, 2.0, shape=2)  # E: KB130 a shape of two numbers (rows, columns), not 2
    j = kb.matrix(shape=(n, 3), dtype=float)  # E: KB130 is not known while building
    k = kb.vector(1.0, 2.0, typ=float)  # E: KB130 it has length, dtype
    l = kb.vector(True, False) + kb.vector(True, True)  # E: KB121 `+` does not take vec2[bool]
    m = kb.quat_identity(dtype=int)  # E: KB130 made of floating-point numbers, not of int32
    o = kb.types.vector(length=0, dtype=float)(1.0)  # E: KB130 length must be a whole number from 1 to 9999, not 0
    p = -kb.types.matrix(shape=(2, 2), dtype=bool)(True)  # E: KB121 `-` does not take mat2x2[bool]
    r = kb.vec4(q)  # E: KB120 an element of vec4[float32] must be float32, not quat[float32]
    s = kb.spatial_vector(v, d)  # E: KB120 a part of vec6[float32]
    t = kb.vector(dtype="float")  # E: KB130 is not a type that a kernel knows
    u = kb.transform_identity(float, float)  # E: KB130 takes one argument, dtype
    out[0] = a.x + b.x + c.p.x + e.p.x + f[0, 0] + g[0, 0] + h[0, 0] + i[0, 0] + j[0, 0] + k.x + l.x + m.x
    out[2] = ii[0, 0]
    out[1] = o.x + p[0, 0] + r.x + s.x + t.x + u.p.x


@kb.kernel
def parts(v: kb.vec4, m: mat23, n: int, t: kb.transform, out: kb.array(dtype=kb.vec2)):
    a = v[0:n]  # E: KB140 the bounds of a slice must be constants
    b = v[4:LENGTH]  # E: KB141 the slice is empty: positions are 0 … 3
    c = v[0:3:0]  # E: KB141 a slice with a step of zero
    d = m[0:1, 3]  # E: KB141 index 3 is outside 0 … 2
    e = m[0:1, 0.5]  # E: KB140 an index must be an integer
    f = m[0:1, 0:1, 0]  # E: KB140 3 indices for mat2x3[float32]
    g = t.x  # E: KB142 its parts are .p (position) and .q (rotation)
    out[0] = v[0:3]  # E: KB120 the value must be vec2[float32], not vec3[float32]
    v[0:2] = v  # E: KB120 the value must be vec2[float32], not vec4[float32]
    kb.vec4(1.0)[0:2] = out[0]  # E: KB143 assign to a part of a variable or of an array element
    kb.vec4(1.0)[0:2] += out[0]  # E: KB143 assign to a part of a variable or of an array element
    out[1] = a + b + c + d + e + f + g


@kb.struct
class Body:
    pose: kb.transform


@kb.kernel
def parameters(body: Body, v: kb.vec4):
    body.pose.p = kb.vec3(0.0)  # E: KB143 the caller would not see this change
    v[0:2] = kb.vec2(1.0)


@kb.kernel
def library(v: kb.vec3, w: kb.vec4, q: kb.quat, d: kb.quatd, i: kb.vec3i, m: mat23, out: kb.array(dtype=kb.vec3)):
    a = kb.quat_rotate(w, v)  # E: KB130 kb.quat_rotate: q must be a quaternion, not vec4[float32]
    #   ^^^^^^^^^^^^^^^^^^^^
    b = kb.quat_rotate(d, v)  # E: KB130 v is made of float32, but float64 came before it
    c = kb.quat_rotate(q, i)  # E: KB130 v must be a vector of length 3 of floating-point numbers, not vec3[int32]
    e = kb.transform_point(q, v)  # E: KB130 t must be a transform, not quat[float32]
    f = kb.transform_point(m, v)  # E: KB130 m must be a 4 × 4 matrix, not mat2x3[float32]
    g = kb.quat_to_euler(q, 0, 1)  # E: KB130 kb.quat_to_euler(q, i, j, k) gets 3
    h = kb.quat_to_euler(q, 0, 1, 2.0)  # E: KB122 argument 'k'
    j = kb.spatial_top(v)  # E: KB130 s must be a spatial vector, not vec3[float32]
    out[0] = a + b + c + e + f + g + h + j
