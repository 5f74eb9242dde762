"""Everything of the language that is no plain call: operators, parts of values, constructors, places in memory, own
functions. `operator_cases` says what a line means, and makes kernels of it.
"""

from __future__ import annotations

ARITHMETIC = """
E a, E b, E out | out[i] = a[i] + b[i]
E a, E b, E out | out[i] = a[i] - b[i]
E a, E b, E out | out[i] = a[i] * b[i]
E a, E d, E out | out[i] = a[i] / d[i]
E a, E b, E out | out[i] = a[i] % b[i] # mod
E a, E b, E out | out[i] = a[i] // b[i] # floordiv
E x, E y, E out | out[i] = x[i] ** y[i] # pow
E p, E out | out[i] = p[i] ** 2.0 + p[i] ** 0.5 + 2.0 ** p[i]
E a, E out | out[i] = -a[i]
E a, E out | out[i] = +a[i]
E a, E d, E out | out[i] = 2.0 * a[i] + a[i] * 0.5 + a[i] / 4.0 + 1.0 / d[i] + (3.0 - a[i]) - (a[i] - 1.0)
E a, E out | out[i] = a[i] * a[i] * a[i]
E a, E out | out[i] = a[i] - a[i] * a[i] + a[i]
E a, E b, E c_, E out | out[i] = a[i] * b[i] + c_[i]
E a, E b, E c_, E out | out[i] = a[i] * b[i] - c_[i]
E a, E b, E c_, E out | out[i] = c_[i] - a[i] * b[i]
E a, E b, E c_, E out | out[i] = a[i] * b[i] + b[i] * c_[i] - a[i] * c_[i]
E a, E b, E d, E out | out[i] = -(a[i] + b[i]) * (a[i] - b[i]) / (d[i] * d[i])
E a, int32 n, E out | out[i] = a[i] * kb.E(n[i]) + kb.E(n[i] * n[i] - 3)
E a, int32 n, E out, int32 m | out[i] = a[i] * kb.E(n[i] % 3); m[i] = n[i] // 2 + (n[i] << 1) - (n[i] & 3)
V a, V b, V out | out[i] = a[i] + b[i]
V a, V b, V out | out[i] = a[i] - b[i]
V a, E b, V out | out[i] = a[i] * b[i]
V a, E b, V out | out[i] = b[i] * a[i]
V a, E d, V out | out[i] = a[i] / d[i]
V a, V out | out[i] = -a[i]
V a, V out | out[i] = +a[i]
V a, V out | out[i] = 2.0 * a[i] + a[i] * 0.5 - a[i] / 4.0
V a, E b, V c_, V out | out[i] = a[i] * b[i] + c_[i]
V a, V b, E c_, E e, V out | out[i] = a[i] * c_[i] - e[i] * b[i]
Quat a, Quat b, Quat out | out[i] = a[i] * b[i]
Transform a, Transform b, Transform out | out[i] = a[i] * b[i]
Mat23 m, Vec3 v, Vec2 out | out[i] = m[i] @ v[i]
Mat33 m, Vec3 v, Vec3 out | out[i] = m[i] @ v[i]
Mat22 m, Vec2 v, Vec2 out | out[i] = m[i] * v[i]
Mat23 m, Vec2 v, Vec3 out | out[i] = v[i] @ m[i]
Mat44 m, Vec4 v, Vec4 out | out[i] = v[i] @ m[i]
Mat23 a, Mat34 b, Mat24 out | out[i] = a[i] @ b[i]
Mat33 a, Mat33 b, Mat33 out | out[i] = a[i] @ b[i]
Mat22 a, Mat22 b, Mat22 out | out[i] = a[i] * b[i]
Mat33 a, Mat33 b, Vec3 v, Vec3 out | out[i] = a[i] @ (kb.transpose(b[i]) @ v[i]) + v[i]
"""

