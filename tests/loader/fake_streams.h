/* Streams and events of the fake driver: its functions. */

int cuStreamCreateWithPriority(u64 *stream, unsigned flags, int priority) {
    ENTER_CONTEXT; LOCK; NEED(stream);
    if (flags & ~1u) return breach(INVALID_VALUE, "%s: flags %u", __func__, flags);
    Stream *s = new_stream(STREAM + ++handles, current(), flags);
    if (!s) return OUT_OF_MEMORY;
    s->is_ours = 1;
    s->priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
    *stream = s->handle;
    return 0;
}
int cuStreamDestroy_v2(u64 stream) { /* what is pending on it will be done */
    ENTER_CONTEXT; LOCK;
    Stream *s;
    TRY(need_stream(__func__, stream, &s));
    if (!s->is_ours) return breach(INVALID_HANDLE, "%s: stream 0x%lx is not the program's to destroy", __func__, (unsigned long)stream);
    if (s->capture) { s->capture->is_valid = 0; breach(0, "%s: stream 0x%lx is capturing", __func__, (unsigned long)stream); }
    s->is_live = 0;
    return 0;
}
int cuStreamSynchronize(u64 stream) {
    ENTER_CONTEXT; LOCK;
    Stream *s;
    TRY(look_at(__func__, stream, &s));
    finish_stream(s);
    return 0;
}
int cuStreamQuery(u64 stream) {
    ENTER_CONTEXT; LOCK;
    Stream *s;
    TRY(look_at(__func__, stream, &s));
    if (is_legacy(s)) wait_for_legacy(s);
    s->knows[slot_of(s)] = s->issued;
    return is_done(s->knows) ? 0 : NOT_READY;
}
int cuStreamGetCtx(u64 stream, u64 *context) {
    ENTER_CONTEXT; LOCK; NEED(context);
    Stream *s;
    TRY(need_stream(__func__, stream, &s));
    *context = s->context ? s->context : current();
    return 0;
}
int cuStreamGetPriority(u64 stream, int *priority) {
    ENTER_CONTEXT; LOCK; NEED(priority);
    Stream *s;
    TRY(need_stream(__func__, stream, &s));
    *priority = s->priority;
    return 0;
}
int cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    ENTER_CONTEXT;
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return 0;
}
int cuCtxSynchronize(void) {
    ENTER_CONTEXT;
    if (delay) usleep(delay);
    LOCK;
    int code = 0;
    for (Stream *s = streams; s < streams + stream_top; s++)
        if (s->is_live && s->capture && (!s->context || s->context == current())) { s->capture->is_valid = 0; code = UNSUPPORTED; }
    if (!code) finish_context(current());
    return code;
}

/* Events */
int cuEventCreate(u64 *event, unsigned flags) {
    ENTER_CONTEXT; LOCK; NEED(event);
    if (flags & ~7u || (flags & 6) == 4) return breach(INVALID_VALUE, "cuEventCreate: flags %u", flags);
    Event *e = calloc(1, sizeof *e);
    e->handle = *event = EVENT + ++handles;
    e->context = current(); e->flags = flags; e->slot = -1;
    e->next = events; events = e;
    return 0;
}
int cuEventDestroy_v2(u64 event) {
    ENTER_CONTEXT; LOCK;
    Event *e;
    TRY(need_event(__func__, event, &e));
    for (Event **at = &events; *at; at = &(*at)->next) if (*at == e) { *at = e->next; break; }
    free(e);
    return 0;
}
int cuEventRecord(u64 event, u64 stream) {
    ENTER_CONTEXT; LOCK;
    Event *e;
    Stream *s;
    TRY(need_event(__func__, event, &e));
    TRY(work_on(__func__, stream, &s));
    if (s->context && s->context != e->context) return INVALID_HANDLE;
    e->capture = s->capture; e->was_captured = s->capture != NULL;
    e->tail_count = s->capture ? s->tail_count : 0;
    memcpy(e->tails, s->tails, sizeof s->tails);
    if (s->capture) return 0; /* no node: what waits for it comes after these */
    issue(s);
    memcpy(e->after, s->knows, sizeof e->after);
    e->slot = slot_of(s); e->seq = e->after[e->slot] = s->issued;
    e->time = now;
    settle(NULL);
    return 0;
}
static int wait_for_capture(Stream *s, Event *e) {
    if (!e->capture->is_valid) return INVALIDATED;
    if (is_legacy(s)) { e->capture->is_valid = 0; return IMPLICIT; }
    if (s->capture && s->capture != e->capture) { s->capture->is_valid = e->capture->is_valid = 0; return MERGED; }
    if (!s->capture) { s->capture = e->capture; s->tail_count = 0; }
    for (int i = 0; i < e->tail_count; i++) TRY(add_tail(s->tails, &s->tail_count, e->tails[i]));
    return 0;
}
int cuStreamWaitEvent(u64 stream, u64 event, unsigned flags) {
    ENTER_CONTEXT; LOCK;
    Event *e;
    Stream *s;
    TRY(need_event(__func__, event, &e));
    if (flags > 1) return breach(INVALID_VALUE, "cuStreamWaitEvent: flags %u", flags);
    TRY(work_on(__func__, stream, &s));
    if (e->capture) return wait_for_capture(s, e);
    if (e->was_captured) return CAPTURED_EVENT; /* in a capture that has ended */
    if (e->slot < 0) return 0;
    if (s->capture) { s->capture->is_valid = 0; return ISOLATED; }
    merge(s->knows, e->after);
    issue(s);
    settle(NULL);
    return 0;
}
static int look_at_event(const char *call, u64 event, Event **e) {
    TRY(need_event(call, event, e));
    if ((*e)->capture) (*e)->capture->is_valid = 0;
    return (*e)->was_captured ? CAPTURED_EVENT : 0;
}
static int is_over(const Event *e) { return e->slot < 0 || streams[e->slot].done >= e->seq; }
int cuEventQuery(u64 event) {
    ENTER_CONTEXT; LOCK; SAFE_ONLY;
    Event *e;
    TRY(look_at_event(__func__, event, &e));
    return is_over(e) ? 0 : NOT_READY;
}
int cuEventSynchronize(u64 event) {
    ENTER_CONTEXT; LOCK; SAFE_ONLY;
    Event *e;
    TRY(look_at_event(__func__, event, &e));
    finish(e->after);
    return 0;
}
int cuEventElapsedTime(float *milliseconds, u64 start, u64 end) {
    ENTER_CONTEXT; LOCK; NEED(milliseconds);
    Event *a, *b;
    TRY(look_at_event(__func__, start, &a));
    TRY(look_at_event(__func__, end, &b));
    if ((a->flags | b->flags) & 2) return breach(INVALID_HANDLE, "%s: an event without timing", __func__);
    if (a->slot < 0 || b->slot < 0) return INVALID_HANDLE;
    if (!is_over(a) || !is_over(b)) return NOT_READY;
    *milliseconds = (float)(b->time - a->time);
    return 0;
}
