"""`static`, kernels made by factories, and arrays at fewer indices than dimensions."""

import enum

import kbuild as kb

WEIGHTS = [0.25, 0.5, 0.25]


class Mode(enum.IntEnum):
    ADD = 1
    MULTIPLY = 2


@kb.func
def twice(x: float) -> float:
    return x * 2.0


@kb.func
def half(x: float) -> float:
    return x * 0.5


@kb.kernel
def smoothed(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    """A filter whose weights are constants of an unrolled loop."""
    i = kb.tid()
    total = 0.0
    for k in range(3):
        if kb.static(WEIGHTS[k] > 0.3):
            total += 10.0 * kb.static(WEIGHTS[k]) * data[i + k]
        else:
            total += kb.static(WEIGHTS[k]) * data[i + k]
    out[i] = total


def make(mode, op, size):
    """A kernel for a mode, a function and a size."""

    @kb.kernel
    def kernel(data: kb.array(dtype=float), out: kb.array(dtype=float)):
        i = kb.tid()
        if kb.static(mode == Mode.ADD):
            out[i] = op(data[i]) + float(size)
        else:
            out[i] = op(data[i]) * float(size)

    return kernel


CASES = [(Mode.ADD, twice, 1), (Mode.ADD, half, 1), (Mode.ADD, twice, 2), (Mode.MULTIPLY, half, 3)]


def build():
    """Called while building: what the bundle holds."""
    for case in CASES:
        make(*case)


@kb.func
def total(row: kb.array(dtype=int)) -> int:
    result = 0
    for i in range(row.shape[0]):
        result += row[i]
    return result


@kb.kernel
def views(a: kb.array3d(dtype=int), out: kb.array(dtype=int)):
    """Reads and writes rows and planes."""
    i = kb.tid()
    out[i] = total(a[i, 1]) + a[i][0][2]
    plane = a[i]
    row = plane[0]
    row[0] = 100 + i
    row[1] += 5
