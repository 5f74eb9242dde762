"""Loops that have a version of their own for arrays without gaps.

The strides of an array are known when the kernel runs. A loop whose index goes up by a constant needs one register for
each array where the last stride is known to be the size of an element, and an addition each trip, or none where the
compiler unrolls it; with any stride it is a product for each access. So the innermost of such loops stand there twice:

    if (stop <= 2147483615 && values.dense() && x.dense()) {
        for (int k = start; k < stop; k += 32) { … values.near(k) … }
    } else {
        …
    }

Of loops over vectors, by whatever index, one version knows that they are aligned to their size (see `wide`).
Whether arrays have gaps may differ between threads in a function that is given parts of them: loops in which threads
wait for one another have one version.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kbuild.codegen.addresses import changes
from kbuild.ir import nodes
from kbuild.ir.elements import assigned
from kbuild.ir.nodes import Const, Expr, Function, Symbol
from kbuild.ir.traverse import callees, children, walk
from kbuild.ir.types import Array, Fixed, IndexedArray, Scalar, word_of

_MOST_NODES = 150  # of a body that is worth being there twice
_SMALL = 20  # of one that is worth being there once more
_TOGETHER = (nodes.Barrier, nodes.Native, nodes.While, nodes.Print, nodes.Assert)


@dataclass(frozen=True, slots=True)
class Contiguous:
    """What is asked before the loop: which arrays have no gaps, which are aligned to the words that their elements are
    made of, and the largest `stop` from which the counter does not overflow (None: any). `unrolled`: how often the body
    of the other version stands in a trip of the machine code, which is not to grow much.
    """

    dense: frozenset[Symbol]
    aligned: dict[Symbol, int]
    most: int | None
    unrolled: int


def version(loop: nodes.For, met_again: frozenset[nodes.Index]) -> Contiguous | None:
    """What a loop's own version asks for; None where it has none. Elements that are met again are not loaded whole."""
    if not _is_simple(loop.body):
        return None
    changing = assigned(loop)
    elements = [node for node in walk(loop.body) if isinstance(node, nodes.Index) and _is_asked(node, changing)]
    words = ((node.array, word_of(node.type)) for node in elements if node not in met_again)
    aligned = {array.symbol: word for array, word in words if word and isinstance(array, nodes.Read)}
    dense = frozenset(_dense(loop, changing))
    if not (dense or aligned):
        return None
    unrolled = 2 if sum(1 for _ in walk(loop.body)) <= _SMALL else 1
    return Contiguous(dense, aligned, _most(loop) if dense else None, unrolled)


def _dense(loop: nodes.For, changing: frozenset[Symbol]) -> set[Symbol]:
    """The arrays whose last index goes with the counter, where all go so."""
    arrays: set[Symbol] = set()
    if not isinstance(loop.step, Const) or loop.step.value < 1:
        return arrays
    for node in walk(loop.body):
        if not isinstance(node, nodes.Index):
            continue
        if (symbol := _runs_along(node, loop.symbol, changing)) is not None:
            arrays.add(symbol)
        elif _runs_across(node, loop.symbol):
            return set()  # with a product each trip there is little left to gain
    return arrays


def _most(loop: nodes.For) -> int | None:
    assert isinstance(loop.symbol.type, Scalar)
    assert isinstance(loop.step, Const)
    bits = 8 * loop.symbol.type.size - (loop.symbol.type.kind == "int")
    return None if loop.step.value == 1 else (1 << bits) - 1 - int(loop.step.value)


def _is_asked(index: nodes.Index, changing: frozenset[Symbol]) -> bool:
    """An element of an array in global memory that is the same array in every trip."""
    array = index.array
    if not isinstance(array, nodes.Read) or array.symbol in changing or index.cache:
        return False
    return isinstance(array.type, Array) and not isinstance(array.type, (Fixed, IndexedArray))


def _runs_along(index: nodes.Index, counter: Symbol, changing: frozenset[Symbol]) -> Symbol | None:
    """The array whose last index goes with the counter."""
    if not _is_asked(index, changing) or not _goes_with(index.indices[-1], counter, changing):
        return None
    assert isinstance(index.array, nodes.Read)
    return index.array.symbol


def _runs_across(index: nodes.Index, counter: Symbol) -> bool:
    """An element of an array in global memory at an index that is made of the counter, but goes another way."""
    if isinstance(index.array.type, Fixed):
        return False
    return any(
        isinstance(node, nodes.Read) and node.symbol is counter for one in index.indices for node in _direct(one)
    )


def _direct(root: Expr) -> Iterator[nodes.Node]:
    """What an index is made of, but for what is loaded."""
    if not isinstance(root, nodes.Index):
        yield root
        for one in children(root):
            yield from _direct(one)  # type: ignore[arg-type]  # below an expression there are expressions


def _goes_with(expr: Expr, counter: Symbol, changing: frozenset[Symbol]) -> bool:
    """The counter, or its sum with what stays the same."""
    match expr:
        case nodes.Read(symbol):
            return symbol is counter
        case nodes.Binary("add", left, right):
            return (_goes_with(left, counter, changing) and not changes(right, changing)) or (
                _goes_with(right, counter, changing) and not changes(left, changing)
            )
        case nodes.Binary("sub", left, right):
            return _goes_with(left, counter, changing) and not changes(right, changing)
    return False


def _is_simple(body: tuple[nodes.Stmt, ...]) -> bool:
    """Short, without a loop that is none for the compiler, and without threads that wait."""
    functions: list[Function] = []
    count = 0
    for node in walk(body):
        count += 1
        if isinstance(node, nodes.Call):
            functions += [node.callee, *callees(node.callee)]
        if _stops(node):
            return False
    for function in functions:
        inside = list(walk(function.body))
        count += len(inside)
        if function.shared or any(_stops(node) for node in inside):
            return False
    return count <= _MOST_NODES


def _stops(node: nodes.Node) -> bool:
    match node:
        case nodes.For(_, start, stop, step, _):
            return not all(isinstance(bound, Const) for bound in (start, stop, step))
        case nodes.Intrinsic(name, _):
            return name in nodes.COLLECTIVES
    return isinstance(node, _TOGETHER)
