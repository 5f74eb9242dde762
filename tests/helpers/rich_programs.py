"""Random kernels out of everything that the language has: vectors, matrices, quaternions, transforms, structs,
functions with one and several results, views, slices, atomics, loops of all kinds. They are right: each expression is
made for the type that its place wants. What they compute is nobody's business (`random_programs` has a reference).

    make(seed, 20) → the text of a module after `import kbuild as kb`
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

HEAD = """\
import math

five = kb.types.vector(length=5, dtype=kb.float32)
wide = kb.types.matrix(shape=(2, 3), dtype=kb.float32)
OFFSET = 3
SCALE = 0.1
PAIR = (2, 1.5)
AXIS = kb.vec3(0.0, 0.0, 1.0)
T_FLOAT32 = kb.constant([[0.1, -2.0], [0.0, 1e20], [3.5, -0.0], [1.0, 7.0]])
T_INT64 = kb.constant([1 << 40, -1, 0, 7], dtype=kb.int64)
T_VEC3 = kb.constant([kb.vec3(float(i), 0.5, -1.0) for i in range(4)])

@kb.struct
class Body:
    mass: kb.float32
    index: kb.int32
    place: kb.transform
    spin: kb.vec3
    inertia: kb.mat33

@kb.struct
class Pair:
    first: Body
    weight: kb.float64
    flags: kb.array(dtype=kb.uint8)

"""
INTEGERS = ("int32", "uint8", "int64")
FLOATS = ("float32", "float64", "float16")
NUMBERS = (*INTEGERS, *FLOATS)
VECTORS = {"vec3": 3, "vec2": 2, "five": 5}
MATRICES = {"mat33": (3, 3), "mat22": (2, 2), "wide": (2, 3)}
COMPOSITES = (*VECTORS, *MATRICES, "quat", "transform")
TYPES = ("bool", *NUMBERS, *COMPOSITES, "Body")
# Arrays of every kernel: name, element, dimensions.
ARRAYS = (
    *((f"a_{kind}", kind, 1) for kind in NUMBERS),
    ("a_vec3", "vec3", 1),
    ("a_mat22", "mat22", 1),
    ("a_five", "five", 1),
    ("a_body", "Body", 1),
    ("b_int32", "int32", 2),
    ("b_float32", "float32", 3),
    ("b_vec3", "vec3", 2),
)
# Tables of constants: four elements, those of float32 in pairs.
TABLES = {"float32": "T_FLOAT32", "int64": "T_INT64", "vec3": "T_VEC3"}
CALLED = ("five", "wide", "Body")


def spelled(kind: str) -> str:
    """A type in source text."""
    return kind if kind in CALLED else "kb.bool_" if kind == "bool" else f"kb.{kind}"


def make(seed: int, count: int = 10) -> str:
    """A module's text."""
    source = random.Random(seed)
    functions = [Function(source, f"helper_{number}") for number in range(4)]
    texts = [HEAD, *(function.text() for function in functions)]
    known = {kind: [f for f in functions if f.results == (kind,)] for kind in TYPES}
    several = [f for f in functions if len(f.results) > 1]
    texts += [Kernel(source, f"rich_{number}", known, several).text() for number in range(count)]
    return "\n".join(texts)


