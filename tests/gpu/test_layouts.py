"""Arrays of every layout: the code asks whether they have gaps and how they are aligned, and goes the right way."""

import random

import pytest
from gpukernels import layouts

import kbuild as kb

pytestmark = pytest.mark.gpu

ROWS, COLUMNS = 3, 41
SIZES = (1, 20, 32, 33, 96, 256, 1000, 1024)


def numbers(count, seed=1):
    source = random.Random(seed)
    return [float(source.randrange(-8, 9)) for _ in range(count)]


MATRICES = {
    "without gaps": lambda memory: memory[:123].reshape(ROWS, COLUMNS),
    "rows apart": lambda memory: memory[5:155].reshape(ROWS, 50)[:, :COLUMNS],
    "columns apart": lambda memory: memory[1:301].reshape(ROWS, 100)[:, :82:2],
    "turned": lambda memory: memory[2:125].reshape(COLUMNS, ROWS).transpose(),
    "backwards": lambda memory: memory[:123].reshape(ROWS, COLUMNS)[::-1, ::-1],
}
VECTORS = {
    "without gaps": lambda memory: memory[:COLUMNS],
    "every third": lambda memory: memory[3 : 3 + 3 * COLUMNS : 3],
    "backwards": lambda memory: memory[60 : 60 - COLUMNS : -1],
}


@pytest.mark.parametrize("of_a", MATRICES)
@pytest.mark.parametrize("of_b", VECTORS)
def test_loops_over_rows_and_columns(of_a, of_b):
    memory = kb.array(numbers(400), dtype=float)
    check_rows(MATRICES[of_a](memory), VECTORS[of_b](memory))


def test_one_row_for_all():
    """A stride of zero."""
    memory = kb.array(numbers(400), dtype=float)
    a = kb.array(ptr=memory.ptr + 28, shape=(ROWS, COLUMNS), strides=(0, 4), dtype=float, owner=memory)
    b = kb.array(ptr=memory.ptr + 36, shape=(COLUMNS,), strides=(0,), dtype=float, owner=memory)
    check_rows(a, b)


def check_rows(a, b):
    rows, row = a.tolist(), b.tolist()
    for first, last in ((0, COLUMNS), (4, 39), (6, 6), (9, 2)):
        out = kb.zeros((ROWS, 4), dtype=float)
        kb.launch(layouts.rows, dim=ROWS, inputs=[a, b, out, first, last])
        for i, found in enumerate(out.tolist()):
            folded = 0.0
            for j in range(last - 1, first - 1, -1):
                folded = 0.5 * folded + rows[i][j]
            assert found[0] == sum(rows[i][j] * row[j] for j in range(first, last))
            assert found[1] == sum(rows[i][j + 1] - row[j] for j in range(first + i, last - 1, 3))
            assert found[2] == pytest.approx(folded, abs=1e-4)
            assert found[3] == sum(one[first] for one in rows)


@pytest.mark.parametrize("shift", [0, 1, 2, 4])
@pytest.mark.parametrize("step", [1, 2])
def test_vectors_at_any_address(shift, step):
    """In words of 16 bytes where every element lies at a multiple of 16, else number by number."""
    count = 37
    data = numbers(4 * count * step + 8, 2)
    memory = [kb.array(data, dtype=float) for _ in range(4)]
    small = kb.array([n % 251 for n in range(4 * count * step + 8)], dtype=kb.uint8)

    def vectors(at, dtype, each):
        return memory[at][shift : shift + each * count * step].view(dtype)[::step]

    a, s, out = vectors(0, kb.vec4, 4), vectors(2, kb.vec2, 2), vectors(3, kb.vec4, 4)
    m = memory[1][shift : shift + 4 * count * step].view(kb.mat22).reshape(1, count * step)[:, ::step]
    n = small[shift : shift + 4 * count * step].view(kb.vec4ub)[::step]
    before = [[list(map(float, one)) for one in part.tolist()] for part in (a, s, out)]
    kb.launch(layouts.vectors, dim=count, inputs=[a, m, n, s, out])
    columns = [sum(one[k] for one in before[0]) for k in range(3)]
    weighted = [sum(j * one[k] for j, one in enumerate(before[0])) for k in range(3)]
    for i in range(count):
        place = shift + 4 * step * i
        found = [float(x) for x in out.tolist()[i]] if i in (0, 1, count - 1) else None
        if found is not None:
            assert found[:3] == [before[2][i][k] + i * columns[k] + weighted[k] for k in range(3)]
            assert found[3] == float((place + 1) % 251 + (place + 3) % 251)
    assert [list(map(float, one)) for one in s.tolist()] == [one[::-1] for one in before[1]]
    flat = memory[1].tolist()
    for i in range(count):
        at = shift + 4 * step * i
        assert flat[at : at + 4] == [x + y for x, y in zip(data[at : at + 4], (1.0, 2.0, 3.0, 4.0))]
    untouched = [i for i in range(len(flat)) if not 0 <= i - shift < 4 * step * count or (i - shift) % (4 * step) >= 4]
    assert [flat[i] for i in untouched] == [data[i] for i in untouched]


