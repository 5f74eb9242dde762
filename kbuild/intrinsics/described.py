"""What each function of the language takes and gives, for the documentation, the stubs and the tests: one line each.

    dot      yes   (a: Vec[Number], b: Vec[Number]) -> Number

`Float`, `Integer` and `Number` are sets of scalar types and, within one signature, one type; `Vec[Float]` is made of
it. `Vec` has any length (quaternions and transforms included), `Mat` any shape, `Square` as many rows as columns;
`Composite` is any of them, and one type throughout the signature. `Value` is any type, one throughout, `Any` any type
whatever the others are; `Type` is a type.

The word before the signatures says where the function has a derivative: `yes`, `no`, or `parts` (everywhere but at
isolated points, where a formula changes; what is taken there stands in a line `! …` below, or in the row). Rows have
signature and derivative of their own; a line here replaces them where the name takes more. The order of several
signatures is that of the functions behind them. What a function means stands in its docstring; forms, which have none,
say it in a line `# …`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

_TABLE = """
== Thread
tid               no     () -> Int32
    # The thread's position: `i = kb.tid()`, or as many numbers as `dim` has: `i, j = kb.tid()`. One: `kb.tid(0, 2)`.

== Blocks
thread_idx        no     () -> Int32
    # The thread's number in its block; `kb.thread_idx().x` along one axis.
block_idx         no     () -> Int32
    # The block's number in the grid; `.x`, `.y`, `.z` along one axis.
block_dim         no     () -> Int32
    # How many threads a block has; `.x`, `.y`, `.z` along one axis.
grid_dim          no     () -> Int32
    # How many blocks the grid has; `.x`, `.y`, `.z` along one axis.
grid_range        no     (stop: Integer) -> Any; (start: Integer, stop: Integer) -> Any; \
(start: Integer, stop: Integer, step: Integer) -> Any
    # The range shared out among the threads of the grid: `for i in kb.grid_range(n)`.
lane_id           no     () -> Int32
    # The thread's number in its warp, 0 to 31.
warp_id           no     () -> Int32
    # The warp's number in its block: that of the thread, over 32.
shared_array      no     (shape: Any, dtype: Type) -> Any
    # An array in the memory of the block, declared once: `tile = kb.shared_array((16, 17), float)`.
cluster_dim       no     () -> Int32
    # How many blocks a cluster has, as `@kb.kernel(cluster_dim=…)` says.
cluster_rank      no     () -> Int32
    # The block's number in its cluster.
cluster_array     no     (array: Any, rank: Int32) -> Any
    # An array in shared memory as another block of the cluster has it: `there = kb.cluster_array(tile, rank)`.
cluster_sync      no     () -> None
    # Waits until every thread of the cluster is here.
syncthreads       no     () -> None
    # Waits until every thread of the block is here.
syncwarp          no     (mask: Uint32 = 4294967295) -> None
    # Waits until every thread of the warp that the mask names is here.

== Warps
shfl              no     (value: Value, lane: Int32, width: int = 32) -> Value
shfl_up           no     (value: Value, delta: Int32, width: int = 32) -> Value
shfl_down         no     (value: Value, delta: Int32, width: int = 32) -> Value
shfl_xor          no     (value: Value, mask: Int32, width: int = 32) -> Value
ballot            no     (condition: Bool) -> Uint32
any               no     (condition: Bool) -> Bool
all               no     (condition: Bool) -> Bool
match_any         no     (value: Integer) -> Uint32

== Sums and scans of warps and blocks
warp_sum          yes    (value: Number) -> Number; (value: Composite[Number]) -> Composite[Number]
warp_min          no     (value: Number) -> Number; (value: Composite[Number]) -> Composite[Number]
warp_max          no     (value: Number) -> Number; (value: Composite[Number]) -> Composite[Number]
warp_scan_inclusive  no  (value: Number) -> Number; (value: Composite[Number]) -> Composite[Number]
warp_scan_exclusive  no  (value: Number) -> Number; (value: Composite[Number]) -> Composite[Number]
block_sum         yes    (value: Number) -> Number; (value: Composite[Number]) -> Composite[Number]
block_min         no     (value: Number) -> Number; (value: Composite[Number]) -> Composite[Number]
block_max         no     (value: Number) -> Number; (value: Composite[Number]) -> Composite[Number]
block_scan_inclusive  no  (value: Number) -> Number; (value: Composite[Number]) -> Composite[Number]
block_scan_exclusive  no  (value: Number) -> Number; (value: Composite[Number]) -> Composite[Number]

