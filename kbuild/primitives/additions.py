"""Arrays of a GPU added to others by a kernel, where a bundle of the program has it: for `loader.tape.adding`.

Where that cannot be the answer is False, and the numbers are added on the host.
"""

from __future__ import annotations

from kbuild.loader import interface
from kbuild.primitives import accumulating, copies, views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kbuild.loader.array import array

_AXES = 4  # of the kernel


def add(to: array, source: array) -> bool:
    """Launches `to += source`, for arrays of one shape and type on one GPU; False where it cannot."""
    from kbuild.primitives import catalogue

    scalar = interface.scalar_of(to._type.element)
    if scalar is None or scalar.spelling not in accumulating.TYPES:
        return False
    axes: list[views.Axis] = list(zip(to.shape, to.strides, source.strides))
    axes.append((views.components(to._type.element), scalar.size, scalar.size))
    axes = views.merged(axes)
    if len(axes) > _AXES or 0 in to.shape:
        return 0 in to.shape
    axes = [(1, 0, 0)] * (_AXES - len(axes)) + axes
    kernel = catalogue.addition_kernel(catalogue.type_named(scalar.spelling))
    target = copies.ready(kernel, to.device)
    if target is None:
        return False
    sides = [views.plain(one, scalar, *[(n, steps[i]) for n, *steps in axes]) for i, one in enumerate((to, source))]
    target.launch(tuple([n for n, *_ in axes]), (sides[1], sides[0]), None, to.device, None)
    return True
