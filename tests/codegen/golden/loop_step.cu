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

#line 5 "/kbuild/golden/loop_step.py"
// golden.loop_step:loop_step
extern "C" __global__ void loop_step(const kb_launch1 kb_launch, kb_array1<float> a, int n, int step)
{
    kb_wait();
    const unsigned int kb_linear = blockIdx.x * blockDim.x + threadIdx.x + kb_launch.origin;
    if (kb_linear >= kb_launch.end) return;
#line 6 "/kbuild/golden/loop_step.py"
    const int stop = n;
#line 6 "/kbuild/golden/loop_step.py"
    if (stop <= 2147483645 && a.dense()) {
#line 6 "/kbuild/golden/loop_step.py"
        for (int i = 0; i < stop; i += 2) {
            a.near(i) = 1.0f;
        }
    } else {
#line 6 "/kbuild/golden/loop_step.py"
        const int start = 0;
#line 6 "/kbuild/golden/loop_step.py"
        const int stop_2 = n;
#line 6 "/kbuild/golden/loop_step.py"
        const int step_2 = 2;
#line 6 "/kbuild/golden/loop_step.py"
        const unsigned int trips = (start < stop_2 ? ((unsigned int)stop_2 - (unsigned int)start - 1) / (unsigned int)step_2 + 1 : 0);
#line 6 "/kbuild/golden/loop_step.py"
        _Pragma("unroll 2") for (unsigned int trip = 0; trip < trips; ++trip) {
#line 6 "/kbuild/golden/loop_step.py"
            const int i = (int)((unsigned int)start + trip * (unsigned int)step_2);
            a.at(i) = 1.0f;
        }
    }
#line 8 "/kbuild/golden/loop_step.py"
    for (int i_2 = n; i_2 > (-1); --i_2) {
        a.at(i_2) = 2.0f;
    }
#line 10 "/kbuild/golden/loop_step.py"
    const int start_2 = 0;
#line 10 "/kbuild/golden/loop_step.py"
    const int stop_3 = n;
#line 10 "/kbuild/golden/loop_step.py"
    const int step_3 = step;
#line 10 "/kbuild/golden/loop_step.py"
    const unsigned int trips_2 = step_3 > 0 ? (start_2 < stop_3 ? ((unsigned int)stop_3 - (unsigned int)start_2 - 1) / (unsigned int)step_3 + 1 : 0) : step_3 < 0 ? (start_2 > stop_3 ? ((unsigned int)start_2 - (unsigned int)stop_3 - 1) / (0 - (unsigned int)step_3) + 1 : 0) : 0;
#line 10 "/kbuild/golden/loop_step.py"
    for (unsigned int trip_2 = 0; trip_2 < trips_2; ++trip_2) {
#line 10 "/kbuild/golden/loop_step.py"
        const int i_3 = (int)((unsigned int)start_2 + trip_2 * (unsigned int)step_3);
        a.at(i_3) = 3.0f;
    }
}
}
