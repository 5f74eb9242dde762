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
__device__ __forceinline__ void kb_wait() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ int kb_mul(int a, int b) { return (int)((unsigned int)a * (unsigned int)b); }

namespace kb_unit {

#line 5 "/kbuild/golden/loop_variable.py"
// golden.loop_variable:loop_variable
extern "C" __global__ void loop_variable(const kb_launch1 kb_launch, kb_array1<int> a, int n)
{
    kb_wait();
    const unsigned int kb_linear = blockIdx.x * blockDim.x + threadIdx.x + kb_launch.origin;
    if (kb_linear >= kb_launch.end) return;
    int i_2 = {};
#line 6 "/kbuild/golden/loop_variable.py"
    const int stop = n;
#line 6 "/kbuild/golden/loop_variable.py"
    for (int i = 0; i < stop; ++i) {
#line 6 "/kbuild/golden/loop_variable.py"
        i_2 = i;
        a.at(i_2) = i_2;
    }
#line 8 "/kbuild/golden/loop_variable.py"
    a.at(n) = i_2;
    const int stop_2 = n;
#line 9 "/kbuild/golden/loop_variable.py"
    for (int j = 0; j < stop_2; ++j) {
#line 9 "/kbuild/golden/loop_variable.py"
        int j_2 = j;
        j_2 = kb_mul(j_2, 2);
        a.at(j_2) = j_2;
    }
}
}
