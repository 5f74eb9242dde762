"""One piece of illegal IR for every rule of the verifier."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kbuild.errors import InternalError, Span
from kbuild.intrinsics.table import has_effects
from kbuild.ir import nodes
from kbuild.ir.formats import Conversion
from kbuild.ir.nodes import Assign, Binary, Call, Const, Evaluate, Expr, Index, Intrinsic, Read, Return, Stmt, Symbol
from kbuild.ir.types import (
    BOOL,
    FLOAT32,
    FLOAT64,
    INT8,
    INT32,
    UINT32,
    VOID,
    Array,
    Constant,
    Distributed,
    Matrix,
    Shared,
    Struct,
    Tuple,
    Type,
    Vector,
)
from kbuild.ir.verify import verify

VEC3 = Vector(3, FLOAT32)
MAT = Matrix(2, 3, FLOAT32)
SPRING = Struct("m:Spring", [("rest", FLOAT32), ("ends", Vector(2, INT32))])
PARAMETERS = {
    "a": Array(FLOAT32, 1),
    "b": Array(FLOAT32, 2),
    "n": INT32,
    "x": FLOAT32,
    "d": FLOAT64,
    "v": VEC3,
    "m": MAT,
    "s": SPRING,
    "t": BOOL,
    "u": UINT32,
}
SYMBOLS = {name: Symbol(name, type) for name, type in PARAMETERS.items()}


def read(name: str) -> Read:
    return Read(SYMBOLS[name], SYMBOLS[name].type)


def number(value: int, type: Type = INT32) -> Const:
    return Const(value, type)


A, B, N, X, D, V, M, S, T, U = map(read, PARAMETERS)
ELEMENT = Index(A, (N,), FLOAT32)
LOCAL = Symbol("local", FLOAT32)
PURE = nodes.Function("pure", "m", (SYMBOLS["x"],), FLOAT32, (Return(X),))
STORES = nodes.Function(
    "stores",
    "m",
    (SYMBOLS["a"],),
    FLOAT32,
    (Assign(Index(A, (number(0),), FLOAT32), Const(1.0, FLOAT32)), Return(Const(1.0, FLOAT32))),
)
PAIR = Tuple((FLOAT32, INT32))
TILE = Read(Symbol("tile", Shared(FLOAT32, (16, 17))), Shared(FLOAT32, (16, 17)))
TABLE = nodes.Table("table", bytes(8), Constant(FLOAT32, (2,)))
WAITS = nodes.Function("waits", "m", (), FLOAT32, (nodes.Barrier(None), Return(Const(1.0, FLOAT32))))


def kernel(*body: Stmt, result: Type = VOID, ndim: int = 1) -> nodes.Kernel:
    function = nodes.Function("k", "m", tuple(SYMBOLS.values()), result, body, shared=(TILE.symbol,))
    return nodes.Kernel("m:k", function, ndim)


def assigned(value: Expr) -> Stmt:
    """An assignment that is legal if the value is."""
    symbol = Symbol("target", value.type)
    return Assign(Read(symbol, value.type), value)


def add(left: Expr, right: Expr, type: Type, op: str = "add") -> Binary:
    return Binary(op, left, right, type)


LEGAL: dict[str, Stmt] = {
    "assign": Assign(ELEMENT, X),
    "component": Assign(nodes.Component(V, (number(1),), FLOAT32), X),
    "row": assigned(nodes.Component(M, (N,), VEC3)),
    "member": assigned(nodes.Member(S, "rest", FLOAT32)),
    "scale": assigned(add(V, X, VEC3, "mul")),
    "divide": assigned(add(V, X, VEC3, "div")),
    "fma": assigned(nodes.Fma(V, X, V, VEC3)),
    "build": assigned(nodes.Build((X, N), PAIR)),
    "atomic": Evaluate(Intrinsic("atomic_add", (ELEMENT, X), FLOAT32)),
    "kept": assigned(Intrinsic("atomic_add", (ELEMENT, X), FLOAT32)),
    "call": assigned(Call(STORES, (A,), FLOAT32)),
    "loop": nodes.For(Symbol("i", INT32), number(0), N, number(1), (nodes.Break(),)),
    "barrier": nodes.Barrier(None),
    "barrier of a warp": nodes.Barrier(U),
    "shuffle": assigned(Intrinsic("shfl", (X, N, number(8)), FLOAT32)),
    "ordered": Evaluate(Intrinsic("atomic_add", (ELEMENT, X), FLOAT32, None, "acq_rel", "block")),
    "hint": Assign(Index(A, (N,), FLOAT32, None, "streaming"), X),
    "position": assigned(nodes.Position("thread_idx", 2, INT32)),
    "lane": assigned(nodes.Position("lane_id", None, INT32)),
    "shared element": Assign(Index(TILE, (N, N), FLOAT32), X),
    "shared row": Assign(Index(nodes.View(TILE, (N,), Shared(FLOAT32, (17,))), (N,), FLOAT32), X),
    "another name": Assign(Read(Symbol("alias", TILE.type), TILE.type), TILE),
}


@pytest.mark.parametrize("name", LEGAL)
def test_legal(name: str) -> None:
    one = kernel(LEGAL[name])
    assert verify(one, has_effects) is one


LOOP = Symbol("i", INT32)
DECIMAL = Conversion("", None, None, "d")
PRINTS = nodes.Function("prints", "m", (), FLOAT32, (nodes.Print(("x",), ()), Return(number(1.0, FLOAT32))))
ASSERTS = nodes.Function(
    "asserts", "m", (), FLOAT32, (nodes.Assert(Const(True, BOOL), "m:f", 1, "t"), Return(number(1.0, FLOAT32)))
)

ILLEGAL: dict[str, tuple[Stmt, str]] = {
    "assign another type": (Assign(ELEMENT, D), "assigns float64 to float32"),
    "assign to a value": (Assign(add(X, X, FLOAT32), X), "not a place"),
    "assign to a part of a value": (
        Assign(nodes.Component(nodes.Build((X, X, X), VEC3), (N,), FLOAT32), X),
        "not a place",
    ),
    "effect inside an assignment to memory": (
        Assign(ELEMENT, Intrinsic("atomic_add", (ELEMENT, X), FLOAT32)),
        "effect inside",
    ),
    "effect inside an expression": (
        assigned(add(X, Intrinsic("atomic_add", (ELEMENT, X), FLOAT32), FLOAT32)),
        "effect inside",
    ),
    "effect in a condition": (
        nodes.If(nodes.Compare("lt", X, Intrinsic("atomic_add", (ELEMENT, X), FLOAT32), BOOL), (), ()),
        "effect inside",
    ),
    "call with an effect inside an expression": (
        assigned(add(X, Call(STORES, (A,), FLOAT32), FLOAT32)),
        "effect inside",
    ),
    "call with a barrier inside an expression": (assigned(add(X, Call(WAITS, (), FLOAT32), FLOAT32)), "effect inside"),
    "mask of another type": (nodes.Barrier(N), "mask is no uint32"),
    "unknown position": (assigned(nodes.Position("warp_idx", None, INT32)), "position"),
    "position along a fourth axis": (assigned(nodes.Position("block_idx", 3, INT32)), "position"),
    "width": (assigned(Intrinsic("shfl", (X, N, number(12)), FLOAT32)), "width of a shuffle"),
    "width that is no constant": (assigned(Intrinsic("shfl_up", (X, N, N), FLOAT32)), "width of a shuffle"),
    "order": (Evaluate(Intrinsic("atomic_add", (ELEMENT, X), FLOAT32, None, "seq_cst")), "order or scope"),
    "scope": (Evaluate(Intrinsic("atomic_add", (ELEMENT, X), FLOAT32, None, "relaxed", "grid")), "order or scope"),
    "order of a function": (assigned(Intrinsic("sqrt", (X,), FLOAT32, None, "acquire")), "order of what is not atomic"),
    "hint that is none": (Assign(Index(A, (N,), FLOAT32, None, "soon"), X), "hint"),
    "assumption": (nodes.Assume(N, "n"), "condition is not bool"),
    "shuffle in an expression": (
        assigned(add(X, Intrinsic("shfl", (X, N, number(8)), FLOAT32), FLOAT32)),
        "effect inside an expression",
    ),
    "lane along an axis": (assigned(nodes.Position("lane_id", 0, INT32)), "position"),
    "position of another type": (assigned(nodes.Position("block_idx", 0, UINT32)), "position"),
    "shared array assigned": (Assign(TILE, TILE), "assigns an array in shared memory"),
    "row of another shape": (assigned(nodes.View(TILE, (N,), Shared(FLOAT32, (16,)))), "view"),
    "row in another memory": (assigned(nodes.View(TILE, (N,), Array(FLOAT32, 1))), "view"),
    "returned effect": (Return(Call(STORES, (A,), FLOAT32)), "returns float32"),
    "condition of an if": (nodes.If(N, (), ()), "condition is not bool"),
    "condition of a while": (nodes.While(X, ()), "condition is not bool"),
    "break outside": (nodes.Break(), "jump outside a loop"),
    "continue outside": (nodes.If(T, (nodes.Continue(),), ()), "jump outside a loop"),
    "return of a value": (Return(X), "returns float32, not void"),
    "float loop": (nodes.For(LOCAL, X, X, X, ()), "loop symbol is no integer"),
    "loop over a parameter": (nodes.For(SYMBOLS["n"], N, N, N, ()), "loop symbol is assigned"),
    "loop symbol assigned": (nodes.For(LOOP, N, N, N, (Assign(Read(LOOP, INT32), N),)), "loop symbol is assigned"),
    "loop bound of another type": (nodes.For(LOOP, N, U, N, ()), "bound is uint32"),
    "loop symbol read outside": (assigned(Read(LOOP, INT32)), "i is never assigned"),
    "never assigned": (assigned(Read(LOCAL, FLOAT32)), "local is never assigned"),
    "read as another type": (assigned(Read(SYMBOLS["x"], FLOAT64)), "type of the symbol differs"),
    "constant too large": (assigned(number(128, INT8)), "128 is no int8"),
    "constant of another kind": (assigned(Const(1.0, INT32)), "1.0 is no int32"),
    "bool as an integer": (assigned(Const(True, INT32)), "True is no int32"),
    "integer as a bool": (assigned(Const(1, BOOL)), "1 is no bool"),
    "integer as a float": (assigned(Const(1, FLOAT32)), "1 is no float32"),
    "constant vector": (assigned(Const(0.0, VEC3)), "is no vec3"),
    "element type": (assigned(Index(A, (N,), INT32)), "element type"),
    "indexed scalar": (assigned(Index(X, (N,), FLOAT32)), "element type"),
    "number of indices": (assigned(Index(B, (N,), FLOAT32)), "number of indices"),
    "float index": (assigned(Index(A, (X,), FLOAT32)), "index is no integer"),
    "component type": (assigned(nodes.Component(V, (N,), INT32)), "component type"),
    "two indices of a vector": (assigned(nodes.Component(V, (N, N), FLOAT32)), "component type"),
    "float component": (assigned(nodes.Component(V, (X,), FLOAT32)), "index is no integer"),
    "no such field": (assigned(nodes.Member(S, "length", FLOAT32)), "field type"),
    "field of another type": (assigned(nodes.Member(S, "rest", INT32)), "field type"),
    "field of a scalar": (assigned(nodes.Member(X, "rest", FLOAT32)), "field type"),
    "axis": (assigned(nodes.Extent(A, 1, INT32)), "extent"),
    "extent of a scalar": (assigned(nodes.Extent(X, 0, INT32)), "extent"),
    "thread axis": (assigned(nodes.ThreadIndex(1, 1, INT32)), "thread index"),
    "five thread axes": (assigned(nodes.ThreadIndex(0, 5, INT32)), "thread index"),
    "unknown unary": (assigned(nodes.Unary("abs", X, FLOAT32)), "unary type"),
    "unary of another type": (assigned(nodes.Unary("neg", X, FLOAT64)), "unary type"),
    "not of a number": (assigned(nodes.Unary("not", N, INT32)), "not is for bool alone"),
    "minus of a bool": (assigned(nodes.Unary("neg", T, BOOL)), "not is for bool alone"),
    "inverted float": (assigned(nodes.Unary("invert", X, FLOAT32)), "bits of no integer"),
    "minus of a struct": (assigned(nodes.Unary("neg", S, SPRING)), "arithmetic on no number"),
    "unknown operator": (assigned(add(X, X, FLOAT32, "pow")), "operator"),
    "arithmetic on bool": (assigned(add(T, T, BOOL)), "arithmetic on no number"),
    "mixed operands": (assigned(add(X, D, FLOAT32)), "float32 add float64 -> float32"),
    "scaled sum": (assigned(add(V, X, VEC3)), "scaling"),
    "divided by a vector": (assigned(add(X, V, VEC3, "div")), "scaling"),
    "remainder of vectors": (assigned(add(V, V, VEC3, "mod")), "elementwise"),
    "bits of floats": (assigned(add(X, X, FLOAT32, "and")), "bits of no integer"),
    "unknown comparison": (assigned(nodes.Compare("is", X, X, BOOL)), "compare"),
    "comparison of two types": (assigned(nodes.Compare("lt", X, D, BOOL)), "compare"),
    "comparison that is no bool": (assigned(nodes.Compare("lt", X, X, INT32)), "compare"),
    "compared vectors": (assigned(nodes.Compare("eq", V, V, BOOL)), "compares scalars"),
    "logical number": (assigned(nodes.Logical("and", N, T, BOOL)), "logical"),
    "unknown logical": (assigned(nodes.Logical("xor", T, T, BOOL)), "logical"),
    "select on a number": (assigned(nodes.Select(N, X, X, FLOAT32)), "select"),
    "select of two types": (assigned(nodes.Select(T, X, D, FLOAT32)), "select"),
    "conversion to itself": (assigned(nodes.Convert(X, FLOAT32)), "conversion"),
    "conversion of a vector": (assigned(nodes.Convert(V, FLOAT32)), "conversion"),
    "fma of integers": (assigned(nodes.Fma(N, N, N, INT32)), "fma"),
    "fma of two types": (assigned(nodes.Fma(X, X, D, FLOAT32)), "fma"),
    "fma with a scalar first": (assigned(nodes.Fma(X, V, V, VEC3)), "fma"),
    "parts": (assigned(nodes.Build((X, X), VEC3)), "parts"),
    "built scalar": (assigned(nodes.Build((X,), FLOAT32)), "parts"),
    "item": (assigned(nodes.Item(nodes.Build((X, N), PAIR), 2, INT32)), "item"),
    "item of another type": (assigned(nodes.Item(nodes.Build((X, N), PAIR), 1, FLOAT32)), "item"),
    "arguments": (assigned(Call(PURE, (D,), FLOAT32)), "arguments"),
    "result": (assigned(Call(PURE, (X,), INT32)), "result"),
    "values to print": (nodes.Print((DECIMAL, "x"), (N, N)), "number of arguments"),
    "too many values to print": (nodes.Print((DECIMAL,) * 33, (N,) * 33), "number of arguments"),
    "a float as an integer to print": (nodes.Print((DECIMAL,), (X,)), "%d of float32"),
    "a vector to print": (nodes.Print((DECIMAL,), (V,)), "%d of vec3[float32]"),
    "effect in what is printed": (
        nodes.Print((Conversion("", None, None, "g"),), (Intrinsic("atomic_add", (ELEMENT, X), FLOAT32),)),
        "effect inside",
    ),
    "call that prints inside an expression": (assigned(add(X, Call(PRINTS, (), FLOAT32), FLOAT32)), "effect inside"),
    "call that asserts inside an expression": (assigned(add(X, Call(ASSERTS, (), FLOAT32), FLOAT32)), "effect inside"),
    "assert of a number": (nodes.Assert(N, "m:k", 1, "n"), "condition is not bool"),
    "assert without a number": (nodes.Assert(T, "m:k", 0, "t"), "number of an assert"),
    "store to a table": (Assign(Index(TABLE, (N,), FLOAT32), X), "assigns an element of a table"),
    "atomic on a table": (
        Evaluate(Intrinsic("atomic_add", (Index(TABLE, (N,), FLOAT32), X), FLOAT32)),
        "assigns an element of a table",
    ),
    "table with too few bytes": (
        assigned(Index(nodes.Table("t", bytes(4), Constant(FLOAT32, (2,))), (N,), FLOAT32)),
        "table",
    ),
    "atomic on a value": (Evaluate(Intrinsic("atomic_add", (X, X), FLOAT32)), "atomic on no element of an array"),
}


@pytest.mark.parametrize("name", ILLEGAL)
def test_illegal(name: str) -> None:
    statement, reason = ILLEGAL[name]
    with pytest.raises(InternalError, match="illegal IR") as caught:
        verify(kernel(statement), has_effects)
    assert f"illegal IR: {reason}" in str(caught.value) or reason in str(caught.value).splitlines()[0]


def test_dimensions_of_a_launch() -> None:
    for ndim in (0, 5):
        with pytest.raises(InternalError, match=f"m:k: ndim {ndim}"):
            verify(kernel(ndim=ndim), has_effects)


THERE = nodes.Elsewhere(TILE, N, Distributed(FLOAT32, (16, 17)))
OF_CLUSTERS: dict[str, Stmt] = {
    "barrier": nodes.Barrier(None, None, True),
    "rank": assigned(nodes.Position("cluster_rank", None, INT32)),
    "array": Assign(Index(THERE, (N, N), FLOAT32), X),
    "row": assigned(nodes.View(THERE, (N,), Distributed(FLOAT32, (17,)))),
}


@pytest.mark.parametrize("name", OF_CLUSTERS)
def test_what_is_of_clusters_stands_in_kernels_that_run_in_them(name: str) -> None:
    made = replace(kernel(OF_CLUSTERS[name]), cluster_dim=4)
    assert verify(made, has_effects) is made
    with pytest.raises(InternalError, match="m:k: k works with a cluster, and there is none"):
        verify(kernel(OF_CLUSTERS[name]), has_effects)
    for count in (0, -1):
        with pytest.raises(InternalError, match=f"m:k: cluster_dim {count}"):
            verify(replace(made, cluster_dim=count), has_effects)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (nodes.Barrier(U, None, True), "lanes of a cluster"),
        (assigned(nodes.Position("cluster_rank", 0, INT32)), "position"),
        (assigned(replace(THERE, type=TILE.type)), "array of another block"),
        (assigned(replace(THERE, array=A)), "array of another block"),
        (assigned(replace(THERE, array=THERE)), "array of another block"),
        (assigned(replace(THERE, rank=U)), "rank"),
    ],
)
def test_what_is_wrong_of_clusters(wrong: Stmt, reason: str) -> None:
    with pytest.raises(InternalError, match="illegal IR") as caught:
        verify(replace(kernel(wrong), cluster_dim=4), has_effects)
    assert f"illegal IR: {reason}" in str(caught.value)


def test_missing_result() -> None:
    with pytest.raises(InternalError, match="returns void, not float32"):
        verify(kernel(Return(None), result=FLOAT32), has_effects)


def test_functions_that_a_kernel_calls_are_checked_too() -> None:
    wrong = nodes.Function("wrong", "m", (), FLOAT32, (Return(Const(1, INT32)),))
    with pytest.raises(InternalError, match="func m:wrong"):
        verify(kernel(assigned(Call(wrong, (), FLOAT32))), has_effects)


def test_the_place_is_named() -> None:
    node = nodes.Break(Span("kernels.py", 12, 5))
    with pytest.raises(InternalError, match=r"illegal IR at kernels\.py:12:5: jump outside a loop"):
        verify(kernel(node), has_effects)


def test_shared_memory_is_declared_with_its_type_and_never_given_by_a_launch() -> None:
    wrong = nodes.Function("k", "m", (), VOID, (), shared=(SYMBOLS["a"],))
    with pytest.raises(InternalError, match=r"k: a in shared memory is array1\[float32\]"):
        verify(nodes.Kernel("m:k", wrong, 1), has_effects)
    with pytest.raises(InternalError, match="a launch cannot give an array in shared or constant memory"):
        verify(nodes.Kernel("m:k", nodes.Function("k", "m", (TILE.symbol,), VOID, ()), 1), has_effects)
    late = Symbol("t0", Shared(FLOAT32, (4, 0)))
    with pytest.raises(InternalError, match="k: t0 has a dynamic extent that is not the first"):
        verify(nodes.Kernel("m:k", nodes.Function("k", "m", (), VOID, (), shared=(late,)), 1), has_effects)
    open_one, open_two = (Symbol(name, Shared(FLOAT32, (0, 4))) for name in ("one", "two"))
    with pytest.raises(InternalError, match="m:k: two arrays whose extents the launch gives"):
        verify(nodes.Kernel("m:k", nodes.Function("k", "m", (), VOID, (), shared=(open_one, open_two)), 1), has_effects)
