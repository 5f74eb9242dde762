// Vectors and rigid motions.
#pragma once

namespace depthcam {

template <class T>
struct Vec3 {
    T x, y, z;
};

template <class T>
__device__ __forceinline__ Vec3<T> operator+(Vec3<T> a, Vec3<T> b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
template <class T>
__device__ __forceinline__ Vec3<T> operator-(Vec3<T> a, Vec3<T> b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
template <class T>
__device__ __forceinline__ Vec3<T> operator*(T s, Vec3<T> a) { return {s * a.x, s * a.y, s * a.z}; }
template <class T>
__device__ __forceinline__ T dot(Vec3<T> a, Vec3<T> b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
template <class T>
__device__ __forceinline__ Vec3<T> cross(Vec3<T> a, Vec3<T> b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
__device__ __forceinline__ Vec3<float> normalized(Vec3<float> a) {
    const float length = sqrtf(dot(a, a));
    return length > 0.0f ? (1.0f / length) * a : Vec3<float>{0.0f, 0.0f, 0.0f};
}

using Float3 = Vec3<float>;

// A rotation, row by row, and then a translation.
struct Motion {
    Float3 row[3];
    Float3 offset;
    __device__ __forceinline__ Float3 turned(Float3 p) const {
        return {dot(row[0], p), dot(row[1], p), dot(row[2], p)};
    }
    __device__ __forceinline__ Float3 moved(Float3 p) const { return turned(p) + offset; }
};

}  // namespace depthcam
