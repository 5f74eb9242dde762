"""Vectors, quaternions, transforms and matrices made inside kernels, of a type or of what is put into them.

kb.vec3(0.0)   kb.quat(axis, w)   kb.transform(p=p, q=q)   kb.vector(x, y, dtype=float)   kb.types.matrix((2, 3), float)
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, NoReturn

from kbuild.ir import nodes
from kbuild.ir.nodes import Const, Expr
from kbuild.ir.types import BOOL, FLOAT32, INT32, Matrix, Scalar, Type, Vector, element_of, is_number
from kbuild.ir.types import quaternion as quaternion_of
from kbuild.ir.types import transformation as transformation_of
from kbuild.lang.context import Context
from kbuild.lang.operands import Operand, Pack, Static, Untyped, default_type, describe
from kbuild.lang.parts import read_often
from kbuild.loader import factories
from kbuild.loader.layout import abi_type

Named = dict[str, Operand]


def composite(ctx: Context, type: Vector | Matrix, given: list[Operand], named: Named, node: ast.Call) -> Expr:
    """A value of a known type. No argument: zeros (a transform: no motion, but in Warp's dialect zeros, too). One
    number: all elements. One value of the type: a copy; of another element type: converted. Else every element, or the
    parts that the type has."""
    is_transform = isinstance(type, Vector) and type.kind == "transform"
    if named or (is_transform and not given and ctx.owner.dialect != "warp"):
        given = _position_and_rotation(ctx, type, given, named, node)
    if len(given) == 1 and isinstance(given[0], Expr):
        value = given[0]
        if value.type == type:
            return value
        if _shape(value.type) == _shape(type):
            return _converted(ctx, value, type, node)
    numbers = _from_parts(ctx, type, given, node) or _from_numbers(ctx, type, given, node)
    return nodes.Build(tuple(numbers), type, ctx.span(node))


def _position_and_rotation(
    ctx: Context, type: Vector | Matrix, given: list[Operand], named: Named, node: ast.Call
) -> list[Operand]:
    """`p=` and `q=` of a transform; the one that is missing does not move."""
    if not isinstance(type, Vector) or type.kind != "transform":
        ctx.refuse("KB130", f"{type} takes no keyword arguments", node)
    if given or not set(named) <= {"p", "q"}:
        ctx.refuse("KB130", f"{type} takes its numbers, a position and a rotation, or p= and q=", node)
    span = ctx.span(node)
    zero, one = Const(0.0, type.element, span), Const(1.0, type.element, span)
    p = nodes.Build((zero,) * 3, Vector(3, type.element), span)
    q = nodes.Build((zero, zero, zero, one), quaternion_of(type.element), span)
    return [named.get("p", p), named.get("q", q)]


def _shape(type: Type) -> tuple[object, ...] | None:
    """What must agree for a conversion element by element."""
    if isinstance(type, Vector):
        return (type.kind, type.length)
    return (type.rows, type.columns) if isinstance(type, Matrix) else None


def _converted(ctx: Context, value: Expr, type: Vector | Matrix, node: ast.AST) -> Expr:
    element, span = type.element, ctx.span(node)
    parts = tuple(nodes.Convert(part, element, span) for part in components(ctx, value, node))
    return nodes.Build(parts, type, span)


def _parts(type: Vector | Matrix) -> tuple[Type, ...]:
    """Types of the parts that a value can be made of besides single numbers."""
    if isinstance(type, Matrix):
        return ()
    part = Vector(3, type.element)
    if type.kind == "vec":
        return (part, part) if type.length == 6 else ()
    return (part, type.element if type.kind == "quat" else quaternion_of(type.element))


def _from_parts(ctx: Context, type: Vector | Matrix, given: list[Operand], node: ast.Call) -> list[Expr] | None:
    parts = _parts(type)
    if not parts or len(given) != len(parts) or not isinstance(given[0], Expr) or is_number(given[0].type):
        return None
    found: list[Expr] = []
    for operand, part in zip(given, parts, strict=True):
        value = ctx.coerce(operand, part, node, f"a part of {type}")
        found.extend([value] if isinstance(part, Scalar) else components(ctx, value, node))
    return found


def _from_numbers(ctx: Context, type: Vector | Matrix, given: list[Operand], node: ast.Call) -> list[Expr]:
    count = type.length if isinstance(type, Vector) else type.rows * type.columns
    takes_one = isinstance(type, Matrix) or type.kind != "quat"
    zero = Const(False, type.element, ctx.span(node)) if type.element == BOOL else Untyped(0, ctx.span(node))
    given = given or [zero] * (1 if takes_one else count)
    if len(given) != count and not (takes_one and len(given) == 1):
        _refuse_count(ctx, type, given, count, takes_one, node)
    given = [ctx.as_number(operand, type.element) for operand in given]
    parts = [ctx.coerce(operand, type.element, node, f"an element of {type}") for operand in given]
    if len(parts) == count:
        return parts
    return [parts[0] if isinstance(parts[0], (Const, nodes.Read)) else ctx.temporary(parts[0])] * count


def _refuse_count(
    ctx: Context, type: Vector | Matrix, given: list[Operand], count: int, takes_one: bool, node: ast.Call
) -> NoReturn:
    help = None
    if isinstance(type, Matrix) and all(isinstance(o, Expr) and isinstance(o.type, Vector) for o in given):
        help = "say which way they lie: `kb.matrix_from_rows(…)` or `kb.matrix_from_cols(…)`"
    elif _parts(type):
        help = f"or its parts: {', '.join(map(str, _parts(type)))}"
    counts = f"0, 1 or {count}" if takes_one else f"0 or {count}"
    ctx.refuse("KB130", f"{type} takes {counts} numbers, not {len(given)}", node, help)


def components(ctx: Context, value: Expr, node: ast.AST) -> list[Expr]:
    """The elements of a vector or matrix, in order; the value is evaluated once."""
    if isinstance(value, nodes.Build):
        return list(value.parts)
    span, type = ctx.span(node), value.type
    base = read_often(ctx, value)
    if isinstance(type, Vector):
        return [nodes.Component(base, (Const(i, INT32, span),), type.element, span) for i in range(type.length)]
    assert isinstance(type, Matrix)
    cells = [(Const(i, INT32, span), Const(j, INT32, span)) for i in range(type.rows) for j in range(type.columns)]
    return [nodes.Component(base, cell, type.element, span) for cell in cells]


def rows(ctx: Context, value: Expr, node: ast.AST) -> list[Expr]:
    """The rows of a matrix, which is evaluated once."""
    type, span = value.type, ctx.span(node)
    assert isinstance(type, Matrix)
    row, base = Vector(type.columns, type.element), read_often(ctx, value)
    return [nodes.Component(base, (Const(i, INT32, span),), row, span) for i in range(type.rows)]


# Types as calls


def factory(ctx: Context, callee: Any, given: list[Operand], named: Named, node: ast.Call) -> Operand:
    """`kb.types.vector(length=3, dtype=float)` is a type, `kb.types.vector(x, y)` a value: as `kb.vector` has it.

    In Warp's dialect it is a value of the type, zeros, wherever none but a value can stand.
    """
    if not _names_a_type(ctx, callee, given, named, node):
        return FORMS[callee.__name__](ctx, given, named, node)
    made = type_form(ctx, callee, given, named, node)
    return composite(ctx, made.value, [], {}, node) if ctx.owner.dialect == "warp" else made


def _names_a_type(ctx: Context, callee: Any, given: list[Operand], named: Named, node: ast.Call) -> bool:
    """All arguments are known while building, and are those of the type; what is wrong with a type is told as such."""
    if any(isinstance(operand, Expr) for operand in (*given, *named.values())):
        return False
    if callee in (factories.vector, factories.matrix):
        size = named.get("length" if callee is factories.vector else "shape")
        return not given if size is not None else len(given) + len(named) == 2 and len(given) > 0
    return len(given) + len(named) == (1 if given or "dtype" in named else 0) and not _is_number(given)


def _is_number(given: list[Operand]) -> bool:
    return bool(given) and isinstance(given[0], Untyped)


def type_form(ctx: Context, callee: Any, given: list[Operand], named: Named, node: ast.Call) -> Static:
    """`kb.types.vector(length=3, dtype=float)` inside a kernel: a type."""
    arguments = [_python(ctx, o, node) for o in given]
    options = {name: _python(ctx, o, node) for name, o in named.items()}
    try:
        made = abi_type(callee(*arguments, **options))
    except TypeError as error:
        ctx.refuse("KB130", f"kb.types.{callee.__name__}: {error}", node)
    if made.size == 0:
        ctx.refuse("KB130", "kb.types.vector: length must be a whole number from 1 to 9999, not 0", node)
    return Static(made, ctx.span(node))


def _python(ctx: Context, operand: Operand, node: ast.AST) -> Any:
    """The Python object of a constant operand."""
    match operand:
        case Untyped(value):
            return value
        case Static(value):
            return value
        case Pack(items):
            return tuple(_python(ctx, item, node) for item in items)
    ctx.refuse("KB130", f"{describe(operand)} is not known while building", node, "lengths and types are constants")


FACTORIES = (factories.vector, factories.matrix, factories.quaternion, factories.transformation)


# Values whose type follows from what they are made of


def _options(ctx: Context, name: str, named: Named, known: str, node: ast.Call) -> dict[str, Any]:
    """Keyword arguments as Python objects; a dtype as a type."""
    for given in named:
        if given not in known.split():
            ctx.refuse("KB130", f"kb.{name} has no parameter {given!r}", node, f"it has {known.replace(' ', ', ')}")
    return {key: _python(ctx, operand, node) for key, operand in named.items()}


def _element(ctx: Context, name: str, given: list[Operand], dtype: Any, node: ast.Call) -> Scalar:
    """The element type that was asked for, or that of the first value; numbers alone take their default."""
    found: Type
    if dtype is not None:
        try:
            found = abi_type(dtype)
        except TypeError as error:
            ctx.refuse("KB130", f"kb.{name}: {error}", node)
    else:
        typed = [ctx.typed(o, node) for o in given if not isinstance(o, Untyped)]
        numbers = [o.value for o in given if isinstance(o, Untyped)]
        floats = [number for number in numbers if isinstance(number, float)]
        found = element_of(typed[0].type) if typed else default_type((floats or numbers or [0.0])[0])
    if not isinstance(found, Scalar):
        ctx.refuse("KB130", f"kb.{name} is made of numbers or truth values, not of {found}", node)
    return found


def _floating(ctx: Context, name: str, given: list[Operand], dtype: Any, node: ast.Call) -> Scalar:
    is_untyped = dtype is None and all(isinstance(o, Untyped) for o in given)
    element = FLOAT32 if is_untyped else _element(ctx, name, given, dtype, node)
    if element.kind != "float":
        ctx.refuse("KB130", f"kb.{name} is made of floating-point numbers, not of {element}", node)
    return element


def _vector(ctx: Context, given: list[Operand], named: Named, node: ast.Call) -> Expr:
    options = _options(ctx, "vector", named, "length dtype", node)
    element = _element(ctx, "vector", given, options.get("dtype"), node)
    length = options.get("length") or (len(given) if len(given) != 1 else _length(ctx, given[0], node))
    try:
        type = factories.vector_type(length, element)
    except TypeError as error:
        ctx.refuse("KB130", f"kb.vector: {error}", node, "give the numbers, or length= and dtype=")
    return composite(ctx, type, given, {}, node)


def _length(ctx: Context, operand: Operand, node: ast.Call) -> int:
    """The length of a vector of one argument: that of the vector it copies."""
    type = None if isinstance(operand, Untyped) else ctx.typed(operand, node).type
    return type.length if isinstance(type, Vector) else 1


def _matrix(ctx: Context, given: list[Operand], named: Named, node: ast.Call) -> Expr:
    options = _options(ctx, "matrix", named, "shape dtype", node)
    if "shape" not in options:
        ctx.refuse("KB130", "kb.matrix needs a shape", node, "write `kb.matrix(…, shape=(2, 3))`")
    element = _element(ctx, "matrix", given, options.get("dtype"), node)
    try:
        type = factories.matrix_type(options["shape"], element)
    except TypeError as error:
        ctx.refuse("KB130", f"kb.matrix: {error}", node, "write `kb.matrix(…, shape=(2, 3))`")
    return composite(ctx, type, given, {}, node)


def _quaternion(ctx: Context, given: list[Operand], named: Named, node: ast.Call) -> Expr:
    dtype = _options(ctx, "quaternion", named, "dtype", node).get("dtype")
    type = quaternion_of(_floating(ctx, "quaternion", given, dtype, node))
    return composite(ctx, type, given, {}, node)


def _transformation(ctx: Context, given: list[Operand], named: Named, node: ast.Call) -> Expr:
    parts = {name: operand for name, operand in named.items() if name in ("p", "q")}
    rest = {name: operand for name, operand in named.items() if name not in parts}
    dtype = _options(ctx, "transformation", rest, "p q dtype", node).get("dtype")
    type = transformation_of(_floating(ctx, "transformation", [*given, *parts.values()], dtype, node))
    return composite(ctx, type, given, parts, node)


def _identity(name: str, type_of: Callable[[Scalar], Vector]) -> Form:
    def form(ctx: Context, given: list[Operand], named: Named, node: ast.Call) -> Expr:
        if len(given) > 1 or (given and named):
            ctx.refuse("KB130", f"kb.{name} takes one argument, dtype", node)
        options = _options(ctx, name, {"dtype": given[0]} if given else named, "dtype", node)
        type, span = type_of(_floating(ctx, name, [], options.get("dtype"), node)), ctx.span(node)
        zeros = (Const(0.0, type.element, span),) * (type.length - 1)
        return nodes.Build((*zeros, Const(1.0, type.element, span)), type, span)

    return form


def _rows(ctx: Context, given: list[Operand], named: Named, node: ast.Call) -> Expr:
    rows, type = _vectors(ctx, "matrix_from_rows", given, named, node)
    return nodes.Build(
        tuple(n for row in rows for n in row), Matrix(len(rows), type.length, type.element), ctx.span(node)
    )


def _cols(ctx: Context, given: list[Operand], named: Named, node: ast.Call) -> Expr:
    columns, type = _vectors(ctx, "matrix_from_cols", given, named, node)
    parts = tuple(n for row in zip(*columns, strict=True) for n in row)
    return nodes.Build(parts, Matrix(type.length, len(columns), type.element), ctx.span(node))


def _vectors(
    ctx: Context, name: str, given: list[Operand], named: Named, node: ast.Call
) -> tuple[list[list[Expr]], Vector]:
    """The elements of vectors of one type."""
    _options(ctx, name, named, "", node)
    values = [ctx.typed(o, node) for o in given]
    type = values[0].type if values else None
    if not isinstance(type, Vector) or type.kind != "vec":
        ctx.refuse("KB130", f"kb.{name} takes vectors, not {type or 'nothing'}", node)
    return [components(ctx, ctx.coerce(v, type, node, f"a vector in kb.{name}"), node) for v in values], type


Form = Callable[[Context, list[Operand], Named, ast.Call], Expr]
FORMS: dict[str, Form] = {
    "matrix": _matrix,
    "matrix_from_cols": _cols,
    "matrix_from_rows": _rows,
    "quat_identity": _identity("quat_identity", quaternion_of),
    "quaternion": _quaternion,
    "transform_identity": _identity("transform_identity", transformation_of),
    "transformation": _transformation,
    "vector": _vector,
}
