/* Memory of the fake driver: allocations of every kind, pools, copies, sets. */

/* Allocation */
static int check_room(int device, u64 size) { return size > left(device) ? OUT_OF_MEMORY : 0; }
static int allocate(const char *call, u64 *ptr, u64 size, int kind) {
    if (!size) return breach(INVALID_VALUE, "%s: no bytes", call);
    if (kind == DEVICE) TRY(check_room(current_device(), size));
    Block *block = new_block(size, current_device(), kind);
    if (!block) return OUT_OF_MEMORY;
    *ptr = (u64)block->start;
    return 0;
}
int cuMemAlloc_v2(u64 *ptr, size_t size) {
    ENTER_CONTEXT; LOCK; NEED(ptr); SAFE_ONLY;
    return allocate(__func__, ptr, size, DEVICE);
}
int cuMemAllocManaged(u64 *ptr, size_t size, unsigned flags) {
    ENTER_CONTEXT; LOCK; NEED(ptr); SAFE_ONLY;
    if (flags != 1 && flags != 2) return breach(INVALID_VALUE, "%s: flags %u", __func__, flags);
    return allocate(__func__, ptr, size, MANAGED);
}
int cuMemHostAlloc(u64 *ptr, size_t size, unsigned flags) {
    ENTER_CONTEXT; LOCK; NEED(ptr); SAFE_ONLY;
    if (flags & ~7u) return breach(INVALID_VALUE, "%s: flags %u", __func__, flags);
    return allocate(__func__, ptr, size, HOST);
}
int cuMemHostGetDevicePointer_v2(u64 *device, u64 host, unsigned flags) {
    ENTER_CONTEXT; LOCK; NEED(device);
    if (flags) return breach(INVALID_VALUE, "%s: flags are 0", __func__);
    Block *block = find_block(host);
    if (!block || !block->is_live || block->kind != HOST || !is_within(block->start, block->size, host))
        return breach(INVALID_VALUE, "%s: 0x%lx is no pinned memory", __func__, (unsigned long)host);
    *device = (u64)block->alias + (host - (u64)block->start);
    return 0;
}
/* The block that starts at an address and may be freed by this call. */
static int need_start(const char *call, u64 ptr, unsigned kinds, Block **found) {
    Block *block = *found = find_block(ptr);
    if (!block || (u64)block->start != ptr) return breach(INVALID_VALUE, "%s: 0x%lx starts no block", call, (unsigned long)ptr);
    if (!block->is_live) return breach(INVALID_VALUE, "%s: 0x%lx is freed twice", call, (unsigned long)ptr);
    if (!(kinds >> block->kind & 1)) return breach(INVALID_VALUE, "%s: 0x%lx is memory of another kind", call, (unsigned long)ptr);
    return 0;
}
static void give_back(const char *call, Block *block) {
    if (!end_block(block)) breach(0, "%s: something wrote outside the block at 0x%lx", call, (unsigned long)block->start);
}
static int free_now(const char *call, u64 ptr, unsigned kinds) {
    Block *block;
    TRY(need_start(call, ptr, kinds, &block));
    check_unused(call, block, NULL);
    give_back(call, block);
    return 0;
}
int cuMemFree_v2(u64 ptr) { ENTER_CONTEXT; LOCK; SAFE_ONLY; return free_now(__func__, ptr, 1 << DEVICE | 1 << POOLED | 1 << MANAGED); }
int cuMemFreeHost(u64 ptr) { ENTER_CONTEXT; LOCK; SAFE_ONLY; return free_now(__func__, ptr, 1 << HOST); }
int cuMemGetInfo_v2(size_t *available, size_t *total) {
    ENTER_CONTEXT; LOCK; NEED(available); NEED(total);
    *total = memory_size; *available = left(current_device());
    return 0;
}
int cuDeviceTotalMem_v2(size_t *total, int device) {
    ENTER_READY; NEED(total);
    if (!is_device(device)) return breach(INVALID_DEVICE, "%s: no device %d", __func__, device);
    *total = memory_size;
    return 0;
}

/* Pools. One holds exactly what was allocated from it; what is freed stays reserved until a synchronisation, but for
   `threshold` bytes, and is no room for cuMemAlloc: who wants that has to trim the pool. */
