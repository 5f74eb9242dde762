"""Numbers, vectors, quaternions and matrices on the host: `kb.float32(1.5)`, `kb.vec3(0.0, 1.0, 2.0)`, `kb.quat(…)`.

A scalar type is a class that is called like a conversion and answers with a plain Python number, rounded or wrapped as
a kernel would. Vectors and matrices are lists of fixed length with arithmetic, rounded to their element type after
every operation: what a kernel computes, and usable as captured constants. They equal tuples of the same numbers, and
are hashed like them: who changes one that is a key loses it. Their classes are made when first asked for
(`vec3d` is read from its name), since a start that needs two of them should not pay for forty.
"""

from __future__ import annotations

import operator

from . import abi
from .errors import describe
from .pack import SEQUENCES
from .scalars import coerce, int_range, round_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SUFFIXES = {
    "h": abi.FLOAT16,
    "f": abi.FLOAT32,
    "d": abi.FLOAT64,
    "b": abi.INT8,
    "ub": abi.UINT8,
    "s": abi.INT16,
    "us": abi.UINT16,
    "i": abi.INT32,
    "ui": abi.UINT32,
    "l": abi.INT64,
    "ul": abi.UINT64,
}
_NAMED = tuple(_SUFFIXES)  # the suffixes of types that have names: `vec3d`; the others are made by `kb.types`
_SUFFIXES["p"] = abi.BOOL
_SUFFIX_OF = {scalar.spelling: suffix for suffix, scalar in _SUFFIXES.items()}


def convert(scalar: abi.Scalar, value: object) -> object:
    """A number as the kernel's conversion makes it: floats rounded, integers wrapped, floats to integers saturated."""
    if scalar.kind == "bool":
        return bool(value)
    if scalar.kind == "float":
        return round_float(scalar, float(value))  # type: ignore[arg-type]
    if isinstance(value, float):
        value = _saturate(scalar, value)
    return wrap(scalar, int(value))  # type: ignore[call-overload]


def wrap(scalar: abi.Scalar, value: int) -> int:
    """The integer modulo 2^bits, in the type's range."""
    bits = 8 * scalar.size
    value &= (1 << bits) - 1
    return value - (1 << bits) if scalar.kind == "int" and value >> (bits - 1) else value


def _saturate(scalar: abi.Scalar, value: float) -> int:
    """Truncation that clamps to 32 (or 64) bits and takes NaN as 0: the GPU's conversion."""
    if value != value:
        return 0
    low, high = int_range(abi.SCALARS[scalar.kind + ("64" if scalar.size == 8 else "32")])
    return low if value <= low else high if value >= high else int(value)


def _whole(scalar: abi.Scalar, value: object) -> object:
    """A component of a vector of integers. Numbers below zero wrap in those without sign, as the scalar types do."""
    if scalar.kind == "uint" and hasattr(value, "__index__"):
        number = operator.index(value)
        if -(1 << (8 * scalar.size - 1)) <= number < 0:
            return wrap(scalar, number)
    return coerce(scalar, value)


class ScalarType(type):
    """Metaclass of the scalar types: calling one converts.

    What comes out is a Python number that knows its type: captured by a kernel it has this type and no other. What is
    computed with it is an ordinary number again.
    """

    _kb_type_: abi.Scalar

    def __call__(cls, value: object = 0) -> object:
        number = convert(cls._kb_type_, value)
        return number if cls._kb_type_.kind == "bool" else cls.__new__(cls, number)  # type: ignore[call-overload]

    def __repr__(cls) -> str:
        return "kb." + cls.__name__

    @property
    def _type_(cls) -> Any:
        """The type of ctypes, for which programs written for Warp ask."""
        import ctypes

        names = {"bool": "c_bool", "float16": "c_uint16", "float32": "c_float", "float64": "c_double"}
        return getattr(ctypes, names.get(cls._kb_type_.spelling, "c_" + cls._kb_type_.spelling))


class bool_(metaclass=ScalarType):
    _kb_type_ = abi.BOOL


class int8(int, metaclass=ScalarType):
    __slots__ = ()
    _kb_type_ = abi.INT8


