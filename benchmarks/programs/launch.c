/* Bursts of launches in plain C, for launch.py: benchkernels' `step` through cuLaunchKernel, every argument written
   anew for each launch. Compile as a shared library; no header of CUDA is needed. */
#include <dlfcn.h>
#include <time.h>

struct Array { unsigned long long data; int shape, stride; };
struct Vector { float x, y, z; };

typedef int (*Launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                      void **);

/* Nanoseconds of `launches` launches over `threads` threads, or minus the driver's error. */
long long plain_burst(void *function, unsigned long long data, int count, unsigned threads, int launches, void *stream)
{
    static Launch launch;
    if (!launch) launch = (Launch)dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuLaunchKernel");
    if (!launch) return -1;
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < launches; i++) {
        unsigned header = threads;
        struct Array pos = {data, count, sizeof(struct Vector)};
        struct Vector gravity = {0.0f, -9.81f, (float)i};
        float dt = 0.001f;
        void *parameters[] = {&header, &pos, &gravity, &dt, &count};
        int status = launch(function, (threads + 255) / 256, 1, 1, 256, 1, 1, 0, stream, parameters, 0);
        if (status) return -status;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (end.tv_sec - start.tv_sec) * 1000000000ll + (end.tv_nsec - start.tv_nsec);
}
