"""A kernel and the functions it calls, lowered together.

    lower_kernel(kernel, fmad, report) → ir.Kernel, or None with diagnostics in the report

Functions are lowered once for each combination of argument types (types are fixed by annotations, or follow the
arguments where they say `Any`), together with their own gradients and replays. What a gradient calls is never
differentiated itself and is lowered apart, without gradients, so that a gradient may call its own function. Every error
is shown with the chain of calls that led to it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias, get_args, get_origin

from kbuild.errors import CompileError, Diagnostic, Note, Report, Span
from kbuild.ir import nodes
from kbuild.ir.gradients import interface
from kbuild.ir.nodes import Function, Kernel, Stmt, Symbol
from kbuild.ir.tables import tables_in
from kbuild.ir.traverse import callees, reached, walk
from kbuild.ir.types import VOID, Tuple, Type, structs_in
from kbuild.lang import (
    adjoints,
    blocks,
    calls,
    expressions,
    native,
    own_gradients,
    references,
    stated,
    statements,
    tables,
    zeros,
)
from kbuild.lang.annotations import Annotated, Callee, Open, Several, parameter_type, parameters_of
from kbuild.lang.context import Context
from kbuild.lang.operands import (
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
)
from kbuild.lang.scope import Scope
from kbuild.lang.source import definition_of, head
from kbuild.lang.stubs import is_stub
from kbuild.loader import generic, launch_bounds
from kbuild.loader import types as runtime
from kbuild.loader.builtins import Builtin
from kbuild.loader.generic import is_open
from kbuild.loader.native import NativeFunction
from kbuild.loader.types import abi_type

# A function, whether it is lowered for a gradient, and what its arguments are.
_Key: TypeAlias = "tuple[int, bool, tuple[object, ...]]"
_EXPRESSIONS = {**expressions.HANDLERS, ast.Call: calls.call}


def lower_kernel(kernel: runtime.Kernel, fmad: bool, report: Report, asserts: bool = False) -> Kernel | None:
    """The typed IR of a kernel, not yet contracted; what is wrong goes to the report.

    `fmad` says whether it may be contracted, `asserts` whether its asserts stay in it.
    """
    program = _Program(Report(), kernel, asserts)
    try:
        function = program.lower(kernel, [])
        ndim = _ndim(kernel, function, program.report)
        _check_memory(kernel, function, program.report)
        launch_dim = stated.launch_dim(kernel, function, ndim, program.report)
    except (Refused, Silenced) as error:
        if isinstance(error, Refused):
            program.report.add(error.diagnostic)
        function = None
    except CompileError as error:
        function = None
        for diagnostic in error.diagnostics:
            program.report.add(diagnostic)
    for diagnostic in program.report.diagnostics:
        report.add(_for_kernel(diagnostic, kernel.name))
    if function is None or program.report.has_errors:
        return None
    structs = {s.name: s for f in [function, *callees(function)] for p in _types(f) for s in structs_in(p)}
    bound, cluster_dim = kernel.options.get("max_iterations"), kernel.options.get("cluster_dim")
    assert bound is None or isinstance(bound, int)
    assert cluster_dim is None or isinstance(cluster_dim, int)
    return Kernel(
        kernel.name,
        function,
        ndim,
        fmad,
        tuple(structs[name] for name in sorted(structs)),
        bound,
        launch_bounds.of(kernel.options),
        cluster_dim,
        launch_dim,
    )


def _types(function: Function) -> list[Type]:
    return [p.type for p in function.parameters]


def _for_kernel(diagnostic: Diagnostic, name: str) -> Diagnostic:
    if diagnostic.kernel is not None:
        return diagnostic
    d = diagnostic
    return Diagnostic(d.code, d.message, d.span, d.severity, d.help, d.notes, name)


def _ndim(kernel: runtime.Kernel, function: Function, report: Report) -> int:
    """The number of results of tid() in the kernel and what it reaches; 1 without any."""
    found: dict[int, Span | None] = {}
    for one in [function, *reached(function)]:
        for node in walk(one.body):
            if isinstance(node, nodes.ThreadIndex):
                found.setdefault(node.ndim, node.span)
    if len(found) > 1:
        (first, _), (second, span) = list(found.items())[:2]
        text = f"tid() has {second} result(s) here and {first} elsewhere in {kernel.name}"
        report.add(Diagnostic("KB160", text, span, help="ask for the same number of coordinates everywhere"))
    return next(iter(found), 1)


def _check_memory(kernel: runtime.Kernel, function: Function, report: Report) -> None:
    file, definition = definition_of(kernel.function)
    place = head(file, definition)
    shared = blocks.too_large(kernel.name, function, place) or blocks.several_dynamic(kernel.name, function, place)
    for wrong in (shared, tables.too_large(kernel.name, tables_in([function]), place)):
        if wrong is not None:
            report.add(wrong)


@dataclass
class _Program:
    report: Report
    kernel: runtime.Kernel
    asserts: bool
    instances: dict[_Key, Function | None] = field(default_factory=dict)
    active: list[tuple[runtime.Function, Span]] = field(default_factory=list)
    lowering: set[_Key] = field(default_factory=set)
    structures: dict[int, Structure] = field(default_factory=dict)
    plains: dict[int, Type] = field(default_factory=dict)
    arguments: dict[int, list[Operand]] = field(default_factory=dict)
    in_gradient: bool = False

    def plain(self, function: Function) -> Type:
        return self.plains[id(function)]

    def structure(self, function: Function) -> Structure:
        return self.structures[id(function)]

    def notes(self) -> tuple[Note, ...]:
        return tuple(Note(f"in {function.name}, called here", span) for function, span in reversed(self.active))

    def instance(self, function: runtime.Function, arguments: Sequence[Operand], span: Span) -> Function:
        key = (id(function), self.in_gradient, tuple(_argument_key(a) for a in arguments))
        if key in self.lowering:
            text = f"{function.name} calls itself"
            raise Refused(Diagnostic("KB113", text, span, help="write a loop", notes=self.notes()))
        if key not in self.instances:
            self.active.append((function, span))
            self.lowering.add(key)
            try:
                self.instances[key] = self._attempt(function, arguments, span)
            finally:
                self.active.pop()
                self.lowering.remove(key)
        found = self.instances[key]
        if found is None:
            raise Silenced
        return found

    def _attempt(self, function: runtime.Function, arguments: Sequence[Operand], span: Span) -> Function | None:
        count = self.report.error_count
        try:
            lowered = self.lower(function, arguments)
            if self.report.error_count == count:
                lowered = self._differentiable(function, lowered, span)
        except Silenced:
            return None
        return lowered if self.report.error_count == count else None

    def _differentiable(self, function: runtime.Function, lowered: Function, span: Span) -> Function:
        """The lowered function with its own gradient and replay."""
        if self.in_gradient or self.kernel.options.get("enable_backward") is False:
            return lowered
        made = own_gradients.attached(self, function, lowered, span)
        self.structures[id(made)] = self.structure(lowered)
        self.plains[id(made)] = self.plain(lowered)
        return made

    def passed(self, function: Function) -> Sequence[Operand]:
        return self.arguments[id(function)]

    @contextmanager
    def inside(self, function: runtime.Function, span: Span, in_gradient: bool) -> Iterator[None]:
        """Lowers what a call at a place leads to."""
        before, self.in_gradient = self.in_gradient, in_gradient
        self.active.append((function, span))
        try:
            yield
        finally:
            self.active.pop()
            self.in_gradient = before

    def lower(
        self,
        owner: runtime.Function | runtime.Kernel,
        arguments: Sequence[Operand],
        primal: Function | None = None,
    ) -> Function:
        """One function at its parameter types; with `primal`, as its gradient. Raises Refused, CompileError KB100."""
        file, definition = definition_of(owner.function)
        scope = Scope(owner.function, definition, owner.dialect)
        ctx = Context(self, owner, file, scope, definition, _EXPRESSIONS, statements.HANDLERS)
        parameters = self._parameters(ctx, arguments)
        if isinstance(owner, NativeFunction):
            return self._native(ctx, owner, parameters)
        if primal is not None:
            parameters = adjoints.parameters(ctx, parameters, primal)
        body = ctx.body(definition.body)
        if ctx.has_lost_parameter:
            raise Silenced
        body = self._with_last_return(ctx, body)
        module = owner.module
        span, shared = file.span(definition), tuple(ctx.shared)
        wraps = owner.dialect == "warp"
        bare = Function(definition.name, module, parameters, VOID, body, wraps=wraps)
        body = (*stated.assumptions(ctx, parameters_of(definition), bare), *body)
        plain = ctx.result or VOID
        self._check_result(ctx, plain)
        result = plain if primal is None else interface(primal).result
        if primal is not None:
            body = (*adjoints.starts(ctx), *body)
        if ctx.copied:
            own = () if plain == VOID else plain.items if isinstance(plain, Tuple) else (plain,)
            all_of_it = (*own, *(one.type for one in ctx.copied))
            result = all_of_it[0] if len(all_of_it) == 1 else Tuple(all_of_it)
        made = Function(definition.name, module, parameters, result, body, span, shared, wraps)
        self.structures[id(made)], self.plains[id(made)] = ctx.structure, plain
        values = {one.name: nodes.Read(one, one.type, one.span) for one in parameters}
        names = [one.arg for one in parameters_of(definition)]
        self.arguments[id(made)] = [values[name] if name in values else ctx.aliases[name] for name in names]
        return made

    def _native(self, ctx: Context, owner: NativeFunction, parameters: tuple[Symbol, ...]) -> Function:
        """A function in CUDA C++; its Python body, if it has one, is lowered as that of any other."""
        if ctx.has_lost_parameter:
            raise Silenced
        if ctx.aliases:
            text = f"{owner.name} is CUDA C++, whose parameters are values and arrays: no functions, tuples or places"
            raise Refused(Diagnostic("KB189", text, head(ctx.file, ctx.definition), notes=self.notes()))
        result = native.result_of(self, owner, ctx.file, ctx.definition)
        body = None
        if not is_stub(ctx.definition):
            body = self._with_last_return(ctx, ctx.body(ctx.definition.body))
            found = ctx.result or VOID
            if found != result and not ctx.has_lost_return:
                text = f"{owner.name} returns {found} in Python, and its annotation says {result}"
                raise Refused(Diagnostic("KB150", text, head(ctx.file, ctx.definition), notes=self.notes()))
        place = (ctx.file, ctx.definition)
        made = native.statement(self, owner, owner.native.primal, place, parameters, (), result, body)
        span, shared = ctx.file.span(ctx.definition), tuple(ctx.shared)
        wraps = owner.dialect == "warp"
        function = Function(ctx.definition.name, owner.module, parameters, result, (made,), span, shared, wraps)
        self.structures[id(function)], self.plains[id(function)] = None, result
        self.arguments[id(function)] = [nodes.Read(one, one.type, one.span) for one in parameters]
        return function

    def _check_result(self, ctx: Context, found: Type) -> None:
        """In Warp's dialect an annotation says what a function returns; one that cannot be read says nothing."""
        if ctx.owner.dialect != "warp" or ctx.has_lost_return or ctx.definition.returns is None:
            return
        try:
            annotation = generic.annotation_of(ctx.owner.function, "return")
            items = get_args(annotation) if get_origin(annotation) is tuple else None
            if annotation is generic.MISSING or is_open(annotation) or any(is_open(one) for one in items or ()):
                return
            if items is not None:
                wanted: Type = Tuple(tuple(abi_type(one) for one in items))
            else:
                wanted = VOID if annotation in (None, type(None)) else abi_type(annotation)
        except Exception:
            return
        if wanted != found:
            is_kernel = isinstance(ctx.owner, runtime.Kernel)
            text = f"{ctx.owner.name} returns {found}, and its annotation says {wanted}"
            if is_kernel:
                text = f"{ctx.owner.name} is a kernel, which returns nothing, and its annotation says {wanted}"
            span = ctx.span(ctx.definition.returns)
            code = "KB152" if is_kernel else "KB150"
            self.report.add(Diagnostic(code, text, span, help="correct the annotation", notes=self.notes()))

    def _parameters(self, ctx: Context, arguments: Sequence[Operand]) -> tuple[Symbol, ...]:
        self._refuse_collecting(ctx)
        symbols: list[Symbol] = []
        binding: generic.Binding = {}
        places = generic.references(ctx.owner.function)
        for position, argument in enumerate(parameters_of(ctx.definition)):
            given = arguments[position] if position < len(arguments) else None
            found = parameter_type(ctx.owner.function, argument, ctx.file)
            if isinstance(given, Pack) and isinstance(found, (Open, Several)):
                ctx.aliases[argument.arg] = self._tuple(ctx, argument, argument.arg, found, given, symbols)
                continue
            type = self._parameter_type(ctx, argument, found, given, binding)
            if argument.arg in places and isinstance(type, Type):
                self._reference(ctx, argument, type, given, symbols)
            elif type is None:
                ctx.poisoned.add(argument.arg)
                ctx.has_lost_parameter = True
            elif isinstance(type, Static):
                ctx.aliases[argument.arg] = type
            else:
                symbols.append(Symbol(argument.arg, type, ctx.span(argument)))
        ctx.symbols.update((s.name, s) for s in symbols if s.name not in ctx.references)
        ctx.parameters.update(one for one in symbols if one not in ctx.copied)
        return tuple(symbols)

    def _reference(
        self, ctx: Context, argument: ast.arg, type: Type, given: Operand | None, symbols: list[Symbol]
    ) -> None:
        """A parameter that stands for a place of the caller's."""
        span, name = ctx.span(argument), argument.arg
        if ctx.owner.dialect != "warp" or given is None:
            text = f"{name!r} stands for a place of the caller's, and {ctx.owner.name} "
            text += "is a kernel: it has no caller" if given is None else "is not declared with wp.func"
            help = "take an array, or the value" if given is None else "return the new value, and assign it"
            raise Refused(Diagnostic("KB102", text, span, help=help, notes=self.notes()))
        assert isinstance(given, Place)  # `calls` has made one of every argument for a reference
        if given.type != type:
            text = f"argument {name!r} of {ctx.owner.name} must be a place of {type}, not of {given.type}"
            raise Refused(Diagnostic("KB120", text, self._place(ctx, argument), notes=self.notes()))
        if not references.in_memory(given.place):
            symbol = Symbol(name, type, span)
            symbols.append(symbol)
            ctx.copied.append(symbol)
            return

        def fresh(value: nodes.Expr) -> nodes.Expr:
            symbol = Symbol(f"{name}_{len(made)}" if made else name, value.type, span)
            made.append(symbol)
            return nodes.Read(symbol, symbol.type, span)

        made: list[Symbol] = []
        place = references.renamed(given.place, fresh)
        symbols += made
        ctx.aliases[name] = ctx.references[name] = place

    def _refuse_collecting(self, ctx: Context) -> None:
        """Reports `*args` and `**kwargs`; the body goes on without them."""
        arguments = ctx.definition.args
        for extra, stars in ((arguments.vararg, "*"), (arguments.kwarg, "**")):
            if extra is not None:
                ctx.poisoned.add(extra.arg)
                text, span = f"kernels have no `{stars}{extra.arg}`", ctx.span(extra)
                help = "write the parameters out"
                self.report.add(Diagnostic("KB106", text, span, help=help, notes=self.notes()))

    def _parameter_type(
        self, ctx: Context, argument: ast.arg, annotated: Annotated, given: Operand | None, binding: generic.Binding
    ) -> Type | Static | None:
        found: Type | Static | Open | Diagnostic
        if isinstance(annotated, Callee):
            found = self._function(ctx, argument, given)
        elif isinstance(annotated, Several):
            found = self._no_tuple(ctx, argument, given)
        else:
            found = annotated
        if isinstance(found, Open):
            found = self._bound_type(ctx, argument, found, given, binding)
        if isinstance(found, Diagnostic):
            notes = self.notes()
            self.report.add(Diagnostic(found.code, found.message, found.span, help=found.help, notes=notes))
            return None
        if isinstance(found, Static):
            return found
        return blocks.of_fixed_shape(found, getattr(given, "type", None)) or found

    def _tuple(
        self, ctx: Context, argument: ast.arg, name: str, found: Open | Several, given: Pack, symbols: list[Symbol]
    ) -> Pack:
        """A tuple as a parameter: each of its items is a parameter of the lowered function."""
        annotations = (found.annotation,) * len(given.items) if isinstance(found, Open) else found.of(len(given.items))
        if len(annotations) != len(given.items):
            text = f"{argument.arg!r} of {ctx.owner.name} has {len(annotations)} items, not {len(given.items)}"
            raise Refused(Diagnostic("KB120", text, self._place(ctx, argument), notes=self.notes()))
        items: list[Operand] = []
        for number, (annotation, item) in enumerate(zip(annotations, given.items, strict=True)):
            inner = f"{name}_{number}"
            if isinstance(item, Pack):
                items.append(self._tuple(ctx, argument, inner, Open(Any), item, symbols))
                continue
            wanted = None if is_open(annotation) else abi_type(annotation)
            symbol = Symbol(inner, wanted or _argument_type(item), ctx.span(argument))
            symbols.append(symbol)
            items.append(nodes.Read(symbol, symbol.type, ctx.span(argument)))
        return Pack(tuple(items), ctx.span(argument))

    def _place(self, ctx: Context, argument: ast.arg) -> Span:
        return self.active[-1][1] if self.active else ctx.span(argument)

    def _no_tuple(self, ctx: Context, argument: ast.arg, given: Operand | None) -> Diagnostic:
        if given is None:
            text = f"{ctx.owner.name} is a kernel, and {argument.arg!r} is a tuple: kernels take values"
            return Diagnostic("KB102", text, ctx.span(argument), help="use a struct, or several parameters")
        text = f"{argument.arg!r} of {ctx.owner.name} takes a tuple, not {describe(given)}"
        return Diagnostic("KB120", text, self._place(ctx, argument))

    def _function(self, ctx: Context, argument: ast.arg, given: Operand | None) -> Static | Diagnostic:
        """What a parameter stands for that asks for a function."""
        is_function = isinstance(given, Static) and isinstance(given.value, (runtime.Function, Builtin))
        if isinstance(given, Static) and is_function and not isinstance(given.value, runtime.Kernel):
            return given
        name = ctx.owner.name
        if given is None:
            text = f"{name} is a kernel, and {argument.arg!r} asks for a function: kernels take values"
            help = "make the kernel in a function that takes it, or call it by its name"
            return Diagnostic("KB102", text, ctx.span(argument), help=help)
        text = f"{argument.arg!r} of {name} takes a function of the kernel language, not {describe(given)}"
        help = "give it the name of a @kb.func, or of a function of kbuild's"
        return Diagnostic("KB120", text, self._place(ctx, argument), help=help)

    def _bound_type(
        self, ctx: Context, argument: ast.arg, found: Open, given: Operand | None, binding: generic.Binding
    ) -> Type | Diagnostic:
        """The type of a generic parameter: that of the argument, or the one an overload of the kernel is bound to."""
        name = argument.arg
        if given is None:
            type = ctx.owner.bound.get(name) if isinstance(ctx.owner, runtime.Kernel) else None
            if type is None:
                text = f"parameter {name!r} of a kernel is generic, and nothing says its type"
                help = f"name the types: `kb.overload({ctx.owner.__name__}, {{{name!r}: …}})`"
                return Diagnostic("KB101", text, ctx.span(argument), help=help)
            return type
        variable = binding.get(found.annotation) if generic.is_type_variable(found.annotation) else None
        if variable is not None and isinstance(given, Untyped):
            return variable  # `T` is known, and a number adapts
        type = _argument_type(given)
        if not generic.match(found.annotation, type, binding):
            text = f"{name!r} of {ctx.owner.name} takes {generic.spell(found.annotation)}, not {type}"
            return Diagnostic("KB120", text, self._place(ctx, argument))
        return type

    def _with_last_return(self, ctx: Context, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """A function that may reach its end without a result gives zero there, and is told of."""
        if ctx.has_lost_return or _always_leaves(body):
            return body
        if ctx.adjoints is not None:
            return (*body, adjoints.returned(ctx, ctx.definition))
        if ctx.result in (None, VOID):
            span = ctx.span(ctx.definition)
            return (*body, nodes.Return(references.result(ctx, None, span), span)) if ctx.copied else body
        text = f"{ctx.definition.name} returns {ctx.result} on some ways through, and zero where it reaches its end"
        span = head(ctx.file, ctx.definition)
        self.report.add(Diagnostic("KB151", text, span, "warning", help="add a `return` at its end"))
        assert ctx.result is not None
        last = zeros.zero(ctx, ctx.result, ctx.definition)
        return (*body, nodes.Return(references.result(ctx, last, span), span))


def _argument_type(operand: Operand) -> Type:
    if isinstance(operand, Untyped):
        return default_type(operand.value)
    return getattr(operand, "type", VOID)


def _argument_key(operand: Operand) -> object:
    """What a function is lowered anew for: other types, or another function."""
    is_function = isinstance(operand, Static) and isinstance(operand.value, (runtime.Function, Builtin))
    if isinstance(operand, Static) and is_function:
        return ("function", id(operand.value))
    if isinstance(operand, Pack):
        return tuple(_argument_key(item) for item in operand.items)
    if isinstance(operand, Place):
        place = operand.place
        return ("in memory", references.form(place)) if references.in_memory(place) else ("copied", place.type)
    return _argument_type(operand)


def _always_leaves(body: tuple[Stmt, ...]) -> bool:
    """No way through the block reaches its end."""
    return any(_leaves(statement) for statement in body)


def _leaves(stmt: Stmt) -> bool:
    match stmt:
        case nodes.Return():
            return True
        case nodes.If(_, then, otherwise):
            return _always_leaves(then) and _always_leaves(otherwise)
        case nodes.While(nodes.Const(True), body):
            return not _breaks(body)
    return False


def _breaks(body: tuple[Stmt, ...]) -> bool:
    """A `break` in the block ends the loop around it, not one inside."""
    for stmt in body:
        match stmt:
            case nodes.Break():
                return True
            case nodes.If(_, then, otherwise) if _breaks(then) or _breaks(otherwise):
                return True
    return False
