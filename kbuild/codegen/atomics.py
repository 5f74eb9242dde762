"""Atomic operations in CUDA C: the hardware's where it has them, else a loop of compare-and-swap on the word around."""

from __future__ import annotations

from kbuild.codegen.helpers import INLINE
from kbuild.codegen.types import SCALAR_NAMES
from kbuild.ir.types import Scalar

# Types whose operation the hardware has on every architecture from sm_60 on, and the type its function wants.
_NATIVE: dict[str, dict[str, str]] = {
    "add": {t: t for t in ("int32", "uint32", "uint64", "float32", "float64")} | {"int64": "uint64"},
    "min": {t: t for t in ("int32", "uint32", "int64", "uint64")},
    "max": {t: t for t in ("int32", "uint32", "int64", "uint64")},
    **dict.fromkeys(("and", "or", "xor"), {t: t for t in ("int32", "uint32", "uint64")} | {"int64": "uint64"}),
    "exch": {t: t for t in ("int32", "uint32", "uint64", "float32")} | {"int64": "uint64"},
}

_BITS = {"and": "&", "or": "|", "xor": "^"}


# The driver has this function where it has such graphs, from 12.4 on, and compilers of that age know that it has.
_GRAPH_CONDITION = f"""\
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1204
extern "C" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned int value);
#else
{INLINE} void cudaGraphSetConditional(unsigned long long, unsigned int) {{ __trap(); }}
#endif
{INLINE} int kb_atomic_graph_condition(int &p, int low, int high, int inverted) {{
    unsigned long long handle = (unsigned long long)(unsigned int)high << 32 | (unsigned int)low;
    cudaGraphSetConditional(handle, (p != 0) != (inverted != 0));
    return p;
}}
"""


# Ends of CUDA's functions for each scope. They exist from sm_60 on; before, atomics are those of the whole device.
SUFFIXES = {"device": "", "block": "_block", "system": "_system"}
_FENCES = {"": "__threadfence", "_block": "__threadfence_block", "_system": "__threadfence_system"}


def ordered(name: str, type: Scalar, order: str, suffix: str) -> str:
    """The helper between fences: what a relaxed operation and a fence give together, is what the order asks for."""
    t, fence = SCALAR_NAMES[type.spelling], f"{_FENCES[suffix]}();"
    before = f"{fence} " if order in ("release", "acq_rel") else ""
    after = f" {fence}" if order in ("acquire", "acq_rel") else ""
    values = ("compare", "value") if name == "atomic_cas" else ("value",)
    parameters = "".join(f", {t} {one}" for one in values)
    call = f"kb_{name}{suffix}(p, {', '.join(values)})"
    body = f"{before}{t} found = {call};{after} return found;"
    return f"{INLINE} {t} kb_{name}_{order}{suffix}({t} &p{parameters}) {{ {body} }}\n"


def function(name: str, type: Scalar, sum_of: str, suffix: str = "") -> str:
    """The helper `kb_atomic_…` for one type. `sum_of` is the text of `a + b` for the type (narrow and half types)."""
    if suffix:
        plain = _function(name, type, sum_of, "", suffix)
        scoped = _function(name, type, sum_of, suffix, suffix)
        return f"#if __CUDA_ARCH__ >= 600\n{scoped}#else\n{plain}#endif\n"
    return _function(name, type, sum_of, "", "")


def _function(name: str, type: Scalar, sum_of: str, scope: str, suffix: str) -> str:
    """`scope` is the end of CUDA's function, `suffix` that of ours."""
    op = name.removeprefix("atomic_")
    t = SCALAR_NAMES[type.spelling]
    if op == "cas":
        return _compare_and_swap(type, t, scope, suffix)
    if op == "graph_condition":
        return _GRAPH_CONDITION
    native = _NATIVE.get(op, {}).get(type.spelling)
    if native is not None:
        w = SCALAR_NAMES[native]
        call = f"atomic{op.capitalize()}{scope}"
        return f"{INLINE} {t} kb_{name}{suffix}({t} &p, {t} v) {{ return ({t}){call}(({w} *)&p, ({w})v); }}\n"
    return _loop(f"{name}{suffix}", type, t, _desired(op, type, sum_of), scope)


def _desired(op: str, type: Scalar, sum_of: str) -> str:
    """The new value from `a` (there now) and `b` (given)."""
    if op == "exch":
        return "b"
    if op in _BITS:
        return f"a {_BITS[op]} b"
    if op == "add":
        return sum_of
    if type.kind == "float":
        call = {"min": "fmin", "max": "fmax"}[op]
        if type.size == 2:
            return f"kb_to_half({call}f(kb_float(a), kb_float(b)))"
        return f"{call}{'f' if type.size == 4 else ''}(a, b)"
    return "(b < a ? b : a)" if op == "min" else "(a < b ? b : a)"


def _bits(type: Scalar, text: str) -> str:
    """A value as the bits of an unsigned integer of its size."""
    return {
        "float32": f"__float_as_uint({text})",
        "float64": f"(unsigned long long)__double_as_longlong({text})",
        "float16": f"{text}.bits",
    }.get(type.spelling, f"({_word(type)})({text})")


def _from_bits(type: Scalar, text: str) -> str:
    return {
        "float32": f"__uint_as_float({text})",
        "float64": f"__longlong_as_double((long long)({text}))",
        "float16": f"kb_half{{(unsigned short)({text})}}",
    }.get(type.spelling, f"({SCALAR_NAMES[type.spelling]})({text})")


def _word(type: Scalar) -> str:
    return {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}[type.size]


def _access(type: Scalar) -> tuple[str, str, str, str]:
    """Statements that find the word, the word's type, the bits of the value in `old`, and `old` with new `bits`."""
    if type.size >= 4:
        w = _word(type)
        return f"{w} *word = ({w} *)&p;", w, "old", "bits"
    mask = "0xffu" if type.size == 1 else "0xffffu"
    find = (
        "size_t at = (size_t)&p; unsigned int *word = (unsigned int *)(at & ~(size_t)3); "
        "unsigned int shift = (unsigned int)(at & 3) * 8;"
    )
    return (
        find,
        "unsigned int",
        f"((old >> shift) & {mask})",
        f"((old & ~({mask} << shift)) | ((unsigned int)(bits) << shift))",
    )


def _loop(name: str, type: Scalar, t: str, desired: str, scope: str) -> str:
    find, w, current, merged = _access(type)
    return f"""\
__device__ inline {t} kb_{name}({t} &p, {t} b) {{
    {find}
    {w} old = *(volatile {w} *)word, seen;
    do {{
        seen = old;
        {t} a = {_from_bits(type, current)};
        {w} bits = {_bits(type, desired)};
        old = atomicCAS{scope}(word, seen, {merged});
    }} while (old != seen);
    return {_from_bits(type, current)};
}}
"""


def _compare_and_swap(type: Scalar, t: str, scope: str, suffix: str) -> str:
    find, w, current, merged = _access(type)
    wanted = f"({w})({_bits(type, 'compare')})"
    return f"""\
__device__ inline {t} kb_atomic_cas{suffix}({t} &p, {t} compare, {t} b) {{
    {find}
    {w} old = *(volatile {w} *)word, seen;
    {w} bits = {_bits(type, "b")};
    do {{
        seen = old;
        if ({current} != {wanted}) break;
        old = atomicCAS{scope}(word, seen, {merged});
    }} while (old != seen);
    return {_from_bits(type, current)};
}}
"""
