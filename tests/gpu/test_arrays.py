"""Arrays on a GPU and on the host: making, slicing, filling, copying, with gaps and across streams."""

import itertools
import random

import pytest
from gpukernels import launching, shapes

import kbuild as kb

pytestmark = pytest.mark.gpu


@kb.struct
class Body:
    mass: float
    at: kb.vec3
    kind: kb.int8


def numbers(*shape):
    """0, 1, 2 … in a shape, as nested lists."""
    count = itertools.count()

    def rows(extents):
        return [rows(extents[1:]) for _ in range(extents[0])] if extents else float(next(count))

    return rows(shape)


@pytest.mark.parametrize("device", ["cuda:0", "cpu", "sim"])
def test_views_are_the_same_memory(device):
    whole = kb.array(numbers(4, 6), dtype=float, device=device)
    part = whole[1:3, ::2]
    assert part.tolist() == [[6.0, 8.0, 10.0], [12.0, 14.0, 16.0]]
    part.fill_(-1.0)
    assert whole[1].tolist() == [-1.0, 7.0, -1.0, 9.0, -1.0, 11.0]
    whole[:, 5] = 50.0
    assert whole.transpose()[5].tolist() == [50.0] * 4
    assert whole[3, 4] == 22.0
    assert whole[-1, -2] == 22.0
    assert whole[..., 0].tolist() == [0.0, -1.0, -1.0, 18.0]
    assert whole[::-1, 1].tolist() == [19.0, 13.0, 7.0, 1.0]
    assert whole.reshape(3, -1).shape == (3, 8)
    assert whole[:, ::-1].contiguous().flatten().tolist()[:3] == [50.0, 4.0, 3.0]


@pytest.mark.parametrize("device", ["cuda:0", "cpu"])
@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        (bool, True), (kb.int8, -3), (kb.int16, 1000), (float, 0.5), (kb.vec3, kb.vec3(1, 2, 3)),
        (kb.float64, 1e300), (kb.vec2h, kb.vec2h(1.0, 2.0)), (kb.mat33, kb.mat33(*range(9))),
        (kb.types.vector(7, kb.uint8), tuple(range(7))), (Body, Body(mass=2.0, at=kb.vec3(1.0, 2.0, 3.0), kind=5)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("count", [1, 2, 3, 1000, 65537])
def test_filling(device, dtype, value, count):
    made = kb.full(count, value, dtype=dtype, device=device)
    reference = kb.array([value] * count, dtype=dtype, device="cpu")
    assert bytes(made.tobytes()) == bytes(reference.tobytes())
    if count > 3:
        made.zero_()
        made[1::3].fill_(value)
        found, size = made.tobytes(), reference.nbytes // count
        one = bytes(reference.tobytes()[:size])
        for i in (0, 1, 2, 3, 4):
            assert bytes(found[i * size : (i + 1) * size]) == (one if i % 3 == 1 else bytes(size)), i


def random_view(random, whole):
    """A slice of an array, in some order of axes."""
    index = []
    for extent in whole.shape:
        step = random.choice([1, 1, 2, 3, -1, -2])
        bounds = sorted(random.sample(range(extent + 1), 2))
        index.append(slice(*bounds, step) if step > 0 else slice(None, None, step))
    order = list(range(whole.ndim))
    random.shuffle(order)
    return whole[tuple(index)].transpose(order)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("places", [("cuda:0", "cuda:0"), ("cuda:0", "cpu"), ("cpu", "cuda:0"), ("cpu", "cpu")])
def test_copies_with_gaps(seed, places):
    rng = random.Random(seed)
    shape = tuple(rng.randint(1, 9) for _ in range(rng.randint(1, 4)))
    dtype = rng.choice([kb.int8, kb.int16, float, kb.float64, kb.vec3, kb.types.vector(5, kb.uint8)])
    size = 1
    for extent in shape:
        size *= extent
    memory = [bytes(rng.randrange(1, 100) for _ in range(size * kb.zeros(1, dtype, device="cpu").nbytes)) for _ in "ab"]
    if dtype in (float, kb.float64, kb.vec3):  # so that no number is a NaN, which is not equal to itself
        memory = [bytes(b if i % 4 else 0 for i, b in enumerate(data)) for data in memory]
    to, source = (kb.array(data, dtype=dtype, device=where).reshape(shape) for data, where in zip(memory, places))
    view = random_view(rng, source)
    target = random_view(random.Random(seed + 1), to)
    if target.shape != view.shape:
        target = kb.empty_like(view, device=places[0])
    kb.copy(target, view)
    assert target.tolist() == view.tolist()
    clone = kb.clone(view, device=places[0])
    assert clone.is_contiguous
    assert clone.tolist() == view.tolist()


def test_rows_with_gaps_are_copied_at_once_whatever_their_number():
    wide = kb.zeros((200000, 3), dtype=float)
    wide[:, 1] = 7.0
    assert wide.numpy().sum() == 1400000.0
    assert wide[:, 1].contiguous().numpy().min() == 7.0
    thin = wide.transpose().contiguous()
    assert thin[1, 199999] == 7.0
    assert thin[2, 199999] == 0.0


def test_kernels_take_views_with_negative_strides():
    block = kb.array(numbers(3, 4), dtype=float)
    out = kb.zeros((3, 4), dtype=float)
    for _ in range(3):
        kb.launch(shapes.copy2, dim=(3, 4), inputs=[block[::-1, ::-1], out])
        assert out.tolist() == [[x + 1.0 for x in row[::-1]] for row in numbers(3, 4)[::-1]]


def test_parts_by_offset_and_count():
    a, b = kb.array([1.0, 2.0, 3.0, 4.0]), kb.zeros(4)
    kb.copy(b, a, dest_offset=1, src_offset=2, count=2)
    assert b.tolist() == [0.0, 3.0, 4.0, 0.0]
    kb.copy(b, a[:1], count=1)
    assert b.tolist() == [1.0, 3.0, 4.0, 0.0]


def test_what_the_host_reads_was_computed_on_another_stream():
    """Reading waits for the streams that launches have named."""
    stream = kb.Stream()
    data, slow = kb.zeros(1000), kb.zeros(1, dtype=kb.int64)
    for round_ in range(5):
        kb.launch(launching.spin, dim=1, inputs=[slow, 20000000], stream=stream)
        kb.launch(launching.fill, dim=1000, inputs=[data, float(round_)], stream=stream)
        assert data[999] == round_


def test_fresh_memory_is_there_before_another_stream_uses_it():
    """`zeros` runs on the default stream; the first launch on another one waits for it."""
    stream, slow = kb.Stream(), kb.zeros(1, dtype=kb.int64)
    for _ in range(5):
        kb.launch(launching.spin, dim=1, inputs=[slow, 20000000])
        data = kb.zeros(1000)
        kb.launch(launching.fill, dim=500, inputs=[data, 3.0], stream=stream)
        assert data.tolist() == [3.0] * 500 + [0.0] * 500


def test_structs_come_back():
    bodies = kb.array([Body(mass=float(i), at=kb.vec3(i, 0.0, 0.0), kind=i) for i in range(5)], dtype=Body)
    assert [(b.mass, b.kind) for b in bodies[1:4].tolist()] == [(1.0, 1), (2.0, 2), (3.0, 3)]
    bodies[0] = Body(mass=9.0)
    assert bodies[0].mass == 9.0
    assert bodies[0].kind == 0
