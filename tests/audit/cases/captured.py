"""Tables, numbers and names from outside, which are compiled into a kernel."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

N = 128
LINE = At(N, block=64, data=N, out=N)
RIGHT = "nothing goes wrong by it"

NEARLY_ALL = kb.constant([[0.5] * 1024] * 13)  # 52 of the 64 KiB
A_PART = kb.constant([[0.5] * 1024] * 11)


@case("source", "own", LINE)
@kb.kernel
def table_of_numbers_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = data[i] * A_PART[i % 11, i % 1024]


@case("source", "own", LINE, unseen=RIGHT)
@kb.kernel
def table_of_numbers_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = data[i] * NEARLY_ALL[i % 13, i % 1024]  # finds source KB411


GAIN = 2.0
OFFSET = 1.0


def louder() -> None:
    """What a program does between launches."""
    global GAIN
    GAIN = 3.0


@case("source", "own", LINE)
@kb.kernel
def number_from_outside_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = data[i] + OFFSET


@case("source", "own", LINE, unseen=RIGHT)
@kb.kernel
def number_from_outside_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = data[i] * GAIN  # finds source KB412


WEIGHTS = [0.25, 0.5, 0.25]
KEPT = kb.constant(WEIGHTS)
STEPS = [0.1, 0.2, 0.4]
CHANGED = kb.constant(STEPS)


def finer() -> None:
    """The list changes; the table is a copy of what it was."""
    STEPS[0] = 0.05


@case("source", "own", LINE)
@kb.kernel
def list_of_a_table_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = data[i] * KEPT[i % 3]


@case("source", "own", LINE, unseen=RIGHT)
@kb.kernel
def list_of_a_table_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = data[i] * CHANGED[i % 3]  # finds source KB412


@case("source", "own", LINE)
@kb.kernel
def wide_from_the_start_good(data: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        factor = kb.float64(0.1)
        out[i] = data[i] * factor


@case("source", "own", LINE, unseen=RIGHT)
@kb.kernel
def wide_from_the_start_bad(data: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        factor = 0.1
        out[i] = data[i] * kb.float64(factor)  # finds source KB413


@kb.func
def scaled(x: float, unused: float) -> float:
    return x * 2.0


@case("source", "own", At(N, block=64, data=N, out=N, _spare=1.0))
@kb.kernel
def meant_to_be_spare_good(data: kb.array(dtype=float), out: kb.array(dtype=float), _spare: float):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = scaled(data[i], 1.0)


@case("source", "own", At(N, block=64, data=N, out=N, spare=1.0), unseen=RIGHT)
@kb.kernel
def meant_to_be_spare_bad(data: kb.array(dtype=float), out: kb.array(dtype=float), spare: float):  # finds source KB416
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = scaled(data[i], 1.0)
