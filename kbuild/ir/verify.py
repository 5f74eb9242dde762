"""What legal IR is, checked between passes. A failed check is a fault of kbuild, never of the user.

Adds to the grammar in `nodes`: operand types agree, places are places, every symbol that is read is a parameter or
assigned somewhere in its function, loop symbols and arrays in shared memory are left alone, effects stand in
statements, jumps stand in loops.
"""

from __future__ import annotations

from typing import NoReturn

from kbuild.errors import InternalError
from kbuild.ir import formats, gradients, nodes
from kbuild.ir.blocks import is_of_clusters, shared_arrays
from kbuild.ir.effects import HasEffects, changes_memory
from kbuild.ir.nodes import Expr, Function, Kernel, Node, Stmt, Symbol
from kbuild.ir.printer import print_function
from kbuild.ir.traverse import children, reached, root_of, walk
from kbuild.ir.types import (
    BOOL,
    DYNAMIC,
    INT32,
    UINT32,
    VOID,
    Array,
    Constant,
    Distributed,
    Fixed,
    IndexedArray,
    Matrix,
    Scalar,
    Shared,
    Struct,
    Tuple,
    Type,
    Vector,
    element_of,
    field_of,
    is_composite,
    is_float,
    is_integer,
    is_number,
)

_ALONG_NO_AXIS = ("lane_id", "warp_id", "launch_idx", "cluster_rank")


def verify(kernel: Kernel, has_effects: HasEffects) -> Kernel:
    """The kernel itself when it is legal. `has_effects` answers for an intrinsic by name. Raises InternalError."""
    if not 1 <= kernel.ndim <= 4:
        raise InternalError(f"{kernel.name}: ndim {kernel.ndim}")
    if any(isinstance(parameter.type, Fixed) for parameter in kernel.function.parameters):
        raise InternalError(f"{kernel.name}: a launch cannot give an array in shared or constant memory")
    if kernel.max_iterations is not None and kernel.max_iterations < 1:
        raise InternalError(f"{kernel.name}: max_iterations {kernel.max_iterations}")
    if kernel.cluster_dim is not None and kernel.cluster_dim < 1:
        raise InternalError(f"{kernel.name}: cluster_dim {kernel.cluster_dim}")
    _verify_launch_dim(kernel)
    for function in [*reached(kernel.function), kernel.function]:
        if kernel.cluster_dim is None and any(map(is_of_clusters, walk(function.body))):
            raise InternalError(f"{kernel.name}: {function.name} works with a cluster, and there is none")
        _Verifier(function, has_effects).run()
        gradients.verify(function)
    if sum(type.is_dynamic for _, _, type in shared_arrays(kernel.function)) > 1:
        raise InternalError(f"{kernel.name}: two arrays whose extents the launch gives")
    return kernel


def _verify_launch_dim(kernel: Kernel) -> None:
    if kernel.launch_dim and len(kernel.launch_dim) != kernel.ndim:
        raise InternalError(f"{kernel.name}: launch_dim has {len(kernel.launch_dim)} axes, and tid() {kernel.ndim}")
    for one in kernel.launch_dim:
        root = one.array if isinstance(one, nodes.Extent) else one
        is_given = isinstance(root, nodes.Read) and root.symbol in kernel.function.parameters
        if one.type != INT32 or not (is_given or isinstance(one, nodes.Const)):
            raise InternalError(f"{kernel.name}: launch_dim {one!r:.200}")


