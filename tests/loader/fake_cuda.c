/* A libcuda for tests: the calls that the loader makes, with host memory behind them, and books (fake_books.h).

   Environment, read by cuInit: FAKE_DEVICES "9.0,8.7/Orin/1" (compute capability / name / integrated), FAKE_DRIVER
   "13000". A module image is text: "FAKE STATUS\n", then a line "ENTRY COUNT OFFSET SIZE OFFSET SIZE …" a kernel, where
   STATUS is what cuModuleLoadData answers. A launch appends a record: the configuration and the parameters, copied after
   FAKE_DELAY microseconds, as a driver that is slow to look at them. `fake_*` are for the tests. */
#include "fake_books.h"

typedef struct { unsigned grid[3], block[3], shared; u64 stream; void *attributes; unsigned count; } Config;
typedef struct { unsigned grid, block; u64 stream; Function *function; int size; unsigned char bytes[4096]; unsigned sizes[6]; } Record;

enum { MAX_RECORDS = 200000 };
static int delay, keep_records = 1, record_count;
static Record *records;
static u64 launch_count;

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
#define ENTER int failed = enter(__func__); if (failed) return failed
#define ENTER_READY ENTER; if (!is_initialised) return 3
#define ENTER_CONTEXT ENTER_READY; if (!depth || !current()) return INVALID_CONTEXT

void fake_fail(const char *call, int code, int times) { strcpy(fail_call, call); fail_code = code; fail_times = times; }
void fake_fail_nth(int n, int code, int sticky) { nth = n; nth_code = code; nth_is_sticky = sticky; }
void fake_reset(void) {
    calls[0] = 0; record_count = 0; fail_times = nth = 0; launch_count = 0;
    reset_books();
}
void fake_quiet(void) { keep_records = 0; }
void fake_delay(int microseconds) { delay = microseconds; }
const char *fake_calls(void) { return calls; }
u64 fake_launches(void) { return launch_count; }
int fake_record_count(void) { return record_count; }
const Record *fake_record(int i) { return &records[i]; }
const char *fake_record_name(int i) { return records[i].function->name; }

