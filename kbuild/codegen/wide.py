"""Elements that are loaded and stored as few words: a vector of four floats as one of 16 bytes.

A vector is aligned as its numbers are, since arrays from elsewhere may begin anywhere; hardware wants a word of 16
bytes at a multiple of 16. Whether all elements of an array lie so is said by its address and strides, the same for all
threads: the code asks, and has both ways; the innermost loops ask before they begin (see `contiguous`). Arrays in
shared memory begin where words may. Which types have words is `ir.types.word_of`'s to say.
"""

from __future__ import annotations

from kbuild.codegen.helpers import INLINE
from kbuild.ir.types import Type, word_of

_WORDS = {16: "uint4", 8: "uint2", 4: "unsigned int", 2: "unsigned short"}


def function(what: str, name: str, type: Type) -> str:
    """`kb_load(place, is_aligned)` or `kb_store(place, value, is_aligned)` for one type."""
    size = word_of(type)
    each = f"{_WORDS[size]} *from = ({_WORDS[size]} *)&{'p' if what == 'load' else 'y'}"
    to = f"*to = ({_WORDS[size]} *)&{'y' if what == 'load' else 'p'}"
    copies = " ".join(f"to[{i}] = from[{i}];" for i in range(type.size // size))
    if what == "load":
        body = f"if (!is_aligned) return p; __align__({size}) {name} y; {each}, {to}; {copies} return y;"
        return f"{INLINE} {name} kb_load({name} &p, bool is_aligned) {{ {body} }}\n"
    body = f"if (!is_aligned) {{ p = x; return; }} __align__({size}) {name} y = x; {each}, {to}; {copies}"
    return f"{INLINE} void kb_store({name} &p, {name} x, bool is_aligned) {{ {body} }}\n"
