"""What the lanes of a warp and the threads of a block do together, against plain Python in the documented order."""

import functools
import math
import random
import struct

import pytest
from gpukernels import cooperating

import kbuild as kb

pytestmark = pytest.mark.gpu

SIZES = (1, 20, 32, 33, 64, 95, 256, 1000, 1024)
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
TYPES = ("bool", *INTEGERS, "float16", "float32", "float64")
CHANGED = ("int8", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64")
CODES = {"float16": "e", "float32": "f", "float64": "d"}


def type_of(name):
    return bool if name == "bool" else getattr(kb, name)


def rounded(name, x):
    """The number of a type that an operation of that type gives."""
    if name in CODES:
        return struct.unpack(CODES[name], struct.pack(CODES[name], x))[0]
    if name == "bool":
        return bool(x)
    bits = int(name.lstrip("uint") or 0)
    x &= (1 << bits) - 1
    return x - (1 << bits) if name[0] == "i" and x >> (bits - 1) else x


def numbers(name, count, seed=1):
    source = random.Random(seed)
    if name in CODES:
        return [rounded(name, source.uniform(-4.0, 4.0)) for _ in range(count)]
    return [rounded(name, source.randrange(-(1 << 63), 1 << 63)) for _ in range(count)]


def source_lane(name, lane, by, width, there):
    """The lane whose value a lane gets: its own where there is no other."""
    first, last, by = lane // width * width, lane // width * width + width - 1, by % 32
    found = {"shfl": first + by % width, "shfl_up": lane - by, "shfl_down": lane + by, "shfl_xor": lane ^ by}[name]
    beyond = found < first if name == "shfl_up" else found > last
    return lane if beyond or found >= there else found


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("size", SIZES)
def test_shuffles(name, size):
    count = 2 * size
    data, source = numbers(name, count), random.Random(size)
    by = [source.randrange(-40, 80) for _ in range(count)]
    out = kb.zeros((count, len(cooperating.SHUFFLES)), dtype=type_of(name))
    kernel = getattr(cooperating, "shuffled_" + name)
    kb.launch(
        kernel, dim=count, block_dim=size, inputs=[kb.array(data, dtype=type_of(name)), kb.array(by, dtype=int), out]
    )
    for i, found in enumerate(out.tolist()):
        lane, warp = i % size % 32, i - i % size % 32
        there = min(32, size - i % size // 32 * 32)
        wanted = [data[warp + source_lane(op, lane, by[i], width, there)] for op, width in cooperating.SHUFFLES]
        assert found == wanted, i


def test_structs_go_number_by_number():
    points = [[float(i), float(i * i), float(-i)] for i in range(96)]
    out = kb.zeros((96, 3), dtype=float)
    kb.launch(cooperating.structs, grid=3, block=(8, 4), inputs=[kb.array(points, dtype=kb.vec3), out])
    for i, found in enumerate(out.tolist()):
        j = i ^ 5
        assert found == [float(j + 2 * j * j - 3 * j), float(j), float(j % 3 == 0)]


@pytest.mark.parametrize("size", SIZES)
def test_votes(size):
    count = 2 * size
    data = [i * 7919 // 5 % 4 for i in range(count)]
    masks, truths = kb.zeros((count, 5), dtype=kb.uint32), kb.zeros((count, 2), dtype=bool)
    wide = kb.array([x << 40 for x in data], dtype=kb.uint64)
    kb.launch(cooperating.votes, dim=count, block_dim=size, inputs=[kb.array(data, dtype=int), wide, masks, truths])
    for i, (found, truth) in enumerate(zip(masks.tolist(), truths.tolist())):
        first = i - i % size % 32
        warp = data[first : first + min(32, size - i % size // 32 * 32)]
        number = i % size // 32
        matches = sum(1 << lane for lane, x in enumerate(warp) if x == data[i])
        own = (1 << len(warp)) - 1 if number % 2 else 0
        assert found == [sum(1 << lane for lane, x in enumerate(warp) if x > 1), matches, matches, number, own]
        assert truth == [any(x == 3 for x in warp), all(x < 3 for x in warp)]


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("size", [20, 32, 95])
def test_matches_of_every_type(name, size):
    some = numbers(name, 3)
    data = [some[i * 7919 // 5 % 3] for i in range(size)]
    out = kb.zeros(size, dtype=kb.uint32)
    kernel = getattr(cooperating, "matched_" + name)
    kb.launch(kernel, grid=1, block=size, inputs=[kb.array(data, dtype=type_of(name)), out])
    for i, found in enumerate(out.tolist()):
        warp = data[i // 32 * 32 : i // 32 * 32 + 32]
        assert found == sum(1 << lane for lane, x in enumerate(warp) if x == data[i])


def tree(name, values):
    """Their sum by halves: i and i + 16, then i + 8 …"""
    for distance in (16, 8, 4, 2, 1):
        pairs = min(distance, max(0, len(values) - distance))
        values = [rounded(name, values[i] + values[i + distance]) for i in range(pairs)] + values[pairs:distance]
    return values[0]


def scanned(name, values):
    """The sum of each with all before it: with what is 1 below, then 2, 4 …"""
    for distance in (1, 2, 4, 8, 16):
        values = [rounded(name, values[i - distance] + v) if i >= distance else v for i, v in enumerate(values)]
    return values


def over_warps(name, sums, lasts, is_whole):
    """The sum of the warps' sums, and for each warp the sum of the last ones of those before it (None: there are none).

    In a block of whole warps they are added as lanes are, with zeros for warps that are not there.
    """
    if is_whole:
        total = tree(name, sums + [sums[0] * 0] * (32 - len(sums)))
        return total, [None, *scanned(name, lasts)[:-1]]
    total, before = sums[0], [None]
    for one in sums[1:]:
        total = rounded(name, total + one)
    for last in lasts[:-1]:
        before.append(last if before[-1] is None else rounded(name, before[-1] + last))
    return total, before


def collected(name, block):
    """Every function's result in every thread of a block."""

    def add(a, b):
        return rounded(name, a + b)

    zero, columns = (0.0 if name in CODES else 0), [[] for _ in range(10)]
    warps = [block[at : at + 32] for at in range(0, len(block), 32)]
    sums, scans = [tree(name, warp) for warp in warps], [scanned(name, warp) for warp in warps]
    total, before_each = over_warps(name, sums, [scan[-1] for scan in scans], len(block) % 32 == 0)
    for warp, own, scan, before in zip(warps, sums, scans, before_each):
        for column, values in enumerate(([own], [min(warp)], [max(warp)])):
            columns[column] += values * len(warp)
        columns[3] += scan
        columns[4] += [zero, *scan[:-1]]
        columns[8] += scan if before is None else [add(before, one) for one in scan]
        columns[9].append(zero if before is None else before)
        columns[9] += scan[:-1] if before is None else [add(before, one) for one in scan[:-1]]
    columns[5], columns[6], columns[7] = ([one] * len(block) for one in (total, min(block), max(block)))
    return [list(row) for row in zip(*columns)]


@pytest.mark.parametrize("name", ["int8", "int32", "uint64", "float16", "float32", "float64"])
@pytest.mark.parametrize("size", SIZES)
def test_sums_and_scans_to_the_bit(name, size):
    data = numbers(name, 2 * size, seed=size)
    out = kb.zeros((2 * size, 10), dtype=type_of(name))
    kernel = getattr(cooperating, "collected_" + name)
    kb.launch(kernel, dim=2 * size, block_dim=size, inputs=[kb.array(data, dtype=type_of(name)), out])
    assert out.tolist() == collected(name, data[:size]) + collected(name, data[size:])


@pytest.mark.parametrize("block", [(40, 1, 1), (5, 7, 3), (16, 16, 4), (1, 1, 33)])
def test_sums_over_blocks_of_several_axes(block):
    size = block[0] * block[1] * block[2]
    data = numbers("float32", 3 * size, seed=7)
    out = kb.zeros((3 * size, 10), dtype=float)
    kb.launch(cooperating.collected_float32, grid=3, block=block, inputs=[kb.array(data, dtype=float), out])
    wanted = [row for at in range(3) for row in collected("float32", data[at * size : (at + 1) * size])]
    assert out.tolist() == wanted


def test_sums_of_vectors():
    data = [numbers("float32", 3, seed=i) for i in range(96)]
    out = kb.zeros((96, 10), dtype=kb.vec3)
    kb.launch(cooperating.collected_vectors, dim=96, block_dim=48, inputs=[kb.array(data, dtype=kb.vec3), out])
    found = [[list(one) for one in row] for row in out.tolist()]
    for axis in range(3):
        column = [one[axis] for one in data]
        wanted = collected("float32", column[:48]) + collected("float32", column[48:])
        assert [[one[axis] for one in row] for row in found] == wanted


@pytest.mark.parametrize("size", [32, 70, 1024])
def test_calls_one_after_the_other(size):
    data = [i * 31 % 11 for i in range(size)]
    out = kb.zeros(size, dtype=int)
    kb.launch(cooperating.repeated, dim=size, block_dim=size, inputs=[kb.array(data, dtype=int), out, 5])
    total = data
    for _ in range(5):
        rest = sum(int(math.fmod(x, 7)) for x in total)
        before = [rounded("int32", sum(total[:i])) for i in range(size)]
        total = [rounded("int32", int(math.fmod(b, 1000)) - rest + max(total)) for b in before]
    assert out.tolist() == total


def test_sums_have_adjoints():
    count, block = 192, 48
    x, w = numbers("float32", count, 1), numbers("float32", count, 2)
    given = kb.array(x, dtype=float, requires_grad=True)
    out = kb.zeros(count, dtype=float, requires_grad=True)
    with kb.Tape() as tape:
        kb.launch(cooperating.weighted, dim=count, block_dim=block, inputs=[given, kb.array(w, dtype=float), out])
    tape.backward(grads={out: kb.ones(count, dtype=float)})
    for i, found in enumerate(given.grad.tolist()):
        first = i // block * block
        warp = first + i % block // 32 * 32
        wanted = 2.0 * sum(w[first : first + block]) + 2.0 * x[i] * sum(w[warp : min(warp + 32, first + block)])
        assert found == pytest.approx(wanted, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize(("grid", "block"), [(1, 1), (3, 32), ((2, 3), (5, 7)), (64, 256)])
@pytest.mark.parametrize("n", [0, 1, 31, 1000])
def test_loops_over_the_grid(grid, block, n):
    threads = math.prod(grid if isinstance(grid, tuple) else (grid,)) * math.prod(
        block if isinstance(block, tuple) else (block,)
    )
    counts, some = kb.zeros(1001, dtype=int), kb.zeros(1001, dtype=int)
    first = (1 << 40) + 5
    kb.launch(cooperating.strided, grid=grid, block=block, inputs=[counts, n, some, first, first + n])
    assert counts.tolist() == [i % threads + 1 if i < n else 0 for i in range(1001)]
    assert some.tolist() == [int(i < n and i % 3 == 0 and (first + i) % 2 == 1) for i in range(1001)]


@pytest.mark.parametrize(("blocks", "size"), [(1, 32), (20, 64), (700, 256), (1500, 1024)])
def test_the_last_block_sees_what_the_others_have_released(blocks, size):
    data = numbers("int8", blocks * size)
    given = kb.array(data, dtype=int)
    for _ in range(5):
        out, parts, tickets = kb.zeros(1, dtype=int), kb.zeros(blocks, dtype=int), kb.zeros(1, dtype=int)
        kb.launch(cooperating.last_block, dim=blocks * size, block_dim=size, inputs=[given, parts, tickets, out])
        assert out.tolist() == [sum(data)]


@pytest.mark.parametrize("name", CHANGED)
@pytest.mark.parametrize("size", [7, 64, 100])
def test_atomics_in_shared_and_global_memory(name, size):
    data = [rounded(name, i % 5) for i in range(size)]
    one = rounded(name, 1)
    out = kb.full((2, 7), one, dtype=type_of(name))
    kernel = getattr(cooperating, "changed_" + name)
    kb.launch(kernel, grid=1, block=size, inputs=[kb.array(data, dtype=type_of(name)), out])
    add = functools.partial(functools.reduce, lambda a, b: rounded(name, a + b))
    wanted = [
        add(data, one),
        add([-x for x in data], one),
        min(data),
        max([one, *data]),
        data[0],
        rounded(name, 9),
        one,
    ]
    assert out.tolist() == [wanted, wanted]


def test_atomics_on_arrays_below_a_word():
    out = kb.zeros(4, dtype=int)
    kb.launch(cooperating.narrow, grid=1, block=32, inputs=[out, 17, 0x1234])
    assert out.tolist() == [17 ^ 3, (17 ^ 3) | 64, 0x1234 & 0xFF0, 60000]


@pytest.mark.parametrize("count", [1, 33, 5000])
def test_hints_change_no_values(count):
    v = [[numbers("float32", 3, seed=i + 10000 * j) for i in range(count)] for j in range(2)]
    h, d = numbers("float16", count), [numbers("float64", 2, seed=i) for i in range(count)]
    b = [i % 3 == 0 for i in range(count)]
    outs = [kb.zeros(count, dtype=t) for t in (kb.vec3, kb.float16, kb.vec2d, bool)]
    given = [
        kb.array(v, dtype=kb.vec3),
        kb.array(h, dtype=kb.float16),
        kb.array(d, dtype=kb.vec2d),
        kb.array(b, dtype=bool),
    ]
    kb.launch(cooperating.hinted, dim=count, inputs=[*given, *outs])
    sums = [[rounded("float32", x + y) for x, y in zip(one, two)] for one, two in zip(*v)]
    assert [list(one) for one in outs[0].tolist()] == sums
    assert outs[1].tolist() == h
    assert [list(one) for one in outs[2].tolist()] == d
    assert outs[3].tolist() == [not one for one in b]


@pytest.mark.parametrize("rows", [256, 257, 6144, 6145, 12000])
def test_shared_memory_that_the_launch_gives(rows):
    """48 KiB are 6144 rows; more is had on GPUs that let a block have more."""
    data, out, sizes = list(range(512)), kb.zeros(512, dtype=int), kb.zeros(2, dtype=int)
    given = [kb.array(data, dtype=int), out, sizes]
    for _ in range(3):
        kb.launch(cooperating.reversed_rows, dim=512, block_dim=256, inputs=given, shared_memory=rows * 8)
        wanted = [x for at in (0, 256) for x in reversed(data[at : at + 256])]
        assert out.tolist() == [x * 8 + 4 for x in wanted]
        assert sizes.tolist() == [rows] * 2
        out.zero_()


def test_shared_memory_in_bound_launches_and_graphs():
    data, out, sizes = list(range(512)), kb.zeros(512, dtype=int), kb.zeros(2, dtype=int)
    given = [kb.array(data, dtype=int), out, sizes]
    step = kb.bind(cooperating.reversed_rows, grid=2, block=256, inputs=given, shared_memory=80_000)
    step()
    assert sizes.tolist() == [10_000] * 2
    with kb.capture() as graph:
        kb.launch(cooperating.reversed_rows, grid=2, block=256, inputs=given, shared_memory=90_000)
    graph.launch()
    assert sizes.tolist() == [11_250] * 2


def test_more_shared_memory_than_there_is_never_reaches_the_driver():
    given = [kb.array(list(range(512)), dtype=int), kb.zeros(512, dtype=int), kb.zeros(2, dtype=int)]
    with pytest.raises(kb.LaunchError, match=r"is more than the \d+ bytes that a block may have on this device"):
        kb.launch(cooperating.reversed_rows, dim=512, block_dim=256, inputs=given, shared_memory=1 << 20)
    with pytest.raises(kb.LaunchError, match="in rows of 8 bytes"):
        kb.launch(cooperating.reversed_rows, dim=512, block_dim=256, inputs=given)
