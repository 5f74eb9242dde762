"""Where functions are looked at: inside their domains, and away from the points where a formula changes.

points("normalize", {"v": "Vec3"}, rows, source)     {"v": (rows, 3) numbers}
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

Source: TypeAlias = np.random.Generator
Points: TypeAlias = dict[str, Any]  # arrays
Domain: TypeAlias = Callable[[Source, tuple[int, ...]], np.ndarray]

# Numbers of this kind are moved by up to 0.002 at every point.
ROOM = 0.05


def between(low: float, high: float) -> Domain:
    """Anything between two numbers."""
    return lambda source, shape: source.uniform(low, high, shape)


def apart_from_zero(low: float, high: float) -> Domain:
    """Of either sign."""
    return lambda source, shape: source.uniform(low, high, shape) * source.choice([-1.0, 1.0], shape)


def whole(low: int, high: int) -> Domain:
    """Integers, both ends included."""
    return lambda source, shape: source.integers(low, high + 1, shape)


def unit(source: Source, shape: tuple[int, ...]) -> np.ndarray:
    """Vectors of length one."""
    found = source.normal(size=shape)
    return np.asarray(found / np.linalg.norm(found, axis=-1, keepdims=True))


def slightly_turned(source: Source, shape: tuple[int, ...]) -> np.ndarray:
    """Quaternions of length one, of either sign, that turn by less than 1.2 radians."""
    found = np.concatenate([apart_from_zero(0.1, 0.35)(source, (*shape[:-1], 3)), np.ones((*shape[:-1], 1))], -1)
    found *= source.choice([-1.0, 1.0], (*shape[:-1], 1))
    return np.asarray(found / np.linalg.norm(found, axis=-1, keepdims=True))


def moved(source: Source, shape: tuple[int, ...]) -> np.ndarray:
    """A position, and a rotation of length one."""
    return np.concatenate([source.uniform(-2.0, 2.0, (*shape[:-1], 3)), unit(source, (*shape[:-1], 4))], -1)


def matrix_of(q: np.ndarray) -> np.ndarray:
    """The matrices of quaternions of length one."""
    x, y, z, w = np.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def turning(source: Source, shape: tuple[int, ...]) -> np.ndarray:
    """Rotations as 3 × 3 matrices, or in 4 × 4 ones with a position."""
    found = np.zeros(shape)
    found[..., :3, :3] = matrix_of(unit(source, (shape[0], 4)))
    if shape[-1] == 4:
        found[..., :3, 3] = source.uniform(-2.0, 2.0, (shape[0], 3))
        found[..., 3, 3] = 1.0
    return found


def scaling(source: Source, shape: tuple[int, ...]) -> np.ndarray:
    """Rotations and positions with scales."""
    found = turning(source, shape)
    found[..., :3, :3] *= source.uniform(0.5, 2.0, (shape[0], 1, 3))
    return found


def well_conditioned(source: Source, shape: tuple[int, ...]) -> np.ndarray:
    """Square matrices between rotations, with singular values of 0.6 to 2 that differ by a third at least."""
    size = shape[-1]
    left, right = (np.linalg.qr(source.normal(size=shape))[0] for _ in range(2))
    values = 0.7 * 1.45 ** np.arange(size) * source.uniform(0.95, 1.05, (shape[0], size))
    return np.asarray((left * values[:, None, :]) @ right)


def symmetric(source: Source, shape: tuple[int, ...]) -> np.ndarray:
    """Symmetric matrices whose eigenvalues are apart."""
    axes = np.linalg.qr(source.normal(size=shape))[0]
    values = np.array([-1.0, 0.5, 1.8]) + source.uniform(-0.3, 0.3, (shape[0], 3))
    return np.asarray((axes * values[:, None, :]) @ np.swapaxes(axes, -1, -2))


USUAL = between(-2.0, 2.0)
BY_WORD: dict[str, Domain] = {
    "Quat": unit,
    "Transform": moved,
    "Int32": whole(-5, 5),
    "Uint32": whole(0, 1 << 20),
    "Bool": whole(0, 1),
}
POSITIVE = between(0.05, 8.0)
# By function and parameter; `*` any parameter.
DOMAINS: dict[str, dict[str, Domain]] = {
    **{name: {"*": POSITIVE} for name in ("sqrt", "rsqrt", "log", "log2", "log10")},
    **{name: {"*": between(-0.9, 0.9)} for name in ("asin", "acos", "erfinv")},
    "erfcinv": {"*": between(0.1, 1.9)},
    "tan": {"*": between(-1.3, 1.3)},
    "pow": {"x": between(0.2, 3.0), "y": between(-3.0, 3.0)},
    "cbrt": {"*": apart_from_zero(0.1, 3.0)},
    **{name: {"b": apart_from_zero(0.5, 2.0)} for name in ("div", "cw_div", "mod", "floordiv")},
    "inverse": {"m": well_conditioned},
    "eig3": {"A": symmetric},
    **{name: {"A": well_conditioned} for name in ("qr3", "svd2", "svd3")},
    **{
        name: {"v": USUAL, "delta": between(0.5, 1.5)}
        for name in ("norm_huber", "norm_pseudo_huber", "smooth_normalize")
    },
    "quat_from_matrix": {"m": turning},
    "transform_from_matrix": {"m": turning},
    "transform_decompose": {"m": scaling},
    "quat_to_rpy": {"q": slightly_turned},
    "quat_slerp": {"t": between(-0.5, 1.5)},
    "closest_point_edge_edge": {"epsilon": between(0.0005, 0.001)},
    **{name: {"axis": unit} for name in ("quat_twist", "quat_twist_angle", "quat_twist_angle_signed")},
    "pnoise": {one: whole(2, 6) for one in ("px", "py", "pz", "pt")},
    "curlnoise": {"octaves": whole(1, 2), "lacunarity": between(1.5, 2.5), "gain": between(0.3, 0.7)},
    "poisson": {"lam": between(2.0, 8.0)},
    **{name: {"low": between(-2.0, -1.0), "high": between(1.0, 2.0)} for name in ("randf",)},
}
# Euler angles by axes, three different ones in any order.
ORDERS = list(itertools.permutations(range(3)))


def both(*conditions: np.ndarray) -> np.ndarray:
    """By row: all conditions hold."""
    return np.asarray(np.logical_and.reduce(conditions))


def _far(values: Any, room: float = ROOM) -> np.ndarray:
    """By row: nothing is near zero."""
    return np.asarray((np.abs(values.reshape(len(values), -1)) > room).all(1))


def _from_whole(values: np.ndarray, room: float = ROOM) -> np.ndarray:
    """By row: nothing is near a whole number."""
    return _far(values - np.round(values), room)


def _gaps(values: np.ndarray) -> np.ndarray:
    """By row: no two of the numbers are near each other."""
    return _far(np.diff(np.sort(values.reshape(len(values), -1), axis=1)))


def _lengths(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt((values.reshape(len(values), -1) ** 2).sum(1)))


def _extremes(p: Points) -> np.ndarray:
    """The arguments of `min` and `max`, or the elements of one vector."""
    values = list(p.values())
    return _gaps(values[0]) if len(values) == 1 else _elementwise_gaps(values)


def _elementwise_gaps(values: list[np.ndarray]) -> np.ndarray:
    return _far(np.diff(np.sort(np.stack([one.reshape(len(one), -1) for one in values], 1), axis=1), axis=1))


def _huber(p: Points) -> np.ndarray:
    apart = np.abs(_lengths(p["v"]) - p.get("delta", np.ones(1)))
    return both(_lengths(p["v"]) > 0.3, apart > ROOM)


def _rotation_branches(p: Points) -> np.ndarray:
    """The largest of x, y, z, w is clear, by which the formula is chosen."""
    m = p["m"][:, :3, :3] / np.linalg.norm(p["m"][:, :3, :3], axis=1, keepdims=True)
    diagonal = np.diagonal(m, axis1=1, axis2=2)
    return both(_far(diagonal.sum(1)), _gaps(diagonal))


def _between_vectors(p: Points) -> np.ndarray:
    a, b = (p[name] / np.linalg.norm(p[name], axis=1, keepdims=True) for name in "ab")
    return both(_lengths(p["a"]) > 0.3, _lengths(p["b"]) > 0.3, (a * b).sum(1) > -0.9)


def _slerp(p: Points) -> np.ndarray:
    """The rotation from one to the other is neither none nor half a turn."""
    cosine = np.abs((p["a"] * p["b"]).sum(1))
    return both(cosine > 0.1, cosine < 0.95)


def _twist(p: Points) -> np.ndarray:
    return both(_far((p["q"][:, :3] * p["axis"]).sum(1)), _far(p["q"][:, 3]))


def _steps(p: Points) -> np.ndarray:
    t = (p["x"] - p["a"]) / np.where(np.abs(p["b"] - p["a"]) < 0.5, np.nan, p["b"] - p["a"])
    return both(_far(t), _far(t - 1.0))


def _edges(p: Points) -> np.ndarray:
    """The closest points are clearly inside both edges, or clearly at an end (Ericson, 2004, 5.1.9)."""
    d1, d2, r = p["q1"] - p["p1"], p["q2"] - p["p2"], p["p1"] - p["p2"]
    a, e, f, c, b = ((x * y).sum(1) for x, y in ((d1, d1), (d2, d2), (d2, r), (d1, r), (d1, d2)))
    s = np.clip(first := (b * f - c * e) / (a * e - b * b), 0.0, 1.0)
    t = (b * s + f) / e
    again = np.where(t < 0.0, -c / a, (b - c) / a)
    beyond = (t < 0.0) | (t > 1.0)
    far = np.abs(r + d1 * s[:, None] - d2 * np.clip(t, 0.0, 1.0)[:, None]).max(1) > 0.3
    clear = _far(np.stack([first, first - 1.0, t, t - 1.0], 1))
    ends = ~beyond | _far(np.stack([again, again - 1.0], 1))
    return both(clear, b * b < 0.8 * a * e, far, a > 0.5, e > 0.5, ends)


def _floats(p: Points) -> np.ndarray:
    return np.stack([one for one in p.values() if one.dtype.kind == "f"], 1)


# What rows are taken.
CLEAR: dict[str, Callable[[Points], np.ndarray]] = {
    "abs": lambda p: _far(p["x"]),
    "min": _extremes,
    "max": _extremes,
    "mod": lambda p: _from_whole(p["a"] / p["b"]),
    "floordiv": lambda p: _from_whole(p["a"] / p["b"]),
    "clamp": lambda p: _gaps(np.stack(list(p.values()), 1)),
    "frac": lambda p: _from_whole(p["x"]),
    **{name: (lambda p: _from_whole(p["x"])) for name in ("floor", "ceil", "trunc")},
    **{name: (lambda p: _from_whole(p["x"] + 0.5)) for name in ("round", "rint")},
    **{name: (lambda p: _far(next(iter(p.values())))) for name in ("sign", "step", "nonzero")},
    "smoothstep": _steps,
    "atan2": lambda p: _lengths(_floats(p)) > 0.3,
    "copysign": lambda p: _far(_floats(p)),
    **{name: (lambda p: _lengths(p["v"]) > 0.3) for name in ("length", "norm_l2", "normalize", "smooth_normalize")},
    "norm_l1": lambda p: _far(p["v"]),
    "norm_huber": _huber,
    "quat_from_axis_angle": lambda p: _lengths(p["axis"]) > 0.3,
    "quat_to_axis_angle": lambda p: both(_lengths(p["q"][:, :3]) > 0.2, _far(p["q"][:, 3])),
    "quat_from_matrix": _rotation_branches,
    "transform_from_matrix": _rotation_branches,
    "transform_decompose": _rotation_branches,
    "quat_between_vectors": _between_vectors,
    "quat_slerp": _slerp,
    **dict.fromkeys(("quat_twist", "quat_twist_angle", "quat_twist_angle_signed"), _twist),
    "closest_point_edge_edge": _edges,
    **{name: (lambda p: _gaps(p["v"])) for name in ("argmin", "argmax")},
    **{name: (lambda p: _from_whole(_coordinates(p))) for name in ("noise", "pnoise")},
    "curlnoise": lambda p: _octaves(p),
}


def _coordinates(p: Points) -> np.ndarray:
    return np.concatenate([one.reshape(len(one), -1) for one in p.values() if one.dtype.kind == "f"], 1)


def _octaves(p: Points) -> np.ndarray:
    """At every octave the point is inside a cell."""
    at = next(one for one in p.values() if one.dtype.kind == "f")
    found = np.ones(len(at), bool)
    for octave in range(int(p["octaves"].max()) if "octaves" in p else 1):
        scale = p["lacunarity"] ** octave if "lacunarity" in p else np.ones(len(at))
        found &= _from_whole(at * scale[:, None], 0.02)
    return found


def shape_of(word: str) -> tuple[int, ...]:
    """The shape of one value of a word."""
    if match := re.fullmatch(r"Vec(\d)|Mat(\d)(\d)", word):
        return tuple(int(one) for one in match.groups() if one)
    return {"Quat": (4,), "Transform": (7,)}.get(word, ())


def points(name: str, words: Mapping[str, str], rows: int, source: Source) -> Points:
    """Rows of arguments."""
    found = _drawn(name, words, 64 * rows, source)
    if name not in CLEAR:
        return {parameter: one[:rows] for parameter, one in found.items()}
    with np.errstate(divide="ignore", invalid="ignore"):
        clear = np.flatnonzero(CLEAR[name](found))
    assert len(clear) >= rows, f"{name}: {len(clear)} rows of {64 * rows}"
    return {parameter: one[clear[:rows]] for parameter, one in found.items()}


def _drawn(name: str, words: Mapping[str, str], rows: int, source: Source) -> Points:
    own = DOMAINS.get(name, {})
    found = {}
    for parameter, word in words.items():
        domain = own.get(parameter, own.get("*", BY_WORD.get(word, USUAL)))
        found[parameter] = domain(source, (rows, *shape_of(word)))
    if name in ("quat_from_euler", "quat_to_euler"):
        order = np.array(ORDERS)[source.integers(0, len(ORDERS), rows)]
        found |= {axis: order[:, number] for number, axis in enumerate("ijk")}
    if name == "quat_to_euler":
        found["q"] = slightly_turned(source, (rows, 4))
    return found