static void read_gpu(Gpu *gpu, char *word, int number) {
    char *save = NULL, *capability = strtok_r(word, "/", &save), *name = strtok_r(NULL, "/", &save);
    char *integrated = name ? strtok_r(NULL, "/", &save) : NULL;
    int major = 0, minor = 0;
    sscanf(capability, "%d.%d", &major, &minor);
    gpu->capability = major * 10 + minor;
    gpu->is_integrated = integrated ? atoi(integrated) : 0;
    if (name) snprintf(gpu->name, sizeof gpu->name, "%s", name);
    else snprintf(gpu->name, sizeof gpu->name, "Fake GPU %d", number);
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
    const char *text = getenv("FAKE_DRIVER");
    *version = text ? atoi(text) : 13000;
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
    switch (which) {
    case 1: *value = 1024; return 0;
    case 10: *value = 32; return 0;
    case 16: *value = 132; return 0;
    case 18: *value = gpus[device].is_integrated; return 0;
    case 75: *value = gpus[device].capability / 10; return 0;
    case 76: *value = gpus[device].capability % 10; return 0;
    default: return breach(INVALID_VALUE, "cuDeviceGetAttribute: this driver knows no attribute %d", which);
    }
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
int cuCtxSynchronize(void) { ENTER_CONTEXT; if (delay) usleep(delay); return 0; }

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
    ENTER_CONTEXT; NEED(module); NEED(image);
    int status = 0, used = 0;
    if (sscanf(image, "FAKE %d\n%n", &status, &used) < 1) return 200;
    if (status) return status;
    Module *made = calloc(1, sizeof *made);
    made->device = current_device();
    status = read_kernels(made, image + used);
    if (status) { free(made); return status; }
    pthread_mutex_lock(&lock); made->next = modules; modules = made; pthread_mutex_unlock(&lock);
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
int cuFuncGetAttribute(int *value, int which, u64 function) {
    ENTER_CONTEXT; NEED(value);
    static const int values[] = {1024, 0, 0, 0, 32, 90, 90, 0, 49152, -1}; /* threads, memory, registers, versions, … */
    if (!find_function(function)) return breach(INVALID_HANDLE, "%s: no function 0x%lx", __func__, (unsigned long)function);
    if (which < 0 || which > 9) return breach(INVALID_VALUE, "%s: this driver knows no attribute %d", __func__, which);
    *value = values[which];
    return 0;
}
int cuFuncLoad(u64 function) {
    ENTER_CONTEXT;
    if (!find_function(function)) return breach(INVALID_HANDLE, "%s: no function 0x%lx", __func__, (unsigned long)function);
    return 0;
}

/* Memory */
int cuMemAlloc_v2(u64 *ptr, size_t size) {
    ENTER_CONTEXT; NEED(ptr);
    if (!size) return breach(INVALID_VALUE, "cuMemAlloc_v2: no bytes");
    if (size > (size_t)1 << 34) return OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    *ptr = (u64)new_block(size, current_device())->start;
    pthread_mutex_unlock(&lock);
    return 0;
}
int cuMemFree_v2(u64 ptr) {
    ENTER_CONTEXT;
    pthread_mutex_lock(&lock);
    Block *block = find_block(ptr);
    int code = 0;
    if (!block || (u64)block->start != ptr) code = breach(INVALID_VALUE, "cuMemFree_v2: 0x%lx starts no block", (unsigned long)ptr);
    else if (!block->is_live) code = breach(INVALID_VALUE, "cuMemFree_v2: 0x%lx is freed twice", (unsigned long)ptr);
    else if (!end_block(block)) breach(0, "cuMemFree_v2: something wrote outside the block at 0x%lx", (unsigned long)ptr);
    pthread_mutex_unlock(&lock);
    return code;
}
int cuMemGetInfo_v2(size_t *available, size_t *total) {
    ENTER_CONTEXT; NEED(available); NEED(total);
    *total = (size_t)1 << 34; *available = *total - live_bytes;
    return 0;
}
static int copy(const char *call, void *to, const void *from, size_t size, int checks_to, int checks_from) {
    pthread_mutex_lock(&lock);
    int code = !to || !from ? breach(INVALID_VALUE, "%s: a null address", call) : 0;
    if (!code && checks_to) code = check_range(call, (u64)to, size);
    if (!code && checks_from) code = check_range(call, (u64)from, size);
    if (!code) memmove(to, from, size);
    pthread_mutex_unlock(&lock);
    return code;
}
int cuMemcpyHtoD_v2(u64 to, const void *from, size_t size) { ENTER_CONTEXT; return copy(__func__, (void *)to, from, size, 1, 0); }
int cuMemcpyDtoH_v2(void *to, u64 from, size_t size) { ENTER_CONTEXT; return copy(__func__, to, (void *)from, size, 0, 1); }
int cuMemcpyDtoD_v2(u64 to, u64 from, size_t size) { ENTER_CONTEXT; return copy(__func__, (void *)to, (void *)from, size, 1, 1); }
int cuMemsetD8_v2(u64 to, unsigned char value, size_t size) {
    ENTER_CONTEXT;
    pthread_mutex_lock(&lock);
    int code = check_range(__func__, to, size);
    if (!code) memset((void *)to, value, size);
    pthread_mutex_unlock(&lock);
    return code;
}
int cuPointerGetAttribute(void *value, int which, u64 ptr) {
    ENTER_CONTEXT; NEED(value);
    if (which != 9) return breach(INVALID_VALUE, "cuPointerGetAttribute: this driver knows no attribute %d", which);
    pthread_mutex_lock(&lock);
    Block *block = find_block(ptr);
    if (block && block->is_live) *(int *)value = block->device;
    pthread_mutex_unlock(&lock);
    return block && block->is_live ? 0 : INVALID_VALUE; /* asking is allowed */
}

/* Streams and events */
int cuEventCreate(u64 *event, unsigned flags) {
    ENTER_CONTEXT; NEED(event);
    if (flags & ~7u) return breach(INVALID_VALUE, "cuEventCreate: flags %u", flags);
    if (event_count == MAX_HANDLES) return OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    event_is_live[event_count] = 1;
    *event = EVENT + event_count++;
    pthread_mutex_unlock(&lock);
    return 0;
}
static int check_event(const char *call, u64 event) {
    return is_event(event) ? 0 : breach(INVALID_HANDLE, "%s: no event 0x%lx", call, (unsigned long)event);
}
int cuEventRecord(u64 event, u64 stream) { ENTER_CONTEXT; int code = check_event(__func__, event); return code ? code : is_stream(stream) ? 0 : INVALID_HANDLE; }
int cuStreamWaitEvent(u64 stream, u64 event, unsigned flags) {
    ENTER_CONTEXT;
    int code = check_event(__func__, event);
    if (flags > 1) return breach(INVALID_VALUE, "cuStreamWaitEvent: flags %u", flags);
    return code ? code : is_stream(stream) ? 0 : INVALID_HANDLE;
}
int cuEventDestroy_v2(u64 event) {
    ENTER_CONTEXT;
    int code = check_event(__func__, event);
    if (!code) event_is_live[event - EVENT] = 0;
    return code;
}

/* Launches */
static int launch(const char *call, const Config *config, u64 handle, void **params) {
    pthread_mutex_lock(&lock);
    launch_count++;
    Function *function = find_function(handle);
    pthread_mutex_unlock(&lock);
    if (!function) return breach(INVALID_HANDLE, "%s: no function 0x%lx", call, (unsigned long)handle);
    if (current() != (u64)(CONTEXT + function->device) || !is_stream(config->stream)) return INVALID_HANDLE;
    const unsigned limits[6] = {0x7FFFFFFF, 65535, 65535, 1024, 1024, 64};
    unsigned sizes[6], wrong = config->shared || config->attributes || config->count;
    memcpy(sizes, config->grid, sizeof sizes); /* grid, then block */
    for (int i = 0; i < 6; i++) wrong |= !sizes[i] || sizes[i] > limits[i];
    if (wrong || sizes[3] * sizes[4] * sizes[5] > 1024)
        return breach(INVALID_VALUE, "%s: a configuration that cannot be", call);
    if (delay) usleep(delay);
    pthread_mutex_lock(&lock);
    int number = record_count < MAX_RECORDS ? record_count++ : -1;
    pthread_mutex_unlock(&lock);
    if (number < 0) return 0;
    Record *record = &records[number];
    memset(record->bytes, 0xEE, sizeof record->bytes);
    record->grid = config->grid[0]; record->block = config->block[0];
    memcpy(record->sizes, sizes, sizeof sizes);
    record->stream = config->stream; record->function = function; record->size = 0;
    for (int i = 0; i < function->count; i++) {
        if (!params[i]) return breach(INVALID_VALUE, "%s: parameter %d is null", call, i);
        memcpy(record->bytes + function->offsets[i], params[i], function->sizes[i]);
        if (function->offsets[i] + function->sizes[i] > record->size) record->size = function->offsets[i] + function->sizes[i];
    }
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
