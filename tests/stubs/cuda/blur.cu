#include <kbuild/array.cuh>

template <int Radius>
__global__ void blur(int n, float scale, kb::array<float> image) {
    const int i = threadIdx.x;
    if (i >= Radius && i < n) image(i) = scale * image(i - Radius);
}
