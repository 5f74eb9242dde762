"""A kernel of a bundle, and its launch.

`launch` starts as `BundleKernel.thorough`: it checks everything, says what is wrong, loads the code and finds the
context. After a first success a function made for the kernel's parameters (fastpath.py) takes its place, and falls back
to the thorough one whenever something is not as it expects.
"""

from __future__ import annotations

import ctypes
import struct

from . import abi, context, driver, fastpath, geometry, pack, providers
from .errors import LaunchError
from .schema import header_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .bundle import Bundle

    Slot = tuple[Any, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, Any]

# The launch buffer: the driver's CUlaunchConfig (seven u32, stream, no attributes), then the parameter block.
CONFIG_FORMAT = "32sQ24x"
CONFIG_SIZE = 64
_HEAD = struct.Struct("<7I4x")

_pools: list[list[Slot]] = []  # of every loaded kernel; code stays loaded as long as the process, and so do they


def make_slot(function: int, offsets: list[int], size: int) -> Slot:
    """What one launch at a time needs: (buffer, config, function, params, keep-alive).

    `config` and `params` point into the buffer; `offsets` are those of header and parameters in `size` bytes.
    """
    buffer = ctypes.create_string_buffer(CONFIG_SIZE + size)
    address = ctypes.addressof(buffer)
    pointers = (ctypes.c_void_p * len(offsets))(*[address + CONFIG_SIZE + offset for offset in offsets])
    params = ctypes.c_void_p(ctypes.addressof(pointers))
    return buffer, ctypes.c_void_p(address), ctypes.c_void_p(function), params, pointers


class Loaded:
    """A kernel on one device. `pool` holds the slots that no launch is using; taking and giving back are atomic."""

    def __init__(self, kernel: BundleKernel, device: context.Device) -> None:
        self.device = device
        self.pool: list[Slot] = []
        _pools.append(self.pool)
        function = kernel.bundle.function(kernel.index, device)
        offsets, size, pop = [0, *kernel.offsets], kernel.size, self.pool.pop

        def take() -> Slot:
            """A free slot, or a new one: as many come to be as launches happen at the same time."""
            try:
                return pop()
            except IndexError:
                driver.get()  # refuses in a forked child, whose pools are empty
                return make_slot(function, offsets, size)

        self.take = take


class Geometry(dict):  # type: ignore[type-arg]
    """dim → (head of the launch configuration, launch header), for launches that are one grid; computed when missing.

    Equal keys mean equal launches, so `2.0` finds what `2` put here; only a first use of it is refused.
    """

    _LIMIT = 4096

    def __init__(self, ndim: int, block_dim: int) -> None:
        super().__init__()
        self.ndim, self.block_dim = ndim, block_dim

    def __missing__(self, dim: object) -> tuple[bytes, bytes]:
        grids = list(_first_two(geometry.plan(dim, self.ndim, self.block_dim)))
        if len(grids) != 1:
            raise KeyError(dim)
        header, blocks = grids[0]
        if len(self) >= self._LIMIT:
            self.clear()
        entry = self[dim] = (head(blocks, self.block_dim), header)
        return entry


class Geometries(dict):  # type: ignore[type-arg]
    """block_dim → Geometry; None is the kernel's own."""

    def __init__(self, ndim: int, block_dim: int) -> None:
        super().__init__()
        self.ndim = ndim
        self[None] = Geometry(ndim, block_dim)

    def __missing__(self, block_dim: int) -> Geometry:
        geometry.check_block(block_dim)
        made = self[block_dim] = Geometry(self.ndim, block_dim)
        return made


def head(blocks: int, block_dim: int) -> bytes:
    """The first 32 bytes of a CUlaunchConfig: grid, block, no dynamic shared memory."""
    return _HEAD.pack(blocks, 1, 1, block_dim, 1, 1, 0)


def _first_two(grids: Any) -> Any:
    for count, grid in enumerate(grids):
        yield grid
        if count == 1:
            return


