"""Codes on graphs: labels that are pushed and pulled, worklists, matchings, colours, trees of parents.

Which elements an edge leads to, the arrays say: of the bounds of such accesses nobody can be sure.
"""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

Floats = kb.array(dtype=float)
Ints = kb.array(dtype=int)

# Five vertices in a row, and the first is joined to the last but one.
STARTS = [0, 2, 4, 6, 9, 10]
ENDS = [1, 3, 0, 2, 1, 3, 0, 2, 4, 3]
FROM = [0, 1, 2, 3, 0]
TO = [1, 2, 3, 4, 3]
GRAPH = {"starts": STARTS, "ends": ENDS}


@case("global-races", "Indigo", At(5, block=5, **GRAPH, old=5, new=5))
@kb.kernel
def largest_label_good(starts: Ints, ends: Ints, old: Ints, new: Ints):
    v = kb.tid()
    if v + 1 < starts.shape[0] and v < old.shape[0] and v < new.shape[0]:
        label = old[v]
        for k in range(starts[v], starts[v + 1]):
            label = kb.max(label, old[ends[k]])  # may bounds
        new[v] = label


@case("global-races", "Indigo", At(5, block=5, **GRAPH, old=5, new=5), symbolic="unknown")
@kb.kernel
def largest_label_bad(starts: Ints, ends: Ints, old: Ints, new: Ints):
    v = kb.tid()
    if v + 1 < starts.shape[0] and v < old.shape[0] and v < new.shape[0]:
        label = new[v]
        for k in range(starts[v], starts[v + 1]):
            label = kb.max(label, new[ends[k]])  # finds global-races; may bounds
        new[v] = kb.max(label, old[v])  # finds global-races


@case("global-races", "Indigo", At(5 * 32, **GRAPH, rank=5, out=5))
@kb.kernel(block_dim=32)
def warp_for_a_vertex_good(starts: Ints, ends: Ints, rank: Floats, out: Floats):
    v = kb.tid() // 32
    if v + 1 < starts.shape[0] and v < out.shape[0]:
        total = 0.0
        for k in range(starts[v] + kb.lane_id(), starts[v + 1], 32):  # may overflow
            total += rank[ends[k]]  # may bounds
        total = kb.warp_sum(total)
        if kb.lane_id() == 0:
            out[v] = total


@case("global-races", "Indigo", At(5 * 32, **GRAPH, rank=5, out=5))
@kb.kernel(block_dim=32)
def warp_for_a_vertex_bad(starts: Ints, ends: Ints, rank: Floats, out: Floats):
    v = kb.tid() // 32
    if v + 1 < starts.shape[0] and v < out.shape[0]:
        total = 0.0
        for k in range(starts[v] + kb.lane_id(), starts[v + 1], 32):
            total += rank[ends[k]]  # may bounds
        for k in range(4):
            total += kb.shfl_down(total, 16 >> k)
        out[v] = total  # finds global-races


@case("global-races", "Indigo", At(5, block=5, **GRAPH, seen=[0] * 5, size=[0], next=5))
@kb.kernel
def next_of_a_worklist_good(starts: Ints, ends: Ints, seen: Ints, size: Ints, next: Ints):
    v = kb.tid()
    if v + 1 < starts.shape[0] and size.shape[0] == 1:
        for k in range(starts[v], starts[v + 1]):
            u = ends[k]  # may bounds
            if kb.atomic_exch(seen, u, 1) == 0:  # may bounds
                place = kb.atomic_add(size, 0, 1)
                if 0 <= place < next.shape[0]:
                    next[place] = u


@case("global-races", "Indigo", At(5, block=5, **GRAPH, seen=[0] * 5, size=[0], next=5))
@kb.kernel
def next_of_a_worklist_bad(starts: Ints, ends: Ints, seen: Ints, size: Ints, next: Ints):
    v = kb.tid()
    if v + 1 < starts.shape[0] and size.shape[0] == 1:
        for k in range(starts[v], starts[v + 1]):
            u = ends[k]  # may bounds
            if kb.atomic_exch(seen, u, 1) == 0:  # may bounds
                place = size[0]  # finds global-races
                size[0] = place + 1  # finds global-races
                if 0 <= place < next.shape[0]:
                    next[place] = u  # finds global-races


