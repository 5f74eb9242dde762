/* Captures and graphs of the fake driver: its functions. */

/* Captures */
int cuThreadExchangeStreamCaptureMode(int *mode) {
    ENTER_READY; NEED(mode);
    if (*mode < GLOBAL || *mode > RELAXED) return breach(INVALID_VALUE, "%s: mode %d", __func__, *mode);
    int before = thread_mode;
    thread_mode = *mode; *mode = before;
    return 0;
}
static int begin_capture(const char *call, u64 stream, int mode, Graph *graph) {
    Stream *s;
    if (mode < GLOBAL || mode > RELAXED) return breach(INVALID_VALUE, "%s: mode %d", call, mode);
    TRY(need_stream(call, stream, &s));
    if (is_legacy(s)) return UNSUPPORTED;
    if (s->capture) return ILLEGAL_STATE;
    Capture *made = calloc(1, sizeof *made);
    made->id = ++handles; made->mode = mode; made->is_valid = 1; made->thread = pthread_self(); made->origin = s;
    made->keeps_graph = graph != NULL;
    made->graph = graph ? graph : new_graph();
    made->graph->is_capturing = 1;
    made->next = captures; captures = made;
    s->capture = made; s->tail_count = 0;
    return 0;
}
int cuStreamBeginCapture_v2(u64 stream, int mode) { ENTER_CONTEXT; LOCK; return begin_capture(__func__, stream, mode, NULL); }
static Node *find_node(const Graph *graph, u64 handle) {
    for (Node *n = graph->first; n; n = n->next) if (n->handle == handle) return n;
    return NULL;
}
static int need_nodes(const char *call, const Graph *graph, const u64 *nodes, size_t count, Node **found) {
    if (count > MAX_TAILS) return OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++)
        if (!(found[i] = find_node(graph, nodes[i]))) return breach(INVALID_VALUE, "%s: no node 0x%lx", call, (unsigned long)nodes[i]);
    return 0;
}
int cuStreamBeginCaptureToGraph(u64 stream, u64 handle, const u64 *nodes, const void *data, size_t count, int mode) {
    ENTER_CONTEXT; LOCK;
    Graph *graph;
    Node *found[MAX_TAILS];
    if (driver_version() < 12030) return NOT_SUPPORTED;
    if (data || (count && !nodes)) return breach(INVALID_VALUE, "%s: data of edges, or no nodes", __func__);
    TRY(need_graph(__func__, handle, 0, &graph));
    if (graph->is_capturing) return breach(ILLEGAL_STATE, "%s: graph 0x%lx is being captured", __func__, (unsigned long)handle);
    TRY(need_nodes(__func__, graph, nodes, count, found));
    TRY(begin_capture(__func__, stream, mode, graph));
    set_tails(find_stream(stream), found, (int)count);
    return 0;
}
static void mark(Node *node) {
    if (node->is_marked) return;
    node->is_marked = 1;
    for (int i = 0; i < node->tail_count; i++) mark(node->tails[i]);
}
/* Whether every stream that joined has been waited for by the one where the capture began. */
static int is_joined(const Capture *c) {
    for (Node *n = c->graph->first; n; n = n->next) n->is_marked = 0;
    for (int i = 0; i < c->origin->tail_count; i++) mark(c->origin->tails[i]);
    for (Stream *s = streams; s < streams + stream_top; s++)
        for (int i = 0; s->capture == c && i < s->tail_count; i++) if (!s->tails[i]->is_marked) return 0;
    return 1;
}
int cuStreamEndCapture(u64 stream, u64 *graph) {
    ENTER_CONTEXT; LOCK; NEED(graph);
    Stream *s;
    TRY(need_stream(__func__, stream, &s));
    Capture *c = s->capture;
    *graph = 0;
    if (!c) return ILLEGAL_STATE;
    if (c->mode != RELAXED && !pthread_equal(c->thread, pthread_self())) { c->is_valid = 0; return WRONG_THREAD; }
    if (c->origin != s) { c->is_valid = 0; return UNMATCHED; }
    int code = !c->is_valid ? INVALIDATED : is_joined(c) ? 0 : UNJOINED;
    Graph *made = c->graph;
    int keeps_graph = c->keeps_graph;
    leave_capture(c);
    if (!code) *graph = made->handle;
    else if (!keeps_graph) drop_graph(made);
    return code;
}
static int read_status(const char *call, u64 stream, int *status, Stream **s) { /* 0 none, 1 active, 2 invalid */
    TRY(need_stream(call, stream, s));
    if (implied_by_legacy(*s)) return IMPLICIT;
    *status = !(*s)->capture ? 0 : (*s)->capture->is_valid ? 1 : 2;
    return 0;
}
int cuStreamIsCapturing(u64 stream, int *status) {
    ENTER_CONTEXT; LOCK; NEED(status);
    Stream *s;
    return read_status(__func__, stream, status, &s);
}
int cuStreamGetCaptureInfo_v2(u64 stream, int *status, u64 *id, u64 *graph, const u64 **nodes, size_t *count) {
    ENTER_CONTEXT; LOCK; NEED(status);
    static __thread u64 found[MAX_TAILS]; /* good until the next call */
    Stream *s;
    TRY(read_status(__func__, stream, status, &s));
    if (*status != 1) return 0;
    if (id) *id = s->capture->id;
    if (graph) *graph = s->capture->graph->handle;
    for (int i = 0; i < s->tail_count; i++) found[i] = s->tails[i]->handle;
    if (nodes) *nodes = found;
    if (count) *count = (size_t)s->tail_count;
    return 0;
}
int cuStreamUpdateCaptureDependencies(u64 stream, const u64 *nodes, size_t count, unsigned flags) { /* 0 adds, 1 sets */
    ENTER_CONTEXT; LOCK;
    Stream *s;
    Node *found[MAX_TAILS];
    if (flags > 1 || (count && !nodes)) return breach(INVALID_VALUE, "%s: flags %u, or no nodes", __func__, flags);
    TRY(need_stream(__func__, stream, &s));
    if (!s->capture) return ILLEGAL_STATE;
    if (!s->capture->is_valid) return INVALIDATED;
    TRY(need_nodes(__func__, s->capture->graph, nodes, count, found));
    if (flags) s->tail_count = 0;
    for (size_t i = 0; i < count; i++) TRY(add_tail(s->tails, &s->tail_count, found[i]));
    return 0;
}

