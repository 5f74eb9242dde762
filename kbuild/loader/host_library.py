"""The library of the kernel language on the host. Made by `python -m tools.host_library`; change the functions there.

Each is a function of `kbuild.intrinsics` at fixed types: vectors are lists, matrices lists of rows. `TABLE` says which
of them a name stands for, by the types of its arguments, their last defaults, and the types of its results.
"""

# mypy: ignore-errors

from __future__ import annotations

from .host_math import convert as _convert
from .host_math import copied as _copied
from .host_math import divide as _divide
from .host_math import int32 as _int32
from .host_math import intrinsic as _of

_abs = _of("abs")
_atan2 = _of("atan2")
_copysign = _of("copysign")
_cos = _of("cos")
_max = _of("max")
_min = _of("min")
_sin = _of("sin")
_sqrt = _of("sqrt")


def get_diag_mat33d(m):
    result = [0.0, 0.0, 0.0]
    for i in range(0, 3, 1):
        result[i] = m[i][i]
    return result


def unit_matrix_mat33d(m):
    result = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    for i in range(0, 3, 1):
        result[i][i] = 1.0
    return result


def jacobi_angle(difference, twice):
    zero = (difference - difference)
    if (twice == 0.0):
        return ((zero + 1.0), zero)
    tau = _divide(difference, twice)
    tangent = _divide(_copysign(1.0, tau), (_abs(tau) + _sqrt((1.0 + (tau * tau)))))
    cosine = _divide(1.0, _sqrt((1.0 + (tangent * tangent))))
    return (cosine, (tangent * cosine))


def turned_mat33d_int32_int32_float64_float64(m, p, q, cosine, sine):
    result = _copied(m)
    for i in range(0, 3, 1):
        result[i][p] = ((cosine * m[i][p]) - (sine * m[i][q]))
        result[i][q] = ((sine * m[i][p]) + (cosine * m[i][q]))
    return result


def eig3(A):
    d = get_diag_mat33d(_copied(A))
    Q = unit_matrix_mat33d(_copied(A))
    a = _copied(A)
    for i in range(0, 2, 1):
        for j in range(_int32(i + 1), 3, 1):
            a[i][j] = (A[i][j] + (0.5 * (A[j][i] - A[i][j])))
    for _sweep in range(0, 12, 1):
        if ((a[0][1] == 0.0) and ((a[0][2] == 0.0) and (a[1][2] == 0.0))):
            break
        for k in range(0, 3, 1):
            p = (0 if (k < 2) else 1)
            q = (1 if (k == 0) else 2)
            r = _int32(_int32(3 - p) - q)
            t1 = jacobi_angle((a[q][q] - a[p][p]), (2.0 * a[p][q]))
            cosine = t1[0]
            sine = t1[1]
            if (sine != 0.0):
                shift = (_divide(sine, cosine) * a[p][q])
                t2 = _min(p, r)
                t3 = _max(p, r)
                low = t2
                high = t3
                first = a[low][high]
                last = a[_min(q, r)][_max(q, r)]
                a[p][p] = (a[p][p] - shift)
                a[q][q] = (a[q][q] + shift)
                a[p][q] = 0.0
                a[low][high] = ((cosine * first) - (sine * last))
                a[_min(q, r)][_max(q, r)] = ((sine * first) + (cosine * last))
                Q = turned_mat33d_int32_int32_float64_float64(_copied(Q), p, q, cosine, sine)
    d = get_diag_mat33d(_copied(a))
    return (_copied(Q), _copied(d))


def givens(a, b):
    zero = (a - a)
    if (b == 0.0):
        return (((zero + 1.0) if (a >= 0.0) else (zero - 1.0)), zero)
    scale = _max(_abs(a), _abs(b))
    x = _divide(a, scale)
    y = _divide(b, scale)
    length = _sqrt(((x * x) + (y * y)))
    return (_divide(x, length), _divide(y, length))


def transpose_mat33d(m):
    result = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    for i in range(0, 3, 1):
        for j in range(0, 3, 1):
            result[i][j] = m[j][i]
    return result


def triangular_mat33d(A):
    R = _copied(A)
    T = unit_matrix_mat33d(_copied(A))
    for j in range(0, 2, 1):
        for i in range(2, j, -1):
            t1 = givens(R[j][j], R[i][j])
            cosine = t1[0]
            sine = t1[1]
            upper = [(_a + _b) for _a, _b in zip([(_a * cosine) for _a in R[j]], [(_a * sine) for _a in R[i]])]
            lower = [(_a - _b) for _a, _b in zip([(_a * cosine) for _a in R[i]], [(_a * sine) for _a in R[j]])]
            R[j] = _copied(upper)
            R[i] = _copied(lower)
            R[i][j] = 0.0
            upper = [(_a + _b) for _a, _b in zip([(_a * cosine) for _a in T[j]], [(_a * sine) for _a in T[i]])]
            lower = [(_a - _b) for _a, _b in zip([(_a * cosine) for _a in T[i]], [(_a * sine) for _a in T[j]])]
            T[j] = _copied(upper)
            T[i] = _copied(lower)
    return (transpose_mat33d(_copied(T)), _copied(R))


