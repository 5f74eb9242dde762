"""Calls of the host's library: which function the arguments mean, and host values to plain numbers and back."""

from __future__ import annotations

import operator

from . import abi
from .errors import describe
from .host_math import HOST, RandomState, rounded
from .scalars import coerce
from .values import Mat, Vec, class_of, convert

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_found: dict[str, Callable[..., Any]] = {}


def find(module: str, name: str) -> Callable[..., Any]:
    """What computes a function on the host."""
    if name not in _found:
        _found[name] = HOST[name] if module == "host_math" else _library(module, name)
    return _found[name]


def _library(module: str, name: str) -> Callable[..., Any]:
    """A function of a module that `tools.host_library` wrote as a function of host values."""
    if module == "host_random":
        from . import host_random as made
    else:
        from . import host_library as made  # type: ignore[no-redef]

    rows = [
        (function, [tuple(one.split(": ")) for one in parameters.split(", ")], results.split(), defaults)
        for function, parameters, results, defaults in made.TABLE[name]
    ]
    plans: dict[tuple[type, ...], _Plan] = {}  # what a call means follows from the classes of its arguments

    def call(*arguments: Any, **named: Any) -> Any:
        classes = tuple(map(type, arguments))
        known = None if named else plans.get(classes)
        if known is not None:
            return known.run(arguments)
        plan, given = _chosen(name, rows, arguments, named, made.IS_EXACT)
        if len(given) == len(classes):  # else some are named, or defaults
            plans[classes] = plan
        return plan.run(given)

    return call


class _Plan:
    """How a function is called with values of certain classes, and what is made of its results."""

    __slots__ = ("function", "into", "is_stateful", "name", "out_of")

    def __init__(self, name: str, function: Any, kinds: list[str], results: list[str], element: abi.Scalar) -> None:
        self.name, self.function, self.is_stateful = name, function, kinds[0] == "RandomState"
        self.into = [_plain(kind) for kind in kinds]
        self.out_of = [_host_value(kind, element) for kind in results]

    def run(self, arguments: Any) -> Any:
        found = self.function(*[into(argument) for into, argument in zip(self.into, arguments)])
        if self.is_stateful:
            found, following = found
            arguments[0].advance(following)
        elif self.name == "rand_init":
            return RandomState(found)
        elif len(self.out_of) > 1:
            return tuple([out_of(part) for out_of, part in zip(self.out_of, found)])
        return self.out_of[0](found)


def _chosen(name: str, rows: Any, arguments: Any, named: Any, is_exact: bool) -> tuple[_Plan, list[Any]]:
    """What a call means, and its arguments in order. Raises TypeError."""
    for function, parameters, results, defaults in rows:
        kinds = [kind for _, kind in parameters]
        given = _bound([parameter for parameter, _ in parameters], arguments, named, defaults)
        if given is not None and _fit(given, kinds, is_exact):
            return _Plan(name, function, kinds, results, abi.FLOAT32 if is_exact else _element_of(given)), given
    raise TypeError(_misfit(name, rows, arguments, named))


def _bound(names: list[str], arguments: Any, named: Any, defaults: Any) -> list[Any] | None:
    """Arguments in the order of the parameters; None where there are too many, too few, or others."""
    if len(arguments) > len(names) or not set(named) <= set(names[len(arguments) :]):
        return None
    found = dict(zip(names[len(names) - len(defaults) :], defaults))
    found.update(zip(names, arguments))
    found.update(named)
    return [found[name] for name in names] if len(found) == len(names) else None


def _fit(values: list[Any], kinds: list[str], is_exact: bool) -> bool:
    """Every value is of its kind, and all vectors and matrices are made of one type."""
    elements = {type(value)._kb_type_.element for value in values if isinstance(value, (Vec, Mat))}
    if len(elements) > 1 or (is_exact and elements - {abi.FLOAT32}):
        return False
    return all(_is_of_kind(value, kind) for value, kind in zip(values, kinds))


def _is_of_kind(value: Any, kind: str) -> bool:
    if kind == "RandomState":
        return isinstance(value, RandomState)
    if isinstance(value, (Vec, Mat)):
        whole = type(value)._kb_type_
        return kind not in abi.SCALARS and kind != "array" and whole == _type_of(kind, whole.element)
    if kind == "array":
        return hasattr(value, "__len__")
    return kind in abi.SCALARS and (hasattr(value, "__index__") or (kind[0] == "f" and hasattr(value, "__float__")))


def _type_of(kind: str, element: abi.Scalar) -> abi.Vector | abi.Matrix:
    """`vec3`, `mat33`, `quat` or `transform` of a scalar type."""
    if kind.startswith("mat"):
        return abi.Matrix(int(kind[3]), int(kind[4]), element)
    if kind.startswith("vec"):
        return abi.Vector(int(kind[3:]), element)
    return abi.quaternion(element) if kind == "quat" else abi.transformation(element)


def _element_of(values: list[Any]) -> abi.Scalar:
    return next((type(value)._kb_type_.element for value in values if isinstance(value, (Vec, Mat))), abi.FLOAT32)


def _plain(kind: str) -> Callable[[Any], Any]:
    """What makes numbers and lists of a host value."""
    if kind == "array":
        return lambda value: value.tolist() if hasattr(value, "_kb_array_") else value
    if kind == "RandomState":
        return operator.index
    if kind in abi.SCALARS:
        scalar = abi.SCALARS[kind]
        if kind == "float32":
            return lambda value: rounded(coerce(scalar, value))  # type: ignore[arg-type]
        return lambda value: coerce(scalar, value)
    return (lambda matrix: [list(row) for row in matrix]) if kind.startswith("mat") else list


def _host_value(kind: str, element: abi.Scalar) -> Callable[[Any], Any]:
    """What makes a host value of numbers and lists, rounded to its element type."""
    if kind in abi.SCALARS:
        return (lambda found: found) if element.kind == "float" else lambda found: convert(element, found)
    made: Any = class_of(_type_of(kind, element))
    if kind.startswith("mat"):
        row = made._row_
        return lambda found: made._exactly([row._of(numbers) for numbers in found])
    return made._of  # type: ignore[no-any-return]


def _misfit(name: str, rows: Any, arguments: Any, named: Any) -> str:
    wanted = " or ".join("(%s)" % ", ".join("%s: %s" % pair for pair in row[1]) for row in rows)
    got = [describe(one) for one in arguments] + ["%s=%s" % (key, describe(one)) for key, one in named.items()]
    advice = ""
    if "state: RandomState" in wanted and arguments and not isinstance(arguments[0], RandomState):
        advice = "; make the state that it advances with kb.rand_init(seed)"
    return "kb.%s takes %s, not (%s)%s" % (name, wanted, ", ".join(got), advice)
