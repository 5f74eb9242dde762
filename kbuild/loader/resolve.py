"""From a live kernel object to its machine code: `kb.launch` and the first launch of a kernel.

The kernel's package names the bundle, its definition there the capture plan, and the plan, evaluated on the live
function, the instance. What no bundle holds is compiled only where that was asked for.
"""

from __future__ import annotations

import sys

from . import bundle as bundles
from . import finder, identity, pack
from .errors import LaunchError, LoaderError, describe, did_you_mean
from .types import Kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .bundle import Bundle

__all__ = ("launch",)

_opened: dict[str, Bundle] = {}


def launch(
    kernel: Any,
    dim: Any = None,
    inputs: Any = (),
    outputs: Any = (),
    device: Any = None,
    stream: Any = None,
    block_dim: int | None = None,
    grid: Any = None,
    block: Any = None,
    max_blocks: int = 0,
    record_cmd: bool = False,
    adjoint: bool = False,
    adj_inputs: Any = (),
    adj_outputs: Any = (),
    shared_memory: int | None = None,
) -> Any:
    """Launches `kernel` over `dim` threads (a number, or a tuple of one to four), with `inputs`, then `outputs`.

    `device` is "cuda:0", a number or a kb.Device, and defaults to where the arrays are; `stream` is None (the default
    stream), a handle or a stream object of any library. In place of `dim`, `grid` is the number of blocks and `block`
    the threads of each, as one to three numbers (x, y, z). `max_blocks` caps the blocks that run at once: what does not
    fit is launched after them, on the same stream. `shared_memory` are the bytes of a block's shared memory for a
    kernel in CUDA C++, or with an array whose size the launch gives. Returns at once; what goes wrong inside a kernel
    shows later (`KBUILD_CHECK=launch` waits for it). With `record_cmd` nothing is launched: the result is what
    `kb.bind` gives. With `adjoint` the kernel's adjoint is launched, for arrays that hold what they held before: it
    takes the gradients of what the kernel writes, and adds to those of what it reads. `adj_inputs` and `adj_outputs`
    are these gradients, in the place of the arguments that they belong to; where there is none, or None, it is the
    array's own. Raises LaunchError, BundleError, StaleBundle, DriverError.
    """
    if record_cmd or adjoint:
        if shared_memory is not None:
            dim, grid, block = sized(kernel, dim, grid, block, block_dim, shared_memory), None, None
        if adjoint:
            from .tape import adjoints

            asked = dim, inputs, outputs, adj_inputs, adj_outputs, device, stream, block_dim, grid, block, max_blocks
            return adjoints.launch(kernel, record_cmd, *asked)
        from .bound import bind

        return bind(kernel, dim, inputs, outputs, device, stream, block_dim, grid, block, max_blocks)
    if shared_memory is not None:
        dim = sized(kernel, dim, grid, block, block_dim, shared_memory)
    elif grid is not None or block is not None:
        dim = grid_of(kernel, dim, grid, block, block_dim)
    if outputs.__class__ is not tuple or outputs:
        inputs = joined(kernel, inputs, outputs)
    try:
        target = kernel.target
    except AttributeError:
        target = _target(kernel)
    try:
        target.launch(dim, inputs, stream, device, block_dim, max_blocks)
    except LoaderError as error:
        kernel.error = _kept(error)
        raise


def _kept(error: LoaderError) -> LoaderError:
    """An error to be kept: without its traceback, whose frames hold the arguments' arrays."""
    made: LoaderError = error.__class__.__new__(error.__class__)
    made.args = error.args
    made.__dict__.update(error.__dict__)
    return made


def compiled(kernel: Any, args: Any) -> Any:
    """The bundle's kernel that a launch with these arguments would run. Raises what the launch would."""
    target = getattr(kernel, "target", None)
    if target is None:
        target = _target(kernel)
    elif hasattr(target, "kernel") and hasattr(target, "is_unresolved"):
        target = kernel.target = find(kernel)
    return target.chosen_for(args) if hasattr(target, "chosen_for") else target


def grid_of(kernel: Any, dim: Any, grid: Any, block: Any, block_dim: Any) -> Any:
    """What stands in the place of a `dim`: a `grids.Grid`. Raises LaunchError."""
    from . import grids  # most launches give a dim

    try:
        return grids.asked(dim, grid, block, block_dim)
    except (ValueError, TypeError) as error:
        raise LaunchError("%s: %s" % (getattr(kernel, "name", kernel), error)) from None


def sized(kernel: Any, dim: Any, grid: Any, block: Any, block_dim: Any, shared_memory: Any) -> Any:
    """The same with shared memory for each block: a `grids.Sized`. Raises LaunchError."""
    from . import grids

    if grid is not None or block is not None:
        dim = grid_of(kernel, dim, grid, block, block_dim)
    try:
        return grids.Sized(dim, shared_memory)
    except (ValueError, TypeError) as error:
        raise LaunchError("%s: %s" % (getattr(kernel, "name", kernel), error)) from None


