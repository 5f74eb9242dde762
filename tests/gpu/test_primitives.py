"""Functions over whole arrays on the GPU: every type, sizes from none to ten million, the same bits each time.

Plain Python says what is right for small arrays, NumPy for large ones where it is installed.
"""

import itertools
import random
import struct

import pytest
from gpukernels import blocks  # whose package's bundle holds the kernels

import kbuild as kb

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("default")]

assert blocks.BINS
TILE = 2048
SIZES = (0, 1, 2, 31, 255, 256, 257, TILE - 1, TILE, TILE + 1, 3 * TILE + 17, 100003)
LARGE = (1 << 20, 2048 * TILE, 2048 * TILE + 1, 10_000_019)
WRAP = {"int32": 32, "int64": 64}


@pytest.fixture
def numpy():
    return pytest.importorskip("numpy")


def integers(count, low, high, seed=1):
    source = random.Random(seed)
    return [source.randint(low, high) for _ in range(count)]


def wrapped(values, bits):
    """Integers as a type of so many bits has them."""
    half = 1 << (bits - 1)
    return [(value + half) % (2 * half) - half for value in values]


@pytest.fixture
def stream():
    """A stream that does not wait for the default one."""
    made = kb.Stream()
    yield made.handle
    kb.synchronize()


# Scan


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("inclusive", [True, False])
@pytest.mark.parametrize("kind", ["int32", "int64", "float32", "float64"])
def test_scan(kind, inclusive, count):
    high = 1 << 30 if kind in WRAP else 64  # sums of floats are exact
    data = integers(count, -high, high) if kind != "float32" else integers(count, 0, 64)
    out = kb.empty(count, dtype=getattr(kb, kind))
    kb.array_scan(kb.array(data, dtype=getattr(kb, kind)) if data else out, out, inclusive)
    sums = list(itertools.accumulate(data))
    wanted = sums if inclusive else [0, *sums[:-1]][:count]
    assert out.tolist() == (wrapped(wanted, WRAP[kind]) if kind in WRAP else wanted)


@pytest.mark.parametrize("count", LARGE)
def test_large_scans(numpy, count):
    data = numpy.random.default_rng(count).integers(-(1 << 30), 1 << 30, count).astype(numpy.int32)
    array = kb.array(data, dtype=int)
    kb.array_scan(array, array)
    assert (array.numpy() == numpy.cumsum(data, dtype=numpy.int32)).all()


def test_scan_of_vectors():
    data = [(i % 7, -i, 3) for i in range(5000)]
    out = kb.empty(5000, dtype=kb.vec3i)
    kb.array_scan(kb.array(data, dtype=kb.vec3i), out)
    wanted = [tuple(sum(part) for part in zip(*data[: i + 1])) for i in (0, 1, 2500, 4999)]
    assert [tuple(out.tolist()[i]) for i in (0, 1, 2500, 4999)] == wanted


def test_scan_of_floats_is_close_and_the_same_each_time(numpy):
    data = numpy.random.default_rng(2).standard_normal(3_000_001).astype(numpy.float32)
    array, seen = kb.array(data, dtype=float), set()
    for _ in range(5):
        out = kb.empty(len(data), dtype=float)
        kb.array_scan(array, out)
        seen.add(bytes(out.tobytes()))
    assert len(seen) == 1
    wanted = numpy.cumsum(data, dtype=numpy.float64)
    assert numpy.abs(out.numpy() - wanted).max() < 0.05


# Sort

KEYS = {"int32": "i", "uint32": "I", "float32": "f", "int64": "q", "uint64": "Q", "float64": "d"}


def keys_of(kind, count):
    """Random bits as keys, some of them equal; no NaN."""
    source = random.Random(count)
    size = struct.calcsize(KEYS[kind])
    found = []
    while len(found) < count:
        (key,) = struct.unpack("<" + KEYS[kind], source.getrandbits(8 * size).to_bytes(size, "little"))
        found += [key] * source.choice((1, 1, 1, 5)) if key == key else []
    return found[:count]


