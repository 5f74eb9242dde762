"""Bound launches without a GPU: of a program that is only recorded, and on devices of the host."""

from __future__ import annotations

from . import bound, context, generic, types
from .errors import LaunchError, did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class BoundLaunch(bound.BoundLaunch):
    """See `bound.BoundLaunch`. Arguments that ask for another instance of a generic kernel are noted too."""

    __slots__ = ("_kernel",)

    def __init__(self, kernel: types.Kernel, dim: Any, args: Any, stream: Any, device: Any) -> None:
        self._kernel = kernel
        self.kernel, self.dim, self.stream = _Named(kernel), dim, stream  # type: ignore[assignment]
        self.device = context.get_device(device)
        self._args = tuple(args)

    def __call__(self) -> None:
        """Launches nothing."""

    launch = __call__

    def set(self, *pair: Any, **named: Any) -> None:
        """Changes arguments. Raises LaunchError."""
        if pair:
            if len(pair) != 2:
                raise LaunchError("%s: set wants a parameter and its value, or names" % self.kernel.name)
            named = dict(named, **{self._name_of(pair[0]): pair[1]})
        args, names = list(self._args), [name for name, _ in self.kernel.parameters]
        for name, value in named.items():
            if name not in names:
                raise LaunchError("%s has no parameter %r%s" % (self.kernel.name, name, did_you_mean(name, names)))
            args[names.index(name)] = value
        self._args = tuple(args)
        if types.on_launch is not None:
            types.on_launch(self._kernel, self._args)

    def set_dim(self, dim: Any) -> None:
        """Changes the number of threads; each block keeps its shared memory."""
        self.dim = bound.resized(self.dim, dim)

    def set_stream(self, stream: Any) -> None:
        """Changes the stream."""
        self.stream = stream


class _Named:
    """What is known of a kernel without its bundle."""

    def __init__(self, kernel: types.Kernel) -> None:
        self.name = kernel.name
        self.parameters = [(name, None) for name in generic.parameter_names(kernel.function)]