@pytest.mark.parametrize("shift", [0, 1, 3])
def test_a_grid_over_vectors(shift):
    memory, target = kb.array(numbers(4008), dtype=float), kb.zeros(4008, dtype=float)
    a, out = (one[shift : shift + 4004].view(kb.vec4) for one in (memory, target))
    kb.launch(layouts.doubled, grid=2, block=64, inputs=[a, out])
    wanted = [2.0 * x for x in memory.tolist()]
    assert target.tolist() == [0.0] * shift + wanted[shift : shift + 4004] + [0.0] * (4 - shift)


def test_vectors_in_shared_memory():
    """In words, each array at a multiple of its words, whatever lies before it."""
    count = 128
    a, m, h = (numbers(4 * count, seed) for seed in (3, 4, 5))
    n = [k * 7 % 250 for k in range(4 * count)]
    given = [
        kb.array(values, dtype=kind).view(whole)
        for values, kind, whole in (
            (a, float, kb.vec4),
            (m, float, kb.mat22),
            (n, kb.uint8, kb.vec4ub),
            (h, kb.float16, kb.vec4h),
        )
    ]
    outs = [kb.zeros(count, dtype=kind) for kind in (kb.vec4, kb.mat22, kb.vec4ub, kb.vec4h)]
    kb.launch(layouts.turned_in_shared, grid=2, block=64, inputs=[*given, *outs])
    out, out_m, out_n, out_h = (flat(one) for one in outs)
    for i in range(count):
        block, t = divmod(i, 64)
        turned, from_end = 64 * block + t % 8 * 8 + t // 8, 64 * block + 63 - t
        second = 4 * (64 * block + 1)
        extra = (1.0, a[second + 2], 0.0, a[second + 3])
        assert out[4 * i : 4 * i + 4] == [2.0 * x + y for x, y in zip(a[4 * turned : 4 * turned + 4], extra)]
        for values, found, more in ((m, out_m, 0), (n, out_n, 3), (h, out_h, 0)):
            assert found[4 * i : 4 * i + 4] == [x + more for x in values[4 * from_end : 4 * from_end + 4]]


def test_vectors_in_shared_memory_of_the_launch():
    a = numbers(512, 6)
    given, out = kb.array(a, dtype=float).view(kb.vec4), kb.zeros(128, dtype=kb.vec4)
    kb.launch(layouts.turned_in_given, grid=2, block=64, shared_memory=1024, inputs=[given, out])
    found = flat(out)
    for i in range(128):
        at = 4 * (i // 64 * 64 + 63 - i % 64)
        assert found[4 * i : 4 * i + 4] == [x + float(i % 64 % 7) for x in a[at : at + 4]]


def flat(array):
    """The numbers of an array, one after the other."""

    def each(value):
        return [x for one in value for x in each(one)] if hasattr(value, "__iter__") else [float(value)]

    return each(array.tolist())


def test_beyond_four_gigabytes():
    a = kb.zeros((5, 1 << 30), dtype=kb.uint8)
    for row, values in ((4, [1, 2, 3]), (2, [4, 5, 6])):
        kb.copy(a[row, :3], kb.array(values, dtype=kb.uint8))
    for view, order in ((a, [4, 2, 0]), (a[::-1], [0, 2, 4])):
        out = kb.zeros(3, dtype=int)
        kb.launch(layouts.far, dim=3, inputs=[view, kb.array(order, dtype=int), out, 3])
        assert out.tolist() == [6, 15, 0]
        for row, wanted in ((4, [1, 2, 3, 6]), (2, [4, 5, 6, 15]), (0, [0, 0, 0, 0])):
            assert a[row, :4].tolist() == wanted


@pytest.mark.parametrize(
    ("start", "stop", "step"), [(0, 1000, 1), (7, 1000, 13), (990, 1000, 300), (5, 5, 1), (9, 3, 2)]
)
def test_grid_ranges(start, stop, step):
    data, out = [int(x) for x in numbers(1000)], kb.zeros(2, dtype=int)
    kb.launch(layouts.strided, grid=3, block=40, inputs=[kb.array(data, dtype=int), start, stop, step, out])
    assert out.tolist() == [sum(data[start:stop:step]), sum(data[:stop])]


@pytest.mark.parametrize("size", SIZES)
def test_sums_and_scans_of_blocks_of_any_size(size):
    data = numbers(2 * size)  # exact in every order
    out = kb.zeros((2 * size, 6), dtype=float)
    kb.launch(layouts.sums, dim=2 * size, block_dim=size, inputs=[kb.array(data, dtype=float), out])
    for block in range(2):
        part = data[block * size : (block + 1) * size]
        for i, row in enumerate(out.tolist()[block * size : (block + 1) * size]):
            warp = part[i // 32 * 32 : i // 32 * 32 + 32]
            assert row == [sum(warp), sum(part), sum(part[: i + 1]), sum(part[:i]), max(part), min(part)]
