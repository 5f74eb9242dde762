"""Statements and functions as lines of C."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from kbuild.codegen import addresses, blocks, contiguous, launch_bounds, native, printing
from kbuild.codegen.declarations import declared_in_place
from kbuild.codegen.expressions import ExpressionEmitter, uses_thread
from kbuild.codegen.helpers import INLINE
from kbuild.codegen.names import Names
from kbuild.codegen.types import constant, unsigned_name
from kbuild.ir import nodes
from kbuild.ir.blocks import in_whole_blocks
from kbuild.ir.nodes import Const, Expr, Function, Kernel, Read, Stmt, Symbol
from kbuild.ir.signs import is_positive, never_negative
from kbuild.ir.traverse import walk
from kbuild.ir.types import VOID, WORD, Array, Scalar, Shared, Type

if TYPE_CHECKING:
    from typing import Protocol

    from kbuild.codegen.expressions import Unit as UnitParts

    class Unit(UnitParts, Protocol):
        """What functions ask of the unit."""

        names: Names
        files: dict[str, str]

        def native_parameter(self, type: Type, name: str, is_adjoint: bool) -> tuple[str, str]: ...

        def native_function(self, text: str, name: str) -> str: ...

        def cluster_sync(self) -> str: ...

        def wait(self) -> None: ...


_LIBRARY = "kbuild.intrinsics."
_UNROLLED_TRIPS = 16
_UNROLLED_COPIES = 256  # of the innermost body: a product of two 6 × 6 matrices has 216


class FunctionEmitter:
    """One function of a unit."""

    def __init__(self, unit: Unit, function: Function, thread: str, spellings: frozenset[str]) -> None:
        function = without_bodies(function)
        self.unit, self.function, self.thread = unit, function, thread
        self.names = Names(spellings, frozenset(self._used_names()))
        self.symbol_names: dict[Symbol, str] = {}
        self.expressions = ExpressionEmitter(
            unit,
            thread,
            self.name_of,
            never_negative(function) if function.wraps else None,
            addresses.of_function(function),
        )
        self.in_place = declared_in_place(function)
        self.lines: list[str] = []
        self.path = f"/kbuild/{function.module.replace('.', '/')}.py"
        self.next_line = -1
        if function.span is not None:
            unit.files[self.path] = function.span.path

    def _used_names(self) -> Iterator[str]:
        """Names of the unit that the function uses, which no variable may hide."""
        for node in walk(self.function.body):
            if isinstance(node, nodes.Call):
                yield self.unit.function(node.callee, self.thread)
            if isinstance(node, (nodes.Read, nodes.Build)):
                yield self.unit.type_name(node.type)

    def name_of(self, symbol: Symbol) -> str:
        """The C name of a symbol."""
        if symbol not in self.symbol_names:
            self.symbol_names[symbol] = self.names.fresh(symbol.name)
        return self.symbol_names[symbol]

    def entry(self, kernel: Kernel, entry: str) -> str:
        """The text of a kernel."""
        parameters = [f"const kb_launch{kernel.ndim} kb_launch", *self.parameters()]
        is_whole = in_whole_blocks(kernel)
        prologue = blocks.prologue(kernel.ndim, is_whole)
        locate = "(int)kb_linear" if kernel.ndim == 1 else "kb_locate(kb_launch, kb_linear)"
        self.unit.wait()
        if is_whole and not uses_thread(self.function):
            prologue = ["    kb_wait();"]
        elif is_whole and kernel.ndim == 1:
            for what in ("thread_idx", "block_idx", "block_dim"):
                self.unit.position(what)
        if uses_thread(self.function):
            prologue.append(f"    const {self.thread} kb_tid = {locate};")
        before, attribute = launch_bounds.attribute(kernel.launch_bounds, entry)
        attribute = blocks.cluster_attribute(kernel.cluster_dim) + attribute
        head = f'{before}// {kernel.name}\nextern "C" __global__ void {attribute}{entry}({", ".join(parameters)})'
        return self._whole(head, prologue)

    def device_function(self, name: str) -> str:
        """The text of a function that kernels call."""
        hidden = [f"const {self.thread} kb_tid"] if uses_thread(self.function) else []
        result = self.unit.type_name(self.function.result)
        return self._whole(f"{INLINE} {result} {name}({', '.join([*hidden, *self.parameters()])})", [])

    def parameters(self) -> list[str]:
        return [f"{self.unit.type_name(p.type)} {self.name_of(p)}" for p in self.function.parameters]

    def _whole(self, head: str, prologue: list[str]) -> str:
        self.block(self.function.body, "    ")
        top = [line for symbol in self.function.shared for line in self.shared(symbol)]
        top += [f"    {self.declaration(symbol)} = {{}};" for symbol in self.hoisted()]
        line = self.function.span.line if self.function.span else 1
        return "\n".join([f'#line {line} "{self.path}"', head, "{", *prologue, *top, *self.lines, "}", ""])

    def hoisted(self) -> list[Symbol]:
        """Variables declared at the top, where they start as zero."""
        known = {*self.function.parameters, *self.function.shared, *self.in_place}
        found: dict[Symbol, None] = {}
        for node in walk(self.function.body):
            if isinstance(node, nodes.For):
                known.add(node.symbol)
            elif isinstance(node, nodes.Read) and node.symbol not in known:
                found.setdefault(node.symbol)
        return list(found)

    def shared(self, symbol: Symbol) -> list[str]:
        """The memory of an array that the block shares, and the array."""
        assert isinstance(symbol.type, Shared)
        element, size = self.unit.type_name(symbol.type.element), symbol.type.bytes
        if symbol.type.is_dynamic:
            return [f"    const {self.declaration(symbol)} = {{({element} *){self.unit.dynamic()}}};"]
        memory, alignment = self.names.fresh(f"{symbol.name}_memory"), symbol.type.alignment
        if symbol.type.element.align < WORD:  # an object below a word would make the word's atomics no part of it
            return [
                f"    __shared__ __align__({alignment}) unsigned char {memory}[{size}];",
                f"    const {self.declaration(symbol)} = {{({element} *){memory}}};",
            ]
        where = f"__align__({alignment}) " if alignment > symbol.type.element.align else ""
        return [
            f"    __shared__ {where}{element} {memory}[{size // symbol.type.element.size}];",
            f"    const {self.declaration(symbol)} = {{{memory}}};",
        ]

    def declaration(self, symbol: Symbol) -> str:
        return f"{self.unit.type_name(symbol.type)} {self.name_of(symbol)}"

    # Statements

    def line(self, text: str, indent: str, stmt: Stmt | None = None) -> None:
        """One line of C; `#line` before it when it comes from another line of the source than the compiler thinks."""
        span = stmt.span if stmt is not None else None
        if span is not None and span.line != self.next_line:
            self.lines.append(f'#line {span.line} "{self.path}"')
            self.next_line = span.line
        self.lines.append(f"{indent}{text}")
        self.next_line += 1

    def block(self, body: tuple[Stmt, ...], indent: str) -> None:
        for statement in body:
            self.statement(statement, indent)

    def statement(self, stmt: Stmt, indent: str) -> None:
        bare = self.expressions.bare
        match stmt:
            case nodes.Assign(nodes.Read(symbol) as target, value):
                place = self.declaration(symbol) if self.in_place.get(symbol) is stmt else bare(target)
                self.line(f"{place} = {bare(value)};", indent, stmt)
            case nodes.Assign(nodes.Index(cache="streaming") as target, value):
                store = self.unit.cached("store", "streaming", target.type)
                self.line(f"{store}({self.expressions.element(target)}, {bare(value)});", indent, stmt)
            case nodes.Assign(nodes.Index() as target, value) if aligned := self.expressions.aligned(target):
                store = self.unit.whole("store", target.type)
                self.line(f"{store}({self.expressions.element(target)}, {bare(value)}, {aligned});", indent, stmt)
            case nodes.Assign(target, value):
                self.line(f"{self.expressions.place(target)} = {bare(value)};", indent, stmt)
            case nodes.Evaluate(value):
                self.line(f"{bare(value)};", indent, stmt)
            case nodes.If():
                self.branch(stmt, indent)
            case nodes.For():
                self.loop(stmt, indent)
            case nodes.While(condition, body):
                self.line(f"while ({bare(condition)}) {{", indent, stmt)
                self.block(body, indent + "    ")
                self.line("}", indent)
            case nodes.Print(pieces, arguments):
                self.line(printing.statement(pieces, arguments, self.expressions.bare), indent, stmt)
            case nodes.Assume(condition):
                self.line(f"__builtin_assume({bare(condition)});", indent, stmt)
            case nodes.Assert():
                self.line(printing.assertion(stmt, self.expressions.bare), indent, stmt)
            case nodes.Break():
                self.line("break;", indent, stmt)
            case nodes.Continue():
                self.line("continue;", indent, stmt)
            case nodes.Return(value):
                self.line("return;" if value is None else f"return {bare(value)};", indent, stmt)
            case nodes.Native():
                self.native(stmt, indent)
            case nodes.Barrier(of_cluster=True):
                self.line(f"{self.unit.cluster_sync()}();", indent, stmt)
            case nodes.Barrier(mask):
                self.line("__syncthreads();" if mask is None else f"__syncwarp({bare(mask)});", indent, stmt)

    def native(self, stmt: nodes.Native, indent: str) -> None:
        """A text in CUDA C++ as a function of its own, and its call."""
        parameters, arguments = [], []
        for one in (*stmt.inputs, *stmt.adjoints):
            assert isinstance(one, nodes.Read)
            is_adjoint = one in stmt.adjoints
            kind, argument = self.unit.native_parameter(one.type, self.name_of(one.symbol), is_adjoint)
            parameters.append(
                f"{kind} {'&' if is_adjoint and not isinstance(one.type, Array) else ''}{one.symbol.name}"
            )
            arguments.append(argument)
        name = self.names.fresh(f"{self.function.name}_text")
        text = native.function(stmt, "@", self.unit.type_name(stmt.type), parameters, self.path)
        call = f"{self.unit.native_function(text, name)}({', '.join(arguments)});"
        self.line(call if stmt.type == VOID else f"return {call}", indent, stmt)

    def branch(self, stmt: nodes.If, indent: str) -> None:
        """An `if` inside an `else`, alone, continues the chain: `} else if (…) {`."""
        self.line(f"if ({self.expressions.bare(stmt.condition)}) {{", indent, stmt)
        self.block(stmt.then, indent + "    ")
        while len(stmt.otherwise) == 1 and isinstance(inner := stmt.otherwise[0], nodes.If):
            stmt = inner
            self.line(f"}} else if ({self.expressions.bare(stmt.condition)}) {{", indent, stmt)
            self.block(stmt.then, indent + "    ")
        if stmt.otherwise:
            self.line("} else {", indent)
            self.block(stmt.otherwise, indent + "    ")
        self.line("}", indent)

    def loop(self, stmt: nodes.For, indent: str) -> None:
        """A loop, perhaps with a version of its own for arrays without gaps."""
        expressions = self.expressions
        is_inside = bool(expressions.dense or expressions.in_words)
        asked = None
        if not is_inside and constant_trips(stmt) is None:
            asked = contiguous.version(stmt, expressions.addresses.met_again)
        if asked is None:
            self.one_loop(stmt, indent)
            return
        kind = self.unit.type_name(stmt.symbol.type)
        # Both ends before the question: what they load is under way together.
        start = self.bound(stmt.start, f"{kind} {{}}", indent, stmt, "start") if asked.dense else ""
        stop = self.bound(stmt.stop, f"{kind} {{}}", indent, stmt) if asked.dense else ""
        conditions = [] if asked.most is None else [f"{stop} <= {constant(asked.most, stmt.symbol.type)}"]
        conditions += [f"{self.of_array(symbol, 'dense')}()" for symbol in self.function_order(asked.dense)]
        conditions += [f"{self.of_array(symbol, 'aligned')}({word})" for symbol, word in asked.aligned.items()]
        self.line(f"if ({' && '.join(conditions)}) {{", indent, stmt)
        expressions.dense, expressions.in_words = asked.dense, frozenset(asked.aligned)
        if asked.dense:
            assert isinstance(stmt.step, Const)
            self.plain_loop(stmt, int(stmt.step.value), stop, indent + "    ", start=start)
        else:
            self.one_loop(stmt, indent + "    ")
        expressions.dense, expressions.in_words = frozenset(), frozenset()
        self.line("} else {", indent)
        self.one_loop(stmt, indent + "    ", f'_Pragma("unroll {asked.unrolled}") ')
        self.line("}", indent)

    def function_order(self, symbols: frozenset[Symbol]) -> list[Symbol]:
        """The symbols as the function mentions them."""
        read = (node.symbol for node in walk(self.function.body) if isinstance(node, Read))
        return [one for one in dict.fromkeys(read) if one in symbols]

    def of_array(self, symbol: Symbol, method: str) -> str:
        """A method of an array."""
        return f"{self.name_of(symbol)}{self.expressions.of_array(Read(symbol, symbol.type), method)}"

    def one_loop(self, stmt: nodes.For, indent: str, unroll: str = "") -> None:
        """A plain C loop where the counter cannot overflow, else one that counts the trips."""
        trips = constant_trips(stmt)
        if isinstance(stmt.step, Const) and (abs(stmt.step.value) == 1 or (trips is not None and _stays_inside(stmt))):
            self.simple_loop(stmt, int(stmt.step.value), indent, unroll or self.unrolling(stmt))
        else:
            self.counted_loop(stmt, indent, unroll)

    def simple_loop(self, stmt: nodes.For, step: int, indent: str, unroll: str) -> None:
        kind = self.unit.type_name(stmt.symbol.type)
        self.plain_loop(stmt, step, self.bound(stmt.stop, f"{kind} {{}}", indent, stmt), indent, unroll)

    def unrolling(self, stmt: nodes.For) -> str:
        """What a loop says to the compiler. The library loops over what it cannot know only on ways that few go, as for
        blocks that end within a warp: they stay short.
        """
        is_rare = constant_trips(stmt) is None and self.function.module.startswith(_LIBRARY)
        return '_Pragma("unroll 1") ' if is_rare else unrolling(stmt)

    def plain_loop(self, stmt: nodes.For, step: int, stop: str, indent: str, unroll: str = "", start: str = "") -> None:
        """A loop of C, to `stop`; from the loop's own start unless it is in a variable."""
        name, kind = self.name_of(stmt.symbol), self.unit.type_name(stmt.symbol.type)
        start = start or self.expressions.bare(stmt.start)
        sign, by = ("<", f"+= {step}") if step > 0 else (">", f"-= {-step}")
        move = f"{'++' if step > 0 else '--'}{name}" if abs(step) == 1 else f"{name} {by}"
        self.line(f"{unroll}for ({kind} {name} = {start}; {name} {sign} {stop}; {move}) {{", indent, stmt)
        self.block(stmt.body, indent + "    ")
        self.line("}", indent)

    def bound(self, expr: Expr, declaration: str, indent: str, stmt: Stmt, called: str = "stop") -> str:
        """A bound, in a variable of its own unless nothing in the loop can change it."""
        if isinstance(expr, Const):
            return self.expressions.bare(expr)
        name = self.names.fresh(called)
        self.line(f"const {declaration.format(name)} = {self.expressions.bare(expr)};", indent, stmt)
        return name

    def counted_loop(self, stmt: nodes.For, indent: str, unroll: str) -> None:
        type = stmt.symbol.type
        assert isinstance(type, Scalar)
        name, kind, unsigned = self.name_of(stmt.symbol), self.unit.type_name(type), unsigned_name(type)
        parts = (("start", stmt.start), ("stop", stmt.stop), ("step", stmt.step))
        start, stop, step = (self.names.fresh(part) for part, _ in parts)
        for local, (_, expr) in zip((start, stop, step), parts, strict=True):
            self.line(f"const {kind} {local} = {self.expressions.bare(expr)};", indent, stmt)
        trips, trip = self.names.fresh("trips"), self.names.fresh("trip")
        first, last = f"({unsigned}){start}", f"({unsigned}){stop}"
        rising = f"({start} < {stop} ? ({last} - {first} - 1) / ({unsigned}){step} + 1 : 0)"
        falling = f"({start} > {stop} ? ({first} - {last} - 1) / (0 - ({unsigned}){step}) + 1 : 0)"
        count = f"{step} > 0 ? {rising} : {step} < 0 ? {falling} : 0"
        if is_positive(stmt.step) or isinstance(stmt.step, Const):
            count = rising if is_positive(stmt.step) else falling
        self.line(f"const {unsigned} {trips} = {count};", indent, stmt)
        self.line(f"{unroll}for ({unsigned} {trip} = 0; {trip} < {trips}; ++{trip}) {{", indent, stmt)
        value = f"({kind})(({unsigned}){start} + {trip} * ({unsigned}){step})"
        self.line(f"const {kind} {name} = {value};", indent + "    ", stmt)
        self.block(stmt.body, indent + "    ")
        self.line("}", indent)


