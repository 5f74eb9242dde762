"""`kb.torch_function`: a launch as a function of PyTorch's tensors that PyTorch differentiates. Nothing is copied.

    bend = kb.torch_function(bend_kernel, outputs={"y": "x"})
    loss = bend(x, stiffness, dim=n).sum()
    loss.backward()

PyTorch's graph holds a tape of one launch. Launches and their adjoints run on PyTorch's current stream; of tensors on
the host, in the simulator.
"""

from __future__ import annotations

import sys

from .. import abi, context, current, foreign, frameworks, hosts, interface, resolve
from ..errors import LaunchError, describe, did_you_mean
from ..values import class_of
from . import arguments, watching
from .tape import Tape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..array_class import array

__all__ = ("TorchFunction", "torch_function")


def torch_function(kernel: Any, outputs: Any, dim: Any = None, **options: Any) -> TorchFunction:
    """A function of tensors that launches a kernel, and that PyTorch carries gradients back through.

    It takes the kernel's parameters but for `outputs`, in order or by name, and `dim` where it is not given here, and
    returns the tensor, or a tuple of those, that `outputs` names: `{"y": "x"}` makes y like the tensor given for x,
    `{"y": make}` calls `make(x=…, …)` with all arguments. Parameters that are not among the outputs are only read.
    Other options are those of `kb.launch`. Raises LaunchError.
    """
    return TorchFunction(kernel, outputs, dim, options)


class TorchFunction:
    """See `torch_function`."""

    def __init__(self, kernel: Any, outputs: Any, dim: Any, options: dict[str, Any]) -> None:
        self.kernel, self.dim, self.options = kernel, dim, options
        self.name = getattr(kernel, "name", str(kernel))
        if not hasattr(kernel, "launch"):
            raise LaunchError("kb.torch_function wants a function decorated with @kernel, not %s" % describe(kernel))
        self.names = arguments.names_of(kernel)
        if not isinstance(outputs, dict) or not outputs:
            raise LaunchError(
                '%s: outputs wants {"parameter": "input that it is like"}, or a function that makes it, not %s'
                % (self.name, describe(outputs))
            )
        for name in [*outputs, *[one for one in outputs.values() if isinstance(one, str)]]:
            if name not in self.names:
                raise LaunchError("%s has no parameter %r%s" % (self.name, name, did_you_mean(name, self.names)))
        self.outputs = dict(outputs)
        self.inputs = [name for name in self.names if name not in outputs]

    def __repr__(self) -> str:
        return "<kb.torch_function of %s>" % self.name

    def __call__(self, *args: Any, dim: Any = None, **named: Any) -> Any:
        """Launches, and returns the outputs. Raises LaunchError."""
        given = self._given(args, named)
        dim = self.dim if dim is None else dim
        if dim is None:
            raise LaunchError("%s: say dim=…, here or where the function was made" % self.name)
        if watching.is_recording():
            raise LaunchError(
                "%s: a tape is recording in this thread, and PyTorch records this launch\n"
                "  help: call it outside of `with tape:`, or launch the kernel itself inside" % self.name
            )
        found = _class().apply(self, dim, *[given[name] for name in self.inputs])
        return found if len(found) > 1 else found[0]

    def _given(self, args: Any, named: dict[str, Any]) -> dict[str, Any]:
        given = dict(zip(self.inputs, args))
        wrong = [name for name in named if name not in self.inputs or name in given]
        given.update(named)
        if len(args) > len(self.inputs) or wrong or len(given) != len(self.inputs):
            raise LaunchError(
                "%s takes %s%s" % (self.name, ", ".join(self.inputs), "; not %s" % wrong[0] if wrong else "")
            )
        return given

    def make(self, given: dict[str, Any]) -> dict[str, Any]:
        """The output tensors, of zeros where they are like others."""
        torch = sys.modules["torch"]
        made = {}
        for name, like in self.outputs.items():
            made[name] = torch.zeros_like(given[like]) if isinstance(like, str) else like(**given)
            if not interface.is_tensor(made[name]):
                message = "%s: output %s wants a tensor, and the function that makes it gave %s"
                raise LaunchError(message % (self.name, name, describe(made[name])))
        return made

    def over(self, name: str, tensor: Any) -> array:
        """An array over a tensor, as its parameter wants it."""
        type = arguments.type_of(self.kernel, name)
        return foreign.asarray(tensor.detach(), class_of(type.element) if isinstance(type, abi.Array) else None)

    def launch(self, dim: Any, given: dict[str, Any], made: dict[str, Any]) -> tuple[Tape, dict[str, array]]:
        """Launches on a tape; the arrays over all tensors."""
        arrays = {name: self.over(name, one) for name, one in {**given, **made}.items() if interface.is_tensor(one)}
        for name in self.inputs:
            if name in arrays and given[name].requires_grad:
                arrays[name].requires_grad = True
        args = [arrays.get(name, given.get(name)) for name in self.names]
        tape = Tape()
        with _Stream(arrays) as device, tape:
            resolve.launch(self.kernel, dim, args, device=device, **self.options)
        self._check_written(tape)
        return tape, arrays

    def _check_written(self, tape: Tape) -> None:
        for path in tape._recorder.written_paths():
            if path.partition(".")[0] not in self.outputs:
                raise LaunchError(
                    "%s: parameter %s is written, and no output\n"
                    "  help: name it among the outputs, and let it be written only" % (self.name, path)
                )


