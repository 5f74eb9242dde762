"""From a model of the solver's to an example that people can follow and the simulator can run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from kbuild.audit import terms
from kbuild.audit.answers import Answer, Judge
from kbuild.audit.conditions import Condition
from kbuild.audit.findings import Example, Thread
from kbuild.audit.solver import Model
from kbuild.audit.substitution import Other
from kbuild.audit.terms import Key, Term
from kbuild.audit.values import Parts, Reference, Unknown, Value, component_names
from kbuild.ir.types import Matrix, Scalar, Struct, Type, Vector


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
        scalars=tuple(one for symbol, value in parameters for one in _scalars(model, symbol.name, symbol.type, value)),
        contents=tuple(dict.fromkeys((*_contents(judge, model), *_floats(judge, model, answer.other)))),
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


def _scalars(model: Model, name: str, type: Type, value: Value) -> Iterator[tuple[str, int | float | bool]]:
    """The numbers that a parameter is or holds, by name, as far as the audit knows of them."""
    if isinstance(value, Parts):
        for inner, of, item in zip(*_parts(name, type), value.items, strict=False):
            if not isinstance(item, Unknown):
                yield from _scalars(model, inner, of, item)
    elif isinstance(value, Term):
        yield name, _whole(model, value)
    elif isinstance(value, Condition):
        yield name, model.holds(value)
    elif isinstance(value, Unknown) and isinstance(type, Scalar):
        yield name, 1.0  # of a vector or a struct that goes without saying


def _parts(name: str, type: Type) -> tuple[list[str], list[Type]]:
    """Names and types of what a parameter consists of, as `values.fresh` has them."""
    if isinstance(type, Struct):
        return [f"{name}.{field.name}" for field in type.fields], [field.type for field in type.fields]
    if isinstance(type, (Vector, Matrix)):
        names = component_names(type)
        return [name + one for one in names], [type.element] * len(names)
    return [], []


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


def _floats(judge: Judge, model: Model, other: Other | None) -> Iterator[tuple[str, tuple[int, ...], float]]:
    """Numbers in arrays of floats with which comparisons with constants come out as the model has them."""
    shapes = {
        one.memory.name: tuple(_whole(model, extent) for extent in one.memory.extents)
        for one in judge.records.accesses
        if isinstance(one.memory.element, Scalar)
    }
    for condition in model.opaque():
        key, is_other = condition.key, False
        if isinstance(key, Key) and key.parts[0] == "other" and other is not None:
            (_, key), is_other = key.parts, True
        found = _comparison(key)
        if found is None or found[1].parts[1] not in shapes:
            continue
        op, load, bound = found
        _, name, _, *indices = load.parts
        at = tuple(_whole(model, other.term(one) if is_other and other is not None else one) for one in indices)
        if all(0 <= i < n for i, n in zip(at, shapes[name], strict=True)):
            yield name, at, _number_for(op, bound, model.holds(condition))


def _comparison(key: object) -> tuple[str, Key, float] | None:
    """(operation, element, constant) of `element < constant` and the like, turned around where the constant stands
    first."""
    if not isinstance(key, Key) or key.parts[0] not in _TURNED:
        return None
    op, a, b = key.parts
    if isinstance(a, Key) and a.parts[0] == "const":
        op, a, b = _TURNED[op], b, a
    if not (isinstance(a, Key) and a.parts[0] == "load" and isinstance(b, Key) and b.parts[0] == "const"):
        return None
    return op, a, float(b.parts[1])


_TURNED: Final = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq"}


def _number_for(op: str, bound: float, holds: bool) -> float:
    """One that a comparison with a constant holds of, or not."""
    if op == "eq":
        return bound if holds else bound + 1.0
    return bound - 1.0 if (op in ("lt", "le")) == holds else bound + 1.0
