"""The sample's kernels whose threads work together, on a GPU: sizes beside those of `python -m robosim`, equal bits."""

import random

import pytest

import kbuild as kb
from robosim import block_checks, blocks, reference
from robosim.checks import largest_error, random_vectors

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("check", block_checks.CHECKS, ids=lambda check: check.__name__)
def test_every_result_is_right(check):
    outcome = check()
    assert outcome.is_good, outcome


@pytest.mark.parametrize(
    ("rows", "inner", "columns"), [(1, 1, 1), (16, 16, 16), (33, 17, 70), (5, 100, 16), (64, 1, 3)]
)
def test_products_of_any_sizes(rows, inner, columns):
    numbers = random.Random(rows)
    a, b = (
        [[float(numbers.randrange(-8, 9)) for _ in range(n)] for _ in range(m)]
        for m, n in ((rows, inner), (inner, columns))
    )
    product = kb.full((rows, columns), float("nan"))
    grid = (-(-columns // blocks.TILE), -(-rows // blocks.TILE))
    block = (blocks.TILE, blocks.TILE)
    kb.launch(blocks.matrix_product, grid=grid, block=block, inputs=[kb.array(a), kb.array(b)], outputs=[product])
    assert largest_error(product.tolist(), reference.matrix_product(a, b)) == 0.0  # small whole numbers


@pytest.mark.parametrize(("height", "width"), [(1, 1), (8, 32), (3, 70), (41, 5)])
def test_images_of_any_sizes(height, width):
    numbers = random.Random(height)
    image = [[float(numbers.randrange(256)) for _ in range(width)] for _ in range(height)]
    weights = [float(numbers.randrange(-3, 4)) for _ in range(2 * blocks.RADIUS + 1)]
    source, given = kb.array(image), kb.array(weights)
    half, whole = kb.full((height, width), float("nan")), kb.full((height, width), float("nan"))
    grid, block = (-(-width // blocks.WIDE), -(-height // blocks.HIGH)), (blocks.WIDE, blocks.HIGH)
    kb.launch(blocks.blur_rows, grid=grid, block=block, inputs=[source, given], outputs=[half])
    kb.launch(blocks.blur_columns, grid=grid, block=block, inputs=[half, given], outputs=[whole])
    assert largest_error(whole.tolist(), reference.blur(image, weights)) == 0.0


def test_a_centre_of_mass_has_the_same_bits_each_time():
    points = random_vectors(random.Random(6), 100003, 10.0)
    masses = [1.0 + i % 7 for i in range(len(points))]
    given = kb.array(points, dtype=kb.vec3), kb.array(masses, dtype=float)
    found = set()
    for _ in range(20):
        parts, result = kb.zeros(100, dtype=kb.vec4), kb.zeros(1, dtype=kb.vec3)
        kb.launch(blocks.moments, grid=100, inputs=given, outputs=[parts])
        kb.launch(blocks.centre, grid=1, inputs=[parts], outputs=[result])
        found.add(tuple(result.tolist()[0]))
    assert len(found) == 1
    assert largest_error(found.pop(), reference.centre_of_mass(points, masses)[0]) < 1e-5


@pytest.mark.parametrize("threads", [1, 128, 129, 100000])
def test_all_points_or_none_are_near(threads):
    points = [(0.0, 0.0, 1.0)] * threads
    for distance, wanted in ((2.0, threads), (0.5, 0)):
        count = -(-threads // blocks.BLOCK)
        cloud, near = kb.array(points, dtype=kb.vec3), kb.zeros(threads, dtype=kb.vec3)
        places, total = kb.zeros(count, dtype=int), kb.zeros(1, dtype=int)
        kb.launch(blocks.count_near, grid=count, inputs=[cloud, distance], outputs=[places])
        kb.launch(blocks.place_blocks, grid=1, inputs=[places, total])
        kb.launch(blocks.pick_near, grid=count, inputs=[cloud, distance, places], outputs=[near])
        assert total.tolist() == [wanted]
        assert [tuple(point) for point in near.tolist()[:wanted]] == points[:wanted]
