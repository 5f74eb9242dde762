"""Calls: intrinsics, kernel functions, constructors and conversions."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from typing import Any

from kbuild.errors import did_you_mean
from kbuild.intrinsics.library import ELEMENTWISE, FUNCTIONS, OUTPUTS, OVERLOADS, REDUCTIONS, STATEFUL
from kbuild.intrinsics.library_rotations import OF_MATRIX
from kbuild.intrinsics.overload import choose
from kbuild.intrinsics.shapes import SHAPES, misfit
from kbuild.intrinsics.table import ROWS, SPECIAL_FORMS
from kbuild.ir import nodes
from kbuild.ir.nodes import Const, Expr
from kbuild.ir.types import (
    BOOL,
    FLOAT32,
    FLOAT64,
    INT32,
    VOID,
    Array,
    Fixed,
    Matrix,
    Scalar,
    Struct,
    Type,
    Vector,
    element_of,
    is_composite,
    is_number,
)
from kbuild.lang import (
    atomics,
    blocks,
    clusters,
    constructors,
    debugging,
    forms,
    hints,
    inout,
    operators,
    overloads,
    places,
    references,
    static,
    warps,
)
from kbuild.lang.context import Context
from kbuild.lang.expressions import captured_operand, outer
from kbuild.lang.operands import (
    Operand,
    Pack,
    Place,
    Silenced,
    Static,
    Untyped,
    default_type,
    describe,
    fit,
    integer_range,
)
from kbuild.lang.results import results_of
from kbuild.lang.zeros import zero
from kbuild.loader import generic
from kbuild.loader.builtins import TABLE, Builtin
from kbuild.loader.identity import default_of
from kbuild.loader.layout import AbsentType
from kbuild.loader.types import Function, Kernel, abi_type
from kbuild.loader.values import class_of

# Python's own functions that mean the same in a kernel.
_PYTHON_NAMES = {abs: "abs", min: "min", max: "max", pow: "pow", print: "print"}


def call(ctx: Context, node: ast.expr) -> Operand:
    """Any call."""
    assert isinstance(node, ast.Call)
    callee = _callee(ctx, node)
    if isinstance(callee, Builtin) and callee.name == "static":
        return static.evaluate(ctx, node)
    if isinstance(callee, Builtin) and callee.name in atomics.NAMES:
        return atomics.call(ctx, callee.name, node)
    if isinstance(callee, Builtin) and callee.name in blocks.NAMES:
        return blocks.call(ctx, callee.name, node)
    if isinstance(callee, Builtin) and callee.name in clusters.NAMES:
        return clusters.call(ctx, callee.name, node)
    if isinstance(callee, Builtin) and callee.name in hints.NAMES:
        return hints.call(ctx, callee.name, node)
    if isinstance(callee, Builtin) and callee.name in warps.NAMES:
        return warps.call(ctx, callee.name, node)
    if isinstance(callee, Builtin) and callee.name in STATEFUL:
        return _stateful(ctx, callee.name, node)
    if any(k.arg is None for k in node.keywords):
        ctx.refuse("KB111", "kernels have no arguments with two stars", node, "write the arguments out")
    if isinstance(callee, Function) and not isinstance(callee, Kernel) and references.wanted(callee):
        return _call_with_places(ctx, callee, node)
    types = {k.arg: _wanted_type(ctx, k.value) for k in node.keywords if k.arg == "dtype"}
    wanted = [*node.args, *(k.value for k in node.keywords if k.arg not in types)]
    given = ctx.operands(wanted, lambda one: _argument(ctx, one))
    positional = _spread(ctx, node.args, given)
    others = [k.arg for k in node.keywords if k.arg and k.arg not in types]
    named = {**types, **dict(zip(others, given[len(node.args) :], strict=True))}
    return _dispatch(ctx, callee, positional, named, node)


def _argument(ctx: Context, node: ast.expr) -> Operand:
    """What stands for an argument; after a star, what has the parts."""
    return places.several(ctx, node.value) if isinstance(node, ast.Starred) else ctx.expr(node)


def _spread(ctx: Context, arguments: Sequence[ast.expr], given: list[Operand]) -> list[Operand]:
    """Positional arguments, with the parts of those that have a star: of a tuple, of a vector, the rows of a matrix."""
    found: list[Operand] = []
    for node, operand in zip(arguments, given, strict=False):
        if not isinstance(node, ast.Starred):
            found.append(operand)
        elif isinstance(operand, Pack):
            found.extend(operand.items)
        elif isinstance(getattr(operand, "type", VOID), Matrix):
            found.extend(constructors.rows(ctx, ctx.typed(operand, node), node))
        elif is_composite(getattr(operand, "type", VOID)):
            found.extend(constructors.components(ctx, ctx.typed(operand, node), node))
        else:
            help = "a tuple, a vector, a matrix, or a slice of an array with constant bounds can be spread"
            ctx.refuse("KB111", f"{describe(operand)} has no parts to pass one by one", node, help)
    return found


def _callee(ctx: Context, node: ast.Call) -> Any:
    """The Python object that is called; `type(x)` is the type of x."""
    if isinstance(node.func, ast.Call):
        inner = _wanted_type(ctx, node.func)
        return inner.value if isinstance(inner, Static) else ctx.refuse_static(Static(inner, ctx.span(node)), node)
    if not ctx.scope.is_outer(node.func):
        if ctx.scope.root(node.func) in ctx.poisoned:
            raise Silenced
        found = _known(ctx, node.func)
        if found is not None:
            return found.value
        if isinstance(node.func, ast.Attribute):
            ctx.refuse("KB111", f"kernels have no methods (`.{node.func.attr}(…)`)", node.func, "call a @kb.func")
        ctx.refuse("KB111", "this is no function", node.func, "call a @kb.func of a module")
    operand = outer(ctx, node.func)
    return operand.value if isinstance(operand, Static) else operand


def _wanted_type(ctx: Context, node: ast.expr) -> Operand:
    """What stands where a type is wanted: before the parentheses of a call, after `dtype=`."""
    if isinstance(node, ast.Call) and ctx.scope.is_outer(node.func):
        callee = outer(ctx, node.func)
        if isinstance(callee, Static) and callee.value in constructors.FACTORIES:
            given = ctx.operands([*node.args, *(k.value for k in node.keywords)])
            names = [k.arg or "" for k in node.keywords]
            named = dict(zip(names, given[len(node.args) :], strict=True))
            return constructors.type_form(ctx, callee.value, given[: len(node.args)], named, node)
    return ctx.expr(node)


def _known(ctx: Context, node: ast.expr) -> Static | None:
    """A local name for a function or a type, or `values.dtype`."""
    if isinstance(node, ast.Name):
        found = ctx.aliases.get(node.id)
    else:
        found = ctx.expr(node) if isinstance(node, ast.Attribute) and node.attr == "dtype" else None
    return found if isinstance(found, Static) else None


def _dispatch(ctx: Context, callee: Any, given: list[Operand], named: dict[str, Operand], node: ast.Call) -> Operand:
    if isinstance(callee, Function) and not isinstance(callee, Kernel):
        return _call_function(ctx, callee, given, named, node)
    if callee in constructors.FACTORIES:
        return constructors.factory(ctx, callee, given, named, node)
    type = callee if isinstance(callee, Type) else _type_of(ctx, callee, node)
    if type is not None and callee is not builtin_type:
        return _construct(ctx, type, given, named, node)
    name = _intrinsic_name(ctx, callee, node)
    if name in constructors.FORMS:
        return constructors.FORMS[name](ctx, given, named, node)
    if name in debugging.FORMS:
        return debugging.FORMS[name](ctx, given, named, node)
    if name in FUNCTIONS or name in OVERLOADS:
        return _library(ctx, name, given, named, node)
    names = _names_of(name)
    if named and names:
        given, named = forms.by_name(ctx, name, names, given, named, node), {}
    if named:
        ctx.refuse("KB130", f"{name}() takes no keyword arguments", node)
    return _intrinsic(ctx, name, given, node)


def _names_of(name: str) -> tuple[str, ...]:
    """Parameters of an intrinsic that may be given by name; none where the arguments are no plain values."""
    if name in ROWS and name not in SPECIAL_FORMS:
        return tuple(parameter for parameter, _ in ROWS[name].signature.parameters)
    return forms.PARAMETERS.get(name, ())


builtin_type = type


def _type_of(ctx: Context, value: Any, node: ast.Call) -> Type | None:
    if not isinstance(value, builtin_type):
        return None
    try:
        return abi_type(value)
    except TypeError as error:
        if getattr(value, "_kb_struct_", False):
            code = "KB114" if isinstance(error, AbsentType) else "KB102"
            ctx.refuse(code, str(error), node.func, "a record is made of types that kernels know")
        return None


def _intrinsic_name(ctx: Context, callee: Any, node: ast.Call) -> str:
    """The intrinsic that a Python object stands for; everything else is refused with what to write instead."""
    if isinstance(callee, Builtin):
        return callee.name
    if callee in (builtin_type, len):
        return str(callee.__name__)
    for function, name in _PYTHON_NAMES.items():
        if callee is function:
            return name
    if isinstance(callee, Kernel):
        ctx.refuse("KB112", f"{callee.name} is a kernel; kernels call functions only", node, "make it a @kb.func")
    name = getattr(callee, "__name__", "")
    if name in TABLE:
        ctx.refuse("KB112", f"{_python_name(callee)} is a Python function", node, f"write `kb.{name}(…)`")
    if not callable(callee):
        ctx.refuse("KB112", f"{callee!r:.60} is no function", node)
    help = "decorate it with @kb.func if kernels shall call it"
    if builtin_type(callee).__name__ == "builtin_function_or_method" or isinstance(callee, builtin_type):
        help = did_you_mean(name, TABLE) or "kernels call intrinsics (kb.…) and functions made with @kb.func"
    ctx.refuse("KB112", f"{_python_name(callee)} is a Python function", node, help)


def _python_name(callee: Any) -> str:
    module = getattr(callee, "__module__", None)
    name = getattr(callee, "__qualname__", repr(callee))
    return f"{module}.{name}" if module and module != "builtins" else f"{name}"


# Kernel functions


def _call_function(
    ctx: Context, function: Function, given: list[Operand], named: dict[str, Operand], node: ast.Call
) -> Operand:
    function = overloads.choose(ctx, function, given, named, node)
    names = _parameter_names(function)
    ordered = _arranged(ctx, function, names, given, named, node)
    places = generic.references(function.function)
    ordered = [_as_wanted(one, name in places) for one, name in zip(ordered, names, strict=True)]
    references.refuse_overlaps(ctx, ordered, node, function.name)
    callee = ctx.program.instance(function, ordered, ctx.span(node))
    values = [one for operand in ordered for one in _values_of(operand)]
    arguments = tuple(
        ctx.coerce(operand, symbol.type, node, f"argument {symbol.name!r} of {function.name}")
        for operand, symbol in zip(values, callee.parameters, strict=True)
    )
    call = nodes.Call(callee, arguments, callee.result, ctx.span(node))
    if any(isinstance(one, Place) and not references.in_memory(one.place) for one in ordered):
        return references.results(ctx, call, ordered, ctx.program.plain(callee), ctx.span(node))
    return results_of(ctx, call)


def _as_wanted(operand: Operand, as_place: bool) -> Operand:
    """Of overloads that want a place or a value of one argument, the chosen one decides."""
    return operand.place if isinstance(operand, Place) and not as_place else operand


def _call_with_places(ctx: Context, function: Function, node: ast.Call) -> Operand:
    """A call of a function with parameters that stand for places of the caller's."""
    for one in node.args:
        if isinstance(one, ast.Starred):
            ctx.refuse("KB111", f"{function.name} changes arguments: they cannot be passed with a star", one)
    wanted = references.wanted(function)
    pairs = [(one, number in wanted) for number, one in enumerate(node.args)]
    pairs += [(one.value, one.arg in wanted) for one in node.keywords]
    given = references.arguments(ctx, pairs, function.name)
    names = [one.arg or "" for one in node.keywords]
    named = dict(zip(names, given[len(node.args) :], strict=True))
    return _call_function(ctx, function, given[: len(node.args)], named, node)


