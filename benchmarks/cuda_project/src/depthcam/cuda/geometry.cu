#include <depthcam/image.cuh>
#include <depthcam/vector.cuh>

namespace depthcam {

// A point in front of the camera for each pixel [m].
__global__ void points(Size size, Camera camera, const float *__restrict__ depth, Float3 *out) {
    const Pixel p = pixel();
    if (!size.has(p.x, p.y)) return;
    const float z = depth[size.at(p.x, p.y)];
    out[size.at(p.x, p.y)] = {(p.x - camera.cx) * z / camera.fx, (p.y - camera.cy) * z / camera.fy, z};
}

// The normal of the surface at each pixel; zero where it cannot be told.
__global__ void normals(Size size, const Float3 *__restrict__ points, Float3 *out) {
    const Pixel p = pixel();
    if (!size.has(p.x, p.y)) return;
    const Float3 left = points[size.clamped(p.x - 1, p.y)], right = points[size.clamped(p.x + 1, p.y)];
    const Float3 above = points[size.clamped(p.x, p.y - 1)], below = points[size.clamped(p.x, p.y + 1)];
    const bool known = left.z > 0.0f && right.z > 0.0f && above.z > 0.0f && below.z > 0.0f;
    const Float3 found = normalized(cross(below - above, right - left));
    out[size.at(p.x, p.y)] = known ? found : Float3{0.0f, 0.0f, 0.0f};
}

__global__ void move(int count, Motion motion, const Float3 *__restrict__ points, Float3 *out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = motion.moved(points[i]);
}

}  // namespace depthcam
