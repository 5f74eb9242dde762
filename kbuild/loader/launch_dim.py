"""What a kernel says of its launches: `@kernel(launch_dim="n")`, `("rows", "columns")`, `(64, "n")`.

Such a kernel is launched over exactly as many threads along each axis: as a stated size of an array, an int parameter
of that name, or a number says.
"""

from __future__ import annotations

from .abi import MAX_ARRAY_DIMENSIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Mapping

MAX_AXES = MAX_ARRAY_DIMENSIONS  # of `tid()`


def check(options: Mapping[str, Any]) -> None:
    """Raises TypeError for what no launch can be."""
    axes = of(options)
    if not 1 <= len(axes) <= MAX_AXES:
        raise TypeError("@kernel: launch_dim has 1 to %d axes, not %d: %r" % (MAX_AXES, len(axes), axes))
    for one in axes:
        if type(one) is int and one < 1:
            raise TypeError("@kernel: launch_dim: a launch has from 1 thread on along an axis, not %d" % one)
        if not (one.isidentifier() if isinstance(one, str) else type(one) is int):
            wants = "the name of a size, or a number"
            raise TypeError("@kernel: launch_dim wants %s, or a tuple of these, not %r" % (wants, one))


def of(options: Mapping[str, Any]) -> tuple[int | str, ...]:
    """An entry for each axis, of options that `check` has seen; () where nothing is said."""
    said = options.get("launch_dim", ())
    return said if isinstance(said, tuple) else (said,)