def _values_of(operand: Operand) -> list[Operand]:
    """What an argument passes on: of a tuple each item, of a function nothing, of a place in memory what tells it."""
    if isinstance(operand, Place):
        return [*references.values(operand.place)] if references.in_memory(operand.place) else [operand.place]
    if isinstance(operand, Pack):
        return [one for item in operand.items for one in _values_of(item)]
    is_function = isinstance(operand, Static) and isinstance(operand.value, (Function, Builtin))
    return [] if is_function else [operand]


def _parameter_names(function: Function) -> list[str]:
    code = function.function.__code__
    return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


def _arranged(
    ctx: Context,
    function: Function,
    names: list[str],
    given: list[Operand],
    named: dict[str, Operand],
    node: ast.Call,
) -> list[Operand]:
    """Arguments in the order of the parameters, defaults filled in."""
    if len(given) > len(names):
        ctx.refuse("KB130", f"{function.name} takes {len(names)} argument(s), not {len(given)}", node)
    found = dict(zip(names, given, strict=False))
    for name, operand in named.items():
        if name not in names:
            ctx.refuse("KB130", f"{function.name} has no parameter {name!r}", node, did_you_mean(name, names))
        if name in found:
            ctx.refuse("KB130", f"{function.name} gets {name!r} twice", node)
        found[name] = operand
    for name in names:
        if name not in found:
            found[name] = _default(ctx, function, name, node)
    return [found[name] for name in names]