CHOICES = """
E a, E b, E out | out[i] = a[i] * b[i] if a[i] > b[i] else a[i] - b[i] # min
E a, E b, E out | out[i] = a[i] * b[i] if a[i] <= b[i] else b[i] # min
E a, E b, E out | out[i] = kb.where(a[i] < b[i], a[i] * a[i], b[i]) # min
E a, E b, E out | out[i] = kb.select(a[i] < b[i], a[i] * a[i], b[i]) # min
E a, E b, E out | out[i] = kb.where(a[i] == b[i], a[i], a[i] * b[i]) + kb.where(a[i] != b[i], b[i], a[i]) # min
E a, E b, E out | out[i] = kb.where(not (a[i] >= b[i] and b[i] > -a[i] or a[i] < b[i] < 4.0), a[i] * b[i], b[i]) # min
E a, E b, E out | out[i] = kb.E(a[i] > b[i]) * a[i] + kb.E(int(a[i] < b[i])) * b[i] # min
Bool c, V a, V b, V out | out[i] = a[i] if c[i] else b[i]
Bool c, V a, V b, V out | out[i] = kb.where(c[i], a[i] * 2.0, b[i] - a[i])
Bool c, V a, V b, V out | out[i] = kb.select(c[i], a[i], b[i])
Bool c, E a, E b, E out | out[i] = a[i] * b[i] if kb.unot(c[i]) else b[i]
Bool c, E p, E out | out[i] = kb.sqrt(p[i]) if c[i] else kb.log(p[i]) / p[i]
Vec3 a, Vec3 b, Vec3 out | out[i] = a[i] if a[i] == b[i] else b[i] * 2.0
E a, E b, E out | out[i] = abs(a[i] - b[i]) + min(a[i], b[i]) * max(a[i], b[i]) # min
E x, E y, E out | out[i] = pow(x[i], y[i]) # pow
E a, E out | out[i] = kb.max(a[i] * a[i], 0.25) + kb.clamp(a[i], -1.0, 1.0) * kb.min(2.5, a[i])
E a, int32 n, E out | k = kb.min(n[i], 2); out[i] = a[i] * kb.E(kb.abs(k))
"""

PARTS = """
Vec4 a, E out | v = a[i]; out[i] = v[0] * v.y - v[2] / 2.0 + v.w * v[-1]
Vec4 a, E out | out[i] = a[i][0] * a[i].y + a[i].z
Vec4 a, Bits k, E out | v = a[i]; out[i] = v[k[i]] * v[k[i] + 2]
Vec4 a, Bits k, E out | out[i] = a[i][k[i]] * a[i][3 - k[i]]
Vec5 a, Vec3 out | out[i] = a[i][0:3]
Vec5 a, Vec2 out | v = a[i]; out[i] = v[1:3] * v[4]
Vec5 a, Vec3 out | v = a[i]; out[i] = v[2:] + v[:3] - v[-4:-1]
Vec5 a, Vec3 out | v = a[i]; out[i] = v[0:5:2]
Vec5 a, Vec3 b, Vec5 out | v = a[i]; v[1:4] = b[i]; out[i] = v * v[2]
Vec5 a, Vec3 b, Vec5 out | v = a[i]; v[0:3] += b[i]; out[i] = v * v[2]
Vec5 a, Vec3 b, Vec5 out | v = a[i]; v[2:] -= b[i] * v[0]; v[:2] *= b[i].x; v[1:4] /= 2.0; out[i] = v * v[2]
Quat a, Vec3 out | out[i] = a[i][0:3] * a[i].w
Transform a, Vec3 out | t = a[i]; out[i] = t[0:3] + t[3:6] * t[6]
Vec3 a, E b, Vec3 out | v = a[i]; w = v; w[0] = b[i] * v[1]; v[2] *= w[0]; out[i] = v + w * 2.0
E a, E b, E out | x = a[i]; a[i] = b[i]; b[i] = x * b[i]; out[i] = x * a[i]
Quat a, E out | q = a[i]; out[i] = q.x * q[3] - q.y * q.z
Transform a, Vec3 out | out[i] = a[i].p * a[i].q.w
Transform a, Quat out | t = a[i]; out[i] = t.q * t.p[1]
Transform a, Vec3 v, Transform out | t = a[i]; t.p = v[i] * t.p[0]; out[i] = t
Transform a, Quat q, Transform out | t = a[i]; t.q = q[i] * t.q; out[i] = t
Transform a, Vec3 v, Transform out | t = a[i]; t.p += v[i] * t.q.x; t.q *= 2.0; out[i] = t
Transform a, E b, Transform out | t = a[i]; t.p.y *= b[i]; t.q[2] += b[i]; t[6] = t[5] * b[i]; out[i] = t
Mat23 a, E out | m = a[i]; out[i] = m[0, 1] * m[1, 2] + m[-1, 0]
Mat23 a, E out | out[i] = a[i][0, 1] * a[i][1][2]
Mat33 a, Bits k, E out | m = a[i]; out[i] = m[k[i], 1] * m[2, k[i]]
Mat23 a, Vec3 out | m = a[i]; out[i] = m[0] + m[1] * m[0, 0]
Mat23 a, Bits k, Vec3 out | m = a[i]; out[i] = m[k[i]] * m[1, 2]
Mat33 a, Vec3 b, Mat33 out | m = a[i]; m[1] = b[i] * m[1, 0]; out[i] = m
Mat33 a, Vec3 b, Mat33 out | m = a[i]; m[0] += b[i]; m[2] *= m[0, 0]; out[i] = m
Mat33 a, Vec3 b, Bits k, Mat33 out | m = a[i]; m[k[i]] = b[i]; m[k[i] + 1] -= b[i] * m[0, 0]; out[i] = m
Mat33 a, E b, Mat33 out | m = a[i]; m[0, 1] = b[i] * m[2, 2]; m[2, 2] *= b[i]; m[1, 1] -= b[i]; out[i] = m
Mat22 a, E d, Mat22 out | m = a[i]; m[0, 1] /= d[i]; m[1, 0] += m[0, 1] * m[0, 1]; out[i] = m
Mat33 a, E b, Bits k, Mat33 out | m = a[i]; m[k[i], 2 - k[i]] *= b[i]; m[0, k[i]] += m[2, 2]; out[i] = m
Vec3 a, E b, Vec3 out | v = a[i]; v[0] = b[i] * v[1]; v.y = v.x * v.z; out[i] = v
Vec3 a, E b, E d, Vec3 out | v = a[i]; v[0] += b[i]; v.y -= b[i] * v[0]; v[2] *= v[1]; v.x /= d[i]; out[i] = v
Vec3 a, E b, Bits k, Vec3 out | v = a[i]; v[k[i]] *= b[i]; v[k[i] + 1] += v[k[i]] * v[k[i]]; out[i] = v
Vec3 a, E b, Vec3 out | v = a[i]; v[1] = b[i]; v[1] = v[1] * v[1]; v[1] = v[1] * v[0]; out[i] = v
Vec3 a, E b, Vec3 out | v = a[i]; v[0] = v[0] + b[i]; v[0] = v[0] + b[i] * v[0]; out[i] = v
Vec3 a, E b, Vec4 out | out[i] = kb.types.vector(4, kb.E)(*a[i], b[i] * b[i])
V a, V out | v = a[i]; v += v; v -= 3.0 * a[i]; out[i] = v
V a, E b, E d, V out | v = a[i]; v *= b[i]; v /= d[i]; out[i] = v
Mat33 a, Mat33 b, Mat33 out | m = a[i]; m @= b[i]; m = b[i] @ m; out[i] = m
Quat a, Quat b, Quat out | q = a[i]; q *= b[i]; out[i] = q
E a, E b, E d, E out | x = a[i]; x += b[i]; x *= x; x -= a[i] * b[i]; x /= d[i]; out[i] = x
E a, E b, E out | x = a[i]; x %= b[i]; out[i] = x * x # mod
E x, E y, E out | z = x[i]; z **= y[i]; out[i] = z * z # pow
E a, E out | x, y = a[i], a[i] * a[i]; x, y = y, x * y; out[i] = x - y
"""

