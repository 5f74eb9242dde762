"""Arrays seen through index arrays: gathered and scattered by kernels, against what the host gathers."""

import random

import pytest
from gpukernels import indexed

import kbuild as kb

pytestmark = pytest.mark.gpu

EXCHANGE = {1: indexed.exchange1, 2: indexed.exchange2, 3: indexed.exchange3, 4: indexed.exchange4}


def counted(*shape):
    """An array of 0, 1, 2 …"""
    size = 1
    for extent in shape:
        size *= extent
    flat = kb.array([float(n) for n in range(size)], dtype=kb.float64)
    return kb.array(ptr=flat.ptr, shape=shape, dtype=kb.float64, owner=flat)


def ints(values):
    return kb.array(list(values), dtype=int)


@pytest.mark.parametrize("shape", [(1000,), (40, 50), (7, 8, 9), (5, 4, 3, 6)], ids=str)
@pytest.mark.parametrize("plain", range(5))
def test_gathers_and_scatters(shape, plain):
    """Some axes are plain; the others have their indices in disorder."""
    numbers = random.Random(plain)
    data = counted(*shape)
    tables = [
        None if plain >> axis & 1 or plain == 4 else ints(numbers.sample(range(extent), numbers.randint(1, extent)))
        for axis, extent in enumerate(shape)
    ]
    seen = kb.indexedarray(data, tables)
    wanted = seen.tolist()
    before = flat(data.tolist())
    out = kb.zeros(seen.shape, dtype=kb.float64)
    for _ in range(3):  # the third launch is the quick one
        seen.assign(wanted)
        kb.launch(EXCHANGE[len(shape)], dim=seen.shape, inputs=[seen, out])
        assert out.tolist() == wanted
    assert set(flat(seen.tolist())) == {-1.0}
    taken = set(flat(wanted))
    assert flat(data.tolist()) == [-1.0 if n in taken else n for n in before]


def flat(nested):
    return [x for row in nested for x in (flat(row) if isinstance(row, list) else [row])]


def test_over_memory_with_strides():
    """The array behind is transposed, and every other column of it."""
    data = counted(6, 8)
    view = kb.array(ptr=data.ptr + 8, shape=(4, 6), strides=(16, 64), dtype=kb.float64, owner=data)
    seen = kb.indexedarray(view, [ints([3, 0]), ints([5, 1, 2])])
    out = kb.zeros((2, 3), dtype=kb.float64)
    kb.launch(indexed.exchange2, dim=(2, 3), inputs=[seen, out])
    assert out.tolist() == [[8.0 * j + 2 * i + 1 for j in (5, 1, 2)] for i in (3, 0)]
    assert sum(n == -1.0 for n in flat(data.tolist())) == 6


def test_extents():
    a = kb.indexedarray(kb.array([1, 2, 3], dtype=kb.uint8), ints([2, 1, 0, 1]))
    b = kb.indexedarray(kb.zeros((9, 9, 4, 9)), [ints([0] * 2), ints([1] * 3), None, ints([3] * 5)])
    out = kb.zeros(8, dtype=int)
    kb.launch(indexed.extents, dim=1, inputs=[a, b, out])
    assert out.tolist() == [4, 2, 3, 4, 5, 4, 2, 4]


