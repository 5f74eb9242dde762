"""Which instance of a kernel a live Python function is, found without its source.

A capture plan is the ordered list of paths on which the code of a kernel depends. A path starts at the kernel's Python
function; a segment is `global:NAME`, `closure:NAME` or `default:NAME`, followed by attributes, and `/` steps into the
kernel function found there; `#1` chooses one of its overloads, `#gradient` its own gradient (`#1gradient` that of an
overload, `replay` alike), `@2` the third thing in a tuple, list or dictionary.
`type:NAME` is the type of a parameter: the one that an overload of a generic kernel is bound to, or what a factory has
put into the annotation.

    global:GRAVITY    closure:block    default:scale    global:cfg.FLAG    global:helper/global:EPSILON
    type:values       closure:op#1/global:EPSILON

The build writes the plan and the digest of the values it saw; a launch evaluates the plan on the function it was given
and compares digests. Both use this module, so what counts as equal has one definition: type and exact value (`1`,
`True` and `1.0` differ, as do `0.0` and `-0.0`, and an enum member and its number). Instances that hold different
functions share one plan, with the paths of all: a path inside a function that has no such name gives `MISSING`.
"""

from __future__ import annotations

import struct
import sys

from . import abi
from .digest import sha256
from .layout import ArrayAnnotation, abi_type
from .pack import signature
from .types import Function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FunctionType
    from typing import Any, Mapping


class CaptureError(ValueError):
    """A path leads nowhere, or a value has no exact encoding. The message names the path."""


class _Missing:
    """What a path inside a kernel function gives where it leads nowhere."""

    def __repr__(self) -> str:
        return "missing"


MISSING = _Missing()
_NOTHING: Mapping[str, abi.Type] = {}


def identity(function: FunctionType, plan: list[str], bound: Mapping[str, abi.Type] = _NOTHING) -> str:
    """The digest (64 hex digits) of what the plan finds on a function. Raises CaptureError."""
    return digest(plan, evaluate(function, plan, bound))


def digest(plan: list[str], values: list[Any]) -> str:
    """The digest of values found earlier."""
    encoded = []
    for path, value in zip(plan, values):
        try:
            encoded.append([path, encode(value)])
        except CaptureError as error:
            raise CaptureError("%s: %s" % (path, error)) from None
    found: str = sha256(ascii(encoded).encode()).hexdigest()
    return found


def evaluate(function: FunctionType, plan: list[str], bound: Mapping[str, abi.Type] = _NOTHING) -> list[Any]:
    """The values at the paths of a plan, in order; `bound` are types of parameters by name. Raises CaptureError."""
    return [_beyond(function, path) if "/" in path else _at(function, path, bound) for path in plan]


def _at(function: FunctionType, path: str, bound: Mapping[str, abi.Type]) -> Any:
    found = bound.get(path[5:]) if path.startswith("type:") else None
    return _follow(function, path) if found is None else found


def _beyond(function: FunctionType, path: str) -> Any:
    """The value inside a kernel function; MISSING where the one that stands there has nothing of the kind."""
    try:
        value = _follow(function, path)
        encode(value)
    except CaptureError:
        return MISSING
    return value


def _follow(function: Any, path: str) -> Any:
    value, number = function, ""
    for depth, segment in enumerate(path.split("/")):
        if depth:
            function = _function_in(value, number)
            if function is None:
                raise CaptureError("%s: no kernel function at step %d, but %r" % (path, depth, value))
        segment, _, number = segment.partition("#")
        segment, *numbers = segment.split("@")
        kind, _, names = segment.partition(":")
        name, *attributes = names.split(".")
        value = _start(function, kind, name, path)
        for attribute in attributes:
            try:
                value = getattr(value, attribute)
            except AttributeError:
                raise CaptureError("%s: %r has no attribute %r" % (path, value, attribute)) from None
        for position in numbers:
            inside = parts(value)
            if not position.isdigit() or int(position) >= len(inside):
                raise CaptureError("%s: %r has no part %s" % (path, value, position))
            value = inside[int(position)]
    return value


def parts(value: Any) -> list[Any]:
    """What a captured tuple, list or dictionary holds, in order; nothing for other values."""
    if type(value) is dict:
        return list(value.values())
    return list(value) if type(value) in (tuple, list) else []


def _function_in(value: Any, mark: str) -> Any:
    """The Python function in a kernel function, or in what a mark chooses: one of its overloads, its own gradient."""
    role = next((one for one in ("gradient", "replay") if mark.endswith(one)), "")
    number = mark[: len(mark) - len(role)]
    if number:
        overloads = getattr(value, "overloads", ())
        value = overloads[int(number)] if number.isdigit() and int(number) < len(overloads) else None
    return getattr(getattr(value, role, None) if role else value, "function", None)


def _start(function: Any, kind: str, name: str, path: str) -> Any:
    code = function.__code__
    try:
        if kind == "global":
            return function.__globals__[name]
        if kind == "closure":
            return function.__closure__[code.co_freevars.index(name)].cell_contents
        if kind == "default":
            return default_of(function, name)
        if kind == "type":
            return _type_of(function, name)
    except (KeyError, ValueError, TypeError):
        raise CaptureError("%s: %s has no such name now" % (path, function.__qualname__)) from None
    raise CaptureError("%s: unknown kind of path" % path)


