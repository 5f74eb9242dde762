"""Noise: zero on the lattice, smooth, periodic where asked, and without divergence."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.helpers.both_ways import BothWays, zeros
from tests.helpers.host_gpu import device

Body = Callable[[str, str], BothWays]


def sampler(body: Body, call: str, kind: str, result: str) -> Callable[[np.ndarray, int], np.ndarray]:
    """`sample(points, width)`: the function at many points; the first few are the interpreter's too."""
    run = body(f"points: kb.array(dtype={kind}), out: kb.array(dtype={result})", f"p = points[i]\nout[i] = {call}")

    interpreted: list[bool] = []

    def sample(points: np.ndarray, width: int) -> np.ndarray:
        points = points.astype(np.float32)
        shape = (len(points), width) if width > 1 else (len(points),)
        if not interpreted:
            run(2, points[:2], zeros(*shape)[:2])
            interpreted.append(True)
        out = zeros(*shape)
        run.module.launch(run.kernel.name, len(points), [device(points), device(out)])
        return out.astype(np.float64)

    return sample


def points(dimensions: int, count: int = 2000, spread: float = 20.0) -> np.ndarray:
    found = np.random.default_rng(1).uniform(-spread, spread, (count, dimensions))
    return found if dimensions > 1 else found[:, 0]


KINDS = {1: "float", 2: "kb.vec2", 3: "kb.vec3", 4: "kb.vec4"}


@pytest.mark.parametrize("dimensions", [1, 2, 3, 4])
def test_noise(body: Body, dimensions: int) -> None:
    sample = sampler(body, "kb.noise(kb.uint32(7), p)", KINDS[dimensions], "float")
    lattice = np.round(points(dimensions, 50))
    assert np.abs(sample(lattice, 1)).max() == 0.0
    values = sample(points(dimensions), 1)
    assert np.abs(values).max() <= (0.5 if dimensions == 1 else 1.0)
    assert abs(values.mean()) < 0.02
    assert values.std() > 0.05
    step = 1e-3
    there = points(dimensions, 500, 3.0)
    change = np.abs(sample(there + step, 1) - sample(there, 1))
    assert change.max() < 5 * step * dimensions
    assert change.max() > 0.1 * step


def test_another_state_is_another_field(body: Body) -> None:
    a = sampler(body, "kb.noise(kb.uint32(7), p)", "kb.vec3", "float")(points(3), 1)
    b = sampler(body, "kb.noise(kb.rand_init(1), p)", "kb.vec3", "float")(points(3), 1)
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.1


PERIODS = {1: "4", 2: "4, 3", 3: "4, 3, 2", 4: "4, 3, 2, 5"}


@pytest.mark.parametrize("dimensions", [1, 2, 3, 4])
def test_periodic_noise(body: Body, dimensions: int) -> None:
    sample = sampler(body, f"kb.pnoise(kb.uint32(7), p, {PERIODS[dimensions]})", KINDS[dimensions], "float")
    there = np.round(points(dimensions, 300) * 256.0) / 256.0  # exact after a shift
    period = np.array([float(p) for p in PERIODS[dimensions].split(", ")])
    for times in (1, -2, 7):
        moved = there + times * (period if dimensions > 1 else period[0])
        assert np.array_equal(sample(there, 1), sample(moved, 1))
    inside = np.abs(there) % 1.9
    free = sampler(body, "kb.noise(kb.uint32(7), p)", KINDS[dimensions], "float")
    if dimensions == 1:
        assert np.array_equal(sample(inside, 1), free(inside, 1))


@pytest.mark.parametrize("dimensions", [2, 3, 4])
def test_curl_noise_has_no_divergence(body: Body, dimensions: int) -> None:
    width = min(dimensions, 3)
    sample = sampler(body, "kb.curlnoise(kb.uint32(7), p, 2, 2.0, 0.5)", KINDS[dimensions], KINDS[width])
    there = points(dimensions, 300, 4.0).astype(np.float32).astype(np.float64)
    step = 2.0**-7
    divergence, size = np.zeros(len(there)), np.zeros(len(there))
    for axis in range(width):
        offset = np.zeros(dimensions)
        offset[axis] = step
        slope = (sample(there + offset, width) - sample(there - offset, width))[:, axis] / (2 * step)
        divergence += slope
        size += np.abs(slope)
    assert np.abs(divergence).mean() < 0.01 * size.mean()
    assert size.mean() > 0.1


def test_curl_noise_is_the_turned_gradient_of_noise(body: Body) -> None:
    curl = sampler(body, "kb.curlnoise(kb.uint32(7), p, 1, 2.0, 0.5)", "kb.vec2", "kb.vec2")
    value = sampler(body, "kb.noise(kb.uint32(7), p)", "kb.vec2", "float")
    there = points(2, 300, 4.0)
    step = 2.0**-8
    slopes = [(value(there + o, 1) - value(there - o, 1)) / (2 * step) for o in np.eye(2) * step]
    found = curl(there, 2)
    assert np.abs(found[:, 0] - slopes[1]).max() < 1e-2
    assert np.abs(found[:, 1] + slopes[0]).max() < 1e-2


def test_octaves_add_up_and_none_gives_nothing(body: Body) -> None:
    run = body(
        "out: kb.array(dtype=kb.vec2), p: kb.vec2",
        """
        state = kb.uint32(7)
        out[0] = kb.curlnoise(state, p, 0, 2.0, 0.5)
        out[1] = kb.curlnoise(state, p, 2, 3.0, 0.25)
        out[2] = kb.curlnoise(state, p, 1, 1.0, 1.0) + kb.curlnoise(state, p * 3.0, 1, 1.0, 1.0) * 0.75
        out[3] = kb.curlnoise(state, p)
        out[4] = kb.curlnoise(state, p, 1)
        """,
    )
    out = zeros(5, 2)
    run(1, out, [0.25, 0.7109375])  # exact in float32
    assert out[0].tolist() == [0.0, 0.0]
    assert out[1] == pytest.approx(out[2], rel=1e-5)
    assert out[3].tolist() == out[4].tolist()
