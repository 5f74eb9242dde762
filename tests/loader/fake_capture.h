/* Captures of the fake driver: nodes, graphs, and which calls a capture forbids.

   A capture has the streams that joined it by events; each carries the nodes (`tails`) that its next one comes after. A
   forbidden call is answered with an error of the 900s and makes the capture invalid, as a driver would: no breach, since
   which streams capture can be the user's doing. Parameters are copied into nodes when they are captured. */

enum { GLOBAL, THREAD_LOCAL, RELAXED };
enum { KERNEL_NODE, COPY_NODE, SET_NODE, CHILD_NODE = 4, EMPTY_NODE, ALLOC_NODE = 10, FREE_NODE = 11, CONDITIONAL_NODE = 13 };
enum {
    UNSUPPORTED = 900, INVALIDATED = 901, MERGED = 902, UNMATCHED = 903, UNJOINED = 904, ISOLATED = 905, IMPLICIT = 906,
    CAPTURED_EVENT = 907, WRONG_THREAD = 908,
};
enum { MAX_BYTES = 4096, MAX_BODIES = 8 };
typedef struct { Function *function; unsigned sizes[6], shared; int size; unsigned char bytes[MAX_BYTES]; } Launch;
typedef struct { u64 to, from; size_t to_pitch, from_pitch, width, height; } Copy;
typedef struct { u64 to; unsigned value; size_t element, count; } Set;
typedef struct Condition { struct Condition *next; u64 handle, graph; unsigned initial; int has_initial, runs, is_used; } Condition;
struct Graph;
typedef struct Node {
    struct Node *next;
    u64 handle, origin; /* `origin`: the node of which this is a copy in an executable graph */
    struct Graph *graph;
    int type, tail_count, is_marked;
    struct Node *tails[MAX_TAILS];
    union { Launch launch; Copy copy; Set set; };
    Block *block;
    Condition *condition;
    int condition_type, body_count;
    struct Graph *bodies[MAX_BODIES];
    u64 body_handles[MAX_BODIES];
} Node;
typedef struct Graph {
    struct Graph *next;
    u64 handle;
    Node *first, **end;
    int is_older, is_body, is_executable, is_capturing, slot;
    unsigned seq;
} Graph;
typedef struct Capture {
    struct Capture *next;
    u64 id;
    int mode, is_valid, keeps_graph;
    pthread_t thread;
    Stream *origin;
    Graph *graph;
} Capture;

static Graph *graphs;
static Capture *captures;
static Condition *conditions;
static __thread int thread_mode;