def qr3(A):
    t1 = triangular_mat33d(_copied(A))
    Q = _copied(t1[0])
    R = _copied(t1[1])
    return (_copied(Q), _copied(R))


def largest_vec2d(v):
    result = v[0]
    for i in range(1, 2, 1):
        result = _max(result, v[i])
    return result


def cw_abs_vec2d(v):
    result = [0.0, 0.0]
    for i in range(0, 2, 1):
        result[i] = _abs(v[i])
    return result


def scale_of_mat22d(A):
    largest = largest_vec2d(cw_abs_vec2d(_copied(A[0])))
    for i in range(1, 2, 1):
        largest = _max(largest, largest_vec2d(cw_abs_vec2d(_copied(A[i]))))
    return (largest if (largest > 0.0) else (largest + 1.0))


def unit_matrix_mat22d(m):
    result = [[0.0, 0.0], [0.0, 0.0]]
    for i in range(0, 2, 1):
        result[i][i] = 1.0
    return result


def column_product_mat22d_int32_int32(m, p, q):
    total = (m[0][p] * m[0][q])
    for i in range(1, 2, 1):
        total = (total + (m[i][p] * m[i][q]))
    return total


def turned_mat22d_int32_int32_float64_float64(m, p, q, cosine, sine):
    result = _copied(m)
    for i in range(0, 2, 1):
        result[i][p] = ((cosine * m[i][p]) - (sine * m[i][q]))
        result[i][q] = ((sine * m[i][p]) + (cosine * m[i][q]))
    return result


def swapped_mat22d_int32_int32(m, p, q):
    result = _copied(m)
    for i in range(0, 2, 1):
        result[i][p] = -m[i][q]
        result[i][q] = m[i][p]
    return result


def orthogonal_columns_mat22d(A):
    B = _copied(A)
    V = unit_matrix_mat22d(_copied(A))
    for _sweep in range(0, 12, 1):
        rotations = 0
        for p in range(0, 1, 1):
            for q in range(_int32(p + 1), 2, 1):
                alpha = column_product_mat22d_int32_int32(_copied(B), p, p)
                beta = column_product_mat22d_int32_int32(_copied(B), q, q)
                gamma = column_product_mat22d_int32_int32(_copied(B), p, q)
                if ((gamma * gamma) > ((1e-32 * alpha) * beta)):
                    t1 = jacobi_angle((beta - alpha), (2.0 * gamma))
                    cosine = t1[0]
                    sine = t1[1]
                    if (sine != 0.0):
                        rotations = _int32(rotations + 1)
                        B = turned_mat22d_int32_int32_float64_float64(_copied(B), p, q, cosine, sine)
                        V = turned_mat22d_int32_int32_float64_float64(_copied(V), p, q, cosine, sine)
        if (rotations == 0):
            break
    for last in range(0, 1, 1):
        for p_2 in range(0, _int32(1 - last), 1):
            if (column_product_mat22d_int32_int32(_copied(B), p_2, p_2) < column_product_mat22d_int32_int32(_copied(B), _int32(p_2 + 1), _int32(p_2 + 1))):
                B = swapped_mat22d_int32_int32(_copied(B), p_2, _int32(p_2 + 1))
                V = swapped_mat22d_int32_int32(_copied(V), p_2, _int32(p_2 + 1))
    return (_copied(B), _copied(V))


def transpose_mat22d(m):
    result = [[0.0, 0.0], [0.0, 0.0]]
    for i in range(0, 2, 1):
        for j in range(0, 2, 1):
            result[i][j] = m[j][i]
    return result


def triangular_mat22d(A):
    R = _copied(A)
    T = unit_matrix_mat22d(_copied(A))
    for j in range(0, 1, 1):
        for i in range(1, j, -1):
            t1 = givens(R[j][j], R[i][j])
            cosine = t1[0]
            sine = t1[1]
            upper = [(_a + _b) for _a, _b in zip([(_a * cosine) for _a in R[j]], [(_a * sine) for _a in R[i]])]
            lower = [(_a - _b) for _a, _b in zip([(_a * cosine) for _a in R[i]], [(_a * sine) for _a in R[j]])]
            R[j] = _copied(upper)
            R[i] = _copied(lower)
            R[i][j] = 0.0
            upper = [(_a + _b) for _a, _b in zip([(_a * cosine) for _a in T[j]], [(_a * sine) for _a in T[i]])]
            lower = [(_a - _b) for _a, _b in zip([(_a * cosine) for _a in T[i]], [(_a * sine) for _a in T[j]])]
            T[j] = _copied(upper)
            T[i] = _copied(lower)
    return (transpose_mat22d(_copied(T)), _copied(R))


def get_diag_mat22d(m):
    result = [0.0, 0.0]
    for i in range(0, 2, 1):
        result[i] = m[i][i]
    return result


