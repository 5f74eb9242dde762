// benchkernels.launching as an engineer writes it by hand: raw pointers and sizes, and the same rounding.

struct Settings {
    float stiffness, damping;
    int limit;
    float3 offset;
};

struct Matrix {
    float at[9];
};

__device__ inline float3 add(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }

__device__ inline float3 multiply_add(float3 a, float s, float3 b)
{
    return make_float3(fmaf(a.x, s, b.x), fmaf(a.y, s, b.y), fmaf(a.z, s, b.z));
}

__device__ inline float row(const float *m, float3 v) { return fmaf(m[2], v.z, fmaf(m[1], v.y, m[0] * v.x)); }

__device__ inline float3 turned(const Matrix &m, float3 v)
{
    return make_float3(row(m.at, v), row(m.at + 3, v), row(m.at + 6, v));
}

extern "C" __global__ void args1(float3 *pos, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) pos[i] = add(pos[i], make_float3(1.0f, 2.0f, 3.0f));
}

extern "C" __global__ void args4(float3 *pos, float3 gravity, float dt, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) pos[i] = multiply_add(gravity, dt, pos[i]);
}

extern "C" __global__ void args16(float3 *pos, const float3 *vel, const float3 *force, const float *mass,
                                  const float *radius, const int *kind, const float *heights, const Matrix *frames,
                                  Settings settings, float3 gravity, Matrix turn, int count, int kinds, float dt,
                                  float loss, float scale)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float3 o = settings.offset;
    float s = settings.stiffness;
    float3 push = add(multiply_add(force[i], mass[i], make_float3(o.x * s, o.y * s, o.z * s)), turned(turn, gravity));
    float more = fmaf(radius[i] + heights[i] + settings.damping, loss, scale);
    float index = (float)(kind[i] + kinds + settings.limit);
    float3 moved = multiply_add(add(add(vel[i], push), turned(frames[i], gravity)), dt, pos[i]);
    pos[i] = add(moved, make_float3(more, index, more));
}
