"""Launch bounds in CUDA C.

Where each target is to have bounds of its own, the text leaves a macro open for the number of blocks, which an option
of the compiler gives (`option`): the text stays the same for all targets. One block leaves a thread all the registers
that it asks for; without a number ptxas follows a rule of its own, and spills.
"""

from __future__ import annotations

_MACRO = "KB_MIN_BLOCKS_"


def attribute(bounds: tuple[int, int | None] | None, entry: str) -> tuple[str, str]:
    """Lines before an entry, and what stands before its name."""
    if bounds is None:
        return "", ""
    threads, blocks = bounds
    if blocks is not None:
        return "", f"__launch_bounds__({threads}{f', {blocks}' if blocks else ''}) "
    macro = f"{_MACRO}{entry}"
    return f"#ifndef {macro}\n#define {macro} 1\n#endif\n", f"__launch_bounds__({threads}, {macro}) "


def option(entry: str, blocks: int) -> str:
    """The compiler's option by which an entry gets its number of blocks."""
    return f"-D{_MACRO}{entry}={blocks}"
