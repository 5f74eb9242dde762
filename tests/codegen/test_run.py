"""What kernels compute, construct by construct, beside the same thing in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kbuild.loader import geometry
from tests.helpers import kernels
from tests.helpers.host_gpu import HostModule, device

Run = Callable[..., None]


@pytest.fixture
def compiled(tmp_path: Path) -> Callable[[str], Run]:
    """`compiled(text)` gives `run(dim, *arguments)` for the one kernel in the text."""

    def make(text: str, *, fmad: bool = True) -> Run:
        module = HostModule(kernels.lower_text(tmp_path, text, fmad=fmad), tmp_path)
        (name,) = module.kernels

        def run(dim: Any, *arguments: Any, block_dim: int = 32, max_blocks: int = 0) -> None:
            given = [device(a) if isinstance(a, np.ndarray) else a for a in arguments]
            module.launch(name, dim, given, block_dim, max_blocks)

        return run

    return make


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def zeros(count: int, kind: Any = np.int32) -> np.ndarray:
    return np.zeros(count, kind)


def test_scale(compiled: Any) -> None:
    run = compiled("""
        @kb.kernel
        def scale(data: kb.array(dtype=float), factor: float):
            i = kb.tid()
            data[i] = data[i] * factor
    """)
    data = floats(*range(100))
    run(70, data, 2.0)
    assert data.tolist() == [2.0 * x if x < 70 else float(x) for x in range(100)]


RANGES = [(0, 5, 1), (5, 0, -1), (0, 10, 3), (10, 0, -3), (3, 3, 1), (5, 2, 1), (0, 1, -1), (-7, 8, 5), (0, 7, 7)]
EXTREMES = [
    (2**31 - 3, 2**31 - 1, 1),
    (2**31 - 4, 2**31 - 1, 2),
    (-(2**31) + 3, -(2**31), -2),
    (-(2**31), 2**31 - 1, 2**31 - 1),
]


@pytest.mark.parametrize(("start", "stop", "step"), [*RANGES, *EXTREMES])
def test_constant_range(compiled: Any, start: int, stop: int, step: int) -> None:
    run = compiled(f"""
        @kb.kernel
        def loop(out: kb.array(dtype=int)):
            n = 0
            for i in range({start}, {stop}, {step}):
                out[n] = i
                n += 1
            out[31] = n
    """)
    out = zeros(32)
    run(1, out)
    wanted = list(range(start, stop, step))
    assert out[: len(wanted)].tolist() == wanted
    assert out[31] == len(wanted)


@pytest.mark.parametrize("kind", ["int", "kb.int8", "kb.uint8", "kb.int64", "kb.uint32"])
def test_dynamic_range(compiled: Any, kind: str) -> None:
    run = compiled(f"""
        @kb.kernel
        def loop(out: kb.array(dtype={kind}), start: {kind}, stop: {kind}, step: {kind}):
            n = 0
            for i in range(start, stop, step):
                out[n] = i
                n += 1
            for i in range(start, stop):
                n += 1000
            out[31] = {kind}(n % 100)
    """)
    dtype = {"int": np.int32}.get(kind) or getattr(np, kind.removeprefix("kb."))
    limits = np.iinfo(dtype)
    cases = [c for c in RANGES if min(c) >= limits.min]
    cases += [
        (limits.max - 3, limits.max, 2),
        (0, 5, limits.max),
        (limits.max, limits.max, 1),
        (limits.max - 1, limits.max, 1),
    ]
    if limits.min < 0:
        cases += [(limits.min + 3, limits.min, -2), (limits.max, limits.max - 3, -1), (5, 0, limits.min)]
    for case in [*cases, (0, 5, 0)]:
        out = np.zeros(32, dtype)
        wanted = list(range(*case)) if case[2] else []
        run(1, out, *case)
        assert out[: len(wanted)].tolist() == wanted, case
        assert out[31] == len(wanted), case


def test_loop_variable_is_an_ordinary_variable(compiled: Any) -> None:
    run = compiled("""
        @kb.kernel
        def loop(out: kb.array(dtype=int), n: int):
            i = 77
            for i in range(n):
                pass
            out[0] = i
            for j in range(5):
                out[1] += j
                j = 100
                out[2] = j
            out[3] = j
            for k in range(3):
                for k in range(2):
                    out[4] += 1
                out[5] += k
            m = 4
            for q in range(m):
                m = 1
                out[6] += 1
            out[7] = m
            for n in range(2):
                out[8] += n
            out[9] = n
            for r in range(2):
                out[10] += 1
            for r in range(3):
                out[10] += r
    """)
    for n in (0, 3):
        out, wanted = zeros(12), [0] * 12

        def python(out: list[int], n: int) -> None:
            i = 77
            for i in range(n):  # noqa: B007
                pass
            out[0] = i
            out[1], out[2], out[3] = 10, 100, 100
            out[4], out[5] = 6, 3
            out[6], out[7] = 4, 1
            out[8], out[9] = 1, 1
            out[10] = 5

        run(1, out, n)
        python(wanted, n)
        assert out.tolist() == wanted


def test_jumps(compiled: Any) -> None:
    source = """
        def loop(out, n):
            for i in range(n):
                if i % 3 == 0:
                    continue
                j = i
                while True:
                    j -= 1
                    if j < 2:
                        break
                    if j == 5:
                        continue
                    out[j] += 1
                    if j > 100:
                        return
                if i > 12:
                    out[0] += i
                    break
            else_part = n
            while else_part > 0:
                else_part = else_part // 2
                out[1] += 1
            if n == 7:
                return
            out[15] += 1
    """
    typed = source.replace("def loop(out, n)", "@kb.kernel\n        def loop(out: kb.array(dtype=int), n: int)")
    run = compiled(typed)
    namespace: dict[str, Any] = {}
    exec("if True:\n" + source, namespace)
    for n in (0, 1, 7, 9, 20):
        out, wanted = zeros(32), [0] * 32
        run(1, out, n)
        namespace["loop"](wanted, n)
        assert out.tolist() == wanted


def test_short_circuit_leaves_effects_out(compiled: Any) -> None:
    run = compiled("""
        @kb.func
        def count(a: kb.array(dtype=int), i: int, value: int):
            a[i] += 1
            return value

        @kb.kernel
        def effects(a: kb.array(dtype=int), p: int, q: int):
            if count(a, 0, p) > 0 and count(a, 1, q) > 0 or count(a, 2, 1) > 5:
                a[3] += 1
            x = count(a, 4, p) if q > 0 else count(a, 5, q)
            a[6] = x
            if 0 < count(a, 7, p) < count(a, 8, q) < 9:
                a[9] += 1
            n = 0
            while count(a, 10, n) < p:
                n += 1
            a[11] = count(a, 12, 1) + count(a, 12, 2) * a[12]
            y = not (p > 0 and q > 0)
            a[13] = int(y)
            a[14] = a[15] + kb.atomic_add(a, 15, 5) + a[15]
            a[kb.atomic_add(a, 16, 1) + 17] = kb.atomic_add(a, 16, 1)
    """)
    for p in (0, 1, 3):
        for q in (0, 2, 7):
            out, wanted = zeros(32), [0] * 32

            def python(a: list[int], p: int, q: int) -> None:
                def count(i: int, value: int) -> int:
                    a[i] += 1
                    return value

                def add(i: int, value: int) -> int:
                    a[i] += value
                    return a[i] - value

                if (count(0, p) > 0 and count(1, q) > 0) or count(2, 1) > 5:
                    a[3] += 1
                a[6] = count(4, p) if q > 0 else count(5, q)
                if 0 < count(7, p) < count(8, q) < 9:
                    a[9] += 1
                n = 0
                while count(10, n) < p:
                    n += 1
                first, second = count(12, 1), count(12, 2)
                a[11] = first + second * a[12]
                a[13] = int(not (p > 0 and q > 0))
                before = a[15]
                a[14] = before + add(15, 5) + a[15]
                value = add(16, 1)
                a[add(16, 1) + 17] = value

            run(1, out, p, q)
            python(wanted, p, q)
            assert out.tolist() == wanted, (p, q)


def test_variables_start_at_zero_and_live_in_their_block(compiled: Any) -> None:
    run = compiled("""
        @kb.kernel
        def variables(out: kb.array(dtype=int), n: int):
            for i in range(4):
                if i > 1:
                    x = i
                else:
                    y = i
                    out[i] = y
            out[4] = x + y
            if n > 0:
                z = n
            out[5] = z
            v = kb.vec3()
            v[1] = 2.5
            v.z = 1.0
            out[6] = int(v.x + v[1] * 2.0 + v[2])
    """)
    out = zeros(8)
    run(1, out, 0)
    assert out.tolist() == [0, 1, 0, 0, 4, 0, 6, 0]


def test_several_results_and_swap(compiled: Any) -> None:
    run = compiled("""
        @kb.func
        def divide(a: int, b: int = 3):
            return a // b, a % b

        @kb.kernel
        def results(out: kb.array(dtype=int), n: int):
            q, r = divide(n)
            q, r = r, q
            out[0], out[1] = q, r
            out[2] = divide(b=n, a=100)[1]
            a, b = out[0], out[1]
            out[0], out[1] = out[1], out[0]
            out[3] = a * 10 + b
            x = y = divide(n, 2)[0]
            x += 1
            out[4] = x * 10 + y
    """)
    out = zeros(5)
    run(1, out, 17)
    assert out.tolist() == [5, 2, 100 % 17, 25, 98]


@pytest.mark.parametrize("ndim", [1, 2, 3, 4])
def test_thread_index(compiled: Any, ndim: int) -> None:
    names = ", ".join("ijkl"[:ndim])
    run = compiled(f"""
        @kb.func
        def weigh(a: int, b: int):
            {names} = kb.tid()
            return a + b * i

        @kb.kernel
        def index(out: kb.array(dtype=int, ndim={ndim})):
            {names} = kb.tid()
            out[{names}] = {" + ".join(f"{10**n} * {name}" for n, name in enumerate(names.split(", ")))} + weigh(7, 0)
    """)
    shape = (5, 7, 3, 2)[:ndim]
    out = np.full(shape, -1, np.int32)
    run(shape, out, block_dim=64)
    for place in np.ndindex(shape):
        assert out[place] == 7 + sum(10**n * at for n, at in enumerate(place))
    untouched = np.full(shape, -1, np.int32)
    run((1,) * ndim, untouched)
    assert (untouched.ravel()[1:] == -1).all()


@pytest.mark.parametrize("ndim", [1, 2, 3, 4])
def test_launches_in_pieces(compiled: Any, ndim: int) -> None:
    """Each thread finds its own index, and threads past the end of a piece do nothing."""
    names = ", ".join("ijkl"[:ndim])
    run = compiled(f"""
        @kb.kernel
        def index(out: kb.array(dtype=int, ndim={ndim})):
            {names} = kb.tid()
            out[{names}] += {" + ".join(f"{10**n} * ({name} + 1)" for n, name in enumerate(names.split(", ")))}
    """)
    shape = (59, 5, 4, 3)[:ndim]
    for block_dim, max_blocks in ((7, 2), (32, 1), (1, 10), (64, 100)):
        out = np.zeros(shape, np.int32)
        run(shape, out, block_dim=block_dim, max_blocks=max_blocks)
        for place in np.ndindex(shape):
            assert out[place] == sum(10**n * (at + 1) for n, at in enumerate(place))


@pytest.mark.parametrize("ndim", [2, 3, 4])
def test_launches_beyond_the_largest_grid(compiled: Any, monkeypatch: pytest.MonkeyPatch, ndim: int) -> None:
    """A launch of more threads than a grid has is cut into several, each with its origin: here grids have few."""
    monkeypatch.setattr(geometry, "MAX_THREADS", 12)
    names = ", ".join("ijkl"[:ndim])
    run = compiled(f"""
        @kb.kernel
        def index(out: kb.array(dtype=int, ndim={ndim})):
            {names} = kb.tid()
            out[{names}] += {" + ".join(f"{10**n} * ({name} + 1)" for n, name in enumerate(names.split(", ")))}
    """)
    shape = (9, 5, 4, 3)[:ndim]
    out = np.zeros(shape, np.int32)
    run(shape, out)
    for place in np.ndindex(shape):
        assert out[place] == sum(10**n * (at + 1) for n, at in enumerate(place))


def test_arrays_are_values_too(compiled: Any) -> None:
    run = compiled("""
        @kb.struct
        class Pair:
            first: kb.array(dtype=float)
            second: kb.array(dtype=float)

        @kb.func
        def longer(a: kb.array(dtype=float), b: kb.array(dtype=float)):
            return a if len(a) > len(b) else b

        @kb.func
        def swapped(p: Pair):
            return Pair(p.second, p.first)

        @kb.kernel
        def choose(a: kb.array(dtype=float), b: kb.array(dtype=float), n: int):
            c = a
            c[0] = 1.0
            c = longer(a, b)
            c[1] = 2.0
            (a if n > 3 else b)[2] = 3.0
            p = swapped(Pair(a, b))
            p.first[3] = 4.0
            p.second[3] += 5.0
    """)
    for n in (3, 4):
        a, b = zeros(4, np.float32), zeros(5, np.float32)
        run(1, a, b, n)
        assert a.tolist() == [1.0, 0.0, 3.0 if n > 3 else 0.0, 5.0]
        assert b.tolist() == [0.0, 2.0, 0.0 if n > 3 else 3.0, 4.0, 0.0]


def test_strided_and_reversed_arrays(compiled: Any) -> None:
    run = compiled("""
        @kb.kernel
        def copy(a: kb.array2d(dtype=float), b: kb.array2d(dtype=float), extents: kb.array(dtype=int)):
            i, j = kb.tid()
            b[i, j] = a[i, j]
            extents[0] = b.shape[0]
            extents[1] = b.shape[1]
            extents[2] = len(a) * 100 + a.ndim
    """)
    whole = np.arange(60, dtype=np.float32).reshape(6, 10)
    target, extents = np.zeros((10, 6), np.float32), zeros(3)
    run((3, 5), whole[::-2, 1::2], target.T[::2, :5], extents)
    assert (target.T[::2, :5] == whole[::-2, 1::2]).all()
    assert extents.tolist() == [3, 5, 302]


def test_structs(compiled: Any) -> None:
    run = compiled("""
        @kb.struct
        class Inner:
            flag: bool
            weight: kb.float64
            half: kb.float16

        @kb.struct
        class Outer:
            a: kb.int8
            inner: Inner
            position: kb.vec3
            int: kb.uint16
            values: kb.array(dtype=float)

        @kb.struct
        class Record:
            a: kb.int8
            inner: Inner
            position: kb.vec3

        @kb.func
        def moved(r: Record, by: float):
            result = r
            result.position = r.position + kb.vec3(by, by, by)
            result.inner.weight *= 2.0
            return result

        @kb.kernel
        def use(records: kb.array(dtype=Record), outer: Outer):
            i = kb.tid()
            r = moved(records[i], outer.values[i])
            r.a += 1
            r.inner.flag = not r.inner.flag
            records[i] = r
            records[i].inner.half = kb.float16(outer.inner.weight) + outer.inner.half
            records[i].position.y += float(outer.int)
            outer.values[i] = outer.position.z + float(outer.a)
            if i == 2:
                records[i] = Record(a=5, position=kb.vec3(1.0))
    """)
    inner = np.dtype(
        {"names": ["flag", "weight", "half"], "formats": ["?", "<f8", "<f2"], "offsets": [0, 8, 16], "itemsize": 24}
    )
    record = np.dtype(
        {
            "names": ["a", "inner", "position"],
            "formats": ["i1", inner, ("<f4", 3)],
            "offsets": [0, 8, 32],
            "itemsize": 48,
        }
    )
    records = np.zeros(3, record)
    records["a"] = [1, 2, 127]
    records["inner"]["weight"] = [0.1, 0.2, 0.3]
    records["position"] = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    values = floats(0.5, 1.5, 2.5)
    outer = {
        "a": -3,
        "inner": {"flag": True, "weight": 1.25, "half": 0.5},
        "position": (1.0, 2.0, 4.0),
        "int": 1000,
        "values": device(values),
    }
    run(3, records, outer)
    assert records["a"].tolist() == [2, 3, 5]
    assert records["inner"]["flag"].tolist() == [True, True, False]
    assert records["inner"]["weight"].tolist() == [0.2, 0.4, 0.0]
    assert records["inner"]["half"].tolist() == [1.75, 1.75, 0.0]
    assert records["position"].tolist() == [[1.5, 1002.5, 3.5], [5.5, 1006.5, 7.5], [1.0, 1.0, 1.0]]
    assert values.tolist() == [1.0, 1.0, 1.0]


def test_vectors_and_matrices(compiled: Any) -> None:
    run = compiled("""
        UP = kb.vec3(0.0, 0.0, 2.0)

        @kb.kernel
        def algebra(p: kb.array(dtype=kb.vec3), m: kb.array(dtype=kb.mat33), out: kb.array(dtype=float)):
            i = kb.tid()
            v, w = p[0], p[1]
            p[2] = v * 2.0 + w / 4.0 - UP
            p[3] = kb.cross(v, w)
            p[4] = m[0] @ v
            p[5] = -kb.cw_mul(v, w) + kb.cw_div(v, w)
            p[6] = m[0][1]
            p[7] = kb.normalize(kb.vec3(0.0, 3.0, 4.0))
            p[8] = kb.normalize(kb.vec3())
            m[1] = m[0] @ m[0]
            m[2] = kb.transpose(m[0]) * 2.0
            m[3] = 0.5 * m[0] + m[0]
            m[4][1, 2] = 7.0
            row = m[0][2]
            row[0] = 100.0
            out[0] = kb.dot(v, w)
            out[1] = kb.length(kb.vec2(3.0, 4.0))
            out[2] = m[0][2, 0] + row.x
            out[3] = kb.length_sq(v)
            out[4] = v[i + 1] * m[0][i + 1, i + 2]
            out[5] = kb.max(v, w)[0] + kb.min(v, w).y + kb.abs(-v).z
            out[6] = float(len(v) * 10 + len(m[0]))
    """)
    p = np.zeros((9, 3), np.float32)
    p[0], p[1] = [1, 2, 3], [4, -5, 8]
    m = np.zeros((5, 3, 3), np.float32)
    m[0] = np.arange(9).reshape(3, 3)
    out = zeros(7, np.float32)
    start, (v, w) = m[0].copy(), (p[0].copy(), p[1].copy())
    run(1, p, m, out)
    assert p[2].tolist() == [3.0, 2.75, 6.0]
    assert p[3].tolist() == np.cross(v, w).tolist()
    assert p[4].tolist() == (start @ v).tolist()
    assert p[5].tolist() == (-v * w + v / w).tolist()
    assert p[6].tolist() == [3, 4, 5]
    assert p[7].tolist() == floats(0.0, 0.6, 0.8).tolist()
    assert p[8].tolist() == [0, 0, 0]
    assert (m[1] == start @ start).all()
    assert (m[2] == start.T * 2).all()
    assert (m[3] == start * 1.5).all()
    assert m[4][1, 2] == 7
    assert m[0].tolist() == start.tolist()
    assert out.tolist() == [18.0, 5.0, 106.0, 14.0, 2.0 * 5.0, 4.0 - 5.0 + 3.0, 33.0]


def test_integer_arithmetic_is_defined(compiled: Any) -> None:
    run = compiled("""
        @kb.kernel
        def integers(a: kb.array(dtype=kb.int8), b: kb.array(dtype=kb.int8), out: kb.array2d(dtype=kb.int8)):
            i, j = kb.tid()
            x, y = a[i], b[j]
            at = i * 256 + j
            out[at, 0] = x + y
            out[at, 1] = x - y
            out[at, 2] = x * y
            out[at, 3] = x / y
            out[at, 4] = x // y
            out[at, 5] = x % y
            out[at, 6] = x << y
            out[at, 7] = x >> y
            out[at, 8] = x & y | ~x ^ y
            out[at, 9] = -x
            out[at, 10] = kb.abs(x)
            out[at, 11] = kb.min(x, y) + kb.max(x, y)
            out[at, 12] = kb.int8(kb.int32(x) % -3) + x // -7
    """)
    every = np.arange(-128, 128, dtype=np.int8)
    out = np.zeros((256 * 256, 13), np.int8)
    run((256, 256), every, every, out)

    def wrapped(value: int) -> int:
        return (value + 128) % 256 - 128

    def divided(x: int, y: int) -> int:
        return 0 if y == 0 else (abs(x) // abs(y)) * (1 if (x < 0) == (y < 0) else -1)

    def remainder(x: int, y: int) -> int:
        return x - divided(x, y) * y

    for x in range(-128, 128, 3):
        for y in (*range(-128, -10, 7), *range(-10, 10), *range(10, 128, 7)):
            shifted = (x << y) if 0 <= y < 8 else 0
            back = x >> y if 0 <= y < 8 else (-1 if x < 0 else 0)
            wanted = [
                x + y, x - y, x * y, divided(x, y), divided(x, y), remainder(x, y), shifted, back,
                (x & y) | (~x ^ y), -x, abs(x), x + y, remainder(x, -3) + divided(x, -7),
            ]  # fmt: skip
            assert out[(x + 128) * 256 + y + 128].tolist() == [wrapped(v) for v in wanted], (x, y)


WIDE = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 100, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1]


@pytest.mark.parametrize("kind", ["int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_wide_integers(compiled: Any, kind: str) -> None:
    run = compiled(f"""
        @kb.kernel
        def integers(a: kb.array(dtype=kb.{kind}), out: kb.array3d(dtype=kb.{kind})):
            i, j = kb.tid()
            x, y = a[i], a[j]
            out[i, j, 0] = x + y
            out[i, j, 1] = x - y
            out[i, j, 2] = x * y
            out[i, j, 3] = x // y
            out[i, j, 4] = x % y
            out[i, j, 5] = x << y
            out[i, j, 6] = x >> y
            out[i, j, 7] = x & y ^ ~x | y
            out[i, j, 8] = -x
            out[i, j, 9] = kb.abs(y)
            out[i, j, 10] = kb.min(x, y)
            out[i, j, 11] = (x << 3) - (y >> 2) * 5 + x // 10 + y % 7
    """)
    limits = np.iinfo(kind)
    bits, signed = limits.bits, limits.min < 0

    def wrapped(value: int) -> int:
        return (value - limits.min) % (1 << bits) + limits.min

    values = sorted({wrapped(v) for w in WIDE for v in (w, -w)})
    out = np.zeros((len(values), len(values), 12), kind)
    run((len(values), len(values)), np.array(values, kind), out)

    def divided(x: int, y: int) -> int:
        return 0 if y == 0 else (abs(x) // abs(y)) * (1 if (x < 0) == (y < 0) else -1)

    for i, x in enumerate(values):
        for j, y in enumerate(values):
            inside = 0 <= y < bits
            wanted = [
                x + y, x - y, x * y, divided(x, y), x - divided(x, y) * y,
                x << y if inside else 0, x >> y if inside else (-1 if signed and x < 0 else 0),
                (x & y) ^ ~x | y, -x, abs(y), min(x, y),
                (x << 3) - (y >> 2) * 5 + divided(x, 10) + (y - divided(y, 7) * 7),
            ]  # fmt: skip
            assert out[i, j].tolist() == [wrapped(v) for v in wanted], (x, y)


FLOATS = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    0.9999,
    1.5,
    -1.5,
    127.9,
    128.0,
    255.5,
    300.0,
    -300.0,
    32768.5,
    1e9,
    3e9,
    -3e9,
    5e9,
    1e19,
    -1e19,
    1e30,
]
SPECIALS = [math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("source", ["float16", "float32", "float64"])
def test_float_to_integer(compiled: Any, source: str) -> None:
    targets = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
    parameters = ", ".join(f"{t}: kb.array(dtype=kb.{t})" for t in targets)
    lines = "\n            ".join(f"{t}[i] = kb.{t}(x[i])" for t in targets)
    run = compiled(f"""
        @kb.kernel
        def convert(x: kb.array(dtype=kb.{source}), truth: kb.array(dtype=bool), {parameters}):
            i = kb.tid()
            truth[i] = bool(x[i])
            {lines}
    """)
    with np.errstate(over="ignore"):
        x = np.array(FLOATS + SPECIALS, source)
    arrays = {t: np.zeros(len(x), t) for t in targets}
    truth = np.zeros(len(x), np.bool_)
    run(len(x), x, truth, *arrays.values())
    assert truth.tolist() == [value != 0 for value in x.tolist()]
    for target, found in arrays.items():
        limits = np.iinfo(target)
        wide = np.iinfo(("uint" if limits.min == 0 else "int") + ("64" if limits.bits == 64 else "32"))
        for value, result in zip(x.tolist(), found.tolist(), strict=True):
            if math.isnan(value):
                whole = 0
            elif math.isinf(value):
                whole = wide.max if value > 0 else wide.min
            else:
                whole = min(max(math.trunc(value), wide.min), wide.max)
            wanted = (whole - limits.min) % (1 << limits.bits) + limits.min
            assert result == wanted, (target, value)


def _stored(number: int, kind: str) -> int:
    """The number's low bits in a type."""
    return int(np.array([number % 2**64], np.uint64).astype(kind)[0])


