"""The library of the kernel language on the host. Made by `python -m tools.host_library`; change the functions there.

Each is a function of `kbuild.intrinsics` at fixed types: vectors are lists, matrices lists of rows. `TABLE` says which
of them a name stands for, by the types of its arguments, their last defaults, and the types of its results.
"""

# mypy: ignore-errors

from __future__ import annotations

from .host_math import convert as _convert
from .host_math import copied as _copied
from .host_math import divide as _divide
from .host_math import fused as _fused
from .host_math import int32 as _int32
from .host_math import intrinsic as _of
from .host_math import remainder as _remainder
from .host_math import rounded as _rounded

_abs = _of("abs")
_cbrt = _of("cbrt")
_cos = _of("cos")
_exp = _of("exp")
_floor = _of("floor")
_log = _of("log")
_max = _of("max")
_min = _of("min")
_sin = _of("sin")
_sqrt = _of("sqrt")


def pcg(x):
    state = ((((x * 747796405) & 0xFFFFFFFF) + 2891336453) & 0xFFFFFFFF)
    word = ((((state >> (((state >> 28) + 4) & 0xFFFFFFFF)) ^ state) * 277803737) & 0xFFFFFFFF)
    return ((word >> 22) ^ word)


def unit(x):
    return _rounded(_convert('float32', (x >> 8)) * 5.960464477539063e-08)


def poisson_product(state, lam):
    count = 0
    limit = _rounded(_exp(-lam))
    state = pcg(state)
    product = unit(state)
    while (product > limit):
        count = ((count + 1) & 0xFFFFFFFF)
        state = pcg(state)
        product = _rounded(product * unit(state))
    return (count, state)


def log_factorial(k):
    if (k < 10.0):
        total = 0.0
        for i in range(2, _int32(_convert('int32', k) + 1), 1):
            total = _rounded(total + _rounded(_log(_convert('float32', i))))
        return total
    x = _rounded(k + 1.0)
    return _rounded(_rounded(_rounded(_fused(_rounded(x - 0.5), _rounded(_log(x)), -x) + 0.9189385175704956) + _rounded(_divide(1.0, _rounded(12.0 * x)))) - _rounded(_divide(1.0, _rounded(_rounded(_rounded(360.0 * x) * x) * x))))


def poisson_rejection(state, lam):
    spread = _rounded(_sqrt(lam))
    b = _fused(2.5299999713897705, spread, 0.9309999942779541)
    a = _fused(0.02483000047504902, b, -0.05900000035762787)
    scale = _rounded(1.123900055885315 + _rounded(_divide(1.1327999830245972, _rounded(b - 3.4000000953674316))))
    inner = _rounded(0.9276999831199646 - _rounded(_divide(3.6224000453948975, _rounded(b - 2.0))))
    while True:
        state = pcg(state)
        u = _rounded(unit(state) - 0.5)
        state = pcg(state)
        v = unit(state)
        us = _rounded(0.5 - _abs(u))
        k = _floor(_rounded(_fused(_rounded(_rounded(_divide(_rounded(2.0 * a), us)) + b), u, lam) + 0.4300000071525574))
        if ((us >= 0.07000000029802322) and (v <= inner)):
            return (_convert('uint32', k), state)
        if ((k >= 0.0) and ((us >= 0.013000000268220901) or (v <= us))):
            density = _rounded(_fused(k, _rounded(_log(lam)), -lam) - log_factorial(k))
            if (_rounded(_rounded(_rounded(_log(v)) + _rounded(_log(scale))) - _rounded(_log(_rounded(_rounded(_divide(a, _rounded(us * us))) + b)))) <= density):
                return (_convert('uint32', k), state)


def poisson(state, lam):
    if (not (lam > 0.0)):
        return (0, state)
    if (lam < 10.0):
        t1 = poisson_product(state, lam)
        count = t1[0]
        last = t1[1]
        return (count, last)
    t2 = poisson_rejection(state, lam)
    count = t2[0]
    last = t2[1]
    return (count, last)


