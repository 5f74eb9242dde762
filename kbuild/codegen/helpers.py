"""Small device functions that give operations kbuild's meaning. A unit holds those that its kernels reach.

Each is a text made for one type, so that what stands in a unit can be read without knowing C++ templates.
"""

from __future__ import annotations

from collections.abc import Callable

from kbuild.codegen.types import SCALAR_NAMES, composite_name, unsigned_name
from kbuild.ir.types import BOOL, FLOAT16, FLOAT64, Matrix, Scalar, Type, Vector

INLINE = "__device__ __forceinline__"

# Text of a result's element from the texts of the parameters' elements.
Element = Callable[..., str]

# PTX conversions to half: C type, PTX type, letter of the asm constraint.
_TO_HALF = (
    ("float", "f32", "f"),
    ("double", "f64", "d"),
    ("int", "s32", "r"),
    ("unsigned int", "u32", "r"),
    ("long long", "s64", "l"),
    ("unsigned long long", "u64", "l"),
)


def half() -> str:
    """float16 without a header: its bits, and conversions that round once."""
    to_half = "".join(
        f"{INLINE} kb_half kb_to_half({c} x) {{ "
        f'kb_half y; asm("cvt.rn.f16.{ptx} %0, %1;" : "=h"(y.bits) : "{letter}"(x)); return y; }}\n'
        for c, ptx, letter in _TO_HALF
    )
    to_float = 'float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits)); return y;'
    struct = "struct kb_half { unsigned short bits; };\n"
    return f"{struct}{INLINE} float kb_float(kb_half x) {{ {to_float} }}\n{to_half}"


def integer(op: str, type: Scalar) -> str:
    """`kb_add(a, b)` and its kin for an integer type: arithmetic that wraps, division and shifts that are defined.

    For a float the few that are not C's own.
    """
    if type.kind == "float":
        return half_copysign() if op == "copysign" else clamped(op, type)
    t, u = SCALAR_NAMES[type.spelling], unsigned_name(type)
    signed, bits = type.kind == "int", 8 * type.size
    minus_a, minus_b = f"a < 0 ? 0 - ({u})a : ({u})a", f"b < 0 ? 0 - ({u})b : ({u})b"
    bodies: dict[str, str] = {
        "add": f"return ({t})(({u})a + ({u})b);",
        "sub": f"return ({t})(({u})a - ({u})b);",
        "mul": f"return ({t})(({u})a * ({u})b);",
        "min": "return b < a ? b : a;",
        "max": "return a < b ? b : a;",
    }
    if signed:
        magnitudes = f"{u} x = {minus_a}, y = {minus_b};"
        bodies["div"] = f"{magnitudes} {u} q = y == 0 ? 0 : x / y; return ({t})((a < 0) != (b < 0) ? 0 - q : q);"
        bodies["mod"] = f"{magnitudes} {u} r = y == 0 ? x : x % y; return ({t})(a < 0 ? 0 - r : r);"
        bodies["shr"] = f"return ({t})(a >> (({u})b < {bits}u ? b : {bits - 1}));"
    else:
        bodies["div"] = f"return ({t})(b == 0 ? 0 : a / b);"
        bodies["mod"] = f"return ({t})(b == 0 ? a : a % b);"
        bodies["shr"] = f"return ({t})(b < {bits}u ? a >> b : 0);"
    bodies["shl"] = f"return ({t})(({u})b < {bits}u ? ({u})a << b : 0);"
    if op == "bit_count":
        count = "__popcll" if type.size == 8 else "__popc"
        width = f" & {hex((1 << bits) - 1)}u" if type.size < 4 else ""  # the conversion extends the sign
        return f"{INLINE} int kb_bit_count({t} a) {{ return {count}(({u})a{width}); }}\n"
    if op in ("neg", "abs"):
        body = f"return ({t})(0 - ({u})a);" if op == "neg" else f"return ({t})({minus_a if signed else 'a'});"
        return f"{INLINE} {t} kb_{op}({t} a) {{ {body} }}\n"
    return f"{INLINE} {t} kb_{op}({t} a, {t} b) {{ {bodies[op]} }}\n"


def half_copysign() -> str:
    """`kb_copysign(x, y)` of float16."""
    body = "return kb_half{(unsigned short)((x.bits & 0x7fff) | (y.bits & 0x8000))};"
    return f"{INLINE} kb_half kb_copysign(kb_half x, kb_half y) {{ {body} }}\n"


def clamped(op: str, type: Scalar) -> str:
    """`kb_acos(x)` and `kb_asin(x)`: C's functions of x cut to -1 … 1."""
    t, suffix = SCALAR_NAMES[type.spelling], "f" if type.size == 4 else ""
    one = f"1.0{suffix}"
    return f"{INLINE} {t} kb_{op}({t} x) {{ return {op}{suffix}(x < -{one} ? -{one} : x > {one} ? {one} : x); }}\n"


def elementwise(title: str, type: Vector | Matrix, value: Element, kinds: str) -> str:
    """A function over composites: `kinds` has a letter a parameter, `v` for the composite, `s` for its scalar.

    `value` gives the element from the texts of the parameters' elements.
    """
    name, scalar = composite_name(type), SCALAR_NAMES[type.element.spelling]
    parameters = ", ".join(
        f"{name if kind == 'v' else scalar} {letter}" for kind, letter in zip(kinds, "abc", strict=False)
    )

    def element(at: str) -> str:
        texts = [f"{letter}{at}" if kind == "v" else letter for kind, letter in zip(kinds, "abc", strict=False)]
        return value(*texts)

    if is_large(type):
        body = f"{name} r; {loops(type, lambda at: f'r{at} = {element(at)};')} return r;"
    else:
        body = f"return {braces(type, [element(at) for at in elements(type)])};"
    return f"{INLINE} {name} {title}({parameters}) {{ {body} }}\n"


