"""An opened bundle: its kernels by name, and its code on the GPUs of this machine.

Opening reads and checks the manifest. Code is decompressed, checked and loaded at the first launch of a kernel that it
holds, once a unit and device.
"""

from __future__ import annotations

import os
import sys
import time
from _thread import RLock
from ctypes import c_int, c_uint64

from . import context, driver, finder, ordering, reading, select
from .errors import BundleError, DriverError, LaunchError
from .kernel import BundleKernel
from .schema import ADJOINT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Row = dict[str, Any]

__all__ = ("Bundle", "open")

_MAX_THREADS = 0  # CUfunction_attribute
# Modules of which one is there where somebody may want to hear what happens (see events.py).
_LISTENERS = frozenset(("logging", "%s.events" % __package__))


class _Search:
    """What one look for a kernel's code has met: (row, reason) the driver refused, (row, seconds, bytes) it loaded."""

    __slots__ = ("attempts", "loads")

    def __init__(self) -> None:
        self.attempts: list[tuple[int, str]] = []
        self.loads: list[tuple[Row, float, int]] = []


class Bundle:
    """The kernels of a package, compiled. `bundle["robosim.kernels:integrate"].launch(dim=n, args=(…))`.

    `digest` identifies the content; `kernels` are the names; `manifest` is all that the bundle says about itself.
    Adjoints are found by their names, `bundle["robosim.kernels:integrate:adjoint"]`, and by `kernel.backward`; they are
    not among `kernels`, over which a bundle goes, nor in its length: nobody launches them but a tape.
    """

    def __init__(self, parsed: reading.Parsed, label: str, allow_ptx: bool = False) -> None:
        self.parsed, self.label, self.allow_ptx = parsed, label, allow_ptx
        self.manifest: Row = parsed.manifest
        self.names: tuple[str, ...] = tuple(row["name"] for row in self.manifest["kernels"])  # adjoints too
        self.kernels: tuple[str, ...] = tuple([name for name in self.names if not name.endswith(ADJOINT)])
        self.structs = parsed.structs
        self._index = {name: i for i, name in enumerate(self.names)}
        self._made: dict[int, BundleKernel] = {}
        self._modules: dict[tuple[int, int], c_uint64] = {}  # (blob, device) → CUmodule, written there by the driver
        self._lock = RLock()
        self._is_fresh = self.manifest["sources"] is None
        self.has_checked_backward = False  # see backward.py
        if "asserts" in self.manifest:
            from . import asserts  # what few bundles have

            asserts.remember(self.manifest, label)

    @property
    def digest(self) -> str:
        """`sha256:…` over the manifest and the raw cubins; what `open(…, digest=…)` compares."""
        return self.parsed.digest

    def __getitem__(self, name: str) -> BundleKernel:
        index = self._index.get(name)
        if index is None:
            from . import explaining

            raise LaunchError(explaining.no_kernel(self, name))
        return self.kernel(index)

    def __iter__(self) -> Iterator[str]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self.kernels)

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def __str__(self) -> str:
        return "the bundle of package %r (%s)" % (self.manifest["package"], self.label)

    def kernel(self, index: int) -> BundleKernel:
        """The kernel at an index of the manifest's table; the same object every time."""
        made = self._made.get(index)
        if made is None:
            made = self._made.setdefault(index, BundleKernel(self, index))
        return made

    def verify(self) -> None:
        """Checks every cubin: both digests, and its own tables against the manifest. Raises BundleError."""
        from . import verifying

        verifying.verify(self)

    def check_sources(self) -> None:
        """Once, at a first launch: raises StaleBundle when an editable install's sources have changed."""
        if not self._is_fresh:
            from . import sources  # for editable installs alone

            sources.check(self.manifest)
            self._is_fresh = True

    def code(self, index: int, device: context.Device) -> tuple[int, Row]:
        """The driver's handle of a kernel on a device, and the row of the cubin that it is in.

        Raises BundleError when nothing here runs there.
        """
        kernel = self.manifest["kernels"][index]
        rows = self.rows_of(index)
        search = _Search()
        driver.get()  # refuses in a forked child, where the lock may be held by a thread that is not there
        with self._lock, device.current(), ordering.Relaxed():  # a first launch may be one that is captured
            found = self._first(rows, select.order(device, rows, self.allow_ptx), kernel, device, search)
        if (search.loads or found is None) and _LISTENERS.intersection(sys.modules):
            from . import events

            events.tell_loading(self, rows, device, search)
        if found is None:
            from . import explaining  # after the fact alone

            raise BundleError(explaining.no_code(self, device, kernel["name"], rows, search.attempts))
        return found

    def _first(
        self, rows: list[Row], order: list[int], kernel: Row, device: context.Device, search: _Search
    ) -> tuple[int, Row] | None:
        """The first code in an order that the driver takes."""
        for i in order:
            try:
                module = self._module(rows[i], device, search)
            except DriverError as error:
                if error.code not in driver.NO_BINARY:
                    raise _worded(error) from None
                search.attempts.append((i, error.name))
                continue
            return _function(module, kernel["entry"], kernel["name"]), rows[i]
        return None

    def rows_of(self, index: int) -> list[Row]:
        """The rows of the code that holds a kernel, one for each target."""
        return [row for row in self.manifest["cubins"] if index in row["kernels"]]

    def _module(self, row: Row, device: context.Device, search: _Search) -> int:
        key = (row["blob"], device.ordinal)
        module = self._modules.setdefault(key, c_uint64())
        if not module.value:
            start = time.perf_counter()
            data = self.parsed.blob(row["blob"])
            if row["kind"] == "ptx":
                data += b"\0"
            about = "%s for %s on %s (%s)" % (row["unit"], row["target"], device, device.name)
            driver.get().call("cuModuleLoadData", module, data, about=about)
            search.loads.append((row, time.perf_counter() - start, len(data)))
        return module.value

    def preload(self, device: Any = None, kernels: Any = None, adjoints: bool = False) -> int:
        """Loads the code of all kernels, or of these, on a GPU (the first, unless named) now; returns how many.

        `kernels` are names or kernels; with `adjoints` theirs are loaded too. No launch and no graph capture has to
        load them then. Raises BundleError, LaunchError, StaleBundle, DriverError.
        """
        from . import readiness

        return readiness.preload_bundle(self, device, kernels, adjoints)

    def require(self, kernels: Any, device: Any = None) -> None:
        """Raises one BundleError that lists each of these kernels that is not here, or has no code for a device.

        `kernels` are names or kernels; the device is the first GPU, unless named, or a select.Device that need not be
        here. Nothing is loaded.
        """
        from . import readiness

        readiness.require(self, kernels, device)

    def coverage(self, device: Any = None) -> list[Row]:
        """A row for each of `kernels`, with what a device would load for it. Nothing is loaded.

        The device is the first GPU, unless named, or a select.Device that need not be here. Each row: `kernel`,
        `target`, `arch`, `toolchain`, `kind` (None where nothing fits), and `refusals`, a list of (target, reason).
        """
        from . import readiness

        return readiness.coverage(self, device)