def _default(ctx: Context, function: Function, name: str, node: ast.Call) -> Operand:
    try:
        value = default_of(function.function, name)
    except KeyError:
        ctx.refuse("KB130", f"{function.name} needs an argument for {name!r}", node)
    return captured_operand(ctx, value, node)


# Constructors and conversions


def _construct(ctx: Context, type: Type, given: list[Operand], named: dict[str, Operand], node: ast.Call) -> Operand:
    if isinstance(type, Struct):
        return _struct(ctx, type, given, named, node)
    if isinstance(type, (Vector, Matrix)) and not type.size and not given and not named:
        host: Any = class_of(type)
        return Static(host(), ctx.span(node))
    if isinstance(type, (Vector, Matrix)):
        return constructors.composite(ctx, type, given, named, node)
    if named:
        ctx.refuse("KB130", f"{type} takes no keyword arguments", node)
    if isinstance(type, Scalar):
        return convert(ctx, type, given, node)
    ctx.refuse("KB112", f"{type} cannot be made inside a kernel", node)


def convert(ctx: Context, type: Scalar, given: list[Operand], node: ast.Call) -> Operand:
    """`kb.float64(x)`: a number keeps its exact value, a value is converted."""
    if len(given) > 1:
        ctx.refuse("KB130", f"{type}() takes one argument, not {len(given)}", node)
    operand: Operand = ctx.as_number(given[0], type) if given else Untyped(0, ctx.span(node))
    if isinstance(operand, Untyped):
        return Const(_converted(ctx, operand.value, type, node), type, ctx.span(node))
    value = ctx.typed(operand, node)
    if not isinstance(value.type, Scalar):
        ctx.refuse("KB121", f"{value.type} cannot be converted to {type}", node, "convert its elements")
    return value if value.type == type else nodes.Convert(value, type, ctx.span(node))


