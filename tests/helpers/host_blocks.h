// Blocks on the host: the threads of one are fibers, which run in order and stop at barriers.
#include <ucontext.h>

#include <memory>
#include <vector>

#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))

namespace host_blocks {

struct Fiber {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    host_index thread;
    unsigned int index;
    bool ended, waits;
    unsigned long long lanes;  // of its warp that it waits for; all ones: the block
    unsigned long long given[2];  // to the other lanes, by turns: one lane may be at the next operation already
    unsigned int turn;
};

const unsigned long long BLOCK = ~0ull;
const size_t STACK = 128 * 1024;

static std::vector<Fiber> fibers;
static Fiber *current;
static ucontext_t scheduler;
static void (*body)(const void *);
static const void *argument;

static void start() {
    body(argument);
    current->ended = true;
}

static void wait(unsigned long long lanes) {
    current->waits = true;
    current->lanes = lanes;
    swapcontext(&current->context, &scheduler);
}

static bool is_complete(const Fiber &one) {
    for (const Fiber &other : fibers) {
        if (one.lanes == BLOCK) {
            if (other.ended || !other.waits || other.lanes != BLOCK) return false;
        } else if (other.index / 32 == one.index / 32 && (one.lanes >> (other.index % 32) & 1) && !other.ended) {
            if (!other.waits || other.lanes != one.lanes) return false;
        }
    }
    return true;
}

// Whether every thread came to its end.
static bool run(void (*what)(const void *), const void *with) {
    body = what;
    argument = with;
    unsigned int count = blockDim.x * blockDim.y * blockDim.z;
    fibers.clear();
    fibers.resize(count);
    for (unsigned int i = 0; i < count; ++i) {
        Fiber &f = fibers[i];
        f.index = i;
        f.thread = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
        f.ended = f.waits = false;
        f.turn = 0;
        f.stack.reset(new char[STACK]);
        getcontext(&f.context);
        f.context.uc_stack.ss_sp = f.stack.get();
        f.context.uc_stack.ss_size = STACK;
        f.context.uc_link = &scheduler;
        makecontext(&f.context, start, 0);
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (Fiber &f : fibers) {
            if (f.ended || f.waits) continue;
            moved = true;
            current = &f;
            threadIdx = f.thread;
            swapcontext(&scheduler, &f.context);
        }
        std::vector<Fiber *> released;
        for (Fiber &f : fibers)
            if (f.waits && is_complete(f)) released.push_back(&f);
        for (Fiber *f : released) f->waits = false;
        moved = moved || !released.empty();
    }
    for (const Fiber &f : fibers)
        if (!f.ended) return false;
    return true;
}

}  // namespace host_blocks

static inline void __syncthreads() { host_blocks::wait(host_blocks::BLOCK); }
static inline void __syncwarp(unsigned int mask) { host_blocks::wait(mask); }

namespace host_blocks {

static unsigned int turn;

// Gives the other lanes of the warp a value, once all of them are here. Returns the own lane.
template <class T> static int give(T value) {
    static_assert(sizeof(T) <= 8, "a number");
    unsigned int mine = current->turn++ & 1;
    current->given[mine] = 0;
    memcpy(&current->given[mine], &value, sizeof(T));
    wait(0xffffffffu);
    turn = mine;
    return (int)(current->index % 32);
}

static bool has(int lane) { return current->index / 32 * 32 + lane < fibers.size(); }

// What a lane has given; of one that the block does not have, what nobody would use.
template <class T> static T taken(int lane) {
    T value;
    memset(&value, 0x5a, sizeof(T));
    if (has(lane)) memcpy(&value, &fibers[current->index / 32 * 32 + lane].given[turn], sizeof(T));
    return value;
}

}  // namespace host_blocks

template <class T> static inline T __shfl_sync(unsigned int, T x, int lane, int width = 32) {
    int own = host_blocks::give(x);
    return host_blocks::taken<T>((own & -width) | (lane & (width - 1)));
}
template <class T> static inline T __shfl_up_sync(unsigned int, T x, unsigned int by, int width = 32) {
    int own = host_blocks::give(x), from = own - (int)(by & 31);
    return host_blocks::taken<T>(from < (own & -width) ? own : from);
}
template <class T> static inline T __shfl_down_sync(unsigned int, T x, unsigned int by, int width = 32) {
    int own = host_blocks::give(x), from = own + (int)(by & 31);
    return host_blocks::taken<T>(from > (own | (width - 1)) ? own : from);
}
template <class T> static inline T __shfl_xor_sync(unsigned int, T x, int by, int width = 32) {
    int own = host_blocks::give(x), from = own ^ (by & 31);
    return host_blocks::taken<T>(from > (own | (width - 1)) ? own : from);
}
static inline unsigned int __ballot_sync(unsigned int, int holds) {
    host_blocks::give(holds);
    unsigned int found = 0;
    for (int lane = 0; lane < 32; ++lane)
        if (host_blocks::has(lane) && host_blocks::taken<int>(lane)) found |= 1u << lane;
    return found;
}
static inline int __any_sync(unsigned int all, int holds) { return __ballot_sync(all, holds) != 0; }
static inline int __all_sync(unsigned int all, int holds) { return __ballot_sync(all, !holds) == 0; }
// From sm_70 on; older GPUs do it by shuffles.
template <class T> static inline unsigned int __match_any_sync(unsigned int, T x) {
    host_blocks::give(x);
    unsigned int found = 0;
    for (int lane = 0; lane < 32; ++lane)
        if (host_blocks::has(lane) && host_blocks::taken<T>(lane) == x) found |= 1u << lane;
    return found;
}
