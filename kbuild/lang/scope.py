"""What the names in a kernel stand for, outside the kernel.

A name is local when the function assigns it; otherwise it is looked up, like Python would, in the closure, the module
and the built-ins. `resolve` follows attributes as well (`cfg.FLAG`, `Mode.FAST`, `math.pi`), and gives the path by
which `loader.identity` finds the value again on the target.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

from kbuild.lang.source import Definition
from kbuild.loader import builtins as kernel_builtins
from kbuild.loader import values


@dataclass(frozen=True, slots=True)
class Captured:
    """A value from outside the kernel and where it was found; what belongs to the language has no path."""

    value: Any
    path: str | None


class UnresolvedName(Exception):
    """A name that stands for nothing; `attribute` is set when the name is known but not the attribute."""

    def __init__(self, name: str, known: list[str], attribute_of: Any = None) -> None:
        super().__init__(name)
        self.name, self.known, self.attribute_of = name, known, attribute_of


class Scope:
    """Names of one Python function, seen from its code."""

    def __init__(self, function: FunctionType, definition: Definition, dialect: str = "") -> None:
        self.function, self.dialect = function, dialect
        self.locals = local_names(definition)

    @staticmethod
    def root(node: ast.expr) -> str | None:
        """The name at the bottom of `a.b.c`, or None for anything else."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return node.id if isinstance(node, ast.Name) else None

    def is_outer(self, node: ast.expr) -> bool:
        """The node is a name, or attributes of one, that the function does not assign."""
        root = self.root(node)
        return root is not None and root not in self.locals

    def resolve(self, node: ast.expr) -> Captured:
        """What an outer name or attribute chain stands for. Raises UnresolvedName."""
        if isinstance(node, ast.Name):
            return self._look_up(node.id)
        assert isinstance(node, ast.Attribute)
        base = self.resolve(node.value)
        try:
            value = getattr(base.value, node.attr)
        except AttributeError:
            raise UnresolvedName(node.attr, dir(base.value), base.value) from None
        # `kb.vec3` is what it is; a name of the user's own that holds it may hold something else tomorrow.
        is_ours = _is_language(base.value) and not (isinstance(value, ModuleType) and _is_settings(value))
        return Captured(value, None if is_ours or base.path is None else f"{base.path}.{node.attr}")

    def visible(self) -> dict[str, Any]:
        """Everything that Python code in the function's place would see, but for its own variables."""
        cells = zip(self.function.__code__.co_freevars, self.function.__closure__ or (), strict=True)
        return {**self.function.__globals__, **{name: cell.cell_contents for name, cell in cells if is_filled(cell)}}

    def _look_up(self, name: str) -> Captured:
        function = self.function
        if name in function.__code__.co_freevars:
            try:
                cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
                return Captured(cell.cell_contents, f"closure:{name}")
            except ValueError:
                raise UnresolvedName(name, []) from None
        if name in function.__globals__:
            return Captured(function.__globals__[name], f"global:{name}")
        if self.dialect == "warp" and _is_of_language(name):
            return Captured(kernel_builtins.TABLE.get(name) or getattr(values, name), None)
        if hasattr(builtins, name):
            return Captured(getattr(builtins, name), None)
        raise UnresolvedName(name, [*function.__globals__, *function.__code__.co_freevars, *self.locals])


def _is_of_language(name: str) -> bool:
    """Warp knows the names of its language without a module before them: `vec3(…)`, `expect_eq(a, b)`."""
    return name in kernel_builtins.TABLE or name in values.__all__


def _is_language(value: Any) -> bool:
    """One of kbuild's modules, but for those that hold settings of the program's."""
    return isinstance(value, ModuleType) and value.__name__.partition(".")[0] == "kbuild" and not _is_settings(value)


def _is_settings(module: ModuleType) -> bool:
    return bool(vars(module).get("_kb_settings_", False))


def is_filled(cell: Any) -> bool:
    """The closure variable has a value yet."""
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


@cache  # a helper is reached by hundreds of instances
def local_names(definition: Definition) -> frozenset[str]:
    """Names that a function binds."""
    return frozenset(_locals(definition))


def _locals(definition: Definition) -> Iterator[str]:
    arguments = definition.args
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
        yield argument.arg
    for extra in (arguments.vararg, arguments.kwarg):
        if extra is not None:
            yield extra.arg
    for statement in definition.body:
        yield from assigned_names(statement)


def assigned_names(root: ast.AST) -> Iterator[str]:
    """Names that a piece of code binds, also by what kernels do not have (`def`, `import`, `except … as`, `case`)."""
    for node in ast.walk(root):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=asname):
                yield asname or name.partition(".")[0]
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
