"""`wp.launch`, and launches that are recorded to be made again."""

from __future__ import annotations

from kbuild.loader import abi, bound, context, current, generic, recording, resolve, uses
from kbuild.loader.errors import LaunchError, did_you_mean
from kbuild.loader.layout import abi_type

from .absent import refusal
from .declarations import name_of
from .devices import default, get_device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SUGGESTED = 256


def launch(
    kernel: Any,
    dim: Any,
    inputs: Any = (),
    outputs: Any = (),
    adj_inputs: Any = (),
    adj_outputs: Any = (),
    device: Any = None,
    stream: Any = None,
    adjoint: bool = False,
    record_tape: bool = True,
    record_cmd: bool = False,
    max_blocks: int = 0,
    block_dim: int | None = None,
    **options: Any,
) -> Any:
    """Launches a kernel over `dim` threads; with `record_cmd` the result is a `wp.Launch`, and nothing runs.

    The device is that of the arrays where none is named. Without `record_tape` no tape records it; no `max_blocks` is
    one below 1, too. With `adjoint` the kernel's adjoint is launched, with these gradients or the arrays' own.
    """
    if options:
        raise TypeError("wp.launch has no argument %r" % min(options))
    if device is None and stream is not None:
        device = getattr(stream, "device", None)
    if device is None and not _names_device(inputs) and not _names_device(outputs):
        device = default(None)
    most = max(0, max_blocks or 0)
    if adjoint and record_cmd:
        return Launch._of_adjoint(kernel, dim, inputs, outputs, adj_inputs, adj_outputs, device, block_dim, most)
    if adjoint:
        gradients = {"adjoint": True, "adj_inputs": adj_inputs, "adj_outputs": adj_outputs}
        resolve.launch(kernel, dim, inputs, outputs, device, stream, block_dim, max_blocks=most, **gradients)
        return None
    if record_cmd:
        made = bound.bind(kernel, dim, inputs, outputs, device, stream, block_dim, max_blocks=most)
        return Launch._of(made, stream)
    if not record_tape and uses.tapes:
        from kbuild.loader.tape import watching

        with watching.no_grad():
            resolve.launch(kernel, dim, inputs, outputs, device, stream, block_dim, max_blocks=most)
        return None
    resolve.launch(kernel, dim, inputs, outputs, device, stream, block_dim, max_blocks=most)
    return None


def _names_device(arguments: Any) -> bool:
    return any(hasattr(one, "_kb_array_") for one in arguments)


def launch_tiled(kernel: Any, dim: Any, inputs: Any = (), *arguments: Any, **options: Any) -> None:
    """Launches of kernels with tiles: refused. While a program is recorded they are noted, and passed over."""
    refused = refusal("launch_tiled(%s)" % getattr(kernel, "name", kernel), "tiles")
    if not recording.note_refused(str(refused)):
        raise refused


def get_suggested_block_size(kernel: Any, device: Any = None) -> tuple[int, int]:
    """(threads of a block, least number of blocks) that fill a GPU with this kernel: the largest block that does.

    (1, 1) for "cpu". Loads the kernel. Raises LaunchError for a generic kernel, of which an overload is wanted.
    """
    from kbuild.loader import occupancy, readiness  # few programs ask

    place = get_device(device)
    if place.kind != "cuda":
        return 1, 1
    if recording.is_on():
        return _SUGGESTED, max(1, place.sm_count)  # its code is not there to be asked
    compiled = readiness.one_kernel(kernel)
    registers, shared, _ = readiness.properties(compiled, place)
    if place.number not in occupancy.LIMITS:
        raise LaunchError("%s: kbuild does not know yet how many blocks %s holds" % (compiled.name, place.target))
    threads, blocks = occupancy.largest_block(place.number, registers, shared)
    return threads, blocks * place.sm_count