class _Verifier:
    def __init__(self, function: Function, has_effects: HasEffects) -> None:
        self.function = function
        self.has_effects = has_effects
        self.assigned: set[Symbol] = {*function.parameters, *function.shared}
        self.loop_symbols: set[Symbol] = set()

    def run(self) -> None:
        for node in walk(self.function.body):
            if isinstance(node, nodes.Assign) and isinstance(root := root_of(node.target), nodes.Read):
                self.assigned.add(root.symbol)
        for symbol in self.function.shared:
            if not isinstance(symbol.type, Shared):
                raise InternalError(f"{self.function.name}: {symbol.name} in shared memory is {symbol.type}")
            if DYNAMIC in symbol.type.shape[1:]:
                raise InternalError(f"{self.function.name}: {symbol.name} has a dynamic extent that is not the first")
        self.block(self.function.body, in_loop=False)

    def fail(self, node: Node, reason: str) -> NoReturn:
        place = f" at {node.span}" if node.span else ""
        raise InternalError(f"illegal IR{place}: {reason}\n{node!r:.400}\nin {print_function(self.function)}")

    def require(self, condition: bool, node: Node, reason: str) -> None:
        if not condition:
            self.fail(node, reason)

    def block(self, body: tuple[Stmt, ...], in_loop: bool) -> None:
        for statement in body:
            self.statement(statement, in_loop)

    def statement(self, stmt: Stmt, in_loop: bool) -> None:
        match stmt:
            case nodes.Assign(target, value):
                self.place(target)
                self.require(target.type == value.type, stmt, f"assigns {value.type} to {target.type}")
                self.expr(target)
                self.value(value, effects_allowed=isinstance(target, nodes.Read))
            case nodes.Evaluate(value):
                self.value(value, effects_allowed=True)
            case nodes.If(condition, then, otherwise):
                self.condition(condition)
                self.block(then, in_loop)
                self.block(otherwise, in_loop)
            case nodes.For():
                self.loop(stmt)
            case nodes.While(condition, body):
                self.condition(condition)
                self.block(body, in_loop=True)
            case nodes.Break() | nodes.Continue():
                self.require(in_loop, stmt, "jump outside a loop")
            case nodes.Print():
                self.print(stmt)
            case nodes.Assert(condition, _, number):
                self.condition(condition)
                self.require(number > 0, stmt, "number of an assert")
            case nodes.Assume(condition):
                self.condition(condition)
            case nodes.Return(value):
                found = VOID if value is None else value.type
                self.require(found == self.function.result, stmt, f"returns {found}, not {self.function.result}")
                if value is not None:
                    self.expr(value)
            case nodes.Native(inputs=inputs, adjoints=adjoints, type=type, body=body):
                self.require(stmt in self.function.body, stmt, "CUDA C++ inside a block")
                self.require(type in (self.function.result, VOID), stmt, f"returns {type}")
                for given in (*inputs, *adjoints):
                    self.require(isinstance(given, nodes.Read), stmt, "CUDA C++ takes variables")
                    self.expr(given)
                self.block(body, in_loop=False)
            case nodes.Barrier(mask, of_cluster=of_cluster):
                self.require(mask is None or not of_cluster, stmt, "lanes of a cluster")
                self.require(mask is None or mask.type == UINT32, stmt, "mask is no uint32")
                if mask is not None:
                    self.expr(mask)

    def print(self, stmt: nodes.Print) -> None:
        conversions = formats.conversions(stmt.pieces)
        self.require(len(conversions) == len(stmt.arguments) <= formats.MAX_ARGUMENTS, stmt, "number of arguments")
        for conversion, argument in zip(conversions, stmt.arguments, strict=True):
            self.require(conversion.takes(argument.type), stmt, f"{conversion.text} of {argument.type}")
            self.expr(argument)

    def loop(self, stmt: nodes.For) -> None:
        self.require(is_integer(stmt.symbol.type), stmt, "loop symbol is no integer")
        self.require(stmt.symbol not in self.assigned, stmt, "loop symbol is assigned")
        for bound in (stmt.start, stmt.stop, stmt.step):
            self.require(bound.type == stmt.symbol.type, stmt, f"bound is {bound.type}")
            self.expr(bound)
        self.loop_symbols.add(stmt.symbol)
        self.block(stmt.body, in_loop=True)
        self.loop_symbols.remove(stmt.symbol)

    def condition(self, expr: Expr) -> None:
        self.require(expr.type == BOOL, expr, "condition is not bool")
        self.expr(expr)

    def place(self, target: Expr) -> None:
        root = root_of(target)
        self.require(isinstance(root, (nodes.Read, nodes.Index)), target, "not a place")
        if isinstance(root, nodes.Read):
            self.require(root.symbol not in self.loop_symbols, target, "assigns a loop symbol")
            self.require(root.symbol not in self.function.shared, target, "assigns an array in shared memory")
        else:
            self.require(not isinstance(root.array.type, Constant), target, "assigns an element of a table")  # type: ignore[union-attr]

    def value(self, expr: Expr, effects_allowed: bool) -> None:
        """An expression that may itself be a call with effects; its operands may not."""
        if effects_allowed and isinstance(expr, (nodes.Call, nodes.Intrinsic)):
            for child in children(expr):
                self.expr(child)  # type: ignore[arg-type]
            self.typed(expr)
        else:
            self.expr(expr)

    def expr(self, expr: Expr) -> None:
        for child in children(expr):
            self.expr(child)  # type: ignore[arg-type]
        if isinstance(expr, nodes.Intrinsic):
            self.require(not self.has_effects(expr.name), expr, "effect inside an expression")
        elif isinstance(expr, nodes.Call):
            inside = changes_memory(expr.callee, self.has_effects)
            self.require(not inside, expr, "effect inside an expression")
        self.typed(expr)

    def typed(self, expr: Expr) -> None:
        match expr:
            case nodes.Const(value, type):
                self.require(isinstance(type, Scalar) and _fits(value, type), expr, f"{value!r} is no {type}")
            case nodes.Table(_, data, type):
                self.require(isinstance(type, Constant) and type.bytes == len(data), expr, "table")
            case nodes.Read(symbol, type):
                self.require(symbol.type == type, expr, "type of the symbol differs")
                known = symbol in self.assigned or symbol in self.loop_symbols
                self.require(known, expr, f"{symbol.name} is never assigned")
            case nodes.Index(array, indices, type):
                self.require(isinstance(array.type, Array) and array.type.element == type, expr, "element type")
                self.require(len(indices) == getattr(array.type, "ndim", -1), expr, "number of indices")
                self.require(expr.cache == "" or expr.cache in nodes.HINTS, expr, "hint")
                self.require(all(is_integer(i.type) for i in indices), expr, "index is no integer")
            case nodes.Component(base, indices, type):
                self.require(component_type(base.type, len(indices)) == type, expr, "component type")
                self.require(all(is_integer(i.type) for i in indices), expr, "index is no integer")
            case nodes.Member(base, name, type):
                found = field_of(base.type, name) if isinstance(base.type, Struct) else None
                self.require(found is not None and found.type == type, expr, "field type")
            case nodes.Extent(array, axis, type):
                inside = isinstance(array.type, Array) and 0 <= axis < array.type.ndim
                self.require(inside and type == INT32, expr, "extent")
            case nodes.Present(array, type):
                self.require(isinstance(array.type, Array) and type == BOOL, expr, "presence")
            case nodes.View(array, indices, type):
                self.require(len(indices) > 0 and view_type(array.type, len(indices)) == type, expr, "view")
                self.require(all(is_integer(i.type) for i in indices), expr, "index is no integer")
            case nodes.Elsewhere(array, rank, type):
                self.require(distributed(array.type) == type, expr, "array of another block")
                self.require(rank.type == INT32, expr, "rank")
            case nodes.ThreadIndex(axis, ndim, type):
                self.require(0 <= axis < ndim <= 4 and type == INT32, expr, "thread index")
            case nodes.Position(what, axis, type):
                known = what in nodes.POSITIONS or (what in _ALONG_NO_AXIS and axis is None)
                self.require(known and axis in (None, 0, 1, 2) and type == INT32, expr, "position")
            case nodes.Unary(op, operand, type):
                self.require(op in nodes.UNARY_OPS and operand.type == type, expr, "unary type")
                self.require((op == "not") == (type == BOOL), expr, "not is for bool alone")
                self.require(op != "neg" or is_number(element_of(type)), expr, "arithmetic on no number")
                self.require(op != "invert" or is_integer(type), expr, "bits of no integer")
            case nodes.Binary():
                self.binary(expr)
            case nodes.Compare(op, left, right, type):
                self.require(op in nodes.COMPARE_OPS and left.type == right.type and type == BOOL, expr, "compare")
                self.require(isinstance(left.type, Scalar), expr, "compares scalars")
            case nodes.Logical(op, left, right, type):
                same = left.type == right.type == type == BOOL
                self.require(op in nodes.LOGICAL_OPS and same, expr, "logical")
            case nodes.Select(condition, then, otherwise, type):
                self.require(condition.type == BOOL and then.type == otherwise.type == type, expr, "select")
            case nodes.Convert(operand, type):
                both = isinstance(operand.type, Scalar) and isinstance(type, Scalar)
                self.require(both and operand.type != type, expr, "conversion")
            case nodes.Fma(a, b, c, type):
                same = a.type == c.type == type and b.type in (type, element_of(type))
                self.require(same and is_float(element_of(type)), expr, "fma")
            case nodes.Build(parts, type):
                wanted = () if isinstance(type, Array) else part_types(type)
                self.require(tuple(p.type for p in parts) == wanted, expr, "parts")
            case nodes.Item(base, index, type):
                items = base.type.items if isinstance(base.type, Tuple) else ()
                self.require(0 <= index < len(items) and items[index] == type, expr, "item")
            case nodes.Call(callee, arguments, type):
                wanted = tuple(p.type for p in callee.parameters)
                self.require(tuple(a.type for a in arguments) == wanted, expr, "arguments")
                self.require(callee.result == type, expr, "result")
            case nodes.Intrinsic(name, (_, _, width)) if name in nodes.SHUFFLES:
                known = isinstance(width, nodes.Const) and width.value in (1, 2, 4, 8, 16, 32)
                self.require(known, expr, "width of a shuffle")
            case nodes.Intrinsic(name) if name in nodes.COLLECTIVES:
                pass
            case nodes.Intrinsic(name, arguments):
                self.require(expr.order in nodes.ORDERS and expr.scope in nodes.SCOPES, expr, "order or scope")
                is_plain = (expr.order, expr.scope) == (nodes.ORDERS[0], nodes.SCOPES[0])
                self.require(is_plain or self.has_effects(name), expr, "order of what is not atomic")
                # Its types are held to its signature where it is built, by `intrinsics.table`.
                on_element = bool(arguments) and isinstance(root_of(arguments[0]), nodes.Index)
                self.require(on_element or not self.has_effects(name), expr, "atomic on no element of an array")
                if on_element and self.has_effects(name):
                    self.place(arguments[0])

    def binary(self, expr: nodes.Binary) -> None:
        left, right, type = expr.left.type, expr.right.type, expr.type
        self.require(expr.op in nodes.BINARY_OPS, expr, "operator")
        self.require(is_number(element_of(type)), expr, "arithmetic on no number")
        scaled = is_composite(type) and {left, right} == {type, element_of(type)}
        if scaled:
            self.require(expr.op == "mul" or (expr.op == "div" and left == type), expr, "scaling")
        else:
            self.require(left == right == type, expr, f"{left} {expr.op} {right} -> {type}")
            self.require(not is_composite(type) or expr.op in ("add", "sub", "mul", "div"), expr, "elementwise")
        if expr.op in ("shl", "shr", "and", "or", "xor"):
            self.require(is_integer(type), expr, "bits of no integer")


