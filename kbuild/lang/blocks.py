"""Cooperation inside a block: `shared_array`, `syncthreads`, `syncwarp`, `cluster_sync`, and where a thread stands in
the grid.

An array in shared memory is declared once, at the top level of a function: `tile = kb.shared_array((16, 17), float)`.
It belongs to the block, and to the function, however often that is called. A barrier is a statement.
"""

from __future__ import annotations

import ast

from kbuild.errors import Diagnostic, Note, Span
from kbuild.ir import nodes
from kbuild.ir.blocks import shared_arrays, shared_bytes
from kbuild.ir.nodes import Const, Expr, Function, Symbol
from kbuild.ir.types import DYNAMIC, INT32, UINT32, Array, Fixed, IndexedArray, Shared, Type, is_integer
from kbuild.lang import clusters
from kbuild.lang.context import Context
from kbuild.lang.expressions import outer
from kbuild.lang.operands import Operand, Pack, Static, Untyped, describe
from kbuild.loader.builtins import Builtin
from kbuild.loader.types import abi_type
from kbuild.targets import Architecture

BARRIERS = frozenset({"syncthreads", "syncwarp", "cluster_sync"})
NAMES = frozenset({*nodes.POSITIONS, *BARRIERS, "lane_id", "warp_id", "shared_array", "grid_range"})
ALL_LANES = 0xFFFFFFFF
_MAX_DIMENSIONS = 4
_DECLARE = "declare it at the top level of a function: `tile = kb.shared_array((16, 17), float)`"


def _called(ctx: Context, node: ast.expr) -> str | None:
    """The name of the function of the language that an expression calls."""
    if not isinstance(node, ast.Call) or not ctx.scope.is_outer(node.func):
        return None
    callee = outer(ctx, node.func)
    is_ours = isinstance(callee, Static) and isinstance(callee.value, Builtin)
    return callee.value.name if is_ours else None  # type: ignore[union-attr]


# Arrays in shared memory


def declare(ctx: Context, node: ast.Assign) -> bool:
    """`tile = kb.shared_array(shape, dtype)`; False for every other assignment."""
    if _called(ctx, node.value) != "shared_array":
        return False
    assert isinstance(node.value, ast.Call)
    target = node.targets[0]
    if len(node.targets) > 1 or not isinstance(target, ast.Name):
        ctx.refuse("KB193", "an array in shared memory gets one name", node, _DECLARE)
    if ctx.depth > 1 or ctx.is_unrolled:
        text = "an array in shared memory belongs to the whole block, not to a branch or a loop"
        ctx.refuse("KB193", text, node, f"{_DECLARE}; `if kb.static(…):` around it is allowed")
    if target.id in ctx.symbols:
        ctx.refuse("KB193", f"{target.id!r} is a variable already", target, "use a name of its own")
    symbol = Symbol(target.id, _type(ctx, node.value), ctx.span(target))
    ctx.symbols[target.id] = symbol
    ctx.shared.append(symbol)
    return True


def refuse_reassigning(ctx: Context, symbol: Symbol, node: ast.AST) -> None:
    """The name of an array in shared memory stays with it."""
    if symbol in ctx.shared:
        text = f"{symbol.name!r} is an array in shared memory and cannot be assigned again"
        ctx.refuse("KB193", text, node, f"assign to its elements (`{symbol.name}[i] = …`), or use another name")


def of_fixed_shape(wanted: Type, given: Type | None) -> Fixed | None:
    """An argument's type where a parameter takes any array like it: functions are made for the shape that they get."""
    if not isinstance(wanted, Array) or isinstance(wanted, IndexedArray) or not isinstance(given, Fixed):
        return None
    return given if (wanted.element, wanted.ndim) == (given.element, given.ndim) else None


def _type(ctx: Context, node: ast.Call) -> Shared:
    names = ("shape", "dtype")
    if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg not in names for k in node.keywords):
        ctx.refuse("KB130", "kb.shared_array(shape, dtype)", node)
    given: dict[str | None, ast.expr] = dict(zip(names, node.args, strict=False))
    if len(node.args) > len(names) or any(k.arg in given for k in node.keywords):
        ctx.refuse("KB130", "kb.shared_array(shape, dtype)", node)
    given.update((k.arg, k.value) for k in node.keywords)
    if len(given) != len(names):
        ctx.refuse("KB130", "kb.shared_array(shape, dtype) takes both", node)
    shape, dtype = ctx.operands([given["shape"], given["dtype"]])
    return Shared(_element(ctx, dtype, given["dtype"]), _shape(ctx, shape, given["shape"]))


def _shape(ctx: Context, operand: Operand, node: ast.expr) -> tuple[int, ...]:
    items = operand.items if isinstance(operand, Pack) else (operand,)
    if not 1 <= len(items) <= _MAX_DIMENSIONS:
        ctx.refuse("KB194", f"an array has 1 to {_MAX_DIMENSIONS} dimensions, not {len(items)}", node)
    is_none = [isinstance(item, Static) and item.value is None for item in items]
    if any(is_none[1:]):
        help = "the launch gives the first one where it is None: `kb.shared_array((None, 16), float)`"
        ctx.refuse("KB194", "only the first extent may be open", node, help)
    rest = tuple(_extent(ctx, item, node) for item in items[is_none[0] :])
    return (DYNAMIC, *rest) if is_none[0] else rest