def test_atomics():
    count = 100_000
    bins = kb.zeros(50, dtype=int)
    seen = kb.indexedarray(bins, ints([40, 3, 17, 20, 1, 49]))
    which = [i * 7 % 4 for i in range(count)]
    before = kb.zeros(count, dtype=int)
    kb.launch(indexed.count, dim=count, inputs=[seen, ints(which), before])
    assert seen.tolist() == [count // 4] * 4 + [count - 1, count]
    assert sum(bins.tolist()) == 3 * count - 1
    assert set(before.tolist()) == {1}  # every value before was another


def test_every_atomic():
    data = kb.array([0, 1, 2, 3])
    out = kb.zeros(9, dtype=int)
    kb.launch(indexed.all_atomics, dim=1, inputs=[kb.indexedarray(data, ints([3, 1])), out])
    assert out.tolist() == [3, 1, 8, -4, 2, 2, 2, 10, 3]
    assert data.tolist() == [0, 40, 2, 50]


def selection(scale=2.0):
    positions = kb.array([kb.vec3(float(i), 0.0, 0.0) for i in range(6)])
    table = kb.array([[float(10 * i + j) for j in range(4)] for i in range(5)])
    return indexed.Selection(
        scale=scale,
        positions=kb.indexedarray(positions, ints([5, 1])),
        table=kb.indexedarray(table, [ints([4, 0]), ints([3, 1])]),
    )


def test_structs_views_and_functions():
    one = selection()
    out = kb.zeros((2, 3))
    kb.launch(indexed.of_struct, dim=2, inputs=[one, out])
    assert one.positions.tolist() == [kb.vec3(6.0, 10.0, 0.0), kb.vec3(2.0, 2.0, 0.0)]
    assert out.tolist() == [[43.0 + 41.0, 86.0, 0.0], [3.0 + 1.0, 6.0, 0.0]]
    assert one.table.tolist() == [[43.0, -84.0], [3.0, -4.0]]


def test_structs_in_arrays():
    two = [selection(2.0), selection(-1.0)]
    held = kb.array(two, dtype=indexed.Selection)
    out = kb.zeros(2)
    kb.launch(indexed.of_struct_array, dim=2, inputs=[held, out])
    assert out.tolist() == [8.0, -4.0]
    assert [one.table.tolist() for one in held.tolist()] == [one.table.tolist() for one in two]


def test_none():
    out = kb.zeros(3)
    empty = indexed.Selection(table=selection().table)
    for _ in range(3):
        kb.launch(indexed.if_there, dim=1, inputs=[None, empty, out])
        assert out.tolist() == [-1.0, 2.0, 3.0]
        kb.launch(indexed.if_there, dim=1, inputs=[selection().table, selection(), out])
        assert out.tolist() == [43.0, 1.0, 3.0]


def test_generic_kernels_take_both_kinds():
    plain, whole = kb.array([1.0, 2.0, 3.0]), kb.array([10, 20, 30])
    for _ in range(3):
        kb.launch(indexed.halve, dim=3, inputs=[plain])
        kb.launch(indexed.halve, dim=1, inputs=[kb.indexedarray(plain, ints([1]))])
        kb.launch(indexed.halve, dim=1, inputs=[kb.indexedarray(whole, ints([2]))])
    assert plain.tolist() == [0.125, 0.03125, 0.375]
    assert whole.tolist() == [10, 20, 3]


def test_an_array_is_none():
    out = kb.zeros(3, dtype=kb.float64)
    with pytest.raises(
        kb.LaunchError, match=r"wanted indexedarray1\[float64\], got array .*kb.indexedarray\(data, indices"
    ):
        kb.launch(indexed.exchange1, dim=3, inputs=[out, out])
    with pytest.raises(kb.LaunchError, match=r"wanted array1\[float64\], got indexedarray .*: pass its contiguous\(\)"):
        kb.launch(indexed.exchange1, dim=3, inputs=[kb.indexedarray(out, None)] * 2)


def test_from_the_end_of_what_is_seen():
    a = kb.indexedarray(kb.array([0.0, 1.0, 2.0, 3.0, 4.0]), ints([3, 0, 1]))
    b = kb.indexedarray(kb.array([[float(10 * i + j) for j in range(4)] for i in range(4)]), [ints([2, 1, 0]), None])
    out = kb.zeros((3, 3))
    kb.launch(indexed.from_the_end, dim=3, inputs=[ints([-1, 1, -3]), a, b, out])
    assert out.tolist() == [[1.0, 3.0, 13.0], [0.0, 13.0, 11.0], [3.0, 23.0, 11.0]]
