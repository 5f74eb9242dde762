"""A bound launch on a device whose kernels a provider runs (`sim`): arguments are kept, and given to it each time."""

from __future__ import annotations

from . import placing, providers, resolve, unlaunched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .types import Kernel


class BoundLaunch(unlaunched.BoundLaunch):
    """See `bound.BoundLaunch`. What does not fit the kernel is told when it is launched."""

    __slots__ = ()

    def __init__(
        self, kernel: Kernel, dim: Any, args: Any, stream: Any, device: Any, block_dim: int | None, max_blocks: int
    ) -> None:
        if device is None:
            device = next((one.device for one in args if hasattr(type(one), "_kb_array_")), None)
        super().__init__(kernel, dim, args, stream, device)
        self._block_dim, self._max_blocks = block_dim, max_blocks

    def __call__(self) -> None:
        """Launches."""
        resolve.launch(
            self._kernel,
            self.dim,
            self._args,
            (),
            self.device,
            self.stream,
            self._block_dim,
            max_blocks=self._max_blocks,
        )

    launch = __call__


def answers(device: Any, args: Any) -> bool:
    """A provider runs this launch."""
    kind = placing.kind_of(device, args)
    return kind != "cuda" and providers.find(kind) is not None