@pytest.mark.parametrize(
    "source", ["bool", "int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"]
)
def test_number_to_number(compiled: Any, source: str) -> None:
    targets = [
        t
        for t in ("bool", "int8", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64")
        if t != source
    ]
    floating = source.startswith("float")
    targets = [t for t in targets if t.startswith("float") or not floating]
    parameters = ", ".join(f"to_{t}: kb.array(dtype=kb.{t})" for t in targets).replace("kb.bool", "bool")
    lines = "\n            ".join(f"to_{t}[i] = kb.{t}(x[i])" for t in targets).replace("kb.bool", "bool")
    kind = source if source == "bool" else f"kb.{source}"
    run = compiled(f"""
        @kb.kernel
        def convert(x: kb.array(dtype={kind}), {parameters}):
            i = kb.tid()
            {lines}
    """)
    numbers = [0, 1, 2, 127, 200, 2049, 2051, 65519, 65520, 16777217, 33554435, 2**31, 2**53 + 1, 2**63, 2**64 - 1]
    values = FLOATS if floating else sorted({_stored(n, source) for n in numbers})
    with np.errstate(over="ignore"):
        x = np.array(values, source)
    arrays = {t: np.zeros(len(x), t) for t in targets}
    run(len(x), x, *arrays.values())
    for target, found in arrays.items():
        with np.errstate(over="ignore"):
            wanted = x.astype(target)
        assert found.tobytes() == wanted.tobytes(), (target, found, wanted)


def test_half_precision_rounds_after_every_operation(compiled: Any) -> None:
    run = compiled("""
        @kb.kernel
        def half(a: kb.array(dtype=kb.float16), out: kb.array3d(dtype=kb.float16), flags: kb.array2d(dtype=bool)):
            i, j = kb.tid()
            x, y = a[i], a[j]
            out[i, j, 0] = x + y
            out[i, j, 1] = x - y
            out[i, j, 2] = x * y
            out[i, j, 3] = x / y
            out[i, j, 4] = x * y + x
            out[i, j, 5] = -x
            out[i, j, 6] = kb.sqrt(kb.abs(x))
            out[i, j, 7] = 0.1 * x
            v = kb.vec2h(x, y)
            out[i, j, 8] = kb.dot(v, v)
            flags[i, j] = x < y
    """)
    with np.errstate(all="ignore"):
        x = np.array(
            [0.0, 0.1, -0.3, 1.0, 3.14159, 1000.0, -65504.0, 6e-8, 3e-5, 0.33325, 2049.0, math.inf], np.float16
        )
        out, flags = np.zeros((len(x), len(x), 9), np.float16), np.zeros((len(x), len(x)), np.bool_)
        run((len(x), len(x)), x, out, flags)
        a, b = x[:, None], x[None, :]
        tenth = np.float16(0.1)
        wanted = [a + b, a - b, a * b, a / b, a * b + a, -a + 0 * b, np.sqrt(abs(a)) + 0 * b, tenth * a, a * a + b * b]
        for n, expected in enumerate(wanted):
            expected = np.broadcast_to(expected, (len(x), len(x)))
            rows = ~np.isnan(expected)
            assert (out[..., n][rows] == expected[rows]).all(), n
    assert (flags == (a < b)).all()


def test_copysign_of_half_precision_keeps_the_sign_of_nan(compiled: Any) -> None:
    run = compiled("""
        @kb.kernel
        def signs(x: kb.array(dtype=kb.float16), y: kb.array(dtype=kb.float16), out: kb.array(dtype=kb.float16)):
            i = kb.tid()
            out[i] = kb.copysign(x[i], y[i])
    """)
    bits = np.array([0x0000, 0x8000, 0x3C00, 0xC400, 0x7C00, 0xFC00, 0x7E00, 0xFE00, 0x0001, 0x8001], np.uint16)
    x, y = np.repeat(bits, len(bits)), np.tile(bits, len(bits))
    out = np.zeros(len(x), np.float16)
    run(len(x), x.view(np.float16), y.view(np.float16), out)
    assert (out.view(np.uint16) == (x & 0x7FFF) | (y & 0x8000)).all()


def test_fused_and_not(compiled: Any) -> None:
    text = """
        @kb.kernel
        def fused(x: kb.array(dtype={t}), out: kb.array(dtype={t})):
            a, b, c = x[0], x[1], x[2]
            out[0] = a * b + c
            out[1] = c + a * b
            out[2] = a * b - c
            out[3] = c - a * b
            out[4] = a * a + b * b
            p = a * b
            out[5] = p + c
            out[6] = kb.fma(a, b, c)
    """
    for t in ("float", "kb.float64"):
        dtype = np.float32 if t == "float" else np.float64
        x = np.array([1.1, 1.3, -1.43], dtype)
        a, b, c = (float(v) for v in x)
        for fmad in (True, False):
            out = np.zeros(7, dtype)
            compiled(text.format(t=t), fmad=fmad)(1, x, out)
            exact = [_fma(a, b, c, dtype), _fma(a, b, c, dtype), _fma(a, b, -c, dtype), _fma(-a, b, c, dtype)]
            product = x[0] * x[1]
            plain = [product + x[2], x[2] + product, product - x[2], x[2] - product]
            assert out[:4].tolist() == (exact if fmad else [float(v) for v in plain])
            squares = _fma(b, b, float(x[0] * x[0]), dtype) if fmad else float(x[0] * x[0] + x[1] * x[1])
            assert out[4] == squares
            assert out[5] == plain[0]
            assert out[6] == exact[0]
        assert exact[0] != plain[0]


def _fma(a: float, b: float, c: float, dtype: Any) -> float:
    from fractions import Fraction

    whole = Fraction(a) * Fraction(b) + Fraction(c)
    if dtype is np.float64:
        return float(whole)
    near = np.float32(float(whole))
    candidates = [near, np.nextafter(near, np.float32(-np.inf)), np.nextafter(near, np.float32(np.inf))]
    return float(min(candidates, key=lambda v: abs(Fraction(float(v)) - whole)))


ATOMIC_KINDS = [
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
]


@pytest.mark.parametrize("kind", ATOMIC_KINDS)
def test_atomics(compiled: Any, kind: str) -> None:
    run = compiled(f"""
        @kb.kernel
        def atomics(a: kb.array(dtype=kb.{kind}), old: kb.array(dtype=kb.{kind})):
            old[0] = kb.atomic_add(a, 1, 5)
            old[1] = kb.atomic_sub(a, 2, 3)
            old[2] = kb.atomic_min(a, 3, 2)
            old[3] = kb.atomic_max(a, 4, 100)
            old[4] = kb.atomic_exch(a, 5, 42)
            old[5] = kb.atomic_cas(a, 6, 7, 9)
            old[6] = kb.atomic_cas(a, 7, 6, 9)
            a[8] += 4
            a[9] -= 4
            a[10] *= 3
    """)
    a, old = np.array([1, 2, 3, 4, 5, 6, 7, 7, 8, 9, 10, 11], kind), np.zeros(8, kind)
    run(1, a, old)
    assert a.tolist() == [1, 7, 0, 2, 100, 42, 9, 7, 12, 5, 30, 11]
    assert old.tolist() == [2, 3, 4, 5, 6, 7, 7, 0]


def test_atomics_on_vectors_fields_and_components(compiled: Any) -> None:
    run = compiled("""
        @kb.struct
        class Cell:
            count: int
            sums: kb.vec2

        @kb.kernel
        def add(
            cells: kb.array(dtype=Cell),
            v: kb.array2d(dtype=kb.vec2),
            m: kb.array(dtype=kb.mat22),
            out: kb.array(dtype=kb.vec2),
        ):
            i = kb.tid()
            cells[0].count += i
            cells[0].sums += kb.vec2(1.0, float(i))
            cells[0].sums.x -= 0.5
            v[0, 1] += kb.vec2(1.0, 2.0)
            v[1, 0][1] += 3.0
            m[0] += kb.mat22(1.0, 2.0, 3.0, 4.0)
            out[i] = kb.atomic_add(v, 1, 1, kb.vec2(1.0, 1.0))
    """)
    cells = np.zeros(1, np.dtype([("count", "<i4"), ("sums", "<f4", 2)]))
    v, m, out = np.zeros((2, 2, 2), np.float32), np.zeros((1, 2, 2), np.float32), np.zeros((4, 2), np.float32)
    run(4, cells, v, m, out)
    assert cells["count"].tolist() == [6]
    assert cells["sums"].tolist() == [[2.0, 6.0]]
    assert v.tolist() == [[[0, 0], [4, 8]], [[0, 12], [4, 4]]]
    assert m.tolist() == [[[4, 8], [12, 16]]]
    assert out.tolist() == [[0, 0], [1, 1], [2, 2], [3, 3]]


def test_float_operators(compiled: Any) -> None:
    run = compiled("""
        @kb.kernel
        def operators(
            a: kb.array(dtype=float),
            b: kb.array(dtype=float),
            out: kb.array2d(dtype=float),
            flags: kb.array2d(dtype=bool),
        ):
            i = kb.tid()
            x, y = a[i], b[i]
            out[i, 0] = x / y
            out[i, 1] = x // y
            out[i, 2] = x % y
            out[i, 3] = 1.0 if x < y else -1.0
            out[i, 4] = kb.min(x, y)
            out[i, 5] = kb.max(x, y, 0.25)
            flags[i, 0] = x < y
            flags[i, 1] = x != y
            flags[i, 2] = not x == y
            flags[i, 3] = bool(x) and y >= 0.0 or x > y
    """)
    values = [
        (7.5, 2.0),
        (-7.5, 2.0),
        (7.5, -2.0),
        (1.0, 0.0),
        (0.0, 0.0),
        (math.inf, 2.0),
        (1.0, math.inf),
        (math.nan, 1.0),
        (1.0, math.nan),
        (-0.0, 5.0),
    ]
    a, b = (np.array(column, np.float32) for column in zip(*values, strict=True))
    out, flags = np.zeros((len(a), 6), np.float32), np.zeros((len(a), 4), np.bool_)
    run(len(a), a, b, out, flags)
    with np.errstate(all="ignore"):
        wanted = [
            a / b,
            np.floor(a / b),
            np.fmod(a, b),
            np.where(a < b, 1, -1),
            np.fmin(a, b),
            np.fmax(np.fmax(a, b), np.float32(0.25)),
        ]
    for n, expected in enumerate(wanted):
        np.testing.assert_array_equal(out[:, n], expected.astype(np.float32), err_msg=str(n))
    assert flags[:, 0].tolist() == (a < b).tolist()
    assert flags[:, 1].tolist() == (a != b).tolist()
    assert flags[:, 2].tolist() == (~(a == b)).tolist()
    assert flags[:, 3].tolist() == (((a != 0) & (b >= 0)) | (a > b)).tolist()


def test_captured_values(compiled: Any) -> None:
    run = compiled("""
        import enum
        import math

        class Mode(enum.IntEnum):
            SLOW = 1
            FAST = 2

        class Config:
            scale = 3
            inner = Mode

        BIG = 2**40 + 1
        THIRD = 1.0 / 3.0
        ON = True
        MATRIX = kb.mat22(1.0, 2.0, 3.0, 4.0)

        def make(factor):
            @kb.func
            def scaled(x: float):
                return x * factor
            return scaled

        double = make(2.0)
        triple = make(3.0)

        @kb.kernel
        def capture(out: kb.array(dtype=kb.float64), ints: kb.array(dtype=kb.int64)):
            out[0] = math.pi
            out[1] = THIRD
            out[2] = kb.float64(float(THIRD))
            out[3] = kb.float64(double(1.0) + triple(1.0))
            out[4] = kb.float64(MATRIX[1, 0])
            ints[0] = BIG
            ints[1] = Mode.FAST * 10 + Config.inner.SLOW
            ints[2] = kb.int64(ON)
            ints[3] = kb.int64(Config.scale if ON else 0)
            ints[4] = (7 // 2 - 7 % 3) << 4 | 1
            ints[5] = -7 // 2
            ints[6] = -7 % 3
    """)
    out, whole = np.zeros(5), np.zeros(7, np.int64)
    run(1, out, whole)
    assert out.tolist() == [math.pi, 1 / 3, float(np.float32(1 / 3)), 5.0, 3.0]
    assert whole.tolist() == [2**40 + 1, 21, 1, 3, 33, -3, -1]


def test_views(compiled: Any) -> None:
    run = compiled("""
        @kb.func
        def total(row: kb.array(dtype=int)):
            result = 0
            for i in range(row.shape[0]):
                result += row[i]
            return result

        @kb.kernel
        def views(a: kb.array3d(dtype=int), out: kb.array(dtype=int)):
            i = kb.tid()
            out[i] = total(a[i, 1]) + a[i][0][2]
            plane = a[i]
            row = plane[0]
            row[0] = 100 + i
            row[1] += 5
    """)
    whole = np.arange(60, dtype=np.int32).reshape(2, 5, 6)
    a, out = whole[:, 1:4:2, ::2], zeros(2)  # strides of their own on every axis
    expected = [int(a[i, 1].sum() + a[i, 0, 2]) for i in range(2)]
    before = whole.copy()
    run(2, a, out)
    assert out.tolist() == expected
    before[0, 1, 0], before[1, 1, 0] = 100, 101
    before[:, 1, 2] += 5
    assert (whole == before).all()
