"""What a tape notes: each step can be done again (`forward`), and taken back (`backward`: adjoints of what it wrote
become adjoints of what it read).
"""

from __future__ import annotations

from .. import copying, interface
from ..array import zeros
from ..array_class import array, put_gradient, wrap
from ..errors import LaunchError
from ..indexed import assembled, indexedarray
from . import adding, arguments, overlap
from .workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Optional, Tuple

    from .gradients import Root
    from .versions import TapeMemory, Version

    View = interface.View
    Side = Tuple[array, Optional[Root]]


class Step:
    """`read`, `written`: arrays of floating-point numbers that gradients flow from and to."""

    __slots__ = ("handle", "name", "place", "read", "written")

    is_active = False  # gradients flow through it

    def __init__(self, name: str, place: Any, handle: int) -> None:
        self.name, self.place, self.handle = name, place, handle  # of the stream that it ran on
        self.read: list[array] = []
        self.written: list[array] = []

    def forward(self) -> None:
        """Does it again."""

    def backward(self, budget: int, memory: TapeMemory) -> None:
        """Takes it back."""


class Snapshot(Step):
    """The copy that was made of a version, before the next step has overwritten it."""

    __slots__ = ("stream", "version")

    def __init__(self, version: Version, place: Any, handle: int, stream: Any) -> None:
        super().__init__("a copy of the tape's", place, handle)
        self.version, self.stream = version, stream

    def forward(self) -> None:
        self.version.save_again(self.stream)


class Launch(Step):
    """A launch of a kernel; `again` makes it."""

    __slots__ = (
        "again", "args", "backward_of", "block_dim", "dim", "is_active", "max_blocks", "roots", "seen", "versions",
    )  # fmt: skip

    seen: dict[str, array]  # other libraries' arrays as ours, by path

    def __init__(self, name: str, place: Any, handle: int, args: list[Any], again: Callable[[], None]) -> None:
        super().__init__(name, place, handle)
        self.args, self.again = args, again
        self.is_active = False

    def flow(self, found: Any, asked: Any, roots: dict[str, Root], versions: dict[str, Any]) -> None:
        """Gradients flow through it, by an adjoint kernel."""
        self.is_active = True
        self.backward_of, self.roots, self.versions = found, roots, versions
        self.dim, self.block_dim, self.max_blocks = asked

    def forward(self) -> None:
        self.again()

    def backward(self, budget: int, memory: TapeMemory) -> None:
        found = self.backward_of
        scratch: list[tuple[array, array]] = []  # copies that the adjoint kernel writes to, and of what
        primal = arguments.replaced(found.parameters, self.args, lambda path, one: self._before(path, one, scratch))
        apart = Apart(found.owned)
        adjoints = arguments.adjoints(
            found.parameters, self.args, lambda path, one: apart.put(path, self._adjoint(path, one))
        )
        work = Workspace(found, self.dim, self.place, self.block_dim, self.max_blocks, budget)
        work.run([*primal, *adjoints], None, scratch)
        apart.join(self.name)
        memory.workspace = max(memory.workspace, work.bytes)

    def _before(self, path: str, given: Any, scratch: list[tuple[array, array]]) -> Any:
        """What stands for an array: what it held then, or a copy of that where the adjoint kernel writes to it."""
        known = self.versions.get(path)
        if known is None:
            return self.seen.get(path, given)
        arrays = [version.get() for version in known]
        if path in self.backward_of.scratch:
            held, arrays[0] = arrays[0], copying.clone(arrays[0], requires_grad=False)
            scratch.append((arrays[0], held))
        return seen_as(given, arrays)

    def _adjoint(self, path: str, given: Any) -> Any:
        root = self.roots.get(path)
        if root is None:
            return None
        if isinstance(given, indexedarray):
            known = self.versions.get(path)
            tables = given._arrays[1:] if known is None else [version.get() for version in known[1:]]
            return seen_as(given, [root.of(given.data), *tables])
        return root.of(self.seen.get(path, given))


class Apart:
    """The adjoints of one launch, none of which shares memory with one that is added to without atomic operations.

    Where arrays do share some, zeros stand for one of the adjoints, which are added to it after the launch.
    """

    def __init__(self, owned: frozenset[str]) -> None:
        self.owned = owned
        self.known: list[tuple[str, array]] = []
        self.sums: list[tuple[array, array]] = []

    def put(self, path: str, one: Any) -> Any:
        """The adjoint that the launch gets for an array; None has none."""
        if one is None:
            return None
        data: array = one.data if isinstance(one, indexedarray) else one
        repeats = any(extent > 1 and not stride for extent, stride in zip(data.shape, data.strides))
        is_shared = path in self.owned and repeats  # one number for several threads: `join` will say so
        if is_shared or any(self._must_part(path, data, other, known) for other, known in self.known):
            made = zeros(data.shape, data.dtype, data.device)
            self.sums.append((data, made))
            one = assembled(made, one.indices) if isinstance(one, indexedarray) else made
            data = made
        self.known.append((path, data))
        return one

    def _must_part(self, path: str, one: array, other_path: str, other: array) -> bool:
        return (path in self.owned or other_path in self.owned) and overlap.meet(one, other)

    def join(self, about: str) -> None:
        """Adds up what was parted. Raises LaunchError."""
        for to, made in self.sums:
            adding.add(to, made, "the gradient of %s" % about)


