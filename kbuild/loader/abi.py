"""The layout of every value that crosses from the host to a kernel: the one definition, for build and run time.

A type is an immutable object with a size, an alignment and a spelling that can be parsed back:

    float32                      scalars: bool int8…int64 uint8…uint64 float16 float32 float64
    vec3[float32]                `length` scalars, aligned like one scalar
    quat[float32]                a quaternion: the vector (x, y, z, w) with a product of its own
    transform[float32]           a rigid motion: the vector of a position and a quaternion (7 scalars)
    mat3x3[float32]              row-major, aligned like one scalar
    array2[float32]              a descriptor: address, then `ndim` extents, then `ndim` strides in bytes (int32)
    indexedarray2[float32]       an array seen through index arrays; see `IndexedArray`
    flat2[float32]               the address alone of an array without gaps, as C has it; see `Flat`
    struct:robosim.kernels:Spring    fields in order, each at its natural alignment, as C lays them out

Two types are equal when their spellings are; a struct's spelling names it, its fields are in the manifest's table.
Runs on Python 3.8 with the standard library, on the way of every start: no dataclasses, no typing at run time.
"""

from __future__ import annotations

MAX_ARRAY_DIMENSIONS = 4

# What new memory on the device `sim` holds until something is assigned: as a float a NaN, which no arithmetic makes.
UNASSIGNED = b"\xad\xdb\xba\x7f"


class Type:
    """Base of all types; instances compare and hash by spelling."""

    __slots__ = ("align", "size", "spelling")

    spelling: str
    size: int
    align: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Type) and self.spelling == other.spelling

    def __hash__(self) -> int:
        return hash(self.spelling)

    def __repr__(self) -> str:
        return self.spelling


class Scalar(Type):
    """A number. `code` is its letter in the `struct` module, `kind` one of bool, int, uint, float."""

    __slots__ = ("code", "kind")

    def __init__(self, spelling: str, size: int, code: str, kind: str) -> None:
        self.spelling, self.size, self.align, self.code, self.kind = spelling, size, size, code, kind


BOOL = Scalar("bool", 1, "?", "bool")
INT8 = Scalar("int8", 1, "b", "int")
INT16 = Scalar("int16", 2, "h", "int")
INT32 = Scalar("int32", 4, "i", "int")
INT64 = Scalar("int64", 8, "q", "int")
UINT8 = Scalar("uint8", 1, "B", "uint")
UINT16 = Scalar("uint16", 2, "H", "uint")
UINT32 = Scalar("uint32", 4, "I", "uint")
UINT64 = Scalar("uint64", 8, "Q", "uint")
FLOAT16 = Scalar("float16", 2, "e", "float")
FLOAT32 = Scalar("float32", 4, "f", "float")
FLOAT64 = Scalar("float64", 8, "d", "float")

SCALARS = {
    t.spelling: t for t in (BOOL, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FLOAT16, FLOAT32, FLOAT64)
}


class Vector(Type):
    """`length` scalars side by side. `kind` is vec, or quat or transform: the same memory with another product."""

    __slots__ = ("element", "kind", "length")

    def __init__(self, length: int, element: Scalar, kind: str = "vec") -> None:
        self.length, self.element, self.kind = length, element, kind
        self.size, self.align = length * element.size, element.align
        self.spelling = "%s[%s]" % ("vec%d" % length if kind == "vec" else kind, element.spelling)


def quaternion(element: Scalar) -> Vector:
    """x, y, z, w."""
    return Vector(4, element, "quat")


def transformation(element: Scalar) -> Vector:
    """A position and the quaternion of a rotation, which comes first when a point is moved."""
    return Vector(7, element, "transform")


_KINDS = {"quat": quaternion, "transform": transformation}


class Matrix(Type):
    """`rows` × `columns` scalars, row-major."""

    __slots__ = ("columns", "element", "rows")

    def __init__(self, rows: int, columns: int, element: Scalar) -> None:
        self.rows, self.columns, self.element = rows, columns, element
        self.size, self.align = rows * columns * element.size, element.align
        self.spelling = "mat%dx%d[%s]" % (rows, columns, element.spelling)


