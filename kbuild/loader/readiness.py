"""What can be known and done before the first launch: code loaded ahead, kernels required, coverage, sizes of grids.

kb.preload("robosim")                            loads all of a package's code for the first GPU
bundle.require(["robosim.kernels:integrate"])    one BundleError with all that is missing there
kb.get_grid(integrate, 1000)                     (4, 256)
"""

from __future__ import annotations

from ctypes import byref, c_int, c_uint64

from . import bundle as bundles
from . import context, dispatch, driver, explaining, finder, generic, geometry, refusals, resolve, select
from .errors import BundleError, LaunchError, describe, did_you_mean
from .kernel import BundleKernel
from .types import Kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .bundle import Bundle

    Row = dict[str, Any]

__all__ = ("get_grid", "preload")

_LOAD_SINCE = (12, 4)  # the driver that has cuFuncLoad
_SHARED, _LOCAL, _REGISTERS = 1, 3, 4  # CUfunction_attribute


def preload(what: Any, device: Any = None, adjoints: bool = False) -> int:
    """Loads code on a GPU (the first, unless named) now, so that no launch and no graph capture has to.

    `what` is the name of a package (all of its kernels), a kernel, a bundle, or a list of these; with `adjoints` the
    adjoints of those that have one are loaded too. Returns the number of kernels. Raises BundleError, LaunchError,
    StaleBundle, DriverError.
    """
    gpu = _gpu(device)
    kernels = _kernels(what)
    if adjoints:
        kernels += [found.kernel for found in map(_backward, kernels) if found is not None]
    return sum([_load(kernel, gpu) for kernel in kernels])


def _backward(kernel: BundleKernel) -> Any:
    """What a kernel's adjoint is, or None."""
    from .backward import Backward

    return kernel.backward if isinstance(kernel.backward, Backward) else None


def _kernels(what: Any) -> list[BundleKernel]:
    if isinstance(what, (list, tuple, set, frozenset)):
        return [kernel for one in what for kernel in _kernels(one)]
    if isinstance(what, str):
        what = _opened(what)
    if isinstance(what, bundles.Bundle):
        return [what[name] for name in what.kernels]
    if isinstance(what, BundleKernel):
        return [what]
    if isinstance(what, Kernel):
        target = resolve.find(what)
        if isinstance(target, dispatch.Dispatcher):
            return [target.bundle.kernel(row["kernel"]) for row in target.definition["instances"]]
        return [target]
    raise LaunchError("preload wants the name of a package, kernels or a bundle, not %s" % describe(what))


def _opened(package: str) -> Bundle:
    """The bundle that the launches of a package's kernels use."""
    if not all(part.isidentifier() for part in package.split(".")) or finder.package_of(package) is None:
        raise BundleError(
            "there is no package %r to preload\n  help: give its import name; a file is loader.open(…).preload()"
            % package
        )
    return resolve.open_for(package, package)


def _load(kernel: BundleKernel, gpu: context.Device) -> int:
    kernel.bundle.check_sources()
    function, cuda = c_uint64(kernel.load(gpu).function), driver.get()
    with gpu.current():
        # Drivers load lazily (since 11.7): until then there may be a name and no code.
        if cuda.version >= _LOAD_SINCE:
            cuda.call("cuFuncLoad", function, about=kernel.name)
        else:
            cuda.call("cuFuncGetAttribute", byref(c_int()), _REGISTERS, function, about=kernel.name)
    return 1


def preload_bundle(bundle: Bundle, device: Any, kernels: Any, adjoints: bool) -> int:
    """See `Bundle.preload`."""
    if kernels is None:
        return preload(bundle, device, adjoints)
    found = [bundle.kernel(index) for one in _several(kernels) for index in _indices(bundle, one)]
    return preload(found, device, adjoints)


def _several(kernels: Any) -> Any:
    return [kernels] if isinstance(kernels, (str, Kernel, BundleKernel)) else kernels


def _indices(bundle: Bundle, kernel: Any) -> list[int]:
    """Where the kernel of a name, or a kernel object, stands in a bundle; several for a generic one. LaunchError."""
    name = kernel if isinstance(kernel, str) else getattr(kernel, "name", None)
    if not isinstance(name, str):
        raise LaunchError("a kernel is named by `module:name`, or is the kernel itself, not %s" % describe(kernel))
    definition = bundle.manifest["definitions"].get(name)
    if isinstance(kernel, Kernel) and definition is not None:
        if kernel.bound or not generic.open_parameters(kernel.function):
            return [resolve.matching(bundle, name, definition, kernel)]
    elif name in bundle:
        return [bundle.names.index(name)]
    if definition is not None:
        return [row["kernel"] for row in definition["instances"]]
    known = [*bundle.names, *bundle.manifest["definitions"]]
    raise LaunchError("%s: the bundle has no such kernel%s" % (name, did_you_mean(name, known)))


