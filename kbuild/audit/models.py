"""From a model of the solver's to an example that people can follow and the simulator can run."""

from __future__ import annotations

import math
from collections.abc import Iterator

from kbuild.audit import terms
from kbuild.audit.answers import Answer, Judge
from kbuild.audit.conditions import Condition
from kbuild.audit.findings import Example, Thread
from kbuild.audit.solver import Model
from kbuild.audit.substitution import Other
from kbuild.audit.terms import Term
from kbuild.audit.values import Parts, Reference, Unknown, Value


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
    parameters = judge.records.parameters
    return Example(
        dim=dim or (math.prod(grid) * place.blocks.size,),
        block_dim=place.blocks.size,
        shapes=tuple(one for _, value in parameters for one in _arrays(model, value)),
        scalars=tuple(one for name, value in parameters for one in _scalar(model, name, value)),
        contents=tuple(_contents(judge, model)),
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


def _arrays(model: Model, value: Value) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The shapes of the arrays in a parameter."""
    if isinstance(value, Reference):
        yield value.memory.name, tuple(_whole(model, one) for one in value.memory.extents)
    elif isinstance(value, Parts):
        for item in value.items:
            yield from _arrays(model, item)


def _scalar(model: Model, name: str, value: Value) -> Iterator[tuple[str, int | float | bool]]:
    """The number that a parameter is, where the audit knows of one."""
    if isinstance(value, Term):
        yield name, _whole(model, value)
    elif isinstance(value, Condition):
        yield name, model.holds(value)
    elif isinstance(value, Unknown):
        yield name, 1.0


def _contents(judge: Judge, model: Model) -> Iterator[tuple[str, tuple[int, ...], int]]:
    """What must stand in arrays of integers, as far as a launch can put it there."""
    shapes = {
        one.memory.name: tuple(_whole(model, extent) for extent in one.memory.extents) for one in judge.records.accesses
    }
    for atom in model.atoms():
        if atom.kind == "load" and atom.name in shapes:
            indices = tuple(_whole(model, one) for one in atom.arguments)
            value = model.value(terms.of(atom))
            inside = all(0 <= i < n for i, n in zip(indices, shapes[atom.name], strict=True))
            if inside and value is not None:
                yield atom.name, indices, value
