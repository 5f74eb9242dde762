"""The adjoint of every kernel that the GPU tests launch, on the GPU and in the simulator: do both give the same bits?

    KBUILD_SHADOW_ADJOINTS=adjoints.json pytest tests/gpu

The first few launches of each kernel are taken, with the arguments that the test gives; the adjoints of their arrays
begin with random numbers. The file says what agreed, as that of `shadow.py` does. Needs NumPy.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import kbuild as kb
from kbuild.ir import nodes
from kbuild.ir.traverse import callees, walk
from kbuild.loader import abi, ordering, providers
from kbuild.loader.copying import stream_on
from kbuild.loader.tape import arguments, watching
from kbuild.sim.numbers import APPROXIMATE
from kbuild.simulate import settings
from tests.gpu.shadow import NEAR, _arrays_in, _copy, _list, _unfit, _with_copies

LAUNCHES = 3  # of each kernel
MOST = 1 << 16  # threads


class BackwardShadow:
    """Stands before `kb.launch`."""

    def __init__(self, path: str) -> None:
        self.path, self.launch = Path(path), kb.launch
        self.seen: dict[str, int] = {}
        self.counts = {"exact": 0, "near": 0, "differ": 0, "without numbers": 0, "not tried": 0}
        self.kernels: dict[str, set[str]] = {name: set() for name in self.counts}
        self.differ: list[dict[str, object]] = []
        self.reasons: dict[str, int] = {}
        settings.configure(races=False, unassigned=False, divisions=False)

    def __call__(self, kernel, dim=None, inputs=(), outputs=(), *args, **kwargs):
        trial = None
        if not kwargs.get("adjoint"):
            with watching.Aside():  # a tape is to record the test, and nothing of what is done here
                trial = self._trial(kernel, dim, [*_list(inputs), *_list(outputs)], args, kwargs)
        result = self.launch(kernel, dim, inputs, outputs, *args, **kwargs)
        if trial is not None:
            with watching.Aside():
                self._run(trial)
        return result

    def _trial(self, kernel, dim, given, args, kwargs):
        """What is needed for the adjoint of a launch that is about to be made; None where it is not tried."""
        name = str(getattr(kernel, "name", kernel))
        place = kb.get_device()
        if self.seen.get(name, 0) >= LAUNCHES or _is_capturing(place):
            return None
        reason = _unfit(kernel, dim, given, args, kwargs)
        if reason == "an array that is not on the GPU":
            if place.kind != "sim":  # what the test itself holds against the simulator
                return None
            reason = None
        extents = [extent for extent in _list(dim) if isinstance(extent, int)]
        if reason is None and np.prod(extents, dtype=np.int64) > MOST:
            reason = f"more than {MOST} threads"
        if reason is not None:
            return self._skip(name, reason)
        try:
            found = providers.backward_of(place.kind, kernel, given)
            simulated = providers.backward_of("sim", kernel, given)
        except kb.LaunchError as error:
            return self._skip(name, str(error).partition("\n")[0])
        arrays = {id(one): one for one in _arrays_in(given)}
        spans = sorted((one.ptr, one.ptr + one.nbytes) for one in arrays.values() if one.nbytes)
        if any(after[0] < before[1] for before, after in zip(spans, spans[1:])):
            return self._skip(name, "arrays that overlap")
        try:
            copies = {key: _copy(one) for key, one in arrays.items()}
        except Exception as error:
            return self._skip(name, f"{type(error).__name__}: {error}")
        self.seen[name] = self.seen.get(name, 0) + 1
        geometry = {key: kwargs[key] for key in ("block_dim", "grid", "block") if key in kwargs}
        return name, kernel, dim, given, found, simulated, copies, geometry

    def _skip(self, name, reason):
        self.seen[name] = self.seen.get(name, 0) + 1
        self.counts["not tried"] += 1
        self.kernels["not tried"].add(name)
        self.reasons[reason[:200]] = self.reasons.get(reason[:200], 0) + 1

    def _run(self, trial):
        name, kernel, dim, given, found, simulated, copies, geometry = trial
        kb.synchronize()
        sides: list[dict[str, tuple]] = []
        errors = []
        for device in (None, "sim"):
            try:
                sides.append(self._adjoint(kernel, dim, given, found, copies, geometry, device))
                kb.synchronize()
            except Exception as error:
                errors.append(f"on {device or 'the GPU'}: {type(error).__name__}: {error}"[:500])
        if len(errors) == 2:  # a bound that is too small, say
            self._skip(name, "both refuse: " + errors[1])
            return
        if errors:
            self._note(name, "differ", errors[0])
            return
        is_open, is_sum = _openness(simulated.kernel.compiled.kernel)
        state = "exact" if sides[0] else "without numbers"
        for path, one in sides[0].items():
            two = sides[1][path]
            verdict, text = _judged(one, two, is_open, is_sum)
            if verdict == "differ":
                self._note(name, verdict, f"{path}: {text}")
                return
            state = "near" if verdict == "near" else state
        self._note(name, state, "")

    def _adjoint(self, kernel, dim, given, found, copies, geometry, device):
        """The adjoints of all arrays after the adjoint launch, by path, as bytes with their types."""
        seeds = np.random.default_rng(7)
        adjoints: dict[str, kb.array] = {}

        pairs: dict[int, tuple[kb.array, kb.array]] = {}

        def primal(path, one):
            is_after = path in found.after and path not in found.before
            made = kb.empty_like(one, device=device)
            kb.copy(made, one if is_after else copies[id(one)])
            pairs[id(one)] = one, made
            return made

        def adjoint(path, one):
            made = adjoints[path] = kb.zeros(one.shape, dtype=one.dtype, device=device)
            _fill(made, seeds)
            return made

        arguments.replaced(found.parameters, given, primal)
        values = [_with_copies(one, pairs) for one in given]
        own = []
        for (path, type), value in zip(found.parameters, given):
            has_one = arguments.has_adjoint(type)
            own.append(arguments.adjoint(type, value, path, adjoint) if has_one else None)
        self.launch(kernel, dim, inputs=values, adj_inputs=own, adjoint=True, device=device, **geometry)
        return {path: (bytes(one.tobytes()), one._type.element, len(one.shape)) for path, one in adjoints.items()}

    def _note(self, name: str, state: str, text: str) -> None:
        self.counts[state] += 1
        self.kernels[state].add(name)
        if state == "differ" and len(self.differ) < 200:
            self.differ.append({"kernel": name, "what": text})

    def write(self) -> None:
        """The file."""
        document = {
            "launches": self.counts,
            "kernels": {state: len(names) for state, names in self.kernels.items()},
            "near": sorted(self.kernels["near"]),
            "differ": self.differ,
            "not tried": self.reasons,
        }
        self.path.write_text(json.dumps(document, indent=1))


def _is_capturing(place):
    if place.kind != "cuda":
        return False
    with place.current():
        return ordering.is_capturing(stream_on(place, None))


def _columns(type, offset=0):
    """Where the floating-point numbers of an element lie: (offset, scalar, how many)."""
    if isinstance(type, abi.Struct):
        return [found for field in type.fields for found in _columns(field.type, offset + field.offset)]
    scalar = getattr(type, "element", type)
    if isinstance(type, abi.Array) or scalar.kind != "float":
        return []
    return [(offset, scalar, type.size // scalar.size)]


def _numbers(data, type):
    """Views of the numbers in an array's bytes, each of shape [elements, how many]."""
    rows = data.reshape(-1, type.size)
    views = []
    for offset, scalar, count in _columns(type):
        block = np.ascontiguousarray(rows[:, offset : offset + count * scalar.size])
        views.append((offset, block.view("f%d" % scalar.size)))
    return views