def without_bodies(function: Function) -> Function:
    """A function in CUDA C++ without what it does in Python."""
    if not any(isinstance(one, nodes.Native) and one.body for one in function.body):
        return function
    body = tuple(replace(one, body=()) if isinstance(one, nodes.Native) else one for one in function.body)
    return replace(function, body=body, shared=())


def constant_trips(stmt: nodes.For) -> int | None:
    """The number of trips where the bounds are constants."""
    bounds = (stmt.start, stmt.stop, stmt.step)
    if not all(isinstance(bound, Const) for bound in bounds):
        return None
    return len(range(*(int(bound.value) for bound in bounds if isinstance(bound, Const))))


def unrolling(stmt: nodes.For) -> str:
    """What a loop over constants says to the compiler: short ones unroll, nests beyond a limit do not."""
    trips, inner = constant_trips(stmt), _copies(stmt.body)
    if trips is None:
        return ""
    if trips * inner > _UNROLLED_COPIES:
        return '_Pragma("unroll 1") ' if inner > 1 else ""
    return '_Pragma("unroll") ' if trips <= _UNROLLED_TRIPS else ""


def _copies(body: tuple[Stmt, ...]) -> int:
    """How often the innermost text of a block stands there once its loops are unrolled."""
    most = 1
    for stmt in body:
        match stmt:
            case nodes.For():
                inner = _copies(stmt.body)
                unrolled = (constant_trips(stmt) or 1) * inner
                most = max(most, unrolled if unrolled <= _UNROLLED_COPIES else inner)
            case nodes.If(_, then, otherwise):
                most = max(most, _copies(then), _copies(otherwise))
            case nodes.While(_, inside):
                most = max(most, _copies(inside))
    return most


def _stays_inside(stmt: nodes.For) -> bool:
    """The counter of a loop over constants does not overflow in its last step."""
    assert isinstance(stmt.stop, Const)
    assert isinstance(stmt.step, Const)
    return abs(int(stmt.stop.value)) + abs(int(stmt.step.value)) < 1 << 7
