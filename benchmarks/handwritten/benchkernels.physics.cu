// benchkernels.physics as an engineer writes it by hand: raw pointers and sizes, and the same rounding.

__device__ inline float3 operator-(float3 a, float3 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
__device__ inline float3 operator*(float3 a, float s) { return make_float3(a.x * s, a.y * s, a.z * s); }
__device__ inline float3 operator/(float3 a, float s) { return make_float3(a.x / s, a.y / s, a.z / s); }
__device__ inline float dot(float3 a, float3 b) { return fmaf(a.z, b.z, fmaf(a.y, b.y, a.x * b.x)); }

__device__ inline float3 multiply_add(float3 a, float s, float3 b)
{
    return make_float3(fmaf(a.x, s, b.x), fmaf(a.y, s, b.y), fmaf(a.z, s, b.z));
}

extern "C" __global__ void attraction(const float3 *pos, const float *mass, float3 *force, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float3 here = pos[i];
    float3 total = make_float3(0.0f, 0.0f, 0.0f);
    for (int j = 0; j < count; ++j) {
        float3 away = pos[j] - here;
        float inverse = rsqrtf(dot(away, away) + 0.0001f);
        total = multiply_add(away, mass[j] * inverse * inverse * inverse, total);
    }
    force[i] = total;
}

extern "C" __global__ void bounce(float3 *pos, float3 *vel, float radius, float loss, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float3 p = pos[i];
    float distance = sqrtf(dot(p, p));
    if (distance <= radius) return;
    float3 normal = p / distance;
    float3 v = vel[i];
    float speed = dot(v, normal);
    if (speed > 0.0f) vel[i] = multiply_add(normal, -(speed * (1.0f + loss)), v);
    pos[i] = normal * radius;
}

extern "C" __global__ void pendulum(float *angle, float *rate, float length, float dt, int steps, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float a = angle[i];
    float w = rate[i];
    for (int step = 0; step < steps; ++step) {
        w = fmaf(-(sinf(a) * (9.81f / length)), dt, w);
        a = fmaf(w, dt, a);
    }
    angle[i] = a;
    rate[i] = w;
}

extern "C" __global__ void step(float3 *pos, float3 gravity, float dt, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) pos[i] = multiply_add(gravity, dt, pos[i]);
}
