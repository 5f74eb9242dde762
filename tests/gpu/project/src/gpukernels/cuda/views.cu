#include <kbuild/array.cuh>

__global__ void transpose(kb::array<float, 2> a, kb::array<float, 2> out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < a.shape[0] && j < a.shape[1]) out(j, i) = a(i, j);
}