/* Graphs */
static Graph *copy_graph(const Graph *from);
static Node *copy_of(const Graph *graph, const Node *node) {
    for (Node *n = graph->first; n; n = n->next) if (n->origin == node->handle) return n;
    return NULL;
}
static void copy_node(Graph *graph, const Node *from) {
    Node *node = new_node(graph, from->type);
    u64 handle = node->handle;
    Node *next = node->next;
    *node = *from;
    node->next = next; node->handle = handle; node->origin = from->handle; node->graph = graph;
    for (int i = 0; i < node->tail_count; i++) node->tails[i] = copy_of(graph, from->tails[i]);
    for (int i = 0; i < node->body_count; i++) { node->bodies[i] = copy_graph(from->bodies[i]); node->body_handles[i] = node->bodies[i]->handle; }
    if (node->type == ALLOC_NODE) node->block->nodes++;
}
static Graph *copy_graph(const Graph *from) {
    Graph *graph = new_graph();
    graph->is_body = graph->is_executable = 1;
    for (const Node *n = from->first; n; n = n->next) copy_node(graph, n);
    return graph;
}
int cuGraphInstantiateWithFlags(u64 *executable, u64 handle, u64 flags) {
    ENTER_CONTEXT; LOCK; NEED(executable);
    Graph *graph;
    if (flags & ~(u64)15) return breach(INVALID_VALUE, "%s: flags %lu", __func__, (unsigned long)flags);
    TRY(need_graph(__func__, handle, 0, &graph));
    if (graph->is_capturing) return breach(ILLEGAL_STATE, "%s: graph 0x%lx is being captured", __func__, (unsigned long)handle);
    for (Condition *c = conditions; c; c = c->next)
        if (c->graph == handle && !c->is_used) return breach(INVALID_VALUE, "%s: condition 0x%lx belongs to no node", __func__, (unsigned long)c->handle);
    Graph *made = copy_graph(graph);
    made->is_body = 0;
    *executable = made->handle;
    return 0;
}
static int need_own_graph(const char *call, u64 handle, int is_executable, Graph **graph) {
    TRY(need_graph(call, handle, is_executable, graph));
    if ((*graph)->is_body) return breach(INVALID_VALUE, "%s: graph 0x%lx belongs to its node", call, (unsigned long)handle);
    if ((*graph)->is_capturing) return breach(ILLEGAL_STATE, "%s: graph 0x%lx is being captured", call, (unsigned long)handle);
    return 0;
}
static int destroy_graph(const char *call, u64 handle, int is_executable) {
    Graph *graph;
    TRY(need_own_graph(call, handle, is_executable, &graph));
    drop_graph(graph);
    return 0;
}
int cuGraphDestroy(u64 graph) { ENTER_READY; LOCK; return destroy_graph(__func__, graph, 0); }
int cuGraphExecDestroy(u64 graph) { ENTER_READY; LOCK; return destroy_graph(__func__, graph, 1); } /* what runs of it will be done */
int cuGraphGetNodes(u64 handle, u64 *nodes, size_t *count) { /* nodes null: how many there are */
    ENTER_READY; LOCK; NEED(count);
    Graph *graph;
    size_t number = 0;
    TRY(need_graph(__func__, handle, 0, &graph));
    for (Node *n = graph->first; n; n = n->next, number++) if (nodes && number < *count) nodes[number] = n->handle;
    for (size_t i = number; nodes && i < *count; i++) nodes[i] = 0;
    if (!nodes || number < *count) *count = number;
    return 0;
}
static const char *type_name(int type) {
    static const char *const names[] = {"KERNEL", "MEMCPY", "MEMSET", "HOST", "GRAPH", "EMPTY", "", "", "", "", "MEM_ALLOC", "MEM_FREE", "", "CONDITIONAL"};
    return names[type];
}
int cuGraphDebugDotPrint(u64 handle, const char *path, unsigned flags) {
    ENTER_READY; LOCK; NEED(path);
    Graph *graph;
    TRY(need_graph(__func__, handle, 0, &graph));
    FILE *file = fopen(path, "w");
    if (!file) return 304;
    fprintf(file, "digraph dot {\n");
    for (Node *n = graph->first; n; n = n->next) {
        fprintf(file, "\"0x%lx\" [label=\"%s %s\"];\n", (unsigned long)n->handle, type_name(n->type), n->type == KERNEL_NODE ? n->launch.function->name : "");
        for (int i = 0; i < n->tail_count; i++) fprintf(file, "\"0x%lx\" -> \"0x%lx\";\n", (unsigned long)n->tails[i]->handle, (unsigned long)n->handle);
    }
    fprintf(file, "}\n");
    return fclose(file) ? 304 : 0;
}

