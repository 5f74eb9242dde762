#line 1 "/kbuild/helpers.h"
#pragma nv_diag_suppress 177
#pragma nv_diag_suppress 186
#pragma nv_diag_suppress 550
__device__ __forceinline__ long long kb_wide(int a, int b) {
    long long r; asm("mul.wide.s32 %0, %1, %2;" : "=l"(r) : "r"(a), "r"(b)); return r;
}
struct kb_launch1 { unsigned int end, origin; };
template <class T> struct kb_array1 {
    char *data; int shape[1]; int stride[1];
    __device__ __forceinline__ T &operator()(long long i0) const { return *(T *)(data + (i0 * stride[0])); }
    __device__ __forceinline__ T &at(int i0) const { return *(T *)(data + kb_wide(i0, stride[0])); }
};
template <class T, int N0> struct kb_distributed1 {
    T *data;
    __device__ __forceinline__ T &operator()(int i0) const { return data[i0]; }
};
template <class T, int N0, int N1> struct kb_shared2 {
    T *data;
    __device__ __forceinline__ T &operator()(int i0, int i1) const { return data[(i0) * N1 + i1]; }
};
template <class T, int N0> struct kb_shared1 {
    T *data;
    __device__ __forceinline__ T &operator()(int i0) const { return data[i0]; }
};
struct vec3f { float c[3]; };
__device__ __forceinline__ void kb_wait() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ int kb_thread_idx() { return (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)); }
__device__ __forceinline__ int kb_block_idx() { return (int)(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)); }
__device__ __forceinline__ int kb_block_dim() { return (int)(blockDim.x * blockDim.y * blockDim.z); }
__device__ __forceinline__ void kb_cluster_sync() {
    asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
}
template <class T, int N0> __device__ __forceinline__ kb_distributed1<T, N0> kb_elsewhere(kb_shared1<T, N0> a, int rank) {
    T *there; asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(a.data), "r"(rank)); return kb_distributed1<T, N0>{there};
}
template <class T, int N0, int N1> __device__ __forceinline__ kb_shared1<T, N1> kb_view(kb_shared2<T, N0, N1> a, int i0) { return kb_shared1<T, N1>{a.data + (i0) * N1}; }
__device__ __forceinline__ int kb_add(int a, int b) { return (int)((unsigned int)a + (unsigned int)b); }
__device__ __forceinline__ int kb_atomic_add(int &p, int v) { return (int)atomicAdd((int *)&p, (int)v); }
__device__ inline short kb_atomic_max(short &p, short b) {
    size_t at = (size_t)&p; unsigned int *word = (unsigned int *)(at & ~(size_t)3); unsigned int shift = (unsigned int)(at & 3) * 8;
    unsigned int old = *(volatile unsigned int *)word, seen;
    do {
        seen = old;
        short a = (short)(((old >> shift) & 0xffffu));
        unsigned int bits = (unsigned short)((a < b ? b : a));
        old = atomicCAS(word, seen, ((old & ~(0xffffu << shift)) | ((unsigned int)(bits) << shift)));
    } while (old != seen);
    return (short)(((old >> shift) & 0xffffu));
}
__device__ __forceinline__ double kb_atomic_add(double &p, double v) { return (double)atomicAdd((double *)&p, (double)v); }
__device__ inline int kb_atomic_cas(int &p, int compare, int b) {
    unsigned int *word = (unsigned int *)&p;
    unsigned int old = *(volatile unsigned int *)word, seen;
    unsigned int bits = (unsigned int)(b);
    do {
        seen = old;
        if (old != (unsigned int)((unsigned int)(compare))) break;
        old = atomicCAS(word, seen, bits);
    } while (old != seen);
    return (int)(old);
}
__device__ __forceinline__ int kb_atomic_cas_acq_rel(int &p, int compare, int value) { __threadfence(); int found = kb_atomic_cas(p, compare, value); __threadfence(); return found; }
__device__ __forceinline__ float kb_atomic_add(float &p, float v) { return (float)atomicAdd((float *)&p, (float)v); }
template <class T, int N0, int N1> struct kb_distributed2 {
    T *data;
    __device__ __forceinline__ T &operator()(int i0, int i1) const { return data[(i0) * N1 + i1]; }
};
template <class T, int N0, int N1> __device__ __forceinline__ kb_distributed2<T, N0, N1> kb_elsewhere(kb_shared2<T, N0, N1> a, int rank) {
    T *there; asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(a.data), "r"(rank)); return kb_distributed2<T, N0, N1>{there};
}
extern __shared__ __align__(16) unsigned char kb_dynamic[];
__device__ __forceinline__ unsigned int kb_dynamic_bytes() {
    unsigned int n; asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(n)); return n;
}
__device__ __forceinline__ int kb_cluster_rank() {
    unsigned int n; asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(n)); return (int)n;
}
__device__ __forceinline__ int kb_sub(int a, int b) { return (int)((unsigned int)a - (unsigned int)b); }

