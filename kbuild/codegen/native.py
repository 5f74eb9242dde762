"""Functions in CUDA C++: each snippet is the body of a function of its own, in which its parameters have their names.

    __device__ __forceinline__ float reciprocal_text(float x)
    {
    #line 7 "/kbuild/robosim/kernels.py"
    return __frcp_rn(x);
    }

An array is a `kb_snippet…`, with `data`, `shape`, `strides` in bytes, and its elements; the adjoint of one a
`kb_adjoint…`, to whose elements can be added, atomically, and which may not be there. The adjoint of a value is a
reference.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kbuild.codegen.helpers import INLINE, elements
from kbuild.ir import nodes
from kbuild.ir.types import FLOAT16, Array, Fixed, IndexedArray, Matrix, Scalar, Type, Vector

if TYPE_CHECKING:
    from collections.abc import Callable


def is_wrapped(type: Type) -> bool:
    """The type is an array that a snippet sees with the names of its parts."""
    return isinstance(type, Array) and not isinstance(type, IndexedArray)


def has_sums(type: Type) -> bool:
    """What can be added to the elements of the adjoint of an array of this type; of structs there are places alone."""
    return is_wrapped(type) and isinstance(type.element, (Scalar, Vector, Matrix))  # type: ignore[attr-defined]


def view(ndim: int) -> str:
    """`kb_snippet1` and its kin: an array as a snippet has it."""
    indices = ", ".join(f"long long i{axis}" for axis in range(ndim))
    offset = " + ".join(f"i{axis} * strides[{axis}]" for axis in range(ndim))
    place = f"*(T *)((char *)data + ({offset}))"
    subscript = f"    {INLINE} T &operator[](long long i0) const {{ return {place}; }}\n" if ndim == 1 else ""
    return f"""\
template <class T> struct kb_snippet{ndim} {{
    T *data; int shape[{ndim}]; int strides[{ndim}];
    {INLINE} T &operator()({indices}) const {{ return {place}; }}
{subscript}    {INLINE} explicit operator bool() const {{ return data != 0; }}
}};
"""


def of_array(ndim: int) -> str:
    """`kb_snippet(array)`, of an array in global memory."""
    name = f"kb_snippet{ndim}"
    extents = ", ".join(f"a.shape[{axis}]" for axis in range(ndim))
    strides = ", ".join(f"a.stride[{axis}]" for axis in range(ndim))
    return f"""\
template <class T> {INLINE} {name}<T> kb_snippet(kb_array{ndim}<T> a) {{
    return {name}<T>{{(T *)a.data, {{{extents}}}, {{{strides}}}}};
}}
"""


def of_fixed(type: Fixed, element: str, name: str, rows: str) -> str:
    """The same of an array in shared memory, or of a table, with so many rows, which is a variable."""
    extents = ", ".join([rows, *map(str, type.shape[1:])])
    strides = ", ".join(str(type.element.size * math.prod(type.shape[axis + 1 :])) for axis in range(type.ndim))
    return f"kb_snippet{type.ndim}<{element}>{{{name}.data, {{{extents}}}, {{{strides}}}}}"


def adjoint(type: Array, element: str, add: Callable[[str, str], str], negated: str | None) -> str:
    """The adjoint of an array as a snippet has it; `add` is the text that adds atomically, `negated` of `v` its
    negative, where there is one.
    """
    name, ndim = adjoint_name(type, element), type.ndim
    indices = ", ".join(f"long long i{axis}" for axis in range(ndim))
    arguments = ", ".join(f"i{axis}" for axis in range(ndim))
    kind = type.element
    assert isinstance(kind, (Scalar, Vector, Matrix))
    parts = [""] if isinstance(kind, Scalar) else elements(kind)
    sums = " ".join(f"{add(f'(*at){part}', f'v{part}')};" for part in parts)
    minus = ""
    if negated is not None:
        minus = f"\n        {INLINE} void operator-=({element} v) const {{ *this += {negated}; }}"
    subscript = f"\n    {INLINE} place operator[](long long i0) const {{ return (*this)(i0); }}" if ndim == 1 else ""
    return f"""\
struct {name} {{
    kb_array{ndim}<{element}> array;
    struct place {{
        {element} *at;
        {INLINE} void operator+=({element} v) const {{ if (at) {{ {sums} }} }}{minus}
        {INLINE} operator {element}() const {{ {element} none = {{}}; return at ? *at : none; }}
    }};
    {INLINE} place operator()({indices}) const {{ return place{{array.data ? &array({arguments}) : 0}}; }}{subscript}
    {INLINE} explicit operator bool() const {{ return array.data != 0; }}
}};
"""


def adjoint_name(type: Array, element: str) -> str:
    """`kb_adjoint1_float`."""
    return f"kb_adjoint{type.ndim}_{element.replace(' ', '_')}"


def negative(type: Type, element: str) -> str | None:
    """The negative of `v`, where C++ has one."""
    if isinstance(type, Scalar):
        return None if type == FLOAT16 or type.kind not in ("float", "int") else "-v"
    if not isinstance(type, (Vector, Matrix)) or type.element == FLOAT16:
        return None
    if isinstance(type, Vector):
        return f"{element}{{{{{', '.join(f'-v{part}' for part in elements(type))}}}}}"
    return None


def function(stmt: nodes.Native, name: str, result: str, parameters: list[str], path: str) -> str:
    """The function that is a snippet."""
    head = f"{INLINE} {result} {name}({', '.join(parameters)})"
    return f'{head}\n{{\n#line {stmt.line} "{path}"\n{stmt.text}\n}}\n'
