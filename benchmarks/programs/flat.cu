// The kernels of benchkernels.launching for who passes numbers and pointers only: members of vectors, matrices and
// structs are arguments of their own.

extern "C" __global__ void args1(float *pos, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    for (int k = 0; k < 3; ++k) pos[3 * i + k] += 1.0f + k;
}

extern "C" __global__ void args4(float *pos, float gx, float gy, float gz, float dt, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float gravity[3] = {gx, gy, gz};
    for (int k = 0; k < 3; ++k) pos[3 * i + k] += gravity[k] * dt;
}

extern "C" __global__ void args16(float *pos, const float *vel, const float *force, const float *mass,
                                  const float *radius, const int *kind, const float *heights, const float *frames,
                                  float stiffness, float damping, int limit, float ox, float oy, float oz, float gx,
                                  float gy, float gz, float t0, float t1, float t2, float t3, float t4, float t5,
                                  float t6, float t7, float t8, int count, int kinds, float dt, float loss,
                                  float scale)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float offset[3] = {ox, oy, oz}, gravity[3] = {gx, gy, gz}, turn[9] = {t0, t1, t2, t3, t4, t5, t6, t7, t8};
    float more = (radius[i] + heights[i] + damping) * loss + scale;
    float index = (float)(kind[i] + kinds + limit);
    for (int k = 0; k < 3; ++k) {
        float sum = vel[3 * i + k] + force[3 * i + k] * mass[i] + offset[k] * stiffness;
        for (int j = 0; j < 3; ++j) sum += (turn[3 * k + j] + frames[9 * i + 3 * k + j]) * gravity[j];
        pos[3 * i + k] += sum * dt + (k == 1 ? index : more);
    }
}

extern "C" __global__ void integrate(float *pos, float *vel, int count, float gx, float gy, float gz, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float gravity[3] = {gx, gy, gz};
    for (int k = 0; k < 3; ++k) {
        float v = fmaf(gravity[k], dt, vel[3 * i + k]);
        vel[3 * i + k] = v;
        pos[3 * i + k] = fmaf(v, dt, pos[3 * i + k]);
    }
}
