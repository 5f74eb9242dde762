#include <depthcam/image.cuh>

namespace depthcam {

__constant__ float gaussian[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

// Smooths without crossing edges; a depth of 0 is no measurement.
template <int Radius>
__global__ void bilateral(Size size, float space, float range, const float *__restrict__ depth, float *out) {
    const Pixel p = pixel();
    if (!size.has(p.x, p.y)) return;
    const float centre = depth[size.at(p.x, p.y)];
    float sum = 0.0f, weights = 0.0f;
#pragma unroll
    for (int dy = -Radius; dy <= Radius; ++dy) {
#pragma unroll
        for (int dx = -Radius; dx <= Radius; ++dx) {
            const float other = depth[size.clamped(p.x + dx, p.y + dy)];
            const float apart = other - centre;
            const float weight = other > 0.0f ? expf(-space * (dx * dx + dy * dy) - range * apart * apart) : 0.0f;
            sum += weight * other;
            weights += weight;
        }
    }
    out[size.at(p.x, p.y)] = centre > 0.0f ? sum / weights : 0.0f;
}

// One of the two passes of a Gaussian, along x or y.
template <class T, bool AlongX>
__global__ void smooth(Size size, const T *__restrict__ in, T *out) {
    const Pixel p = pixel();
    if (!size.has(p.x, p.y)) return;
    float sum = 0.0f;
#pragma unroll
    for (int k = -2; k <= 2; ++k) {
        const int at = AlongX ? size.clamped(p.x + k, p.y) : size.clamped(p.x, p.y + k);
        sum += gaussian[k + 2] * float(in[at]);
    }
    out[size.at(p.x, p.y)] = T(sum);
}

// Half as wide and high: the mean of those measurements of four that are near the first.
extern "C" __global__ void halve(Size small, Size large, float range, const float *__restrict__ depth, float *out) {
    const Pixel p = pixel();
    if (!small.has(p.x, p.y)) return;
    const float first = depth[large.clamped(2 * p.x, 2 * p.y)];
    float sum = 0.0f;
    int count = 0;
    for (int k = 0; k < 4; ++k) {
        const float other = depth[large.clamped(2 * p.x + k % 2, 2 * p.y + k / 2)];
        if (other > 0.0f && fabsf(other - first) <= range) {
            sum += other;
            ++count;
        }
    }
    out[small.at(p.x, p.y)] = count ? sum / count : 0.0f;
}

}  // namespace depthcam