def rand_init(seed):
    return pcg((seed & 0xFFFFFFFF))


def rand_init_offset(seed, offset):
    return pcg((((seed & 0xFFFFFFFF) + pcg((offset & 0xFFFFFFFF))) & 0xFFFFFFFF))


def randf(state):
    state = pcg(state)
    return (unit(state), state)


def randf_range(state, low, high):
    state = pcg(state)
    return (_fused(_rounded(high - low), unit(state), low), state)


def randi(state):
    state = pcg(state)
    return (_int32(state), state)


def randi_range(state, low, high):
    state = pcg(state)
    return (_int32(_int32(_remainder(state, (((high & 0xFFFFFFFF) - (low & 0xFFFFFFFF)) & 0xFFFFFFFF))) + low), state)


def randn(state):
    first = pcg(state)
    second = pcg(first)
    radius = _rounded(_sqrt(_rounded(-2.0 * _rounded(_log(_max(unit(first), 2.9802322387695312e-08))))))
    return (_rounded(radius * _rounded(_cos(_rounded(6.2831854820251465 * unit(second))))), second)


def randu(state):
    state = pcg(state)
    return (state, state)


def randu_range(state, low, high):
    state = pcg(state)
    return (((_remainder(state, ((high - low) & 0xFFFFFFFF)) + low) & 0xFFFFFFFF), state)


def lower_bound_between(arr, arr_begin, arr_end, value):
    low = arr_begin
    high = arr_end
    while (low < high):
        middle = _int32(low + _divide(_int32(high - low), 2))
        if (arr[middle] < value):
            low = _int32(middle + 1)
        else:
            high = middle
    return low


def lower_bound(arr, value):
    return lower_bound_between(arr, 0, len(arr), value)


def sample_cdf(state, cdf):
    state = pcg(state)
    return (_min(lower_bound(cdf, unit(state)), _int32(len(cdf) - 1)), state)


def sample_triangle(state):
    first = pcg(state)
    second = pcg(first)
    r = _rounded(_sqrt(unit(first)))
    return ([_rounded(1.0 - r), _rounded(unit(second) * r)], second)


def sample_unit_cube(state):
    first = pcg(state)
    second = pcg(first)
    third = pcg(second)
    return ([_rounded(unit(first) - 0.5), _rounded(unit(second) - 0.5), _rounded(unit(third) - 0.5)], third)


def sample_unit_disk(state):
    first = pcg(state)
    second = pcg(first)
    t1 = _rounded(_sqrt(unit(first)))
    t2 = _rounded(6.2831854820251465 * unit(second))
    r = t1
    angle = t2
    return ([_rounded(r * _rounded(_cos(angle))), _rounded(r * _rounded(_sin(angle)))], second)


def on_sphere(z, turn):
    t1 = _rounded(_sqrt(_max(_fused(-z, z, 1.0), 0.0)))
    t2 = _rounded(6.2831854820251465 * turn)
    r = t1
    angle = t2
    return [_rounded(r * _rounded(_cos(angle))), _rounded(r * _rounded(_sin(angle))), z]


def sample_unit_hemisphere(state):
    first = pcg(state)
    second = pcg(first)
    third = pcg(second)
    return ([_rounded(_a * _rounded(_cbrt(unit(third)))) for _a in on_sphere(unit(first), unit(second))], third)


def sample_unit_hemisphere_surface(state):
    first = pcg(state)
    second = pcg(first)
    return (on_sphere(unit(first), unit(second)), second)


def sample_unit_ring(state):
    state = pcg(state)
    angle = _rounded(6.2831854820251465 * unit(state))
    return ([_rounded(_cos(angle)), _rounded(_sin(angle))], state)


def sample_unit_sphere(state):
    first = pcg(state)
    second = pcg(first)
    third = pcg(second)
    return ([_rounded(_a * _rounded(_cbrt(unit(third)))) for _a in on_sphere(_fused(-2.0, unit(first), 1.0), unit(second))], third)