#ifndef NO_POOLS
typedef struct { int type, handle_types, location, id; void *security; size_t most; unsigned short usage; unsigned char reserved[54]; } PoolProps;
static int need_pool(const char *call, u64 handle, Pool **found) {
    *found = find_pool(handle);
    return *found ? 0 : breach(INVALID_VALUE, "%s: no pool 0x%lx", call, (unsigned long)handle);
}
int cuMemPoolCreate(u64 *pool, const PoolProps *props) {
    ENTER_READY; LOCK; NEED(pool); NEED(props);
    if (props->type != 1 || props->location != 1 || !is_device(props->id))
        return breach(INVALID_VALUE, "%s: type %d, location %d of device %d", __func__, props->type, props->location, props->id);
    for (int i = 0; i < 54; i++) if (props->reserved[i]) return breach(INVALID_VALUE, "%s: reserved bytes are 0", __func__);
    if (!gpus[props->id].has_pools) return NOT_SUPPORTED;
    Pool *made = calloc(1, sizeof *made);
    made->handle = *pool = POOL + ++handles;
    made->device = props->id; made->access = 1u << props->id; made->is_live = 1;
    made->most = props->most ? props->most : ~(u64)0;
    made->next = pools; pools = made;
    return 0;
}
int cuMemPoolDestroy(u64 handle) { /* what was allocated from it lives on */
    ENTER_READY; LOCK;
    Pool *pool;
    TRY(need_pool(__func__, handle, &pool));
    pool->is_live = 0; pool->reserved = pool->used;
    return 0;
}
int cuMemPoolSetAttribute(u64 handle, int which, const u64 *value) {
    ENTER_READY; LOCK; NEED(value);
    Pool *pool;
    TRY(need_pool(__func__, handle, &pool));
    if (which >= 1 && which <= 3) return 0; /* an int: how it uses memory again */
    if (which == 4) pool->threshold = *value;
    else if (which == 6 && !*value) pool->reserved_high = pool->reserved;
    else if (which == 8 && !*value) pool->used_high = pool->used;
    else return breach(INVALID_VALUE, "%s: attribute %d cannot be set to %lu", __func__, which, (unsigned long)*value);
    return 0;
}
int cuMemPoolGetAttribute(u64 handle, int which, u64 *value) {
    ENTER_READY; LOCK; NEED(value);
    Pool *pool;
    TRY(need_pool(__func__, handle, &pool));
    switch (which) {
    case 1: case 2: case 3: *(int *)value = 1; return 0;
    case 4: *value = pool->threshold; return 0;
    case 5: *value = pool->reserved; return 0;
    case 6: *value = pool->reserved_high; return 0;
    case 7: *value = pool->used; return 0;
    case 8: *value = pool->used_high; return 0;
    default: return breach(INVALID_VALUE, "%s: no attribute %d", __func__, which);
    }
}
int cuMemPoolTrimTo(u64 handle, size_t keep) {
    ENTER_READY; LOCK;
    Pool *pool;
    TRY(need_pool(__func__, handle, &pool));
    trim(pool, keep);
    return 0;
}
int cuMemPoolSetAccess(u64 handle, const int (*descriptors)[3], size_t count) { /* location type, device, flags */
    ENTER_READY; LOCK; NEED(descriptors);
    Pool *pool;
    TRY(need_pool(__func__, handle, &pool));
    for (size_t i = 0; i < count; i++) {
        int device = descriptors[i][1], flags = descriptors[i][2];
        if (descriptors[i][0] != 1 || !is_device(device) || (flags && flags != 3) || (device == pool->device && !flags))
            return breach(INVALID_VALUE, "%s: location %d, device %d, flags %d", __func__, descriptors[i][0], device, flags);
        if (device != pool->device && gpus[device].apart >> pool->device & 1) return INVALID_VALUE;
        pool->access = (pool->access & ~(1u << device)) | (flags ? 1u << device : 0);
    }
    return 0;
}
static int grow(Pool *pool, u64 size) {
    u64 used = pool->used + size, more = used > pool->reserved ? used - pool->reserved : 0;
    if (size > pool->most || used > pool->most || check_room(pool->device, more)) return OUT_OF_MEMORY;
    pool->used = used; pool->reserved += more;
    if (used > pool->used_high) pool->used_high = used;
    if (pool->reserved > pool->reserved_high) pool->reserved_high = pool->reserved;
    return 0;
}
int cuMemAllocFromPoolAsync(u64 *ptr, size_t size, u64 handle, u64 stream) {
    ENTER_CONTEXT; LOCK; NEED(ptr);
    Pool *pool;
    Stream *s;
    TRY(need_pool(__func__, handle, &pool));
    TRY(work_on(__func__, stream, &s));
    if (!size) return breach(INVALID_VALUE, "%s: no bytes", __func__);
    if (!s->capture) { SAFE_ONLY; } /* seen on an H200, driver 580: also on streams that nobody captures */
    TRY(grow(pool, size));
    Block *block = new_block(size, pool->device, POOLED);
    if (!block) { pool->used -= size; return OUT_OF_MEMORY; }
    block->pool = pool;
    *ptr = (u64)block->start;
    if (s->capture) { capture_node(s, ALLOC_NODE)->block = block; block->nodes = 1; return 0; }
    issue(s);
    block->slot = slot_of(s); block->seq = s->issued;
    settle(NULL);
    return 0;
}
int cuMemFreeAsync(u64 ptr, u64 stream) {
    ENTER_CONTEXT; LOCK;
    Block *block;
    Stream *s;
    TRY(need_start(__func__, ptr, 1 << DEVICE | 1 << POOLED, &block));
    TRY(work_on(__func__, stream, &s));
    if (s->capture) {
        if (!block->nodes || block->is_freed_by_graph) return breach(INVALID_VALUE, "%s: 0x%lx is no memory of the graph that is captured", __func__, (unsigned long)ptr);
        capture_node(s, FREE_NODE)->block = block;
        block->is_freed_by_graph = 1; /* for replays it stays where it is */
        return 0;
    }
    SAFE_ONLY; /* seen on an H200, driver 580 */
    Op *op = issue(s);
    use(__func__, s, op, block);
    check_unused(__func__, block, s);
    give_back(__func__, block);
    settle(NULL);
    return 0;
}
#endif
int cuPointerGetAttribute(void *value, int which, u64 ptr) {
    ENTER_CONTEXT; LOCK; NEED(value);
    Block *block = find_block(ptr);
    if (which < 1 || which > 9 || (which > 4 && which < 8)) return breach(INVALID_VALUE, "cuPointerGetAttribute: this driver knows no attribute %d", which);
    if (!block || !block->is_live) return INVALID_VALUE; /* asking is allowed */
    u64 offset = offset_in(block, ptr);
    int is_shared = block->kind == HOST || block->kind == MANAGED;
    switch (which) {
    case 1: *(u64 *)value = block->kind == POOLED ? 0 : CONTEXT + (u64)block->device; return 0; /* pools are of no context */
    case 2: *(unsigned *)value = block->kind == HOST ? 1 : 2; return 0;
    case 3: *(u64 *)value = (u64)block->alias + offset; return 0;
    case 4: if (is_shared) *(u64 *)value = (u64)block->start + offset; return is_shared ? 0 : INVALID_VALUE;
    case 8: *(unsigned char *)value = block->kind == MANAGED; return 0; /* a bool */
    default: *(int *)value = block->device; return 0;
    }
}

