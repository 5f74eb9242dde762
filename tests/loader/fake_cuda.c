/* A libcuda for tests: the calls that the loader makes, with host memory behind them, and books (fake_books.h).

   Environment, read by cuInit: FAKE_DEVICES "9.0,8.7/Orin/1/pools=0/concurrent_managed=0" (compute capability / name /
   integrated, then settings), FAKE_DRIVER "13000". Compiled with -DNO_POOLS it lacks the functions for memory pools, with
   -DFAKE_OLD_DRIVER cuLaunchKernelEx. A module image is text: "FAKE STATUS\n", then a line "ENTRY COUNT OFFSET SIZE OFFSET SIZE …" a kernel, where
   STATUS is what cuModuleLoadData answers. A launch appends a record: the configuration and the parameters, copied after
   FAKE_DELAY microseconds, as a driver that is slow to look at them. `fake_*` are for the tests. */
#include "fake_books.h"
#include "fake_timeline.h"
#include "fake_capture.h"

typedef struct { int id, pad, value[16]; } LaunchAttribute;
typedef struct { unsigned grid[3], block[3], shared; u64 stream; const LaunchAttribute *attributes; unsigned count; } Config;
typedef struct { unsigned grid, block; u64 stream; Function *function; int size; unsigned char bytes[4096]; unsigned sizes[6], shared; } Record;

enum { MAX_RECORDS = 200000 };
static int delay, keep_records = 1, record_count;
static Record *records;
static u64 launch_count, early_count;

/* Which calls fail: the next ones of a name, or the one that comes n-th from now (and, when sticky, all that follow). */
static char fail_call[64], calls[1 << 16];
static int fail_code, fail_times, nth, nth_code, nth_is_sticky;

static int enter(const char *name) {
    if (!keep_records) return 0;
    int code = 0;
    pthread_mutex_lock(&lock);
    if (strlen(calls) + strlen(name) + 2 < sizeof calls) { strcat(calls, name); strcat(calls, "\n"); }
    if (fail_times > 0 && !strcmp(name, fail_call)) { fail_times--; code = fail_code; }
    if (nth > 0 && --nth == 0) { code = nth_code; nth = nth_is_sticky; }
    pthread_mutex_unlock(&lock);
    return code;
}
#ifdef NO_POOLS
enum { HAS_POOLS = 0 };
#else
enum { HAS_POOLS = 1 };
#endif
#define ENTER int failed = enter(__func__); if (failed) return failed
#define ENTER_READY ENTER; if (!is_initialised) return 3
#define ENTER_CONTEXT ENTER_READY; if (!depth || !current()) return INVALID_CONTEXT

void fake_fail(const char *call, int code, int times) { strcpy(fail_call, call); fail_code = code; fail_times = times; }
void fake_fail_nth(int n, int code, int sticky) { nth = n; nth_code = code; nth_is_sticky = sticky; }
void fake_reset(void) {
    calls[0] = 0; record_count = 0; fail_times = nth = 0; launch_count = early_count = 0;
    LOCK;
    reset_captures();
    reset_timeline();
    reset_books();
}
void fake_quiet(void) { keep_records = 0; }
void fake_delay(int microseconds) { delay = microseconds; }
const char *fake_calls(void) { return calls; }
u64 fake_launches(void) { return launch_count; }
u64 fake_early_launches(void) { return early_count; }
int fake_record_count(void) { return record_count; }
const Record *fake_record(int i) { return &records[i]; }
const char *fake_record_name(int i) { return records[i].function->name; }

