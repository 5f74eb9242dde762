"""C names: valid, not reserved, unique within a scope, the same for the same input."""

from __future__ import annotations

import re

_KEYWORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class compl const
constexpr const_cast continue decltype default delete do double dynamic_cast else enum explicit export extern false
float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
protected public register reinterpret_cast return short signed sizeof static static_assert static_cast struct switch
template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t
while xor xor_eq
blockIdx blockDim threadIdx gridDim warpSize
NULL assert main va_arg va_copy va_end va_start
"""
# What kbuild names itself, what C++ keeps, and the prefixes of NVRTC's own macros.
_PREFIXES = ("kb_", "__", "cuda", "CUDA", "CU_", "NV_")
_TYPES = re.compile(r"(vec\d+|mat\d+x\d+)[a-z]+|(quat|transform)[hfd]")


def _is_reserved(name: str, spellings: frozenset[str]) -> bool:
    return name in _RESERVED or name in spellings or name.startswith(_PREFIXES) or bool(_TYPES.fullmatch(name))


_RESERVED = frozenset(_KEYWORDS.split())


class Names:
    """Hands out names of one scope; `spellings` are functions that the scope may call and must not hide."""

    def __init__(self, spellings: frozenset[str], taken: frozenset[str] = frozenset()) -> None:
        self._spellings = spellings
        self._taken = set(taken)

    def fresh(self, wanted: str) -> str:
        """The wanted name, or the nearest free one."""
        base = identifier(wanted)
        if _is_reserved(base, self._spellings):
            base += "_"
        name, count = base, 1
        while name in self._taken:
            count += 1
            name = f"{base}_{count}"
        self._taken.add(name)
        return name


def identifier(text: str) -> str:
    """ASCII letters, digits and underscores; others become `_uXXXX`."""
    safe = re.sub(r"[^A-Za-z0-9_]", lambda m: f"_u{ord(m[0]):x}" if ord(m[0]) > 127 else "_", text)
    return f"_{safe}" if not safe or safe[0].isdigit() else safe


def field_name(name: str) -> str:
    """A struct's field, moved out of the way of keywords, macros and types; different fields stay different."""
    base = identifier(name)
    return f"{base}_" if base.endswith("_") or _is_reserved(base, frozenset()) else base
