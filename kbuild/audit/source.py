"""What is written in a way that costs, or that means something else than it seems: read off the IR and the text.

Parameters that nobody reads [KB416], serial loops [KB410], tables that fill constant memory [KB411], numbers of float64
that come too late or for nothing [KB413]. Captured data that changes is `captured`'s [KB412].
"""

from __future__ import annotations

import ast
import struct
from collections.abc import Iterator, Sequence

from kbuild.audit.findings import Finding, Options
from kbuild.audit.launches import ANY, Launch
from kbuild.audit.parts import Part, looked_at
from kbuild.audit.serial import assigned_values, serial_loops
from kbuild.audit.text import text_of
from kbuild.errors import Span
from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Kernel, Symbol
from kbuild.ir.tables import tables_in
from kbuild.ir.traverse import callees, children, walk
from kbuild.ir.types import FLOAT32, FLOAT64, Constant

CONSTANT_MEMORY = 65536
_MUCH = 3 / 4  # of constant memory


def analyse(kernel: Kernel, options: Options, launch: Launch = ANY) -> Part:
    """The check "source" of a kernel, which is the same at every launch."""
    if "source" not in options.checks:
        return Part(())
    unused, parameters = _unused_parameters(kernel)
    loops, loop_count = serial_loops(kernel)
    tables, table_count = _tables(kernel)
    widened, conversions = _widened(kernel)
    found = [*unused, *loops, *tables, *widened]
    places = parameters + loop_count + table_count + conversions
    return Part((looked_at("source", places, tuple(found)),), tuple(found))


def _unused_parameters(kernel: Kernel) -> tuple[list[Finding], int]:
    """Those whose name stands nowhere in the kernel: what `static` leaves out here, another instance may read."""
    function = kernel.function
    text = text_of(function.span.path) if function.span is not None else None
    definition = text.definition(function.span) if text is not None and function.span is not None else None
    if definition is None:
        return [], 0
    written = {
        argument.arg for argument in (*definition.args.posonlyargs, *definition.args.args, *definition.args.kwonlyargs)
    }
    named = {node.id for one in definition.body for node in ast.walk(one) if isinstance(node, ast.Name)}
    own = [one for one in function.parameters if one.name in written]
    return [_unused(kernel, one) for one in own if one.name not in named and not one.name.startswith("_")], len(own)


def _unused(kernel: Kernel, parameter: Symbol) -> Finding:
    text = f"the parameter {parameter.name!r} is read nowhere, and every launch gives it {parameter.type.size} bytes"
    help = f"take it away, or call it `_{parameter.name}` where the signature is given"
    return Finding("KB416", "source", "found", text, parameter.span, kernel.name, parameter.name, help=help)


def _tables(kernel: Kernel) -> tuple[list[Finding], int]:
    tables = tables_in([kernel.function])
    sizes = {one.name: one.type.bytes for one in tables if isinstance(one.type, Constant)}
    total = sum(sizes.values())
    if total < _MUCH * CONSTANT_MEMORY:
        return [], len(tables)
    listed = ", ".join(f"{name} {size}" for name, size in sorted(sizes.items(), key=lambda row: -row[1]))
    text = f"{kernel.name} reads {total} of the {CONSTANT_MEMORY} bytes of constant memory ({listed})"
    help = (
        "kernels with other tables are compiled apart from it; what is read at scattered places is faster as an array"
    )
    figures = (("bytes", float(total)), ("limit", float(CONSTANT_MEMORY)))
    largest = max(tables, key=lambda one: sizes.get(one.name, 0))
    place = largest.span or kernel.function.span
    return [
        Finding("KB411", "source", "found", text, place, kernel.name, largest.name, help=help, figures=figures)
    ], len(tables)


def _widened(kernel: Kernel) -> tuple[list[Finding], int]:
    """Conversions between float32 and float64 that come too late, or for nothing."""
    found: list[Finding] = []
    count = 0
    for function in [kernel.function, *callees(kernel.function)]:
        converted = [node for node in walk(function.body) if isinstance(node, nodes.Convert)]
        widened = [one for one in converted if one.type == FLOAT64 and one.operand.type == FLOAT32]
        narrowed = [one for one in converted if one.type == FLOAT32 and one.operand.type == FLOAT64]
        count += len(widened) + len(narrowed)
        values = assigned_values(function) if widened else {}
        for place in widened:
            if isinstance(place.operand, nodes.Read) and place.operand.symbol not in function.parameters:
                symbol = place.operand.symbol
                found += _lost(kernel, place.span or function.span, symbol, values.get(symbol, []))
        for place in narrowed:
            found += _for_nothing(kernel, place, function.span)
    return found, count


def _for_nothing(kernel: Kernel, place: nodes.Convert, otherwise: Span | None) -> Iterator[Finding]:
    """Arithmetic of one float32 and of numbers in float64, whose result is a float32 again."""
    leaves = list(_leaves(place.operand))
    numbers = [one for one in leaves if isinstance(one, nodes.Const)]
    widened = [one for one in leaves if isinstance(one, nodes.Convert) and one.operand.type == FLOAT32]
    if place.operand in leaves or not numbers or len(widened) != 1 or len(leaves) > len(numbers) + 1:
        return
    value = float(numbers[0].value)
    text = f"{value!r} makes this arithmetic one of float64, whose result is rounded to float32 again"
    help = (
        f"stay in float32 (`{value!r}` alone takes the type beside it): many GPUs have 32 times as many units for that"
    )
    yield Finding("KB413", "source", "found", text, place.span or otherwise, kernel.name, repr(value), help=help)


def _leaves(value: Expr) -> Iterator[Expr]:
    """What arithmetic starts from."""
    if isinstance(value, (nodes.Unary, nodes.Binary, nodes.Fma)):
        for operand in children(value):
            yield from _leaves(operand)  # type: ignore[arg-type]
    else:
        yield value


def _lost(kernel: Kernel, place: Span | None, symbol: Symbol, values: Sequence[Expr]) -> Iterator[Finding]:
    numbers = [float(value.value) for value in values if isinstance(value, nodes.Const)]
    short = _meant(numbers[0]) if numbers else None
    if short is None or len(numbers) < len(values) or any(_meant(number) is None for number in numbers):
        return
    text = f"{symbol.name!r} is float32, so that {short} is {numbers[0]!r} here, where it is widened to float64"
    help = f"make it float64 from the start: `{symbol.name} = kb.float64({short})`"
    yield Finding("KB413", "source", "found", text, place, kernel.name, symbol.name, help=help)


def _meant(value: float) -> str | None:
    """The shortest decimal that gives this float32, where as a float64 it is another number."""
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if struct.unpack("f", struct.pack("f", float(text)))[0] == value:
            return None if float(text) == value else repr(float(text))
    return None
