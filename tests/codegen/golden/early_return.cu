#line 1 "/kbuild/helpers.h"
#pragma nv_diag_suppress 177
#pragma nv_diag_suppress 186
#pragma nv_diag_suppress 550
struct kb_launch1 { unsigned int end, origin; };
__device__ __forceinline__ int kb_mul(int a, int b) { return (int)((unsigned int)a * (unsigned int)b); }
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

#line 5 "/kbuild/golden/early_return.py"
__device__ __forceinline__ int own(const int kb_tid)
{
#line 6 "/kbuild/golden/early_return.py"
    return kb_mul(kb_tid, 2);
}

#line 10 "/kbuild/golden/early_return.py"
// golden.early_return:early_return
extern "C" __global__ void early_return(const kb_launch1 kb_launch, kb_array1<int> a, int n)
{
    kb_wait();
    const unsigned int kb_linear = blockIdx.x * blockDim.x + threadIdx.x + kb_launch.origin;
    if (kb_linear >= kb_launch.end) return;
    const int kb_tid = (int)kb_linear;
    int x = {};
#line 11 "/kbuild/golden/early_return.py"
    int i = kb_tid;
    if (i >= n) {
        return;
    } else if (a(i) == 0) {
        a(i) = own(kb_tid);
        return;
    }
#line 17 "/kbuild/golden/early_return.py"
    if (n > 3) {
        x = n;
    }
#line 19 "/kbuild/golden/early_return.py"
    a(i) = x;
}
}