class BundleKernel:
    """A compiled kernel. `launch(dim, args=(), stream=None, device=None, block_dim=None)`.

    `dim` is the number of threads, or a tuple of them; `args` are the arguments in the order of `parameters`. The
    device is the one given, else the one of the arrays, else the first. Raises LaunchError for what does not fit,
    BundleError when the bundle holds nothing for the device, DriverError when CUDA refuses.
    """

    launch: Callable[..., None]

    def __init__(self, bundle: Bundle, index: int) -> None:
        row = bundle.manifest["kernels"][index]
        self.bundle, self.index = bundle, index
        self.name: str = row["name"]
        self.ndim: int = row["ndim"]
        self.block_dim: int = row["block_dim"]
        self.size: int = row["size"]
        self.offsets: list[int] = [p["offset"] for p in row["parameters"]]
        self.parameters: list[tuple[str, abi.Type]] = [
            (p["name"], abi.parse(p["type"], bundle.structs)) for p in row["parameters"]
        ]
        start = header_size(self.ndim)
        fields = [(type, offset) for (_, type), offset in zip(self.parameters, self.offsets)]
        block = pack.fields_format(fields, start, self.size)
        self.struct = struct.Struct("<%s%ds%s" % (CONFIG_FORMAT, start, block))
        self.geometries = Geometries(self.ndim, self.block_dim)
        self._loaded: dict[int, Loaded] = {}
        self.launch = self.thorough

    def __repr__(self) -> str:
        listed = ", ".join("%s: %s" % parameter for parameter in self.parameters)
        return "<kernel %s(%s)>" % (self.name, listed)

    def thorough(
        self, dim: Any, args: Any = (), stream: Any = None, device: Any = None, block_dim: int | None = None
    ) -> None:
        """`launch` with every question asked."""
        kind = providers.kind_of(device)
        if kind != "cuda":
            providers.launch_on(kind, self, dim, args, stream, device, block_dim)
            return
        self.bundle.check_sources()
        packing = self._pack(args)
        grids = self._plan(dim, block_dim)
        gpu = self._device(packing, device)
        loaded = self._load(gpu)
        handle = self._stream(stream)
        for producer in packing.streams:
            if max(producer, 1) != max(handle, 1):  # 0 and 1 both mean the default stream
                context.wait_for_stream(gpu, producer, handle)
        for header, blocks in grids:
            self._run(loaded, (head(blocks, block_dim or self.block_dim), handle, header, *packing.values))
        if self.launch == self.thorough:
            self.launch = fastpath.make(self, loaded)

    def _pack(self, args: Any) -> pack.Packing:
        if isinstance(args, (str, bytes, dict)) or not hasattr(args, "__len__"):
            raise LaunchError("%s: args wants a tuple or a list of arguments, not %r" % (self.name, args))
        if len(args) != len(self.parameters):
            names = ", ".join(name for name, _ in self.parameters) or "none"
            message = "%s takes %d arguments (%s), got %d"
            raise LaunchError(message % (self.name, len(self.parameters), names, len(args)))
        packing = pack.Packing()
        for (name, type), value in zip(self.parameters, args):
            try:
                packing.add(type, value, name)
            except pack.Refused as error:
                raise LaunchError("%s: parameter %s: %s" % (self.name, error.path, error.reason)) from None
        return packing

    def _plan(self, dim: Any, block_dim: int | None) -> Any:
        try:
            return geometry.plan(dim, self.ndim, self.block_dim if block_dim is None else block_dim)
        except (ValueError, TypeError) as error:
            raise LaunchError("%s: %s" % (self.name, error)) from None

    def _stream(self, stream: Any) -> int:
        try:
            return context.stream_handle(stream)
        except TypeError as error:
            raise LaunchError("%s: %s" % (self.name, error)) from None

    def _device(self, packing: pack.Packing, wanted: Any) -> context.Device:
        """The device asked for, which must be the arrays' own."""
        places = packing.places + [(path, context.device_of(ptr)) for path, ptr in packing.addresses]
        if wanted is None and places:
            wanted = places[0][1]
        gpu = context.get_device(wanted)
        for path, device in places:
            if device is not gpu:
                message = "%s: parameter %s: the array is on %s, but the launch is on %s"
                raise LaunchError(message % (self.name, path, device, gpu))
        return gpu

    def _load(self, gpu: context.Device) -> Loaded:
        loaded = self._loaded.get(gpu.ordinal)
        if loaded is None:
            loaded = self._loaded.setdefault(gpu.ordinal, Loaded(self, gpu))
        return loaded

    def _run(self, loaded: Loaded, values: tuple[Any, ...]) -> None:
        slot = loaded.take()
        buffer, config, function, params, _ = slot
        self.struct.pack_into(buffer, 0, *values)
        invoke = driver.get().invoke
        status = invoke(config, function, params, None)
        if status in driver.WRONG_CONTEXT:
            with loaded.device.current():
                status = invoke(config, function, params, None)
        loaded.pool.append(slot)
        if status:
            about = "%s on %s (%s)" % (self.name, loaded.device, loaded.device.name)
            raise driver.get().error("cuLaunchKernelEx", status, about)


def _empty_pools() -> None:
    for pool in _pools:
        pool.clear()


driver.on_fork(_empty_pools)
