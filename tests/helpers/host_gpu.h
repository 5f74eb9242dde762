// A stand-in for CUDA on the host: what generated code uses of it, for one thread at a time.
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define __device__
#define __constant__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __global__
#define __forceinline__ inline

struct host_index { unsigned int x, y, z; };
struct alignas(8) uint2 { unsigned int x, y; };
struct alignas(16) uint4 { unsigned int x, y, z, w; };
static thread_local host_index blockIdx, blockDim, threadIdx, gridDim;

// Shared memory that a launch gives.
alignas(16) static unsigned char kb_dynamic[1 << 16];
static unsigned int kb_dynamic_size;
static inline unsigned int kb_dynamic_bytes() { return kb_dynamic_size; }

static inline unsigned int __umulhi(unsigned int a, unsigned int b) { return (unsigned int)(((uint64_t)a * b) >> 32); }

template <class To, class From> static inline To host_bits(From value) {
    static_assert(sizeof(To) == sizeof(From), "bits");
    To result;
    memcpy(&result, &value, sizeof(result));
    return result;
}
static inline unsigned int __float_as_uint(float x) { return host_bits<unsigned int>(x); }
static inline float __uint_as_float(unsigned int x) { return host_bits<float>(x); }
static inline long long __double_as_longlong(double x) { return host_bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return host_bits<double>(x); }

// Float to integer: truncates and saturates. A NaN gives 0 between 32-bit types, and the top bit alone elsewhere.
template <class To, class From> static inline To host_rz(From x, To low, To high, To nan) {
    if (x != x) return nan;
    if (x <= (From)low) return low;
    return x >= (From)high ? high : (To)x;
}
static inline int __float2int_rz(float x) { return host_rz<int>(x, INT_MIN, INT_MAX, 0); }
static inline unsigned int __float2uint_rz(float x) { return host_rz<unsigned int>(x, 0, UINT_MAX, 0); }
static inline long long __float2ll_rz(float x) { return host_rz<long long>(x, LLONG_MIN, LLONG_MAX, LLONG_MIN); }
static inline unsigned long long __float2ull_rz(float x) { return host_rz<unsigned long long>(x, 0, ULLONG_MAX, 1ull << 63); }
static inline int __double2int_rz(double x) { return host_rz<int>(x, INT_MIN, INT_MAX, INT_MIN); }
static inline unsigned int __double2uint_rz(double x) { return host_rz<unsigned int>(x, 0, UINT_MAX, 1u << 31); }
static inline long long __double2ll_rz(double x) { return host_rz<long long>(x, LLONG_MIN, LLONG_MAX, LLONG_MIN); }
static inline unsigned long long __double2ull_rz(double x) { return host_rz<unsigned long long>(x, 0, ULLONG_MAX, 1ull << 63); }

// Half precision, exact in double: 11 significant bits, 2^-24 the smallest.
static inline float host_from_half(unsigned short bits) {
    int exponent = (bits >> 10) & 31, fraction = bits & 1023;
    double magnitude = exponent == 31 ? (fraction ? NAN : INFINITY)
                     : exponent == 0 ? ldexp((double)fraction, -24)
                                     : ldexp((double)(fraction + 1024), exponent - 25);
    return (float)(bits & 0x8000 ? -magnitude : magnitude);
}
static inline unsigned short host_to_half(double x) {
    unsigned short sign = signbit(x) ? 0x8000 : 0;
    double magnitude = fabs(x);
    if (x != x) return 0x7fff;
    if (magnitude >= 65520.0) return sign | 0x7c00;
    int exponent;
    frexp(magnitude, &exponent);
    if (exponent < -13) exponent = -13;
    double units = nearbyint(ldexp(magnitude, 11 - exponent));
    int whole = (int)units;
    // A carry into the next power of two moves into the exponent by itself.
    return sign | (unsigned short)(whole < 1024 ? whole : ((exponent + 13) << 10) + whole);
}

