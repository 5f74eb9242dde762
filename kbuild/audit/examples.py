"""Examples in words: the launch at which a finding shows, and the threads concerned.

a launch of dim 1000 in blocks of 256, a.shape 999
thread 231 of block 3, tid 999: i = 999
"""

from __future__ import annotations

from collections.abc import Sequence

from kbuild.audit.findings import Example, Thread


def in_words(example: Example) -> list[str]:
    """A line about the launch, and one for each thread."""
    facts = [f"{name}.shape {_tuple(shape)}" for name, shape in example.shapes]
    facts += [f"{name} = {value}" for name, value in example.scalars]
    facts += [f"{name}[{', '.join(map(str, at))}] = {value}" for name, at, value in example.contents]
    launch = f"a launch of dim {_tuple(example.dim)} in blocks of {example.block_dim}"
    if example.grid is not None and example.block is not None:
        blocks = "block" if example.grid == (1, 1, 1) else "blocks"
        launch = f"a launch of {_extents(example.grid)} {blocks} of {_extents(example.block)} threads"
    return [", ".join([launch, *facts]), *map(thread_in_words, example.threads)]


def thread_in_words(thread: Thread) -> str:
    """`thread 5 of block 2, tid 517: i = 517`; with all axes where one is not the first."""
    text = f"thread {_place(thread.thread)} of block {_place(thread.block)}"
    if thread.coordinates:
        text += f", tid {_tuple(thread.coordinates)}"
    values = ", ".join(f"{name} = {value}" for name, value in thread.values)
    return f"{text}: {values}" if values else text


def _place(place: tuple[int, int, int]) -> str:
    return str(place[0]) if place[1:] == (0, 0) else _tuple(place)


def _extents(extents: tuple[int, int, int]) -> str:
    """`4` or `8×8×1`."""
    return str(extents[0]) if extents[1:] == (1, 1) else "×".join(map(str, extents))


def _tuple(values: Sequence[int]) -> str:
    return str(values[0]) if len(values) == 1 else f"({', '.join(map(str, values))})"