def svd_mat22d(A):
    scale = scale_of_mat22d(_copied(A))
    t1 = orthogonal_columns_mat22d([[_divide(_a, scale) for _a in _a_row] for _a_row in A])
    B = _copied(t1[0])
    V = _copied(t1[1])
    t2 = triangular_mat22d(_copied(B))
    U = _copied(t2[0])
    R = _copied(t2[1])
    return (_copied(U), [(_a * scale) for _a in get_diag_mat22d(_copied(R))], _copied(V))


def svd2(A):
    t1 = svd_mat22d(_copied(A))
    U = _copied(t1[0])
    sigma = _copied(t1[1])
    V = _copied(t1[2])
    return (_copied(U), _copied(sigma), _copied(V))


def largest_vec3d(v):
    result = v[0]
    for i in range(1, 3, 1):
        result = _max(result, v[i])
    return result


def cw_abs_vec3d(v):
    result = [0.0, 0.0, 0.0]
    for i in range(0, 3, 1):
        result[i] = _abs(v[i])
    return result


def scale_of_mat33d(A):
    largest = largest_vec3d(cw_abs_vec3d(_copied(A[0])))
    for i in range(1, 3, 1):
        largest = _max(largest, largest_vec3d(cw_abs_vec3d(_copied(A[i]))))
    return (largest if (largest > 0.0) else (largest + 1.0))


def column_product_mat33d_int32_int32(m, p, q):
    total = (m[0][p] * m[0][q])
    for i in range(1, 3, 1):
        total = (total + (m[i][p] * m[i][q]))
    return total


def swapped_mat33d_int32_int32(m, p, q):
    result = _copied(m)
    for i in range(0, 3, 1):
        result[i][p] = -m[i][q]
        result[i][q] = m[i][p]
    return result


def orthogonal_columns_mat33d(A):
    B = _copied(A)
    V = unit_matrix_mat33d(_copied(A))
    for _sweep in range(0, 12, 1):
        rotations = 0
        for p in range(0, 2, 1):
            for q in range(_int32(p + 1), 3, 1):
                alpha = column_product_mat33d_int32_int32(_copied(B), p, p)
                beta = column_product_mat33d_int32_int32(_copied(B), q, q)
                gamma = column_product_mat33d_int32_int32(_copied(B), p, q)
                if ((gamma * gamma) > ((1e-32 * alpha) * beta)):
                    t1 = jacobi_angle((beta - alpha), (2.0 * gamma))
                    cosine = t1[0]
                    sine = t1[1]
                    if (sine != 0.0):
                        rotations = _int32(rotations + 1)
                        B = turned_mat33d_int32_int32_float64_float64(_copied(B), p, q, cosine, sine)
                        V = turned_mat33d_int32_int32_float64_float64(_copied(V), p, q, cosine, sine)
        if (rotations == 0):
            break
    for last in range(0, 2, 1):
        for p_2 in range(0, _int32(2 - last), 1):
            if (column_product_mat33d_int32_int32(_copied(B), p_2, p_2) < column_product_mat33d_int32_int32(_copied(B), _int32(p_2 + 1), _int32(p_2 + 1))):
                B = swapped_mat33d_int32_int32(_copied(B), p_2, _int32(p_2 + 1))
                V = swapped_mat33d_int32_int32(_copied(V), p_2, _int32(p_2 + 1))
    return (_copied(B), _copied(V))


def svd_mat33d(A):
    scale = scale_of_mat33d(_copied(A))
    t1 = orthogonal_columns_mat33d([[_divide(_a, scale) for _a in _a_row] for _a_row in A])
    B = _copied(t1[0])
    V = _copied(t1[1])
    t2 = triangular_mat33d(_copied(B))
    U = _copied(t2[0])
    R = _copied(t2[1])
    return (_copied(U), [(_a * scale) for _a in get_diag_mat33d(_copied(R))], _copied(V))


def svd3(A):
    t1 = svd_mat33d(_copied(A))
    U = _copied(t1[0])
    sigma = _copied(t1[1])
    V = _copied(t1[2])
    return (_copied(U), _copied(sigma), _copied(V))


def dot_vec3d_vec3d(a, b):
    total = (a[0] * b[0])
    for i in range(1, 3, 1):
        total = (total + (a[i] * b[i]))
    return total


def normalize_vec3d(v):
    size = _sqrt(dot_vec3d_vec3d(_copied(v), _copied(v)))
    if (size > 0.0):
        return [_divide(_a, size) for _a in v]
    return [0.0, 0.0, 0.0]


def cross(a, b):
    return [((a[1] * b[2]) - (a[2] * b[1])), ((a[2] * b[0]) - (a[0] * b[2])), ((a[0] * b[1]) - (a[1] * b[0]))]


def dot_quatd_quatd(a, b):
    total = (a[0] * b[0])
    for i in range(1, 4, 1):
        total = (total + (a[i] * b[i]))
    return total


def normalize_quatd(v):
    size = _sqrt(dot_quatd_quatd(_copied(v), _copied(v)))
    if (size > 0.0):
        return [_divide(_a, size) for _a in v]
    return [0.0, 0.0, 0.0, 0.0]


