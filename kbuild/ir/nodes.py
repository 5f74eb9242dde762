"""The nodes. This file is the grammar:

    kernel   = Kernel(function, ndim, fmad, structs, max_iterations, launch_bounds, cluster_dim, launch_dim)
    function = Function(name, module, parameters, result, body, shared, wraps, gradient?, replay?)
    stmt     = Assign(place, expr) | Evaluate(expr) | If(expr, stmt*, stmt*) | While(expr, stmt*)
             | For(symbol, start, stop, step, stmt*) | Break | Continue | Return(expr?)
             | Print(pieces, expr*) | Assert(expr, owner, number, text) | Assume(expr, text)
             | Barrier(expr?, of_cluster)
             | Native(text, expr*, expr*, stmt*)
    place    = Read(symbol) | Index(array, expr*) | Component(place, expr*) | Member(place, field)
    expr     = Const | Table(name, data) | place | Extent(array, axis) | View(array, expr*) | Elsewhere(array, rank)
             | ThreadIndex(axis, ndim) | Position(what, axis) | Unary | Binary | Compare | Logical
             | Select(condition, expr, expr) | Convert(expr) | Fma(a, b, c) | Build(expr*) | Present(array)
             | Item(expr, n) | Call(function, expr*) | Intrinsic(name, expr*)

Meaning, where the names leave a choice:
- Symbols have identity, two of one name are two variables. Every variable is zero until assigned.
- Expressions have no effects, except `Call` and `Intrinsic` whose callee has; those stand alone, as the value of an
  `Assign` to a symbol or in an `Evaluate`, so that the order of effects is the order of statements.
- Integers wrap. `div` and `mod` of integers truncate towards zero; x div 0 = 0 and x mod 0 = x. Shifts by the width or
  more (or by a negative amount) give 0, or the sign for a signed right shift. `floordiv` of floats is floor(a / b)
  (of float16 that of the quotient in float32), `mod` of floats is fmod.
- `Convert` float → integer truncates, saturates at 32 or 64 bits (narrower types take the low bits of that), NaN gives
  0. Integer → integer takes the low bits; to bool it is `!= 0`.
- An index is from 0 to below the extent. In a function that `wraps`, one below zero of an `Index`, a `View` or a
  `Component` counts from the end: -1 is the last one.
- `Logical` and `Select` evaluate only what decides. `Compare` with NaN is false, `ne` true.
- A `Table` is an array in constant memory; `data` are its elements, row by row as in memory. Nothing stores to them.
- `For` takes start, stop, step once, before the first trip; step 0 means no trip. Its symbol is never assigned in the
  body and never read outside.
- `Print` writes its pieces, arguments in the places of the conversions, as C's printf does (see `ir.formats`).
- `Assert` ends the thread where its condition is false, and the launch then fails.
- `Assume` says what holds here: the compiler may count on it. Where it does not hold, nothing is defined.
- An atomic is ordered as C++ has it (`ORDERS`): `release` lets all that acquire from it see what was done before,
  `acquire` sees that. Threads within its `scope` (`SCOPES`) take part; it is atomic for those alone.
- `cache` of an `Index` is a hint (`HINTS`) and changes no meaning. What is read as `readonly` is stored to by nobody
  while the kernel runs.
- The symbols in a function's `shared` are arrays in shared memory: one each for every block, the same for every call.
  Their elements hold anything until assigned.
- `Barrier` is reached by all threads of a block (or by the lanes of a warp in its mask, or by all threads of the blocks
  of a cluster), or by none. What they did to memory before it is seen by all of them after it.
- The blocks of a kernel with a `cluster_dim` run together in clusters of so many along x. `Elsewhere` is an array in
  shared memory as the block of a rank in the own cluster has it. It may be touched between the first and the last
  barrier of the cluster: before, that block may not have begun, and after, it may have ended.
- An `Intrinsic` of `COLLECTIVES` is reached by all lanes of a warp that the block has, or by none. They exchange
  values, and nothing is said about memory. `shfl*` take (value, lane | delta | mask, width): of the second the low
  five bits count, the width is a constant, 1, 2, 4 … 32. Lanes form groups of so many. `shfl` reads lane (lane mod
  width) of the own group, `shfl_up` the lane `delta` below and `shfl_down` above, `shfl_xor` the own number ^ mask;
  where that is beyond the group (below it for `shfl_up`, above it for the others), or a lane that the block does not
  have, the result is the own value.
- `Native` is CUDA C++: what it does nobody looks at. It stands at the top of a function, takes the parameters among its
  `inputs`, adds to its `adjoints`, and with a type other than void returns from the function. It may read and change
  every array that it is given, but for tables; given values alone, it does nothing but return one. `body` does the same
  in other words, where `has_body` says so: for the simulator, and for gradients that nobody has written.
- A function's `gradient` and `replay` say how it is differentiated; they mean nothing for what it computes, and are
  reached through it, not called. `gradient` adds to the adjoints of the arguments: its parameters are those of the
  function, then for each that is an array with floats in it the adjoint array (of the same type, and perhaps not
  there), then the adjoint of every result. It returns a tuple with the adjoint of each other parameter that has floats
  in it, in their order (a tuple of one, too), or nothing. `replay` has the function's parameters and result, and stands
  in for it where an adjoint runs the kernel forward once more.
- `Fma` rounds once. Nothing else is fused, and nothing is reassociated. float16 rounds after every operation.
No class here has a subclass, and none may get one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from kbuild.errors import Span
from kbuild.ir.formats import Piece
from kbuild.ir.types import Struct, Type

UNARY_OPS: Final = frozenset({"neg", "invert", "not"})
BINARY_OPS: Final = frozenset({"add", "sub", "mul", "div", "floordiv", "mod", "shl", "shr", "and", "or", "xor"})
COMPARE_OPS: Final = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
LOGICAL_OPS: Final = frozenset({"and", "or"})
POSITIONS: Final = frozenset({"thread_idx", "block_idx", "block_dim", "grid_dim"})  # those along an axis, too
SHUFFLES: Final = frozenset({"shfl", "shfl_up", "shfl_down", "shfl_xor"})
COLLECTIVES: Final = SHUFFLES | {"ballot", "any", "all", "match_any"}  # intrinsics that all lanes of a warp do together


# Of atomics; the first of each is what they are unless the source says otherwise.
ORDERS: Final = ("relaxed", "acquire", "release", "acq_rel")
SCOPES: Final = ("device", "block", "system")
HINTS: Final = frozenset({"readonly", "streaming"})  # for caches, where an element is loaded or stored


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """A parameter or local variable. Equality is identity."""

    name: str
    type: Type
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Const:
    """A scalar constant: bool, int or float by the kind of its type."""

    value: bool | int | float
    type: Type
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """The value of a symbol, or the place of one."""

    symbol: Symbol
    type: Type
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table of constants as an array: `name` is for people, `data` holds the elements as memory does."""

    name: str
    data: bytes
    type: Type
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Index:
    """Element of an array in memory; as many integer indices as the array has dimensions. `cache` is "" or a hint."""

    array: Expr
    indices: tuple[Expr, ...]
    type: Type
    span: Span | None = None
    cache: str = ""