static void read_gpu(Gpu *gpu, char *word, int number) {
    int major = 0, minor = 0, place = 0;
    snprintf(gpu->name, sizeof gpu->name, "Fake GPU %d", number);
    gpu->is_integrated = 0; gpu->has_pools = gpu->has_concurrent_managed = 1;
    for (char *save = NULL, *part = strtok_r(word, "/", &save); part; part = strtok_r(NULL, "/", &save), place++) {
        if (sscanf(part, "pools=%d", &gpu->has_pools) || sscanf(part, "concurrent_managed=%d", &gpu->has_concurrent_managed)) continue;
        if (place == 0) sscanf(part, "%d.%d", &major, &minor);
        if (place == 1) snprintf(gpu->name, sizeof gpu->name, "%s", part);
        if (place == 2) gpu->is_integrated = atoi(part);
    }
    gpu->capability = major * 10 + minor;
}
static int driver_version(void) {
    const char *text = getenv("FAKE_DRIVER");
    return text ? atoi(text) : 13000;
}
int cuInit(unsigned flags) {
    ENTER;
    if (flags) return breach(INVALID_VALUE, "cuInit: flags are 0");
    const char *text = getenv("FAKE_DEVICES");
    char *copy = strdup(text ? text : "9.0"), *save = NULL;
    gpu_count = 0;
    for (char *word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save), gpu_count++)
        read_gpu(&gpus[gpu_count], word, gpu_count);
    free(copy);
    if (getenv("FAKE_DELAY")) delay = atoi(getenv("FAKE_DELAY"));
    if (!records) records = calloc(MAX_RECORDS, sizeof *records);
    is_initialised = gpu_count > 0;
    return gpu_count ? 0 : 100;
}
int cuDriverGetVersion(int *version) {
    ENTER; NEED(version);
    *version = driver_version();
    return 0;
}
/* What the driver says of an error is no call that a program makes: it neither counts nor fails. */
int cuGetErrorName(int code, const char **text) {
    NEED(text);
    *text = code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : code == 209 ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
          : code == 701 ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES" : code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : NULL;
    return *text ? 0 : 1;
}
int cuGetErrorString(int code, const char **text) { NEED(text); *text = code == 2 ? "out of memory" : NULL; return *text ? 0 : 1; }

