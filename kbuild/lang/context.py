"""State while one function is lowered: its names, the block under construction, and where to report.

The handlers for statements and expressions live in their own files and know only this context; `program` gives it the
table of handlers. The order of effects is kept here: a call with effects becomes a statement, and operands that were
evaluated before it are saved first.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NoReturn, Protocol, TypeAlias, TypeVar

from kbuild.errors import Diagnostic, Note, Report, Span
from kbuild.ir import nodes
from kbuild.ir.nodes import Const, Expr, Function, Read, Stmt, Symbol
from kbuild.ir.traverse import root_of, walk
from kbuild.ir.types import BOOL, Array, Fixed, Type, is_number
from kbuild.lang.operands import (
    NOTHING,
    Operand,
    Pack,
    Place,
    Refused,
    Silenced,
    Static,
    Structure,
    Untyped,
    default_type,
    describe,
    fit,
)
from kbuild.lang.scope import Scope, assigned_names
from kbuild.lang.source import SourceFile
from kbuild.loader import types as runtime

ExpressionHandler: TypeAlias = "Callable[[Context, ast.expr], Operand]"
StatementHandler: TypeAlias = "Callable[[Context, ast.stmt], None]"
T = TypeVar("T")


class Program(Protocol):
    """What a context needs of the run as a whole."""

    report: Report
    asserts: bool  # whether the code holds them
    kernel: runtime.Kernel

    def instance(self, function: runtime.Function, arguments: Sequence[Operand], span: Span) -> Function:
        """The function lowered at these argument types. Raises Refused or Silenced."""

    def plain(self, function: Function) -> Type:
        """What a lowered function returns but for the variables that go back to the caller."""

    def structure(self, function: Function) -> Structure:
        """How tuples stand inside tuples in what a lowered function returns."""

    def notes(self) -> tuple[Note, ...]:
        """The chain of calls that led here."""


@dataclass
class Context:
    """One function on its way to IR. `depth` is 1 at its top level, `shared` its arrays in shared memory so far."""

    program: Program
    owner: runtime.Function | runtime.Kernel
    file: SourceFile
    scope: Scope
    definition: ast.FunctionDef
    expressions: Mapping[type[ast.expr], ExpressionHandler]
    statements: Mapping[type[ast.stmt], StatementHandler]
    symbols: dict[str, Symbol] = field(default_factory=dict)
    constants: dict[str, int] = field(default_factory=dict)
    # Names for what is no value on the GPU: functions, types, None, tuples. They are assigned in one place only.
    aliases: dict[str, Operand] = field(default_factory=dict)
    # Values of variables that are assigned in one place only, as far as they are known while building.
    known: dict[str, bool | int | float] = field(default_factory=dict)
    poisoned: set[str] = field(default_factory=set)
    parameters: set[Symbol] = field(default_factory=set)
    references: dict[str, Expr] = field(default_factory=dict)  # parameters that stand for places in memory
    copied: list[Symbol] = field(default_factory=list)  # parameters whose last values go back to the caller
    # In a function's own gradient: what has the adjoint of each of its parameters. None elsewhere.
    adjoints: dict[Symbol, Symbol] | None = None
    counters: set[Symbol] = field(default_factory=set)  # variables of loops, which nothing may assign
    block: list[Stmt] = field(default_factory=list)
    result: Type | None = None
    structure: Structure = None
    loop_depth: int = 0
    is_unrolled: bool = False
    temporaries: int = 0
    depth: int = 0
    shared: list[Symbol] = field(default_factory=list)
    set_aside: set[Symbol] = field(default_factory=set)
    has_lost_return: bool = False
    has_lost_parameter: bool = False

    # Places and refusals

    def span(self, node: ast.AST) -> Span:
        return self.file.span(node)

    def refuse(self, code: str, message: str, node: ast.AST | Span, help: str | None = None) -> NoReturn:
        """Ends the statement with a diagnostic."""
        span = node if isinstance(node, Span) else self.span(node)
        raise Refused(Diagnostic(code, message, span, help=help, notes=self.program.notes()))

    # Blocks

    @contextmanager
    def nested(self) -> Iterator[list[Stmt]]:
        """Collects statements in a block of its own."""
        outer, self.block = self.block, []
        self.depth += 1
        try:
            yield self.block
        finally:
            self.block = outer
            self.depth -= 1

    def emit(self, statement: Stmt) -> None:
        self.block.append(statement)

    def body(self, statements: Sequence[ast.stmt]) -> tuple[Stmt, ...]:
        """A list of statements as a block; what is refused is reported and the next one tried."""
        with self.nested() as block:
            for statement in statements:
                self.statement(statement)
        return tuple(block)

    def statement(self, node: ast.stmt) -> None:
        if self.attempt(lambda: self._handled(node)) is None:
            self.poison(node)

    def _handled(self, node: ast.stmt) -> bool:
        handler = self.statements.get(type(node))
        if handler is None:
            name = type(node).__name__.lower()
            self.refuse("KB110", f"kernels have no `{name}` statement", node, STATEMENT_HELP.get(type(node)))
        handler(self, node)
        return True

    def attempt(self, lower: Callable[[], T]) -> T | None:
        """What `lower` gives; None when it was refused, which is in the report then: what stands beside it goes on."""
        try:
            return lower()
        except Refused as refused:
            self.program.report.add(refused.diagnostic)
        except Silenced:
            pass
        return None

    def poison(self, node: ast.AST) -> None:
        """Names that the failed node would have assigned, and returns it would have made, cause no further messages."""
        self.poisoned.update(name for name in assigned_names(node) if name not in self.symbols)
        self.has_lost_return |= any(isinstance(child, ast.Return) for child in ast.walk(node))

    # Values

    def expr(self, node: ast.expr) -> Operand:
        """Any operand."""
        handler = self.expressions.get(type(node))
        if handler is None:
            name = type(node).__name__
            self.refuse("KB111", f"kernels have no {EXPRESSION_NAMES.get(name, name)}", node, EXPRESSION_HELP.get(name))
        return handler(self, node)

    def value(self, node: ast.expr) -> Expr:
        """A typed value; a number takes its default type."""
        return self.typed(self.expr(node), node)

    def typed(self, operand: Operand, node: ast.AST) -> Expr:
        """An operand as a typed value of its own accord."""
        match operand:
            case Untyped(value):
                return self.coerce(operand, default_type(value), node, "value")
            case Pack():
                self.refuse(
                    "KB111", "a tuple is no value inside a kernel", node, "use kb.vec2 … or unpack it: `a, b = …`"
                )
            case Static():
                self.refuse_static(operand, node)
            case Place(place):
                operand = place
        if operand.type.spelling == "void":
            self.refuse("KB131", "this function returns nothing, so it has no value", node)
        return operand

    def refuse_static(self, operand: Static, node: ast.AST) -> NoReturn:
        if operand.value is NOTHING:
            self.refuse("KB131", "this function returns nothing, so it has no value", operand.span)
        help = "capture numbers, booleans, enum members, vectors or matrices; pass arrays as parameters"
        if is_table(operand.value):
            help = (
                "a table that never changes: `TABLE = kb.constant(…)` outside the kernel; else pass it as a parameter"
            )
        self.refuse("KB105", f"{describe(operand)} is no value inside a kernel", node, help)

    def coerce(self, operand: Operand, type: Type, node: ast.AST, what: str) -> Expr:
        """An operand as a value of a type: numbers adapt, everything else must have it already."""
        if isinstance(operand, Untyped):
            constant = fit(operand.value, type)
            if constant is None:
                self.refuse_number(operand, type, node, what)
            return Const(constant, type, operand.span)
        if isinstance(operand, Static) and operand.value is None and isinstance(type, Array):
            return nodes.Build((), type, operand.span)
        expr = self.typed(operand, node)
        if expr.type != type:
            self.refuse("KB120", f"{what} must be {type}, not {expr.type}", node, conversion_help(expr.type, type))
        return expr

    def as_number(self, operand: Operand, wanted: Type | None = None) -> Operand:
        """In Warp's dialect, a variable that is assigned one number, once, is that number where another type is wanted,
        or a constant."""
        if self.owner.dialect != "warp" or not isinstance(operand, Read) or operand.type == wanted:
            return operand
        name = operand.symbol.name
        number = self.known.get(name) if self.symbols.get(name) is operand.symbol else None
        if number is None or isinstance(number, bool):
            return operand
        return Untyped(number, operand.span or self.span(self.definition))

    def refuse_number(self, operand: Untyped, type: Type, node: ast.AST, what: str) -> NoReturn:
        help = None
        if isinstance(operand.value, float) and not is_number(type):
            help = None
        elif isinstance(operand.value, float):
            help = f"write a whole number, or convert: `kb.{type}({operand.value!r})`"
        elif is_number(type):
            help = "use a larger type (kb.int64, kb.uint64, kb.float64) for this value"
        self.refuse("KB122", f"{what} must be {type}, and {operand.value!r} is none", node, help)

    def condition(self, node: ast.expr) -> Expr:
        """An expression as a truth value."""
        return self.truth(self.expr(node), node)

    def truth(self, operand: Operand, node: ast.AST) -> Expr:
        if isinstance(operand, Untyped):
            return Const(bool(operand.value), BOOL, operand.span)
        if isinstance(operand, Static) and operand.value is None:
            return Const(False, BOOL, operand.span)
        expr = self.typed(operand, node)
        if expr.type == BOOL:
            return expr
        if isinstance(expr.type, Fixed):
            return Const(True, BOOL, expr.span)
        if isinstance(expr.type, Array):
            return nodes.Present(expr, BOOL, self.span(node))
        if is_number(expr.type):
            zero = self.coerce(Untyped(0, self.span(node)), expr.type, node, "zero")
            return nodes.Compare("ne", expr, zero, BOOL, self.span(node))
        self.refuse("KB123", f"{expr.type} is no truth value", node, "compare it with something")

    # Order of effects

    def operands(
        self, expressions: Sequence[ast.expr], lower: Callable[[ast.expr], Operand] | None = None
    ) -> list[Operand]:
        """Operands in order; those before an effect are saved so that they are evaluated before it."""
        found: list[Operand] = []
        for node in expressions:
            mark = len(self.block)
            operand = (lower or self.expr)(node)
            if len(self.block) > mark:
                found = self.saved_before(mark, found)
            found.append(operand)
        return found

    def saved_before(self, mark: int, operands: list[Operand]) -> list[Operand]:
        later = self.block[mark:]
        del self.block[mark:]
        changed = assigned_symbols(later)
        saved = [self.saved(operand, changed) for operand in operands]
        self.block.extend(later)
        return saved

    def saved(self, operand: Operand, changed: frozenset[Symbol] = frozenset()) -> Operand:
        """The operand, in a temporary of its own if it depends on memory or on one of the changed variables."""
        assert not isinstance(operand, Place)  # `references` keeps it in its own way
        if isinstance(operand, Pack):
            return Pack(tuple(self.saved(item, changed) for item in operand.items), operand.span)
        if isinstance(operand, (Untyped, Static)) or not (depends_on_memory(operand) or _reads(operand, changed)):
            return operand
        return self.temporary(operand)

    def temporary(self, value: Expr) -> Read:
        """A fresh variable that holds the value from here on."""
        self.temporaries += 1
        symbol = Symbol(f"t{self.temporaries}", value.type, value.span)
        self.set_aside.add(symbol)
        self.emit(nodes.Assign(Read(symbol, value.type, value.span), value, value.span))
        return Read(symbol, value.type, value.span)

    def taken(self, value: Expr) -> Expr:
        """A value for a variable: a call whose result was just put aside comes out of there again."""
        last = self.block[-1] if self.block else None
        match last:
            case nodes.Assign(Read(symbol), nodes.Call() | nodes.Intrinsic() as call):
                if isinstance(value, Read) and value.symbol is symbol and symbol in self.set_aside:
                    self.block.pop()
                    return call
        return value

    def with_effects(self, value: Expr) -> Expr:
        """A call that changes memory, as a statement; its result, if any, in a temporary."""
        if value.type.spelling == "void":
            self.emit(nodes.Evaluate(value, value.span))
            return value
        return self.temporary(value)


def is_table(value: object) -> bool:
    """A Python object that `kb.constant` would make a table of: a list, or an array of NumPy's."""
    return isinstance(value, list) or type(value).__module__ == "numpy"


