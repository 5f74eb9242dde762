"""Adjoints on the device `sim`: made from the live kernel when a tape asks for one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kbuild.autodiff import Undifferentiable
from kbuild.errors import KbuildError
from kbuild.loader import abi
from kbuild.loader.backward import ADJOINT, Backward, Refused, checked
from kbuild.loader.errors import LaunchError
from kbuild.loader.types import Kernel
from kbuild.scan.adjoints import adjoint_of, facts, optional_arrays, says
from kbuild.scan.data import in_words
from kbuild.simulate.compiled import Compiled, instance_of, lowered, placed, stating
from kbuild.simulate.launches import launch


class AdjointKernel:
    """An adjoint kernel, and its launch on the simulator."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled
        self.name: str = compiled.name
        self.parameters: list[tuple[str, abi.Type]] = compiled.parameters

    def __repr__(self) -> str:
        return f"<kernel {self.name} on sim>"

    def launch(
        self,
        dim: Any,
        args: Any = (),
        stream: Any = None,
        device: Any = None,
        block_dim: int | None = None,
        max_blocks: int = 0,
    ) -> None:
        """See `BundleKernel.launch`. Raises LaunchError, Fault."""
        launch(self.compiled, dim, args, stream, device, block_dim, max_blocks)

    def unwatched(self) -> Callable[..., None]:
        """See `BundleKernel.unwatched`."""
        return self.launch


_made: dict[int, tuple[Kernel, Backward | Refused | None]] = {}


def on_simulator(kernel: Any, args: Any) -> Backward:
    """See `loader.providers.backward_of`. Raises LaunchError."""
    live = instance_of(kernel, args)
    known = _made.get(id(live))
    if known is None:
        try:
            known = _made[id(live)] = live, _backward(live)
        except KbuildError as error:
            raise LaunchError(f"the gradient of {live.name} cannot be compiled for the simulator:\n{error}") from None
    return checked(known[1], live.name)


def _backward(live: Kernel) -> Backward | Refused | None:
    if says(live) is False:
        return None
    one, primal = lowered(live, asserts=False)
    name = one.row.name
    try:
        made = adjoint_of(primal, name)
    except Undifferentiable as error:
        return Refused(name, in_words(error.reason, error.help), (error.span or one.row.span).line)
    target = placed(made.kernel, name + ADJOINT, optional_arrays(primal, made), one.row.block_dim)
    target = stating(target, primal, one)
    kernel = AdjointKernel(target)
    parameters: list[tuple[str, abi.Type]] = [(p.name, p.type) for p in primal.function.parameters]
    return Backward(name, parameters, facts(made), lambda: kernel)
