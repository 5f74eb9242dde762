/* Bursts of launches in plain C, for launch.py: cuLaunchKernel with ready-made pointers to the arguments. Compile as a
   shared library; no header of CUDA is needed. */
#include <dlfcn.h>
#include <time.h>

typedef int (*Launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                      void **);

/* Nanoseconds of `launches` launches over `threads` threads in blocks of 256, or minus the driver's error. */
long long plain_burst(void *function, void **parameters, unsigned threads, int launches, void *stream)
{
    static Launch launch;
    if (!launch) launch = (Launch)dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuLaunchKernel");
    if (!launch) return -1;
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < launches; i++) {
        int status = launch(function, (threads + 255) / 256, 1, 1, 256, 1, 1, 0, stream, parameters, 0);
        if (status) return -status;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (end.tv_sec - start.tv_sec) * 1000000000ll + (end.tv_nsec - start.tv_nsec);
}
