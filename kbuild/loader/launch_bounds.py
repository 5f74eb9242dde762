"""What a kernel says of its blocks: `@kernel(launch_bounds=256)`, `(256, 4)` or `"auto"`.

The compiler may rely on blocks of at most so many threads, and makes code of which so many blocks fit a multiprocessor
at once.
"""

from __future__ import annotations

from .geometry import MAX_BLOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Mapping

AUTO = "auto"
DEFAULT_BLOCK = 256
MOST_BLOCKS = 32  # of any multiprocessor


def check(options: Mapping[str, Any]) -> None:
    """Raises TypeError for bounds that cannot be, or a `block_dim` beyond them."""
    bounds = options.get("launch_bounds")
    if bounds is None:
        return
    if "max_registers" in options:
        text = (
            "@kernel: launch_bounds and max_registers contradict each other: the compiler takes the registers from %s"
        )
        raise TypeError(text % "launch_bounds; say (max_threads, min_blocks) there, or leave launch_bounds out")
    if isinstance(bounds, str) and bounds == AUTO:
        return
    parts = bounds if isinstance(bounds, tuple) else (bounds,)
    if not 1 <= len(parts) <= 2 or any(type(part) is not int for part in parts):
        wants = 'launch_bounds wants max_threads, (max_threads, min_blocks) or "auto", not %r'
        raise TypeError("@kernel: " + wants % (bounds,))
    if not 1 <= parts[0] <= MAX_BLOCK:
        raise TypeError("@kernel: launch_bounds: blocks have 1 to %d threads, not %r" % (MAX_BLOCK, parts[0]))
    if len(parts) == 2 and not 1 <= parts[1] <= MOST_BLOCKS:
        text = "@kernel: launch_bounds: a multiprocessor holds 1 to %d blocks, not %r"
        raise TypeError(text % (MOST_BLOCKS, parts[1]))
    block = options.get("block_dim")
    if block is not None and block > parts[0]:
        text = "@kernel: block_dim=%r is more than the %d threads that launch_bounds allows"
        raise TypeError(text % (block, parts[0]))


def of(options: Mapping[str, Any]) -> tuple[int, int | None] | None:
    """(most threads of a block, blocks of a multiprocessor at least), of options that `check` has seen: 0 blocks where
    nothing is said, None where each target is to have as many as do it good. None without bounds.
    """
    bounds = options.get("launch_bounds")
    if bounds is None:
        return None
    if bounds == AUTO:
        return options.get("block_dim", DEFAULT_BLOCK), None
    return (bounds[0], bounds[1] if len(bounds) == 2 else 0) if isinstance(bounds, tuple) else (bounds, 0)
