"""A kernel back from its IR as source in the kernel language.

    print_python(kernel, has_effects) → a module's text that lowers to the same IR

The same means: but for names of variables, functions and structs, for places in files, for the order in which structs
are listed, and for gradients and replays of functions (`kbuild.ir.same` compares so). So the text is plain: explicit
fma, explicit conversions, constants with their types, the temporaries of the front end as variables.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from kbuild.errors import InternalError
from kbuild.ir import formats, nodes
from kbuild.ir.effects import HasEffects
from kbuild.ir.formats import Piece
from kbuild.ir.nodes import Const, Expr, Function, Kernel, Stmt, Symbol
from kbuild.ir.python_expressions import Expressions
from kbuild.ir.python_tables import Tables
from kbuild.ir.python_types import RESERVED, Names, TypeNames, call, kb, parsed
from kbuild.ir.tables import tables_in
from kbuild.ir.traverse import callees, walk
from kbuild.ir.types import INT32, Array, Shared, Tuple, Type


def print_python(kernel: Kernel, has_effects: HasEffects) -> str:
    """The text of a module with this one kernel, the functions it calls and the structs they know.

    `has_effects` answers for an intrinsic by name.
    """
    functions = [*callees(kernel.function), kernel.function]
    names = Names(RESERVED)
    function_names = {function: names.fresh(_identifier(function.name)) for function in functions}
    types = TypeNames(names)
    tables = Tables(types)
    for table in tables_in([kernel.function]):
        tables(table)
    for spelled in [*kernel.structs, *_spelled_types(functions)]:
        types(spelled)  # before any variable takes its name
    written_out = [_Definition(function, types, tables, function_names, has_effects) for function in functions]
    definitions = [one.made() for one in written_out]
    has_asserts = any(isinstance(node, nodes.Assert) for function in functions for node in walk(function.body))
    options: dict[str, bool | int] = {"fmad": kernel.fmad, **({"asserts": True} if has_asserts else {})}
    if kernel.max_iterations is not None:
        options["max_iterations"] = kernel.max_iterations
    if kernel.cluster_dim is not None:
        options["cluster_dim"] = kernel.cluster_dim
    written: dict[str, ast.expr] = {name: ast.Constant(on) for name, on in options.items()}
    if kernel.launch_dim:
        written["launch_dim"] = written_out[-1].launch_dim(kernel.launch_dim, definitions[-1])
    if kernel.launch_bounds is not None:
        written |= _bounds(*kernel.launch_bounds)
    definitions[-1].decorator_list = [call(kb("kernel"), **written)]
    body = [*types.declarations, *tables.declarations, *definitions]
    return "\n\n".join([_imports(body), *map(_text, body)]) + "\n"


def _spelled_types(functions: list[Function]) -> Iterator[Type]:
    """Types that stand in the text: of parameters, and of what is made of parts or numbers or converted."""
    for function in functions:
        yield from (parameter.type for parameter in function.parameters)
        yield from (symbol.type for symbol in function.shared)
        for node in walk(function.body):
            if isinstance(node, (Const, nodes.Build, nodes.Convert)) and not isinstance(node.type, (Tuple, Array)):
                yield node.type


def _bounds(threads: int, blocks: int | None) -> dict[str, ast.expr]:
    if blocks is None:
        return {"launch_bounds": ast.Constant("auto"), "block_dim": ast.Constant(threads)}
    both = ast.Tuple([ast.Constant(threads), ast.Constant(blocks)], ast.Load())
    return {"launch_bounds": both if blocks else ast.Constant(threads)}


def _text(statement: ast.stmt) -> str:
    gap = "\n" if isinstance(statement, (ast.ClassDef, ast.FunctionDef)) else ""
    return gap + ast.unparse(ast.fix_missing_locations(statement))


def _imports(body: list[ast.stmt]) -> str:
    has_math = any(isinstance(n, ast.Name) and n.id == "math" for statement in body for n in ast.walk(statement))
    return "import math\n\nimport kbuild as kb" if has_math else "import kbuild as kb"


def _identifier(name: str) -> str:
    found = re.sub(r"\W", "_", name)
    return found if found.isidentifier() else f"_{found}"


class _Definition:
    """One function as a `def`."""

    def __init__(
        self,
        function: Function,
        types: TypeNames,
        tables: Tables,
        function_names: dict[Function, str],
        has_effects: HasEffects,
    ) -> None:
        self.function, self.types, self.function_names = function, types, function_names
        self._symbols: dict[Symbol, str] = {}
        self._sizes: dict[Symbol, list[str]] = {}  # names of extents
        self.names = Names(types.names.taken)
        self.expressions = Expressions(types, tables, self.name_of, function_names.__getitem__, has_effects)

    def name_of(self, symbol: Symbol) -> str:
        """The name of a variable: no two of a function share one."""
        if symbol not in self._symbols:
            self._symbols[symbol] = self.names.fresh(_identifier(symbol.name))
        return self._symbols[symbol]

    def made(self) -> ast.FunctionDef:
        """The definition, decorated as a function."""
        arguments = [ast.arg(self.name_of(p), self.types(p.type)) for p in self.function.parameters]
        shared = [self._shared(symbol) for symbol in self.function.shared]
        body = [*shared, *self._statements(self.function.body)] or [ast.Pass()]
        definition = parsed(f"def {self.function_names[self.function]}(): pass", ast.FunctionDef)
        definition.args.args, definition.body, definition.decorator_list = arguments, body, [kb("func")]
        return definition

    def launch_dim(self, extents: tuple[Expr, ...], definition: ast.FunctionDef) -> ast.expr:
        """What the decorator says of launches. An extent of a parameter gets a name, in the parameter's annotation."""
        entries = [self._size(one, definition) for one in extents]
        return ast.Tuple([ast.Constant(one) for one in entries], ast.Load())

    def _size(self, extent: Expr, definition: ast.FunctionDef) -> int | str:
        match extent:
            case nodes.Const(value):
                return int(value)
            case nodes.Read(symbol):
                return self.name_of(symbol)
            case nodes.Extent(nodes.Read(symbol), axis):
                return self._named(symbol, definition.args.args[self.function.parameters.index(symbol)])[axis]
        raise InternalError(f"launch_dim {extent!r:.200}")

    def _named(self, symbol: Symbol, argument: ast.arg) -> list[str]:
        """A name for each extent of an array, which no other has: nothing is said of them."""
        if symbol not in self._sizes:
            assert isinstance(symbol.type, Array)
            made = [self.names.fresh(f"{self.name_of(symbol)}_{n}") for n in range(symbol.type.ndim)]
            shape = ast.Tuple([ast.Constant(one) for one in made], ast.Load())
            argument.annotation = self.types.stated(symbol.type, shape)
            self._sizes[symbol] = made
        return self._sizes[symbol]

    def _shared(self, symbol: Symbol) -> ast.stmt:
        assert isinstance(symbol.type, Shared)
        shape = ast.Tuple([ast.Constant(extent or None) for extent in symbol.type.shape], ast.Load())
        made = call(kb("shared_array"), shape, self.types(symbol.type.element))
        return ast.Assign([ast.Name(self.name_of(symbol), ast.Store())], made)

    # Statements

    def block(self, body: tuple[Stmt, ...]) -> list[ast.stmt]:
        return list(self._statements(body)) or [ast.Pass()]

    def _statements(self, body: tuple[Stmt, ...]) -> Iterator[ast.stmt]:
        position = 0
        while position < len(body):
            count = _coordinates(body, position)
            if count > 1:
                targets = [self._target(one) for one in body[position : position + count]]
                yield ast.Assign([ast.Tuple(targets, ast.Store())], call(kb("tid")))
            else:
                yield self.statement(body[position])
            position += count

    def _target(self, stmt: Stmt) -> ast.expr:
        assert isinstance(stmt, nodes.Assign)
        return self.expressions.plain(stmt.target)

    def statement(self, stmt: Stmt) -> ast.stmt:
        spell = self.expressions
        match stmt:
            case nodes.Assign(nodes.Read() as target, value):
                return ast.Assign([spell.plain(target)], spell.alone(value))
            case nodes.Assign(nodes.Index(cache="streaming") as target, value):
                return ast.Expr(call(kb("store_streaming"), *spell.element(target), spell.fitted(value)))
            case nodes.Assign(target, value):
                return ast.Assign([spell.plain(target)], spell.fitted(value))
            case nodes.Evaluate(value):
                return ast.Expr(spell.plain(value))
            case nodes.If(condition, then, otherwise):
                rest = self.block(otherwise) if otherwise else []
                return ast.If(spell.plain(condition), self.block(then), rest)
            case nodes.For(symbol, _, _, _, body):
                counter = ast.Name(self.name_of(symbol), ast.Store())
                return ast.For(counter, self._range(stmt), self.block(body), [])
            case nodes.While(condition, body):
                return ast.While(spell.plain(condition), self.block(body), [])
            case nodes.Break():
                return ast.Break()
            case nodes.Continue():
                return ast.Continue()
            case nodes.Return(value):
                return ast.Return(None if value is None else spell.alone(value))
            case nodes.Barrier(of_cluster=True):
                return ast.Expr(call(kb("cluster_sync")))
            case nodes.Barrier(mask):
                called = call(kb("syncthreads")) if mask is None else call(kb("syncwarp"), spell.fitted(mask))
                return ast.Expr(called)
            case nodes.Print(pieces, arguments):
                return ast.Expr(self._print(pieces, arguments))
            case nodes.Assert(condition, _, _, text):
                return ast.Assert(spell.plain(condition), ast.Constant(text))
            case nodes.Assume(condition):
                return ast.Expr(call(kb("assume"), spell.plain(condition)))
            case nodes.Native(text=text):  # that has no body in Python: for reading
                return ast.Expr(ast.Constant(f"CUDA C++: {text}"))
        raise InternalError(f"{type(stmt).__name__} has no spelling in the kernel language\n{stmt!r:.400}")

    def _print(self, pieces: tuple[Piece, ...], arguments: tuple[Expr, ...]) -> ast.expr:
        """`kb.printf` with the format; `print` where a bool is shown as a word, which no format of a kernel's does."""
        spelled = [self.expressions.typed(argument) for argument in arguments]
        if not any(conversion.letter == "s" for conversion in formats.conversions(pieces)):
            return call(kb("printf"), ast.Constant(formats.text(pieces)), *spelled)
        values = iter(spelled)
        shown = [ast.Constant(piece) if isinstance(piece, str) else next(values) for piece in pieces]
        nothing = ast.Constant("")
        return call(ast.Name("print", ast.Load()), *shown, sep=nothing, end=nothing)

    def _range(self, stmt: nodes.For) -> ast.expr:
        """Bare numbers take the type of the other bounds, alone they are int32; a step of zero says its type."""
        bounds = [stmt.start, stmt.stop, stmt.step]
        is_zero = isinstance(stmt.step, Const) and stmt.step.value == 0
        if stmt.symbol.type == INT32 or any(not isinstance(bound, Const) for bound in bounds):
            spelled = [self.expressions.fitted(bound) for bound in bounds]
        else:
            spelled = [self.expressions.typed(bound) for bound in bounds]
        if is_zero:
            spelled[2] = self.expressions.typed(stmt.step)
        return call(ast.Name("range", ast.Load()), *spelled)


def _coordinates(body: tuple[Stmt, ...], position: int) -> int:
    """The number of statements from here on that are one `i, j = kb.tid()`; else 1."""
    first = body[position]
    if not (isinstance(first, nodes.Assign) and isinstance(first.value, nodes.ThreadIndex)):
        return 1
    count = first.value.ndim
    group = [s.value for s in body[position : position + count] if isinstance(s, nodes.Assign)]
    wanted = [(axis, count) for axis in range(count)]
    found = [(v.axis, v.ndim) for v in group if isinstance(v, nodes.ThreadIndex)]
    return count if found == wanted else 1
