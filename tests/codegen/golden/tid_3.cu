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
struct kb_launch3 { unsigned int count, extent[2], magic[2], shift[2]; int origin[3]; };
struct kb_index3 { int axis[3]; };
__device__ __forceinline__ kb_index3 kb_locate(const kb_launch3 &launch, unsigned int l) {
    kb_index3 tid; unsigned int q;
    q = (__umulhi(l, launch.magic[1]) + l) >> launch.shift[1]; tid.axis[2] = (int)(l - q * launch.extent[1]) + launch.origin[2]; l = q;
    q = (__umulhi(l, launch.magic[0]) + l) >> launch.shift[0]; tid.axis[1] = (int)(l - q * launch.extent[0]) + launch.origin[1]; l = q;
    tid.axis[0] = (int)l + launch.origin[0];
    return tid;
}
template <class T> struct kb_array3 {
    char *data; int shape[3]; int stride[3];
    __device__ __forceinline__ T &operator()(long long i0, long long i1, long long i2) const { return *(T *)(data + (i0 * stride[0] + i1 * stride[1] + i2 * stride[2])); }
    __device__ __forceinline__ T &at(int i0, int i1, int i2) const { return *(T *)(kb_further(kb_further(data + kb_wide(i0, stride[0]), i1, stride[1]), i2, stride[2])); }
};
__device__ __forceinline__ void kb_wait() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

namespace kb_unit {

#line 5 "/kbuild/golden/tid_3.py"
// golden.tid_3:tid_3
extern "C" __global__ void tid_3(const kb_launch3 kb_launch, kb_array3<float> a)
{
    kb_wait();
    const unsigned int kb_linear = blockIdx.x * blockDim.x + threadIdx.x;
    if (kb_linear >= kb_launch.count) return;
    const kb_index3 kb_tid = kb_locate(kb_launch, kb_linear);
#line 6 "/kbuild/golden/tid_3.py"
    int i = kb_tid.axis[0];
#line 6 "/kbuild/golden/tid_3.py"
    int j = kb_tid.axis[1];
#line 6 "/kbuild/golden/tid_3.py"
    int k = kb_tid.axis[2];
    a.at(i, j, k) = (float)(i);
}
}
