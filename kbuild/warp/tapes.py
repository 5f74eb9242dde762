"""`wp.Tape` over `kb.Tape`, with Warp's arguments and errors."""

from __future__ import annotations

import sys
from typing import Any, Dict

from kbuild.loader.array import array
from kbuild.loader.errors import LaunchError
from kbuild.loader.tape import tape, watching
from kbuild.loader.tape.recorder import Recorder

from .absent import refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kbuild.loader.tape.recorder import Asked


class TapeError(LaunchError, RuntimeError):
    """What Warp raises as a RuntimeError."""


class _Recorder(Recorder):
    """Kernels that were declared with `enable_backward=False` are passed over, with a warning, as Warp does it."""

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


class _Gradients(Dict[Any, Any]):
    """Of a struct with arrays, the struct of their gradients is made when it is asked for."""

    def __missing__(self, key: Any) -> Any:
        if not hasattr(key.__class__, "_kb_struct_"):
            raise KeyError(key)
        made = key.__class__()
        for name, value in vars(key).items():
            if isinstance(value, array):
                value = value.grad
            elif hasattr(value.__class__, "_kb_struct_"):
                value = self[value]
            object.__setattr__(made, name, value)
        return made


class Tape(tape.Tape):
    """`with wp.Tape() as tape:` records; `tape.backward(loss)` carries gradients back. See `kb.Tape`.

    Gradients flow through arrays that require none, too: what Warp needs `requires_grad=True` for on the way.
    """

    recorder = _Recorder

    def __init__(self) -> None:
        super().__init__()
        self.scopes: list[Any] = []
        self._launches: list[Any] = []
        self._listed = 0

    @property
    def launches(self) -> list[Any]:
        """What was recorded, as kbuild keeps it: as true as Warp's list. Changing it changes nothing."""
        steps = self._recorder.steps
        self._launches += steps[self._listed :]
        self._listed = len(steps)
        return self._launches

    @property
    def gradients(self) -> dict[Any, Any]:
        """The gradients of arrays, and of structs with arrays in them, by what they belong to."""
        return _Gradients(super().gradients)

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
        super().backward(loss, given)

    def record_func(self, backward: Callable[[], object], arrays: Any) -> None:
        """Notes a function that is called when its turn comes in the backward pass. Raises RuntimeError."""
        for one in arrays:
            if not isinstance(one, array) or not one.requires_grad:
                raise TapeError(
                    "Array %s is not of type wp.array or is missing a gradient array. Set array parameter "
                    "requires_grad=True during instantiation." % (one,)
                )
        super().record_func(backward, arrays)

    def record_scope_begin(self, scope_name: str, metadata: Any = None) -> None:
        """Scopes are for pictures of the tape, which are not made here; `scopes` has them."""
        self.scopes.append((len(self.launches), scope_name, metadata or {}))

    def record_scope_end(self, remove_scope_if_empty: bool = True) -> None:
        """See `record_scope_begin`. Raises RuntimeError where no scope has begun."""
        if sum([1 if name is not None else -1 for _, name, _ in self.scopes]) < 1:
            raise TapeError("Warp: Error, ended tape scope, but scope not present")
        place = len(self.launches)
        if remove_scope_if_empty and self.scopes[-1][:1] == (place,) and self.scopes[-1][1] is not None:
            self.scopes.pop()
        else:
            self.scopes.append((place, None, None))

    def reset(self) -> None:
        """Forgets what was recorded, and makes the gradients zero."""
        super().reset()
        self.scopes, self._launches, self._listed = [], [], 0

    def record_launch(self, *_: Any, **__: Any) -> None:
        """Refused: a launch inside `with tape:` is recorded."""
        raise refusal("Tape.record_launch", "gradients")

    def visualize(self, *_: Any, **__: Any) -> None:
        """Refused."""
        raise refusal("Tape.visualize", "gradients")
