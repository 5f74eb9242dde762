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
struct vec2f { float c[2]; };
__device__ __forceinline__ void kb_wait() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ float kb_atomic_add(float &p, float v) { return (float)atomicAdd((float *)&p, (float)v); }
__device__ __forceinline__ int kb_add(int a, int b) { return (int)((unsigned int)a + (unsigned int)b); }
__device__ __forceinline__ unsigned char kb_add(unsigned char a, unsigned char b) { return (unsigned char)((unsigned int)a + (unsigned int)b); }
__device__ inline unsigned char kb_atomic_add(unsigned char &p, unsigned char b) {
    size_t at = (size_t)&p; unsigned int *word = (unsigned int *)(at & ~(size_t)3); unsigned int shift = (unsigned int)(at & 3) * 8;
    unsigned int old = *(volatile unsigned int *)word, seen;
    do {
        seen = old;
        unsigned char a = (unsigned char)(((old >> shift) & 0xffu));
        unsigned int bits = (unsigned char)(kb_add(a, b));
        old = atomicCAS(word, seen, ((old & ~(0xffu << shift)) | ((unsigned int)(bits) << shift)));
    } while (old != seen);
    return (unsigned char)(((old >> shift) & 0xffu));
}

namespace kb_unit {

#line 5 "/kbuild/golden/augmented.py"
// golden.augmented:augmented
extern "C" __global__ void augmented(const kb_launch1 kb_launch, kb_array1<float> a, kb_array1<vec2f> v, kb_array1<unsigned char> c)
{
    kb_wait();
    const unsigned int kb_linear = blockIdx.x * blockDim.x + threadIdx.x + kb_launch.origin;
    if (kb_linear >= kb_launch.end) return;
    const int kb_tid = (int)kb_linear;
#line 6 "/kbuild/golden/augmented.py"
    int i = kb_tid;
    kb_atomic_add(a(i), 1.0f);
    int t2 = kb_add(i, 1);
#line 8 "/kbuild/golden/augmented.py"
    kb_atomic_add(a.at(t2), (-a(i)));
    a(i) = a(i) * 2.0f;
    vec2f t4 = vec2f{{1.0f, 2.0f}};
#line 10 "/kbuild/golden/augmented.py"
    kb_atomic_add(v(i).c[0], t4.c[0]);
#line 10 "/kbuild/golden/augmented.py"
    kb_atomic_add(v(i).c[1], t4.c[1]);
    kb_atomic_add(v(i).c[1], (-3.0f));
    kb_atomic_add(c.at(i), (unsigned char)1);
}
}
