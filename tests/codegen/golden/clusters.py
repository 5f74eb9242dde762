import kbuild as kb


@kb.struct
class Cell:
    mass: float
    at: kb.vec3


@kb.func
def first(values: kb.array(dtype=float)):
    return values[0] + float(len(values))


@kb.kernel(cluster_dim=4, launch_bounds=128, block_dim=128)
def exchange(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(128, float)
    t = kb.thread_idx()
    tile[t] = data[kb.tid()]
    kb.cluster_sync()
    there = kb.cluster_array(tile, (kb.cluster_rank() + 1) % kb.cluster_dim())
    out[kb.tid()] = there[127 - t] + first(there)
    kb.cluster_sync()


@kb.kernel(cluster_dim=2)
def atomics(data: kb.array(dtype=int), out: kb.array(dtype=float)):
    counts = kb.shared_array((2, 8), int)
    small = kb.shared_array(6, kb.int16)
    sums = kb.shared_array(8, kb.float64)
    cells = kb.shared_array(3, Cell)
    rest = kb.shared_array((None, 4), float)
    kb.cluster_sync()
    i = data[kb.tid()]
    there = kb.cluster_array(counts[1], 0)
    kb.atomic_add(there, i, 1)
    kb.atomic_max(kb.cluster_array(small, 1), i % 6, kb.int16(i))
    old = kb.atomic_add(kb.cluster_array(sums, 1), i, 0.5)
    kb.atomic_cas(there, 0, 1, 2, order="acq_rel")
    cells_there = kb.cluster_array(cells, 1)
    cells_there[i].at += kb.vec3(1.0, 2.0, 3.0)
    kb.cluster_array(rest, 1)[i, 2] = float(old)
    kb.cluster_sync()
    out[kb.tid()] = cells[0].at.x + rest[0, 2] + float(counts[1, 2])
