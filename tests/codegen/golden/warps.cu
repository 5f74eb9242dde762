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
struct kb_half { unsigned short bits; };
__device__ __forceinline__ float kb_float(kb_half x) { float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits)); return y; }
__device__ __forceinline__ kb_half kb_to_half(float x) { kb_half y; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x)); return y; }
__device__ __forceinline__ kb_half kb_to_half(double x) { kb_half y; asm("cvt.rn.f16.f64 %0, %1;" : "=h"(y.bits) : "d"(x)); return y; }
__device__ __forceinline__ kb_half kb_to_half(int x) { kb_half y; asm("cvt.rn.f16.s32 %0, %1;" : "=h"(y.bits) : "r"(x)); return y; }
__device__ __forceinline__ kb_half kb_to_half(unsigned int x) { kb_half y; asm("cvt.rn.f16.u32 %0, %1;" : "=h"(y.bits) : "r"(x)); return y; }
__device__ __forceinline__ kb_half kb_to_half(long long x) { kb_half y; asm("cvt.rn.f16.s64 %0, %1;" : "=h"(y.bits) : "l"(x)); return y; }
__device__ __forceinline__ kb_half kb_to_half(unsigned long long x) { kb_half y; asm("cvt.rn.f16.u64 %0, %1;" : "=h"(y.bits) : "l"(x)); return y; }
template <class T, int N0, int N1> struct kb_shared2 {
    T *data;
    __device__ __forceinline__ T &operator()(int i0, int i1) const { return data[(i0) * N1 + i1]; }
};
__device__ __forceinline__ void kb_wait() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ int kb_thread_idx() { return (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)); }
__device__ __forceinline__ int kb_block_idx() { return (int)(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)); }
__device__ __forceinline__ int kb_block_dim() { return (int)(blockDim.x * blockDim.y * blockDim.z); }
__device__ __forceinline__ int kb_lanes() {
    if ((kb_block_dim() & 31) == 0) return 32;
    int rest = kb_block_dim() - (kb_thread_idx() & ~31);
    return rest < 32 ? rest : 32;
}
__device__ __forceinline__ signed char kb_shfl(signed char x, int by, int width) { int own = kb_thread_idx() & 31, from = (own & -width) | (by & (width - 1)); signed char y = (signed char)__shfl_sync(0xffffffffu, (int)x, by, width); return from < kb_lanes() ? y : x; }
__device__ __forceinline__ signed char kb_shfl_up(signed char x, int by, int width) { return (signed char)__shfl_up_sync(0xffffffffu, (int)x, by, width); }
__device__ __forceinline__ signed char kb_add(signed char a, signed char b) { return (signed char)((unsigned int)a + (unsigned int)b); }
__device__ __forceinline__ kb_half kb_load_readonly(const kb_half &p) { kb_half y; _Pragma("unroll") for (int i = 0; i < 1; ++i) ((unsigned short *)&y)[i] = __ldg((const unsigned short *)&p + i); return y; }
__device__ __forceinline__ kb_half kb_shfl_xor(kb_half x, int by, int width) { int own = kb_thread_idx() & 31, from = own ^ (by & 31); kb_half y = kb_half{(unsigned short)__shfl_xor_sync(0xffffffffu, (unsigned int)x.bits, by, width)}; return from < kb_lanes() ? y : x; }
__device__ __forceinline__ bool kb_any(bool x) { return __any_sync(0xffffffffu, x) != 0; }
__device__ __forceinline__ unsigned int kb_ballot(bool x) { return __ballot_sync(0xffffffffu, x); }
__device__ __forceinline__ unsigned int kb_match_any(long long x) {
    unsigned long long word = (unsigned long long)x;
#if __CUDA_ARCH__ >= 700
    return __match_any_sync(0xffffffffu, word);
#else
    unsigned int found = 0;
    for (int lane = 0; lane < 32; ++lane) {
        unsigned long long other = __shfl_sync(0xffffffffu, word, lane, 32);
        found |= (lane < kb_lanes() && other == word ? 1u : 0u) << lane;
    }
    return found;
#endif
}
extern __shared__ __align__(16) unsigned char kb_dynamic[];
__device__ __forceinline__ unsigned int kb_dynamic_bytes() {
    unsigned int n; asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(n)); return n;
}
__device__ __forceinline__ int kb_sub(int a, int b) { return (int)((unsigned int)a - (unsigned int)b); }
#if __CUDA_ARCH__ >= 600
__device__ __forceinline__ unsigned int kb_atomic_add_block(unsigned int &p, unsigned int v) { return (unsigned int)atomicAdd_block((unsigned int *)&p, (unsigned int)v); }
#else
__device__ __forceinline__ unsigned int kb_atomic_add_block(unsigned int &p, unsigned int v) { return (unsigned int)atomicAdd((unsigned int *)&p, (unsigned int)v); }
#endif
__device__ __forceinline__ unsigned int kb_atomic_add_acq_rel_block(unsigned int &p, unsigned int value) { __threadfence_block(); unsigned int found = kb_atomic_add_block(p, value); __threadfence_block(); return found; }
__device__ __forceinline__ int kb_mul(int a, int b) { return (int)((unsigned int)a * (unsigned int)b); }
__device__ __forceinline__ int kb_add(int a, int b) { return (int)((unsigned int)a + (unsigned int)b); }
__device__ __forceinline__ int kb_grid_dim() { return (int)(gridDim.x * gridDim.y * gridDim.z); }
__device__ __forceinline__ void kb_store_streaming(unsigned int &p, unsigned int x) { _Pragma("unroll") for (int i = 0; i < 1; ++i) __stcs((unsigned int *)&p + i, ((const unsigned int *)&x)[i]); }
__device__ __forceinline__ int kb_warp_id() { return (int)((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) >> 5); }