def _type_of(function: Any, name: str) -> abi.Type:
    """The type in the annotation of a parameter. Raises KeyError, TypeError."""
    from . import generic  # few kernels depend on types

    try:
        annotation = generic.annotation_of(function, name)
    except Exception as error:  # the annotation is the user's own code
        raise TypeError(str(error)) from None
    if annotation is generic.MISSING:
        raise KeyError(name)
    return abi_type(annotation)


def default_of(function: Any, name: str) -> Any:
    """The default value of a parameter. Raises KeyError."""
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    positional = dict(zip(names[len(names) - len(defaults) :], defaults))
    return {**positional, **(function.__kwdefaults__ or {})}[name]


def encode(value: Any) -> list[Any]:
    """A value as nested lists of texts, injective over type and value. Raises CaptureError."""
    kind = type(value)
    if kind is _Missing:
        return ["missing"]
    if value is None or kind is bool or kind is str:
        return [kind.__name__, value]
    if kind is int:
        return ["int", hex(value)]
    if kind is float:
        return ["float", struct.pack(">d", value).hex()]
    if kind is tuple or kind is list:
        return [kind.__name__, [encode(item) for item in value]]
    if kind is dict:
        return ["dict", [[encode(key), encode(item)] for key, item in value.items()]]
    if kind is set or kind is frozenset:
        return [kind.__name__, sorted(([encode(item) for item in value]), key=ascii)]
    enum = sys.modules.get("enum")
    if enum is not None and isinstance(value, enum.Enum):
        return ["enum", _qualified(kind), value.name, encode(value.value)]
    if isinstance(value, abi.Type):
        return ["type", value.spelling]
    if isinstance(value, ArrayAnnotation):
        return _encode_annotation(value)
    if isinstance(value, type):
        return _encode_type(value)
    if isinstance(value, Function):
        return ["function", value.name]
    if getattr(kind, "_kb_constant_", False):
        return ["constant", signature(value.type), list(value.shape), value.digest]
    if getattr(kind, "_kb_struct_", False):
        return ["struct", _qualified(kind), [[name, encode(item)] for name, item in sorted(vars(value).items())]]
    if isinstance(getattr(kind, "_kb_type_", None), abi.Scalar):
        return ["number", kind._kb_type_.spelling, encode(float(value) if isinstance(value, float) else int(value))]
    if hasattr(kind, "_kb_type_"):
        return ["value", kind._kb_type_.spelling, [encode(item) for item in value]]
    if getattr(kind, "_kb_builtin_", False):
        return ["builtin", value.name]
    if kind is type(encode):
        return _encode_host_function(value)
    if kind is type(len) and value.__module__ == "builtins":
        return ["python", value.__name__]
    if hasattr(value, "_kb_type_"):
        return ["type", value._kb_type_.spelling]
    if type(kind) is type and getattr(value, "__dict__", None) and not callable(value) and kind is not type(sys):
        return _encode_object(value)
    raise CaptureError("a value of type %s cannot be captured: %.80r" % (_qualified(kind), value))


_encoding: list[object] = []  # objects on the way, innermost last


def _encode_object(value: Any) -> list[Any]:
    """An object of the user's that `static` reads: its class and its attributes, all of which have exact encodings."""
    if any(one is value for one in _encoding):
        raise CaptureError("an object of type %s contains itself" % _qualified(type(value)))
    _encoding.append(value)
    try:
        return ["object", _qualified(type(value)), [[name, encode(item)] for name, item in sorted(vars(value).items())]]
    finally:
        _encoding.pop()


def _encode_host_function(value: Any) -> list[Any]:
    """A Python function, which `static` may call: its name, and what it has captured itself."""
    cells = value.__closure__ or ()
    line = [value.__code__.co_firstlineno] if "<lambda>" in value.__qualname__ else []
    return ["host", _qualified(value), line, [encode(cell.cell_contents) for cell in cells]]


def _encode_annotation(value: ArrayAnnotation) -> list[Any]:
    try:
        return ["type", abi_type(value).spelling]
    except TypeError as error:
        raise CaptureError(str(error)) from None


def _encode_type(value: Any) -> list[Any]:
    if value.__module__ == "builtins":
        return ["type", value.__name__]
    if hasattr(value, "_kb_type_"):
        return ["type", value._kb_type_.spelling]
    if getattr(value, "_kb_struct_", False):
        return ["type", "struct:" + _qualified(value)]
    raise CaptureError("the class %s cannot be captured" % _qualified(value))


def _qualified(kind: Any) -> str:
    return "%s:%s" % (kind.__module__, kind.__qualname__)


def describe(values: list[Any]) -> list[str]:
    """Values as a person reads them, with their types: `float 0.5`, `enum Mode.FAST`, `function robosim.ops:add`."""
    return [_describe(value) for value in values]


def _describe(value: Any) -> str:
    tag = encode(value)[0]
    if tag == "missing":
        return "missing"
    if tag == "enum":
        return "enum %s.%s" % (type(value).__name__, value.name)
    if tag == "function":
        return "function " + str(value.name)
    if tag == "constant":
        return "constant %s(%s) %s" % (value.type, ", ".join(map(str, value.shape)), value.digest[:16])
    if tag == "type":
        return "type " + str(getattr(value, "__name__", value))
    return "%s %r" % (type(value).__name__, value)