class Expressions:
    """Expressions of wanted types over the variables `self.variables[type]`."""

    def __init__(self, source: random.Random) -> None:
        self.random = source
        self.variables: dict[str, list[str]] = {kind: [] for kind in TYPES}
        self.functions: dict[str, list[Function]] = {}
        self.arrays: tuple[tuple[str, str, int], ...] = ()

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def chance(self, likelihood: float) -> bool:
        return self.random.random() < likelihood

    def of(self, kind: str, depth: int) -> str:
        """An expression of a type."""
        ways: list[Callable[[str, int], str]] = [self.leaf]
        if depth > 0:
            ways += [self.selected, self.called, self.loaded]
            family = "bool" if kind == "bool" else "number" if kind in NUMBERS else "made"
            ways += [getattr(self, family)] * 4
        return self.random.choice(ways)(kind, depth - 1)

    def leaf(self, kind: str, depth: int) -> str:
        if self.variables[kind] and self.chance(0.8):
            return self.random.choice(self.variables[kind])
        return self.literal(kind)

    def literal(self, kind: str) -> str:
        match kind:
            case "bool":
                return self.pick("True", "False")
            case "float32":
                return self.pick(
                    "kb.float32(0.5)", "kb.float32(-0.0)", "float(OFFSET)", "kb.float32(math.inf)", "float(SCALE)"
                )
            case "float64" | "float16":
                return f"kb.{kind}({self.pick('0.1', '-1.5', '0', 'SCALE', 'math.nan', 'PAIR[1]')})"
            case "Body":
                return self.pick("Body()", "Body(mass=1.0)", "Body(2.0, 3, kb.transform(), AXIS)")
            case "quat" | "transform":
                return self.pick(f"kb.{kind}_identity()", f"kb.{kind}()")
            case "vec3":
                return self.pick("AXIS", "kb.vec3(1.0, 2.0, 3.0)", "kb.vec3(0.5)", "kb.vec3()")
        if kind in INTEGERS:
            return f"kb.{kind}({self.pick('0', '1', '7', 'OFFSET', 'PAIR[0]')})"
        return f"{spelled(kind)}({self.pick('0.0', '1.5', '')})"

    def index(self, depth: int) -> str:
        """An index that is never negative."""
        return self.pick("0", "1", "i", "abs(" + self.of("int32", min(depth, 1)) + ") % 4", "kb.int64(2)")

    # Ways for every type

    def selected(self, kind: str, depth: int) -> str:
        a, b, c = self.of(kind, depth), self.of(kind, depth), self.of("bool", depth)
        return self.pick(f"({a} if {c} else {b})", f"kb.where({c}, {a}, {b})", f"kb.select({c}, {b}, {a})")

    def called(self, kind: str, depth: int) -> str:
        known = self.functions.get(kind)
        if not known:
            return self.leaf(kind, depth)
        function = self.random.choice(known)
        return f"{function.name}({', '.join(self.of(p, depth) for p in function.parameters)})"

    def loaded(self, kind: str, depth: int) -> str:
        """An element of an array, also through a view."""
        fitting = [(name, ndim) for name, element, ndim in self.arrays if element == kind]
        if not fitting:
            return self.leaf(kind, depth)
        if kind in TABLES and self.chance(0.3):
            last = f", ({self.index(depth)}) & 1" if kind == "float32" else ""
            return f"{TABLES[kind]}[({self.index(depth)}) & 3{last}]"
        name, ndim = self.random.choice(fitting)
        indices = [self.index(depth) for _ in range(ndim)]
        if ndim > 1 and self.chance(0.4):
            return f"{name}[{indices[0]}][{', '.join(indices[1:])}]"
        return f"{name}[{', '.join(indices)}]"

    # Truth values and numbers

    def bool(self, kind: str, depth: int) -> str:
        number = self.random.choice(NUMBERS)
        a, b = self.of(number, depth), self.of(number, depth)
        p, q = (self.of("bool", depth) for _ in range(2))
        sign, other = self.pick("<", "<=", "==", "!=", ">"), self.pick("<", ">=")
        return self.pick(
            f"({a} {sign} {b})",
            f"({a} {sign} {b} {other} {self.of(number, depth)})",
            f"({p} and {q})",
            f"({p} or {q} or {self.of('bool', depth)})",
            f"(not {p})",
            f"kb.bool_({a})",
            self.pick(
                "(not pair.flags)", "(a_vec3 is not None)", "(a_body is None)", f"({self.of('vec3', depth)} == AXIS)"
            ),
            f"kb.isnan({self.of('float32', depth)})",
            f"({p} == {q})",
        )

    def number(self, kind: str, depth: int) -> str:
        a, b = self.of(kind, depth), self.of(kind, depth)
        other = self.random.choice([*NUMBERS, "bool"])
        ways = [f"({a} {self.pick('+', '-', '*', '/', '//', '%')} {b})"] * 3
        ways += [
            f"(-{a})",
            f"kb.{kind}({self.of(other, depth)})",
            f"kb.{self.pick('min', 'max')}({a}, {b})",
            f"({a} + {self.pick('1', '3')})",
        ]
        ways += [f"abs({a})", f"({a} - {b} * {self.of(kind, depth)})", f"(2 * {a})"]
        if kind in INTEGERS:
            ways += [f"({a} {self.pick('<<', '>>', '&', '|', '^')} {b})", f"(~{a})", f"kb.clamp({a}, 0, 9)"]
        if kind == "int32":
            ways += [
                "i",
                "kb.thread_idx().x + kb.block_dim()",
                f"{self.body(depth)}.index",
                "a_body.shape[0]",
                "b_float32.shape[2]",
                "b_vec3[i].shape[0]",
                "len(a_vec3)",
            ]
        if kind in ("float32", "float64"):
            ways += [f"kb.{self.pick('sqrt', 'sin', 'floor', 'exp')}({a})", f"kb.fma({a}, {b}, {self.of(kind, depth)})"]
            ways += [f"({a} ** {b})", f"kb.lerp({a}, {b}, {self.of(kind, depth)})"]
        if kind == "float32":
            ways += [self.part(depth), self.part(depth), f"{self.body(depth)}.mass", self.scalar_of(depth)]
        if kind == "uint8":
            ways += [f"pair.flags[{self.index(depth)}]"]
        if kind == "float64":
            ways += ["pair.weight"]
        return self.random.choice(ways)

    def body(self, depth: int) -> str:
        return self.random.choice([self.of("Body", min(depth, 1)), "pair.first", f"a_body[{self.index(depth)}]"])

    def part(self, depth: int) -> str:
        """An element of a vector or matrix."""
        if self.chance(0.6):
            kind = self.random.choice([*VECTORS, "quat", "transform"])
            size = VECTORS.get(kind, 4)
            at = self.pick("0", "-1", str(size - 1), f"abs({self.of('int32', min(depth, 1))}) % {size}")
            return f"{self.of(kind, depth)}[{at}]"
        kind = self.random.choice(list(MATRICES))
        m = self.of(kind, depth)
        return self.pick(
            f"{m}[1, 0]",
            f"{m}[0][1]",
            f"{m}[abs({self.of('int32', 0)}) % 2, 1]",
            f"kb.trace({self.of('mat33', depth)})",
        )

    def scalar_of(self, depth: int) -> str:
        kind = self.random.choice(list(VECTORS))
        v, w = self.of(kind, depth), self.of(kind, depth)
        return self.pick(
            f"kb.dot({v}, {w})",
            f"kb.length({v})",
            f"{self.of('vec3', depth)}.x",
            f"kb.determinant({self.of('mat33', depth)})",
        )

    # Vectors, matrices and structs

    def made(self, kind: str, depth: int) -> str:
        if kind == "Body":
            return self.pick(
                f"Body({self.of('float32', depth)}, {self.of('int32', depth)}, spin={self.of('vec3', depth)})",
                f"Body(place={self.of('transform', depth)}, inertia={self.of('mat33', depth)})",
            )
        if kind == "quat":
            a, b = self.of(kind, depth), self.of(kind, depth)
            return self.pick(
                f"({a} * {b})",
                f"kb.quat_inverse({a})",
                f"kb.quat({self.of('vec3', depth)}, 1.0)",
                f"{self.of('transform', depth)}.q",
                f"kb.quat_from_axis_angle({self.of('vec3', depth)}, 0.5)",
                f"kb.cw_mul({a}, {b})",
            )
        if kind == "transform":
            a, b = self.of(kind, depth), self.of(kind, depth)
            return self.pick(
                f"({a} * {b})",
                f"kb.transform_inverse({a})",
                f"kb.transform({self.of('vec3', depth)}, {self.of('quat', depth)})",
                f"{self.body(depth)}.place",
            )
        a, b, s = self.of(kind, depth), self.of(kind, depth), self.of("float32", depth)
        ways = [
            f"({a} + {b})",
            f"({a} - {b})",
            f"({a} * {s})",
            f"({s} * {a})",
            f"({a} / {s})",
            f"(-{a})",
            f"(2.0 * {a})",
        ]
        ways += [
            f"kb.cw_{self.pick('mul', 'div')}({a}, {b})",
            f"({a} - {b} * {s})",
            f"kb.fma({a}, {self.pick(b, s)}, {b})",
            f"kb.max({a}, {b})",
        ]
        return self.random.choice([*ways, *self.shaped(kind, depth)])

    def shaped(self, kind: str, depth: int) -> list[str]:
        """Ways that only this shape has."""
        if kind in VECTORS:
            numbers = ", ".join(self.of("float32", depth) for _ in range(VECTORS[kind]))
            ways = [f"{spelled(kind)}({numbers})", f"kb.normalize({self.of(kind, depth)})"]
            if kind == "vec3":
                v, w = self.of(kind, depth), self.of(kind, depth)
                ways += [f"kb.cross({v}, {w})", f"({self.of('mat33', depth)} @ {v})", f"{self.of('mat33', depth)}[1]"]
                ways += [f"kb.transform_point({self.of('transform', depth)}, {v})", f"{self.of('five', depth)}[1:4]"]
                ways += [
                    f"kb.quat_rotate({self.of('quat', depth)}, {v})",
                    f"{self.of('transform', depth)}.p",
                    f"{self.body(depth)}.spin",
                ]
                ways += [f"{self.of('mat33', depth)}[:, 1]", f"({self.of('vec2', depth)} @ {self.of('wide', depth)})"]
            if kind == "vec2":
                ways += [f"({self.of('wide', depth)} @ {self.of('vec3', depth)})", f"{self.of('vec3', depth)}[0:2]"]
            return ways
        rows, columns = MATRICES[kind]
        numbers = ", ".join(self.of("float32", min(depth, 1)) for _ in range(rows * columns))
        ways = [f"{spelled(kind)}({numbers})"]
        if rows == columns:
            ways += [f"({self.of(kind, depth)} @ {self.of(kind, depth)})", f"kb.transpose({self.of(kind, depth)})"]
        if kind == "mat33":
            ways += [
                f"kb.skew({self.of('vec3', depth)})",
                f"kb.outer({self.of('vec3', depth)}, {self.of('vec3', depth)})",
            ]
            ways += [f"kb.diag({self.of('vec3', depth)})", f"{self.body(depth)}.inertia", "kb.identity(3, kb.float32)"]
        if kind == "mat22":
            ways += [
                f"{self.of('mat33', depth)}[0:2, 1:3]",
                f"kb.matrix_from_rows({self.of('vec2', depth)}, {self.of('vec2', depth)})",
            ]
        return ways


