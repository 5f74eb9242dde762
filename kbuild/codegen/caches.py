"""Loads and stores with a hint for the caches, in CUDA C: a value goes as the words that its alignment allows."""

from __future__ import annotations

from kbuild.codegen.helpers import INLINE
from kbuild.ir.types import Type

_WORDS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}
_LOADS = {"readonly": "__ldg", "streaming": "__ldcs"}


def function(what: str, hint: str, name: str, type: Type) -> str:
    """`kb_load_readonly(place)`, `kb_load_streaming(place)`, `kb_store_streaming(place, value)` for one type."""
    word, count = _WORDS[type.align], type.size // type.align
    loop = f'_Pragma("unroll") for (int i = 0; i < {count}; ++i)'
    if what == "load":
        body = f"{name} y; {loop} (({word} *)&y)[i] = {_LOADS[hint]}((const {word} *)&p + i); return y;"
        return f"{INLINE} {name} kb_load_{hint}(const {name} &p) {{ {body} }}\n"
    body = f"{loop} __stcs(({word} *)&p + i, ((const {word} *)&x)[i]);"
    return f"{INLINE} void kb_store_{hint}({name} &p, {name} x) {{ {body} }}\n"
