#line 1 "/kbuild/helpers.h"
#pragma nv_diag_suppress 177
#pragma nv_diag_suppress 186
#pragma nv_diag_suppress 550
__device__ __forceinline__ long long kb_wide(int a, int b) {
    long long r; asm("mul.wide.s32 %0, %1, %2;" : "=l"(r) : "r"(a), "r"(b)); return r;
}
__device__ __forceinline__ char *kb_further(char *p, int a, int b) {
    char *r; asm("{ .reg .b64 t; mul.wide.s32 t, %1, %2; add.s64 %0, t, %3; }" : "=l"(r) : "r"(a), "r"(b), "l"(p));
    bool is_global = __isGlobal(r); __builtin_assume(is_global); return r;
}
struct kb_launch2 { unsigned int count, extent[1], magic[1], shift[1]; int origin[2]; };
struct kb_index2 { int axis[2]; };
__device__ __forceinline__ kb_index2 kb_locate(const kb_launch2 &launch, unsigned int l) {
    kb_index2 tid; unsigned int q;
    q = (__umulhi(l, launch.magic[0]) + l) >> launch.shift[0]; tid.axis[1] = (int)(l - q * launch.extent[0]) + launch.origin[1]; l = q;
    tid.axis[0] = (int)l + launch.origin[0];
    return tid;
}
template <class T, int N0> struct kb_shared1 {
    T *data;
    __device__ __forceinline__ T &operator()(int i0) const { return data[i0]; }
};
template <class T> struct kb_array2 {
    char *data; int shape[2]; int stride[2];
    __device__ __forceinline__ T &operator()(long long i0, long long i1) const { return *(T *)(data + (i0 * stride[0] + i1 * stride[1])); }
    __device__ __forceinline__ T &at(int i0, int i1) const { return *(T *)(kb_further(data + kb_wide(i0, stride[0]), i1, stride[1])); }
};
template <class T> struct kb_array1 {
    char *data; int shape[1]; int stride[1];
    __device__ __forceinline__ T &operator()(long long i0) const { return *(T *)(data + (i0 * stride[0])); }
    __device__ __forceinline__ T &at(int i0) const { return *(T *)(data + kb_wide(i0, stride[0])); }
};
__device__ __forceinline__ void kb_wait() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ int kb_lane_id() { return (int)((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 31); }
__device__ __forceinline__ int kb_add(int a, int b) { return (int)((unsigned int)a + (unsigned int)b); }
__device__ __forceinline__ int kb_atomic_add(int &p, int v) { return (int)atomicAdd((int *)&p, (int)v); }
__device__ __forceinline__ int kb_grid_dim() { return (int)(gridDim.x * gridDim.y * gridDim.z); }
__device__ __forceinline__ int kb_block_dim() { return (int)(blockDim.x * blockDim.y * blockDim.z); }
__device__ __forceinline__ int kb_mul(int a, int b) { return (int)((unsigned int)a * (unsigned int)b); }
struct kb_launch1 { unsigned int end, origin; };
__device__ __forceinline__ int kb_thread_idx() { return (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)); }
__device__ __forceinline__ int kb_block_idx() { return (int)(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)); }
template <class T, int N0, int N1> struct kb_shared2 {
    T *data;
    __device__ __forceinline__ T &operator()(int i0, int i1) const { return data[(i0) * N1 + i1]; }
};
template <class T, int N0, int N1> __device__ __forceinline__ kb_shared1<T, N1> kb_view(kb_shared2<T, N0, N1> a, int i0) { return kb_shared1<T, N1>{a.data + (i0) * N1}; }

namespace kb_unit {

#line 40 "/kbuild/golden/blocks.py"
// golden.blocks:count
extern "C" __global__ void count(const kb_launch2 kb_launch, kb_array2<int> data, kb_array1<int> counts, unsigned int lanes)
{
    kb_wait();
    const unsigned int kb_linear = blockIdx.x * blockDim.x + threadIdx.x;
    const kb_index2 kb_tid = kb_locate(kb_launch, kb_linear);
    __shared__ int bins_memory[32];
    const kb_shared1<int, 32> bins = {bins_memory};
#line 42 "/kbuild/golden/blocks.py"
    int i = kb_tid.axis[0];
#line 42 "/kbuild/golden/blocks.py"
    int j = kb_tid.axis[1];
    bins(kb_lane_id()) = 0;
    __syncwarp(4294967295u);
    kb_atomic_add(bins((int)(data.at(i, j) % 32)), 1);
    __syncwarp(lanes);
    kb_atomic_add(counts.at(kb_lane_id()), kb_add(bins(kb_lane_id()), kb_mul(kb_grid_dim(), kb_block_dim())));
}

#line 7 "/kbuild/golden/blocks.py"
__device__ __forceinline__ float block_sum(kb_shared1<float, 64> tile)
{
#line 8 "/kbuild/golden/blocks.py"
    int t = kb_thread_idx();
    int s = 32;
    while (s > 0) {
        if (t < s) {
            tile(t) = tile(t) + tile(kb_add(t, s));
        }
#line 13 "/kbuild/golden/blocks.py"
        __syncthreads();
        s = (int)(s / 2);
    }
#line 15 "/kbuild/golden/blocks.py"
    return tile(0);
}

#line 19 "/kbuild/golden/blocks.py"
// golden.blocks:reduce
extern "C" __global__ void reduce(const kb_launch1 kb_launch, kb_array1<float> data, kb_array1<float> out)
{
    kb_wait();
    const unsigned int kb_linear = (unsigned int)(kb_block_idx() * kb_block_dim() + kb_thread_idx());
    const int kb_tid = (int)kb_linear;
    __shared__ float tile_memory[64];
    const kb_shared1<float, 64> tile = {tile_memory};
#line 21 "/kbuild/golden/blocks.py"
    tile(kb_thread_idx()) = data.at(kb_tid);
    __syncthreads();
    float total = block_sum(tile);
    if (kb_thread_idx() == 0) {
        out.at(kb_block_idx()) = total;
    }
}

#line 29 "/kbuild/golden/blocks.py"
// golden.blocks:transpose
extern "C" __global__ void transpose(const kb_launch1 kb_launch, kb_array2<float> a, kb_array2<float> out)
{
    kb_wait();
    __shared__ float tile_memory[272];
    const kb_shared2<float, 16, 17> tile = {tile_memory};
#line 31 "/kbuild/golden/blocks.py"
    int x = (int)threadIdx.x;
    int y = (int)threadIdx.y;
    kb_shared1<float, 17> row = kb_view(tile, y);
    row(x) = a.at(kb_add(kb_mul((int)blockIdx.y, 16), y), kb_add(kb_mul((int)blockIdx.x, 16), x));
    __syncthreads();
    out.at(kb_add(kb_mul((int)blockIdx.x, 16), y), kb_add(kb_mul((int)blockIdx.y, 16), x)) = tile(x, y);
}
}
