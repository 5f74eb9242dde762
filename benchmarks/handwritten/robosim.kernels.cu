// robosim.kernels as an engineer writes it by hand: raw pointers and sizes, and the same rounding, so that results are
// equal bit for bit. -fmad=false: what is to be fused says so.

struct Spring {
    int first;
    int second;
    float length;
    float stiffness;
    float damping;
};

__device__ inline float3 operator-(float3 a, float3 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
__device__ inline float3 operator-(float3 a) { return make_float3(-a.x, -a.y, -a.z); }
__device__ inline float3 operator*(float3 a, float s) { return make_float3(a.x * s, a.y * s, a.z * s); }
__device__ inline float3 operator/(float3 a, float s) { return make_float3(a.x / s, a.y / s, a.z / s); }
__device__ inline float dot(float3 a, float3 b) { return fmaf(a.z, b.z, fmaf(a.y, b.y, a.x * b.x)); }

__device__ inline float3 multiply_add(float3 a, float s, float3 b)
{
    return make_float3(fmaf(a.x, s, b.x), fmaf(a.y, s, b.y), fmaf(a.z, s, b.z));
}

__device__ inline void atomic_add(float3 *target, float3 value)
{
    atomicAdd(&target->x, value.x);
    atomicAdd(&target->y, value.y);
    atomicAdd(&target->z, value.z);
}

extern "C" __global__ void integrate(float3 *pos, float3 *vel, int count, float3 gravity, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float3 v = multiply_add(gravity, dt, vel[i]);
    vel[i] = v;
    pos[i] = multiply_add(v, dt, pos[i]);
}

extern "C" __global__ void spring_forces(const Spring *springs, int count, const float3 *pos, const float3 *vel,
                                         float3 *force)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Spring spring = springs[i];
    float3 along = pos[spring.second] - pos[spring.first];
    float length = sqrtf(dot(along, along));
    if (length < 1.0e-6f) return;
    float3 direction = along / length;
    float speed = dot(vel[spring.second] - vel[spring.first], direction);
    float3 pull = direction * fmaf(spring.damping, speed, spring.stiffness * (length - spring.length));
    atomic_add(&force[spring.first], pull);
    atomic_add(&force[spring.second], -pull);
}