namespace kb_unit {

#line 7 "/kbuild/golden/warps.py"
// golden.warps:together
extern "C" __global__ void together(const kb_launch1 kb_launch, kb_array1<signed char> a, kb_array1<kb_half> h, kb_array1<unsigned int> masks, int n)
{
    kb_wait();
    const unsigned int kb_linear = (unsigned int)(kb_block_idx() * kb_block_dim() + kb_thread_idx());
    const int kb_tid = (int)kb_linear;
    const kb_shared2<short, 0, 3> tile = {(short *)kb_dynamic};
#line 9 "/kbuild/golden/warps.py"
    int i = kb_tid;
    __builtin_assume(n > i);
    signed char t1 = kb_shfl(a(i), n, 32);
#line 11 "/kbuild/golden/warps.py"
    signed char t2 = kb_shfl_up(a(i), 1, 8);
#line 11 "/kbuild/golden/warps.py"
    a(i) = kb_add(t1, t2);
    kb_half t3 = kb_shfl_xor(kb_load_readonly(h.at(i)), 3, 32);
#line 12 "/kbuild/golden/warps.py"
    h.at(i) = t3;
    bool t4 = kb_any((n > 3));
#line 13 "/kbuild/golden/warps.py"
    unsigned int t5 = kb_ballot(t4);
#line 13 "/kbuild/golden/warps.py"
    unsigned int t6 = kb_match_any((long long)(n));
#line 13 "/kbuild/golden/warps.py"
    masks(i) = t5 ^ t6;
    tile(kb_sub((int)(kb_dynamic_bytes() / 6u), 1), 2) = (short)0;
    kb_atomic_add_acq_rel_block(masks(i), 1u);
    const int start = kb_add(kb_mul(kb_block_idx(), kb_block_dim()), kb_thread_idx());
#line 16 "/kbuild/golden/warps.py"
    const int stop = n;
#line 16 "/kbuild/golden/warps.py"
    const int step = kb_mul(kb_grid_dim(), kb_block_dim());
#line 16 "/kbuild/golden/warps.py"
    const unsigned int trips = (start < stop ? ((unsigned int)stop - (unsigned int)start - 1) / (unsigned int)step + 1 : 0);
#line 16 "/kbuild/golden/warps.py"
    for (unsigned int trip = 0; trip < trips; ++trip) {
#line 16 "/kbuild/golden/warps.py"
        const int k = (int)((unsigned int)start + trip * (unsigned int)step);
        kb_store_streaming(masks.at(k), (unsigned int)(kb_warp_id()));
    }
}
}
