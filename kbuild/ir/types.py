"""Types of IR expressions: the layouts of `loader.abi`, and those that never leave a kernel (tuples, nothing, arrays in
shared, distributed shared and constant memory)."""

from __future__ import annotations

import math

from kbuild.loader.abi import (
    BOOL,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    SCALARS,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    Array,
    Field,
    IndexedArray,
    Matrix,
    Scalar,
    Struct,
    Type,
    Vector,
    align_up,
    quaternion,
    transformation,
)

DYNAMIC = 0  # an extent that the launch gives
WORD = 4  # bytes that the hardware compares and swaps at least

__all__ = [
    "BOOL",
    "FLOAT16",
    "FLOAT32",
    "FLOAT64",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "SCALARS",
    "UINT8",
    "UINT16",
    "UINT32",
    "UINT64",
    "VOID",
    "Array",
    "Constant",
    "Distributed",
    "Field",
    "Fixed",
    "IndexedArray",
    "Matrix",
    "Scalar",
    "Shared",
    "Struct",
    "Tuple",
    "Type",
    "Vector",
    "element_of",
    "field_of",
    "is_composite",
    "is_float",
    "is_integer",
    "is_number",
    "quaternion",
    "structs_in",
    "transformation",
    "word_of",
]

_WORDS = (16, 8, 4, 2)  # what one instruction moves
_LARGEST_IN_WORDS = 64  # bytes of an element that is worth it: four words


class Tuple(Type):
    """Several results of one call."""

    __slots__ = ("items",)

    def __init__(self, items: tuple[Type, ...]) -> None:
        self.items = items
        self.spelling = f"tuple[{', '.join(t.spelling for t in items)}]"
        self.size = self.align = 0


class Fixed(Array):
    """An array whose extents are constants and whose elements are row-major. No launch can give one."""

    __slots__ = ("shape",)
    place = ""

    def __init__(self, element: Type, shape: tuple[int, ...]) -> None:
        super().__init__(element, len(shape))
        self.shape = shape
        extents = ", ".join("?" if extent == DYNAMIC else str(extent) for extent in shape)
        self.spelling = f"{self.place}[{element.spelling}, {extents}]"
        self.size = self.align = 0

    @property
    def is_dynamic(self) -> bool:
        """How many rows it has is known at the launch."""
        return self.shape[0] == DYNAMIC

    @property
    def row(self) -> int:
        """Bytes of what is left at one index."""
        return math.prod(self.shape[1:]) * self.element.size

    @property
    def bytes(self) -> int:
        """What its elements take."""
        return math.prod(self.shape) * self.element.size


class Shared(Fixed):
    """An array in the memory that the threads of a block share.

    The first extent may be `DYNAMIC`: as many rows as fit into the bytes that the launch gives.
    """

    __slots__ = ()
    place = "shared"

    @property
    def bytes(self) -> int:
        """What its elements take, in whole words: atomics on narrow ones work on the word around. 0 where the launch
        says how many there are."""
        return align_up(math.prod(self.shape) * self.element.size, WORD)

    @property
    def alignment(self) -> int:
        """Where it may begin: an element, what its elements are loaded in, and a word."""
        return max(self.element.align, word_of(self.element), WORD)


class Distributed(Fixed):
    """An array in the shared memory of another block of the cluster."""

    __slots__ = ()
    place = "distributed"


class Constant(Fixed):
    """A table in constant memory, or a part of one: its elements are part of the machine code and never change."""

    __slots__ = ()
    place = "constant"


class Void(Type):
    """The result of a function that returns nothing."""

    __slots__ = ()

    def __init__(self) -> None:
        self.spelling, self.size, self.align = "void", 0, 1


VOID = Void()


def is_float(type: Type) -> bool:
    """A floating-point scalar."""
    return isinstance(type, Scalar) and type.kind == "float"


def is_integer(type: Type) -> bool:
    """An integer scalar, signed or not; bool is none."""
    return isinstance(type, Scalar) and type.kind in ("int", "uint")


def is_number(type: Type) -> bool:
    """A scalar that arithmetic works on."""
    return is_float(type) or is_integer(type)


def is_composite(type: Type) -> bool:
    """A vector or a matrix: arithmetic goes element by element."""
    return isinstance(type, (Vector, Matrix))


def element_of(type: Type) -> Type:
    """The scalar inside a vector or matrix; a scalar is its own element."""
    return type.element if isinstance(type, (Vector, Matrix)) else type


def word_of(type: Type) -> int:
    """Bytes of the words that an element of an array is loaded and stored in where it is aligned to them: a vector of
    four floats as one of 16. 0 where words are no larger than its numbers."""
    if not isinstance(type, (Vector, Matrix)) or type.size > _LARGEST_IN_WORDS:
        return 0
    return next((size for size in _WORDS if type.size % size == 0 and size > type.align), 0)


def field_of(struct: Struct, name: str) -> Field | None:
    """The field of that name, or None."""
    return next((f for f in struct.fields if f.name == name), None)


def structs_in(type: Type) -> list[Struct]:
    """Every struct that a type contains, inner ones first."""
    if isinstance(type, Array):
        return structs_in(type.element)
    if isinstance(type, Struct):
        inner = [s for f in type.fields for s in structs_in(f.type)]
        return [*inner, type]
    return []
