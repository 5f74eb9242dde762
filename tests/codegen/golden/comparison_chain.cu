#line 1 "/kbuild/helpers.h"
#pragma nv_diag_suppress 177
#pragma nv_diag_suppress 186
#pragma nv_diag_suppress 550
struct kb_launch1 { unsigned int end, origin; };
template <class T> struct kb_array1 {
    char *data; int shape[1]; int stride[1];
    __device__ __forceinline__ T &operator()(long long i0) const { return *(T *)(data + (i0 * stride[0])); }
};
__device__ __forceinline__ void kb_wait() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

namespace kb_unit {

#line 5 "/kbuild/golden/comparison_chain.py"
// golden.comparison_chain:comparison_chain
extern "C" __global__ void comparison_chain(const kb_launch1 kb_launch, kb_array1<float> a, float x)
{
    kb_wait();
    const unsigned int kb_linear = blockIdx.x * blockDim.x + threadIdx.x + kb_launch.origin;
    if (kb_linear >= kb_launch.end) return;
#line 6 "/kbuild/golden/comparison_chain.py"
    bool t2 = 0.0f < x;
#line 6 "/kbuild/golden/comparison_chain.py"
    if (t2) {
#line 6 "/kbuild/golden/comparison_chain.py"
        float t1 = a(0);
#line 6 "/kbuild/golden/comparison_chain.py"
        t2 = (x <= t1) && (t1 < 10.0f);
    }
#line 6 "/kbuild/golden/comparison_chain.py"
    if (t2) {
        a(1) = x;
    }
}
}
