"""From an annotation to the layout it stands for: `float`, `kb.vec3`, `kb.array(dtype=…)`, struct classes.

`abi_type` is the one function that answers this, for the compiler and for arrays on the host. Structs resolve their
fields' annotations here, when first asked, so that importing a kernel module stays cheap.
"""

from __future__ import annotations

import sys

from . import abi
from .errors import describe, did_you_mean
from .pack import SEQUENCES
from .values import Mat, Vec, class_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PYTHON_TYPES: dict[object, abi.Type] = {bool: abi.BOOL, int: abi.INT32, float: abi.FLOAT32}


class ArrayAnnotation:
    """What `array(dtype=T, ndim=n)` and `array2d[T]` mean in a signature or a struct.

    `stated` are the extents that `array(dtype=T, shape=("n", 3))` says it has: numbers, and names for what is equal.
    """

    __slots__ = ("dtype", "ndim", "stated")
    layout: type[abi.Array] = abi.Array
    name = "array"

    def __init__(self, dtype: object, ndim: int = 1, stated: tuple[int | str, ...] = ()) -> None:
        if not isinstance(ndim, int) or not 1 <= ndim <= abi.MAX_ARRAY_DIMENSIONS:
            raise TypeError("an array has 1 to %d dimensions, not %r" % (abi.MAX_ARRAY_DIMENSIONS, ndim))
        for extent in stated:
            if not (extent.isidentifier() if isinstance(extent, str) else type(extent) is int and extent >= 0):
                raise TypeError("an extent is a number from 0 on, or a name, not %r" % (extent,))
        self.dtype, self.ndim, self.stated = dtype, ndim, stated

    def __repr__(self) -> str:
        if self.stated:
            return "%s(dtype=%s, shape=%r)" % (self.name, getattr(self.dtype, "__name__", self.dtype), self.stated)
        return "%s(dtype=%s, ndim=%d)" % (self.name, getattr(self.dtype, "__name__", self.dtype), self.ndim)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArrayAnnotation) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def _parts(self) -> tuple[object, ...]:
        return self.name, self.dtype, self.ndim, self.stated

    def is_kind_of(self, type: abi.Type) -> bool:
        """The type is such an array with as many dimensions, of whatever elements."""
        is_kind = isinstance(type, abi.Array) and is_indexed(type) == issubclass(self.layout, abi.IndexedArray)
        return is_kind and type.ndim == self.ndim  # type: ignore[attr-defined]


class IndexedAnnotation(ArrayAnnotation):
    """What `indexedarray(dtype=T, ndim=n)` and `indexedarray2d[T]` mean there."""

    __slots__ = ()
    layout = abi.IndexedArray
    name = "indexedarray"


def is_indexed(type: abi.Type) -> bool:
    """An array seen through index arrays."""
    return isinstance(type, abi.IndexedArray)


class AbsentType(TypeError):
    """A type that Warp has and kbuild does not."""


def abi_type(annotation: object) -> abi.Type:
    """The layout an annotation stands for. Raises TypeError that names what is wrong."""
    if isinstance(annotation, abi.Type):
        return annotation
    if isinstance(annotation, type):
        known = _PYTHON_TYPES.get(annotation) or annotation.__dict__.get("_kb_type_")
        if known is None and issubclass(annotation, (Vec, Mat)):
            known = annotation._kb_type_  # `class vec5(kb.types.vector(5, float))` is the same type by another name
        if known is not None:
            return known
        if "_kb_struct_" in annotation.__dict__:
            return _struct_type(annotation)
        if hasattr(annotation, "_kb_array_"):
            message = "%s needs an element type: write %s(dtype=float) or %s[float]"
            raise TypeError(message % ((annotation.__name__,) * 3))
    if isinstance(annotation, ArrayAnnotation):
        return annotation.layout(_element_type(annotation.dtype), annotation.ndim)
    if getattr(type(annotation), "_kb_absent_", False):
        absent: Any = annotation
        raise AbsentType("kb.%s (%s) is not in kbuild yet" % (absent.__name__, absent.family))
    raise TypeError("%s is not a type that a kernel knows%s" % (_spell(annotation), _advice(annotation)))


def _element_type(dtype: object) -> abi.Type:
    element = abi_type(dtype)
    if isinstance(element, abi.Array):
        raise TypeError("an array's elements cannot be arrays (%s): use more dimensions, or a struct" % element)
    return element


def _spell(annotation: object) -> str:
    return annotation.__qualname__ if isinstance(annotation, type) else repr(annotation)


def _advice(annotation: object) -> str:
    if isinstance(annotation, type) and annotation.__module__ not in ("builtins", "typing"):
        return ": decorate it with @struct if it is a record"
    return ": use bool, int, float, a kbuild scalar, vector or matrix, array(dtype=…) or a @struct class"


