"""printf, print, expect_eq and assert: lengths and casts by type, one call a line, nothing but ASCII in C strings."""

import kbuild as kb


@kb.func
def checked(x: float) -> float:
    assert x >= 0.0, "näh?\n"
    return kb.sqrt(x)


@kb.kernel(asserts=True)
def shown(a: kb.array(dtype=float), n: kb.int64, m: kb.uint32, b: bool, h: kb.float16, v: kb.vec3):
    i = kb.tid()
    assert i < a.shape[0]
    kb.printf('"%d" %5ld %+i %x %d \\ 100%% ?? é\n', i, n, m, n, b)
    kb.printf("%g %.3e %c\n", h, checked(a[i]), 65)
    print("v:", v, b, 2, 0.5)
    print(kb.mat22(1.0, 2.0, 3.0, a[i]))
    kb.expect_eq(v, a[0] * v)
