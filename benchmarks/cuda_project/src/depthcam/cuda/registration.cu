#include <depthcam/block.cuh>
#include <depthcam/image.cuh>
#include <depthcam/vector.cuh>

namespace depthcam {

// The normal equations of a step of point-to-plane registration (Chen and Medioni, 1992): for each block the upper
// triangle of the 6 x 6 matrix, the right side, the squared error and the number of pairs, 29 numbers.
template <int Threads>
__global__ void equations(
    Size size, Camera camera, Motion motion, float nearest, const Float3 *__restrict__ points,
    const Float3 *__restrict__ model, const Float3 *__restrict__ model_normals, float *out) {
    float row[6] = {}, error = 0.0f;
    bool is_pair = false;
    const int i = blockIdx.x * Threads + threadIdx.x;
    if (i < size.width * size.height && points[i].z > 0.0f) {
        const Float3 p = motion.moved(points[i]);
        const int x = __float2int_rn(p.x * camera.fx / p.z + camera.cx);
        const int y = __float2int_rn(p.y * camera.fy / p.z + camera.cy);
        if (p.z > 0.0f && size.has(x, y)) {
            const Float3 q = model[size.at(x, y)], n = model_normals[size.at(x, y)];
            const Float3 apart = q - p;
            is_pair = q.z > 0.0f && dot(n, n) > 0.5f && dot(apart, apart) < nearest * nearest;
            if (is_pair) {
                const Float3 turn = cross(p, n);
                row[0] = turn.x, row[1] = turn.y, row[2] = turn.z, row[3] = n.x, row[4] = n.y, row[5] = n.z;
                error = dot(n, apart);
            }
        }
    }
    int k = 0;
    float *mine = out + 29 * blockIdx.x;
#pragma unroll
    for (int a = 0; a < 6; ++a) {
#pragma unroll
        for (int b = a; b < 6; ++b, ++k) {
            const float sum = reduce_block<Sum, Threads>(row[a] * row[b], 0.0f);
            if (threadIdx.x == 0) mine[k] = sum;
        }
    }
#pragma unroll
    for (int a = 0; a < 6; ++a, ++k) {
        const float sum = reduce_block<Sum, Threads>(row[a] * error, 0.0f);
        if (threadIdx.x == 0) mine[k] = sum;
    }
    const float squares = reduce_block<Sum, Threads>(error * error, 0.0f);
    const float pairs = reduce_block<Sum, Threads>(is_pair ? 1.0f : 0.0f, 0.0f);
    if (threadIdx.x == 0) mine[27] = squares, mine[28] = pairs;
}

}  // namespace depthcam
