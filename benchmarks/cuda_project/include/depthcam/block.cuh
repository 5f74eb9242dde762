// What the threads of a block do together.
#pragma once

namespace depthcam {

struct Sum {
    template <class T> __device__ static T of(T a, T b) { return a + b; }
};
struct Smallest {
    template <class T> __device__ static T of(T a, T b) { return b < a ? b : a; }
};
struct Largest {
    template <class T> __device__ static T of(T a, T b) { return a < b ? b : a; }
};

template <class Op, class T>
__device__ __forceinline__ T reduce_warp(T value) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) value = Op::of(value, __shfl_down_sync(0xffffffffu, value, offset));
    return value;
}

// The result is thread 0's.
template <class Op, int Threads, class T>
__device__ T reduce_block(T value, T identity) {
    static_assert(Threads % 32 == 0 && Threads <= 1024, "whole warps");
    __shared__ T parts[Threads / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    value = reduce_warp<Op>(value);
    if (lane == 0) parts[warp] = value;
    __syncthreads();
    if (warp == 0) value = reduce_warp<Op>(lane < Threads / 32 ? parts[lane] : identity);
    __syncthreads();
    return value;
}

}  // namespace depthcam
