"""A kernel of a bundle, and its launch.

`launch` starts as `BundleKernel.thorough`: it checks everything, says what is wrong, loads the code and finds the
context. After a second success a function made for the kernel's parameters (fastpath.py) takes its place, and falls
back to the thorough one whenever something is not as it expects.
"""

from __future__ import annotations

import ctypes
import os
import struct

from . import abi, blocks, context, driver, ordering, pack, placing, recent, select, uses
from .errors import LaunchError
from .schema import header_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .bundle import Bundle

    Slot = tuple[Any, Any, Any]

# The launch buffer: the driver's CUlaunchConfig, then the parameter block, which starts with the launch header. Its
# beginning up to the first parameter depends on the geometry alone (but for the stream) and is kept as one text.
CONFIG_SIZE = 64
_CONFIG = struct.Struct("<7I4xQ24s")  # grid, block, dynamic shared memory; stream; attributes; to 64 bytes
_ATTRIBUTES = struct.Struct("<QI12x")  # address, count
# "Programmatic stream serialization" (CUlaunchAttribute 6), on: the GPU gets the launch ready while the one before it
# in the stream ends. Code that `waits` begins by waiting for that end, so nothing is different but the time.
_EARLY = ctypes.create_string_buffer(struct.pack("<I4xI", 6, 1), 72)
_FIRST_EARLY = 90  # before compute capability 9.0 no code can wait
_OVERLAP = "KBUILD_OVERLAP"  # 0: every launch begins when the one before it has ended
STREAM_OFFSET = 32
_CHECK = "KBUILD_CHECK"  # see checks.py
_UNKNOWN = object()
put_stream = struct.Struct("<Q").pack_into

_pools: list[list[Slot]] = []  # of every loaded kernel; code stays loaded as long as the process, and so do they


def make_slot(function: int, offsets: list[int], size: int) -> Slot:
    """What one launch at a time needs: (buffer, arguments of `Driver.invoke`, keep-alive).

    Config and params point into the buffer; `offsets` are those of header and parameters in `size` bytes. ctypes passes
    on ready-made arguments (`from_param`) as they are, 0.2 µs a launch less than `c_void_p`, and a tuple of them too.
    """
    buffer = ctypes.create_string_buffer(CONFIG_SIZE + size)
    address = ctypes.addressof(buffer)
    pointers = (ctypes.c_void_p * len(offsets))(*[address + CONFIG_SIZE + offset for offset in offsets])
    ready = ctypes.c_void_p.from_param
    return buffer, (ready(address), ready(function), ready(ctypes.addressof(pointers)), None), pointers


class Loaded:
    """A kernel on one device. `pool` holds the slots that no launch is using; taking and giving back are atomic."""

    def __init__(self, kernel: BundleKernel, device: context.Device) -> None:
        self.device = device
        self.pool: list[Slot] = []
        self.function, row = function, _ = kernel.bundle.code(kernel.index, device)
        self.block_dim = kernel.block_for(row, device)
        self.attributes = _attributes(kernel.waits and select.number_of(row["arch"]) >= _FIRST_EARLY)
        self.shape, offsets = kernel.shape, [0, *kernel.offsets]
        if self.shape.plain:  # which has no launch header
            offsets = kernel.offsets
        if self.shape.is_open:
            from . import dynamic  # few kernels leave the size of their shared memory open

            self.shape = dynamic.admitted(kernel, function, device)
        self.prefixes = Prefixes(self.shape, self.block_dim, self.attributes)
        size, pop = kernel.size, self.pool.pop

        def take() -> Slot:
            """A free slot, or a new one: as many come to be as launches happen at the same time."""
            try:
                return pop()
            except IndexError:
                driver.get()  # refuses in a forked child, whose pools are empty
                return make_slot(function, offsets, size)

        self.take = take


class Prefixes:
    """What launch buffers start with, by dim and block_dim; `known` has those without a block_dim of their own.

    Equal keys mean equal launches, so `2.0` finds what `2` put here: whoever asks looks at the type of `dim` too.
    """

    _LIMIT = 4096

    def __init__(self, shape: blocks.Shape, block_dim: int, attributes: bytes) -> None:
        self.shape, self.block_dim, self.attributes = shape, block_dim, attributes
        self.known: dict[Any, bytes] = {}
        self._others: dict[Any, bytes] = {}

    def find(self, dim: Any, block_dim: int | None = None) -> bytes:
        """The prefix of a launch that is one grid. Raises KeyError for others, TypeError, ValueError for wrong ones."""
        block = self.block_dim if block_dim is None else block_dim
        if block.__class__ is not int:  # a look-up takes 64.0 for 64
            raise KeyError(block)
        known, key = (self.known, dim) if block_dim is None else (self._others, (dim, block_dim))
        found = known.get(key)
        if found is not None:
            return found
        grids = blocks.plan(dim, self.shape, block)
        first, second = next(grids, None), next(grids, None)
        if first is None or second is not None:
            raise KeyError(dim)
        if len(known) >= self._LIMIT:
            known.clear()
        made = known[key] = prefix(self.attributes, *first, shared=blocks.shared_of(dim, self.shape))
        return made


