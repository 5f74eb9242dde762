"""Shapes that a kernel states of its parameters: `a: kb.array(dtype=float, shape=("n", 3))`.

They become what the kernel assumes when it begins: an extent that is a number is that number; one with the name of a
scalar parameter is that scalar; extents of one name are equal. The compiler and the audit may count on it, and the
simulator holds every launch against it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from kbuild.ir import nodes
from kbuild.ir.nodes import Assume, Const, Expr, Read, Symbol
from kbuild.ir.types import BOOL, INT32, Array
from kbuild.lang.context import Context
from kbuild.loader import types as runtime
from kbuild.loader.generic import MISSING, annotation_of


def assumptions(ctx: Context, arguments: Sequence[ast.arg], parameters: Sequence[Symbol]) -> tuple[Assume, ...]:
    """The statements that a kernel begins with. Refuses shapes that functions state, and names of what is no int."""
    return tuple(_assumptions(ctx, arguments, parameters))


def _assumptions(ctx: Context, arguments: Sequence[ast.arg], parameters: Sequence[Symbol]) -> Iterator[Assume]:
    known = {one.name: one for one in parameters}
    named: dict[str, tuple[Expr, str]] = {}
    for argument in arguments:
        stated = _stated(ctx, argument)
        symbol = known.get(argument.arg)
        if not stated or symbol is None or not isinstance(symbol.type, Array):
            continue
        if not isinstance(ctx.owner, runtime.Kernel):
            text = "a shape is stated of a kernel's parameters, not of a function's"
            ctx.refuse("KB102", text, argument, f"state it in the kernel, and write `ndim={len(stated)}` here")
        span = ctx.span(argument)
        for axis, extent in enumerate(stated):
            own: Expr = nodes.Extent(Read(symbol, symbol.type, span), axis, INT32, span)
            words = f"{symbol.name}.shape[{axis}]"
            if isinstance(extent, int):
                other: tuple[Expr, str] = Const(extent, INT32, span), str(extent)
            elif extent in known:
                scalar = known[extent]
                if scalar.type != INT32:
                    text = f"the shape of {symbol.name!r} names {extent!r}, which is {scalar.type} and no int"
                    ctx.refuse("KB102", text, argument, f"make {extent!r} an int, or give the extent another name")
                other = Read(scalar, scalar.type, span), extent
            elif extent in named:
                other = named[extent]
            else:
                named[extent] = own, words
                continue
            yield Assume(nodes.Compare("eq", own, other[0], BOOL, span), f"{words} == {other[1]}", span)


def _stated(ctx: Context, argument: ast.arg) -> tuple[int | str, ...]:
    """What the annotation says; wrong annotations are told where types are found."""
    try:
        value = annotation_of(ctx.owner.function, argument.arg)
    except Exception:
        return ()
    return () if value is MISSING else getattr(value, "stated", ())
