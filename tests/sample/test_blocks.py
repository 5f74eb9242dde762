"""The sample's kernels whose threads work together: in the simulator, against NumPy, and what their accesses cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kbuild as kb
from robosim import block_checks, blocks, checks, reference

NUMBERS = np.random.default_rng(8)


@pytest.mark.parametrize("check", block_checks.CHECKS, ids=lambda check: check.__name__)
def test_kernel_and_reference_agree(check: Any) -> None:
    outcome = check("sim")
    assert outcome.is_good, outcome
    assert outcome.threads >= 2000


REFERENCES = {
    "centre_of_mass": "centre_of_mass",
    "matrix_product": "matrix_product",
    "blur": "blur",
    "voxels_in_blocks": "count_voxels",
    "near_points": "near_points",
}


@pytest.mark.parametrize("name", REFERENCES)
def test_a_wrong_result_is_noticed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    right = getattr(reference, REFERENCES[name])

    def wrong(*arguments: Any) -> list[float]:
        numbers = list(checks.flat(right(*arguments)))
        numbers[len(numbers) // 2] += 1
        return numbers

    monkeypatch.setattr(reference, REFERENCES[name], wrong)
    assert not getattr(block_checks, name)("sim").is_good


def floats(*shape: int) -> Any:
    return NUMBERS.uniform(-1.0, 1.0, shape).astype(np.float32)


def conflicts(profile: Any) -> dict[int, int]:
    """Passes through shared memory that bank conflicts add, by line."""
    counts = {
        line.line: sum(one.conflicts for (space, _), one in line.memory.items() if space == "shared")
        for line in profile.lines
    }
    return {line: count for line, count in counts.items() if count}


@pytest.mark.parametrize(
    ("rows", "inner", "columns"), [(1, 1, 1), (16, 16, 16), (33, 17, 70), (5, 100, 16), (64, 1, 3)]
)
def test_products_of_any_sizes(rows: int, inner: int, columns: int) -> None:
    a, b = floats(rows, inner), floats(inner, columns)
    product = np.full((rows, columns), np.nan, np.float32)
    grid = (-(-columns // blocks.TILE), -(-rows // blocks.TILE))
    kb.launch(blocks.matrix_product, grid=grid, block=(16, 16), inputs=[a, b, product], device="sim")
    np.testing.assert_allclose(product, a @ b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("height", "width"), [(1, 1), (8, 32), (3, 70), (41, 5)])
def test_images_of_any_sizes(height: int, width: int) -> None:
    image, weights = floats(height, width), floats(2 * blocks.RADIUS + 1)
    half, whole = (np.full_like(image, np.nan) for _ in range(2))
    grid, block = (-(-width // blocks.WIDE), -(-height // blocks.HIGH)), (blocks.WIDE, blocks.HIGH)
    kb.launch(blocks.blur_rows, grid=grid, block=block, inputs=[image, weights, half], device="sim")
    kb.launch(blocks.blur_columns, grid=grid, block=block, inputs=[half, weights, whole], device="sim")
    padded = np.pad(image.astype(np.float64), blocks.RADIUS, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (len(weights), len(weights)))
    np.testing.assert_allclose(whole, np.einsum("yxij,i,j->yx", windows, weights, weights), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("count", [1, 128, 1000])
def test_centres_of_any_number_of_points(count: int) -> None:
    points, masses = floats(count, 3), np.abs(floats(count)) + np.float32(0.1)
    parts, result = np.zeros((3, 4), np.float32), np.zeros((1, 3), np.float32)
    kb.launch(blocks.moments, grid=3, inputs=[points, masses, parts], device="sim")
    kb.launch(blocks.centre, grid=1, inputs=[parts, result], device="sim")
    np.testing.assert_allclose(result[0], np.average(points, axis=0, weights=masses), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_points_are_picked_in_their_order(share: float) -> None:
    points = floats(700, 3)
    points[:, 2] = np.where(NUMBERS.uniform(size=700) < share, 0.5, -0.5)
    near, total = np.zeros_like(points), np.zeros(1, np.int32)
    places = np.zeros(-(-len(points) // blocks.BLOCK), np.int32)
    kb.launch(blocks.count_near, grid=len(places), inputs=[points, 9.0, places], device="sim")
    kb.launch(blocks.place_blocks, grid=1, inputs=[places, total], device="sim")
    kb.launch(blocks.pick_near, grid=len(places), inputs=[points, 9.0, places, near], device="sim")
    wanted = points[points[:, 2] > 0]
    assert total[0] == len(wanted)
    np.testing.assert_array_equal(near[: total[0]], wanted)


def test_tiles_have_no_bank_conflicts() -> None:
    a, weights, out = floats(64, 64), floats(2 * blocks.RADIUS + 1), floats(64, 64)
    cases = {
        blocks.matrix_product: ((4, 4), (16, 16), [a, a, out]),
        blocks.blur_rows: ((2, 8), (32, 8), [a, weights, out]),
        blocks.blur_columns: ((2, 8), (32, 8), [a, weights, out]),
    }
    for kernel, (grid, block, inputs) in cases.items():
        result = kb.sim.run(kernel, None, inputs, grid=grid, block=block, profile=True)
        assert result.profile.totals.memory["shared", "load"].requests > 0, kernel
        assert conflicts(result.profile) == {}, kernel