/* Running: nodes in the order in which they were captured, which is one that fits their dependencies. */
static int run_graph(const char *call, const Graph *graph, Stream *s, Op *op, u64 stream);
static int run_condition(const char *call, const Node *node, Stream *s, Op *op, u64 stream) {
    const Condition *c = node->condition;
    int value = c->runs >= 0 ? c->runs : c->has_initial ? (int)c->initial : 0;
    int is_loop = node->condition_type == 1, which = node->condition_type == 2 ? value : !value;
    if (is_loop && c->runs < 0 && value) value = 1; /* nobody said how often */
    for (int i = 0; is_loop && i < value; i++) TRY(run_graph(call, node->bodies[0], s, op, stream));
    return is_loop || which >= node->body_count ? 0 : run_graph(call, node->bodies[which], s, op, stream);
}
static int run_node(const char *call, const Node *node, Stream *s, Op *op, u64 stream) {
    now += 1;
    switch (node->type) {
    case KERNEL_NODE: run_launch(call, s, op, &node->launch, stream); return 0;
    case COPY_NODE: return run_copy(call, s, op, &node->copy);
    case SET_NODE: return run_set(call, s, op, &node->set);
    case CHILD_NODE: return run_graph(call, node->bodies[0], s, op, stream);
    case CONDITIONAL_NODE: return run_condition(call, node, s, op, stream);
    default: return 0;
    }
}
static int run_graph(const char *call, const Graph *graph, Stream *s, Op *op, u64 stream) {
    for (const Node *n = graph->first; n; n = n->next) TRY(run_node(call, n, s, op, stream));
    return 0;
}
int cuGraphLaunch(u64 handle, u64 stream) {
    ENTER_CONTEXT; LOCK;
    Graph *graph;
    Stream *s;
    TRY(need_graph(__func__, handle, 1, &graph));
    TRY(work_on(__func__, stream, &s));
    if (s->capture) return breach(UNSUPPORTED, "%s: into a capture, where the real one may crash", __func__);
    if (s->knows[graph->slot] < graph->seq) s->knows[graph->slot] = graph->seq; /* one run of it at a time */
    Op *op = issue(s);
    graph->slot = slot_of(s); graph->seq = s->issued;
    int code = run_graph(__func__, graph, s, op, stream);
    settle(NULL);
    return code;
}
int cuGraphUpload(u64 handle, u64 stream) {
    ENTER_CONTEXT; LOCK;
    Graph *graph;
    Stream *s;
    TRY(need_graph(__func__, handle, 1, &graph));
    TRY(work_on(__func__, stream, &s));
    if (s->capture) { s->capture->is_valid = 0; return UNSUPPORTED; }
    issue(s);
    settle(NULL);
    return 0;
}

