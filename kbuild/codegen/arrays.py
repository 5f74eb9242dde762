"""Arrays in global memory, in CUDA C: the descriptor of `loader.abi.Array`, addresses of elements, and views.

Beside `array(i, j)`, plain C, a descriptor has the methods that a unit asks for:

    array.at(i, j)      the address by products that stay whole (see `addresses`), the first index first
    array.across(i, j)  the same, the last index first
    array.near(i, j)    of an array without gaps (see `contiguous`)
    array.dense()       whether it is one
    array.aligned(16)   whether every element is aligned to a power of two (see `wide`)
"""

from __future__ import annotations

from collections.abc import Collection

from kbuild.codegen.helpers import INLINE

# One instruction, whatever the compiler knows of the factors (see `addresses`).
WIDE = f"""\
{INLINE} long long kb_wide(int a, int b) {{
    long long r; asm("mul.wide.s32 %0, %1, %2;" : "=l"(r) : "r"(a), "r"(b)); return r;
}}
"""
# That and the addition of a pointer, of which the compiler has to be told that it leads to global memory. The two are
# one text, since otherwise the compiler adds up products first; `mad.wide` is what the assembler takes apart.
FURTHER = f"""\
{INLINE} char *kb_further(char *p, int a, int b) {{
    char *r; asm("{{ .reg .b64 t; mul.wide.s32 t, %1, %2; add.s64 %0, t, %3; }}" : "=l"(r) : "r"(a), "r"(b), "l"(p));
    bool is_global = __isGlobal(r); __builtin_assume(is_global); return r;
}}
"""


def products(asked: Collection[tuple[int, str]]) -> str:
    """What the methods stand on, of (dimensions, method)."""
    is_wide = any(method in ("at", "across") or (method == "near" and ndim > 1) for ndim, method in asked)
    is_further = any(method in ("at", "across") and ndim > 1 for ndim, method in asked)
    return (WIDE if is_wide else "") + (FURTHER if is_further else "")


def array(ndim: int, asked: Collection[str]) -> str:
    """The descriptor, with the methods that are asked for."""
    parameters = ", ".join(f"long long i{axis}" for axis in range(ndim))
    offset = " + ".join(f"i{axis} * stride[{axis}]" for axis in range(ndim))
    methods = "".join(text for name, text in _methods(ndim).items() if name in asked)
    return f"""\
template <class T> struct kb_array{ndim} {{
    char *data; int shape[{ndim}]; int stride[{ndim}];
    {INLINE} T &operator()({parameters}) const {{ return *(T *)(data + ({offset})); }}
{methods}}};
"""


def _methods(ndim: int) -> dict[str, str]:
    axes, last = tuple(range(ndim)), ndim - 1
    narrow = ", ".join(f"int i{axis}" for axis in axes)
    # As an index of a pointer, not as an address: NVRTC then needs fewer registers in unrolled loops (32, not 40).
    row = " + ".join(["data", *(f"kb_wide(i{a}, stride[{a}])" for a in axes[:-1])])
    parts = ", ".join([*(f"int i{axis}" for axis in axes[:-1]), f"long long i{last}"])
    return {
        "at": f"    {INLINE} T &at({narrow}) const {{ return *(T *)({_whole(axes)}); }}\n",
        "across": f"    {INLINE} T &across({narrow}) const {{ return *(T *)({_whole(axes[::-1])}); }}\n",
        "near": f"    {INLINE} T &near({parts}) const {{ return ((T *)({row}))[i{last}]; }}\n",
        "dense": f"    {INLINE} bool dense() const {{ return stride[{last}] == (int)sizeof(T); }}\n",
        "aligned": aligned(ndim),
    }


def aligned(ndim: int) -> str:
    """The method that says whether every element is aligned."""
    bits = " | ".join(["(int)(long long)data", *(f"stride[{axis}]" for axis in range(ndim))])
    return f"    {INLINE} bool aligned(int to) const {{ return (({bits}) & (to - 1)) == 0; }}\n"


def _whole(axes: tuple[int, ...]) -> str:
    """An address by products that stay whole, which are added in this order."""
    place = f"data + kb_wide(i{axes[0]}, stride[{axes[0]}])"
    for axis in axes[1:]:
        place = f"kb_further({place}, i{axis}, stride[{axis}])"
    return place


def view(ndim: int, count: int, keeps_none: bool) -> str:
    """`kb_view(array, i, …)`: the array at `count` leading indices; of no array there is none, where that is asked."""
    indices = ", ".join(f"long long i{axis}" for axis in range(count))
    offset = " + ".join(f"i{axis} * a.stride[{axis}]" for axis in range(count))
    left = range(count, ndim)
    shape, stride = (", ".join(f"a.{what}[{axis}]" for axis in left) for what in ("shape", "stride"))
    result = f"kb_array{ndim - count}<T>"
    data = f"a.data ? a.data + ({offset}) : 0" if keeps_none else f"a.data + ({offset})"
    body = f"return {result}{{{data}, {{{shape}}}, {{{stride}}}}};"
    return f"template <class T> {INLINE} {result} kb_view(kb_array{ndim}<T> a, {indices}) {{ {body} }}\n"
