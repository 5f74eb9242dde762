/* Bursts of allocations in plain C, for memory.py: cuMemAllocFromPoolAsync, zeros if wanted, cuMemFreeAsync. Compile as a
   shared library; no header of CUDA is needed. */
#include <dlfcn.h>
#include <time.h>

typedef unsigned long long u64;

#define DRIVER(name, types) \
    static int (*name) types; \
    if (!name) name = (int (*) types)dlsym(dlopen("libcuda.so.1", RTLD_NOW), #name); \
    if (!name) return -500

/* Nanoseconds of `count` allocations of `size` bytes, each given back at once, or minus the driver's error. */
long long memory_burst(void *pool, u64 size, int zero, int count)
{
    DRIVER(cuMemAllocFromPoolAsync, (u64 *, u64, void *, void *));
    DRIVER(cuMemsetD8Async, (u64, unsigned char, u64, void *));
    DRIVER(cuMemFreeAsync, (u64, void *));
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < count; i++) {
        u64 address;
        int status = cuMemAllocFromPoolAsync(&address, size, pool, 0);
        if (!status && zero) status = cuMemsetD8Async(address, 0, size, 0);
        if (!status) status = cuMemFreeAsync(address, 0);
        if (status) return -status;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (end.tv_sec - start.tv_sec) * 1000000000ll + (end.tv_nsec - start.tv_nsec);
}