def sample_unit_sphere_surface(state):
    first = pcg(state)
    second = pcg(first)
    return (on_sphere(_fused(-2.0, unit(first), 1.0), unit(second)), second)


def sample_unit_square(state):
    first = pcg(state)
    second = pcg(first)
    return ([_rounded(unit(first) - 0.5), _rounded(unit(second) - 0.5)], second)


def wrapped(cell, period):
    if (period <= 0):
        return cell
    rest = _remainder(cell, period)
    return (_int32(rest + period) if (rest < 0) else rest)


def fade(t):
    return _rounded(_rounded(_rounded(t * t) * t) * _fused(t, _fused(t, 6.0, -15.0), 10.0))


def fade_slope(t):
    return _rounded(_rounded(_rounded(_rounded(30.0 * t) * t) * _rounded(t - 1.0)) * _rounded(t - 1.0))


def signed(hash):
    return _fused(2.0, unit(hash), -1.0)


def dot_vec2_vec2(a, b):
    total = _rounded(a[0] * b[0])
    for i in range(1, 2, 1):
        total = _fused(a[i], b[i], total)
    return total


def normalize_vec2(v):
    size = _rounded(_sqrt(dot_vec2_vec2(_copied(v), _copied(v))))
    if (size > 0.0):
        return [_rounded(_divide(_a, size)) for _a in v]
    return [0.0, 0.0]


def field_uint32_vec2_vec2i(state, p, period):
    value = _rounded(p[0] - p[0])
    gradient = [0.0, 0.0]
    t = [0.0, 0.0]
    for axis in range(0, 2, 1):
        t[axis] = _rounded(p[axis] - _floor(p[axis]))
    for corner in range(0, 4, 1):
        hash = state
        offset = [0.0, 0.0]
        weight = [0.0, 0.0]
        slope = [0.0, 0.0]
        for axis_2 in range(0, 2, 1):
            bit = ((corner >> axis_2) & 1)
            hash = pcg(((hash + (wrapped(_int32(_convert('int32', _floor(p[axis_2])) + bit), period[axis_2]) & 0xFFFFFFFF)) & 0xFFFFFFFF))
            offset[axis_2] = _rounded(t[axis_2] - _convert('float32', bit))
            weight[axis_2] = (fade(t[axis_2]) if (bit == 1) else _rounded(1.0 - fade(t[axis_2])))
            slope[axis_2] = (fade_slope(t[axis_2]) if (bit == 1) else -fade_slope(t[axis_2]))
        direction = [0.0, 0.0]
        for axis_3 in range(0, 2, 1):
            hash = pcg(hash)
            direction[axis_3] = signed(hash)
        direction = normalize_vec2(_copied(direction))
        height = dot_vec2_vec2(_copied(direction), _copied(offset))
        product = weight[0]
        for axis_4 in range(1, 2, 1):
            product = _rounded(product * weight[axis_4])
        value = _fused(product, height, value)
        for axis_5 in range(0, 2, 1):
            others = slope[axis_5]
            for other in range(0, 2, 1):
                if (other != axis_5):
                    others = _rounded(others * weight[other])
            gradient[axis_5] = _fused(others, height, _fused(product, direction[axis_5], gradient[axis_5]))
    return (value, _copied(gradient))


def curlnoise2(state, xy, octaves, lacunarity, gain):
    result = [0.0, 0.0]
    frequency = 1.0
    weight = 1.0
    for _octave in range(0, _int32(octaves), 1):
        t1 = field_uint32_vec2_vec2i(state, [_rounded(_a * frequency) for _a in xy], [0, 0])
        slope = _copied(t1[1])
        result = [_fused(_a, _rounded(weight * frequency), _c) for _a, _c in zip([slope[1], -slope[0]], result)]
        frequency = _rounded(frequency * lacunarity)
        weight = _rounded(weight * gain)
    return result