class Function(Expressions):
    """A function of one or more results, without effects or with."""

    def __init__(self, source: random.Random, name: str) -> None:
        super().__init__(source)
        self.name = name
        self.parameters = [source.choice(TYPES) for _ in range(source.randint(1, 3))]
        self.results = tuple(source.choice(TYPES) for _ in range(source.choice([1, 1, 2, 3])))
        for number, kind in enumerate(self.parameters):
            self.variables[kind].append(f"p{number}")

    def of(self, kind: str, depth: int) -> str:
        return super().of(kind, min(depth, 2))

    def loaded(self, kind: str, depth: int) -> str:
        return self.leaf(kind, depth)

    def number(self, kind: str, depth: int) -> str:
        return self.without_arrays(super().number, kind, depth)

    def made(self, kind: str, depth: int) -> str:
        return self.without_arrays(super().made, kind, depth)

    def bool(self, kind: str, depth: int) -> str:
        return self.without_arrays(super().bool, kind, depth)

    def without_arrays(self, way: Callable[[str, int], str], kind: str, depth: int) -> str:
        """What reads the kernel's own variables has no place in a function."""
        for _ in range(20):
            text = way(kind, depth)
            if not re.search(r"\b(a_|b_|pair\b|i\b)", text):
                return text
        return self.leaf(kind, depth)

    def text(self) -> str:
        head = ", ".join(f"p{number}: {spelled(kind)}" for number, kind in enumerate(self.parameters))
        lines = ["@kb.func", f"def {self.name}({head}):"]
        if self.chance(0.5):
            lines.append(f"    if {self.of('bool', 1)}:")
            lines.append(f"        return {', '.join(self.of(kind, 1) for kind in self.results)}")
        lines.append(f"    return {', '.join(self.of(kind, 2) for kind in self.results)}")
        return "\n".join(lines) + "\n"

    def index(self, depth: int) -> str:
        return "0"


