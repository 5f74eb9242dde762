"""`wp.Tape` over `kb.Tape`, with Warp's arguments and errors."""

from __future__ import annotations

import sys

from kbuild.loader.array import array
from kbuild.loader.errors import LaunchError
from kbuild.loader.tape import tape, watching
from kbuild.loader.tape.recorder import Recorder

from . import overwriting
from .absent import refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from kbuild.loader.tape.arguments import Leaf
    from kbuild.loader.tape.recorder import Asked
    from kbuild.loader.tape.steps import Step

    from .pictures import Drawn, Scope


class TapeError(LaunchError, RuntimeError):
    """What Warp raises as a RuntimeError."""


class _Recorder(Recorder):
    """Kernels that were declared with `enable_backward=False` are passed over, with a warning, as Warp does it."""

    def __init__(self) -> None:
        super().__init__()
        self.structs: dict[int, Any] = {}  # that launches were given, by identity
        self.leaves: dict[int, list[Leaf]] = {}  # the arrays of launches, by the step's identity

    def launch(self, asked: Asked) -> None:
        overwriting.of_launch(self, asked)
        super().launch(asked)
        self.leaves[id(self.steps[-1])] = asked.leaves
        self.structs.update({id(one): one for one in asked.args if hasattr(one.__class__, "_kb_struct_")})

    def copy(self, target: array, source: array, stream: Any, again: Callable[[], None]) -> None:
        overwriting.of_copy(self, target)
        super().copy(target, source, stream, again)

    def backward_of(self, asked: Asked) -> Any:
        try:
            return super().backward_of(asked)
        except LaunchError:
            if not _is_without(asked.kernel):
                raise
        text = "kbuild: gradients may be incomplete: %s, declared with enable_backward=False, is launched on a tape\n"
        sys.stderr.write(text % asked.name)
        return None


def _is_without(kernel: Any) -> bool:
    """A kernel that was built without its gradient, since that was asked for."""
    options = getattr(kernel, "options", None)
    return getattr(kernel, "backward", 0) is None or (options or {}).get("enable_backward") is False