@dataclass(frozen=True, slots=True)
class Component:
    """Element of a vector (one index) or matrix (two), or row of a matrix (one)."""

    base: Expr
    indices: tuple[Expr, ...]
    type: Type
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """Field of a struct."""

    base: Expr
    field: str
    type: Type
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Extent:
    """Size of one dimension of an array, int32."""

    array: Expr
    axis: int
    type: Type
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Present:
    """Whether there is an array: false where the launch has None for it, bool. A view is there if its array is."""

    array: Expr
    type: Type
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class View:
    """The array that is left of an array at fewer indices than it has dimensions: the leading ones are fixed."""

    array: Expr
    indices: tuple[Expr, ...]
    type: Type
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """An array in shared memory, or a part of one, as another block of the cluster has it; `rank` is int32."""

    array: Expr
    rank: Expr
    type: Type
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class ThreadIndex:
    """The thread's coordinate on one axis of the launch, int32."""

    axis: int
    ndim: int
    type: Type
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Position:
    """Where the thread stands in the grid, int32: one of `POSITIONS` along x, y or z (0, 1, 2), or over all axes (None,
    x fastest), or its `lane_id`, the `warp_id` of its warp in the block, the `cluster_rank` of its block, or
    `launch_idx` (None): its number in the driver launch, which is a piece of a launch that is too large for one.
    """

    what: str
    axis: int | None
    type: Type
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Unary:
    op: str
    operand: Expr
    type: Type
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic on two operands of one type; `mul` and `div` also take a composite and its scalar."""

    op: str
    left: Expr
    right: Expr
    type: Type
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Compare:
    op: str
    left: Expr
    right: Expr
    type: Type
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Logical:
    op: str
    left: Expr
    right: Expr
    type: Type
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Select:
    condition: Expr
    then: Expr
    otherwise: Expr
    type: Type
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Convert:
    operand: Expr
    type: Type
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Fma:
    """`a * b + c`, rounded once, element by element; `b` may be the scalar of a composite `a`."""

    a: Expr
    b: Expr
    c: Expr
    type: Type
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Build:
    """A vector, matrix (row-major), struct (fields in order) or tuple from its parts; of none, no array."""

    parts: tuple[Expr, ...]
    type: Type
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One result of several."""

    base: Expr
    index: int
    type: Type
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Call:
    callee: Function
    arguments: tuple[Expr, ...]
    type: Type
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """A row of `kbuild.intrinsics` by name. An atomic's first argument is a place in an array; one of `COLLECTIVES`
    stands where effects do, since all lanes come to it together."""

    name: str
    arguments: tuple[Expr, ...]
    type: Type
    span: Span | None = None
    order: str = "relaxed"
    scope: str = "device"