@pytest.mark.parametrize("count", [1, 2, 100, 1536, 3072, 3073, 20011])
@pytest.mark.parametrize("value", ["int32", "float64"])
@pytest.mark.parametrize("kind", KEYS)
def test_sort(kind, value, count):
    data = keys_of(kind, count)
    keys = kb.array(data * 2, dtype=getattr(kb, kind))
    values = kb.array(list(range(2 * count)), dtype=getattr(kb, value))
    kb.radix_sort_pairs(keys, values, count)
    order = sorted(range(count), key=data.__getitem__)
    assert values.tolist()[:count] == order
    assert keys.tolist()[:count] == [data[i] for i in order]


@pytest.mark.parametrize("count", LARGE)
def test_large_sorts(numpy, count):
    data = numpy.random.default_rng(count).integers(-(1 << 31), 1 << 31, count).astype(numpy.int32)
    keys, values = kb.empty(2 * count, dtype=int), kb.empty(2 * count, dtype=int)
    for number in range(2):
        kb.copy(kb.array(ptr=keys.ptr, shape=count, dtype=int, owner=keys), data)
        kb.copy(kb.array(ptr=values.ptr, shape=count, dtype=int, owner=values), numpy.arange(count, dtype=numpy.int32))
        kb.radix_sort_pairs(keys, values, count)
        if number == 0:
            order = numpy.argsort(data, kind="stable")
        assert (values.numpy()[:count] == order).all()
        assert (keys.numpy()[:count] == data[order]).all()


@pytest.mark.parametrize("pattern", ["equal", "sorted", "backwards", "two"])
def test_sorts_of_patterns(numpy, pattern):
    count = 1_000_003
    line = numpy.arange(count, dtype=numpy.int32)
    data = {"equal": line * 0, "sorted": line, "backwards": line[::-1].copy(), "two": line % 2}[pattern]
    keys, values = kb.array(numpy.tile(data, 2), dtype=int), kb.array(numpy.tile(line, 2), dtype=int)
    kb.radix_sort_pairs(keys, values, count)
    order = numpy.argsort(data, kind="stable")
    assert (values.numpy()[:count] == order).all()
    assert (keys.numpy()[:count] == data[order]).all()


@pytest.mark.parametrize("bits", [(0, 8), (0, 20), (5, 9), (16, 32), (31, 32)])
def test_sort_by_some_bits(bits):
    data = keys_of("uint32", 9000)
    keys, values = kb.array(data * 2, dtype=kb.uint32), kb.array(list(range(18000)), dtype=int)
    kb.radix_sort_pairs(keys, values, 9000, begin_bit=bits[0], end_bit=bits[1])
    order = sorted(range(9000), key=lambda i: data[i] >> bits[0] & (1 << bits[1] - bits[0]) - 1)
    assert values.tolist()[:9000] == order


# Runs


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("longest", [1, 4, 10000])
def test_runs(count, longest):
    source, data = random.Random(count), []
    while len(data) < count:
        data += [source.randint(0, 2)] * source.randint(1, longest)
    data = data[:count]
    values, lengths = kb.full(max(count, 1), -7, dtype=int), kb.full(max(count, 1), -7, dtype=int)
    found = kb.runlength_encode(kb.array(data, dtype=int) if data else kb.empty(0, dtype=int), values, lengths)
    wanted = [(key, len(list(group))) for key, group in itertools.groupby(data)]
    assert list(zip(values.tolist(), lengths.tolist()))[:found] == wanted
    assert values.tolist()[found:] == lengths.tolist()[found:] == [-7] * (max(count, 1) - found)
    number = kb.full(1, -1, dtype=int)
    kb.runlength_encode(kb.array(data or [0], dtype=int), values, lengths, number, value_count=count)
    assert number.tolist() == [found]


