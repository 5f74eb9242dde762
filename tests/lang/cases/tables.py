"""Tables of constants: what is read from them, and that nobody stores to them."""

import numpy as np

import kbuild as kb

TABLE = kb.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
STEPS = kb.constant([kb.vec3(1.0, 2.0, 3.0), kb.vec3(4.0, 5.0, 6.0)])
LARGE = kb.constant(np.zeros((128, 128), np.float32))
MORE = kb.constant(np.ones(3, np.float32))
PLAIN = np.zeros(3)


@kb.struct
class Cell:
    mass: float
    at: kb.vec3


CELLS = kb.constant([Cell(mass=1.0), Cell(at=kb.vec3(1.0, 2.0, 3.0))])
PAIR = (1.0, 2.0)


@kb.func
def fill(values: kb.array(dtype=float), n: int):
    values[n] = 1.0  # E: KB198 nobody changes


@kb.func
def length(x: float):
    return x


@kb.func
def summed(values: kb.array(dtype=float)):
    return values[0]


@kb.func_grad(summed)
def adj_summed(values: kb.array(dtype=float), adj_ret: float):
    kb.adjoint[values][0] += adj_ret


@kb.kernel
def stores(a: kb.array(dtype=float), n: int):
    TABLE[n, 0] = 1.0  # E: KB198 copy what must change into an array
    #^^^^^^^^^
    TABLE[0, 0] = 1.0  # E: KB198 nobody changes
    TABLE[n][1] += 1.0  # E: KB198 nobody changes
    STEPS[n][1] = 1.0  # E: KB198 nobody changes
    STEPS[n].x = 1.0  # E: KB198 nobody changes
    row = TABLE[n]
    row[0] = a[0]  # E: KB198 nobody changes
    kb.atomic_add(TABLE, n, 0, 1.0)  # E: KB198 nobody changes
    kb.atomic_add(STEPS[n].x, 1.0)  # E: KB198 nobody changes
    CELLS[n].mass = 1.0  # E: KB198 nobody changes
    CELLS[n].at.x += 1.0  # E: KB198 nobody changes
    CELLS[n] = Cell(1.0, kb.vec3())  # E: KB198 nobody changes
    kb.atomic_add(CELLS[n].mass, 1.0)  # E: KB198 nobody changes
    fill(TABLE[0], n)


@kb.kernel
def reads(a: kb.array(dtype=float), n: int):
    a[0] = TABLE[2, 0]  # E: KB141 index 2 is outside 0 … 1
    a[1] = TABLE[0, n, 0]  # E: KB140 3 index(es)
    a[2] = TABLE[0, 1.5]  # E: KB122
    a[3] = length(TABLE[n])  # E: KB120 must be float32, not constant[float32, 3]
    a[4] = PLAIN[n]  # E: KB105 `TABLE = kb.constant(…)`
    a[5] = PAIR[n]  # E: KB140 kb.constant((…))
    a[7] = kb.load_readonly(TABLE, n, n)  # E: KB170 not on one in constant memory
    a[8] = CELLS[n].weight  # E: KB142 has no field 'weight'
    a[6] = summed(MORE)  # E: KB196 read the table by its name


@kb.kernel
def too_much(a: kb.array(dtype=float), n: int):  # E: KB199 65548 bytes together (LARGE 65536, MORE 12), and constant memory has 65536
    a[0] = LARGE[n, n] + MORE[n]


@kb.kernel
def right(a: kb.array(dtype=float), n: int):
    a[0] = LARGE[n, n] + MORE[1]


@kb.kernel
def right_structs(a: kb.array(dtype=float), n: int):
    cell = CELLS[n]
    cell.mass = 2.0
    a[0] = cell.mass + CELLS[1].at.y + CELLS[n].at[2] + float(len(CELLS))
