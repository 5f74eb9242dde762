/* The books of the fake driver: contexts, modules, memory, pools, and what was asked against the rules.

   A breach is something that no caller may do whatever happens (a null out-pointer, memory freed twice, a handle that
   never was): it is answered with an error, as a driver would, and written down, so that a test can insist on none.
   Every table is guarded by `lock`, which a thread may take twice. What was freed stays poisoned and known until
   `fake_reset`; what still lives then belongs to an earlier test: it may be used and freed, and is counted no more. */
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
typedef struct { int device, count, offsets[64], sizes[64]; unsigned most_shared; char name[128]; } Function; /* most_shared: 0 until asked for */
typedef struct Module { struct Module *next; Function functions[64]; int count, device; } Module;
typedef struct Pool {
    struct Pool *next;
    u64 handle, threshold, reserved, reserved_high, used, used_high, most;
    int device, is_live, is_older;
    unsigned access; /* a bit for every GPU that may use its memory */
} Pool;
enum { DEVICE, POOLED, HOST, MANAGED }; /* kinds of memory */
/* `alias`: what the GPU calls `start`. `slot`, `seq`: the work that makes it. `nodes`: graph nodes that made it. */
typedef struct Block {
    struct Block *next;
    unsigned char *base, *start, *alias;
    u64 size;
    int device, kind, is_live, is_older, slot, nodes, is_freed_by_graph;
    unsigned seq;
    Pool *pool;
} Block;
typedef struct {
    int capability, is_integrated, has_pools, has_concurrent_managed, retained, was_retained;
    unsigned apart, enabled_peers; /* a bit for every other GPU: out of reach; access enabled */
    char name[128];
} Gpu;

enum { CONTEXT = 0x1000, EVENT = 0xE000000, STREAM = 0x57000000, FOREIGN_STREAM = 0x58000000, POOL = 0x60000000, GRAPH = 0x68000000, NODE = 0x70000000 };
enum { MAX_GPUS = 16, GUARD = 256 };
enum {
    OUT_OF_MEMORY = 2, INVALID_VALUE = 1, INVALID_DEVICE = 101, INVALID_CONTEXT = 201, NO_PEER = 217,
    INVALID_HANDLE = 400, ILLEGAL_STATE = 401, NOT_READY = 600, PEER_IS_ENABLED = 704, PEER_IS_NOT_ENABLED = 705,
    NOT_SUPPORTED = 801,
};

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static void unlock(pthread_mutex_t **held) { pthread_mutex_unlock(*held); }
#define LOCK pthread_mutex_t *held __attribute__((cleanup(unlock), unused)) = &lock; pthread_mutex_lock(&lock)
static Gpu gpus[MAX_GPUS];
static int gpu_count, is_initialised;
static Module *modules;
static Block *blocks;
static Pool *pools;
static u64 foreign_contexts[64], live_bytes, memory_size = (u64)1 << 34, lowest = ~(u64)0, highest, handles;
static int foreign_count, pushes, host_has_alias;
static char breaches[1 << 14];
static __thread u64 stack[64];
static __thread int depth;

static int breach(int code, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    LOCK;
    if (strlen(breaches) + strlen(text) + 2 < sizeof breaches) { strcat(breaches, text); strcat(breaches, "\n"); }
    return code;
}
#define NEED(pointer) if (!(pointer)) return breach(INVALID_VALUE, "%s: %s is null", __func__, #pointer)

