// robosim.mapping as an engineer writes it by hand: raw pointers and sizes, and the same rounding.

__device__ inline int cell(float coordinate, float origin, float size)
{
    return (int)floorf((coordinate - origin) / size);
}

extern "C" __global__ void count_voxels(const float3 *points, int count, float3 origin, float size, int *counts, int nx,
                                        int ny, int nz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float3 point = points[i];
    if (point.z <= 0.0f) return;
    int x = cell(point.x, origin.x, size);
    int y = cell(point.y, origin.y, size);
    int z = cell(point.z, origin.z, size);
    if (0 <= x && x < nx && 0 <= y && y < ny && 0 <= z && z < nz) atomicAdd(&counts[(x * ny + y) * nz + z], 1);
}