@pytest.mark.parametrize("count", LARGE)
def test_large_runs(numpy, count):
    source = numpy.random.default_rng(count)
    data = numpy.repeat(source.integers(0, 5, count // 3), 4)[:count].astype(numpy.int32)
    values, lengths = kb.empty(count, dtype=int), kb.empty(count, dtype=int)
    found = kb.runlength_encode(kb.array(data, dtype=int), values, lengths)
    heads = numpy.flatnonzero(numpy.r_[True, data[1:] != data[:-1]])
    assert found == len(heads)
    assert (values.numpy()[:found] == data[heads]).all()
    assert (lengths.numpy()[:found] == numpy.diff(numpy.r_[heads, len(data)])).all()


# Sums


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_sums(kind, count):
    data = integers(count, -12, 12)  # exact in every order
    array = kb.array(data, dtype=getattr(kb, kind)) if data else kb.empty(0, dtype=getattr(kb, kind))
    assert kb.array_sum(array) == sum(data)
    assert kb.array_inner(array, array) == sum(x * x for x in data)
    if count:
        assert kb.array_sum(array, value_count=count - 1) == sum(data[:-1])


@pytest.mark.parametrize("count", LARGE)
def test_large_sums(numpy, count):
    data = numpy.random.default_rng(count).standard_normal(count).astype(numpy.float32)
    array = kb.array(data, dtype=float)
    wanted = data.astype(numpy.float64)
    sums, products = ({f(array) for _ in range(5)} for f in (kb.array_sum, lambda a: kb.array_inner(a, a)))
    assert len(sums) == len(products) == 1
    assert abs(sums.pop() - wanted.sum()) < 1e-6 * numpy.abs(wanted).sum()
    assert products.pop() == pytest.approx((wanted * wanted).sum(), rel=1e-5)


@pytest.mark.parametrize("shape", [(3, 100000), (100000, 3), (5000, 33), (40, 50, 60), (7, 8, 9, 10)])
def test_sums_along_axes(numpy, shape):
    data = numpy.random.default_rng(4).integers(-8, 8, shape).astype(numpy.float32)
    array = kb.array(data, dtype=float)
    for axis in range(len(shape)):
        assert (kb.array_sum(array, axis=axis).numpy() == data.sum(axis=axis, keepdims=True)).all()
        found = kb.array_inner(array, array, axis=axis).numpy()
        assert (found == (data * data).sum(axis=axis, keepdims=True)).all()


def test_sums_of_vectors():
    data = [(float(i % 5), 1.0, float(-(i % 3))) for i in range(30000)]
    array = kb.array(data, dtype=kb.vec3)
    assert tuple(kb.array_sum(array)) == tuple(sum(part) for part in zip(*data))
    assert kb.array_inner(array, array) == sum(x * x for vector in data for x in vector)


# Casts

NUMBERS = ("bool_", "uint8", "int32", "uint32", "int64", "float16", "float32", "float64")


@pytest.mark.parametrize(("source", "target"), list(itertools.product(NUMBERS, NUMBERS)))
def test_casts(source, target):
    data = [0, 1, 1, 0, 1] if source == "bool_" or target == "bool_" else [0, 1, 2, 100, 255]
    given = kb.array(data, dtype=getattr(kb, source))
    out = kb.empty(5, dtype=getattr(kb, target))
    kb.array_cast(given, out)
    assert [int(x) for x in out.tolist()] == data


def test_casts_of_shapes(numpy):
    data = numpy.arange(4 * 300 * 6, dtype=numpy.float32).reshape(4, 300, 6)
    array = kb.array(data, dtype=float)
    part = kb.array(ptr=array.ptr, shape=(2, 100, 3), strides=(14400, 72, 8), dtype=float, owner=array)
    out = kb.empty((2, 100, 3), dtype=int)
    kb.array_cast(part, out)
    assert (out.numpy() == data[::2, ::3, ::2]).all()
    vectors = kb.empty((4, 300), dtype=kb.types.vector(6, kb.float64))
    kb.array_cast(array, vectors)
    assert (vectors.numpy() == data).all()


# Streams, other libraries


def test_on_a_stream_of_its_own(stream):
    data = integers(300000, -100, 100)
    for _ in range(10):
        array, out = kb.array(data, dtype=int), kb.empty(300000, dtype=int)
        values, lengths = kb.empty(300000, dtype=int), kb.empty(300000, dtype=int)
        kb.array_scan(array, out, stream=stream)
        floats = kb.empty(300000, dtype=kb.float64)
        kb.array_cast(out, floats, stream=stream)
        found = kb.runlength_encode(out, values, lengths, stream=stream)
        total = kb.array_sum(floats, stream=stream)
        sums = list(itertools.accumulate(data))
        assert found == len(list(itertools.groupby(sums)))
        assert total == sum(sums)


def test_tensors_of_torch():
    torch = pytest.importorskip("torch")
    data = torch.randint(-100, 100, (100000,), dtype=torch.int32, device="cuda")
    out = torch.empty_like(data)
    torch.cuda.synchronize()
    kb.array_scan(data, out)
    kb.synchronize()
    assert torch.equal(out, torch.cumsum(data, 0).to(torch.int32))
    assert kb.array_sum(data.to(torch.float64)) == float(data.sum())


def test_what_warp_programs_say():
    from kbuild import warp as wp

    keys, values = wp.array([3, 1, 2, 0, 0, 0], dtype=int), wp.array([0, 1, 2, 0, 0, 0], dtype=int)
    wp.utils.radix_sort_pairs(keys, values, 3)
    assert values.tolist()[:3] == [1, 2, 0]
    assert wp.utils.array_sum(wp.array([1.0, 2.0], dtype=float)) == 3.0


# Copies


@pytest.mark.parametrize("kind", ["uint8", "int16", "float32", "float64", "vec3"])
@pytest.mark.parametrize("shape", [(70, 45), (33, 1025), (2048, 100)])
def test_copies_with_gaps(kind, shape):
    """Transposed, every second column, reversed; into such views, and out of them."""
    dtype, (rows, columns) = getattr(kb, kind), shape
    numbers = integers(rows * columns * (3 if kind == "vec3" else 1), 0, 100)
    if kind == "vec3":
        numbers = [kb.vec3(*numbers[i : i + 3]) for i in range(0, len(numbers), 3)]
    data = [numbers[i * columns : (i + 1) * columns] for i in range(rows)]
    whole = kb.array(data, dtype=dtype)
    turned = [list(column) for column in zip(*data)]
    out = kb.empty((columns, rows), dtype=dtype)
    kb.copy(out, whole.transpose())
    assert out.tolist() == turned
    back = kb.zeros((rows, columns), dtype=dtype)
    kb.copy(back.transpose()[::-1], out)
    assert back.tolist() == [row[::-1] for row in data]
    thin = whole[::-1, ::2].contiguous()
    assert thin.tolist() == [row[::2] for row in data[::-1]]
    odd = whole[:, 1::2]
    kb.copy(odd.transpose(), out[: odd.shape[1]])
    assert odd.tolist() == [row[: odd.shape[1]] for row in data]


def test_copies_with_gaps_are_made_by_kernels_in_graphs_too():
    from kbuild.primitives import copies

    whole, twos, out = kb.ones((64, 64)), kb.full((64, 64), 2.0), kb.zeros((64, 64))
    with kb.capture() as graph:
        kb.copy(out, twos.transpose())
    assert copies.copy(out._view, whole.transpose()._view, out.device, 0)
    assert out.tolist() == [[1.0] * 64] * 64
    assert copies.copy(out[:, ::2]._view, twos[:, ::2]._view, out.device, 0)
    assert out.tolist() == [[2.0, 1.0] * 32] * 64
    graph.launch()
    assert out.tolist() == [[2.0] * 64] * 64


def test_copies_of_many_axes():
    whole = kb.array([float(i) for i in range(4 * 6 * 10 * 12)], dtype=float).reshape(4, 6, 10, 12)
    for axes in itertools.permutations(range(4)):
        view = whole.transpose(axes)[::-1, ::2]
        out = kb.empty(view.shape, dtype=float)
        kb.copy(out, view)
        assert out.tolist() == view.to("cpu").tolist()