class Kernel(Expressions):
    """One kernel."""

    def __init__(
        self, source: random.Random, name: str, functions: dict[str, list[Function]], several: list[Function]
    ) -> None:
        super().__init__(source)
        self.name, self.functions, self.several, self.arrays = name, functions, several, ARRAYS
        self.lines: list[str] = []
        self.depth, self.loops, self.count = 1, 0, 0
        self.counters: set[str] = set()

    def text(self) -> str:
        arrays = [f"{name}: kb.array(dtype={spelled(kind)}, ndim={ndim})" for name, kind, ndim in ARRAYS]
        self.line(self.pick("i = kb.tid()", "i, j = kb.tid()", "i, j, k = kb.tid()"))
        for kind in TYPES:
            for number in range(2):
                self.line(f"{kind}_{number} = {self.literal(kind)}")
                self.variables[kind].append(f"{kind}_{number}")
        for _ in range(self.random.randint(3, 6)):
            self.statement(3)
        return "\n".join(["@kb.kernel", f"def {self.name}({', '.join(arrays)}, pair: Pair):", *self.lines]) + "\n"

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    # Statements

    def statement(self, depth: int) -> None:
        makers: list[Callable[[int], None]] = [self.assign] * 3 + [self.augment, self.store, self.update, self.atomic]
        makers += [self.change_part, self.unpack, self.stateful, self.shown]
        if depth > 0:
            makers += [self.branch, self.loop, self.while_loop]
        if self.loops and self.chance(0.3):
            makers = [self.jump]
        self.random.choice(makers)(depth)

    def variable(self, kind: str) -> str:
        return self.random.choice(self.variables[kind])

    def assign(self, depth: int) -> None:
        kind = self.random.choice(TYPES)
        names = " = ".join(self.variable(kind) for _ in range(self.random.choice([1, 1, 1, 2])))
        self.line(f"{names} = {self.of(kind, 2)}")

    def augment(self, depth: int) -> None:
        kind = self.random.choice([*NUMBERS, "vec3", "mat22"])
        self.line(f"{self.variable(kind)} {self.pick('+', '-')}= {self.of(kind, 2)}")

    def store(self, depth: int) -> None:
        name, kind, ndim = self.random.choice(ARRAYS)
        self.line(f"{name}[{', '.join(self.index(1) for _ in range(ndim))}] = {self.of(kind, 2)}")

    def place(self) -> tuple[str, str]:
        """A place that is a number or vector in memory, and its type."""
        at, more = self.index(1), self.index(1)
        return self.random.choice(
            [
                (f"a_vec3[{at}]", "vec3"),
                (f"a_float32[{at}]", "float32"),
                (f"a_int32[{at}]", "int32"),
                (f"b_int32[{at}, {more}]", "int32"),
                (f"b_int32[{at}][{more}]", "int32"),
                (f"a_vec3[{at}][1]", "float32"),
                (f"a_body[{at}].mass", "float32"),
                (f"a_body[{at}].index", "int32"),
                (f"a_body[{at}].spin", "vec3"),
                (f"a_body[{at}].inertia[0, {self.pick('0', '1')}]", "float32"),
                (f"a_mat22[{at}]", "mat22"),
            ]
        )

    def update(self, depth: int) -> None:
        place, kind = self.place()
        self.line(f"{place} {self.pick('+=', '-=', '=')} {self.of(kind, 2)}")

    def atomic(self, depth: int) -> None:
        name = self.pick("atomic_add", "atomic_sub", "atomic_max", "atomic_min", "atomic_exch")
        if self.chance(0.5):
            place, kind = self.place()
            call = f"kb.{name}({place}, {self.of(kind, 2)})"
        else:
            array, kind, ndim = self.random.choice([a for a in ARRAYS if a[1] in ("int32", "int64", "float32", "vec3")])
            call = f"kb.{name}({array}, {', '.join(self.index(1) for _ in range(ndim))}, {self.of(kind, 2)})"
        if self.chance(0.4):
            self.line(call)
        elif kind in self.variables:
            self.line(f"{self.variable(kind)} = {self.pick(call, f'{call} + {self.of(kind, 1)}')}")

    def change_part(self, depth: int) -> None:
        number = self.of("float32", 2)
        self.line(
            self.pick(
                f"{self.variable('vec3')}[{self.pick('0', 'i % 3')}] = {number}",
                f"{self.variable('vec3')}[0:2] = {self.of('vec2', 2)}",
                f"{self.variable('mat33')}[1, 2] = {number}",
                f"{self.variable('mat33')}[0] = {self.of('vec3', 2)}",
                f"{self.variable('Body')}.mass = {number}",
                f"{self.variable('Body')}.spin = {self.of('vec3', 2)}",
                f"{self.variable('Body')}.place.p = {self.of('vec3', 1)}",
                f"{self.variable('transform')}.q = {self.of('quat', 1)}",
                f"{self.variable('Body')}.inertia[0, 1] += {number}",
                f"{self.variable('vec3')}.y = {number}",
            )
        )

    def unpack(self, depth: int) -> None:
        if not self.several or self.chance(0.3):
            a, b = self.random.choice(TYPES), self.random.choice(TYPES)
            self.line(f"{self.variable(a)}, {self.variable(b)} = {self.of(a, 2)}, {self.of(b, 2)}")
            return
        function = self.random.choice(self.several)
        call = f"{function.name}({', '.join(self.of(p, 1) for p in function.parameters)})"
        self.count += 1
        if self.chance(0.4):
            self.line(f"r{self.count} = {call}")
            self.line(f"{self.variable(function.results[0])} = r{self.count}[0]")
        elif self.chance(0.5):
            self.line(f"{self.variable(function.results[1])} = {call}[1]")
        else:
            self.line(f"{', '.join(self.variable(kind) for kind in function.results)} = {call}")

    def stateful(self, depth: int) -> None:
        self.count += 1
        self.line(f"s{self.count} = kb.rand_init({self.of('int32', 1)}, i)")
        self.line(f"{self.variable('float32')} = kb.randf(s{self.count}) + kb.randn(s{self.count})")
        if self.chance(0.3):
            self.line(f"kb.svd3({self.of('mat33', 1)}, mat33_0, vec3_0, mat33_1)")

    def shown(self, depth: int) -> None:
        kinds = self.random.choices([k for k in TYPES if k != "Body"], k=2)
        a, b = (self.of(kind, 1) for kind in kinds)
        self.line(
            self.pick(
                f"print({a}, 'and', {b})",
                f"kb.printf('%d %5.3f\\n', {self.of('int32', 1)}, {self.of('float64', 1)})",
                f"kb.expect_eq({a}, {self.of(kinds[0], 1)})",
                f"assert {self.of('bool', 1)}, 'a reason'",
                f"assert {self.of('bool', 2)}",
                "kb.syncwarp()",
                f"kb.assume({self.of('bool', 1)})",
                f"float32_0 = kb.{self.pick('shfl', 'shfl_up', 'shfl_xor')}({self.of('float32', 1)}, "
                f"{self.of('int32', 1)}, {self.pick('32', '8')}) + kb.warp_sum({self.of('float32', 1)})",
                f"bool_0 = kb.any({self.of('bool', 1)}) or kb.ballot({self.of('bool', 1)}) != kb.uint32(0)",
            )
        )

    def block(self, depth: int) -> None:
        self.depth += 1
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth - 1)
        self.depth -= 1

    def branch(self, depth: int) -> None:
        self.line(f"if {self.of('bool', 2)}:")
        self.block(depth)
        if self.chance(0.3):
            self.line(f"elif {self.of('bool', 2)}:")
            self.block(depth)
        if self.chance(0.5):
            self.line("else:")
            self.block(depth)

    def loop(self, depth: int) -> None:
        self.count += 1
        name = self.pick(f"n{self.count}", f"n{self.count}", "int32_0")
        bounds = self.pick("3", "0, 4", "4, 0, -1", self.of("int32", 1) + " % 5", "1, 9, OFFSET", "a_body.shape[0]")
        self.line(f"for {name} in range({bounds}):")
        self.inside(depth)

    def while_loop(self, depth: int) -> None:
        self.count += 1
        self.line(f"w{self.count} = 0")
        self.line(f"while w{self.count} < 4 and {self.of('bool', 1)}:")
        self.line(f"    w{self.count} += 1")
        self.inside(depth)

    def inside(self, depth: int) -> None:
        self.loops += 1
        self.block(depth)
        self.loops -= 1

    def jump(self, depth: int) -> None:
        self.line(f"if {self.of('bool', 1)}:")
        self.line("    " + self.pick("break", "continue", "break", "continue", "return"))
