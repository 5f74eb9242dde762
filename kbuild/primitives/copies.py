"""Copies between arrays of one GPU by a kernel, where a bundle of the program has it: what `transfer` asks for.

Both sides are seen as words, as large as all addresses and strides allow, under few axes. Nothing depends on this:
where a copy cannot be made here the answer is False, and the driver's own copies make it.
"""

from __future__ import annotations

from kbuild.loader import abi, context, driver, resolve, standin, types
from kbuild.loader.array_class import wrap
from kbuild.loader.errors import LaunchError, LoaderError
from kbuild.loader.interface import View
from kbuild.primitives import views
from kbuild.primitives.copying import SIDE
from kbuild.primitives.finding import Carried, in_a_bundle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from kbuild.loader.types import Kernel

_AXES = 4  # of a kernel
_MOST_LAUNCHES = 16
_SECTOR = 32  # bytes that a GPU moves at least: with larger strides neighbours have nothing in common
_LEAST = 8  # extents from which turning squares is worth it
_MOST = 2**31 - SIDE  # a kernel counts beyond an extent, up to the end of a square

_missing: dict[tuple[int, int], int] = {}  # kernel and GPU without code: how many modules were known then


def copy(to: View, source: View, device: Any, stream: int) -> bool:
    """Launches the copy of a view into another of the same shape and element, on a stream; False where it cannot.

    Elements that both views share have no certain value afterwards.
    """
    plan = Plan(to, source)
    if not plan.fits:
        return False
    kernel = plan.kernel()
    target = ready(kernel, device)
    if target is None:
        return False
    for at, start in plan.offsets():
        args = plan.operand(start, 1, device), plan.operand(at, 0, device)
        target.launch(plan.dim(kernel), args, stream, device, None)
    return True


def ready(kernel: Kernel, device: context.Device) -> Any:
    """What launches a kernel, with its code on the GPU; None where there is none, which is remembered until more
    modules with kernels are known.
    """
    key = id(kernel), device.ordinal
    known = len(types.declared)
    if _missing.get(key) == known:
        return None
    target = kernel.target
    try:
        if isinstance(target, Carried):
            target = _find(kernel)
            kernel.target = target
        if hasattr(target, "load"):
            target.load(device)
    except LoaderError:
        _missing[key] = known
        return None
    return target


def _find(kernel: Kernel) -> Any:
    """Never compiles: that would take longer than any copy. Raises LoaderError."""
    if isinstance(driver.get().library, standin.Library):
        raise LaunchError("%s: no GPU" % kernel.name)
    return in_a_bundle(kernel)


class Plan:
    """A copy as words under at most four axes, the last of which the threads of a warp go along.

    `ptrs` are the addresses of target and source; `axes` have the extent, then the stride in bytes in both.
    """

    def __init__(self, to: View, source: View) -> None:
        size = to.element.size
        axes: list[views.Axis] = [*zip(to.shape, to.strides, source.strides), (size, 1, 1)]
        self.ptrs, axes = _forward([to.ptr, source.ptr], axes)
        axes = views.merged(sorted(axes, key=lambda axis: -axis[1]))
        self.word = _word(self.ptrs, axes)
        axes = _in_words(axes, self.word)
        self.turned = _arrange(axes)
        self.outer: list[views.Axis] = []
        while len(axes) > _AXES:
            others = axes[:-2] if self.turned else axes[:-1]
            self.outer.append(axes.pop(axes.index(min(others))))
        self.axes = [(1, 0, 0)] * (_AXES - len(axes)) + axes

    @property
    def fits(self) -> bool:
        """Whether kernels can address it, in few launches."""
        launches = 1
        for extent, *_ in self.outer:
            launches *= extent
        small = all(0 < n <= _MOST and abs(a) < 2**31 and abs(b) < 2**31 for n, a, b in self.axes)
        return small and launches <= _MOST_LAUNCHES and self._squares() < 2**31

    def kernel(self) -> Kernel:
        """The kernel that makes it."""
        from kbuild.primitives import catalogue

        return catalogue.copy_kernels(self.word)[self.turned]

    def dim(self, kernel: Kernel) -> Any:
        """Over what it is launched."""
        if self.turned:
            return resolve.grid_of(kernel, None, self._squares(), None, None)
        return tuple([n for n, _, _ in self.axes])

    def _squares(self) -> int:
        if not self.turned:
            return 0
        first, second, down, across = [n for n, _, _ in self.axes]
        return first * second * -(-down // SIDE) * -(-across // SIDE)

    def offsets(self) -> list[tuple[int, ...]]:
        """Where each launch begins, in bytes on both sides."""
        return views.offsets(self.outer) if self.outer else [(0, 0)]

    def operand(self, offset: int, side: int, device: Any) -> Any:
        """One side as an array of words: 0 the target, 1 the source. Whoever asked for the copy keeps its memory."""
        from kbuild.primitives import catalogue

        dtype = catalogue.word_of(self.word)
        element = abi.SCALARS["uint%d" % (8 * self.word)]
        shape, strides = tuple([axis[0] for axis in self.axes]), tuple([axis[1 + side] for axis in self.axes])
        return wrap(View(self.ptrs[side] + offset, shape, strides, element), dtype, device, None)


def _forward(ptrs: list[int], axes: Sequence[views.Axis]) -> tuple[list[int], list[views.Axis]]:
    """The same elements in an order in which no axis of the target goes backwards; without axes of one element."""
    found: list[views.Axis] = []
    for extent, a, b in axes:
        if a < 0 and extent > 1:
            ptrs = [ptrs[0] + (extent - 1) * a, ptrs[1] + (extent - 1) * b]
            a, b = -a, -b
        if extent != 1:
            found.append((extent, a, b))
    return ptrs, found


def _word(ptrs: Sequence[int], axes: Sequence[views.Axis]) -> int:
    """Bytes of the largest word of which the run of bytes, all strides and both addresses are multiples."""
    extent, *steps = axes[-1] if axes else (1, 1, 1)
    run = extent if steps == [1, 1] else 1
    everything = run | ptrs[0] | ptrs[1]
    for _, a, b in axes[:-1] if run > 1 else ():
        everything |= a | b
    if run == 1:
        return 1
    return min(everything & -everything, 8)


def _in_words(axes: list[views.Axis], word: int) -> list[views.Axis]:
    """Axes of bytes as axes of words."""
    if word == 1:
        return list(axes)
    extent = axes[-1][0] // word
    return [*axes[:-1], (extent, word, word)] if extent > 1 else axes[:-1]


def _arrange(axes: list[views.Axis]) -> bool:
    """Puts the axes in the order that suits memory best; whether squares of the last two are to be turned."""
    if len(axes) < 2:
        return False
    moving = [axis for axis in axes if axis[2]]
    _, step, other = axes[-1]
    if not moving or other == 0:
        return False
    fast = min(moving, key=lambda axis: abs(axis[2]))
    if abs(fast[2]) >= min(abs(other), _SECTOR):
        return False
    is_scattered = step >= _SECTOR  # writing gains nothing from any order
    if not is_scattered and min(fast[0], axes[-1][0]) < _LEAST:
        return False
    axes.remove(fast)
    axes.insert(len(axes) if is_scattered else len(axes) - 1, fast)
    return not is_scattered
