"""Tables of constants, against the same tables on the host."""

import pytest
from gpukernels import tables

import kbuild as kb

pytestmark = pytest.mark.gpu

N = 1000


def test_numbers_of_every_size():
    types = (kb.uint8, kb.float16, kb.float64, kb.int64)
    small, half, double, wide = (kb.zeros(N, dtype=type) for type in types)
    kb.launch(tables.numbers, N, [small, half, double, wide])
    assert small.tolist() == [tables.BYTES[i % 5] for i in range(N)]
    assert half.tolist() == [tables.HALVES[i % 3] for i in range(N)]
    assert double.tolist() == [tables.DOUBLES[i % 2, 1 - i % 2] for i in range(N)]
    assert wide.tolist() == [tables.WIDE[i % 2] for i in range(N)]


def test_axes_views_vectors_and_matrices():
    out = kb.zeros((N, 4), dtype=float)
    kb.launch(tables.shapes, N, [out])
    for i, row in enumerate(out.tolist()):
        of_grid = list(tables.GRID[i % 3, i % 4])
        turned = (-2.0, 1.0) if i % 2 == 0 else (1.0, 2.0)
        assert row == [sum(of_grid), of_grid[i % 4], float(i % 8), 10.0 * turned[0] + turned[1]]


def test_a_table_of_64_kib():
    out = kb.zeros(16384, dtype=int)
    kb.launch(tables.all_of_it, 16384, [out])
    assert out.tolist() == list(tables.FULL)


def test_gradients_flow_past_a_table():
    x = kb.array([float(i % 17) for i in range(N + 2)], dtype=float, requires_grad=True)
    out = kb.zeros(N, dtype=float, requires_grad=True)
    with kb.Tape() as tape:
        kb.launch(tables.blurred, N, [x, out])
    out.grad.fill_(1.0)
    tape.backward()
    wanted = [0.0] * (N + 2)
    for i in range(N):
        for k in range(3):
            wanted[i + k] += tables.WEIGHTS[(i + k) % 3]
    assert x.grad.tolist() == wanted


def test_structs():
    out = kb.zeros((N, 4), dtype=float)
    kb.launch(tables.structs, N, [out])
    for i, row in enumerate(out.tolist()):
        link = tables.LINKS[i // 5 % 2, i % 5]
        k = i // 5 % 2 * 5 + i % 5
        weight = 0.125 * k + (k - 3) + 7
        assert row == [
            0.5 * k + 2.0 + 10.0 * (-k + 0.5 * k),
            0.5 * k - 7 * k + 5,
            weight,
            1.0 if link.is_fixed else -1.0,
        ]


def test_gradients_flow_past_structs():
    x = kb.array([0.25 * (i % 9) for i in range(N)], dtype=float, requires_grad=True)
    out = kb.zeros(N, dtype=float, requires_grad=True)
    with kb.Tape() as tape:
        kb.launch(tables.weighed, N, [x, out])
    out.grad.fill_(1.0)
    tape.backward()
    numbers = [i // 5 % 2 * 5 + i % 5 for i in range(N)]
    assert out.tolist() == [0.5 * k * (0.25 * (i % 9)) ** 2 + k * 0.25 * (i % 9) for i, k in enumerate(numbers)]
    assert x.grad.tolist() == [k * 0.25 * (i % 9) + k for i, k in enumerate(numbers)]