== Hints
assume            no     (condition: Bool) -> None
    # Tells the compiler that the condition holds here; launches, where they can, and the simulator are held against it.
load_readonly     yes    (array: Array[Value], *indices: Int32) -> Value
    # An element of an array that nobody stores to while the kernel runs, through the cache for such data.
load_streaming    yes    (array: Array[Value], *indices: Int32) -> Value
    # An element that is needed once: caches let go of it first.
store_streaming   yes    (array: Array[Value], *indices: Int32, value: Value) -> None
    # `array[indices] = value`, of what is not read again soon: caches let go of it first.

== Compile time
static            no     (expression: Value) -> Value
    # The value of a Python expression, computed while building; as a condition it removes a branch before typing.

== Printing
print             no     (*values: Any, sep: str = ' ', end: str = '\\n') -> None
    # Prints values of every type, also structs, tuples and constant texts. Python's own `print` means this.
printf            no     (format: str, *values: Any) -> None
    # Prints by a constant format, which is checked against the types.
expect_eq         no     (a: Value, b: Value) -> None
    # Prints both where they differ.
expect_neq        no     (a: Value, b: Value) -> None
    # Prints the value where both are equal.
expect_near       no     (a: Float, b: Float, tolerance: Float = 1e-06) -> None; \
(a: Composite[Float], b: Composite[Float], tolerance: Float = 1e-06) -> None
    # Prints both where an element differs by more, or is no number.

== Operators by name
add               yes    (a: Number, b: Number) -> Number; (a: Composite[Number], b: Composite[Number]) -> Composite[Number]
    # a + b.
sub               yes    (a: Number, b: Number) -> Number; (a: Composite[Number], b: Composite[Number]) -> Composite[Number]
    # a - b.
mul               yes    (a: Number, b: Number) -> Number; (a: Composite[Number], b: Number) -> Composite[Number]; \
(a: Number, b: Composite[Number]) -> Composite[Number]; (m: Mat[Number], v: Vec[Number]) -> Vec[Number]; \
(a: Mat[Number], b: Mat[Number]) -> Mat[Number]; (a: Quat[Float], b: Quat[Float]) -> Quat[Float]; \
(a: Transform[Float], b: Transform[Float]) -> Transform[Float]
    # a * b; of a matrix with a matrix or vector the matrix product.
div               yes    (a: Number, b: Number) -> Number; (a: Composite[Number], b: Number) -> Composite[Number]
    # a / b; of integers towards zero, and zero where b is zero.
floordiv          no     (a: Number, b: Number) -> Number
    # a // b: of floats the largest whole number not above the quotient; of integers as `div`.
mod               parts  (a: Number, b: Number) -> Number
    # a % b with the sign of a, as in C; of integers a where b is zero.
    ! as if the whole part of a / b stayed
neg               yes    (x: Number) -> Number; (x: Composite[Number]) -> Composite[Number]
    # -x.
pos               yes    (x: Number) -> Number; (x: Composite[Number]) -> Composite[Number]
    # x.
lshift            no     (a: Integer, b: Integer) -> Integer
    # a << b; zero where b is not below the width.
rshift            no     (a: Integer, b: Integer) -> Integer
    # a >> b; zero, or the sign, where b is not below the width.
bit_and           no     (a: Integer, b: Integer) -> Integer
    # a & b.
bit_or            no     (a: Integer, b: Integer) -> Integer
    # a | b.
bit_xor           no     (a: Integer, b: Integer) -> Integer
    # a ^ b.
invert            no     (x: Integer) -> Integer
    # ~x.
unot              no     (x: Bool) -> Bool
    # not x.
fma               yes    (a: Float, b: Float, c: Float) -> Float; \
(a: Composite[Float], b: Composite[Float], c: Composite[Float]) -> Composite[Float]; \
(a: Composite[Float], b: Float, c: Composite[Float]) -> Composite[Float]
    # a * b + c, rounded once, element by element (float32 and float64).
where             parts  (condition: Bool, then: Value, otherwise: Value) -> Value
    # One of two values; only the one that is taken is computed.
    ! that of the value taken; none in the condition
