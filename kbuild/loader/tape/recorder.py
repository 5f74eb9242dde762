"""What a tape knows of a program's steps: the steps, whose gradients they carry, and what has to be copied in time."""

from __future__ import annotations

import sys

from .. import frameworks, ordering, providers
from ..array_class import array
from ..copying import stream_on
from ..errors import LaunchError
from ..memory.allocation import Memory
from . import arguments, overlap, steps
from .gradients import Root, is_differentiable
from .versions import Live, Saved, TapeMemory, Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .arguments import Leaf


class Asked:
    """A launch that is about to be made."""

    __slots__ = ("again", "args", "block_dim", "device", "dim", "kernel", "kind", "leaves", "max_blocks", "stream")

    def __init__(
        self, again: Any, kind: str, kernel: Any, dim: Any, args: Any, stream: Any, device: Any, block: Any, most: int
    ) -> None:
        self.again, self.kind, self.kernel = again, kind, kernel
        self.dim, self.args, self.stream, self.device, self.block_dim, self.max_blocks = (
            dim, args, stream, device, block, most,
        )  # fmt: skip
        self.leaves = arguments.leaves(kernel, arguments.names_of(kernel), args)

    @property
    def name(self) -> str:
        """The kernel's name."""
        return str(self.kernel.name)

    def run(self) -> None:
        """Makes it."""
        self.again(self.dim, self.args, self.stream, self.device, self.block_dim, self.max_blocks)

    def backward(self) -> Any:
        """What is known of its adjoint. Raises LaunchError."""
        if self.kind != "cuda":  # a bundle's kernel knows the code for GPUs
            live = getattr(self.kernel, "source", None) or self.kernel
            return providers.backward_of(self.kind, live, self.args)
        return getattr(self.kernel, "backward", None) or providers.backward_of(self.kind, self.kernel, self.args)

    def written(self) -> list[array]:
        """The arrays that it may write to: where nothing is known of it, all."""
        try:
            known = self.backward().written
        except LaunchError:
            return [leaf.data for leaf in self.leaves]
        return [leaf.data for leaf in self.leaves if leaf.path in known]