CONSTRUCTORS = """
E a, E b, Vec3 out | out[i] = kb.vector(a[i], b[i] * a[i], b[i])
E a, E b, Vec3 out | out[i] = kb.types.vector(3, kb.E)(a[i], b[i] * a[i], 1.0)
E a, Vec5 out | out[i] = kb.types.vector(5, kb.E)(a[i])
E a, Vec4 out | out[i] = kb.vector(a[i], length=4)
Vec3 a, Vec3 out | out[i] = kb.vector(a[i]) + kb.vector(length=3, dtype=kb.E)
Vec3 a, Vec3 out | out[i] = kb.types.vector(3, kb.E)(a[i]) * a[i].x
E a, E b, Mat22 out | out[i] = kb.matrix(a[i], b[i], b[i] * b[i], 1.0, shape=(2, 2))
E a, Mat23 out | out[i] = kb.matrix(a[i], shape=(2, 3))
E a, Mat23 out | out[i] = kb.types.matrix((2, 3), kb.E)(a[i]) + kb.matrix(shape=(2, 3), dtype=kb.E)
E a, E b, Mat23 out | out[i] = kb.types.matrix((2, 3), kb.E)(a[i], b[i], a[i] * a[i], 0.0, b[i] / 2.0, a[i] * b[i])
Vec3 a, Vec3 b, Mat23 out | out[i] = kb.matrix_from_rows(a[i], b[i] * a[i][0])
Vec3 a, Vec3 b, Mat32 out | out[i] = kb.matrix_from_cols(a[i], b[i] * a[i][0])
Vec2 a, Vec2 b, Vec2 e, Mat32 out | out[i] = kb.matrix_from_rows(a[i], b[i], e[i])
Vec4 a, Vec4 b, Mat44 out | out[i] = kb.matrix_from_cols(a[i], b[i], a[i] + b[i], a[i] * 2.0)
E a, Mat33 out | out[i] = kb.identity(3, dtype=kb.E) * a[i]
E a, E b, Quat out | out[i] = kb.quaternion(a[i], b[i], a[i] * b[i], 1.0)
Vec3 v, E a, Quat out | out[i] = kb.quaternion(v[i], a[i] * v[i].x) + kb.quaternion(dtype=kb.E)
E a, E b, Quat out | out[i] = kb.types.quaternion(kb.E)(a[i], b[i], a[i] - b[i], b[i])
E a, Quat out | out[i] = kb.quat_identity(dtype=kb.E) * a[i]
Vec3 p_, Quat q, Transform out | out[i] = kb.transformation(p_[i] * q[i].w, q[i])
E a, E b, Transform out | out[i] = kb.transformation(a[i], b[i], a[i] * b[i], b[i], 1.0, a[i] * 2.0, b[i] * b[i])
Vec3 p_, Quat q, Transform out | out[i] = kb.types.transformation(kb.E)(p_[i], q[i])
Transform t, Transform out | out[i] = kb.transform_identity(dtype=kb.E) * t[i]
Vec3 a, Vec3 out | out[i] = type(a[i])(a[i][2], a[i][0], 2.0)
"""

