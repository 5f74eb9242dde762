"""Spellings of types in the kernel language, and the declarations that they need: `kb.vec3`, `kb.array(dtype=…)`,
a name for a type that kbuild has no name for, a `@kb.struct` class."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Iterable
from typing import TypeVar

from kbuild.errors import InternalError
from kbuild.ir.types import Array, IndexedArray, Matrix, Scalar, Struct, Type, Vector

D = TypeVar("D", ast.ClassDef, ast.FunctionDef)

# Names that the text uses itself, or that would mean something else to its reader.
RESERVED = frozenset({"kb", "math", *keyword.kwlist, *keyword.softkwlist, *dir(builtins)}) - {"_"}

_SUFFIXES = {"float32": "", "float16": "h", "float64": "d", "int8": "b", "uint8": "ub", "int16": "s", "uint16": "us"}
_SUFFIXES |= {"int32": "i", "uint32": "ui", "int64": "l", "uint64": "ul"}


class Names:
    """Names that are taken, and new ones beside them."""

    def __init__(self, taken: Iterable[str]) -> None:
        self.taken = set(taken)

    def fresh(self, wanted: str) -> str:
        """The name, or the first of `name_1`, `name_2` … that is free."""
        name, count = wanted, 0
        while name in self.taken:
            count += 1
            name = f"{wanted}_{count}"
        self.taken.add(name)
        return name


class TypeNames:
    """Types as expressions of a module; `declarations` holds the statements that it needs for them, in order."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.declarations: list[ast.stmt] = []
        self._known: dict[Type, ast.expr] = {}

    def __call__(self, type: Type) -> ast.expr:
        """The type as an expression."""
        if type not in self._known:
            self._known[type] = self._spelled(type)
        return self._known[type]

    def stated(self, type: Array, shape: ast.expr) -> ast.expr:
        """An array as the annotation of a parameter that states its shape."""
        return call(_kind(type), dtype=self(type.element), shape=shape)

    def _spelled(self, type: Type) -> ast.expr:
        match type:
            case Scalar():
                return kb("bool_" if type.kind == "bool" else type.spelling)
            case Array():
                return call(_kind(type), dtype=self(type.element), ndim=ast.Constant(type.ndim))
            case Struct():
                return self._struct(type)
            case Vector() | Matrix():
                name = _name(type)
                return kb(name) if name is not None else self._composite(type)
        raise InternalError(f"{type} is no type of a parameter or variable")

    def _struct(self, type: Struct) -> ast.expr:
        fields = [(field.name, self(field.type)) for field in type.fields]
        last = re.split(r"[.:]", type.name)[-1]
        name = self.names.fresh(re.sub(r"\W", "_", last))
        body: list[ast.stmt] = [
            ast.AnnAssign(ast.Name(field, ast.Store()), spelled, None, 1) for field, spelled in fields
        ]
        definition = parsed(f"class {name}: pass", ast.ClassDef)
        definition.body, definition.decorator_list = body, [kb("struct")]
        self.declarations.append(definition)
        return ast.Name(name, ast.Load())

    def _composite(self, type: Vector | Matrix) -> ast.expr:
        element = self(type.element)
        head = re.sub(r"\W+", "_", type.spelling).strip("_")
        if isinstance(type, Matrix):
            shape = ast.Tuple([ast.Constant(type.rows), ast.Constant(type.columns)], ast.Load())
            made = call(kb("types", "matrix"), shape=shape, dtype=element)
        else:
            made = call(kb("types", "vector"), length=ast.Constant(type.length), dtype=element)
        name = self.names.fresh(head)
        self.declarations.append(ast.Assign([ast.Name(name, ast.Store())], made))
        return ast.Name(name, ast.Load())


def _kind(type: Array) -> ast.expr:
    return kb("indexedarray" if isinstance(type, IndexedArray) else "array")


def _name(type: Vector | Matrix) -> str | None:
    """kbuild's own name of a type, without `kb.`."""
    suffix, is_float = _SUFFIXES[type.element.spelling], type.element.kind == "float"
    if isinstance(type, Matrix):
        if type.rows == type.columns in (2, 3, 4) and is_float:
            return f"mat{type.rows}{type.rows}{suffix}"
        return f"spatial_matrix{suffix}" if type.rows == type.columns == 6 and is_float else None
    if type.kind != "vec":
        return f"{type.kind}{suffix}"
    if type.length in (2, 3, 4):
        return f"vec{type.length}{suffix}"
    return f"spatial_vector{suffix}" if type.length == 6 and is_float else None


def kb(*path: str) -> ast.expr:
    """`kb.path`."""
    found: ast.expr = ast.Name("kb", ast.Load())
    for name in path:
        found = ast.Attribute(found, name, ast.Load())
    return found


def call(callee: ast.expr, *arguments: ast.expr, **named: ast.expr) -> ast.Call:
    """A call of what `callee` says."""
    return ast.Call(callee, list(arguments), [ast.keyword(name, value) for name, value in named.items()])


def parsed(text: str, kind: type[D]) -> D:
    """A definition to fill: which fields it has differs among versions of Python."""
    found = ast.parse(text).body[0]
    assert isinstance(found, kind)
    return found