static Graph *new_graph(void) {
    Graph *graph = calloc(1, sizeof *graph);
    graph->handle = GRAPH + ++handles;
    graph->end = &graph->first;
    graph->next = graphs; graphs = graph;
    return graph;
}
static Graph *find_graph(u64 handle, int is_executable) {
    for (Graph *g = graphs; g; g = g->next) if (g->handle == handle && g->is_executable == is_executable) return g;
    return NULL;
}
static int need_graph(const char *call, u64 handle, int is_executable, Graph **found) {
    *found = find_graph(handle, is_executable);
    if (*found) return 0;
    return breach(INVALID_VALUE, "%s: no %sgraph 0x%lx", call, is_executable ? "executable " : "", (unsigned long)handle);
}
static Node *new_node(Graph *graph, int type) {
    Node *node = calloc(1, sizeof *node);
    node->handle = node->origin = NODE + ++handles;
    node->graph = graph; node->type = type;
    *graph->end = node; graph->end = &node->next;
    return node;
}
static void drop_graph(Graph *graph) {
    for (Graph **at = &graphs; *at; at = &(*at)->next) if (*at == graph) { *at = graph->next; break; }
    while (graph->first) {
        Node *node = graph->first;
        graph->first = node->next;
        if (node->type == ALLOC_NODE && !--node->block->nodes && node->block->is_live) end_block(node->block);
        for (int i = 0; i < node->body_count; i++) drop_graph(node->bodies[i]);
        free(node);
    }
    free(graph);
}
static int add_tail(Node **tails, int *count, Node *node) {
    for (int i = 0; i < *count; i++) if (tails[i] == node) return 0;
    if (*count == MAX_TAILS) return OUT_OF_MEMORY;
    tails[(*count)++] = node;
    return 0;
}
static void set_tails(Stream *s, Node *const *tails, int count) {
    memmove(s->tails, tails, (size_t)count * sizeof *tails);
    s->tail_count = count;
}
/* The next node of a capturing stream. */
static Node *capture_node(Stream *s, int type) {
    now += 1;
    Node *node = new_node(s->capture->graph, type);
    memcpy(node->tails, s->tails, sizeof s->tails);
    node->tail_count = s->tail_count;
    set_tails(s, &node, 1);
    return node;
}
static void leave_capture(Capture *capture) {
    for (Stream *s = streams; s < streams + stream_top; s++) if (s->capture == capture) { s->capture = NULL; s->tail_count = 0; }
    for (Event *e = events; e; e = e->next) if (e->capture == capture) { e->capture = NULL; e->tail_count = 0; e->slot = -1; }
    for (Capture **at = &captures; *at; at = &(*at)->next) if (*at == capture) { *at = capture->next; break; }
    capture->graph->is_capturing = 0;
    free(capture);
}

/* What captures forbid */
static Capture *implied_by_legacy(const Stream *s) {
    if (!is_legacy(s)) return NULL;
    for (Stream *other = streams; other < streams + stream_top; other++)
        if (other->is_live && other->capture && is_blocking(other) && share_context(s, other)) return other->capture;
    return NULL;
}
/* Looks up the stream of some work, and whether captures allow work there; the caller asks `capture` where it goes. */
static int work_on(const char *call, u64 handle, Stream **s) {
    int code = need_stream(call, handle, s);
    if (code) return code;
    if ((*s)->capture) return (*s)->capture->is_valid ? 0 : INVALIDATED;
    Capture *implied = implied_by_legacy(*s);
    if (!implied) return 0;
    for (Capture *c; (c = implied_by_legacy(*s)) && c->is_valid; ) c->is_valid = 0;
    return IMPLICIT;
}
/* Waiting for a stream, or asking whether it is done: never while it captures. */
static int look_at(const char *call, u64 handle, Stream **s) {
    int code = work_on(call, handle, s);
    if (code || !(*s)->capture) return code;
    (*s)->capture->is_valid = 0;
    return UNSUPPORTED;
}
/* Calls that are unsafe while somebody captures (memory that is not stream-ordered, loading code). */
static int forbid_unsafe(void) {
    for (Capture *c = captures; c && thread_mode != RELAXED; c = c->next) {
        int is_mine = pthread_equal(c->thread, pthread_self());
        if (!((is_mine && c->mode != RELAXED) || (thread_mode == GLOBAL && c->mode == GLOBAL))) continue;
        c->is_valid = 0;
        return UNSUPPORTED;
    }
    return 0;
}
#define SAFE_ONLY int is_forbidden = forbid_unsafe(); if (is_forbidden) return is_forbidden
#define TRY(call) do { int tried = (call); if (tried) return tried; } while (0)

/* `graphs` of an earlier test stay good; captures end with their test. */
static void reset_captures(void) {
    while (captures) { Graph *graph = captures->keeps_graph ? NULL : captures->graph; leave_capture(captures); if (graph) drop_graph(graph); }
    for (Graph *g = graphs; g; g = g->next) { g->is_older = 1; g->seq = 0; }
    thread_mode = GLOBAL;
}
int fake_live_graphs(void) { /* executable ones too; bodies belong to their nodes, copies to their graph */
    LOCK;
    int n = 0;
    for (Graph *g = graphs; g; g = g->next) n += !g->is_older && !g->is_body;
    return n;
}
