// benchkernels.linear as an engineer writes it by hand: raw pointers and sizes, and the same rounding.

extern "C" __global__ void matrix_product(const float *a, const float *b, float *c, int rows, int columns, int inner)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= columns || row >= rows) return;
    float total = 0.0f;
    for (int k = 0; k < inner; ++k) total = fmaf(a[row * inner + k], b[k * columns + column], total);
    c[row * columns + column] = total;
}

extern "C" __global__ void saxpy(float a, const float *x, float *y, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] = fmaf(a, x[i], y[i]);
}

extern "C" __global__ void total(const float *values, int count, int share, float *result, int threads)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= threads) return;
    int first = thread * share;
    int last = min(first + share, count);
    float mine = 0.0f;
    for (int i = first; i < last; ++i) mine += values[i];
    atomicAdd(result, mine);
}

struct Matrix {
    float m[3][3];
};

__device__ inline float row_times(const float *row, float3 v)
{
    return fmaf(row[2], v.z, fmaf(row[1], v.y, row[0] * v.x));
}

extern "C" __global__ void transform(const float3 *points, Matrix rotation, float3 offset, float3 *moved, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float3 p = points[i];
    moved[i] = make_float3(row_times(rotation.m[0], p) + offset.x, row_times(rotation.m[1], p) + offset.y,
                           row_times(rotation.m[2], p) + offset.z);
}
