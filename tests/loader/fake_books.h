/* The books of the fake driver: contexts, modules, memory, streams, events, and what was asked against the rules.

   A breach is something that no caller may do whatever happens (a null out-pointer, memory freed twice, a handle that
   never was): it is answered with an error, as a driver would, and written down, so that a test can insist on none.
   Every table is guarded by `lock`. What was freed stays poisoned and known until `fake_reset`. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef uint64_t u64;
typedef struct { int device, count, offsets[64], sizes[64]; char name[128]; } Function;
typedef struct Module { struct Module *next; Function functions[64]; int count, device; } Module;
typedef struct Block { struct Block *next; unsigned char *base, *start; u64 size; int device, is_live, is_older; } Block;
typedef struct { int capability, is_integrated, retained, was_retained; char name[128]; } Gpu;

enum { CONTEXT = 0x1000, EVENT = 0xE000000, STREAM = 0x57000000, MAX_GPUS = 16, MAX_HANDLES = 4096, GUARD = 256 };
enum { OUT_OF_MEMORY = 2, INVALID_VALUE = 1, INVALID_DEVICE = 101, INVALID_CONTEXT = 201, INVALID_HANDLE = 400 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Gpu gpus[MAX_GPUS];
static int gpu_count, is_initialised;
static Module *modules;
static Block *blocks;
static u64 foreign_contexts[64], live_bytes;
static int foreign_count, stream_count, streams_are_known, pushes;
static unsigned char event_is_live[MAX_HANDLES], stream_is_live[MAX_HANDLES];
static int event_count;
static char breaches[1 << 14];
static __thread u64 stack[64];
static __thread int depth;

static int breach(int code, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (strlen(breaches) + strlen(text) + 2 < sizeof breaches) { strcat(breaches, text); strcat(breaches, "\n"); }
    return code;
}
#define NEED(pointer) if (!(pointer)) return breach(INVALID_VALUE, "%s: %s is null", __func__, #pointer)

static u64 current(void) { return depth ? stack[depth - 1] : 0; }
static int current_device(void) { return (int)(current() - CONTEXT); }
static int is_device(int device) { return device >= 0 && device < gpu_count; }
static int is_context(u64 context) {
    for (int i = 0; i < foreign_count; i++) if (foreign_contexts[i] == context) return 1;
    return is_device((int)(context - CONTEXT)) && gpus[context - CONTEXT].was_retained; /* arrays outlive a reset */
}
static int is_stream(u64 stream) {
    if (stream <= 2 || !streams_are_known) return 1;
    return stream >= STREAM && stream < (u64)STREAM + stream_count && stream_is_live[stream - STREAM];
}
static int is_event(u64 event) { return event >= EVENT && event < (u64)EVENT + event_count && event_is_live[event - EVENT]; }

static Module *find_module(u64 handle) {
    for (Module *m = modules; m; m = m->next) if ((u64)m == handle) return m;
    return NULL;
}
static Function *find_function(u64 handle) {
    for (Module *m = modules; m; m = m->next)
        if (handle >= (u64)m->functions && handle < (u64)(m->functions + m->count)) return (Function *)handle;
    return NULL;
}

/* Memory. A block has a guard before and behind it; large ones are mapped without being touched. */
static u64 whole(u64 size) { return (size + 2 * GUARD + 4095) / 4096 * 4096; }
static Block *find_block(u64 address) {
    for (Block *b = blocks; b; b = b->next)
        if (address >= (u64)b->start && address < (u64)b->start + b->size) return b;
    return NULL;
}
static Block *new_block(u64 size, int device) {
    Block *block = calloc(1, sizeof *block);
    block->base = mmap(NULL, whole(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    block->start = block->base + GUARD;
    block->size = size; block->device = device; block->is_live = 1;
    if (size < 1 << 24) memset(block->start, 0xAB, size);
    memset(block->base, 0xFD, GUARD); memset(block->start + size, 0xFD, GUARD);
    block->next = blocks; blocks = block;
    live_bytes += size;
    return block;
}
static int guards_are_whole(const Block *block) {
    for (int i = 0; i < GUARD; i++) if (block->base[i] != 0xFD || block->start[block->size + i] != 0xFD) return 0;
    return 1;
}
static int end_block(Block *block) {
    block->is_live = 0;
    if (!block->is_older) live_bytes -= block->size;
    int whole_guards = guards_are_whole(block);
    mprotect(block->base, whole(block->size), PROT_NONE); /* a late use ends the process: the test sees it */
    return whole_guards;
}
static void forget_dead_blocks(void) {
    for (Block **at = &blocks; *at; ) {
        Block *block = *at;
        if (block->is_live) { at = &block->next; continue; }
        *at = block->next;
        munmap(block->base, whole(block->size));
        free(block);
    }
}
/* 0 when [address, address + size) is memory that lives; else what a driver answers, and a breach. */
static int check_range(const char *call, u64 address, u64 size) {
    Block *block = find_block(address);
    if (!block) return breach(INVALID_VALUE, "%s: 0x%lx is no device memory", call, (unsigned long)address);
    if (!block->is_live) return breach(INVALID_VALUE, "%s: 0x%lx was freed", call, (unsigned long)address);
    u64 left = (u64)block->start + block->size - address;
    if (size > left) return breach(INVALID_VALUE, "%s: %lu bytes where %lu are left", call, (unsigned long)size, (unsigned long)left);
    return 0;
}

/* For the tests. */
const char *fake_breaches(void) { return breaches; }
u64 fake_current(void) { return current(); }
int fake_depth(void) { return depth; }
int fake_pushes(void) { return pushes; }
u64 fake_live_bytes(void) { return live_bytes; }
int fake_retained(int device) { return gpus[device].retained; }
int fake_live_allocations(void) { int n = 0; for (Block *b = blocks; b; b = b->next) n += b->is_live && !b->is_older; return n; }
int fake_live_events(void) { int n = 0; for (int i = 0; i < event_count; i++) n += event_is_live[i]; return n; }
int fake_live_modules(void) { int n = 0; for (Module *m = modules; m; m = m->next) n++; return n; }
u64 fake_make_stream(void) {
    streams_are_known = 1; /* from now on only streams made here are good */
    stream_is_live[stream_count] = 1;
    return STREAM + stream_count++;
}
void fake_close_stream(u64 stream) { stream_is_live[stream - STREAM] = 0; }
/* Makes a context current as if the program had: known from now on, whoever made it. */
void fake_set_current(u64 context) {
    depth = context ? 1 : 0; stack[0] = context;
    if (context && !is_context(context) && foreign_count < 64) foreign_contexts[foreign_count++] = context;
}
static void reset_books(void) {
    breaches[0] = 0; pushes = 0; event_count = stream_count = streams_are_known = foreign_count = is_initialised = 0;
    for (int i = 0; i < MAX_GPUS; i++) gpus[i].retained = 0;
    forget_dead_blocks();
    for (Block *b = blocks; b; b = b->next) b->is_older = 1; /* of an earlier test, whose arrays still live */
    live_bytes = 0;
}
void fake_unload(void) { /* every module, when nobody holds a handle any more */
    while (modules) { Module *next = modules->next; free(modules); modules = next; }
}
