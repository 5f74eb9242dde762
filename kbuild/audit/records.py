"""What a symbolic run writes down: accesses, barriers, arithmetic that may overflow, what is assumed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from kbuild.audit.conditions import Condition
from kbuild.audit.terms import Atom, Term
from kbuild.audit.values import Memory, Value
from kbuild.errors import Span
from kbuild.ir.nodes import Symbol
from kbuild.ir.types import Type

# Stretches between barriers in which a thread may be, each with the condition under which it is.
Phases: TypeAlias = dict[int, Condition]


@dataclass(frozen=True, slots=True, eq=False)
class Counter:
    """The element that atomics count upwards: no two threads get the same number from it."""

    memory: Memory
    indices: tuple[Term, ...]


class Part(NamedTuple):
    """Bytes of an element: where they begin, how many. `component`: the number there with which it begins, where that
    is not known while building; the bytes are then all that it may be, and it has `width` of them."""

    offset: int
    size: int
    component: Term | None = None
    width: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """One access of a thread: `kind` "read", "write" or "atomic", to a `part` of an element.

    `path` is where it happens, `order` counts accesses as the source has them. `is_update`: a store of what the same
    statement has loaded from there. `scope` and `memory_order` of an atomic, `cache` the hint of a load or store.
    `is_whole`: the element, not a part of it. `word`: bytes of the words that it goes in, where these are larger than
    its numbers. `loops` are numbers of trips, of the outermost loop first.
    """

    memory: Memory
    indices: tuple[Term, ...]
    kind: str
    path: Condition
    span: Span | None
    phases: Phases
    warp_phases: Phases
    part: Part
    order: int
    scope: str = "device"
    memory_order: str = "relaxed"
    is_update: bool = False
    statement: int = 0
    loops: tuple[Term, ...] = ()
    is_whole: bool = False
    word: int = 0
    cache: str = ""

    @property
    def offset(self) -> int:
        return self.part.offset

    @property
    def size(self) -> int:
        return self.part.size


@dataclass(frozen=True, slots=True)
class Fence:
    """What no compiler carries a loaded element past, though it stores nothing: a barrier (`is_barrier`: after it there
    may be what other threads have stored), or printing. `order` is that of the first access behind it."""

    what: str
    path: Condition
    span: Span | None
    order: int
    loops: tuple[Term, ...]
    is_barrier: bool


@dataclass(frozen=True, slots=True)
class Reach:
    """A barrier (`of` "block"), or something that the lanes of a warp do together ("warp"), and where it is reached.

    `mask` names the lanes, where that is known and these are not all; `voted` is what a ballot was about that gave it.
    """

    of: str
    what: str
    path: Condition
    span: Span | None
    mask: int | None = None
    voted: Condition | None = None


@dataclass(frozen=True, slots=True)
class Component:
    """A component of a vector or matrix, by an index that is no constant, of `extent` there are."""

    index: Term
    extent: int
    path: Condition
    span: Span | None
    name: str


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """The exact result of an operation that must fit its type."""

    result: Term
    type: Type
    path: Condition
    span: Span | None
    is_product: bool


@dataclass(frozen=True, slots=True)
class Branch:
    """An `if` or a loop whose condition is not the same for all threads of a warp."""

    condition: Condition
    path: Condition
    span: Span | None
    is_loop: bool
    has_else: bool = False


@dataclass(frozen=True, slots=True)
class Unset:
    """A variable that is read, and the condition under which something has been assigned."""

    name: str
    assigned: Condition
    path: Condition
    span: Span | None


@dataclass(frozen=True, slots=True)
class Head:
    """A variable that a loop changes: its `value` at the beginning of trip `number`, and that of the first trip."""

    number: Term
    value: Term
    first: Term


@dataclass(slots=True)
class Records:
    """Everything of one run, and what the `parameters` hold. `facts` hold for every thread; `assumed` are said in
    words; `invariants` are conditions on paths that follow from loops, `held` those that the source asserts or assumes.
    `loose` are numbers of trips that may pass no barrier, and what is of such a trip. `trips` are the paths on which a
    trip of each loop begins, by its number. `recounted` are arrays that atomics do not only count upwards: what these
    give back may come again. `told` are the bits of arrays in shared memory of which all threads of a block are taken
    to read the same. `heads` are variables of loops of which little is known, those of outer loops first; `votes` are
    what a ballot has asked, by what it gave, and `of_warps` conditions that are the same for the lanes of a warp.
    `unclear` says what the run could not look into.
    """

    parameters: list[tuple[Symbol, Value]] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    fences: list[Fence] = field(default_factory=list)
    reaches: list[Reach] = field(default_factory=list)
    components: list[Component] = field(default_factory=list)
    arithmetic: list[Arithmetic] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=list)
    facts: list[Condition] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    invariants: set[Condition] = field(default_factory=set)
    unset: list[Unset] = field(default_factory=list)
    held: set[Condition] = field(default_factory=set)
    loose: set[Atom] = field(default_factory=set)
    trips: dict[Term, Condition] = field(default_factory=dict)
    recounted: set[str] = field(default_factory=set)
    told: int = 0
    heads: list[Head] = field(default_factory=list)
    votes: dict[Atom, Condition] = field(default_factory=dict)
    of_warps: set[Condition] = field(default_factory=set)
    unclear: list[tuple[str, Span | None]] = field(default_factory=list)
