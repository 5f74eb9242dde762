"""`kb.Tape`: records what is launched and copied, and takes it back.

tape = kb.Tape()
with tape:
    kb.launch(double, dim=n, inputs=[x], outputs=[y])
tape.backward(loss)
x.grad
"""

from __future__ import annotations

from .. import context, copying, current, interface, ordering, recording, uses, waits
from ..array_class import array
from ..errors import LaunchError, describe
from ..indexed import indexedarray
from . import steps, watching, workspace
from .gradients import Root, is_differentiable
from .overlap import meet, span
from .recorder import Recorder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .versions import TapeMemory

__all__ = ("Tape",)


class Tape:
    """`with tape:` records what this thread launches and copies; `backward` carries gradients back through it.

    `workspace_limit` is how many bytes an adjoint kernel may take for what it saves: a launch that wants more goes in
    pieces. Entered again, a tape goes on recording; an exception inside makes it forget what it has recorded.
    """

    recorder = Recorder

    def __init__(self, workspace_limit: int = workspace.BUDGET) -> None:
        if not isinstance(workspace_limit, int) or workspace_limit < 1:
            raise TypeError("kb.Tape: workspace_limit wants a number of bytes, not %s" % describe(workspace_limit))
        self.workspace_limit = workspace_limit
        self._recorder = self.recorder()

    def __repr__(self) -> str:
        return "<kb.Tape of %d steps>" % len(self._recorder.steps)

    def __enter__(self) -> Tape:
        if watching.own.recording is not None:
            raise LaunchError(
                "kb.Tape: this thread is recording already, and tapes do not nest\n"
                "  help: end the other `with tape:` first, or let that tape record it all"
            )
        watching.begin(self._recorder)
        self._recorder.is_recording, self._recorder.is_spent = True, False
        watching.own.recording = self._recorder
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        watching.own.recording, self._recorder.is_recording = None, False
        if kind is not None:
            self._forget()
        elif not self._recorder.must_watch:
            watching.end(self._recorder)

    def __del__(self, tapes: Any = uses.tapes) -> None:
        recorder = self.__dict__.get("_recorder")
        if recorder is not None and recorder in tapes:
            watching.end(recorder)

    @property
    def memory(self) -> TapeMemory:
        """What the tape keeps beside the program's arrays: copies of what was overwritten, with who needs them."""
        return self._recorder.memory

    @property
    def gradients(self) -> dict[array, array]:
        """The gradient of each array that requires one and took part."""
        return {one: one.grad for one in self._recorder.arrays.values() if one.requires_grad}

    def backward(self, loss: Any = None, grads: Any = None) -> None:
        """Carries gradients back through what was recorded, and adds them to the arrays' `grad`.

        They begin with one at `loss`, an array of a single number, and with the arrays that `grads` gives for others;
        with neither, with ones at every array that was written and not read by a later step. What the adjoint of an
        array was that a step overwrites is used up: afterwards `array.grad` is with respect to what the array held when
        the recording began. A second call adds up; see `zero`. Runs on the stream that is meant, after what was
        recorded. Raises LaunchError.
        """
        self._check_idle("backward")
        recorder = self._recorder
        if recording.is_on() and not any(step.is_active for step in recorder.steps):
            return  # nothing was launched: `python -m kbuild record` without a GPU
        with watching.Aside(), _Order(recorder.steps):
            recorder.look_again()
            for root in recorder.hidden():
                _clear(root)
            self._seed(loss, grads)
            retained = _Retained(recorder.retained())
            for step in reversed(recorder.steps):
                if step.is_active:
                    retained.look(step)
                    step.backward(self.workspace_limit, recorder.memory)
            retained.put_back()
        recorder.is_spent = True

    def _check_idle(self, what: str) -> None:
        if watching.own.recording is not None:
            raise LaunchError(
                "tape.%s: a tape is recording in this thread, and cannot record this: there are no gradients of "
                "gradients\n  help: call it after the `with tape:` block" % what
            )

    def _seed(self, loss: Any, grads: Any) -> None:
        if loss is None and grads is None:
            for one, root in self._results():
                root.of(one).fill_(1)
            return
        if loss is not None:
            scalar = interface.scalar_of(loss._type.element) if isinstance(loss, array) else None
            if scalar is None or loss.size != 1 or loss._type.element != scalar or scalar.kind != "float":
                raise LaunchError(
                    "tape.backward: loss wants an array of one floating-point number, not %s\n"
                    "  help: give other arrays their gradients by grads={array: gradient}" % describe(loss)
                )
            self._root("loss", loss).of(loss).fill_(1)
        if grads is not None:
            if not hasattr(grads, "items"):
                raise LaunchError("tape.backward: grads wants {array: gradient}, not %s" % describe(grads))
            for one, given in grads.items():
                if not isinstance(one, array) or not is_differentiable(one._type.element):
                    raise LaunchError(
                        "tape.backward: grads wants arrays of floating-point numbers, not %s" % describe(one)
                    )
                self._root("grads", one).of(one).assign(given)

    def _root(self, what: str, one: array) -> Root:
        root = self._recorder.root(one)
        if root is None:
            raise LaunchError(
                "tape.backward: %s: %r depends on nothing here that requires a gradient\n"
                "  help: set requires_grad on the arrays to differentiate by, before they are used inside `with tape:`"
                % (what, one)
            )
        return root

    def _results(self) -> list[tuple[array, Root]]:
        """The arrays that were written and not read by a later step."""
        last: list[tuple[array, Root]] = []
        for step in self._recorder.steps:
            if step.is_active:
                touched = [*step.read, *step.written]
                last = [
                    (one, root)
                    for one, root in last
                    if not any(one.device == other.device and meet(one, other) for other in touched)
                ]
                found = [(one, self._recorder.root(one)) for one in step.written]
                last += [(one, root) for one, root in found if root is not None]
        return last

    def zero(self) -> None:
        """Makes the gradients of all arrays that took part zero."""
        with watching.Aside():
            for one in self._recorder.arrays.values():
                if one.requires_grad and one._gradient.has_memory:
                    one.grad.zero_()
            for root in self._recorder.hidden():
                _clear(root)

    def reset(self) -> None:
        """Makes all gradients zero and forgets what was recorded."""
        self.zero()
        self._check_idle("reset")
        self._forget()

    def _forget(self) -> None:
        watching.end(self._recorder)
        self._recorder = self.recorder()

    def replay(self) -> None:
        """Does everything again that was recorded, with what the arrays hold now. Gradients stay as they are."""
        self._check_idle("replay")
        with watching.Aside():
            self._recorder.begin_again()
            watching.begin(self._recorder)
            for step in self._recorder.steps:
                step.forward()

    def record_func(self, backward: Callable[[], object], arrays: Any) -> None:
        """Notes a step of the program's own: `backward()` is called when its turn comes, and nothing is recorded then.

        It takes what stands in the `grad` of what the step wrote, and adds to the `grad` of what it read. `arrays` are
        those whose gradients it uses; each has to require one. Raises LaunchError.
        """
        if watching.own.recording is not self._recorder:
            raise LaunchError("tape.record_func: the tape is not recording\n  help: call it inside `with tape:`")
        if not callable(backward):
            raise LaunchError("tape.record_func wants a function, not %s" % describe(backward))
        given = list(arrays)
        for one in given:
            data = one.data if isinstance(one, indexedarray) else one
            if not isinstance(data, array) or not data.requires_grad:
                raise LaunchError(
                    "tape.record_func: arrays wants arrays that require a gradient, not %s\n"
                    "  help: set requires_grad on them" % describe(one)
                )
            self._recorder.root(data)
        self._recorder.steps.append(steps.Custom(backward, given))


