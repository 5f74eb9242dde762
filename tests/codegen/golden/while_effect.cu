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
__device__ __forceinline__ int kb_add(int a, int b) { return (int)((unsigned int)a + (unsigned int)b); }
__device__ __forceinline__ int kb_atomic_add(int &p, int v) { return (int)atomicAdd((int *)&p, (int)v); }

namespace kb_unit {

#line 5 "/kbuild/golden/while_effect.py"
// golden.while_effect:while_effect
extern "C" __global__ void while_effect(const kb_launch1 kb_launch, kb_array1<int> a)
{
    kb_wait();
    const unsigned int kb_linear = blockIdx.x * blockDim.x + threadIdx.x + kb_launch.origin;
    if (kb_linear >= kb_launch.end) return;
#line 6 "/kbuild/golden/while_effect.py"
    while (true) {
#line 6 "/kbuild/golden/while_effect.py"
        int t1 = kb_atomic_add(a(0), 1);
#line 6 "/kbuild/golden/while_effect.py"
        if (!(t1 < 10)) {
#line 6 "/kbuild/golden/while_effect.py"
            break;
        }
#line 7 "/kbuild/golden/while_effect.py"
        a(1) = a(0);
        if (a(1) > 5) {
            break;
        }
    }
}
}
