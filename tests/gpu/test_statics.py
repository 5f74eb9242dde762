"""`static`, instances of factories found by what they captured, views of arrays."""

import pytest
from gpukernels import statics

import kbuild as kb

pytestmark = pytest.mark.gpu


def test_an_unrolled_loop_with_constants():
    data = kb.array([1.0, 2.0, 3.0, 4.0, 8.0], dtype=float)
    out = kb.zeros(3, dtype=float)
    kb.launch(statics.smoothed, dim=3, inputs=[data, out])
    assert out.tolist() == [0.25 + 10.0 + 0.75, 0.5 + 15.0 + 1.0, 0.75 + 20.0 + 2.0]


@pytest.mark.parametrize("case", range(len(statics.CASES)))
def test_a_factory_finds_its_machine_code(case):
    mode, op, size = statics.CASES[case]
    kernel = statics.make(mode, op, size)
    data, out = kb.array([1.0, -3.0], dtype=float), kb.zeros(2, dtype=float)
    kb.launch(kernel, dim=2, inputs=[data, out])
    results = [op(x) for x in (1.0, -3.0)]
    assert out.tolist() == [r + size if mode == statics.Mode.ADD else r * size for r in results]


def test_an_instance_that_was_not_built():
    with pytest.raises(kb.LaunchError) as caught:
        kb.launch(statics.make(statics.Mode.ADD, statics.twice, 9), dim=1, inputs=[None, None])
    assert "closure:size = int 9" in str(caught.value)
    assert "closure:size = int 2" in str(caught.value)


def test_views():
    rows = [[[6 * (5 * i + j) + k for k in range(6)] for j in range(5)] for i in range(2)]
    a, out = kb.array(rows, dtype=int), kb.zeros(2, dtype=int)
    kb.launch(statics.views, dim=2, inputs=[a, out])
    assert out.tolist() == [sum(rows[i][1]) + rows[i][0][2] for i in range(2)]
    for i in range(2):
        rows[i][0][0] = 100 + i
        rows[i][0][1] += 5
    assert a.tolist() == rows
