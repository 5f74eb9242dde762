"""The tree that the pass works on: a kernel without calls, structs, views in variables and, in the end, jumps.

    tree = Set(place, value) | Do(value) | Branch(condition, tree*, tree*) | Loop(…) | Jump(kind)

Variables are scalars, vectors and matrices. The value of a `Set` to a variable, or of a `Do`, may be an atomic
operation, or the call of a function whose gradient is given (or that has none to have).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from kbuild.errors import Span
from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Symbol
from kbuild.ir.traverse import root_of, walk
from kbuild.ir.types import INT32, Array, Matrix, Struct, Type, Vector, element_of, is_float


@dataclass(eq=False, slots=True)
class Set:
    """A place takes a value."""

    target: Expr
    value: Expr
    span: Span | None = None


@dataclass(eq=False, slots=True)
class Do:
    """An atomic operation, or a call, whose result nobody wants."""

    value: Expr
    span: Span | None = None


@dataclass(eq=False, slots=True)
class Branch:
    condition: Expr
    then: list[Tree]
    otherwise: list[Tree]
    span: Span | None = None


@dataclass(eq=False, slots=True)
class Loop:
    """A loop over a range (`symbol`), over a condition that is asked before each trip, or over both.

    `step` is a constant, not 0. `trips` counts those that were made, where nothing else tells; `first` are statements
    that stand before the condition.
    """

    symbol: Symbol | None
    start: Expr | None
    stop: Expr | None
    step: int
    condition: Expr | None
    body: list[Tree]
    span: Span | None = None
    trips: Symbol | None = None


@dataclass(eq=False, slots=True)
class Jump:
    """`break`, `continue` or `return`."""

    kind: str
    span: Span | None = None


Tree: TypeAlias = Set | Do | Branch | Loop | Jump
# What an expression, or several statements, look at: variables, and arrays by path.
Names: TypeAlias = frozenset[Symbol | str]
NONE: Names = frozenset()


def fresh(name: str, type: Type, span: Span | None = None) -> Symbol:
    """A new variable of a type; with a span it is one of the source's."""
    return Symbol(name, type, span)


def read(symbol: Symbol) -> nodes.Read:
    """The value of a variable, or its place."""
    return nodes.Read(symbol, symbol.type)


def blocks_of(tree: Tree) -> list[list[Tree]]:
    """The blocks inside a statement."""
    match tree:
        case Branch(_, then, otherwise):
            return [then, otherwise]
        case Loop(body=body):
            return [body]
    return []


def every(block: list[Tree]) -> Iterator[Tree]:
    """All statements of a block, inner ones too, in the order of the text."""
    for one in block:
        yield one
        for inner in blocks_of(one):
            yield from every(inner)


def map_blocks(block: list[Tree], change: Callable[[list[Tree]], list[Tree]]) -> None:
    """Puts `change` of each inner block in its place, the innermost first."""
    for one in block:
        if isinstance(one, Branch):
            map_blocks(one.then, change)
            map_blocks(one.otherwise, change)
            one.then, one.otherwise = change(one.then), change(one.otherwise)
        elif isinstance(one, Loop):
            map_blocks(one.body, change)
            one.body = change(one.body)


# Arrays


def path_of(array: Expr) -> str | None:
    """Where in the kernel's parameters an array comes from: `x`, `model.mass`; None for no array at all."""
    way = ""
    while True:
        match array:
            case nodes.View(inner):
                array = inner
            case nodes.Member(inner, name):
                way, array = f".{name}{way}", inner
            case nodes.Read(symbol):
                return symbol.name + way
            case _:
                return None


def has_floats(type: Type) -> bool:
    """Values of the type have an adjoint: they are, or contain, floating-point numbers (arrays do not count)."""
    if isinstance(type, Struct):
        return any(has_floats(field.type) for field in type.fields)
    if isinstance(type, Array):
        return False
    return is_float(element_of(type))


def float_arrays(type: Type, way: str) -> Iterator[str]:
    """The paths of arrays with floating-point numbers in a parameter of a type; `way` is the parameter's own."""
    if isinstance(type, Array):
        if has_floats(type.element):
            yield way
    elif isinstance(type, Struct):
        for one in type.fields:
            yield from float_arrays(one.type, f"{way}.{one.name}")


def all_arrays(type: Type, way: str) -> Iterator[str]:
    """The paths of all arrays in a parameter of a type."""
    if isinstance(type, Array):
        yield way
    elif isinstance(type, Struct):
        for one in type.fields:
            yield from all_arrays(one.type, f"{way}.{one.name}")


def in_memory(place: Expr) -> nodes.Index | None:
    """The element of an array that a place lies in."""
    root = root_of(place)
    return root if isinstance(root, nodes.Index) else None


# What is looked at


def looks_at(*roots: nodes.Node | None) -> Names:
    """Variables that are read, and arrays whose elements are."""
    found: set[Symbol | str] = set()
    for root in roots:
        if root is not None:
            for node in walk(root):
                if isinstance(node, nodes.Read) and not isinstance(node.type, (Array, Struct)):
                    found.add(node.symbol)
                elif isinstance(node, nodes.Index):
                    path = path_of(node.array)
                    if path is not None:
                        found.add(path)
                elif isinstance(node, nodes.Call):
                    found.update(path for argument in node.arguments for path in _paths_in(argument))
    return frozenset(found)


def _paths_in(argument: Expr) -> Iterator[str]:
    """The arrays that a callee may read."""
    if isinstance(argument.type, Array):
        path = path_of(argument)
        if path is not None:
            yield path
    elif isinstance(argument, nodes.Build):
        for part in argument.parts:
            yield from _paths_in(part)


def looks_at_in_target(target: Expr) -> Names:
    """What finding a place looks at, which is not the place itself."""
    found: list[Expr] = []
    while isinstance(target, (nodes.Component, nodes.Member)):
        if isinstance(target, nodes.Component):
            found.extend(target.indices)
        target = target.base
    if isinstance(target, nodes.Index):
        found.extend(target.indices)
        array = target.array
        while isinstance(array, (nodes.View, nodes.Member)):
            if isinstance(array, nodes.View):
                found.extend(array.indices)
                array = array.array
            else:
                array = array.base
    return looks_at(*found)


# Small expressions


def int_const(value: int, type: Type = INT32) -> nodes.Const:
    """An integer constant."""
    return nodes.Const(value, type)


def components(place: Expr) -> list[nodes.Component]:
    """The elements of a vector or matrix, one by one."""
    match place.type:
        case Vector(length=n, element=element):
            return [nodes.Component(place, (int_const(i),), element) for i in range(n)]
        case Matrix(rows=rows, columns=columns, element=element):
            cells = [(int_const(i), int_const(j)) for i in range(rows) for j in range(columns)]
            return [nodes.Component(place, cell, element) for cell in cells]
    raise AssertionError(place.type)


def zero(type: Type) -> Expr:
    """Nothing, of a floating-point type."""
    if isinstance(type, Vector):
        return nodes.Build((zero(type.element),) * type.length, type)
    if isinstance(type, Matrix):
        return nodes.Build((zero(type.element),) * (type.rows * type.columns), type)
    return nodes.Const(0.0, type)