def is_large(type: Vector | Matrix) -> bool:
    """More elements than are worth a text each: a loop says the same, and is compiled sooner."""
    return type.size // type.element.size > 16


def loops(type: Vector | Matrix, statement: Callable[[str], str]) -> str:
    """A statement for every element, given the text that selects it."""
    if isinstance(type, Vector):
        return f"for (int i = 0; i < {type.length}; ++i) {statement('.c[i]')}"
    inner = f"for (int j = 0; j < {type.columns}; ++j) {statement('.r[i].c[j]')}"
    unroll = '_Pragma("unroll 1") ' if type.rows * type.columns > 256 else ""
    return f"{unroll}for (int i = 0; i < {type.rows}; ++i) {inner}"


def fill(type: Vector | Matrix) -> str:
    """`kb_fill_…(x)`: every element is x."""
    name, scalar = composite_name(type), SCALAR_NAMES[type.element.spelling]
    body = f"{name} r; {loops(type, lambda at: f'r{at} = x;')} return r;"
    return f"{INLINE} {name} kb_fill_{name}({scalar} x) {{ {body} }}\n"


def elements(type: Vector | Matrix) -> list[str]:
    """Accessors of all elements, in order."""
    if isinstance(type, Vector):
        return [f".c[{i}]" for i in range(type.length)]
    return [f".r[{i}].c[{j}]" for i in range(type.rows) for j in range(type.columns)]


def braces(type: Vector | Matrix, parts: list[str]) -> str:
    """A composite from the texts of its elements."""
    if isinstance(type, Vector):
        return _list(composite_name(type), parts)
    width = type.columns
    row = composite_name(Vector(width, type.element))
    rows = [_list(row, parts[i * width : (i + 1) * width]) for i in range(type.rows)]
    return _list(composite_name(type), rows)


def _list(name: str, parts: list[str]) -> str:
    return f"{name}{{{{{', '.join(parts)}}}}}"


def composite(type: Vector | Matrix) -> str:
    """The struct of a vector or matrix."""
    if isinstance(type, Vector):
        return f"struct {composite_name(type)} {{ {SCALAR_NAMES[type.element.spelling]} c[{type.length}]; }};\n"
    row = composite_name(Vector(type.columns, type.element))
    return f"struct {composite_name(type)} {{ {row} r[{type.rows}]; }};\n"


FROM_END = f"{INLINE} long long kb_from_end(long long i, int extent) {{ return i < 0 ? i + extent : i; }}\n"


def launch(ndim: int) -> str:
    """The launch header (see `loader.geometry`) and the thread's coordinates in it."""
    if ndim == 1:
        return "struct kb_launch1 { unsigned int end, origin; };\n"
    inner = ndim - 1
    steps = "".join(
        f"    q = (__umulhi(l, launch.magic[{axis - 1}]) + l) >> launch.shift[{axis - 1}]; "
        f"tid.axis[{axis}] = (int)(l - q * launch.extent[{axis - 1}]) + launch.origin[{axis}]; l = q;\n"
        for axis in range(ndim - 1, 0, -1)
    )
    return f"""\
struct kb_launch{ndim} {{ unsigned int count, extent[{inner}], magic[{inner}], shift[{inner}]; int origin[{ndim}]; }};
struct kb_index{ndim} {{ int axis[{ndim}]; }};
{INLINE} kb_index{ndim} kb_locate(const kb_launch{ndim} &launch, unsigned int l) {{
    kb_index{ndim} tid; unsigned int q;
{steps}    tid.axis[0] = (int)l + launch.origin[0];
    return tid;
}}
"""


def conversion(source: Scalar, target: Scalar, text: str) -> str:
    """An expression that converts a scalar, but for float to integer (`rounding`) and from float16."""
    if target == BOOL:
        return f"({text} != 0)"
    if target == FLOAT16:
        wide = {"float32": "float", "float64": "double", "int64": "long long", "uint64": "unsigned long long"}
        narrow = "unsigned int" if source.kind == "uint" else "int"
        return f"kb_to_half(({wide.get(source.spelling, narrow)})({text}))"
    return f"({SCALAR_NAMES[target.spelling]})({text})"


def rounding(source: Scalar, target: Scalar) -> str:
    """`kb_int32(x)`: float to integer, towards zero, saturating; NaN gives 0, narrow types the low bits."""
    name, parameter = SCALAR_NAMES[target.spelling], SCALAR_NAMES[source.spelling]
    wide = target.size == 8
    suffix = ("ll" if wide else "int") if target.kind == "int" else ("ull" if wide else "uint")
    converted = f"__{parameter}2{suffix}_rz(x)"
    # The hardware gives 0 for a NaN only between 32-bit types.
    if wide or source == FLOAT64:
        converted = f"x == x ? {converted} : 0"
    return f"{INLINE} {name} kb_{target.spelling}({parameter} x) {{ return ({name})({converted}); }}\n"


def needs_half(type: Type) -> bool:
    """The type contains float16."""
    return "float16" in type.spelling