namespace kb_unit {
struct Cell {
    float mass;
    vec3f at;
};
static_assert(sizeof(Cell) == 16, "layout");

#line 27 "/kbuild/golden/clusters.py"
// golden.clusters:atomics
extern "C" __global__ void __cluster_dims__(2, 1, 1) atomics(const kb_launch1 kb_launch, kb_array1<int> data, kb_array1<float> out)
{
    kb_wait();
    const unsigned int kb_linear = (unsigned int)(kb_block_idx() * kb_block_dim() + kb_thread_idx());
    const int kb_tid = (int)kb_linear;
    __shared__ int counts_memory[16];
    const kb_shared2<int, 2, 8> counts = {counts_memory};
    __shared__ __align__(4) unsigned char small_memory[12];
    const kb_shared1<short, 6> small = {(short *)small_memory};
    __shared__ double sums_memory[8];
    const kb_shared1<double, 8> sums = {sums_memory};
    __shared__ Cell cells_memory[3];
    const kb_shared1<Cell, 3> cells = {cells_memory};
    const kb_shared2<float, 0, 4> rest = {(float *)kb_dynamic};
#line 33 "/kbuild/golden/clusters.py"
    kb_cluster_sync();
    int i = data.at(kb_tid);
    kb_distributed1<int, 8> there = kb_elsewhere(kb_view(counts, 1), 0);
    kb_atomic_add(there(i), 1);
    kb_atomic_max(kb_elsewhere(small, 1)((int)(i % 6)), (short)(i));
    double old = kb_atomic_add(kb_elsewhere(sums, 1)(i), 0.5);
    kb_atomic_cas_acq_rel(there(0), 1, 2);
    kb_distributed1<Cell, 3> cells_there = kb_elsewhere(cells, 1);
    vec3f t5 = vec3f{{1.0f, 2.0f, 3.0f}};
#line 41 "/kbuild/golden/clusters.py"
    kb_atomic_add(cells_there(i).at.c[0], t5.c[0]);
#line 41 "/kbuild/golden/clusters.py"
    kb_atomic_add(cells_there(i).at.c[1], t5.c[1]);
#line 41 "/kbuild/golden/clusters.py"
    kb_atomic_add(cells_there(i).at.c[2], t5.c[2]);
    kb_elsewhere(rest, 1)(i, 2) = (float)(old);
    kb_cluster_sync();
    out.at(kb_tid) = (cells(0).at.c[0] + rest(0, 2)) + (float)(counts(1, 2));
}

#line 11 "/kbuild/golden/clusters.py"
__device__ __forceinline__ float first(kb_distributed1<float, 128> values)
{
#line 12 "/kbuild/golden/clusters.py"
    return values(0) + 128.0f;
}

#line 16 "/kbuild/golden/clusters.py"
// golden.clusters:exchange
extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(128) exchange(const kb_launch1 kb_launch, kb_array1<float> data, kb_array1<float> out)
{
    kb_wait();
    const unsigned int kb_linear = (unsigned int)(kb_block_idx() * kb_block_dim() + kb_thread_idx());
    const int kb_tid = (int)kb_linear;
    __shared__ float tile_memory[128];
    const kb_shared1<float, 128> tile = {tile_memory};
#line 18 "/kbuild/golden/clusters.py"
    int t = kb_thread_idx();
    tile(t) = data.at(kb_tid);
    kb_cluster_sync();
    kb_distributed1<float, 128> there = kb_elsewhere(tile, (int)(kb_add(kb_cluster_rank(), 1) % 4));
    out.at(kb_tid) = there(kb_sub(127, t)) + first(there);
    kb_cluster_sync();
}
}
