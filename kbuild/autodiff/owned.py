"""Arrays of which each thread of a launch works on elements of its own: their adjoints need no atomic additions.

That is so where every access to the array, in the whole kernel, has all coordinates of the thread among its indices,
each at the same place.
"""

from __future__ import annotations

from kbuild.autodiff.flat import Branch, Do, Loop, Names, Set, Tree, every, path_of
from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Symbol
from kbuild.ir.traverse import walk
from kbuild.ir.types import Array, IndexedArray

_Pattern = tuple[int | None, ...]


def owned_arrays(body: list[Tree], ndim: int) -> Names:
    """The paths of such arrays, in a kernel with `ndim` coordinates."""
    axes = _thread_variables(body)
    patterns: dict[str, _Pattern | None] = {}
    for one in every(body):
        for expr in _expressions(one):
            for node in walk(expr):
                if isinstance(node, nodes.Index) and (path := path_of(node.array)) is not None:
                    pattern = _pattern(node, axes)
                    is_whole = {*range(ndim)} <= {*pattern} and not isinstance(node.array.type, IndexedArray)
                    if not is_whole or patterns.setdefault(path, pattern) != pattern:
                        patterns[path] = None
                elif isinstance(node, nodes.Call):  # its callee goes where it likes
                    for argument in node.arguments:
                        if isinstance(argument.type, Array) and (path := path_of(argument)) is not None:
                            patterns[path] = None
    return frozenset(path for path, pattern in patterns.items() if pattern is not None)


def _expressions(one: Tree) -> list[Expr]:
    match one:
        case Set(target, value):
            return [target, value]
        case Do(value):
            return [value]
        case Branch(condition):
            return [condition]
        case Loop(_, start, stop, _, condition):
            return [expr for expr in (start, stop, condition) if expr is not None]
    return []


def _thread_variables(body: list[Tree]) -> dict[Symbol, int]:
    """Variables that are a coordinate of the thread, and nothing else."""
    found: dict[Symbol, int | None] = {}
    for one in every(body):
        if isinstance(one, Set) and isinstance(one.target, nodes.Read):
            symbol, value = one.target.symbol, one.value
            axis = value.axis if isinstance(value, nodes.ThreadIndex) else None
            if isinstance(value, nodes.Read):
                axis = found.get(value.symbol)
            found[symbol] = axis if symbol not in found else None
    return {symbol: axis for symbol, axis in found.items() if axis is not None}


def _pattern(place: nodes.Index, axes: dict[Symbol, int]) -> _Pattern:
    """At which index which coordinate stands; those of views come first."""
    indices = [*place.indices]
    array = place.array
    while isinstance(array, nodes.View):
        indices = [*array.indices, *indices]
        array = array.array
    found: list[int | None] = []
    for index in indices:
        if isinstance(index, nodes.ThreadIndex):
            found.append(index.axis)
        else:
            found.append(axes.get(index.symbol) if isinstance(index, nodes.Read) else None)
    return tuple(found)