template <class T> static inline T host_swap(T *p, T value) { T old = *p; *p = value; return old; }
template <class T> static inline T atomicAdd(T *p, T v) { return host_swap(p, (T)(*p + v)); }
template <> inline int atomicAdd(int *p, int v) { return host_swap(p, (int)((unsigned int)*p + (unsigned int)v)); }
template <class T> static inline T atomicMin(T *p, T v) { return host_swap(p, v < *p ? v : *p); }
template <class T> static inline T atomicMax(T *p, T v) { return host_swap(p, v > *p ? v : *p); }
template <class T> static inline T atomicExch(T *p, T v) { return host_swap(p, v); }
template <class T> static inline T atomicCAS(T *p, T compare, T v) { return host_swap(p, *p == compare ? v : *p); }

// Other scopes, fences and hints make no difference for one thread at a time.
#define host_scoped(name) \
    template <class T> static inline T name##_block(T *p, T v) { return name(p, v); } \
    template <class T> static inline T name##_system(T *p, T v) { return name(p, v); }
host_scoped(atomicAdd) host_scoped(atomicMin) host_scoped(atomicMax) host_scoped(atomicExch)
template <class T> static inline T atomicCAS_block(T *p, T compare, T v) { return atomicCAS(p, compare, v); }
template <class T> static inline T atomicCAS_system(T *p, T compare, T v) { return atomicCAS(p, compare, v); }
static inline void __threadfence() {}
static inline void __threadfence_block() {}
static inline void __threadfence_system() {}
template <class T> static inline T __ldg(const T *p) { return *p; }
template <class T> static inline T __ldcs(const T *p) { return *p; }
template <class T> static inline void __stcs(T *p, T v) { *p = v; }
#define __builtin_assume(holds) do { if (!(holds)) __builtin_trap(); } while (0)
#define __CUDA_ARCH__ 900

static inline int __popc(unsigned int x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }

// The inverse of the error function: Newton's method on the side where nothing cancels.
static inline double erfcinv(double y) {
    if (!(y > 0.0 && y < 2.0)) return y == 0.0 ? HUGE_VAL : y == 2.0 ? -HUGE_VAL : (y - y) / 0.0;
    if (y > 1.0) return -erfcinv(2.0 - y);
    double x = y > 0.5 ? 1.0 - y : fmin(sqrt(-log(y)), 26.5);
    for (int i = 0; i < 60; ++i) x += (log(erfc(x)) - log(y)) * erfc(x) * exp(x * x) * 0.8862269254527580;
    return x;
}
static inline double erfinv(double y) {
    if (fabs(y) > 0.5) return y < 0.0 ? -erfcinv(1.0 + y) : erfcinv(1.0 - y);
    double x = y;
    for (int i = 0; i < 60; ++i) x -= (erf(x) - y) * exp(x * x) * 0.8862269254527580;
    return x;
}
static inline float erfinvf(float y) { return (float)erfinv(y); }
static inline float erfcinvf(float y) { return (float)erfcinv(y); }

template <class T> static inline T atomicAnd(T *p, T v) { return host_swap(p, (T)(*p & v)); }
template <class T> static inline T atomicOr(T *p, T v) { return host_swap(p, (T)(*p | v)); }
template <class T> static inline T atomicXor(T *p, T v) { return host_swap(p, (T)(*p ^ v)); }
host_scoped(atomicAnd) host_scoped(atomicOr) host_scoped(atomicXor)

static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }

// A failed assert ends its thread; the runner goes on with the next.
struct host_assert {};
static inline void __assertfail(const char *message, const char *file, unsigned int line, const char *function, size_t) {
    printf("%s:%u: %s: Assertion `%s` failed.\n", file, line, function, message);
    throw host_assert();
}

#ifdef HOST_BLOCKS  // for kernels that need them: it takes a while to compile
#include "host_blocks.h"
#endif

// Macros of the host's headers that CUDA does not have.
#undef INFINITY
#undef NAN
