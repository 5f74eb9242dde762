"""Which arrays a kernel asks for (`if values:`): a launch may have None for those, and for no others."""

from __future__ import annotations

from functools import cache

from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Function
from kbuild.ir.traverse import callees, walk

# A parameter's number, and the way from it: "" for the parameter, ".mask" for a field.
Path = tuple[int, str]


def optional_parameters(function: Function) -> list[str]:
    """The parameters, and fields of parameters, that a kernel asks for, as `values` and `model.mask`."""
    names = [parameter.name for parameter in function.parameters]
    return sorted(names[number] + rest for number, rest in _asked(function))


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
