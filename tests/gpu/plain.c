/* A plain C program on the CUDA driver that does what `import kbuild` and one launch do: robosim's `integrate`.

   plain CUBIN ENTRY COUNT [maps]

   Loads the machine code, gives COUNT particles to the kernel, waits for the result and prints the first particle; with
   `maps`, the shared libraries that are in the process then. No header of CUDA is needed to compile it. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;

static void *load(const char *name)
{
    void *function = dlsym(library, name);
    if (!function) { fprintf(stderr, "no %s in the driver\n", name); exit(2); }
    return function;
}

static void check(const char *name, int status)
{
    if (status) { fprintf(stderr, "%s failed: %d\n", name, status); exit(1); }
}

#define CALL(name, types, ...) check(#name, ((int (*) types)load(#name))(__VA_ARGS__))

struct Array { unsigned long long data; int shape, stride; };
struct Vector { float x, y, z; };

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) { perror(path); exit(2); }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *data = malloc(size);
    if (fread(data, 1, size, file) != (size_t)size) { perror(path); exit(2); }
    fclose(file);
    return data;
}

static void print_libraries(void)
{
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps)) {
        char *path = strchr(line, '/');
        if (path && strstr(path, ".so")) fputs(path, stdout);
    }
    fclose(maps);
}

int main(int argc, char **argv)
{
    if (argc < 4) { fprintf(stderr, "usage: plain CUBIN ENTRY COUNT [maps]\n"); return 2; }
    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) { fprintf(stderr, "%s\n", dlerror()); return 2; }
    char *cubin = read_file(argv[1]);
    int device = 0, count = atoi(argv[3]);
    void *context, *module, *function;
    unsigned long long positions, velocities;
    size_t bytes = count * sizeof(struct Vector);
    struct Vector *data = malloc(bytes);
    for (int i = 0; i < count; i++) data[i] = (struct Vector){(float)i, 1.0f, 0.5f};

    CALL(cuInit, (unsigned), 0);
    CALL(cuDeviceGet, (int *, int), &device, 0);
    CALL(cuDevicePrimaryCtxRetain, (void **, int), &context, device);
    CALL(cuCtxSetCurrent, (void *), context);
    CALL(cuMemAlloc_v2, (unsigned long long *, size_t), &positions, bytes);
    CALL(cuMemAlloc_v2, (unsigned long long *, size_t), &velocities, bytes);
    CALL(cuMemcpyHtoD_v2, (unsigned long long, const void *, size_t), positions, data, bytes);
    CALL(cuMemcpyHtoD_v2, (unsigned long long, const void *, size_t), velocities, data, bytes);
    CALL(cuModuleLoadData, (void **, const void *), &module, cubin);
    CALL(cuModuleGetFunction, (void **, void *, const char *), &function, module, argv[2]);

    unsigned launch[2] = {count, 0}; /* end, origin */
    struct Array pos = {positions, count, sizeof(struct Vector)}, vel = {velocities, count, sizeof(struct Vector)};
    struct Vector gravity = {0.0f, -9.81f, 0.0f};
    float dt = 0.5f;
    void *parameters[] = {launch, &pos, &vel, &gravity, &dt};
    CALL(cuLaunchKernel,
         (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **),
         function, (count + 255) / 256, 1, 1, 256, 1, 1, 0, NULL, parameters, NULL);
    CALL(cuMemcpyDtoH_v2, (void *, unsigned long long, size_t), data, positions, bytes);
    printf("%.9g %.9g %.9g\n", data[0].x, data[0].y, data[0].z);
    if (argc > 4 && !strcmp(argv[4], "maps")) print_libraries();
    return 0;
}