def _fill(one, seeds):
    """Random numbers in a contiguous array."""
    type = one._type.element
    data = np.zeros(one.nbytes, np.uint8)
    rows = data.reshape(-1, type.size)
    for offset, scalar, count in _columns(type):
        values = seeds.uniform(-1.0, 1.0, (len(rows), count)).astype("f%d" % scalar.size)
        rows[:, offset : offset + count * scalar.size] = values.view(np.uint8).reshape(len(rows), -1)
    if one.nbytes:
        flat = kb.array(data, dtype=kb.uint8, device="sim")
        target = kb.array(ptr=one.ptr, dtype=kb.uint8, shape=one.nbytes, device=one.device)
        kb.copy(target, flat)


def _openness(kernel):
    """Whether an adjoint kernel has approximate functions in it, and atomic sums of floating-point numbers."""
    is_open = is_sum = False
    for function in [*callees(kernel.function), kernel.function]:
        for node in walk(function.body):
            if isinstance(node, nodes.Intrinsic):
                is_open = is_open or node.name in APPROXIMATE
                is_sum = is_sum or node.name in ("atomic_add", "atomic_sub")
    return is_open, is_sum


def _judged(one, two, is_open, is_sum):
    """How near two arrays are: the bits; a few roundings, where those are open; or, of sums, those of the largest."""
    state = "exact"
    type = one[1]
    pairs = [(x[1], y[1]) for x, y in zip(*[_numbers(np.frombuffer(side[0], np.uint8), type) for side in (one, two)])]
    for a, b in pairs:
        bits = a.view("u%d" % a.itemsize) == b.view("u%d" % b.itemsize)
        is_same = bits | (np.isnan(a) & np.isnan(b))
        if is_same.all():
            continue
        if not (is_open or is_sum):
            return "differ", _difference(a, b, is_same)
        is_finite = np.isfinite(a) & np.isfinite(b)
        x, y = (np.where(is_finite, side, 0).astype(np.float64) for side in (a, b))
        scale = np.maximum(np.maximum(np.abs(x), np.abs(y)), 1.0)
        if a.shape[1] > 1 or is_sum:
            scale = np.broadcast_to(scale.max(axis=None if is_sum else 1, keepdims=True), scale.shape)
        is_near = is_same | (is_finite & (np.abs(x - y) <= NEAR[a.itemsize] * scale))
        if not is_near.all():
            return "differ", _difference(a, b, is_near)
        state = "near"
    return state, ""


def _difference(a, b, is_good):
    places = np.argwhere(~is_good)[:4]
    shown = ", ".join("%s %r on the GPU, %r in the simulator" % (tuple(p), a[tuple(p)], b[tuple(p)]) for p in places)
    return "%d of %d numbers: %s" % ((~is_good).sum(), a.size, shown)
