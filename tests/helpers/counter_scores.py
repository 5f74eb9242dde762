"""The memory access model against an H200's counters: `scores()`, a row for each pair of prediction and counter."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field

from kbuild.traffic.access import Traffic, traffic
from tests.helpers.counter_data import Launch, launches
from tests.helpers.counter_patterns import Event, events

L1 = "l1tex__"
WAVEFRONTS = L1 + "data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
CONFLICTS = L1 + "data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
REQUESTS = L1 + "t_requests_pipe_lsu_mem_global_op_{}.sum"
SECTORS = L1 + "t_sectors_pipe_lsu_mem_global_op_{}.sum"
PASSES = L1 + "t_output_wavefronts_pipe_lsu_mem_global_op_{}.sum"
# What counts as what in a counter's name: the event's space and kinds, and whether an atomic's result is used.
SELECTIONS = {
    "shared ld": ("shared", ("load",), None),
    "shared st": ("shared", ("store",), None),
    "shared atom": ("shared", ("atomic", "increment"), None),
    "global ld": ("global", ("load",), None),
    "global st": ("global", ("store",), None),
    "global red": ("global", ("atomic",), False),
    "global atom": ("global", ("atomic",), True),
    "global": ("global", ("load", "store", "atomic"), None),
}
# (title, selection, field of Traffic, counter)
PREDICTIONS = (
    ("shared load wavefronts", "shared ld", "wavefronts", WAVEFRONTS.format("ld")),
    ("shared store wavefronts", "shared st", "wavefronts", WAVEFRONTS.format("st")),
    ("shared atomic wavefronts", "shared atom", "wavefronts", WAVEFRONTS.format("atom")),
    ("shared load conflicts", "shared ld", "conflicts", CONFLICTS.format("ld")),
    ("shared store conflicts", "shared st", "conflicts", CONFLICTS.format("st")),
    ("shared atomic conflicts", "shared atom", "conflicts", CONFLICTS.format("atom")),
    ("global load requests", "global ld", "requests", REQUESTS.format("ld")),
    ("global store requests", "global st", "requests", REQUESTS.format("st")),
    ("global RED requests", "global red", "requests", REQUESTS.format("red")),
    ("global ATOM requests", "global atom", "requests", REQUESTS.format("atom")),
    ("global load sectors", "global ld", "sectors", SECTORS.format("ld")),
    (
        "global store sectors, patched SASS",
        "global st",
        "sectors",
        "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum",
    ),
    ("global store sectors, hardware", "global st", "sectors", SECTORS.format("st")),
    ("global RED sectors", "global red", "sectors", SECTORS.format("red")),
    ("global ATOM sectors", "global atom", "sectors", SECTORS.format("atom")),
    ("tags", "global", "tags", "memory_l1_tag_requests_global"),
    ("load set accesses", "global ld", "tags", L1 + "t_set_accesses_pipe_lsu_mem_global_op_ld.sum"),
    ("tag-stage wavefronts, loads", "global ld", "wavefronts", PASSES.format("ld")),
    ("tag-stage wavefronts, stores", "global st", "wavefronts", PASSES.format("st")),
    ("tag-stage wavefronts, RED", "global red", "wavefronts", PASSES.format("red")),
    ("tag-stage wavefronts, ATOM", "global atom", "wavefronts", PASSES.format("atom")),
)


@dataclass(frozen=True)
class Mismatch:
    launch: str
    predicted: int
    counted: int

    @property
    def error(self) -> float:
        """Relative to the counter."""
        return (self.predicted - self.counted) / self.counted


@dataclass
class Score:
    """`exact` of `launches` launches whose prediction or counter is not 0; `left_out` are those not predicted."""

    title: str
    counter: str
    exact: int = 0
    launches: int = 0
    left_out: int = 0
    mismatches: list[Mismatch] = field(default_factory=list)

    def add(self, launch: Launch, predicted: int, counted: int) -> None:
        self.launches += bool(predicted or counted)
        self.exact += bool(predicted) and predicted == counted
        if predicted != counted:
            self.mismatches.append(Mismatch(f"{launch.run}/{launch.name}", predicted, counted))


Costs = list[tuple[Event, Traffic]]


@functools.cache
def scores() -> tuple[Score, ...]:
    """Every prediction over every launch."""
    found = {title: Score(title, counter) for title, _, _, counter in PREDICTIONS}
    for launch, costs, left_out in _costs():
        for title, selection, name, counter in PREDICTIONS:
            space, kinds, result = SELECTIONS[selection]
            if left_out and space == "shared" and kinds != ("store",):
                found[title].left_out += 1
                continue
            predicted = sum(
                getattr(cost, name)
                for event, cost in costs
                if event.space == space and event.kind in kinds and result in (None, event.result)
            )
            found[title].add(launch, predicted, int(launch.counters[counter]))
    return tuple(found.values())


def lane_mismatches() -> list[str]:
    """Launches whose loads and stores, by space, have other active lanes in the model than on the GPU, which counted
    the threads of every memory instruction.
    """
    wrong = []
    for launch, costs, left_out in _costs():
        for space in ("global", "shared"):
            for kind in ("load", "store"):
                if left_out and (space, kind) == ("shared", "load"):
                    continue
                ours = sum(len(event.lanes) for event, _ in costs if (event.space, event.kind) == (space, kind))
                counted = sum(
                    row["thr_on"]
                    for row in launch.instructions
                    if (row.get("space", "").lower(), row.get("op", "").lower()) == (space, kind)
                )
                if ours != counted:
                    wrong.append(f"{launch.run}/{launch.name}: {space} {kind}: {ours}, not {counted}")
    return wrong


def _costs() -> Iterator[tuple[Launch, Costs, set[str]]]:
    for launch in launches():
        accesses, left_out = events(launch)
        yield launch, [(e, traffic(e.space, e.kind, e.addresses, e.lanes, e.size)) for e in accesses], left_out


def table() -> str:
    """All of it as text."""
    lines = ["exact  of  largest error  what", ""]
    for score in scores():
        worst = max((abs(m.error) for m in score.mismatches if m.counted), default=0.0)
        lines.append(f"{score.exact:5} {score.launches:4}  {worst:12.2%}  {score.title}: {score.counter}")
        if score.left_out:
            lines.append(f"{'':25}  ({score.left_out} launches are not predicted)")
    for score in scores():
        if score.mismatches:
            lines += ["", f"{score.title}: launch, predicted, counted, error"]
            lines += [f"    {m.launch:36} {m.predicted:6} {m.counted:6} {m.error:8.2%}" for m in score.mismatches]
    return "\n".join(lines) + "\n"
