/* A libcuda for tests: the calls that the loader makes, with host memory behind them.

   Environment, read by cuInit: FAKE_DEVICES "9.0,8.7" (compute capabilities), FAKE_DRIVER "13000".
   A module image is text: "FAKE STATUS\n", then a line "ENTRY COUNT OFFSET SIZE OFFSET SIZE …" a kernel, where STATUS is
   what cuModuleLoadData answers. A launch appends a record: the configuration and the parameters, copied after
   FAKE_DELAY microseconds, as a driver that is slow to look at them. `fake_*` are for the tests. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef uint64_t u64;
typedef struct { unsigned grid[3], block[3], shared; u64 stream; void *attributes; unsigned count; } Config;
typedef struct { int device, count, offsets[64], sizes[64]; char name[128]; } Function;
typedef struct { Function functions[64]; int count, device; } Module;
typedef struct { unsigned grid, block; u64 stream; Function *function; int size; unsigned char bytes[4096]; } Record;

enum { CONTEXT = 0x1000, MAX_RECORDS = 200000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int capabilities[16], device_count, driver_version = 13000, delay, live_allocations;
static char fail_call[64], calls[1 << 16];
static int fail_code, fail_times;
static u64 live_bytes, call_count;
static Record *records;
static int record_count, keep_records = 1;
static __thread u64 stack[16];
static __thread int depth;

static int enter(const char *name) {
    if (!keep_records) return 0;
    int code = 0;
    pthread_mutex_lock(&lock);
    call_count++;
    if (strlen(calls) + strlen(name) + 2 < sizeof calls) { strcat(calls, name); strcat(calls, "\n"); }
    if (fail_times > 0 && !strcmp(name, fail_call)) { fail_times--; code = fail_code; }
    pthread_mutex_unlock(&lock);
    return code;
}
#define ENTER int failed = enter(__func__); if (failed) return failed

void fake_fail(const char *call, int code, int times) { strcpy(fail_call, call); fail_code = code; fail_times = times; }
void fake_reset(void) { calls[0] = 0; record_count = 0; fail_times = 0; call_count = 0; }
void fake_quiet(void) { keep_records = 0; }
void fake_delay(int microseconds) { delay = microseconds; }
void fake_set_current(u64 context) { depth = context ? 1 : 0; stack[0] = context; }
u64 fake_current(void) { return depth ? stack[depth - 1] : 0; }
int fake_depth(void) { return depth; }
const char *fake_calls(void) { return calls; }
int fake_live_allocations(void) { return live_allocations; }
int fake_record_count(void) { return record_count; }
const Record *fake_record(int i) { return &records[i]; }
const char *fake_record_name(int i) { return records[i].function->name; }

int cuInit(unsigned flags) {
    ENTER;
    const char *text = getenv("FAKE_DEVICES");
    char *copy = strdup(text ? text : "9.0"), *save = NULL;
    device_count = 0;
    for (char *word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        int major = 0, minor = 0;
        sscanf(word, "%d.%d", &major, &minor);
        capabilities[device_count++] = major * 10 + minor;
    }
    free(copy);
    if (getenv("FAKE_DELAY")) delay = atoi(getenv("FAKE_DELAY"));
    if (!records) records = calloc(MAX_RECORDS, sizeof *records);
    return device_count ? 0 : 100;
}
int cuDriverGetVersion(int *version) {
    const char *text = getenv("FAKE_DRIVER");
    *version = text ? atoi(text) : driver_version;
    return 0;
}
int cuGetErrorName(int code, const char **text) {
    *text = code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : code == 209 ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
          : code == 701 ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES" : code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : NULL;
    return *text ? 0 : 1;
}
int cuGetErrorString(int code, const char **text) { *text = code == 2 ? "out of memory" : NULL; return *text ? 0 : 1; }
int cuDeviceGetCount(int *count) { ENTER; *count = device_count; return 0; }
int cuDeviceGet(int *device, int ordinal) { ENTER; *device = ordinal; return ordinal < device_count ? 0 : 101; }
int cuDeviceGetName(char *name, int size, int device) { snprintf(name, size, "Fake GPU %d", device); return 0; }
int cuDeviceGetAttribute(int *value, int which, int device) {
    *value = which == 75 ? capabilities[device] / 10 : capabilities[device] % 10;
    return 0;
}
int cuDevicePrimaryCtxRetain(u64 *context, int device) { ENTER; *context = CONTEXT + device; return 0; }
int cuCtxGetCurrent(u64 *context) { ENTER; *context = fake_current(); return 0; }
int cuCtxSetCurrent(u64 context) { ENTER; if (!depth) depth = 1; stack[depth - 1] = context; return 0; }
int cuCtxPushCurrent_v2(u64 context) { ENTER; stack[depth++] = context; return 0; }
int cuCtxPopCurrent_v2(u64 *context) { ENTER; *context = stack[--depth]; return 0; }
int cuCtxSynchronize(void) { ENTER; return depth ? 0 : 201; }

int cuModuleLoadData(u64 *module, const char *image) {
    ENTER;
    int status = 0, used = 0;
    if (sscanf(image, "FAKE %d\n%n", &status, &used) < 1) return 200;
    if (status) return status;
    if (!depth) return 201;
    Module *made = calloc(1, sizeof *made);
    made->device = fake_current() - CONTEXT;
    for (const char *at = image + used; ; ) {
        Function *f = &made->functions[made->count];
        if (sscanf(at, "%127s %d%n", f->name, &f->count, &used) < 2) break;
        at += used;
        for (int i = 0; i < f->count; i++) {
            sscanf(at, "%d %d%n", &f->offsets[i], &f->sizes[i], &used);
            at += used;
        }
        f->device = made->device;
        made->count++;
    }
    *module = (u64)made;
    return 0;
}
int cuModuleGetFunction(u64 *function, u64 module, const char *name) {
    ENTER;
    Module *m = (Module *)module;
    for (int i = 0; i < m->count; i++)
        if (!strcmp(m->functions[i].name, name)) { *function = (u64)&m->functions[i]; return 0; }
    return 500;
}

/* Allocations keep their device and size in 64 bytes before the address. */
typedef struct { u64 device, size, magic; } Head;
int cuMemAlloc_v2(u64 *ptr, size_t size) {
    ENTER;
    if (!depth) return 201;
    if (!size) return 1;
    if (size > ((size_t)1 << 32)) return 2;
    char *memory = aligned_alloc(256, (size + 256 + 255) / 256 * 256);
    memset(memory, 0xAB, size + 256);
    Head *head = (Head *)memory;
    head->device = fake_current() - CONTEXT; head->size = size; head->magic = 0x4645464546;
    pthread_mutex_lock(&lock); live_allocations++; live_bytes += size; pthread_mutex_unlock(&lock);
    *ptr = (u64)memory + 256;
    return 0;
}
int cuMemFree_v2(u64 ptr) {
    ENTER;
    Head *head = (Head *)(ptr - 256);
    pthread_mutex_lock(&lock); live_allocations--; live_bytes -= head->size; pthread_mutex_unlock(&lock);
    free(head);
    return 0;
}
int cuMemGetInfo_v2(size_t *available, size_t *total) { *total = (size_t)1 << 32; *available = *total - live_bytes; return 0; }
int cuMemcpyHtoD_v2(u64 to, const void *from, size_t size) { ENTER; if (!depth) return 201; memcpy((void *)to, from, size); return 0; }
int cuMemcpyDtoH_v2(void *to, u64 from, size_t size) { ENTER; if (!depth) return 201; memcpy(to, (void *)from, size); return 0; }
int cuMemcpyDtoD_v2(u64 to, u64 from, size_t size) { ENTER; if (!depth) return 201; memcpy((void *)to, (void *)from, size); return 0; }
int cuMemsetD8_v2(u64 to, unsigned char value, size_t size) { ENTER; if (!depth) return 201; memset((void *)to, value, size); return 0; }
int cuPointerGetAttribute(void *value, int which, u64 ptr) {
    ENTER;
    if (ptr < 4096) return 1;
    Head *head = (Head *)(ptr / 256 * 256 - 256);
    *(int *)value = head->magic == 0x4645464546 ? (int)head->device : 0;
    return 0;
}
int cuEventCreate(u64 *event, unsigned flags) { ENTER; *event = 0xE0; return 0; }
int cuEventRecord(u64 event, u64 stream) { ENTER; return 0; }
int cuStreamWaitEvent(u64 stream, u64 event, unsigned flags) { ENTER; return 0; }
int cuEventDestroy_v2(u64 event) { ENTER; return 0; }

