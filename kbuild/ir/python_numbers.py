"""Numbers as the kernel language's source has them."""

from __future__ import annotations

import ast
import math
import struct

from kbuild.ir.nodes import Const
from kbuild.ir.types import Scalar, Type


def number(const: Const) -> ast.expr:
    """A number of the source that is exactly this constant once it has its type."""
    value = const.value
    if isinstance(value, bool):
        return ast.Constant(value)
    if math.isnan(value) or math.isinf(value):
        name = "nan" if math.isnan(value) else "inf"
        found: ast.expr = ast.Attribute(ast.Name("math", ast.Load()), name, ast.Load())
    else:
        found = ast.Constant(_shortest(abs(value), const.type))
    return ast.UnaryOp(ast.USub(), found) if math.copysign(1.0, value) < 0 else found


def _shortest(value: int | float, type: Type) -> int | float:
    """The number with the fewest digits that its type rounds to the value: 0.1, and not 0.10000000149011612."""
    if isinstance(value, int) or not isinstance(type, Scalar) or type.size == 8:
        return value
    for digits in range(1, 10):
        short = float(f"{value:.{digits}g}")
        try:
            if struct.unpack(type.code, struct.pack(type.code, short)) == (value,):
                return short
        except OverflowError:
            continue
    return value
