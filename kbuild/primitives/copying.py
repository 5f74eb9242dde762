"""Words from one array into another, whatever their strides: what the driver's copies do row by row at best."""

from typing import Any

from kbuild.loader import builtins as kb
from kbuild.loader.array import array4d
from kbuild.loader.types import Kernel
from kbuild.primitives.kernels import BLOCK, PROTOCOL, kernel

# mypy: disable-error-code="no-untyped-call,no-any-return,untyped-decorator,no-untyped-def,valid-type,attr-defined"

SIDE = 32  # of the square that a block turns: a warp is one of its rows
PADDED = SIDE + 1  # with a gap after each row, so that a column lies in different banks
WARPS = BLOCK // SIDE
ROWS = SIDE // WARPS  # of a warp


def make_copy(word: Any) -> Kernel:
    """A thread for each word, neighbours along the last axis."""

    @kernel
    def copy_words(source: array4d(dtype=word), out: array4d(dtype=word)):
        _ = kb.static(PROTOCOL)
        i, j, k, m = kb.tid()
        out[i, j, k, m] = source[i, j, k, m]

    return copy_words


def make_turn(word: Any) -> Kernel:
    """Squares of the last two axes, read along the one before the last and written along the last one.

    Block by block: the squares of a row, the rows of squares, then the other axes.
    """

    @kernel
    def turn_words(source: array4d(dtype=word), out: array4d(dtype=word)):
        _ = kb.static(PROTOCOL)
        square = kb.shared_array((SIDE, PADDED), word)
        t = kb.thread_idx()
        warp = t // SIDE
        lane = t % SIDE
        down = (out.shape[2] - 1) // SIDE + 1
        across = (out.shape[3] - 1) // SIDE + 1
        rest = kb.block_idx() // across
        left = (kb.block_idx() - rest * across) * SIDE
        other = rest // down
        top = (rest - other * down) * SIDE
        i = other // out.shape[1]
        j = other - i * out.shape[1]
        for n in range(ROWS):
            column = n * WARPS + warp
            if top + lane < out.shape[2] and left + column < out.shape[3]:
                square[column, lane] = source[i, j, top + lane, left + column]
        kb.syncthreads()
        for n in range(ROWS):
            row = n * WARPS + warp
            if top + row < out.shape[2] and left + lane < out.shape[3]:
                out[i, j, top + row, left + lane] = square[lane, row]

    return turn_words
