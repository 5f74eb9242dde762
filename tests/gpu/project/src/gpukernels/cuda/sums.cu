#include "block.cuh"

template <class T, int N>
__global__ void __launch_bounds__(N) sum(int n, const T *x, T *out) {
    const int i = blockIdx.x * N + threadIdx.x;
    const T s = block_sum<T, N>(i < n ? twice(x[i]) : T(0));
    if (threadIdx.x == 0) atomicAdd(out, s);
}

extern __shared__ int room[];

// Each block of x backwards; its last word of shared memory is written too.
__global__ void reverse_blocks(const int *x, int *out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int bytes;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    room[threadIdx.x] = x[i];
    __syncthreads();
    const int found = room[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) room[bytes / 4 - 1] = (int)bytes;
    out[i] = found;
}
