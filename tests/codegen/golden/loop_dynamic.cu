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
    __device__ __forceinline__ T &near(long long i0) const { return ((T *)(data))[i0]; }
    __device__ __forceinline__ bool dense() const { return stride[0] == (int)sizeof(T); }
};
__device__ __forceinline__ void kb_wait() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

namespace kb_unit {

#line 5 "/kbuild/golden/loop_dynamic.py"
// golden.loop_dynamic:loop_dynamic
extern "C" __global__ void loop_dynamic(const kb_launch1 kb_launch, kb_array1<float> a, int n)
{
    kb_wait();
    const unsigned int kb_linear = blockIdx.x * blockDim.x + threadIdx.x + kb_launch.origin;
    if (kb_linear >= kb_launch.end) return;
#line 6 "/kbuild/golden/loop_dynamic.py"
    const int stop = n;
#line 6 "/kbuild/golden/loop_dynamic.py"
    if (a.dense()) {
#line 6 "/kbuild/golden/loop_dynamic.py"
        for (int i = 0; i < stop; ++i) {
            a.near(i) = 1.0f;
        }
    } else {
#line 6 "/kbuild/golden/loop_dynamic.py"
        const int stop_2 = n;
#line 6 "/kbuild/golden/loop_dynamic.py"
        _Pragma("unroll 2") for (int i = 0; i < stop_2; ++i) {
            a.at(i) = 1.0f;
        }
    }
#line 8 "/kbuild/golden/loop_dynamic.py"
    const int start = n;
#line 8 "/kbuild/golden/loop_dynamic.py"
    const int stop_3 = a.shape[0];
#line 8 "/kbuild/golden/loop_dynamic.py"
    if (a.dense()) {
#line 8 "/kbuild/golden/loop_dynamic.py"
        for (int i_2 = start; i_2 < stop_3; ++i_2) {
            a.near(i_2) = 2.0f;
        }
    } else {
#line 8 "/kbuild/golden/loop_dynamic.py"
        const int stop_4 = a.shape[0];
#line 8 "/kbuild/golden/loop_dynamic.py"
        _Pragma("unroll 2") for (int i_2 = n; i_2 < stop_4; ++i_2) {
            a.at(i_2) = 2.0f;
        }
    }
}
}