@dataclass(frozen=True, slots=True)
class Assign:
    target: Expr
    value: Expr
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Evaluate:
    value: Expr
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...]
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class For:
    symbol: Symbol
    start: Expr
    stop: Expr
    step: Expr
    body: tuple[Stmt, ...]
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class While:
    condition: Expr
    body: tuple[Stmt, ...]
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Break:
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Continue:
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Return:
    value: Expr | None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Print:
    """A line (or part of one) on the host's stdout, written whole; an argument for every conversion, all scalars."""

    pieces: tuple[Piece, ...]
    arguments: tuple[Expr, ...]
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Assert:
    """What must hold: the assert `number` (from 1, in source order) of the function or kernel `owner`, in words."""

    condition: Expr
    owner: str
    number: int
    text: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Assume:
    """What holds, in words."""

    condition: Expr
    text: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Barrier:
    """Waits for all threads of the block; with a mask (uint32) for the lanes of the warp that it names, `of_cluster`
    for all threads of the cluster."""

    mask: Expr | None
    span: Span | None = None
    of_cluster: bool = False


@dataclass(frozen=True, slots=True)
class Native:
    """A text in CUDA C++ that stands at a line of the function's file; `name` is what it is called for people.

    `is_together`: its threads wait for one another, share memory, or ask for their place in the grid.
    """

    text: str
    name: str
    line: int
    inputs: tuple[Expr, ...]
    adjoints: tuple[Expr, ...]
    type: Type
    body: tuple[Stmt, ...]
    has_body: bool
    is_together: bool
    span: Span | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A device function at fixed types. Arguments go by value, arrays as descriptors. `shared` are the arrays in shared
    memory that it declares. The functions inside a `gradient` have none themselves. Equality is identity.
    """

    name: str
    module: str
    parameters: tuple[Symbol, ...]
    result: Type
    body: tuple[Stmt, ...]
    span: Span | None = None
    shared: tuple[Symbol, ...] = ()
    wraps: bool = False
    gradient: Function | None = None
    replay: Function | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """An entry: `name` is `module:qualname`, `ndim` the number of results of its `tid()`. `max_iterations` is how many
    trips a loop takes at most, each time it is entered, whose number of trips nobody knows before. `launch_bounds` are
    the most threads of a block, and how many blocks a multiprocessor is to hold (0: nothing is said, None: each target
    as many as do it good); they mean nothing for what is computed. `cluster_dim` is how many blocks along x make up a
    cluster; None: blocks know nothing of one another. `launch_dim` is how many threads every launch has along each axis
    (none: nothing is said): int32 constants, parameters and extents of parameters, as the launch gives them.
    """

    name: str
    function: Function
    ndim: int
    fmad: bool = True
    structs: tuple[Struct, ...] = ()
    max_iterations: int | None = None
    launch_bounds: tuple[int, int | None] | None = None
    cluster_dim: int | None = None
    launch_dim: tuple[Expr, ...] = ()


Expr: TypeAlias = (
    Const
    | Table
    | Read
    | Index
    | Component
    | Member
    | Extent
    | Present
    | View
    | Elsewhere
    | ThreadIndex
    | Position
    | Unary
    | Binary
    | Compare
    | Logical
    | Select
    | Convert
    | Fma
    | Build
    | Item
    | Call
    | Intrinsic
)
Stmt: TypeAlias = (
    Assign | Evaluate | If | For | While | Break | Continue | Return | Print | Assert | Assume | Barrier | Native
)
Node: TypeAlias = Expr | Stmt

EXPRESSIONS: Final = Expr.__args__
STATEMENTS: Final = Stmt.__args__
