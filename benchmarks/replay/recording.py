"""Reading a recording: its kernels, cases and scenes; parameters as values for kbuild, and as bytes for Warp.

Needs Python 3.9 and NumPy; neither Warp nor a GPU.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

DTYPES = {
    "bool": np.bool_,
    **{name: getattr(np, name) for name in ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]},
    **{name: getattr(np, name) for name in ["float16", "float32", "float64"]},
}
_VECTOR = re.compile(r"(?:vec(\d+)|(quat)|(transform))\[(\w+)\]$")
_MATRIX = re.compile(r"mat(\d+)x(\d+)\[(\w+)\]$")
_ARRAY = re.compile(r"array(\d)\[(.*)\]$")

Address = Callable[[str, int], int]  # of an offset in a buffer


class Recording:
    """One group's."""

    def __init__(self, folder: Path, group: str) -> None:
        self.folder, self.group = folder, group
        document = json.loads((folder / f"{group}.json").read_text(encoding="utf-8"))
        self.document = document
        self.structs: dict[str, list[list[Any]]] = document["structs"]
        self.kernels: dict[str, dict[str, Any]] = {row["id"]: row for row in document["kernels"]}
        self.cases: list[dict[str, Any]] = document["cases"]
        self.scenes: list[dict[str, Any]] = document["scenes"]
        self._blobs = (folder / f"{group}.blobs").read_bytes()
        names = folder / f"{group}.names.json"
        report = json.loads(names.read_text(encoding="utf-8")) if names.exists() else {"names": {}, "refused": {}}
        self.names: dict[str, dict[str, str]] = report["names"]
        self.refused: dict[str, str] = report["refused"]

    def blob(self, name: str) -> bytes:
        """Some bytes."""
        offset, length = self.document["blobs"][name]
        return zlib.decompress(self._blobs[offset : offset + length])

    def cubin(self, name: str) -> bytes:
        """Warp's machine code."""
        offset, length = self.document["cubins"][name]
        with open(self.folder / f"{self.group}.cubins", "rb") as file:
            file.seek(offset)
            return zlib.decompress(file.read(length))

    def warp_parameters(self, op: dict[str, Any], address: Address) -> list[bytes]:
        """The parameters as Warp packs them, behind its launch bounds."""
        packed = [bytes.fromhex(op["bounds"])]
        for data, places in op["params"]:
            raw = bytearray.fromhex(data)
            for offset, buffer, there in places:
                raw[offset : offset + 8] = struct.pack("<Q", address(buffer, there))
            packed.append(bytes(raw))
        return packed

    def values(self, op: dict[str, Any], address: Address, array: Callable[..., Any]) -> list[Any]:
        """The parameters as Python values; `array(address, shape, strides, element)` makes the arrays."""
        row = self.kernels[op["kernel"]]
        packed = self.warp_parameters(op, address)[1:]
        return [self._value(type, data, 0, array) for (_, type), data in zip(row["parameters"], packed, strict=False)]

    def _value(self, type: str, data: bytes, offset: int, array: Callable[..., Any]) -> Any:
        found = _ARRAY.match(type)
        if found:
            ndim = int(found[1])
            address, _ = struct.unpack_from("<QQ", data, offset)
            numbers = struct.unpack_from("<8i", data, offset + 16)
            return array(address, numbers[:ndim], numbers[4 : 4 + ndim], found[2])
        if type.startswith("struct:"):
            fields = self.structs[type[7:]]
            return {name: self._value(inner, data, offset + at, array) for name, at, inner in fields if name}
        shape, scalar = shape_of(type)
        count = int(np.prod(shape, dtype=np.int64))
        flat = np.frombuffer(data, DTYPES[scalar], count, offset)
        return flat.reshape(shape).tolist() if shape else flat[0].item()

    def arrays(self, op: dict[str, Any]) -> Iterator[tuple[str, str, int, tuple[int, ...], tuple[int, ...], str]]:
        """(name, buffer, offset, shape, strides, element) of every array that a launch is given."""
        row = self.kernels[op["kernel"]]
        for (name, type), (data, places) in zip(row["parameters"], op["params"], strict=False):
            there = {offset: (buffer, at) for offset, buffer, at in places}
            yield from self._arrays(name, type, bytes.fromhex(data), 0, there)

    def _arrays(self, name: str, type: str, data: bytes, offset: int, there: dict[int, Any]) -> Iterator[Any]:
        found = _ARRAY.match(type)
        if found and offset in there:
            ndim = int(found[1])
            numbers = struct.unpack_from("<8i", data, offset + 16)
            buffer, at = there[offset]
            yield name, buffer, at, numbers[:ndim], numbers[4 : 4 + ndim], found[2]
        elif type.startswith("struct:"):
            for field, at, inner in self.structs[type[7:]]:
                if field:
                    yield from self._arrays(f"{name}.{field}", inner, data, offset + at, there)

    def fields(self, element: str, offset: int = 0) -> list[tuple[int, tuple[int, ...], str]]:
        """(offset, shape, scalar) of what an element of an array consists of."""
        if element.startswith("struct:"):
            rows = self.structs[element[7:]]
            return [part for name, at, inner in rows if name for part in self.fields(inner, offset + at)]
        if _ARRAY.match(element):
            return []  # an address
        shape, scalar = shape_of(element)
        return [(offset, shape, scalar)]

    def views(self, memory: dict[str, Any], buffer: str, at: int, shape: Any, strides: Any, element: str) -> list[Any]:
        """The numbers of an array in the bytes of buffers, as NumPy arrays: one for each field."""
        views = []
        for offset, inner, scalar in self.fields(element):
            dtype = np.dtype(DTYPES[scalar])
            inner_strides = tuple(
                int(np.prod(inner[i + 1 :], dtype=np.int64)) * dtype.itemsize for i in range(len(inner))
            )
            views.append(
                np.ndarray(
                    tuple(shape) + inner, dtype, memory[buffer], at + offset, strides=tuple(strides) + inner_strides
                )
            )
        return views


def arrays_of(recording: Recording, ops: list[dict[str, Any]]) -> list[Any]:
    """Every array that operations are given, each place once."""
    found = {}
    for op in ops:
        if op["op"] == "launch":
            for name, *place in recording.arrays(op):
                found.setdefault(tuple(map(str, place)), (name, *place))
    return list(found.values())


def shape_of(type: str) -> tuple[tuple[int, ...], str]:
    """(shape, scalar) of a number, vector or matrix."""
    if type in DTYPES:
        return (), type
    found = _VECTOR.match(type)
    if found:
        return (int(found[1]) if found[1] else 4 if found[2] else 7,), found[4]
    found = _MATRIX.match(type)
    if found is None:
        raise ValueError(type)
    return (int(found[1]), int(found[2])), found[3]
