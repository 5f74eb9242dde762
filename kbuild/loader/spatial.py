"""Spatial vectors on the host: `kb.spatial_top(s)`, `kb.transform_twist(t, s)` and their kin, in double precision.

What each means stands beside the function of the same name in `kbuild.intrinsics.library_spatial`.
"""

from __future__ import annotations

from . import factories
from .values import rotated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def _cross(a: Any, b: Any) -> list[float]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _sum(a: Any, b: Any) -> list[float]:
    return [x + y for x, y in zip(a, b)]


def _vec3(s: Any, numbers: Any) -> Any:
    return factories.vector(3, s._kb_type_.element)(*numbers)


def spatial_top(s: Any) -> Any:
    return _vec3(s, s[:3])


def spatial_bottom(s: Any) -> Any:
    return _vec3(s, s[3:])


def spatial_dot(a: Any, b: Any) -> float:
    return float(sum(x * y for x, y in zip(a, b)))


def spatial_cross(a: Any, b: Any) -> Any:
    return type(a)(_cross(a[:3], b[:3]), _sum(_cross(a[3:], b[:3]), _cross(a[:3], b[3:])))


def spatial_cross_dual(a: Any, b: Any) -> Any:
    return type(a)(_sum(_cross(a[:3], b[:3]), _cross(a[3:], b[3:])), _cross(a[:3], b[3:]))


def velocity_at_point(twist: Any, r: Any) -> Any:
    return _vec3(twist, _sum(twist[3:], _cross(twist[:3], r)))


def transform_twist(t: Any, x: Any) -> Any:
    w = rotated(t[3:], x[:3])
    return type(x)(w, _sum(rotated(t[3:], x[3:]), _cross(t[:3], w)))


def transform_wrench(t: Any, x: Any) -> Any:
    f = rotated(t[3:], x[3:])
    return type(x)(_sum(rotated(t[3:], x[:3]), _cross(t[:3], f)), f)


def spatial_adjoint(r: Any, s: Any) -> Any:
    upper = [(*row, 0.0, 0.0, 0.0) for row in map(tuple, r)]
    lower = [(*left, *right) for left, right in zip(map(tuple, s), map(tuple, r))]
    return factories.matrix((6, 6), r._kb_type_.element)(*upper, *lower)


HOST: dict[str, Callable[..., Any]] = {
    one.__name__: one
    for one in (
        spatial_adjoint,
        spatial_bottom,
        spatial_cross,
        spatial_cross_dual,
        spatial_dot,
        spatial_top,
        transform_twist,
        transform_wrench,
        velocity_at_point,
    )
}