select            parts  (condition: Bool, otherwise: Value, then: Value) -> Value
    # `where` with its values turned round.
    ! that of the value taken; none in the condition

== Scalar mathematics
abs               parts  (x: Number) -> Number; (x: Composite[Number]) -> Composite[Number]
min               parts  (a: Number, b: Number, *more: Number) -> Number; \
(a: Composite[Number], b: Composite[Number], *more: Composite[Number]) -> Composite[Number]; (v: Vec[Number]) -> Number
max               parts  (a: Number, b: Number, *more: Number) -> Number; \
(a: Composite[Number], b: Composite[Number], *more: Composite[Number]) -> Composite[Number]; (v: Vec[Number]) -> Number
isnan             no     (x: Float) -> Bool; (x: Composite[Float]) -> Bool
isinf             no     (x: Float) -> Bool; (x: Composite[Float]) -> Bool
isfinite          no     (x: Float) -> Bool; (x: Composite[Float]) -> Bool
clamp             parts  (x: Number, low: Number, high: Number) -> Number
    ! that in x at low and high too
degrees           yes    (x: Float) -> Float
radians           yes    (x: Float) -> Float
frac              parts  (x: Float) -> Float
    ! 1 everywhere
lerp              yes    (a: Float, b: Float, t: Float) -> Float; \
(a: Composite[Float], b: Composite[Float], t: Float) -> Composite[Float]
nonzero           no     (x: Number) -> Number
sign              no     (x: Number) -> Number; (v: Composite[Number]) -> Composite[Number]
smoothstep        parts  (a: Float, b: Float, x: Float) -> Float
    ! 0 at a and b, as beyond them
step              no     (x: Number) -> Number

== Construction
vector            yes    (*values: Number, length: int = …, dtype: Type = …) -> Vec[Number]; (v: Vec[Number]) -> Vec[Number]
    # A vector of these numbers, or of `length` zeros or equal numbers.
matrix            yes    (*values: Number, shape: (int, int), dtype: Type = …) -> Mat[Number]
    # A matrix of these numbers, row by row, or of zeros or equal numbers.
matrix_from_rows  yes    (*rows: Vec[Number]) -> Mat[Number]
    # The matrix of these rows, vectors of one type.
matrix_from_cols  yes    (*columns: Vec[Number]) -> Mat[Number]
    # The matrix of these columns, vectors of one type.
identity          no     (n: int, dtype: Type) -> Square[Number]
    # The n × n matrix with ones on its diagonal.
quaternion        yes    (x: Float, y: Float, z: Float, w: Float, *, dtype: Type = …) -> Quat[Float]; \
(axis: Vec3[Float], w: Float, *, dtype: Type = …) -> Quat[Float]; (*, dtype: Type = …) -> Quat[Float]
    # A quaternion of its four numbers, of the first three as a vector and the last, or of zeros.
quat_identity     no     (dtype: Type = …) -> Quat[Float]
    # No rotation.
transformation    yes    (p: Vec3[Float], q: Quat[Float], *, dtype: Type = …) -> Transform[Float]; \
(*values: Float, dtype: Type = …) -> Transform[Float]
    # A rigid motion of a position and a rotation, or of its seven numbers.
transform_identity  no   (dtype: Type = …) -> Transform[Float]
    # No motion.

== Vectors and matrices
cross             yes    (a: Vec3[Number], b: Vec3[Number]) -> Vec3[Number]
cw_div            yes    (a: Composite[Number], b: Composite[Number]) -> Composite[Number]
    # The quotients, element by element.
cw_mul            yes    (a: Composite[Number], b: Composite[Number]) -> Composite[Number]
    # The products, element by element.
ddot              yes    (a: Mat[Number], b: Mat[Number]) -> Number
determinant       yes    (m: Mat22[Float]) -> Float; (m: Mat33[Float]) -> Float; (m: Mat44[Float]) -> Float
diag              yes    (v: Vec[Number]) -> Square[Number]
    # The square matrix with the vector on its diagonal and zeros elsewhere.
dot               yes    (a: Vec[Number], b: Vec[Number]) -> Number
get_diag          yes    (m: Square[Number]) -> Vec[Number]
inverse           parts  (m: Mat22[Float]) -> Mat22[Float]; (m: Mat33[Float]) -> Mat33[Float]; \
(m: Mat44[Float]) -> Mat44[Float]
    ! 0 for a singular matrix
