"""From a model of the solver's to an example that people can follow and the simulator can run."""

from __future__ import annotations

import math
from collections.abc import Iterator

from kbuild.audit.findings import Example, Thread
from kbuild.audit.judging import Answer, Judge
from kbuild.audit.records import Records
from kbuild.audit.solver import Model
from kbuild.audit.substitution import Other
from kbuild.audit.terms import Term


def example(judge: Judge, answer: Answer) -> Example | None:
    """The launch and the threads of an answer; None without a model."""
    model = answer.model
    if model is None:
        return None
    place = judge.place
    grid = tuple(_whole(model, one) for one in place.grid)
    dim = tuple(_whole(model, one) for one in place.extents)
    threads = [_thread(judge, model, None)]
    if answer.other is not None:
        threads.append(_thread(judge, model, answer.other))
    return Example(
        dim=dim or (math.prod(grid) * place.blocks.size,),
        block_dim=place.blocks.size,
        shapes=tuple(_shapes(judge.records, model)),
        scalars=tuple(_scalars(model)),
        contents=tuple(_contents(model)),
        threads=tuple(threads),
        grid=grid if place.is_whole else None,  # type: ignore[arg-type]
        block=place.blocks.shape if place.is_whole else None,
    )


def _whole(model: Model, term: Term) -> int:
    value = model.value(term)
    return 0 if value is None else value


def _thread(judge: Judge, model: Model, other: Other | None) -> Thread:
    place = judge.place

    def at(term: Term) -> int:
        return _whole(model, term if other is None else other.term(term))

    block = tuple(at(one) for one in place.block)
    thread = tuple(at(one) for one in place.thread)
    coordinates = tuple(at(one) for one in place.coordinates)
    return Thread(block, thread, coordinates)  # type: ignore[arg-type]


def _shapes(records: Records, model: Model) -> Iterator[tuple[str, tuple[int, ...]]]:
    seen: set[str] = set()
    for access in records.accesses:
        memory = access.memory
        if memory.parameter and memory.name not in seen:
            seen.add(memory.name)
            yield memory.name, tuple(_whole(model, one) for one in memory.extents)


def _scalars(model: Model) -> Iterator[tuple[str, int]]:
    for atom in model.symbols():
        if atom.level == 0 and "shape[" not in atom.name and not atom.name.startswith(("dim", "grid_dim")):
            value = model.value(_of(atom))
            if value is not None:
                yield atom.name, value


def _of(atom: object) -> Term:
    from kbuild.audit import terms

    return terms.of(atom)  # type: ignore[arg-type]


def _contents(model: Model) -> Iterator[tuple[str, tuple[int, ...], int]]:
    for atom in model.atoms():
        if atom.kind == "load":
            indices = tuple(_whole(model, one) for one in atom.arguments)
            value = model.value(_of(atom))
            if value is not None:
                yield atom.name, indices, value