def struct(cls: type, may_be_empty: bool = False) -> type:
    """Makes a class of annotated fields a record that kernels take: host instances hold the fields as attributes.

    `Spring(stiffness=2.0)` sets fields by keyword; the others are zero, and arrays are None until set. Assigning to a
    name that is no field raises AttributeError.
    """
    fields = _annotations(cls)
    where = "@struct class %s" % cls.__qualname__
    if not fields and not may_be_empty:
        raise TypeError("%s has no fields: annotate them, as in `x: float`" % where)
    if cls.__bases__ != (object,):
        raise TypeError(
            "%s cannot inherit from %s: nest it as a field instead" % (where, cls.__bases__[0].__qualname__)
        )
    for name in ("__init__", "__setattr__", *fields):
        if name in cls.__dict__:
            raise TypeError("%s may not define %s: fields start at zero" % (where, name))
    setattr(cls, "_kb_struct_", True)  # noqa: B010 (the class has no such attribute for a type checker)
    setattr(cls, "__init__", _struct_init)  # noqa: B010
    setattr(cls, "__setattr__", set_field)  # noqa: B010
    if "__repr__" not in cls.__dict__:
        setattr(cls, "__repr__", _struct_repr)  # noqa: B010
    return cls


def _annotations(cls: type) -> dict[str, Any]:
    """The class's own annotations, as written: without those of its bases, strings unevaluated."""
    own: dict[str, Any] = cls.__dict__.get("__annotations__", {})  # noqa: RUF063 (that needs a dependency)
    return own


def _struct_type(cls: type) -> abi.Struct:
    """Resolves the fields' annotations once; strings are read in the globals of the class's module."""
    name = "%s:%s" % (cls.__module__, cls.__qualname__)
    if "_kb_busy_" in cls.__dict__:
        raise TypeError("struct %s contains itself: keep an index into an array instead" % name)
    setattr(cls, "_kb_busy_", True)  # noqa: B010
    try:
        fields = [(field, _field_type(cls, name, field)) for field in _annotations(cls)]
    finally:
        delattr(cls, "_kb_busy_")
    made = abi.Struct(name, fields)
    setattr(cls, "_kb_type_", made)  # noqa: B010
    return made


def _field_type(cls: type, name: str, field: str) -> abi.Type:
    try:
        annotation = _evaluated(cls, field)
        if isinstance(annotation, ArrayAnnotation) and annotation.stated:
            raise TypeError(
                "a shape is stated of a kernel's parameters, not of fields: write ndim=%d" % annotation.ndim
            )
        return abi_type(annotation)
    except TypeError as error:
        raise type(error)("field %r of struct %s: %s" % (field, name, error)) from None


def field_class(cls: type, field: str) -> object:
    """What annotates a field of a struct. Raises TypeError."""
    return _evaluated(cls, field)


def _evaluated(cls: type, field: str) -> object:
    """A field's annotation; a text stands for what it means in the globals of the class's module."""
    annotation = _annotations(cls)[field]
    for _ in range(2):  # `from __future__ import annotations` makes a text of a text
        if isinstance(annotation, str):
            try:
                annotation = eval(annotation, vars(sys.modules[cls.__module__]))
            except Exception as error:
                raise TypeError("cannot evaluate its annotation %r: %s" % (annotation, error)) from error
    return annotation


def _struct_init(self: object, **fields: object) -> None:
    for field in abi_type(type(self)).fields:  # type: ignore[attr-defined]
        if field.name not in fields:
            object.__setattr__(self, field.name, _zero(type(self), field))
    for name, value in fields.items():
        setattr(self, name, value)


def _zero(cls: type, field: abi.Field) -> object:
    if isinstance(field.type, abi.Array):
        return None
    if isinstance(field.type, abi.Struct):
        return _evaluated(cls, field.name)()  # type: ignore[operator]
    if isinstance(field.type, abi.Vector):
        return class_of(field.type)(*(0,) * field.type.length)  # type: ignore[operator]
    return class_of(field.type)()  # type: ignore[operator]


def set_field(self: object, name: str, value: object) -> None:
    """What assigns to a field. Raises AttributeError, TypeError."""
    fields = _annotations(type(self))
    if name not in fields:
        raise AttributeError("%s has no field %r%s" % (type(self).__qualname__, name, did_you_mean(name, fields)))
    _check_field(type(self), name, value)
    if value.__class__ in SEQUENCES and value.__class__ is not tuple and value.__class__ is not list:
        value = +value  # type: ignore[operator]  # a copy: who changes the vector does not change the record
    object.__setattr__(self, name, value)


def _check_field(cls: type, name: str, value: object) -> None:
    """Raises TypeError for what can never be a field's value; everything else a launch looks at."""
    known = cls.__dict__.get("_kb_composites_")
    if known is None:
        try:
            fields: Any = abi_type(cls).fields  # type: ignore[attr-defined]
        except TypeError:  # a type that is not here: launches say so
            fields = ()
        kinds = (abi.Array, abi.Vector, abi.Matrix)
        known = {one.name: one.type for one in fields if isinstance(one.type, kinds)}
        setattr(cls, "_kb_composites_", known)  # noqa: B010
    wanted = known.get(name)
    if wanted is None:
        return
    if isinstance(wanted, abi.Array):
        own = getattr(value, "_type", None)
        is_wrong = isinstance(value, (int, float, str, list, tuple)) or (isinstance(own, abi.Array) and own != wanted)
    else:
        is_wrong = isinstance(value, (int, float, str))
    if is_wrong:
        found = own if isinstance(wanted, abi.Array) and isinstance(own, abi.Array) else describe(value)
        raise TypeError("%s.%s: wanted %s, got %s" % (cls.__qualname__, name, wanted, found))


def _struct_repr(self: object) -> str:
    names = _annotations(type(self))
    return "%s(%s)" % (type(self).__qualname__, ", ".join("%s=%r" % (n, getattr(self, n)) for n in names))