length            parts  (v: Vec[Float]) -> Float
    ! 0 at zero
length_sq         yes    (v: Vec[Number]) -> Number
norm_huber        yes    (v: Vec[Float], delta: Float = 1.0) -> Float
norm_l1           parts  (v: Vec[Number]) -> Number
    ! 0 in an element that is 0
norm_l2           parts  (v: Vec[Float]) -> Float
    ! 0 at zero
norm_pseudo_huber yes    (v: Vec[Float], delta: Float = 1.0) -> Float
normalize         parts  (v: Vec[Float]) -> Vec[Float]
    ! 0 at zero
outer             yes    (a: Vec[Number], b: Vec[Number]) -> Mat[Number]
    # The matrix of every element of a times every element of b.
skew              yes    (v: Vec3[Number]) -> Mat33[Number]
    # The matrix that multiplies like `cross(v, …)`.
smooth_normalize  yes    (v: Vec[Float], delta: Float = 1.0) -> Vec[Float]
trace             yes    (m: Square[Number]) -> Number
transpose         yes    (m: Mat[Number]) -> Mat[Number]
argmax            no     (v: Vec[Number]) -> Uint32
argmin            no     (v: Vec[Number]) -> Uint32
closest_point_edge_edge  parts  (p1: vec3, q1: vec3, p2: vec3, q2: vec3, epsilon: Float32) -> vec3
    ! that of the formula taken

== Decompositions
eig3              parts  (A: Mat33[Float]) -> (Mat33[Float], Vec3[Float])
    ! of equal eigenvalues the eigenvectors do not turn into each other
qr3               parts  (A: Mat33[Float]) -> (Mat33[Float], Mat33[Float])
    ! 0 in columns that depend on those before them, but for the last
svd2              parts  (A: Mat22[Float]) -> (Mat22[Float], Vec2[Float], Mat22[Float])
    ! of equal singular values U and V do not turn together
svd3              parts  (A: Mat33[Float]) -> (Mat33[Float], Vec3[Float], Mat33[Float])
    ! of equal singular values U and V do not turn together

== Quaternions
quat_from_axis_angle  parts  (axis: Vec3[Float], angle: Float) -> Quat[Float]
    ! 0 in an axis of zero
quat_from_euler   yes    (e: Vec3[Float], i: Int32, j: Int32, k: Int32) -> Quat[Float]
quat_from_matrix  parts  (m: Mat33[Float]) -> Quat[Float]; (m: Mat44[Float]) -> Quat[Float]
    ! that of the formula taken
quat_inverse      yes    (q: Quat[Float]) -> Quat[Float]
quat_rotate       yes    (q: Quat[Float], v: Vec3[Float]) -> Vec3[Float]
quat_rotate_inv   yes    (q: Quat[Float], v: Vec3[Float]) -> Vec3[Float]
quat_rpy          yes    (roll: Float, pitch: Float, yaw: Float) -> Quat[Float]
quat_between_vectors  parts  (a: Vec3[Float], b: Vec3[Float]) -> Quat[Float]
    ! 0 between opposite directions
quat_slerp        parts  (a: Quat[Float], b: Quat[Float], t: Float) -> Quat[Float]
    ! half a turn apart, that of the way taken
quat_to_axis_angle  parts  (q: Quat[Float]) -> (Vec3[Float], Float)
    ! 0 where q is no rotation
quat_to_euler     parts  (q: Quat[Float], i: Int32, j: Int32, k: Int32) -> Vec3[Float]
    ! 0 in what is not determined, at ± pi/2
quat_to_matrix    yes    (q: Quat[Float]) -> Mat33[Float]
quat_to_rpy       parts  (q: Quat[Float]) -> Vec3[Float]
    ! 0 in what is not determined, at ± pi/2
quat_twist        parts  (axis: Vec3[Float], q: Quat[Float]) -> Quat[Float]
    ! 0 where there is no twist to be told
quat_twist_angle  parts  (axis: Vec3[Float], q: Quat[Float]) -> Float
    ! 0 at 0
quat_twist_angle_signed  parts  (axis: Vec3[Float], q: Quat[Float]) -> Float
    ! 0 where axis and q are zero

