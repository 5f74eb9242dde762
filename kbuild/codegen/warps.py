"""What the lanes of a warp do together, in CUDA C.

Every lane of the warp names all 32; those that the block does not have count as ended, and nobody waits for them. What
they would have given is not defined, so the helpers give the own value there.
"""

from __future__ import annotations

from kbuild.codegen.helpers import INLINE
from kbuild.codegen.types import SCALAR_NAMES
from kbuild.ir.types import Scalar

# The lanes of the own warp that the block has: below 32 in the last one alone, if the block is not made of whole warps.
# That is asked for itself, so that where it is known nothing has to be asked of each lane.
LANES = f"""\
{INLINE} int kb_lanes() {{
    if ((kb_block_dim() & 31) == 0) return 32;
    int rest = kb_block_dim() - (kb_thread_idx() & ~31);
    return rest < 32 ? rest : 32;
}}
"""
_ALL = "0xffffffffu"
_SOURCE = {
    "shfl": "(own & -width) | (by & (width - 1))",
    "shfl_down": "own + (by & 31)",
    "shfl_xor": "own ^ (by & 31)",
}
_VOTES = {"ballot": "unsigned int", "any": "bool", "all": "bool"}


def function(name: str, type: Scalar) -> str:
    """The helper `kb_…` for one type."""
    if name in _VOTES:
        call = f"__{name}_sync({_ALL}, x)"
        return f"{INLINE} {_VOTES[name]} kb_{name}(bool x) {{ return {call}{'' if name == 'ballot' else ' != 0'}; }}\n"
    return _match(type) if name == "match_any" else _shuffle(name, type)


def _shuffle(name: str, type: Scalar) -> str:
    t = SCALAR_NAMES[type.spelling]
    call = _back(type, f"__{name}_sync({_ALL}, {_given(type)}, by, width)")
    if name == "shfl_up":  # lanes below are always there
        body = f"return {call};"
    else:
        body = f"int own = kb_thread_idx() & 31, from = {_SOURCE[name]}; {t} y = {call}; "
        body += "return from < kb_lanes() ? y : x;"
    return f"{INLINE} {t} kb_{name}({t} x, int by, int width) {{ {body} }}\n"


def _given(type: Scalar) -> str:
    """The value as a type that shuffles know."""
    if type.spelling == "float16":
        return "(unsigned int)x.bits"
    return "x" if type.size >= 4 else "(int)x"


def _back(type: Scalar, text: str) -> str:
    if type.spelling == "float16":
        return f"kb_half{{(unsigned short){text}}}"
    return text if type.size >= 4 else f"({SCALAR_NAMES[type.spelling]}){text}"


def _match(type: Scalar) -> str:
    """`match.any` exists from sm_70 on; before, every lane's value goes round."""
    t = SCALAR_NAMES[type.spelling]
    w = "unsigned long long" if type.size == 8 else "unsigned int"
    return f"""\
{INLINE} unsigned int kb_match_any({t} x) {{
    {w} word = ({w})x;
#if __CUDA_ARCH__ >= 700
    return __match_any_sync({_ALL}, word);
#else
    unsigned int found = 0;
    for (int lane = 0; lane < 32; ++lane) {{
        {w} other = __shfl_sync({_ALL}, word, lane, 32);
        found |= (lane < kb_lanes() && other == word ? 1u : 0u) << lane;
    }}
    return found;
#endif
}}
"""
