"""`Print` and `Assert` in CUDA C: calls of `printf` and `__assertfail`, which every NVRTC declares by itself.

    printf("%d %lld\\012", i, n);        if (!(x > 0.0f)) __assertfail("x > 0.0", "pkg.kernels:step", 1u, "step", 1);

For a failed assert the driver prints `pkg.kernels:step:1: step: block: […], thread: […] Assertion `x > 0.0` failed.`
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from kbuild.codegen.types import SCALAR_NAMES
from kbuild.ir import nodes
from kbuild.ir.formats import Conversion, Piece, conversions
from kbuild.ir.nodes import Expr
from kbuild.ir.types import BOOL, FLOAT16, Scalar

Emit = Callable[[Expr], str]


def statement(pieces: Sequence[Piece], arguments: Sequence[Expr], emit: Emit) -> str:
    """The call that prints."""
    types = iter([argument.type for argument in arguments])
    format = "".join(p.replace("%", "%%") if isinstance(p, str) else _spelled(p, next(types)) for p in pieces)
    values = [_value(c, a.type, emit(a)) for c, a in zip(conversions(pieces), arguments, strict=True)]
    return f"printf({', '.join([literal(format), *values])});"


def assertion(stmt: nodes.Assert, emit: Emit) -> str:
    """The test, and the call that ends the thread. The name and number are those of the manifest's row."""
    function = stmt.owner.rpartition(":")[2]
    words = f"{literal(stmt.text)}, {literal(stmt.owner)}, {stmt.number}u, {literal(function)}, 1"
    return f"if (!({emit(stmt.condition)})) __assertfail({words});"


def literal(text: str) -> str:
    """A C string: whatever is not plain ASCII as octal bytes of UTF-8, three digits each, so that nothing follows."""
    return '"' + "".join(map(_escaped, text.encode("utf-8", "surrogatepass"))) + '"'


def _escaped(byte: int) -> str:
    # `?` could begin a trigraph.
    return chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}"


def _is_signed_decimal(conversion: Conversion) -> bool:
    return conversion.letter in "di"


def _spelled(conversion: Conversion, type: object) -> str:
    """The conversion with the length modifier of the value that `_value` passes."""
    assert isinstance(type, Scalar)
    if conversion.wants == "a float" or conversion.letter in "cs" or type == BOOL:
        return conversion.text
    if _is_signed_decimal(conversion) and type.spelling == "uint64":
        flags = conversion.flags.replace("+", "").replace(" ", "")
        conversion = dataclasses.replace(conversion, flags=flags, letter="u")
    is_wide = type.size == 8 or (_is_signed_decimal(conversion) and type.spelling == "uint32")
    return f"%{conversion.size}{'ll' if is_wide else ''}{conversion.letter}"


def _value(conversion: Conversion, type: object, text: str) -> str:
    """An argument of exactly the type that the conversion reads."""
    assert isinstance(type, Scalar)
    if conversion.letter == "s":
        return f'({text}) ? "True" : "False"'
    if conversion.wants == "a float":
        return f"(double)kb_float({text})" if type == FLOAT16 else f"(double)({text})"
    if conversion.letter == "c":
        return f"(int)({text})"
    if _is_signed_decimal(conversion):
        wide = {"int64": "long long", "uint32": "long long", "uint64": "unsigned long long"}
        return f"({wide.get(type.spelling, 'int')})({text})"
    own = f"({SCALAR_NAMES[type.spelling.replace('int', 'uint') if type.kind == 'int' else type.spelling]})({text})"
    return own if type.size == 8 else f"(unsigned int){own}"
