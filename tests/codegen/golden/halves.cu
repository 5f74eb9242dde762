#line 1 "/kbuild/helpers.h"
#pragma nv_diag_suppress 177
#pragma nv_diag_suppress 186
#pragma nv_diag_suppress 550
struct kb_launch1 { unsigned int end, origin; };
struct kb_half { unsigned short bits; };
__device__ __forceinline__ float kb_float(kb_half x) { float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits)); return y; }
__device__ __forceinline__ kb_half kb_to_half(float x) { kb_half y; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x)); return y; }
__device__ __forceinline__ kb_half kb_to_half(double x) { kb_half y; asm("cvt.rn.f16.f64 %0, %1;" : "=h"(y.bits) : "d"(x)); return y; }
__device__ __forceinline__ kb_half kb_to_half(int x) { kb_half y; asm("cvt.rn.f16.s32 %0, %1;" : "=h"(y.bits) : "r"(x)); return y; }
__device__ __forceinline__ kb_half kb_to_half(unsigned int x) { kb_half y; asm("cvt.rn.f16.u32 %0, %1;" : "=h"(y.bits) : "r"(x)); return y; }
__device__ __forceinline__ kb_half kb_to_half(long long x) { kb_half y; asm("cvt.rn.f16.s64 %0, %1;" : "=h"(y.bits) : "l"(x)); return y; }
__device__ __forceinline__ kb_half kb_to_half(unsigned long long x) { kb_half y; asm("cvt.rn.f16.u64 %0, %1;" : "=h"(y.bits) : "l"(x)); return y; }
template <class T> struct kb_array1 {
    char *data; int shape[1]; int stride[1];
    __device__ __forceinline__ T &operator()(long long i0) const { return *(T *)(data + (i0 * stride[0])); }
};
__device__ __forceinline__ void kb_wait() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ inline kb_half kb_atomic_add(kb_half &p, kb_half b) {
    size_t at = (size_t)&p; unsigned int *word = (unsigned int *)(at & ~(size_t)3); unsigned int shift = (unsigned int)(at & 3) * 8;
    unsigned int old = *(volatile unsigned int *)word, seen;
    do {
        seen = old;
        kb_half a = kb_half{(unsigned short)(((old >> shift) & 0xffffu))};
        unsigned int bits = kb_to_half((kb_float(a) + kb_float(b))).bits;
        old = atomicCAS(word, seen, ((old & ~(0xffffu << shift)) | ((unsigned int)(bits) << shift)));
    } while (old != seen);
    return kb_half{(unsigned short)(((old >> shift) & 0xffffu))};
}

namespace kb_unit {

#line 5 "/kbuild/golden/halves.py"
// golden.halves:halves
extern "C" __global__ void halves(const kb_launch1 kb_launch, kb_array1<kb_half> h, float x, long long n)
{
    kb_wait();
    const unsigned int kb_linear = blockIdx.x * blockDim.x + threadIdx.x + kb_launch.origin;
    if (kb_linear >= kb_launch.end) return;
    const int kb_tid = (int)kb_linear;
#line 6 "/kbuild/golden/halves.py"
    int i = kb_tid;
    h(i) = kb_to_half((kb_float(kb_to_half((kb_float(h(i)) * kb_float(h(0))))) + kb_float(kb_to_half((float)(x)))));
    h(1) = (kb_float(h(3)) < kb_float(kb_half{0x3800})) ? kb_to_half(sqrtf(kb_float(kb_half{(unsigned short)(h(2).bits ^ 0x8000)}))) : kb_to_half((long long)(n));
    kb_atomic_add(h(4), kb_half{0x3c00});
}
}