# Types that change inside: at any element type the same kernel. They are looked at beside doubles throughout.
CONVERSIONS = """
float32 a, float64 out | out[i] = kb.float64(a[i]) * kb.float64(a[i])
float64 a, float32 out | out[i] = kb.float32(a[i]) * kb.float32(a[i])
float32 a, float16 out | out[i] = kb.float16(a[i] * a[i])
float16 a, float32 out | out[i] = kb.float32(a[i] * a[i])
float16 a, float64 b, float64 out | out[i] = kb.float64(a[i]) * b[i] + kb.float64(kb.float16(b[i]))
float64 a, float16 out | out[i] = kb.float16(kb.float32(a[i]) * 0.5)
float32 x, int32 n, float32 out | out[i] = x[i] * float(n[i]) + float(int(x[i])) + float(kb.int64(x[i])) # trunc
float32 x, float32 out | out[i] = kb.float32(kb.uint8(3)) * x[i] + kb.float32(x[i] > 0.0) # trunc
float32 a, float64 b, float32 out | x = kb.float64(a[i]) * b[i]; out[i] = type(a[i])(x) * a[i]
float32 a, float64 out | v = kb.vec2d(kb.float64(a[i]), 2.0); out[i] = kb.dot(v, v)
"""

ARRAYS = """
E a, E b, E out | kb.assume(i >= 0); kb.store_streaming(out, i, kb.load_readonly(a, i) * kb.load_streaming(b, i))
E[3] a, E[2] out | out[i, 0] = a[i, 0] * a[i, 2]; out[i, 1] = a[i, 1] + a[i, -1]
E[2,3] a, E out | out[i] = a[i, 0, 1] * a[i, 1, 2] - a[i, 1, 0]
E[2,2,2] a, E[2,1,2] o | o[i, 1, 0, 1] = a[i, 0, 1, 0] * a[i, 1, 1, 1]; o[i, 0, 0, 0] = o[i, 1, 0, 1] * a[i, 0, 0, 0]
Vec3[2] a, E[2] out | out[i, 0] = a[i, 0].x * a[i, 1][2]; out[i, 1] = kb.dot(a[i, 0], a[i, 1])
E[3] a, E out | row = a[i]; out[i] = row[0] * row[1] + row[-1]
E[3] a, E out | out[i] = a[i][0] * a[i][1]
E[2,3] a, E[3] out | m = a[i]; row = m[1]; o = out[i]; o[0] = row[0] * m[0, 2]; o[2] = row[1]
E[3] a, E out | s = kb.E(0.0); n = a.shape[1]; s = kb.E(n) * a[i, n - 1] + kb.E(len(a[i])) * a[i, 0]; out[i] = s
E[3] a, E out | x, y = a[i][0:2]; out[i] = x * y * a[i, 2]
E[3] a, E b | row = a[i]; row[0] *= row[1]; row[2] += b[i] * row[0]; row[1] = row[2] * row[1]
E[2,3] a, E b | m = a[i]; row = m[1]; row[2] -= b[i] * m[1, 0]; m[1, 0] = row[2] * a[i, 0, 1]
Vec5 a, Vec2 b | a[i][0:2] = b[i] * a[i][4]; a[i][2:4] += b[i]; a[i][1:3] *= b[i].y
E[3] a, Bits k, E out | out[i] = a[i, k[i]] * a[i, k[i] + 1]
E[3] a, Bits[2] k, E out | out[i] = a[i, k[i, k[i, 0]]] * a[i, 2]
E[3] a, Bits k, E[4] o | o[i, k[i]] = a[i, 0]; o[i, k[i] + 1] = a[i, 1] * o[i, k[i]]; o[i, 3 - k[i]] *= a[i, 2]
E a | a[i] = a[i] * a[i]; a[i] = a[i] * 2.0 + 1.0; a[i] = a[i] * a[i]
E a, E b | a[i] += b[i] * b[i]
E a, E b | a[i] -= b[i] * b[i]
E a, E b | a[i] *= b[i]
E a, E d | a[i] /= d[i]
E a, E b | a[i] %= b[i] # mod
E x, E y | x[i] **= y[i] # pow
E a, E b | a[i] *= b[i]; b[i] *= a[i]; a[i] -= b[i]; b[i] = a[i] * b[i]
E[2] a | a[i, 0] *= a[i, 1]; a[i, 1] = a[i, 0] * a[i, 1]; a[i, 0] += a[i, 1]
V a, V b | a[i] += b[i] * 2.0
V a, V b | a[i] -= b[i] * 2.0
V a, E b, E d | a[i] *= b[i]; a[i] /= d[i]
V a, V b, E d | a[i] = a[i] * d[i] + b[i]; b[i] = a[i] / d[i] - b[i]
Vec3 a, E b, E d | a[i][0] = b[i] * b[i]; a[i].y *= b[i]; a[i][2] /= d[i]; a[i].x -= a[i].z
Vec3 a, E b, Bits k | a[i][k[i]] *= b[i]; a[i][k[i] + 1] += a[i][k[i]] * b[i]
Mat23 a, E b, E d | a[i][0, 1] = b[i] * a[i][1, 2]; a[i][1, 2] *= b[i]; a[i][1, 0] += b[i]; a[i][0, 0] /= d[i]
Mat33 a, Vec3 v, Bits k | a[i][1] = v[i] * a[i][0, 0]; a[i][2] += v[i]; a[i][k[i], 0] *= v[i][1]
Transform a, Vec3 v, Quat q | a[i].p = v[i] * a[i].q.x; a[i].q = q[i] * a[i].q; a[i].p[1] *= v[i][0]; a[i].q.w = v[i].z
Quat a, Quat b | a[i] *= b[i]; b[i].x = a[i].y * b[i].z
Mat33 a, Mat33 b | a[i] @= b[i]
"""

