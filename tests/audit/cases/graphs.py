"""Graphs as lists of neighbours: a vertex for each thread, and what goes wrong where threads meet at a neighbour.

Which elements an edge leads to, the arrays say; so of their indices nobody can be sure, and bounds are not what these
cases are about.
"""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

# Six vertices on a ring, each with both of its neighbours.
STARTS = [0, 2, 4, 6, 8, 10, 12]
RING = [5, 1, 0, 2, 1, 3, 2, 4, 3, 5, 4, 0]


@case("global-races", "Indigo", At(6, block=6, starts=STARTS, edges=RING, rank=6, out=6))
@kb.kernel
def pushed_good(
    starts: kb.array(dtype=int), edges: kb.array(dtype=int), rank: kb.array(dtype=float), out: kb.array(dtype=float)
):
    v = kb.tid()
    if v + 1 < starts.shape[0] and v < rank.shape[0]:
        for k in range(starts[v], starts[v + 1]):
            kb.atomic_add(out, edges[k], rank[v])  # may bounds


@case("global-races", "Indigo", At(6, block=6, starts=STARTS, edges=RING, rank=6, out=6))
@kb.kernel
def pushed_bad(
    starts: kb.array(dtype=int), edges: kb.array(dtype=int), rank: kb.array(dtype=float), out: kb.array(dtype=float)
):
    v = kb.tid()
    if v + 1 < starts.shape[0] and v < rank.shape[0]:
        for k in range(starts[v], starts[v + 1]):
            u = edges[k]  # may bounds
            out[u] = out[u] + rank[v]  # finds global-races; may bounds


@case("global-races", "Indigo", At(6, block=6, starts=STARTS, edges=RING, rank=6, out=6))
@kb.kernel
def pulled_good(
    starts: kb.array(dtype=int), edges: kb.array(dtype=int), rank: kb.array(dtype=float), out: kb.array(dtype=float)
):
    v = kb.tid()
    if v + 1 < starts.shape[0] and v < out.shape[0]:
        total = 0.0
        for k in range(starts[v], starts[v + 1]):
            total += rank[edges[k]]  # may bounds
        out[v] = total


@case("global-races", "Indigo", At(6, block=6, starts=STARTS, edges=RING, rank=6), symbolic="unknown")
@kb.kernel
def pulled_bad(starts: kb.array(dtype=int), edges: kb.array(dtype=int), rank: kb.array(dtype=float)):
    v = kb.tid()
    if v + 1 < starts.shape[0] and v < rank.shape[0]:
        total = 0.0
        for k in range(starts[v], starts[v + 1]):
            total += rank[edges[k]]  # finds global-races; may bounds
        rank[v] = total  # finds global-races


@case("global-races", "Indigo", At(6, block=6, starts=STARTS, edges=RING, level=[0, 9, 9, 9, 9, 9], now=0))
@kb.kernel
def levels_good(starts: kb.array(dtype=int), edges: kb.array(dtype=int), level: kb.array(dtype=int), now: int):
    v = kb.tid()
    if v + 1 < starts.shape[0] and v < level.shape[0]:
        if kb.atomic_add(level, v, 0) == now:
            for k in range(starts[v], starts[v + 1]):
                kb.atomic_min(level, edges[k], now + 1)  # may bounds


@case("global-races", "Indigo", At(6, block=6, starts=STARTS, edges=RING, level=[0, 9, 9, 0, 9, 9], now=0))
@kb.kernel
def levels_open(starts: kb.array(dtype=int), edges: kb.array(dtype=int), level: kb.array(dtype=int), now: int):
    v = kb.tid()
    if v + 1 < starts.shape[0] and v < level.shape[0]:
        if level[v] == now:  # may global-races
            for k in range(starts[v], starts[v + 1]):
                u = edges[k]  # may bounds
                if level[u] > now + 1:  # may bounds; may global-races
                    level[u] = now + 1  # may global-races


