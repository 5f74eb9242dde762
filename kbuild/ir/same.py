"""Whether two kernels have the same IR: equal but for names of variables, functions and structs, spans, the order in
which structs are listed, and how functions are differentiated (gradients and replays).

    difference(kernel, other) → None, or the first difference in words
"""

from __future__ import annotations

import dataclasses
import math

from kbuild.ir import nodes
from kbuild.ir.nodes import Function, Kernel, Symbol
from kbuild.ir.traverse import callees
from kbuild.ir.types import Array, Fixed, Struct, Tuple, Type


def difference(kernel: Kernel, other: Kernel) -> str | None:
    """None where the two are the same, else where they differ first."""
    try:
        _Comparison().kernels(kernel, other)
    except _DifferentError as found:
        return str(found)
    return None


class _DifferentError(Exception):
    """The first difference."""


class _Comparison:
    """What stands for what: each symbol, function and struct of one side for one of the other."""

    def __init__(self) -> None:
        self.pairs: tuple[dict[object, object], dict[object, object]] = ({}, {})

    def kernels(self, a: Kernel, b: Kernel) -> None:
        self.require(_options(a), _options(b), "kernel")
        # A called function is compared where it is first met, so that recursion follows the calls.
        self.functions(a.function, b.function, "kernel")
        self.values(a.launch_dim, b.launch_dim, "launch_dim")
        self.require(len(callees(a.function)), len(callees(b.function)), "number of functions")
        self.require(len(a.structs), len(b.structs), "number of structs")
        named = {self.pairs[0].get(struct.name) for struct in a.structs}
        self.require(named, {struct.name for struct in b.structs}, "structs")

    def functions(self, a: Function, b: Function, at: str) -> None:
        if self.paired(a, b, at):
            return
        self.require(len(a.parameters), len(b.parameters), f"{at}: number of parameters")
        for one, two in zip(a.parameters, b.parameters, strict=True):
            self.symbols(one, two, f"{at}: parameter {one.name}")
        self.require(len(a.shared), len(b.shared), f"{at}: number of arrays in shared memory")
        for one, two in zip(a.shared, b.shared, strict=True):
            self.symbols(one, two, f"{at}: shared {one.name}")
        self.types(a.result, b.result, f"{at}: result")
        self.values(a.body, b.body, f"{at}: body")

    def symbols(self, a: Symbol, b: Symbol, at: str) -> None:
        if not self.paired(a, b, at):
            self.types(a.type, b.type, f"{at} ({a.name})")

    def paired(self, a: object, b: object, at: str) -> bool:
        """The two belong together since before. They do from now on, unless one belongs to another."""
        known = a in self.pairs[0] or b in self.pairs[1]
        if known and not (self.pairs[0].get(a) == b and self.pairs[1].get(b) == a):
            raise _DifferentError(f"{at}: {_shown(a)} and {_shown(b)} stand for others before")
        self.pairs[0][a], self.pairs[1][b] = b, a
        return known

    def types(self, a: Type, b: Type, at: str) -> None:
        self.require(type(a), type(b), f"{at}: kind of type")
        match a, b:
            case Struct(), Struct():
                if not self.paired(a.name, b.name, at):
                    self.require([f.name for f in a.fields], [f.name for f in b.fields], f"{at}: fields")
                    for one, two in zip(a.fields, b.fields, strict=True):
                        self.types(one.type, two.type, f"{at}: field {one.name}")
            case Array(), Array():
                self.require((a.ndim, _shape(a)), (b.ndim, _shape(b)), f"{at}: dimensions")
                self.types(a.element, b.element, at)
            case Tuple(), Tuple():
                self.require(len(a.items), len(b.items), f"{at}: results")
                for mine, yours in zip(a.items, b.items, strict=True):
                    self.types(mine, yours, at)
            case _:
                self.require(a, b, f"{at}: type")

    def values(self, a: object, b: object, at: str) -> None:
        """Nodes, and what their fields hold."""
        self.require(type(a), type(b), at)
        match a, b:
            case tuple(), tuple():
                self.require(len(a), len(b), f"{at}: length")
                for position, (one, two) in enumerate(zip(a, b, strict=True)):
                    self.values(one, two, f"{at}[{position}]")
            case Symbol(), Symbol():
                self.symbols(a, b, at)
            case Function(), Function():
                self.functions(a, b, at)
            case Type(), Type():
                self.types(a, b, at)
            case float(), float():
                same = a == b or (math.isnan(a) and math.isnan(b))
                self.require((same, math.copysign(1.0, a)), (True, math.copysign(1.0, b)), f"{at}: {a!r} and {b!r}")
            case _ if isinstance(a, (*nodes.EXPRESSIONS, *nodes.STATEMENTS)):
                self._fields(a, b, at)
            case _:
                self.require(a, b, at)

    def _fields(self, a: object, b: object, at: str) -> None:
        for field in dataclasses.fields(a):  # type: ignore[arg-type]
            one, two = getattr(a, field.name), getattr(b, field.name)
            # An assert's owner, number and words say where it stands, and a table's name what it is called there.
            says = isinstance(a, (nodes.Assert, nodes.Assume)) and field.name != "condition"
            says = says or (isinstance(a, nodes.Table) and field.name == "name")
            if field.name != "span" and not says:
                self.values(one, two, f"{at}.{type(a).__name__}.{field.name}")

    def require(self, a: object, b: object, at: str) -> None:
        if a != b:
            raise _DifferentError(f"{at}: {_shown(a)} is not {_shown(b)}")


def _options(kernel: Kernel) -> tuple[object, ...]:
    return kernel.ndim, kernel.fmad, kernel.max_iterations, kernel.launch_bounds, kernel.cluster_dim


def _shape(type: Array) -> tuple[int, ...]:
    return type.shape if isinstance(type, Fixed) else ()


def _shown(value: object) -> str:
    if isinstance(value, (Symbol, Function)):
        return value.name
    return value.__name__ if isinstance(value, type) else f"{value!r:.200}"