class Tape(tape.Tape):
    """`with wp.Tape() as tape:` records; `tape.backward(loss)` carries gradients back. See `kb.Tape`.

    Gradients flow through arrays that require none, too: what Warp needs `requires_grad=True` for on the way.
    """

    recorder = _Recorder
    _recorder: _Recorder

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.scopes: list[Scope] = []
        self._past: dict[Any, Any] = {}

    def __enter__(self) -> Tape:
        if watching.own.recording is not None:
            raise TapeError("Warp: Error, entering a tape while one is already active")
        super().__enter__()
        return self

    def backward(self, loss: Any = None, grads: Any = None) -> None:
        """Carries gradients back from `loss`, an array of one number that requires a gradient, or from `grads`.

        Raises RuntimeError.
        """
        if isinstance(loss, array):
            if loss.size > 1 or hasattr(loss._type.element, "element"):
                raise TapeError("Can only return gradients for scalar loss functions.")
            if not loss.requires_grad:
                raise TapeError("Scalar loss arrays should have requires_grad=True set before calling Tape.backward()")
        if loss is None and not grads:
            grads = {}  # from what stands in the gradients
        given = {}
        for one, gradient in (grads or {}).items():
            if isinstance(one, array) and one.grad is None and self._recorder.root(one) is None:
                one.grad = gradient
            given[one] = gradient
        recording = watching.own.recording
        if recording is not self._recorder:
            super().backward(loss, given)
            return
        watching.own.recording = None  # inside `with tape:` it takes back what is recorded so far
        try:
            super().backward(loss, given)
        finally:
            watching.own.recording, recording.is_spent = recording, False

    def record_func(self, backward: Callable[[], object], arrays: Any) -> None:
        """Notes a function that is called when its turn comes in the backward pass. Raises RuntimeError."""
        for one in arrays:
            if not isinstance(one, array) or not one.requires_grad:
                raise TapeError(
                    "Array %s is not of type wp.array or is missing a gradient array. Set array parameter "
                    "requires_grad=True during instantiation." % (one,)
                )
        super().record_func(backward, arrays)

    @property
    def gradients(self) -> dict[Any, Any]:
        """The gradients of the arrays that require one and took part, and of structs with such arrays, as structs.

        Those of before a `reset` are there, too, as in Warp.
        """
        structs = {one: _gradients_of(one) for one in self._recorder.structs.values()}
        return {**self._past, **super().gradients, **structs}

    def reset(self) -> None:
        """Makes all gradients zero and forgets what was recorded, and scopes."""
        self._past = self.gradients
        super().reset()
        self.scopes.clear()

    @property
    def launches(self) -> list[Step]:
        """What was recorded: kbuild's steps."""
        return self._recorder.steps

    def record_scope_begin(self, scope_name: str, metadata: Any = None) -> None:
        """What is recorded until `record_scope_end` is framed in the picture of the tape, and has this name."""
        self.scopes.append((len(self.launches), scope_name, metadata or {}))

    def record_scope_end(self, remove_scope_if_empty: bool = True) -> None:
        """Ends the scope that was begun last. Raises RuntimeError."""
        if sum([1 if name is not None else -1 for _, name, _ in self.scopes]) < 1:
            raise TapeError("ended tape scope, but scope not present")
        last, name, _ = self.scopes[-1]
        if remove_scope_if_empty and name is not None and last == len(self.launches):
            self.scopes.pop()
        else:
            self.scopes.append((len(self.launches), None, None))

    def record_launch(self, *_: Any, **__: Any) -> None:
        """Refused: a launch inside `with tape:` is recorded."""
        raise refusal("Tape.record_launch", "gradients")

    def visualize(
        self,
        filename: str | None = None,
        simplify_graph: bool = True,
        hide_readonly_arrays: bool = False,
        array_labels: dict[Any, str] | None = None,
        choose_longest_node_name: bool = True,
        ignore_graph_scopes: bool = False,
        track_inputs: Any = None,
        track_outputs: Any = None,
        graph_direction: str = "LR",
    ) -> str:
        """What was recorded as a picture, in GraphViz's language; it is written into a file that is named.

        Arrays are called what `array_labels` says, else by a parameter's name.
        """
        from . import pictures

        scopes = [] if ignore_graph_scopes else self.scopes
        drawn, labels = self._drawn(), array_labels or {}
        options = simplify_graph, labels, choose_longest_node_name, hide_readonly_arrays, graph_direction
        text = pictures.dot(drawn, scopes, *options)
        if filename is not None:
            with open(filename, "w", encoding="utf-8") as out:
                out.write(text)
        return text

    def _drawn(self) -> list[Drawn | None]:
        from .pictures import Drawn

        made: list[Drawn | None] = []
        for step in self.launches:
            leaves = self._recorder.leaves.get(id(step))
            if leaves is None:
                reads, writes = [("", one) for one in step.read], [("", one) for one in step.written]
            else:
                known = getattr(step, "backward_of", None)
                written = frozenset() if known is None else known.written
                read = {leaf.path for leaf in leaves} - written if known is None else known.read
                reads = [(leaf.path, leaf.data) for leaf in leaves if leaf.path in read]
                writes = [(leaf.path, leaf.data) for leaf in leaves if leaf.path in written]
            made.append(Drawn(step.name, reads, writes) if reads or writes else None)
        return made


def _gradients_of(struct: Any) -> Any:
    """A struct with the gradients of the arrays in another one."""
    made = struct.__class__()
    for name, value in vars(struct).items():
        if hasattr(value.__class__, "_kb_struct_"):
            setattr(made, name, _gradients_of(value))
        elif isinstance(value, array) and value.requires_grad:
            setattr(made, name, value.grad)
    return made