def dot_vec3_vec3(a, b):
    total = _rounded(a[0] * b[0])
    for i in range(1, 3, 1):
        total = _fused(a[i], b[i], total)
    return total


def normalize_vec3(v):
    size = _rounded(_sqrt(dot_vec3_vec3(_copied(v), _copied(v))))
    if (size > 0.0):
        return [_rounded(_divide(_a, size)) for _a in v]
    return [0.0, 0.0, 0.0]


def field_uint32_vec3_vec3i(state, p, period):
    value = _rounded(p[0] - p[0])
    gradient = [0.0, 0.0, 0.0]
    t = [0.0, 0.0, 0.0]
    for axis in range(0, 3, 1):
        t[axis] = _rounded(p[axis] - _floor(p[axis]))
    for corner in range(0, 8, 1):
        hash = state
        offset = [0.0, 0.0, 0.0]
        weight = [0.0, 0.0, 0.0]
        slope = [0.0, 0.0, 0.0]
        for axis_2 in range(0, 3, 1):
            bit = ((corner >> axis_2) & 1)
            hash = pcg(((hash + (wrapped(_int32(_convert('int32', _floor(p[axis_2])) + bit), period[axis_2]) & 0xFFFFFFFF)) & 0xFFFFFFFF))
            offset[axis_2] = _rounded(t[axis_2] - _convert('float32', bit))
            weight[axis_2] = (fade(t[axis_2]) if (bit == 1) else _rounded(1.0 - fade(t[axis_2])))
            slope[axis_2] = (fade_slope(t[axis_2]) if (bit == 1) else -fade_slope(t[axis_2]))
        direction = [0.0, 0.0, 0.0]
        for axis_3 in range(0, 3, 1):
            hash = pcg(hash)
            direction[axis_3] = signed(hash)
        direction = normalize_vec3(_copied(direction))
        height = dot_vec3_vec3(_copied(direction), _copied(offset))
        product = weight[0]
        for axis_4 in range(1, 3, 1):
            product = _rounded(product * weight[axis_4])
        value = _fused(product, height, value)
        for axis_5 in range(0, 3, 1):
            others = slope[axis_5]
            for other in range(0, 3, 1):
                if (other != axis_5):
                    others = _rounded(others * weight[other])
            gradient[axis_5] = _fused(others, height, _fused(product, direction[axis_5], gradient[axis_5]))
    return (value, _copied(gradient))


def curl_vec3_vec3_vec3(a, b, c):
    return [_rounded(c[1] - b[2]), _rounded(a[2] - c[0]), _rounded(b[0] - a[1])]


def curlnoise3(state, xyz, octaves, lacunarity, gain):
    result = [0.0, 0.0, 0.0]
    frequency = 1.0
    weight = 1.0
    second = pcg(((state + 1) & 0xFFFFFFFF))
    third = pcg(((state + 2) & 0xFFFFFFFF))
    for _octave in range(0, _int32(octaves), 1):
        t1 = field_uint32_vec3_vec3i(state, [_rounded(_a * frequency) for _a in xyz], [0, 0, 0])
        a = _copied(t1[1])
        t2 = field_uint32_vec3_vec3i(second, [_rounded(_a * frequency) for _a in xyz], [0, 0, 0])
        b = _copied(t2[1])
        t3 = field_uint32_vec3_vec3i(third, [_rounded(_a * frequency) for _a in xyz], [0, 0, 0])
        c = _copied(t3[1])
        result = [_fused(_a, _rounded(weight * frequency), _c) for _a, _c in zip(curl_vec3_vec3_vec3(_copied(a), _copied(b), _copied(c)), result)]
        frequency = _rounded(frequency * lacunarity)
        weight = _rounded(weight * gain)
    return result


def dot_vec4_vec4(a, b):
    total = _rounded(a[0] * b[0])
    for i in range(1, 4, 1):
        total = _fused(a[i], b[i], total)
    return total