def _converted(ctx: Context, number: int | float, type: Scalar, node: ast.Call) -> bool | int | float:
    if type == BOOL:
        return bool(number)
    if type.kind != "float" and isinstance(number, float) and math.isfinite(number):
        number = math.trunc(number)
    elif type.kind == "uint" and ctx.owner.dialect == "warp" and -(1 << (8 * type.size - 1)) <= number < 0:
        number = int(number) + (1 << (8 * type.size))  # the signed number's bits
    exact = fit(float(number) if type.kind == "float" else number, type)
    if exact is None:
        low, high = integer_range(type) if type.kind != "float" else (0, 0)
        range = f" ({low} … {high})" if type.kind != "float" else ""
        ctx.refuse("KB122", f"{number!r} does not fit {type}{range}", node)
    return exact


def _struct(ctx: Context, type: Struct, given: list[Operand], named: dict[str, Operand], node: ast.Call) -> Expr:
    names = [f.name for f in type.fields]
    if len(given) > len(names):
        ctx.refuse("KB130", f"{type.name} has {len(names)} field(s), not {len(given)}", node)
    found = dict(zip(names, given, strict=False))
    for name in named:
        if name not in names:
            ctx.refuse("KB130", f"{type.name} has no field {name!r}", node, did_you_mean(name, names))
        if name in found:
            ctx.refuse("KB130", f"{type.name} gets {name!r} twice", node)
    found |= named
    parts = tuple(
        ctx.coerce(found[f.name], f.type, node, f"field {f.name!r}") if f.name in found else zero(ctx, f.type, node)
        for f in type.fields
    )
    return nodes.Build(parts, type, ctx.span(node))