class Recorder:
    """See the module. One is in `uses.tapes` as long as a tape records, or has steps that a write could spoil."""

    def __init__(self) -> None:
        self.steps: list[steps.Step] = []
        self.memory = TapeMemory()
        self.arrays: dict[int, array] = {}  # that require a gradient and took part, by identity
        self.thread = 0  # at which it looks
        self.is_recording = False
        self.is_spent = False  # a backward pass is over: what is overwritten now is lost
        self._live = Live()
        self._roots = overlap.Ranges()
        self._known: set[int] = set()  # roots, by identity
        self._late: list[Version] = []  # saved, or lost, when recording was over

    @property
    def must_watch(self) -> bool:
        """Whether a write can spoil anything."""
        return self.is_recording or len(self._live) > 0

    # Gradients

    def root(self, one: array) -> Root | None:
        """The gradient of an array; None where it neither requires one nor depends on what does. Raises LaunchError."""
        low, high = overlap.span(one)
        own: Root | None = getattr(one, "_gradient", None)
        if own is not None:
            self.arrays.setdefault(id(one), one)
            if id(own) not in self._known:
                self._adopt(own, one)
            return own
        for known in self._roots.within(one.device, low, high):
            if known.low <= low and high <= known.high:
                return known  # type: ignore[no-any-return]
            raise LaunchError(
                "%r reaches beyond an array that requires a gradient, and requires none itself\n"
                "  help: set requires_grad on the array that both are views of, before the views are made" % one
            )
        return None

    def _adopt(self, own: Root, one: array) -> None:
        for known in self._roots.within(own.device, own.low, own.high):
            if known.is_hidden and not own.has_memory:
                own.within = known
            elif known.is_hidden and own.low <= known.low and known.high <= own.high:
                known.within, known.is_hidden = own, False
            elif known.is_hidden:
                raise LaunchError(
                    "%r was given a gradient after a tape had recorded what depends on others in it, and is a part\n"
                    "  help: give it before it is written inside `with tape:`, or to tape.backward(grads={…})" % one
                )
        self._note(own)

    def look_again(self) -> None:
        """Arrays may have been given gradients since they were recorded. Raises LaunchError."""
        for step in self.steps:
            for one in (*step.read, *step.written):
                self.root(one)

    def _note(self, root: Root) -> None:
        self._known.add(id(root))
        self._roots.add(root.device, root.low, root.high, root)

    def root_of_result(self, one: array) -> Root:
        """The gradient of an array that is about to depend on others: of its whole allocation, for views of all kinds,
        or of itself where another part has a gradient of its own. Raises LaunchError.
        """
        found = self.root(one)
        if found is not None:
            return found
        low, high = overlap.span(one)
        memory = one._owner
        made = Root(one.device, low, high, None)
        if isinstance(memory, Memory) and memory.ptr <= low and high <= memory.ptr + memory.size:
            parts = list(self._roots.within(one.device, memory.ptr, memory.ptr + memory.size))
            if not any(part.has_memory for part in parts):
                made = Root(one.device, memory.ptr, memory.ptr + memory.size, None)
                for part in parts:
                    part.within = made
        self._note(made)
        return made

    def carries(self, leaves: list[Leaf]) -> bool:
        """Whether one of these arrays has a gradient."""
        found = False
        for leaf in leaves:
            if leaf.is_differentiable:
                leaf.root = self.root(leaf.data)
                found = found or leaf.root is not None
        return found

    # Steps

    def launch(self, asked: Asked) -> None:
        """Makes a launch and notes it."""
        place, stream, handle = _where(asked)
        if asked.args.__class__ not in (list, tuple):
            asked.args = list(asked.args) if hasattr(asked.args, "__iter__") else asked.args
        kept = [arguments.kept(value) for value in asked.args]
        step = steps.Launch(asked.name, place, handle, kept, _again(asked, kept))
        after: dict[str, Leaf] = {}
        found = self.backward_of(asked) if self.carries(asked.leaves) else None
        if found is not None:
            arguments.with_types(asked.leaves, found.parameters)
            after = self._flow(step, asked, found)
            written = [leaf.data for leaf in asked.leaves if leaf.path in found.written]
        else:
            written = asked.written() if len(self._live) else []
        for one in written:
            self.overwrite(one, asked.name, stream)
        asked.run()
        for path, leaf in after.items():
            step.versions[path] = self._need(leaf, asked.name)
        self.steps.append(step)

    def backward_of(self, asked: Asked) -> Any:
        """What is known of the adjoint of a launch that gradients flow through. Raises LaunchError."""
        return asked.backward()

    def _flow(self, step: steps.Launch, asked: Asked, found: Any) -> dict[str, Leaf]:
        """Gradients flow through a launch; the arrays that it wants as they will be."""
        name, leaves = asked.name, {leaf.path: leaf for leaf in asked.leaves}
        _check_apart(name, asked.leaves, found.written)
        _check_tensors(name, asked.leaves)
        read = [leaf.data for leaf in asked.leaves if leaf.path in found.read and leaf.is_differentiable]
        results = [leaf for leaf in asked.leaves if leaf.path in found.written and leaf.is_differentiable]
        for leaf in results:
            if leaf.root is None:
                leaf.root = self.root_of_result(leaf.data)
        for leaf in asked.leaves:  # a result may be a part of what else is looked at
            if leaf.root is None and leaf.is_differentiable:
                leaf.root = self.root(leaf.data)
        versions = {
            path: self._need(leaf, name)
            for path, leaf in leaves.items()
            if path in found.before or (len(leaf.arrays) > 1 and path not in found.after)
        }
        how = asked.dim, asked.block_dim, asked.max_blocks
        step.seen = {path: leaf.value for path, leaf in leaves.items() if leaf.given is not leaf.value}
        step.flow(found, how, {leaf.path: leaf.root for leaf in asked.leaves if leaf.root is not None}, versions)
        step.read, step.written = read, [leaf.data for leaf in results]
        return {path: leaf for path, leaf in leaves.items() if path in found.after and path not in found.before}

    def _need(self, leaf: Leaf, name: str) -> list[Version]:
        return [self._live.need(one, "%s, parameter %s" % (name, leaf.path)) for one in leaf.arrays]

    def overwrite(self, one: array, by: str, stream: Any) -> None:
        """An array is about to be written to on a stream: what is still needed of it is copied."""
        for version in self._live.meeting(one):
            self._live.drop(version)
            if self.is_spent:
                version.lose(by)
            else:
                version.save(by, stream)
                self.memory.copies.append(Saved(version.original.nbytes, version.needed_by, by))
            if self.is_recording:
                handle = stream_on(one.device, stream) if one.device.kind == "cuda" else 0
                self.steps.append(steps.Snapshot(version, one.device, handle, stream))
            else:
                self._late.append(version)

    def fill(self, target: array, stream: Any, again: Callable[[], None], name: str) -> None:
        """Values that depend on nothing are written."""
        root = self.root(target) if is_differentiable(target._type.element) else None
        self.overwrite(target, name, stream)
        again()
        self.steps.append(steps.Fill(name, target, root, _handle(target.device, stream), again))

    def copy(self, target: array, source: array, stream: Any, again: Callable[[], None]) -> None:
        """An array is copied into another one."""
        is_number = is_differentiable(target._type.element)
        from_root = self.root(source) if is_number else None
        to_root = None
        if is_number:
            to_root = self.root(target) if from_root is None else self.root_of_result(target)
        self.overwrite(target, "kb.copy", stream)
        again()
        handle = _handle(target.device, stream)
        if to_root is None:
            self.steps.append(steps.Fill("kb.copy", target, None, handle, again))
        else:
            self.steps.append(steps.Copy(target, source, to_root, from_root, handle, again))

    def function(
        self, name: str, reads: list[array], writes: list[array], stream: Any, again: Callable[[], Any], back: Any
    ) -> Any:
        """Something is done that is no single launch; without `back` no gradient can pass through it."""
        for one in writes:
            self.overwrite(one, name, stream)
        numbers = [one for one in writes if is_differentiable(one._type.element)]
        is_carried = any(is_differentiable(one._type.element) and self.root(one) is not None for one in reads)
        found = [(one, self.root_of_result(one) if is_carried else self.root(one)) for one in numbers]
        result = again()
        if isinstance(result, array) and not any(result is one for one in writes):  # which it has made
            writes = [*writes, result]
            if is_differentiable(result._type.element):
                found.append((result, self.root_of_result(result) if is_carried else self.root(result)))
        place = (writes or reads)[0].device if writes or reads else None
        handle = _handle(place, stream)
        if back is None:
            roots = [(one, root) for one, root in found if root is not None]
            self.steps.append(steps.Opaque(name, place, handle, roots, again))
        else:
            sources = [(one, self.root(one) if is_differentiable(one._type.element) else None) for one in reads]
            self.steps.append(steps.Function(name, place, handle, sources, found, again, back))
        return result

    # Before and after a backward pass

    def written_paths(self) -> list[str]:
        """The array parameters that recorded launches write, where gradients flow through them."""
        launches = [step for step in self.steps if isinstance(step, steps.Launch) and step.is_active]
        return sorted({path for step in launches for path in step.backward_of.written})

    def retained(self) -> list[Root]:
        """The gradients that shall stay although a step uses them up."""
        return [root for root in self._roots if root.is_retained]

    def hidden(self) -> list[Root]:
        """The gradients that no array of the program's shows."""
        return [root for root in self._roots if root.is_hidden]

    def begin_again(self) -> None:
        """Before the steps are done again: what was changed since they were recorded is how they begin now."""
        for version in self._late:
            version.revive()
            self._live.add(version)
        self._late.clear()
        self.is_spent = False


