#line 1 "/kbuild/helpers.h"
#pragma nv_diag_suppress 177
#pragma nv_diag_suppress 186
#pragma nv_diag_suppress 550
struct kb_launch1 { unsigned int end, origin; };
template <class T> struct kb_array1 {
    char *data; int shape[1]; int stride[1];
    __device__ __forceinline__ T &operator()(long long i0) const { return *(T *)(data + (i0 * stride[0])); }
};
struct kb_half { unsigned short bits; };
__device__ __forceinline__ float kb_float(kb_half x) { float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits)); return y; }
__device__ __forceinline__ kb_half kb_to_half(float x) { kb_half y; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x)); return y; }
__device__ __forceinline__ kb_half kb_to_half(double x) { kb_half y; asm("cvt.rn.f16.f64 %0, %1;" : "=h"(y.bits) : "d"(x)); return y; }
__device__ __forceinline__ kb_half kb_to_half(int x) { kb_half y; asm("cvt.rn.f16.s32 %0, %1;" : "=h"(y.bits) : "r"(x)); return y; }
__device__ __forceinline__ kb_half kb_to_half(unsigned int x) { kb_half y; asm("cvt.rn.f16.u32 %0, %1;" : "=h"(y.bits) : "r"(x)); return y; }
__device__ __forceinline__ kb_half kb_to_half(long long x) { kb_half y; asm("cvt.rn.f16.s64 %0, %1;" : "=h"(y.bits) : "l"(x)); return y; }
__device__ __forceinline__ kb_half kb_to_half(unsigned long long x) { kb_half y; asm("cvt.rn.f16.u64 %0, %1;" : "=h"(y.bits) : "l"(x)); return y; }
struct vec3f { float c[3]; };
struct vec2f { float c[2]; };
struct mat2x2f { vec2f r[2]; };
__device__ __forceinline__ void kb_wait() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ vec3f operator*(float a, vec3f b) { return vec3f{{(a * b.c[0]), (a * b.c[1]), (a * b.c[2])}}; }

namespace kb_unit {

#line 7 "/kbuild/golden/printing.py"
__device__ __forceinline__ float checked(float x)
{
#line 8 "/kbuild/golden/printing.py"
    if (!(x >= 0.0f)) __assertfail("x >= 0.0: n\303\244h\077\012", "golden.printing:checked", 1u, "checked", 1);
    return sqrtf(x);
}

#line 13 "/kbuild/golden/printing.py"
// golden.printing:shown
extern "C" __global__ void shown(const kb_launch1 kb_launch, kb_array1<float> a, long long n, unsigned int m, bool b, kb_half h, vec3f v)
{
    kb_wait();
    const unsigned int kb_linear = blockIdx.x * blockDim.x + threadIdx.x + kb_launch.origin;
    if (kb_linear >= kb_launch.end) return;
    const int kb_tid = (int)kb_linear;
#line 14 "/kbuild/golden/printing.py"
    int i = kb_tid;
    if (!(i < a.shape[0])) __assertfail("i < a.shape[0]", "golden.printing:shown", 1u, "shown", 1);
    printf("\042%d\042 %5lld %+lli %llx %d \134 100%% \077\077 \303\251\012", (int)(i), (long long)(n), (long long)(m), (unsigned long long)(n), (int)(b));
    float t1 = checked(a(i));
#line 17 "/kbuild/golden/printing.py"
    printf("%g %.3e %c\012", (double)kb_float(h), (double)(t1), (int)(65));
    printf("v: %g %g %g %s 2 0.5\012", (double)(v.c[0]), (double)(v.c[1]), (double)(v.c[2]), (b) ? "True" : "False");
    mat2x2f t2 = mat2x2f{{vec2f{{1.0f, 2.0f}}, vec2f{{3.0f, a(i)}}}};
#line 19 "/kbuild/golden/printing.py"
    printf("%g %g\012%g %g\012", (double)(t2.r[0].c[0]), (double)(t2.r[0].c[1]), (double)(t2.r[1].c[0]), (double)(t2.r[1].c[1]));
    vec3f t3 = v;
#line 20 "/kbuild/golden/printing.py"
    vec3f t4 = a(0) * v;
#line 20 "/kbuild/golden/printing.py"
    if (!(((t3.c[0] == t4.c[0]) && (t3.c[1] == t4.c[1])) && (t3.c[2] == t4.c[2]))) {
#line 20 "/kbuild/golden/printing.py"
        printf("kb.expect_eq failed in golden.printing:shown: %g %g %g is not %g %g %g\012", (double)(t3.c[0]), (double)(t3.c[1]), (double)(t3.c[2]), (double)(t4.c[0]), (double)(t4.c[1]), (double)(t4.c[2]));
    }
}
}