# Threads of a row share what they add to: three of them, `j`.
ATOMICS = """
E[3] a, E out | kb.atomic_add(out, i, a[i, j] * a[i, j])
E[3] a, E out | kb.atomic_sub(out, i, a[i, j] * a[i, j])
E[3] a, E[2] out, Bits[3] k | kb.atomic_add(out, i, k[i, j], a[i, j] * 2.0); kb.atomic_sub(out, i, 0, a[i, j])
E[3] a, E out | out[i] += a[i, j] * a[i, j]
E[3] a, E out | out[i] -= a[i, j] * a[i, j]
V[3] a, V out | kb.atomic_add(out, i, a[i, j] * 2.0)
V[3] a, V out | kb.atomic_sub(out, i, a[i, j] * 2.0)
V[3] a, V out | out[i] += a[i, j] * 0.5
Vec3[3] a, Vec3 out | out[i][0] += a[i, j].x * a[i, j].y
E[3] a, E out, E[3] more | kb.atomic_add(out, i, a[i, j]); more[i, j] = a[i, j] * 3.0
E[3] a, E[2,2] out, Bits[3] k | kb.atomic_add(out, i, k[i, j], 1 - k[i, j], a[i, j] * a[i, (j + 1) % 3])
E[3] g, E h | kb.atomic_min(h, i, g[i, j] * 2.0)
E[3] g, E h | kb.atomic_max(h, i, g[i, j] * 2.0)
E[3] g, E[2] h, Bits[3] k | kb.atomic_max(h, i, k[i, j], g[i, j]); kb.atomic_max(h, i, 1, g[i, j] + 0.0625)
Vec3[3] g, Vec3 h | kb.atomic_min(h, i, g[i, j])
Vec3[3] g, Vec3 h | kb.atomic_max(h, i, g[i, j] * 2.0)
E[3] a, E[3] out, int32 m | kb.atomic_add(m, i, 1); out[i, j] = a[i, j] * a[i, j]
"""