class int16(int, metaclass=ScalarType):
    __slots__ = ()
    _kb_type_ = abi.INT16


class int32(int, metaclass=ScalarType):
    __slots__ = ()
    _kb_type_ = abi.INT32


class int64(int, metaclass=ScalarType):
    __slots__ = ()
    _kb_type_ = abi.INT64


class uint8(int, metaclass=ScalarType):
    __slots__ = ()
    _kb_type_ = abi.UINT8


class uint16(int, metaclass=ScalarType):
    __slots__ = ()
    _kb_type_ = abi.UINT16


class uint32(int, metaclass=ScalarType):
    __slots__ = ()
    _kb_type_ = abi.UINT32


class uint64(int, metaclass=ScalarType):
    __slots__ = ()
    _kb_type_ = abi.UINT64


class float16(float, metaclass=ScalarType):
    __slots__ = ()
    _kb_type_ = abi.FLOAT16


class float32(float, metaclass=ScalarType):
    __slots__ = ()
    _kb_type_ = abi.FLOAT32


class float64(float, metaclass=ScalarType):
    __slots__ = ()
    _kb_type_ = abi.FLOAT64


class _OfClass:
    """What Warp's classes of vectors and matrices say of themselves, and projects written for it ask."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __get__(self, _: object, cls: Any) -> Any:
        return self.answer(cls._kb_type_)


class _Fixed(list):  # type: ignore[type-arg]
    """Numbers, or rows of them, as many as the type says."""

    __slots__ = ()
    __lt__ = __le__ = __gt__ = __ge__ = None  # type: ignore[assignment]
    append = extend = insert = pop = remove = clear = sort = reverse = __delitem__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> Any:
        return list.__eq__(self, list(other) if isinstance(other, tuple) else other)

    def __ne__(self, other: object) -> Any:
        return list.__ne__(self, list(other) if isinstance(other, tuple) else other)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    @classmethod
    def _exactly(cls, items: Any) -> Any:
        """One of these items, which are what they must be."""
        made = cls.__new__(cls)
        list.__init__(made, items)
        return made

    def __iadd__(self, other: object) -> Any:  # type: ignore[misc]
        return self + other  # type: ignore[operator]

    def __imul__(self, other: object) -> Any:
        return self * other  # type: ignore[operator]

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (self._kb_type_.spelling, list(self))  # type: ignore[attr-defined]


class Vec(_Fixed):
    """Base of the vector classes: a list of numbers with component-wise `+`, `-` and scaling."""

    __slots__ = ()
    _kb_type_: abi.Vector
    _length_ = _OfClass(lambda type: type.length)
    _wp_generic_type_str_ = _OfClass(lambda type: type.kind + "_t")
    _shape_ = _OfClass(lambda type: (type.length,))
    _wp_scalar_type_ = _OfClass(lambda type: class_of(type.element))

    def __init__(self, *components: object) -> None:
        length, element = self._kb_type_.length, self._kb_type_.element
        components = self._numbers(components) or (0,) * length
        if len(components) != length:
            raise TypeError("%s takes %s; got %d" % (type(self).__name__, self._wanted(), len(components)))
        if element.kind == "bool":
            list.__init__(self, [c != 0 if isinstance(c, (int, float)) else coerce(element, c) for c in components])
        elif element.kind == "float":
            list.__init__(self, [round_float(element, float(c)) for c in components])  # type: ignore[arg-type]
        else:
            list.__init__(self, [_whole(element, c) for c in components])

    @classmethod
    def _numbers(cls, given: tuple[object, ...]) -> tuple[object, ...]:
        """What a constructor was given as single numbers."""
        if len(given) == 1:
            only = given[0]
            if hasattr(only, "__iter__"):
                return tuple(only)
            return given * cls._kb_type_.length if cls._kb_type_.kind != "quat" else given
        sizes = parts_of(cls._kb_type_)
        if sizes and len(given) == len(sizes) and hasattr(given[0], "__iter__"):
            parts = [tuple(part) if hasattr(part, "__iter__") else (part,) for part in given]
            if [len(part) for part in parts] != sizes:
                raise TypeError("%s takes %s; got %r" % (cls.__name__, cls._wanted(), given))
            return tuple(number for part in parts for number in part)
        return given

    @classmethod
    def _wanted(cls) -> str:
        type, sizes = cls._kb_type_, parts_of(cls._kb_type_)
        parts = " parts of %s," % " and ".join(map(str, sizes)) if sizes else ""
        return "%d numbers,%s%s or none" % (type.length, parts, " one for all," if type.kind != "quat" else "")

    @classmethod
    def _of(cls, values: object) -> Vec:
        """A vector of results: rounded or wrapped."""
        element = cls._kb_type_.element
        return cls._exactly([convert(element, v) for v in values])  # type: ignore[attr-defined, no-any-return]

    def __getitem__(self, index: object) -> Any:
        """A number; a slice as a vector."""
        found = list.__getitem__(self, index)  # type: ignore[call-overload]
        return _slice(self, found) if index.__class__ is slice else found

    def __setitem__(self, index: object, value: object) -> None:
        """A number, or numbers for a slice. Raises TypeError, ValueError, OverflowError, IndexError."""
        if index.__class__ is not slice:
            list.__setitem__(self, index, self._number(value))  # type: ignore[call-overload]
            return
        count = len(list.__getitem__(self, index))
        given = [self._number(one) for one in value] if hasattr(value, "__iter__") else None
        if given is None or len(given) != count:
            raise ValueError("%d components of a %s are set, to %s" % (count, type(self).__name__, describe(value)))
        list.__setitem__(self, index, given)

    def _number(self, value: object) -> object:
        element = self._kb_type_.element
        if hasattr(value, "__iter__"):
            raise TypeError("wanted %s, got %s" % (element, describe(value)))
        found = coerce(element, value)
        return round_float(element, found) if element.kind == "float" else found  # type: ignore[arg-type]

    def __str__(self) -> str:
        return "[%s]" % ", ".join(map(str, self))

    def __repr__(self) -> str:
        return "%s(%s)" % (type(self).__name__, ", ".join(map(repr, self)))

    def __add__(self, other: object) -> Vec:
        return self._of(map(operator.add, self, other)) if type(other) is type(self) else NotImplemented

    def __sub__(self, other: object) -> Vec:
        return self._of(map(operator.sub, self, other)) if type(other) is type(self) else NotImplemented

    def __mul__(self, factor: object) -> Vec:
        return self._of(c * factor for c in self) if _is_number(factor) else self.__matmul__(factor)

    def __rmul__(self, factor: object) -> Vec:
        return self._of(c * factor for c in self) if _is_number(factor) else NotImplemented

    def __matmul__(self, other: object) -> Vec:
        """The row times a matrix."""
        element = self._kb_type_.element
        if not isinstance(other, Mat) or self._kb_type_ != abi.Vector(len(other), other._kb_type_.element):
            return NotImplemented
        return _vector(other._row_._kb_type_)._of(_dot(element, self, column) for column in zip(*other))

    def __truediv__(self, divisor: object) -> Vec:
        return self._of(_quotients(self, self, self._same(divisor))) if _is_number(divisor) else NotImplemented

    def __rtruediv__(self, number: object) -> Vec:
        return self._of(_quotients(self, self._same(number), self)) if _is_number(number) else NotImplemented

    def __mod__(self, other: object) -> Vec:
        """Remainders, element by element."""
        if type(other) is not type(self):
            return NotImplemented
        from . import host_operators

        return self._of(host_operators.remainders(self._kb_type_.element, self, other))

    def _same(self, number: object) -> list[object]:
        """A number for each element, as the element type has it."""
        return [convert(self._kb_type_.element, number)] * len(self)

    def __neg__(self) -> Vec:
        return self._of(-c for c in self)

    def __pos__(self) -> Vec:
        """A copy."""
        return self._exactly(self)  # type: ignore[no-any-return]


class Quat(Vec):
    """Base of the quaternion classes: x, y, z, w; `a * b` is the Hamilton product, which rotates by b and then by a."""

    __slots__ = ()

    def __mul__(self, other: object) -> Vec:
        return self._of(hamilton(self, other)) if type(other) is type(self) else super().__mul__(other)


class Transform(Vec):
    """Base of the rigid motions: a position `p` and a rotation `q`; `a * b` moves by b and then by a.

    Without an argument it is the identity, not zero.
    """

    __slots__ = ()

    def __init__(self, *components: object, **named: object) -> None:
        if components and not named:
            position = components[0]
            if len(components) == 1 and hasattr(position, "__len__") and len(position) == 3:
                components = position, (0.0, 0.0, 0.0, 1.0)
            super().__init__(*components)
            return
        unknown = min(set(named) - {"p", "q"}, default=None)
        if unknown is not None:
            raise TypeError("got an unexpected keyword argument %r" % unknown)
        if len(components) > 1 or (components and "p" in named):
            raise TypeError("%s takes %s, or p= and q=" % (type(self).__name__, self._wanted()))
        position = components[0] if components else named.get("p", (0.0, 0.0, 0.0))
        super().__init__(position, named.get("q", (0.0, 0.0, 0.0, 1.0)))

    @property
    def p(self) -> Vec:
        """The position."""
        return self[:3]  # type: ignore[no-any-return]

    @p.setter
    def p(self, value: object) -> None:
        self[:3] = value

    @property
    def q(self) -> Vec:
        """The rotation."""
        return _vector(abi.quaternion(self._kb_type_.element))(*self[3:])

    @q.setter
    def q(self, value: object) -> None:
        self[3:] = value

    def __mul__(self, other: object) -> Vec:
        if type(other) is not type(self):
            return super().__mul__(other)
        a, b = tuple(self), tuple(other)
        moved = rotated(a[3:], b[:3])
        return self._of([*map(operator.add, a, moved), *hamilton(a[3:], b[3:])])


def hamilton(a: Any, b: Any) -> list[float]:
    """The product of two quaternions (x, y, z, w)."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by + ay * bw + az * bx - ax * bz,
        aw * bz + az * bw + ax * by - ay * bx,
        aw * bw - ax * bx - ay * by - az * bz,
    ]


