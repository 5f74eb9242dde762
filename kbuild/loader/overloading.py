"""Overloads: functions of one name for several types, and instances of generic kernels."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from . import abi, generic, types
from .errors import did_you_mean
from .layout import abi_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Mapping

_instances: dict[tuple[int, tuple[tuple[str, str], ...]], Any] = {}


def join(earlier: types.Function, made: types.Function) -> None:
    """Puts a function beside earlier ones of its name; one for the same types takes the other's place."""
    kept = [one for one in earlier.overloads if signature(one) != signature(made)]
    for one in (*kept, made):
        one.overloads = (*kept, made)


def signature(function: types.Function) -> tuple[object, ...]:
    """What tells overloads apart."""
    names = generic.parameter_names(function.function)
    return tuple(function.function.__annotations__.get(name) for name in names)


def choose(function: types.Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> types.Function:
    """The overload that takes arguments of the host; the last one where none is sure to."""
    given = [type_of(value) for value in args]
    for one in function.overloads:
        names = generic.parameter_names(one.function)
        if len(args) + len(kwargs) > len(names) or not set(kwargs) <= set(names):
            continue
        binding: generic.Binding = {}
        pairs = [*zip(names, given), *((name, type_of(value)) for name, value in kwargs.items())]
        if all(type is not None and _admits(one, name, type, binding) for name, type in pairs):
            return one
    return function.overloads[-1]


_wanted: WeakKeyDictionary[types.Function, list[Any]] = WeakKeyDictionary()


def check(function: types.Function, args: tuple[Any, ...]) -> None:
    """Refuses what a function of Warp's dialect cannot be called with on the host. Raises RuntimeError, as Warp does.

    That is a number for what is none, Python's own `float` for another floating-point type than float32, and a function
    that kernels do not know for one that they do.
    """
    wanted = _wanted.get(function)
    if wanted is None:
        names = generic.parameter_names(function.function)
        wanted = _wanted[function] = [_parameter(function.function, name) for name in names]
    for one, value in zip(wanted, args):
        if one is not None and _is_wrong(one, value):
            message = "Error calling function '%s', no overload found for arguments %r"
            raise RuntimeError(message % (function.__name__, args))


def _parameter(function: Any, name: str) -> Any:
    """A parameter's type, or the class of functions; None where anything goes."""
    try:
        annotation = generic.annotation_of(function, name)
        return annotation if annotation is types.Function else abi_type(annotation)
    except Exception:  # an open type, or none
        return None


def _is_wrong(wanted: Any, value: Any) -> bool:
    if wanted is types.Function:
        return hasattr(value, "__code__")
    if isinstance(wanted, abi.Scalar):
        return type(value) is float and wanted.kind == "float" and wanted != abi.FLOAT32
    return isinstance(value, (int, float))


def _admits(function: types.Function, name: str, type: abi.Type, binding: generic.Binding) -> bool:
    try:
        return generic.match(generic.annotation_of(function.function, name), type, binding)
    except Exception:  # an annotation that is no type admits nothing
        return False


def type_of(value: Any) -> abi.Type | None:
    """The type that a value of the host has in a kernel: arrays, vectors, structs their own, Python's numbers too."""
    own = getattr(value, "_type", None)
    if isinstance(own, abi.Type):
        return own
    kind = type(value)
    try:
        return abi_type(kind)
    except TypeError:
        return None


def instance(kernel: types.Kernel, given: object) -> types.Kernel:
    """The overload of a generic kernel for these types. Raises TypeError."""
    if given is None:
        raise TypeError('overload(%s, …) wants types: {"x": kb.array(dtype=float)}' % kernel.__name__)
    return of_types(kernel, generic.bind(kernel.function, given))


def of_types(kernel: types.Kernel, bound: dict[str, abi.Type]) -> types.Kernel:
    """The overload for types that are known to fit; the same object for the same types."""
    key = (id(kernel), tuple((name, type.spelling) for name, type in bound.items()))
    found = _instances.get(key)
    if found is None:
        made = types.Kernel(kernel.function, kernel.options)
        made.dialect = kernel.dialect
        made.bound = bound
        made.generic = kernel  # keeps its id from being used again
        found = _instances.setdefault(key, made)
        if found is made:
            types.declare(made)
    return found


def declared(function: Any, names: Mapping[str, Any]) -> types.Kernel:
    """The generic kernel of a function's name, after declaring the overload that its annotations say."""
    name = getattr(function, "__name__", None)
    if name is None:
        raise TypeError("overload wants a generic kernel, or decorates a function, not %r" % (function,))
    kernel = names.get(name)
    if not isinstance(kernel, types.Kernel):
        kernels = [one for one, value in names.items() if isinstance(value, types.Kernel)]
        raise TypeError("@overload: there is no kernel %r here%s" % (name, did_you_mean(name, kernels)))
    parameters = generic.parameter_names(function)
    instance(kernel, {one: generic.annotation_of(function, one) for one in parameters})
    return kernel
