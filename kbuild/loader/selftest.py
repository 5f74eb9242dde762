"""`python -m kbuild.loader selftest`: every kernel of a bundle on generated inputs, against what the build computed.

Inputs are made here from a fixed seed, by the build and again on the target, so the bundle holds the results only: for
each array the elements that the kernel changes. The build gets them by running the kernel on its own interpreter; a
kernel that does not take generated inputs (it would leave its arrays, or its result depends on the order of threads)
says so in the report.

A value here is a number, a list (vector), a list of lists (matrix), a dict (struct) or a `Sample` (array).
"""

from __future__ import annotations

import struct
from collections import deque

from . import abi, pack, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Row = dict[str, Any]

FORMAT = 1
TRIALS = 3
DIMS = {1: (64,), 2: (8, 8), 3: (4, 4, 4), 4: (4, 4, 2, 2)}
# For kernels that run in whole blocks: as many threads, in blocks of any size that divides them.
WHOLE_DIMS = {1: (512,), 2: (16, 16), 3: (4, 8, 8), 4: (4, 4, 4, 4)}
EXTENTS = {1: (512,), 2: (16, 16), 3: (8, 8, 8), 4: (8, 8, 8, 8)}
_SMALL = 8  # integers stay below it, so that as indices they stay inside every array

# How near an approximate result must be, relative to 1 or to the value if that is larger.
TOLERANCE = {2: 2.0**-6, 4: 2.0**-10, 8: 2.0**-20}


class Unsuitable(ValueError):
    """A parameter for which no input can be generated."""


class Sample:
    """An array of generated elements, row-major; `indices` has the index arrays that it is seen through, if any."""

    indices: tuple[list[int] | None, ...] | None = None

    def __init__(self, element: abi.Type, shape: tuple[int, ...], data: list[Any]) -> None:
        self.element, self.shape, self.data = element, shape, data


class _Source:
    """A stream of numbers (Knuth's 64-bit linear congruential generator, the upper half of each state)."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def next(self) -> int:
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return self.state >> 32


def dim_of(ndim: int, block_dim: int, whole_blocks: bool, cluster_dim: int = 1) -> tuple[int, ...]:
    """What a kernel is launched over; in whole blocks (and clusters of them) two where that fits. Raises Unsuitable."""
    if not whole_blocks:
        return DIMS[ndim]
    together = block_dim * cluster_dim
    if ndim == 1 and together <= WHOLE_DIMS[1][0] // 2:
        return (2 * together,)
    count = 1
    for extent in WHOLE_DIMS[ndim]:
        count *= extent
    if count % together:
        what = "whole blocks of %d" % block_dim if cluster_dim == 1 else "whole clusters of %d" % together
        raise Unsuitable("%d threads are launched, and they make no %s" % (count, what))
    return WHOLE_DIMS[ndim]


def generate(parameters: list[tuple[str, abi.Type]], trial: int, given: Row | None = None) -> dict[str, Any]:
    """Arguments by parameter. Trial 0 has small random integers, 1 ones, 2 zeros. `given` are shapes of arrays and
    numbers by parameter, which are so whatever the trial. Raises Unsuitable.
    """
    source = _Source(trial + 1)
    return {name: _value(type, source, trial, (given or {}).get(name)) for name, type in parameters}


def _value(type: abi.Type, source: _Source, trial: int, given: Any = None) -> Any:
    if given is not None and isinstance(type, abi.Scalar):
        return given
    if isinstance(type, abi.Scalar):
        return _number(type, source.next(), trial)
    if isinstance(type, abi.Vector):
        return [_value(type.element, source, trial) for _ in range(type.length)]
    if isinstance(type, abi.Matrix):
        row = abi.Vector(type.columns, type.element)
        return [_value(row, source, trial) for _ in range(type.rows)]
    if isinstance(type, abi.Struct):
        return {field.name: _value(field.type, source, trial) for field in type.fields}
    assert isinstance(type, abi.Array)
    if _holds_array(type.element):
        raise Unsuitable("arrays inside the elements of an array are not generated")
    shape = EXTENTS[type.ndim] if given is None else tuple(given)
    count = 1
    for extent in shape:
        count *= extent
    made = Sample(type.element, shape, [_value(type.element, source, trial) for _ in range(count)])
    if isinstance(type, abi.IndexedArray):
        made.indices = tuple([None if axis % 2 else list(range(n))[::-1] for axis, n in enumerate(shape)])
    return made


def _number(type: abi.Scalar, bits: int, trial: int) -> Any:
    if type.kind == "bool":
        return bits % 2 == 1
    if type.kind == "float":
        # 0.5 to 2 in steps of 2**-9: exact in every type, and far from overflow and cancellation.
        return 0.5 + (bits % 768) / 512.0
    return (bits % _SMALL, 1, 0)[trial]


def _holds_array(type: abi.Type) -> bool:
    if isinstance(type, abi.Struct):
        return any(_holds_array(field.type) for field in type.fields)
    return isinstance(type, abi.Array)


def samples(parameters: list[tuple[str, abi.Type]], arguments: dict[str, Any]) -> dict[str, Sample]:
    """Every array among the arguments by its path: `pos`, `state.velocity`."""
    found: dict[str, Sample] = {}
    waiting = deque((name, arguments[name]) for name, _ in parameters)
    while waiting:
        path, value = waiting.popleft()
        if isinstance(value, Sample):
            found[path] = value
        elif isinstance(value, dict):
            waiting.extend(("%s.%s" % (path, name), inner) for name, inner in value.items())
    return found


def packed(type: abi.Type, value: Any) -> bytes:
    """A value without arrays in it as the bytes that it has in memory."""
    return struct.pack("<" + pack.format_of(type), *_flat(value))


def _flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        return [value]
    return [number for item in value for number in _flat(item)]


def is_near(element: abi.Type, found: bytes, wanted: bytes, approximate: bool) -> tuple[bool, float]:
    """Whether an element is what it should be, and how far it is off, relative to 1 or its value if that is larger."""
    if found == wanted:
        return True, 0.0
    worst, scalars = 0.0, _scalars(element)
    for scalar, a, b in zip(scalars, records.unpack(element, found), records.unpack(element, wanted)):
        if a == b or (a != a and b != b):
            continue
        if scalar.kind != "float" or not abs(a - b) < float("inf"):
            return False, float("inf")
        off = abs(a - b) / max(1.0, abs(b))
        worst = max(worst, off)
        if not approximate or off > TOLERANCE[scalar.size]:
            return False, worst
    return True, worst


def _scalars(type: abi.Type) -> list[abi.Scalar]:
    """The types of a value's numbers, in the order of `records.unpack`."""
    if isinstance(type, abi.Scalar):
        return [type]
    if isinstance(type, abi.Vector):
        return [type.element] * type.length
    if isinstance(type, abi.Matrix):
        return [type.element] * (type.rows * type.columns)
    assert isinstance(type, abi.Struct)
    return [scalar for field in type.fields for scalar in _scalars(field.type)]