def quat_between_vectors(a, b):
    u = normalize_vec3d(_copied(a))
    v = normalize_vec3d(_copied(b))
    w = (((1.0 + (u[0] * v[0])) + (u[1] * v[1])) + (u[2] * v[2]))
    if (w > 1e-06):
        t1 = cross(_copied(u), _copied(v))
        return normalize_quatd([t1[0], t1[1], t1[2], w])
    if (_abs(u[0]) > _abs(u[2])):
        t2 = normalize_vec3d([-u[1], u[0], 0.0])
        return [t2[0], t2[1], t2[2], 0.0]
    t3 = normalize_vec3d([0.0, -u[2], u[1]])
    return [t3[0], t3[1], t3[2], 0.0]


def quat_from_axis_angle(axis, angle):
    half = (0.5 * angle)
    u = [(_a * _sin(half)) for _a in normalize_vec3d(_copied(axis))]
    return [u[0], u[1], u[2], _cos(half)]


def quat_mul(a, b):
    return [((((a[3] * b[0]) + (a[0] * b[3])) + (a[1] * b[2])) - (a[2] * b[1])), ((((a[3] * b[1]) + (a[1] * b[3])) + (a[2] * b[0])) - (a[0] * b[2])), ((((a[3] * b[2]) + (a[2] * b[3])) + (a[0] * b[1])) - (a[1] * b[0])), ((((a[3] * b[3]) - (a[0] * b[0])) - (a[1] * b[1])) - (a[2] * b[2]))]


def quat_from_euler(e, i, j, k):
    first = [0.0, 0.0, 0.0, 0.0]
    second = [0.0, 0.0, 0.0, 0.0]
    third = [0.0, 0.0, 0.0, 0.0]
    first[i] = _sin((0.5 * e[i]))
    first[3] = _cos((0.5 * e[i]))
    second[j] = _sin((0.5 * e[j]))
    second[3] = _cos((0.5 * e[j]))
    third[k] = _sin((0.5 * e[k]))
    third[3] = _cos((0.5 * e[k]))
    return quat_mul(_copied(third), quat_mul(_copied(second), _copied(first)))


def quat_from_matrix_mat33d(m):
    trace = ((m[0][0] + m[1][1]) + m[2][2])
    if (trace > 0.0):
        r = _sqrt((1.0 + trace))
        s = _divide(0.5, r)
        q = [((m[2][1] - m[1][2]) * s), ((m[0][2] - m[2][0]) * s), ((m[1][0] - m[0][1]) * s), (0.5 * r)]
    else:
        if ((m[0][0] >= m[1][1]) and (m[0][0] >= m[2][2])):
            r = _sqrt((((1.0 + m[0][0]) - m[1][1]) - m[2][2]))
            s = _divide(0.5, r)
            q = [(0.5 * r), ((m[0][1] + m[1][0]) * s), ((m[0][2] + m[2][0]) * s), ((m[2][1] - m[1][2]) * s)]
        else:
            if (m[1][1] >= m[2][2]):
                r = _sqrt((((1.0 + m[1][1]) - m[2][2]) - m[0][0]))
                s = _divide(0.5, r)
                q = [((m[0][1] + m[1][0]) * s), (0.5 * r), ((m[1][2] + m[2][1]) * s), ((m[0][2] - m[2][0]) * s)]
            else:
                r = _sqrt((((1.0 + m[2][2]) - m[0][0]) - m[1][1]))
                s = _divide(0.5, r)
                q = [((m[0][2] + m[2][0]) * s), ((m[1][2] + m[2][1]) * s), (0.5 * r), ((m[1][0] - m[0][1]) * s)]
    return normalize_quatd(_copied(q))


def quat_from_matrix_mat44d(m):
    trace = ((m[0][0] + m[1][1]) + m[2][2])
    if (trace > 0.0):
        r = _sqrt((1.0 + trace))
        s = _divide(0.5, r)
        q = [((m[2][1] - m[1][2]) * s), ((m[0][2] - m[2][0]) * s), ((m[1][0] - m[0][1]) * s), (0.5 * r)]
    else:
        if ((m[0][0] >= m[1][1]) and (m[0][0] >= m[2][2])):
            r = _sqrt((((1.0 + m[0][0]) - m[1][1]) - m[2][2]))
            s = _divide(0.5, r)
            q = [(0.5 * r), ((m[0][1] + m[1][0]) * s), ((m[0][2] + m[2][0]) * s), ((m[2][1] - m[1][2]) * s)]
        else:
            if (m[1][1] >= m[2][2]):
                r = _sqrt((((1.0 + m[1][1]) - m[2][2]) - m[0][0]))
                s = _divide(0.5, r)
                q = [((m[0][1] + m[1][0]) * s), (0.5 * r), ((m[1][2] + m[2][1]) * s), ((m[0][2] - m[2][0]) * s)]
            else:
                r = _sqrt((((1.0 + m[2][2]) - m[0][0]) - m[1][1]))
                s = _divide(0.5, r)
                q = [((m[0][2] + m[2][0]) * s), ((m[1][2] + m[2][1]) * s), (0.5 * r), ((m[1][0] - m[0][1]) * s)]
    return normalize_quatd(_copied(q))