def _again(asked: Asked, kept: list[Any]) -> Callable[[], None]:
    again, rest = asked.again, (asked.stream, asked.device, asked.block_dim, asked.max_blocks)
    dim = asked.dim
    return lambda: again(dim, kept, *rest)


def _handle(place: Any, stream: Any) -> int:
    return stream_on(place, stream) if place is not None and place.kind == "cuda" else 0


def _where(asked: Asked) -> tuple[Any, Any, int]:
    """The device of a launch, the stream that it runs on, and its handle."""
    from .. import context

    device = asked.device
    if device is None and asked.leaves:
        device = asked.leaves[0].data.device
    place = context.get_device(device)
    stream = asked.stream
    if place.kind != "cuda":
        return place, None, 0
    if stream is None and arguments.tensors(asked.leaves):
        stream = frameworks.current_stream(place.ordinal) or None
    return place, stream, ordering.stream_handle(stream) if stream is not None else stream_on(place, None)


def _check_apart(name: str, leaves: list[Leaf], written: Any) -> None:
    """Two parameters whose memory overlaps, one of them written, are refused: the adjoint takes them for two arrays."""
    for number, leaf in enumerate(leaves):
        for other in leaves[:number]:
            if (leaf.path in written or other.path in written) and _share(leaf, other):
                which = leaf.path if leaf.path in written else other.path
                raise LaunchError(
                    "%s: parameters %s and %s share memory, and %s is written: such a launch has no gradient\n"
                    "  help: give one of them a copy (kb.clone), or write the kernel with one parameter for both"
                    % (name, other.path, leaf.path, which)
                )


def _share(leaf: Leaf, other: Leaf) -> bool:
    if leaf.data.device is not other.data.device:
        return False
    are_plain = len(leaf.arrays) == len(other.arrays) == 1
    if are_plain and (leaf.span[0] >= other.span[1] or other.span[0] >= leaf.span[1]):
        return False
    return any(overlap.meet(one, two) for one in leaf.arrays for two in other.arrays)


def _check_tensors(name: str, leaves: list[Leaf]) -> None:
    if "torch" not in sys.modules:
        return
    for leaf in leaves:
        for tensor in arguments.tensors([leaf]):
            is_known = leaf.data.requires_grad and getattr(tensor, "grad_fn", None) is None
            if leaf.is_differentiable and tensor.requires_grad and not is_known and _torch_records():
                raise LaunchError(
                    "%s: parameter %s: PyTorch's own graph records this tensor, and the tape would, too\n"
                    "  help: hand over tensor.detach(), or launch in a kb.torch_function" % (name, leaf.path)
                )


def _torch_records() -> bool:
    """Whether PyTorch records what is done to its tensors now."""
    return bool(sys.modules["torch"].is_grad_enabled())