def _extent(ctx: Context, operand: Operand, node: ast.expr) -> int:
    is_constant = isinstance(operand, Untyped) or (isinstance(operand, Const) and is_integer(operand.type))
    value = operand.value if is_constant else None  # type: ignore[union-attr]
    if not isinstance(value, int):
        help = "use numbers, names of numbers outside the kernel, or kb.static(…): the size is part of the machine code"
        help += "; a first extent of None is what the launch gives with shared_memory="
        text = f"the shape of an array in shared memory must be constant integers, not {describe(operand)}"
        ctx.refuse("KB194", text, node, help)
    if not 1 <= value < 1 << 31:
        ctx.refuse("KB194", f"{value} is no extent of an array: give one or more", node)
    return value


def _element(ctx: Context, operand: Operand, node: ast.expr) -> Type:
    help = "float, int, kb.float64, kb.vec3, a struct …"
    if not isinstance(operand, Static):
        ctx.refuse(
            "KB194", f"the dtype of an array in shared memory must be a type, not {describe(operand)}", node, help
        )
    try:
        type = abi_type(operand.value)
    except TypeError as error:
        ctx.refuse("KB194", f"this is no type of the kernel language ({error})", node, help)
    if isinstance(type, Array):
        ctx.refuse("KB194", "the elements of an array cannot be arrays", node, "use more dimensions")
    return type


def too_large(
    name: str, function: Function, place: Span, limit: int = Architecture.static_shared_per_block
) -> Diagnostic | None:
    """What to say where a kernel's arrays in shared memory take more than a block may have."""
    total = shared_bytes(function)
    if total <= limit:
        return None
    arrays = list(shared_arrays(function))
    notes = tuple(
        Note(
            f"{symbol.name} takes {type.bytes} bytes: {' × '.join(map(str, type.shape))} of {type.element}", symbol.span
        )
        for _, symbol, type in arrays
    )
    listed = ", ".join(f"{symbol.name} {type.bytes}" for _, symbol, type in arrays)
    text = f"{name} takes {total} bytes of shared memory in each block ({listed}), and CUDA allows {limit}"
    help = "make the arrays smaller, use one for several purposes, or a smaller element type"
    return Diagnostic("KB195", text, place, help=help, notes=notes, kernel=name)


def several_dynamic(name: str, function: Function, place: Span) -> Diagnostic | None:
    """What to say where two arrays would lie in the memory that the launch gives."""
    found = [(one, symbol) for one, symbol, type in shared_arrays(function) if type.is_dynamic]
    if len(found) < 2:
        return None
    notes = tuple(Note(f"{symbol.name} of {one.name}", symbol.span) for one, symbol in found)
    text = f"{name} has {len(found)} arrays whose size the launch gives, and there is one such memory in a block"
    help = "declare one, pass it to the functions that use it, and take views of it for different purposes"
    return Diagnostic("KB195", text, place, help=help, notes=notes, kernel=name)


# Barriers


def statement(ctx: Context, node: ast.Call) -> bool:
    """`kb.syncthreads()`, `kb.syncwarp(mask)` and `kb.cluster_sync()` as a statement; False for every other call."""
    name = _called(ctx, node)
    if name not in BARRIERS:
        return False
    mask = None
    if name == "syncwarp":
        mask = _mask(ctx, node)
    else:
        _refuse_arguments(ctx, name, node)
    is_of_cluster = name == "cluster_sync"
    if is_of_cluster:
        clusters.dim(ctx, name, node)
    ctx.emit(nodes.Barrier(mask, ctx.span(node), is_of_cluster))
    return True


def _mask(ctx: Context, node: ast.Call) -> Expr:
    given = [*node.args, *(k.value for k in node.keywords)]
    is_wrong = len(given) > 1 or any(isinstance(a, ast.Starred) for a in node.args)
    if is_wrong or any(k.arg != "mask" for k in node.keywords):
        ctx.refuse("KB130", "kb.syncwarp(mask) takes one mask of lanes, or nothing", node)
    if not given:
        return Const(ALL_LANES, UINT32, ctx.span(node))
    return ctx.coerce(ctx.expr(given[0]), UINT32, given[0], "the mask of kb.syncwarp")


def _refuse_arguments(ctx: Context, name: str, node: ast.Call) -> None:
    count = len(node.args) + len(node.keywords)
    if count:
        ctx.refuse("KB130", f"kb.{name} takes no arguments, not {count}", node)


# Calls in expressions


def call(ctx: Context, name: str, node: ast.Call) -> Operand:
    """The position of the thread; what is no value is refused."""
    if name == "shared_array":
        ctx.refuse("KB193", "an array in shared memory is declared, not computed", node, _DECLARE)
    if name == "grid_range":
        ctx.refuse("KB131", "kb.grid_range gives no value", node, "loop over it: `for i in kb.grid_range(n):`")
    if name in BARRIERS:
        ctx.refuse("KB131", f"kb.{name} gives no value", node, "write it as a statement of its own")
    _refuse_arguments(ctx, name, node)
    return nodes.Position(name, None, INT32, ctx.span(node))
