"""Printing and asserting what kernels cannot print and assert."""

import kbuild as kb

FORMAT = "n = %d\n"
WORDS = ["n", "m"]


@kb.struct
class Holder:
    data: kb.array(dtype=float)


@kb.kernel
def formats(a: kb.array(dtype=float), n: int):
    kb.printf("%s\n", n)  # E: KB190 `%s` is no conversion that kernels have; write a constant text
    #         ^^^^^^
    kb.printf("n %5n\n", n)  # E: KB190 `%5n` is no conversion that kernels have; kernels cannot learn
    kb.printf("%*d\n", n, n)  # E: KB190 `%*d` takes its width from an argument; write the number
    kb.printf("%.*f\n", n, a[0])  # E: KB190 takes its width from an argument
    kb.printf("%1$d\n", n)  # E: KB190 `%1$` is no conversion
    kb.printf("%p\n", n)  # E: KB190 no pointers
    kb.printf("%a\n", a[0])  # E: KB190 print with %.17g
    kb.printf("%F\n", a[0])  # E: KB190 write %f
    kb.printf("100 %")  # E: KB190 write %% for a percent sign
    kb.printf("100 %ll")  # E: KB190 write %% for a percent sign
    kb.printf("%é\n", n)  # E: KB190 `%é` is no conversion
    kb.printf("%10000d\n", n)  # E: KB190 more than 999 characters
    kb.printf("%#d\n", n)  # E: KB190 has a flag or precision that `%d` does not take
    kb.printf("%.3c\n", n)  # E: KB190 has a flag or precision that `%c` does not take
    kb.printf("a\0b\n")  # E: KB190 zero byte
    kb.printf(n)  # E: KB190 must be a constant text, not int32
    kb.printf(WORDS, n)  # E: KB190 must be a constant text
    kb.printf(f"{n}\n")  # E: KB111 kernels have no formatted strings; kb.printf formats
    kb.printf()  # E: KB130 takes a format
    kb.printf(format="x\n")  # E: KB130 takes a format


@kb.kernel
def values(a: kb.array(dtype=float), n: int, b: bool, v: kb.vec3, big: kb.int64, h: kb.float16):
    kb.printf("%d\n")  # E: KB191 the format has 1 conversion(s) (%d), and there are 0 value(s); a percent sign is %%
    kb.printf("%d%%\n", n, n)  # E: KB191 1 conversion(s) (%d), and there are 2 value(s)
    kb.printf("n\n", n)  # E: KB191 has 0 conversion(s), and there are 1 value(s)
    kb.printf("%d %d\n", n, a[0])  # E: KB191 conversion 2 of the format, `%d`, prints an integer, not float32; write %f
    #                       ^^^^
    kb.printf("%5.2f\n", n)  # E: KB191 conversion 1 of the format, `%5.2f`, prints a float, not int32; write %d
    kb.printf("%f\n", b)  # E: KB191 prints a float, not bool
    kb.printf("%x\n", h)  # E: KB191 prints an integer, not float16
    kb.printf("%f\n", v)  # E: KB191 prints a float, not vec3[float32]; print(…) shows vectors
    kb.printf("%f\n", a)  # E: KB191 prints a float, not array1[float32]
    kb.printf("%d\n", 1.5)  # E: KB122 the value for `%d` must be int32
    kb.printf("%d\n", 2**70)  # E: KB122 the value for `%d` must be int64
    kb.printf("%d\n", "x")  # E: KB105 no value inside a kernel
    kb.printf("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d", n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n)  # fmt: skip # E: KB191 takes up to 32 values, not 33
    x = kb.printf("%d\n", n)  # E: KB131 returns nothing
    #   ^^^^^^^^^^^^^^^^^^^^
    a[0] = 1.0 + print(n)  # E: KB131 returns nothing
    if print(n):  # E: KB131 returns nothing
        a[0] = 1.0


@kb.kernel
def prints(a: kb.array(dtype=float), s: Holder, n: int):
    print(a)  # E: KB192 array1[float32] cannot be printed; print numbers, vectors
    #     ^
    print("s:", s)  # E: KB192 array1[float32] cannot be printed
    print(...)  # E: KB192 Ellipsis cannot be printed
    print(kb.vec3)  # E: KB192 cannot be printed
    print("a\0b")  # E: KB192 zero byte
    print(n, file=None)  # E: KB130 the constant texts `sep` and `end`
    print(n, sep=None)  # E: KB130 the constant texts `sep` and `end`
    print(f"n = {n}")  # E: KB111 kb.printf formats
    print(*a)  # E: KB111 no parts to pass one by one
    kb.printf("%d %f\n", *a.shape)  # E: KB191 and there are 1 value(s)
    kb.printf("%f\n", *a.shape)  # E: KB191 `%f`, prints a float, not int32


@kb.kernel
def expects(a: kb.array(dtype=float), n: int, v: kb.vec3):
    kb.expect_eq(n)  # E: KB130 kb.expect_eq(a, b)
    kb.expect_eq(n, a[0])  # E: KB120 kb.expect_eq of int32 and float32
    kb.expect_eq(a, a)  # E: KB121 compares numbers, bools, vectors or matrices, not array1[float32]
    kb.expect_near(n, n)  # E: KB121 compares floats, or vectors and matrices of floats, not int32
    kb.expect_near(v, v, tolerance=v)  # E: KB120 the tolerance of kb.expect_near must be float32
    kb.expect_near(v, v, within=1.0)  # E: KB130 kb.expect_near(a, b, tolerance)
    kb.expect_neq(v, v, 1.0)  # E: KB130 kb.expect_neq(a, b)
    kb.breakpoint()  # E: KB114 (debugging) is not in kbuild yet


@kb.kernel
def asserts(a: kb.array(dtype=float), n: int, v: kb.vec3):
    assert a[n] > n  # E: KB120
    assert v  # E: KB123 is no truth value
    assert fehlt  # E: KB103
    assert n > 0, f"{n}"  # E: KB192 must be a constant text, not a formatted string; print values with kb.printf
    #             ^^^^^^
    assert n > 0, n  # E: KB192 must be a constant text, not int32
    assert n > 0, FORMAT