== Transforms
transform_compose  yes   (position: Vec3[Float], rotation: Quat[Float], scale: Vec3[Float]) -> Mat44[Float]
transform_decompose  parts  (m: Mat44[Float]) -> (Vec3[Float], Quat[Float], Vec3[Float])
    ! 0 in a column of zero
transform_from_matrix  parts  (m: Mat44[Float]) -> Transform[Float]
    ! that of the formula taken
transform_get_rotation  yes  (t: Transform[Float]) -> Quat[Float]
transform_get_translation  yes  (t: Transform[Float]) -> Vec3[Float]
transform_inverse  yes   (t: Transform[Float]) -> Transform[Float]
transform_multiply  yes  (a: Transform[Float], b: Transform[Float]) -> Transform[Float]
transform_point   yes    (t: Transform[Float], x: Vec3[Float]) -> Vec3[Float]; (m: Mat44[Float], x: Vec3[Float]) -> Vec3[Float]
transform_to_matrix  yes  (t: Transform[Float]) -> Mat44[Float]
transform_vector  yes    (t: Transform[Float], v: Vec3[Float]) -> Vec3[Float]; (m: Mat44[Float], v: Vec3[Float]) -> Vec3[Float]

== Spatial vectors
spatial_adjoint   yes    (r: Mat33[Float], s: Mat33[Float]) -> Mat66[Float]
spatial_bottom    yes    (s: Vec6[Float]) -> Vec3[Float]
spatial_cross     yes    (a: Vec6[Float], b: Vec6[Float]) -> Vec6[Float]
spatial_cross_dual  yes  (a: Vec6[Float], b: Vec6[Float]) -> Vec6[Float]
spatial_dot       yes    (a: Vec6[Float], b: Vec6[Float]) -> Float
spatial_top       yes    (s: Vec6[Float]) -> Vec3[Float]
transform_twist   yes    (t: Transform[Float], x: Vec6[Float]) -> Vec6[Float]
transform_wrench  yes    (t: Transform[Float], x: Vec6[Float]) -> Vec6[Float]
velocity_at_point  yes   (twist: Vec6[Float], r: Vec3[Float]) -> Vec3[Float]

== Random numbers
rand_init         no     (seed: Int32) -> Uint32; (seed: Int32, offset: Int32) -> Uint32
randi             no     (state: Uint32) -> Int32; (state: Uint32, low: Int32, high: Int32) -> Int32
randu             no     (state: Uint32) -> Uint32; (state: Uint32, low: Uint32, high: Uint32) -> Uint32
randf             yes    (state: Uint32) -> Float32; (state: Uint32, low: Float32, high: Float32) -> Float32
randn             no     (state: Uint32) -> Float32
poisson           no     (state: Uint32, lam: Float32) -> Uint32
sample_cdf        no     (state: Uint32, cdf: Array[Float32]) -> Int32
sample_triangle   no     (state: Uint32) -> vec2
sample_unit_cube  no     (state: Uint32) -> vec3
sample_unit_disk  no     (state: Uint32) -> vec2
sample_unit_hemisphere  no  (state: Uint32) -> vec3
sample_unit_hemisphere_surface  no  (state: Uint32) -> vec3
sample_unit_ring  no     (state: Uint32) -> vec2
sample_unit_sphere  no   (state: Uint32) -> vec3
sample_unit_sphere_surface  no  (state: Uint32) -> vec3
sample_unit_square  no   (state: Uint32) -> vec2

== Noise
noise             yes    (state: Uint32, x: Float32) -> Float32; (state: Uint32, xy: vec2) -> Float32; \
(state: Uint32, xyz: vec3) -> Float32; (state: Uint32, xyzt: vec4) -> Float32
pnoise            yes    (state: Uint32, x: Float32, px: Int32) -> Float32; \
(state: Uint32, xy: vec2, px: Int32, py: Int32) -> Float32; \
(state: Uint32, xyz: vec3, px: Int32, py: Int32, pz: Int32) -> Float32; \
(state: Uint32, xyzt: vec4, px: Int32, py: Int32, pz: Int32, pt: Int32) -> Float32
curlnoise         yes    \
(state: Uint32, xy: vec2, octaves: Uint32 = 1, lacunarity: Float32 = 2.0, gain: Float32 = 0.5) -> vec2; \
(state: Uint32, xyz: vec3, octaves: Uint32 = 1, lacunarity: Float32 = 2.0, gain: Float32 = 0.5) -> vec3; \
(state: Uint32, xyzt: vec4, octaves: Uint32 = 1, lacunarity: Float32 = 2.0, gain: Float32 = 0.5) -> vec3