def _fits(value: object, type: Scalar) -> bool:
    if type.kind == "bool":
        return value is True or value is False
    if type.kind == "float":
        return isinstance(value, float)
    low = -(1 << (8 * type.size - 1)) if type.kind == "int" else 0
    return isinstance(value, int) and not isinstance(value, bool) and low <= value < low + (1 << (8 * type.size))


def component_type(base: Type, count: int) -> Type | None:
    """The type of `base[…]` with `count` indices, None where there is none."""
    if isinstance(base, Vector) and count == 1:
        return base.element
    if isinstance(base, Matrix):
        return {1: Vector(base.columns, base.element), 2: base.element}.get(count)
    return None


def view_type(array: Type, count: int) -> Type | None:
    """The type of an array at `count` indices, None where no dimension is left."""
    if not isinstance(array, Array) or count >= array.ndim:
        return None
    if isinstance(array, Fixed):
        return type(array)(array.element, array.shape[count:])
    kind = IndexedArray if isinstance(array, IndexedArray) else Array
    return kind(array.element, array.ndim - count)


def distributed(array: Type) -> Type | None:
    """The type of an array in shared memory as another block has it; None for others."""
    return Distributed(array.element, array.shape) if isinstance(array, Shared) else None


def part_types(type: Type) -> tuple[Type, ...] | None:
    """Types of the parts that build a value of this type, None for what is not built from parts."""
    match type:
        case Vector():
            return (type.element,) * type.length
        case Matrix():
            return (type.element,) * (type.rows * type.columns)
        case Struct():
            return tuple(f.type for f in type.fields)
        case Tuple():
            return type.items
    return None
