"""The gradients of functions over whole arrays, where these are such functions themselves.

Each `of_…` gives what `loader.tape.watching.function` wants as `back`, or None where no gradient passes through.
"""

from __future__ import annotations

from kbuild.loader.array import empty
from kbuild.loader.array_class import array, wrap
from kbuild.loader.interface import View
from kbuild.loader.tape import adding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Optional

    Back = Callable[[Sequence[Optional[array]], Sequence[array]], None]


def of_sum(count: Any, axis: int | None) -> Back | None:
    """Of `array_sum`: every element that was added gets what the sum has."""
    if count is not None:
        return None

    def back(reads: Sequence[array | None], writes: Sequence[array]) -> None:
        to, total = reads[0], writes[0]
        if to is not None:
            strides = [0] * to.ndim if axis is None else list(total.strides)
            if axis is not None:
                strides[axis % to.ndim] = 0
            seen = View(total.ptr, to.shape, tuple(strides), to._type.element)
            adding.add(to, wrap(seen, to.dtype, to.device, total._owner), "tape.backward: kb.array_sum")

    return back


def of_scan(inclusive: bool) -> Back:
    """Of `array_scan`: the same, from the end on."""

    def back(reads: Sequence[array | None], writes: Sequence[array]) -> None:
        from kbuild.primitives.functions import array_scan

        to, sums = reads[0], writes[0]
        if to is not None:
            made = empty(to.size, to.dtype, to.device)
            array_scan(sums.flatten()[::-1], made[::-1], inclusive)
            adding.add(to, made.reshape(to.shape), "tape.backward: kb.array_scan")

    return back


def of_cast(in_array: Any, out_array: Any, count: Any) -> Back | None:
    """Of `array_cast`: back into the other type."""
    sizes = [getattr(one, "shape", None) for one in (in_array, out_array)]
    if count is not None or sizes[0] != sizes[1]:
        return None

    def back(reads: Sequence[array | None], writes: Sequence[array]) -> None:
        from kbuild.primitives.functions import array_cast

        to = reads[0]
        if to is not None:
            made = empty(to.shape, to.dtype, to.device)
            array_cast(writes[0], made)
            adding.add(to, made, "tape.backward: kb.array_cast")

    return back
