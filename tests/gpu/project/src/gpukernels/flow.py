"""Control flow. Each function is called by a kernel on the GPU and by a test on the host: both must agree."""

import kbuild as kb
from gpukernels import common
from gpukernels.common import nested


@kb.func
def collatz(n: int, unused: int, other: int) -> int:
    """`while` with a branch inside."""
    steps = 0
    while n != 1 and steps < 1000:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@kb.func
def first_divisor(n: int, unused: int, other: int) -> int:
    """`break`, and the loop variable afterwards."""
    d = 0
    for d in range(2, 50):
        if n % d == 0:
            break
    return d


@kb.func
def skipping(n: int, unused: int, other: int) -> int:
    """`continue` in `for` and in `while`."""
    total = 0
    for i in range(n):
        if i % 3 == 1:
            continue
        total += i
    i = 0
    while i < n:
        i += 1
        if i % 4 == 2:
            continue
        total += 100
    return total


@kb.func
def early(n: int, m: int, unused: int) -> int:
    """`return` out of nested loops."""
    for i in range(10):
        for j in range(10):
            if i * 10 + j == n:
                return i - j
            if j > m:
                break
    return -1


@kb.func
def stepping(start: int, stop: int, step: int) -> int:
    """Bounds and step from outside, both directions."""
    total = 0
    count = 0
    for i in range(start, stop, step):
        total += i * (count + 1)
        count += 1
    return total * 100 + count


@kb.func
def constant_steps(n: int, unused: int, other: int) -> int:
    """Constant bounds: up, down, in threes, not at all."""
    total = n
    for i in range(10, 0, -1):
        total = total * 3 + i
        total = total % 10007
    for i in range(-20, 20, 3):
        total += i
    for i in range(20, -20, -7):
        total -= i
    for i in range(5, 5):
        total += 1000000 + i
    for i in range(3, 9, -1):
        total += 1000000 + i
    return total


@kb.func
def reassigned(n: int, unused: int, other: int) -> int:
    """Bounds are taken once, and the loop variable may be assigned."""
    stop = n
    total = 0
    for i in range(stop):
        stop = 0
        total += i
        i = 100
        total += i
    return total


@kb.func
def same_name(n: int, unused: int, other: int) -> int:
    """Two loops over one name, one inside the other."""
    total = 0
    for i in range(n % 7):
        total += i
        for i in range(3):
            total += 10 * i
        total += 100 * i
    return total


@kb.func
def branches(n: int, m: int, k: int) -> int:
    """`if`, `elif`, `else`, conditional expressions, chained comparisons, `and`, `or`, `not`."""
    if n < 0 or m < 0:
        result = -n
    elif 0 <= n <= m < k:
        result = 1000 + n
    elif not (n == m or k == 0):
        result = 2000 + (n if n > m else m)
    else:
        result = 3000
    flag = n < m or (m < k and not n >= k)
    return result + (1 if flag else 2) + (10 if n == m == k else 20)


@kb.func
def swapped(n: int, m: int, k: int) -> int:
    """Several assignments at once, and assignments to several names."""
    a, b, c = n, m, k
    a, b = b, a
    b, c = c, b + a
    d = e = a * 2
    d += 1
    return a + 7 * b + 31 * c + 101 * d + 1009 * e


@kb.func
def augmented(n: int, m: int, unused: int) -> int:
    """Every augmented assignment."""
    x = n
    x += m
    x -= 3
    x *= 2
    x //= 3
    x %= 1000
    x <<= 2
    x >>= 1
    x &= 0x7FF
    x |= 0x100
    x ^= 0x55
    return x


@kb.func
def called(n: int, m: int, unused: int) -> int:
    """Functions of another module, by both ways of naming them, with keyword arguments and several results."""
    q, r = common.divided(n + 50, b=m + 50)
    return nested(n + 40) + 1000 * q + 100000 * r + common.twice(x=n)


@kb.func
def typed_range(n: int, unused: int, other: int) -> int:
    """Loops at the ends of their types."""
    total = n
    for small in range(kb.uint8(250), kb.uint8(255), kb.uint8(2)):
        total += int(small)
    for large in range(kb.int64(9223372036854775800), kb.int64(9223372036854775807), kb.int64(3)):
        total += int(large % kb.int64(1000))
    for tiny in range(kb.int8(-126), kb.int8(-128), kb.int8(-1)):
        total += int(tiny)
    return total


