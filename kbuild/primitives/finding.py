"""Where the machine code of these kernels is: in the bundle of a package that asked for them.

kbuild has no bundle of its own. Looked into are, in this order: the packages whose code is calling, innermost first;
those whose kernels are known to this process, by name. The first bundle that holds the kernel is taken; which one
makes no difference, since a kernel's identity is its types and the protocol that it captures.
"""

from __future__ import annotations

import sys

from kbuild.loader import driver, providers, recording, resolve, standin, types
from kbuild.loader.errors import LaunchError, LoaderError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from kbuild.loader.bundle import Bundle
    from kbuild.loader.types import Kernel

_NEEDED = "kernels of kbuild's own (array_scan and the like): write `primitives = true` into [tool.kbuild]"


class Carried:
    """Stands in a kernel of this room until its first launch, and finds its machine code then."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def launch(self, dim: Any, args: Any, stream: Any, device: Any, block_dim: int | None, max_blocks: int = 0) -> None:
        """See `BundleKernel.launch`. Where a program is recorded, what cannot be launched is left out."""
        if types.on_launch is not None and not _is_there(self.kernel):
            recording.note_refused(_NEEDED)
            return
        target = find(self.kernel)
        self.kernel.target = target
        target.launch(dim, args, stream, device, block_dim, max_blocks)


def _is_there(kernel: Kernel) -> bool:
    """Where a program is recorded: there is a GPU, and machine code. It is not built yet, which is why one records."""
    if isinstance(driver.get().library, standin.Library):
        return False
    try:
        find(kernel)
    except LoaderError:
        return False
    return True


def find(kernel: Kernel) -> Any:
    """What launches a kernel: its instance in a bundle, or a compiler where one was asked for. Raises LoaderError."""
    try:
        return in_a_bundle(kernel)
    except LoaderError:
        if not providers.jit_enabled():
            raise
    return providers.find(providers.MISSING_KERNEL)(kernel)


def in_a_bundle(kernel: Kernel) -> Any:
    """A kernel's instance in a bundle of this program. Raises LoaderError where none holds it."""
    seen: list[Bundle] = []
    holding: list[Bundle] = []
    for bundle in _bundles():
        if bundle in seen:
            continue
        seen.append(bundle)
        definition = bundle.manifest["definitions"].get(kernel.name)
        if definition is None:
            continue
        holding.append(bundle)
        bundle.check_sources()
        try:
            return bundle.kernel(resolve.matching(bundle, kernel.name, definition, kernel))
        except LaunchError:
            continue
    raise LaunchError(_nothing(kernel, seen, holding))


def _bundles() -> Iterator[Bundle]:
    """The bundles of packages that this program uses; those that have none, or a broken one, are passed over."""
    for name in (*_callers(), *sorted(types.declared)):
        module = resolve.real_module(name)
        if module == "__main__" or not all(part.isidentifier() for part in module.split(".")):
            continue  # a program or a text, in no package
        try:
            yield resolve.open_for(module, module)
        except LoaderError:
            continue


def _callers() -> Iterator[str]:
    """The modules whose functions are running, innermost first, without kbuild's own."""
    frame: Any = sys._getframe(1)
    names: dict[str, None] = {}
    while frame is not None:
        name = frame.f_globals.get("__name__")
        if isinstance(name, str) and name.partition(".")[0] != "kbuild":
            names.setdefault(name)
        frame = frame.f_back
    return iter(names)


def _nothing(kernel: Kernel, seen: list[Bundle], holding: list[Bundle]) -> str:
    help = (
        "  help: write `primitives = true` into [tool.kbuild] of the package that calls it, and build it again; for "
        "development, KBUILD_JIT=1 compiles at launch"
    )
    if holding:
        listed = ", ".join("%s (%s)" % (bundle, bundle.manifest["generator"]) for bundle in holding)
        return "%s: %s was built by a kbuild whose kernels are not those of this one\n  help: build it again" % (
            kernel.name,
            listed,
        )
    where = ", ".join(map(str, seen)) or "no bundle: no package of this program has one"
    return "%s is a kernel of kbuild's own, and nothing here holds it; looked into %s\n%s" % (kernel.name, where, help)
