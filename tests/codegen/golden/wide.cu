#line 1 "/kbuild/helpers.h"
#pragma nv_diag_suppress 177
#pragma nv_diag_suppress 186
#pragma nv_diag_suppress 550
struct kb_launch1 { unsigned int end, origin; };
template <class T> struct kb_array1 {
    char *data; int shape[1]; int stride[1];
    __device__ __forceinline__ T &operator()(long long i0) const { return *(T *)(data + (i0 * stride[0])); }
};
__device__ __forceinline__ void kb_wait() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ long long kb_mul(long long a, long long b) { return (long long)((unsigned long long)a * (unsigned long long)b); }
__device__ __forceinline__ long long kb_mod(long long a, long long b) { unsigned long long x = a < 0 ? 0 - (unsigned long long)a : (unsigned long long)a, y = b < 0 ? 0 - (unsigned long long)b : (unsigned long long)b; unsigned long long r = y == 0 ? x : x % y; return (long long)(a < 0 ? 0 - r : r); }
__device__ __forceinline__ long long kb_add(long long a, long long b) { return (long long)((unsigned long long)a + (unsigned long long)b); }
__device__ __forceinline__ long long kb_int64(double x) { return (long long)(x == x ? __double2ll_rz(x) : 0); }
__device__ __forceinline__ long long kb_shl(long long a, long long b) { return (long long)((unsigned long long)b < 64u ? (unsigned long long)a << b : 0); }

namespace kb_unit {

#line 5 "/kbuild/golden/wide.py"
// golden.wide:wide
extern "C" __global__ void wide(const kb_launch1 kb_launch, kb_array1<long long> a, kb_array1<double> d, unsigned long long u, int n)
{
    kb_wait();
    const unsigned int kb_linear = blockIdx.x * blockDim.x + threadIdx.x + kb_launch.origin;
    if (kb_linear >= kb_launch.end) return;
    const int kb_tid = (int)kb_linear;
#line 6 "/kbuild/golden/wide.py"
    int i = kb_tid;
    a(i) = kb_add((long long)(kb_mul((long long)(n), a(i)) / 3ll), kb_mod(a(0), a(1)));
    d(i) = fma(d(i), d(0), (double)(a(i)));
    a(0) = kb_add(kb_int64(d(1)), (long long)((unsigned long long)(u >> 40)));
    a(1) = kb_shl(a(2), a(3));
    a(4) = (-9223372036854775807ll - 1);
}
}