/* Changing: a kernel node of an executable graph is named by the node that it was made of, at whatever depth. */
typedef struct { u64 function; unsigned sizes[6], shared; void **params, **extra; } KernelParams;
static Node *find_origin(const Graph *graph, u64 origin) {
    for (Node *n = graph->first; n; n = n->next) {
        if (n->origin == origin) return n;
        for (int i = 0; i < n->body_count; i++) { Node *found = find_origin(n->bodies[i], origin); if (found) return found; }
    }
    return NULL;
}
int cuGraphExecKernelNodeSetParams(u64 handle, u64 origin, const KernelParams *wanted) {
    ENTER_CONTEXT; LOCK; NEED(wanted); NEED(wanted->params);
    Graph *graph;
    TRY(need_graph(__func__, handle, 1, &graph));
    Node *node = find_origin(graph, origin);
    Function *function = find_function(wanted->function);
    if (!node || node->type != KERNEL_NODE) return breach(INVALID_VALUE, "%s: no kernel node 0x%lx", __func__, (unsigned long)origin);
    if (!function) return breach(INVALID_HANDLE, "%s: no function 0x%lx", __func__, (unsigned long)wanted->function);
    if (wanted->extra || function->device != node->launch.function->device)
        return breach(INVALID_VALUE, "%s: parameters that cannot be", __func__);
    Launch made;
    TRY(fill_launch(__func__, &made, function, wanted->sizes, wanted->shared, wanted->params));
    node->launch = made;
    return 0;
}

