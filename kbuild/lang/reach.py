"""What a kernel's code depends on, found without typing anything.

    reach(kernel) → functions in order of first use, capture plan and values, and the parts that enter the key

The key of a kernel is the closure of what it can reach and nothing more: comments, line numbers, neighbours and the
version of Python do not enter. It is computed before lowering, so a build with nothing to do lowers nothing.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from kbuild.ir.types import Struct, Type, structs_in
from kbuild.lang import asserts, own_operators, stated
from kbuild.lang.annotations import Annotated, Callee, Open, Several, parameter_type, parameters_of
from kbuild.lang.scope import Captured, Scope, UnresolvedName, local_names
from kbuild.lang.source import Definition, SourceFile, definition_of
from kbuild.loader import identity
from kbuild.loader.generic import references as generic_references
from kbuild.loader.generic import spell
from kbuild.loader.launch_bounds import AUTO
from kbuild.loader.native import NativeFunction
from kbuild.loader.types import Function, Kernel, abi_type


@dataclass(slots=True)
class Reach:
    """What a kernel reaches. `plan` and `values` run in parallel; `paths` are the source files.

    `asserts` (see `asserts.rows`) are no part of the key: their lines change when a function moves.
    """

    plan: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    parts: list[Any] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    structs: dict[str, Struct] = field(default_factory=dict)
    asserts: list[list[Any]] = field(default_factory=list)

    def identity(self) -> str:
        """Digest of the captured values, as the loader computes it."""
        return identity.digest(self.plan, self.values)

    def key(self) -> str:
        """Digest of everything that the kernel's code depends on."""
        structs = {name: struct.to_json() for name, struct in sorted(self.structs.items())}
        whole = [self.identity(), self.plan, self.parts, structs]
        return hashlib.sha256(json.dumps(whole, separators=(",", ":"), sort_keys=True).encode()).hexdigest()


def reach(kernel: Kernel) -> Reach:
    """Everything that a kernel's code depends on. Raises CompileError KB100 where a source is missing."""
    found = Reach()
    _visit(kernel, "", found)
    return found


def _visit(owner: Function, prefix: str, found: Reach) -> None:
    file, definition = definition_of(owner.function)
    scope = Scope(owner.function, definition, owner.dialect)
    found.functions.append(owner)
    found.paths.append(file.path)
    found.asserts += asserts.rows(owner, file, definition)
    found.parts.append([owner.name, _options(owner), _text_key(definition)])
    found.parts.append(list(_parameter_parts(owner, definition, file, found)))
    _visit_types(owner, definition, file, prefix, found)
    for argument in parameters_of(definition) if owner.name != found.functions[0].name else []:
        _visit_default(owner, argument, prefix, found)
    for node in _outer_names(definition):
        try:
            captured = scope.resolve(node)
        except UnresolvedName:
            continue  # the lowering says so, at the place
        _visit_value(captured, prefix, found)
    for kind in _operators(definition):
        own = own_operators.named(scope, kind)
        if own is not None:
            _visit_value(own, prefix, found)


@cache
def _operators(definition: Definition) -> tuple[type[ast.operator], ...]:
    """Operators that a function uses, in the order of their names."""
    used = {type(node.op) for node in ast.walk(definition) if isinstance(node, (ast.BinOp, ast.AugAssign))}
    return tuple(sorted(used, key=lambda kind: kind.__name__))


_NOT_OF_THE_CODE = ("block_dim", "enable_backward")


def _options(owner: Function) -> list[str]:
    """Options of a kernel or function that change its code."""
    options = owner.options if isinstance(owner, Kernel) else {}
    without = _NOT_OF_THE_CODE if options.get("launch_bounds") != AUTO else ("enable_backward",)
    found = [f"{name}={value}" for name, value in sorted(options.items()) if name not in without]
    if isinstance(owner, NativeFunction):
        found += [f"native={text!r}" for text in owner.native.texts()]
        found.append(f"returns={owner.function.__annotations__.get('return')!r}")
    return [*found, f"dialect={owner.dialect}"] if owner.dialect else found


def _visit_default(owner: Function, argument: ast.arg, prefix: str, found: Reach) -> None:
    try:
        value = identity.default_of(owner.function, argument.arg)
    except KeyError:
        return
    _capture(Captured(value, f"default:{argument.arg}"), prefix, found)


def _visit_value(captured: Captured, prefix: str, found: Reach) -> None:
    value = captured.value
    if isinstance(value, Function) and captured.path is None:
        return  # the language's own, which enters the key with the compiler
    if isinstance(value, Function):
        _capture(captured, prefix, found)
        _visit_part(captured, prefix, found)
    elif isinstance(value, FunctionType):
        _note_host_function(value, found)
        if captured.path is not None and captured.path.startswith("closure:"):
            _capture(captured, prefix, found)
    elif captured.path is not None:
        _capture(captured, prefix, found)
        _visit_part(captured, prefix, found)


def _visit_part(captured: Captured, prefix: str, found: Reach) -> None:
    """The code of functions: of a captured one, or of those inside a captured tuple, list or dictionary."""
    value = captured.value
    for number, one in enumerate(value.overloads if isinstance(value, Function) else ()):
        mark = str(number) if len(value.overloads) > 1 else ""
        for role, part in (("", one), ("gradient", one.gradient), ("replay", one.replay)):
            if part is not None and part not in found.functions:
                _visit(part, f"{prefix}{captured.path}{'#' if mark + role else ''}{mark}{role}/", found)
    for number, inner in enumerate(identity.parts(value)):
        if isinstance(inner, (Function, tuple, list, dict)):
            _visit_part(Captured(inner, f"{captured.path}@{number}"), prefix, found)


