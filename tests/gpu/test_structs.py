"""Structs as parameters and in arrays, with structs and arrays inside."""

import pytest
from gpukernels import structs
from gpukernels.common import Inner

import kbuild as kb

pytestmark = pytest.mark.gpu


def outer(values, grid, **changes):
    fields = {
        "flag": True,
        "position": kb.vec3(1.0, 2.0, 3.0),
        "inner": Inner(weight=1e300, index=-5, flag=True),
        "values": values,
        "grid": grid,
        "rotation": kb.mat22(1.0, 2.0, 3.0, 4.0),
        "small": -100,
        "large": 2**63 + 2**40,
        "half": 0.333251953125,
    }
    return structs.Outer(**dict(fields, **changes))


def test_every_field_arrives():
    values = kb.array([0.0, 10.0, 20.5], dtype=float)
    grid = kb.array([[1, 2, 3], [4, 5, 6]], dtype=kb.uint8)
    numbers = kb.zeros(17, dtype=kb.float64)
    kb.launch(structs.read, dim=1, inputs=[outer(values, grid), 2, numbers])
    wanted = [1, 1, 2, 3, 1e300, -5, 1, 20.5, 3, 6, 203, 2, 3, -100, float(2**63 + 2**40), 0.333251953125, 2e300]
    assert numbers.tolist() == [float(number) for number in wanted]
    assert values.tolist() == [99.0, 10.0, 20.5]
    assert grid.tolist() == [[6, 2, 3], [4, 5, 6]]


def particle(i):
    inner = Inner(weight=float(i), index=i, flag=i % 3 == 0)
    return structs.Particle(kind=i, mass=i / 2, velocity=kb.vec3(i, -i, 0.5), inner=inner, tag=-i)


def fields(p):
    weight, index, flag = p.inner if isinstance(p.inner, tuple) else (p.inner.weight, p.inner.index, p.inner.flag)
    return (p.kind, p.mass, tuple(p.velocity), weight, index, flag, p.tag)


def test_structs_in_arrays():
    count = 10
    particles = kb.array([particle(i) for i in range(count)], dtype=structs.Particle)
    copies = kb.zeros((2, count // 2), dtype=structs.Particle)
    kb.launch(structs.update, dim=count, inputs=[particles, copies])
    for i, row in enumerate(zip(particles.tolist(), [copies.tolist()[i % 2][i // 2] for i in range(count)])):
        changed, copied = row
        assert fields(changed) == (i, i / 2 + 1.0, (i, -1.0, 0.5), float(i), -i, i % 2 == 0, i)
        assert fields(copied) == (i, i / 2, (2.0 * i, -2.0 * i, 1.0), float(i), i, i % 3 == 0, -i)


def test_structs_made_inside():
    out = kb.array([particle(i) for i in range(1, 4)], dtype=structs.Particle)
    kb.launch(structs.build, dim=1, inputs=[out])
    zero, some, positional = map(fields, out.tolist())
    assert zero == (0, 0.0, (0.0, 0.0, 0.0), 0.0, 0, False, 0)
    assert some == (7, 0.0, (0.0, 0.0, 0.0), 0.0, 0, False, -7)
    assert positional == (1, 2.0, (3.0, 4.0, 5.0), 6.0, 0, False, 8)


def test_augmented_assignment_is_atomic():
    threads = 5000
    particles = kb.array([particle(0)], dtype=structs.Particle)
    total, sums = kb.zeros(2, dtype=kb.vec3), kb.zeros(1, dtype=kb.mat22)
    kb.launch(structs.count_atomically, dim=threads, inputs=[particles, total, sums])
    kind, mass, velocity, _, index, _, tag = fields(particles.tolist()[0])
    assert (kind, mass, velocity) == (0, float(threads), (2.0 * threads, 0.0, 0.5))
    assert index == threads
    assert tag == (-threads + 128) % 256 - 128
    assert total.tolist()[0] == (threads, 2.0 * threads, 2.0 * threads)
    assert total.tolist()[1] == (threads - 1.0, 0.0, 1.0)
    assert sums.tolist()[0] == kb.mat22(*[k * float(threads) for k in (1, 2, 3, 4)])


def test_arrays_in_structs_in_an_array():
    count = 4
    made = [
        (kb.array([10.0 * k + i for i in range(count)], dtype=float), kb.full((1, count), k, dtype=kb.uint8))
        for k in range(count)
    ]
    holders = kb.array([outer(values, grid) for values, grid in made], dtype=structs.Outer)
    out = kb.zeros(count, dtype=float)
    kb.launch(structs.pass_array, dim=count, inputs=[holders, out])
    assert out.tolist() == [10.0 * k + k + k for k in range(count)]
    assert [holder.values.tolist() for holder in holders.tolist()] == [values.tolist() for values, _ in made]