class _Stream:
    """PyTorch's current stream is the one that is meant, on the GPU of the arrays; of arrays on the host nothing is.

    Entering gives the device of the launch.
    """

    def __init__(self, arrays: dict[str, array]) -> None:
        places = [one.device for one in arrays.values()]
        self.place = places[0] if places else context.get_device(None)
        self._scope: Any = None

    def __enter__(self) -> Any:
        if self.place.kind != "cuda":
            return hosts.HOSTS["sim"]
        handle = frameworks.current_stream(self.place.ordinal)
        self._scope = current.ScopedStream(handle or None, sync_enter=False, device=self.place)
        self._scope.__enter__()
        return self.place

    def __exit__(self, *_: object) -> None:
        if self._scope is not None:
            self._scope.__exit__()


_made: list[Any] = []


def _class() -> Any:
    """The subclass of `torch.autograd.Function`, made when PyTorch is there."""
    if not _made:
        import torch

        class Launch(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
            """A launch in PyTorch's graph."""

            @staticmethod
            def forward(ctx: Any, function: TorchFunction, dim: Any, *inputs: Any) -> Any:
                """Launches."""
                given = dict(zip(function.inputs, inputs))
                made = function.make(given)
                ctx.tape, ctx.arrays = function.launch(dim, given, made)
                ctx.function, ctx.count = function, len(inputs)
                return tuple(made.values())

            @staticmethod
            @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator, unused-ignore]
            def backward(ctx: Any, *gradients: Any) -> Any:
                """Carries gradients back."""
                return (None, None, *_carried(ctx, gradients))

        _made.append(Launch)
    return _made[0]


def _carried(ctx: Any, gradients: Any) -> list[Any]:
    torch = sys.modules["torch"]
    function, arrays = ctx.function, ctx.arrays
    found: list[Any] = []
    with _Stream(arrays):
        for name, needed in zip(function.inputs, ctx.needs_input_grad[2:]):
            one = arrays.get(name)
            if one is None or not needed or not one.requires_grad:
                found.append(None)
                continue
            theirs = one._owner  # the tensor
            made = torch.empty_strided(theirs.shape, theirs.stride(), dtype=theirs.dtype, device=theirs.device).zero_()
            one._gradient.set(one, function.over(name, made))
            found.append(made)
        seeds = {
            arrays[name]: function.over(name, gradient.contiguous())
            for name, gradient in zip(function.outputs, gradients)
            if gradient is not None
        }
        ctx.tape.backward(grads=seeds)
    return found
