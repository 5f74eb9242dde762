"""Atomic operations on every type. Written by generate.py: change that, and run it."""

import kbuild as kb

EXPRESSIONS = {}


@kb.kernel
def atomic_int8(
    values: kb.array(dtype=kb.int8),
    cells: kb.array(dtype=kb.int8),
    before: kb.array(dtype=kb.int8),
    operation: int,
):
    i = kb.tid()
    cell = i % cells.shape[0]
    if operation == 0:
        before[i] = kb.atomic_add(cells, cell, values[i])
    elif operation == 1:
        before[i] = kb.atomic_sub(cells, cell, values[i])
    elif operation == 2:
        before[i] = kb.atomic_min(cells, cell, values[i])
    elif operation == 3:
        before[i] = kb.atomic_max(cells, cell, values[i])
    elif operation == 4:
        before[i] = kb.atomic_and(cells, cell, values[i])
    elif operation == 5:
        before[i] = kb.atomic_or(cells, cell, values[i])
    elif operation == 6:
        before[i] = kb.atomic_xor(cells, cell, values[i])
    elif operation == 7:
        before[i] = kb.atomic_exch(cells, cell, values[i])


@kb.kernel
def count_int8(cells: kb.array(dtype=kb.int8)):
    cell = kb.tid() % cells.shape[0]
    seen = cells[cell]
    while True:
        before = kb.atomic_cas(cells, cell, seen, seen + 1)
        if before == seen:
            break
        seen = before


@kb.kernel
def atomic_int16(
    values: kb.array(dtype=kb.int16),
    cells: kb.array(dtype=kb.int16),
    before: kb.array(dtype=kb.int16),
    operation: int,
):
    i = kb.tid()
    cell = i % cells.shape[0]
    if operation == 0:
        before[i] = kb.atomic_add(cells, cell, values[i])
    elif operation == 1:
        before[i] = kb.atomic_sub(cells, cell, values[i])
    elif operation == 2:
        before[i] = kb.atomic_min(cells, cell, values[i])
    elif operation == 3:
        before[i] = kb.atomic_max(cells, cell, values[i])
    elif operation == 4:
        before[i] = kb.atomic_and(cells, cell, values[i])
    elif operation == 5:
        before[i] = kb.atomic_or(cells, cell, values[i])
    elif operation == 6:
        before[i] = kb.atomic_xor(cells, cell, values[i])
    elif operation == 7:
        before[i] = kb.atomic_exch(cells, cell, values[i])


@kb.kernel
def count_int16(cells: kb.array(dtype=kb.int16)):
    cell = kb.tid() % cells.shape[0]
    seen = cells[cell]
    while True:
        before = kb.atomic_cas(cells, cell, seen, seen + 1)
        if before == seen:
            break
        seen = before


@kb.kernel
def atomic_int32(
    values: kb.array(dtype=int),
    cells: kb.array(dtype=int),
    before: kb.array(dtype=int),
    operation: int,
):
    i = kb.tid()
    cell = i % cells.shape[0]
    if operation == 0:
        before[i] = kb.atomic_add(cells, cell, values[i])
    elif operation == 1:
        before[i] = kb.atomic_sub(cells, cell, values[i])
    elif operation == 2:
        before[i] = kb.atomic_min(cells, cell, values[i])
    elif operation == 3:
        before[i] = kb.atomic_max(cells, cell, values[i])
    elif operation == 4:
        before[i] = kb.atomic_and(cells, cell, values[i])
    elif operation == 5:
        before[i] = kb.atomic_or(cells, cell, values[i])
    elif operation == 6:
        before[i] = kb.atomic_xor(cells, cell, values[i])
    elif operation == 7:
        before[i] = kb.atomic_exch(cells, cell, values[i])


@kb.kernel
def count_int32(cells: kb.array(dtype=int)):
    cell = kb.tid() % cells.shape[0]
    seen = cells[cell]
    while True:
        before = kb.atomic_cas(cells, cell, seen, seen + 1)
        if before == seen:
            break
        seen = before


@kb.kernel
def atomic_int64(
    values: kb.array(dtype=kb.int64),
    cells: kb.array(dtype=kb.int64),
    before: kb.array(dtype=kb.int64),
    operation: int,
):
    i = kb.tid()
    cell = i % cells.shape[0]
    if operation == 0:
        before[i] = kb.atomic_add(cells, cell, values[i])
    elif operation == 1:
        before[i] = kb.atomic_sub(cells, cell, values[i])
    elif operation == 2:
        before[i] = kb.atomic_min(cells, cell, values[i])
    elif operation == 3:
        before[i] = kb.atomic_max(cells, cell, values[i])
    elif operation == 4:
        before[i] = kb.atomic_and(cells, cell, values[i])
    elif operation == 5:
        before[i] = kb.atomic_or(cells, cell, values[i])
    elif operation == 6:
        before[i] = kb.atomic_xor(cells, cell, values[i])
    elif operation == 7:
        before[i] = kb.atomic_exch(cells, cell, values[i])


