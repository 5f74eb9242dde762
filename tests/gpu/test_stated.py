"""Launches are held against what kernels state: what agrees runs as ever, what does not never reaches the GPU."""

import pytest
from gpukernels import stated

import kbuild as kb

pytestmark = pytest.mark.gpu


def arrays(n, columns=3, out=None):
    points = kb.array([[float(i + j) for j in range(columns)] for i in range(n)], requires_grad=True)
    return [points, kb.array([1.0] * n), kb.zeros(n if out is None else out, requires_grad=True)]


def test_what_agrees_runs():
    for n in (1, 5, 300, 5):
        for _ in range(4):  # thorough launches, then the quick one
            points, weights, out = arrays(n)
            kb.launch(stated.weighed, n, [points, weights, out, 2.0])
            assert out.tolist() == [2.0 * (3 * i + 3) for i in range(n)]


WRONG = [
    (
        5,
        {"n": 5, "columns": 4},
        1.0,
        r"parameter points: points\.shape\[1\] is 4, but line 7 of gpukernels\.stated says",
    ),
    (5, {"n": 5, "out": 6}, 1.0, r"parameter out: out\.shape\[0\] is 6, .* \(\"n\"\)`, and points\.shape\[0\] is 5"),
    (5, {"n": 5}, 0.0, r"parameter factor: factor is 0\.0, .*says `factor > 0\.0`"),
    (6, {"n": 5}, 1.0, r"dim is 6, .*\(launch_dim\)`, and points\.shape\[0\] is 5\n  help: launch it over 5 threads"),
    ((2, 3), {"n": 5}, 1.0, "dim is 6, "),
    (0, {"n": 5}, 1.0, "dim is 0, "),
]


@pytest.mark.parametrize(("dim", "sizes", "factor", "said"), WRONG)
def test_what_does_not_agree_is_refused(dim, sizes, factor, said):
    right = [*arrays(5), 2.0]
    points, weights, out = arrays(**sizes)
    for _ in range(4):
        with pytest.raises(kb.LaunchError, match=said):
            kb.launch(stated.weighed, dim, [points, weights, out, factor])
        kb.launch(stated.weighed, 5, right)
    with pytest.raises(kb.LaunchError, match=said):
        kb.launch(stated.weighed, dim, [points, weights, out, factor], adjoint=True)
    assert out.tolist() == [0.0] * out.shape[0]
    assert right[2].tolist() == [2.0 * (3 * i + 3) for i in range(5)]


def test_a_bound_launch_changes_size():
    step = kb.bind(stated.weighed, 5, [*arrays(5), 1.0])
    step()
    points, weights, out = arrays(7)
    step.set(points=points, weights=weights, out=out)
    with pytest.raises(kb.LaunchError, match="dim is 5"):
        step()
    step.set_dim(7)
    for _ in range(3):
        step()
    assert out.tolist() == [3.0 * i + 3.0 for i in range(7)]
    step.set(factor=-1.0)
    with pytest.raises(kb.LaunchError, match="factor is -1"):
        step()


def test_a_tape_goes_back():
    points, weights, out = arrays(4)
    with kb.Tape() as tape:
        kb.launch(stated.weighed, 4, [points, weights, out, 0.5])
    tape.backward(grads={out: kb.array([1.0, 2.0, 3.0, 4.0])})
    assert points.grad.tolist() == [[0.5 * (i + 1)] * 3 for i in range(4)]


def test_two_axes_and_an_array_that_may_be_none():
    data = kb.array([[1, 2, 3], [4, 5, 6]], dtype=int)
    for _ in range(4):
        out = kb.zeros((3, 2), dtype=int)
        kb.launch(stated.turned, (2, 3), [data, out, None])
        assert out.tolist() == [[1, 4], [2, 5], [3, 6]]
        kb.launch(stated.turned, (2, 3), [data, out, kb.array([10, 1], dtype=int)])
        assert out.tolist() == [[10, 4], [20, 5], [30, 6]]
        for dim in ((3, 2), (2, 4), (6, 1), 6):
            with pytest.raises(kb.LaunchError, match=r"dim\[[01]\] is \d, but line 19 of gpukernels\.stated says"):
                kb.launch(stated.turned, dim, [data, out, None])
        with pytest.raises(kb.LaunchError, match=r"mask\.shape\[0\] is 3"):
            kb.launch(stated.turned, (2, 3), [data, out, kb.array([1, 1, 1], dtype=int)])
