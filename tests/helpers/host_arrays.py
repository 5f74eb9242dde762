"""Kernels as ordinary Python: a host stand-in for `kb.array`, `kb.zeros`, `kb.launch`, `kb.tid` and `kb.atomic_add`.

For tests of programs that launch kernels: what is written in the kernels is what runs, one thread after another. It
knows nothing of the language's types, so it says whether a program is right, and not whether kbuild compiles it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import pytest

import kbuild as kb

annotation = kb.array


class HostArray:
    """A row-major array of Python objects, indexed like a kernel indexes."""

    def __init__(self, shape: tuple[int, ...], items: list[Any]) -> None:
        self.shape, self.items = shape, items

    def _place(self, index: int | tuple[int, ...]) -> int:
        indices = index if isinstance(index, tuple) else (index,)
        place = 0
        for number, extent in zip(indices, self.shape, strict=True):
            assert 0 <= number < extent, f"index {indices} is outside {self.shape}"
            place = place * extent + number
        return place

    def __getitem__(self, index: int | tuple[int, ...]) -> Any:
        return self.items[self._place(index)]

    def __setitem__(self, index: int | tuple[int, ...], value: Any) -> None:
        self.items[self._place(index)] = value

    def tolist(self) -> list[Any]:
        return list(self.items)


def array(data: Any = None, dtype: Any = None) -> Any:
    """One axis for every level of lists; tuples become vectors of `dtype`. Without data an annotation, as ever."""
    if data is None:
        return annotation(dtype=dtype)
    shape, items = [len(data)], list(data)
    while isinstance(items[0], list):
        shape.append(len(items[0]))
        items = list(itertools.chain.from_iterable(items))
    return HostArray(tuple(shape), [dtype(*item) if isinstance(item, tuple) else item for item in items])


def zeros(shape: int | tuple[int, ...], dtype: Any) -> HostArray:
    extents = shape if isinstance(shape, tuple) else (shape,)
    count = 1
    for extent in extents:
        count *= extent
    return HostArray(extents, [dtype() for _ in range(count)])


class Threads:
    """Runs kernels thread by thread; `tid` says which it is."""

    index: tuple[int, ...] = ()

    def launch(self, kernel: Any, dim: int | tuple[int, ...], inputs: Iterable[Any]) -> None:
        extents = dim if isinstance(dim, tuple) else (dim,)
        arguments = list(inputs)
        for self.index in itertools.product(*map(range, extents)):
            kernel.function(*arguments)

    def tid(self) -> int | tuple[int, ...]:
        return self.index[0] if len(self.index) == 1 else self.index


def atomic_add(target: HostArray, *place: Any) -> None:
    *index, value = place
    where = tuple(index)
    target[where] = target[where] + value


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts the stand-ins in kbuild's place for one test."""
    threads = Threads()
    stand_ins = {"array": array, "zeros": zeros, "launch": threads.launch, "tid": threads.tid, "atomic_add": atomic_add}
    for name, stand_in in stand_ins.items():
        monkeypatch.setattr(kb, name, stand_in)
    monkeypatch.setattr(kb, "synchronize", lambda: None)