@kb.kernel
def count_int64(cells: kb.array(dtype=kb.int64)):
    cell = kb.tid() % cells.shape[0]
    seen = cells[cell]
    while True:
        before = kb.atomic_cas(cells, cell, seen, seen + 1)
        if before == seen:
            break
        seen = before


@kb.kernel
def atomic_uint8(
    values: kb.array(dtype=kb.uint8),
    cells: kb.array(dtype=kb.uint8),
    before: kb.array(dtype=kb.uint8),
    operation: int,
):
    i = kb.tid()
    cell = i % cells.shape[0]
    if operation == 0:
        before[i] = kb.atomic_add(cells, cell, values[i])
    elif operation == 1:
        before[i] = kb.atomic_sub(cells, cell, values[i])
    elif operation == 2:
        before[i] = kb.atomic_min(cells, cell, values[i])
    elif operation == 3:
        before[i] = kb.atomic_max(cells, cell, values[i])
    elif operation == 4:
        before[i] = kb.atomic_and(cells, cell, values[i])
    elif operation == 5:
        before[i] = kb.atomic_or(cells, cell, values[i])
    elif operation == 6:
        before[i] = kb.atomic_xor(cells, cell, values[i])
    elif operation == 7:
        before[i] = kb.atomic_exch(cells, cell, values[i])


@kb.kernel
def count_uint8(cells: kb.array(dtype=kb.uint8)):
    cell = kb.tid() % cells.shape[0]
    seen = cells[cell]
    while True:
        before = kb.atomic_cas(cells, cell, seen, seen + 1)
        if before == seen:
            break
        seen = before


@kb.kernel
def atomic_uint16(
    values: kb.array(dtype=kb.uint16),
    cells: kb.array(dtype=kb.uint16),
    before: kb.array(dtype=kb.uint16),
    operation: int,
):
    i = kb.tid()
    cell = i % cells.shape[0]
    if operation == 0:
        before[i] = kb.atomic_add(cells, cell, values[i])
    elif operation == 1:
        before[i] = kb.atomic_sub(cells, cell, values[i])
    elif operation == 2:
        before[i] = kb.atomic_min(cells, cell, values[i])
    elif operation == 3:
        before[i] = kb.atomic_max(cells, cell, values[i])
    elif operation == 4:
        before[i] = kb.atomic_and(cells, cell, values[i])
    elif operation == 5:
        before[i] = kb.atomic_or(cells, cell, values[i])
    elif operation == 6:
        before[i] = kb.atomic_xor(cells, cell, values[i])
    elif operation == 7:
        before[i] = kb.atomic_exch(cells, cell, values[i])


@kb.kernel
def count_uint16(cells: kb.array(dtype=kb.uint16)):
    cell = kb.tid() % cells.shape[0]
    seen = cells[cell]
    while True:
        before = kb.atomic_cas(cells, cell, seen, seen + 1)
        if before == seen:
            break
        seen = before


@kb.kernel
def atomic_uint32(
    values: kb.array(dtype=kb.uint32),
    cells: kb.array(dtype=kb.uint32),
    before: kb.array(dtype=kb.uint32),
    operation: int,
):
    i = kb.tid()
    cell = i % cells.shape[0]
    if operation == 0:
        before[i] = kb.atomic_add(cells, cell, values[i])
    elif operation == 1:
        before[i] = kb.atomic_sub(cells, cell, values[i])
    elif operation == 2:
        before[i] = kb.atomic_min(cells, cell, values[i])
    elif operation == 3:
        before[i] = kb.atomic_max(cells, cell, values[i])
    elif operation == 4:
        before[i] = kb.atomic_and(cells, cell, values[i])
    elif operation == 5:
        before[i] = kb.atomic_or(cells, cell, values[i])
    elif operation == 6:
        before[i] = kb.atomic_xor(cells, cell, values[i])
    elif operation == 7:
        before[i] = kb.atomic_exch(cells, cell, values[i])


@kb.kernel
def count_uint32(cells: kb.array(dtype=kb.uint32)):
    cell = kb.tid() % cells.shape[0]
    seen = cells[cell]
    while True:
        before = kb.atomic_cas(cells, cell, seen, seen + 1)
        if before == seen:
            break
        seen = before