def _clear(root: Root) -> None:
    whole = root.whole()
    if whole is not None:
        whole.zero_()


class _Retained:
    """Gradients that shall stay as they are when the last step that writes their arrays is taken back."""

    def __init__(self, roots: list[Root]) -> None:
        self.left = roots
        self.kept: list[tuple[Root, array]] = []

    def look(self, step: steps.Step) -> None:
        """A step is about to be taken back."""
        for root in list(self.left):
            for one in step.written:
                low, high = span(one)
                if one.device == root.device and low < root.high and high > root.low:
                    self.left.remove(root)
                    whole = root.whole()
                    if whole is not None:
                        self.kept.append((root, copying.clone(whole)))
                    break

    def put_back(self) -> None:
        """All steps are taken back."""
        for root, copy in self.kept:
            whole = root.whole()
            if whole is not None:
                copying.copy(whole, copy)


class _Order:
    """The streams that the steps ran on come first, and go on after what the backward pass puts on the stream that is
    meant. With tensors of PyTorch's that is its current stream.
    """

    def __init__(self, recorded: list[steps.Step]) -> None:
        self.handles: dict[Any, set[int]] = {}
        for step in recorded:
            if step.place is not None and step.place.kind == "cuda":
                self.handles.setdefault(step.place, set()).add(step.handle)

    def __enter__(self) -> None:
        for place, handles in self.handles.items():
            for handle in sorted(handles):
                _wait(place, handle, current.handle(place))

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            for place, handles in self.handles.items():
                for handle in sorted(handles):
                    _wait(place, current.handle(place), handle)


def _wait(place: context.Device, producer: int, consumer: int) -> None:
    """One stream waits for another; where one of the two alone is being captured, that is impossible."""
    if max(producer, 1) == max(consumer, 1):
        return
    with place.current():
        if ordering.is_capturing(producer) != ordering.is_capturing(consumer):
            return
    waits.wait_for_stream(place, producer, consumer)