def depends_on_memory(expr: Expr) -> bool:
    """The value can differ when it is evaluated later in the thread."""
    return any(isinstance(node, (nodes.Index, nodes.Call)) for node in walk(expr))


def assigned_symbols(statements: Sequence[Stmt]) -> frozenset[Symbol]:
    """The variables that statements assign, in whole or in part."""
    targets = (n.target for n in walk(tuple(statements)) if isinstance(n, nodes.Assign))
    return frozenset(root.symbol for target in targets if isinstance(root := root_of(target), Read))


def _reads(expr: Expr, symbols: frozenset[Symbol]) -> bool:
    return bool(symbols) and any(isinstance(node, Read) and node.symbol in symbols for node in walk(expr))


def conversion_help(found: Type, wanted: Type) -> str | None:
    """How to get from one type to another."""
    if is_number(wanted) and (is_number(found) or found == BOOL):
        return f"convert it: `kb.{wanted}(…)`; kernels never mix types silently"
    return None


STATEMENT_HELP: dict[type[ast.stmt], str] = {
    ast.Try: "errors inside a kernel cannot be caught; test for them before",
    ast.Raise: "a kernel cannot raise; write a status into an array",
    ast.With: "there are no context managers on the GPU",
    ast.FunctionDef: "define it at module level with @kb.func and call it here",
    ast.ClassDef: "define a @kb.struct at module level",
    ast.Import: "import at module level",
    ast.ImportFrom: "import at module level",
    ast.Global: "write results into an array",
    ast.Nonlocal: "write results into an array",
    ast.Delete: "variables of a kernel end with it",
    ast.Match: "write if / elif / else",
}
EXPRESSION_NAMES = {
    "List": "lists",
    "Dict": "dictionaries",
    "Set": "sets",
    "ListComp": "comprehensions",
    "SetComp": "comprehensions",
    "DictComp": "comprehensions",
    "GeneratorExp": "generators",
    "Lambda": "lambdas",
    "JoinedStr": "formatted strings",
    "Starred": "starred arguments",
    "NamedExpr": "assignment inside an expression (`:=`)",
    "Await": "await",
    "Yield": "yield",
    "YieldFrom": "yield",
    "Slice": "slices",
}
EXPRESSION_HELP = {
    "List": "use kb.vec2 … kb.vec4, a struct, or an array parameter",
    "Dict": "use a struct, or an array parameter",
    "ListComp": "write a `for … in range(…)` loop",
    "Lambda": "define it at module level with @kb.func",
    "JoinedStr": 'kb.printf formats: `kb.printf("x = %f\\n", x)`',
    "NamedExpr": "assign in a statement of its own",
    "Slice": "slices are parts of vectors and matrices: `v[0:3]`",
}