@kb.func
def shadowed(n: int, m: int, int_: int) -> int:
    """Names that mean something in CUDA C."""
    threadIdx = n
    double = m
    __kb_ = int_
    dim3 = threadIdx + double
    warpSize = dim3 * 2
    return warpSize + __kb_


@kb.kernel
def run(
    xs: kb.array(dtype=int),
    ys: kb.array(dtype=int),
    zs: kb.array(dtype=int),
    which: int,
    out: kb.array(dtype=int),
):
    """Calls the function number `which` of `FUNCTIONS`."""
    i = kb.tid()
    x, y, z = xs[i], ys[i], zs[i]
    if which == 0:
        out[i] = collatz(x, y, z)
    elif which == 1:
        out[i] = first_divisor(x, y, z)
    elif which == 2:
        out[i] = skipping(x, y, z)
    elif which == 3:
        out[i] = early(x, y, z)
    elif which == 4:
        out[i] = stepping(x, y, z)
    elif which == 5:
        out[i] = constant_steps(x, y, z)
    elif which == 6:
        out[i] = reassigned(x, y, z)
    elif which == 7:
        out[i] = same_name(x, y, z)
    elif which == 8:
        out[i] = branches(x, y, z)
    elif which == 9:
        out[i] = swapped(x, y, z)
    elif which == 10:
        out[i] = augmented(x, y, z)
    elif which == 11:
        out[i] = called(x, y, z)
    elif which == 12:
        out[i] = typed_range(x, y, z)
    elif which == 13:
        out[i] = shadowed(x, y, z)


FUNCTIONS = (
    collatz,
    first_divisor,
    skipping,
    early,
    stepping,
    constant_steps,
    reassigned,
    same_name,
    branches,
    swapped,
    augmented,
    called,
    typed_range,
    shadowed,
)


# Evaluation: what is evaluated, how often, in which order. `note` writes into a log and gives its second argument.


@kb.func
def note(log: kb.array(dtype=int), mark: int, value: int) -> int:
    at = kb.atomic_add(log, 0, 1)
    log[at + 1] = mark
    return value


@kb.kernel
def evaluation(n: int, log: kb.array(dtype=int), out: kb.array(dtype=int)):
    """One thread. The log must be what Python's rules say."""
    a = note(log, 1, n) < note(log, 2, 5) < note(log, 3, 7)
    b = note(log, 4, n) > 100 and note(log, 5, n) > 0
    c = note(log, 6, n) > 0 or note(log, 7, n) > 100
    d = note(log, 8, 1) if n > 100 else note(log, 9, 2)
    e = note(log, 10, 20) - note(log, 11, 3) * note(log, 12, 2)
    while note(log, 13, n) < 4:
        n += 1
    for _ in range(note(log, 14, 1), note(log, 15, 4), note(log, 16, 1)):
        pass
    out[note(log, 17, 0)] = note(log, 18, e)
    out[note(log, 19, 1)] += note(log, 20, d)
    f, g = note(log, 21, 1), note(log, 22, 2)
    out[2] = int(a) * 1000 + int(b) * 100 + int(c) * 10 + f + g


@kb.kernel
def zero_step(step: int, out: kb.array(dtype=int)):
    """A step of zero makes no trip."""
    trips = 0
    for _ in range(0, 10, step):
        trips += 1
    out[0] = trips


@kb.kernel
def zeroed(flag: int, out: kb.array(dtype=int)):
    """A variable that a branch did not assign is zero."""
    if flag > 0:
        value = 7
        out[1] = value
    for i in range(flag):
        last = i + 1
        out[2] = last


SCALE = 2.5
OFFSETS = kb.vec3(1.0, 2.0, 3.0)


@kb.kernel
def captured(out: kb.array(dtype=kb.vec3)):
    """Constants of the module."""
    i = kb.tid()
    out[i] = OFFSETS * SCALE + kb.vec3(float(i))


def make_adder(n):
    """A kernel for each `n`: the instances of one definition."""

    @kb.kernel
    def add(out: kb.array(dtype=int)):
        i = kb.tid()
        out[i] += n

    return add


add_one = make_adder(1)
add_ten = make_adder(10)