static int launch(const Config *config, Function *function, void **params) {
    if (!depth) return 201;
    if (fake_current() != (u64)(CONTEXT + function->device)) return 400;
    if (!keep_records) return 0;
    if (delay) usleep(delay);
    pthread_mutex_lock(&lock);
    int number = record_count < MAX_RECORDS ? record_count++ : -1;
    pthread_mutex_unlock(&lock);
    if (number < 0) return 0;
    Record *record = &records[number];
    memset(record->bytes, 0xEE, sizeof record->bytes);
    record->grid = config->grid[0]; record->block = config->block[0];
    record->stream = config->stream; record->function = function; record->size = 0;
    if (config->grid[1] != 1 || config->grid[2] != 1 || config->block[1] != 1 || config->block[2] != 1) return 1;
    if (config->shared || config->attributes || config->count) return 1;
    for (int i = 0; i < function->count; i++) {
        memcpy(record->bytes + function->offsets[i], params[i], function->sizes[i]);
        if (function->offsets[i] + function->sizes[i] > record->size) record->size = function->offsets[i] + function->sizes[i];
    }
    return 0;
}
#ifndef FAKE_OLD_DRIVER
int cuLaunchKernelEx(const Config *config, u64 function, void **params, void **extra) {
    ENTER;
    return launch(config, (Function *)function, params);
}
#endif
int cuLaunchKernel(u64 function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, u64 stream, void **params, void **extra) {
    ENTER;
    Config config = {{gx, gy, gz}, {bx, by, bz}, shared, stream, NULL, 0};
    return launch(&config, (Function *)function, params);
}