# Intrinsics


def _intrinsic(ctx: Context, name: str, given: list[Operand], node: ast.Call) -> Operand:
    if name == "type":
        return _type_form(ctx, given, node)
    if name == "len":
        return _length(ctx, given, node)
    if name in forms.FORMS:
        return forms.FORMS[name](ctx, given, node)
    if name in SPECIAL_FORMS:
        return _special(ctx, name, given, node)
    if name in FUNCTIONS or name in OVERLOADS:
        return _library(ctx, name, given, {}, node)
    if name in ("min", "max") and len(given) > 2:
        rest = _intrinsic(ctx, name, given[:-1], node)
        return _intrinsic(ctx, name, [rest, given[-1]], node)
    return _row(ctx, name, given, node)


def _library(ctx: Context, name: str, given: list[Operand], named: dict[str, Operand], node: ast.Call) -> Operand:
    """A function written in the kernel language; with variables for its results after the arguments, those get them."""
    outputs = OUTPUTS.get(name, 0)
    if outputs and len(given) == outputs + 1:
        return _into_variables(ctx, name, given, node)
    function = _library_function(ctx, name, given, named, node)
    return _call_library(ctx, name, function, given, named, node)


def _library_function(
    ctx: Context, name: str, given: list[Operand], named: dict[str, Operand], node: ast.AST
) -> Function:
    """The function that the arguments ask for; where the name has one alone, that."""
    if given and name in OF_MATRIX and isinstance(getattr(given[0], "type", None), Matrix):
        return OF_MATRIX[name]
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    if named:
        ctx.refuse("KB130", f"kb.{name}() takes no keyword arguments", node)
    found = choose(OVERLOADS[name], [None if isinstance(o, Untyped) else ctx.typed(o, node).type for o in given])
    if isinstance(found, str):
        ctx.refuse("KB130", f"kb.{name} {found}", node)
    return found