/* Conditional nodes. How often a body runs is what the test says (`fake_set_condition`), else the initial value. */
int cuGraphConditionalHandleCreate(u64 *condition, u64 handle, u64 context, unsigned initial, unsigned flags) {
    ENTER_CONTEXT; LOCK; NEED(condition);
    Graph *graph;
    if (driver_version() < 12040) return NOT_SUPPORTED;
    if (flags > 1 || !is_context(context)) return breach(INVALID_VALUE, "%s: flags %u, context 0x%lx", __func__, flags, (unsigned long)context);
    TRY(need_graph(__func__, handle, 0, &graph));
    Condition *c = calloc(1, sizeof *c);
    c->handle = *condition = ++handles; c->graph = handle;
    c->initial = initial; c->has_initial = (int)flags; c->runs = -1;
    c->next = conditions; conditions = c;
    return 0;
}
static Condition *find_condition(u64 handle) {
    for (Condition *c = conditions; c; c = c->next) if (c->handle == handle) return c;
    return NULL;
}
typedef struct { int type, reserved[3]; u64 condition; int condition_type; unsigned size; const u64 *bodies; u64 context, rest[26]; } NodeParams;
int cuGraphAddNode(u64 *made, u64 handle, const u64 *nodes, size_t count, NodeParams *wanted) {
    ENTER_CONTEXT; LOCK; NEED(made); NEED(wanted);
    _Static_assert(sizeof *wanted == 256, "as in cuda.h");
    Graph *graph;
    Node *tails[MAX_TAILS];
    if (driver_version() < 12040) return NOT_SUPPORTED;
    if (wanted->type != CONDITIONAL_NODE) return breach(NOT_SUPPORTED, "%s: this fake adds conditional nodes alone, not %d", __func__, wanted->type);
    TRY(need_graph(__func__, handle, 0, &graph));
    TRY(need_nodes(__func__, graph, nodes, count, tails));
    Condition *c = find_condition(wanted->condition);
    unsigned most = wanted->condition_type == 1 ? 1 : wanted->condition_type == 0 && driver_version() >= 12080 ? 2 : wanted->condition_type == 0 ? 1 : MAX_BODIES;
    int is_known = wanted->condition_type >= 0 && wanted->condition_type <= (driver_version() >= 12080 ? 2 : 1);
    if (!c || c->is_used || !is_known || !wanted->size || wanted->size > most || !is_context(wanted->context))
        return breach(INVALID_VALUE, "%s: condition 0x%lx of type %d with %u bodies", __func__, (unsigned long)wanted->condition, wanted->condition_type, wanted->size);
    for (int i = 0; i < 26; i++) if (wanted->rest[i]) return breach(INVALID_VALUE, "%s: unused bytes are 0", __func__);
    Node *node = new_node(graph, CONDITIONAL_NODE);
    memcpy(node->tails, tails, count * sizeof *tails);
    node->tail_count = (int)count;
    node->condition = c; c->is_used = 1;
    node->condition_type = wanted->condition_type; node->body_count = (int)wanted->size;
    for (int i = 0; i < node->body_count; i++) { node->bodies[i] = new_graph(); node->bodies[i]->is_body = 1; node->body_handles[i] = node->bodies[i]->handle; }
    wanted->bodies = node->body_handles;
    *made = node->handle;
    return 0;
}
int cuGraphAddChildGraphNode(u64 *made, u64 handle, const u64 *nodes, size_t count, u64 child) {
    ENTER_CONTEXT; LOCK; NEED(made);
    Graph *graph, *inner;
    Node *tails[MAX_TAILS];
    TRY(need_graph(__func__, handle, 0, &graph));
    TRY(need_graph(__func__, child, 0, &inner));
    TRY(need_nodes(__func__, graph, nodes, count, tails));
    Node *node = new_node(graph, CHILD_NODE);
    memcpy(node->tails, tails, count * sizeof *tails);
    node->tail_count = (int)count;
    node->bodies[0] = copy_graph(inner);
    node->body_count = 1;
    *made = node->handle;
    return 0;
}
void fake_set_condition(u64 handle, int runs) { LOCK; Condition *c = find_condition(handle); if (c) c->runs = runs; }
