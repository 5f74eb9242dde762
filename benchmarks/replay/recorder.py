"""Records what Warp launches on the CPU: kernels, parameters, the memory they point into, host operations between.

    recorder = Recorder()                  # before newton and the like are imported: notes how kernels come to be
    with recorder.recording("cloth"):      # everything that is launched goes into the scene's list
        step()

Memory is known by the allocations of Warp's CPU allocator, and none is given back while the recorder lives, so that an
address means one thing for ever. Needs Warp; runs without a GPU.
"""

from __future__ import annotations

import bisect
import contextlib
import ctypes
import functools
import hashlib
import os
import struct
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import warp as wp
from spelling import Structs, Unspeakable, spell, value
from warp._src import build, context

_WANTED_CASES = 2
_LARGEST_CASE = 8 << 20


class Recorder:
    """One for a process."""

    def __init__(self) -> None:
        wp.config.enable_backward = False
        wp.config.log_level = wp.LOG_WARNING
        wp.config.kernel_cache_dir = os.environ.get("REPLAY_CACHE", os.path.join(tempfile.gettempdir(), "warp-unfused"))
        wp.init()
        wp.set_device("cpu")
        self.starts: list[int] = []  # of allocations, sorted
        self.sizes: dict[int, int] = {}
        self.names: dict[int, str] = {}  # buffers by their start
        self.foreign: dict[int, bytes] = {}  # memory of others, as it was when it was first seen
        self.kernels: dict[int, dict[str, Any]] = {}  # by id
        self.live: list[Any] = []  # keeps ids from being used again, and memory of arrays that wrap others' memory
        self.frames: dict[int, list[dict[str, Any]]] = {}
        self.structs: Structs = {}
        self.blobs: dict[str, bytes] = {}
        self.scenes: dict[str, dict[str, Any]] = {}
        self.scene: dict[str, Any] | None = None
        self.cases: list[dict[str, Any]] = []
        self.left_out: dict[str, str] = {}
        self._patch()

    @contextlib.contextmanager
    def recording(self, name: str, repeat: int = 0) -> Iterator[None]:
        """Records a scene: `repeat` times its list is the whole run; 0 is a scene for single launches alone."""
        initial = {start: ctypes.string_at(start, self.sizes[start]) for start in self.starts if repeat}
        self.scene = {"name": name, "repeat": repeat, "ops": [], "again": [], "complete": True, "reasons": []}
        try:
            yield
        finally:
            scene, self.scene = self.scene, None
        if not repeat:
            del scene["again"]
            scene["ops"] = []
            self.scenes[name] = scene
            return
        used = {buffer for op in scene["ops"] for buffer in op["buffers"]}
        by_name = {self.names[start]: start for start in self.names}
        scene["buffers"] = {}
        for buffer in sorted(used):
            start = by_name[buffer]
            data = initial.get(start) or self.foreign.get(start) or bytes(self.sizes[start])
            scene["buffers"][buffer] = {"size": self.sizes[start], "data": self.blob(data)}
        addresses = {buffer: by_name[buffer] for buffer in sorted(used)}
        scene["final"] = self._contents(addresses)
        again = scene.pop("again")
        if repeat and scene["complete"]:
            self._run_again(scene, addresses, again)
        self.scenes[name] = scene

    def _contents(self, addresses: dict[str, int]) -> dict[str, str]:
        return {name: self.blob(ctypes.string_at(start, self.sizes[start])) for name, start in addresses.items()}

    def _run_again(self, scene: dict[str, Any], addresses: dict[str, int], again: list[Callable[[], Any]]) -> None:
        """The list once from the beginning, which must come to the same end, and then the whole run."""
        now = {name: ctypes.string_at(start, self.sizes[start]) for name, start in addresses.items()}
        for name, start in addresses.items():
            ctypes.memmove(start, self.blobs[scene["buffers"][name]["data"]], self.sizes[start])
        for count in range(scene["repeat"]):
            for call in again:
                call()
            if count == 0 and self._contents(addresses) != scene["final"]:
                scene["complete"] = False
                scene["reasons"].append("the list alone does not give what the program gave")
                break
        scene["last"] = self._contents(addresses)
        for name, start in addresses.items():
            ctypes.memmove(start, now[name], self.sizes[start])

    def blob(self, data: bytes) -> str:
        """The name of some bytes."""
        name = hashlib.sha256(data).hexdigest()[:20]
        self.blobs.setdefault(name, data)
        return name

    # Memory

    def find(self, address: int) -> tuple[str, int] | None:
        """(buffer, offset) of an address."""
        index = bisect.bisect_right(self.starts, address) - 1
        if index < 0:
            return None
        start = self.starts[index]
        if address - start >= max(self.sizes[start], 1):
            return None
        if start not in self.names:
            self.names[start] = f"b{len(self.names)}"
        return self.names[start], address - start

    def allocated(self, start: int, size: int) -> None:
        """A new allocation."""
        if start not in self.sizes:
            bisect.insort(self.starts, start)
        self.sizes[start] = max(size, self.sizes.get(start, 0))

    def _patch(self) -> None:
        recorder = self
        allocate = context.CpuDefaultAllocator.allocate

        def allocating(self: Any, size: int) -> int:
            start: int = allocate(self, size)
            ctypes.memset(start, 0, size)  # what wp.empty gives is the same each time
            recorder.allocated(start, size)
            return start

        context.CpuDefaultAllocator.allocate = allocating
        context.CpuDefaultAllocator.deallocate = lambda self, start, size: None
        init = context.Kernel.__init__

        def making(self: Any, *args: Any, **kwargs: Any) -> None:
            init(self, *args, **kwargs)
            recorder.live.append(self)
            recorder.frames[id(self)] = _factories(self.func)

        context.Kernel.__init__ = making
        self.invoke = invoke = context.invoke

        def invoking(kernel: Any, hooks: Any, params: Any, adjoint: bool) -> None:
            after = recorder.launched(kernel, hooks, params) if recorder.scene is not None else None
            invoke(kernel, hooks, params, adjoint)
            if after is not None:
                after()

        context.invoke = invoking
        build_cpu = build.build_cpu
        build.build_cpu = lambda *args, **kwargs: build_cpu(
            *args, **{**kwargs, "fuse_fp": False, "optimization_level": 0}
        )
        core = context.runtime.core
        device = wp.get_device("cpu")
        self._wrap(core, "wp_memcpy_h2h", self._copied)
        self._wrap(core, "wp_memset_host", self._set)
        self._wrap(core, "wp_memtile_host", self._tiled)
        device.memset, device.memtile = core.wp_memset_host, core.wp_memtile_host
        for name in _OTHERS.split():
            if hasattr(core, name):
                self._wrap(core, name, lambda *args, name=name: recorder._unknown(name))

    def _wrap(self, core: Any, name: str, note: Any) -> None:
        original = getattr(core, name)

        def wrapped(*args: Any) -> Any:
            if self.scene is not None:
                note(*args)
            return original(*args)

        setattr(core, name, wrapped)

    # Host operations

    def _op(self, op: str, buffers: list[str], again: Callable[[], Any], **rest: Any) -> None:
        assert self.scene is not None
        self.scene["ops"].append({"op": op, "buffers": buffers, **rest})
        self.scene["again"].append(again)

    def _copied(self, to: int, source: int, size: int) -> None:
        if not size:
            return
        target, origin = self.find(to), self.find(source)
        if target is None:
            return  # out to the host
        if origin is None:
            self._write(to, target, ctypes.string_at(source, size))
        else:
            again = functools.partial(ctypes.memmove, to, source, size)
            self._op("copy", [target[0], origin[0]], again, to=target, source=origin, size=size)

    def _write(self, address: int, target: tuple[str, int], data: bytes) -> None:
        again = functools.partial(ctypes.memmove, address, data, len(data))
        self._op("write", [target[0]], again, to=target, data=self.blob(data), size=len(data))

    def _set(self, to: int, byte: int, size: int) -> None:
        target = self.find(to)
        if target is not None and size:
            again = functools.partial(ctypes.memset, to, byte, size)
            self._op("set", [target[0]], again, to=target, byte=byte, size=size)

    def _tiled(self, to: int, source: Any, size: int, count: int) -> None:
        target = self.find(to)
        if target is not None and count:
            self._write(to, target, ctypes.string_at(source, size) * count)

    def _unknown(self, name: str) -> None:
        assert self.scene is not None
        self.scene["complete"] = False
        self.scene["reasons"].append(f"{name} between launches")

    # Launches

    def launched(self, kernel: Any, hooks: Any, params: Any) -> Any:
        """Notes a launch; what is returned is to be called after it."""
        assert self.scene is not None
        row = self._kernel(kernel)
        bounds = params[0]
        dim = [int(bounds.shape[i]) for i in range(len(bounds.shape))]
        if row["problem"] is None and bounds.coord_mult != 1:
            row["problem"] = "launched with threads that share coordinates"
        if row["problem"] is not None:
            self._leave_out(row)
            return None
        try:
            packed = [
                self._pack(spelling, param) for (_, spelling), param in zip(row["parameters"], params[1:], strict=True)
            ]
        except Unspeakable as error:
            row["problem"] = str(error)
            self._leave_out(row)
            return None
        buffers = sorted({buffer for _, places in packed for _, buffer, _ in places})
        again = functools.partial(self.invoke, kernel, hooks, params, False)
        self._op("launch", buffers, again, kernel=row["id"], dim=dim, bounds=bytes(bounds).hex(), params=packed)
        return self._case(row, self.scene["ops"][-1])

    def _leave_out(self, row: dict[str, Any]) -> None:
        assert self.scene is not None
        self.left_out[f"{row['module']}:{row['qualname']}"] = row["problem"]
        self.scene["complete"] = False
        self.scene["reasons"].append(f"{row['module']}:{row['qualname']}: {row['problem']}")

    def _case(self, row: dict[str, Any], op: dict[str, Any]) -> Any:
        """Memory before and after one launch."""
        assert self.scene is not None
        by_name = {name: start for start, name in self.names.items()}
        places = [(name, by_name[name]) for name in op["buffers"]]
        if sum(self.sizes[start] for _, start in places) > _LARGEST_CASE:
            return None
        before = {name: ctypes.string_at(start, self.sizes[start]) for name, start in places}
        case: dict[str, Any] = {"scene": self.scene["name"], "kernel": row["id"], "op": op, "before": before}

        def after() -> None:
            case["after"] = {name: ctypes.string_at(start, self.sizes[start]) for name, start in places}
            self._keep(case)

        return after

    def _keep(self, case: dict[str, Any]) -> None:
        """Of a kernel's launches in a scene the first and the latest that change memory, else the first."""
        alike = [one for one in self.cases if (one["kernel"], one["scene"]) == (case["kernel"], case["scene"])]
        telling = [one for one in alike if one["after"] != one["before"]]
        if case["after"] != case["before"]:
            for one in [one for one in alike if one not in telling] + telling[_WANTED_CASES - 1 :]:
                self.cases.remove(one)
            self.cases.append(case)
        elif not alike:
            self.cases.append(case)

    def _pack(self, spelling: str, param: Any) -> tuple[str, list[tuple[int, str, int]]]:
        """A parameter's bytes with addresses left out, and where addresses go: (offset, buffer, offset there)."""
        data = bytearray(bytes(param))
        places: list[tuple[int, str, int]] = []
        self._relocate(spelling, data, 0, places)
        return data.hex(), places

    def _relocate(self, spelling: str, data: bytearray, offset: int, places: list[tuple[int, str, int]]) -> None:
        if spelling.startswith("array"):
            address = int.from_bytes(data[offset : offset + 8], "little")
            data[offset : offset + 16] = bytes(16)
            if not address:
                return
            numbers = struct.unpack_from("<8iH", data, offset + 16)
            shape, strides = numbers[: numbers[8]], numbers[4 : 4 + numbers[8]]
            if 0 in shape:
                return
            place = self.find(address)
            if place is None:  # memory of NumPy's, say
                size = sum(s * (n - 1) for n, s in zip(shape, strides, strict=True)) + strides[-1]
                self.allocated(address, size)
                self.foreign[address] = ctypes.string_at(address, size)
                place = self.find(address)
                assert place is not None
            places.append((offset, *place))
        elif spelling.startswith("struct:"):
            for name, start, inner in self.structs[spelling[7:]]:
                if name:
                    self._relocate(inner, data, offset + start, places)

    def _kernel(self, kernel: Any) -> dict[str, Any]:
        if id(kernel) in self.kernels:
            return self.kernels[id(kernel)]
        self.live.append(kernel)
        parent = kernel.generic_parent or kernel
        row: dict[str, Any] = {
            "id": f"k{len(self.kernels)}",
            "module": kernel.func.__module__,
            "qualname": kernel.func.__qualname__,
            "generic": kernel.generic_parent is not None,
            "factories": self.frames.get(id(parent), []),
            "warp_module": kernel.module.name,
            "problem": None,
            "object": kernel,
        }
        self.kernels[id(kernel)] = row
        try:
            row["parameters"] = [(one.label, spell(one.type, self.structs)) for one in kernel.adj.args]
        except Unspeakable as error:
            row["problem"] = f"a parameter of type {error}"
        return row