@kb.kernel
def atomic_uint64(
    values: kb.array(dtype=kb.uint64),
    cells: kb.array(dtype=kb.uint64),
    before: kb.array(dtype=kb.uint64),
    operation: int,
):
    i = kb.tid()
    cell = i % cells.shape[0]
    if operation == 0:
        before[i] = kb.atomic_add(cells, cell, values[i])
    elif operation == 1:
        before[i] = kb.atomic_sub(cells, cell, values[i])
    elif operation == 2:
        before[i] = kb.atomic_min(cells, cell, values[i])
    elif operation == 3:
        before[i] = kb.atomic_max(cells, cell, values[i])
    elif operation == 4:
        before[i] = kb.atomic_and(cells, cell, values[i])
    elif operation == 5:
        before[i] = kb.atomic_or(cells, cell, values[i])
    elif operation == 6:
        before[i] = kb.atomic_xor(cells, cell, values[i])
    elif operation == 7:
        before[i] = kb.atomic_exch(cells, cell, values[i])


@kb.kernel
def count_uint64(cells: kb.array(dtype=kb.uint64)):
    cell = kb.tid() % cells.shape[0]
    seen = cells[cell]
    while True:
        before = kb.atomic_cas(cells, cell, seen, seen + 1)
        if before == seen:
            break
        seen = before


@kb.kernel
def atomic_float16(
    values: kb.array(dtype=kb.float16),
    cells: kb.array(dtype=kb.float16),
    before: kb.array(dtype=kb.float16),
    operation: int,
):
    i = kb.tid()
    cell = i % cells.shape[0]
    if operation == 0:
        before[i] = kb.atomic_add(cells, cell, values[i])
    elif operation == 1:
        before[i] = kb.atomic_sub(cells, cell, values[i])
    elif operation == 2:
        before[i] = kb.atomic_min(cells, cell, values[i])
    elif operation == 3:
        before[i] = kb.atomic_max(cells, cell, values[i])
    elif operation == 7:
        before[i] = kb.atomic_exch(cells, cell, values[i])


@kb.kernel
def count_float16(cells: kb.array(dtype=kb.float16)):
    cell = kb.tid() % cells.shape[0]
    seen = cells[cell]
    while True:
        before = kb.atomic_cas(cells, cell, seen, seen + 1.0)
        if before == seen:
            break
        seen = before


@kb.kernel
def atomic_float32(
    values: kb.array(dtype=float),
    cells: kb.array(dtype=float),
    before: kb.array(dtype=float),
    operation: int,
):
    i = kb.tid()
    cell = i % cells.shape[0]
    if operation == 0:
        before[i] = kb.atomic_add(cells, cell, values[i])
    elif operation == 1:
        before[i] = kb.atomic_sub(cells, cell, values[i])
    elif operation == 2:
        before[i] = kb.atomic_min(cells, cell, values[i])
    elif operation == 3:
        before[i] = kb.atomic_max(cells, cell, values[i])
    elif operation == 7:
        before[i] = kb.atomic_exch(cells, cell, values[i])


@kb.kernel
def count_float32(cells: kb.array(dtype=float)):
    cell = kb.tid() % cells.shape[0]
    seen = cells[cell]
    while True:
        before = kb.atomic_cas(cells, cell, seen, seen + 1.0)
        if before == seen:
            break
        seen = before


@kb.kernel
def atomic_float64(
    values: kb.array(dtype=kb.float64),
    cells: kb.array(dtype=kb.float64),
    before: kb.array(dtype=kb.float64),
    operation: int,
):
    i = kb.tid()
    cell = i % cells.shape[0]
    if operation == 0:
        before[i] = kb.atomic_add(cells, cell, values[i])
    elif operation == 1:
        before[i] = kb.atomic_sub(cells, cell, values[i])
    elif operation == 2:
        before[i] = kb.atomic_min(cells, cell, values[i])
    elif operation == 3:
        before[i] = kb.atomic_max(cells, cell, values[i])
    elif operation == 7:
        before[i] = kb.atomic_exch(cells, cell, values[i])


@kb.kernel
def count_float64(cells: kb.array(dtype=kb.float64)):
    cell = kb.tid() % cells.shape[0]
    seen = cells[cell]
    while True:
        before = kb.atomic_cas(cells, cell, seen, seen + 1.0)
        if before == seen:
            break
        seen = before


EXPRESSIONS["operations"] = (
    "atomic_add",
    "atomic_sub",
    "atomic_min",
    "atomic_max",
    "atomic_and",
    "atomic_or",
    "atomic_xor",
    "atomic_exch",
)
