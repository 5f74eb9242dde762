#line 1 "/kbuild/helpers.h"
#pragma nv_diag_suppress 177
#pragma nv_diag_suppress 186
#pragma nv_diag_suppress 550
struct kb_launch1 { unsigned int end, origin; };
template <class T> struct kb_array1 {
    char *data; int shape[1]; int stride[1];
    __device__ __forceinline__ T &operator()(long long i0) const { return *(T *)(data + (i0 * stride[0])); }
};
__device__ __forceinline__ int kb_neg(int a) { return (int)(0 - (unsigned int)a); }
__device__ __forceinline__ int kb_add(int a, int b) { return (int)((unsigned int)a + (unsigned int)b); }
__device__ __forceinline__ int kb_atomic_add(int &p, int v) { return (int)atomicAdd((int *)&p, (int)v); }
__device__ __forceinline__ void kb_wait() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

namespace kb_unit {

#line 5 "/kbuild/golden/short_circuit.py"
__device__ __forceinline__ bool take(kb_array1<int> a, int i)
{
#line 6 "/kbuild/golden/short_circuit.py"
    kb_atomic_add(a(i), kb_neg(1));
    return a(i) > 0;
}

#line 11 "/kbuild/golden/short_circuit.py"
// golden.short_circuit:short_circuit
extern "C" __global__ void short_circuit(const kb_launch1 kb_launch, kb_array1<int> a, int n)
{
    kb_wait();
    const unsigned int kb_linear = blockIdx.x * blockDim.x + threadIdx.x + kb_launch.origin;
    if (kb_linear >= kb_launch.end) return;
    bool t4 = {};
#line 12 "/kbuild/golden/short_circuit.py"
    bool t2 = n > 0;
#line 12 "/kbuild/golden/short_circuit.py"
    if (t2) {
#line 12 "/kbuild/golden/short_circuit.py"
        bool t1 = take(a, n);
#line 12 "/kbuild/golden/short_circuit.py"
        t2 = t1;
    }
#line 12 "/kbuild/golden/short_circuit.py"
    if (t2) {
        a(0) = 1;
    }
#line 14 "/kbuild/golden/short_circuit.py"
    bool b = (n > 1) || (n < (-1));
    if (b) {
#line 15 "/kbuild/golden/short_circuit.py"
        bool t3 = take(a, 1);
#line 15 "/kbuild/golden/short_circuit.py"
        t4 = t3;
    } else {
#line 15 "/kbuild/golden/short_circuit.py"
        t4 = n > 3;
    }
#line 15 "/kbuild/golden/short_circuit.py"
    bool c = t4;
    a(2) = (int)(c);
}
}