_OTHERS = """
wp_array_copy_host wp_array_fill_host wp_array_scan_int_host wp_array_scan_float_host wp_array_scan_double_host
wp_radix_sort_pairs_int_host wp_radix_sort_pairs_uint_host wp_radix_sort_pairs_float_host
wp_radix_sort_pairs_double_host wp_segmented_sort_pairs_int_host wp_segmented_sort_pairs_float_host
wp_runlength_encode_int_host
"""


def _factories(func: Any) -> list[dict[str, Any]]:
    """The calls that a kernel stands in, outermost first: function, and arguments as JSON data where they can be."""
    found: list[dict[str, Any]] = []
    if "<locals>" not in func.__qualname__:
        return found
    outer = func.__qualname__.rpartition(".<locals>.")[0]
    frame = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if code.co_qualname == outer and frame.f_globals.get("__name__") == func.__module__:
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            arguments = {}
            for name in names:
                try:
                    arguments[name] = value(frame.f_locals.get(name))
                except Unspeakable as error:
                    arguments[name] = {"unspeakable": str(error)}
            found.insert(0, {"function": f"{func.__module__}:{outer}", "arguments": arguments})
            if "<locals>" not in outer:
                break
            outer = outer.rpartition(".<locals>.")[0]
        frame = frame.f_back
    return found


def squeeze(blobs: dict[str, bytes]) -> tuple[bytes, dict[str, tuple[int, int]]]:
    """All blobs in one piece, each compressed by itself: (piece, name → offset and length)."""
    out, index = bytearray(), {}
    for name in sorted(blobs):
        data = zlib.compress(blobs[name], 6)
        index[name] = (len(out), len(data))
        out += data
    return bytes(out), index