# By parameter: index tables for the axes after the first.
INDEXED = """
indexed E[3] a, E out | out[i] = a[i, 0] * a[i, 1] + a[i, 2]
indexed E[3] a, E b | a[i, 1] = b[i] * a[i, 0]
indexed E[3] a, E b | a[i, 0] *= b[i]; a[i, 1] += b[i] * a[i, 0]
indexed E[3] a, E b | kb.atomic_add(a, i, 2, b[i] * b[i])
indexed Vec3[3] a, E b, Vec3 out | out[i] = a[i, 1] * b[i]; a[i, 0] = out[i]
indexed E[3] a, E out | row = a[i]; out[i] = row[0] * row[2]
indexed E[2,3] a, E out | m = a[i]; out[i] = m[1, 0] * a[i, 0, 2]
indexed E[2,3] a, E out | out[i] = kb.E(a.shape[1]) * a[i, 1, 2] * a[i, 0, 0]
"""

STRUCTS = """
@kb.struct
class Inner:
    w: kb.E
    v: kb.types.vector(3, kb.E)

@kb.struct
class Body:
    mass: kb.E
    at: kb.types.transformation(kb.E)
    spin: kb.types.matrix((2, 2), kb.E)
    inner: Inner

@kb.func
def doubled(b: Body):
    s = b
    s.mass = b.mass * 2.0
    s.inner.v[1] *= s.mass
    return s

@kb.func
def made(x: kb.E, v: kb.types.vector(3, kb.E)):
    return Inner(x * x, v * x)
"""
OF_STRUCTS = """
Body a, E out | out[i] = a[i].mass * a[i].inner.w + a[i].inner.v[1] * a[i].at.p.x
Body a, Vec3 out | b = a[i]; out[i] = b.inner.v * b.spin[0, 1] + b.at.p * b.mass
Body a, E b | a[i].mass *= b[i]; a[i].inner.w = a[i].mass * b[i]; a[i].mass += b[i]
Body a, E b, E d | a[i].inner.v[1] *= b[i]; a[i].inner.v.x /= d[i]; a[i].spin[1, 0] -= b[i] * a[i].inner.v[1]
Body a, Vec3 v, E b | a[i].inner.v += v[i]; a[i].at.p = v[i] * b[i]; a[i].at.q *= b[i]; a[i].spin *= b[i]
Body a, Body out | out[i] = a[i]; out[i].mass = a[i].mass * a[i].mass
Body a, E b, Body out | s = a[i]; s.mass *= b[i]; s.inner.w += s.mass * b[i]; s.inner.v[0] = b[i]; out[i] = s
Body a, Inner e, Body out | s = a[i]; s.inner = e[i]; s.inner.v *= s.inner.w; out[i] = s
E a, Vec3 v, Inner out | out[i] = Inner(a[i] * a[i], v[i] * a[i])
E a, Vec3 v, Inner out | s = Inner(); s.w = a[i]; s.v = v[i] * s.w; s.w = s.w * s.w; out[i] = s
Bool c, Body a, Body b, Body out | out[i] = kb.where(c[i], a[i], b[i])
Bool c, Inner a, Inner b, E out | s = a[i] if c[i] else b[i]; s.w *= s.v[0]; out[i] = s.w * b[i].w
Inner a, Inner b, Inner out | s = a[i]; o = s; o.v = b[i].v * s.w; s.v.y *= o.v.x; out[i] = s; out[i].w = o.w * b[i].w
Body a, E out | s = doubled(a[i]); out[i] = s.inner.v[1] * s.mass + a[i].mass
E a, Vec3 v, E out | s = made(a[i], v[i]); out[i] = s.w * s.v[2] + made(s.w, s.v).v[0]
Body[2] a, Bits k, E out | out[i] = a[i, k[i]].mass * a[i, 1].inner.v[k[i]]
Body[3] a, Body out | row = a[i]; out[i].mass = row[0].mass * row[1].inner.w; out[i].inner = row[2].inner
"""

