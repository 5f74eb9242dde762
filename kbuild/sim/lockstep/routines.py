"""Trips of loops as machine code: all that a trip computes of float32, and the next test, in one pass over the lanes.

By NumPy, each operation is a pass over arrays, which takes as long as its memory. Here a vector of eight lanes goes
through all operations in registers. They are the operations of the trip's nodes one for one, in float32 as there, so
that results are the same to the last bit (but for those of a NaN). Where the processor or the system has no routine, a
variable is no array of float32, or registers do not suffice, the trip is computed node by node.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kbuild.ir.nodes import Symbol
from kbuild.sim import hardware
from kbuild.sim.assembler import REGISTERS, STEP, Assembler
from kbuild.sim.lockstep.frame import Frame
from kbuild.sim.lockstep.graph import Graph

LANES = STEP // 4
_FEWEST = 1024  # lanes for which a routine is made
_WAITS = 6  # trips until one is made
_ARGUMENTS = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
_TEMPORARY = REGISTERS - 1
_SIDE_BY_SIDE = (4,)  # the strides of an array of float32 without gaps

Routine = Callable[[bytes, int, int], None]


class Routines:
    """Those of a loop: one for each choice of inputs that are the same for all lanes."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        operations = graph.operations
        numbers = [number for number, (name, _) in enumerate(operations) if name == "input"]
        self._inputs: list[Symbol] = [operations[number][1][0] for number in numbers]
        constants = [number for number, (name, _) in enumerate(operations) if name == "constant"]
        self._stored = sorted(set(graph.outputs.values()) - {*numbers, *constants})
        bits = [operations[number][1][0] for number in constants]
        self._constants = np.repeat(np.array(bits, np.uint32), LANES).view(np.float32)
        first = self._constants.ctypes.data
        self._at_constants = [first + STEP * number for number in range(len(bits))]
        self._same = [np.float32(one) for one in self._constants[::LANES]]
        # Where a symbol's new value is among the inputs, what is stored, and the constants.
        places = {number: place for place, number in enumerate([*numbers, *self._stored, *constants])}
        self._results = [(symbol, places[number]) for symbol, number in graph.outputs.items()]
        has_truth = graph.truth is not None
        self._table = struct.Struct(f"<{len(places) + has_truth}Q").pack
        self._made: dict[tuple[bool, ...], Routine | None] = {}

    def run(self, frame: Frame, trip: int) -> tuple[bool, Any]:
        """Whether the trip's floats have been computed, and if so, for which lanes the next test holds (None: it has
        nothing to do with floats).
        """
        count = frame.lanes.count
        if trip == 0 or count < _FEWEST:  # before the first trip most variables are the same for all lanes
            return False, None
        inputs = [frame.get(symbol) for symbol in self._inputs]
        are_arrays = tuple([isinstance(one, np.ndarray) for one in inputs])
        routine = self._made[are_arrays] if are_arrays in self._made else self._routine(are_arrays, trip)
        if routine is None:
            return False, None
        arrays = inputs
        if not all(are_arrays):
            arrays = [one if isinstance(one, np.ndarray) else np.full(LANES, one) for one in inputs]
        if any(one.strides != _SIDE_BY_SIDE for one in arrays):
            return False, None
        results = [np.empty(count, np.float32) for _ in self._stored]
        truths = [] if self.graph.truth is None else [np.empty(count, bool)]
        table = self._table(*map(hardware.address, (*arrays, *results, *truths)), *self._at_constants)
        routine(table, 0, count // LANES * STEP)
        if count % LANES:  # the last vector overlaps the one before: some lanes are computed twice
            routine(table, 4 * (count - LANES), 4 * (count - LANES) + STEP)
        found, values = [*inputs, *results, *self._same], frame.values
        for symbol, place in self._results:
            values[symbol] = found[place]
        return True, truths[0] if truths else None

    def _routine(self, are_arrays: tuple[bool, ...], trip: int) -> Routine | None:
        """It is made once a loop goes on for a while; later launches have it from their beginning."""
        if trip < _WAITS:
            return None
        self._made[are_arrays] = _compiled(self.graph, self._stored, are_arrays) if any(are_arrays) else None
        return self._made[are_arrays]


def _compiled(graph: Graph, stored: Sequence[int], are_arrays: Sequence[bool]) -> Routine | None:
    """The routine; None where there can be none. Its table has the inputs, the outputs, the truth, the constants."""
    made = _Writer(graph, stored, are_arrays)
    try:
        made.write()
    except _FullError:
        return None
    return hardware.function(made.code.loop(), _ARGUMENTS)


class _FullError(Exception):
    """More values at once than there are registers."""


class _Writer:
    """One pass over the operations; a value has a register from where it is computed to its last use."""

    def __init__(self, graph: Graph, stored: Sequence[int], are_arrays: Sequence[bool]) -> None:
        self.graph, self.stored, self.are_arrays = graph, stored, are_arrays
        self.code = Assembler()
        self.registers: dict[int, int] = {}
        self.free = list(range(_TEMPORARY))
        self.slots: dict[int, int] = {}
        has_truth = graph.truth is not None
        slot = 0
        for name, first in (("input", 0), ("constant", len(are_arrays) + len(stored) + has_truth)):
            slot = first
            for number, (kind, _) in enumerate(graph.operations):
                if kind == name:
                    self.slots[number], slot = slot, slot + 1
        self.needed = self._needed()
        self.last = {one: number for number in self.needed for one in self._operands(number)}

    def _operands(self, number: int) -> tuple[int, ...]:
        name, operands = self.graph.operations[number]
        if name in ("input", "constant"):
            return ()
        return operands[:3] if name == "fma" else operands

    def _needed(self) -> list[int]:
        """The operations that some output comes of, in order, without inputs and constants."""
        waiting, found = [*self.stored, *([] if self.graph.truth is None else [self.graph.truth])], set()
        while waiting:
            number = waiting.pop()
            if number not in found:
                found.add(number)
                waiting += self._operands(number)
        return sorted(number for number in found if self._operands(number))

    def write(self) -> None:
        """Raises _FullError."""
        for number in self.needed:
            name, operands = self.graph.operations[number]
            if name == "fma":
                self._fma(number, *operands)
            else:
                a, b = (self._register(one) for one in operands)
                self._release(number, operands)
                to = self._take(number)
                if name.startswith("compare"):
                    self.code.compare(name.split()[1], to, a, b)
                else:
                    self.code.arithmetic(name, to, a, b)
            if number in self.stored:
                self.code.store(self.registers[number], len(self.are_arrays) + self.stored.index(number))
            if number == self.graph.truth:
                self.code.store_truth(self.registers[number], _TEMPORARY, len(self.are_arrays) + len(self.stored))
            if number not in self.last:
                self.free.append(self.registers.pop(number))

    def _fma(self, number: int, a: int, b: int, c: int, signs: int) -> None:
        """Into the register of `a`, or where that is needed later, or is `b` or `c` too, into a copy."""
        first, second, third = (self._register(one) for one in (a, b, c))
        if self.last[a] == number and a not in (b, c):
            self._release(number, (b, c))
            self.registers[number] = self.registers.pop(a)
        else:
            to = self._take(number)
            self.code.move(to, first)
            self._release(number, (a, b, c))
        self.code.fma(self.registers[number], second, third, signs)

    def _register(self, number: int) -> int:
        """That of a value; inputs and constants are loaded when they are first used."""
        if number not in self.registers:
            name, _ = self.graph.operations[number]
            slot, to = self.slots[number], self._take(number)
            if name == "input" and self.are_arrays[slot]:
                self.code.load(to, slot)
            else:
                self.code.load_same(to, slot)
        return self.registers[number]

    def _take(self, number: int) -> int:
        if not self.free:
            raise _FullError
        self.registers[number] = self.free.pop()
        return self.registers[number]

    def _release(self, number: int, operands: Sequence[int]) -> None:
        """The registers of operands that this operation is the last one to use."""
        for one in dict.fromkeys(operands):
            if self.last[one] == number:
                self.free.append(self.registers.pop(one))