/* Copies. An address that is to be the driver's must lie in a block; any other may, and then its bounds count too. */
static int check_side(const char *call, u64 address, u64 size, int must) {
    if (!address) return breach(INVALID_VALUE, "%s: a null address", call);
    return must || find_block(address) ? check_range(call, address, size) : 0;
}
static u64 extent(size_t pitch, size_t width, size_t height) { return pitch * (height - 1) + width; }
static void copy_rows(const Copy *c) {
    for (size_t y = 0; y < c->height; y++) memmove((char *)c->to + y * c->to_pitch, (char *)c->from + y * c->from_pitch, c->width);
}
static void use_address(const char *call, Stream *s, Op *op, u64 address) {
    Block *block = op ? find_block(address) : NULL;
    if (block) use(call, s, op, block);
}
/* What a node does too. */
static int run_copy(const char *call, Stream *s, Op *op, const Copy *c) {
    TRY(check_side(call, c->to, extent(c->to_pitch, c->width, c->height), 0));
    TRY(check_side(call, c->from, extent(c->from_pitch, c->width, c->height), 0));
    use_address(call, s, op, c->to); use_address(call, s, op, c->from);
    copy_rows(c);
    return 0;
}
static int copy(const char *call, u64 stream, Copy c, int to_device, int from_device) {
    LOCK;
    Stream *s;
    TRY(check_side(call, c.to, extent(c.to_pitch, c.width, c.height), to_device));
    TRY(check_side(call, c.from, extent(c.from_pitch, c.width, c.height), from_device));
    TRY(work_on(call, stream, &s));
    if (s->capture) { capture_node(s, COPY_NODE)->copy = c; return 0; }
    int code = run_copy(call, s, issue(s), &c);
    settle(NULL);
    return code;
}
/* Without a stream: on the legacy one, and, with the host on one side, done when it returns. */
static int copy_now(const char *call, Copy c, int to_device, int from_device) {
    LOCK;
    Stream *s;
    TRY(copy(call, 0, c, to_device, from_device));
    if (!(to_device && from_device) && !need_stream(call, 0, &s)) finish_stream(s);
    return 0;
}
static Copy line(const void *to, const void *from, size_t size) { return (Copy){(u64)to, (u64)from, size, size, size, 1}; }
int cuMemcpyHtoD_v2(void *to, const void *from, size_t size) { ENTER_CONTEXT; return copy_now(__func__, line(to, from, size), 1, 0); }
int cuMemcpyDtoH_v2(void *to, const void *from, size_t size) { ENTER_CONTEXT; return copy_now(__func__, line(to, from, size), 0, 1); }
int cuMemcpyDtoD_v2(void *to, const void *from, size_t size) { ENTER_CONTEXT; return copy_now(__func__, line(to, from, size), 1, 1); }
int cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t size, u64 stream) { ENTER_CONTEXT; return copy(__func__, stream, line(to, from, size), 1, 0); }
int cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t size, u64 stream) { ENTER_CONTEXT; return copy(__func__, stream, line(to, from, size), 0, 1); }
int cuMemcpyDtoDAsync_v2(void *to, const void *from, size_t size, u64 stream) { ENTER_CONTEXT; return copy(__func__, stream, line(to, from, size), 1, 1); }
static int check_owner(const char *call, u64 address, u64 context) {
    if (!is_context(context)) return breach(INVALID_CONTEXT, "%s: no context 0x%lx", call, (unsigned long)context);
    Block *block = find_block(address);
    if (!block || block->kind == HOST || context == CONTEXT + (u64)block->device) return 0;
    return breach(INVALID_VALUE, "%s: 0x%lx is memory of device %d", call, (unsigned long)address, block->device);
}
int cuMemcpyPeerAsync(void *to, u64 to_context, const void *from, u64 from_context, size_t size, u64 stream) {
    ENTER_CONTEXT; LOCK;
    TRY(check_owner(__func__, (u64)to, to_context));
    TRY(check_owner(__func__, (u64)from, from_context));
    return copy(__func__, stream, line(to, from, size), 1, 1);
}
typedef struct { size_t x, y; int type; u64 host, device, array; size_t pitch; } Side;
typedef struct { Side from, to; size_t width, height; } Copy2D;
static int read_side(const char *call, const Side *side, size_t width, u64 *address) {
    if (side->type != 1 && side->type != 2 && side->type != 4) return breach(INVALID_VALUE, "%s: memory type %d", call, side->type);
    if (side->pitch < side->x + width) return breach(INVALID_VALUE, "%s: a pitch of %lu for %lu bytes", call, (unsigned long)side->pitch, (unsigned long)(side->x + width));
    u64 base = side->type == 1 ? side->host : side->device;
    *address = base ? base + side->y * side->pitch + side->x : 0;
    return 0;
}
int cuMemcpy2DAsync_v2(const Copy2D *wanted, u64 stream) {
    ENTER_CONTEXT; LOCK; NEED(wanted);
    Copy c = {0, 0, wanted->to.pitch, wanted->from.pitch, wanted->width, wanted->height};
    TRY(read_side(__func__, &wanted->from, c.width, &c.from));
    TRY(read_side(__func__, &wanted->to, c.width, &c.to));
    if (!c.width || !c.height) return 0;
    return copy(__func__, stream, c, wanted->to.type == 2, wanted->from.type == 2);
}

