/* Steps of a simulation in plain C, for step.py: many launches of one kernel, one by one and in a CUDA graph. Compile as
   a shared library; no header of CUDA is needed. Every function gives 0, or the driver's error. */
#include <dlfcn.h>
#include <time.h>

#define DRIVER(name, types) \
    static int (*name) types; \
    if (!name) name = (int (*) types)dlsym(dlopen("libcuda.so.1", RTLD_NOW), #name); \
    if (!name) return 500

#define CHECK(call) \
    do { \
        int status = (call); \
        if (status) return status; \
    } while (0)

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

static int launch_all(void *function, void **parameters, unsigned threads, int steps, void *stream)
{
    DRIVER(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                            void **, void **));
    for (int i = 0; i < steps; i++)
        CHECK(cuLaunchKernel(function, (threads + 255) / 256, 1, 1, 256, 1, 1, 0, stream, parameters, 0));
    return 0;
}

/* Seconds from the first launch until the last step is done. */
int step_launches(void *function, void **parameters, unsigned threads, int steps, void *stream, double *seconds)
{
    DRIVER(cuStreamSynchronize, (void *));
    double start = now();
    CHECK(launch_all(function, parameters, threads, steps, stream));
    CHECK(cuStreamSynchronize(stream));
    *seconds = now() - start;
    return 0;
}

/* A graph of `steps` launches, captured on a stream that is not the default one. */
int step_capture(void *function, void **parameters, unsigned threads, int steps, void *stream, void **graph)
{
    DRIVER(cuStreamBeginCapture_v2, (void *, int));
    DRIVER(cuStreamEndCapture, (void *, void **));
    DRIVER(cuGraphInstantiateWithFlags, (void **, void *, unsigned long long));
    void *captured;
    CHECK(cuStreamBeginCapture_v2(stream, 1));
    int launched = launch_all(function, parameters, threads, steps, stream);
    CHECK(cuStreamEndCapture(stream, &captured));
    CHECK(launched);
    return cuGraphInstantiateWithFlags(graph, captured, 0);
}

/* Seconds from the first launch of the graph until the last is done. */
int step_graphs(void *graph, int launches, void *stream, double *seconds)
{
    DRIVER(cuGraphLaunch, (void *, void *));
    DRIVER(cuStreamSynchronize, (void *));
    double start = now();
    for (int i = 0; i < launches; i++) CHECK(cuGraphLaunch(graph, stream));
    CHECK(cuStreamSynchronize(stream));
    *seconds = now() - start;
    return 0;
}
