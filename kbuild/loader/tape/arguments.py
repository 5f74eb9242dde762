"""The arrays among a launch's arguments, each with its path: `x`, or `model.mass` in a struct.

A tape keeps arguments until the backward pass, so structs and vectors are kept as they were at the launch.
"""

from __future__ import annotations

import sys

from .. import abi, foreign, generic, interface
from ..array_class import array
from ..layout import abi_type
from ..pack import SEQUENCES
from ..values import class_of
from .gradients import is_differentiable
from .overlap import span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .gradients import Root


class Leaf:
    """An array argument. `arrays` are its data, then the index arrays through which it is seen; `given` is what the
    program passed: an array of ours, or of another library. `root`: its gradient, where somebody has looked.
    """

    __slots__ = ("arrays", "given", "is_differentiable", "path", "root", "span", "value")

    def __init__(self, path: str, given: Any, value: Any) -> None:
        self.path, self.given, self.value = path, given, value
        self.root: Root | None = None
        self.arrays: list[array] = [value] if value.__class__ is array else list(getattr(value, "_arrays", (value,)))
        self.is_differentiable = is_differentiable(value._type.element)  # its elements have floating-point numbers
        self.span = span(self.arrays[0])

    @property
    def data(self) -> array:
        """The array that has the elements."""
        return self.arrays[0]


def names_of(kernel: Any) -> list[str]:
    """The names of a kernel's parameters: of a bundle's, or of a live one."""
    parameters = getattr(kernel, "parameters", None)
    if parameters is not None:
        return [name for name, _ in parameters]
    return list(generic.parameter_names(kernel.function))


def leaves(kernel: Any, names: list[str], args: Any) -> list[Leaf]:
    """The arrays among arguments, in order. What is no argument at all is left to the launch, which will say so."""
    found: list[Leaf] = []
    for name, value in zip(names, args):
        if value.__class__ in (tuple, list) and any(_may_hold_arrays(one) for one in value):
            _collect(_by_name(type_of(kernel, name), value), name, found)  # the fields of a struct
        else:
            _collect(value, name, found)
    return found


def _may_hold_arrays(value: Any) -> bool:
    return not isinstance(value, (int, float, str, bytes))


def type_of(kernel: Any, name: str) -> abi.Type | None:
    """The type of a parameter; None where it is open."""
    parameters = getattr(kernel, "parameters", None)
    if parameters is not None:
        return dict(parameters).get(name)
    try:
        return abi_type(generic.annotation_of(kernel.function, name))
    except TypeError:
        return None


def _by_name(type: abi.Type | None, value: Any) -> Any:
    """A sequence of a struct's fields as a dictionary."""
    if isinstance(type, abi.Struct) and value.__class__ in (tuple, list) and len(value) == len(type.fields):
        return {one.name: _by_name(one.type, item) for one, item in zip(type.fields, value)}
    return value


def _collect(value: Any, path: str, found: list[Leaf]) -> None:
    if hasattr(value.__class__, "_kb_array_"):
        if value.is_alive:
            found.append(Leaf(path, value, value))
        return
    if value is None or isinstance(value, (int, float, str, bytes)) or value.__class__ in SEQUENCES:
        return
    if hasattr(value.__class__, "_kb_struct_"):
        for name, item in vars(value).items():
            _collect(item, "%s.%s" % (path, name), found)
    elif isinstance(value, dict):
        for name, item in value.items():
            _collect(item, "%s.%s" % (path, name), found)
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        for name, item in zip(value._fields, value):
            _collect(item, "%s.%s" % (path, name), found)
    else:
        seen = over(value)
        if seen is not None:
            found.append(Leaf(path, value, seen))


def over(value: Any) -> array | None:
    """An array over another library's; None where there is none to be made."""
    if not (foreign.is_array(value) or hasattr(value, "__array_interface__")):
        return None
    try:
        return foreign.asarray(value)
    except (TypeError, ValueError, BufferError):
        return None


