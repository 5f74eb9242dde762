"""What the tests of launch options run: caps on blocks, sizes of blocks, code that is loaded ahead."""

import kbuild as kb

BLOCK = 64


@kb.kernel
def count_along(out: kb.array(dtype=int), sizes: kb.array(dtype=int)):
    """Each thread adds its index plus one to its place, and keeps the size of its block."""
    i = kb.tid()
    out[i] += i + 1
    sizes[i] = kb.block_dim()


@kb.kernel
def count_across(out: kb.array3d(dtype=int)):
    i, j, k = kb.tid()
    out[i, j, k] += 10000 * i + 100 * j + k + 1


@kb.kernel
def unnumbered(counter: kb.array(dtype=int)):
    """Asks for no index, and yet each thread counts once."""
    kb.atomic_add(counter, 0, 1)


@kb.kernel
def heavy(data: kb.array(dtype=float), sizes: kb.array(dtype=int), rounds: int):
    """Keeps many numbers at once."""
    i = kb.tid()
    a = kb.mat44()
    b = kb.mat44()
    c = kb.mat44()
    for row in range(4):
        for column in range(4):
            a[row, column] = data[i] + float(row)
            b[row, column] = data[i] - float(column)
            c[row, column] = data[i] * float(row + column)
    d = kb.vec4(data[i])
    e = kb.vec4(float(i))
    f = kb.vec4(data[i], float(i), data[i] + float(i), data[i] - float(i))
    g = kb.vec4(float(i), data[i], data[i] - float(i), data[i] + float(i))
    for _ in range(rounds):
        a = a * b + c
        b = b * c + a
        c = c * a + b
        d = a * d + e
        e = b * e + d
        f = c * f + g
        g = a * g + f
    data[i] = kb.ddot(a, b) + kb.ddot(b, c) + kb.dot(d, e) + kb.dot(f, g)
    sizes[i] = kb.block_dim()


@kb.kernel
def halves(data: kb.array(dtype=int)):
    """In whole blocks: the second half of each hands its values to the first."""
    tile = kb.shared_array(BLOCK, int)
    t = kb.thread_idx()
    tile[t] = data[kb.tid()]
    kb.syncthreads()
    if t < BLOCK // 2:
        data[kb.tid()] = tile[t + BLOCK // 2]


@kb.kernel
def launched_in_a_capture(out: kb.array(dtype=int)):
    """Nothing else launches it: its code is there because it was loaded ahead."""
    out[kb.tid()] += 1


@kb.kernel(launch_bounds=96)
def bounded(sizes: kb.array(dtype=int)):
    """No block has more than 96 threads."""
    sizes[kb.tid()] = kb.block_dim()


@kb.kernel(launch_bounds=(128, 12))
def dense(data: kb.array(dtype=float), sizes: kb.array(dtype=int), rounds: int):
    """Twelve blocks fit a multiprocessor, whatever that spills."""
    i = kb.tid()
    a = kb.mat44()
    b = kb.mat44()
    for row in range(4):
        for column in range(4):
            a[row, column] = data[i] + float(row)
            b[row, column] = data[i] - float(column)
    for _ in range(rounds):
        a = a * b
        b = b * a
    data[i] = kb.ddot(a, b)
    sizes[i] = kb.block_dim()


@kb.kernel(launch_bounds="auto", block_dim=128)
def found(data: kb.array(dtype=float), sizes: kb.array(dtype=int), rounds: int):
    """The same with as many blocks as fit without spilling."""
    i = kb.tid()
    a = kb.mat44()
    b = kb.mat44()
    for row in range(4):
        for column in range(4):
            a[row, column] = data[i] + float(row)
            b[row, column] = data[i] - float(column)
    for _ in range(rounds):
        a = a * b
        b = b * a
    data[i] = kb.ddot(a, b)
    sizes[i] = kb.block_dim()


@kb.kernel(max_registers=32)
def few_registers(data: kb.array(dtype=float), sizes: kb.array(dtype=int), rounds: int):
    """The same with 32 registers."""
    i = kb.tid()
    a = kb.mat44()
    b = kb.mat44()
    for row in range(4):
        for column in range(4):
            a[row, column] = data[i] + float(row)
            b[row, column] = data[i] - float(column)
    for _ in range(rounds):
        a = a * b
        b = b * a
    data[i] = kb.ddot(a, b)
    sizes[i] = kb.block_dim()


@kb.kernel(fast_math=True)
def fast(x: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    out[i] = kb.sin(x[i]) / (1.0 + kb.sqrt(x[i])) + kb.exp(-x[i])


@kb.kernel
def precise(x: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    out[i] = kb.sin(x[i]) / (1.0 + kb.sqrt(x[i])) + kb.exp(-x[i])
