"""Control flow: functions that run on the GPU and on the host, and what is evaluated how often in which order."""

import itertools

import pytest
from gpukernels import flow

import kbuild as kb

pytestmark = pytest.mark.gpu

SMALL = (-7, -1, 0, 1, 2, 3, 5, 10, 17)


def arguments(name):
    """Rows of three integers that a function is tried on."""
    if name == "stepping":
        return list(itertools.product((-9, 0, 4), (-8, 0, 5, 13), (-4, -3, -1, 1, 2, 5)))
    if name in ("collatz", "first_divisor"):
        return [(n, 0, 0) for n in range(1, 400)]
    if name in ("augmented", "called"):  # Python divides negative numbers downwards, kernels towards zero
        return [(n, m, 0) for n in range(40) for m in range(3, 20)]
    if name == "constant_steps":
        return [(n, 0, 0) for n in range(0, 500, 7)]
    if name in ("same_name", "skipping", "reassigned"):
        return [(n, 0, 0) for n in range(30)]
    if name == "early":
        return [(n, m, 0) for n in range(-1, 101, 3) for m in (-1, 0, 4, 9)]
    return list(itertools.product(SMALL, repeat=3))


@pytest.mark.parametrize("number", range(len(flow.FUNCTIONS)), ids=[f.__name__ for f in flow.FUNCTIONS])
def test_the_gpu_does_what_python_does(number):
    function = flow.FUNCTIONS[number]
    rows = arguments(function.__name__)
    columns = [kb.array(list(column), dtype=int) for column in zip(*rows)]
    out = kb.zeros(len(rows), dtype=int)
    kb.launch(flow.run, dim=len(rows), inputs=[*columns, number, out])
    wrong = [(row, got, function(*row)) for row, got in zip(rows, out.tolist()) if got != function(*row)]
    assert not wrong, "%s: (arguments, got, wanted) %s" % (function.__name__, wrong[:10])


@pytest.mark.parametrize("n", [-1, 0, 1, 3, 6, 200])
def test_order_and_number_of_evaluations(n):
    log, out = kb.zeros(200, dtype=int), kb.zeros(3, dtype=int)
    kb.launch(flow.evaluation, dim=1, inputs=[n, log, out])
    count, *marks = log.tolist()
    wanted, results = evaluated(n)
    assert marks[:count] == wanted
    assert out.tolist() == results


def evaluated(n):
    """`flow.evaluation` in Python: the marks in order, and the results."""
    marks, out = [], [0, 0, 0]

    def note(mark, value):
        marks.append(mark)
        return value

    a = note(1, n) < note(2, 5) < note(3, 7)
    b = note(4, n) > 100 and note(5, n) > 0
    c = note(6, n) > 0 or note(7, n) > 100
    d = note(8, 1) if n > 100 else note(9, 2)
    e = note(10, 20) - note(11, 3) * note(12, 2)
    while note(13, n) < 4:
        n += 1
    for _ in range(note(14, 1), note(15, 4), note(16, 1)):
        pass
    value = note(18, e)  # Python evaluates the value before the target
    out[note(17, 0)] = value
    place = note(19, 1)  # and of an augmented assignment the target first
    out[place] += note(20, d)
    f, g = note(21, 1), note(22, 2)
    out[2] = int(a) * 1000 + int(b) * 100 + int(c) * 10 + f + g
    return marks, out


@pytest.mark.parametrize("step", [0, 1, 3, 10, 11, -1, 2**31 - 1, -(2**31)])
def test_a_step_of_zero_makes_no_trip(step):
    out = kb.zeros(1, dtype=int)
    kb.launch(flow.zero_step, dim=1, inputs=[step, out])
    assert out.tolist() == [len(range(0, 10, step)) if step else 0]


@pytest.mark.parametrize(("flag", "wanted"), [(0, [0, 0, 0]), (1, [0, 7, 1]), (3, [0, 7, 3])])
def test_branches_that_assign(flag, wanted):
    out = kb.zeros(3, dtype=int)
    kb.launch(flow.zeroed, dim=1, inputs=[flag, out])
    assert out.tolist() == wanted


def test_captured_constants():
    out = kb.zeros(3, dtype=kb.vec3)
    kb.launch(flow.captured, dim=3, inputs=[out])
    assert out.tolist() == [(2.5 + i, 5.0 + i, 7.5 + i) for i in range(3)]


def test_instances_of_one_definition():
    out = kb.zeros(4, dtype=int)
    kb.launch(flow.add_one, dim=4, inputs=[out])
    kb.launch(flow.add_ten, dim=4, inputs=[out])
    kb.launch(flow.make_adder(10), dim=4, inputs=[out])
    assert out.tolist() == [21] * 4


def test_an_instance_that_nobody_built():
    with pytest.raises(kb.LaunchError, match=r"(?s)closure:n = .*3.*it holds"):
        kb.launch(flow.make_adder(3), dim=1, inputs=[kb.zeros(1, dtype=int)])