def _note_host_function(function: FunctionType, found: Reach) -> None:
    """A Python function, which `static` may call: whatever its file holds may change what it returns."""
    try:
        content = Path(function.__code__.co_filename).read_bytes()
    except OSError:
        content = b""
    found.parts.append(["host", function.__qualname__, hashlib.sha256(content).hexdigest()])


def _capture(captured: Captured, prefix: str, found: Reach) -> None:
    path = f"{prefix}{captured.path}"
    if path in found.plan:
        return
    try:
        identity.encode(captured.value)
    except identity.CaptureError:
        return  # the lowering refuses its use, at the place
    found.plan.append(path)
    found.values.append(captured.value)
    _note_structs(captured.value, found)


def _note_structs(value: Any, found: Reach) -> None:
    if isinstance(value, type) and getattr(value, "_kb_struct_", False):
        try:
            found_type = abi_type(value)
        except TypeError:
            return  # the lowering refuses its use, at the place
        for struct in structs_in(found_type):
            found.structs[struct.name] = struct


def _parameter_parts(owner: Function, definition: Definition, file: SourceFile, found: Reach) -> Iterator[list[str]]:
    references = generic_references(owner.function)
    for argument in parameters_of(definition):
        type = parameter_type(owner.function, argument, file)
        if isinstance(type, Open) and isinstance(owner, Kernel):
            type = owner.bound.get(argument.arg, type)
        if isinstance(type, Type):
            for struct in structs_in(type):
                found.structs[struct.name] = struct
        is_reference = argument.arg in references
        said = stated.of_parameter(owner, argument)
        yield [
            argument.arg,
            f"ref[{_spelled(type)}]" if is_reference else _spelled(type),
            *([repr(said)] if said else []),
        ]


def _spelled(type: Annotated) -> str:
    if isinstance(type, Open):
        return spell(type.annotation)
    if isinstance(type, Callee):
        return "function"
    if isinstance(type, Several):
        return f"tuple[{', '.join(map(spell, type.items))}{', ...' if type.rest else ''}]"
    return str(type) if isinstance(type, Type) else "?"


def _visit_types(owner: Function, definition: Definition, file: SourceFile, prefix: str, found: Reach) -> None:
    """Puts parameters into the plan whose type is not the same in all instances of a definition."""
    for argument in parameters_of(definition):
        type = parameter_type(owner.function, argument, file)
        if isinstance(type, Open):
            type = owner.bound.get(argument.arg, type) if isinstance(owner, Kernel) else type
            is_free = isinstance(owner, Kernel)
        else:
            is_free = _depends_on_a_factory(owner, argument)
        if is_free and isinstance(type, Type):
            found.plan.append(f"{prefix}type:{argument.arg}")
            found.values.append(type)


def _depends_on_a_factory(owner: Function, argument: ast.arg) -> bool:
    """The annotation may name a variable of the function around the owner: any name but that of a module."""
    if "<locals>" not in owner.qualname or argument.annotation is None:
        return False
    annotation: ast.expr = argument.annotation
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    names = {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}
    return any(not _is_fixed(owner.function.__globals__, name) for name in names)


def _is_fixed(names: dict[str, Any], name: str) -> bool:
    if name not in names:
        return hasattr(builtins, name)
    value = names[name]
    return isinstance(value, ModuleType) or getattr(value, "__module__", "").partition(".")[0] == "kbuild"


@cache
def _outer_names(definition: Definition) -> tuple[ast.expr, ...]:
    """The longest attribute chains on names from outside, in source order."""
    inner = local_names(definition)

    def visit(node: ast.AST) -> Iterator[ast.expr]:
        if isinstance(node, (ast.Name, ast.Attribute)) and (root := Scope.root(node)) is not None and root not in inner:
            yield node
            return
        for child in ast.iter_child_nodes(node):
            yield from visit(child)

    return tuple(node for statement in definition.body for node in visit(statement))


_NOT_CODE = frozenset({"decorator_list", "returns", "type_comment", "kind", "type_params", "annotation"})


@cache  # a helper is reached by hundreds of instances
def _text_key(definition: Definition) -> str:
    """Digest of a function's code."""
    return hashlib.sha256(json.dumps(canonical(definition), separators=(",", ":")).encode()).hexdigest()


def canonical(definition: Definition) -> list[Any]:
    """A function's code as plain data: no positions, docstring, decorators; the same on every Python."""
    body = definition.body
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    names = [argument.arg for argument in parameters_of(definition)]
    return [definition.name, names, [_canonical(statement) for statement in body]]


def _canonical(node: Any) -> Any:
    if isinstance(node, ast.AST):
        annotation = [_canonical(node.annotation)] if isinstance(node, ast.AnnAssign) else []
        fields = [[n, _canonical(v)] for n, v in ast.iter_fields(node) if n not in _NOT_CODE and v not in (None, [])]
        return [type(node).__name__, fields, *annotation]
    if isinstance(node, list):
        return [_canonical(item) for item in node]
    return [type(node).__name__, repr(node)]


def key_of(kernels: list[tuple[str, str]], options: dict[str, Any]) -> str:
    """The key of a unit: names and keys of its kernels, and the compile options."""
    return hashlib.sha256(json.dumps([sorted(kernels), options], sort_keys=True).encode()).hexdigest()
