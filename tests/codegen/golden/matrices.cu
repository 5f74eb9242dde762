#line 1 "/kbuild/helpers.h"
#pragma nv_diag_suppress 177
#pragma nv_diag_suppress 186
#pragma nv_diag_suppress 550
__device__ __forceinline__ long long kb_wide(int a, int b) {
    long long r; asm("mul.wide.s32 %0, %1, %2;" : "=l"(r) : "r"(a), "r"(b)); return r;
}
struct kb_launch1 { unsigned int end, origin; };
struct vec2f { float c[2]; };
struct mat2x2f { vec2f r[2]; };
template <class T> struct kb_array1 {
    char *data; int shape[1]; int stride[1];
    __device__ __forceinline__ T &operator()(long long i0) const { return *(T *)(data + (i0 * stride[0])); }
    __device__ __forceinline__ T &at(int i0) const { return *(T *)(data + kb_wide(i0, stride[0])); }
    __device__ __forceinline__ bool aligned(int to) const { return (((int)(long long)data | stride[0]) & (to - 1)) == 0; }
};
__device__ __forceinline__ void kb_wait() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ mat2x2f kb_load(mat2x2f &p, bool is_aligned) { if (!is_aligned) return p; __align__(16) mat2x2f y; uint4 *from = (uint4 *)&p, *to = (uint4 *)&y; to[0] = from[0]; return y; }
__device__ __forceinline__ void kb_store(mat2x2f &p, mat2x2f x, bool is_aligned) { if (!is_aligned) { p = x; return; } __align__(16) mat2x2f y = x; uint4 *from = (uint4 *)&y, *to = (uint4 *)&p; to[0] = from[0]; }
__device__ __forceinline__ mat2x2f operator-(mat2x2f a) { return mat2x2f{{vec2f{{(-a.r[0].c[0]), (-a.r[0].c[1])}}, vec2f{{(-a.r[1].c[0]), (-a.r[1].c[1])}}}}; }
__device__ __forceinline__ mat2x2f kb_fma(mat2x2f a, float b, mat2x2f c) { return mat2x2f{{vec2f{{fmaf(a.r[0].c[0], b, c.r[0].c[0]), fmaf(a.r[0].c[1], b, c.r[0].c[1])}}, vec2f{{fmaf(a.r[1].c[0], b, c.r[1].c[0]), fmaf(a.r[1].c[1], b, c.r[1].c[1])}}}}; }
__device__ __forceinline__ int kb_add(int a, int b) { return (int)((unsigned int)a + (unsigned int)b); }
__device__ __forceinline__ vec2f operator+(vec2f a, vec2f b) { return vec2f{{(a.c[0] + b.c[0]), (a.c[1] + b.c[1])}}; }

namespace kb_unit {

#line 149 "/kbuild/kbuild/intrinsics/library.py"
__device__ __forceinline__ mat2x2f matmul(mat2x2f a, mat2x2f b)
{
#line 151 "/kbuild/kbuild/intrinsics/library.py"
    mat2x2f result = mat2x2f{{vec2f{{0.0f, 0.0f}}, vec2f{{0.0f, 0.0f}}}};
    _Pragma("unroll") for (int i = 0; i < 2; ++i) {
        _Pragma("unroll") for (int j = 0; j < 2; ++j) {
            float total = a.r[i].c[0] * b.r[0].c[j];
            _Pragma("unroll") for (int k = 1; k < 2; ++k) {
                total = fmaf(a.r[i].c[k], b.r[k].c[j], total);
            }
#line 157 "/kbuild/kbuild/intrinsics/library.py"
            result.r[i].c[j] = total;
        }
    }
#line 158 "/kbuild/kbuild/intrinsics/library.py"
    return result;
}

#line 38 "/kbuild/kbuild/intrinsics/library.py"
__device__ __forceinline__ float dot(vec2f a, vec2f b)
{
#line 40 "/kbuild/kbuild/intrinsics/library.py"
    float total = a.c[0] * b.c[0];
    _Pragma("unroll") for (int i = 1; i < 2; ++i) {
        total = fmaf(a.c[i], b.c[i], total);
    }
#line 43 "/kbuild/kbuild/intrinsics/library.py"
    return total;
}

#line 114 "/kbuild/kbuild/intrinsics/library.py"
__device__ __forceinline__ vec2f matvec(mat2x2f m, vec2f v)
{
#line 116 "/kbuild/kbuild/intrinsics/library.py"
    vec2f result = vec2f{{0.0f, 0.0f}};
    _Pragma("unroll") for (int i = 0; i < 2; ++i) {
        result.c[i] = dot(m.r[i], v);
    }
#line 119 "/kbuild/kbuild/intrinsics/library.py"
    return result;
}

#line 5 "/kbuild/golden/matrices.py"
// golden.matrices:matrices
extern "C" __global__ void matrices(const kb_launch1 kb_launch, kb_array1<mat2x2f> m, vec2f v)
{
    kb_wait();
    const unsigned int kb_linear = blockIdx.x * blockDim.x + threadIdx.x + kb_launch.origin;
    if (kb_linear >= kb_launch.end) return;
    const int kb_tid = (int)kb_linear;
#line 6 "/kbuild/golden/matrices.py"
    int i = kb_tid;
    mat2x2f a = kb_load(m(i), m.aligned(16));
    a.r[0].c[1] = v.c[0];
    kb_store(m(i), kb_fma(matmul(a, a), 2.0f, (-a)), m.aligned(16));
    m.at(kb_add(i, 1)).r[1] = matvec(a, v) + v;
}
}