@case("global-races", "Indigo", At(12, block=12, source=RING, target=RING[::-1], parent=6))
@kb.kernel
def hooked_good(source: kb.array(dtype=int), target: kb.array(dtype=int), parent: kb.array(dtype=int)):
    e = kb.tid()
    if e < source.shape[0] and e < target.shape[0]:
        low = kb.min(source[e], target[e])
        high = kb.max(source[e], target[e])
        kb.atomic_min(parent, high, low)  # may bounds


@case("global-races", "Indigo", At(12, block=12, source=RING, target=RING[::-1], parent=6))
@kb.kernel
def hooked_bad(source: kb.array(dtype=int), target: kb.array(dtype=int), parent: kb.array(dtype=int)):
    e = kb.tid()
    if e < source.shape[0] and e < target.shape[0]:
        low = kb.min(source[e], target[e])
        high = kb.max(source[e], target[e])
        if low < parent[high]:  # finds global-races; may bounds
            parent[high] = low + e  # finds global-races


@case("global-races", "Indigo", At(12, block=12, source=RING, degree=6))
@kb.kernel
def degrees_good(source: kb.array(dtype=int), degree: kb.array(dtype=int)):
    e = kb.tid()
    if e < source.shape[0]:
        degree[source[e]] += 1  # may bounds


@case("global-races", "Indigo", At(12, block=12, source=RING, degree=6))
@kb.kernel
def degrees_bad(source: kb.array(dtype=int), degree: kb.array(dtype=int)):
    e = kb.tid()
    if e < source.shape[0]:
        v = source[e]
        degree[v] = degree[v] + 1  # finds global-races; may bounds


@case("bounds", "Indigo", At(8, block=8, starts=STARTS, out=8))
@kb.kernel
def degrees_from_starts_good(starts: kb.array(dtype=int), out: kb.array(dtype=int)):
    v = kb.tid()
    if v < starts.shape[0] - 1 and v < out.shape[0]:
        out[v] = starts[v + 1] - starts[v]  # may overflow


@case("bounds", "Indigo", At(8, block=8, starts=STARTS, out=8))
@kb.kernel
def degrees_from_starts_bad(starts: kb.array(dtype=int), out: kb.array(dtype=int)):
    v = kb.tid()
    if v < starts.shape[0] and v < out.shape[0]:
        out[v] = starts[v + 1] - starts[v]  # finds bounds; may overflow


@case("bounds", "Indigo", At(6, block=6, starts=STARTS, edges=RING, out=6))
@kb.kernel
def last_edge_good(starts: kb.array(dtype=int), edges: kb.array(dtype=int), out: kb.array(dtype=int)):
    v = kb.tid()
    if v + 1 < starts.shape[0] and v < out.shape[0]:
        k = starts[v + 1]
        if k > 0 and k <= edges.shape[0]:
            out[v] = edges[k - 1]


@case("bounds", "Indigo", At(6, block=6, starts=STARTS, edges=RING, out=6))
@kb.kernel
def last_edge_bad(starts: kb.array(dtype=int), edges: kb.array(dtype=int), out: kb.array(dtype=int)):
    v = kb.tid()
    if v + 1 < starts.shape[0] and v < out.shape[0]:
        k = starts[v + 1]
        if k > 0 and k <= edges.shape[0]:
            out[v] = edges[k]  # finds bounds


@case("global-races", "Indigo", At(6, block=6, starts=STARTS, edges=RING, count=[0], queue=12))
@kb.kernel
def queued_open(
    starts: kb.array(dtype=int), edges: kb.array(dtype=int), count: kb.array(dtype=int), queue: kb.array(dtype=int)
):
    v = kb.tid()
    if v + 1 < starts.shape[0] and count.shape[0] == 1:
        for k in range(starts[v], starts[v + 1]):
            place = kb.atomic_add(count, 0, 1)
            if 0 <= place < queue.shape[0]:
                queue[place] = edges[k]  # may global-races; may bounds
