"""Atomic operations on every type: many threads at few cells, with the cells beside them watched."""

import collections
import functools

import pytest
from gpukernels import atomics

import kbuild as kb
from kbuild.loader.abi import SCALARS
from tests.gpu import meaning, tables

pytestmark = pytest.mark.gpu

TYPES = [name for name, scalar in SCALARS.items() if scalar.kind != "bool"]
OPERATIONS = atomics.EXPRESSIONS["operations"]
CELLS, THREADS = 7, 7 * 1024  # seven bytes or halves share words with others, and with each other


def run(type, operation, values, start):
    """Cells afterwards and the value before of every thread; thread i works on cell i % CELLS."""
    kind = tables.dtype(type)
    cells, before = kb.array(start, dtype=kind), kb.zeros(len(values), dtype=kind)
    inputs = [kb.array(values, dtype=kind), cells, before, OPERATIONS.index(operation)]
    kb.launch(getattr(atomics, "atomic_" + type), dim=len(values), inputs=inputs)
    return cells.tolist(), before.tolist()


def small_values(type):
    """Values whose sums are exact in every order: whole numbers, for floats within their precision."""
    is_float = SCALARS[type].kind == "float"
    lowest = -2 if SCALARS[type].kind != "uint" else 0
    limit = 2 if type == "float16" else 3  # 1024 halves of at most 2 stay below 2048
    values = [lowest + (i * 31 + i // CELLS) % (limit - lowest) for i in range(THREADS)]
    return [float(value) for value in values] if is_float else values


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("operation", ["atomic_add", "atomic_sub"])
def test_sums(type, operation):
    values = small_values(type)
    start = [meaning.literal(type, value).value for value in (0, 1, 2, 3, 4, 5, 6)]
    cells, before = run(type, operation, values, start)
    sign = 1 if operation == "atomic_add" else -1
    for cell in range(CELLS):
        mine = values[cell::CELLS]
        assert cells[cell] == meaning.number(type, start[cell] + sign * sum(mine)).value
        assert is_chain(type, start[cell], before[cell::CELLS], mine, sign, cells[cell])


def is_chain(type, first, before, values, sign, last):
    """The values before are links of one chain: each plus its thread's value is another one's, or the end."""
    after = [meaning.number(type, b + sign * v).value for b, v in zip(before, values)]
    return collections.Counter([*before, last]) == collections.Counter([*after, first])


@pytest.mark.parametrize("type", TYPES)
def test_exchanged_values_are_never_lost(type):
    values = [meaning.number(type, i % 50).value for i in range(THREADS)]
    start = [meaning.literal(type, 100).value] * CELLS
    cells, before = run(type, "atomic_exch", values, start)
    for cell in range(CELLS):
        mine = values[cell::CELLS]
        assert collections.Counter([*before[cell::CELLS], cells[cell]]) == collections.Counter([start[cell], *mine])


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("operation", ["atomic_min", "atomic_max"])
def test_extremes(type, operation):
    best = min if operation == "atomic_min" else max
    lowest = 0 if SCALARS[type].kind == "uint" else -60
    values = [meaning.number(type, lowest + (i * 37 + i // CELLS) % 120).value for i in range(THREADS)]
    start = [meaning.literal(type, 20).value] * CELLS
    cells, before = run(type, operation, values, start)
    for cell in range(CELLS):
        assert cells[cell] == best([start[cell], *values[cell::CELLS]])
        assert set(before[cell::CELLS]) <= {start[cell], *values[cell::CELLS]}


@pytest.mark.parametrize("type", [type for type in TYPES if not type.startswith("float")])
@pytest.mark.parametrize("operation", ["atomic_and", "atomic_or", "atomic_xor"])
def test_bits(type, operation):
    """Every thread touches few bits of its cell; the order does not matter."""
    whole = 8 * SCALARS[type].size
    bits = [1 << (i // CELLS * 5 % whole) for i in range(THREADS)]
    given = [~bit if bit > 4 else ~0 for bit in bits] if operation == "atomic_and" else bits
    values = [meaning.wrap(type, value) for value in given]
    start = [meaning.wrap(type, value) for value in (0, -1, 2, 3, -5, 85, 6)]
    cells, _ = run(type, operation, values, start)
    apply = {"atomic_and": int.__and__, "atomic_or": int.__or__, "atomic_xor": int.__xor__}[operation]
    for cell in range(CELLS):
        assert cells[cell] == meaning.wrap(type, functools.reduce(apply, values[cell::CELLS], start[cell]))


@pytest.mark.parametrize("type", ["float16", "float32", "float64"])
@pytest.mark.parametrize("operation", ["atomic_min", "atomic_max"])
def test_a_nan_loses(type, operation):
    nan, infinity = float("nan"), float("inf")
    end = -infinity if operation == "atomic_min" else infinity
    values = [nan, 1.0, nan, -0.0, 2.0, nan, end]
    cells, _ = run(type, operation, values, [3.0, nan, nan, 0.0, nan, 5.0, nan])
    best = min if operation == "atomic_min" else max
    assert cells[0] == 3.0
    assert cells[1] == 1.0
    assert cells[2] != cells[2]
    assert cells[3] == 0.0
    assert cells[4] == 2.0
    assert cells[5] == 5.0
    assert cells[6] == end == best(end, 0.0)


@pytest.mark.parametrize("type", TYPES)
def test_compare_and_swap_counts(type):
    """Every thread adds one by compare-and-swap; threads of one warp fight for one cell."""
    start = [meaning.literal(type, value).value for value in range(CELLS)]
    cells = kb.array(start, dtype=tables.dtype(type))
    kb.launch(getattr(atomics, "count_" + type), dim=THREADS, inputs=[cells])
    added = THREADS // CELLS
    assert cells.tolist() == [meaning.number(type, value + added).value for value in start]


def test_cells_beside_a_small_one_are_left_alone():
    """A view of every third byte: its neighbours share words with it."""
    memory = kb.full(64, 77, dtype=kb.uint8)
    cells = kb.array(ptr=memory.ptr + 1, shape=(CELLS,), strides=(3,), dtype=kb.uint8, owner=memory)
    values, before = kb.full(THREADS, 1, dtype=kb.uint8), kb.zeros(THREADS, dtype=kb.uint8)
    kb.launch(atomics.atomic_uint8, dim=THREADS, inputs=[values, cells, before, OPERATIONS.index("atomic_add")])
    wanted = [77] * 64
    for cell in range(CELLS):
        wanted[1 + 3 * cell] = (77 + THREADS // CELLS) % 256
    assert memory.tolist() == wanted