def prefix(
    attributes: bytes, header: bytes, grid: tuple[int, int, int], block: tuple[int, int, int], *, shared: int = 0
) -> bytes:
    """The beginning of a launch buffer, for the default stream; `shared` are bytes of a block's shared memory."""
    return _CONFIG.pack(*grid, *block, shared, 0, attributes) + header


def _attributes(may_be_early: bool) -> bytes:
    """The launch attributes, as a configuration holds them."""
    if not may_be_early or os.environ.get(_OVERLAP) == "0":
        return b""
    return _ATTRIBUTES.pack(ctypes.addressof(_EARLY), 1)


class BundleKernel:
    """A compiled kernel. `launch(dim, args=(), stream=None, device=None, block_dim=None, max_blocks=0)`.

    `dim` is the number of threads, or a tuple of them, or a `grids.Grid`; `args` are the arguments in the order of
    `parameters`. The device is the one given, else the one of the arrays, else the first. Raises LaunchError for what
    does not fit, BundleError when the bundle holds nothing for the device, DriverError when CUDA refuses.
    """

    launch: Callable[..., None]

    def __init__(self, bundle: Bundle, index: int) -> None:
        row = bundle.manifest["kernels"][index]
        self.bundle, self.index = bundle, index
        self.name: str = row["name"]
        self.ndim: int = row["ndim"]
        self.block_dim: int = row["block_dim"]
        self.any_block_dim: bool = row.get("any_block_dim", False)
        self.waits: bool = row.get("waits", False)
        self.shape = blocks.Shape(row)
        self.size: int = row["size"]
        self.offsets: list[int] = [p["offset"] for p in row["parameters"]]
        self.parameters: list[tuple[str, abi.Type]] = [
            (p["name"], abi.parse(p["type"], bundle.structs)) for p in row["parameters"]
        ]
        self.optional: frozenset[str] = frozenset(row.get("optional", ()))
        self.stated: Any = row.get("stated")  # what launches are held against; a `stated.Stated` from the first on
        start = header_of(row)
        fields = [(type, offset) for (_, type), offset in zip(self.parameters, self.offsets)]
        block = pack.fields_format(fields, start, self.size)
        self.struct = struct.Struct("<%ds%s" % (CONFIG_SIZE + start, block))
        self._loaded: dict[int, Loaded] = {}
        self._is_launched = self._takes_tensors = False
        self.error: Exception | None = None  # what the last `kb.launch` of it that failed has raised
        self.source: Any = None  # the live kernel that it was found for, which other devices than a GPU may ask for
        self.launch = self.thorough
        self._quick: tuple[Any, Loaded] | None = None  # what has made a quick launch, and for which device
        self._unwatched: Any = None
        self.find_backward: Callable[[], Any] | None = None  # where the bundle itself knows nothing of an adjoint
        self._backward: Any = _UNKNOWN

    @property
    def backward(self) -> Any:
        """The kernel's adjoint, a `backward.Backward`; where it was built without one None, where there can be none a
        `backward.Refused`, whose every attribute raises LaunchError.
        """
        if self._backward is _UNKNOWN:
            from . import backward  # for who asks for gradients

            self._backward = backward.read(self) if self.find_backward is None else self.find_backward()
        return self._backward

    def __repr__(self) -> str:
        listed = ", ".join("%s: %s" % parameter for parameter in self.parameters)
        return "<kernel %s(%s)>" % (self.name, listed)

    def thorough(
        self,
        dim: Any,
        args: Any = (),
        stream: Any = None,
        device: Any = None,
        block_dim: int | None = None,
        max_blocks: int = 0,
    ) -> None:
        """`launch` with every question asked."""
        kind = placing.kind_of(device, args)
        if kind != "cuda":
            from . import providers

            providers.launch_on(kind, self.source or self, dim, args, stream, device, block_dim, max_blocks)
            return
        if uses.tapes:
            from .tape import watching

            if watching.launch(self.unwatched(), kind, self, dim, args, stream, device, block_dim, max_blocks):
                return
        self.bundle.check_sources()
        packing = self.packing(args)
        is_empty = next(self.plan(dim, block_dim, max_blocks), None) is None
        handle = self.stream_of(stream)
        gpu = self.device_of(packing, device)
        if gpu.kind != "cuda":
            from . import providers

            providers.launch_on(gpu.kind, self.source or self, dim, args, stream, gpu, block_dim, max_blocks)
            return
        if self.stated is not None:
            from . import stated  # few kernels say anything

            stated.hold(self, packing.values, dim, block_dim, gpu)
        if is_empty:
            return
        if stream is None and context.scopes:
            from . import current

            stream = current.stream(gpu.ordinal)
            handle = ordering.stream_handle(stream)
        loaded = self.load(gpu)
        if packing.streams or packing.tensors:
            from . import lending

            stream, handle = lending.follow(gpu, stream, handle, packing)
        uses.note(handle, stream, packing.owners)
        for one in self.plan(dim, block_dim, max_blocks, loaded):
            start = prefix(loaded.attributes, *one, shared=blocks.shared_of(dim, loaded.shape))
            self._run(loaded, start, packing.values, handle)
        recent.log(gpu.ordinal).append((self.name, dim, stream))
        if _CHECK in os.environ:
            from . import checks

            if checks.after_launches():
                checks.wait(self.name, gpu, handle, dim, self.named(args))
                return  # and stay thorough
        if not self._is_launched:
            self._is_launched = True
        elif packing.tensors and not self._takes_tensors:
            from . import fasttensors

            self._takes_tensors = True
            self._become_quick(fasttensors.make, loaded)
        elif self.launch == self.thorough:
            from . import fastpath  # a program that launches once does without

            self._become_quick(fastpath.make, loaded)

    def _become_quick(self, make: Any, loaded: Loaded) -> None:
        self._quick, self._unwatched = (make, loaded), None
        self.launch = make(self, loaded, put_stream, STREAM_OFFSET, uses.tapes)

    def unwatched(self) -> Callable[..., None]:
        """`launch` for what `tape.watching` has looked at already: quick also while there are tapes."""
        if self._unwatched is None:
            if self._quick is None:
                return self.thorough
            make, loaded = self._quick
            self._unwatched = make(self, loaded, put_stream, STREAM_OFFSET, ())
        return self._unwatched  # type: ignore[no-any-return]

    def packing(self, args: Any) -> pack.Packing:
        """The arguments' numbers, and what they say about devices. Raises LaunchError."""
        return pack.arguments(self.name, self.parameters, args, self.optional)

    def named(self, args: Any) -> list[tuple[str, Any]]:
        """Parameters' names with these arguments."""
        return [(name, value) for (name, _), value in zip(self.parameters, args)]

    def plan(self, dim: Any, block_dim: int | None, max_blocks: int = 0, loaded: Loaded | None = None) -> Any:
        """The grids of a launch; without a block_dim the device where it is loaded decides. Raises LaunchError."""
        known = self if loaded is None else loaded
        return self._ask(blocks.plan, dim, known.shape, known.block_dim if block_dim is None else block_dim, max_blocks)

    def stream_of(self, stream: Any) -> int:
        """A stream's handle. Raises LaunchError."""
        return self._ask(ordering.stream_handle, stream)  # type: ignore[no-any-return]

    def _ask(self, question: Callable[..., Any], *args: Any) -> Any:
        try:
            return question(*args)
        except (ValueError, TypeError) as error:
            raise LaunchError("%s: %s" % (self.name, error)) from None

    def device_of(self, packing: pack.Packing, wanted: Any) -> Any:
        """The device asked for, which must be the arrays' own. Raises LaunchError."""
        places = packing.places
        if not packing.addresses:
            found = context.get_device(places[0][1] if wanted is None and places else wanted)
            if all(place is found for _, place in places):
                return found
        from . import places as elsewhere  # for arrays of other libraries, and on other GPUs

        return elsewhere.device_of(self.name, packing, wanted)

    def block_for(self, row: dict[str, Any], gpu: select.Device) -> int:
        """Threads of a block where a launch names none, by the row of the cubin that the GPU runs."""
        for resources in row["resources"] if self.any_block_dim else ():
            if resources["kernel"] == self.index:
                from . import occupancy  # not for kernels that say how large their blocks are

                most = self.shape.max_threads
                return occupancy.best_block(gpu.number, resources["registers"], resources["shared"], most)
        return self.block_dim

    def load(self, gpu: context.Device) -> Loaded:
        """The kernel on a GPU, loaded at the first call. Raises BundleError, DriverError."""
        loaded = self._loaded.get(gpu.ordinal)
        if loaded is None:
            made = Loaded(self, gpu)
            loaded = self._loaded.setdefault(gpu.ordinal, made)
            if loaded is made:  # of threads that come at once, one wins
                _pools.append(made.pool)
        return loaded

    def _run(self, loaded: Loaded, start: bytes, values: list[Any], stream: int) -> None:
        slot = loaded.take()
        self.struct.pack_into(slot[0], 0, start, *values)
        put_stream(slot[0], STREAM_OFFSET, stream)
        try:
            self.invoke(loaded, slot)
        finally:
            loaded.pool.append(slot)

    def invoke(self, loaded: Loaded, slot: Slot) -> None:
        """Launches what a slot holds, in the GPU's own context where the current one will not do."""
        _, ready, _ = slot
        invoke = driver.get().invoke
        status = invoke(*ready)
        if status in driver.WRONG_CONTEXT:
            with loaded.device.current():
                status = invoke(*ready)
        if status:
            about = "%s on %s (%s)" % (self.name, loaded.device, loaded.device.name)
            raise driver.get().error("cuLaunchKernelEx", status, about)


def _empty_pools() -> None:
    for pool in _pools:
        pool.clear()


driver.on_fork(_empty_pools)
