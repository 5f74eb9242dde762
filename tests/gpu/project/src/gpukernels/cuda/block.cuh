#pragma once

template <class T> __device__ T twice(T x) { return x + x; }

template <class T, int N>
__device__ T block_sum(T x) {
    __shared__ T parts[N];
    parts[threadIdx.x] = x;
    __syncthreads();
    for (int half = N / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    return parts[0];
}
