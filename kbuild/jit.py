"""Compiling at launch, for development: asked for by `KBUILD_JIT=1` or `kb.enable_jit()`, never by accident.

The loader calls `missing_kernel` for a kernel that no bundle holds, or whose sources have changed. The kernel goes the
same way as in a build, for the GPUs of this machine, into a bundle that is never written down. Its adjoint is compiled
when a tape wants it, into another.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

from kbuild import config, targets
from kbuild.config import BuildConfig
from kbuild.errors import KbuildError, Report, Span
from kbuild.loader import abi, events, format, struct_table
from kbuild.loader import bundle as bundles
from kbuild.loader.backward import ADJOINT, Backward, Refused
from kbuild.loader.bundle import Bundle
from kbuild.loader.cuda_files import CudaKernel
from kbuild.loader.errors import LaunchError
from kbuild.loader.hosts import get_devices
from kbuild.loader.kernel import BundleKernel
from kbuild.loader.types import Kernel
from kbuild.nvrtc import Cache, cache_root, discover
from kbuild.pipeline import Quiet
from kbuild.pipeline.cuda import settings_of
from kbuild.pipeline.packing import manifest_of
from kbuild.pipeline.units import Compilation, UnitCode, code_of, compile_units
from kbuild.scan.adjoints import adjoints_of, lower_adjoints
from kbuild.scan.cuda import CudaSettings
from kbuild.scan.data import WANTED, Request, Scanned, in_words
from kbuild.scan.units import cut, find, lower_unit


def missing_kernel(kernel: Kernel) -> BundleKernel:
    """The kernel, compiled for the GPUs of this machine. Raises LaunchError with what is wrong with it."""
    start = time.perf_counter()
    try:
        found = _compiled(kernel)
    except KbuildError as error:
        raise LaunchError(f"{kernel.name} cannot be compiled at launch:\n{error}") from None
    _tell(found.bundle, found.name, start)
    return found


def _compiled(kernel: Kernel) -> BundleKernel:
    request = _request(kernel, "")
    report = Report()
    found = find([kernel], report, settings=CudaSettings(**request.cuda))
    report.raise_errors()
    (unit,) = cut(found, request)
    lowered = lower_unit(unit, found, request, report)
    report.raise_errors()
    assert lowered is not None  # a unit without errors is lowered
    bundle = _bundle(_plan(kernel), Scanned([one.row for one in found], [unit]), code_of(lowered))
    made = bundle[found[0].row.name]
    if not isinstance(kernel, CudaKernel):  # of which the bundle says that there is no adjoint
        made.find_backward = partial(_backward, kernel)
    return made


def _backward(kernel: Kernel) -> Backward | Refused | None:
    """The kernel's adjoint, which is compiled when it is wanted. Raises LaunchError."""
    try:
        return _adjoint(kernel)
    except KbuildError as error:
        raise LaunchError(f"the gradient of {kernel.name} cannot be compiled at launch:\n{error}") from None


def _adjoint(kernel: Kernel) -> Backward | Refused | None:
    request = _request(kernel, WANTED)
    report = Report()
    found = find([kernel], report)
    report.raise_errors()
    adjoints = adjoints_of(found, request)
    if not adjoints:
        return None
    plan, name = _plan(kernel), found[0].row.name
    (unit,) = cut(adjoints, request)
    lowered = lower_adjoints(unit, adjoints, request, plan.limit)
    assert lowered is not None  # the kernel itself has been compiled
    row = lowered.backward[name]
    if "refused" in row:
        return Refused(name, in_words(row["refused"], row["help"]), Span(*row["place"]).line)
    structs = struct_table.parse(lowered.structs)
    count = kernel.function.__code__.co_argcount
    parameters = lowered.rows[name + ADJOINT]["parameters"][:count]

    def compiled() -> BundleKernel:
        start = time.perf_counter()
        try:
            bundle = _bundle(plan, Scanned([one.row for one in adjoints], [unit]), code_of(lowered))
        except KbuildError as error:
            raise LaunchError(f"the gradient of {kernel.name} cannot be compiled at launch:\n{error}") from None
        _tell(bundle, name + ADJOINT, start)
        return bundle[name + ADJOINT]

    return Backward(name, [(n, abi.parse(spelling, structs)) for n, spelling in parameters], row, compiled)


def _request(kernel: Kernel, backward: str) -> Request:
    return Request([], [kernel.module], [], True, False, True, backward=backward, cuda=_cuda_settings(kernel))


def _cuda_settings(kernel: Kernel) -> dict[str, object]:
    """What the project around a kernel in CUDA C++ says of such files."""
    if isinstance(kernel, CudaKernel):
        for folder in Path(kernel.function.__code__.co_filename).resolve().parents:
            found = config.load(folder)
            if found is not None:
                return settings_of(found)
    return {}


def _plan(kernel: Kernel) -> Compilation:
    cache = Cache(cache_root())
    return Compilation(BuildConfig(Path.cwd(), (kernel.module,), _targets(), ()), discover(cache=cache), cache)


def _bundle(plan: Compilation, scanned: Scanned, code: UnitCode) -> Bundle:
    """The one unit, compiled, as a bundle."""
    compile_units(plan, scanned, [code], Quiet(), None)
    (unit,) = scanned.units
    manifest, blobs = manifest_of(plan, unit.module.partition(".")[0], scanned, [(unit, code)])
    return bundles.from_bytes(format.dump(manifest, blobs.data), "compiled at launch")


def _tell(bundle: Bundle, name: str, start: float) -> None:
    targets = ", ".join(bundle.manifest["targets"])
    events.emit("compiled", kernel=name, targets=targets, seconds=time.perf_counter() - start)


def _targets() -> tuple[targets.Target, ...]:
    """A target for each kind of GPU here; on a Tegra the driver's own CUDA version decides."""
    names = []
    for device in get_devices():
        is_tegra = targets.limits(device.target).is_tegra
        major, minor = device.driver
        names.append(f"{device.target}@{major}.{minor}" if is_tegra else device.target)
    return tuple(targets.parse(name) for name in dict.fromkeys(names))
