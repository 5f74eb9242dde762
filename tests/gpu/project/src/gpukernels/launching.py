"""What the tests of launches run."""

import kbuild as kb


@kb.kernel
def bump(cells: kb.array(dtype=kb.int64), cell: int, amount: kb.int64, factor: kb.vec2i):
    """Adds to one cell; wrong sums mean torn arguments."""
    kb.atomic_add(cells, cell, amount * kb.int64(factor[0]) + kb.int64(factor[1]))


@kb.kernel
def fill(out: kb.array(dtype=float), value: float):
    out[kb.tid()] = value


@kb.kernel
def add(a: kb.array(dtype=float), amount: float, out: kb.array(dtype=float)):
    i = kb.tid()
    out[i] = a[i] + amount


@kb.kernel
def out_of_range(out: kb.array(dtype=float), far: int):
    """Writes far behind the array."""
    out[far] = 1.0


@kb.kernel
def spin(out: kb.array(dtype=kb.int64), rounds: int):
    """Takes a while."""
    total = kb.int64(0)
    for i in range(rounds):
        total = total * kb.int64(3) + kb.int64(i)
    out[kb.tid()] = total


@kb.kernel
def scalars(
    a: bool,
    b: kb.int8,
    c: kb.uint16,
    d: kb.int32,
    e: kb.int64,
    f: kb.float16,
    g: float,
    h: kb.float64,
    v: kb.vec3d,
    m: kb.mat33,
    out: kb.array(dtype=kb.float64),
):
    """Every kind of parameter, so that every offset is used."""
    out[0] = kb.float64(int(a))
    out[1] = kb.float64(b)
    out[2] = kb.float64(c)
    out[3] = kb.float64(d)
    out[4] = kb.float64(e)
    out[5] = kb.float64(f)
    out[6] = kb.float64(g)
    out[7] = h
    out[8] = v.z
    out[9] = kb.float64(m[2, 1])


@kb.kernel
def mirror(a: kb.array(dtype=float), out: kb.array(dtype=float)):
    """Each number comes from the other end, which another block has written."""
    i = kb.tid()
    out[i] = a[a.shape[0] - 1 - i] + 1.0


@kb.kernel
def late(out: kb.array(dtype=float), rounds: int, value: float):
    """The last thread's number comes long after the others."""
    i = kb.tid()
    total = 0
    if i == out.shape[0] - 1:
        for k in range(rounds):
            total = total * 3 + k
    out[i] = value
    if total == -1:  # never: the loop is not to be left out
        out[i] = 0.0
