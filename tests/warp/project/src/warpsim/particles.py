"""Kernels with the spellings that Warp's users have."""

from __future__ import annotations

from typing import Any

import warp as wp

wp.config.log_level = wp.LOG_WARNING
wp.set_module_options({"enable_backward": False})

GRAVITY = wp.constant(wp.vec3(0.0, 0.0, -9.81))


class vec5(wp.types.vector(length=5, dtype=wp.float32)):
    pass


@wp.struct
class Spring:
    rest: float
    stiffness: float = 100.0
    ends: wp.array(dtype=wp.vec2i)


@wp.func
def pull(d: wp.vec3, spring: Spring):
    length = wp.length(d)
    return -spring.stiffness * (length - spring.rest) * (d / length)


@wp.func
def half(x: float):
    return 0.5 * x


@wp.func
def half(x: wp.vec3):  # noqa: F811
    return 0.5 * x


@wp.kernel(enable_backward=False, module="unique", launch_bounds=(128, 2), grid_stride=False)
def integrate(
    x: wp.array(dtype=wp.vec3),
    v: wp.array[wp.vec3f],
    pose: wp.array(dtype=wp.transformf),
    spring: Spring,
    dt: wp.float32,
):
    i = wp.tid()
    f = pull(x[i], spring) + GRAVITY
    v[i] = v[i] + half(f) * half(dt)
    x[i] = x[i] + v[i] * dt
    pose[i] = wp.transformf(x[i], wp.quat_identity())


@wp.kernel(module_options={"fuse_fp": False, "block_dim": 64})
def sums(a: wp.array2d(dtype=vec5), out: wp.array(dtype=float), n: wp.int32):
    i, j = wp.tid()
    if a[i, j] == vec5():
        return
    wp.atomic_add(out, i, a[i, j][4])
    if wp.static(wp.config.mode == "release"):
        out[i] = out[i] + float(n)


@wp.kernel
def fill(out: wp.array(dtype=Any), value: Any):
    out[wp.tid()] = value


wp.overload(fill, {"out": wp.array(dtype=wp.float64), "value": wp.float64})
wp.overload(fill, {"out": wp.fabricarray(dtype=float), "value": float})  # passed over


def make_power(exponent: int):
    """A factory of kernels."""

    @wp.kernel(module="unique")
    def power(a: wp.array(dtype=float)):
        i = wp.tid()
        x = float(1.0)  # noqa: UP018
        for _ in range(wp.static(exponent)):
            x = x * a[i]
        a[i] = x

    return power


def never():
    """Nobody calls it."""

    @wp.kernel
    def unmade(a: wp.array(dtype=float)):
        a[0] = 1.0

    return unmade