def quat_inverse(q):
    return [-q[0], -q[1], -q[2], q[3]]


def quat_rotate(q, v):
    s = (((2.0 * q[3]) * q[3]) - 1.0)
    t = (2.0 * (((q[0] * v[0]) + (q[1] * v[1])) + (q[2] * v[2])))
    w = (2.0 * q[3])
    return [(((s * v[0]) + (t * q[0])) + (w * ((q[1] * v[2]) - (q[2] * v[1])))), (((s * v[1]) + (t * q[1])) + (w * ((q[2] * v[0]) - (q[0] * v[2])))), (((s * v[2]) + (t * q[2])) + (w * ((q[0] * v[1]) - (q[1] * v[0]))))]


def quat_rotate_inv(q, v):
    return quat_rotate(quat_inverse(_copied(q)), _copied(v))


def quat_rpy(roll, pitch, yaw):
    return quat_from_euler([roll, pitch, yaw], 0, 1, 2)


def length_vec3d(v):
    return _sqrt(dot_vec3d_vec3d(_copied(v), _copied(v)))


def quat_to_axis_angle(q):
    u = [q[0], q[1], q[2]]
    angle = (2.0 * _atan2(length_vec3d(_copied(u)), _abs(q[3])))
    axis = normalize_vec3d(_copied(u))
    if (q[3] < 0.0):
        axis = [-_a for _a in axis]
    return (_copied(axis), angle)


def quat_part(q, t):
    t1 = quat_to_axis_angle(_copied(q))
    axis = _copied(t1[0])
    angle = t1[1]
    return quat_from_axis_angle(_copied(axis), (t * angle))


def quat_slerp(a, b, t):
    return quat_mul(_copied(a), quat_part(quat_mul(quat_inverse(_copied(a)), _copied(b)), t))


def quat_to_matrix(q):
    one = 1.0
    zero = 0.0
    t1 = quat_rotate(_copied(q), [one, zero, zero])
    t2 = quat_rotate(_copied(q), [zero, one, zero])
    t3 = quat_rotate(_copied(q), [zero, zero, one])
    return [[t1[0], t2[0], t3[0]], [t1[1], t2[1], t3[1]], [t1[2], t2[2], t3[2]]]


def dot_vec2d_vec2d(a, b):
    total = (a[0] * b[0])
    for i in range(1, 2, 1):
        total = (total + (a[i] * b[i]))
    return total


def length_vec2d(v):
    return _sqrt(dot_vec2d_vec2d(_copied(v), _copied(v)))


def quat_to_euler(q, i, j, k):
    m = quat_to_matrix(_copied(q))
    order = _convert('float64', _divide(_int32(_int32(_int32(i - j) * _int32(j - k)) * _int32(k - i)), 2))
    a = _atan2((order * m[k][j]), m[k][k])
    b = _atan2((-order * m[k][i]), length_vec2d([m[k][j], m[k][k]]))
    s = (order * _sin(a))
    c = _atan2((order * ((s * m[i][k]) - (_cos(a) * m[i][j]))), ((_cos(a) * m[j][j]) - (s * m[j][k])))
    angles = [0.0, 0.0, 0.0]
    angles[i] = a
    angles[j] = b
    angles[k] = c
    return angles


def quat_to_rpy(q):
    return quat_to_euler(_copied(q), 0, 1, 2)


def quat_twist(axis, q):
    along = (((q[0] * axis[0]) + (q[1] * axis[1])) + (q[2] * axis[2]))
    return normalize_quatd([(along * axis[0]), (along * axis[1]), (along * axis[2]), q[3]])


def quat_twist_angle(axis, q):
    return (2.0 * _atan2(_abs((((q[0] * axis[0]) + (q[1] * axis[1])) + (q[2] * axis[2]))), q[3]))


def quat_twist_angle_signed(axis, q):
    return (2.0 * _atan2((((q[0] * axis[0]) + (q[1] * axis[1])) + (q[2] * axis[2])), q[3]))


