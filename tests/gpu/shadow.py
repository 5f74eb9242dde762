"""Every launch of the GPU tests a second time in the simulator, on copies of its arrays: do both give the same bits?

    KBUILD_SHADOW=agreement.json pytest tests/gpu

The file then says how many launches agreed bit for bit, how many were near where only that can be asked (a function
that is approximate, a float sum whose order is open), which did not agree, or were not tried, and why. Needs NumPy.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np

import kbuild as kb
from kbuild.intrinsics.table import ALL_ROWS
from kbuild.ir import nodes
from kbuild.ir.traverse import callees, walk
from kbuild.ir.types import Scalar
from kbuild.loader import abi
from kbuild.loader.layout import abi_type
from kbuild.sim.numbers import APPROXIMATE
from kbuild.simulate import settings
from kbuild.simulate.compiled import compiled

# Two results of approximate functions may be this far apart, relative to the largest number of the array.
NEAR = {2: 2.0**-7, 4: 2.0**-16, 8: 2.0**-40}

MOST = 1 << 21  # threads; larger launches are left to the GPU


class Shadow:
    """Stands before `kb.launch`. `open order`: what an atomic returned was used, which depends on who came first."""

    def __init__(self, path: str) -> None:
        self.path, self.launch = Path(path), kb.launch
        self.counts = {"exact": 0, "near": 0, "open order": 0, "differ": 0, "not tried": 0}
        self.kernels: dict[str, set[str]] = {name: set() for name in self.counts}
        self.differ: list[dict[str, object]] = []
        self.reasons: dict[str, int] = {}
        self.constructs: set[str] = set()
        settings.configure(races=False, unassigned=False, divisions=False)

    def __call__(self, kernel, dim=None, inputs=(), outputs=(), *args, **kwargs):
        pairs = self._pairs(kernel, dim, inputs, outputs, args, kwargs)
        result = self.launch(kernel, dim, inputs, outputs, *args, **kwargs)
        if pairs is not None:
            self._hold(kernel, dim, inputs, outputs, kwargs, pairs)
        return result

    def _pairs(self, kernel, dim, inputs, outputs, args, kwargs):
        """Arrays and their copies, by identity; None where the launch is not tried."""
        reason = _unfit(kernel, dim, [*_list(inputs), *_list(outputs)], args, kwargs)
        if reason is not None:
            return self._skip(kernel, reason)
        try:
            pairs = {id(one): (one, _copy(one)) for one in _arrays_in([*inputs, *outputs])}
        except Exception as error:
            return self._skip(kernel, f"{type(error).__name__}: {error}")
        spans = sorted((one.ptr, one.ptr + one.nbytes) for one, _ in pairs.values() if one.nbytes)
        if any(after[0] < before[1] for before, after in zip(spans, spans[1:])):
            return self._skip(kernel, "arrays that overlap")
        return pairs

    def _skip(self, kernel, reason):
        self.counts["not tried"] += 1
        self.kernels["not tried"].add(str(getattr(kernel, "name", kernel)))
        self.reasons[reason[:160]] = self.reasons.get(reason[:160], 0) + 1

    def _hold(self, kernel, dim, inputs, outputs, kwargs, pairs) -> None:
        kb.synchronize()
        given = [_with_copies(one, pairs) for one in [*inputs, *outputs]]
        geometry = {name: kwargs[name] for name in ("block_dim", "grid", "block", "shared_memory") if name in kwargs}
        try:
            self.launch(kernel, dim, given, device="sim", **geometry)
            lowered = compiled(kernel, given).kernel
        except Exception as error:
            self._note(kernel, "differ", f"{type(error).__name__}: {error}"[:500])
            return
        self.constructs |= _constructs(lowered)
        is_open = _is_open(lowered)
        if _uses_atomics(lowered):
            self._note(kernel, "open order", "")
            return
        state, text = "exact", ""
        for gpu, sim in pairs.values():
            if bytes(gpu.tobytes()) == bytes(sim.tobytes()):
                continue
            one, two = gpu.numpy(), sim.numpy()
            if _same(one, two):
                continue
            if is_open and _near(one, two, len(gpu.shape)):
                state = "near"
                continue
            state, text = "differ", _difference(one, two)
            break
        self._note(kernel, state, text)

    def _note(self, kernel, state: str, text: str) -> None:
        name = str(getattr(kernel, "name", kernel))
        self.counts[state] += 1
        self.kernels[state].add(name)
        if state == "differ" and len(self.differ) < 200:
            self.differ.append({"kernel": name, "what": text})

    def write(self) -> None:
        """The file."""
        self.path.write_text(
            json.dumps(
                {
                    "launches": self.counts,
                    "kernels": {state: len(names) for state, names in self.kernels.items()},
                    "near": sorted(self.kernels["near"]),
                    "differ": self.differ,
                    "not tried": self.reasons,
                    "constructs": sorted(self.constructs),
                    "intrinsics without": sorted(set(ALL_ROWS) - {c for c in self.constructs if c in ALL_ROWS}),
                },
                indent=1,
            )
        )


def _list(values):
    return list(values) if isinstance(values, (list, tuple)) else [values]


def _unfit(kernel, dim, values, args, kwargs):
    extents = [extent for extent in _list(dim) if isinstance(extent, int)]
    if math.prod(extents) > MOST:
        return "more than %d threads" % MOST
    if args or set(kwargs) - {"block_dim", "grid", "block", "shared_memory", "device", "stream"}:
        return "options of the launch"
    if kwargs.get("device") not in (None, "cuda:0", "cuda", 0):
        return "on another device"
    if not isinstance(kernel, kb.Kernel):
        return "a kernel without its source"
    for value in values:
        if isinstance(value, kb.array):
            if not value.is_alive or not value.device.is_cuda:
                return "an array that is not on the GPU"
            if isinstance(value._type, abi.IndexedArray):
                return "an array seen through index arrays"
            if _has_arrays(value._type.element):
                return "arrays in structs in an array"
        elif any(hasattr(type(value), name) for name in ("__cuda_array_interface__", "__dlpack__")):
            return "another library's array"
    return None


def _has_arrays(type):
    return isinstance(type, abi.Array) or any(_has_arrays(field.type) for field in getattr(type, "fields", ()))


def _arrays_in(values):
    """Arrays among arguments, and in structs among them."""
    found = []
    for value in values:
        if isinstance(value, kb.array):
            found.append(value)
        elif hasattr(value, "_kb_struct_"):
            found += _arrays_in([getattr(value, field.name) for field in kb_type(value).fields])
    return found


def kb_type(value):
    """The layout of a struct."""
    return abi_type(type(value))


def _with_copies(value, pairs):
    """An argument with the copies in the places of its arrays."""
    if id(value) in pairs:
        return pairs[id(value)][1]
    if not hasattr(value, "_kb_struct_"):
        return value
    made = type(value)()
    for field in kb_type(value).fields:
        setattr(made, field.name, _with_copies(getattr(value, field.name), pairs))
    return made


def _copy(one):
    made = kb.empty_like(one, device="sim")
    kb.copy(made, one)
    return made


def _constructs(kernel):
    found = set()
    for function in [*callees(kernel.function), kernel.function]:
        for node in walk(function.body):
            name = getattr(node, "name", None)
            found.add(name if isinstance(node, nodes.Intrinsic) else type(node).__name__)
    return found


def _is_open(kernel):
    """Whether results may differ in their last bits."""
    for function in [*callees(kernel.function), kernel.function]:
        for node in walk(function.body):
            if isinstance(node, nodes.Intrinsic):
                type = node.arguments[0].type
                if node.name in APPROXIMATE:
                    return True
                if node.name in ("atomic_add", "atomic_sub") and isinstance(type, Scalar) and type.kind == "float":
                    return True
    return False


def _uses_atomics(kernel):
    """Whether it does something with what an atomic returns."""
    for function in [*callees(kernel.function), kernel.function]:
        for node in walk(function.body):
            value = getattr(node, "value", None) if isinstance(node, nodes.Assign) else None
            if isinstance(value, nodes.Intrinsic) and ALL_ROWS[value.name].is_atomic:
                return True
    return False


def _same(one, two):
    """Equal bits, all NaNs alike."""
    if one.dtype.kind != "f":
        return False
    bits = one.view("u%d" % one.itemsize) == two.view("u%d" % two.itemsize)
    return bool((bits | (np.isnan(one) & np.isnan(two))).all())


def _near(one, two, axes):
    """Near, relative to the number, or to the largest one of its vector or matrix."""
    if one.dtype.kind != "f":
        return False
    finite = np.isfinite(one) & np.isfinite(two)
    if not np.array_equal(one[~finite], two[~finite], equal_nan=True):
        return False
    a, b = (np.where(finite, x, 0).astype(np.float64) for x in (one, two))
    scale = np.maximum(np.maximum(np.abs(a), np.abs(b)), 2.0**-20)
    if one.ndim > axes:
        scale = scale.max(axis=tuple(range(axes, one.ndim)), keepdims=True)
    return bool((np.abs(a - b) <= NEAR[one.itemsize] * scale).all())


def _difference(one, two):
    flat_one, flat_two = one.reshape(-1), two.reshape(-1)
    with np.errstate(all="ignore"):
        places = [i for i in range(len(flat_one)) if flat_one[i].tobytes() != flat_two[i].tobytes()]
    shown = ", ".join("[%d] %r on the GPU, %r in the simulator" % (i, flat_one[i], flat_two[i]) for i in places[:4])
    return "%d of %d elements: %s" % (len(places), math.prod(one.shape), shown)
