"""A launch made ready: everything is checked and packed once, and launching is one call of the driver.

step = kb.bind(integrate, dim=n, inputs=[pos, vel, gravity, dt])
for _ in range(1000):
    step()
step.set(dt=0.5 * dt)

Called while a graph is being captured, it becomes a part of the graph, which `graph.update(step)` changes later.
"""

from __future__ import annotations

import ctypes
import os
import struct

from . import blocks, checks, context, driver, grids, kernel, placing, recent, resolve, types, uses, waits
from .errors import LaunchError, did_you_mean
from .uses import captures, tapes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .kernel import BundleKernel

__all__ = ("BoundLaunch", "bind")

_SIZES = struct.Struct("<7I")  # grid, block, shared memory: the beginning of CUlaunchConfig
_NODE = struct.Struct("<Q7I4xQQ")  # CUDA_KERNEL_NODE_PARAMS: function, these, parameters, nothing


def bind(
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
    shared_memory: int | None = None,
) -> BoundLaunch:
    """A launch with these arguments, ready to be made many times; arguments as for `kb.launch`. Launches nothing.

    The arguments' memory is kept as long as the bound launch lives. Raises what `kb.launch` raises.
    """
    if shared_memory is not None:
        dim = resolve.sized(kernel, dim, grid, block, block_dim, shared_memory)
    elif grid is not None or block is not None:
        dim = resolve.grid_of(kernel, dim, grid, block, block_dim)
    args = resolve.joined(kernel, inputs, outputs)
    if types.on_launch is not None and isinstance(kernel, types.Kernel) and types.on_launch(kernel, args):
        from . import unlaunched

        return unlaunched.BoundLaunch(kernel, dim, args, stream, device)
    if isinstance(kernel, types.Kernel) and placing.kind_of(device, args) != "cuda":
        from . import provided

        if provided.answers(device, args):
            return provided.BoundLaunch(kernel, dim, args, stream, device, block_dim, max_blocks)
    target = resolve.compiled(kernel, args)
    return BoundLaunch(target, dim, args, stream, device, block_dim, max_blocks)