FUNCTIONS = """
from typing import Any

@kb.func
def square(x: kb.E):
    return x * x

@kb.func
def two(x: kb.E, y: kb.E):
    return x * y, x - y

@kb.func
def three(x: Any, s: kb.E):
    return x * s, s * s, x

@kb.func
def early(x: kb.E, y: kb.E):
    if x > y:
        return x * y
    y = y * y
    return y - x

@kb.func
def overloaded(x: kb.E):
    return 3.0 * x

@kb.func
def overloaded(v: kb.types.vector(3, kb.E)):
    return kb.dot(v, v)

@kb.func
def last(a: kb.array(dtype=kb.E), factor: kb.E = 2.0):
    return a[len(a) - 1] * factor

@kb.func
def store(a: kb.array(dtype=kb.E), x: kb.E):
    a[0] = x * a[1]
    a[1] *= x

@kb.func
def power(x: kb.E, n: int):
    result = kb.E(1.0)
    for _ in range(n):
        result *= x
    return result

@kb.func
def generic(x: Any, y: Any):
    return x + y * 2.0
"""
OF_FUNCTIONS = """
E a, E out | out[i] = square(square(a[i])) + square(a[i] * 2.0)
E a, E b, E out | x, y = two(a[i], b[i]); out[i] = x * y
E a, E b, E out | out[i], a[i] = two(a[i], b[i])
E a, E b, E out | pair = two(a[i], b[i]); out[i] = pair[0] * pair[1] + a[i]
E a, E b, E out | out[i] = early(*two(a[i], b[i]))
E a, E b, E out | x, y = two(a[i], b[i]); x, y = two(y, x); out[i] = x - y * y
Vec3 v, E s, Vec3 out | x, y, z = three(v[i], s[i]); out[i] = x * y + z
E a, E b, E out | out[i] = early(a[i], b[i]) * early(b[i], a[i]) # min
E a, Vec3 v, E out | out[i] = overloaded(a[i]) * overloaded(v[i])
E[3] a, E b, E out | out[i] = last(a[i]) * last(a[i], b[i])
E[3] a, E b | store(a[i], b[i])
E a, E out | out[i] = power(a[i], 3) + power(a[i], 0)
E a, Bits n, E out | out[i] = power(a[i], n[i] + 1)
V a, V b, V out | out[i] = generic(a[i], b[i])
E a, E out | f = kb.static(square); vec = kb.types.vector(2, kb.E); v = vec(f(a[i]), a[i]); out[i] = v[0] * v[1]
E a, E out | pair = (a[i], a[i] * a[i]); x, y = pair; out[i] = pair[0] * y + x
"""

WARP = """
import kbuild.warp as wp
from typing import Any

@wp.struct
class Complex:
    real: kb.E
    imag: kb.E

@wp.func
def add(a: Complex, b: Complex):
    return Complex(a.real + b.real, a.imag + b.imag)

@wp.func
def mul(a: Complex, b: Complex):
    return Complex(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real)

@wp.func
def mul(a: Complex, factor: kb.E):
    return Complex(a.real * factor, a.imag * factor)

@wp.func
def neg(a: Complex):
    return Complex(-a.real, -a.imag)

@wp.func
def put(x: wp.ref[kb.E], value: kb.E):
    x = value * value

@wp.func
def grow(x: wp.ref[kb.E], by: kb.E) -> kb.E:
    before = x
    x *= by
    return before

@wp.func
def swap(a: wp.ref[Any], b: wp.ref[Any]):
    a, b = b, a
"""
OF_WARP = """
Complex a, Complex b, Complex out | out[i] = a[i] * b[i] + a[i]
Complex a, E b, Complex out | z = a[i]; z += a[i] * b[i]; z *= z; out[i] = neg(z)
Complex a, Complex b | a[i] += b[i] * b[i]
E a, E b, E out | x = a[i]; put(x, b[i]); out[i] = x * a[i]
E a, E b | put(a[i], b[i])
E[2] a, E b | put(a[i, 1], b[i] * a[i, 0])
Vec3 a, E b, Vec3 out | v = a[i]; put(v[1], b[i] * v[0]); put(v.z, v[1]); out[i] = v
Transform a, E b, Transform out | t = a[i]; put(t.p.y, b[i]); put(t.q[2], t.p.x); out[i] = t
Complex a, E b, Complex out | z = a[i]; put(z.imag, b[i] * z.real); out[i] = z
E a, E b, E out | x = a[i]; y = grow(x, b[i]); out[i] = x * y + grow(x, y) * x
E a, E b | a[i] = grow(b[i], a[i])
E a, E b, E out | x = a[i]; y = b[i]; swap(x, y); out[i] = x * x - y
E[2] a | swap(a[i, 0], a[i, 1]); a[i, 0] *= a[i, 1]
Vec3 a, Vec3 b | swap(a[i], b[i]); a[i] *= 2.0
Vec3 a, E b, Vec3 out | v = a[i]; swap(v[0], v[2]); v[0] *= b[i]; out[i] = v
"""