== Atomic operations
atomic_add        yes    (array: Array[Number], *indices: Int32, value: Number, *, order: str = 'relaxed', scope: str = 'device') -> Number
atomic_sub        yes    (array: Array[Number], *indices: Int32, value: Number, *, order: str = 'relaxed', scope: str = 'device') -> Number
atomic_min        parts  (array: Array[Number], *indices: Int32, value: Number, *, order: str = 'relaxed', scope: str = 'device') -> Number
    ! the one value that is there after the launch gets all; of equal ones any
atomic_max        parts  (array: Array[Number], *indices: Int32, value: Number, *, order: str = 'relaxed', scope: str = 'device') -> Number
    ! the one value that is there after the launch gets all; of equal ones any
atomic_and        no     (array: Array[Integer], *indices: Int32, value: Integer, *, order: str = 'relaxed', scope: str = 'device') -> Integer
atomic_or         no     (array: Array[Integer], *indices: Int32, value: Integer, *, order: str = 'relaxed', scope: str = 'device') -> Integer
atomic_xor        no     (array: Array[Integer], *indices: Int32, value: Integer, *, order: str = 'relaxed', scope: str = 'device') -> Integer
atomic_exch       no     (array: Array[Number], *indices: Int32, value: Number, *, order: str = 'relaxed', scope: str = 'device') -> Number
atomic_cas        no     (array: Array[Number], *indices: Int32, compare: Number, value: Number, *, order: str = 'relaxed', scope: str = 'device') -> Number

== Searching
lower_bound       no     (arr: Array[Number], value: Number) -> Int32; \
(arr: Array[Number], arr_begin: Int32, arr_end: Int32, value: Number) -> Int32
"""  # noqa: E501


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a signature; `name` keeps its stars, and a lone `*` has no word."""

    name: str
    word: str
    default: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.word}{f' = {self.default}' if self.default else ''}" if self.word else self.name


@dataclass(frozen=True, slots=True)
class Described:
    """A signature in words: parameters and results."""

    parameters: tuple[Parameter, ...]
    results: tuple[str, ...]

    def __str__(self) -> str:
        result = self.results[0] if len(self.results) == 1 else f"({', '.join(self.results)})"
        return f"({', '.join(map(str, self.parameters))}) -> {result}"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table. `doc` is empty for functions that have a docstring, `subgradient` where the row has it."""

    name: str
    group: str
    derivative: str
    signatures: tuple[Described, ...]
    doc: str
    subgradient: str = ""


def parse(text: str) -> Described:
    """`(a: Vec[Float], t: Float = 1.0) -> (Float, Float)` as its parts."""
    match = re.fullmatch(r"\((.*)\) -> (\(.*\)|\S+)", text.strip())
    assert match, text
    results = match[2].strip("()").split(", ") if match[2].startswith("(") else [match[2]]
    return Described(tuple(_parameter(part) for part in _split(match[1])), tuple(results))


def _split(text: str) -> list[str]:
    """Parts between the commas that stand outside parentheses."""
    return [part for part in re.split(r", (?![^(]*\))", text) if part]


def _parameter(text: str) -> Parameter:
    name, _, rest = text.partition(": ")
    word, _, default = rest.partition(" = ")
    return Parameter(name, word, default)


def _read(table: str) -> dict[str, Line]:
    lines: dict[str, Line] = {}
    group = name = ""
    for text in table.splitlines():
        if text.startswith("== "):
            group = text[3:]
        elif text.startswith("    # "):
            lines[name] = replace(lines[name], doc=text[6:])
        elif text.startswith("    ! "):
            lines[name] = replace(lines[name], subgradient=text[6:])
        elif text:
            name, derivative, signatures = text.split(maxsplit=2)
            assert name not in lines, name
            lines[name] = Line(name, group, derivative, tuple(map(parse, signatures.split("; "))), "")
    return lines


LINES: dict[str, Line] = _read(_TABLE)
