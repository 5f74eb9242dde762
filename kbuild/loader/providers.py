"""Who answers for a device that is not a CUDA GPU, and for a kernel that no bundle holds: by name, imported when asked.

The loader reaches nothing above it but through this table; others add to it: `register("sim", "kbuild.jit:simulate")`.
A device's provider is called as `provider(kernel, dim, args, stream, device, block_dim, max_blocks)` and launches; the
provider of a missing kernel is called as `provider(kernel)` and returns an object with a kernel's `launch`, and is
asked only where compiling was asked for: `KBUILD_JIT=1` in the environment, or `enable_jit()`. Who answers for the
adjoints of kernels on a device is called as `provider(kernel, args)`, and returns a `backward.Backward`.
"""

from __future__ import annotations

import os
import sys

from .errors import LaunchError

__all__ = ("enable_jit",)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .backward import Backward

MISSING_KERNEL = "missing kernel"
GRAPH_CONDITION = "graph condition"
STRIDED_COPY = "copy with strides"
ADDITION = "addition"
SIMULATOR = "simulator"
ADJOINTS = "adjoints on "  # and a kind of device
registry: dict[str, str] = {
    "sim": "kbuild.simulate.launches:launch",
    MISSING_KERNEL: "kbuild.jit:missing_kernel",
    GRAPH_CONDITION: "kbuild.primitives.conditions:SETTER",
    STRIDED_COPY: "kbuild.primitives.copies:copy",
    ADDITION: "kbuild.primitives.additions:add",
    SIMULATOR: "kbuild.simulate.face:face",
    ADJOINTS + "cuda": "kbuild.loader.backward:on_gpu",
    ADJOINTS + "sim": "kbuild.simulate.adjoints:on_simulator",
}
_NO_DEVICES = frozenset({MISSING_KERNEL, GRAPH_CONDITION, STRIDED_COPY, ADDITION, SIMULATOR})
_jit = False


def register(kind: str, name: str) -> None:
    """Names the function (`module:function`) that answers for a kind of device, or for one of the others here."""
    registry[kind] = name


def find(kind: str) -> Any:
    """The registered function, imported now, or None. Raises LaunchError where what it needs is not installed."""
    name = registry.get(kind)
    if name is None:
        return None
    module, _, function = name.partition(":")
    try:
        __import__(module)
    except (ImportError, SyntaxError) as error:  # what a deployed program has is less than a build has
        needs = "Python 3.10 or newer" if sys.version_info < (3, 10) else getattr(error, "name", None) or str(error)
        raise LaunchError(
            "%s cannot be used here: it needs %s\n  help: pip install 'kbuild[build]', with Python 3.10 or newer; what "
            "a GPU runs from a bundle needs neither" % (module, needs)
        ) from None
    return getattr(sys.modules[module], function)


def enable_jit(enabled: bool = True) -> None:
    """Lets kernels that no bundle holds be compiled at launch, as `KBUILD_JIT=1` does. For development."""
    global _jit
    _jit = enabled


def jit_enabled() -> bool:
    """Whether compiling at launch was asked for."""
    return _jit or os.environ.get("KBUILD_JIT") == "1"


def launch_on(
    kind: str, kernel: Any, dim: Any, args: Any, stream: Any, device: Any, block_dim: Any, max_blocks: Any
) -> None:
    """Launches through the provider of a device kind; LaunchError when nobody answers for it."""
    from . import uses

    provider = find(kind)
    if provider is not None and uses.tapes:
        from .tape import watching

        if watching.launch(
            lambda *asked: provider(kernel, *asked), kind, kernel, dim, args, stream, device, block_dim, max_blocks
        ):
            return
    if provider is None:
        others = [name for name in registry if name not in _NO_DEVICES and not name.startswith(ADJOINTS)]
        known = ", ".join(["cuda", *sorted(others)])
        raise LaunchError(
            "%s: nothing runs kernels on device %r; this installation knows %s"
            % (kernel.name, kind if device is None else str(device), known)
        )
    provider(kernel, dim, args, stream, device, block_dim, max_blocks)


def backward_of(kind: str, kernel: Any, args: Any) -> Backward:
    """The adjoint of what a launch of a kernel with these arguments runs on a device kind (`cuda`, `sim`).

    `kernel` is a function decorated with @kernel, generic or not, or a bundle's kernel. Raises LaunchError, which names
    the kernel, the line that is in the way, the reason and the cure, and what finding the kernel raises.
    """
    provider = find(ADJOINTS + kind)
    if provider is None:
        raise LaunchError("%s: there are no gradients on device %r" % (getattr(kernel, "name", kernel), kind))
    found: Backward = provider(kernel, args)
    return found