# Functions without a derivative: nothing flows back through any of these.
WITHOUT = """
E[3] a, E b, int32 m | m[i] = kb.lower_bound(a[i], b[i]) + kb.lower_bound(a[i], 0, 2, b[i])
float32[3] a, uint32 n, int32 m | state = n[i]; m[i] = kb.sample_cdf(state, a[i])
Mat33 out, Quat q, Transform t | out[i] = kb.identity(3, dtype=kb.E); q[i] = kb.quat_identity(dtype=kb.E); t[i] = \
kb.transform_identity(dtype=kb.E)
E out | out[i] = kb.static(1.5 * 2.0)
E[2] out, int32 m | out[i, 0] = kb.E(kb.thread_idx() + kb.block_dim() * kb.block_idx()); m[i] = kb.lane_id(); \
out[i, 1] = kb.E(kb.grid_dim())
int32 n, int32 m, E out | m[i] = kb.bit_and(n[i], 3) + kb.bit_or(n[i], 4) - kb.bit_xor(n[i], 5) + kb.invert(n[i]); \
out[i] = kb.E(kb.lshift(n[i], 2) + kb.rshift(n[i], 1) + kb.bit_count(n[i]))
int32 n, int32 m, int32 k, E out | kb.atomic_and(m, i, n[i]); kb.atomic_or(m, i, n[i]); kb.atomic_xor(m, i, n[i]); \
kb.atomic_exch(k, i, n[i]); kb.atomic_cas(k, i, 0, n[i]); out[i] = kb.E(n[i])
"""

# Functions that print: not again where a kernel runs forward once more for its gradient.
PRINTING = """
kb.print(a[i])
print(a[i], "and")
kb.printf("%f\\n", a[i])
kb.expect_eq(a[i], 100.0)
kb.expect_neq(a[i], a[i])
kb.expect_near(a[i], 100.0)
"""

# What threads do together: the rows of a case are no launch, so tests/sim/test_collectives.py differentiates these.
TOGETHER = """
y[i] = (kb.warp_sum(x[i] * x[i]) + 2.0 * kb.block_sum(x[i])) * w[i]
for i in kb.grid_range(len(x)): y[i] = x[i] * x[i] * w[i]
"""

# What makes a kernel one without a gradient.
UNDIFFERENTIABLE = """
kb.atomic_exch(out, i, a[i])
kb.atomic_cas(out, i, 0.0, a[i])
out[i] = a[i] * kb.atomic_add(out, 0, a[i])
out[i] = a[i] * kb.E(kb.atomic_add(n, 0, 1))
kb.atomic_max(out, i, a[i]); out[i] = out[i] * 2.0
s = kb.shared_array(1, kb.E); s[0] = a[i]; kb.syncthreads(); out[i] = s[0] * s[0]
kb.syncwarp(); out[i] = a[i]
kb.cluster_sync(); out[i] = a[i] * kb.E(kb.cluster_rank() + kb.cluster_dim())
s = kb.shared_array(1, kb.E); t = kb.cluster_array(s, 1); out[i] = a[i] * t[0]
out[i] = kb.shfl(a[i], 0) * a[i]
out[i] = kb.shfl_up(a[i], 1) + kb.shfl_down(a[i], 1) + kb.shfl_xor(a[i], 1)
out[i] = a[i] * kb.E(kb.warp_id()) * kb.E(int(kb.any(a[i] > 0.0)) + int(kb.all(a[i] > 0.0)))
out[i] = a[i] * kb.E(kb.ballot(a[i] > 0.0)) + kb.E(kb.match_any(i))
out[i] = kb.warp_min(a[i]) + kb.warp_max(a[i])
out[i] = kb.block_min(a[i]) + kb.block_max(a[i])
out[i] = kb.warp_scan_inclusive(a[i]) + kb.warp_scan_exclusive(a[i])
out[i] = kb.block_scan_inclusive(a[i]) + kb.block_scan_exclusive(a[i])
out[i] = a[i] * kb.atomic_add(out, 0, a[i], order="acq_rel")
kb.atomic_add(out, i, a[i], order="release")
"""

GROUPS: dict[str, tuple[str, str]] = {
    "arithmetic": ("", ARITHMETIC),
    "choices": ("", CHOICES),
    "parts": ("", PARTS),
    "constructors": ("", CONSTRUCTORS),
    "conversions": ("", CONVERSIONS),
    "arrays": ("", ARRAYS),
    "atomics": ("", ATOMICS),
    "indexed": ("", INDEXED),
    "structs": (STRUCTS, OF_STRUCTS),
    "functions": (FUNCTIONS, OF_FUNCTIONS),
    "warp": (WARP, OF_WARP),
    "without": ("", WITHOUT),
}