/* Devices and contexts */
int cuDeviceGetCount(int *count) { ENTER_READY; NEED(count); *count = gpu_count; return 0; }
int cuDeviceGet(int *device, int ordinal) {
    ENTER_READY; NEED(device);
    if (!is_device(ordinal)) return INVALID_DEVICE;
    *device = ordinal;
    return 0;
}
int cuDeviceGetName(char *name, int size, int device) {
    ENTER_READY; NEED(name);
    if (!is_device(device)) return breach(INVALID_DEVICE, "cuDeviceGetName: no device %d", device);
    snprintf(name, size, "%s", gpus[device].name);
    return 0;
}
int cuDeviceGetAttribute(int *value, int which, int device) {
    ENTER_READY; NEED(value);
    if (!is_device(device)) return breach(INVALID_DEVICE, "cuDeviceGetAttribute: no device %d", device);
    const Gpu *gpu = &gpus[device];
    int attributes[][2] = { /* CUdevice_attribute, value */
        {1, 1024}, {8, 49152}, {10, 32}, {12, 65536}, {16, 132}, {18, gpu->is_integrated}, {19, 1}, {39, 2048}, {41, 1},
        {75, gpu->capability / 10}, {76, gpu->capability % 10}, {78, 1}, {81, 233472}, {82, 65536}, {83, 1},
        {86, 0}, {88, 0}, {89, gpu->has_concurrent_managed}, {97, 232448}, {101, 0}, {106, 32}, {115, HAS_POOLS && gpu->has_pools},
    };
    for (unsigned i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (attributes[i][0] == which) { *value = attributes[i][1]; return 0; }
    return breach(INVALID_VALUE, "cuDeviceGetAttribute: this driver knows no attribute %d", which);
}
int cuDeviceGetUuid_v2(unsigned char *uuid, int device) {
    ENTER_READY; NEED(uuid);
    if (!is_device(device)) return breach(INVALID_DEVICE, "%s: no device %d", __func__, device);
    for (int i = 0; i < 16; i++) uuid[i] = i == 15 ? device : 16 * i + i;
    return 0;
}
int cuDeviceGetPCIBusId(char *id, int size, int device) {
    ENTER_READY; NEED(id);
    if (!is_device(device)) return breach(INVALID_DEVICE, "%s: no device %d", __func__, device);
    if (size < 13) return breach(INVALID_VALUE, "%s: 13 bytes are needed, not %d", __func__, size);
    snprintf(id, size, "0000:%02x:00.0", 0x1a + device);
    return 0;
}
int cuDeviceCanAccessPeer(int *can, int device, int other) {
    ENTER_READY; NEED(can);
    if (!is_device(device) || !is_device(other)) return breach(INVALID_DEVICE, "%s: devices %d and %d", __func__, device, other);
    *can = device != other && !(gpus[device].apart >> other & 1);
    return 0;
}
int cuDevicePrimaryCtxRetain(u64 *context, int device) {
    ENTER_READY; NEED(context);
    if (!is_device(device)) return breach(INVALID_DEVICE, "cuDevicePrimaryCtxRetain: no device %d", device);
    gpus[device].retained++; gpus[device].was_retained = 1;
    *context = CONTEXT + device;
    return 0;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
    ENTER_READY;
    if (!is_device(device) || !gpus[device].retained) return breach(INVALID_CONTEXT, "released a context that is not held");
    gpus[device].retained--;
    return 0;
}
int cuCtxGetCurrent(u64 *context) { ENTER_READY; NEED(context); *context = current(); return 0; }
int cuCtxGetDevice(int *device) { ENTER_CONTEXT; NEED(device); *device = (int)(current() - CONTEXT); return 0; }
int cuCtxSetCurrent(u64 context) {
    ENTER_READY;
    if (context && !is_context(context)) return breach(INVALID_CONTEXT, "cuCtxSetCurrent: no context 0x%lx", (unsigned long)context);
    if (!context) { if (depth) depth--; return 0; }
    if (!depth) depth = 1;
    stack[depth - 1] = context;
    return 0;
}
int cuCtxPushCurrent_v2(u64 context) {
    ENTER_READY;
    if (!is_context(context)) return breach(INVALID_CONTEXT, "cuCtxPushCurrent_v2: no context 0x%lx", (unsigned long)context);
    if (depth == 64) return breach(OUT_OF_MEMORY, "cuCtxPushCurrent_v2: 64 contexts are on the stack");
    stack[depth++] = context; pushes++;
    return 0;
}
int cuCtxPopCurrent_v2(u64 *context) {
    ENTER_READY;
    if (!depth) return breach(INVALID_CONTEXT, "cuCtxPopCurrent_v2: the stack is empty");
    depth--; pushes--;
    if (context) *context = stack[depth];
    return 0;
}
static int need_peer(const char *call, u64 context, int *device) {
    *device = (int)(context - CONTEXT);
    if (!is_context(context) || !is_device(*device) || context == current()) return breach(INVALID_CONTEXT, "%s: no other context 0x%lx", call, (unsigned long)context);
    return gpus[current_device()].apart >> *device & 1 ? NO_PEER : 0;
}
int cuCtxEnablePeerAccess(u64 context, unsigned flags) {
    ENTER_CONTEXT; LOCK;
    int other;
    if (flags) return breach(INVALID_VALUE, "%s: flags are 0", __func__);
    TRY(need_peer(__func__, context, &other));
    unsigned *enabled = &gpus[current_device()].enabled_peers;
    if (*enabled >> other & 1) return PEER_IS_ENABLED;
    *enabled |= 1u << other;
    return 0;
}
int cuCtxDisablePeerAccess(u64 context) {
    ENTER_CONTEXT; LOCK;
    int other;
    TRY(need_peer(__func__, context, &other));
    unsigned *enabled = &gpus[current_device()].enabled_peers;
    if (!(*enabled >> other & 1)) return PEER_IS_NOT_ENABLED;
    *enabled &= ~(1u << other);
    return 0;
}

/* Code */
static int read_kernels(Module *module, const char *at) {
    for (int used = 0; module->count < 64; module->count++) {
        Function *f = &module->functions[module->count];
        if (sscanf(at, "%127s %d%n", f->name, &f->count, &used) < 2) break;
        at += used;
        for (int i = 0; i < f->count; i++, at += used)
            if (sscanf(at, "%d %d%n", &f->offsets[i], &f->sizes[i], &used) < 2) return 200;
        f->device = module->device;
    }
    return 0;
}
int cuModuleLoadData(u64 *module, const char *image) {
    ENTER_CONTEXT; LOCK; NEED(module); NEED(image); SAFE_ONLY;
    int status = 0, used = 0;
    if (sscanf(image, "FAKE %d\n%n", &status, &used) < 1) return 200;
    if (status) return status;
    Module *made = calloc(1, sizeof *made);
    made->device = current_device();
    status = read_kernels(made, image + used);
    if (status) { free(made); return status; }
    made->next = modules; modules = made;
    *module = (u64)made;
    return 0;
}
int cuModuleGetFunction(u64 *function, u64 module, const char *name) {
    ENTER_CONTEXT; NEED(function); NEED(name);
    Module *m = find_module(module);
    if (!m) return breach(INVALID_HANDLE, "cuModuleGetFunction: no module 0x%lx", (unsigned long)module);
    for (int i = 0; i < m->count; i++)
        if (!strcmp(m->functions[i].name, name)) { *function = (u64)&m->functions[i]; return 0; }
    return 500;
}
int cuFuncLoad(u64 function) {
    ENTER_CONTEXT; LOCK;
    if (!find_function(function)) return breach(INVALID_HANDLE, "%s: no function 0x%lx", __func__, (unsigned long)function);
    return 0;
}

int cuFuncGetAttribute(int *value, int which, u64 function) {
    ENTER_CONTEXT; LOCK; NEED(value);
    static const int values[] = {1024, 0, 0, 0, 32, 90, 90, 0, 49152, -1}; /* threads, memory, registers, versions, … */
    if (!find_function(function)) return breach(INVALID_HANDLE, "%s: no function 0x%lx", __func__, (unsigned long)function);
    if (which < 0 || which > 9) return breach(INVALID_VALUE, "%s: this driver knows no attribute %d", __func__, which);
    *value = values[which];
    return 0;
}

int cuFuncSetAttribute(u64 handle, int which, int value) {
    ENTER_CONTEXT; LOCK;
    Function *function = find_function(handle);
    if (!function) return breach(INVALID_HANDLE, "%s: no function 0x%lx", __func__, (unsigned long)handle);
    if (which != 8 || value < 0 || value > 232448) return breach(INVALID_VALUE, "%s: attribute %d cannot be %d", __func__, which, value);
    function->most_shared = (unsigned)value;
    return 0;
}

#include "fake_memory.h"
#include "fake_streams.h"

/* Launches */
static int is_allowed(const Function *function, unsigned shared) {
    return shared <= (function->most_shared ? function->most_shared : 49152);
}
static void append_record(const Launch *launch, u64 stream) {
    if (record_count == MAX_RECORDS) return;
    Record *record = &records[record_count++];
    memcpy(record->bytes, launch->bytes, sizeof record->bytes);
    record->grid = launch->sizes[0]; record->block = launch->sizes[3];
    memcpy(record->sizes, launch->sizes, sizeof record->sizes);
    record->shared = launch->shared;
    record->stream = stream; record->function = launch->function; record->size = launch->size;
}
static int fill_launch(const char *call, Launch *made, Function *function, const unsigned sizes[6], unsigned shared, void **params) {
    const unsigned limits[6] = {0x7FFFFFFF, 65535, 65535, 1024, 1024, 64};
    unsigned wrong = 0;
    for (int i = 0; i < 6; i++) wrong |= !sizes[i] || sizes[i] > limits[i];
    if (wrong || sizes[3] * sizes[4] * sizes[5] > 1024 || !is_allowed(function, shared)) return breach(INVALID_VALUE, "%s: a configuration that cannot be", call);
    memset(made->bytes, 0xEE, sizeof made->bytes);
    made->function = function; made->size = 0; made->shared = shared;
    memcpy(made->sizes, sizes, sizeof made->sizes);
    for (int i = 0; i < function->count; i++) {
        int end = function->offsets[i] + function->sizes[i];
        if (!params[i]) return breach(INVALID_VALUE, "%s: parameter %d is null", call, i);
        memcpy(made->bytes + function->offsets[i], params[i], function->sizes[i]);
        if (end > made->size) made->size = end;
    }
    return 0;
}
/* Whether a kernel on a GPU may touch a block. */
static int is_reachable(const Block *block, int device) {
    if (block->kind == HOST || block->kind == MANAGED || block->device == device) return 1;
    return (block->kind == POOLED ? block->pool->access >> device : gpus[device].enabled_peers >> block->device) & 1;
}
/* A launch uses every block that some pointer-sized bytes of its parameters point into. */
static void run_launch(const char *call, Stream *s, Op *op, const Launch *launch, u64 stream) {
    for (int at = 0; at + 8 <= launch->size; at += 8) {
        u64 word;
        memcpy(&word, launch->bytes + at, 8);
        Block *block = find_block(word);
        if (!block) continue;
        if (!block->is_live) breach(0, "%s: %s gets 0x%lx, which was freed", call, launch->function->name, (unsigned long)word);
        else if (!is_reachable(block, launch->function->device))
            breach(0, "%s: %s gets 0x%lx, which its GPU cannot reach", call, launch->function->name, (unsigned long)word);
        else use(call, s, op, block);
    }
    append_record(launch, stream);
}
static int launch(const char *call, const Config *config, u64 handle, void **params) {
    pthread_mutex_lock(&lock);
    launch_count++;
    Function *function = find_function(handle);
    Stream *s = NULL;
    int code = function ? need_stream(call, config->stream, &s) : breach(INVALID_HANDLE, "%s: no function 0x%lx", call, (unsigned long)handle);
    if (!code && current() != (u64)(CONTEXT + function->device)) code = INVALID_HANDLE;
    if (!code && s->context && s->context != current()) code = INVALID_HANDLE;
    pthread_mutex_unlock(&lock);
    if (code) return code;
    const LaunchAttribute *early = config->attributes; /* only programmatic stream serialization is known here */
    if (config->count > 1 || (config->count && (!early || early->id != 6 || early->value[0] != 1)))
        return breach(INVALID_VALUE, "%s: a configuration that cannot be", call);
    if (config->count) early_count++;
    if (delay) usleep(delay);
    unsigned sizes[6];
    memcpy(sizes, config->grid, sizeof sizes); /* grid, then block */
    Launch made;
    TRY(fill_launch(call, &made, function, sizes, config->shared, params));
    LOCK;
    TRY(work_on(call, config->stream, &s));
    if (s->capture) { capture_node(s, KERNEL_NODE)->launch = made; return 0; }
    run_launch(call, s, issue(s), &made, config->stream);
    settle(NULL);
    return 0;
}
#ifndef FAKE_OLD_DRIVER
int cuLaunchKernelEx(const Config *config, u64 function, void **params, void **extra) {
    ENTER_CONTEXT; NEED(config); NEED(params);
    if (!keep_records) return 0;
    return launch(__func__, config, function, params);
}
#endif
int cuLaunchKernel(u64 function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, u64 stream, void **params, void **extra) {
    ENTER_CONTEXT; NEED(params);
    if (!keep_records) return 0;
    Config config = {{gx, gy, gz}, {bx, by, bz}, shared, stream, NULL, 0};
    return launch(__func__, &config, function, params);
}

#include "fake_graphs.h"
