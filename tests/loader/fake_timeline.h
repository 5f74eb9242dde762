/* Streams and events of the fake driver, in order but not in time: what has been done, and what waits for what.

   Data moves when a call is made; only the books are late. Every stream numbers its work (`issued`), and knows of every
   other stream up to where it has waited for it (`knows`). Work is done at once, unless a test holds its stream, or
   work it waits for is not done: then it stands in `pending`, with the memory it uses, until the test lets go or the
   program waits. A place in `streams` is used again once its stream is gone and has done everything. */

enum { MAX_STREAMS = 1024, MAX_TAILS = 64 };
typedef unsigned Clock[MAX_STREAMS];
struct Capture;
struct Node;
typedef struct Stream {
    u64 handle, context; /* context 0: made by a test, fits every one */
    int is_live, is_ours, is_older, is_held, priority;
    unsigned flags, issued, done;
    Clock knows;
    struct Capture *capture;
    struct Node *tails[MAX_TAILS]; /* what the next captured node comes after */
    int tail_count;
} Stream;
typedef struct Event {
    struct Event *next;
    u64 handle, context;
    unsigned flags;
    int is_older, was_captured, slot; /* slot -1: not recorded */
    unsigned seq;
    double time;
    Clock after;
    struct Capture *capture;
    struct Node *tails[MAX_TAILS];
    int tail_count;
} Event;
typedef struct Op { struct Op *next; int slot, use_count; unsigned seq; Clock after; Block *uses[128]; } Op;

static Stream streams[MAX_STREAMS];
static int stream_top, streams_are_known, holds_all;
static Event *events;
static Op *pending, **pending_end = &pending;
static double now; /* one millisecond for everything that is done on a stream */

static int slot_of(const Stream *s) { return (int)(s - streams); }
static int is_legacy(const Stream *s) { return !s->handle; }
static int is_blocking(const Stream *s) { return !(s->flags & 1); }
static int share_context(const Stream *a, const Stream *b) { return !a->context || !b->context || a->context == b->context; }
static u64 legal_context(void) { return current() ? current() : CONTEXT; }

static Stream *new_stream(u64 handle, u64 context, unsigned flags) {
    int slot = 0;
    while (slot < stream_top && (streams[slot].is_live || streams[slot].done < streams[slot].issued)) slot++;
    if (slot == MAX_STREAMS) return NULL;
    if (slot == stream_top) stream_top++;
    Stream *s = &streams[slot];
    unsigned seq = s->issued;
    memset(s, 0, sizeof *s);
    s->issued = s->done = seq;
    s->handle = handle; s->context = context; s->flags = flags; s->is_live = 1; s->is_held = holds_all;
    return s;
}
/* The stream of a handle, in the current context; handles 1 and 2 are the legacy and the thread's default stream. */
static Stream *find_stream(u64 handle) {
    if (handle == 1) handle = 0;
    int is_default = handle == 0 || handle == 2;
    for (Stream *s = streams; s < streams + stream_top; s++)
        if (s->is_live && s->handle == handle && (!is_default || s->context == legal_context())) return s;
    if (is_default) return new_stream(handle, legal_context(), 0);
    int was_made_here = handle >= STREAM && handle < (u64)POOL;
    return streams_are_known || was_made_here ? NULL : new_stream(handle, 0, 0);
}
/* A stream that was closed here must not come back; one that never was, or that others closed, is the user's mistake. */
static int need_stream(const char *call, u64 handle, Stream **found) {
    *found = find_stream(handle);
    if (*found) return 0;
    if (handle >= STREAM && handle < FOREIGN_STREAM) return breach(INVALID_HANDLE, "%s: stream 0x%lx was destroyed", call, (unsigned long)handle);
    return INVALID_HANDLE;
}
static Event *find_event(u64 handle) {
    for (Event *e = events; e; e = e->next) if (e->handle == handle) return e;
    return NULL;
}
static int need_event(const char *call, u64 handle, Event **found) {
    *found = find_event(handle);
    return *found ? 0 : breach(INVALID_HANDLE, "%s: no event 0x%lx", call, (unsigned long)handle);
}