def with_types(found: list[Leaf], parameters: Any) -> None:
    """Sees other libraries' arrays as their parameters want them: the last axes as components of vectors, say."""
    if all(leaf.given is leaf.value for leaf in found):
        return
    types = dict(parameters)
    for leaf in found:
        type = types.get(leaf.path)
        if leaf.given is not leaf.value and isinstance(type, abi.Array) and leaf.value._type != type:
            leaf.value = foreign.asarray(leaf.given, class_of(type.element))
            leaf.arrays = [leaf.value]


def tensors(found: list[Leaf]) -> list[Any]:
    """The tensors of PyTorch's that arrays lie over."""
    if "torch" not in sys.modules:
        return []
    given = [leaf.given for leaf in found] + [leaf.data._owner for leaf in found]
    return [one for one in given if interface.is_tensor(one)]


def kept(value: Any) -> Any:
    """An argument as it is now, whatever the program does to it later; arrays are themselves."""
    if hasattr(value.__class__, "_kb_struct_"):
        made = object.__new__(value.__class__)
        for name, item in vars(value).items():
            object.__setattr__(made, name, kept(item))
        return made
    if isinstance(value, dict):
        return {name: kept(item) for name, item in value.items()}
    if isinstance(value, list):
        return [kept(item) for item in value]
    if value.__class__ in SEQUENCES and value.__class__ is not tuple:
        return +value  # type: ignore[operator]
    return value


def replaced(parameters: Any, args: Any, put: Callable[[str, Any], Any]) -> list[Any]:
    """The arguments with `put(path, array)` in the place of every array."""
    return [_replaced(type, value, name, put) for (name, type), value in zip(parameters, args)]


def _replaced(type: abi.Type, value: Any, path: str, put: Callable[[str, Any], Any]) -> Any:
    if isinstance(type, abi.Array):
        return None if value is None else put(path, value)
    if isinstance(type, abi.Struct) and has_arrays(type):
        return tuple(
            [_replaced(f.type, field(value, type, f.name), "%s.%s" % (path, f.name), put) for f in type.fields]
        )
    return value


def has_arrays(type: abi.Type) -> bool:
    """Whether values of a type have arrays in them."""
    if isinstance(type, abi.Struct):
        return any(has_arrays(one.type) for one in type.fields)
    return isinstance(type, abi.Array)


def field(value: Any, type: abi.Struct, name: str) -> Any:
    """A field of what was given for a struct."""
    if isinstance(value, dict):
        return value[name]
    if isinstance(value, tuple):
        return value[[one.name for one in type.fields].index(name)]
    return getattr(value, name)


def has_adjoint(type: abi.Type) -> bool:
    """Whether a parameter of this type has an adjoint beside it: there are arrays of floating-point numbers in it."""
    if isinstance(type, abi.Struct):
        return any(has_adjoint(one.type) for one in type.fields)
    return isinstance(type, abi.Array) and is_differentiable(type)


def adjoints(parameters: Any, args: Any, of: Callable[[str, Any], Any]) -> list[Any]:
    """What follows the arguments of a kernel in those of its adjoint: see `adjoint`."""
    return [adjoint(type, value, name, of) for (name, type), value in zip(parameters, args) if has_adjoint(type)]


def adjoint(type: abi.Type, value: Any, path: str, of: Callable[[str, Any], Any]) -> Any:
    """The adjoint of an argument: of arrays `of(path, array)`, which may be None; of all else nothing, as zeros."""
    if isinstance(type, abi.Array):
        return None if value is None or not is_differentiable(type) else of(path, value)
    if isinstance(type, abi.Struct):
        return tuple([adjoint(f.type, field(value, type, f.name), "%s.%s" % (path, f.name), of) for f in type.fields])
    if isinstance(type, abi.Vector):
        return (0,) * type.length
    if isinstance(type, abi.Matrix):
        return ((0,) * type.columns,) * type.rows
    return False if type == abi.BOOL else 0
