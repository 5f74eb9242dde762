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
template <class T> struct kb_array2 {
    char *data; int shape[2]; int stride[2];
    __device__ __forceinline__ T &operator()(long long i0, long long i1) const { return *(T *)(data + (i0 * stride[0] + i1 * stride[1])); }
    __device__ __forceinline__ T &at(int i0, int i1) const { return *(T *)(kb_further(data + kb_wide(i0, stride[0]), i1, stride[1])); }
};
__device__ __forceinline__ void kb_wait() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

namespace kb_unit {

#line 5 "/kbuild/golden/tid_2.py"
// golden.tid_2:tid_2
extern "C" __global__ void tid_2(const kb_launch2 kb_launch, kb_array2<float> a)
{
    kb_wait();
    const unsigned int kb_linear = blockIdx.x * blockDim.x + threadIdx.x;
    if (kb_linear >= kb_launch.count) return;
    const kb_index2 kb_tid = kb_locate(kb_launch, kb_linear);
#line 6 "/kbuild/golden/tid_2.py"
    int i = kb_tid.axis[0];
#line 6 "/kbuild/golden/tid_2.py"
    int j = kb_tid.axis[1];
    a.at(i, j) = (float)(i);
}
}