class BoundLaunch:
    """See `bind`. Call it, or `launch()` it; of one, one thread at a time.

    `set` and `set_dim` change it: the next launch has the new arguments, and is held against what the kernel states.
    Without a stream of its own it runs on the one that was meant when it was bound, and inside `kb.capture` in that
    thread on the one that is captured.
    """

    __slots__ = (
        "_args", "_block_dim", "_entry", "_handle", "_has_tensors", "_invoke", "_is_free", "_is_held",
        "_loaded", "_log", "_max_blocks", "_owners", "_ready", "_slots", "_starts", "_values", "device", "dim",
        "kernel", "stream",
    )  # fmt: skip

    def __init__(
        self,
        target: BundleKernel,
        dim: Any,
        args: Any,
        stream: Any,
        device: Any,
        block_dim: int | None,
        max_blocks: int = 0,
    ) -> None:
        packing = target.packing(args)
        found = target.device_of(packing, device)
        if found.kind != "cuda":
            raise LaunchError("%s: a launch on %s cannot be bound: launch it" % (target.name, found))
        target.bundle.check_sources()
        self.kernel, self.device = target, found
        self._block_dim, self._max_blocks = block_dim, max_blocks
        self._loaded = target.load(found)
        self._log = recent.log(found.ordinal).append
        self._args, self._owners, self._values = tuple(args), packing.owners, packing.values
        self._has_tensors = bool(packing.tensors)
        self._slots: list[Any] = []
        self._starts: list[bytes] = []
        self.dim: Any = None
        self.set_stream(stream)
        self._wait(packing)
        self.set_dim(dim)
        self._hold()

    def _wait(self, packing: Any) -> None:
        """Lets the stream wait for what other libraries are doing to their arrays now."""
        if packing.tensors:
            from . import frameworks

            frameworks.follow(self.device.ordinal, self._handle, self._handle, packing.streams, packing.tensors)
        for producer in packing.streams:
            if max(producer, 1) != max(self._handle, 1):  # 0 and 1 both mean the default stream
                waits.wait_unless_captured(self.device, producer, self._handle)

    def __repr__(self) -> str:
        return "<bound launch of %s, dim=%r, on %s>" % (self.kernel.name, self.dim, self.device)

    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments, in the order of the parameters."""
        return self._args

    def __call__(self) -> None:
        """Launches."""
        if tapes:
            self._watched()
        elif captures:
            self._into_captures()
        elif self._invoke(*self._ready):
            self._carefully()
        else:
            self._log(self._entry)

    launch = __call__

    def _watched(self) -> None:
        """A launch that a tape may want to know of."""
        from .tape import watching

        asked = self.dim, self._args, self.stream, self.device, self._block_dim, self._max_blocks
        if not watching.launch(lambda *_: self._made(), "cuda", self.kernel, *asked):
            self._made()

    def _made(self) -> None:
        if captures:
            self._into_captures()
        else:
            self._carefully()

    def _carefully(self) -> None:
        """Several grids, or the first one again, to find the right context or to say what is wrong."""
        driver.get()  # refuses in a forked child
        self._hold()
        for slot in self._slots:
            self.kernel.invoke(self._loaded, slot)
        self._log(self._entry)
        self._check(self._handle)

    def _check(self, handle: int) -> None:
        if checks.VARIABLE in os.environ and checks.after_launches():
            checks.wait(self.kernel.name, self.device, handle, self.dim, self.kernel.named(self._args))

    def _into_captures(self) -> None:
        """A launch that may be a node of a graph: each grid is one."""
        from . import graphs

        driver.get()  # refuses in a forked child
        self._hold()
        bound = self._handle
        handle = (graphs.captured_here(self.device) or bound) if self._is_free else bound
        nodes = []
        self._put_handle(handle)
        try:
            for slot in self._slots:
                self.kernel.invoke(self._loaded, slot)
                nodes.append(graphs.last_node(self.device, handle))
        finally:
            self._put_handle(bound)
        self._log(self._entry if handle == bound else (self.kernel.name, self.dim, handle))
        for capture in list(captures):
            capture.made(handle, self, nodes, self._owners)
        self._check(handle)

    def _put_handle(self, handle: int) -> None:
        for slot in self._slots:
            kernel.put_stream(slot[0], kernel.STREAM_OFFSET, handle)

    def node_parameters(self) -> list[bytes]:
        """The driver's CUDA_KERNEL_NODE_PARAMS of each grid, for graphs; they point into the launch buffers."""
        self._hold()
        return [
            _NODE.pack(self._loaded.function, *_SIZES.unpack_from(slot[0]), ctypes.addressof(slot[2]), 0)
            for slot in self._slots
        ]

    @property
    def owners(self) -> list[Any]:
        """What holds the memory of the arguments."""
        return self._owners

    def set(self, *pair: Any, **named: Any) -> None:
        """Changes arguments: `set(dt=0.5, pos=pos)`, or `set("dt", 0.5)`, `set(2, 0.5)`. Raises LaunchError."""
        if pair:
            if len(pair) != 2:
                raise LaunchError("%s: set wants a parameter and its value, or names" % self.kernel.name)
            named = dict(named, **{self._name_of(pair[0]): pair[1]})
        args = list(self._args)
        names = [one for one, _ in self.kernel.parameters]
        for name, value in named.items():
            if name not in names:
                raise LaunchError("%s has no parameter %r%s" % (self.kernel.name, name, did_you_mean(name, names)))
            args[names.index(name)] = value
        packing = self.kernel.packing(args)
        self.kernel.device_of(packing, self.device)
        uses.note(self._handle, self.stream, packing.owners)
        self._wait(packing)
        self._args, self._owners, self._values = tuple(args), packing.owners, packing.values
        self._fill()

    def _name_of(self, which: Any) -> str:
        names = [name for name, _ in self.kernel.parameters]
        if type(which) is int and 0 <= which < len(names):
            return names[which]
        return str(which)

    def set_dim(self, dim: Any) -> None:
        """Changes the number of threads; each block keeps its shared memory. Raises LaunchError."""
        dim = resized(self.dim, dim)
        grids = self.kernel.plan(dim, self._block_dim, self._max_blocks, self._loaded)
        shared, attributes = blocks.shared_of(dim, self._loaded.shape), self._loaded.attributes
        starts = [kernel.prefix(attributes, *one, shared=shared) for one in grids]
        self._slots = [self._loaded.take() for _ in starts]
        self.dim, self._starts = dim, starts
        self._fill()

    def set_stream(self, stream: Any) -> None:
        """Changes the stream; None: the one that is meant on the device at this moment, with tensors of PyTorch's among
        the arguments its current one. Raises LaunchError."""
        self._is_free = stream is None
        if stream is None and context.scopes:
            from . import current

            stream = current.stream(self.device.ordinal)
        if stream is None and self._has_tensors:
            from . import frameworks

            stream = frameworks.current_stream(self.device.ordinal) or None
        self.stream, self._handle = stream, self.kernel.stream_of(stream)
        uses.note(self._handle, stream, self._owners)
        self._fill()

    def _fill(self) -> None:
        """Packs everything into the launch buffers."""
        for slot, start in zip(self._slots, self._starts):
            self.kernel.struct.pack_into(slot[0], 0, start, *self._values)
            kernel.put_stream(slot[0], kernel.STREAM_OFFSET, self._handle)
        self._entry = (self.kernel.name, self.dim, self.stream)
        self._ready: Any = ()
        self._invoke: Any = _not_ready
        self._is_held = self.kernel.stated is None
        if self._is_held:
            self._get_ready()

    def _hold(self) -> None:
        """Holds the launch, as it has been changed, against what the kernel states. Raises LaunchError."""
        if not self._is_held:
            from . import stated  # few kernels say anything

            stated.hold(self.kernel, self._values, self.dim, self._block_dim, self.device)
            self._is_held = True
            self._get_ready()

    def _get_ready(self) -> None:
        """Lets a call be one of the driver's."""
        if len(self._slots) == 1 and checks.VARIABLE not in os.environ:
            _, self._ready, _ = self._slots[0]
            self._invoke = driver.get().invoke


def resized(before: Any, dim: Any) -> Any:
    """A new `dim` with the shared memory of the one before."""
    is_same = before.__class__ is not grids.Sized or dim.__class__ is grids.Sized
    return dim if is_same else grids.Sized(dim, before.shared)


def _not_ready(*_: Any) -> int:
    return 1
