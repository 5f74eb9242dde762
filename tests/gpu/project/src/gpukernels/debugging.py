"""What prints, and what asserts."""

import kbuild as kb


@kb.struct
class Cell:
    count: int
    weight: kb.float64


@kb.kernel
def scalars(
    b: bool,
    i8: kb.int8,
    u8: kb.uint8,
    i16: kb.int16,
    u16: kb.uint16,
    i32: int,
    u32: kb.uint32,
    i64: kb.int64,
    u64: kb.uint64,
    f16: kb.float16,
    f32: float,
    f64: kb.float64,
):
    kb.printf("%d|%d|%d|%d|%d|%d|%d|%d|%d\n", b, i8, u8, i16, u16, i32, u32, i64, u64)
    kb.printf("%u|%x|%X|%o|%#x|%llx|%c\n", i8, i8, i16, i8, u8, i64, 65)
    kb.printf("%5d|%-5d|%05d|%+d|% d|%.3d|%+d\n", i8, u8, i8, u8, u8, u8, u32)
    kb.printf("%f|%g|%e|%.2f|%10.3f|%-10g|%+.1f|%G\n", f16, f32, f64, f32, f64, f16, f32, f64)
    kb.printf('100%% "quoted" \\ ??/ é 長\n')


@kb.kernel
def composites(v: kb.vec3, q: kb.quat, t: kb.transform, m: kb.mat22, b: bool, n: int):
    print("v:", v, b, n)
    print(q)
    print(t)
    print(m)
    print(Cell(n, kb.float64(0.5)))
    print((n, n + 1), 2, 0.5, sep="; ", end=".\n")
    print(kb.types.matrix(shape=(6, 7), dtype=int)(n))


@kb.func
def loud(n: int) -> int:
    kb.printf("loud %d\n", n)
    return n + 1


@kb.kernel
def ordered(out: kb.array(dtype=int)):
    kb.printf("%d %d\n", loud(1), loud(loud(2)))
    for i in range(3):
        if i != 1:
            out[i] = loud(10 + i)


@kb.kernel
def many(counts: kb.array(dtype=int)):
    i = kb.tid()
    kb.printf("<%d:%d>\n", i, counts[i])


@kb.kernel
def expecting(a: kb.vec2, b: kb.vec2):
    kb.expect_eq(a, a)
    kb.expect_eq(a, b)
    kb.expect_neq(a, a)
    kb.expect_near(a, b, 0.25)
    kb.expect_near(a, b, 0.75)


@kb.func
def inverse(x: float) -> float:
    assert x != 0.0, "no inverse"
    return 1.0 / x


@kb.kernel(asserts=True)
def asserting(a: kb.array(dtype=float), limit: float):
    i = kb.tid()
    a[i] = inverse(a[i])
    assert a[i] < limit


@kb.kernel
def careless(a: kb.array(dtype=float), limit: float):
    i = kb.tid()
    a[i] = inverse(a[i])
    assert a[i] < limit