def normalize_vec4(v):
    size = _rounded(_sqrt(dot_vec4_vec4(_copied(v), _copied(v))))
    if (size > 0.0):
        return [_rounded(_divide(_a, size)) for _a in v]
    return [0.0, 0.0, 0.0, 0.0]


def field_uint32_vec4_vec4i(state, p, period):
    value = _rounded(p[0] - p[0])
    gradient = [0.0, 0.0, 0.0, 0.0]
    t = [0.0, 0.0, 0.0, 0.0]
    for axis in range(0, 4, 1):
        t[axis] = _rounded(p[axis] - _floor(p[axis]))
    for corner in range(0, 16, 1):
        hash = state
        offset = [0.0, 0.0, 0.0, 0.0]
        weight = [0.0, 0.0, 0.0, 0.0]
        slope = [0.0, 0.0, 0.0, 0.0]
        for axis_2 in range(0, 4, 1):
            bit = ((corner >> axis_2) & 1)
            hash = pcg(((hash + (wrapped(_int32(_convert('int32', _floor(p[axis_2])) + bit), period[axis_2]) & 0xFFFFFFFF)) & 0xFFFFFFFF))
            offset[axis_2] = _rounded(t[axis_2] - _convert('float32', bit))
            weight[axis_2] = (fade(t[axis_2]) if (bit == 1) else _rounded(1.0 - fade(t[axis_2])))
            slope[axis_2] = (fade_slope(t[axis_2]) if (bit == 1) else -fade_slope(t[axis_2]))
        direction = [0.0, 0.0, 0.0, 0.0]
        for axis_3 in range(0, 4, 1):
            hash = pcg(hash)
            direction[axis_3] = signed(hash)
        direction = normalize_vec4(_copied(direction))
        height = dot_vec4_vec4(_copied(direction), _copied(offset))
        product = weight[0]
        for axis_4 in range(1, 4, 1):
            product = _rounded(product * weight[axis_4])
        value = _fused(product, height, value)
        for axis_5 in range(0, 4, 1):
            others = slope[axis_5]
            for other in range(0, 4, 1):
                if (other != axis_5):
                    others = _rounded(others * weight[other])
            gradient[axis_5] = _fused(others, height, _fused(product, direction[axis_5], gradient[axis_5]))
    return (value, _copied(gradient))


def curl_vec4_vec4_vec4(a, b, c):
    return [_rounded(c[1] - b[2]), _rounded(a[2] - c[0]), _rounded(b[0] - a[1])]


def curlnoise4(state, xyzt, octaves, lacunarity, gain):
    result = [0.0, 0.0, 0.0]
    frequency = 1.0
    weight = 1.0
    second = pcg(((state + 1) & 0xFFFFFFFF))
    third = pcg(((state + 2) & 0xFFFFFFFF))
    for _octave in range(0, _int32(octaves), 1):
        t1 = field_uint32_vec4_vec4i(state, [_rounded(_a * frequency) for _a in xyzt], [0, 0, 0, 0])
        a = _copied(t1[1])
        t2 = field_uint32_vec4_vec4i(second, [_rounded(_a * frequency) for _a in xyzt], [0, 0, 0, 0])
        b = _copied(t2[1])
        t3 = field_uint32_vec4_vec4i(third, [_rounded(_a * frequency) for _a in xyzt], [0, 0, 0, 0])
        c = _copied(t3[1])
        result = [_fused(_a, _rounded(weight * frequency), _c) for _a, _c in zip(curl_vec4_vec4_vec4(_copied(a), _copied(b), _copied(c)), result)]
        frequency = _rounded(frequency * lacunarity)
        weight = _rounded(weight * gain)
    return result