def rotated(q: Any, v: Any) -> list[float]:
    """v turned by a quaternion of length one: (2 w² - 1) v + 2 (u · v) u + 2 w (u × v), u being its x, y, z."""
    x, y, z, w = q
    a, b, c = v
    s, t = 2.0 * w * w - 1.0, 2.0 * (x * a + y * b + z * c)
    return [
        s * a + t * x + 2.0 * w * (y * c - z * b),
        s * b + t * y + 2.0 * w * (z * a - x * c),
        s * c + t * z + 2.0 * w * (x * b - y * a),
    ]


def parts_of(type: abi.Vector) -> list[int]:
    """Lengths of the vectors that a value can be made of besides single numbers."""
    if type.kind == "vec":
        return [3, 3] if type.length == 6 else []
    return [3, 1] if type.kind == "quat" else [3, 4]


class Mat(_Fixed):
    """Base of the matrix classes: a list of row vectors; `m[i]` (a copy), `m[i, j]`, `+`, `-`, scaling, `@`."""

    __slots__ = ()
    _kb_type_: abi.Matrix
    _row_: type[Vec]
    _length_ = _OfClass(lambda type: type.rows * type.columns)
    _wp_generic_type_str_ = _OfClass(lambda type: "mat_t")
    _shape_ = _OfClass(lambda type: (type.rows, type.columns))
    _wp_scalar_type_ = _OfClass(lambda type: class_of(type.element))

    def __init__(self, *values: object) -> None:
        rows, columns = self._kb_type_.rows, self._kb_type_.columns
        if len(values) == 1:
            only = values[0]
            values = tuple(only) if hasattr(only, "__iter__") else (only,) * (rows * columns)
        values = values or (0,) * (rows * columns)
        if len(values) == rows * columns and not hasattr(values[0] if values else values, "__iter__"):
            values = tuple(values[i * columns : (i + 1) * columns] for i in range(rows))
        if len(values) != rows:
            wanted = "%d numbers, %d rows, one number for all, or none" % (rows * columns, rows)
            raise TypeError("%s takes %s; got %d values" % (type(self).__name__, wanted, len(values)))
        list.__init__(self, [self._row_(row) for row in values])

    def __getitem__(self, index: object) -> Any:
        """A number, a row or part of one, a part of a column; what has two slices is a matrix."""
        if index.__class__ is int:
            return +list.__getitem__(self, index)
        row, column = index if index.__class__ is tuple else (index, slice(None))
        found = list.__getitem__(self, row)
        if row.__class__ is not slice:
            return found[column]
        if column.__class__ is not slice:
            return _slice(self._row_(), [one[column] for one in found])
        rows = [one[column] for one in found]
        width = len(range(*column.indices(self._kb_type_.columns)))
        return _matrix(abi.Matrix(len(rows), width, self._kb_type_.element))(rows)

    def __setitem__(self, index: object, value: object) -> None:
        """The same, changed. Raises TypeError, ValueError, OverflowError, IndexError."""
        row, column = index if index.__class__ is tuple else (index, slice(None))
        found = list.__getitem__(self, row)
        if row.__class__ is not slice:
            found[column] = value
            return
        given = list(value) if hasattr(value, "__iter__") else []
        if len(given) != len(found):
            raise ValueError("%d rows of a %s are set, to %s" % (len(found), type(self).__name__, describe(value)))
        made = [self._row_(one) for one in found]
        for one, part in zip(made, given):
            one[column] = part
        for one, new in zip(found, made):
            one[:] = new

    def __str__(self) -> str:
        return "[%s]" % ",\n ".join(map(str, self))

    def __repr__(self) -> str:
        return "%s(%s)" % (type(self).__name__, ", ".join(repr(tuple(row)) for row in self))

    def _of(self, rows: object) -> Mat:
        return self._exactly(rows)  # type: ignore[no-any-return]

    def __add__(self, other: object) -> Mat:
        return self._of(map(operator.add, self, other)) if type(other) is type(self) else NotImplemented

    def __sub__(self, other: object) -> Mat:
        return self._of(map(operator.sub, self, other)) if type(other) is type(self) else NotImplemented

    def __neg__(self) -> Mat:
        return self._of(map(operator.neg, self))

    def __pos__(self) -> Mat:
        return self._of(map(operator.pos, self))

    def __mod__(self, other: object) -> Mat:
        """Remainders, element by element."""
        return self._of(map(operator.mod, self, other)) if type(other) is type(self) else NotImplemented

    def __rtruediv__(self, number: object) -> Mat:
        return self._of([number / row for row in self]) if _is_number(number) else NotImplemented

    def __truediv__(self, divisor: object) -> Mat:
        return self._of([row / divisor for row in self]) if _is_number(divisor) else NotImplemented

    def __mul__(self, other: object) -> object:  # type: ignore[override]
        if _is_number(other):
            return self._of([row * other for row in self])
        return self.__matmul__(other)

    def __rmul__(self, factor: object) -> Mat:
        return self._of([row * factor for row in self]) if _is_number(factor) else NotImplemented

    def __matmul__(self, other: object) -> object:
        element = self._kb_type_.element
        if isinstance(other, Vec) and other._kb_type_ == self._row_._kb_type_:
            return _vector(abi.Vector(len(self), element))._of(_dot(element, row, other) for row in self)
        if not isinstance(other, Mat) or (len(other), other._kb_type_.element) != (self._kb_type_.columns, element):
            return NotImplemented
        columns = list(zip(*other))
        made = _matrix(abi.Matrix(len(self), len(columns), element))
        return made(*(number for row in self for number in (_dot(element, row, column) for column in columns)))