@case("global-races", "Indigo", At(5, block=5, source=FROM, target=TO, degree=5))
@kb.kernel
def both_ends_counted_good(source: Ints, target: Ints, degree: Ints):
    e = kb.tid()
    if e < source.shape[0] and e < target.shape[0]:
        kb.atomic_add(degree, source[e], 1)  # may bounds
        kb.atomic_add(degree, target[e], 1)  # may bounds


@case("global-races", "Indigo", At(5, block=5, source=FROM, target=TO, degree=5))
@kb.kernel
def both_ends_counted_bad(source: Ints, target: Ints, degree: Ints):
    e = kb.tid()
    if e < source.shape[0] and e < target.shape[0]:
        kb.atomic_add(degree, source[e], 1)  # finds global-races; may bounds
        degree[target[e]] = degree[target[e]] + 1  # finds global-races; may bounds


@case("bounds", "Indigo", At(6, block=6, starts=STARTS, out=6))
@kb.kernel
def degree_of_each_good(starts: Ints, out: Ints):
    v = kb.tid()
    if v < starts.shape[0] - 1 and v < out.shape[0]:
        out[v] = starts[v + 1] - starts[v]  # may overflow


@case("bounds", "Indigo", At(6, block=6, starts=STARTS, out=6))
@kb.kernel
def degree_of_each_bad(starts: Ints, out: Ints):
    v = kb.tid()
    if v < starts.shape[0] and v < out.shape[0]:
        out[v] = starts[v + 1] - starts[v]  # finds bounds; may overflow


PARENTS = [1, 2, 3, 4, 4]


@case("global-races", "Indigo", At(5, block=5, parent=PARENTS, above=5))
@kb.kernel
def parent_of_the_parent_good(parent: Ints, above: Ints):
    v = kb.tid()
    if v < parent.shape[0] and v < above.shape[0]:
        p = parent[v]
        if 0 <= p < parent.shape[0]:
            above[v] = parent[p]


@case("global-races", "Indigo", At(5, block=5, parent=PARENTS, above=5), symbolic="unknown")
@kb.kernel
def parent_of_the_parent_bad(parent: Ints, above: Ints):
    v = kb.tid()
    if v < parent.shape[0] and v < above.shape[0]:
        p = parent[v]  # finds global-races
        if 0 <= p < parent.shape[0]:
            parent[v] = parent[p]  # finds global-races
        above[v] = p


@case("global-races", "Indigo", At(5, block=5, **GRAPH, colour=[0, 1, 0, 2, 0], new=5))
@kb.kernel
def smallest_free_colour_good(starts: Ints, ends: Ints, colour: Ints, new: Ints):
    v = kb.tid()
    if v + 1 < starts.shape[0] and v < colour.shape[0] and v < new.shape[0]:
        used = kb.uint32(0)
        for k in range(starts[v], starts[v + 1]):
            c = colour[ends[k]]  # may bounds
            if 0 <= c < 32:
                used |= kb.uint32(1) << kb.uint32(c)
        c = 0
        while c < 31 and (used >> kb.uint32(c)) & kb.uint32(1) != kb.uint32(0):
            c += 1
        new[v] = c


@case("global-races", "Indigo", At(5, block=5, **GRAPH, colour=[0, 1, 0, 2, 0], new=5), symbolic="unknown")
@kb.kernel
def smallest_free_colour_bad(starts: Ints, ends: Ints, colour: Ints, new: Ints):
    v = kb.tid()
    if v + 1 < starts.shape[0] and v < colour.shape[0] and v < new.shape[0]:
        used = kb.uint32(0)
        for k in range(starts[v], starts[v + 1]):
            c = colour[ends[k]]  # finds global-races; may bounds
            if 0 <= c < 32:
                used |= kb.uint32(1) << kb.uint32(c)
        c = 0
        while c < 31 and (used >> kb.uint32(c)) & kb.uint32(1) != kb.uint32(0):
            c += 1
        colour[v] = c  # finds global-races
        new[v] = c