/* Order */
static int is_late(void) {
    if (pending || holds_all) return 1;
    for (int i = 0; i < stream_top; i++) if (streams[i].is_held) return 1;
    return 0;
}
static void merge(Clock into, const Clock other) {
    for (int i = 0; i < stream_top; i++) if (other[i] > into[i]) into[i] = other[i];
}
static void wait_for(Stream *s, const Stream *other) {
    merge(s->knows, other->knows);
    if (other->issued > s->knows[slot_of(other)]) s->knows[slot_of(other)] = other->issued;
}
/* The legacy stream comes after all work of the blocking streams of its context, and they come after its work. */
static void wait_for_legacy(Stream *s) {
    if (!is_blocking(s)) return;
    for (Stream *other = streams; other < streams + stream_top; other++)
        if (other != s && share_context(s, other) && (is_legacy(s) ? is_blocking(other) : is_legacy(other))) wait_for(s, other);
}
static int is_done(const Clock clock) {
    for (int i = 0; i < stream_top; i++) if (clock[i] > streams[i].done) return 0;
    return 1;
}
/* Does what can be done; of streams named in `needed`, all up to there in any case. */
static void settle(const unsigned *needed) {
    for (Op **at = &pending; *at; ) {
        Op *op = *at;
        Stream *s = &streams[op->slot];
        if (!(needed && op->seq <= needed[op->slot]) && (s->is_held || !is_done(op->after))) { at = &op->next; continue; }
        s->done = op->seq;
        *at = op->next;
        free(op);
    }
    for (pending_end = &pending; *pending_end; ) pending_end = &(*pending_end)->next;
}
/* Puts work on a stream. NULL when it is done already: then nothing is late anywhere. */
static Op *issue(Stream *s) {
    int slot = slot_of(s);
    now += 1;
    s->issued++;
    if (!is_late()) { s->done = s->issued; return NULL; }
    wait_for_legacy(s);
    Op *op = calloc(1, sizeof *op);
    op->slot = slot; op->seq = s->issued;
    memcpy(op->after, s->knows, sizeof op->after);
    op->after[slot] = s->issued - 1;
    s->knows[slot] = s->issued;
    *pending_end = op; pending_end = &op->next;
    return op;
}
static int knows(const Stream *s, int slot, unsigned seq) {
    return streams[slot].done >= seq || s->knows[slot] >= seq;
}
/* Enters memory that work uses; it must have been made before. */
static void use(const char *call, Stream *s, Op *op, Block *block) {
    if (!op) return;
    if (block->kind == POOLED && !block->is_older && !knows(s, block->slot, block->seq))
        breach(0, "%s: stream 0x%lx uses 0x%lx and does not wait for its allocation", call, (unsigned long)s->handle, (unsigned long)block->start);
    for (int i = 0; i < op->use_count; i++) if (op->uses[i] == block) return;
    if (op->use_count < 128) op->uses[op->use_count++] = block;
}
/* Breach when work that is not done uses a block; not where stream `s`, which frees it, comes after that work. */
static void check_unused(const char *call, const Block *block, const Stream *s) {
    for (Op *op = pending; op; op = op->next)
        for (int i = 0; i < op->use_count; i++)
            if (op->uses[i] == block && !(s && s->knows[op->slot] >= op->seq)) {
                breach(0, "%s: 0x%lx is freed while in use on stream 0x%lx", call, (unsigned long)block->start, (unsigned long)streams[op->slot].handle);
                return;
            }
}
static void finish(const Clock needed) { settle(needed); trim_pools(); }
static void finish_stream(Stream *s) {
    if (is_legacy(s)) wait_for_legacy(s);
    s->knows[slot_of(s)] = s->issued;
    finish(s->knows);
}
static void finish_context(u64 context) {
    Clock needed = {0};
    for (Stream *s = streams; s < streams + stream_top; s++)
        if (!s->context || s->context == context) { merge(needed, s->knows); if (s->issued > needed[slot_of(s)]) needed[slot_of(s)] = s->issued; }
    finish(needed);
}
static void forget_pending(void) {
    while (pending) { Op *next = pending->next; free(pending); pending = next; }
    pending_end = &pending;
}
static void reset_timeline(void) {
    forget_pending();
    streams_are_known = holds_all = 0; now = 0;
    for (Stream *s = streams; s < streams + stream_top; s++) {
        s->is_live &= s->is_ours; s->is_older = 1; s->is_held = 0;
        s->issued = s->done = 0; s->capture = NULL; s->tail_count = 0;
        memset(s->knows, 0, sizeof s->knows);
    }
    for (Event *e = events; e; e = e->next) { e->is_older = 1; e->seq = 0; e->capture = NULL; e->tail_count = 0; memset(e->after, 0, sizeof e->after); }
    for (Block *b = blocks; b; b = b->next) b->seq = 0;
}

/* For the tests. */
int fake_live_events(void) { LOCK; int n = 0; for (Event *e = events; e; e = e->next) n += !e->is_older; return n; }
int fake_live_streams(void) { /* those that the program made and has not destroyed */
    LOCK;
    int n = 0;
    for (Stream *s = streams; s < streams + stream_top; s++) n += s->is_live && s->is_ours && !s->is_older;
    return n;
}
/* A stream of another library: of any context (device -1) or of one GPU. From now on only streams made here are good. */
u64 fake_make_stream_on(int device, unsigned flags) {
    LOCK;
    streams_are_known = 1;
    Stream *s = new_stream(FOREIGN_STREAM + ++handles, device < 0 ? 0 : CONTEXT + (u64)device, flags);
    return s ? s->handle : 0;
}
u64 fake_make_stream(void) { return fake_make_stream_on(-1, 0); }
void fake_close_stream(u64 handle) { LOCK; Stream *s = find_stream(handle); if (s) s->is_live = 0; }
/* What comes on a stream stays undone until released, or until somebody waits for it. All: every stream, new ones too. */
int fake_hold(u64 handle) { LOCK; Stream *s = find_stream(handle); if (s) s->is_held = 1; return s ? 0 : INVALID_HANDLE; }
int fake_release(u64 handle) { LOCK; Stream *s = find_stream(handle); if (s) s->is_held = 0; settle(NULL); return s ? 0 : INVALID_HANDLE; }
void fake_hold_all(int yes) {
    LOCK;
    holds_all = yes;
    for (Stream *s = streams; s < streams + stream_top; s++) s->is_held = yes;
    settle(NULL);
}
int fake_pending(void) { LOCK; int n = 0; for (Op *op = pending; op; op = op->next) n++; return n; }