def _dot(element: abi.Scalar, row: object, column: object) -> object:
    """Products summed from the left, each step rounded to the element type."""
    total = None
    for a, b in zip(row, column):  # type: ignore[call-overload]
        product = convert(element, a * b)
        total = product if total is None else convert(element, total + product)  # type: ignore[operator]
    return total


def _quotients(vector: Vec, left: Any, right: Any) -> list[Any]:
    from . import host_operators  # few programs divide vectors on the host

    return host_operators.quotients(vector._kb_type_.element, left, right)


def _slice(vector: Vec, numbers: list[Any]) -> Vec:
    return _vector(abi.Vector(len(numbers), vector._kb_type_.element))._of(numbers)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) or (hasattr(value, "__float__") and not hasattr(value, "__len__"))


_classes: dict[str, type] = {}


def class_of(type: abi.Type) -> object:
    """The host class of a scalar, vector or matrix type; the type itself where there is none."""
    if isinstance(type, abi.Scalar):
        return globals()[type.spelling if type.kind != "bool" else "bool_"]
    if isinstance(type, abi.Vector) and type.element.spelling in _SUFFIX_OF:
        return _vector(type)
    if isinstance(type, abi.Matrix) and type.element.spelling in _SUFFIX_OF:
        return _matrix(type)
    return type