class Array(Type):
    """Descriptor of a strided array in device memory: `u64 address; i32 shape[ndim]; i32 strides_in_bytes[ndim]`."""

    __slots__ = ("element", "ndim")

    def __init__(self, element: Type, ndim: int) -> None:
        self.element, self.ndim = element, ndim
        self.size, self.align = 8 + 8 * ndim, 8
        self.spelling = "array%d[%s]" % (ndim, element.spelling)


class IndexedArray(Array):
    """Descriptor of an array seen through index arrays: element (i, j) is `data[index[0][i], index[1][j]]`.

    `array[ndim]; u64 index[ndim]; i32 shape[ndim]`, filled up to a multiple of 8: the descriptor of the array that has
    the elements, for each axis the address of int32 positions side by side (0: the axis is plain), and the extents that
    a kernel sees. Every part lies at its natural alignment. No `Array` may be given for one, nor one for an `Array`.
    """

    __slots__ = ()

    def __init__(self, element: Type, ndim: int) -> None:
        super().__init__(element, ndim)
        self.size = align_up(self.size + 12 * ndim, 8)
        self.spelling = "indexed" + self.spelling


class Flat(Array):
    """The address of an array whose elements lie side by side in row-major order: `float *` in CUDA C++.

    What is given for one is an array with as many dimensions; its extents are other parameters of the kernel.
    """

    __slots__ = ()

    def __init__(self, element: Type, ndim: int) -> None:
        super().__init__(element, ndim)
        self.size = 8
        self.spelling = "flat%d[%s]" % (ndim, element.spelling)

    @property
    def given(self) -> Array:
        """The type of the arrays that may be given."""
        return Array(self.element, self.ndim)


_ARRAYS = {"array": Array, "indexedarray": IndexedArray, "flat": Flat}


class Field:
    """One field of a struct."""

    __slots__ = ("name", "offset", "type")

    def __init__(self, name: str, type: Type, offset: int) -> None:
        self.name, self.type, self.offset = name, type, offset


class Struct(Type):
    """A record; `name` is `module:qualname` of the Python class."""

    __slots__ = ("fields", "name")

    def __init__(self, name: str, fields: list[tuple[str, Type]]) -> None:
        self.name = name
        self.spelling = "struct:" + name
        offset, align, laid_out = 0, 1, []
        for field_name, type in fields:
            offset = align_up(offset, type.align)
            laid_out.append(Field(field_name, type, offset))
            offset += type.size
            align = max(align, type.align)
        self.fields = tuple(laid_out)
        self.align = align
        self.size = max(align_up(offset, align), 1)

    def to_json(self) -> dict[str, object]:
        """The struct's row in the manifest: `{"size", "align", "fields": [[name, type, offset], …]}`."""
        rows = [[f.name, f.type.spelling, f.offset] for f in self.fields]
        return {"size": self.size, "align": self.align, "fields": rows}


def align_up(offset: int, align: int) -> int:
    """The next multiple of `align` at or after `offset`."""
    return (offset + align - 1) // align * align


def parse(spelling: str, structs: dict[str, Struct]) -> Type:
    """The type of a spelling. `structs` maps struct names to types. Raises ValueError with the spelling in it."""
    scalar = SCALARS.get(spelling)
    if scalar is not None:
        return scalar
    if spelling.startswith("struct:"):
        struct = structs.get(spelling[7:])
        if struct is not None:
            return struct
    elif spelling.endswith("]"):
        head, _, inner = spelling[:-1].partition("[")
        composite = _parse_composite(head, inner, structs)
        if composite is not None and composite.spelling == spelling:
            return composite
    raise ValueError("unknown type %r" % spelling)


def _parse_composite(head: str, inner: str, structs: dict[str, Struct]) -> Type | None:
    array = _ARRAYS.get(head[:-1])
    if array is not None and head[-1] in "1234":
        return array(parse(inner, structs), int(head[-1]))
    element = SCALARS.get(inner)
    if element is None:
        return None
    if head.startswith("vec") and _is_count(head[3:]):
        return Vector(int(head[3:]), element)
    if head in _KINDS and element.kind == "float":
        return _KINDS[head](element)
    rows, cross, columns = head[3:].partition("x")
    if head.startswith("mat") and cross and _is_count(rows) and _is_count(columns):
        return Matrix(int(rows), int(columns), element)
    return None


def _is_count(text: str) -> bool:
    return 0 < len(text) <= 4 and text.isascii() and text.isdigit() and text[0] != "0"