def _target(kernel: Any) -> Any:
    if hasattr(kernel, "launch"):
        return kernel  # a bundle's kernel
    raise LaunchError("kb.launch wants a function decorated with @kernel, or a kernel of a bundle, not %r" % (kernel,))


def joined(kernel: Any, inputs: Any, outputs: Any) -> tuple[Any, ...]:
    """Inputs, then outputs, which must be writable."""
    name = getattr(kernel, "name", kernel)
    for what, given in (("inputs", inputs), ("outputs", outputs)):
        if not pack.is_sequence(given):
            raise LaunchError("%s: %s wants a tuple or a list of arguments, not %s" % (name, what, describe(given)))
    _check_writable(name, outputs)
    return (*inputs, *outputs)


def _check_writable(name: str, outputs: Any) -> None:
    for i, value in enumerate(outputs):
        try:
            is_read_only = getattr(value, "readonly", False) if hasattr(value, "_kb_array_") else _is_read_only(value)
        except MemoryError:
            raise
        except Exception:  # no array, or none that can be read: its parameter will be named
            continue
        if is_read_only:
            raise LaunchError("%s: output %d is read-only: %s" % (name, i, describe(value)))


def _is_read_only(value: Any) -> bool:
    from . import foreign  # no part of a start

    return foreign.is_read_only(value)


def find(kernel: Kernel) -> Any:
    """What launches a kernel: the instance in its package's bundle, or a compiler where one was asked for."""
    try:
        return _instance(kernel)
    except LoaderError:
        from . import providers

        provider = providers.find(providers.MISSING_KERNEL) if providers.jit_enabled() else None
        if provider is None:
            raise
    return provider(kernel)


def real_module(name: str) -> str:
    """The importable name of a module: `python -m robosim.kernels` runs it as `__main__`."""
    if name != "__main__":
        return name
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    return spec.name if spec is not None else name


def _instance(kernel: Kernel) -> Any:
    module = real_module(kernel.module)
    if module == "__main__":
        raise LaunchError(
            "%s is defined in the program itself, and bundles hold kernels of installed packages only\n"
            "  help: move it into a package with [tool.kbuild], or set KBUILD_JIT=1 to compile at launch" % kernel.name
        )
    bundle = open_for(module, kernel.name)
    bundle.check_sources()
    name = "%s:%s" % (module, kernel.qualname)
    definition = bundle.manifest["definitions"].get(name)
    if definition is None:
        raise LaunchError(_no_definition(bundle, name))
    if not kernel.bound and any(path.startswith("type:") for path in definition["plan"]):
        from . import dispatch, generic  # few kernels are generic

        if generic.open_parameters(kernel.function):
            return dispatch.Dispatcher(bundle, definition, kernel)
    return bundle.kernel(matching(bundle, name, definition, kernel))


def open_for(module: str, about: str) -> Bundle:
    """The bundle of a module's package, opened once; `about` names in errors what wants it. Raises LoaderError."""
    spec = finder.package_of(module)
    if spec is None:
        raise LaunchError("%s lies in no regular package: give its folder an __init__.py" % about)
    path = finder.bundle_path(spec)
    opened = _opened.get(path)
    if opened is None:
        data = finder.read(spec)
        if data is None:
            from . import explaining

            raise LaunchError("%s: %s" % (about, explaining.no_bundle(spec)))
        opened = _opened.setdefault(path, bundles.from_bytes(data, path))  # of threads that come at once, one wins
    return opened


def _no_definition(bundle: Bundle, name: str) -> str:
    known = bundle.manifest["definitions"]
    return (
        "%s has no kernel %r%s\n"
        "  help: is its module named by `modules` in [tool.kbuild]? Build the package again; for development, "
        "KBUILD_JIT=1 compiles at launch" % (bundle, name, did_you_mean(name, known))
    )


def matching(bundle: Bundle, name: str, definition: dict[str, Any], kernel: Kernel) -> int:
    """Index of the instance whose captured values are those of the live function. Raises LaunchError."""
    plan = definition["plan"]
    try:
        values = identity.evaluate(kernel.function, plan, kernel.bound)
        wanted = identity.digest(plan, values)
    except identity.CaptureError as error:
        raise LaunchError("%s: %s" % (name, error)) from None
    for row in definition["instances"]:
        if row["identity"] == wanted:
            return int(row["kernel"])
    raise LaunchError(_no_instance(bundle, name, definition, identity.describe(values)))


def _no_instance(bundle: Bundle, name: str, definition: dict[str, Any], asked: list[str]) -> str:
    def listed(values: list[str]) -> str:
        return ", ".join("%s = %s" % pair for pair in zip(definition["plan"], values)) or "no captured values"

    lines = ["%s holds no instance of %s for %s" % (bundle, name, listed(asked)), "  it holds:"]
    lines += ["    " + listed(row["values"]) for row in definition["instances"]]
    lines.append("  help: build the package again with these values in place; KBUILD_JIT=1 compiles at launch")
    return "\n".join(lines)
