"""Compiling at launch, for development: asked for by `KBUILD_JIT=1` or `kb.enable_jit()`, never by accident.

The loader calls `missing_kernel` for a kernel that no bundle holds, or whose sources have changed. The kernel goes the
same way as in a build, for the GPUs of this machine, into a bundle that is never written down.
"""

from __future__ import annotations

import time
from pathlib import Path

from kbuild import targets
from kbuild.config import BuildConfig
from kbuild.errors import KbuildError, Report
from kbuild.loader import bundle as bundles
from kbuild.loader import events, format
from kbuild.loader.context import get_devices
from kbuild.loader.errors import LaunchError
from kbuild.loader.kernel import BundleKernel
from kbuild.loader.types import Kernel
from kbuild.nvrtc import Cache, cache_root, discover
from kbuild.pipeline import Quiet
from kbuild.pipeline.packing import manifest_of
from kbuild.pipeline.units import Compilation, UnitCode, compile_units
from kbuild.scan.data import Request, Scanned
from kbuild.scan.units import cut, find, lower_unit


def missing_kernel(kernel: Kernel) -> BundleKernel:
    """The kernel, compiled for the GPUs of this machine. Raises LaunchError with what is wrong with it."""
    start = time.perf_counter()
    try:
        found = _compiled(kernel)
    except KbuildError as error:
        raise LaunchError(f"{kernel.name} cannot be compiled at launch:\n{error}") from None
    events.emit(
        "compiled",
        kernel=found.name,
        targets=", ".join(found.bundle.manifest["targets"]),
        seconds=time.perf_counter() - start,
    )
    return found


def _compiled(kernel: Kernel) -> BundleKernel:
    request = Request([], [kernel.module], [], fmad=True, lineinfo=False, per_kernel=True)
    report = Report()
    found = find([kernel], report)
    report.raise_errors()
    (unit,) = cut(found, request)
    lowered = lower_unit(unit, found, request, report)
    report.raise_errors()
    assert lowered is not None  # a unit without errors is lowered
    cache = Cache(cache_root())
    config = BuildConfig(Path.cwd(), (kernel.module,), _targets(), ())
    plan = Compilation(config, discover(cache=cache), cache)
    code = UnitCode(unit.name, lowered.rows, lowered.structs, source=lowered.source, files=lowered.files)
    scanned = Scanned([one.row for one in found], [unit])
    compile_units(plan, scanned, [code], Quiet(), None)
    manifest, blobs = manifest_of(plan, kernel.module.partition(".")[0], scanned, [(unit, code)])
    bundle = bundles.from_bytes(format.dump(manifest, blobs.data), "compiled at launch")
    return bundle[found[0].row.name]


def _targets() -> tuple[targets.Target, ...]:
    """A target for each kind of GPU here; on a Tegra the driver's own CUDA version decides."""
    names = []
    for device in get_devices():
        is_tegra = targets.limits(device.target).is_tegra
        major, minor = device.driver
        names.append(f"{device.target}@{major}.{minor}" if is_tegra else device.target)
    return tuple(targets.parse(name) for name in dict.fromkeys(names))
