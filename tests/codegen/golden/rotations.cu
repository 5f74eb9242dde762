#line 1 "/kbuild/helpers.h"
#pragma nv_diag_suppress 177
#pragma nv_diag_suppress 186
#pragma nv_diag_suppress 550
struct kb_launch1 { unsigned int end, origin; };
struct quatf { float c[4]; };
template <class T> struct kb_array1 {
    char *data; int shape[1]; int stride[1];
    __device__ __forceinline__ T &operator()(long long i0) const { return *(T *)(data + (i0 * stride[0])); }
};
struct vec3f { float c[3]; };
struct transformf { float c[7]; };
struct vec2f { float c[2]; };
__device__ __forceinline__ void kb_wait() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ quatf kb_fma(quatf a, float b, quatf c) { return quatf{{fmaf(a.c[0], b, c.c[0]), fmaf(a.c[1], b, c.c[1]), fmaf(a.c[2], b, c.c[2]), fmaf(a.c[3], b, c.c[3])}}; }
__device__ __forceinline__ vec3f operator+(vec3f a, vec3f b) { return vec3f{{(a.c[0] + b.c[0]), (a.c[1] + b.c[1]), (a.c[2] + b.c[2])}}; }

namespace kb_unit {

#line 18 "/kbuild/kbuild/intrinsics/library_rotations.py"
__device__ __forceinline__ quatf quat_mul(quatf a, quatf b)
{
#line 20 "/kbuild/kbuild/intrinsics/library_rotations.py"
    return quatf{{fmaf((-a.c[2]), b.c[1], fmaf(a.c[1], b.c[2], fmaf(a.c[0], b.c[3], (a.c[3] * b.c[0])))), fmaf((-a.c[0]), b.c[2], fmaf(a.c[2], b.c[0], fmaf(a.c[1], b.c[3], (a.c[3] * b.c[1])))), fmaf((-a.c[1]), b.c[0], fmaf(a.c[0], b.c[1], fmaf(a.c[2], b.c[3], (a.c[3] * b.c[2])))), fmaf((-a.c[2]), b.c[2], fmaf((-a.c[1]), b.c[1], fmaf((-a.c[0]), b.c[0], (a.c[3] * b.c[3]))))}};
}

#line 5 "/kbuild/golden/rotations.py"
// golden.rotations:turn
extern "C" __global__ void turn(const kb_launch1 kb_launch, kb_array1<quatf> q, kb_array1<transformf> t, vec3f rate)
{
    kb_wait();
    const unsigned int kb_linear = blockIdx.x * blockDim.x + threadIdx.x + kb_launch.origin;
    if (kb_linear >= kb_launch.end) return;
    const int kb_tid = (int)kb_linear;
#line 6 "/kbuild/golden/rotations.py"
    int i = kb_tid;
    q(i) = kb_fma(quat_mul(q(i), quatf{{rate.c[0], rate.c[1], rate.c[2], 0.0f}}), 0.5f, q(i));
    vec3f t1 = vec3f{{t(i).c[0], t(i).c[1], t(i).c[2]}} + rate;
#line 8 "/kbuild/golden/rotations.py"
    vec3f t2 = t1;
#line 8 "/kbuild/golden/rotations.py"
    t(i).c[0] = t2.c[0];
#line 8 "/kbuild/golden/rotations.py"
    t(i).c[1] = t2.c[1];
#line 8 "/kbuild/golden/rotations.py"
    t(i).c[2] = t2.c[2];
    vec2f t3 = vec2f{{rate.c[1], rate.c[2]}};
#line 9 "/kbuild/golden/rotations.py"
    rate.c[0] = t3.c[0];
#line 9 "/kbuild/golden/rotations.py"
    rate.c[1] = t3.c[1];
    vec3f t4 = rate;
#line 10 "/kbuild/golden/rotations.py"
    t(i).c[0] = t4.c[0];
#line 10 "/kbuild/golden/rotations.py"
    t(i).c[1] = t4.c[1];
#line 10 "/kbuild/golden/rotations.py"
    t(i).c[2] = t4.c[2];
}
}
