"""What a variable holds in a symbolic run: a term, a condition, something that nothing is known of, or parts of these.

int32 → Term        bool → Condition        float → Unknown        vec3, struct → Parts        array → Reference
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from kbuild.audit import conditions, terms
from kbuild.audit.conditions import Condition
from kbuild.audit.terms import THREAD, UNIFORM, Atom, Key, Term
from kbuild.errors import Span
from kbuild.ir.types import Array, Fixed, Matrix, Scalar, Shared, Struct, Tuple, Type, Vector, element_of, is_float

MOST_ELEMENTS: Final = 2**31 - 1  # of an array: an assumption that every audit names


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value of which only this is known: it is the same where its key is."""

    key: Any
    level: int
    taint: int

    def __hash__(self) -> int:
        return hash(self.key)


@dataclass(frozen=True, slots=True)
class Parts:
    """The components of a vector, the elements of a matrix (row by row), the fields of a struct, results."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """An array: of the launch, in shared memory (`space` "shared") or a table ("constant").

    `extents` are its shape; `parameter` the kernel's parameter that it comes with.
    """

    name: str
    space: str
    element: Type
    extents: tuple[Term, ...]
    parameter: str
    is_changed: bool
    span: Span | None = None
    bit: int = 0  # what depends on its contents has this taint


@dataclass(frozen=True, slots=True)
class Reference:
    """An array, or what is left of it at some leading indices."""

    memory: Memory
    fixed: tuple[Term, ...] = ()

    @property
    def extents(self) -> tuple[Term, ...]:
        return self.memory.extents[len(self.fixed) :]


Value: TypeAlias = Term | Condition | Unknown | Parts | Reference


def level_of(value: Value) -> int:
    """Who may see another value."""
    if isinstance(value, Parts):
        return max(map(level_of, value.items), default=UNIFORM)
    if isinstance(value, Reference):
        return max((one.level for one in value.fixed), default=UNIFORM)
    return value.level


def taint_of(value: Value) -> int:
    """What it depends on."""
    found = 0
    if isinstance(value, Parts):
        for item in value.items:
            found |= taint_of(item)
    elif isinstance(value, Reference):
        for term in value.fixed:
            found |= term.taint
    else:
        found = value.taint
    return found


def key_of(value: Value) -> Any:
    """Equal for values that are the same."""
    match value:
        case Unknown(key):
            return key
        case Parts(items):
            return terms.key("parts", *map(key_of, items))
        case Reference(memory, fixed):
            return terms.key("array", memory.name, *fixed)
    return value


def every_atom(value: Any) -> Iterator[Atom]:
    """The atoms of a value, with those of which only keys are left; each once."""
    seen: set[Atom | Key] = set()
    waiting = [value]
    while waiting:
        match waiting.pop():
            case Atom() as one if one not in seen:
                seen.add(one)
                yield one
                waiting += one.arguments
            case Key() as key if key not in seen:
                seen.add(key)
                waiting += key.parts
            case Term() as term:
                waiting += term.atoms()
            case Condition() as condition:
                waiting += [*condition.terms(), condition.key, *condition.parts]
            case Unknown(key):
                waiting.append(key)
            case Parts(items) | (tuple() as items):
                waiting += items


def range_of_type(type: Type) -> tuple[int | None, int | None]:
    """The numbers of an integer type."""
    assert isinstance(type, Scalar)
    bits = 8 * type.size
    return (0, 2**bits - 1) if type.kind == "uint" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def fresh(type: Type, name: str, level: int, taint: int, arrays: Callable[[Array, str], Value] | None = None) -> Value:
    """A value of a type that nothing is known of. `arrays` makes the arrays in it."""
    if isinstance(type, Scalar):
        if type.kind == "bool":
            return conditions.opaque(terms.key("value", terms.symbol(name, 0, 1, level)), level, taint)
        if type.kind == "float":
            return Unknown(terms.symbol(name, None, None, level), level, taint)
        return terms.of(terms.symbol(name, *range_of_type(type), level, taint))
    if isinstance(type, (Vector, Matrix)):
        names = component_names(type)
        return Parts(tuple(fresh(type.element, name + one, level, taint) for one in names))
    if isinstance(type, Struct):
        fields = (fresh(f.type, f"{name}.{f.name}", level, taint, arrays) for f in type.fields)
        return Parts(tuple(fields))
    if isinstance(type, Tuple):
        return Parts(tuple(fresh(one, f"{name}[{i}]", level, taint, arrays) for i, one in enumerate(type.items)))
    if isinstance(type, Array):
        if arrays is not None:
            return arrays(type, name)
        return Reference(array_of(type, name, "", True, level))
    return Unknown(name, level, taint)


def array_of(type: Array, name: str, parameter: str, is_changed: bool, level: int = UNIFORM) -> Memory:
    """An array that the launch gives, or one whose origin is not known."""
    if isinstance(type, Fixed):
        extents = tuple(terms.number(n) for n in type.shape)
        return Memory(name, "shared" if isinstance(type, Shared) else "constant", type.element, extents, "", is_changed)
    shape = tuple(terms.of(terms.symbol(f"{name}.shape[{axis}]", 1, MOST_ELEMENTS, level)) for axis in range(type.ndim))
    return Memory(name, "global", type.element, shape, parameter, is_changed)


def component_names(type: Vector | Matrix) -> list[str]:
    """`.x`, `.y`, … or `[row, column]`."""
    if isinstance(type, Vector):
        return ["." + "xyzw"[i] if type.length <= 4 else f"[{i}]" for i in range(type.length)]
    return [f"[{row}, {column}]" for row in range(type.rows) for column in range(type.columns)]


def zero(type: Type) -> Value:
    """What a variable of a type is until something is assigned."""
    if isinstance(type, Scalar):
        if type.kind == "bool":
            return conditions.FALSE
        return Unknown(terms.key("const", "0.0"), UNIFORM, 0) if type.kind == "float" else terms.ZERO
    if isinstance(type, (Vector, Matrix)):
        return Parts(tuple(zero(type.element) for _ in component_names(type)))
    if isinstance(type, Struct):
        return Parts(tuple(zero(f.type) for f in type.fields))
    if isinstance(type, Tuple):
        return Parts(tuple(map(zero, type.items)))
    if isinstance(type, Array):
        return Reference(array_of(type, "nothing", "", False))
    return Unknown("nothing", UNIFORM, 0)


def either(condition: Condition, then: Value, otherwise: Value) -> Value:
    """The one where the condition holds, else the other."""
    if then is otherwise or then == otherwise or condition.kind == "true":
        return then
    if condition.kind == "false":
        return otherwise
    match then, otherwise:
        case Term(), Term():
            return terms.of(terms.atom("ite", (condition, then, otherwise), None, None))
        case Condition(), Condition():
            return conditions.any_of(
                (
                    conditions.all_of((condition, then)),
                    conditions.all_of((conditions.negation(condition), otherwise)),
                )
            )
        case Parts(a), Parts(b) if len(a) == len(b):
            return Parts(tuple(either(condition, x, y) for x, y in zip(a, b, strict=True)))
        case Reference(one, a), Reference(two, b) if one is two and len(a) == len(b):
            indices = tuple(either(condition, x, y) for x, y in zip(a, b, strict=True))
            return Reference(one, indices)  # type: ignore[arg-type]
        case Reference(one, a), Reference(_, _):
            # Either of two arrays: one that is neither, and may be any.
            return Reference(Memory(f"{one.name} or another", one.space, one.element, one.extents, "", True), a)
    level = max(condition.level, level_of(then), level_of(otherwise))
    taint = condition.taint | taint_of(then) | taint_of(otherwise)
    return Unknown(terms.key("ite", condition, key_of(then), key_of(otherwise)), level, taint)


def pure(name: str, type: Type, arguments: Sequence[Value]) -> Value:
    """The result of a function without effects that is not looked into: the same for the same arguments."""
    level = max(map(level_of, arguments), default=UNIFORM)
    taint = 0
    for one in arguments:
        taint |= taint_of(one)
    return _keyed(type, terms.key(name, type.spelling, *map(key_of, arguments)), name, level, taint)


def _keyed(type: Type, key: Key, name: str, level: int, taint: int) -> Value:
    if isinstance(type, Scalar) and not is_float(type):
        if type.kind == "bool":
            return conditions.opaque(key, level, taint)
        return terms.of(terms.atom("call", (Unknown(key, level, taint),), *range_of_type(type), name))
    if isinstance(type, (Vector, Matrix)):
        names = component_names(type)
        return Parts(
            tuple(
                _keyed(element_of(type), terms.key("component", key, i), name, level, taint) for i in range(len(names))
            )
        )
    if isinstance(type, Struct):
        return Parts(tuple(_keyed(f.type, terms.key("field", key, f.name), name, level, taint) for f in type.fields))
    if isinstance(type, Array):
        return fresh(type, "an array", THREAD, taint)
    return Unknown(key, level, taint)
