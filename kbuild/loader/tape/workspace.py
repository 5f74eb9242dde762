"""The memory in which an adjoint kernel keeps what its forward sweep overwrites: a column for each thread.

How many words a thread needs is known while building, or found by a first run that counts and changes nothing. In a
graph's capture nothing can be counted: a bound that is known serves there, or what an earlier run of the kernel took.
"""

from __future__ import annotations

import weakref

from .. import abi, copying, grids, ordering, recent, uses, waits
from ..array import empty, zeros
from ..array_class import array, wrap
from ..copying import stream_on
from ..errors import LaunchError
from ..values import class_of, int32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BUDGET = 256 << 20  # bytes of a launch, unless the tape says otherwise
_BLOCK = 128  # threads, where the launch names none

_largest: dict[tuple[str, str], int] = {}  # words of each kernel's threads by type, in the runs so far


class Workspace:
    """The launches of one adjoint kernel: `run()` makes them. `bytes` is what their workspace takes."""

    def __init__(
        self, backward: Any, dim: Any, place: Any, block_dim: int | None, max_blocks: int, budget: int
    ) -> None:
        self.backward, self.dim, self.place, self.budget = backward, dim, place, budget
        self.block_dim, self.max_blocks = block_dim, max_blocks
        self.saved: list[tuple[str, int | None]] = list(backward.saved.items())
        self.bytes = self.threads = 0

    def run(self, args: list[Any], stream: Any, scratch: Any = ()) -> None:
        """Launches with these arguments. `scratch` are arrays that counting changes, each with what it holds before.

        Raises LaunchError.
        """
        if len(self.backward.kernel.parameters) == len(args):  # what it saves, if anything, has room in registers
            self._launch(args, stream)
            return
        handle = stream_on(self.place, stream)
        is_captured = self.place.kind == "cuda" and _is_captured(self.place, handle)
        dim = grids.unsized(self.dim)
        if self.block_dim is None and not (dim.__class__ is grids.Grid and dim.block):
            self.block_dim = _BLOCK
        words = self._known() if is_captured else self._counted(args, stream, scratch)
        self._in_pieces(words)
        arrays = [self._columns(name, count) for (name, _), count in zip(self.saved, words)]
        is_certain = not is_captured and all(words is None for _, words in self.saved)  # having been counted
        told = None if is_certain else _told(self.backward.name, self.place, words, handle, is_captured)
        if told is not None and is_captured:
            uses.keep(handle, (told,))
        numbers = zeros(len(words), int32, self.place) if told is None else told.array
        self._launch([*args, *arrays, numbers, False], stream)
        if told is not None:
            told.watch(is_captured)

    def _launch(self, args: list[Any], stream: Any) -> None:
        self.backward.launch(self.dim, args, stream, self.place, self.block_dim, self.max_blocks)

    def _known(self) -> list[int]:
        """The words of each type without counting. Raises LaunchError."""
        known = [_largest.get((self.backward.name, name)) if words is None else words for name, words in self.saved]
        missing = [name for (name, _), words in zip(self.saved, known) if words is None]
        if missing:
            raise LaunchError(
                "%s: how much its adjoint saves (%s) is found by a run that counts, which a capture cannot do\n"
                "  help: run the backward pass once before the capture, with inputs that take as many steps; or "
                "declare a bound" % (self.backward.name, ", ".join(missing))
            )
        return [words or 0 for words in known]

    def _counted(self, args: list[Any], stream: Any, scratch: Any) -> list[int]:
        """The words that a thread takes at most, of each type."""
        if all(words is not None for _, words in self.saved):
            return [words or 0 for _, words in self.saved]
        numbers = zeros(len(self.saved), int32, self.place)
        self._launch([*args, *[None] * len(self.saved), numbers, True], stream)
        for changed, before in scratch:
            copying.copy(changed, before, stream=stream)
        if stream is not None:
            waits.wait_for_stream(self.place, stream_on(self.place, stream), stream_on(self.place, None))
        counted: list[int] = numbers.tolist()
        for (name, _), words in zip(self.saved, counted):
            key = self.backward.name, name
            _largest[key] = max(words, _largest.get(key, 0))
        return [found if words is None else words for (_, words), found in zip(self.saved, counted)]

    def _in_pieces(self, words: list[int]) -> None:
        """Lets so many blocks run at once as the budget has room for; `threads` are those of a driver launch."""
        block = self._block()
        threads = -(-_threads(self.dim, block) // block) * block
        each = sum([abi.SCALARS[name].size * count for (name, _), count in zip(self.saved, words)])
        if self.place.kind == "cuda":
            if self.max_blocks:
                threads = min(threads, self.max_blocks * block)
            if each * threads > self.budget:
                self.max_blocks = max(1, self.budget // (each * block))
                threads = min(threads, self.max_blocks * block)
        self.threads, self.bytes = threads, each * threads

    def _block(self) -> int:
        dim = grids.unsized(self.dim)
        if dim.__class__ is grids.Grid and dim.block is not None:
            x, y, z = dim.block
            return int(x * y * z)
        return self.block_dim or _BLOCK

    def _columns(self, name: str, words: int) -> array:
        return empty((max(words, 1), max(self.threads, 1)), class_of(abi.SCALARS[name]), self.place)


def _threads(dim: Any, block: int) -> int:
    dim = grids.unsized(dim)
    extents = dim.grid if dim.__class__ is grids.Grid else dim if hasattr(dim, "__iter__") else (dim,)
    count = 1
    for extent in extents:
        count *= int(extent)
    return count * block if dim.__class__ is grids.Grid else count


def _is_captured(place: Any, handle: int) -> bool:
    with place.current():
        return ordering.is_capturing(handle)


class _Told:
    """The numbers in which threads say that their columns were too short, where the host reads them without asking."""

    def __init__(self, name: str, place: Any, words: list[int], handle: int) -> None:
        self.name, self.place, self.words, self.handle = name, place, words, handle
        if place.kind == "cuda":
            self.array = zeros(len(words), int32, place, "mapped")
            self.host = self.array.host
        else:
            self.array = self.host = zeros(len(words), int32, place)
        self.host = wrap(self.host._view, self.host.dtype, self.host.device, self.host._owner)

    def watch(self, is_captured: bool) -> None:
        """Looks at the numbers now where the launch is over, else at each synchronisation: of a graph as long as it
        lives. Raises LaunchError.
        """
        if self.place.kind != "cuda":
            self.look()
            return
        if look_at_all not in recent.listeners:
            recent.listeners.append(look_at_all)
        if is_captured:
            _of_graphs.append(weakref.ref(self))
        elif self not in _waiting:
            _waiting.append(self)

    def look(self) -> None:
        """Raises LaunchError where a thread had too little room."""
        found: list[int] = self.host.tolist()
        if any(wanted > words for wanted, words in zip(found, self.words)):
            self.host.zero_()
            raise LaunchError(
                "%s: its adjoint had room for %s words a thread and needed %s: the gradients are incomplete\n"
                "  help: declare a larger bound, or run the backward pass outside of the capture first, with inputs "
                "that take as many steps" % (self.name, _listed(self.words), _listed(found))
            )


_tolds: dict[Any, _Told] = {}  # of launches outside of captures, each for all that are alike


def _told(name: str, place: Any, words: list[int], handle: int, is_captured: bool) -> _Told:
    if is_captured or place.kind != "cuda":
        return _Told(name, place, words, handle)
    key = name, place, tuple(words), handle
    if key not in _tolds:
        _tolds[key] = _Told(name, place, words, handle)
    return _tolds[key]


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))


_waiting: list[_Told] = []
_of_graphs: list[Any] = []  # weak references


def look_at_all(ordinal: int, handle: int | None) -> None:
    """A GPU, or a stream of it, has been waited for."""
    done = [one for one in _waiting if one.place.ordinal == ordinal and handle in (None, one.handle)]
    for one in done:
        _waiting.remove(one)
    for weak in list(_of_graphs):
        told = weak()
        if told is None:
            _of_graphs.remove(weak)
        elif told.place.ordinal == ordinal:
            done.append(told)
    for one in done:
        one.look()
