"""Generic kernels chosen by the types of the arguments, instances of factories by type, arrays that may be None."""

import pytest
from gpukernels import generics

import kbuild as kb

pytestmark = pytest.mark.gpu


def test_one_definition_for_several_types():
    single, double = kb.array([1.0, 2.0]), kb.array([1.0, 2.0], dtype=kb.float64)
    vectors = kb.array([kb.vec3(1.0, 2.0, 3.0)])
    for _ in range(3):
        kb.launch(generics.scale, dim=2, inputs=[single, 2.0])
        kb.launch(generics.scale, dim=2, inputs=[double, kb.float64(0.5)])
        kb.launch(generics.SCALE_DOUBLE, dim=2, inputs=[double, 1.0 / 3.0])
        kb.launch(generics.scale, dim=1, inputs=[vectors, -1.0])
    assert single.tolist() == [8.0, 16.0]
    x = [1.0, 2.0]
    for _ in range(3):
        x = [value * 0.5 * (1.0 / 3.0) for value in x]
    assert double.tolist() == x
    assert vectors.tolist() == [kb.vec3(-1.0, -2.0, -3.0)]
    with pytest.raises(kb.LaunchError, match=r"holds no instance of gpukernels\.generics:scale"):
        kb.launch(generics.scale, dim=1, inputs=[kb.array([1], dtype=kb.int32), 2])


def test_functions_of_one_name():
    out = kb.zeros((4, 4), dtype=float)
    kb.launch(generics.overloaded, dim=4, inputs=[out, kb.vec2d(0.5, 0.0)])
    assert out.tolist() == [[2.0 * i, 2.0 * i + 1.0, i + 0.5, i + 1.0 + i * i + 1.0] for i in range(4)]


@pytest.mark.parametrize("dtype", generics.TYPES, ids=repr)
def test_factories_that_differ_in_types(dtype):
    data, out = kb.array([7, 8], dtype=dtype), kb.zeros(2, dtype=kb.float64)
    kb.launch(generics.make(dtype), dim=2, inputs=[data, out])
    assert out.tolist() == ([3.0, 4.0] if "int" in repr(dtype) else [3.5, 4.0])


def test_a_type_that_was_not_built():
    with pytest.raises(kb.LaunchError, match=r"type:data = type array1\[int64\]"):
        kb.launch(generics.make(kb.int64), dim=1, inputs=[None, None])


@pytest.mark.parametrize("present", range(16))
def test_arrays_that_may_be_none(present):
    given = [
        kb.array([1.0, 2.0]),
        kb.array([[3.0, 4.0], [5.0, 6.0]]),
        kb.array([7.0, 8.0]),
        kb.array([[9.0, 10.0], [11.0, 12.0]]),
    ]
    a, b, mass, mask = [one if present >> k & 1 else None for k, one in enumerate(given)]
    out = kb.zeros((2, 3), dtype=float)
    for _ in range(3):
        kb.launch(generics.optional, dim=2, inputs=[out, a, b, generics.Model(mass=mass, mask=mask)])
    third = [9.0, 11.0] if mask else [7.0, 8.0] if mass else [-4.0, -4.0]
    assert out.tolist() == [[1.0 + i if a else -1.0, 4.0 + 2 * i if b else -2.0, third[i]] for i in range(2)]


def test_none_for_another_array():
    with pytest.raises(kb.LaunchError, match="the kernel does not ask `if out:`"):
        kb.launch(generics.optional, dim=2, inputs=[None, None, None, generics.Model()])


def test_constants_with_a_type():
    out = kb.zeros(3, dtype=kb.int64)
    u = kb.array([kb.vec3(1.0, 2.0, 3.0)] * 2 + [kb.vec3(1.0, 2.0, 4.0)])
    kb.launch(generics.wide, dim=3, inputs=[out, u, kb.array([True, False, True])])
    assert out.tolist() == [7, 2**40 + 1, 2 * (2**40 + 1)]