def _call_library(
    ctx: Context,
    name: str,
    function: Function,
    given: list[Operand],
    named: dict[str, Operand],
    node: ast.Call,
) -> Operand:
    names = _parameter_names(function)
    required = len(names) - len(function.function.__defaults__ or ())
    if not required <= len(given) + len(named) <= len(names):
        ctx.refuse("KB130", f"kb.{name}({', '.join(names)}) gets {len(given) + len(named)} argument(s)", node)
    ordered = _arranged(ctx, function, names, given, named, node)
    annotations = function.function.__annotations__
    # What has a type of its own (the number of an axis) stands apart from the values that share one.
    free = [position for position, one in enumerate(names) if annotations.get(one) in ("Any", *SHAPES)]
    typed = _together(ctx, [ordered[position] for position in free], node, f"kb.{name}")
    parameters = [(names[position], str(annotations[names[position]])) for position in free]
    reason = misfit(parameters, [value.type for value in typed])
    if reason is not None:
        ctx.refuse("KB130", f"kb.{name}: {reason}", node)
    for position, value in zip(free, typed, strict=True):
        ordered[position] = value
    return _call_function(ctx, function, ordered, {}, node)


def _stateful(ctx: Context, name: str, node: ast.Call) -> Operand:
    """`kb.randf(state, …)`: the variable gets the next state. Other arguments come first: they may advance it too."""
    if not node.args or node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
        ctx.refuse("KB130", f"kb.{name} takes a state and positional arguments", node)
    others = ctx.operands(node.args[1:])
    state = ctx.expr(node.args[0])
    place = inout.state_of(ctx, state, node.args[0], f"kb.{name}")
    given = [state, *others]
    results = _call_library(ctx, name, _library_function(ctx, name, given, {}, node), given, {}, node)
    assert isinstance(results, Pack)
    value, following = results.items
    if place is not None:
        inout.assign_back(ctx, place, following, node)
    return value


def _into_variables(ctx: Context, name: str, given: list[Operand], node: ast.Call) -> Operand:
    """`kb.svd3(a, u, sigma, v)`: the results go into the variables."""
    what = f"kb.{name}"
    places = [inout.place_of(ctx, o, at, what) for o, at in zip(given[1:], node.args[1:], strict=True)]
    results = _call_library(ctx, name, FUNCTIONS[name], given[:1], {}, node)
    assert isinstance(results, Pack)
    for place, result in zip(places, results.items, strict=True):
        inout.assign_back(ctx, place, result, node)
    return Static(None, ctx.span(node))


def _together(ctx: Context, given: Sequence[Operand], node: ast.AST, what: str) -> list[Expr]:
    """Arguments with every number at the element type of the first value; floats if there is none."""
    values = [ctx.typed(o, node) for o in given if not isinstance(o, Untyped)]
    if values:
        type = values[0].type
        wanted = element_of(type.element if isinstance(type, Array) else type)
    else:
        numbers = [o.value for o in given if isinstance(o, Untyped)]
        wanted = default_type(next((n for n in numbers if isinstance(n, float)), numbers[0] if numbers else 0))
    return [
        ctx.coerce(o, wanted, node, f"{describe(o)} in {what}") if isinstance(o, Untyped) else ctx.typed(o, node)
        for o in given
    ]


def _row(ctx: Context, name: str, given: list[Operand], node: ast.Call) -> Operand:
    row = ROWS[name]
    if not given:
        ctx.refuse("KB130", f"kb.{name} takes arguments {row.signature.text}", node)
    floats_only = all(set_name == "Float" for _, set_name in row.signature.parameters)
    if floats_only and all(isinstance(o, Untyped) for o in given):
        given = [Untyped(float(o.value), o.span) if isinstance(o, Untyped) else o for o in given]
    arguments = _together(ctx, given, node, f"kb.{name}")
    if is_composite(arguments[0].type):
        function = choose(REDUCTIONS[name], [arguments[0].type]) if len(arguments) == 1 and name in REDUCTIONS else None
        function = function or ELEMENTWISE.get(name)
        if isinstance(function, str):
            ctx.refuse("KB130", f"kb.{name} {function}", node)
        if function is not None:
            return _call_library(ctx, name, function, list(arguments), {}, node)
    result = row.signature.bind(tuple(a.type for a in arguments))
    if isinstance(result, str):
        ctx.refuse("KB130", f"kb.{name}: {result}", node)
    return nodes.Intrinsic(name, tuple(arguments), result, ctx.span(node))