def line(state, x, period):
    cell = _convert('int32', _floor(x))
    t = _rounded(x - _floor(x))
    left = _rounded(signed(pcg(((state + (wrapped(cell, period) & 0xFFFFFFFF)) & 0xFFFFFFFF))) * t)
    right = _rounded(signed(pcg(((state + (wrapped(_int32(cell + 1), period) & 0xFFFFFFFF)) & 0xFFFFFFFF))) * _rounded(t - 1.0))
    return _fused(_rounded(right - left), fade(t), left)


def noise1(state, x):
    return line(state, x, 0)


def noise2(state, xy):
    t1 = field_uint32_vec2_vec2i(state, _copied(xy), [0, 0])
    value = t1[0]
    return value


def noise3(state, xyz):
    t1 = field_uint32_vec3_vec3i(state, _copied(xyz), [0, 0, 0])
    value = t1[0]
    return value


def noise4(state, xyzt):
    t1 = field_uint32_vec4_vec4i(state, _copied(xyzt), [0, 0, 0, 0])
    value = t1[0]
    return value


def pnoise1(state, x, px):
    return line(state, x, px)


def pnoise2(state, xy, px, py):
    t1 = field_uint32_vec2_vec2i(state, _copied(xy), [px, py])
    value = t1[0]
    return value


def pnoise3(state, xyz, px, py, pz):
    t1 = field_uint32_vec3_vec3i(state, _copied(xyz), [px, py, pz])
    value = t1[0]
    return value


def pnoise4(state, xyzt, px, py, pz, pt):
    t1 = field_uint32_vec4_vec4i(state, _copied(xyzt), [px, py, pz, pt])
    value = t1[0]
    return value


def clamp(x, low, high):
    return _min(_max(x, low), high)


def length(v):
    return _rounded(_sqrt(dot_vec3_vec3(_copied(v), _copied(v))))


def closest_point_edge_edge(p1, q1, p2, q2, epsilon):
    d1 = [_rounded(_a - _b) for _a, _b in zip(q1, p1)]
    d2 = [_rounded(_a - _b) for _a, _b in zip(q2, p2)]
    r = [_rounded(_a - _b) for _a, _b in zip(p1, p2)]
    a = dot_vec3_vec3(_copied(d1), _copied(d1))
    e = dot_vec3_vec3(_copied(d2), _copied(d2))
    f = dot_vec3_vec3(_copied(d2), _copied(r))
    s = 0.0
    t = 0.0
    if ((a <= epsilon) and (e > epsilon)):
        t = clamp(_rounded(_divide(f, e)), 0.0, 1.0)
    else:
        if (a > epsilon):
            c = dot_vec3_vec3(_copied(d1), _copied(r))
            if (e <= epsilon):
                s = clamp(_rounded(_divide(-c, a)), 0.0, 1.0)
            else:
                b = dot_vec3_vec3(_copied(d1), _copied(d2))
                denominator = _fused(-b, b, _rounded(a * e))
                if (denominator > 0.0):
                    s = clamp(_rounded(_divide(_fused(-c, e, _rounded(b * f)), denominator)), 0.0, 1.0)
                t = _rounded(_divide(_fused(b, s, f), e))
                if (t < 0.0):
                    t = 0.0
                    s = clamp(_rounded(_divide(-c, a)), 0.0, 1.0)
                else:
                    if (t > 1.0):
                        t = 1.0
                        s = clamp(_rounded(_divide(_rounded(b - c), a)), 0.0, 1.0)
    return [s, t, length([_rounded(_a - _b) for _a, _b in zip([_fused(_a, s, _c) for _a, _c in zip(d1, p1)], [_fused(_a, t, _c) for _a, _c in zip(d2, p2)])])]