def require(bundle: Bundle, kernels: Any, device: Any) -> None:
    """See `Bundle.require`."""
    gpu = _device(device)
    problems: list[str] = []
    uncovered: list[Row] = []
    wanted = list(_several(kernels))
    for one in wanted:
        try:
            indices = _indices(bundle, one)
        except LaunchError as error:
            problems.append(str(error))
            continue
        for index in indices:
            rows = bundle.rows_of(index)
            if not explaining.best_of(bundle, gpu, rows):
                uncovered += rows
                refused = refusals.reasons(gpu, rows, bundle.allow_ptx)
                problems += explaining.describe_refusals(bundle.names[index], rows, refused)
    if problems:
        place = explaining.describe_device(gpu)
        head = "%s lacks some of %d required kernels on %s:" % (bundle, len(wanted), place)
        lines = [line for problem in problems for line in problem.split("\n")]
        cure = ["  help: rebuild the package with these kernels in it"]
        if uncovered:
            cure = explaining.cures(bundle, gpu, uncovered)
        raise BundleError("\n".join([head, *["  " + line for line in lines], *cure]))


def _device(device: Any) -> Any:
    return device if isinstance(device, select.Device) else _gpu(device)


def _gpu(device: Any) -> context.Device:
    found = context.get_device(device)
    if not isinstance(found, context.Device):
        raise LaunchError("a bundle holds code for GPUs, and none for the device %s" % found)
    return found


def coverage(bundle: Bundle, device: Any) -> list[Row]:
    """See `Bundle.coverage`."""
    gpu = _device(device)
    found = []
    for name in bundle.kernels:
        rows = bundle.rows_of(bundle[name].index)
        best = explaining.best_of(bundle, gpu, rows)
        row: Row = {"kernel": name}
        row.update({key: best.get(key) for key in ("target", "arch", "toolchain", "kind")})
        row["refusals"] = [(rows[i]["target"], reason) for i, reason in refusals.reasons(gpu, rows, bundle.allow_ptx)]
        found.append(row)
    return found


def get_grid(kernel: Any, n: Any, device: Any = None, block_dim: int | None = None) -> tuple[int, int]:
    """(blocks, threads of a block) with which `kb.launch(kernel, dim=n)` covers `n` threads on a GPU.

    `block_dim` is what the launch would be given. Nothing is loaded. Raises LaunchError, BundleError, DriverError.
    """
    try:
        (count,) = geometry.axes(n, 1)
        if block_dim is not None:
            geometry.check_block(block_dim)
    except (ValueError, TypeError) as error:
        raise LaunchError("%s: %s" % (getattr(kernel, "name", kernel), error)) from None
    threads = default_block(one_kernel(kernel), device) if block_dim is None else block_dim
    return -(-count // threads), threads


def one_kernel(kernel: Any) -> BundleKernel:
    """The compiled kernel behind a kernel object. Raises LaunchError, also for a generic one."""
    found = _kernels(kernel) if isinstance(kernel, (Kernel, BundleKernel)) else []
    if len(found) == 1:
        return found[0]
    if found:
        raise LaunchError(
            "%s is generic, and its instances differ\n  help: give one of them: kb.overload(%s, …)"
            % (kernel.name, kernel.__name__)
        )
    raise LaunchError("a function decorated with @kernel, or a bundle's kernel, is wanted, not %s" % describe(kernel))


def default_block(kernel: BundleKernel, device: Any) -> int:
    """Threads of a block where a launch on this device names none."""
    if not kernel.any_block_dim:
        return kernel.block_dim
    gpu = _gpu(device)
    rows = kernel.bundle.rows_of(kernel.index)
    best = explaining.best_of(kernel.bundle, gpu, rows)
    return kernel.block_for(best, gpu) if best else kernel.load(gpu).block_dim


def properties(kernel: BundleKernel, device: Any) -> tuple[int, int, int]:
    """Registers of a thread, static shared bytes of a block, local bytes of a thread, as the driver says. Loads it."""
    gpu = _gpu(device)
    function = c_uint64(kernel.load(gpu).function)
    found = []
    with gpu.current():
        for which in (_REGISTERS, _SHARED, _LOCAL):
            value = c_int()
            driver.get().call("cuFuncGetAttribute", byref(value), which, function, about=kernel.name)
            found.append(value.value)
    return found[0], found[1], found[2]