def _type_form(ctx: Context, given: list[Operand], node: ast.Call) -> Static:
    if len(given) != 1:
        ctx.refuse("KB130", "type() takes one argument", node)
    return Static(ctx.typed(given[0], node).type, ctx.span(node))


def _length(ctx: Context, given: list[Operand], node: ast.Call) -> Operand:
    if len(given) != 1:
        ctx.refuse("KB130", "len() takes one argument", node)
    if isinstance(given[0], Pack):
        return Untyped(len(given[0].items), ctx.span(node))
    value = ctx.typed(given[0], node)
    match value.type:
        case Fixed() if not value.type.is_dynamic:
            return Untyped(value.type.shape[0], ctx.span(node))
        case Array():
            return nodes.Extent(value, 0, INT32, ctx.span(node))
        case Vector():
            return Untyped(value.type.length, ctx.span(node))
        case Matrix():
            return Untyped(value.type.rows, ctx.span(node))
    ctx.refuse("KB121", f"{value.type} has no length", node)


def _special(ctx: Context, name: str, given: list[Operand], node: ast.Call) -> Operand:
    span = ctx.span(node)
    if name == "tid":
        return _coordinate(ctx, given, node)
    wanted = {"where": 3, "fma": 3, "cw_mul": 2, "cw_div": 2}[name]
    if len(given) != wanted:
        ctx.refuse("KB130", f"kb.{name} takes {wanted} argument(s), not {len(given)}", node)
    if name == "fma":
        return _fma(ctx, given, node)
    if name == "where":
        then, otherwise = operators.unify(ctx, given[1:], node, "kb.where")
        return nodes.Select(ctx.truth(given[0], node), then, otherwise, then.type, span)
    arguments = operators.unify(ctx, given, node, f"kb.{name}")
    type = arguments[0].type
    if not is_composite(type):
        ctx.refuse("KB121", f"kb.{name} takes vectors or matrices, not {type}", node, "use * or /")
    return nodes.Binary(name.removeprefix("cw_"), arguments[0], arguments[1], type, span)


def _coordinate(ctx: Context, given: list[Operand], node: ast.Call) -> Expr:
    """`kb.tid()`, and `kb.tid(axis, ndim)`: one coordinate of several."""
    if not given:
        return nodes.ThreadIndex(0, 1, INT32, ctx.span(node))
    numbers = [o.value for o in given if isinstance(o, Untyped) and isinstance(o.value, int)]
    if len(given) != 2 or len(numbers) != 2 or not 0 <= numbers[0] < numbers[1] <= 4:
        text = "kb.tid takes no arguments, or an axis and the number of coordinates: two constants, as in kb.tid(0, 2)"
        ctx.refuse("KB161", text, node, "or ask for all of them: `i, j = kb.tid()`")
    return nodes.ThreadIndex(int(numbers[0]), int(numbers[1]), INT32, ctx.span(node))


def _fma(ctx: Context, given: list[Operand], node: ast.Call) -> Expr:
    """`kb.fma(a, b, c)`: of numbers, or element by element, where `b` may be the number that scales `a`."""
    a, b, c = given
    if isinstance(getattr(a, "type", None), (Vector, Matrix)):
        left, right = operators.unify(ctx, [a, c], node, "kb.fma")
        wanted = element_of(left.type) if isinstance(b, Untyped) or is_number(getattr(b, "type", VOID)) else left.type
        factor = ctx.coerce(b, wanted, node, "the factor in kb.fma")
    else:
        left, factor, right = operators.unify(ctx, given, node, "kb.fma")
    if element_of(left.type) not in (FLOAT32, FLOAT64):
        ctx.refuse("KB121", f"kb.fma takes float32 or float64, not {left.type}", node)
    return nodes.Fma(left, factor, right, left.type, ctx.span(node))
