"""`wp.launch`, and launches that are recorded to be made again."""

from __future__ import annotations

from kbuild.loader import bound, context, current, naming, recording, resolve, uses
from kbuild.loader.errors import LaunchError

from .absent import refusal
from .asked import Asked, AskedAdjoint
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
    if adjoint:
        if record_cmd:
            made = AskedAdjoint(kernel, device, block_dim, most)
            made.begin(dim, inputs, outputs, adj_inputs, adj_outputs)
            return Launch._of_adjoint(made, stream)
        gradients = {"adjoint": True, "adj_inputs": adj_inputs, "adj_outputs": adj_outputs}
        resolve.launch(kernel, dim, inputs, outputs, device, stream, block_dim, max_blocks=most, **gradients)
        return None
    if record_cmd:
        ready = bound.bind(kernel, dim, inputs, outputs, device, stream, block_dim, max_blocks=most)
        return Launch._of(ready, stream)
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

    registers, _, local = readiness.properties(readiness.one_kernel(kernel), naming.gpu(get_device(device)))
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
        self._made: bound.BoundLaunch | None = None
        self._recorded = self._stream = None
        made = AskedAdjoint if adjoint else Asked
        self._asked: Asked = made(kernel, default(device), block_dim, max(0, max_blocks or 0))

    @classmethod
    def _of(cls, made: bound.BoundLaunch, stream: Any) -> Launch:
        """A launch that was recorded."""
        launch: Launch = cls.__new__(cls)
        launch._made, launch._recorded, launch._stream = made, stream, made.stream
        return launch

    @classmethod
    def _of_adjoint(cls, asked: AskedAdjoint, stream: Any) -> Launch:
        """A launch of an adjoint that was recorded."""
        launch: Launch = cls.__new__(cls)
        launch._made, launch._recorded, launch._asked = None, stream, asked
        return launch

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
        """Changes an argument by its position; with `adjoint` its gradient."""
        self._set(index, value, adjoint)

    def set_param_by_name(self, name: str, value: Any, adjoint: bool = False) -> None:
        """Changes an argument by the parameter's name; with `adjoint` its gradient."""
        self._set(name, value, adjoint)

    def set_params(self, values: Any) -> None:
        """Changes the arguments from the first on."""
        for position, value in enumerate(values):
            self._set(position, value)

    def _set(self, which: Any, value: Any, adjoint: bool = False) -> None:
        if adjoint:
            if not isinstance(self.bound, AskedAdjoint):
                raise LaunchError("%s: this launch has no gradients: it is none of an adjoint" % self.kernel.name)
            self.bound.set_gradient(which, value)
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
        if isinstance(self.bound, AskedAdjoint):
            self.bound.launch(self._recorded if stream is None else stream)
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
