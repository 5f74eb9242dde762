// benchkernels.image as an engineer writes it by hand: raw pointers, sizes and row pitches.

__device__ inline int clamp(int value, int low, int high) { return min(max(value, low), high); }

extern "C" __global__ void blur(const unsigned char *source, int source_pitch, unsigned char *target, int target_pitch,
                                int width, int height)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    int total = 0;
    for (int down = -1; down <= 1; ++down) {
        for (int right = -1; right <= 1; ++right) {
            int y = clamp(row + down, 0, height - 1);
            int x = clamp(column + right, 0, width - 1);
            total += source[y * source_pitch + x];
        }
    }
    target[row * target_pitch + column] = (total + 4) / 9;
}

extern "C" __global__ void histogram(const unsigned char *image, int pitch, int width, int height, int *counts)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < width && row < height) atomicAdd(&counts[image[row * pitch + column]], 1);
}

extern "C" __global__ void mandelbrot(float x0, float y0, float step, int limit, int *counts, int pitch, int width,
                                      int height)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    float re = fmaf(column, step, x0);
    float im = fmaf(row, step, y0);
    float x = 0.0f, y = 0.0f;
    int n = 0;
    while (n < limit && fmaf(y, y, x * x) < 4.0f) {
        float next = fmaf(-y, y, x * x) + re;
        y = fmaf(2.0f * x, y, im);
        x = next;
        ++n;
    }
    counts[row * pitch + column] = n;
}

extern "C" __global__ void threshold(const unsigned char *source, int source_pitch, int level, unsigned char *target,
                                     int target_pitch, int width, int height)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    target[row * target_pitch + column] = source[row * source_pitch + column] >= level ? 255 : 0;
}
