import kbuild as kb


@kb.func
def waits():
    kb.cluster_sync()  # E: KB187 kb.cluster_sync works with the blocks of a cluster, and alone does not run in clusters
#   ^^^^^^^^^^^^^^^^^


@kb.kernel
def alone(a: kb.array(dtype=float)):
    waits()


@kb.kernel
def without(a: kb.array(dtype=float)):
    tile = kb.shared_array(4, float)
    i = kb.cluster_rank()  # E: KB187 say how many blocks make up one: `@kb.kernel(cluster_dim=4)`
    j = kb.cluster_dim()  # E: KB187 kb.cluster_dim works with
    there = kb.cluster_array(tile, 0)  # E: KB187 kb.cluster_array works with


@kb.kernel(cluster_dim=2)
def wrong(a: kb.array(dtype=float), n: int):
    tile = kb.shared_array((4, 3), float)
    kb.cluster_sync()
    kb.cluster_sync(3)  # E: KB130 kb.cluster_sync takes no arguments, not 1
    x = kb.cluster_sync()  # E: KB131 kb.cluster_sync gives no value
    i = kb.cluster_rank(1)  # E: KB130 kb.cluster_rank takes no arguments, not 1
    i = kb.cluster_rank().x  # E: KB142
    kb.cluster_array(tile)  # E: KB130 kb.cluster_array(array, rank) takes both
    kb.cluster_array(tile, 0, 1)  # E: KB130 kb.cluster_array(array, rank)
    kb.cluster_array(tile, rang=0)  # E: KB130 kb.cluster_array(array, rank)
    one = kb.cluster_array(a, 0)  # E: KB188 kb.cluster_array wants an array in shared memory: not array1[float32]
#                          ^
    two = kb.cluster_array(n, 0)  # E: KB188 wants an array in shared memory: not
    three = kb.cluster_array(tile, 2)  # E: KB188 a cluster of 2 blocks has the ranks 0 to 1, not 2
#                                  ^
    four = kb.cluster_array(tile, -1)  # E: KB188 a cluster of 2 blocks has the ranks 0 to 1, not -1
    five = kb.cluster_array(tile, 1.0)  # E: KB122 the rank of kb.cluster_array must be int32
    there = kb.cluster_array(tile, n)
    six = kb.cluster_array(there, 0)  # E: KB188 it is in the shared memory of another block already
    there[0] = 1.0  # E: KB140 1 index(es) for distributed[float32, 4, 3]
    there[0, 5] = 1.0  # E: KB141
    kb.atomic_add(there, 0, 0, 1.0, scope="block")  # E: KB188 leave scope out: it is 'device' then
    kb.load_streaming(there, 0, 0)  # E: KB170 not on one in distributed memory
    tile = there  # E: KB193


@kb.func
def first(values: kb.array2d(dtype=float)):
    return values[0, 0] + values[-1, 2]


@kb.kernel(cluster_dim=2)
def right(a: kb.array(dtype=float), n: int):
    tile = kb.shared_array((4, 3), float)
    counts = kb.shared_array((None, 2), int)
    kb.cluster_sync()
    there = kb.cluster_array(array=tile, rank=1 - kb.cluster_rank())
    row = there[kb.thread_idx() % 4]
    there[0, 0] += row[1] + kb.cluster_array(tile[2], 0)[1] + first(there) + float(there.shape[1] + len(there))
    kb.atomic_max(kb.cluster_array(counts, n)[3, 0], kb.cluster_dim())
    kb.cluster_sync()
