// Images in memory, row by row.
#pragma once

namespace depthcam {

struct Size {
    int width, height;
    __device__ __forceinline__ bool has(int x, int y) const { return x >= 0 && y >= 0 && x < width && y < height; }
    __device__ __forceinline__ int at(int x, int y) const { return y * width + x; }
    __device__ __forceinline__ int clamped(int x, int y) const {
        return at(min(max(x, 0), width - 1), min(max(y, 0), height - 1));
    }
};

struct Pixel {
    int x, y;
};

__device__ __forceinline__ Pixel pixel() {
    return {int(blockIdx.x * blockDim.x + threadIdx.x), int(blockIdx.y * blockDim.y + threadIdx.y)};
}

// Focal lengths and principal point, in pixels.
struct Camera {
    float fx, fy, cx, cy;
};

}  // namespace depthcam
