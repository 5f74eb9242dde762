"""What a `wp.Launch` is told before it is made."""

from __future__ import annotations

from kbuild.loader import abi, bound, generic, resolve
from kbuild.loader.errors import LaunchError, did_you_mean
from kbuild.loader.layout import abi_type

from .declarations import name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Asked:
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


class AskedAdjoint(Asked):
    """A launch of a kernel's adjoint. Gradients are the arrays' own where none are given."""

    def __init__(self, kernel: Any, device: Any, block_dim: int | None, max_blocks: int) -> None:
        super().__init__(kernel, device, block_dim, max_blocks)
        self._gradients: dict[str, Any] = {}

    def begin(self, dim: Any, inputs: Any, outputs: Any, adj_inputs: Any, adj_outputs: Any) -> None:
        """Says everything."""
        self.dim, count = dim, len(inputs)
        self._values.update(zip(self._names, resolve.joined(self.kernel, inputs, outputs)))
        self._gradients.update(zip(self._names, adj_inputs or ()))
        self._gradients.update(zip(self._names[count:], adj_outputs or ()))

    def set_gradient(self, which: Any, value: Any) -> None:
        """Says the gradient of an argument."""
        name = self._names[which] if isinstance(which, int) else which
        if name not in self._names:
            raise LaunchError("%s has no parameter %r%s" % (self.kernel.name, name, did_you_mean(name, self._names)))
        self._gradients[name] = value

    def launch(self, stream: Any) -> None:
        """Launches."""
        block_dim, most = self._options
        given = [self._gradients.get(name) for name in self._names]
        resolve.launch(
            self.kernel,
            self.dim,
            self.args,
            device=self.device,
            stream=stream,
            block_dim=block_dim,
            max_blocks=most,
            adjoint=True,
            adj_inputs=given,
        )