def _suffix(element: abi.Scalar) -> str:
    return "" if element == abi.FLOAT32 else _SUFFIX_OF[element.spelling]


def _vector(type_: abi.Vector) -> type[Vec]:
    made = _classes.get(type_.spelling)
    if made is None:
        names = {"__slots__": (), "_kb_type_": type_, "__module__": __name__}
        for axis, name in list(enumerate("xyzw"))[: type_.length if type_.kind != "transform" else 0]:
            names[name] = property(operator.itemgetter(axis), _setter(axis))
        base = {"vec": Vec, "quat": Quat, "transform": Transform}[type_.kind]
        head = "vec%d" % type_.length if base is Vec else type_.kind
        made = type(head + _suffix(type_.element), (base,), names)
        made = _classes.setdefault(type_.spelling, made)
        SEQUENCES.add(made)
    return made


def _setter(axis: int) -> Any:
    def set(self: Any, value: object) -> None:
        self[axis] = value

    return set


def _matrix(type_: abi.Matrix) -> type[Mat]:
    made = _classes.get(type_.spelling)
    if made is None:
        row = _vector(abi.Vector(type_.columns, type_.element))
        names = {"__slots__": (), "_kb_type_": type_, "_row_": row, "__module__": __name__}
        shape = ("mat%d%d" if max(type_.rows, type_.columns) < 10 else "mat%dx%d") % (type_.rows, type_.columns)
        made = type(shape + _suffix(type_.element), (Mat,), names)
        made = _classes.setdefault(type_.spelling, made)
        SEQUENCES.add(made)
    return made