def _function(module: int, entry: str, name: str) -> int:
    """The driver's handle of a kernel, whose code is on the GPU then, however lazy the driver is."""
    cuda, value = driver.get(), c_int()
    try:
        found = cuda.query("cuModuleGetFunction", module, entry.encode(), about=name)
        cuda.call("cuFuncGetAttribute", value, _MAX_THREADS, found, about=name)
    except DriverError as error:
        raise _worded(error) from None
    return found


def _worded(error: DriverError) -> DriverError:
    from . import failures

    return failures.in_time(error)


def open(name: str | os.PathLike[str], digest: str | None = None, allow_ptx: bool | None = None) -> Bundle:
    """The bundle of an installed package (not imported for it), of a folder, or in a `.kbundle` file.

    `digest` ("sha256:…") names the only content that is accepted. `allow_ptx` lets the driver compile PTX where no
    cubin fits; the default is what KBUILD_ALLOW_PTX=1 says. Raises BundleError.
    """
    label, data = finder.locate(os.fspath(name))
    return from_bytes(data, label, digest, allow_ptx)


def from_bytes(data: bytes, label: str, digest: str | None = None, allow_ptx: bool | None = None) -> Bundle:
    """A bundle that is in memory; `label` says in messages where it came from. See `open`."""
    try:
        parsed = reading.read(data)
    except BundleError as error:
        raise BundleError("%s: %s\n  help: reinstall the package" % (label, error)) from None
    if digest is not None and parsed.digest != digest:
        raise BundleError(
            "%s is not the bundle that is trusted: its digest is %s, not %s" % (label, parsed.digest, digest)
        )
    if allow_ptx is None:
        allow_ptx = os.environ.get("KBUILD_ALLOW_PTX") == "1"
    bundle = Bundle(parsed, label, allow_ptx)
    if _LISTENERS.intersection(sys.modules):
        from . import events

        if events.is_wanted(events.INFO):
            events.emit("opened", bundle=label, digest=bundle.digest, kernels=len(bundle))
    return bundle