def get_cuda_kernel_properties(kernel: Any, device: Any = None, block_dim: int | None = None) -> dict[str, int]:
    """`register_count` of a thread and `local_memory_size` of a thread, in bytes. Loads the kernel.

    `block_dim` changes nothing: kbuild's code is the same for all blocks. Raises LaunchError for a generic kernel.
    """
    from kbuild.loader import readiness

    registers, _, local = readiness.properties(readiness.one_kernel(kernel), context.gpu(get_device(device)))
    return {"register_count": registers, "local_memory_size": local}


class Launch:
    """A launch that is made as often as `launch()` is called; its arguments can be changed. See `kb.bind`.

    On the stream that it was recorded for, or the one given, or the one that is meant at that moment.
    """

    def __init__(
        self,
        kernel: Any,
        device: Any = None,
        max_blocks: int = 0,
        block_dim: int | None = None,
        adjoint: bool = False,
        **options: Any,
    ) -> None:
        """A launch that gets its dim and its arguments one by one before it is made for the first time."""
        if options:
            raise TypeError("wp.Launch has no argument %r" % min(options))
        self._adjoints: dict[str, Any] | None = {} if adjoint else None  # gradients that are given, by parameter
        self._made: bound.BoundLaunch | None = None
        self._recorded = self._stream = None
        self._asked = _Asked(kernel, default(device), block_dim, max(0, max_blocks or 0))

    @classmethod
    def _of(cls, made: bound.BoundLaunch, stream: Any) -> Launch:
        """A launch that was recorded."""
        launch: Launch = cls.__new__(cls)
        launch._made, launch._recorded, launch._stream = made, stream, made.stream
        launch._adjoints = None
        return launch

    @classmethod
    def _of_adjoint(
        cls,
        kernel: Any,
        dim: Any,
        inputs: Any,
        outputs: Any,
        adj_inputs: Any,
        adj_outputs: Any,
        device: Any,
        block_dim: int | None,
        most: int,
    ) -> Launch:
        """The launch of an adjoint that was recorded."""
        made = cls(kernel, device, most, block_dim, adjoint=True)
        made._asked.device = device  # None: where the arrays are
        made.set_dim(dim)
        for position, value in enumerate((*inputs, *outputs)):
            made.set_param_at_index(position, value)
        for start, gradients in ((0, adj_inputs), (len(inputs), adj_outputs)):
            for position, value in enumerate(gradients or ()):
                made.set_param_at_index(start + position, value, adjoint=True)
        return made

    @property
    def bound(self) -> Any:
        """What is launched: of `kb.bind`, once dim and arguments are known."""
        return self._asked if self._made is None else self._made

    @property
    def kernel(self) -> Any:
        """The kernel as its package's bundle holds it."""
        return self.bound.kernel

    @property
    def device(self) -> Any:
        """Where it runs."""
        return self.bound.device

    @property
    def params(self) -> tuple[Any, ...]:
        """The arguments."""
        return tuple(self.bound.args)

    def set_dim(self, dim: Any) -> None:
        """Changes the number of threads."""
        self.bound.set_dim(dim)

    def set_param_at_index(self, index: int, value: Any, adjoint: bool = False) -> None:
        """Changes an argument by its position, or its gradient in the launch of an adjoint."""
        self._set(index, value, adjoint)

    def set_param_by_name(self, name: str, value: Any, adjoint: bool = False) -> None:
        """Changes an argument by the parameter's name, or its gradient in the launch of an adjoint."""
        self._set(name, value, adjoint)

    def set_params(self, values: Any) -> None:
        """Changes the arguments from the first on."""
        for position, value in enumerate(values):
            self._set(position, value)

    def _set(self, which: Any, value: Any, adjoint: bool = False) -> None:
        if adjoint:
            if self._adjoints is None:
                raise LaunchError(
                    "%s: this launch is not of the adjoint, and takes no gradients\n"
                    "  help: record it with adjoint=True" % getattr(self.kernel, "name", self.kernel)
                )
            self._adjoints[self._asked.name_of(which)] = value
            return
        if isinstance(value, (int, float)) and self._made is None:  # one that is made refuses by itself
            self._asked.check_number(which)
        self.bound.set(which, value)

    def set_param_at_index_from_ctype(self, index: int, value: Any, adjoint: bool = False) -> None:
        """Changes an argument by its position; the value is a number, also one of ctypes."""
        self.set_param_at_index(index, getattr(value, "value", value), adjoint)

    def set_param_by_name_from_ctype(self, name: str, value: Any, adjoint: bool = False) -> None:
        """Changes an argument by the parameter's name; the value is a number, also one of ctypes."""
        self.set_param_by_name(name, getattr(value, "value", value), adjoint)

    def set_params_from_ctypes(self, values: Any) -> None:
        """Changes the arguments from the first on; the values are numbers, also those of ctypes."""
        self.set_params([getattr(value, "value", value) for value in values])

    def launch(self, stream: Any = None) -> None:
        """Launches."""
        if self._adjoints is not None:
            self._asked.launch_adjoint(self._adjoints, stream)
            return
        if self._made is None:
            self._made = self._asked.bind()
            self._stream = self._made.stream
        wanted = self._recorded if stream is None else stream
        if wanted is None and context.scopes:
            wanted = current.stream(self.bound.device.ordinal)
        if wanted is not self._stream:
            self._made.set_stream(wanted)
            self._stream = wanted
        self._made.launch()