def _again(spelling: str, items: Any) -> object:
    """A pickled value."""
    return class_of(abi.parse(spelling, {}))(*items)  # type: ignore[operator]


_VECTORS = tuple("vec%s%s" % (n, suffix) for n in "234" for suffix in ("", *_NAMED))
_MATRICES = tuple("mat%s%s%s" % (n, n, suffix) for n in "234" for suffix in ("", "h", "f", "d"))
_SCALAR_NAMES = tuple("bool_" if name == "bool" else name for name in abi.SCALARS)
_RIGID = tuple(
    head + suffix
    for head in ("quat", "transform", "spatial_vector", "spatial_matrix")
    for suffix in ("", "h", "f", "d")
)
__all__ = _SCALAR_NAMES + _VECTORS + _MATRICES + _RIGID


def __getattr__(name: str) -> object:
    """`vec3d`, `mat22` and their like, made at first use."""
    if name in _VECTORS:
        return _vector(abi.Vector(int(name[3]), _SUFFIXES[name[4:] or "f"]))
    if name in _MATRICES:
        return _matrix(abi.Matrix(int(name[3]), int(name[4]), _SUFFIXES[name[5:] or "f"]))
    if name in _RIGID:
        return _rigid(name)
    raise AttributeError("module %r has no attribute %r" % (__name__, name))


def _rigid(name: str) -> type:
    """`quatd`, `transform`, `spatial_vectorh`: a spatial vector is a vector of six, a spatial matrix 6 × 6."""
    suffix = name[-1] if name[-1] in "hfd" else "f"
    element = _SUFFIXES[suffix]
    if name.startswith("quat"):
        return _vector(abi.quaternion(element))
    if name.startswith("transform"):
        return _vector(abi.transformation(element))
    return _vector(abi.Vector(6, element)) if "vector" in name else _matrix(abi.Matrix(6, 6, element))
