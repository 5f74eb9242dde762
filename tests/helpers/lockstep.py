"""A kernel run in lockstep on NumPy arrays, without a loader's launch around it."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from kbuild.ir.nodes import Kernel
from kbuild.ir.types import Array, IndexedArray, Struct, Type
from kbuild.loader import abi, interface, pack
from kbuild.sim.blocks import Launch
from kbuild.sim.lockstep.output import Output
from kbuild.sim.lockstep.run import Options, run


def run_in_lockstep(kernel: Kernel, launch: Launch, arguments: Sequence[Any], options: Options | None = None) -> bytes:
    """Runs a launch; what it prints. NumPy arrays are changed in place; (array, tables) is one seen through tables. A
    struct with arrays in it is a dictionary by field.
    """
    offsets, end, values = {}, 0, pack.Packing(frozenset(p.name for p in kernel.function.parameters))
    parameters = [(p.name, p.type) for p in kernel.function.parameters]
    for (name, type), argument in zip(parameters, arguments, strict=True):
        offsets[name] = end = abi.align_up(end, type.align)
        end += type.size
        _add(values, type, argument, name)
    layout = pack.fields_format([(type, offsets[name]) for name, type in parameters], 0, end)
    output = Output()
    run(kernel, launch, struct.pack("<" + layout, *values.values), offsets, options or Options(), output)
    return bytes(output.text)


def _add(values: pack.Packing, type: Type, argument: Any, path: str) -> None:
    """A struct may be a dictionary by field; an array may be None."""
    if isinstance(type, Array):
        values.values.append(bytes(type.size) if argument is None else _descriptor(type, argument))
    elif isinstance(type, Struct) and isinstance(argument, dict):
        for field in type.fields:
            _add(values, field.type, argument[field.name], f"{path}.{field.name}")
    else:
        values.add(type, argument, path)


def _descriptor(type: Array, argument: Any) -> bytes:
    if isinstance(type, IndexedArray):
        host, tables = argument
        plain = _descriptor(Array(type.element, type.ndim), host)
        places = [0 if table is None else table.ctypes.data for table in tables]
        shape = [host.shape[axis] if table is None else len(table) for axis, table in enumerate(tables)]
        text = plain + struct.pack(f"<{type.ndim}Q{type.ndim}i", *places, *shape)
        return text.ljust(type.size, b"\0")
    return _view(argument, type.element, type.ndim).descriptor()


def _view(host: np.ndarray, element: Type, ndim: int) -> interface.View:
    return interface.View(host.ctypes.data, host.shape[:ndim], host.strides[:ndim], element)
