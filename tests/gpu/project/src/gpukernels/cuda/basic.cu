#include "cell.cuh"

__constant__ float weights[2] = {2.0f, 3.0f};

extern "C" __global__ void saxpy(int n, float a, const float *__restrict__ x, float *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = weights[0] * (a * x[i] + y[i]) + weights[1];
}

namespace image {
__global__ void fill(unsigned char *image, int n, unsigned char value, const int *mask) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && (!mask || mask[i])) image[i] = value;
}
}  // namespace image

__global__ void cells(Cell *out, Cell one, float3 direction) {
    out[threadIdx.x] = Cell{one.count + (int)threadIdx.x, one.weight * direction.y};
}

struct Half { unsigned short bits; };

__global__ void every_type(
    double *out, bool a, signed char b, short c, long long d, unsigned char e, unsigned short f, unsigned int g,
    unsigned long long h, double i, Half j) {
    const double all[] = {(double)a, (double)b, (double)c, (double)d, (double)e,
                          (double)f, (double)g, (double)h, i,         (double)j.bits};
    for (int k = 0; k < 10; ++k) out[k] = all[k];
}

__global__ void nobody_declares_this(int *x) { *x = 1; }