def transform_compose(position, rotation, scale):
    r = quat_to_matrix(_copied(rotation))
    m = [[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    for i in range(0, 3, 1):
        for j in range(0, 3, 1):
            m[i][j] = (r[i][j] * scale[j])
        m[i][3] = position[i]
    m[3][3] = 1.0
    return m


def transform_decompose(m):
    x = [m[0][0], m[1][0], m[2][0]]
    y = [m[0][1], m[1][1], m[2][1]]
    z = [m[0][2], m[1][2], m[2][2]]
    t1 = normalize_vec3d(_copied(x))
    t2 = normalize_vec3d(_copied(y))
    t3 = normalize_vec3d(_copied(z))
    rotation = quat_from_matrix_mat33d([[t1[0], t2[0], t3[0]], [t1[1], t2[1], t3[1]], [t1[2], t2[2], t3[2]]])
    return ([m[0][3], m[1][3], m[2][3]], _copied(rotation), [length_vec3d(_copied(x)), length_vec3d(_copied(y)), length_vec3d(_copied(z))])


def transform_from_matrix(m):
    t1 = quat_from_matrix_mat44d(_copied(m))
    return [m[0][3], m[1][3], m[2][3], t1[0], t1[1], t1[2], t1[3]]


def transform_get_rotation(t):
    return [t[3], t[4], t[5], t[6]]


def transform_get_translation(t):
    return [t[0], t[1], t[2]]


def transform_inverse(t):
    q = quat_inverse([t[3], t[4], t[5], t[6]])
    t1 = [-_a for _a in quat_rotate(_copied(q), [t[0], t[1], t[2]])]
    return [t1[0], t1[1], t1[2], q[0], q[1], q[2], q[3]]


def transform_multiply(a, b):
    t1 = [(_a + _b) for _a, _b in zip(quat_rotate([a[3], a[4], a[5], a[6]], [b[0], b[1], b[2]]), [a[0], a[1], a[2]])]
    t2 = quat_mul([a[3], a[4], a[5], a[6]], [b[3], b[4], b[5], b[6]])
    return [t1[0], t1[1], t1[2], t2[0], t2[1], t2[2], t2[3]]


def transform_point(t, x):
    return [(_a + _b) for _a, _b in zip(quat_rotate([t[3], t[4], t[5], t[6]], _copied(x)), [t[0], t[1], t[2]])]


def matrix_point(m, x):
    return [((((m[0][0] * x[0]) + (m[0][1] * x[1])) + (m[0][2] * x[2])) + m[0][3]), ((((m[1][0] * x[0]) + (m[1][1] * x[1])) + (m[1][2] * x[2])) + m[1][3]), ((((m[2][0] * x[0]) + (m[2][1] * x[1])) + (m[2][2] * x[2])) + m[2][3])]


def transform_to_matrix(t):
    one = 1.0
    return transform_compose([t[0], t[1], t[2]], [t[3], t[4], t[5], t[6]], [one, one, one])


def transform_vector(t, v):
    return quat_rotate([t[3], t[4], t[5], t[6]], _copied(v))


def matrix_vector(m, v):
    return [(((m[0][0] * v[0]) + (m[0][1] * v[1])) + (m[0][2] * v[2])), (((m[1][0] * v[0]) + (m[1][1] * v[1])) + (m[1][2] * v[2])), (((m[2][0] * v[0]) + (m[2][1] * v[1])) + (m[2][2] * v[2]))]


def spatial_adjoint(r, s):
    m = [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
    for i in range(0, 3, 1):
        for j in range(0, 3, 1):
            m[i][j] = r[i][j]
            m[_int32(i + 3)][j] = s[i][j]
            m[_int32(i + 3)][_int32(j + 3)] = r[i][j]
    return m


def spatial_bottom(s):
    return [s[3], s[4], s[5]]


def spatial_top(s):
    return [s[0], s[1], s[2]]


def spatial_cross(a, b):
    t1 = spatial_top(_copied(a))
    t2 = spatial_bottom(_copied(a))
    w = _copied(t1)
    v = _copied(t2)
    t3 = cross(_copied(w), spatial_top(_copied(b)))
    t4 = [(_a + _b) for _a, _b in zip(cross(_copied(v), spatial_top(_copied(b))), cross(_copied(w), spatial_bottom(_copied(b))))]
    return [t3[0], t3[1], t3[2], t4[0], t4[1], t4[2]]


def spatial_cross_dual(a, b):
    t1 = spatial_top(_copied(a))
    t2 = spatial_bottom(_copied(a))
    w = _copied(t1)
    v = _copied(t2)
    t3 = [(_a + _b) for _a, _b in zip(cross(_copied(w), spatial_top(_copied(b))), cross(_copied(v), spatial_bottom(_copied(b))))]
    t4 = cross(_copied(w), spatial_bottom(_copied(b)))
    return [t3[0], t3[1], t3[2], t4[0], t4[1], t4[2]]


def dot_vec6d_vec6d(a, b):
    total = (a[0] * b[0])
    for i in range(1, 6, 1):
        total = (total + (a[i] * b[i]))
    return total


def spatial_dot(a, b):
    return dot_vec6d_vec6d(_copied(a), _copied(b))


def transform_twist(t, x):
    w = quat_rotate([t[3], t[4], t[5], t[6]], spatial_top(_copied(x)))
    t1 = [(_a + _b) for _a, _b in zip(quat_rotate([t[3], t[4], t[5], t[6]], spatial_bottom(_copied(x))), cross([t[0], t[1], t[2]], _copied(w)))]
    return [w[0], w[1], w[2], t1[0], t1[1], t1[2]]


def transform_wrench(t, x):
    f = quat_rotate([t[3], t[4], t[5], t[6]], spatial_bottom(_copied(x)))
    t1 = [(_a + _b) for _a, _b in zip(quat_rotate([t[3], t[4], t[5], t[6]], spatial_top(_copied(x))), cross([t[0], t[1], t[2]], _copied(f)))]
    return [t1[0], t1[1], t1[2], f[0], f[1], f[2]]


def velocity_at_point(twist, r):
    return [(_a + _b) for _a, _b in zip(spatial_bottom(_copied(twist)), cross(spatial_top(_copied(twist)), _copied(r)))]


def determinant2(m):
    return ((m[0][0] * m[1][1]) - (m[0][1] * m[1][0]))


def determinant3(m):
    return dot_vec3d_vec3d(_copied(m[0]), cross(_copied(m[1]), _copied(m[2])))


def minors(a, b):
    return (((a[0] * b[1]) - (a[1] * b[0])), ((a[0] * b[2]) - (a[2] * b[0])), ((a[0] * b[3]) - (a[3] * b[0])), ((a[1] * b[2]) - (a[2] * b[1])), ((a[1] * b[3]) - (a[3] * b[1])), ((a[2] * b[3]) - (a[3] * b[2])))


def determinant4(m):
    t1 = minors(_copied(m[0]), _copied(m[1]))
    s0 = t1[0]
    s1 = t1[1]
    s2 = t1[2]
    s3 = t1[3]
    s4 = t1[4]
    s5 = t1[5]
    t2 = minors(_copied(m[2]), _copied(m[3]))
    c0 = t2[0]
    c1 = t2[1]
    c2 = t2[2]
    c3 = t2[3]
    c4 = t2[4]
    c5 = t2[5]
    return ((((((s0 * c5) - (s1 * c4)) + (s2 * c3)) + (s3 * c2)) - (s4 * c1)) + (s5 * c0))


def inverse2(m):
    d = determinant2(_copied(m))
    if (d == 0.0):
        return [[0.0, 0.0], [0.0, 0.0]]
    return [[_divide(_a, d) for _a in _a_row] for _a_row in [[m[1][1], -m[0][1]], [-m[1][0], m[0][0]]]]


def inverse3(m):
    a = cross(_copied(m[1]), _copied(m[2]))
    b = cross(_copied(m[2]), _copied(m[0]))
    c = cross(_copied(m[0]), _copied(m[1]))
    d = dot_vec3d_vec3d(_copied(m[0]), _copied(a))
    if (d == 0.0):
        return [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    return [[_divide(_a, d) for _a in _a_row] for _a_row in [[a[0], b[0], c[0]], [a[1], b[1], c[1]], [a[2], b[2], c[2]]]]


def inverse4(m):
    t1 = minors(_copied(m[0]), _copied(m[1]))
    s0 = t1[0]
    s1 = t1[1]
    s2 = t1[2]
    s3 = t1[3]
    s4 = t1[4]
    s5 = t1[5]
    t2 = minors(_copied(m[2]), _copied(m[3]))
    c0 = t2[0]
    c1 = t2[1]
    c2 = t2[2]
    c3 = t2[3]
    c4 = t2[4]
    c5 = t2[5]
    d = ((((((s0 * c5) - (s1 * c4)) + (s2 * c3)) + (s3 * c2)) - (s4 * c1)) + (s5 * c0))
    if (d == 0.0):
        return [[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    adjugate = [[(((m[1][1] * c5) - (m[1][2] * c4)) + (m[1][3] * c3)), (((-m[0][1] * c5) + (m[0][2] * c4)) - (m[0][3] * c3)), (((m[3][1] * s5) - (m[3][2] * s4)) + (m[3][3] * s3)), (((-m[2][1] * s5) + (m[2][2] * s4)) - (m[2][3] * s3))], [(((-m[1][0] * c5) + (m[1][2] * c2)) - (m[1][3] * c1)), (((m[0][0] * c5) - (m[0][2] * c2)) + (m[0][3] * c1)), (((-m[3][0] * s5) + (m[3][2] * s2)) - (m[3][3] * s1)), (((m[2][0] * s5) - (m[2][2] * s2)) + (m[2][3] * s1))], [(((m[1][0] * c4) - (m[1][1] * c2)) + (m[1][3] * c0)), (((-m[0][0] * c4) + (m[0][1] * c2)) - (m[0][3] * c0)), (((m[3][0] * s4) - (m[3][1] * s2)) + (m[3][3] * s0)), (((-m[2][0] * s4) + (m[2][1] * s2)) - (m[2][3] * s0))], [(((-m[1][0] * c3) + (m[1][1] * c1)) - (m[1][2] * c0)), (((m[0][0] * c3) - (m[0][1] * c1)) + (m[0][2] * c0)), (((-m[3][0] * s3) + (m[3][1] * s1)) - (m[3][2] * s0)), (((m[2][0] * s3) - (m[2][1] * s1)) + (m[2][2] * s0))]]
    return [[_divide(_a, d) for _a in _a_row] for _a_row in adjugate]


TABLE = {
    'eig3': (
        (eig3, 'A: mat33', 'mat33 vec3', ()),
    ),
    'qr3': (
        (qr3, 'A: mat33', 'mat33 mat33', ()),
    ),
    'svd2': (
        (svd2, 'A: mat22', 'mat22 vec2 mat22', ()),
    ),
    'svd3': (
        (svd3, 'A: mat33', 'mat33 vec3 mat33', ()),
    ),
    'quat_between_vectors': (
        (quat_between_vectors, 'a: vec3, b: vec3', 'quat', ()),
    ),
    'quat_from_axis_angle': (
        (quat_from_axis_angle, 'axis: vec3, angle: float64', 'quat', ()),
    ),
    'quat_from_euler': (
        (quat_from_euler, 'e: vec3, i: int32, j: int32, k: int32', 'quat', ()),
    ),
    'quat_from_matrix': (
        (quat_from_matrix_mat33d, 'm: mat33', 'quat', ()),
        (quat_from_matrix_mat44d, 'm: mat44', 'quat', ()),
    ),
    'quat_inverse': (
        (quat_inverse, 'q: quat', 'quat', ()),
    ),
    'quat_rotate': (
        (quat_rotate, 'q: quat, v: vec3', 'vec3', ()),
    ),
    'quat_rotate_inv': (
        (quat_rotate_inv, 'q: quat, v: vec3', 'vec3', ()),
    ),
    'quat_rpy': (
        (quat_rpy, 'roll: float64, pitch: float64, yaw: float64', 'quat', ()),
    ),
    'quat_slerp': (
        (quat_slerp, 'a: quat, b: quat, t: float64', 'quat', ()),
    ),
    'quat_to_axis_angle': (
        (quat_to_axis_angle, 'q: quat', 'vec3 float64', ()),
    ),
    'quat_to_euler': (
        (quat_to_euler, 'q: quat, i: int32, j: int32, k: int32', 'vec3', ()),
    ),
    'quat_to_matrix': (
        (quat_to_matrix, 'q: quat', 'mat33', ()),
    ),
    'quat_to_rpy': (
        (quat_to_rpy, 'q: quat', 'vec3', ()),
    ),
    'quat_twist': (
        (quat_twist, 'axis: vec3, q: quat', 'quat', ()),
    ),
    'quat_twist_angle': (
        (quat_twist_angle, 'axis: vec3, q: quat', 'float64', ()),
    ),
    'quat_twist_angle_signed': (
        (quat_twist_angle_signed, 'axis: vec3, q: quat', 'float64', ()),
    ),
    'transform_compose': (
        (transform_compose, 'position: vec3, rotation: quat, scale: vec3', 'mat44', ()),
    ),
    'transform_decompose': (
        (transform_decompose, 'm: mat44', 'vec3 quat vec3', ()),
    ),
    'transform_from_matrix': (
        (transform_from_matrix, 'm: mat44', 'transform', ()),
    ),
    'transform_get_rotation': (
        (transform_get_rotation, 't: transform', 'quat', ()),
    ),
    'transform_get_translation': (
        (transform_get_translation, 't: transform', 'vec3', ()),
    ),
    'transform_inverse': (
        (transform_inverse, 't: transform', 'transform', ()),
    ),
    'transform_multiply': (
        (transform_multiply, 'a: transform, b: transform', 'transform', ()),
    ),
    'transform_point': (
        (transform_point, 't: transform, x: vec3', 'vec3', ()),
        (matrix_point, 'm: mat44, x: vec3', 'vec3', ()),
    ),
    'transform_to_matrix': (
        (transform_to_matrix, 't: transform', 'mat44', ()),
    ),
    'transform_vector': (
        (transform_vector, 't: transform, v: vec3', 'vec3', ()),
        (matrix_vector, 'm: mat44, v: vec3', 'vec3', ()),
    ),
    'spatial_adjoint': (
        (spatial_adjoint, 'r: mat33, s: mat33', 'mat66', ()),
    ),
    'spatial_bottom': (
        (spatial_bottom, 's: vec6', 'vec3', ()),
    ),
    'spatial_cross': (
        (spatial_cross, 'a: vec6, b: vec6', 'vec6', ()),
    ),
    'spatial_cross_dual': (
        (spatial_cross_dual, 'a: vec6, b: vec6', 'vec6', ()),
    ),
    'spatial_dot': (
        (spatial_dot, 'a: vec6, b: vec6', 'float64', ()),
    ),
    'spatial_top': (
        (spatial_top, 's: vec6', 'vec3', ()),
    ),
    'transform_twist': (
        (transform_twist, 't: transform, x: vec6', 'vec6', ()),
    ),
    'transform_wrench': (
        (transform_wrench, 't: transform, x: vec6', 'vec6', ()),
    ),
    'velocity_at_point': (
        (velocity_at_point, 'twist: vec6, r: vec3', 'vec3', ()),
    ),
    'determinant': (
        (determinant2, 'm: mat22', 'float64', ()),
        (determinant3, 'm: mat33', 'float64', ()),
        (determinant4, 'm: mat44', 'float64', ()),
    ),
    'inverse': (
        (inverse2, 'm: mat22', 'mat22', ()),
        (inverse3, 'm: mat33', 'mat33', ()),
        (inverse4, 'm: mat44', 'mat44', ()),
    ),
}
STATEFUL = ()
IS_EXACT = False
