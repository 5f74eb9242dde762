"""Functions in CUDA C++, with gradients and with bodies in Python."""

import kbuild as kb


@kb.func_native("return __fmul_rn(x, __fmul_rn(x, x));", "adj_x += 3.0f * x * x * adj_ret;")
def cube(x: float) -> float:
    return x * (x * x)


@kb.kernel
def cubes(x: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    out[i] = cube(x[i])


scaled_text = """
    out[tid] = a * x[tid] + y[tid];
    """
scaled_adjoint = """
    adj_a += x[tid] * adj_out[tid];
    adj_x[tid] += a * adj_out[tid];
    adj_y[tid] += adj_out[tid];
    """


@kb.func_native(scaled_text, scaled_adjoint)
def scaled(a: float, x: kb.array(dtype=float), y: kb.array(dtype=float), out: kb.array(dtype=float), tid: int): ...


@kb.kernel
def saxpy(a: kb.array(dtype=float), x: kb.array(dtype=float), y: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    scaled(a[0], x, y, out, i)


@kb.func_native(
    "int next = atomicAdd(counts.data, 1); slots[tid] = next; return next;", replay_snippet="return slots[tid];"
)
def slot(counts: kb.array(dtype=int), slots: kb.array(dtype=int), tid: int) -> int: ...


@kb.kernel
def counted(
    x: kb.array(dtype=float), counts: kb.array(dtype=int), slots: kb.array(dtype=int), out: kb.array(dtype=float)
):
    i = kb.tid()
    if x[i] > 1.0:
        k = slot(counts, slots, i)
        out[k] = x[i] * x[i]


@kb.func_native(
    """
    __shared__ int sums[256];
    sums[threadIdx.x] = x;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    int found = sums[0];
    __syncthreads();
    return found;
    """
)
def block_sum(x: int) -> int: ...


@kb.kernel(enable_backward=False)
def block_sums(x: kb.array(dtype=int), out: kb.array(dtype=int)):
    i = kb.tid()
    out[i] = block_sum(x[i])


WEIGHTS = kb.constant([[0.5, 2.0], [3.0, 4.0], [5.0, 6.0]])


@kb.func_native("return weights(k, 1) * x + row[0] + (float)weights.shape[0];")
def weighted(x: float, weights: kb.array2d(dtype=float), row: kb.array(dtype=float), k: int) -> float:
    return weights[k, 1] * x + row[0] + float(weights.shape[0])


@kb.kernel
def of_a_table(x: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    out[i] = weighted(x[i], WEIGHTS, WEIGHTS[i % 3], i % 3)


@kb.func_native("tile[t] += __shfl_xor_sync(0xffffffffu, tile[t], 1) + (float)tile.shape[0];")
def add_neighbour(tile: kb.array(dtype=float), t: int):
    tile[t] = tile[t] + kb.shfl_xor(tile[t], 1) + float(tile.shape[0])


@kb.kernel(enable_backward=False)
def neighbours(x: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(None, float)
    t = kb.thread_idx()
    tile[t] = x[kb.tid()]
    add_neighbour(tile, t)
    out[kb.tid()] = tile[t]
