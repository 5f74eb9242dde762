"""Subscripts, attributes, and what can be assigned."""

import kbuild as kb

ORIGIN = kb.vec3(0.0, 0.0, 0.0)


@kb.struct
class Spring:
    rest: float
    ends: kb.vec2i
    lengths: kb.array(dtype=float)


@kb.kernel
def index_counts(a: kb.array(dtype=float), b: kb.array2d(dtype=float), v: kb.vec3, m: kb.mat33, n: int):
    a[0, 1] = 1.0  # E: KB140 2 index(es) for array1[float32]
    b[0] = 1.0  # E: KB140 index every one of them
    x = v[0, 1]  # E: KB140 2 indices for vec3
    y = m[0, 1, 2]  # E: KB140 3 indices for mat3x3
    z = n[0]  # E: KB140 int32 cannot be indexed
    w = a.shape[n]  # E: KB140 must be a constant
    a[0] = x + y + z + w
    a[v] = 1.0  # E: KB140 an index must be an integer, not vec3
    a[n > 1] = 1.0  # E: KB140 an index must be an integer, not bool
    b[0][1] = 1.0
    a[()] = 1.0  # E: KB140 no index
    a[0] = v[()]  # E: KB140 no index
    a[0] = a.shape[()]  # E: KB140 no index


@kb.kernel
def out_of_range(a: kb.array(dtype=float), v: kb.vec3, m: kb.mat22):
    a[-1] = 1.0
    a[0] = v[3]  # E: KB141 outside 0 … 2
    a[1] = v[-4]  # E: KB141 index -4
    a[2] = m[0, 2]  # E: KB141 outside 0 … 1
    a[3] = float(a.shape[1])  # E: KB141 position 1 of 1
    v[5] = 1.0  # E: KB141 index 5
    a[4] = v[-1]


@kb.kernel
def unknown_fields(s: Spring, springs: kb.array(dtype=Spring), v: kb.vec3, w: kb.vec2, a: kb.array(dtype=float), n: int):
    a[0] = s.rset  # E: KB142 did you mean 'rest'?
    #      ^^^^^^
    a[1] = springs[0].stiffness  # E: KB142 has no field 'stiffness'
    a[2] = v.w  # E: KB142 has no attribute 'w'
    a[3] = w.z  # E: KB142 has no attribute 'z'
    a[4] = float(a.size)  # E: KB142 they have .shape, .ndim and .dtype
    a[5] = n.real  # E: KB142 int32 has no attribute 'real'
    springs[0].lenght = 1.0  # E: KB142 has no field 'lenght'
    v.q = 1.0  # E: KB142 has no attribute 'q'


@kb.func
def position(x: float):
    return kb.vec3(x, x, x)


@kb.kernel
def not_assignable(s: Spring, a: kb.array(dtype=float), v: kb.vec3):
    s.rest = 1.0  # E: KB143 's' is a parameter
    s.ends[0] = 1  # E: KB143 the caller would not see this change
    s.rest += 1.0  # E: KB143 's' is a parameter
    s.lengths[0] = 1.0
    a.shape = 3  # E: KB143 cannot be assigned
    a.shape[0] = 3  # E: KB143 cannot be assigned
    ORIGIN[0] = 1.0  # E: KB143 cannot be assigned
    position(1.0)[0] = 2.0  # E: KB143 cannot be assigned
    kb.tau = 1.0  # E: KB142 has no attribute 'tau'
    Spring.rest = 1.0  # E: KB142 has no attribute 'rest'
    (v + v)[0] = 1.0  # E: KB143 cannot be assigned


@kb.kernel
def wrong_values(a: kb.array(dtype=kb.vec3), s: kb.array(dtype=Spring)):
    a[0] = 1.0  # E: KB122 must be vec3[float32]
    a[0][0] = 1.0
    a[1] = a[1][0]  # E: KB120 the value must be vec3[float32], not float32
    s[0] = a[0]  # E: KB120 the value must be struct
    s[0].ends = kb.vec2(1.0, 2.0)  # E: KB120 must be vec2[int32], not vec2[float32]
    t = Spring()
    a[0] += 1.0  # E: KB122 must be vec3
    s[0] += s[1]  # E: KB121 does not take struct
