"""Which arrays a launch may have None for: those that a kernel asks for (`if values:`), or has no use for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Function
from kbuild.ir.traverse import callees, children, walk
from kbuild.ir.types import Array, Struct, Type

# A parameter's number, and the way from it: "" for the parameter, ".mask" for a field.
Path = tuple[int, str]


def optional_parameters(function: Function) -> list[str]:
    """The parameters, and fields of parameters, that may be None, as `values` and `model.mask`."""
    names = [parameter.name for parameter in function.parameters]
    used = _used(function)
    arrays = {(number, way) for number, one in enumerate(function.parameters) for way in _arrays_in(one.type)}
    free = {path for path in arrays if not any(_overlap(path, other) for other in used)}
    return sorted(names[number] + rest for number, rest in _asked(function) | free)


def _arrays_in(type: Type, way: str = "") -> Iterator[str]:
    """The ways to the arrays in a parameter of a type."""
    if isinstance(type, Array):
        yield way
    elif isinstance(type, Struct):
        for field in type.fields:
            yield from _arrays_in(field.type, f"{way}.{field.name}")


def _overlap(path: Path, other: Path) -> bool:
    """One of them is the other, or a part of it."""
    (number, way), (second, rest) = path, other
    shorter, longer = sorted((f"{way}.", f"{rest}."), key=len)
    return number == second and longer.startswith(shorter)


@cache
def _used(function: Function) -> frozenset[Path]:
    """Parameters and fields of parameters that the function does something with; to hand one on is none yet, and in
    Warp's dialect neither is to ask for an extent, which is 0 where there is no array."""
    found: set[Path] = set()
    waiting: list[nodes.Node] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (nodes.Read, nodes.Member)):
            paths = _path_of(node, function)
            found.update(paths)
            waiting += [] if paths else children(node)
        elif isinstance(node, nodes.Call):
            for number, argument in enumerate(node.arguments):
                paths = _path_of(argument, function) if isinstance(argument, (nodes.Read, nodes.Member)) else []
                inside = [rest for other, rest in _used(node.callee) if other == number]
                found.update((base, way + rest) for base, way in paths for rest in inside)
                waiting += [] if paths else [argument]
        elif not (function.wraps and isinstance(node, nodes.Extent) and _is_parameter(node.array, function)):
            waiting += children(node)
    return frozenset(found)


@cache
def _asked(function: Function) -> frozenset[Path]:
    found: set[Path] = set()
    for node in walk(function.body):
        if isinstance(node, nodes.Present):
            found.update(_path_of(node.array, function))
        elif isinstance(node, nodes.Call):
            for number, rest in _asked(node.callee):
                found.update((base, way + rest) for base, way in _path_of(node.arguments[number], function))
    return frozenset(found)


def _path_of(expr: Expr, function: Function) -> list[Path]:
    """Where in the parameters an expression comes from; nothing for what is computed."""
    way = ""
    while not isinstance(expr, nodes.Read):
        match expr:
            case nodes.Member(base, field):
                way, expr = f".{field}{way}", base
            case nodes.View(array):
                expr = array
            case _:
                return []
    return [(function.parameters.index(expr.symbol), way)] if expr.symbol in function.parameters else []


def asks_of_views(function: Function) -> bool:
    """Whether `Present` may be asked of an array that is not a kernel's parameter as it came: of a view, perhaps."""
    if any(isinstance(node, nodes.Present) for callee in callees(function) for node in walk(callee.body)):
        return True
    asked = [node.array for node in walk(function.body) if isinstance(node, nodes.Present)]
    return any(not _is_parameter(array, function) for array in asked)


def _is_parameter(expr: Expr, function: Function) -> bool:
    while isinstance(expr, nodes.Member):
        expr = expr.base
    return isinstance(expr, nodes.Read) and expr.symbol in function.parameters
