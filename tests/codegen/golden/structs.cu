#line 1 "/kbuild/helpers.h"
#pragma nv_diag_suppress 177
#pragma nv_diag_suppress 186
#pragma nv_diag_suppress 550
struct kb_launch1 { unsigned int end, origin; };
struct vec3f { float c[3]; };
__device__ __forceinline__ vec3f operator+(vec3f a, vec3f b) { return vec3f{{(a.c[0] + b.c[0]), (a.c[1] + b.c[1]), (a.c[2] + b.c[2])}}; }
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
struct Body {
    float mass;
    vec3f position;
    bool active;
};
static_assert(sizeof(Body) == 20, "layout");

#line 12 "/kbuild/golden/structs.py"
__device__ __forceinline__ Body moved(Body body, vec3f by)
{
#line 13 "/kbuild/golden/structs.py"
    Body result = body;
    result.position = body.position + by;
    return result;
}

#line 19 "/kbuild/golden/structs.py"
// golden.structs:structs
extern "C" __global__ void structs(const kb_launch1 kb_launch, kb_array1<Body> bodies, Body first)
{
    kb_wait();
    const unsigned int kb_linear = blockIdx.x * blockDim.x + threadIdx.x + kb_launch.origin;
    if (kb_linear >= kb_launch.end) return;
    const int kb_tid = (int)kb_linear;
#line 20 "/kbuild/golden/structs.py"
    int i = kb_tid;
    bodies(i) = moved(first, vec3f{{0.0f, 1.0f, 0.0f}});
    bodies(i).active = !first.active;
    bodies(0) = Body{1.0f, vec3f{{0.0f, 0.0f, 0.0f}}, false};
}
}
