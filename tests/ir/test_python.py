"""Kernels printed as source lower to the same IR: every kernel of this repository, and what is odd."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import keyword
import math
import random
import struct
from pathlib import Path

import pytest

from kbuild.errors import InternalError
from kbuild.intrinsics.table import has_effects
from kbuild.ir import nodes
from kbuild.ir.python import print_python
from kbuild.ir.python_expressions import number
from kbuild.ir.python_types import Names, TypeNames
from kbuild.ir.traverse import callees, walk
from kbuild.ir.types import BOOL, FLOAT32, INT32, SCALARS, VOID, Array, Matrix, Vector
from kbuild.lang.operands import fit
from kbuild.loader import values
from tests.helpers import golden, kernels, round_trip

TESTS = Path(__file__).parents[1]
FILES = [*sorted(TESTS.glob("*/golden/*.py")), *sorted((TESTS / "lang" / "cases").glob("*.py"))]

ODD = {
    "constants": """
        import math
        BIG = 1e39
        @kb.kernel
        def odd(a: kb.array(dtype=float), h: kb.array(dtype=kb.float16), d: kb.array(dtype=kb.float64),
                b: kb.array(dtype=kb.int8), u: kb.array(dtype=kb.uint64), t: kb.array(dtype=bool)):
            a[0] = math.inf
            a[1] = -math.inf
            a[2] = math.nan
            a[3] = -0.0
            a[4] = 0.1
            a[5] = float(1e-45)
            h[0] = 0.1
            h[1] = kb.float16(65504)
            d[0] = 0.1
            d[1] = BIG
            d[2] = kb.float64(-math.nan)
            b[0] = -128
            b[1] = kb.int8(127)
            u[0] = 18446744073709551615
            t[0] = True
            t[1] = not t[0]
            x = kb.int64(5)
            y = kb.float16(0.5)
            z = -kb.float32(2.0)
            w = kb.int32(1) + kb.int32(2)
            c = kb.int32(1) < kb.int32(2)
            f = kb.int32(kb.float32(1.5))
            g = kb.int32(True)
            s = kb.where(True, 1.0, 2.0)
            q = (1 if t[0] else 2) + kb.where(t[1], w, 3)
            r = kb.where(t[0], kb.float64(1), kb.float64(2.5))
            if c and True or t[0]:
                a[6] = z + s + float(w + f + g + q) + float(x) + float(y) + float(r)
            a[kb.int64(3)] = a[kb.uint8(2)]
    """,
    "names": """
        @kb.struct
        class kb_:
            math: float
            match: int
        @kb.func
        def len(range: float, kb: float):
            max = range + kb
            return max
        @kb.kernel
        def print(vec5_float32: kb.array(dtype=kb.types.vector(length=5, dtype=float)), s: kb_,
                  math: kb.array(dtype=float)):
            i = kb.tid()
            match = kb.types.vector(length=5, dtype=float)(1.0)
            type = match[0]
            math[i] = len(s.math, type)
            for i in range(3):
                math[i] = 1.0
            for j in range(3):
                math[j] = 1.0
            for j in range(s.match):
                j = j + 1
                math[j] = float(i)
            vec5_float32[0] = match
            print = 1.0
            t1 = print
            math[0] += t1
    """,
    "results": """
        @kb.func
        def bump(a: kb.array(dtype=int), x: int):
            a[0] += 1
            return x
        @kb.func
        def both(x: int, y: int):
            return x // y, x % y
        @kb.func
        def one(x: int):
            return (x,)
        @kb.func
        def through(x: int):
            return both(x, 3)
        @kb.func
        def nothing(a: kb.array(dtype=int)):
            if a[0] > 0:
                return
            a[0] = 1
        @kb.kernel
        def odd(a: kb.array(dtype=int)):
            q, r = both(a[0], a[1])
            p = both(q, r)
            o = p
            a[0] = p[0] + both(1, 2)[1] + one(3)[0] + o[1]
            q, r = through(a[2])
            old = bump(a, q)
            a[1] = bump(a, bump(a, old)) + r
            x = y = bump(a, 2)
            v = w = both(x, y)
            u = v
            a[4] = w[0] + u[1]
            bump(a, 3)
            both(4, 5)
            nothing(a)
            if bump(a, 1) > 2 and (bump(a, 3) > 1 or a[0] == 3):
                a[2] = 1
            z = bump(a, 1) if a[0] > 1 else bump(a, 2)
            while bump(a, z) < 5 < bump(a, 7):
                a[3] += 1
            while len(both(1, 2)) == 2:
                break
    """,
    "places": """
        @kb.struct
        class Inner:
            v: kb.vec3
            m: kb.mat33
        @kb.struct
        class Outer:
            inner: Inner
            data: kb.array2d(dtype=int)
            flag: bool
        @kb.kernel
        def odd(s: Outer, c: kb.array(dtype=Inner), n: kb.array3d(dtype=int), m: kb.array(dtype=kb.mat22d)):
            i, j = kb.tid()
            o = s
            o.inner.v[i] = 2.0
            o.inner.m[1] = o.inner.v
            o.inner.m[i, j] += 1.0
            o.inner.v[0:2] = c[i].v[1:3]
            o = Outer(o.inner, o.data, True)
            c[i].m[0][1] = c[j].m[1, -1] + o.data[i, 0] * 0.0 if False else c[0].v.x
            row = n[i]
            row[0, j] = row.shape[1] + n.shape[2] + n[0][j].shape[0] + s.data[1][j]
            c[0] = Inner(v=kb.vec3(1.0, 2.0, 3.0))
            m[0] = m[1] * 2.0 + m[2] / kb.float64(3.0)
            m[1] = kb.cw_mul(m[0], m[1]) - kb.cw_div(m[0], m[1]) * 2.0
            m[2] = m[0] @ m[1] + 2.0 * m[1]
    """,
    "atomics": """
        @kb.struct
        class Body:
            mass: float
            count: int
            v: kb.vec3
        @kb.kernel
        def odd(a: kb.array(dtype=float), p: kb.array2d(dtype=kb.vec3), b: kb.array(dtype=Body),
                n: kb.array(dtype=kb.uint32)):
            i = kb.tid(1, 3)
            j = kb.tid(0, 3) + kb.tid(2, 3)
            a[0] += 1.0
            old = kb.atomic_add(a, i, 2.0)
            kb.atomic_min(a, j, old)
            p[i, j] += kb.vec3(1.0)
            p[i][j] -= kb.vec3(1.0)
            was = kb.atomic_add(p, i, j, p[0, 0])
            b[i].mass += 1.0
            b[i].v[1] -= was[0]
            kb.atomic_max(b[i].count, 3)
            b[0].count = kb.atomic_cas(b[i].count, 3, 4)
            c = kb.atomic_exch(p[i, 0][j], 1.0)
            kb.atomic_add(b[j].v, was)
            n[0] |= kb.atomic_xor(n, kb.int64(1), 7)
            a[1] = c
    """,
    "loops": """
        @kb.kernel
        def odd(a: kb.array(dtype=int), n: kb.int64, w: kb.uint8):
            for i in range(3):
                for i in range(2, 9, 3):
                    a[i] = 1
            for l in range(2, n, 3):
                a[l] = 1
            for k in range(kb.int64(0), kb.int64(9), kb.int64(2)):
                a[k] = 1
            for k in range(w):
                if a[0] == 1:
                    continue
                elif a[1] == 1:
                    break
                else:
                    pass
            for z in range(0, 3, kb.int32(0)):
                a[z] = 1
            for z in range(10, -1, -2):
                a[z] = 1
            while True:
                while a[0] < 3 and not a[1] == 2:
                    a[0] = ~a[0] << 3 >> 1 & 7 | 3 ^ 4
                    return
                break
    """,
    "fused": """
        @kb.kernel
        def odd(a: kb.array(dtype=float), v: kb.vec3, m: kb.mat33d):
            a[0] = a[1] * a[2] - 2.0
            a[1] = a[0] - a[1] * 2.0
            a[2] = kb.fma(a[0], 2.0, a[1]) + kb.fma(1.0, 2.0, 3.0)
            u = v * a[0] + v
            u = kb.fma(u, v, -v)
            u = kb.fma(u, 2.0, v - u * a[3])
            k = m + m * kb.float64(2.0)
            a[4] = u[0] + float(k[0, 0]) + kb.max(a[0], kb.sqrt(2.0)) + a[0] ** 2.0 + a[1] // 2.0 + a[2] % 3.0
    """,
    "presence": """
        @kb.struct
        class Model:
            data: kb.array(dtype=float)
            mask: kb.array2d(dtype=int)
        @kb.func
        def maybe(a: kb.array(dtype=float), n: int):
            if n > 0:
                return a
        @kb.func
        def both(a: kb.array(dtype=float), n: int):
            if n > 0:
                return a, 1.0
        @kb.func
        def size(a: kb.array(dtype=float)):
            return a.shape[0] if a else 0
        @kb.kernel
        def odd(a: kb.array(dtype=float), m: Model, b: kb.array2d(dtype=float)):
            i = kb.tid()
            x = a is not None
            if a and not m.mask or m.data is None:
                a[i] = float(size(None))
            row = b[i]
            while row and x:
                o = Model(data=a)
                o.mask = None
                a[0] = float(size(o.data)) if both(a, 2)[0] else 1.0
                break
            if maybe(a, 0):
                a[1] = a[-1] + b[-1, 0]
            v = kb.vec3(1.0)
            if v == kb.vec3(a[0]) or v != 2.0 * v:
                a[2] = 1.0
    """,
    "printing": """
        @kb.func
        def checked(x: int):
            assert x > 0, "positive"
            return x
        @kb.kernel
        def odd(a: kb.array(dtype=float), n: int, flag: bool, m: kb.mat22):
            kb.printf("%5.2f%% of %+d: %x, %c\\n", a[0], n, kb.uint8(255), 65)
            kb.printf("no value\\n")
            print(n, flag, a[0], "text % here", True, 0.5, kb.float32(2.0), sep=";")
            print(m, kb.vec3(1.0), (n, 2))
            print()
            kb.expect_eq(n, 3)
            kb.expect_near(m, m, 0.5)
            assert flag
            assert n != 3 and a[checked(n)] > 1.0, "a reason: %d"
            for i in range(2):
                assert True, kb.static("constant")
                a[i] = 1.0
    """,
    "blocks": """
        @kb.struct
        class Cell:
            x: float
            v: kb.vec3
        @kb.func
        def total(values: kb.array(dtype=float), n: int):
            kept = kb.shared_array(4, kb.types.vector(length=5, dtype=kb.int8))
            kept[0][1] = kb.int8(n)
            kb.syncthreads()
            return values[0] + values[1] + float(kept[0][1])
        @kb.kernel
        def odd(a: kb.array(dtype=float), n: int):
            tile = kb.shared_array((3, 17), float)
            cells = kb.shared_array(shape=5, dtype=Cell)
            i = kb.thread_idx()
            j = kb.thread_idx().x + kb.block_idx().y * kb.block_dim().z + kb.grid_dim() + kb.lane_id()
            row = tile[1]
            row[j] = a[i]
            cells[i].x += 1.0
            kb.syncthreads()
            old = kb.atomic_add(tile, 0, 1, 2.0)
            kb.atomic_max(cells[1].v[2], old)
            kb.syncwarp()
            kb.syncwarp(kb.uint32(n))
            kb.assume(n > 0 and i >= 0)
            kb.atomic_add(a, i, 1.0, order="release")
            found = kb.atomic_cas(cells[0].x, old, 2.0, order="acq_rel", scope="system")
            kb.store_streaming(a, i, kb.load_readonly(a, j) + kb.load_streaming(a, 3) + found)
            a[1] = kb.shfl(a[2], n, 8) + kb.shfl_xor(1.0, 4) + float(kb.warp_id())
            kb.shfl_up(kb.int8(3), 1)
            for k in kb.grid_range(n):
                a[k] = float(kb.ballot(n > k) ^ kb.match_any(kb.int64(k)))
            for m in kb.grid_range(1, n, 3):
                if kb.any(n > 3) or kb.all(m > 3):
                    a[m] = kb.block_scan_exclusive(a[m])
            a[0] = total(tile[0], n) + total(a, n) + total(row, n) + tile[-1, 2] + float(tile.shape[1])
    """,
    "tables": """
        import math
        ODD = kb.constant([[0.1, -0.0, math.inf], [math.nan, 1e-45, 3.0]])
        LARGE = kb.constant([1 << 63, 5], dtype=kb.uint64)
        VECTORS = kb.constant([[kb.vec3(1.0, 2.0, 3.0)], [kb.vec3(4.0, 5.0, 6.0)]])
        @kb.func
        def first(values: kb.array(dtype=float), i: int):
            return values[i]
        @kb.kernel
        def odd(a: kb.array(dtype=float), i: int):
            row = ODD[i]
            a[0] = row[i] + ODD[1, i] + first(ODD[0], i) + first(a, i) + VECTORS[i, 0][1] + float(LARGE[i])
            a[1] = ODD[0, 0] + float(LARGE[0]) + VECTORS[1, 0].y
    """,
    "tables of structs": """
        @kb.struct
        class Inner:
            w: kb.float64
            k: kb.int8
        @kb.struct
        class Outer:
            x: float
            v: kb.vec2h
            m: kb.mat22
            inner: Inner
            b: bool
        CELLS = kb.constant([[Outer(x=float("nan"), v=kb.vec2h(1.0, -0.0), inner=Inner(w=0.1, k=-3), b=True), Outer()]])
        @kb.kernel
        def odd(a: kb.array(dtype=float), n: int):
            a[0] = CELLS[n, 1].x + float(CELLS[n, n].inner.k) + CELLS[0, 0].x
    """,
    "bounded": """
        @kb.kernel(launch_bounds=(128, 4))
        def odd(a: kb.array(dtype=float)):
            a[0] = a[1] + 1.0
    """,
    "bounded for each target": """
        @kb.kernel(launch_bounds="auto", block_dim=64)
        def odd(a: kb.array(dtype=float)):
            a[0] = a[1] + 1.0
    """,
    "launched over what it says": """
        @kb.kernel(launch_dim=("rows", 4, "n"))
        def odd(a: kb.array(dtype=float, shape=("k", "rows")), b: kb.array2d(dtype=float), a_0: int, n: int):
            i, j, k = kb.tid()
            a[0, i] = b[j, k] + float(a_0)
    """,
    "in clusters": """
        @kb.kernel(cluster_dim=4)
        def odd(a: kb.array(dtype=float), n: int):
            tile = kb.shared_array((4, 3), float)
            kb.cluster_sync()
            there = kb.cluster_array(tile, kb.cluster_rank() ^ n)
            there[1, 2] = a[0] + kb.cluster_array(tile[n], 3)[1] + float(kb.cluster_dim())
            kb.cluster_sync()
    """,
    "unfused": """
        @kb.kernel(fmad=False)
        def odd(a: kb.array(dtype=float)):
            a[0] = a[1] * a[2] + a[3]
    """,
    "types": """
        q5 = kb.types.vector(length=5, dtype=kb.int16)
        m23 = kb.types.matrix(shape=(2, 3), dtype=kb.uint8)
        one = kb.types.vector(length=1, dtype=float)
        @kb.kernel
        def odd(a: kb.array(dtype=q5), b: kb.array(dtype=m23), q: kb.quatd, t: kb.transformh,
                s: kb.spatial_matrix, o: one):
            v = q5(kb.int16(3))
            a[0] = q5(a[1][0], a[1][1], 3, 4, -5)
            b[0] = m23(1, 2, 3, 4, 5, 6)
            x = one(o[0])
            r = q * q
            p = t.p
            g = kb.transform_point(t, p)
            w = s[0]
            h = s[1:3, 0:2]
            f = kb.vec3d(kb.vec3(1.0, 2.0, 3.0))
            a[2] = v
    """,
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parents[1].name}-{path.stem}")
def test_right_kernels_of_tests_come_back(tmp_path: Path, path: Path) -> None:
    for kernel in kernels.diagnose(kernels.load(path, f"again.{path.stem}")[1])[0]:
        round_trip.check(kernel, tmp_path)


@pytest.mark.parametrize("path", sorted((TESTS / "ir" / "golden").glob("*.py")), ids=lambda path: path.stem)
def test_what_it_looks_like(path: Path, pytestconfig: pytest.Config) -> None:
    lowered, _ = kernels.diagnose(kernels.load(path, f"golden.{path.stem}")[1])
    text = "\n\n".join(print_python(kernel, has_effects) for kernel in lowered)
    golden.check(path.with_suffix(".again"), text, pytestconfig)


@pytest.mark.parametrize("module", round_trip.own_modules())
def test_kernels_of_projects_come_back(tmp_path: Path, module: str) -> None:
    found = round_trip.kernels_of(module)
    assert found
    for kernel in found:
        round_trip.check(kernel, tmp_path)


@pytest.mark.parametrize("name", ODD)
def test_odd_kernels_come_back(tmp_path: Path, name: str) -> None:
    (kernel,) = kernels.lower_text(tmp_path, ODD[name], asserts=True)
    text = round_trip.check(kernel, tmp_path)
    assert print_python(round_trip.lowered_again(text, tmp_path), has_effects).splitlines()[0] == text.splitlines()[0]


def test_every_kind_of_node_is_among_the_odd_ones(tmp_path: Path) -> None:
    """A new kind of node needs a spelling, and a kernel here."""
    seen: set[type] = set()
    for text in ODD.values():
        for kernel in kernels.lower_text(tmp_path, text, asserts=True):
            for function in [kernel.function, *callees(kernel.function)]:
                seen |= {type(node) for node in walk(function.body)}
    assert seen == {*nodes.EXPRESSIONS, *nodes.STATEMENTS} - {nodes.Native}  # which is no Python


def test_what_has_no_spelling_is_a_fault_of_ours() -> None:
    true = nodes.Const(True, BOOL)
    flag = nodes.Symbol("flag", BOOL)
    wrong: list[nodes.Expr] = [
        nodes.Unary("not", true, BOOL),
        nodes.Logical("or", true, nodes.Read(flag, BOOL), BOOL),
    ]
    for value in wrong:
        body = (nodes.Assign(nodes.Read(flag, BOOL), value),)
        with pytest.raises(InternalError, match="it folds"):
            print_python(nodes.Kernel("m:k", nodes.Function("k", "m", (flag,), VOID, body), 1), has_effects)


def test_a_node_that_the_printer_does_not_know_is_a_fault_of_ours() -> None:
    @dataclasses.dataclass(frozen=True)
    class Fence:
        span: None = None

    with pytest.raises(InternalError, match="Fence has no spelling"):
        print_python(nodes.Kernel("m:k", nodes.Function("k", "m", (), VOID, (Fence(),)), 1), has_effects)  # type: ignore[arg-type]
    value = nodes.Evaluate(Fence())  # type: ignore[arg-type]
    with pytest.raises(InternalError, match="Fence has no spelling"):
        print_python(nodes.Kernel("m:k", nodes.Function("k", "m", (), VOID, (value,)), 1), has_effects)


def test_no_variable_is_called_like_something_of_pythons(tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(tmp_path, ODD["names"])
    text = print_python(kernel, has_effects)
    for line in text.splitlines():
        name = line.strip().removeprefix("def ").partition(" = ")[0].partition("(")[0]
        if " = " in line or line.startswith("def "):
            assert name not in {*dir(builtins), *keyword.kwlist, "kb", "math"}, line


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_constants_are_exact_and_short(kind: str) -> None:
    type = SCALARS[kind]
    assert ast.unparse(number(nodes.Const(struct.unpack(type.code, struct.pack(type.code, 0.1))[0], type))) == "0.1"
    source = random.Random(kind)
    for _ in range(2000):
        (value,) = struct.unpack(type.code, source.randbytes(type.size))
        text = ast.unparse(number(nodes.Const(value, type)))
        again = fit(eval(text, {"math": math}), type)
        assert isinstance(again, float)
        assert repr(again) == repr(value), text


def test_types_have_kbuilds_names() -> None:
    spell = TypeNames(Names(()))
    for name in values.__all__:
        kind = getattr(values, name)._kb_type_
        again = getattr(values, ast.unparse(spell(kind)).removeprefix("kb."))._kb_type_
        assert again == kind, name
    assert spell.declarations == []
    assert ast.unparse(spell(Array(Vector(3, FLOAT32), 2))) == "kb.array(dtype=kb.vec3, ndim=2)"
    assert ast.unparse(spell(Matrix(2, 3, INT32))) == "mat2x3_int32"