TABLE = {
    'poisson': (
        (poisson, 'state: RandomState, lam: float32', 'uint32 uint32', ()),
    ),
    'rand_init': (
        (rand_init, 'seed: int32', 'uint32', ()),
        (rand_init_offset, 'seed: int32, offset: int32', 'uint32', ()),
    ),
    'randf': (
        (randf, 'state: RandomState', 'float32 uint32', ()),
        (randf_range, 'state: RandomState, low: float32, high: float32', 'float32 uint32', ()),
    ),
    'randi': (
        (randi, 'state: RandomState', 'int32 uint32', ()),
        (randi_range, 'state: RandomState, low: int32, high: int32', 'int32 uint32', ()),
    ),
    'randn': (
        (randn, 'state: RandomState', 'float32 uint32', ()),
    ),
    'randu': (
        (randu, 'state: RandomState', 'uint32 uint32', ()),
        (randu_range, 'state: RandomState, low: uint32, high: uint32', 'uint32 uint32', ()),
    ),
    'sample_cdf': (
        (sample_cdf, 'state: RandomState, cdf: array', 'int32 uint32', ()),
    ),
    'sample_triangle': (
        (sample_triangle, 'state: RandomState', 'vec2 uint32', ()),
    ),
    'sample_unit_cube': (
        (sample_unit_cube, 'state: RandomState', 'vec3 uint32', ()),
    ),
    'sample_unit_disk': (
        (sample_unit_disk, 'state: RandomState', 'vec2 uint32', ()),
    ),
    'sample_unit_hemisphere': (
        (sample_unit_hemisphere, 'state: RandomState', 'vec3 uint32', ()),
    ),
    'sample_unit_hemisphere_surface': (
        (sample_unit_hemisphere_surface, 'state: RandomState', 'vec3 uint32', ()),
    ),
    'sample_unit_ring': (
        (sample_unit_ring, 'state: RandomState', 'vec2 uint32', ()),
    ),
    'sample_unit_sphere': (
        (sample_unit_sphere, 'state: RandomState', 'vec3 uint32', ()),
    ),
    'sample_unit_sphere_surface': (
        (sample_unit_sphere_surface, 'state: RandomState', 'vec3 uint32', ()),
    ),
    'sample_unit_square': (
        (sample_unit_square, 'state: RandomState', 'vec2 uint32', ()),
    ),
    'curlnoise': (
        (curlnoise2, 'state: uint32, xy: vec2, octaves: uint32, lacunarity: float32, gain: float32', 'vec2', (1, 2.0, 0.5,)),
        (curlnoise3, 'state: uint32, xyz: vec3, octaves: uint32, lacunarity: float32, gain: float32', 'vec3', (1, 2.0, 0.5,)),
        (curlnoise4, 'state: uint32, xyzt: vec4, octaves: uint32, lacunarity: float32, gain: float32', 'vec3', (1, 2.0, 0.5,)),
    ),
    'noise': (
        (noise1, 'state: uint32, x: float32', 'float32', ()),
        (noise2, 'state: uint32, xy: vec2', 'float32', ()),
        (noise3, 'state: uint32, xyz: vec3', 'float32', ()),
        (noise4, 'state: uint32, xyzt: vec4', 'float32', ()),
    ),
    'pnoise': (
        (pnoise1, 'state: uint32, x: float32, px: int32', 'float32', ()),
        (pnoise2, 'state: uint32, xy: vec2, px: int32, py: int32', 'float32', ()),
        (pnoise3, 'state: uint32, xyz: vec3, px: int32, py: int32, pz: int32', 'float32', ()),
        (pnoise4, 'state: uint32, xyzt: vec4, px: int32, py: int32, pz: int32, pt: int32', 'float32', ()),
    ),
    'closest_point_edge_edge': (
        (closest_point_edge_edge, 'p1: vec3, q1: vec3, p2: vec3, q2: vec3, epsilon: float32', 'vec3', ()),
    ),
}
STATEFUL = ('poisson', 'randf', 'randi', 'randn', 'randu', 'sample_cdf', 'sample_triangle', 'sample_unit_cube', 'sample_unit_disk', 'sample_unit_hemisphere', 'sample_unit_hemisphere_surface', 'sample_unit_ring', 'sample_unit_sphere', 'sample_unit_sphere_surface', 'sample_unit_square')
IS_EXACT = True