/* Sets */
static int run_set(const char *call, Stream *s, Op *op, const Set *set) {
    TRY(check_range(call, set->to, set->count * set->element));
    use_address(call, s, op, set->to);
    for (size_t i = 0; i < set->count && set->element > 1; i++) memcpy((char *)set->to + i * set->element, &set->value, set->element);
    if (set->element == 1) memset((void *)set->to, (int)set->value, set->count);
    return 0;
}
static int set(const char *call, u64 stream, Set wanted) {
    LOCK;
    Stream *s;
    if (wanted.to % wanted.element) return breach(INVALID_VALUE, "%s: 0x%lx is not aligned", call, (unsigned long)wanted.to);
    TRY(check_range(call, wanted.to, wanted.count * wanted.element));
    TRY(work_on(call, stream, &s));
    if (s->capture) { capture_node(s, SET_NODE)->set = wanted; return 0; }
    int code = run_set(call, s, issue(s), &wanted);
    settle(NULL);
    return code;
}
int cuMemsetD8_v2(u64 to, unsigned char value, size_t count) { ENTER_CONTEXT; return set(__func__, 0, (Set){to, value, 1, count}); }
int cuMemsetD8Async(u64 to, unsigned char value, size_t count, u64 stream) { ENTER_CONTEXT; return set(__func__, stream, (Set){to, value, 1, count}); }
int cuMemsetD16Async(u64 to, unsigned short value, size_t count, u64 stream) { ENTER_CONTEXT; return set(__func__, stream, (Set){to, value, 2, count}); }
int cuMemsetD32Async(u64 to, unsigned value, size_t count, u64 stream) { ENTER_CONTEXT; return set(__func__, stream, (Set){to, value, 4, count}); }