def seen_as(given: Any, arrays: list[array]) -> Any:
    """An array, or the index arrays over it, as the argument whose place it takes."""
    if not isinstance(given, indexedarray):
        return arrays[0]
    tables = iter(arrays[1:])
    return assembled(arrays[0], tuple([None if one is None else next(tables) for one in given.indices]))


class Fill(Step):
    """Values that depend on nothing were written: the adjoint of what was there before is zero."""

    __slots__ = ("again", "root", "target")

    is_active = True

    def __init__(self, name: str, target: array, root: Root | None, handle: int, again: Callable[[], None]) -> None:
        super().__init__(name, target.device, handle)
        self.target, self.root, self.again = target, root, again
        if root is not None:
            self.written = [target]

    def forward(self) -> None:
        self.again()

    def backward(self, budget: int, memory: TapeMemory) -> None:
        if self.root is not None and self.root.has_memory:
            self.root.of(self.target).zero_()


class Copy(Step):
    """An array was copied into another one, perhaps of another device."""

    __slots__ = ("again", "from_root", "source", "target", "to_root")

    is_active = True

    def __init__(
        self, target: array, source: array, to_root: Root, from_root: Root | None, handle: int, again: Any
    ) -> None:
        super().__init__("kb.copy", target.device, handle)
        self.target, self.source, self.again = target, source, again
        self.to_root, self.from_root = to_root, from_root
        self.written = [target]
        self.read = [source] if from_root is not None else []

    def forward(self) -> None:
        self.again()

    def backward(self, budget: int, memory: TapeMemory) -> None:
        if not self.to_root.has_memory:
            return
        ours = self.to_root.of(self.target)
        # A copy of its own, since the two may overlap.
        passed = None if self.from_root is None else copying.clone(ours, self.source.device, requires_grad=False)
        ours.zero_()
        if passed is not None and self.from_root is not None:
            adding.add(self.from_root.of(self.source), passed, "tape.backward: kb.copy")


class Opaque(Step):
    """What no gradient passes through; it raises where one would have to."""

    __slots__ = ("again", "roots")

    is_active = True

    def __init__(self, name: str, place: Any, handle: int, roots: list[tuple[array, Root]], again: Any) -> None:
        super().__init__(name, place, handle)
        self.roots, self.again = roots, again
        self.written = [one for one, _ in roots]

    def forward(self) -> None:
        self.again()

    def backward(self, budget: int, memory: TapeMemory) -> None:
        for one, root in self.roots:
            if root.has_memory and not adding.is_zero(root.of(one), self.name):
                raise LaunchError(
                    "tape.backward: %s has no derivative here, and a gradient reaches %r, which it has written\n"
                    "  help: write it as a kernel, give its gradient with tape.record_func, or put it into "
                    "`with kb.no_grad():`" % (self.name, one)
                )


class Function(Step):
    """A function over whole arrays; `back` takes it back, given the adjoints of what it read (None where there is none)
    and of what it wrote, which are zeroed then.
    """

    __slots__ = ("again", "back", "reads", "writes")

    is_active = True

    def __init__(
        self, name: str, place: Any, handle: int, reads: list[Side], writes: list[Side], again: Any, back: Any
    ) -> None:
        super().__init__(name, place, handle)
        self.reads, self.writes, self.again, self.back = reads, writes, again, back
        self.read = [one for one, root in reads if root is not None]
        self.written = [one for one, root in writes if root is not None]

    def forward(self) -> None:
        self.again()

    def backward(self, budget: int, memory: TapeMemory) -> None:
        results = [(root, one) for one, root in self.writes if root is not None and root.has_memory]
        if not results:
            return
        adjoints = [root.of(one) for root, one in results]
        passed = [copying.clone(one, requires_grad=False) for one in adjoints]  # what was read may be what was written
        for one in adjoints:
            one.zero_()
        self.back([None if root is None else root.of(one) for one, root in self.reads], passed)


class Custom(Step):
    """A function of the program's that takes a step of the program's back."""

    __slots__ = ("function",)

    is_active = True

    def __init__(self, function: Callable[[], object], arrays: list[array]) -> None:
        super().__init__("a function of tape.record_func", None, 0)
        self.function, self.read = function, arrays

    def backward(self, budget: int, memory: TapeMemory) -> None:
        self.function()


def part(whole: array, view: View) -> array:
    """The array that a view of it is, with its gradient."""
    if view is whole._view:
        return whole
    made = wrap(view, whole.dtype, whole.device, whole._owner)
    if hasattr(whole, "_gradient"):
        put_gradient(made, whole._gradient)
    return made