static u64 current(void) { return depth ? stack[depth - 1] : 0; }
static int current_device(void) { return (int)(current() - CONTEXT); }
static int is_device(int device) { return device >= 0 && device < gpu_count; }
static int is_context(u64 context) {
    for (int i = 0; i < foreign_count; i++) if (foreign_contexts[i] == context) return 1;
    return context - CONTEXT < MAX_GPUS && gpus[context - CONTEXT].was_retained; /* arrays outlive a reset */
}
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
static int is_within(const unsigned char *start, u64 size, u64 address) { return address - (u64)start < size; }
static Block *find_block(u64 address) {
    if (address < lowest || address >= highest) return NULL;
    for (Block *b = blocks; b; b = b->next)
        if (is_within(b->start, b->size, address) || is_within(b->alias, b->size, address)) return b;
    return NULL;
}
static u64 offset_in(const Block *b, u64 address) {
    return address - (u64)(is_within(b->start, b->size, address) ? b->start : b->alias);
}
/* What a GPU's memory holds: what was allocated, and all that pools keep. */
static u64 taken(int device) {
    u64 sum = 0;
    for (Block *b = blocks; b; b = b->next)
        if (b->kind == DEVICE && b->device == device && b->is_live && !b->is_older) sum += b->size;
    for (Pool *p = pools; p; p = p->next) if (p->device == device) sum += p->reserved;
    return sum;
}
static u64 left(int device) { u64 sum = taken(device); return sum < memory_size ? memory_size - sum : 0; }
static unsigned char *map(u64 size, int file) {
    int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
    unsigned char *base = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, file, 0);
    if (base == MAP_FAILED) return NULL;
    if ((u64)base < lowest) lowest = (u64)base;
    if ((u64)base + size > highest) highest = (u64)base + size;
    return base;
}
static Block *new_block(u64 size, int device, int kind) {
    int file = kind == HOST && host_has_alias ? memfd_create("fake", 0) : -1;
    if (file >= 0 && ftruncate(file, (off_t)whole(size))) return NULL;
    unsigned char *base = map(whole(size), file), *other = file < 0 ? base : map(whole(size), file);
    if (file >= 0) close(file);
    if (!base || !other) return NULL;
    Block *block = calloc(1, sizeof *block);
    block->base = base; block->start = base + GUARD; block->alias = other + GUARD;
    block->size = size; block->device = device; block->kind = kind; block->is_live = 1;
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
static void poison(const Block *block) { /* a late use ends the process: the test sees it */
    mprotect(block->base, whole(block->size), PROT_NONE);
    mprotect(block->alias - GUARD, whole(block->size), PROT_NONE);
}
static int end_block(Block *block) {
    block->is_live = 0;
    if (!block->is_older) live_bytes -= block->size;
    Pool *pool = block->pool;
    if (pool && !block->is_older) {
        pool->used -= block->size;
        if (!pool->is_live) pool->reserved = pool->used;
    }
    int whole_guards = guards_are_whole(block);
    poison(block);
    return whole_guards;
}
static void forget_dead_blocks(void) {
    for (Block **at = &blocks; *at; ) {
        Block *block = *at;
        if (block->is_live || block->nodes) { at = &block->next; continue; } /* graphs may still name it */
        *at = block->next;
        munmap(block->base, whole(block->size));
        if (block->alias != block->start) munmap(block->alias - GUARD, whole(block->size));
        free(block);
    }
}
/* 0 when [address, address + size) is memory that lives; else what a driver answers, and a breach. */
static int check_range(const char *call, u64 address, u64 size) {
    Block *block = find_block(address);
    if (!block) return breach(INVALID_VALUE, "%s: 0x%lx is no device memory", call, (unsigned long)address);
    if (!block->is_live) return breach(INVALID_VALUE, "%s: 0x%lx was freed", call, (unsigned long)address);
    u64 rest = block->size - offset_in(block, address);
    if (size > rest) return breach(INVALID_VALUE, "%s: %lu bytes where %lu are left", call, (unsigned long)size, (unsigned long)rest);
    return 0;
}
/* Memory that pools keep beyond `keep` bytes, or their threshold, goes back; at a synchronisation, or when asked. */
static void trim(Pool *pool, u64 keep) {
    if (pool->reserved > keep) pool->reserved = pool->used > keep ? pool->used : keep;
}
static void trim_pools(void) { for (Pool *p = pools; p; p = p->next) trim(p, p->threshold); }
static __attribute__((unused)) Pool *find_pool(u64 handle) {
    for (Pool *p = pools; p; p = p->next) if (p->handle == handle && p->is_live) return p;
    return NULL;
}

/* For the tests. */
const char *fake_breaches(void) { return breaches; }
void fake_forgive(void) { breaches[0] = 0; }
u64 fake_current(void) { return current(); }
int fake_depth(void) { return depth; }
int fake_pushes(void) { return pushes; }
u64 fake_live_bytes(void) { return live_bytes; }
int fake_retained(int device) { return gpus[device].retained; }
static int count_blocks(int kind) { /* -1: all kinds */
    LOCK;
    int n = 0;
    for (Block *b = blocks; b; b = b->next)
        n += b->is_live && !b->is_older && !b->is_freed_by_graph && (kind < 0 || b->kind == kind);
    return n;
}
int fake_live_allocations(void) { return count_blocks(-1); }
int fake_live_host(void) { return count_blocks(HOST); }
int fake_live_pools(void) { LOCK; int n = 0; for (Pool *p = pools; p; p = p->next) n += p->is_live && !p->is_older; return n; }
int fake_live_modules(void) { int n = 0; for (Module *m = modules; m; m = m->next) n++; return n; }
void fake_set_memory(u64 bytes) { memory_size = bytes; } /* of every GPU */
void fake_alias_host(int yes) { host_has_alias = yes; } /* pinned memory has another address on the GPU */
void fake_set_peer(int device, int other, int can) { /* GPUs can, unless told otherwise */
    gpus[device].apart = (gpus[device].apart & ~(1u << other)) | (unsigned)!can << other;
}
/* Makes a context current as if the program had: known from now on, whoever made it. */
void fake_set_current(u64 context) {
    depth = context ? 1 : 0; stack[0] = context;
    if (context && !is_context(context) && foreign_count < 64) foreign_contexts[foreign_count++] = context;
}
static void reset_books(void) {
    breaches[0] = 0; pushes = 0; foreign_count = is_initialised = host_has_alias = 0;
    memory_size = (u64)1 << 34;
    for (int i = 0; i < MAX_GPUS; i++) { gpus[i].retained = 0; gpus[i].apart = gpus[i].enabled_peers = 0; }
    forget_dead_blocks();
    for (Block *b = blocks; b; b = b->next) b->is_older = 1;
    for (Pool *p = pools; p; p = p->next) { p->is_older = 1; p->used = p->reserved = p->used_high = p->reserved_high = 0; }
    live_bytes = 0;
}
void fake_unload(void) { /* every module, when nobody holds a handle any more */
    while (modules) { Module *next = modules->next; free(modules); modules = next; }
}
