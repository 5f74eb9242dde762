"""Memory and launches on a GPU: Warp's cubins by the driver, with Warp's parameters; kbuild's by its loader."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

from recording import Recording, shape_of

from kbuild import loader
from kbuild.loader import context, driver
from kbuild.loader.interface import TYPESTR

_GUARD = 256
_PATTERN = 0xA5
_BLOCK = 256
_LAUNCH = (ctypes.c_uint64, *(ctypes.c_uint,) * 7, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p)


class Foreign:
    """An array in memory of ours, as other libraries lend theirs."""

    def __init__(self, described: dict[str, Any]) -> None:
        self.__cuda_array_interface__ = described


def described(address: int, shape: Any, strides: Any, element: str, itemsize: int) -> dict[str, Any]:
    """The interface's dictionary; an array of structs is one of opaque items."""
    if element.startswith(("struct:", "array")):
        inner: tuple[int, ...] = ()
        typestr, step = f"|V{itemsize}", itemsize
    else:
        inner, scalar = shape_of(element)
        typestr = {str(key): text for key, text in TYPESTR.items()}[scalar]
        step = int(typestr[2:])
    inner_strides: tuple[int, ...] = ()
    for extent in reversed(inner):
        inner_strides = (step, *inner_strides)
        step *= extent
    is_empty = 0 in tuple(shape) or not address
    shape = tuple(0 if not address else n for n in shape)
    return {
        "shape": tuple(shape) + inner,
        "strides": None if is_empty else tuple(strides) + inner_strides,
        "typestr": typestr,
        "data": (0 if is_empty else address, False),
        "version": 3,
        "stream": None,
    }


class Gpu:
    """One recording's code on the first GPU."""

    def __init__(self, recording: Recording, folder: Path) -> None:
        self.recording = recording
        self.device = context.get_device()
        self.cuda = driver.get()
        self.cuda.call("cuCtxSetCurrent", self.device.context)
        self.cuda.library.cuLaunchKernel.argtypes = _LAUNCH
        self.bundles = {
            way: loader.open(str(folder / f"{recording.group}.{way}.kbundle")) for way in ("fused", "unfused")
        }
        self.modules: dict[str, int] = {}
        self.functions: dict[tuple[str, str], int] = {}
        self.base = self.size = 0
        self.offsets: dict[str, int] = {}
        self.sizes: dict[str, int] = {}

    def is_alive(self) -> bool:
        """Whether the context still works: a kernel that went astray takes it down."""
        try:
            self.cuda.call("cuCtxSynchronize")
        except loader.DriverError:
            return False
        return True

    def begin(self, buffers: dict[str, bytes]) -> None:
        """Puts buffers into memory, each with a guard before and after it."""
        self.offsets, self.sizes, total = {}, {}, _GUARD
        for name, data in buffers.items():
            self.offsets[name], self.sizes[name] = total, len(data)
            total += -(-len(data) // _GUARD) * _GUARD + _GUARD
        if total > self.size:
            if self.base:
                self.cuda.call("cuMemFree_v2", self.base)
            self.size = max(total, 16 << 20)
            self.base = self.cuda.query("cuMemAlloc_v2", self.size)
        whole = bytearray([_PATTERN]) * total
        for name, data in buffers.items():
            start = self.offsets[name]
            whole[start : start + len(data)] = data
        self.total = total
        self.image = bytes(whole)
        self.again()

    def again(self) -> None:
        """The same memory as at the beginning."""
        self.cuda.call("cuMemcpyHtoDAsync_v2", self.base, self.image, self.total, 0)

    def address(self, buffer: str, offset: int) -> int:
        """Where a buffer's byte is."""
        return self.base + self.offsets[buffer] + offset

    def read(self) -> dict[str, Any]:
        """All buffers. Raises RuntimeError when a guard was written on."""
        self.cuda.call("cuCtxSynchronize")
        whole = bytearray(self.total)
        into = (ctypes.c_char * self.total).from_buffer(whole)
        self.cuda.call("cuMemcpyDtoHAsync_v2", ctypes.addressof(into), self.base, self.total, 0)
        self.cuda.call("cuCtxSynchronize")
        del into
        found = {}
        end = 0
        for name, start in self.offsets.items():
            if whole[end:start].strip(bytes([_PATTERN])):
                raise RuntimeError(f"written outside of memory, before {name}")
            end = start + self.sizes[name]
            found[name] = whole[start:end]
        if whole[end:].strip(bytes([_PATTERN])):
            raise RuntimeError("written outside of memory, at the end")
        return found

    def host_operation(self, op: dict[str, Any]) -> None:
        """A copy, fill or write between launches."""
        to = self.address(*op["to"])
        if op["op"] == "set":
            self.cuda.call("cuMemsetD8Async", to, op["byte"] & 255, op["size"], 0)
        elif op["op"] == "copy":
            self.cuda.call("cuMemcpyDtoDAsync_v2", to, self.address(*op["source"]), op["size"], 0)
        else:
            self.cuda.call("cuMemcpyHtoDAsync_v2", to, self.recording.blob(op["data"]), op["size"], 0)

    def prepare(self, side: str, way: str, op: dict[str, Any]) -> Any:
        """A function that does an operation once."""
        if op["op"] != "launch":
            return lambda: self.host_operation(op)
        return self._warp(way, op) if side == "warp" else self._kbuild(way, op)

    def _warp(self, way: str, op: dict[str, Any]) -> Any:
        row = self.recording.kernels[op["kernel"]]
        code = f"{row['warp']['code']}.{way}"
        if code not in self.modules:
            self.modules[code] = self.cuda.query(
                "cuModuleLoadData", self.recording.cubin(code), about=row["warp_module"]
            )
        key = (code, row["warp"]["entry"])
        if key not in self.functions:
            entry = key[1].encode()
            self.functions[key] = self.cuda.query("cuModuleGetFunction", self.modules[code], entry, about=key[1])
        function = self.functions[key]
        packed = [
            ctypes.create_string_buffer(data, len(data)) for data in self.recording.warp_parameters(op, self.address)
        ]
        params = (ctypes.c_void_p * len(packed))(*[ctypes.addressof(one) for one in packed])
        threads = 1
        for extent in op["dim"]:
            threads *= extent
        blocks = (threads + _BLOCK - 1) // _BLOCK

        def launch(keep: Any = packed) -> None:
            self.cuda.call("cuLaunchKernel", function, blocks, 1, 1, _BLOCK, 1, 1, 0, 0, params, None, about=key[1])

        return launch

    def _kbuild(self, way: str, op: dict[str, Any]) -> Any:
        kernel = self.bundles[way][self.recording.names[way][op["kernel"]]]
        values = self.values(op)
        dim = tuple(op["dim"])

        def launch() -> None:
            kernel.launch(dim, values, block_dim=_BLOCK)

        return launch

    def values(self, op: dict[str, Any]) -> list[Any]:
        """The arguments for kbuild."""

        def array(address: int, shape: Any, strides: Any, element: str) -> Foreign:
            itemsize = self.itemsize(element)
            return Foreign(described(address, shape, strides, element, itemsize))

        return self.recording.values(op, self.address, array)

    def itemsize(self, element: str) -> int:
        """Bytes of an element."""
        return itemsize(self.recording, element)


def itemsize(recording: Recording, element: str) -> int:
    """Bytes of an array's element as Warp lays it out."""
    if element.startswith("struct:"):
        return int(next(size for name, size, _ in recording.structs[element[7:]] if not name))
    return 0
