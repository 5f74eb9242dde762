"""What a kernel states of its launches: `a: kb.array(dtype=float, shape=("n", 3))`, `@kb.kernel(launch_dim="n")`.

Shapes become what the kernel assumes when it begins: an extent that is a number is that number; one with the name of a
scalar parameter is that scalar; extents of one name are equal. Of an array that may be None (the kernel asks `if a:`,
or has no use for it) that is so where there is one. `launch_dim` becomes, for each axis, the number, the scalar, or an
extent of that name. The compiler and the audit may count on all of it, and every launch is held against it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kbuild.errors import Diagnostic, Report, Span, did_you_mean
from kbuild.ir import nodes
from kbuild.ir.nodes import Assume, Const, Expr, Function, Read, Symbol
from kbuild.ir.presence import optional_parameters
from kbuild.ir.types import BOOL, INT32, Array
from kbuild.lang.annotations import parameters_of
from kbuild.lang.context import Context
from kbuild.lang.source import Definition, SourceFile, definition_of, head
from kbuild.loader import launch_dim as declared
from kbuild.loader import types as runtime
from kbuild.loader.generic import MISSING, annotation_of


@dataclass(frozen=True, slots=True)
class _Extent:
    """An extent with a name, as an expression and in words; `is_open`: there may be no array."""

    array: Read
    expr: Expr
    words: str
    is_open: bool


def assumptions(ctx: Context, arguments: Sequence[ast.arg], made: Function) -> tuple[Assume, ...]:
    """The statements that a function, lowered without them, begins with. Refuses shapes that functions state, and names
    of what is no int.
    """
    return tuple(_assumptions(ctx, arguments, made))


def _assumptions(ctx: Context, arguments: Sequence[ast.arg], made: Function) -> Iterator[Assume]:
    known = {one.name: one for one in made.parameters}
    optional: list[str] | None = None
    named: dict[str, list[_Extent]] = {}
    for argument in arguments:
        stated = of_parameter(ctx.owner, argument)
        symbol = known.get(argument.arg)
        if not stated or symbol is None or not isinstance(symbol.type, Array):
            continue
        if not isinstance(ctx.owner, runtime.Kernel):
            text = "a shape is stated of a kernel's parameters, not of a function's"
            ctx.refuse("KB102", text, argument, f"state it in the kernel, and write `ndim={len(stated)}` here")
        optional = optional_parameters(made) if optional is None else optional
        span = ctx.span(argument)
        for axis, extent in enumerate(stated):
            own = _extent(symbol, axis, symbol.name in optional, span)
            if isinstance(extent, int):
                yield _equal(own, Const(extent, INT32, span), str(extent))
            elif extent in known:
                scalar = known[extent]
                if scalar.type != INT32:
                    text = f"the shape of {symbol.name!r} names {extent!r}, which is {scalar.type} and no int"
                    ctx.refuse("KB102", text, argument, f"make {extent!r} an int, or give the extent another name")
                yield _equal(own, Read(scalar, scalar.type, span), extent)
            else:
                others = named.setdefault(extent, [])
                yield from (_equal(own, one.expr, f'{one.words} ("{extent}")', one) for one in _enough(others))
                others.append(own)


def _extent(symbol: Symbol, axis: int, is_open: bool, span: Span) -> _Extent:
    array = Read(symbol, symbol.type, span)
    return _Extent(array, nodes.Extent(array, axis, INT32, span), f"{symbol.name}.shape[{axis}]", is_open)


def _enough(others: Sequence[_Extent]) -> Sequence[_Extent]:
    """Of these, which are equal, those that one more must equal: one that is always there, else all."""
    return [one for one in others if not one.is_open][:1] or others


def _equal(own: _Extent, value: Expr, words: str, other: _Extent | None = None) -> Assume:
    span = own.array.span
    condition: Expr = nodes.Compare("eq", own.expr, value, BOOL, span)
    for one in (other, own):
        if one is not None and one.is_open:
            missing = nodes.Unary("not", nodes.Present(one.array, BOOL, span), BOOL, span)
            condition = nodes.Logical("or", missing, condition, BOOL, span)
    return Assume(condition, f"{own.words} == {words}", span)


def of_parameter(owner: runtime.Function, argument: ast.arg) -> tuple[int | str, ...]:
    """The shape that an annotation states; wrong annotations are told where types are found."""
    try:
        value = annotation_of(owner.function, argument.arg)
    except Exception:
        return ()
    return () if value is MISSING else getattr(value, "stated", ())


def launch_dim(kernel: runtime.Kernel, function: Function, ndim: int, report: Report) -> tuple[Expr, ...]:
    """The extents of every launch, where the kernel says them; what is wrong with that goes to the report."""
    said = declared.of(kernel.options)
    file, definition = definition_of(kernel.function)
    place = _place(file, definition)
    if said and len(said) != ndim:
        text = f"launch_dim has {_axes(len(said))}, and tid() in {kernel.name} has {_axes(ndim)}"
        sizes = "one size" if ndim == 1 else f"{ndim} sizes, one for each axis that tid() counts along"
        report.add(Diagnostic("KB184", text, place, help=f"give {sizes}"))
        return ()
    try:
        return tuple([_size(kernel, function, definition, one, place) for one in said])
    except _Refused as refused:
        report.add(refused.diagnostic)
        return ()


class _Refused(Exception):
    def __init__(self, text: str, place: Span, help: str) -> None:
        self.diagnostic = Diagnostic("KB184", text, place, help=help)


def _axes(count: int) -> str:
    return f"{count} axis" if count == 1 else f"{count} axes"


def _size(kernel: runtime.Kernel, function: Function, definition: Definition, extent: int | str, place: Span) -> Expr:
    """An entry of `launch_dim`. Raises _Refused."""
    if isinstance(extent, int):
        return Const(extent, INT32, place)
    known = {one.name: one for one in function.parameters}
    if extent in known:
        scalar = known[extent]
        if scalar.type != INT32:
            text = f"launch_dim names {extent!r}, which is {scalar.type} and no int"
            help = f"make {extent!r} an int, or name another size"
            if isinstance(scalar.type, Array):
                help = f'name a size of it: `{extent}: kb.array(…, shape=("n", …))` and `launch_dim="n"`'
            raise _Refused(text, place, help)
        return Read(scalar, INT32, place)
    arrays = [
        (known[argument.arg], axis)
        for argument in parameters_of(definition)
        if argument.arg in known
        for axis, one in enumerate(of_parameter(kernel, argument))
        if one == extent
    ]
    optional = optional_parameters(function)
    for symbol, axis in arrays:
        if symbol.name not in optional:
            return _extent(symbol, axis, False, place).expr
    if arrays:
        text = f"launch_dim names {extent!r}, and all arrays of that size may be None"
        raise _Refused(text, place, f"give {extent!r} to an array that is always there, or make it an int parameter")
    text = f"launch_dim names {extent!r}, which is neither a stated size nor an int parameter of {kernel.name}"
    sizes = {one for argument in parameters_of(definition) for one in of_parameter(kernel, argument)}
    names = [*(one for one in sorted(map(str, sizes)) if not one.isdigit()), *known]
    meant = did_you_mean(extent, names)
    raise _Refused(text, place, meant or f'state it of an array, as in kb.array(dtype=float, shape=("{extent}",))')


def _place(file: SourceFile, definition: Definition) -> Span:
    """Where the decorator says it, else the `def`."""
    for decorator in definition.decorator_list:
        for one in decorator.keywords if isinstance(decorator, ast.Call) else ():
            if one.arg == "launch_dim":
                return file.span(one.value)
    return head(file, definition)
