"""Functions in CUDA C++ (`kb.func_native`): what their snippets may say, where they stand, and the IR of them.

A function is one statement, `nodes.Native`, with the text; the Python body, if there is one, goes with it as what the
simulator runs, and what is differentiated where no `adj_snippet` says how.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Protocol

from kbuild.errors import Diagnostic, Note, Span
from kbuild.ir import nodes
from kbuild.ir.gradients import interface
from kbuild.ir.native import statement_of
from kbuild.ir.nodes import Expr, Function, Read, Stmt, Symbol
from kbuild.ir.types import VOID, Array, Matrix, Scalar, Struct, Tuple, Type, Vector
from kbuild.lang.operands import Refused
from kbuild.lang.source import Definition, SourceFile, head
from kbuild.loader import generic
from kbuild.loader.native import NativeFunction
from kbuild.loader.types import abi_type


class Program(Protocol):
    """What is needed of the run as a whole."""

    def notes(self) -> tuple[Note, ...]: ...


# Threads of a block or lanes of a warp that work together, or ask where they are: all of them must be there.
_TOGETHER = re.compile(
    r"\b(?:__shared__|__sync(?:threads|warp)\w*|__\w+_sync|threadIdx|blockIdx|gridDim|cooperative_groups)\b"
    r"|\b(?:bar(?:rier)?|shfl|vote|match|redux)\."
)
_FOREIGN = re.compile(r"\b(?:wp|warp)::\w+|\bCUDA_CALLABLE\b|\bwp_\w+|\bbuiltin_tid\w*")
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(include|pragma[ \t]+once)", re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_WORDS = """
alignas alignof auto bool case catch char class const constexpr decltype default delete do double enum explicit extern
false float friend goto inline int long mutable namespace new noexcept nullptr operator private protected public
register short signed sizeof static struct switch template this throw true try typedef typename union unsigned using
virtual void volatile
"""
_KEYWORDS = frozenset(re.findall(r"\w+", _WORDS))


def result_of(program: Program, owner: NativeFunction, file: SourceFile, definition: Definition) -> Type:
    """What the annotation says that comes out. Raises Refused."""
    place = head(file, definition)
    try:
        annotation = generic.annotation_of(owner.function, "return")
        found = VOID if annotation in (generic.MISSING, None, type(None)) else abi_type(annotation)
    except Exception as error:
        text = f"what {owner.name} returns cannot be told: {error}"
        help = "its body is CUDA C++: annotate the result, as in `-> float`; a tuple is a @kb.struct there"
        raise Refused(Diagnostic("KB189", text, place, help=help, notes=program.notes())) from None
    if isinstance(found, Array):
        text = f"{owner.name} returns an array, which CUDA C++ cannot make here"
        raise Refused(Diagnostic("KB189", text, place, help="pass it to the function", notes=program.notes()))
    return found


def statement(
    program: Program,
    owner: NativeFunction,
    text: str,
    place: tuple[SourceFile, Definition],
    inputs: Sequence[Symbol],
    adjoints: Sequence[Symbol],
    result: Type,
    body: tuple[Stmt, ...] | None,
) -> nodes.Native:
    """The statement of a snippet. Raises Refused for what a snippet must not say."""
    file, definition = place
    span = text_span(file, definition, text)
    _refuse_what_cannot_be(program, owner, text, span)
    for symbol in (*inputs, *adjoints):
        if symbol.name in _KEYWORDS:
            said = f"{symbol.name!r} of {owner.name} is a word of C++, and its snippet could not name it"
            at = symbol.span or head(file, definition)
            raise Refused(Diagnostic("KB189", said, at, help="rename the parameter", notes=program.notes()))
        if isinstance(symbol.type, Struct) and any(isinstance(f.type, Array) for f in symbol.type.fields):
            said = f"{symbol.name!r} of {owner.name} is a struct with arrays, which snippets do not take"
            at = symbol.span or head(file, definition)
            help = "pass the arrays beside it"
            raise Refused(Diagnostic("KB189", said, at, help=help, notes=program.notes()))
    reads: list[tuple[Expr, ...]] = [tuple(Read(s, s.type, s.span) for s in some) for some in (inputs, adjoints)]
    return nodes.Native(
        text=text,
        name=owner.qualname.rpartition(".")[2],
        line=span.line,
        inputs=reads[0],
        adjoints=reads[1],
        type=result,
        body=body or (),
        has_body=body is not None,
        is_together=_TOGETHER.search(_bare(text)) is not None,
        span=head(file, definition),
    )


def gradient(
    program: Program, owner: NativeFunction, lowered: Function, place: tuple[SourceFile, Definition]
) -> Function | None:
    """The gradient that `adj_snippet` says; see `ir.gradients` for its form. Raises Refused."""
    about, text = interface(lowered), owner.native.adjoint
    if text is None or not (about.arrays or about.values):
        return None
    if isinstance(lowered.result, Tuple):
        span = head(*place)
        said = f"{owner.name} has several results, and an adj_snippet knows of one, `adj_ret`"
        raise Refused(Diagnostic("KB189", said, span, help="return a @kb.struct", notes=program.notes()))
    own = tuple(Symbol(one.name, one.type, one.span) for one in lowered.parameters)
    adjoints = {
        one: Symbol(f"adj_{one.name}", one.type, one.span)
        for one, mine in zip(own, lowered.parameters, strict=True)
        if mine in (*about.arrays, *about.values)
    }
    arrays = [adjoints[one] for one in own if one in adjoints and isinstance(one.type, Array)]
    values = [adjoints[one] for one in own if one in adjoints and not isinstance(one.type, Array)]
    results = [Symbol("adj_ret", type) for type in about.results]
    span = head(*place)
    added = statement(program, owner, text, place, [*own, *results], list(adjoints.values()), VOID, None)
    body: list[Stmt] = [nodes.Assign(Read(s, s.type, span), zero_of(s.type), span) for s in values]
    body.append(added)
    if values:
        parts = tuple(Read(s, s.type, span) for s in values)
        body.append(nodes.Return(nodes.Build(parts, Tuple(tuple(s.type for s in values)), span), span))
    parameters = (*own, *arrays, *results)
    name = f"{lowered.name}_adjoint"
    return Function(name, lowered.module, parameters, about.result, tuple(body), span, (), lowered.wraps)


def replay(
    program: Program, owner: NativeFunction, lowered: Function, place: tuple[SourceFile, Definition]
) -> Function | None:
    """What `replay_snippet` says. Where the Python body is what is differentiated, it says all. Raises Refused."""
    text = owner.native.replay
    found = statement_of(lowered)
    if text is None or (found is not None and found.has_body and owner.native.adjoint is None):
        return None
    own = tuple(Symbol(one.name, one.type, one.span) for one in lowered.parameters)
    body = (statement(program, owner, text, place, own, (), lowered.result, None),)
    name = f"{lowered.name}_replay"
    return Function(name, lowered.module, own, lowered.result, body, lowered.span, (), lowered.wraps)


def zero_of(type: Type) -> Expr:
    """Zero of a type without arrays."""
    match type:
        case Scalar():
            return nodes.Const(False if type.kind == "bool" else 0.0 if type.kind == "float" else 0, type)
        case Vector():
            return nodes.Build((zero_of(type.element),) * type.length, type)
        case Matrix():
            return nodes.Build((zero_of(type.element),) * (type.rows * type.columns), type)
        case Struct():
            return nodes.Build(tuple(zero_of(field.type) for field in type.fields), type)
    raise AssertionError(type)


def _refuse_what_cannot_be(program: Program, owner: NativeFunction, text: str, span: Span) -> None:
    foreign = _FOREIGN.search(_bare(text))
    if foreign is not None:
        said = f"the snippet of {owner.name} says `{foreign[0]}`, which is Warp's, and not here"
        help = "docs/cuda.md says what a snippet has: CUDA C++, its parameters, and their types (vec3f, mat3x3f, …)"
        raise Refused(Diagnostic("KB189", said, _at(span, text, foreign.start()), help=help, notes=program.notes()))
    directive = _DIRECTIVE.search(text)
    if directive is not None:
        said = f"the snippet of {owner.name} has an #{directive[1]}, and is the body of a function"
        help = "write what needs a header as a kernel in a .cu file (docs/cuda.md)"
        raise Refused(Diagnostic("KB189", said, _at(span, text, directive.start()), help=help, notes=program.notes()))


def _at(span: Span, text: str, position: int) -> Span:
    return Span(span.path, span.line + text.count("\n", 0, position)) if span.end_line else span


def _bare(text: str) -> str:
    """The text with comments and strings blanked, every character in its place."""
    return _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def text_span(file: SourceFile, definition: Definition, text: str) -> Span:
    """Where a snippet stands: in the decorator, or where a name got it; else the `def`, and then it has no end line."""
    near = [node for decorator in definition.decorator_list for node in ast.walk(decorator)]
    for node in [*near, *ast.walk(file.tree)]:
        if isinstance(node, ast.Constant) and node.value == text:
            return file.span(node)
    place = head(file, definition)
    return Span(place.path, place.line)
