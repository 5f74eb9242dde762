"""Gradients and replays as parts of functions: their form, and that every pass reaches them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from kbuild.errors import InternalError
from kbuild.intrinsics.table import has_effects
from kbuild.ir import nodes
from kbuild.ir.gradients import has_floats, interface
from kbuild.ir.nodes import Call, Fma, Function, Read, Return, Symbol
from kbuild.ir.same import difference
from kbuild.ir.traverse import reached, walk
from kbuild.ir.types import FLOAT16, FLOAT32, INT32, VOID, Array, Matrix, Struct, Tuple, Vector
from kbuild.ir.verify import verify
from tests.helpers import kernels

SPRING = Struct("m:Spring", [("rest", FLOAT32), ("ends", Vector(2, INT32)), ("a", Array(FLOAT32, 1))])
ENDS = Struct("m:Ends", [("ends", Vector(2, INT32)), ("a", Array(FLOAT32, 1))])


def function(parameters: tuple[Symbol, ...], result: nodes.Expr | None = None) -> Function:
    """A function that returns this."""
    return Function("f", "m", parameters, VOID if result is None else result.type, (Return(result),))


def zero(type: nodes.Type) -> nodes.Expr:
    if isinstance(type, Tuple):
        return nodes.Build(tuple(map(zero, type.items)), type)
    return nodes.Const(0.0, type)


X, N, A = Symbol("x", FLOAT32), Symbol("n", INT32), Symbol("a", Array(FLOAT32, 1))
XS, PLAIN = Symbol("xs", Array(SPRING, 1)), Symbol("ns", Array(INT32, 2))


def test_the_interface_of_a_gradient() -> None:
    s, v = Symbol("s", SPRING), Symbol("v", Vector(3, FLOAT16))
    result = Tuple((FLOAT32, INT32))
    found = interface(Function("f", "m", (X, PLAIN, s, A, N, XS, v), result, ()))
    assert found.arrays == (A, XS)
    assert found.values == (X, s, v)
    assert found.results == result.items
    assert found.result == Tuple((FLOAT32, SPRING, v.type))
    assert found.parameters((X,)) == (FLOAT32, A.type, XS.type, FLOAT32, INT32)
    assert interface(function((N, A))).result == VOID
    assert interface(function((X,))).results == ()


def test_what_holds_floats() -> None:
    assert [has_floats(t) for t in (FLOAT16, Matrix(2, 3, FLOAT32), SPRING)] == [True] * 3
    assert [has_floats(t) for t in (INT32, Vector(2, INT32), ENDS, A.type)] == [False] * 4


@pytest.mark.parametrize(
    ("gradient", "replay"),
    [
        (function((X,), zero(Tuple((FLOAT32,)))), None),
        (function((X, X), zero(FLOAT32)), None),
        (function((X, X)), None),
        (dataclasses.replace(function((X, X), zero(Tuple((FLOAT32,)))), replay=function((X, X))), None),
        (None, function((X,))),
        (None, function((N,), zero(FLOAT32))),
    ],
)
def test_a_wrong_form_is_illegal(gradient: Function | None, replay: Function | None) -> None:
    made = function((X,), Read(X, FLOAT32))
    right = dataclasses.replace(made, gradient=function((X, X), zero(Tuple((FLOAT32,)))), replay=made)
    wrong = dataclasses.replace(made, gradient=gradient, replay=replay)
    for one in (right, wrong):
        body = (nodes.Assign(Read(Symbol("y", FLOAT32), FLOAT32), Call(one, (Read(X, FLOAT32),), FLOAT32)),)
        kernel = nodes.Kernel("m:k", Function("k", "m", (X,), VOID, body), 1)
        if one is right:
            verify(kernel, has_effects)
        else:
            with pytest.raises(InternalError, match="illegal IR"):
                verify(kernel, has_effects)


def test_a_bound_of_loops_is_positive() -> None:
    for wrong in (0, -3):
        with pytest.raises(InternalError, match=f"m:k: max_iterations {wrong}"):
            verify(nodes.Kernel("m:k", function(()), 1, max_iterations=wrong), has_effects)


TEXT = """
@kb.func
def square(x: float):
    return x * x + 1.0

@kb.func
def helper(x: float, y: float):
    return x * y + 2.0

@kb.func_grad(square)
def adj_square(x: float, adj_ret: float):
    kb.adjoint[x] += helper(x, adj_ret) * 2.0

@kb.func_replay(square)
def again(x: float):
    return x * x + 3.0

@kb.kernel(max_iterations=3)
def k(a: kb.array(dtype=float)):
    a[0] = square(a[0])
"""


def test_gradients_and_what_they_call_are_contracted(tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(tmp_path, TEXT)
    found = {one.name: one for one in reached(kernel.function)}
    assert list(found) == ["helper", "adj_square", "again", "square"]
    assert all(any(isinstance(n, Fma) for n in walk(one.body)) for one in found.values())
    assert found["square"].gradient is found["adj_square"]
    assert found["square"].replay is found["again"]


def test_kernels_that_differ_in_gradients_alone_compute_the_same(tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(tmp_path, TEXT)
    (other,) = kernels.lower_text(tmp_path, TEXT.replace("* 2.0", "* 5.0"))
    assert difference(kernel, other) is None
    assert difference(kernel, dataclasses.replace(kernel, max_iterations=4)) is not None