class _Asked:
    """A launch of which not everything is known: it takes what a bound one takes."""

    def __init__(self, kernel: Any, device: Any, block_dim: int | None, max_blocks: int) -> None:
        self.kernel, self.device, self.dim = kernel, device, 0
        self._options = block_dim, max_blocks
        self._names = generic.parameter_names(kernel.function)
        self._values: dict[str, Any] = {}

    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments so far; None for those that are not known."""
        return tuple([self._values.get(name) for name in self._names])

    def set_dim(self, dim: Any) -> None:
        """Says the number of threads."""
        self.dim = dim

    def set(self, *pair: Any, **named: Any) -> None:
        """Says arguments, as `BoundLaunch.set` does."""
        given = {self._names[pair[0]] if isinstance(pair[0], int) else pair[0]: pair[1]} if pair else {}
        for name, value in {**given, **named}.items():
            if name not in self._names:
                raise LaunchError(
                    "%s has no parameter %r%s" % (self.kernel.name, name, did_you_mean(name, self._names))
                )
            self._values[name] = value

    def name_of(self, which: Any) -> str:
        """A parameter's name. Raises LaunchError."""
        if isinstance(which, int) and 0 <= which < len(self._names):
            return self._names[which]
        if which in self._names:
            return str(which)
        raise LaunchError("%s has no parameter %r" % (self.kernel.name, which))

    def launch_adjoint(self, given: dict[str, Any], stream: Any) -> None:
        """Launches the adjoint, with these gradients, or the arrays' own."""
        block_dim, most = self._options
        gradients = [given.get(name) for name in self._names]
        options: dict[str, Any] = {"max_blocks": most, "adjoint": True, "adj_inputs": gradients}
        resolve.launch(self.kernel, self.dim, self.args, (), self.device, stream, block_dim, **options)

    def check_number(self, which: Any) -> None:
        """Raises LaunchError where a parameter is a vector or a matrix."""
        name = self._names[which] if isinstance(which, int) else which
        if name in self._names:
            wanted = generic.annotation_of(self.kernel.function, name)
            if not generic.is_open(wanted) and isinstance(abi_type(wanted), (abi.Vector, abi.Matrix)):
                raise LaunchError("argument '%s' expects %s but got a single value" % (name, name_of(abi_type(wanted))))

    def bind(self) -> bound.BoundLaunch:
        """The launch. Raises what `kb.bind` raises."""
        block_dim, most = self._options
        return bound.bind(self.kernel, self.dim, self.args, (), self.device, None, block_dim, max_blocks=most)
