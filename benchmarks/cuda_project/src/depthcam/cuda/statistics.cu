#include <depthcam/block.cuh>

namespace depthcam {

// One result a block: `out` has as many elements as the grid has blocks.
template <class Op, class T, int Threads>
__global__ void reduce(int count, T identity, const T *__restrict__ in, T *out) {
    T value = identity;
    for (int i = blockIdx.x * Threads + threadIdx.x; i < count; i += gridDim.x * Threads) value = Op::of(value, in[i]);
    value = reduce_block<Op, Threads>(value, identity);
    if (threadIdx.x == 0) out[blockIdx.x] = value;
}

extern __shared__ int bins_of_block[];

// How many depths lie in each of DEPTHCAM_BINS equal parts up to `farthest`.
__global__ void histogram(int count, float farthest, const float *__restrict__ depth, int *bins) {
    for (int b = threadIdx.x; b < DEPTHCAM_BINS; b += blockDim.x) bins_of_block[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const float d = depth[i];
        if (d > 0.0f && d < farthest) atomicAdd(&bins_of_block[int(d * DEPTHCAM_BINS / farthest)], 1);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < DEPTHCAM_BINS; b += blockDim.x)
        if (bins_of_block[b]) atomicAdd(&bins[b], bins_of_block[b]);
}

}  // namespace depthcam