@case("global-races", "Indigo", At(5, block=5, **GRAPH, length=10, old=5, new=5))
@kb.kernel
def distances_relaxed_good(starts: Ints, ends: Ints, length: Floats, old: Floats, new: Floats):
    v = kb.tid()
    if v + 1 < starts.shape[0] and v < old.shape[0]:
        here = old[v]
        for k in range(starts[v], starts[v + 1]):
            kb.atomic_min(new, ends[k], here + length[k])  # may bounds


@case(
    "global-races",
    "Indigo",
    At(5, block=5, **GRAPH, length=10, old=5, new=5),
    unseen="reads beside atomics are taken as meant",
)
@kb.kernel
def distances_relaxed_bad(starts: Ints, ends: Ints, length: Floats, old: Floats, new: Floats):
    v = kb.tid()
    if v + 1 < starts.shape[0] and v < old.shape[0] and v < new.shape[0]:
        here = new[v]  # finds global-races
        for k in range(starts[v], starts[v + 1]):
            kb.atomic_min(new, ends[k], here + length[k])  # finds global-races; may bounds


@case("global-races", "Indigo", At(2 * 32, rank=64, old=64, change=1))
@kb.kernel(block_dim=32)
def change_of_all_good(rank: Floats, old: Floats, change: Floats):
    v = kb.tid()
    own = kb.abs(rank[v] - old[v]) if v < rank.shape[0] and v < old.shape[0] else 0.0
    total = kb.block_sum(own)
    if kb.thread_idx() == 0 and change.shape[0] == 1:
        kb.atomic_add(change, 0, total)


@case("global-races", "Indigo", At(2 * 32, rank=64, old=64, change=1))
@kb.kernel(block_dim=32)
def change_of_all_bad(rank: Floats, old: Floats, change: Floats):
    v = kb.tid()
    own = kb.abs(rank[v] - old[v]) if v < rank.shape[0] and v < old.shape[0] else 0.0
    total = kb.block_sum(own)
    if kb.thread_idx() == 0 and change.shape[0] == 1:
        change[0] = kb.max(change[0], total)  # finds global-races


@case("global-races", "Indigo", At(5, block=5, **GRAPH, wish=5, mate=5))
@kb.kernel
def wishes_then_mates_good(starts: Ints, ends: Ints, wish: Ints, mate: Ints):
    v = kb.tid()
    if v + 1 < starts.shape[0] and v < wish.shape[0] and v < mate.shape[0]:
        best = -1
        for k in range(starts[v], starts[v + 1]):
            u = ends[k]  # may bounds
            if u > best and u != v:
                best = u
        wish[v] = best


@case("global-races", "Indigo", At(5, block=5, **GRAPH, wish=5, mate=5), symbolic="unknown")
@kb.kernel
def wishes_then_mates_bad(starts: Ints, ends: Ints, wish: Ints, mate: Ints):
    v = kb.tid()
    if v + 1 < starts.shape[0] and v < wish.shape[0] and v < mate.shape[0]:
        best = -1
        for k in range(starts[v], starts[v + 1]):
            u = ends[k]  # may bounds
            if u > best and u != v:
                best = u
        wish[v] = best  # finds global-races
        if 0 <= best < wish.shape[0]:
            if wish[best] == v:  # finds global-races
                mate[v] = best


@case("global-races", "Indigo", At(5, block=5, **GRAPH, wish=[3, 2, 1, 0, 3], mate=5))
@kb.kernel
def scattered_by_a_permutation_good(starts: Ints, ends: Ints, wish: Ints, mate: Ints):
    v = kb.tid()
    if v + 1 < starts.shape[0] and v < wish.shape[0]:
        u = wish[v]
        if 0 <= u < wish.shape[0] and v < mate.shape[0]:
            if wish[u] == v and starts[v] < ends.shape[0]:
                mate[v] = u


@case("global-races", "Indigo", At(5, block=5, **GRAPH, wish=[3, 2, 1, 0, 3], mate=5), symbolic="unknown")
@kb.kernel
def scattered_by_a_permutation_bad(starts: Ints, ends: Ints, wish: Ints, mate: Ints):
    v = kb.tid()
    if v + 1 < starts.shape[0] and v < wish.shape[0]:
        u = wish[v]
        if 0 <= u < mate.shape[0] and starts[v] < ends.shape[0]:
            mate[u] = v  # finds global-races
