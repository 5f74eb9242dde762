// robosim.vision as an engineer writes it by hand: raw pointers, sizes and row pitches, and the same rounding.

struct Camera {
    float fx, fy, cx, cy;
};

__device__ inline float saturate(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }

__device__ inline float3 yuv_to_rgb(float y, float u, float v)
{
    float grey = (y - 16.0f) * (float)(1.0 / 219.0);
    u -= 128.0f;
    v -= 128.0f;
    return make_float3(saturate(fmaf(v, (float)(1.5748 / 224.0), grey)),
                       saturate(fmaf(v, (float)(-0.4681 / 224.0), fmaf(u, (float)(-0.1873 / 224.0), grey))),
                       saturate(fmaf(u, (float)(1.8556 / 224.0), grey)));
}

extern "C" __global__ void depth_to_points(const unsigned short *depth, int width, int height, int pitch, Camera camera,
                                           float3 *points)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    float metres = depth[row * pitch + column] * 0.001f;
    points[row * width + column] = make_float3((column - camera.cx) / camera.fx * metres,
                                               (row - camera.cy) / camera.fy * metres, metres);
}

extern "C" __global__ void nv12_to_rgb(const unsigned char *frame, int width, int height, int pitch, float3 mean,
                                       float3 scale, float *rgb)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    const unsigned char *pair = frame + (height + row / 2) * pitch + column / 2 * 2;
    float3 color = yuv_to_rgb(frame[row * pitch + column], pair[0], pair[1]);
    int plane = width * height;
    float *pixel = rgb + row * width + column;
    pixel[0] = (color.x - mean.x) * scale.x;
    pixel[plane] = (color.y - mean.y) * scale.y;
    pixel[2 * plane] = (color.z - mean.z) * scale.z;
}
